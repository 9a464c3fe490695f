"""The one place that builds things and joins them: client, store, engine, app, local service.

Everything is imported where it is built, so that a start pays only for what it shows.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Generator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from presscheck.config.profile import Profile
from presscheck.errors import ConfigurationError, NoToken
from presscheck.paths import Places, places, private_directory

if TYPE_CHECKING:
    from presscheck.client.client import Client
    from presscheck.client.offline_client import Unplugged
    from presscheck.client.request_context import RequestRecord
    from presscheck.engine.engine import Engine
    from presscheck.service.db.engine import Database
    from presscheck.store.cache import Cache
    from presscheck.tui.app import PresscheckApp


def connect(profile: Profile, on_exchange: Callable[[RequestRecord], None] | None = None) -> Client:
    """A client for the profile's service.

    Args:
        profile: the service, and as whom.
        on_exchange: is told of each exchange.

    Raises:
        NoToken: there is none; says where one may be put.
    """
    from presscheck.client.client import Client

    return Client(profile.base_url, needed_token(profile), insecure=profile.allow_http, on_exchange=on_exchange)


def unplugged() -> Unplugged:
    """What stands in the place of a client where nothing is to be asked."""
    from presscheck.client.offline_client import Unplugged

    return Unplugged()


def needed_token(profile: Profile) -> str:
    """The profile's token.

    Raises:
        NoToken: there is none; says where one may be put.
    """
    if not profile.token:
        raise NoToken(
            f"no token for {profile.base_url}: `presscheck login`, or set PRESSCHECK_TOKEN; "
            "`presscheck demo` needs none"
        )
    return profile.token


def open_engine(profile: Profile, where: Places | None = None, cache: Cache | None = None) -> Engine:
    """An engine over the profile's cache and outbox; it connects when it is started.

    What is remembered is kept by profile, service and token, what waits to be sent by profile and service: a token that
    was renewed must not strand a comment.
    """
    from presscheck.engine.activity_log import Activity
    from presscheck.engine.engine import Engine
    from presscheck.store.outbox import Outbox

    where, activity = where or places(), Activity()
    cache = cache or open_cache(profile, where)
    try:
        outbox = Outbox(where.outbox_file(_service(profile)))
    except BaseException:
        cache.close()  # the engine would have closed it
        raise
    return Engine(
        lambda: unplugged() if profile.offline else connect(profile, activity.exchanged),
        cache,
        outbox,
        read_only=profile.read_only,
        activity=activity,
    )


def open_cache(profile: Profile, where: Places) -> Cache:
    """What is remembered of the profile's service."""
    from presscheck.store.cache import MB, Cache

    file = where.cache_file(f"{_service(profile)}-{_mark(needed_token(profile))}")
    return Cache(file, limit=profile.cache_size * MB)


def open_app(profile: Profile, *, theme: str | None = None, first: Callable[[PresscheckApp], Any] | None = None) -> int:
    """Open the app on a profile; the exit code.

    Args:
        profile: the service, and as whom.
        theme: instead of the profile's.
        first: what to go to at once, over the inbox.
    """
    from presscheck.tui.app import PresscheckApp
    from presscheck.tui.screens.startup_snapshot import KEY

    where = places()
    cache = open_cache(profile, where)
    snapshot = cache.answer(KEY)
    app = PresscheckApp(
        lambda: open_engine(profile, where, cache),
        profile=profile,
        theme=theme or profile.theme,
        own_themes=where.config / "themes",
        settings=where.config_file,
        log=where.log_file(),
        snapshot=snapshot.json if snapshot else None,
        first=first,
    )
    return app.run_to_end()


def run_service(
    *,
    database: str | None,
    data: Path | None,
    translator: Sequence[str],
    allowed: Sequence[str],
    **how: Any,
) -> None:
    """Run the local service until it is told to stop; `how` are options of `ServeOptions`.

    Raises:
        ConfigurationError: an option says what cannot be.
    """
    import shlex

    from presscheck.service.jobs.queue import OutboundConfig
    from presscheck.service.server.server import ServeOptions, serve

    url, kept = _service_place(database, data)
    for network in allowed:
        _demand_network(network)
    _require_public_url(how["public_url"])
    arguments = ["--database", url, "--data", str(kept), "--translator", shlex.join(translator)]
    arguments += [part for network in allowed for part in ("--allow-network", network)]
    arguments += ["--host", how["host"]]
    arguments += ["--public-url", how["public_url"]] if how["public_url"] else []
    arguments += ["--rate-limit", str(how["rate_limit"])] if how["rate_limit"] else []
    arguments += ["--log-requests"] if how["log_requests"] else []
    serve(
        ServeOptions(
            database=url,
            data=kept,
            outside=OutboundConfig(allowed=tuple(allowed), translator=tuple(translator)),
            arguments=tuple(arguments),
            **how,
        )
    )


@contextmanager
def service_database(database: str | None, data: Path | None) -> Generator[tuple[Database, Path], None, None]:
    """The database of the local service, and where its files are kept.

    Raises:
        ConfigurationError: it cannot be used.
    """
    from presscheck.service.server.server import opened

    url, kept = _service_place(database, data)
    found = opened(url)
    try:
        yield found, kept
    finally:
        found.close()


def _service_place(database: str | None, data: Path | None) -> tuple[str, Path]:
    kept = private_directory(data or places().data)
    return database or f"sqlite:///{kept / 'service.sqlite'}", kept


def _demand_network(text: str) -> None:
    from ipaddress import ip_network

    try:
        ip_network(text, strict=False)
    except ValueError:
        raise ConfigurationError(f"--allow-network {text}: a network such as 10.0.0.0/8") from None


def _require_public_url(text: str | None) -> None:
    from urllib.parse import urlsplit

    try:
        parts = urlsplit(text or "https://localhost")
        is_valid = parts.scheme in ("http", "https") and bool(parts.hostname) and not (parts.query or parts.fragment)
    except ValueError:
        is_valid = False
    if not is_valid:
        raise ConfigurationError(f"--public-url {text}: a URL such as https://docs.example.org")


def _service(profile: Profile) -> str:
    return f"{profile.name}-{_mark(profile.base_url)}"


def _mark(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()[:8]
