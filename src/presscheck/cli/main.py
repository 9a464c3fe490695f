"""The root command. Commands print data on stdout, messages on stderr.

The modules of all other commands are imported at their first use, which keeps the start fast.
"""

from __future__ import annotations

import shlex
import sys
from collections.abc import Generator
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import click
from typing_extensions import override

from presscheck import __version__
from presscheck.cli.exit_codes import report_errors
from presscheck.cli.lazy_group import LazyGroup
from presscheck.cli.profile_completion import complete_profile
from presscheck.config.profile import Profile, load
from presscheck.config.validation import read_aliases
from presscheck.errors import InvalidArgument
from presscheck.paths import places
from presscheck.wiring import offer_tour, open_app, start_tour

if TYPE_CHECKING:
    from click.shell_completion import CompletionItem

LAZY_COMMANDS: dict[str, tuple[str, str]] = {
    "admin": ("admin", "admin"),
    "agent": ("agent.commands", "agent"),
    "alias": ("alias", "alias"),
    "api": ("operations.api_commands", "calls"),
    "cache": ("cache", "cache"),
    "check": ("check", "check"),
    "checkout": ("checkout", "checkout"),
    "collection": ("operations.resource_commands", "collection"),
    "completion": ("completion", "completion"),
    "config": ("config", "config"),
    "conversation": ("conversations", "conversation"),
    "cr": ("change_request.commands", "cr"),
    "diff": ("checkout", "diff"),
    "doctor": ("doctor", "doctor"),
    "import": ("operations.resource_commands", "import_group"),
    "inbox": ("inbox", "inbox"),
    "integration": ("integrations", "integration"),
    "invite": ("operations.resource_commands", "invite"),
    "keys": ("keys", "keys"),
    "log": ("doctor", "log"),
    "login": ("account", "login"),
    "logout": ("account", "logout"),
    "lookup": ("operations.resource_commands", "lookup"),
    "mcp": ("agent.commands", "mcp"),
    "member": ("operations.resource_commands", "member"),
    "open": ("search", "open_thing"),
    "openapi": ("specifications", "specification_group"),
    "org": ("operations.resource_commands", "org"),
    "outbox": ("outbox", "outbox"),
    "page": ("page", "page"),
    "preview": ("preview", "preview"),
    "profiles": ("account", "profiles"),
    "pull": ("checkout", "pull"),
    "push": ("checkout", "push"),
    "saml": ("saml", "saml_group"),
    "search": ("search", "search"),
    "serve": ("serve", "serve"),
    "service": ("operations.resource_commands", "service"),
    "site": ("site.commands", "site"),
    "skill": ("agent.skill", "skill"),
    "space": ("space.commands", "space"),
    "status": ("checkout", "status"),
    "sync": ("sync", "sync"),
    "team": ("operations.resource_commands", "team"),
    "translation": ("operations.resource_commands", "translation"),
    "user": ("operations.resource_commands", "user"),
    "web": ("web", "web"),
    "whoami": ("account", "whoami"),
}
"""Lazily imported commands: the module in this package, and the name in the module."""

BUILT_IN_ALIASES = {"review": "cr review"}
"""Command lines by alias; the aliases of the user have precedence."""


def _aliases() -> dict[str, str]:
    return BUILT_IN_ALIASES | read_aliases(places().config_file)


