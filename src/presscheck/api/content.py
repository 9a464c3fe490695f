"""Revisions and their content: pages, files and reusable content.

The live content of a space, a change request and a revision have the same operations. Revisions never change.
"""

from typing import Any, Literal

from pydantic import BaseModel, Field

from presscheck.api.change_requests import ChangeRequest
from presscheck.api.comments import Format
from presscheck.api.operation import InChangeRequest, InSpace, Model, Operation, Page, Paged


class ContentRef(Model):
    """The target of a link; `kind` determines the other fields. A page without a space is in the same space."""

    kind: str
    file: str | None = None
    url: str | None = None
    page: str | None = None
    anchor: str | None = None
    user: str | None = None
    collection: str | None = None
    space: str | None = None
    reusable_content: str | None = None
    spec: str | None = None
    tag: str | None = None


class GitBlob(Model):
    """The Git object id and the path of a page or file in a repository."""

    oid: str
    path: str


class GitCommit(Model):
    """The commit that a revision was synced with."""

    oid: str
    message: str = ""
    created_by_git_book: bool = False
    url: str | None = None
    ref: str | None = None


class Dimensions(Model):
    """The size of an image in pixels."""

    width: float
    height: float


class RevisionFile(Model):
    """A file, such as an image or a download."""

    id: str
    name: str = ""
    content_type: str = ""
    download_url: str = Field(default="", alias="downloadURL")
    size: int = 0
    dimensions: Dimensions | None = None
    git: GitBlob | None = None


class PageLayout(Model):
    """The visible parts of a page, and its width."""

    width: str | None = None
    cover: bool | None = None
    cover_size: str | None = None
    cover_mask: str | None = None
    title: bool | None = None
    description: bool | None = None
    table_of_contents: bool | None = None
    outline: bool | None = None
    pagination: bool | None = None
    metadata: bool | None = None
    tags: bool | None = None
    actions: bool | None = None
    anchors: bool | None = None


class PageCover(Model):
    """The cover image of a page."""

    ref: ContentRef | None = None
    ref_dark: ContentRef | None = None
    y_pos: float = 0
    height: float | None = None


class PageUrls(Model):
    """The URLs of a page."""

    app: str | None = None


class RevisionPage(Model):
    """A page; `type` is document, group (at the root only), link (without slug, path and pages) or computed.

    A document has `markdown` or `document` if the call asked for a format. An empty document has no `document_id`.
    """

    id: str
    type: str = "document"
    kind: str | None = None
    title: str = ""
    link_title: str | None = None
    emoji: str | None = None
    icon: str | None = None
    created_at: str | None = None
    updated_at: str | None = None
    condition: str | None = None
    slug: str | None = None
    path: str | None = None
    description: str | None = None
    pages: tuple["RevisionPage", ...] = ()
    hidden: bool | None = None
    no_index: bool | None = None
    no_robots_index: bool | None = None
    document_id: str | None = None
    markdown: str | None = None
    document: dict[str, Any] | None = None
    layout: PageLayout | None = None
    cover: PageCover | None = None
    tags: tuple[dict[str, Any], ...] | None = None
    variables: dict[str, Any] | None = None
    git: GitBlob | None = None
    target: ContentRef | None = None
    href: str | None = None
    computed: dict[str, Any] | None = None
    computed_seed: str | None = None
    urls: PageUrls | None = None


class ContentDocument(Model):
    """The body of a page or of reusable content: `nodes` are its blocks."""

    object: str = "document"
    data: dict[str, Any] = Field(default_factory=dict[str, Any])
    nodes: tuple[dict[str, Any], ...] = ()


class ReusableContent(Model):
    """Content that pages can include; `document` is the id of its document."""

    id: str
    title: str = ""
    document: str | None = None
    git: GitBlob | None = None
    computed: dict[str, Any] | None = None
    computed_seed: str | None = None


class RevisionUrls(Model):
    """The URLs of a revision."""

    app: str | None = None
    published: str | None = None
    public: str | None = None


class Revision(Model):
    """A snapshot of a space; `type` is edits, merge, rollback, update or computed; `parents` are earlier revisions."""

    object: str = "revision"
    id: str
    type: str = "edits"
    parents: tuple[str, ...] = ()
    pages: tuple[RevisionPage, ...] = ()
    files: tuple[RevisionFile, ...] = ()
    reusable_contents: tuple[ReusableContent, ...] = ()
    variables: dict[str, Any] | None = None
    created_at: str | None = None
    git: GitCommit | None = None
    merged_from: ChangeRequest | None = None
    source_revision: str | None = None
    tags: tuple[dict[str, Any], ...] | None = None
    urls: RevisionUrls = Field(default_factory=RevisionUrls)


class PageMetaLinks(Model):
    """Other locations of a page's content: its canonical location, and the same page in other languages."""

    canonical: ContentRef | None = None
    alternates: tuple[ContentRef, ...] | None = None


