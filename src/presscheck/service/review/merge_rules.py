"""Merge rules of a space, or of its organization if the space inherits them.

An approval counts if it is for the newest revision and not by the author. It remains valid after an update from main
without conflicts. A request for changes blocks until its reviewer submits another review.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

from sqlalchemy import select, update

from presscheck.api.roles import MergeRulesChange, StandaloneMergeRulesChange
from presscheck.service.http.operations import Context
from presscheck.service.models.content import ChangeRequestRow, ReviewRow
from presscheck.service.models.organizations import OrganizationRow
from presscheck.service.models.spaces import SpaceRow
from presscheck.service.review.change_requests import ancestor
from presscheck.text.phrases import count


class Reviews(NamedTuple):
    """The current reviews of a change request that matter for its merge rules."""

    approved: frozenset[str]
    """Reviewers other than the author who approved the newest revision."""
    against: frozenset[str]
    """Reviewers who requested changes, for any revision."""
    has_older: bool
    """Whether a reviewer approved an older revision."""
    has_own: bool
    """Whether the author approved the change request."""

    def missing(self) -> str:
        """Return the message for a missing approval."""
        if self.has_older:
            return "An approval of the newest revision is required: the content changed since the last approval."
        if self.has_own:
            return "An approval by somebody other than the author is required."
        return "An approval is required."


def may_bypass(context: Context, space: SpaceRow) -> bool:
    """Return whether the caller may ignore the merge rules of a space, or the space has no rules."""
    rules = _rules(context, space)
    bypasses = [rule for rule in rules if rule["rule"] == "allow_bypass"]
    return len(bypasses) == len(rules) or any(context.user.id in _users(rule) for rule in bypasses)


def unmet_rules(context: Context, space: SpaceRow, row: ChangeRequestRow) -> list[str]:
    """Return a message for each rule that is not met. The list is empty if the caller may bypass the rules."""
    if may_bypass(context, space):
        return []
    rules = _rules(context, space)
    reviews = _current_reviews(context, row)
    messages: list[str] = []
    for rule in rules:
        unmet = _unmet(context, space, row, reviews, rule)
        if unmet:
            messages.append(rule.get("message") or unmet)
    return messages


def keep_approvals(context: Context, row: ChangeRequestRow, revision: str) -> None:
    """Transfer the approvals of the newest revision to the new `revision`, which only adds live content to it."""
    context.session.execute(
        update(ReviewRow)
        .where(
            ReviewRow.change_request_id == row.id,
            ReviewRow.revision == row.revision,
            ReviewRow.status == "approved",
        )
        .values(revision=revision)
    )


def _current_reviews(context: Context, row: ChangeRequestRow) -> Reviews:
    """Return the reviews that are not outdated by a newer review of the same user."""
    rows = context.session.scalars(
        select(ReviewRow).where(ReviewRow.change_request_id == row.id, ReviewRow.outdated.is_(False))
    ).all()
    approvals = [review for review in rows if review.status == "approved"]
    others = [review for review in approvals if review.reviewer != row.created_by]
    return Reviews(
        approved=frozenset(review.reviewer for review in others if review.revision == row.revision),
        against=frozenset(review.reviewer for review in rows if review.status != "approved"),
        has_older=any(review.revision != row.revision for review in others),
        has_own=len(others) < len(approvals),
    )


def stored_rules(change: MergeRulesChange | StandaloneMergeRulesChange) -> dict[str, Any]:
    """Return rules in stored form, without fields that are null."""
    return change.model_dump(mode="json", exclude_none=True)


def _rules(context: Context, space: SpaceRow) -> list[dict[str, Any]]:
    rules = space.merge_rules or {"type": "inherit"}
    if rules["type"] == "inherit":
        organization = context.session.get(OrganizationRow, space.organization_id)
        rules = (organization.merge_rules if organization else None) or {"type": "none"}
    return rules.get("rules") or [] if rules["type"] == "rules" else []


def _users(rule: dict[str, Any]) -> list[str]:
    return rule.get("users") or []


def _unmet(
    context: Context, space: SpaceRow, row: ChangeRequestRow, reviews: Reviews, rule: dict[str, Any]
) -> str | None:
    by_people = _BY_PEOPLE.get(rule["rule"])
    if by_people is not None:
        return by_people(reviews.approved, _users(rule))
    has_review = bool(reviews.approved or reviews.against - {row.created_by})
    holds, sentence = {
        "allow_bypass": (True, ""),
        "require_at_least_one_review": (has_review, "A review is required."),
        "require_at_least_one_approved_review": (bool(reviews.approved), reviews.missing()),
        "require_all_reviews_approved": (not reviews.against, "All reviews must be approvals."),
        "require_up_to_date_change_request": (
            ancestor(row) == space.revision_id,
            "The change request must be updated with the live content first.",
        ),
        "require_change_request_subject": (bool(row.subject.strip()), "A subject is required."),
        "require_change_request_description": (bool(row.description), "A description is required."),
        "require_author_to_merge": (
            row.created_by == context.user.id,
            "Only the author can merge this change request.",
        ),
        "require_agent_review": (False, "An agent review is required, but this service has no review agents."),
    }.get(rule["rule"], (False, f"This service does not support the merge rule {rule['rule']}."))
    return None if holds else sentence


def _all_of(approved: frozenset[str], users: list[str]) -> str | None:
    missing = len(set(users) - approved)
    return f"{count(missing, 'more required reviewer')} must approve the newest revision." if missing else None


def _one_of(approved: frozenset[str], users: list[str]) -> str | None:
    return None if approved & set(users) else "One of the required reviewers must approve the newest revision."


_BY_PEOPLE: dict[str, Callable[[frozenset[str], list[str]], str | None]] = {
    "require_specific_reviewers": _all_of,
    "require_one_of_specific_reviewers": _one_of,
}
