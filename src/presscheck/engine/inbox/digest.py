"""A digest: what happened to the change requests of an organization since a time.

It is computed from responses of the service, so that presscheck need not have been running since then.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from presscheck.api.change_requests import ChangeRequest, ChangeRequestStatus, ListOrganizationChangeRequests
from presscheck.engine.engine import Engine
from presscheck.engine.inbox.activity_poller import actions_in
from presscheck.engine.inbox.events import APPROVED, CHANGES_REQUESTED, REPLY, UserAction
from presscheck.engine.inbox.query_language import UNITS
from presscheck.engine.shared_calls import comments_on, reviews_of
from presscheck.errors import InvalidArgument
from presscheck.text.phrases import count, parse_time

WEEKDAYS = ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday")
MAX_READ = 200
"""Maximum number of changed open change requests whose comments and reviews are read, latest first."""
_AGE = re.compile(r"(\d{1,4})([hdwm])")


@dataclass(frozen=True)
class Item:
    """A change request in a digest, and the actions of other users since the start, such as `approved by Ada`."""

    request: ChangeRequest
    news: tuple[str, ...] = ()


@dataclass(frozen=True)
class Digest:
    """What happened in an organization; a change request is only in the first section that it belongs to.

    Attributes:
        since: the start of the digest.
        waiting: open change requests that need the user's review.
        merged: change requests merged since then.
        new: change requests opened since then.
        changed: older open change requests that changed since then.
    """

    since: datetime
    waiting: tuple[Item, ...]
    merged: tuple[Item, ...]
    new: tuple[Item, ...]
    changed: tuple[Item, ...]

    @property
    def sections(self) -> Mapping[str, tuple[Item, ...]]:
        """The items by the title of their section, in display order."""
        return {
            "Needs your review": self.waiting,
            "Merged": self.merged,
            "New": self.new,
            "Changed": self.changed,
        }


def parse_since(text: str, now: datetime) -> datetime:
    """Parse the start of a digest.

    Args:
        text: `today`, `yesterday`, a day of the week (the last one), an age such as `12h`, `2d` or `1w`, or a date or
            time in ISO 8601; days begin at midnight, local time.
        now: the current time, in the local zone.

    Raises:
        InvalidArgument: the text is none of these, or in the future.
    """
    word, midnight = text.strip().lower(), now.replace(hour=0, minute=0, second=0, microsecond=0, tzinfo=None)
    if word in ("today", "yesterday"):
        return _local(midnight - timedelta(days=word == "yesterday"))
    if word in WEEKDAYS:
        return _local(midnight - timedelta(days=(now.weekday() - WEEKDAYS.index(word) - 1) % 7 + 1))
    if age := _AGE.fullmatch(word):
        return now - int(age[1]) * UNITS[age[2]]
    try:
        moment = datetime.fromisoformat(text.strip())
    except ValueError:
        moment = None
    moment = _local(moment) if moment and not moment.tzinfo else moment
    if moment is None or moment > now:
        raise InvalidArgument("--since", "must be today, yesterday, a weekday, an age such as 2d, or a past date")
    return moment


def _local(moment: datetime) -> datetime:
    """Return a local time with its offset from UTC, which is not always that of today: the clocks change."""
    try:
        return moment.astimezone()
    except (OverflowError, ValueError):  # in the first year, which may begin before it does in UTC
        return moment.replace(tzinfo=UTC)


async def read_digest(
    engine: Engine, organization: str, since: datetime, me: str, waiting: Collection[ChangeRequest]
) -> Digest:
    """Compute the digest of an organization. Its lists of open and merged change requests must be in the cache.

    Args:
        engine: the engine.
        organization: the id of the organization.
        since: the start of the digest.
        me: the id of the user, whose own actions are left out.
        waiting: the change requests that need the user's review.
    """
    shown = {request.id for request in waiting}

    def listed(status: ChangeRequestStatus) -> list[ChangeRequest]:
        listing = ListOrganizationChangeRequests(organization_id=organization, status=status)
        items = engine.window(listing, 0, engine.window(listing, 0, 0).total).items
        return [request for request in items if request.id not in shown]

    merged = [request for request in listed("merged") if is_after(request.merged_at, since)]
    opened = [request for request in listed("open") if is_after(request.updated_at, since)]
    new = [request for request in opened if is_after(request.created_at, since)]
    changed = [request for request in opened if not is_after(request.created_at, since)]
    read = {request.id for request in opened[:MAX_READ]} | shown

    async def items(requests: Collection[ChangeRequest]) -> tuple[Item, ...]:
        return tuple([Item(item, await _news(engine, item, since, me) if item.id in read else ()) for item in requests])

    return Digest(since, await items(waiting), await items(merged), await items(new), await items(changed))


def is_after(iso: str | None, since: datetime) -> bool:
    """Return whether a time from the service is at or after `since`. False for a missing or invalid time."""
    moment = parse_time(iso)
    return moment is not None and moment >= since


async def _news(engine: Engine, request: ChangeRequest, since: datetime, me: str) -> tuple[str, ...]:
    reviews, comments = await engine.read(reviews_of(request)), await engine.read(comments_on(request))
    actions = [
        action
        for action in actions_in(reviews.items, comments.items).values()
        if action.who != me and is_after(action.at, since)
    ]
    words = (("approved by", APPROVED), ("changes requested by", CHANGES_REQUESTED))
    news = [f"{verb} {_names(found)}" for verb, kind in words if (found := _of_kind(actions, kind))]
    if replies := _of_kind(actions, REPLY):
        news.append(f"{count(len(replies), 'comment')} by {_names(replies)}")
    return tuple(news)


def _of_kind(actions: Collection[UserAction], kind: str) -> list[UserAction]:
    return [action for action in actions if action.kind == kind]


def _names(actions: Collection[UserAction]) -> str:
    """Return the names of the users, each once, such as `Ada, Jón and Mia`."""
    *others, last = dict.fromkeys(action.name or "somebody" for action in actions)
    return f"{', '.join(others)} and {last}" if others else last
