"""The composition root, which creates and connects client, stores, engine, app and local service.

Imports are lazy, so that each command loads only what it needs.
"""

from __future__ import annotations

import gc
import re
import shlex
from collections.abc import Awaitable, Callable, Generator, Sequence
from contextlib import contextmanager
from functools import partial
from ipaddress import ip_network
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple
from urllib.parse import urlsplit

from presscheck.config.profile import Profile
from presscheck.errors import ConfigurationError, NoToken, PresscheckError
from presscheck.extras import require_extra
from presscheck.paths import Places, places, private_directory, short_hash, store_name

if TYPE_CHECKING:
    from presscheck.browser.server import BrowserServer
    from presscheck.client.client import Client
    from presscheck.client.offline_client import OfflineClient
    from presscheck.client.request_priority import RequestRecord
    from presscheck.engine.engine import Engine
    from presscheck.service.blobs.store import BlobStore
    from presscheck.service.db.engine import Database
    from presscheck.service.server.server import ServeOptions
    from presscheck.service.server.start_check import Finding
    from presscheck.store.cache import Cache
    from presscheck.tui.app import PresscheckApp
    from presscheck.tui.places import Place
    from presscheck.tui.screens.welcome.screen import FirstRun

COLLECTED_AFTER = 700, 10, 10
"""Garbage collection thresholds of the app. Commands use higher ones, because they end soon."""


def connect(profile: Profile, on_exchange: Callable[[RequestRecord], None] | None = None) -> Client:
    """Create a client for the profile's service.

    Args:
        profile: the profile.
        on_exchange: called with a record of each request.

    Raises:
        NoToken: no token is set.
        ConfigurationError: the URL or the token is invalid.
    """
    from presscheck.client.client import Client  # 78 ms, only after the first paint

    token, auth = needed_token(profile), None
    if profile.browser:
        from presscheck.client.token_renewal import RenewedBearer  # 2 ms, only for sign-ins by browser

        auth = RenewedBearer(profile.browser, insecure=profile.allow_http)
    return Client(profile.base_url, token, auth=auth, insecure=profile.allow_http, on_exchange=on_exchange)


def offline_client() -> OfflineClient:
    """Create a client for offline mode."""
    from presscheck.client.offline_client import OfflineClient  # 70 ms, only after the first paint

    return OfflineClient()


def needed_token(profile: Profile) -> str:
    """Return the profile's token.

    Raises:
        NoToken: no token is set; the message names where to set it.
    """
    if not profile.token:
        raise NoToken(
            f"no token for {profile.base_url}: run `presscheck login` or set PRESSCHECK_TOKEN; "
            "`presscheck demo` needs no token"
        )
    return profile.token


def open_engine(profile: Profile, where: Places | None = None, cache: Cache | None = None) -> Engine:
    """Open an engine with the profile's cache and outbox. It connects when it is started.

    Each combination of profile, service and token has a separate cache. The outbox does not depend on the token, so
    that unsent writes survive a change of the token.
    """
    # 206 ms, only after the first paint
    from presscheck.engine.connection import Activity
    from presscheck.engine.engine import Engine
    from presscheck.store.outbox import Outbox

    where, activity = where or places(), Activity()
    cache = cache or open_cache(profile, where)
    try:
        outbox = Outbox(outbox_file(profile, where))
    except BaseException:
        cache.close()  # there is no engine to close it
        raise
    return Engine(
        lambda: offline_client() if profile.offline else connect(profile, activity.record_request),
        cache,
        outbox,
        read_only=profile.read_only,
        activity=activity,
        user=profile.user,
        snapshots=where.site_snapshots(store_name(profile.name, profile.base_url)),
    )


def outbox_file(profile: Profile, where: Places | None = None) -> Path:
    """Return the file of the profile's outbox."""
    return (where or places()).outbox_file(store_name(profile.name, profile.base_url))


