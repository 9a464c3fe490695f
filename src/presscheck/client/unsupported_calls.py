"""Detection of operations that the service lacks: a 404 may also mean a missing resource.

A 405 or 501 is unambiguous. A 404 for an optional operation is checked in this order:

- If the parent resource, which every service can return, does not exist, the resource is missing.
- Below an existing parent, a listing always exists, so the operation is missing, unless the wording of the error shows
  a missing resource (a deleted parent, or a resource that a parameter names). For a single resource, the operation is
  missing if the listing of such resources does not exist either.
- Otherwise the error is compared with the errors of an unknown path and of a missing organization. The operation is
  missing if these two errors differ, and the error equals the error of the unknown path.

The check sends only GET requests, so that nothing is changed.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any, NamedTuple

from presscheck.api.operation import FAMILIES, Operation
from presscheck.errors import NotFound

MISSING = (404, 405, 501)
"""The statuses of missing resources and operations."""
DOCUMENTED_PARENTS = frozenset(
    ("change-requests", "collections", "integrations", "openapi", "org", "orgs", "sites", "spaces", "teams")
)
"""The path segments before the ids of resources that every service returns."""
UNKNOWN = "presscheck-route-check"
"""A path segment and an id that do not exist in any service."""


class Seen(NamedTuple):
    """The response to a GET request: its status, 0 without a response, and its error message."""

    status: int
    text: str = ""


Look = Callable[[str], Awaitable[Seen]]
"""Sends a GET request to a path."""


class RouteCheck:
    """A check whether a 404 means a missing operation. The wording of the service's errors is cached."""

    def __init__(self) -> None:
        self._texts: dict[str, str | None] = {}

    async def is_missing(self, call: Operation[Any], error: NotFound, look: Look) -> bool:
        """Return whether a call got a 404 because the service lacks the operation; `look` sends GET requests."""
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
            # unless the wording shows a missing resource: a deleted parent, or a resource that a parameter names
            return await self._worded_as_unknown(call, error, look) is not False
        listing = template[:-1] if is_id[-1] else template
        if (is_id[-1] or not call.is_read()) and _is_declared("/" + "/".join(listing), call):
            return (await look("/" + "/".join(path[: len(listing)]))).status in MISSING
        return await self._is_worded_as_unknown(call, error, look)

    async def _is_worded_as_unknown(self, call: Operation[Any], error: NotFound, look: Look) -> bool:
        return await self._worded_as_unknown(call, error, look) is True

    async def _worded_as_unknown(self, call: Operation[Any], error: NotFound, look: Look) -> bool | None:
        """Return whether an error is worded like the error of an unknown path.

        Return None if the wording is unknown, or is the same for an unknown path and a missing resource.
        """
        template = type(call).route.partition(" ")[2].strip("/").split("/")
        path = call.wire_path().strip("/").split("/")
        last = max(index for index, part in enumerate(template) if not part.startswith("{"))
        # twice: `versions/{id}` has the path of one unknown segment instead of `versions/latest`
        unknown = "/" + "/".join([*path[:last], UNKNOWN, UNKNOWN, *path[last + 1 :]])
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
    """Return whether some services lack an operation, so that a 404 may mean a missing operation.

    Return False for writes that depend on a release, because their 404 may be about a resource in the body.
    """
    return bool(call.feature or (call.release and call.is_read()))


def _is_documented(template: list[str], parent: int) -> bool:
    """Return whether every service can return the parent resource. `parent` is the index of its id in the path."""
    if template[parent - 1] == "comments":
        return "change-requests" in template
    return template[parent - 1] in DOCUMENTED_PARENTS


def _is_declared(template: str, call: Operation[Any]) -> bool:
    """Return whether a call's feature has a GET operation with this path.

    The operations of the feature are all known: they are imported together with the call.
    """
    return any(
        operation.route == f"GET {template}" and operation.feature == call.feature for operation in FAMILIES.values()
    )


def _without_values(text: str, path: str) -> str:
    """Return the text of an error without the path and its parts, which some services repeat."""
    for part in sorted({path, *path.strip("/").split("/")}, key=len, reverse=True):
        text = text.replace(part, "…") if len(part) > 2 else text
    return text.casefold()
