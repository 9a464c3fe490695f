"""Content on the command line: pages, files, links and revisions, of live content and of change requests."""

from __future__ import annotations

from typing import Any

import click

from presscheck.api.change_requests import GetReview, ListCommenters, ListReviews
from presscheck.api.computed_content import GetComputedDocument, GetComputedRevision
from presscheck.api.content import (
    GetChangeRequestFile,
    GetChangeRequestPageByPath,
    GetChangeRequestReusableContent,
    GetChangeRequestRevision,
    GetCurrentRevision,
    GetDocument,
    GetFile,
    GetPageByPath,
    GetReusableContent,
    GetRevision,
    GetRevisionFile,
    GetRevisionPage,
    GetRevisionPageByPath,
    GetRevisionPageDocument,
    GetRevisionReusableContent,
    GetRevisionReusableContentDocument,
    ListChangeRequestFiles,
    ListChangeRequestPageMetaLinks,
    ListFiles,
    ListPageMetaLinks,
    ListRevisionFiles,
    ListRevisionPageMetaLinks,
    ListRevisionPages,
)
from presscheck.api.content_changes import GetChangeRequestChanges, GetRevisionChanges
from presscheck.api.content_installations import ListSpaceIntegrationBlocks, ListSpaceIntegrations
from presscheck.api.embeds import GetSpaceEmbed
from presscheck.api.git_repositories import ExportToGitRepository, ImportGitRepository
from presscheck.api.links import (
    ListChangeRequestFileBacklinks,
    ListChangeRequestPageBacklinks,
    ListChangeRequestPageLinks,
    ListPageBacklinks,
    ListPageLinks,
)
from presscheck.api.permissions import (
    InviteToSpace,
    ListSpacePermissions,
    ListSpaceTeamPermissions,
    ListSpaceUserPermissions,
    RemoveSpaceTeamPermission,
    RemoveSpaceUserPermission,
    UpdateSpaceTeamPermission,
    UpdateSpaceUserPermission,
)
from presscheck.api.spaces import GetSpaceGitInfo, GetSpacePDF, SearchSpace
from presscheck.cli.operations.command_factory import CommandSpec, add, group_of

FILE_COLUMNS = ("id", "name", "contentType", "size")
LINK_COLUMNS = ("status", "targetReference.kind", "targetReference.page.path", "targetReference.url")
LOCATION_COLUMNS = ("space.title", "page.title", "page.path")
CHANGE_COLUMNS = ("type", "page.path", "page.title", "file.name")
MARKDOWN: dict[str, Any] = {"format": "markdown"}


def add_to_requests(group: click.Group) -> None:
    """Add the content and the reviews of change requests to `presscheck cr`."""
    add(
        group,
        CommandSpec("content", GetChangeRequestRevision, help="Show the whole content of a change request."),
        CommandSpec("changes", GetChangeRequestChanges, CHANGE_COLUMNS, items="changes", help="List what changed."),
        CommandSpec(
            "page",
            GetChangeRequestPageByPath,
            preset=MARKDOWN,
            text="markdown",
            help="Print a page.\n\nPATH is a path, an id or a title.",
        ),
        CommandSpec("files", ListChangeRequestFiles, FILE_COLUMNS),
        CommandSpec("file", GetChangeRequestFile, help="Show a file of a change request."),
        CommandSpec("reusable-content", GetChangeRequestReusableContent, help="Show reusable content."),
        CommandSpec("page-languages", ListChangeRequestPageMetaLinks, help="Show the same page in other languages."),
        CommandSpec("page-links", ListChangeRequestPageLinks, LINK_COLUMNS),
        CommandSpec("page-backlinks", ListChangeRequestPageBacklinks, LOCATION_COLUMNS),
        CommandSpec("file-backlinks", ListChangeRequestFileBacklinks, LOCATION_COLUMNS),
        CommandSpec("commenters", ListCommenters, ("id", "user.displayName", "user.email")),
    )
    reviews = group_of(
        "reviews",
        "Show the reviews of a change request.\n\nREVIEW is an id. `presscheck cr review` submits one.",
        CommandSpec(
            "list", ListReviews, ("id", "status", "reviewer.displayName", "outdated", "createdAt"), preset=MARKDOWN
        ),
        CommandSpec("show", GetReview, preset=MARKDOWN, help="Show a review."),
    )
    group.add_command(reviews)


