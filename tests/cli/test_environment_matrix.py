"""Every command in each broken environment: one line that names the variable or file, and a known exit code."""

from __future__ import annotations

import codecs
import json
import os
import shlex
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from functools import cache
from pathlib import Path
from subprocess import PIPE, Popen
from typing import Any
from urllib.error import HTTPError
from urllib.request import urlopen

import click
import pytest
from click.testing import Result
from tests.cli.broken_environments import (
    ALL_AT_ONCE,
    BYTES,
    CONNECTIONS,
    HOMES,
    PROFILES,
    Broken,
    one_certificate,
    shell_in,
    with_token_file,
    write,
)
from tests.cli.help import commands as contexts
from tests.cli.help import is_api
from tests.cli.hostile_calls import ENDLESS, LOCAL, MANY_SO_NAMED, MORE, api_lines, line_of, spec_of
from tests.cli.hostile_service import HostileService
from tests.cli.shell import Shell
from tests.privileges import without_root_rights

from presscheck.cli import session
from presscheck.cli.exit_codes import EXIT_CODES
from presscheck.cli.main import command
from presscheck.cli.operations.api_commands import commands
from presscheck.cli.serve import serve

SPARED = LOCAL | {"api", "serve"}
"""Commands that do not use the service."""
ALL = bool(os.environ.get("PRESSCHECK_KINDS"))
SHARE = 1 if ALL else 8
"""Every eighth command of a sample runs in its environment; with `PRESSCHECK_KINDS`, all of them."""
SOME_MADE = 10
"""Generated commands share their code, so each is in the sample of every tenth environment."""


@cache
def sample(place: int) -> list[tuple[str, list[str]]]:
    """Return every command that is a function, and every tenth of the generated commands, which share their code."""
    made = {name for name, one in commands(command) if spec_of(one)}
    functions = [line for line in lines().items() if line[0] not in made]
    declared = [
        *(line for line in lines().items() if line[0] in made),
        *((shlex.join(words), words) for words in api_lines()),
    ]
    return [*functions, *declared[place % SOME_MADE :: SOME_MADE]]


@cache
def lines() -> dict[str, list[str]]:
    """Return the words of each command, and of each group that can run without a command, by name."""
    groups = [context for context in contexts() if getattr(context.command, "invoke_without_command", False)]
    names = [context.command_path.partition(" ")[2] for context in groups if not is_api(context)]
    found = {name: [*name.split(), *MORE.get(name, ())] for name in names}
    return found | {name: line_of(name, one) for name, one in commands(command)}


def fault(name: str, ran: Result, broken: Broken, home: Path) -> str:
    """Check the result of a command. Returns the problem, or an empty string."""
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
    # writes that need no response before they are queued, and searches in the cache, succeed
    is_offline = ran.exit_code == 0 and ("queued" in ran.stderr or ran.stderr.startswith("Offline: "))
    is_right = says in ran.stderr and (is_offline or (ran.exit_code == broken.code and not ran.stdout))
    return "" if is_right else f"exit code {ran.exit_code}, does not name it: {ran.output}"


def check(broken: Broken, folder: Path, place: int, *, without: str = "") -> None:
    """Run a share of the sample of an environment; fails with the problems of all commands."""
    write(folder / "site.toml", b"[customization.styling]\ntheme = 'clean'\n")
    shell, newcomer = shell_in(broken, folder), shell_in(broken, folder, token=False)
    broken.prepare(shell.home)
    found: list[str] = []
    for name, words in sample(place)[place % SHARE :: SHARE]:
        if name != without:
            ran = (newcomer if name == "login" else shell).run(*words, typed="token\n")
            problem = fault(name, ran, broken, shell.home)
            found += [f"{shlex.join(words)}: {problem}"] if problem else []
    assert not found, "\n".join(found)


def test_lines_contain_every_command() -> None:
    assert {name for name, _ in commands(command)} | {"", "api", "serve"} == {*lines()}


