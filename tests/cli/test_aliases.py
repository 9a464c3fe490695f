"""`presscheck alias`, and command lines that begin with an alias."""

import json

import pytest
from tests.cli.shell import Shell

from presscheck.config.validation import read_aliases


def test_alias_runs_its_command_with_additional_arguments(shell: Shell) -> None:
    ran = shell.run("alias", "set", "mine", "cr list --creator 'Mia Okonkwo'")
    assert (ran.exit_code, ran.stderr) == (0, "`presscheck mine` runs `presscheck cr list --creator 'Mia Okonkwo'`.\n")
    assert shell.ok("alias", "list") == "mine\tcr list --creator 'Mia Okonkwo'\n"
    assert shell.json("mine", "--limit", "1") == shell.json("cr", "list", "--creator", "mia", "--limit", "1") != []
    shell.ok("alias", "delete", "mine")
    assert shell.run("mine").exit_code == 2
    assert shell.run("alias", "delete", "mine").exit_code == 2


def test_arguments_are_not_parsed_by_a_shell(shell: Shell) -> None:
    shell.ok("alias", "set", "find", "search --json")
    ran = shell.run("find", "$(echo token); echo 'x")
    assert (ran.exit_code, ran.stdout) == (0, "[]\n")


@pytest.mark.parametrize(
    ("name", "line", "message"),
    [
        ("cr", "inbox", "NAME: cr is a command: choose another name"),
        ("x", "nothing here", "COMMAND: nothing is not a command of presscheck"),
        ("x", "cr 'list", "alias: has a quotation mark without its end"),
        ("x", " ", "alias: is empty: remove it"),
        ("-x", "inbox", "No such option"),
        ("a b", "inbox", "alias: must have a name of at most 40 letters"),
    ],
)
def test_invalid_alias_is_rejected(shell: Shell, name: str, line: str, message: str) -> None:
    ran = shell.run("alias", "set", name, line)
    assert (ran.exit_code, message in ran.stderr) == (2, True), ran.stderr
    assert not shell.config.exists()


def test_aliases_in_the_file_cannot_replace_commands_or_name_aliases(shell: Shell) -> None:
    shell.config.write_text('[aliases]\nwhoami = "org list"\na = "b"\nb = "org list --json"\nc = 3\n')
    shell.config.chmod(0o600)
    assert shell.json("whoami")["id"]
    assert json.loads(shell.ok("b"))[0]["id"] == "tallowick"
    leads_nowhere = f"{shell.config}:3: aliases.a must begin with a command of presscheck"
    for name, error in (("a", leads_nowhere), ("c", f"{shell.config}:5: aliases.c must be a quoted string")):
        assert f"No such command '{name}'. {error}" in shell.run(name).stderr.replace("\n", " ")
    ran = shell.run("config", "check")
    errors = ("aliases.whoami is the name of a command", "aliases.a must begin", "aliases.c must be a quoted string")
    assert (ran.exit_code, [error in line for line, error in zip(ran.stdout.splitlines(), errors, strict=True)]) == (
        6,
        [True] * 3,
    )
    assert all(f"Not used: {error}" in shell.run("alias", "list").stderr for error in ran.stdout.splitlines())
    assert read_aliases(shell.config) == {"whoami": "org list", "a": "b", "b": "org list --json"}


def test_missing_alias_error_names_the_invalid_settings_file(shell: Shell) -> None:
    shell.config.write_text('[aliases]\nmine = "inbox"\n[aliases]\n')
    shell.config.chmod(0o600)
    reason = f"{shell.config}:3: is not valid TOML"
    assert f"No such command 'mine'. {reason}" in shell.run("mine").stderr
    assert reason in shell.run("alias", "list").stderr


def test_aliases_are_completed(shell: Shell) -> None:
    shell.config.write_text('[aliases]\nrest = "inbox"\norg = "inbox"\n')
    shell.config.chmod(0o600)
    shell.env |= {"_PRESSCHECK_COMPLETE": "bash_complete", "COMP_WORDS": "presscheck re", "COMP_CWORD": "1"}
    assert shell.program().stdout.splitlines() == ["plain,review", "plain,rest"]
    shell.env |= {"COMP_WORDS": "presscheck alias delete o", "COMP_CWORD": "3"}
    assert shell.program().stdout.splitlines() == ["plain,org"]


def test_setting_an_alias_keeps_other_settings(shell: Shell) -> None:
    before = '# mine\n[profiles.default]\ntheme = "ink"  # dark\n'
    shell.config.write_text(before)
    shell.config.chmod(0o600)
    shell.ok("alias", "set", "x", "inbox")
    assert shell.config.read_text() == before + '\n[aliases]\nx = "inbox"\n'


def test_review_is_an_alias_that_the_user_can_replace(shell: Shell) -> None:
    exported = shell.ok("review", "api#5", "--export", "json")
    assert exported == shell.ok("cr", "review", "api#5", "--export", "json")
    shell.ok("alias", "set", "review", "inbox --view needs-me")
    assert shell.json("review")[0]["view"] == "needs-me"