def add_to_spaces(group: click.Group) -> None:
    """Add the content of spaces to `presscheck space`."""
    add(
        group,
        CommandSpec("content", GetCurrentRevision, help="Show the whole live content of a space."),
        CommandSpec("files", ListFiles, FILE_COLUMNS),
        CommandSpec("file", GetFile, help="Show a file of the live content."),
        CommandSpec("reusable-content", GetReusableContent, help="Show reusable content."),
        CommandSpec("document", GetDocument, help="Show the body of a page or of reusable content."),
        CommandSpec(
            "page-at", GetPageByPath, preset=MARKDOWN, text="markdown", help="Print a page by its path: one request."
        ),
        CommandSpec("integrations", ListSpaceIntegrations, ("name", "title", "visibility")),
        CommandSpec(
            "integration-blocks", ListSpaceIntegrationBlocks, help="Show the blocks of the integrations in a space."
        ),
        CommandSpec("page-languages", ListPageMetaLinks, help="Show the same page in other languages."),
        CommandSpec("page-links", ListPageLinks, LINK_COLUMNS),
        CommandSpec("page-backlinks", ListPageBacklinks, LOCATION_COLUMNS),
        CommandSpec(
            "search",
            SearchSpace,
            ("id", "title", "path"),
            positional=("query",),
            help="Search the pages of a space.\n\nQUERY has at most 512 characters.",
        ),
        CommandSpec(
            "computed-document",
            GetComputedDocument,
            is_shown=True,
            done="Computed.",
            help="Compute a document with a content source of an integration.",
        ),
        CommandSpec(
            "computed-content",
            GetComputedRevision,
            is_shown=True,
            done="Computed.",
            help="Compute pages with a content source of an integration.",
        ),
        CommandSpec(
            "embed",
            GetSpaceEmbed,
            positional=("url",),
            help="Show what a URL shows when a page embeds it.",
        ),
        CommandSpec("pdf", GetSpacePDF, help="Print the URL of a PDF export (valid for one hour)."),
        CommandSpec("git", GetSpaceGitInfo, help="Show the Git repository that a space syncs with."),
        CommandSpec(
            "git-import",
            ImportGitRepository,
            ("file", "line", "text"),
            items="problems",
            is_shown=True,
            done="Imported.",
            confirm="Replace the content of this space",
        ),
        CommandSpec("git-export", ExportToGitRepository, done="Exported."),
        CommandSpec("users", ListSpaceUserPermissions, ("user.id", "user.displayName", "user.email", "permission")),
        CommandSpec("teams", ListSpaceTeamPermissions, ("team.id", "team.title", "permission")),
        CommandSpec("access", ListSpacePermissions, ("user.id", "user.displayName", "user.email", "permission")),
        CommandSpec("invite", InviteToSpace, done="Role given."),
        CommandSpec("set-user", UpdateSpaceUserPermission, done="Role changed."),
        CommandSpec(
            "remove-user",
            RemoveSpaceUserPermission,
            done="Role removed.",
            confirm="Remove the role of this user",
        ),
        CommandSpec("set-team", UpdateSpaceTeamPermission, done="Role changed."),
        CommandSpec(
            "remove-team",
            RemoveSpaceTeamPermission,
            done="Role removed.",
            confirm="Remove the role of this team",
        ),
    )
    revision = group_of(
        "revision",
        "Show a revision of a space.\n\nREVISION is an id.",
        CommandSpec("show", GetRevision, help="Show the whole content of a revision."),
        CommandSpec("pages", ListRevisionPages, ("id", "type", "title", "path"), items="pages"),
        CommandSpec("file", GetRevisionFile, help="Show a file of a revision."),
        CommandSpec("reusable-content", GetRevisionReusableContent, help="Show reusable content of a revision."),
        CommandSpec("page", GetRevisionPage, preset=MARKDOWN, text="markdown", help="Print a page of a revision."),
        CommandSpec(
            "page-at",
            GetRevisionPageByPath,
            preset=MARKDOWN,
            text="markdown",
            help="Print a page of a revision.",
        ),
        CommandSpec("page-document", GetRevisionPageDocument, help="Show the body of a page of a revision as nodes."),
        CommandSpec(
            "reusable-document",
            GetRevisionReusableContentDocument,
            help="Show reusable content as nodes.",
        ),
        CommandSpec("page-languages", ListRevisionPageMetaLinks, help="Show a page of a revision in other languages."),
        CommandSpec("files", ListRevisionFiles, FILE_COLUMNS),
        CommandSpec("changes", GetRevisionChanges, CHANGE_COLUMNS, items="changes", help="List what changed in it."),
    )
    group.add_command(revision)
