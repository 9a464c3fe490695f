"""`presscheck space`: manages spaces and prints their live content."""

from __future__ import annotations

import click

from presscheck.api.spaces import (
    CreateSpace,
    DeleteSpace,
    DuplicateSpace,
    GetSpace,
    ListSpaces,
    MoveSpace,
    RestoreSpace,
    TransferSpace,
    UpdateSpace,
)
from presscheck.cli.lazy_group import LazyGroup
from presscheck.cli.operations.command_factory import CommandSpec, add


@click.group(
    cls=LazyGroup,
    lazy_commands={
        "links": ("space.links", "links"),
        "page": ("space.pages", "page"),
        "pages": ("space.pages", "pages"),
        "replace": ("space.replace", "replace_text"),
    },
    lazy_parts={
        ("comment_commands", "add_to_spaces"): ("comments",),
        ("content_commands", "add_to_spaces"): (
            "access",
            "content",
            "document",
            "computed-content",
            "computed-document",
            "embed",
            "file",
            "files",
            "git",
            "git-export",
            "git-import",
            "integration-blocks",
            "integrations",
            "invite",
            "page-at",
            "page-backlinks",
            "page-languages",
            "page-links",
            "pdf",
            "remove-team",
            "remove-user",
            "reusable-content",
            "revision",
            "search",
            "set-team",
            "set-user",
            "teams",
            "users",
        ),
        ("notification_commands", "add_to_spaces"): ("mute", "unmute", "follow", "unfollow"),
    },
)
def space() -> None:
    """Manage spaces.

    SPACE is the id, the title or the URL of a space. A single dot is the space of the project, which is also the
    default where SPACE can be left out.
    """


add(
    space,
    CommandSpec("list", ListSpaces, ("id", "title", "visibility", "changeRequestsOpen")),
    CommandSpec("show", GetSpace, help="Show a space."),
    CommandSpec("create", CreateSpace, done="Space created."),
    CommandSpec("edit", UpdateSpace, done="Space updated."),
    CommandSpec("duplicate", DuplicateSpace, done="Space duplicated."),
    CommandSpec(
        "move", MoveSpace, done="Space moved.", help="Move a space into a collection, or next to another space."
    ),
    CommandSpec(
        "transfer", TransferSpace, done="Space transferred.", confirm="Transfer this space to another organization"
    ),
    CommandSpec(
        "delete",
        DeleteSpace,
        done="Space deleted. `presscheck space restore` can restore it for seven days.",
        confirm="Delete this space",
    ),
    CommandSpec(
        "restore",
        RestoreSpace,
        ids=("space_id",),
        done="Space restored.",
        help="Restore a deleted space, by its id.\n\nSpaces can be restored for seven days.",
    ),
    CommandSpec(
        "lock",
        UpdateSpace,
        fixed={"edit_mode": "locked"},
        done="Space locked.",
        help="Lock a space: edits require a change request.",
    ),
    CommandSpec(
        "unlock",
        UpdateSpace,
        fixed={"edit_mode": "live"},
        done="Space unlocked.",
        help="Unlock a space: its live content can be edited directly.",
    ),
)
