"""Lists on a terminal: they fit its width and have headings, and ages instead of times."""

import json
import shlex
import sys

import pexpect
import pytest
from rich.cells import cell_len
from tests.cli.help import commands, is_api
from tests.cli.shell import Shell

from presscheck.cli.output import heading

LISTS = {"cr reviewers", "inbox", "outbox history", "saml list", "search", "site history", "space links"}
"""Further commands that print a list."""
NO_LISTS = ("page list", "serve ")
"""Exceptions: a tree of pages, and the tokens of the local service."""


ON_TERMINAL = """
import fcntl, json, os, struct, sys, termios
from presscheck.cli.main import command
for columns, words, variables in json.loads(sys.argv[1]):
    fcntl.ioctl(1, termios.TIOCSWINSZ, struct.pack("HHHH", 40, columns, 0, 0))
    os.environ.update(variables)
    command(words, standalone_mode=False)
    print("\x1e", end="", flush=True)
"""
"""Program that runs commands on terminals of different widths and kinds; starting it takes longer than the commands."""
NO_COLORS = {"NO_COLOR": "1", "TERM": "xterm"}


def on_terminal(shell: Shell, *jobs: tuple[int, str, dict[str, str]]) -> list[list[str]]:
    """Run jobs (columns, command line, variables) on a terminal. Returns the lines that each job prints."""
    words = json.dumps([(columns, shlex.split(line), variables) for columns, line, variables in jobs])
    env = shell.environment
    env.pop("COLUMNS", None)
    line = shlex.join([sys.executable, "-c", ON_TERMINAL, words])
    printed, code = pexpect.run(line, env=env, timeout=60, withexitstatus=True)
    assert code == 0, printed
    outputs = [text.split("\r\n") for text in printed.decode().split("\x1e")[:-1]]
    assert len(outputs) == len(jobs)
    return outputs


@pytest.mark.slow
def test_lists_on_a_terminal(shell: Shell) -> None:
    """Lists fit the width and have headings and ages; a message replaces an empty list."""
    lines = ("cr list", "inbox", "site check 'Tallowick Docs'")
    colored, dumb, listed, nothing, *narrow = on_terminal(
        shell,
        (80, "space list", {}),
        (80, "space list", {"TERM": "dumb"}),
        (120, "cr list", NO_COLORS),
        (80, "team list", NO_COLORS),
        *((40, line, NO_COLORS) for line in lines),
    )
    for line, printed in zip(lines, narrow, strict=True):
        assert len(printed) > 3, line
        assert max(map(cell_len, printed)) <= 40, line
    assert ["\x1b[1m" in "".join(printed) for printed in (colored, dumb)] == [True, False]
    first, *rows, _ = listed
    assert first.split() == ["space", "number", "status", "subject", "by", "updated"]
    assert rows
    assert all(row.endswith((" ago", "just now")) for row in rows)
    times = [row.split("\t")[5] for row in shell.ok("cr", "list").splitlines()]
    assert all(time.endswith("Z") for time in times), "scripts get times"
    assert nothing == ["No results.", ""]
    ran = shell.run("team", "list")
    assert (ran.exit_code, ran.stdout, ran.stderr) == (0, "", ""), "scripts get no message"


def test_headings() -> None:
    names = {
        "changeRequestsOpen": "open change requests",
        "createdBy.displayName": "by",
        "user.displayName": "name",
        "user.email": "e-mail",
        "lastSeenAt": "last seen",
        "permission": "role",
        "id": "id",
    }
    assert {name: heading(name) for name in names} == names


def test_every_list_has_a_limit() -> None:
    options = {
        context.command_path.removeprefix("presscheck "): {param.name for param in context.command.params}
        for context in commands()
        if not is_api(context)
    }
    lists = {path for path in options if path.endswith(" list") and not path.startswith(NO_LISTS)} | LISTS
    assert {path for path in lists if "limit" not in options[path]} == set()


def test_a_limit_shortens_lists_of_every_kind(shell: Shell) -> None:
    for words in (
        "cr list",
        "cr reviewers api#5",
        "cr changes api#5",
        "space links api",
        "site history 'Tallowick Docs'",
    ):
        assert len(shell.json(*shlex.split(words), "--limit", "2")) == 2, words
    assert len(shell.json("inbox", "--limit", "2")[0]["changeRequests"]) == 2


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ("space page nosuch x", "SPACE: nosuch not found. Available: API docs, "),
        ("space page api nosuch", "PAGE: nosuch not found. Available: Overview, "),
        ("site check nosuch", "SITE: nosuch not found. Available: Tallowick Docs, "),
        ("cr show api#99", "SPACE#NUMBER: API docs has no change request #99\n"),
        ("cr page api#5 nosuch", "PATH: nosuch not found. Available: Overview, "),
        ("cr comments show api#5 nosuch", "COMMENT: nosuch not found, or you have no access\n"),
        ("cr reply api#5 nosuch --body x", "COMMENT: nosuch not found, or you have no access\n"),
        ("cr resolve api#5 nosuch", "COMMENT: nosuch not found, or you have no access\n"),
        ("cr comment api#5 --page nosuch --body x", "--page: nosuch not found. Available: Overview, "),
        ("cr list --creator nobody", "--creator: nobody not found. Available: "),
        ("cr reviewers api#5 --add nobody", "--add: nobody not found. Available: "),
        ("invite show nosuch", "INVITE: nosuch not found, or you have no access\n"),
        ("org show nosuch", "ORG: nosuch not found. Available: Tallowick\n"),
    ],
)
def test_an_unknown_name_is_a_usage_error(shell: Shell, words: str, message: str) -> None:
    ran = shell.run(*words.split())
    assert (ran.exit_code, ran.stdout) == (2, "")
    assert ran.stderr.splitlines(keepends=True)[-1].startswith(f"presscheck: {message}")


def test_people_and_pages_are_accepted_by_name(shell: Shell) -> None:
    by_name = shell.json("cr", "list", "--creator", "Mia Okonkwo")
    assert by_name == shell.json("cr", "list", "--creator", "mia") != []
    shell.ok("cr", "comment", "api#5", "--page", "authentication/tokens", "--body", "Here")
    [comment] = [
        one for one in shell.json("cr", "show", "api#5")["comments"] if one["body"]["markdown"].strip() == "Here"
    ]
    assert comment["target"]["page"]
