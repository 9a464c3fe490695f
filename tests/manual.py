"""Generates parts of the manual from the program: `python -m tests.manual`.

Pages below `docs/cli/` are generated from the tree of commands. In other pages, tables are generated between
two comments with their name, such as `<!-- keys: begin (made from src/presscheck/tui/commands.py) -->`; everything else
is written by hand. The files below `share/`, which an installation copies to the folders of man and of the shells, are
generated as well. A test compares all of them with the output of this module.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import click
from tests.man_page import man_page
from tests.root import ROOT

from presscheck.cli.completion import SHELLS, completion_script
from presscheck.cli.exit_codes import EXIT_CODES
from presscheck.cli.main import command
from presscheck.cli.operations.api_commands import operations
from presscheck.config.own_commands import FIELDS, IDS
from presscheck.config.settings_schema import (
    CHECK_SETTINGS,
    COMMAND_SETTINGS,
    PROJECT_SETTINGS,
    SETTINGS,
    VIEW_SETTINGS,
    Setting,
)
from presscheck.tui.commands import key_table
from presscheck.tui.ui.signs import SIGNS

DOCS = ROOT / "docs"
SHARE = ROOT / "share"
SUMMARY = DOCS / "SUMMARY.md"
WIDE = 10_000
"""A width in columns at which no usage line is wrapped."""
_TABLE = re.compile(r"(<!-- ([a-z ]+): begin [^\n]*-->\n).*?(\n<!-- \2: end -->)", re.DOTALL)
_COMMAND_ROWS = re.compile(r"(?:^    \* \[presscheck [^\n]*\n)+", re.MULTILINE)
_CODE = re.compile(r"(`[^`]*`)")
_MARKUP = re.compile(r"([\\*_\[\]<>])")
_DEFAULTS = re.compile(r"  \[([^\[\]]*)\]$")


def context_of(subject: click.Command, parent: click.Context | None = None, name: str = "presscheck") -> click.Context:
    """Return a context of a command that does not wrap its help."""
    return click.Context(
        subject, parent, info_name=name, terminal_width=WIDE, max_content_width=WIDE, **subject.context_settings
    )


def below(context: click.Context) -> Iterator[click.Context]:
    """Yield the contexts of the commands of a group; nothing if the command is not a group."""
    if isinstance(context.command, click.Group):
        for name in context.command.list_commands(context):
            subcommand = context.command.get_command(context, name)
            assert subcommand, name
            yield context_of(subcommand, context, name)


def top_commands() -> list[click.Context]:
    """Return the contexts of the commands of `presscheck`, in the order of its help."""
    return list(below(context_of(command)))


def commands_table() -> str:
    """Return a table of all commands with their subcommands and links to their pages."""
    rows = ["| command | does |", "|---|---|"]
    for context in top_commands():
        subcommands = (
            [] if context.info_name == "api" else [f"`{subcommand.info_name}`" for subcommand in below(context)]
        )
        cell = f"[`{context.info_name}`]({context.info_name}.md) {' · '.join(subcommands)}"
        rows.append(f"| {cell.strip()} | {summary(context)} |")
    return "\n".join(rows)


def exit_codes_table() -> str:
    return "\n".join(
        ["| code | means |", "|---|---|", *(f"| {code} | {meaning} |" for code, meaning in EXIT_CODES.items())]
    )


def signs_table() -> str:
    return "\n".join(["| sign | means |", "|---|---|", *(f"| `{sign}` | {words} |" for sign, words in SIGNS.items())])


def keys_table() -> str:
    """Return the table of keys. The bar is written as an entity: site generators differ in how they treat `\\|`."""
    return key_table().replace("`\\|`", "<code>&#124;</code>")


def settings_table(settings: dict[str, Setting]) -> str:
    """Return a table of settings with their meanings and examples."""
    rows = ["| setting | means | example |", "|---|---|---|"]
    for setting in settings.values():
        longest = f" At most {setting.max_length} characters." if setting.max_length else ""
        rows.append(f"| `{setting.name}` | {escaped(setting.description)}{longest} | `{setting.example}` |")
    return "\n".join(rows)


def fields_table() -> str:
    rows = [f"| `{{{name}}}` | {means} | {'id' if name in IDS else 'text'} |" for name, means in FIELDS.items()]
    return "\n".join(["| field | is | kind |", "|---|---|---|", *rows])


TABLES: dict[str, Callable[[], str]] = {
    "keys": keys_table,
    "signs": signs_table,
    "commands": commands_table,
    "exit codes": exit_codes_table,
    "settings": lambda: settings_table(SETTINGS),
    "view settings": lambda: settings_table(VIEW_SETTINGS),
    "check settings": lambda: settings_table(CHECK_SETTINGS),
    "command fields": fields_table,
    "command settings": lambda: settings_table(COMMAND_SETTINGS),
    "project settings": lambda: settings_table(PROJECT_SETTINGS),
}
"""Functions that return the tables of handwritten pages, by the names in the pages' comments."""


def summary(context: click.Context) -> str:
    """Return the short help of a command as Markdown."""
    return escaped(context.command.get_short_help_str(limit=WIDE))


