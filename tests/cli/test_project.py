"""A project file on the command line: default arguments, trust, and clones of untrusted repositories."""

from __future__ import annotations

import json
import shlex
import sys
from contextlib import closing
from pathlib import Path

import pytest
from tests.cli.shell import Shell
from tests.terminal import Terminal

CHECK = """
import json, pathlib, sys
pathlib.Path("ran").touch()
for path in sys.argv[1:]:
    print(json.dumps({"path": path, "line": 1, "message": "seen"}))
"""


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, shell: Shell) -> Path:
    """A project with a blank in its path; the working directory is below it."""
    folder = tmp_path / "a project"
    below = folder / "docs"
    below.mkdir(parents=True)
    monkeypatch.chdir(below)
    (below / "README.md").write_text("# Docs\n")
    shell.env["PRESSCHECK_NO_PROJECT"] = ""
    return folder


def write(folder: Path, text: str) -> Path:
    file = folder / ".presscheck.toml"
    file.write_text(text)
    return file


def number(shell: Shell, named: str) -> int:
    """Return the number of the change request that an argument names."""
    return shell.json("cr", "show", named)["changeRequest"]["number"]


def check_table(folder: Path, *words: str) -> str:
    """Write a check script into the project. Returns the table that declares it."""
    (folder / "check it.py").write_text(CHECK)
    return f'[[checks]]\nname = "seen"\ncommand = {json.dumps([sys.executable, "check it.py", *words])}\n'


def test_arguments_default_to_the_values_of_the_project(shell: Shell, folder: Path) -> None:
    write(folder, 'organization = "Tallowick"\nspace = "API docs"\nsite = "Tallowick Docs"\n')
    assert shell.json("site", "show")["title"] == "Tallowick Docs"
    assert number(shell, "#5") == 5
    assert number(shell, "guides#4") == 4, "the argument has precedence"
    assert shell.json("config", "show")["sources"]["site"] == "project"
    ran = shell.run("--no-project", "space", "pages")
    assert (ran.exit_code, "name a space, or set space in .presscheck.toml" in ran.stderr) == (2, True)
    shell.env["PRESSCHECK_NO_PROJECT"] = "1"
    assert shell.json("config", "show")["project"] is None


def test_views_of_the_project_are_printed(shell: Shell, folder: Path) -> None:
    write(folder, '[[views]]\nname = "Api"\nquery = "space:api"\n[[views]]\nname = ""\n')
    ran = shell.run("inbox", "--view", "Api")
    assert (ran.exit_code, ran.stdout.count("#")) == (0, 4), ran.output
    assert f"{folder / '.presscheck.toml'}:5: views.2.name is empty" in ran.stderr
    assert shell.run("--no-project", "inbox", "--view", "Api").exit_code == 2


def test_untrusted_project_cannot_run_programs_or_redirect_requests(shell: Shell, folder: Path) -> None:
    line = json.dumps(shlex.join([sys.executable, "check it.py"]))
    file = write(folder, check_table(folder) + f"[review_programs]\nseen = {line}\n")
    notice = f"2 programs of {file} are not used until trusted"
    assert notice in shell.run("check", "--with", "all").stderr
    assert notice in shell.run("cr", "check", "api#5").stderr
    assert notice in shell.run("cr", "review", "api#5", "--with", "seen").stderr
    assert notice not in shell.run("space", "list").stderr, "a command that runs no program"
    assert not [*folder.rglob("ran")]
    text = file.read_text()
    for secret in (
        'base_url = "http://127.0.0.1:9"',
        'token_command = "touch ran"',
        'token_file = "ran"',
        "allow_http = true",
    ):
        file.write_text(f"{secret}\n{text}")
        for words in (("space", "list"), ("whoami",), ("inbox",), ("config", "show")):
            ran = shell.run(*words)
            assert (ran.exit_code, ran.stdout) == (2, ""), words
            assert f"{file}:1: {secret.split()[0]} is not allowed in a project" in ran.stderr
        assert shell.run("--no-project", "space", "list").exit_code == 0
        assert shell.run("config", "check").exit_code == 6
    assert not [*folder.rglob("ran")]


