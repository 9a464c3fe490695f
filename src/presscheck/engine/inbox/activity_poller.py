"""A look at what concerns a person: the views that they work through, the acts on what moved in them, the sites.

All of it is asked of the service, in the background, and lands in the store like any other answer; where not all could
be had, there was no look.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TypeVar

from presscheck.api.change_requests import ChangeRequest, GetChangeRequest, Review
from presscheck.api.comments import Comment
from presscheck.api.operation import Operation
from presscheck.api.organizations import ListOrganizations
from presscheck.api.sites import ListSites
from presscheck.api.spaces import ListSpaces
from presscheck.api.users import User
from presscheck.engine.inbox.events import (
    APPROVED,
    CHANGES_REQUESTED,
    MERGED,
    REPLY,
    REVIEW_ASKED,
    PersonAction,
    SiteStanding,
    Snapshot,
    Standing,
)
from presscheck.engine.inbox.views import VIEWS
from presscheck.engine.reads.pagination import fetch_all_pages
from presscheck.engine.reads.scheduler import BACKGROUND
from presscheck.engine.reads.service_reads import ServiceReads
from presscheck.engine.review.merge_forecast import forecast
from presscheck.engine.shared_calls import ALL, comments_on, reviewers_of, reviews_of
from presscheck.errors import NotSignedIn, ServiceError, ServiceFailed, TooManyRequests

T = TypeVar("T")
MOST = 200
"""Change requests of a view that are followed: those that moved last."""
LEFT = 500
"""Change requests that are remembered although they concern one no more."""
VERDICTS = {"approved": APPROVED, "changes-requested": CHANGES_REQUESTED}


@dataclass(frozen=True)
class PollResult:
    """What was seen, and the keys of the calls whose answers differ from what the store knew."""

    snapshot: Snapshot
    news: frozenset[str]


async def poll(reads: ServiceReads, me: str, before: Snapshot | None) -> PollResult:
    """Look at all that concerns a person (by id), in all organizations.

    Raises:
        PresscheckError: not all of it can be seen now.
    """
    looking = _Looking(reads, me, before or Snapshot())
    for organization in (await looking.fresh(ListOrganizations())).items:
        await looking.at_organization(organization.id)
    await looking.at_what_left()
    return PollResult(Snapshot(looking.requests, looking.sites, looking.whole), frozenset(looking.news))


class _Looking:
    """One look, as far as it is."""

    def __init__(self, reads: ServiceReads, me: str, before: Snapshot) -> None:
        self._reads, self._me, self._before = reads, me, before
        self.requests: dict[str, Standing] = {}
        self.sites: dict[str, SiteStanding] = {}
        self.whole, self.news = True, set[str]()

    async def fresh(self, call: Operation[T]) -> T:
        """The service's answer of now."""
        answer, is_news = await self._reads.stored.keep(call, await self._reads.fetch(call, BACKGROUND))
        if is_news:
            self.news.add(call.key())
        return answer

    async def maybe(self, call: Operation[T]) -> T | None:
        """The same; None where the service says that this is not for us, or that it has no such thing."""
        try:
            return await self.fresh(call)
        except (NotSignedIn, ServiceFailed, TooManyRequests):
            raise
        except ServiceError:
            return None

    async def at_organization(self, organization: str) -> None:
        """Look at the views and the sites of an organization."""
        found: dict[str, ChangeRequest] = {}
        for view in (one for one in VIEWS if one.hides):
            listing = view.listing(organization, self._me)
            state = ""
            async for seen in fetch_all_pages(self._reads, listing, BACKGROUND):
                if seen.error:
                    raise seen.error
                state = seen.state
            if state == "fresh":
                self.news.add(listing.key())
            window = self._reads.stored.window(listing, 0, MOST)
            found |= {one.id: one for one in window.items}
            if window.total > MOST:
                self.whole = False
                below = self._reads.stored.positions(listing, self._before.requests)
                self.requests |= {key: self._before.requests[key] for key in below}
        heads: Mapping[str, str] = {}
        if any(one.outdated for one in found.values()):
            heads = await self._heads(organization)
        for request in found.values():
            self.requests[request.id] = await self._standing(request, heads.get(request.space, ""))
        await self._at_sites(organization)

    async def at_what_left(self) -> None:
        """Look at what became of that which the views have no more."""
        left: dict[str, Standing] = {}
        for key, was in self._before.requests.items():
            if key in self.requests or was.merged:
                continue
            if was.has_left:
                left[key] = was
                continue
            request = await self.maybe(GetChangeRequest(space_id=was.space, change_request_id=key))
            if request is not None:
                left[key] = replace(await self._standing(request, ""), has_left=True)
        newest = sorted(left.items(), key=lambda item: item[1].updated_at)[-LEFT:]
        self.requests |= dict(newest)

    async def _heads(self, organization: str) -> Mapping[str, str]:
        """What main is at, by space."""
        spaces = await self.fresh(ListSpaces(organization_id=organization, limit=ALL))
        return {one.id: one.revision for one in spaces.items}

    async def _at_sites(self, organization: str) -> None:
        sites = await self.maybe(ListSites(organization_id=organization, limit=ALL))
        for one in sites.items if sites else ():
            self.sites[one.id] = SiteStanding(one.title, one.published)

    async def _standing(self, request: ChangeRequest, head: str) -> Standing:
        was = self._before.requests.get(request.id)
        mark = f"{request.updated_at} {request.comments} {request.revision}"
        has_moved = was is None or was.deeds is None or was.mark != mark
        conflict, basis = await self._conflict(request, was, head)
        return Standing(
            number=request.number,
            subject=request.subject,
            space=request.space,
            status=request.status,
            updated_at=request.updated_at,
            mark=mark,
            outdated=request.outdated,
            deeds=await self._deeds(request) if has_moved else was.deeds if was else None,
            merged=_deed(MERGED, request.merged_by, request.merged_at) if request.status == "merged" else None,
            conflict=conflict,
            basis=basis,
        )

    async def _deeds(self, request: ChangeRequest) -> dict[str, PersonAction] | None:
        """What was done to a change request; None where that may not be seen."""
        asked = await self.maybe(reviewers_of(request))
        reviews = await self.maybe(reviews_of(request))
        comments = await self.maybe(comments_on(request))
        if asked is None and reviews is None and comments is None:
            return None
        found = {
            f"asked {one.created_at or one.revision}": _deed(REVIEW_ASKED, one.requested_by, one.created_at)
            for one in (asked.items if asked else ())
            if one.user and one.user.id == self._me
        }
        found |= _verdicts(reviews.items if reviews else ())
        for one in comments.items if comments else ():
            # what was written with a verdict is told with it
            if f"review {one.target.review}" not in found:
                found[f"comment {one.id}"] = _deed(REPLY, one.posted_by, one.posted_at)
            found |= _replies(one)
        return found

    async def _conflict(self, request: ChangeRequest, was: Standing | None, head: str) -> tuple[bool | None, str]:
        """Whether a change request conflicts with main, and which two revisions that is about.

        What was outdated before it was ever seen is not looked into: no news can come of that.
        """
        if not request.outdated or request.status in ("merged", "archived"):
            return False, ""
        basis = f"{request.revision} {head}"
        if was is None:
            return None, basis
        if was.basis == basis or not head:
            return was.conflict, was.basis
        try:
            found = await forecast(self._reads, request)
        except (NotSignedIn, ServiceFailed, TooManyRequests):
            raise
        except ServiceError:
            found = None
        if not self._reads.is_online:
            return was.conflict, was.basis  # it may have been made from what is old
        return (bool(found.conflicts) if found else None), basis


def _verdicts(reviews: tuple[Review, ...]) -> dict[str, PersonAction]:
    return {
        f"review {one.id}": _deed(VERDICTS[one.status], one.reviewer, one.created_at)
        for one in reviews
        if one.status in VERDICTS
    }


def _replies(comment: Comment) -> dict[str, PersonAction]:
    """The replies in a thread by who and which of theirs: the service counts them, so that none is fetched."""
    return {
        f"reply {comment.id} {one.user.id} {number}": _deed(REPLY, one.user, one.updated_at)
        for one in comment.repliers
        for number in range(1, one.count + 1)
    }


def _deed(kind: str, who: User | None, at: str | None) -> PersonAction:
    return PersonAction(kind, who.id if who else "", who.display_name if who else "", at or "")