def open_cache(profile: Profile, where: Places) -> Cache:
    """Open the cache of the profile's service and token."""
    from presscheck.store.cache import MB, Cache  # 7 ms, not for commands without a cache

    # the access token of a sign-in by browser changes every hour
    owner = profile.browser.session.id if profile.browser else needed_token(profile)
    file = where.cache_file(f"{store_name(profile.name, profile.base_url)}-{short_hash(owner)}")
    return Cache(file, limit=profile.cache_size * MB)


def open_app(profile: Profile, first: Callable[[PresscheckApp], Any] | None = None) -> int:
    """Run the app with a profile, then with each profile that the user switches to. Return the exit code.

    Args:
        profile: the profile.
        first: called with the app after the start, to open a screen above the inbox.
    """
    return run_app(_app_with(profile, profile, first))


def run_app(app: PresscheckApp) -> int:
    """Run an app, then an app for each profile that the user switches to. Return the exit code of the last one.

    If the files of a profile cannot be opened, the app restarts with the previous profile and shows the error.
    """
    while True:
        code, profile, next_profile = app.run_to_end(), app.profile, app.next_profile
        begun_with, place, before = app.begun_with, app.next_place, app.place_before
        if next_profile is None:
            return code
        del app  # free its screens before the next app starts
        gc.unfreeze()
        try:
            app = _app_with(next_profile, begun_with, partial(_begin_at, place, before) if place else None)
        except PresscheckError as error:
            app = _app_with(profile, begun_with, partial(_show_error, error))


def _begin_at(place: Place, before: Place | None, app: PresscheckApp) -> Awaitable[None]:
    return app.navigation.begin_at(place, before)


def _show_error(error: PresscheckError, app: PresscheckApp) -> None:
    app.show_error(error)


def _app_with(
    profile: Profile, begun_with: Profile, first: Callable[[PresscheckApp], Any] | None = None
) -> PresscheckApp:
    """Create the app for a profile.

    Garbage collection is off until the inbox is shown, so that it does not delay the first paint. Objects loaded by
    then are frozen, so that later collections do not scan them and delay keys.

    Args:
        profile: the profile.
        begun_with: the profile that the process started with, to which the user can return.
        first: called with the app after the start, to open a screen above the inbox.

    Raises:
        PresscheckError: the cache cannot be opened, or the theme is unknown.
    """
    gc.disable()
    # 127 ms, not for commands
    from presscheck.tui.app import PresscheckApp, Start
    from presscheck.tui.screens.startup_snapshot import KEY

    def begin(app: PresscheckApp) -> Any:
        gc.collect()
        gc.freeze()
        gc.set_threshold(*COLLECTED_AFTER)
        gc.enable()
        return first(app) if first else None

    where = places()
    cache = open_cache(profile, where)
    snapshot = cache.answer(KEY) if profile.first_screen in ("inbox", "last") else None
    start = Start(snapshot.json if snapshot else None, then=begin, begun_with=begun_with)
    try:
        return PresscheckApp(
            lambda opened: open_engine(opened, where, cache if opened is profile else None), profile, where, start
        )
    except BaseException:
        cache.close()  # there is no engine to close it
        raise


def app_without_token(profile: Profile, first_run: FirstRun) -> PresscheckApp:
    """Create the app for a profile without a token, beginning with the welcome screen.

    Args:
        profile: the profile; its theme is used.
        first_run: the actions of the welcome screen.

    Raises:
        ConfigurationError: the theme is unknown.
    """
    # 140 ms, not for commands, and not with a profile
    from presscheck.tui.app import PresscheckApp, Start
    from presscheck.tui.places import Place
    from presscheck.tui.screens.welcome.screen import WelcomeScreen

    async def begin(app: PresscheckApp) -> None:
        if first_run.space:
            await app.go(Place.page(first_run.space))
        app.navigation.offer_tour()

    where = places()
    start = Start(welcome=lambda: WelcomeScreen(first_run), then=begin)
    return PresscheckApp(lambda opened: open_engine(opened, where), profile, where, start)


def offer_tour(app: PresscheckApp) -> None:
    """Offer the tour in a running app, unless it was offered before."""
    app.navigation.offer_tour()


def start_tour(app: PresscheckApp) -> None:
    """Start the tour of a running app."""
    app.navigation.command_tour()


