"""Changes of pages, files and reusable content, and the operation that edits them.

The service does not compare the text of pages; clients fetch both versions and compare them.
"""

from typing import Annotated, Any, Literal, cast

from pydantic import BaseModel, FailFast, Field, model_validator

from presscheck.api.change_requests import ChangeRequest
from presscheck.api.comments import Document
from presscheck.api.content import Extent, RevisionFile
from presscheck.api.operation import Argument, InChangeRequest, InSpace, Model, Operation
from presscheck.api.roles import Location


class ChangedPage(Model):
    """A page that changed."""

    id: str
    type: str = "document"
    title: str = ""
    path: str | None = None


class ChangedFile(Model):
    """A file that changed."""

    id: str
    name: str = ""
    content_type: str = ""
    download_url: str = Field(default="", alias="downloadURL")


class ChangedReusableContent(Model):
    """A piece of reusable content that changed."""

    id: str
    title: str = ""
    document: str | None = None


class ChangedTag(Model):
    """A tag that changed; newest release only."""

    slug: str
    label: str = ""


class AttributeChange(Model):
    """A value before and after a change; None if there is no value. Values of `document` are document ids."""

    before: Any = None
    after: Any = None


class ParentChange(Model):
    """The parent of a page before and after; None for the root."""

    before: ChangedPage | None = None
    after: ChangedPage | None = None


class SemanticChange(Model):
    """A change; `type` is page_moved, variables_edited or {page,file,reusable_content,tag}_{created,edited,deleted}.

    The keys of `attributes` are names in the API, such as title, slug, document, downloadURL.
    """

    type: str
    page: ChangedPage | None = None
    file: ChangedFile | None = None
    reusable_content: ChangedReusableContent | None = None
    tag: ChangedTag | None = None
    attributes: dict[str, AttributeChange] | None = None
    parent: ParentChange | None = None
    variables: dict[str, AttributeChange] | None = None


class SemanticChanges(Model):
    """A list of changes; `more` is the number of changes beyond the limit."""

    changes: tuple[SemanticChange, ...] = ()
    more: int | None = None
    merged_from: ChangeRequest | None = None

    @property
    def note(self) -> str:
        """How the client determined the changes if the service does not list them; otherwise empty."""
        note = (self.model_extra or {}).get("note", "")
        return note if isinstance(note, str) else ""


class GetChangeRequestChanges(InChangeRequest, Operation[SemanticChanges]):
    """Get the changes of a change request.

    `limit` (10 by default) truncates the list; there is no pagination.
    """

    operation_id = "getChangeRequestChanges"
    route = "GET /spaces/{space_id}/change-requests/{change_request_id}/changes"
    feature = "list of changes"

    limit: int | None = Field(default=None, ge=0)


class GetRevisionChanges(InSpace, Extent, Operation[SemanticChanges]):
    """Get the changes of a revision from its parent.

    `limit` (10 by default) truncates the list; there is no pagination.
    """

    operation_id = "getRevisionSemanticChanges"
    route = "GET /spaces/{space_id}/revisions/{revision_id}/changes"
    feature = "content of revisions"

    revision_id: str
    limit: int | None = Field(default=None, ge=0)


class PageDetails(BaseModel):
    """The fields of a page besides its text; an empty string clears emoji, icon and condition."""

    title: str | None = Field(default=None, min_length=1)
    slug: str | None = Field(default=None, max_length=100)
    emoji: str | None = Field(default=None, max_length=50)
    icon: str | None = Field(default=None, max_length=50)
    description: str | None = None
    hidden: bool | None = None
    no_index: bool | None = None
    no_robots_index: bool | None = None
    condition: str | None = None


class InsertPage(PageDetails, Argument):
    """Add a page at a position below `into`, which is a page id or the `ref` of a page that was added earlier."""

    always_sent = frozenset({"operation"})

    operation: Literal["insert_page"] = "insert_page"
    document: Document
    into: str | None = None
    at: int | None = Field(default=None, ge=0)
    ref: str | None = None


class UpdatePage(PageDetails, Argument):
    """Replace the text, details or position of a page; `into` null is the root. Front matter overrides details."""

    always_sent = frozenset({"operation"})

    operation: Literal["update_page"] = "update_page"
    page: str
    document: Document | None = None
    into: str | None = None
    at: int | None = Field(default=None, ge=0)


class DeletePage(Argument):
    """Remove a page and all pages below it."""

    always_sent = frozenset({"operation"})

    operation: Literal["delete_page"] = "delete_page"
    page: str


class RevertPage(Argument):
    """Restore a page, or some of its blocks, from a revision."""

    always_sent = frozenset({"operation"})

    operation: Literal["revert_page"] = "revert_page"
    page: str
    revision: str | None = None
    block: tuple[str, ...] | None = None


class NewFile(Argument):
    """A file to add, from a URL or in base64 (up to 1 MB, with its type); the name has at most 256 characters."""

    name: str = Field(min_length=1, max_length=256)
    url: str | None = Field(default=None, max_length=2048)
    base64: str | None = None
    content_type: str | None = None
    ref: str | None = None


class InsertFiles(Argument):
    """Add up to 20 files."""

    always_sent = frozenset({"operation"})

    operation: Literal["insert_files"] = "insert_files"
    files: Annotated[tuple[NewFile, ...], Field(min_length=1, max_length=20), FailFast()]


ContentChange = Annotated[
    InsertPage | UpdatePage | DeletePage | RevertPage | InsertFiles, Field(discriminator="operation")
]


class PageRef(Model):
    """A page that was created or changed."""

    object: str = "page"
    id: str
    urls: Location = Field(default_factory=Location)


class PageWritten(Model):
    """The result of one change; `object` is created_page, updated_page or deleted_page.

    For a deleted page, `page` is an id.
    """

    object: str
    ref: str | None = None
    page: PageRef | str | None = None

    @property
    def page_id(self) -> str | None:
        """The id of the page, or None if the response has no page."""
        return self.page.id if isinstance(self.page, PageRef) else self.page


class ContentUpdate(Model):
    """The result of an edit. `changes` is empty if the service returns only the change request."""

    change_request: ChangeRequest
    changes: tuple[PageWritten, ...] = ()
    inserted_files: tuple[RevisionFile, ...] | None = None

    @model_validator(mode="before")
    @classmethod
    def _from_change_request(cls, answer: Any) -> Any:
        if isinstance(answer, dict):
            found = cast("dict[str, Any]", answer)
            if "changeRequest" not in found and "change_request" not in found:
                return {"changeRequest": found}
        return cast("Any", answer)


class EditChangeRequestContent(InChangeRequest, Operation[ContentUpdate]):
    """Edit the content of a change request.

    Applies 1 to 50 changes in order, all or none, as one new revision. With `compat` false the answer has the
    result of each change.
    """

    operation_id = "updateChangeRequestContent"
    route = "POST /spaces/{space_id}/change-requests/{change_request_id}/content"
    feature = "page editing"
    in_query = frozenset({"compat"})
    release = "0.202.0"

    changes: Annotated[tuple[ContentChange, ...], Field(min_length=1, max_length=50), FailFast()]
    compat: bool | None = None
