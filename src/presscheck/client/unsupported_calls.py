"""Distinguishes a 404 for a missing resource from one for an operation that the service does not have.

A 405 or 501 is clear. After a 404 for an optional operation, in this order:

- If its parent resource, which every service returns, does not exist, that is why.
- Below an existing parent, a listing cannot be missing, unless the error is worded otherwise (the parent is deleted, a
  parameter names something that does not exist); and if the listing that would contain a resource does not exist
  either, the operation does not.
- Otherwise the error is compared with that of a path that no service has, and with that of a missing organization.
  It is about the operation if the service words these two differently, and the error is worded like the first.

Only GET requests are sent to find out, so that nothing is changed.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any, NamedTuple

from presscheck.api.operation import FAMILIES, Operation
from presscheck.errors import NotFound

MISSING = (404, 405, 501)
"""The statuses of what does not exist."""
DOCUMENTED_PARENTS = frozenset(
    ("change-requests", "collections", "integrations", "openapi", "org", "orgs", "sites", "spaces", "teams")
)
"""The path segments before the ids of resources that every service returns."""
UNKNOWN = "presscheck-route-check"
"""A path segment, and an id, that no service has."""


class Seen(NamedTuple):
    """The response to a GET request: its status, 0 if there was none, and the text of its error."""

    status: int
    text: str = ""


Look = Callable[[str], Awaitable[Seen]]
"""Sends a GET request to a path."""


class RouteCheck:
    """Finds out whether a 404 is about the operation; remembers how the service words its errors."""

    def __init__(self) -> None:
        self._texts: dict[str, str | None] = {}

    async def is_missing(self, call: Operation[Any], error: NotFound, look: Look) -> bool:
        """Whether a call got a 404 because the service does not have the operation; `look` finds it out."""
        if not is_optional(call):
            return False
        template = type(call).route.partition(" ")[2].strip("/").split("/")
        path = call.wire_path().strip("/").split("/")
        is_id = [part.startswith("{") for part in template]
        parent = max((index for index in range(len(template) - 1) if is_id[index]), default=None)
        if parent is None:
            return not (is_id[-1] or call.may_be_absent) or await self._is_worded_as_unknown(call, error, look)
        if not _is_documented(template, parent):
            return await self._is_worded_as_unknown(call, error, look)
        owner = "/" + "/".join(path[: parent + 1])
        seen = await look(owner.replace("/org/", "/orgs/", 1))  # only imports are below /org
        if not 200 <= seen.status < 400:
            return False
        if call.is_read() and not is_id[-1] and not call.may_be_absent:
            # unless its words show that it is about the resource: deleted, or without what a parameter names
            return await self._worded_as_unknown(call, error, look) is not False
        listing = template[:-1] if is_id[-1] else template
        if (is_id[-1] or not call.is_read()) and _is_declared("/" + "/".join(listing), call):
            return (await look("/" + "/".join(path[: len(listing)]))).status in MISSING
        return await self._is_worded_as_unknown(call, error, look)

    async def _is_worded_as_unknown(self, call: Operation[Any], error: NotFound, look: Look) -> bool:
        return await self._worded_as_unknown(call, error, look) is True

    async def _worded_as_unknown(self, call: Operation[Any], error: NotFound, look: Look) -> bool | None:
        """Whether an error is worded as that of an unknown path; None if the words of this service prove nothing."""
        template = type(call).route.partition(" ")[2].strip("/").split("/")
        path = call.wire_path().strip("/").split("/")
        last = max(index for index, part in enumerate(template) if not part.startswith("{"))
        unknown = "/" + "/".join([*path[:last], UNKNOWN, *path[last + 1 :]])
        thing = f"/orgs/{UNKNOWN}"
        unknown_text, thing_text = await self._text(look, unknown), await self._text(look, thing)
        if unknown_text is None or unknown_text == thing_text:
            return None
        return _without_values(error.detail, call.wire_path()) == unknown_text

    async def _text(self, look: Look, path: str) -> str | None:
        if path not in self._texts:
            seen = await look(path)
            if seen.status == 0:
                return None
            self._texts[path] = _without_values(seen.text, path) if seen.status == 404 else None
        return self._texts[path]


def is_optional(call: Operation[Any]) -> bool:
    """Whether some services do not have an operation, so that a 404 may mean that.

    Not for writes that only one release has, because their 404 may be about a resource in their body.
    """
    return bool(call.feature or (call.release and call.is_read()))


def _is_documented(template: list[str], parent: int) -> bool:
    """Whether every service can be asked for the parent resource itself, whose id is at this place of the path."""
    if template[parent - 1] == "comments":
        return "change-requests" in template
    return template[parent - 1] in DOCUMENTED_PARENTS


def _is_declared(template: str, call: Operation[Any]) -> bool:
    """Whether a read of the same feature has this path; its family is imported, because the call is of it."""
    return any(
        operation.route == f"GET {template}" and operation.feature == call.feature for operation in FAMILIES.values()
    )


def _without_values(text: str, path: str) -> str:
    """The text of an error without the path and its parts, which some services repeat."""
    for part in sorted({path, *path.strip("/").split("/")}, key=len, reverse=True):
        text = text.replace(part, "…") if len(part) > 2 else text
    return text.casefold()
