"""Every command in each broken environment: one line that names the variable or file, a code of the table."""

from __future__ import annotations

import codecs
import json
import shlex
import subprocess
import sys
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import click
import pytest
from click.testing import Result
from tests.cli.broken_environments import (
    BYTES,
    CONNECTIONS,
    PROFILES,
    Broken,
    one_certificate,
    shell_in,
    with_token_file,
    write,
)
from tests.cli.help import commands as contexts
from tests.cli.help import is_api
from tests.cli.hostile_calls import ENDLESS, LOCAL, MANY_SO_NAMED, MORE, api_lines, line_of
from tests.cli.hostile_service import HostileService
from tests.cli.shell import Shell
from tests.privileges import without_root_rights

from presscheck.cli import session
from presscheck.cli.exit_codes import EXIT_CODES
from presscheck.cli.main import command
from presscheck.cli.operations.api_commands import commands

SPARED = LOCAL | {"api", "serve"}
"""Commands that do not use the service."""
SOME = 20
"""In each environment, every twentieth API operation is called: all are sent and printed by the same code."""


@cache
def lines() -> dict[str, list[str]]:
    """The words of each command, and of each group that does something without a command, by name."""
    groups = [context for context in contexts() if getattr(context.command, "invoke_without_command", False)]
    names = [context.command_path.partition(" ")[2] for context in groups if not is_api(context)]
    found = {name: [*name.split(), *MORE.get(name, ())] for name in names}
    return found | {name: line_of(name, one) for name, one in commands(command)}


def fault(name: str, ran: Result, broken: Broken, home: Path) -> str:
    """Why a command did not end as it should; empty if it did."""
    if ran.exception and not isinstance(ran.exception, SystemExit):
        return f"raised {ran.exception!r}"
    if ran.exit_code not in EXIT_CODES or "Traceback" in ran.output:
        return f"exit code {ran.exit_code}: {ran.stderr}"
    if ran.exit_code and ran.stderr.count("\n") != 1 and "Usage: " not in ran.stderr:
        return f"not one line: {ran.stderr}"
    says = broken.says.replace("HOME", str(home))
    if name == "doctor":
        return "" if ran.exit_code == 6 and says in ran.stdout else f"does not name it: {ran.output}"
    if name in SPARED | broken.spares:
        return ""
    is_right = ran.exit_code == broken.code and says in ran.stderr and not ran.stdout
    is_right = is_right or (ran.exit_code == 0 and "queued" in ran.stderr)  # a write that needs no answer before it
    return "" if is_right else f"exit code {ran.exit_code}, does not name it: {ran.output}"


def check(broken: Broken, folder: Path, place: int, *, without: frozenset[str] = frozenset()) -> None:
    """Run every command; fails with all faults, each with its command."""
    shell, newcomer = shell_in(broken, folder), shell_in(broken, folder, token=False)
    broken.prepare(shell.home)
    called = lines() | {shlex.join(words): words for words in api_lines()[place % SOME :: SOME]}
    found: list[str] = []
    for name, words in called.items():
        if name not in without:
            ran = (newcomer if name == "login" else shell).run(*words, typed="token\n")
            problem = fault(name, ran, broken, shell.home)
            found += [f"{shlex.join(words)}: {problem}"] if problem else []
    assert not found, "\n".join(found)


def test_every_command_is_run() -> None:
    assert {name for name, _ in commands(command)} | {"", "api", "serve"} == {*lines()}


