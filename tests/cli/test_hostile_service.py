"""Every command ends in time on a service that responds nonsense: with the received items or a clear error."""

from __future__ import annotations

import os
import shlex
import signal
from functools import cache
from pathlib import Path
from types import FrameType

import pytest
from click.testing import Result
from tests.cli.hostile_calls import ENDLESS, LOCAL, MANY_SO_NAMED, api_lines, line_of, spec_of
from tests.cli.hostile_service import KINDS, HostileService
from tests.cli.shell import Shell

from presscheck.cli import session
from presscheck.cli.exit_codes import EXIT_CODES
from presscheck.cli.main import command
from presscheck.cli.operations.api_commands import commands, operations
from presscheck.client.client import Client, Timeouts
from presscheck.engine.writes import delivery

NONSENSE = sorted({*KINDS} - {"well-formed"})
LONGEST = 20
"""Seconds after which a command counts as hanging; the slowest takes one second."""
SOME_NAMED = int(os.environ.get("PRESSCHECK_KINDS", "8"))
"""Each kind of nonsense is tested with every eighth command; with all if this is 1, as in `make attack`."""
CALLED = (
    NONSENSE
    if SOME_NAMED == 1
    else [
        "a body without an end",
        "negative numbers, in the year 9999",
        "things inside themselves, in the year 1",
    ]
)
"""Kinds of nonsense to test; by default, an endless body and values that commands have to calculate with."""
SOME_MADE = 1 if SOME_NAMED == 1 else len(NONSENSE)
"""Generated commands share their code, so by default each is called with at most one kind."""
SOME = 10 if SOME_NAMED == 1 else 3
"""Step between the `presscheck api` commands that run; generated commands call most operations already."""


@cache
def named_lines() -> list[list[str]]:
    """Return the words of every command that uses the service, with generated arguments."""
    return [line_of(name, one) for name, one in commands(command) if name not in LOCAL | ENDLESS]


@cache
def made_lines() -> list[list[str]]:
    """Return the words of the commands that are generated from declarations."""
    return [line_of(name, one) for name, one in commands(command) if spec_of(one)]


def some_api_lines(place: int) -> list[list[str]]:
    """Return the `presscheck api` commands to call with the kind of nonsense at `place`."""
    if SOME_NAMED == 1:
        return api_lines()[place % SOME :: SOME]
    return api_lines()[::SOME][place :: len(NONSENSE)]


@pytest.fixture
def quick(kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Set short time-outs and a small size limit, so that an endless body soon exceeds it."""
    longest = 0.1 if kind == "a slow body" else 5
    times = Timeouts(connect=5, read=5, write=5, pool=5, whole=longest, pause=0.001, longest_pause=0.01)
    monkeypatch.setattr("presscheck.client.client.Timeouts", lambda: times)
    monkeypatch.setitem(Client.__init__.__kwdefaults__, "max_size", 1 << 20)
    monkeypatch.setattr(session, "WRITE_TIMEOUT", 1.0)
    monkeypatch.setattr(delivery, "TIMEOUT", 0.01)
    monkeypatch.setattr(delivery, "SETTLE", 0.01)


class Hangs(BaseException):
    """Raised in a command that does not end."""


def ended(shell: Shell, words: list[str]) -> str:
    """Run a command. Returns the problem, or an empty string."""

    def interrupt(number: int, frame: FrameType | None) -> None:
        raise Hangs

    before = signal.signal(signal.SIGALRM, interrupt)
    signal.alarm(LONGEST)
    try:
        return problem_with(shell.run(*words, typed="token\n"), words)
    except Hangs:
        return f"has not ended after {LONGEST} s"
    finally:
        signal.alarm(0)
        signal.signal(signal.SIGALRM, before)


def problem_with(ran: Result, words: list[str]) -> str:
    """Check the result of a command. Returns the problem, or an empty string."""
    if ran.exception and not isinstance(ran.exception, SystemExit):
        return f"raised {ran.exception!r:.300}"
    is_usage_error = ran.exit_code == 2 and " ".join(words[:2]) not in MANY_SO_NAMED
    if ran.exit_code not in EXIT_CODES or is_usage_error:
        return f"exit code {ran.exit_code}: {ran.stderr}"
    if "Traceback" in ran.output:
        return ran.stderr
    return "" if ran.exit_code == 0 or ran.stderr.strip() else f"exit code {ran.exit_code} without an error"


@pytest.mark.slow
@pytest.mark.usefixtures("quick")
@pytest.mark.parametrize("kind", CALLED)
def test_every_command_ends(kind: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    problems: list[str] = []
    monkeypatch.chdir(tmp_path)
    Path("site.toml").write_text("[customization.styling]\ntheme = 'clean'\n")
    place = NONSENSE.index(kind)
    with HostileService(kind).running() as service:
        env = {"PRESSCHECK_BASE_URL": service.base_url, "PRESSCHECK_TOKEN": "token"}
        shell, newcomer = Shell(tmp_path, env), Shell(tmp_path / "new", {"PRESSCHECK_BASE_URL": service.base_url})
        made = made_lines()
        functions = [line for line in named_lines() if line not in made]
        chosen = [*functions[place % SOME_NAMED :: SOME_NAMED], *made[place % SOME_MADE :: SOME_MADE]]
        for words in [*chosen, *some_api_lines(place)]:
            service.asked.clear()
            problem = ended(newcomer if words == ["login"] else shell, words)
            problem = problem or ("" if service.asked or kind == "a slow body" else "sent nothing")
            problems += [f"{shlex.join(words)}: {problem}"] if problem else []
    assert not problems, "\n".join(problems)


def test_all_commands_except_local_ones_are_run() -> None:
    names = {name for name, _ in commands(command)}
    assert names >= LOCAL | ENDLESS
    assert len(named_lines()) == len(names - LOCAL - ENDLESS) > 180
    assert len(api_lines()) == len(operations())


def test_list_with_a_repeated_page_is_printed_with_an_error(tmp_path: Path) -> None:
    with HostileService("a new cursor for the same items").running() as service:
        shell = Shell(tmp_path, {"PRESSCHECK_BASE_URL": service.base_url, "PRESSCHECK_TOKEN": "token"})
        listed, inbox, changed = shell.run("cr", "list"), shell.run("inbox"), shell.run("cr", "archive", "x")
    assert listed.stdout.count("\n") == 1, "the change request of the repeated page, once"
    assert "Needs me 1  Mine 1" in inbox.stdout
    for ran in (listed, inbox):
        assert ran.exit_code == 1
        assert "The list is incomplete: the service repeats a page (GET /orgs" in ran.stderr
    assert changed.exit_code == 0, "the change was made"
    assert changed.stderr == "Archived.\nThe list is incomplete: the service repeats a page\n"


def test_incomplete_list_is_reported_if_an_argument_is_not_found(tmp_path: Path) -> None:
    with HostileService("empty pages with a cursor").running() as service:
        shell = Shell(tmp_path, {"PRESSCHECK_BASE_URL": service.base_url, "PRESSCHECK_TOKEN": "token"})
        ran = shell.run("cr", "show", "x")
    assert (ran.exit_code, ran.stdout) == (1, "")
    assert ran.stderr == "presscheck: The list is incomplete: the service returned 10 empty pages (GET /orgs)\n"