def run_service(*, database: str | None, data: Path | None, **options: Any) -> None:
    """Run the local service until it is stopped.

    Args:
        database: the URL of the database; None for an SQLite file in the data directory.
        data: the data directory; None for the user's data directory.
        options: see `_serve_options`.

    Raises:
        ConfigurationError: an option is invalid.
    """
    from presscheck.service.server.server import serve  # 871 ms, only for `presscheck serve`

    serve(_serve_options(*_service_location(database, data), **options))


def check_service(*, database: str | None, data: Path | None, **options: Any) -> list[Finding]:
    """Check whether the local service can start. Takes the arguments of `run_service`.

    Raises:
        ConfigurationError: an option is invalid.
    """
    from presscheck.service.server.start_check import check_start  # 871 ms, only for `presscheck serve`

    directory = data or places().data
    return check_start(_serve_options(_database_url(database, directory), directory, **options))


def _serve_options(
    url: str,
    directory: Path,
    *,
    files: str | None,
    translator: Sequence[str],
    allowed: Sequence[str],
    script_hosts: Sequence[str],
    git_root: Path | None,
    **options: Any,
) -> ServeOptions:
    """Return the options of the local service.

    Args:
        url: the URL of the database.
        directory: the data directory.
        files: the location of uploaded files; None for the location stored in the database.
        translator: the command line of the translation program.
        allowed: private networks that the service may connect to.
        script_hosts: hosts that the scripts of integrations may send requests to.
        git_root: the folder with Git repositories for imports and exports.
        options: further fields of `ServeOptions`.

    Raises:
        ConfigurationError: an option is invalid.
    """
    # 871 ms, only for `presscheck serve`
    from presscheck.service.integrations.script_runner import ScriptConfig
    from presscheck.service.jobs.queue import OutboundConfig
    from presscheck.service.server.server import ServeOptions

    for network in allowed:
        _check_network(network)
    for host in script_hosts:
        _check_host(host)
    _require_public_url(options["public_url"])
    arguments = ["--data", str(directory), "--translator", shlex.join(translator)]
    arguments += [part for network in allowed for part in ("--allow-network", network)]
    arguments += [part for host in script_hosts for part in ("--integration-fetch", host)]
    arguments += ["--git-root", str(git_root)] if git_root else []
    arguments += ["--host", options["host"]]
    arguments += ["--files", files] if files else []
    arguments += ["--public-url", options["public_url"]] if options["public_url"] else []
    arguments += ["--rate-limit", str(options["rate_limit"])] if options["rate_limit"] else []
    arguments += ["--cache", str(options["cache"])] if options["cache"] else []
    arguments += ["--mermaid", str(options["mermaid"])] if options["mermaid"] else []
    arguments += ["--release", options["release"]] if options["release"] else []
    arguments += ["--log-requests"] if options["log_requests"] else []
    return ServeOptions(
        database=url,
        data=directory,
        files=files,
        outside=OutboundConfig(
            allowed=tuple(allowed),
            translator=tuple(translator),
            scripts=ScriptConfig(hosts=tuple(script_hosts)),
            git_root=git_root,
        ),
        arguments=tuple(arguments),
        **options,
    )


def preview_folder(path: Path, port: int) -> None:
    """Serve a documentation folder as its published site until it is stopped.

    Raises:
        ConfigurationError: the port cannot be used.
        OSError: the folder cannot be read.
        MissingExtra: the libraries of the local service are not installed.
    """
    from presscheck.service.server.preview import preview  # 900 ms, only for `presscheck preview`

    preview(path, port)


def browser_server(command: Sequence[str], port: int) -> BrowserServer:
    """Create the server that shows the app in the browser.

    Args:
        command: the program that opens the app, and its arguments.
        port: the port to listen on; 0 chooses a free port.

    Raises:
        ConfigurationError: the port cannot be used.
        MissingExtra: the libraries of the server are not installed.
    """
    from presscheck.browser.server import BrowserServer  # 360 ms, only for `presscheck web`

    return BrowserServer(command, port)


