"""Roles, levels, merge rules, positions and texts, which several families share."""

from typing import Annotated, Any, Literal

from pydantic import Field

from presscheck.api.operation import Argument, Model

MemberRole = Literal["admin", "create", "edit", "review", "comment", "read"]
"""A role, from the highest to the lowest; guests have none (null)."""
DefaultLevel = Literal["admin", "create", "edit", "review", "comment", "read", "inherit"]
"""The role of all members; ``inherit`` is the role in the parent, null is no access."""
RuleName = Literal[
    "require_specific_reviewers",
    "require_one_of_specific_reviewers",
    "allow_bypass",
    "require_at_least_one_review",
    "require_at_least_one_approved_review",
    "require_all_reviews_approved",
    "require_agent_review",
    "require_up_to_date_change_request",
    "require_change_request_subject",
    "require_change_request_description",
    "require_author_to_merge",
    "custom",
]
"""The merge rules of both releases."""


class Location(Model):
    """The URLs of a resource: `location` in the API, `app` in the service's own app."""

    location: str | None = None
    app: str | None = None


class MergeRule(Model):
    """A condition for a merge. Rules about people have `users`, ``custom`` has an `expression`."""

    rule: str
    users: tuple[str, ...] = ()
    expression: str | None = None
    message: str | None = None


class MergeRules(Model):
    """The rules of a space or an organization: `type` is ``rules``, ``none``, or (spaces only) ``inherit``."""

    type: str
    rules: tuple[MergeRule, ...] = ()


class MergeRuleChange(Argument):
    """A merge rule to set; `users` are user ids, `expression` is at most 1024 characters."""

    rule: RuleName
    users: tuple[str, ...] | None = None
    expression: str | None = Field(default=None, max_length=1024)
    message: str | None = None


class MergeRulesChange(Argument):
    """Merge rules to set for a space."""

    type: Literal["inherit", "rules", "none"]
    rules: tuple[MergeRuleChange, ...] | None = None


class StandaloneMergeRulesChange(Argument):
    """Merge rules to set for an organization, which has nothing to inherit from."""

    type: Literal["rules", "none"]
    rules: tuple[MergeRuleChange, ...] | None = None


class SpacePointer(Argument):
    """A space next to which an item is placed."""

    always_sent = frozenset({"type"})

    type: Literal["space"] = "space"
    space: str


class CollectionPointer(Argument):
    """A collection next to which an item is placed."""

    always_sent = frozenset({"type"})

    type: Literal["collection"] = "collection"
    collection: str


Neighbour = Annotated[SpacePointer | CollectionPointer, Field(discriminator="type")]


class ContentPosition(Argument):
    """A position among spaces and collections: before one item or after another."""

    before: Neighbour | None = None
    after: Neighbour | None = None


class Document(Model):
    """A text: Markdown, a node tree, or neither."""

    markdown: str | None = None
    document: dict[str, Any] | None = None
