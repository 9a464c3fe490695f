"""Pages of published sites, kept in memory as they are sent: plain, compressed with gzip, and with their `ETag`.

A page is kept with the statements that it was read with (see `recorded_queries`). It is sent again at once while
nothing is committed to the database, and after a commit if each of these statements still has the same rows: a merge, a
changed customization, a withdrawn share key or an unpublished site has others. What the statements say is asked once
for each version of the database, however many pages were read with them.

Only what follows from the database, the path and the chosen theme is kept: no page for signed-in visitors, which
depends on the time, no preview, no search, no error.
"""

from __future__ import annotations

from datetime import datetime
from hashlib import blake2b

from sqlalchemy.orm import Session
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import Response
from starlette.types import Receive, Scope, Send

from presscheck.service.db.blob_store import BlobStore
from presscheck.service.db.bounded_cache import BoundedCache
from presscheck.service.db.engine import Database
from presscheck.service.db.ids import Clock
from presscheck.service.db.recorded_queries import ReadRecorder, Statement, recorded_sessions
from presscheck.service.db.signing import TIMED
from presscheck.service.db.version import CurrentVersion, Version
from presscheck.service.http.middleware import ORIGIN, origin_of
from presscheck.service.http.operations import Caller, Context, StagedFiles, entity_tag
from presscheck.service.web.cached_response import THEME, THEMES, CachedResponse, SitePage, send_cached_response
from presscheck.service.web.site_record import SiteRecords

MOST_CHECKED = 10_000
"""Most statements whose rows are known at one version of the database."""


class PublishedPages:
    """The endpoint of published sites.

    Args:
        database: the database of the service.
        files: the stored files.
        clock: returns the current time.
    """

    def __init__(self, database: Database, files: BlobStore, clock: Clock) -> None:
        self._sessions = recorded_sessions(database)
        self._files, self._clock = files, clock
        self._versions = CurrentVersion(database)
        self._version: Version | None = None
        self._checked: dict[Statement, bytes] = {}
        self._pages = BoundedCache(database.caches.pages)
        self._sites = SiteRecords(database.caches.sites)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Handles one request."""
        key = _key(scope)
        version = await self._versions.current()  # before the read begins
        if version != self._version:
            self._version, self._checked = version, {}
        kept: CachedResponse | None = self._pages.get(key) if key else None
        found: CachedResponse | Response
        if kept and version is not None and self._is_right(kept, version):
            found = kept
        else:
            checked = dict[Statement, bytes]()
            found = await run_in_threadpool(self._read, Request(scope, receive), key, version, checked)
            if version == self._version and len(self._checked) < MOST_CHECKED:
                self._checked |= checked
        if isinstance(found, Response):
            await found(scope, receive, send)
        else:
            await send_cached_response(found, scope, send, may_zip=not scope["query_string"])

    def _is_right(self, page: CachedResponse, version: Version) -> bool:
        """Whether a page is what would be read now, as far as that is known without a statement."""
        if page.version != version:
            if any(self._checked.get(read.statement) != read.digest for read in page.reads):
                return False
            page.version = version
        return True

    def _read(
        self, request: Request, key: bytes | None, version: Version | None, checked: dict[Statement, bytes]
    ) -> CachedResponse | Response:
        """Reads a page; keeps it, if that is right, or finds that the kept one is.

        Args:
            request: the request.
            key: the key of the page; None if it is not kept.
            version: the version of the database before this.
            checked: gets the digests of the statements that were asked.
        """
        from presscheck.service.web.views import answered  # 106 ms, only for published pages

        with self._sessions.begin() as session:
            recorder = ReadRecorder(session)
            kept: CachedResponse | None = self._pages.get(key) if key else None
            if key and kept and version is not None:
                if self._still_holds(kept, recorder, checked):
                    kept.version = version
                    return kept
                self._pages.drop(key)
            sites = self._sites.at(recorder, version)
            response = answered(self._context(session, request), request, self._files, sites)
            if not isinstance(response, SitePage):
                return response
            tag = entity_tag(bytes(response.body))
            headers = ((b"etag", tag.encode()), *response.raw_headers)
            page = CachedResponse(bytes(response.body), tag, headers, version=version)
            if key and version is not None and not session.info.get(TIMED):
                page.reads = recorder.reads()
                checked |= {read.statement: read.digest for read in page.reads}
                self._pages.put(key, page, page.weight())
            return page

    @staticmethod
    def _still_holds(page: CachedResponse, recorder: ReadRecorder, checked: dict[Statement, bytes]) -> bool:
        for read in page.reads:
            checked[read.statement] = recorder.digest(read.statement, read.parameters)
            if checked[read.statement] != read.digest:
                return False
        return True

    def _context(self, session: Session, request: Request) -> Context:
        def clock() -> datetime:
            session.info[TIMED] = True
            return self._clock()

        return Context(session, Caller("", "", None, None), origin_of(request), clock, StagedFiles(self._files))


def _key(scope: Scope) -> bytes | None:
    """What a page follows from, besides the database; None if it may follow from more.

    It is a hash, so that no share key in an address stays in memory. Cookies of visitors are not in it: what they open
    depends on the time, and is not kept.
    """
    if scope["query_string"]:
        return None
    theme = Request(scope).cookies.get(THEME, "") if any(name == b"cookie" for name, _ in scope["headers"]) else ""
    origin, path = scope[ORIGIN].encode(), scope["path"].encode("utf-8", "surrogatepass")
    theme = theme if theme in THEMES else ""
    return blake2b(b"%d %s %s " % (len(origin), origin, theme.encode()) + path, digest_size=32).digest()