class ScriptResponse(NamedTuple):
    """The response of an integration's script. If the script failed, `status` is None and `error` is set."""

    status: int | None
    content_type: str
    text: str
    error: str | None


def script_runner(
    hosts: Sequence[str] = (),
) -> Callable[[str, dict[str, Any], dict[str, Any], Callable[[str, str], None]], ScriptResponse]:
    """Return a function that runs an integration's script on an event, as the local service does.

    Its arguments are the script, the event, the environment of the script, and a callback for log lines, which gets
    their level and text. It blocks until the script responds, so run it in a thread. Scripts may send requests to
    public hosts and, in private networks, to `hosts`.

    Raises:
        MissingExtra: the libraries that run scripts are not installed.
    """
    require_extra("integrations")
    # 180 ms, only to develop an integration
    from presscheck.service.integrations.outbound_http import Outgoing
    from presscheck.service.integrations.script_runner import EngineBusy, ScriptConfig, run_script

    outgoing, config = Outgoing(hosts=hosts), ScriptConfig(hosts=("*",))

    def run(
        script: str, event: dict[str, Any], environment: dict[str, Any], log: Callable[[str, str], None]
    ) -> ScriptResponse:
        try:
            response = run_script(script, event, environment, outgoing=outgoing, config=config, log=log)
        except EngineBusy as error:
            return ScriptResponse(None, "", "", str(error))
        return ScriptResponse(response.status, response.content_type, response.text, response.error)

    return run


@contextmanager
def service_database(
    database: str | None, data: Path | None, *, may_be_new: bool = False
) -> Generator[tuple[Database, Path], None, None]:
    """Yield the database and the data directory of the local service, open for the duration of the block.

    Raises:
        ConfigurationError: the database cannot be opened, has another version, is new although it must not be, or
            cannot be used during the block.
    """
    # 825 ms, only for `presscheck serve`
    from presscheck.service.server.server import opened, plain_faults, require_current

    directory = data or places().data
    require_current(_database_url(database, directory), may_be_new=may_be_new)
    url, directory = _service_location(database, data)
    opened_database = opened(url)
    try:
        with plain_faults():
            yield opened_database, directory
    finally:
        opened_database.close()


@contextmanager
def service_files(
    database: str | None, data: Path | None, files: str | None, *, may_be_new: bool = False
) -> Generator[tuple[Database, BlobStore], None, None]:
    """Yield the database of the local service and the store of its files, open for the duration of the block.

    Raises:
        ConfigurationError: the database cannot be used, see `service_database`; or its files are in another location.
    """
    from presscheck.service.blobs.location import save_location, store_of  # 264 ms, only for `presscheck serve`

    with service_database(database, data, may_be_new=may_be_new) as (opened_database, directory):
        with opened_database.snapshot() as session:
            store = store_of(session, files, directory)
        opened_database.write(lambda session: save_location(session, store.location))
        yield opened_database, store


def _service_location(database: str | None, data: Path | None) -> tuple[str, Path]:
    directory = private_directory(data or places().data)
    return _database_url(database, directory), directory


def _database_url(database: str | None, directory: Path) -> str:
    return database or f"sqlite:///{directory / 'service.sqlite'}"


def _check_network(text: str) -> None:
    try:
        ip_network(text, strict=False)
    except ValueError:
        raise ConfigurationError(f"--allow-network {text}: must be a network, such as 10.0.0.0/8") from None


def _check_host(text: str) -> None:
    if not re.fullmatch(r"\*|(\*\.)?[^\s/:@*]+|[0-9a-fA-F:.]+", text):
        raise ConfigurationError(
            f"--integration-fetch {text}: must be a host, such as api.example.org, *.example.org or * for all"
        )


def _require_public_url(text: str | None) -> None:
    try:
        parts = urlsplit(text or "https://localhost")
        is_valid = parts.scheme in ("http", "https") and bool(parts.hostname) and not (parts.query or parts.fragment)
        is_valid = is_valid and parts.username is None and parts.port != 0
    except ValueError:
        is_valid = False
    if not is_valid:
        raise ConfigurationError("--public-url or PRESSCHECK_PUBLIC_URL must be a URL such as https://docs.example.org")