@pytest.mark.parametrize("name", CONNECTIONS | PROFILES)
def test_every_command_names_the_variable_or_file(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(session, "WRITE_TIMEOUT", 1.0)
    monkeypatch.setattr(session, "OUTBOX_POLL_SECONDS", 0.01)
    environments = CONNECTIONS | PROFILES
    # where the demo runs, it takes as long as a hundred other commands
    check(environments[name], tmp_path, [*environments].index(name), without="" if name in HOMES else "demo")


def test_every_command_in_a_read_only_home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    broken = Broken(1, "HOME/state", spares=frozenset(("login",)))
    home = tmp_path / "home"
    home.mkdir(mode=0o500)
    with without_root_rights():
        check(broken, tmp_path, 0)
    assert [*home.iterdir()] == []


@pytest.mark.slow
def test_service_starts_in_a_broken_environment(tmp_path: Path) -> None:
    fine = replace(ALL_AT_ONCE, variables=ALL_AT_ONCE.variables | {"SSLKEYLOGFILE": None})
    shell = shell_in(fine, tmp_path)
    write(shell.home / "state")
    fine.prepare(shell.home)
    env = {name: value for name, value in shell.environment.items() if value is not None}
    line = f"exec {shlex.join([sys.executable, '-m', 'presscheck', 'serve', '--port', '0'])} <&-"
    with Popen(["sh", "-c", line], env=env, stdout=PIPE, stderr=PIPE, text=True) as service:
        try:
            assert service.stdout
            with pytest.raises(HTTPError, match="401"):
                urlopen(f"{service.stdout.readline().strip()}/v1/user", timeout=60)
            service.terminate()
            assert (service.communicate(timeout=60)[1], service.returncode) == ("", 0)
        finally:
            service.kill()


def test_serve_names_an_unusable_home(tmp_path: Path) -> None:
    home = tmp_path / "read-only" / "home"
    home.mkdir(0o500, parents=True)
    for shell, message in (
        (shell_in(PROFILES["a home that is no folder"], tmp_path), "/dev/null/data: Not a directory"),
        (Shell(home), f"{home}/data: Permission denied"),
    ):
        with without_root_rights():
            result = shell.run("serve", "--port", "0")
        assert (result.exit_code, result.stderr) == (1, f"presscheck: Could not use the folder {message}\n")


SOME_TEXTS = 1 if ALL else 12
"""Every twelfth text parameter is tested; of `presscheck api`, those of every twelfth command."""


def lines_in_bytes() -> Iterator[tuple[str, list[str]]]:
    """Yield the name of each text parameter, and the words of its command with a value that is not UTF-8."""
    for name, one in [*commands(command), ("serve", serve)]:
        for parameter in one.params:
            if takes_text(parameter):
                option = [parameter.opts[0], BYTES] if isinstance(parameter, click.Option) else []
                own = {} if option else {parameter.name or "": BYTES}
                yield shown_name(parameter), [*line_of(name, one, own), *option]
    lines_of_api = [*zip(filter(is_api, contexts()), api_lines(), strict=True)]
    for context, words in lines_of_api[::SOME_TEXTS]:
        for parameter in context.command.params:
            if takes_text(parameter):
                yield shown_name(parameter), [*words, parameter.opts[0], BYTES]


def takes_text(parameter: click.Parameter) -> bool:
    """Return True if a parameter accepts any text; profiles have a separate test."""
    is_flag = isinstance(parameter, click.Option) and parameter.is_flag
    return isinstance(parameter.type, click.types.StringParamType) and not is_flag and parameter.name != "profile"


def shown_name(parameter: click.Parameter) -> str:
    """Return the name of a parameter in messages."""
    return parameter.opts[0] if isinstance(parameter, click.Option) else parameter.human_readable_name


@pytest.mark.slow
def test_argument_that_is_not_utf8_is_named(tmp_path: Path) -> None:
    shell = Shell(tmp_path / "home", {"PRESSCHECK_BASE_URL": "https://docs.invalid", "PRESSCHECK_TOKEN": "t" * 20})
    found, called = list[str](), [*lines_in_bytes()][::SOME_TEXTS]
    for name, words in called:
        ran = shell.run(*words)
        if (ran.exit_code, ran.stderr) != (2, f"presscheck: {name}: is not UTF-8 text\n"):
            found.append(f"{words}: {ran.exit_code} {ran.output} {ran.exception}")
    assert not found, "\n".join(found)


def test_profile_theme_or_command_that_is_not_utf8_is_a_usage_error(tmp_path: Path) -> None:
    shell = Shell(tmp_path / "home")
    for words in (["--theme", BYTES], ["--profile", BYTES], ["inbox", "--profile", BYTES], ["space", BYTES], [BYTES]):
        ran = shell.run(*words)
        assert ran.exit_code == 2
        assert isinstance(ran.exception, SystemExit)


def on_streams(shell: Shell, folder: Path, jobs: list[tuple[dict[str, str], list[str]]]) -> list[dict[str, Any]]:
    """Run commands with broken streams in one process. Returns the exit code and the output of each command."""
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
"""Variables with bad values on which no command depends."""
ONCE = frozenset(("demo", "logout", "serve", "serve export"))
"""Commands that run only once: they take long, or have nothing left to do the second time."""


@contextmanager
def well_formed(folder: Path) -> Iterator[Shell]:
    """Run a well-formed service. Yields a shell whose settings and token file begin with a byte order mark."""
    with HostileService("well-formed").running() as service:
        shell = Shell(folder / "home", {"PRESSCHECK_BASE_URL": service.base_url, "EDITOR": "true", **LEAST})
        shell.env["SSL_CERT_FILE"] = str(one_certificate(folder))
        with_token_file(shell.home, b"t" * 20, mark=codecs.BOM_UTF8)
        yield shell


@pytest.mark.slow
@pytest.mark.timeout(600)  # with `PRESSCHECK_KINDS`, more than a thousand commands
def test_every_command_on_broken_streams(tmp_path: Path) -> None:
    """Commands work with a closed input and fail cleanly if they cannot print.

    Commands that printed something run again with an output that is full, closed, or a pipe without a reader.
    """
    write(tmp_path / "site.toml", b"[customization.styling]\ntheme = 'clean'\n")
    with well_formed(tmp_path) as shell:
        # every sixteenth command, each with one of the outputs
        step = 1 if ALL else 16 * len(OUTPUTS)
        samples = [(kind, sample(place)[16 * place % step :: step]) for place, kind in enumerate(OUTPUTS)]
        chosen = {name for _, one in samples for name, _ in one}
        names = [name for name in lines() if name not in ENDLESS and name in chosen]
        first = on_streams(shell, tmp_path, [({"stdin": "closed"}, lines()[name]) for name in names])
        ended = [*zip(names, first, strict=True)]
        found = [f"{name}: {ran}" for name, ran in ended if not is_well(name, ran["code"], ran["stderr"])]
        assert not found, "\n".join(found)
        printing = {name for name, ran in ended if ran["stdout"] and name not in ONCE}
        jobs = [
            ({"stdin": "closed", "stdout": kind}, words)
            for kind, one in samples
            for name, words in one
            if name in printing or name not in lines()  # all API calls print their response
        ]
        for (streams, words), ran in zip(jobs, on_streams(shell, tmp_path, jobs), strict=True):
            if not is_printing_fault(streams["stdout"], ran["code"], ran["stderr"]):
                found.append(f"{streams} {words}: {ran}")
        assert not found, "\n".join(found)
        assert printing


OUTPUTS = {
    "full": "presscheck: standard output: No space left on device",
    "closed": "presscheck: standard output: Bad file descriptor",
    "gone": "",
}
"""Outputs that cannot be written, and the last line on standard error; none if the reader of a pipe is gone."""


def is_printing_fault(output: str, code: object, errors: str) -> bool:
    """Return True if a command failed because it could not print, and standard error is as in `OUTPUTS`."""
    *_, last = ["", *errors.splitlines()]
    is_said = last == OUTPUTS[output] if OUTPUTS[output] else "standard output" not in errors
    return code == 1 and is_said and "Traceback" not in errors


def is_well(name: str, code: object, errors: str) -> bool:
    """Return True if a command reported no problem with its environment."""
    is_usage_error = code == 2 and name not in MANY_SO_NAMED | SPARED | {"login"}
    return code in EXIT_CODES and code not in (3, 4) and not is_usage_error and "Traceback" not in errors
