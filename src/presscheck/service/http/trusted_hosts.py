"""Checks the `Host` of requests: it comes back in addresses, and a foreign one may be an attack by DNS rebinding."""

from __future__ import annotations

import re
from collections.abc import Collection
from ipaddress import ip_address
from urllib.parse import urlsplit

from sqlalchemy import func, select
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.types import ASGIApp, Receive, Scope, Send

from presscheck.service.db.engine import Database
from presscheck.service.http.problem_response import problem_response
from presscheck.service.models.sites import SiteRow

_host = re.compile(r"(\[[0-9a-fA-F:.]{2,45}\]|[A-Za-z0-9._-]{1,253})(?::[0-9]{1,5})?").fullmatch


class TrustedHostMiddleware:
    """Responds with 400 unless the `Host` is a loopback name, the host of a published site, or one of the operator's.

    Unix sockets, which only local users reach, and requests without the header are not checked.

    Args:
        app: the application.
        database: the database with the published sites.
        public_url: the address that users reach the service at; if given, it is the start of all addresses.
        hosts: further names that the operator trusts, such as that of `--host`.
    """

    def __init__(
        self, app: ASGIApp, database: Database, public_url: str | None = None, hosts: Collection[str] = ()
    ) -> None:
        self.app, self._database = app, database
        self._public_url = public_url.rstrip("/") if public_url else None
        self._trusted = {name.lower() for name in (*hosts, urlsplit(public_url or "").hostname or "") if name}

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Handles one request."""
        if scope["type"] == "http":
            if not await self._is_trusted(scope):
                refusal = problem_response(
                    400, "This host name is not served here; the operator can set it with --public-url."
                )
                await refusal(scope, receive, send)
                return
            scope[ORIGIN] = self._public_url or str(Request(scope).base_url).rstrip("/")
        await self.app(scope, receive, send)

    async def _is_trusted(self, scope: Scope) -> bool:
        given = [value.decode("latin-1") for name, value in scope["headers"] if name == b"host"]
        match = _host(given[0]) if len(given) == 1 else None
        if not given or given == [""]:
            return True
        if match is None:
            return False
        if (scope.get("server") or ("", 0))[1] is None:  # a Unix socket has no port
            return True
        name = match[1].strip("[]").rstrip(".").lower()
        return _is_loopback(name) or name in self._trusted or await run_in_threadpool(self._is_site, name)

    def _is_site(self, name: str) -> bool:
        with self._database.reading.begin() as session:
            site = select(SiteRow.id).where(func.lower(SiteRow.hostname) == name, SiteRow.published).limit(1)
            return session.scalar(site) is not None


ORIGIN = "presscheck.origin"


def origin_of(request: Request) -> str:
    """The start of all addresses in the response, such as ``https://docs.example.org``."""
    return request.scope[ORIGIN]


def _is_loopback(name: str) -> bool:
    if name == "localhost" or name.endswith(".localhost"):
        return True
    try:
        return ip_address(name).is_loopback
    except ValueError:
        return False
