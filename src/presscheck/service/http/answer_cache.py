"""Answers of reads, kept in memory while nothing is committed to the database.

An answer is kept under its caller, its address and the version that the database had *before* it was read, and is given
again only while the database has that version. So it is what a new read would return: whoever has the response to a
write, of this process or another, reads what was written.

Only what follows from the database alone is kept: `Context` notes when a handler asks for the time, signs something
that expires, reads a stored file or reaches another server. Errors are not kept, nor the answers to tokens that expire.
"""

from __future__ import annotations

from dataclasses import dataclass
from hashlib import blake2b

from starlette.types import ASGIApp, Receive, Scope, Send

from presscheck.service.db.bounded_cache import BoundedCache
from presscheck.service.db.engine import Database
from presscheck.service.db.version import SnapshotReader, Version, VersionReader
from presscheck.service.http.middleware import ORIGIN
from presscheck.service.http.serialization import is_known

_EACH = 600
"""Bytes of an entry besides its body, by `sys.getsizeof` of its parts."""
_SLOT = "presscheck.answer"


@dataclass
class AnswerSlot:
    """Where a handler's answer is left, if it follows from the database alone."""

    body: bytes | None = None
    tag: str = ""


@dataclass(frozen=True)
class KeptAnswer:
    """An answer as it is sent."""

    body: bytes
    tag: str
    headers: tuple[tuple[bytes, bytes], ...]


class AnswerCache:
    """The innermost middleware: answers what is kept, before a route is looked for.

    Args:
        app: the application.
        database: the database; nothing is kept if it has no version.
    """

    def __init__(self, app: ASGIApp, database: Database) -> None:
        self.app = app
        self._versions = VersionReader(database)
        self._snapshots = SnapshotReader(database) if database.is_postgresql else None
        self._version: Version | None = None
        self._answers = BoundedCache(database.caches.answers)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Handles one request."""
        if scope["type"] == "lifespan":
            try:
                await self.app(scope, receive, send)
            finally:
                self._versions.close()
                if self._snapshots:
                    self._snapshots.close()
            return
        asked = _asked(scope)
        version = await self._current() if asked else None  # before the read begins
        if asked is None or version is None:
            await self.app(scope, receive, send)
            return
        key, known = asked
        if version != self._version:
            self._answers.clear()
            self._version = version
        kept: KeptAnswer | None = self._answers.get(key)
        if kept is None:
            slot = scope[_SLOT] = AnswerSlot()
            await self.app(scope, receive, send)
            if slot.body is not None and version == self._version:
                self._keep(key, slot.body, slot.tag)
            return
        if known and (known == kept.tag or is_known(kept.tag, known)):
            await send({"type": "http.response.start", "status": 304, "headers": [(b"etag", kept.tag.encode())]})
            await send({"type": "http.response.body", "body": b""})
            return
        # a list of its own: middleware adds headers to it
        await send({"type": "http.response.start", "status": 200, "headers": [*kept.headers]})
        await send({"type": "http.response.body", "body": kept.body})

    async def _current(self) -> Version | None:
        return await self._snapshots.current() if self._snapshots else self._versions.current()

    def _keep(self, key: bytes, body: bytes, tag: str) -> None:
        headers = (
            (b"etag", tag.encode()),
            (b"content-length", str(len(body)).encode()),
            (b"content-type", b"application/json"),
        )
        self._answers.put(key, KeptAnswer(body, tag, headers), len(body) + _EACH)


def slot_of(scope: Scope) -> AnswerSlot | None:
    """Where the answer to a request may be left; None if it is not kept."""
    return scope.get(_SLOT)


def _asked(scope: Scope) -> tuple[bytes, str] | None:
    """The key of a read, and its `If-None-Match`; None if its answer cannot be kept.

    The key is a hash, so that neither tokens nor the share keys in addresses stay in memory. A handler sees nothing of
    a request but what is in it: the caller, the path, the query and the start of all addresses, which is of the host.
    """
    if scope["type"] != "http" or scope["method"] != "GET" or not scope["path"].startswith("/v1/"):
        return None
    authorization, known = b"", ""
    for name, value in scope["headers"]:
        if name == b"authorization":
            if authorization:
                return None
            authorization = value
        elif name == b"if-none-match":
            if known:
                return None
            known = value.decode("latin-1")
        elif name == b"content-length" or name == b"transfer-encoding":
            return None
    if not authorization:
        return None
    path: bytes = scope["path"].encode("utf-8", "surrogatepass")
    parts: tuple[bytes, ...] = (authorization, scope["query_string"], scope[ORIGIN].encode(), path)
    lengths = b"%d %d %d " % (len(parts[0]), len(parts[1]), len(parts[2]))
    return blake2b(lengths + b"".join(parts), digest_size=32).digest(), known