def escaped(text: str) -> str:
    """Escape a text for Markdown, except for code between backticks."""
    parts = _CODE.split(" ".join(text.split()))
    return "".join(part if part.startswith("`") else _MARKUP.sub(r"\\\1", part) for part in parts)


def command_page(context: click.Context) -> str:
    """Return the page of a command with a section for each of its subcommands."""
    parts = [f"# presscheck {context.info_name}", *described(context)]
    if context.info_name == "api":
        parts += ["## Operations", operations_table()]
    else:
        for inner in descendants(context):
            parts += [f"{'#' * min(4, inner.command_path.count(' '))} {inner.command_path}", *described(inner)]
    return "\n\n".join(parts) + "\n"


def descendants(context: click.Context) -> Iterator[click.Context]:
    """Yield the contexts of all commands below a group, depth first."""
    for inner in below(context):
        yield inner
        yield from descendants(inner)


def described(context: click.Context) -> Iterator[str]:
    """Yield usage, help and options of a command as Markdown blocks."""
    paragraphs = (context.command.help or "").split("\f")[0].split("\n\n")
    yield escaped(paragraphs[0])
    usage = context.get_usage().removeprefix("Usage: ")
    yield f"```text\n{' '.join(usage.split())}\n```"
    for paragraph in paragraphs[1:]:
        yield escaped(paragraph)
    options = [option for option in context.command.params if isinstance(option, click.Option)]
    records = [record for option in options if (record := option.get_help_record(context))]
    if records:
        yield "\n".join(f"* `{names}`: {with_limits(text)}" for names, text in records)


def with_limits(text: str) -> str:
    """Return the help of an option as Markdown, with the default and limits at its end in parentheses."""
    match = _DEFAULTS.search(text)
    if match is None:
        return escaped(text)
    limits = [part.strip() for part in match[1].split(";")]
    limits = [f"`{part}`" if re.search(r"[<>]", part) else escaped(part) for part in limits]
    return f"{escaped(text[: match.start()])} ({', '.join(limits)})"


def operations_table() -> str:
    """Return a table of all API operations with their published ids and routes."""
    rows = ["| operation | published id | request | does |", "|---|---|---|---|"]
    for context in below(next(context for context in top_commands() if context.info_name == "api")):
        name = context.info_name or ""
        operation = operations()[name]
        published = f"`{operation.operation_id}`"
        rows.append(f"| `{name}` | {published} | `{operation.route}` | {summary(context)} |")
    return "\n".join(rows)


def made_pages() -> dict[Path, str]:
    """Return the generated pages by path."""
    return {DOCS / "cli" / f"{context.info_name}.md": command_page(context) for context in top_commands()}


def shared_files() -> dict[Path, str]:
    """Return the manual page and the completion scripts by path."""
    root = context_of(command)
    commands = [(context, list(below(context))) for context in top_commands()]
    scripts = {name: f"{completion_script(command, name)}\n" for name in SHELLS}
    return {
        SHARE / "man" / "man1" / "presscheck.1": man_page(root, commands),
        SHARE / "bash-completion" / "completions" / "presscheck": scripts["bash"],
        SHARE / "zsh" / "site-functions" / "_presscheck": scripts["zsh"],
        SHARE / "fish" / "vendor_completions.d" / "presscheck.fish": scripts["fish"],
        SHARE / "presscheck" / "completion.ps1": scripts["powershell"],
    }


def with_tables(text: str) -> str:
    """Return a page with its tables replaced by generated ones. Raises KeyError for an unknown table."""
    return _TABLE.sub(lambda match: f"{match[1]}{TABLES[match[2]]()}{match[3]}", text)


def with_commands(text: str) -> str:
    """Return the table of contents with a row for each command."""
    rows = [f"    * [presscheck {context.info_name}](cli/{context.info_name}.md)\n" for context in top_commands()]
    return _COMMAND_ROWS.sub(lambda _: "".join(rows), text, count=1)


def current() -> dict[Path, str]:
    """Return the expected text of all files with generated parts, by path."""
    made = made_pages()
    by_hand = [page for page in sorted(DOCS.rglob("*.md")) if page.parent.name != "cli" or page.name == "README.md"]
    texts = {page: with_tables(page.read_text("utf-8")) for page in by_hand}
    return made | texts | {SUMMARY: with_commands(SUMMARY.read_text("utf-8"))} | shared_files()


def stale() -> list[Path]:
    """Return the pages that differ from `current`, and pages of commands that do not exist."""
    pages = current()
    extra = [page for page in sorted((DOCS / "cli").glob("*.md")) if page not in pages]
    return [*extra, *(page for page, text in pages.items() if not page.exists() or page.read_text("utf-8") != text)]


def main() -> None:
    """Write or delete the stale files and print their names."""
    pages = current()
    for page in stale():
        if page in pages:
            page.parent.mkdir(parents=True, exist_ok=True)
            page.write_text(pages[page], "utf-8")
        else:
            page.unlink()
        sys.stdout.write(f"{page.relative_to(ROOT)}\n")


if __name__ == "__main__":
    main()
