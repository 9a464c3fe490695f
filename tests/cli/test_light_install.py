"""An install without extras: the app and the command line work; a command without its extra names what to install.

The tests run an environment that has the packages of a light install and no others.
"""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Iterable, Sequence
from pathlib import Path

import click
import pytest
from tests.cli.help import commands
from tests.cli.shell import signed_in
from tests.installation import declared, make_environment, with_their_own
from tests.root import ROOT
from tests.running_service import RunningService
from tests.terminal import Terminal

from presscheck import __version__
from presscheck.cli.serve import serve

pytestmark = pytest.mark.service(shared=False)

NEEDS_SERVE = (
    "presscheck: the local service needs the extra serve (alembic is not installed): pip install 'presscheck[serve]'\n"
)
NEEDS_MCP = (
    "presscheck: the server for agents needs the extra mcp (mcp is not installed): pip install 'presscheck[mcp]'\n"
)
NEEDS_WEB = (
    "presscheck: the app in the browser needs the extra web (aiohttp is not installed): pip install 'presscheck[web]'\n"
)
WITHOUT_SERVICE: dict[str, tuple[str, ...]] = {
    "serve": ("--port", "0"),
    "serve token create": ("ana@example.org",),
    "serve token list": (),
    "serve token revoke": ("t1",),
    "serve export": ("backup.zip",),
    "serve import": (__file__,),
    "serve files move": ("--to", "disk"),
    "demo": (),
    "preview": (str(ROOT / "docs"),),
}
"""The commands that need the local service, with arguments."""

COMMANDS = """
import json
import sys
from click.testing import CliRunner
from presscheck.cli.main import command
for home, words in json.loads(sys.argv[1]):
    ran = CliRunner().invoke(command, words, prog_name="presscheck", env={"PRESSCHECK_HOME": home})
    print(json.dumps([ran.exit_code, ran.stdout, ran.stderr]))
"""
"""Program that runs commands one after the other; starting it takes longer than the commands."""


@pytest.fixture(scope="module")
def light(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The interpreter of an environment with the packages of a light install and this checkout."""
    return make_environment(tmp_path_factory.mktemp("light") / "environment", with_their_own(declared()))


def python(light: Path, *words: str, env: dict[str, str] | None = None) -> subprocess.CompletedProcess[str]:
    """Run the interpreter with nothing but its environment on the import path."""
    return subprocess.run([light, "-I", *words], env=env, capture_output=True, text=True, timeout=100)


def run_each(light: Path, home: Path, commands: Iterable[Sequence[str]]) -> list[tuple[int, str, str]]:
    """Run commands in one process. Returns their exit codes and outputs."""
    ran = python(light, "-c", COMMANDS, json.dumps([(str(home), [*words]) for words in commands]))
    assert ran.returncode == 0, ran.stderr
    return [(code, out, err) for code, out, err in map(json.loads, ran.stdout.splitlines())]


@pytest.mark.slow
def test_version_is_printed_and_missing_extras_are_named(light: Path, tmp_path: Path) -> None:
    """A command without its extra prints one line and leaves no files."""
    env = {**os.environ, "PRESSCHECK_HOME": str(tmp_path / "home")}
    assert python(light, "-m", "presscheck", "--version", env=env).stdout == f"presscheck {__version__}\n"
    needing = {
        **{(*name.split(), *arguments): NEEDS_SERVE for name, arguments in WITHOUT_SERVICE.items()},
        ("serve", "--list"): NEEDS_SERVE,
        ("mcp",): NEEDS_MCP,
        ("web", "--no-open"): NEEDS_WEB,
    }
    for words, ran in zip(needing, run_each(light, tmp_path / "home", needing), strict=True):
        assert ran == (2, "", needing[words]), words
    assert [*tmp_path.iterdir()] == [], "nothing is left behind"


def test_table_has_every_command_that_needs_the_service() -> None:
    root = next(commands())
    paths = {
        context.command_path.removeprefix("presscheck ")
        for context in commands(serve, root)
        if not isinstance(context.command, click.Group) or context.command.invoke_without_command
    }
    assert {*WITHOUT_SERVICE} == {*paths, "demo", "preview"}


@pytest.mark.slow
def test_app_works_without_extras(light: Path, tmp_path: Path, service: RunningService) -> None:
    env = {**signed_in(tmp_path, service).env, "PRESSCHECK_HOME": str(tmp_path)}
    # by name, because the rows of the inbox may move while they load
    terminal = Terminal([str(light), "-I", "-m", "presscheck", "open", "api#5"], env=env)
    try:
        terminal.wait("3 open comments")
        terminal.press("C")
        terminal.wait("the draft is kept")
        terminal.press("Typed into a light install.", "ctrl+s")
        terminal.gone("the draft is kept")
        terminal.wait("4 open comments")
        terminal.press("q", "q")
        assert terminal.end() == 0
        assert terminal.left_on() == []
    finally:
        terminal.close()
