"""Merge readiness of a change request: reviews, blocking requirements and warnings.

A check is `no` only if that is certain; what only the service can decide is `unknown`. As for the service, the approval
of an older revision and that of the author do not count, and a request for changes blocks, whatever its revision.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from presscheck.text.sanitize import sanitize

if TYPE_CHECKING:
    from presscheck.api.change_requests import ChangeRequest, RequestedReviewer, Review
    from presscheck.api.roles import MergeRule, MergeRules
    from presscheck.api.spaces import Space
    from presscheck.api.users import User

Word = Literal["approved", "changes-requested", "asked"]
Certainty = Literal["yes", "no", "care", "unknown"]
_RULES = {
    "require_up_to_date_change_request": ("main", "you: update from main (u)"),
    "require_change_request_subject": ("subject", "anyone who can edit it"),
    "require_change_request_description": ("description", "anyone who can edit it"),
    "require_author_to_merge": ("author", "its author"),
    "require_at_least_one_review": ("reviews", "any reviewer"),
    "require_at_least_one_approved_review": ("reviews", "any reviewer"),
    "require_all_reviews_approved": ("reviews", "the reviewers who requested changes"),
    "require_specific_reviewers": ("reviews", "these reviewers"),
    "require_one_of_specific_reviewers": ("reviews", "one of these reviewers"),
}
"""The subject of each rule that can be checked here, and who can meet it."""


@dataclass(frozen=True)
class Reviewer:
    """A requested reviewer or a person who reviewed; the newest review counts."""

    id: str
    name: str
    said: Word
    stale: bool = False
    """Whether the content changed since the review."""
    asked: bool = False
    revision: str = ""
    """The revision that was reviewed."""


@dataclass(frozen=True)
class MergeReadiness:
    """Whether it can be merged: `certainty` yes, no, care (it can, but…) or unknown; and why."""

    certainty: Certainty
    reasons: tuple[str, ...] = ()


@dataclass(frozen=True)
class MergeCheck:
    """One merge requirement: whether it is met, its status in words, and who can fix it."""

    certainty: Certainty
    what: str
    says: str
    who: str = ""


@dataclass(frozen=True)
class MergeInputs:
    """The inputs of the merge checks; None for what was not fetched yet."""

    request: ChangeRequest
    me: str
    reviewers: tuple[Reviewer, ...] | None = None
    space: Space | None = None
    rules: MergeRules | None = None
    """The rules in force: those of the organization if the space inherits them."""
    open_threads: int = 0
    collisions: tuple[str, ...] | None = None
    """Titles of the pages that conflict with main; None if not known."""


def reviewers(
    request: ChangeRequest, asked: Sequence[RequestedReviewer], reviews: Sequence[Review], me: str
) -> tuple[Reviewer, ...]:
    """All requested reviewers, then the others who reviewed."""
    newest: dict[str, Review] = {}
    for review in sorted(reviews, key=lambda one: one.created_at):
        if not review.outdated:
            newest[review.reviewer.id] = review
    found: dict[str, Reviewer] = {}
    for one in asked:
        if one.user:
            found[one.user.id] = Reviewer(one.user.id, person(one.user, me), "asked", asked=True)
        elif one.team:
            found[one.team.id] = Reviewer(one.team.id, f"team {sanitize(one.team.id)}", "asked", asked=True)
    for who, review in newest.items():
        said: Word = "approved" if review.status == "approved" else "changes-requested"
        stale = bool(review.revision) and review.revision != request.revision
        found[who] = Reviewer(who, person(review.reviewer, me), said, stale, who in found, review.revision)
    return tuple(found.values())


def newest_of(reviews: Sequence[Review], who: str) -> Review | None:
    """The newest review of a person with a known revision."""
    own = (one for one in reviews if one.reviewer.id == who and one.revision)
    return max(own, key=lambda one: one.created_at, default=None)


def person(user: User | None, me: str = "") -> str:
    """The first name of a person, or `you`."""
    if user is None:
        return "somebody"
    if user.id == me:
        return "you"
    name = sanitize(user.display_name).strip()
    return name.partition(" ")[0] or sanitize(user.id)


def standing(facts: MergeInputs) -> MergeReadiness:
    """Whether it can be merged, and why not."""
    found = tuple(checks(facts))
    for certainty in ("no", "care"):
        reasons = tuple(one.says for one in found if one.certainty == certainty)
        if reasons:
            return MergeReadiness(certainty, reasons)
    return MergeReadiness("unknown" if any(one.certainty == "unknown" for one in found) else "yes")


def checks(facts: MergeInputs) -> Iterator[MergeCheck]:
    """The merge requirements: whether each is met, and who can fix it if not."""
    if facts.request.status in ("merged", "archived"):
        yield MergeCheck("no", "status", f"it is {facts.request.status}")
        return
    if facts.space is None:
        yield MergeCheck("unknown", "permission", "the service decides: the space is not loaded yet")
    elif facts.space.permissions.merge:
        yield MergeCheck("yes", "permission", "you can merge in this space")
    else:
        yield MergeCheck(
            "no", "permission", "you do not have permission to merge in this space", "an admin of the space"
        )
    yield from _rules(facts)
    yield from _verdicts(facts)
    count = facts.open_threads
    says = f"{count} open comment{'s' if count != 1 else ''}" if count else "no open comments"
    yield MergeCheck("care" if count else "yes", "comments", says, "anyone who can resolve them" if count else "")
    yield _main(facts)


def _rules(facts: MergeInputs) -> Iterator[MergeCheck]:
    if facts.rules is None:
        yield MergeCheck("unknown", "rules", "the service decides: the merge rules are not loaded yet")
    elif facts.rules.type != "rules" or not facts.rules.rules:
        yield MergeCheck("yes", "rules", "no merge rules")
    elif _may_bypass(facts):
        yield MergeCheck("yes", "rules", "you may bypass the merge rules")
    else:
        yield from (_rule(rule, facts) for rule in facts.rules.rules if rule.rule != "allow_bypass")


def _may_bypass(facts: MergeInputs) -> bool:
    rules = facts.rules.rules if facts.rules else ()
    return any(rule.rule == "allow_bypass" and facts.me in rule.users for rule in rules)


def _rule(rule: MergeRule, facts: MergeInputs) -> MergeCheck:
    what = _RULES.get(rule.rule)
    if what is None:
        return MergeCheck("unknown", "rule", f"the service decides: {sanitize(rule.message or rule.rule)}")
    name, who = what
    if facts.reviewers is None and name == "reviews":
        return MergeCheck("unknown", name, "the service decides: the reviews are not loaded yet")
    says = _unmet(rule, facts.request, facts.me) or _unmet_by_reviewers(rule, facts)
    return MergeCheck("no", name, says, who) if says else MergeCheck("yes", name, f"merge rule met: {_worded(rule)}")


def _worded(rule: MergeRule) -> str:
    return sanitize(rule.rule.removeprefix("require_").replace("_", " "))


def _unmet(rule: MergeRule, request: ChangeRequest, me: str) -> str:
    if rule.rule == "require_up_to_date_change_request" and request.outdated:
        return "an update from main is required (merge rule)"
    if rule.rule == "require_change_request_subject" and not request.subject.strip():
        return "a subject is required (merge rule)"
    if rule.rule == "require_change_request_description" and not request.description:
        return "a description is required (merge rule)"
    if rule.rule == "require_author_to_merge" and request.created_by and request.created_by.id != me:
        return f"only {person(request.created_by)} can merge it (merge rule)"
    return ""


def _unmet_by_reviewers(rule: MergeRule, facts: MergeInputs) -> str:
    people, author = facts.reviewers or (), facts.request.created_by.id if facts.request.created_by else None
    approvals = [reviewer for reviewer in people if reviewer.said == "approved"]
    others = [reviewer for reviewer in approvals if reviewer.id != author]
    approved = {reviewer.id for reviewer in others if not reviewer.stale}
    requested = [reviewer for reviewer in people if reviewer.said == "changes-requested"]
    against = [reviewer.name for reviewer in requested]
    has_review = bool(approved) or any(reviewer.id != author for reviewer in requested)
    if rule.rule == "require_at_least_one_review" and not has_review:
        return "a review is required (merge rule)"
    if rule.rule == "require_at_least_one_approved_review" and not approved:
        if others:
            return "an approval of the newest revision is required (merge rule)"
        return f"an approval {'by somebody other than the author ' if approvals else ''}is required (merge rule)"
    if rule.rule == "require_all_reviews_approved" and against:
        return f"{listed(against)} requested changes"
    if rule.rule == "require_specific_reviewers" and not approved.issuperset(rule.users):
        names = {one.id: one.name for one in people}
        required = listed([names.get(id_, sanitize(id_)) for id_ in rule.users])
        return f"approval by {required} is required (merge rule)"
    if rule.rule == "require_one_of_specific_reviewers" and rule.users and approved.isdisjoint(rule.users):
        return "approval by a specific reviewer is required (merge rule)"
    return ""


def _verdicts(facts: MergeInputs) -> Iterator[MergeCheck]:
    if facts.reviewers is None:
        yield MergeCheck("unknown", "reviews", "the service decides: the reviews are not loaded yet")
        return
    against = [one.name for one in facts.reviewers if one.said == "changes-requested"]
    if against:
        yield MergeCheck(
            "care", "reviews", f"{listed(against)} requested changes", f"a new review by {listed(against)}"
        )
    stale = [one.name for one in facts.reviewers if one.said == "approved" and one.stale]
    if stale:
        who = f"a new approval by {listed(stale)}"
        yield MergeCheck("care", "reviews", f"{listed(stale)} approved an older revision", who)
    if not against and not stale:
        yield MergeCheck("yes", "reviews", "nobody requested changes")


def _main(facts: MergeInputs) -> MergeCheck:
    if facts.collisions:
        titles = [sanitize(one) for one in dict.fromkeys(facts.collisions)]
        says = f"conflicts with main in {listed(titles)}"
        return MergeCheck("care", "main", says, "anyone who can edit these pages, after an update from main (u)")
    if not facts.request.outdated:
        return MergeCheck("yes", "main", "up to date with main")
    if facts.collisions is None:
        return MergeCheck("care", "main", "main has new changes", "you: update from main (u)")
    return MergeCheck("yes", "main", "main has new changes, no conflicts")


def listed(names: Sequence[str]) -> str:
    """Names in a sentence: `ada`, `ada and jon`, `ada, jon and 2 more`."""
    if len(names) <= 2:
        return " and ".join(names)
    more = f"{len(names) - 2} more" if len(names) > 3 else names[2]
    return f"{names[0]}, {names[1]} and {more}"
