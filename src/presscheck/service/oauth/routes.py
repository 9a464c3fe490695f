"""Routes of sign-in by browser; their modules are imported on the first request."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from functools import cache
from typing import TYPE_CHECKING

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from presscheck.service.db.engine import Database
from presscheck.service.db.ids import Clock

if TYPE_CHECKING:
    from presscheck.service.oauth.endpoints import Endpoints


def sign_in_routes(database: Database, clock: Clock) -> list[Route]:
    """Return the routes.

    Args:
        database: the database of the service.
        clock: returns the current time.
    """

    @cache
    def endpoints() -> Endpoints:
        from presscheck.service.oauth.endpoints import Endpoints  # takes 90 ms to import, so only to sign in

        return Endpoints(database, clock)

    def route(path: str, respond: Callable[[Endpoints, Request], Awaitable[Response]], *methods: str) -> Route:
        async def endpoint(request: Request) -> Response:
            return await respond(endpoints(), request)

        return Route(path, endpoint, methods=methods)

    return [
        route("/.well-known/oauth-authorization-server", lambda to, request: to.describe(request), "GET"),
        route("/oauth/device", lambda to, request: to.answer("device_authorization", request), "POST"),
        route("/oauth/revoke", lambda to, request: to.answer("revocation", request), "POST"),
        route("/oauth/token", lambda to, request: to.answer("token", request), "POST"),
        route("/oauth/authorize", lambda to, request: to.show_authorization(request), "GET", "POST"),
        route("/device", lambda to, request: to.show_device(request), "GET", "POST"),
    ]
