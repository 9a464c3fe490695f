"""The contents of files in a space. Small files are cached, so that they are available offline."""

from __future__ import annotations

import asyncio
import base64
import json
from typing import TYPE_CHECKING, Any, NamedTuple

from presscheck.api.content import GetChangeRequestFile, GetFile, ListRevisionFiles, RevisionFile
from presscheck.api.operation import Operation
from presscheck.engine.reads.listing_guard import whole_listing

if TYPE_CHECKING:
    from presscheck.engine.engine import Engine

MOST_CACHED = 1 << 20
"""Maximum size, in bytes, of a file that is cached."""


class FilePlace(NamedTuple):
    """The place of a file: the id of its space, and the id of a change request or revision; without these, main."""

    space: str
    request: str = ""
    revision: str = ""


async def file_content(engine: Engine, place: FilePlace, file: str, limit: int) -> bytes:
    """Return the content of a file, from the cache or the service.

    Args:
        engine: downloads the file.
        place: the place of the file.
        file: the id of the file.
        limit: the maximum size, in bytes.

    Raises:
        PresscheckError: the file cannot be read, or is too large.
    """
    key = f"file content {place.space} {file}" + (f" in {place.revision}" if place.revision else "")
    stored = await engine.in_store(lambda cache: cache.for_writing([key]))
    if key in stored and (content := await asyncio.to_thread(_from_text, stored[key].json)):
        return content
    call, address = await _address(engine, place, file)
    content = await engine.download(call, address, limit)
    if len(content) <= MOST_CACHED:
        text = await asyncio.to_thread(_as_text, content)
        engine.remember(key, text)
    return content


async def _address(engine: Engine, place: FilePlace, file: str) -> tuple[Operation[Any], str]:
    """Read the download address of a file from the service, because stored addresses expire.

    Returns:
        The call that returned the address, and the address, which is empty if the revision does not have the file.
    """
    space, request, revision = place
    if revision:
        listing = ListRevisionFiles(space_id=space, revision_id=revision)
        addresses = (other.download_url for other in await whole_listing(engine, listing) if other.id == file)
        return listing, next(addresses, "")
    call: Operation[RevisionFile] = (
        GetChangeRequestFile(space_id=space, change_request_id=request, file_id=file)
        if request
        else GetFile(space_id=space, file_id=file)
    )
    return call, (await engine.read(call)).download_url


def _as_text(content: bytes) -> str:
    return json.dumps({"base64": base64.b64encode(content).decode("ascii")})


def _from_text(text: str) -> bytes:
    """Return the content of a cached file; empty if the cache entry is damaged."""
    try:
        return base64.b64decode(json.loads(text)["base64"])
    except (ValueError, KeyError, TypeError):
        return b""
