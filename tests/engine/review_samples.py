"""Builders for change requests with their reviewers, spaces and merge rules."""

from typing import Any

from presscheck.api.change_requests import ChangeRequest, RequestedReviewer, Review
from presscheck.api.roles import MergeRules
from presscheck.api.spaces import Space

ME = {"id": "me", "displayName": "Ida Ray"}
ADA = {"id": "ada", "displayName": "Ada Lund"}
JON = {"id": "jon", "displayName": "Jon Pike"}


def request(**more: Any) -> ChangeRequest:
    given = {"id": "c", "number": 42, "subject": "Rewrite", "createdBy": ADA, "createdAt": "2026-11-20T10:00:00Z"}
    return ChangeRequest.model_validate({**given, "revision": "r2", **more})


def asked(*users: dict[str, Any]) -> list[RequestedReviewer]:
    return [RequestedReviewer.model_validate({"kind": "user", "user": user}) for user in users]


def review(user: dict[str, Any], status: str, **more: Any) -> Review:
    given = {"id": f"{user['id']}-{status}", "reviewer": user, "status": status, "revision": "r2", "createdAt": "1"}
    return Review.model_validate({**given, **more})


def space(**permissions: bool) -> Space:
    return Space.model_validate({"id": "s", "permissions": {"merge": True, **permissions}})


def rules(*names: str, **more: Any) -> MergeRules:
    return MergeRules.model_validate({"type": "rules", "rules": [{"rule": name, **more} for name in names]})
