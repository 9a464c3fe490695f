"""Merge readiness of a change request: reviews, blocking requirements and warnings.

A check is `no` only if the service would certainly refuse the merge; it is `unknown` if only the service can decide.
The rules follow the service: an author's approval and an approval of an older revision do not count, but a request for
changes counts, whichever revision it is about.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from presscheck.text.phrases import count
from presscheck.text.sanitize import sanitize

if TYPE_CHECKING:
    from presscheck.api.change_requests import ChangeRequest, RequestedReviewer, Review
    from presscheck.api.roles import MergeRule, MergeRules
    from presscheck.api.spaces import Space
    from presscheck.api.users import User

ReviewStatus = Literal["approved", "changes-requested", "asked"]
Certainty = Literal["yes", "no", "blocked", "care", "unknown"]
"""`care` allows the merge with a warning. `blocked` means that the merge would publish a conflict: the service would
allow it, but presscheck asks for a second confirmation.
"""
LOCK = "lock"
"""The subject of the check whether the space is locked."""
MAY_NOT_COMMENT = "you are not permitted to comment in this space"
"""The reason shown if the service does not permit comments."""
_RULES = {
    "require_up_to_date_change_request": ("main", "you: update from main"),
    "require_change_request_subject": ("subject", "anyone who can edit it"),
    "require_change_request_description": ("description", "anyone who can edit it"),
    "require_author_to_merge": ("author", "its author"),
    "require_at_least_one_review": ("reviews", "any reviewer"),
    "require_at_least_one_approved_review": ("reviews", "any reviewer"),
    "require_all_reviews_approved": ("reviews", "the reviewers who requested changes"),
    "require_specific_reviewers": ("reviews", "these reviewers"),
    "require_one_of_specific_reviewers": ("reviews", "one of these reviewers"),
}
"""The subject of each rule that can be checked locally, and who can fix a violation."""


def closed_reason(request: ChangeRequest) -> str | None:
    """Return why a change request cannot be changed: it is merged or archived. None if it can be changed."""
    return f"it is {request.status}" if request.status in ("merged", "archived") else None


def review_reason(request: ChangeRequest, space: Space | None) -> str | None:
    """Return why the user cannot review a change request: it is merged or archived, or the user has no permission.

    None if the user can review it. If `space` is None, permissions are not checked.
    """
    if closed := closed_reason(request):
        return f"{closed}: it needs no review"
    may_review = space is None or space.permissions.review
    return None if may_review else "you do not have permission to review in this space"


def comment_reason(space: Space | None) -> str | None:
    """Return why the user may not comment in a space; None if they may, or if the space is not loaded."""
    return None if space is None or space.permissions.comment else MAY_NOT_COMMENT


def lock_reason(space: Space) -> str | None:
    """Return the reason if a lock prevents the user from editing and merging in a space; None if no lock does."""
    is_locked = space.edit_mode == "locked" and not space.permissions.edit
    return f"{sanitize(space.title)} is locked" if is_locked else None


@dataclass(frozen=True)
class Reviewer:
    """A requested reviewer, or a person who reviewed, with their newest review."""

    id: str
    name: str
    status: ReviewStatus
    stale: bool = False
    """Whether the content has changed since the review."""
    asked: bool = False
    revision: str = ""
    """The revision that was reviewed."""
    is_author: bool = False
    """Whether the reviewer is the author of the change request, whose approval does not count."""


@dataclass(frozen=True)
class MergeReadiness:
    """The result of the merge checks: whether a change request can be merged, with the reasons or the warnings."""

    certainty: Certainty
    reasons: tuple[str, ...] = ()


@dataclass(frozen=True)
class MergeCheck:
    """A merge requirement: whether it is met, its subject, its status in words, and who can fix it."""

    certainty: Certainty
    subject: str
    message: str
    fixed_by: str = ""
    people: frozenset[str] = frozenset()
    """The ids of the reviewers whose review is awaited."""


@dataclass(frozen=True)
class MergeInputs:
    """The inputs of the merge checks; None stands for an input that is not loaded yet."""

    request: ChangeRequest
    me: str
    reviewers: tuple[Reviewer, ...] | None = None
    space: Space | None = None
    rules: MergeRules | None = None
    """The rules in force: the organization's rules if the space inherits them."""
    open_threads: int = 0
    conflicts: tuple[str, ...] | None = None
    """Titles of the pages that conflict with main; None if unknown."""
    unresolved: tuple[str, ...] = ()
    """Titles of the loaded pages with conflict markers."""


