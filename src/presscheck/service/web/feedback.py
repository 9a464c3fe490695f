"""Feedback of readers on published pages: a form of each page, with or without a script.

A reader gives one feedback per page and day; a second one replaces it. Readers are told apart by keyed hashes of their
network and browser that change every day, so that the database cannot tell who they are, and pages need no cookie.
"""

from __future__ import annotations

import asyncio
import hmac
from functools import partial
from urllib.parse import parse_qs

from sqlalchemy import func, select
from sqlalchemy.orm import Session
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response
from starlette.types import Receive, Scope, Send

from presscheck.service.db.blob_store import BlobStore
from presscheck.service.db.bounded_cache import BoundedCache
from presscheck.service.db.engine import Database
from presscheck.service.db.ids import Clock, moment_text, new_id
from presscheck.service.db.signing import signing_key
from presscheck.service.http.middleware import network_of, origin_of
from presscheck.service.http.operations import ApiError, Caller, Context, StagedFiles, is_fit
from presscheck.service.http.turns import Threads
from presscheck.service.models.sites import PageFeedbackRow
from presscheck.service.web.access import AccessDenied, admitted
from presscheck.service.web.published_site import PublishedSite
from presscheck.service.web.site_record import SiteRecords

RATINGS = ("bad", "ok", "good")
LONGEST_COMMENT = 512
LARGEST_FORM = 8_000
"""Maximum size of the body of a request, in bytes: a comment of characters outside ASCII, with escapes."""
LONGEST_SENDING = 10
"""Timeout for the body of a request, in seconds."""
MOST_OF_NETWORK, MOST_OF_SITE = 50, 2_000
"""Maximum numbers of pages per day with feedback from one network, and of feedback on one site."""
MOST_WRITING, MOST_WAITING = 2, 100


class FeedbackForm:
    """The endpoint of the form.

    Args:
        database: the database of the service.
        files: the stored files.
        clock: returns the current time.
    """

    def __init__(self, database: Database, files: BlobStore, clock: Clock) -> None:
        self._database, self._files, self._clock = database, files, clock
        self._threads = Threads(MOST_WRITING, waiting=MOST_WAITING, what="Feedback")

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Handle a request."""
        from presscheck.service.web.views import refused_form  # takes 106 ms to import, so only for feedback

        request = Request(scope, receive)
        try:
            rating, comment = _fields(await _body(request))
            store = partial(self._store, request, rating, comment)
            url = await self._threads.run(self._database.write, store)
            response: Response = RedirectResponse(f"{url}#~thanks", 303, {"cache-control": "no-store"})
        except ApiError as error:
            response = refused_form(error)
        await response(scope, receive, send)

    def _store(self, request: Request, rating: str, comment: str, session: Session) -> str:
        """Store the feedback and return the URL of the page."""
        context = Context(
            session, Caller("", "", None, None), origin_of(request), self._clock, StagedFiles(self._files)
        )
        site = _site(context, request)
        page = site.find(site.path)
        if page is None:
            raise ApiError(404, "This page does not exist.")
        url = site.absolute(site.address(*page))
        now = moment_text(self._clock())
        key, day, network = signing_key(session), now[:10], network_of(request.scope)
        agent = request.headers.get("user-agent", "")[:500]
        row = PageFeedbackRow(
            id=new_id(),
            site_id=site.site.id,
            page_id=page[1].page["id"],
            reader=_hash(key, day, network, agent),
            day=day,
            network=_hash(key, day, network) if network else "",
            url=url,
            rating=rating,
            comment=comment,
            created_at=now,
        )
        same = select(PageFeedbackRow).filter_by(
            site_id=row.site_id, page_id=row.page_id, reader=row.reader, day=row.day
        )
        former = session.scalar(same)
        if former is None:
            _require_room(session, row)
            session.add(row)
        else:
            former.rating, former.comment, former.created_at = rating, comment or former.comment, now
        return url


def has_form(site: PublishedSite) -> bool:
    """Return whether pages of a site ask for feedback."""
    switch = site.record.looks.get("feedback")
    return isinstance(switch, dict) and switch.get("enabled") is True and not site.reader.is_previewing


def _site(context: Context, request: Request) -> PublishedSite:
    """Return the site of a request.

    Raises:
        ApiError: 403, another site sent the form; 404, the reader may not see the site, or it asks for no feedback.
    """
    records = SiteRecords(BoundedCache(0), None)
    try:
        reader = admitted(context, request, records)
        if isinstance(reader, Response):
            raise AccessDenied(404)
        site = PublishedSite(context, reader, records.record(context, reader.site))
    except AccessDenied:
        raise ApiError(404, "This page does not exist, or you may not see it.") from None
    origin = request.headers.get("origin", context.origin)
    # browsers send the origin "null" from pages with scripts of integrations, which are in a sandbox
    if origin != context.origin and not (origin == "null" and site.record.scripts):
        raise ApiError(403, "Feedback is only accepted from the page itself.")
    if not has_form(site):
        raise ApiError(404, "This site does not ask for feedback.")
    return site


async def _body(request: Request) -> bytes:
    """Return the body of a request.

    Raises:
        ApiError: 408, it takes too long; 413, it is too large.
    """
    body = bytearray()
    try:
        async with asyncio.timeout(LONGEST_SENDING):
            async for chunk in request.stream():
                body += chunk
                if len(body) > LARGEST_FORM:
                    raise ApiError(413, "The comment is too long.")
    except TimeoutError:
        raise ApiError(408, f"The form did not arrive within {LONGEST_SENDING} seconds.") from None
    return bytes(body)


def _fields(body: bytes) -> tuple[str, str]:
    """Return rating and comment of a form.

    Raises:
        ApiError: 400, a field is invalid.
    """
    try:
        fields = parse_qs(body.decode("ascii"), errors="strict", max_num_fields=10)
    except ValueError:
        raise ApiError(400, "The form is not valid.") from None
    rating = fields.get("rating", [""])[0]
    comment = fields.get("comment", [""])[0].replace("\r\n", "\n").strip()
    if rating not in RATINGS or not is_fit(comment):
        raise ApiError(400, "The form is not valid.")
    if len(comment) > LONGEST_COMMENT:
        raise ApiError(400, f"The comment is too long: it may have {LONGEST_COMMENT} characters.")
    return rating, comment


def _require_room(session: Session, row: PageFeedbackRow) -> None:
    """Check the limits of new feedback.

    Raises:
        ApiError: 429, there is too much feedback today.
    """
    today = select(func.count()).select_from(PageFeedbackRow)
    today = today.where(PageFeedbackRow.site_id == row.site_id, PageFeedbackRow.created_at >= row.day)
    of_network = today.where(PageFeedbackRow.network == row.network)
    is_over = (session.scalar(today) or 0) >= MOST_OF_SITE
    if is_over or (row.network and (session.scalar(of_network) or 0) >= MOST_OF_NETWORK):
        raise ApiError(429, "There is too much feedback today. Try again tomorrow.")


def _hash(key: bytes, *parts: str) -> str:
    return hmac.new(key, "\n".join(parts).encode("utf-8", "surrogatepass"), "sha256").hexdigest()[:32]
