"""Checks the merge rules of a space, or of its organization if the space inherits them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from sqlalchemy import select

from presscheck.api.roles import MergeRulesChange, StandaloneMergeRulesChange
from presscheck.service.http.operation_registry import Context
from presscheck.service.models.content import ChangeRequestRow, ReviewRow
from presscheck.service.models.organizations import OrganizationRow, SpaceRow
from presscheck.service.review.change_requests import ancestor
from presscheck.text.plurals import count

Reviews = dict[str, str]
"""The current review status by reviewer."""


def unmet_rules(context: Context, space: SpaceRow, row: ChangeRequestRow) -> list[str]:
    """A message for each rule that is not met; empty for users who may bypass the rules."""
    rules = _rules(context, space)
    if any(rule["rule"] == "allow_bypass" and context.user.id in _users(rule) for rule in rules):
        return []
    reviews = current_reviews(context, row)
    messages: list[str] = []
    for rule in rules:
        unmet = _unmet(context, space, row, reviews, rule)
        if unmet:
            messages.append(rule.get("message") or unmet)
    return messages


def current_reviews(context: Context, row: ChangeRequestRow) -> Reviews:
    """The current reviews: those not replaced by a newer one of the same user."""
    rows = context.session.scalars(
        select(ReviewRow).where(ReviewRow.change_request_id == row.id, ReviewRow.outdated.is_(False))
    )
    return {review.reviewer: review.status for review in rows}


def kept_rules(change: MergeRulesChange | StandaloneMergeRulesChange) -> dict[str, Any]:
    """Rules in stored form; fields that are null are dropped."""
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
    approved = {user for user, status in reviews.items() if status == "approved"}
    by_people = _BY_PEOPLE.get(rule["rule"])
    if by_people is not None:
        return by_people(approved, _users(rule))
    holds, sentence = {
        "allow_bypass": (True, ""),
        "require_at_least_one_review": (bool(reviews), "A review is required."),
        "require_at_least_one_approved_review": (bool(approved), "An approval is required."),
        "require_all_reviews_approved": (len(approved) == len(reviews), "All reviews must be approvals."),
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


def _all_of(approved: set[str], users: list[str]) -> str | None:
    missing = len(set(users) - approved)
    return f"{count(missing, 'more required reviewer')} must approve." if missing else None


def _one_of(approved: set[str], users: list[str]) -> str | None:
    return None if approved & set(users) else "One of the required reviewers must approve."


_BY_PEOPLE: dict[str, Callable[[set[str], list[str]], str | None]] = {
    "require_specific_reviewers": _all_of,
    "require_one_of_specific_reviewers": _one_of,
}
