"""Rules for the table of commands: handlers, help texts, and keys in messages."""

import ast
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path

from tests.rules.sources import MODULES, SOURCE, nodes_of, tree_of

from presscheck.tui.commands import BY_NAME, COMMANDS, shown
from presscheck.tui.widgets.composer import KEYS

HELP = 60
"""Maximum number of characters of a help text."""


@cache
def handlers() -> set[str]:
    """Return the names of all methods of the terminal interface that handle a command."""
    return {
        name
        for path in MODULES
        if path.is_relative_to(SOURCE / "tui")
        for node in nodes_of(tree_of(path), ast.ClassDef)
        for statement in node.body
        for name in (
            [statement.name]
            if isinstance(statement, ast.FunctionDef | ast.AsyncFunctionDef)
            else [target.id for target in getattr(statement, "targets", ()) if isinstance(target, ast.Name)]
        )
        if name.startswith("command_")
    }


def test_every_command_has_a_handler() -> None:
    assert not [
        command.name for command in COMMANDS if f"command_{command.name}" not in handlers() and command not in KEYS
    ]


def test_every_handler_has_a_command() -> None:
    assert handlers() - {f"command_{command.name}" for command in COMMANDS} <= {"command_handlers", "command_table"}


def test_help_is_short() -> None:
    assert not [command.help for command in COMMANDS if len(command.help) > HELP]
    assert not [command.help for command in COMMANDS if command.help.endswith(".")]


KEYS_IN_TEXT = {shown(key) for command in COMMANDS for key in command.keys} - {*"123456789;:,.{}-=%|", "space"}
NAMED_KEY = re.compile(
    rf"(?<![\w'’{{}}`“.&/#-])(?:a|{'|'.join(sorted(map(re.escape, KEYS_IN_TEXT), key=len, reverse=True))})"
    r"(?= (?:(?:acts|adds|changes|clears|comments|copies|creates|discards|edits|ends|filters|finds|gives|goes|imports"
    r"|installs|lists|makes|marks|moves|opens|publishes|reads|removes|reopens|restores|retries|revokes|saves|sends"
    r"|shows|starts|suggests|switches|translates|turns|undoes|updates|writes)\b|to undo))"
)
"""A sentence that starts with the key of a command and says what the key does."""
IN_DIALOGS = {"screens/form_dialog.py", "screens/inbox/saved_view_editor.py", "widgets/confirm_dialog.py"}
"""Modules of dialogs, whose keys cannot be changed."""
BRACES = re.compile(r"\{(\w+)\}")


def texts(path: Path) -> Iterator[tuple[int, str]]:
    """Yield the line and the text of each string in a module, without docstrings."""
    tree = tree_of(path)
    docstrings = {id(node.value) for node in nodes_of(tree, ast.Expr)}
    for node in nodes_of(tree, ast.Constant):
        if isinstance(node.value, str) and id(node) not in docstrings:
            yield node.lineno, node.value


def test_messages_refer_to_keys_by_command() -> None:
    # users can change keys, so that a message must look up the key of its command
    named = [
        f"{path.relative_to(SOURCE)}:{line}: {text}"
        for path in MODULES
        if path.is_relative_to(SOURCE / "tui") and str(path.relative_to(SOURCE / "tui")) not in IN_DIALOGS
        if path.name not in ("commands.py", "key_settings.py")
        for line, text in texts(path)
        if NAMED_KEY.search(text)
    ]
    assert not named


def test_commands_named_in_messages_exist() -> None:
    """Names come from calls of `key_for` and from braces in texts; these modules have no other templates."""
    in_braces = {
        name
        for path in MODULES
        if (path.is_relative_to(SOURCE / "tui") and "with_keys" in path.read_text("utf-8"))
        or path.name == "families.py"
        for _, text in texts(path)
        for name in BRACES.findall(text)
    }
    assert len(in_braces) > 5
    assert in_braces <= BY_NAME.keys()
    calls = [
        (path, node)
        for path in MODULES
        if path.is_relative_to(SOURCE / "tui")
        for node in nodes_of(tree_of(path), ast.Call)
        if isinstance(node.func, ast.Name) and node.func.id == "key_for"
    ]
    names = {argument.value for _, node in calls for argument in node.args if isinstance(argument, ast.Constant)}
    assert len(names) > 20
    assert names <= BY_NAME.keys()
