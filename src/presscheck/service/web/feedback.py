"""Feedback of readers on published pages.

Feedback counts once per reader, page and day; later feedback replaces it. Readers are identified by a keyed hash of
network and browser that changes every day, so the database does not reveal who they are, and pages need no cookie.
"""

from __future__ import annotations

import hmac
from urllib.parse import parse_qs

from sqlalchemy import func, select
from sqlalchemy.orm import Session
from starlette.requests import Request
from starlette.responses import Response

from presscheck.service.blobs.staged_files import StagedFiles
from presscheck.service.blobs.store import BlobStore
from presscheck.service.db.bounded_cache import BoundedCache
from presscheck.service.db.ids import Clock, moment_text, new_id
from presscheck.service.db.signing import signing_key
from presscheck.service.http.middleware import network_of, origin_of
from presscheck.service.http.operations import ApiError, Caller, Context, is_fit
from presscheck.service.integrations.integrations import queue_feedback_events
from presscheck.service.models.sites import PageFeedbackRow
from presscheck.service.web.access import AccessDenied, admitted, reading_address
from presscheck.service.web.published_site import PublishedSite
from presscheck.service.web.site_record import SiteRecords

RATINGS = ("bad", "ok", "good")
LONGEST_COMMENT = 512
MOST_OF_NETWORK, MOST_OF_SITE = 50, 2_000
"""Maximum number of feedback rows on a site per day: from one network, and in total."""


def store_feedback(
    files: BlobStore, clock: Clock, request: Request, rating: str, comment: str, session: Session
) -> str:
    """Store the feedback of a request, and return the URL of its page.

    Raises:
        ApiError: 403, the form was sent from another origin; 404, the page does not exist, the reader may not see it,
            or the site asks for no feedback; 429, there is too much feedback today.
    """
    context = Context(session, Caller("", "", None, None), origin_of(request), clock, StagedFiles(files))
    site = _site(context, request)
    page = site.find(site.path)
    if page is None:
        raise ApiError(404, "This page does not exist.")
    url = site.absolute(site.address(*page))
    now = moment_text(clock())
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
    same = select(PageFeedbackRow).filter_by(site_id=row.site_id, page_id=row.page_id, reader=row.reader, day=row.day)
    former = session.scalar(same)
    if former is None:
        _require_room(session, row)
        session.add(row)
    else:
        former.rating, former.comment, former.created_at = rating, comment or former.comment, now
    feedback = {"rating": rating} | ({"comment": comment} if comment else {})
    payload = {
        "spaceId": page[0].space_id,
        "pageId": row.page_id,
        "feedback": feedback,
        # integrations learn no more about a reader than the database does
        "visitor": {"anonymousId": row.reader, "cookies": {}, "userAgent": "", "ip": ""},
        # without the key of a share link: integrations cannot read the key of a site, and all links have the same page
        "url": reading_address(context, site.site) + url.removeprefix(site.reader.base),
        "referrer": "",
    }
    queue_feedback_events(context, site.site, payload)
    return url


def has_form(site: PublishedSite) -> bool:
    """Return whether pages of a site ask for feedback."""
    switch = site.looks.get("feedback")
    return isinstance(switch, dict) and switch.get("enabled") is True and not site.reader.is_previewing


def _site(context: Context, request: Request) -> PublishedSite:
    """Return the site of a request.

    Raises:
        ApiError: 403, the form was sent from another origin; 404, the reader may not see the site, or the site asks for
            no feedback.
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


def feedback_fields(body: bytes) -> tuple[str, str]:
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