class RootGroup(LazyGroup):
    """The root command, with the aliases of the user; its usage errors are safe for the terminal."""

    @override
    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Replace an alias by its words. A command has precedence, and an alias cannot lead to another alias.

        Raises:
            UsageError: there is no such command; if the settings file is the reason, the message has its error.
        """
        name, *others = args
        if self.get_command(ctx, name) is None:
            if line := _aliases().get(name):
                args = [*shlex.split(line), *others]
            if self.get_command(ctx, args[0]) is None:
                from presscheck.cli.alias import alias_errors  # 1 ms, only for an error

                errors = alias_errors(places().config_file, ctx)
                if error := next((error for error in errors if error.key[1:] in ((), (name,))), None):
                    raise click.UsageError(f"No such command {name!r}. {error}", ctx)
        return super().resolve_command(ctx, args)

    @override
    def shell_complete(self, ctx: click.Context, incomplete: str) -> list[CompletionItem]:
        from click.shell_completion import CompletionItem  # 3 ms, only to complete

        aliases = (
            CompletionItem(name, help=line)
            for name, line in _aliases().items()
            if name.startswith(incomplete) and name not in self.list_commands(ctx)
        )
        return [*aliases, *super().shell_complete(ctx, incomplete)]

    @override
    def make_context(self, *args: Any, **extra: Any) -> click.Context:
        with _safe_usage_errors():
            return super().make_context(*args, **extra)

    @override
    def invoke(self, ctx: click.Context) -> Any:
        with _safe_usage_errors():
            return super().invoke(ctx)


@contextmanager
def _safe_usage_errors() -> Generator[None, None, None]:
    """Sanitize usage errors, which quote the arguments and so may contain escape sequences."""
    try:
        yield
    except click.ClickException as error:
        from presscheck.text.sanitize import sanitize  # 4 ms, only for usage errors

        shown = sanitize(error.format_message())
        error.format_message = lambda: shown  # pyrefly: ignore[method-assign]
        raise


def show(profile: Profile, *, linear: bool) -> int:
    """Open the app if there is a terminal; otherwise print the inbox. Return the exit code.

    Without a token, the app begins with the welcome screen, except in offline mode. With `linear`, or on a terminal
    that cannot move its cursor, the app runs as numbered lines, from a terminal or a pipe.
    """
    from presscheck.cli.session import has_terminal, is_dumb_terminal, run_with_profile  # 218 ms, not for `serve`

    if linear or is_dumb_terminal():
        from presscheck.cli.linear.loop import run_linear  # 60 ms, not to open the app

        return run_linear(profile)
    if has_terminal() and not profile.token and not profile.offline:
        from presscheck.first_run import open_first_run  # 20 ms, only without a token

        return open_first_run(profile)
    if has_terminal():
        return open_app(profile, first=offer_tour if profile.is_sample else None)
    from presscheck.cli.inbox import print_inbox  # 5 ms, not to open the app

    run_with_profile(profile, print_inbox)
    return 0


class Options(NamedTuple):
    """The options of the root command."""

    profile: str | None
    theme: str | None
    offline: bool
    low_bandwidth: bool
    linear: bool
    no_project: bool


def profile_named(options: Options) -> Profile:
    """Load the profile for the options of the root command."""
    from presscheck.cli.project import project_of  # 5 ms, only to open the app

    project = project_of(click.get_current_context())
    profile = load(places().config_file, options.profile, project=project)
    return with_look(replace(profile, offline=options.offline), options)


def with_look(profile: Profile, options: Options) -> Profile:
    """Return the profile with the theme and bandwidth of the options."""
    profile = replace(profile, theme=options.theme) if options.theme else profile
    return replace(profile, low_bandwidth="on") if options.low_bandwidth else profile


@click.group(
    cls=RootGroup,
    lazy_commands=LAZY_COMMANDS,
    invoke_without_command=True,
    context_settings={"help_option_names": ["-h", "--help"]},
)
@click.option(
    "--profile",
    metavar="NAME",
    shell_complete=complete_profile,
    help="Profile to use: [profiles.NAME] in config.toml.",
)
@click.option("--theme", metavar="NAME", help="Theme: ink, paper, contrast, ansi or a custom theme.")
@click.option("--offline", is_flag=True, help="Work offline with cached data only.")
@click.option("--low-bandwidth", is_flag=True, help="Send few bytes to the terminal, for slow connections.")
@click.option("--linear", is_flag=True, help="Numbered lines of text instead of screens, for screen readers.")
@click.option("--no-project", is_flag=True, help="Ignore .presscheck.toml of this folder and those above.")
@click.version_option(__version__, "-V", "--version", message="presscheck %(version)s")
@click.pass_context
@report_errors
def command(
    context: click.Context,
    profile: str | None,
    theme: str | None,
    *,
    offline: bool,
    low_bandwidth: bool,
    linear: bool,
    no_project: bool,
) -> None:
    """Review, edit and publish documentation from the keyboard.

    Without a command, opens the app; without a terminal, prints the inbox. If TERM is dumb, --linear is the default.
    """
    context.obj = Options(profile, theme, offline, low_bandwidth, linear, no_project)
    if context.invoked_subcommand is None:
        sys.exit(show(profile_named(context.obj), linear=linear))


@command.command()
@click.option("--fresh", is_flag=True, help="Reset the sample workspace.")
@click.option(
    "--docs",
    type=click.Path(path_type=Path, file_okay=False, exists=True),
    multiple=True,
    help="Also import this documentation repository (repeatable).",
)
@click.pass_obj
@report_errors
def demo(options: Options, *, fresh: bool, docs: tuple[Path, ...]) -> None:
    """Open the app on a sample workspace.

    A local service (extra `serve`) provides the workspace; no account is required.
    """
    from presscheck.demo import demo_service  # 9 ms, only for this command

    with demo_service(fresh=fresh, docs=docs) as profile:
        code = show(with_look(profile, options), linear=options.linear)
    sys.exit(code)


@command.command()
@click.option("--sample", is_flag=True, help="Use the sample workspace, even if you are signed in.")
@click.pass_obj
@report_errors
def tour(options: Options, *, sample: bool) -> None:
    """Open the app with a tour of about two minutes.

    In your own profile, the tour changes nothing. Without a token, it uses the sample workspace, where you can try
    everything.
    """
    # 218 ms, only for this command
    from presscheck.cli.session import has_terminal
    from presscheck.demo import demo_service

    if not has_terminal():
        raise InvalidArgument("tour", "needs a terminal")
    profile = profile_named(options)
    with ExitStack() as services:
        if sample or not profile.token:
            profile = with_look(services.enter_context(demo_service()), options)
        code = open_app(profile, first=start_tour)
    sys.exit(code)
