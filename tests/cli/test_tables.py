"""Lists on a terminal: they fit its width, have headings in the words of the screens, and ages instead of times."""

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
"""A tree of pages, and tokens of the local service."""


def on_terminal(shell: Shell, *words: str, columns: int) -> list[str]:
    """The lines that a command prints on a terminal."""
    line = shlex.join([sys.executable, "-m", "presscheck", *words])
    env = {**shell.environment, "NO_COLOR": "1"}
    env.pop("COLUMNS", None)
    printed, code = pexpect.run(line, env=env, dimensions=(40, columns), timeout=60, withexitstatus=True)
    assert code == 0, printed
    return printed.decode().split("\r\n")


@pytest.mark.slow
@pytest.mark.parametrize("columns", [40, 80, 120])
def test_a_list_fits_the_terminal(shell: Shell, columns: int) -> None:
    for words in (("cr", "list"), ("inbox",), ("site", "check", "Tallowick Docs")):
        lines = on_terminal(shell, *words, columns=columns)
        assert len(lines) > 3, words
        assert max(map(cell_len, lines)) <= columns, words


@pytest.mark.slow
def test_a_list_has_the_words_of_the_screens_and_ages(shell: Shell) -> None:
    first, *rows, _ = on_terminal(shell, "cr", "list", columns=120)
    assert first.split() == ["space", "number", "status", "subject", "by", "updated"]
    assert rows
    assert all(row.endswith((" ago", "just now")) for row in rows)
    times = [row.split("\t")[5] for row in shell.ok("cr", "list").splitlines()]
    assert all(time.endswith("Z") for time in times), "scripts get times"


@pytest.mark.slow
def test_a_list_without_rows_has_a_message_only_on_a_terminal(shell: Shell) -> None:
    assert on_terminal(shell, "team", "list", columns=80) == ["No results.", ""]
    ran = shell.run("team", "list")
    assert (ran.exit_code, ran.stdout, ran.stderr) == (0, "", "")


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


@pytest.mark.slow
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


def test_people_and_pages_have_names(shell: Shell) -> None:
    by_name = shell.json("cr", "list", "--creator", "Mia Okonkwo")
    assert by_name == shell.json("cr", "list", "--creator", "mia") != []
    shell.ok("cr", "comment", "api#5", "--page", "authentication/tokens", "--body", "Here")
    [comment] = [
        one for one in shell.json("cr", "show", "api#5")["comments"] if one["body"]["markdown"].strip() == "Here"
    ]
    assert comment["target"]["page"]