def reviewers(
    request: ChangeRequest, asked: Sequence[RequestedReviewer], reviews: Sequence[Review], me: str
) -> tuple[Reviewer, ...]:
    """Return all requested reviewers, then all other people who reviewed."""
    people: dict[str, Reviewer] = {}
    author = request.created_by.id if request.created_by else ""
    for requested in asked:
        if user := requested.user:
            people[user.id] = Reviewer(user.id, person(user, me), "asked", asked=True)
        elif team := requested.team:
            people[team.id] = Reviewer(team.id, f"team {sanitize(team.id)}", "asked", asked=True)
    for review in newest_reviews(reviews):
        user_id = review.reviewer.id
        status: ReviewStatus = "approved" if review.status == "approved" else "changes-requested"
        stale = bool(review.revision) and review.revision != request.revision
        is_asked = user_id in people
        name, is_author = person(review.reviewer, me), user_id == author
        people[user_id] = Reviewer(user_id, name, status, stale, is_asked, review.revision, is_author)
    return tuple(people.values())


def newest_reviews(reviews: Iterable[Review]) -> tuple[Review, ...]:
    """Return the newest review of each user among the reviews that are not outdated."""
    newest: dict[str, Review] = {}
    for review in sorted(reviews, key=lambda review: review.created_at):
        if not review.outdated:
            newest[review.reviewer.id] = review
    return tuple(newest.values())


def newest_review_by(reviews: Sequence[Review], user_id: str) -> Review | None:
    """Return the newest review of a user that names a revision, or None if there is none."""
    own = (review for review in reviews if review.reviewer.id == user_id and review.revision)
    return max(own, key=lambda review: review.created_at, default=None)


def person(user: User | None, me: str = "") -> str:
    """Return the first name of a person, `you` for the user `me`, or `somebody` if there is no user."""
    if user is None:
        return "somebody"
    if user.id == me:
        return "you"
    name = sanitize(user.display_name).strip()
    return name.partition(" ")[0] or sanitize(user.id)


def merge_readiness(inputs: MergeInputs) -> MergeReadiness:
    """Summarize the merge checks. Return the reasons against the merge or, if there are none, the warnings."""
    results = tuple(checks(inputs))
    for certainty in ("no", "blocked", "care"):
        reasons = tuple(check.message for check in results if check.certainty == certainty)
        if reasons:
            return MergeReadiness(certainty, reasons)
    return MergeReadiness("unknown" if any(check.certainty == "unknown" for check in results) else "yes")


def checks(inputs: MergeInputs) -> Iterator[MergeCheck]:
    """Yield the merge requirements, met or not."""
    if inputs.request.status in ("merged", "archived"):
        yield MergeCheck("no", "status", f"it is {inputs.request.status}")
        return
    if inputs.space is None:
        yield MergeCheck("unknown", "permission", "the service decides: the space is not loaded yet")
    elif locked := lock_reason(inputs.space):
        yield MergeCheck("no", LOCK, locked, "an admin of the space")
    elif inputs.space.permissions.merge:
        yield MergeCheck("yes", "permission", "you can merge in this space")
    else:
        yield MergeCheck(
            "no", "permission", "you do not have permission to merge in this space", "an admin of the space"
        )
    yield from _rules(inputs)
    yield from _reviews(inputs)
    number = inputs.open_threads
    message = count(number, "open comment") if number else "no open comments"
    yield MergeCheck("care" if number else "yes", "comments", message, "anyone who can resolve them" if number else "")
    if inputs.unresolved:
        message = f"unresolved conflicts in {_titles(inputs.unresolved)}"
        yield MergeCheck("blocked", "conflicts", message, "anyone who can edit these pages")
    yield _main(inputs)


def _rules(inputs: MergeInputs) -> Iterator[MergeCheck]:
    if inputs.rules is None:
        yield MergeCheck("unknown", "rules", "the service decides: the merge rules are not loaded yet")
    elif inputs.rules.type != "rules" or not inputs.rules.rules:
        yield MergeCheck("yes", "rules", "no merge rules")
    elif _may_bypass(inputs):
        yield MergeCheck("yes", "rules", "you may bypass the merge rules")
    else:
        yield from (_rule(rule, inputs) for rule in inputs.rules.rules if rule.rule != "allow_bypass")


def _may_bypass(inputs: MergeInputs) -> bool:
    rules = inputs.rules.rules if inputs.rules else ()
    return any(rule.rule == "allow_bypass" and inputs.me in rule.users for rule in rules)