def test_trusted_programs_run_until_they_change(shell: Shell, folder: Path) -> None:
    file = write(folder, check_table(folder))
    ran = shell.run("config", "trust")
    assert (ran.exit_code, "pass --yes" in ran.stderr) == (2, True), "no prompt without a terminal"
    assert shlex.quote("check it.py") in ran.stdout
    assert shell.run("check", "--with", "seen").exit_code == 2
    trusted = shell.run("config", "trust", "--yes")
    assert (trusted.exit_code, trusted.stderr) == (0, f"Trusted 1 program of {file}.\n")
    ran = shell.run("check", "--with", "seen")
    assert ran.exit_code == 0, ran.output
    assert "seen" in ran.stdout
    assert (folder / "ran").exists(), "it runs in the folder of the project"
    assert shell.json("config", "show")["programs"][0]["trusted"]
    assert "trusted already" in shell.run("config", "trust").stderr
    (folder / "ran").unlink()
    write(folder, check_table(folder, "--all") + '[[checks]]\nname = "typos"\n')
    assert "2 programs" in shell.run("check", "--with", "all").stderr
    asked = shell.run("config", "trust").stdout.splitlines()
    assert [line for line in asked if not line.startswith(" ")] == ["new check seen", "new check typos"]
    assert not (folder / "ran").exists()
    write(folder, check_table(folder))
    assert shell.run("check", "--with", "seen").exit_code == 0
    assert "No longer trusted" in shell.run("config", "untrust", str(folder)).stderr
    assert shell.run("check", "--with", "seen").exit_code == 2
    file.unlink()
    assert "Was not trusted" in shell.run("config", "untrust", str(file)).stderr
    assert "have no .presscheck.toml" in shell.run("config", "trust").stderr


def test_keys_of_own_commands_are_checked_and_listed_once_trusted(shell: Shell, folder: Path) -> None:
    text = '[[commands]]\nname = "Ticket"\nkey = "{}"\ncommand = "true"\n'
    file = write(folder, text.format("m"))
    ran = shell.run("config", "check")
    assert (ran.exit_code, f"{file}:3: commands.1.key" in ran.stdout) == (6, True), ran.output
    write(folder, text.format("g T"))
    assert shell.run("config", "check").exit_code == 0
    assert "Ticket" not in shell.ok("keys")
    shell.ok("config", "trust", "--yes")
    assert "Ticket" in shell.ok("keys")


def test_rejected_file_is_reported_and_not_used(shell: Shell, folder: Path) -> None:
    file = write(folder, 'site = "Tallowick Docs"\n')
    file.chmod(0o666)
    ran = shell.run("space", "list")
    assert ran.exit_code == 0
    command = shlex.join(["chmod", "go-w", str(file)])
    assert ran.stderr == f"{file} is not used because it can be written by other users: run `{command}`\n"
    assert shell.run("site", "show").exit_code == 2
    assert shell.run("config", "trust").exit_code == 2
    [error] = json.loads(shell.run("config", "check", "--json").stdout)
    assert "can be written by other users" in error["message"]
    assert "is not used" in shell.json("doctor")["project"]["problem"]
    file.chmod(0o600)
    assert shell.run("site", "show").exit_code == 0
    assert shell.ok("config", "path", "--project").strip() == str(file)


def test_names_in_a_file_are_shown_without_control_characters(shell: Shell, folder: Path) -> None:
    file = write(
        folder,
        '[[checks]]\nname = "a"\ncommand = ["true", "[red]$(id)"]\n[review_programs]\n"\\u001b[2J" = "true"\n'
        '[[commands]]\nname = "x\\u202e"\ncommand = "true"\n[folders]\n"\\u001b]0;x\\u0007" = "/"\n',
    )
    ran = shell.run("config", "check")
    assert (ran.exit_code, ran.stdout.count(str(file))) == (6, 3)
    assert not any(sign in ran.output for sign in "\x1b\x07\u202e")
    file.write_text('[[checks]]\nname = "a"\ncommand = ["true", "[red]$(id)"]\n')
    assert "true '[red]$(id)'" in shell.run("config", "trust").stdout


def test_trust_is_confirmed_on_a_terminal(shell: Shell, folder: Path) -> None:
    write(folder, check_table(folder))
    command = [sys.executable, "-m", "presscheck", "config", "trust"]
    # wide, because the question contains paths of the test
    with closing(Terminal(command, size=(300, 40), env=shell.environment)) as terminal:
        terminal.wait(r"y/N")
        terminal.press("y", "enter")
        terminal.wait("Trusted 1 program")
        assert terminal.end() == 0


def test_organization_of_the_project_can_be_overridden(shell: Shell, folder: Path) -> None:
    write(folder, 'organization = "Nobody"\n')
    ran = shell.run("site", "list")
    assert (ran.exit_code, "Nobody not found" in ran.stderr) == (2, True)
    assert shell.run("site", "list", "--org", "Tallowick").exit_code == 0, "the command line has precedence"
