"""An index of the API's routes: the route of a request is found among a few, not by matching two hundred in turn."""

from __future__ import annotations

from collections.abc import Sequence

from starlette.routing import BaseRoute, Match, Route
from starlette.types import Receive, Scope, Send

_CHOSEN = "presscheck.route"


class RouteIndex(BaseRoute):
    """Stands before the routes that it knows, and takes what one of them matches; they answer with 404 and 405.

    Args:
        routes: the routes, those first that are matched first; their paths begin with ``/v1/`` and a fixed part.
    """

    def __init__(self, routes: Sequence[Route]) -> None:
        self._routes: dict[tuple[str, str, int], list[Route]] = {}
        for route in routes:
            parts = route.path.split("/")
            for method in () if ":path}" in route.path else route.methods or ():  # a path may have any length
                self._routes.setdefault((method, parts[2], len(parts)), []).append(route)

    def matches(self, scope: Scope) -> tuple[Match, Scope]:
        """Whether one of the routes matches path and method."""
        if scope["type"] == "http":
            parts: list[str] = scope["path"].split("/")
            known = self._routes.get((scope["method"], parts[2] if len(parts) > 2 else "", len(parts)), ())
            for route in known:
                match, found = route.matches(scope)
                if match is Match.FULL:
                    return match, {**found, _CHOSEN: route}
        return Match.NONE, {}

    async def handle(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Lets the route answer that matched."""
        route: Route = scope[_CHOSEN]
        await route.handle(scope, receive, send)
