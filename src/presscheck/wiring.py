"""The one place that builds things and joins them: client, store, desk, app, local service.

Everything is imported where it is built, so that a start pays only for what it shows.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from presscheck.config import Profile
from presscheck.errors import NoToken
from presscheck.paths import Places, places, private_directory

if TYPE_CHECKING:
    from presscheck.client.client import Client
    from presscheck.desk.desk import Desk
    from presscheck.store.cache import Cache
    from presscheck.tui.app import PresscheckApp


def connect(profile: Profile) -> Client:
    """A client for the profile's service.

    Raises:
        NoToken: there is none; says where one may be put.
    """
    from presscheck.client.client import Client

    return Client(profile.base_url, needed_token(profile), insecure=profile.allow_http)


def needed_token(profile: Profile) -> str:
    """The profile's token.

    Raises:
        NoToken: there is none; says where one may be put.
    """
    if not profile.token:
        raise NoToken(
            f"there is no token for {profile.base_url}: `presscheck login`, or set PRESSCHECK_TOKEN; "
            "`presscheck demo` needs none"
        )
    return profile.token


def open_desk(profile: Profile, where: Places | None = None, cache: Cache | None = None) -> Desk:
    """A desk over the profile's cache and outbox; it connects when it is started.

    What is remembered is kept by profile, service and token, what waits to be sent by profile and service: a token that
    was renewed must not strand a comment.
    """
    from presscheck.desk.desk import Desk
    from presscheck.store.outbox import Outbox

    where = where or places()
    return Desk(
        lambda: connect(profile),
        cache or open_cache(profile, where),
        Outbox(where.outbox_file(_service(profile))),
        read_only=profile.read_only,
    )


def open_cache(profile: Profile, where: Places) -> Cache:
    """What is remembered of the profile's service."""
    from presscheck.store.cache import Cache

    return Cache(where.cache_file(f"{_service(profile)}-{_mark(needed_token(profile))}"))


def open_app(profile: Profile, *, theme: str | None = None, first: Callable[[PresscheckApp], Any] | None = None) -> int:
    """Open the app on a profile; the exit code.

    Args:
        profile: the service, and as whom.
        theme: instead of the profile's.
        first: what to go to at once, over the inbox.
    """
    from presscheck.tui.app import PresscheckApp
    from presscheck.tui.still import KEY

    where = places()
    cache = open_cache(profile, where)
    still = cache.answer(KEY)
    app = PresscheckApp(
        lambda: open_desk(profile, where, cache),
        profile=profile,
        theme=theme or profile.theme,
        own_themes=where.config / "themes",
        settings=where.config_file,
        log=where.log_file(),
        still=still.json if still else None,
        first=first,
    )
    return app.run_to_end()


def run_service(
    *,
    host: str,
    port: int,
    uds: Path | None,
    fd: int | None,
    database: str | None,
    data: Path | None,
    token_file: Path | None,
    docs: tuple[Path, ...],
    sample: bool,
    until_closed: bool,
) -> None:
    """Run the local service until it is told to stop."""
    from presscheck.service.running import ServeOptions, serve

    kept = private_directory(data or places().data)
    serve(
        ServeOptions(
            host=host,
            port=port,
            uds=uds,
            fd=fd,
            database=database or f"sqlite:///{kept / 'service.sqlite'}",
            data=kept,
            token_file=token_file,
            docs=docs,
            sample=sample,
            until_closed=until_closed,
        )
    )


def _service(profile: Profile) -> str:
    return f"{profile.name}-{_mark(profile.base_url)}"


def _mark(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()[:8]
