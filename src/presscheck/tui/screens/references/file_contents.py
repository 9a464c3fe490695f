"""The bytes of the files of a space, from the cache or from the service; small ones are kept, to be shown offline."""

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
"""The largest file that is kept in the cache, in bytes, to be shown while offline."""


class FilePlace(NamedTuple):
    """Where a file is: the id of its space, with that of a change request or of a revision; without both on main."""

    space: str
    request: str = ""
    revision: str = ""


async def file_content(engine: Engine, place: FilePlace, file: str, limit: int) -> bytes:
    """The bytes of a file.

    Args:
        engine: reads it.
        place: where it is.
        file: its id.
        limit: the largest file that is taken, in bytes.

    Raises:
        PresscheckError: it cannot be read.
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
    """Where a file is downloaded from, as the service tells it now: the addresses are valid for a while only."""
    space, request, revision = place
    if revision:
        listing = ListRevisionFiles(space_id=space, revision_id=revision)
        found = (one.download_url for one in await whole_listing(engine, listing) if one.id == file)
        return listing, next(found, "")
    call: Operation[RevisionFile] = (
        GetChangeRequestFile(space_id=space, change_request_id=request, file_id=file)
        if request
        else GetFile(space_id=space, file_id=file)
    )
    return call, (await engine.read(call)).download_url


def _as_text(content: bytes) -> str:
    return json.dumps({"base64": base64.b64encode(content).decode("ascii")})


def _from_text(text: str) -> bytes:
    """The bytes of a file in the cache; none if it is damaged."""
    try:
        return base64.b64decode(json.loads(text)["base64"])
    except (ValueError, KeyError, TypeError):
        return b""
