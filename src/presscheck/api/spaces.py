"""Spaces: sets of pages with change requests, comments and merge rules."""

from typing import Any, Literal

from pydantic import Field, PrivateAttr

from presscheck.api.languages import Language
from presscheck.api.operation import Argument, InOrganization, InSpace, Model, NullableModel, Operation, Page, Paged
from presscheck.api.roles import ContentPosition, DefaultLevel, Location, MergeRules, MergeRulesChange
from presscheck.api.search_results import SearchPageResult

EditMode = Literal["live", "locked"]
"""Whether the live content can be edited."""


class SpaceUrls(Location):
    """The URLs of a space in the app and in sites."""

    published: str | None = None
    public: str | None = None
    icon: str | None = None


class ExportedPDF(Model):
    """The URL of a PDF, valid for an hour."""

    url: str


class SpacePermissions(Model):
    """The caller's permissions for a space."""

    view: bool = False
    access: bool = False
    admin: bool = False
    view_invite_links: bool = False
    edit: bool = False
    trigger_git_sync: bool = False
    comment: bool = False
    merge: bool = False
    review: bool = False
    install_integration: bool = False


class GitSync(Model):
    """The Git repository that a space syncs with."""

    repo_name: str | None = None
    installation_provider: str | None = None
    integration: str | None = None
    url: str | None = None
    updated_at: str | None = None


class Space(NullableModel):
    """A set of pages.

    `visibility` is public, unlisted, share-link, visitor-auth, in-collection or private; `revision` is the live
    revision; `comments` is the number of open comments; `deleted_at` is set for seven days after a deletion.
    """

    nullable = frozenset({"default_level"})
    object: str = "space"
    id: str
    title: str = ""
    emoji: str | None = None
    visibility: str = "private"
    created_at: str | None = None
    updated_at: str | None = None
    deleted_at: str | None = None
    edit_mode: str | None = None
    type: str | None = None
    merge_rules: MergeRules | None = None
    organization: str = ""
    parent: str | None = None
    language: str | None = None
    git_sync: GitSync | None = None
    visitor_auth: dict[str, Any] | None = None
    revision: str = ""
    default_level: str | None = None
    comments: int = 0
    change_requests: int = 0
    change_requests_open: int = 0
    change_requests_draft: int = 0
    urls: SpaceUrls = Field(default_factory=SpaceUrls)
    permissions: SpacePermissions = Field(default_factory=SpacePermissions)


class SpaceTemplate(Argument):
    """A template for a new space, and the targets of its references."""

    id: str
    params: dict[str, Any] | None = None


class GetSpace(InSpace, Operation[Space]):
    """Get a space.

    `share_key` gives access to a space that is published by a share link.
    """

    operation_id = "getSpaceById"
    route = "GET /spaces/{space_id}"

    share_key: str | None = None


class UpdateSpace(InSpace, Operation[Space]):
    """Update a space.

    The title and the emoji have at most 50 characters. Give either `emoji` or `icon` (a URL).
    """

    operation_id = "updateSpaceById"
    route = "PATCH /spaces/{space_id}"

    edit_mode: EditMode | None = None
    title: str | None = Field(default=None, max_length=50)
    default_level: DefaultLevel | None = None
    language: Language | None = None
    merge_rules: MergeRulesChange | None = None
    emoji: str | None = Field(default=None, max_length=50)
    icon: str | None = Field(default=None, max_length=2048)


class DeleteSpace(InSpace, Operation[None]):
    """Delete a space.

    It can be restored for seven days. Succeeds even if it does not exist.
    """

    operation_id = "deleteSpaceById"
    route = "DELETE /spaces/{space_id}"
    success = 204


class RestoreSpace(InSpace, Operation[Space]):
    """Restore a space deleted in the last seven days."""

    operation_id = "restoreSpace"
    route = "POST /spaces/{space_id}/restore"


class DuplicateSpace(InSpace, Operation[Space]):
    """Create a copy of a space next to it."""

    operation_id = "duplicateSpace"
    route = "POST /spaces/{space_id}/duplicate"
    success = 201


class MoveSpace(InSpace, Operation[Space]):
    """Move a space.

    Moves it into `parent` (null: the top level), or next to another space.
    Fails with 400, 404 or 409 if that is not possible.
    """

    operation_id = "moveSpace"
    route = "POST /spaces/{space_id}/move"

    parent: str | None = None
    position: ContentPosition | None = None


class TransferSpace(InSpace, Operation[Space]):
    """Transfer a space to another organization.

    Fails with 404, 409 or 412 if the transfer is not possible. The newest release of the service does not have it.
    """

    operation_id = "transferSpace"
    route = "POST /spaces/{space_id}/transfer"
    release = "0.146.0"

    organization: str


class ListSpaces(InOrganization, Paged, Operation[Page[Space]]):
    """List the spaces of an organization.

    Includes spaces in collections.
    """

    operation_id = "listSpacesInOrganizationById"
    route = "GET /orgs/{organization_id}/spaces"
    feature = "list of spaces"


class CreateSpace(InOrganization, Operation[Space]):
    """Create a space.

    The title has at most 50 characters. Give at most one of `template`, `computed_source` and `empty`.
    """

    operation_id = "createSpace"
    route = "POST /orgs/{organization_id}/spaces"
    feature = "creation of spaces"
    success = 201

    title: str | None = Field(default=None, max_length=50)
    emoji: str | None = Field(default=None, max_length=50)
    parent: str | None = None
    language: Language | None = None
    edit_mode: EditMode | None = None
    template: SpaceTemplate | None = None
    computed_source: dict[str, Any] | None = None
    empty: Literal[True] | None = None
    _prepared: Any = PrivateAttr(default=None)


class SearchSpace(InSpace, Paged, Operation[Page[SearchPageResult]]):
    """Search the pages of a space.

    The query has at most 512 characters.
    """

    operation_id = "searchSpaceContent"
    route = "GET /spaces/{space_id}/search"
    feature = "search in one space"

    query: str = Field(max_length=512)


class GetSpacePDF(InSpace, Operation[ExportedPDF]):
    """Export a space as PDF.

    Exports everything, or everything from `page` (a page id) on; with `only`, that page alone.
    """

    operation_id = "getSpacePDF"
    route = "GET /spaces/{space_id}/pdf"
    feature = "PDF of a space"

    only: bool | None = None
    page: str | None = None


class GetSpaceGitInfo(InSpace, Operation[GitSync]):
    """Get the Git repository that a space syncs with.

    Fails with 404 if the space has no Git sync.
    """

    operation_id = "getSpaceGitInfo"
    route = "GET /spaces/{space_id}/git/info"
    feature = "Git information"
    may_be_absent = True
