"""Distinguishes a 404 for a missing resource from one for an operation that the service does not have.

Some operations exist only in some services. If the parent resource of such a call exists, but the listing that would
contain its resource does not, the service does not have the operation. Writes of a single release are not checked,
because the 404 may be about a resource in their body.
"""

from __future__ import annotations

from typing import Any

from presscheck.api.operation import Operation


def owner_and_listing(call: Operation[Any]) -> tuple[str, str | None] | None:
    """The path of the parent resource of an optional call, and of the listing that would contain its resource.

    Returns None if every service has the operation, so that a 404 means a missing resource. The listing is None if the
    call is not for a single resource.
    """
    if not call.feature and not (call.release and call.is_read()):
        return None
    template = type(call).route.partition(" ")[2].strip("/").split("/")
    path = call.wire_path().strip("/").split("/")
    is_id = [part.startswith("{") for part in template]
    listing = "/" + "/".join(path[:-1]) if is_id[-1] else None
    last = max((index for index in range(len(template) - 1) if is_id[index]), default=None)
    if last is None:
        return None
    owner = "/" + "/".join(path[: last + 1])
    return owner.replace("/org/", "/orgs/", 1), listing  # only imports are below /org
