"""The activity poller: reads the change requests in the user's views, the actions on them, and the sites.

All requests have background priority, and their responses are cached like any others. If a request fails, the whole
poll fails.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import TypeVar

from presscheck.api.change_requests import ChangeRequest, GetChangeRequest, ListChangeRequests, Review
from presscheck.api.comments import Comment, CommentReply, Document
from presscheck.api.operation import ALL, Operation, Page
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
    RequestState,
    SiteState,
    Snapshot,
    UserAction,
)
from presscheck.engine.inbox.notification_settings import NotificationSettings, NotificationTarget
from presscheck.engine.inbox.views import personal_listings
from presscheck.engine.members import mentions
from presscheck.engine.reads.cached_reads import ServiceReads, fetch_all_pages
from presscheck.engine.reads.scheduler import BACKGROUND
from presscheck.engine.review.merge_forecast import forecast
from presscheck.engine.shared_calls import comments_on, replies_to, reviewers_of, reviews_of
from presscheck.errors import (
    Forbidden,
    IncompleteList,
    NotFound,
    NotSignedIn,
    NotSupported,
    ServiceError,
    ServiceFailed,
    TooManyRequests,
)

T = TypeVar("T")
MAX_FOLLOWED = 200
"""Maximum number of change requests per view that are polled, most recently updated first."""
MAX_FORMER = 500
"""Maximum number of change requests that stay in the snapshot after they left all views."""
REVIEW_EVENTS = {"approved": APPROVED, "changes-requested": CHANGES_REQUESTED}


@dataclass(frozen=True)
class PollResult:
    """The result of a poll."""

    snapshot: Snapshot
    followed_in_part: frozenset[str] = frozenset()
    """The ids of change requests that concern the user only because of followed threads."""


async def poll(
    reads: ServiceReads, me: User | None, before: Snapshot | None, settings: NotificationSettings, news: set[str]
) -> PollResult:
    """Poll the activity in all organizations.

    Args:
        reads: reads from the service.
        me: the user; None if unknown, in which case all open change requests are polled.
        before: the snapshot of the previous poll; None for the first poll.
        settings: the muted and followed targets.
        news: receives the cache keys of changed responses, even if a later request fails.

    Raises:
        PresscheckError: a request failed.
    """
    current = _Poll(reads, me, before or Snapshot(), settings, news)
    for organization in (await current.fresh(ListOrganizations())).items:
        await current.poll_organization(organization.id)
    await current.poll_followed()
    await current.poll_former()
    snapshot = Snapshot(current.requests, current.sites, current.whole)
    return PollResult(snapshot, frozenset(current.followed_in_part))


class _Poll:
    """A poll in progress, which collects the parts of a snapshot."""

    def __init__(
        self,
        reads: ServiceReads,
        me: User | None,
        before: Snapshot,
        settings: NotificationSettings,
        news: set[str],
    ) -> None:
        self._reads, self._user, self._before, self._settings = reads, me, before, settings
        self._me = me.id if me else ""
        self.followed_in_part: set[str] = set()
        self.requests: dict[str, RequestState] = {}
        self.sites: dict[str, SiteState] = {}
        self.whole, self.news = True, news

    async def fresh(self, call: Operation[T]) -> T:
        """Fetch and cache a response."""
        answer, is_news = await self._reads.stored.keep(call, await self._reads.fetch(call, BACKGROUND))
        if is_news:
            self.news.add(call.key())
        return answer

    async def fresh_or_none(self, call: Operation[T]) -> T | None:
        """Fetch and cache a response. Return None if the service rejects the request, such as for a missing permission.

        Raises:
            PresscheckError: the user is not signed in, the service failed or limits the rate, or it cannot be reached.
        """
        try:
            return await self.fresh(call)
        except (NotSignedIn, ServiceFailed, TooManyRequests):
            raise
        except ServiceError:
            return None

    async def poll_organization(self, organization: str) -> None:
        requests: dict[str, ChangeRequest] = {}
        for listing in personal_listings(organization, self._me):
            requests |= await self._listed(listing)
        heads: Mapping[str, str] = {}
        if any(request.outdated for request in requests.values()):
            heads = await self._heads(organization)
        for request in requests.values():
            self.requests[request.id] = await self._request_state(request, heads.get(request.space, ""))
        await self._poll_sites(organization)

    async def poll_followed(self) -> None:
        """Poll followed spaces, change requests and threads that are not in the views."""
        requests: dict[str, ChangeRequest] = {}
        for space in self._settings.followed("space"):
            with suppress(Forbidden, NotFound, NotSupported):  # deleted, or no longer accessible
                requests |= await self._listed(ListChangeRequests(space_id=space.space, status="open"))
        for target in (*self._settings.followed("request"), *self._settings.followed("thread")):
            key = target.request
            if key in self.requests or key in requests:
                continue
            was = self._before.requests.get(key)
            if was and was.merged:
                self.requests[key] = was  # a merged change request has no further events
                continue
            request = await self.fresh_or_none(GetChangeRequest(space_id=target.space, change_request_id=key))
            if request is not None:
                requests[key] = request
            if target.thread:
                self.followed_in_part.add(key)
        for request in requests.values():
            if request.id not in self.requests:
                self.requests[request.id] = await self._request_state(request, "")

    async def _listed(self, listing: Operation[Page[ChangeRequest]]) -> dict[str, ChangeRequest]:
        """Return the latest change requests of a listing, by id.

        Change requests beyond `MAX_FOLLOWED` that are still listed keep their previous state.
        """
        state = ""
        async for result in fetch_all_pages(self._reads, listing, BACKGROUND):
            if isinstance(result.error, IncompleteList):
                self.whole = False
            elif result.error:
                raise result.error
            state = result.state
        if state == "fresh":
            self.news.add(listing.key())
        window = self._reads.stored.window(listing, 0, MAX_FOLLOWED)
        if window.total > MAX_FOLLOWED:
            self.whole = False
            still_listed = self._reads.stored.positions(listing, self._before.requests)
            self.requests |= {key: self._before.requests[key] for key in still_listed}
        return {request.id: request for request in window.items}

    async def poll_former(self) -> None:
        """Poll the change requests that have left the views since the last poll.

        Of all change requests that have left, keep the `MAX_FORMER` most recently updated. Merged ones are dropped in
        the next poll.
        """
        former: dict[str, RequestState] = {}
        for key, was in self._before.requests.items():
            if key in self.requests or was.merged:
                continue
            if was.has_left:
                former[key] = was
                continue
            request = await self.fresh_or_none(GetChangeRequest(space_id=was.space, change_request_id=key))
            if request is not None:
                former[key] = replace(await self._request_state(request, ""), has_left=True)
        newest = sorted(former.items(), key=lambda item: item[1].updated_at)[-MAX_FORMER:]
        self.requests |= dict(newest)

    async def _heads(self, organization: str) -> Mapping[str, str]:
        spaces = await self.fresh(ListSpaces(organization_id=organization, limit=ALL))
        return {space.id: space.revision for space in spaces.items}

    async def _poll_sites(self, organization: str) -> None:
        sites = await self.fresh_or_none(ListSites(organization_id=organization, limit=ALL))
        for site in sites.items if sites else ():
            self.sites[site.id] = SiteState(site.title, site.published)

    async def _request_state(self, request: ChangeRequest, head: str) -> RequestState:
        was = self._before.requests.get(request.id)
        version = f"{request.updated_at} {request.comments} {request.revision}"
        is_changed = was is None or was.actions is None or was.version != version
        conflict, compared = await self._conflict(request, was, head)
        return RequestState(
            number=request.number,
            subject=request.subject,
            space=request.space,
            status=request.status,
            updated_at=request.updated_at,
            version=version,
            outdated=request.outdated,
            actions=await self._actions(request, was) if is_changed else was.actions if was else None,
            merged=_action(MERGED, request.merged_by, request.merged_at) if request.status == "merged" else None,
            conflict=conflict,
            compared=compared,
        )

    async def _actions(self, request: ChangeRequest, was: RequestState | None) -> dict[str, UserAction] | None:
        """Return the actions on a change request by a stable id, or None if the user may see none of them."""
        reviewers = await self.fresh_or_none(reviewers_of(request))
        reviews = await self.fresh_or_none(reviews_of(request))
        comments = await self.fresh_or_none(comments_on(request))
        if reviewers is None and reviews is None and comments is None:
            return None
        known = was.actions if was else None
        actions = {
            f"asked {reviewer.created_at or reviewer.revision}": _action(
                REVIEW_ASKED, reviewer.requested_by, reviewer.created_at
            )
            for reviewer in (reviewers.items if reviewers else ())
            if reviewer.user and reviewer.user.id == self._me
        }
        actions |= actions_in(reviews.items if reviews else (), comments.items if comments else ())
        for comment in comments.items if comments else ():
            if (own := actions.get(f"comment {comment.id}")) is not None:
                actions[f"comment {comment.id}"] = replace(own, mentions_me=self._mentions_me(comment.body))
            replies = _replies(comment)
            if known is not None and self._settings.has_muted_part(NotificationTarget(request.space, request.id)):
                new = {key: reply for key, reply in replies.items() if key not in known}
                replies |= await self._with_mentions(request, comment, new)
            actions |= replies
        return actions

    async def _with_mentions(
        self, request: ChangeRequest, comment: Comment, new: Mapping[str, UserAction]
    ) -> dict[str, UserAction]:
        """Return the new replies, with `mentions_me` set for authors whose newest reply mentions the user.

        Empty if the user wrote all new replies. The service reports the number of replies without their texts. The
        texts are fetched only where a mention can end a mute.
        """
        if all(reply.who == self._me for reply in new.values()):
            return {}
        replies = await self.fresh_or_none(replies_to(request.space, request.id, comment.id))
        last: dict[str, CommentReply] = {}
        for reply in sorted(replies.items if replies else (), key=lambda reply: reply.posted_at):
            last[reply.posted_by.id] = reply
        authors = {who for who, reply in last.items() if self._mentions_me(reply.body)}
        return {key: replace(reply, mentions_me=reply.who in authors) for key, reply in new.items()}

    def _mentions_me(self, body: Document) -> bool:
        return self._user is not None and mentions(body.markdown or "", self._user)

    async def _conflict(self, request: ChangeRequest, was: RequestState | None, head: str) -> tuple[bool | None, str]:
        """Return whether a change request conflicts with main (None if unknown), and the two compared revisions.

        A change request that was already outdated at the first poll is not checked, because no event can follow.
        """
        if not request.outdated or request.status in ("merged", "archived"):
            return False, ""
        compared = f"{request.revision} {head}"
        if was is None:
            return None, compared
        if was.compared == compared or not head:
            return was.conflict, was.compared
        try:
            result = await forecast(self._reads, request)
        except (NotSignedIn, ServiceFailed, TooManyRequests):
            raise
        except ServiceError:
            result = None
        if not self._reads.is_online:
            return was.conflict, was.compared  # the forecast may have used outdated cached pages
        return (bool(result.conflicts) if result else None), compared


def actions_in(reviews: Iterable[Review], comments: Iterable[Comment]) -> dict[str, UserAction]:
    """Return the reviews, comments and replies in a change request as actions, by a stable id."""
    actions = _reviews(reviews)
    for comment in comments:
        # the comment of a review is part of the review's event
        if f"review {comment.target.review}" not in actions:
            action = _action(REPLY, comment.posted_by, comment.posted_at)
            actions[f"comment {comment.id}"] = replace(action, thread=comment.id)
        actions |= _replies(comment)
    return actions


def _reviews(reviews: Iterable[Review]) -> dict[str, UserAction]:
    return {
        f"review {review.id}": _action(REVIEW_EVENTS[review.status], review.reviewer, review.created_at)
        for review in reviews
        if review.status in REVIEW_EVENTS
    }


def _replies(comment: Comment) -> dict[str, UserAction]:
    """Return the replies to a comment as actions, by a stable id.

    The service reports the number of replies by each author, so the replies do not have to be fetched.
    """
    return {
        f"reply {comment.id} {replier.user.id} {number}": replace(
            _action(REPLY, replier.user, replier.updated_at), thread=comment.id
        )
        for replier in comment.repliers
        for number in range(1, replier.count + 1)
    }


def _action(kind: str, user: User | None, at: str | None) -> UserAction:
    return UserAction(kind, user.id if user else "", user.display_name if user else "", at or "")
