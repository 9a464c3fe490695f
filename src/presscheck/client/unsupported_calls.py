"""Whether a 404 is about the call itself: some calls not every service has, which does not say so.

Asked is what the call hangs on. Where that is there, and so is not what stands between it and the thing, the release
has no such call. A write that one release alone has is never judged so, because what its body names may be missing.
"""

from __future__ import annotations

from typing import Any

from presscheck.api.operation import Operation


def owner_and_listing(call: Operation[Any]) -> tuple[str, str | None] | None:
    """The paths of what a call that not every service has hangs on, and of the listing that it would be in.

    None where a 404 says nothing but that something is missing. The listing is None where the call is no single thing.
    """
    if not call.feature and not (call.release and call.is_read()):
        return None
    told = type(call).route.partition(" ")[2].strip("/").split("/")
    said = call.wire_path().strip("/").split("/")
    is_id = [part.startswith("{") for part in told]
    listing = "/" + "/".join(said[:-1]) if is_id[-1] else None
    last = max((at for at in range(len(told) - 1) if is_id[at]), default=None)
    if last is None:
        return None
    owner = "/" + "/".join(said[: last + 1])
    return owner.replace("/org/", "/orgs/", 1), listing  # imports alone lie below /org