@pytest.mark.slow
@pytest.mark.parametrize("name", CONNECTIONS)
def test_every_command_names_what_it_cannot_connect_with(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    write(tmp_path / "site.toml", b"[customization.styling]\ntheme = 'clean'\n")
    monkeypatch.setattr(session, "WRITE_TIMEOUT", 1.0)
    # the demo has a service of its own, on this machine
    check(CONNECTIONS[name], tmp_path, [*CONNECTIONS].index(name), without=ENDLESS | {"demo"})


@pytest.mark.parametrize("name", PROFILES)
def test_every_command_names_the_variable_or_file(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    write(tmp_path / "site.toml", b"[customization.styling]\ntheme = 'clean'\n")
    check(PROFILES[name], tmp_path, [*PROFILES].index(name), without=frozenset(("demo",)))


def test_every_command_in_a_read_only_home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    write(tmp_path / "site.toml", b"[customization.styling]\ntheme = 'clean'\n")
    broken = Broken(1, "HOME/state", spares=frozenset(("login",)))
    home = tmp_path / "home"
    home.mkdir(mode=0o500)
    with without_root_rights():
        check(broken, tmp_path, 0)
    assert [*home.iterdir()] == []


def lines_in_bytes() -> Iterator[tuple[str, list[str]]]:
    """For each parameter that takes text, its name and the words of its command with a value that is not UTF-8."""
    for name, one in commands(command):
        for parameter in one.params:
            if takes_text(parameter):
                option = [parameter.opts[0], BYTES] if isinstance(parameter, click.Option) else []
                own = {} if option else {parameter.name or "": BYTES}
                yield shown_name(parameter), [*line_of(name, one, own), *option]
    for context, words in zip(filter(is_api, contexts()), api_lines(), strict=True):
        for parameter in context.command.params:
            if takes_text(parameter):
                yield shown_name(parameter), [*words, parameter.opts[0], BYTES]


def takes_text(parameter: click.Parameter) -> bool:
    """Whether the value of a parameter can be any text; a profile has a name of its own kind."""
    is_flag = isinstance(parameter, click.Option) and parameter.is_flag
    return isinstance(parameter.type, click.types.StringParamType) and not is_flag and parameter.name != "profile"


def shown_name(parameter: click.Parameter) -> str:
    """The name of a parameter in messages."""
    return parameter.opts[0] if isinstance(parameter, click.Option) else parameter.human_readable_name


@pytest.mark.slow
def test_each_argument_that_is_not_text_is_named(tmp_path: Path) -> None:
    shell = Shell(tmp_path / "home", {"PRESSCHECK_BASE_URL": "https://docs.invalid", "PRESSCHECK_TOKEN": "t" * 20})
    found, called = list[str](), [*lines_in_bytes()]
    for name, words in called:
        ran = shell.run(*words)
        if (ran.exit_code, ran.stderr) != (2, f"presscheck: {name}: is not UTF-8 text\n"):
            found.append(f"{words}: {ran.exit_code} {ran.output} {ran.exception}")
    assert not found, "\n".join(found)
    assert len(called) > 500


def test_a_profile_or_theme_that_is_not_text(tmp_path: Path) -> None:
    shell = Shell(tmp_path / "home")
    for words in (["--theme", BYTES], ["--profile", BYTES], ["inbox", "--profile", BYTES], ["space", BYTES], [BYTES]):
        ran = shell.run(*words)
        assert ran.exit_code == 2
        assert isinstance(ran.exception, SystemExit)


def on_streams(shell: Shell, folder: Path, jobs: list[tuple[dict[str, str], list[str]]]) -> list[dict[str, Any]]:
    """Run commands with broken streams, in one process; what each ended with and wrote."""
    (folder / "jobs.json").write_text(json.dumps(jobs))
    run = [sys.executable, "-m", "tests.cli.commands_on_streams", str(folder / "jobs.json"), str(folder / "results")]
    subprocess.run(run, env=shell.environment, cwd=folder, check=True, timeout=600)
    results: list[dict[str, Any]] = json.loads((folder / "results").read_text())
    return results


LEAST = {
    "COLUMNS": "x",
    "HOME": "/dev/null",
    "LC_ALL": "C",
    "NO_PROXY": "http://[::,*x,",
    "TERM": "dumb",
    "TMPDIR": "/nonexistent",
    "TZ": "No/Where",
}
"""Variables whose values are bad, but that nothing depends on."""


@pytest.mark.slow
@pytest.mark.timeout(600)  # a thousand commands in one test, on a busy machine
def test_every_command_on_broken_streams(tmp_path: Path) -> None:
    """Settings and token file begin with a byte order mark, and input is closed: all work.

    Then each command that printed something runs again with an output that is full, closed, or a pipe that nobody
    reads.
    """
    write(tmp_path / "site.toml", b"[customization.styling]\ntheme = 'clean'\n")
    with HostileService("well-formed").running() as service:
        shell = Shell(tmp_path / "home", {"PRESSCHECK_BASE_URL": service.base_url, "EDITOR": "true", **LEAST})
        shell.env["SSL_CERT_FILE"] = str(one_certificate(tmp_path))
        with_token_file(shell.home, b"t" * 20, mark=codecs.BOM_UTF8)
        names = [name for name in lines() if name not in ENDLESS | {"demo"}]
        first = on_streams(shell, tmp_path, [({"stdin": "closed"}, lines()[name]) for name in names])
        ended = [*zip(names, first, strict=True)]
        found = [f"{name}: {ran}" for name, ran in ended if not is_well(name, ran["code"], ran["stderr"])]
        assert not found, "\n".join(found)
        printing = [name for name, ran in ended if ran["stdout"] and name not in SPARED]
        jobs = [({"stdout": kind}, lines()[name]) for kind in OUTPUTS for name in printing]
        for (streams, words), ran in zip(jobs, on_streams(shell, tmp_path, jobs), strict=True):
            *_, last = ["", *ran["stderr"].splitlines()]
            line = OUTPUTS[streams["stdout"]]
            is_said = last == line if line else "standard output" not in ran["stderr"]
            if ran["code"] != 1 or not is_said or "Traceback" in ran["stderr"]:
                found.append(f"{streams} {words}: {ran}")
        assert not found, "\n".join(found)
        assert len(printing) > 100


OUTPUTS = {
    "full": "presscheck: standard output: No space left on device",
    "closed": "presscheck: standard output: Bad file descriptor",
    "gone": "",
}
"""Outputs that cannot be written, and the last line on standard error; a reader that left has what it wants."""


def is_well(name: str, code: object, errors: str) -> bool:
    """Whether a command found nothing wrong with its environment."""
    is_usage_error = code == 2 and name not in MANY_SO_NAMED | SPARED | {"login"}
    return code in EXIT_CODES and code not in (3, 4) and not is_usage_error and "Traceback" not in errors
