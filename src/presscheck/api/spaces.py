"""Spaces: containers of documentation, with their counters and rules."""

from typing import Any, Literal

from pydantic import Field

from presscheck.api.languages import Language
from presscheck.api.operation import Argument, Model, Operation, Page, Paged
from presscheck.api.roles import ContentPosition, DefaultLevel, Location, MergeRules, MergeRulesChange
from presscheck.api.search_results import SearchPageResult

EditMode = Literal["live", "locked"]
"""Whether the live content may be edited at all."""


class SpaceUrls(Location):
    """Where a space is found, and where readers find it."""

    published: str | None = None
    public: str | None = None
    icon: str | None = None


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
    """The Git repository of a space."""

    repo_name: str | None = None
    installation_provider: str | None = None
    integration: str | None = None
    url: str | None = None
    updated_at: str | None = None


class Space(Model):
    """A container of documentation.

    `visibility` is public, unlisted, share-link, visitor-auth, in-collection or private; `revision` the active
    revision; `comments` counts the open ones; `deleted_at` is set for seven days after a deletion.
    """

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
    """A template to start a space from, and what its references point at."""

    id: str
    params: dict[str, Any] | None = None


class GetSpace(Operation[Space]):
    """Fetch one space; `share_key` opens one that is published by a share link."""

    operation_id = "getSpaceById"
    route = "GET /spaces/{space_id}"

    space_id: str
    share_key: str | None = None


class UpdateSpace(Operation[Space]):
    """Change a space: title and emoji at most 50 characters; `emoji` or `icon` (an address), not both."""

    operation_id = "updateSpaceById"
    route = "PATCH /spaces/{space_id}"

    space_id: str
    edit_mode: EditMode | None = None
    title: str | None = Field(default=None, max_length=50)
    default_level: DefaultLevel | None = None
    language: Language | None = None
    merge_rules: MergeRulesChange | None = None
    emoji: str | None = Field(default=None, max_length=50)
    icon: str | None = Field(default=None, max_length=2048)


class DeleteSpace(Operation[None]):
    """Delete a space; for seven days it can be restored. One that is not there is no error."""

    operation_id = "deleteSpaceById"
    route = "DELETE /spaces/{space_id}"
    success = 204

    space_id: str


class RestoreSpace(Operation[Space]):
    """Restore a space that was deleted in the last seven days."""

    operation_id = "restoreSpace"
    route = "POST /spaces/{space_id}/restore"

    space_id: str


class DuplicateSpace(Operation[Space]):
    """Duplicate a space."""

    operation_id = "duplicateSpace"
    route = "POST /spaces/{space_id}/duplicate"
    success = 201

    space_id: str


class MoveSpace(Operation[Space]):
    """Move a space into a collection (null: to the top level) or next to another; 400, 404 or 409 if impossible."""

    operation_id = "moveSpace"
    route = "POST /spaces/{space_id}/move"

    space_id: str
    parent: str | None = None
    position: ContentPosition | None = None


class TransferSpace(Operation[Space]):
    """Transfer a space to another organization; 404, 409 or 412 if impossible. Not in the newest release."""

    operation_id = "transferSpace"
    route = "POST /spaces/{space_id}/transfer"
    release = "0.146.0"

    space_id: str
    organization: str


class ListSpaces(Paged, Operation[Page[Space]]):
    """The spaces of an organization, those in collections too."""

    operation_id = "listSpacesInOrganizationById"
    route = "GET /orgs/{organization_id}/spaces"

    organization_id: str


class CreateSpace(Operation[Space]):
    """Create a space; the title is at most 50 characters. At most one of `template`, `computed_source`, `empty`."""

    operation_id = "createSpace"
    route = "POST /orgs/{organization_id}/spaces"
    success = 201

    organization_id: str
    title: str | None = Field(default=None, max_length=50)
    emoji: str | None = Field(default=None, max_length=50)
    parent: str | None = None
    language: Language | None = None
    edit_mode: EditMode | None = None
    template: SpaceTemplate | None = None
    computed_source: dict[str, Any] | None = None
    empty: Literal[True] | None = None


class SearchSpace(Paged, Operation[Page[SearchPageResult]]):
    """Search the pages of a space; the query is at most 512 characters."""

    operation_id = "searchSpaceContent"
    route = "GET /spaces/{space_id}/search"

    space_id: str
    query: str = Field(max_length=512)
