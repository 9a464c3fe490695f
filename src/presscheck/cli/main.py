"""The command line: each command reads its options and hands over; data on stdout, talk on stderr.

The commands of a family are imported when one of them is used, so that none pays for the others.
"""

from __future__ import annotations

import sys
from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import replace
from importlib import import_module
from pathlib import Path
from typing import Any

import click

from presscheck import __version__
from presscheck.cli.exit_codes import says_what_failed
from presscheck.config.profile import Profile

LATER: dict[str, tuple[str, str]] = {
    "api": ("api_command", "calls"),
    "cache": ("cache", "cache"),
    "collection": ("generated_commands", "collection"),
    "completion": ("doctor", "completion"),
    "config": ("config", "config"),
    "conversation": ("generated_commands", "conversation"),
    "cr": ("change_requests", "cr"),
    "doctor": ("doctor", "doctor"),
    "import": ("generated_commands", "running"),
    "inbox": ("inbox", "inbox"),
    "integration": ("generated_commands", "integration"),
    "log": ("doctor", "log"),
    "login": ("account", "login"),
    "logout": ("account", "logout"),
    "member": ("generated_commands", "member"),
    "open": ("search", "open_thing"),
    "openapi": ("generated_commands", "specification"),
    "org": ("generated_commands", "org"),
    "outbox": ("outbox", "outbox"),
    "profiles": ("account", "profiles"),
    "search": ("search", "search"),
    "serve": ("serve", "serve"),
    "site": ("sites", "site"),
    "space": ("spaces", "space"),
    "sync": ("sync", "sync"),
    "team": ("generated_commands", "team"),
    "translation": ("generated_commands", "translation"),
    "whoami": ("account", "whoami"),
}
"""Commands that are imported when they are used: the module beside this one, and the name in it."""


class Commands(click.Group):
    """The commands of this module, and those of `LATER`."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Every command."""
        return sorted({*super().list_commands(ctx), *LATER})

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """The command of this name."""
        if cmd_name not in LATER:
            return super().get_command(ctx, cmd_name)
        module, name = LATER[cmd_name]
        found: click.Command = getattr(import_module(f"presscheck.cli.{module}"), name)
        return found

    def make_context(self, *args: Any, **extra: Any) -> click.Context:
        """Reads the options before the command."""
        with _safe_usage_errors():
            return super().make_context(*args, **extra)

    def invoke(self, ctx: click.Context) -> Any:
        """Reads and runs the command."""
        with _safe_usage_errors():
            return super().invoke(ctx)


@contextmanager
def _safe_usage_errors() -> Generator[None, None, None]:
    """Sanitizes usage errors: they quote what was typed or pasted, which may hold escape sequences."""
    try:
        yield
    except click.ClickException as error:
        from presscheck.text.sanitize import sanitize  # late: a start without errors does not need it

        shown = sanitize(error.format_message())
        error.format_message = lambda: shown
        raise


def show(profile: Profile, theme: str | None) -> int:
    """Open the app, or print the inbox where there is no terminal to open it in; the exit code."""
    from presscheck.cli.session import has_screen, run_with

    if has_screen():
        from presscheck.wiring import open_app

        return open_app(profile, theme=theme)
    from presscheck.cli.inbox import print_inbox

    run_with(profile, print_inbox)
    return 0


def profile_named(name: str | None, *, offline: bool = False) -> Profile:
    """The profile to work with."""
    from presscheck.config.profile import load
    from presscheck.paths import places

    return replace(load(places().config_file, name), offline=offline)


@click.group(cls=Commands, invoke_without_command=True, context_settings={"help_option_names": ["-h", "--help"]})
@click.option("--profile", metavar="NAME", help="Profile to use: [profiles.NAME] in config.toml.")
@click.option("--theme", metavar="NAME", help="Theme: ink, paper, contrast, ansi or a custom one.")
@click.option("--offline", is_flag=True, help="Work offline: show cached data only.")
@click.version_option(__version__, "-V", "--version", message="presscheck %(version)s")
@click.pass_context
@says_what_failed
def command(context: click.Context, profile: str | None, theme: str | None, *, offline: bool) -> None:
    """Review, edit and publish documentation from the keyboard.

    Without a command: opens the app, or prints the inbox where there is no terminal.
    """
    context.obj = (profile, theme, offline)
    if context.invoked_subcommand is None:
        sys.exit(show(profile_named(profile, offline=offline), theme))


@command.command()
@click.option("--fresh", is_flag=True, help="Reset the sample workspace.")
@click.option(
    "--docs",
    type=click.Path(path_type=Path, file_okay=False, exists=True),
    multiple=True,
    help="Also import this documentation repository; repeatable.",
)
@click.pass_obj
@says_what_failed
def demo(chosen: tuple[str | None, str | None, bool], *, fresh: bool, docs: tuple[Path, ...]) -> None:
    """Open the app on a sample workspace, served locally."""
    from presscheck.demo import demo_service

    with demo_service(fresh=fresh, docs=docs) as profile:
        code = show(profile, chosen[1])
    sys.exit(code)