class Pages(Model):
    """The pages of a revision as a tree; bodies may be missing."""

    pages: tuple[RevisionPage, ...] = ()


class Extent(BaseModel):
    """Mixin of content reads. If `metadata` is False, Git metadata is omitted; `computed` does this for computed
    content.
    """

    metadata: bool | None = None
    computed: bool | None = None


Evaluation = bool | Literal["deterministic-only"]
"""Whether conditions and variables are evaluated."""
Dereferencing = bool | Literal["reusable-contents"]
"""Whether blocks that include reusable content are replaced by that content."""


DocumentSchema = Literal["current", "next"]
"""The vocabulary of nodes; the local service has the same nodes for both."""


class Rendering(Extent):
    """Mixin of page reads. Always give `format`: the default is undocumented, and the local service returns both."""

    format: Format | None = None
    format_markdown_refs: Literal["relative", "stable"] | None = Field(default=None, alias="format.markdown.refs")
    evaluated: Evaluation | None = None
    dereferenced: Dereferencing | None = None


class GetCurrentRevision(InSpace, Extent, Operation[Revision]):
    """Get the live content of a space."""

    operation_id = "getCurrentRevision"
    route = "GET /spaces/{space_id}/content"
    feature = "page content outside change requests"


class ListPages(InSpace, Extent, Operation[Pages]):
    """List the pages of the live content as a tree."""

    operation_id = "listPages"
    route = "GET /spaces/{space_id}/content/pages"
    feature = "page content outside change requests"


class GetPage(InSpace, Rendering, Operation[RevisionPage]):
    """Get a page of the live content."""

    operation_id = "getPageById"
    route = "GET /spaces/{space_id}/content/page/{page_id}"
    feature = "page content outside change requests"

    page_id: str


class GetPageByPath(InSpace, Rendering, Operation[RevisionPage]):
    """Get a page of the live content by its path.

    An example of a path is ``guides/start``.
    """

    operation_id = "getPageByPath"
    route = "GET /spaces/{space_id}/content/path/{page_path}"
    feature = "page content outside change requests"

    page_path: str


class ListFiles(InSpace, Paged, Extent, Operation[Page[RevisionFile]]):
    """List the files of the live content."""

    operation_id = "listFiles"
    route = "GET /spaces/{space_id}/content/files"
    feature = "page content outside change requests"


class GetFile(InSpace, Extent, Operation[RevisionFile]):
    """Get a file of the live content."""

    operation_id = "getFileById"
    route = "GET /spaces/{space_id}/content/files/{file_id}"
    feature = "page content outside change requests"

    file_id: str


class GetReusableContent(InSpace, Extent, Operation[ReusableContent]):
    """Get reusable content of the live content."""

    operation_id = "getReusableContentById"
    route = "GET /spaces/{space_id}/content/reusable-contents/{reusable_content_id}"
    feature = "page content outside change requests"

    reusable_content_id: str


class GetDocument(InSpace, Operation[ContentDocument]):
    """Get the body of a page or of reusable content.

    The body is a document with an id of its own. Documents never change: an edit creates a new document.
    """

    operation_id = "getDocumentById"
    route = "GET /spaces/{space_id}/documents/{document_id}"
    feature = "documents by their id"

    document_id: str
    document_schema: DocumentSchema | None = Field(default=None, alias="schema")


class GetRevision(InSpace, Extent, Operation[Revision]):
    """Get a revision of a space.

    Revisions never change.
    """

    operation_id = "getRevisionById"
    route = "GET /spaces/{space_id}/revisions/{revision_id}"
    feature = "content of revisions"

    revision_id: str


class ListRevisionPages(InSpace, Extent, Operation[Pages]):
    """List the pages of a revision as a tree."""

    operation_id = "listPagesInRevisionById"
    route = "GET /spaces/{space_id}/revisions/{revision_id}/pages"
    feature = "content of revisions"

    revision_id: str


class GetRevisionPage(InSpace, Rendering, Operation[RevisionPage]):
    """Get a page of a revision."""

    operation_id = "getPageInRevisionById"
    route = "GET /spaces/{space_id}/revisions/{revision_id}/page/{page_id}"
    feature = "content of revisions"

    revision_id: str
    page_id: str


class GetRevisionFile(InSpace, Extent, Operation[RevisionFile]):
    """Get a file of a revision."""

    operation_id = "getFileInRevisionById"
    route = "GET /spaces/{space_id}/revisions/{revision_id}/files/{file_id}"
    feature = "files of revisions"
    release = "0.202.0"

    revision_id: str
    file_id: str


class GetRevisionReusableContent(InSpace, Extent, Operation[ReusableContent]):
    """Get reusable content of a revision."""

    operation_id = "getReusableContentInRevisionById"
    route = "GET /spaces/{space_id}/revisions/{revision_id}/reusable-contents/{reusable_content_id}"
    feature = "files of revisions"
    release = "0.202.0"

    revision_id: str
    reusable_content_id: str