def _rule(rule: MergeRule, inputs: MergeInputs) -> MergeCheck:
    if rule.rule not in _RULES:
        return MergeCheck("unknown", "rule", f"the service decides: {sanitize(rule.message or rule.rule)}")
    subject, fixed_by = _RULES[rule.rule]
    if inputs.reviewers is None and subject == "reviews":
        return MergeCheck("unknown", subject, "the service decides: the reviews are not loaded yet")
    problem = _unmet(rule, inputs.request, inputs.me) or _unmet_by_reviewers(rule, inputs)
    if problem:
        return MergeCheck("no", subject, problem, fixed_by)
    return MergeCheck("yes", subject, f"merge rule met: {_rule_name(rule)}")


def _rule_name(rule: MergeRule) -> str:
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


def _unmet_by_reviewers(rule: MergeRule, inputs: MergeInputs) -> str:
    people, author = inputs.reviewers or (), inputs.request.created_by.id if inputs.request.created_by else None
    approvals = [reviewer for reviewer in people if reviewer.status == "approved"]
    others = [reviewer for reviewer in approvals if reviewer.id != author]
    approved = {reviewer.id for reviewer in others if not reviewer.stale}
    requested = [reviewer for reviewer in people if reviewer.status == "changes-requested"]
    against = [reviewer.name for reviewer in requested]
    has_review = bool(approved) or any(reviewer.id != author for reviewer in requested)
    if rule.rule == "require_at_least_one_review" and not has_review:
        return "a review is required (merge rule)"
    if rule.rule == "require_at_least_one_approved_review" and not approved:
        if others:
            return "an approval of the newest revision is required (merge rule)"
        return f"an approval {'by somebody other than the author ' if approvals else ''}is required (merge rule)"
    if rule.rule == "require_all_reviews_approved" and against:
        return f"{join_names(against)} requested changes"
    if rule.rule == "require_specific_reviewers" and not approved.issuperset(rule.users):
        names = {reviewer.id: reviewer.name for reviewer in people}
        required = join_names([names.get(id_, sanitize(id_)) for id_ in rule.users])
        return f"approval by {required} is required (merge rule)"
    if rule.rule == "require_one_of_specific_reviewers" and rule.users and approved.isdisjoint(rule.users):
        return "approval by a specific reviewer is required (merge rule)"
    return ""


def _reviews(inputs: MergeInputs) -> Iterator[MergeCheck]:
    if inputs.reviewers is None:
        yield MergeCheck("unknown", "reviews", "the service decides: the reviews are not loaded yet")
        return
    asked = {reviewer.id for reviewer in inputs.reviewers if reviewer.status == "asked"}
    against = [reviewer for reviewer in inputs.reviewers if reviewer.status == "changes-requested"]
    if against:
        names = join_names([reviewer.name for reviewer in against])
        people = frozenset(asked.union(reviewer.id for reviewer in against))
        yield MergeCheck("care", "reviews", f"{names} requested changes", f"a new review by {names}", people)
    stale = [reviewer for reviewer in inputs.reviewers if reviewer.status == "approved" and reviewer.stale]
    if stale:
        names = join_names([reviewer.name for reviewer in stale])
        people = frozenset({reviewer.id for reviewer in stale}.union(() if against else asked))
        yield MergeCheck("care", "reviews", f"{names} approved an older revision", f"a new approval by {names}", people)
    if not against and not stale:
        yield MergeCheck("yes", "reviews", "nobody requested changes")


def _main(inputs: MergeInputs) -> MergeCheck:
    if inputs.conflicts:
        message = f"conflicts with main in {_titles(inputs.conflicts)}"
        return MergeCheck("blocked", "main", message, "anyone who can edit these pages, after an update from main")
    if not inputs.request.outdated:
        return MergeCheck("yes", "main", "up to date with main")
    if inputs.conflicts is None:
        return MergeCheck("care", "main", "main has new changes", "you: update from main")
    return MergeCheck("yes", "main", "main has new changes, no conflicts")


def _titles(titles: Iterable[str]) -> str:
    return join_names([sanitize(title) for title in dict.fromkeys(titles)])


def join_names(names: Sequence[str]) -> str:
    """Join names for a sentence: `ada`, `ada and jon`, `ada, jon and 2 more`."""
    if len(names) <= 2:
        return " and ".join(names)
    more = f"{len(names) - 2} more" if len(names) > 3 else names[2]
    return f"{names[0]}, {names[1]} and {more}"
