"""Where a change request stands: who said what, what stands in the way of a merge, and what only makes one unwise.

A `no` is said only of what is known for certain; where the service alone can tell, that is what is said.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from presscheck.documents.display_text import display_text

if TYPE_CHECKING:
    from presscheck.api.change_requests import ChangeRequest, RequestedReviewer, Review
    from presscheck.api.levels import MergeRule, MergeRules
    from presscheck.api.spaces import Space
    from presscheck.api.users import User

Word = Literal["approved", "changes-requested", "asked"]


@dataclass(frozen=True)
class Reviewer:
    """Somebody who was asked or who gave a verdict; the newest verdict counts."""

    id: str
    name: str
    said: Word
    stale: bool = False
    """Whether the content changed since the verdict."""
    asked: bool = False
    revision: str = ""
    """What the verdict is of."""


@dataclass(frozen=True)
class Standing:
    """Whether it can be merged: `certainty` yes, no, care (it can, but…) or unknown; and why."""

    certainty: Literal["yes", "no", "care", "unknown"]
    reasons: tuple[str, ...] = ()


@dataclass(frozen=True)
class Facts:
    """What is known when the standing is asked; None where something was not fetched yet."""

    request: ChangeRequest
    me: str
    reviewers: tuple[Reviewer, ...] | None = None
    space: Space | None = None
    rules: MergeRules | None = None
    """Those in force: the organization's where the space inherits."""
    open_threads: int = 0
    collisions: tuple[str, ...] | None = None
    """Titles of what would collide with what changed in main; None where that is not known."""


def reviewers(
    request: ChangeRequest, asked: Sequence[RequestedReviewer], reviews: Sequence[Review], me: str
) -> tuple[Reviewer, ...]:
    """Everybody who was asked or who spoke, those who were asked first, in that order."""
    newest: dict[str, Review] = {}
    for review in sorted(reviews, key=lambda one: one.created_at):
        if not review.outdated:
            newest[review.reviewer.id] = review
    found: dict[str, Reviewer] = {}
    for one in asked:
        if one.user:
            found[one.user.id] = Reviewer(one.user.id, person(one.user, me), "asked", asked=True)
        elif one.team:
            found[one.team.id] = Reviewer(one.team.id, f"team {display_text(one.team.id)}", "asked", asked=True)
    for who, review in newest.items():
        said: Word = "approved" if review.status == "approved" else "changes-requested"
        stale = bool(review.revision) and review.revision != request.revision
        found[who] = Reviewer(who, person(review.reviewer, me), said, stale, who in found, review.revision)
    return tuple(found.values())


def newest_of(reviews: Sequence[Review], who: str) -> Review | None:
    """The last review of a person, where it is known what they looked at."""
    own = (one for one in reviews if one.reviewer.id == who and one.revision)
    return max(own, key=lambda one: one.created_at, default=None)


def person(user: User | None, me: str = "") -> str:
    """The first name of a person, or `you`."""
    if user is None:
        return "somebody"
    if user.id == me:
        return "you"
    name = display_text(user.display_name).strip()
    return name.partition(" ")[0] or display_text(user.id)


def standing(facts: Facts) -> Standing:
    """Whether it can be merged, and why not."""
    no = tuple(_obstacles(facts))
    if no:
        return Standing("no", no)
    doubts = tuple(_doubts(facts))
    if doubts:
        return Standing("care", doubts)
    return Standing("yes" if _is_certain(facts) else "unknown")


def _obstacles(facts: Facts) -> Iterator[str]:
    if facts.request.status == "merged":
        yield "it is merged"
    elif facts.request.status == "archived":
        yield "it is archived"
    else:
        if facts.space and not facts.space.permissions.merge:
            yield "you may not merge in this space"
        if not _may_bypass(facts):
            for rule in facts.rules.rules if facts.rules and facts.rules.type == "rules" else ():
                yield from _unmet(rule, facts)


def _may_bypass(facts: Facts) -> bool:
    allowed = facts.rules is not None and any(rule.rule == "allow_bypass" for rule in facts.rules.rules)
    return allowed and facts.space is not None and facts.space.permissions.admin


def _unmet(rule: MergeRule, facts: Facts) -> Iterator[str]:
    request = facts.request
    if rule.rule == "require_up_to_date_change_request" and request.outdated:
        yield "the rules want it updated from main first"
    elif rule.rule == "require_change_request_subject" and not request.subject.strip():
        yield "the rules want a subject"
    elif rule.rule == "require_change_request_description" and not request.description:
        yield "the rules want a description"
    elif rule.rule == "require_author_to_merge" and request.created_by and request.created_by.id != facts.me:
        yield f"the rules want {person(request.created_by)} to merge it"
    elif facts.reviewers is not None:
        yield from _unmet_by_reviewers(rule, facts.reviewers)


def _unmet_by_reviewers(rule: MergeRule, people: Sequence[Reviewer]) -> Iterator[str]:
    verdicts = [one for one in people if one.said != "asked"]
    approved = {one.id for one in verdicts if one.said == "approved"}
    against = [one.name for one in verdicts if one.said == "changes-requested"]
    if rule.rule == "require_at_least_one_review" and not verdicts:
        yield "the rules want a review"
    elif rule.rule == "require_at_least_one_approved_review" and not approved:
        yield "the rules want an approval"
    elif rule.rule == "require_all_reviews_approved" and against:
        yield f"{listed(against)} asked for changes"
    elif rule.rule == "require_specific_reviewers" and not approved.issuperset(rule.users):
        names = {one.id: one.name for one in people}
        yield f"the rules want the approval of {listed([names.get(id_, display_text(id_)) for id_ in rule.users])}"
    elif rule.rule == "require_one_of_specific_reviewers" and rule.users and approved.isdisjoint(rule.users):
        yield "the rules want the approval of a certain person"


def _doubts(facts: Facts) -> Iterator[str]:
    against = [one.name for one in facts.reviewers or () if one.said == "changes-requested"]
    if against:
        yield f"{listed(against)} asked for changes"
    stale = [one.name for one in facts.reviewers or () if one.said == "approved" and one.stale]
    if stale:
        yield f"{listed(stale)} approved an older revision"
    if facts.open_threads:
        yield f"{facts.open_threads} open comment{'s' if facts.open_threads != 1 else ''}"
    if facts.collisions:
        titles = [display_text(one) for one in dict.fromkeys(facts.collisions)]
        yield f"main changed the same places of {listed(titles)}"
    elif facts.request.outdated and facts.collisions is None:
        yield "main has moved on"


def _is_certain(facts: Facts) -> bool:
    if facts.rules is None or facts.space is None or facts.reviewers is None:
        return False
    return not any(rule.rule in ("custom", "require_agent_review") for rule in facts.rules.rules)


def listed(names: Sequence[str]) -> str:
    """Names in a sentence: `ada`, `ada and jon`, `ada, jon and 2 more`."""
    if len(names) <= 2:
        return " and ".join(names)
    more = f"{len(names) - 2} more" if len(names) > 3 else names[2]
    return f"{names[0]}, {names[1]} and {more}"