class GetRevisionPageByPath(InSpace, Rendering, Operation[RevisionPage]):
    """Get a page of a revision by its path."""

    operation_id = "getPageInRevisionByPath"
    route = "GET /spaces/{space_id}/revisions/{revision_id}/path/{page_path}"
    feature = "reads of site renderers"
    release = "0.202.0"

    revision_id: str
    page_path: str
    cached_metadata: bool | None = None


class GetRevisionPageDocument(InSpace, Operation[ContentDocument]):
    """Get the body of a page of a revision."""

    operation_id = "getPageDocumentInRevisionById"
    route = "GET /spaces/{space_id}/revisions/{revision_id}/page/{page_id}/document"
    feature = "reads of site renderers"
    release = "0.202.0"

    revision_id: str
    page_id: str
    evaluated: Evaluation | None = None
    dereferenced: Dereferencing | None = None


class GetRevisionReusableContentDocument(InSpace, Operation[ContentDocument]):
    """Get the body of reusable content of a revision."""

    operation_id = "getReusableContentDocumentInRevisionById"
    route = "GET /spaces/{space_id}/revisions/{revision_id}/reusable-contents/{reusable_content_id}/document"
    feature = "reads of site renderers"
    release = "0.202.0"

    revision_id: str
    reusable_content_id: str
    evaluated: Evaluation | None = None
    dereferenced: Dereferencing | None = None


class ListPageMetaLinks(InSpace, Operation[PageMetaLinks]):
    """List the same page of the live content in other languages."""

    operation_id = "listSpacePageMetaLinks"
    route = "GET /spaces/{space_id}/content/page/{page_id}/meta-links"
    feature = "reads of site renderers"
    release = "0.202.0"

    page_id: str


class ListRevisionPageMetaLinks(InSpace, Operation[PageMetaLinks]):
    """List the same page of a revision in other languages."""

    operation_id = "listRevisionPageMetaLinks"
    route = "GET /spaces/{space_id}/revisions/{revision_id}/page/{page_id}/meta-links"
    feature = "reads of site renderers"
    release = "0.202.0"

    revision_id: str
    page_id: str


class ListChangeRequestPageMetaLinks(InChangeRequest, Operation[PageMetaLinks]):
    """List the same page of a change request in other languages."""

    operation_id = "listChangeRequestPageMetaLinks"
    route = "GET /spaces/{space_id}/change-requests/{change_request_id}/content/page/{page_id}/meta-links"
    feature = "reads of site renderers"
    release = "0.202.0"

    page_id: str


class ListRevisionFiles(InSpace, Paged, Extent, Operation[Page[RevisionFile]]):
    """List the files of a revision."""

    operation_id = "listFilesInRevisionById"
    route = "GET /spaces/{space_id}/revisions/{revision_id}/files"
    feature = "content of revisions"

    revision_id: str


class GetChangeRequestRevision(InChangeRequest, Extent, Operation[Revision]):
    """Get the content of a change request."""

    operation_id = "getRevisionOfChangeRequestById"
    route = "GET /spaces/{space_id}/change-requests/{change_request_id}/content"


class ListChangeRequestPages(InChangeRequest, Extent, Operation[Pages]):
    """List the pages of a change request as a tree."""

    operation_id = "listPagesInChangeRequest"
    route = "GET /spaces/{space_id}/change-requests/{change_request_id}/content/pages"


class GetChangeRequestPage(InChangeRequest, Rendering, Operation[RevisionPage]):
    """Get a page of a change request."""

    operation_id = "getPageInChangeRequestById"
    route = "GET /spaces/{space_id}/change-requests/{change_request_id}/content/page/{page_id}"

    page_id: str


class GetChangeRequestPageByPath(InChangeRequest, Rendering, Operation[RevisionPage]):
    """Get a page of a change request by its path."""

    operation_id = "getPageInChangeRequestByPath"
    route = "GET /spaces/{space_id}/change-requests/{change_request_id}/content/path/{page_path}"
    feature = "pages by path"

    page_path: str


class ListChangeRequestFiles(InChangeRequest, Paged, Extent, Operation[Page[RevisionFile]]):
    """List the files of a change request."""

    operation_id = "listFilesInChangeRequestById"
    route = "GET /spaces/{space_id}/change-requests/{change_request_id}/content/files"


class GetChangeRequestFile(InChangeRequest, Extent, Operation[RevisionFile]):
    """Get a file of a change request."""

    operation_id = "getFileInChangeRequestById"
    route = "GET /spaces/{space_id}/change-requests/{change_request_id}/content/files/{file_id}"

    file_id: str


class GetChangeRequestReusableContent(InChangeRequest, Extent, Operation[ReusableContent]):
    """Get reusable content of a change request."""

    operation_id = "getReusableContentInChangeRequestById"
    route = "GET /spaces/{space_id}/change-requests/{change_request_id}/content/reusable-contents/{reusable_content_id}"

    reusable_content_id: str
