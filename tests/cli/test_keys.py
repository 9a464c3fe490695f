"""`presscheck keys`: the list of keys, and the check of `[keys]`."""

import json
from pathlib import Path

import pytest
from tests.cli.shell import Shell


@pytest.fixture
def shell(tmp_path: Path) -> Shell:
    return Shell(tmp_path / "home")


def write(shell: Shell, text: str) -> Path:
    shell.config.write_text(text)
    return shell.config


def keys_in(output: str) -> dict[str, list[str]]:
    return {row["command"]: row["keys"] for row in json.loads(output)}


def test_keys_of_the_user_are_listed(shell: Shell) -> None:
    assert keys_in(shell.run("keys", "--json").stdout)["merge"] == ["m"]
    write(shell, '[keys]\npreset = "gh-dash"\nmerge = "alt+x"\npull = "r"\n')
    ran = shell.run("keys", "--json")
    keys = keys_in(ran.stdout)
    assert (keys["merge"], keys["refresh"], keys["pull"]) == (["alt+x"], ["r", "f5"], ["u"])
    assert [row["command"] for row in json.loads(ran.stdout) if row["changed"]] == ["refresh", "reply", "merge"]
    assert keys_in(shell.run("keys", "--json", "--preset", "emacs").stdout)["palette"] == ["alt+x", ":"]
    table = shell.run("keys")
    assert "merge" in table.stdout
    assert "1 key setting not used: see `presscheck keys --check`." in table.stderr


def test_the_check_names_both_commands_and_the_line(shell: Shell) -> None:
    file = write(shell, '[keys]\npreset = "lazygit"\nmerge = "r"\n')
    ran = shell.run("keys", "--check")
    assert ran.exit_code == 6
    assert ran.stdout.splitlines() == [f"{file}:3: keys.merge r is also a key of reply: change one of the two"]
    assert ran.stdout.splitlines() == shell.run("config", "check").stdout.splitlines()
    file.write_text('[keys]\npreset = 3\nmerge = "r"\nfoo = "x"\n')
    lines = shell.run("keys", "--check").stdout.splitlines()
    assert [line.removeprefix(f"{file}:")[0] for line in lines] == ["2", "3", "4"]
    file.write_text('[keys]\npreset = "lazygit"\n')
    assert shell.run("keys", "--check").exit_code == 0
    file.write_text('keys = "lazygit"\n')
    assert f"{file}:1: keys must be a table, [keys]" in shell.run("keys", "--check").stdout
    assert shell.run("config", "check").stdout.count("must be a table") == 1
