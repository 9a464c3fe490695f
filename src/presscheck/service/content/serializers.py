"""Serialization of stored revisions: page trees, files, and the bodies of pages as Markdown or as document nodes.

Paths and URLs are computed; bodies are added on request. The Markdown of a page starts with its title as a heading.
Submitted Markdown may also have page details as front matter.
"""

from __future__ import annotations

import posixpath
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, cast

from sqlalchemy import bindparam, select

from presscheck.api.content import (
    ContentDocument,
    ReusableContent,
    Revision,
    RevisionFile,
    RevisionPage,
    RevisionUrls,
)
from presscheck.documents.git_format.models import DEFAULT_LAYOUT
from presscheck.documents.markdown.anchors import encode_fragment
from presscheck.documents.markdown.headings import leading_title
from presscheck.documents.markdown.links import LinkResolver, source_path
from presscheck.documents.markdown.page_size import PAGE_LIMITS, TextLimits, size_problem
from presscheck.documents.nodes.references import Reference, format_reference, parse_reference
from presscheck.documents.nodes.to_markdown import nodes_to_markdown
from presscheck.documents.nodes.validation import InvalidNode
from presscheck.documents.openapi.generated_pages import TEXT
from presscheck.documents.pages.front_matter import find_front_matter
from presscheck.documents.pages.tree import Page, PagePosition, children, flatten, walk
from presscheck.documents.yaml_mapping import InvalidYaml, load_yaml
from presscheck.service.content.file_urls import file_address
from presscheck.service.content.revision_content import RevisionContent, cached
from presscheck.service.content.revisions import FORMER_PATHS, document_texts
from presscheck.service.http.operations import ApiError, Context, Serialized, not_found
from presscheck.service.http.turns import Busy
from presscheck.service.models.content import ChangeRequestRow, DocumentRow
from presscheck.service.nodes_conversion import MOST_SECONDS, ConversionsBusy, NotConverted, nodes_json
from presscheck.service.review.change_requests import as_change_request

_WORDS = ("title", "slug", "emoji", "icon", "description", "condition")
_CLAIMS = ("hidden", "noIndex", "noRobotsIndex")
TOO_LONG = f"The page takes more than {MOST_SECONDS} seconds to become nodes: read it with format=markdown."
MOST_OBJECTS = 250_000
"""Maximum number of objects in submitted document nodes; a page at the limits of its Markdown has fewer."""
DETAILS: dict[str, type] = {**dict.fromkeys(_WORDS, str), **dict.fromkeys(_CLAIMS, bool)}
"""The page details that front matter can set, with their types."""
KINDS = {"document": "sheet", "group": "group", "link": "link"}
"""The former names of the page types, for the field `kind`, which is still required."""
_FILES_ONLY = frozenset(("image", "inline-image", "drawing", "file", "swagger"))
"""Kinds of references whose targets can only be files."""
_NAMED = {
    "page": ("page", "page"),
    "anchor": ("page", "page"),
    "file": ("file", "file"),
    "reusable-content": ("snippet", "reusableContent"),
}
"""For each kind of reference, the type of its target and the field with the id."""


_BODY = select(DocumentRow.__table__.c.markdown).where(DocumentRow.__table__.c.id == bindparam("id"))


@dataclass(frozen=True)
class PageText:
    """Parsed Markdown: title, details named as in the API, and the body."""

    title: str | None
    details: dict[str, Any]
    body: str


def parse_page(markdown: str) -> PageText:
    """Parse submitted Markdown into title, details and body.

    Raises:
        ApiError: 400, the front matter is invalid YAML.
    """
    text = markdown.replace("\r\n", "\n")
    details: dict[str, Any] = {}
    front = find_front_matter(text)
    if front:
        details = _details(front.yaml)
        text = text[front.end :]
    heading = leading_title(text)
    if heading:
        text = text[heading.end :]
    return PageText(
        _without_markup(heading.title) if heading else None, details, text.strip("\n") + "\n" if text.strip() else ""
    )


def format_page(title: str, body: str) -> str:
    """Return the Markdown of a page as the API returns it: the title as first heading, then the body."""
    return f"# {title}\n\n{body}" if title else body


def _details(front: str) -> dict[str, Any]:
    try:
        front_matter = load_yaml(front)
    except InvalidYaml as error:
        raise ApiError(400, f"document: invalid YAML in the front matter: {error}") from None
    return {name: front_matter[name] for name, kind in DETAILS.items() if isinstance(front_matter.get(name), kind)}


def _without_markup(heading: str) -> str:
    return re.sub(r"(\*\*|__|`)(.+?)\1", r"\2", heading)


def as_revision(context: Context, row: RevisionContent) -> Revision:
    """Serialize a revision with its pages, without their bodies."""
    merged = context.session.get(ChangeRequestRow, row.merged_from) if row.merged_from else None
    return Revision(
        id=row.id,
        type=row.type,
        parents=tuple(row.parents),
        pages=cached(
            context,
            ("page models", row.id, context.origin),
            lambda: as_pages(context, row.space_id, row.tree),
            lambda _: 2 * row.weight(),
        ),
        files=as_files(context, row.files),
        reusable_contents=tuple(ReusableContent.model_validate(snippet) for snippet in row.reusable_contents),
        variables=row.variables,
        tags=(),
        created_at=row.created_at,
        merged_from=as_change_request(context, merged) if merged else None,
        urls=RevisionUrls(app=context.app(f"/spaces/{row.space_id}/revisions/{row.id}")),
    )


def as_pages(context: Context, space_id: str, tree: Sequence[Page], prefix: str = "") -> tuple[RevisionPage, ...]:
    """Serialize the pages of a tree, without their bodies."""
    return tuple(RevisionPage.model_validate(_serialized_page(context, space_id, page, prefix)) for page in tree)


def serialize_location(context: Context, space_id: str, place: PagePosition) -> dict[str, Any]:
    """Serialize one page with its subpages, without its body."""
    prefix = (place.path or "").removesuffix(place.page.get("slug") or "")
    return _serialized_page(context, space_id, place.page, prefix)


def body_of(context: Context, page: Page) -> str:
    """Return the stored or generated Markdown of a page, or an empty string if it has none."""
    if TEXT in page:
        return page[TEXT]
    rows = context.rows(_BODY, id=page["documentId"]) if page.get("documentId") else ()
    return rows[0][0] if rows else ""


def as_files(context: Context, files: Sequence[dict[str, Any]]) -> tuple[RevisionFile, ...]:
    """Serialize files, with their URLs."""
    return tuple(RevisionFile.model_validate(serialize_file(context, file)) for file in files)


def serialize_file(context: Context, file: dict[str, Any]) -> dict[str, Any]:
    """Serialize one stored file, with its URL."""
    content = file.get("content")
    address = file_address(context, content, file["name"].replace("/", "_")) if content else ""
    return {"downloadURL": address} | _without_bytes(file)


def _without_bytes(file: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in file.items() if name != "content"}


def _serialized_page(context: Context, space_id: str, page: Page, prefix: str) -> dict[str, Any]:
    kind = page["type"]
    wire = {"kind": KINDS.get(kind, kind)} | page
    wire.pop(FORMER_PATHS, None)
    if kind in ("link", "computed"):
        return wire
    path = prefix + page.get("slug", "")
    wire["path"] = path
    below = f"{path}/" if page.get("slug") else prefix
    wire["pages"] = [_serialized_page(context, space_id, child, below) for child in children(page)]
    if kind == "document":
        wire["layout"] = {**DEFAULT_LAYOUT, **page.get("layout", {})}
        wire.setdefault("tags", [])
        wire["urls"] = {"app": context.app(f"/spaces/{space_id}/pages/{page['id']}")}
    return wire


class Content(NamedTuple):
    """The parts of a stored or edited revision that links can lead to."""

    space_id: str
    tree: Sequence[Page]
    files: Sequence[dict[str, Any]]
    reusable_contents: Sequence[dict[str, Any]]


def page_by_id(context: Context, revision: RevisionContent, page_id: str) -> RevisionPage:
    """Return a page of a revision, without its body.

    Raises:
        ApiError: 404, the revision does not have this page.
    """
    return _page(context, revision, revision.pages.get(page_id))


def page_by_path(context: Context, revision: RevisionContent, path: str) -> RevisionPage:
    """Return the page at a path of a revision, without its body.

    Raises:
        ApiError: 404, the revision has no page at this path.
    """
    return _page(context, revision, revision.paths.get(path.strip("/")))


def _page(context: Context, revision: RevisionContent, place: PagePosition | None) -> RevisionPage:
    if place is None:
        raise not_found("page")
    return RevisionPage.model_validate(serialize_location(context, revision.space_id, place))


def with_markdown(context: Context, revision: RevisionContent, page: RevisionPage) -> RevisionPage:
    """Return a document page with its stored Markdown. Pages of other types, such as links, are returned unchanged."""
    if page.type != "document":
        return page
    body = body_of(context, revision.pages[page.id].page)
    return page.model_copy(update={"markdown": format_page(page.title, body)})


def link_targets(context: Context, revision: RevisionContent) -> LinkTargets:
    """Return the possible link targets of a revision, cached."""
    content = Content(revision.space_id, revision.tree, revision.files, revision.reusable_contents)
    return cached(
        context,
        ("link targets", revision.id),
        lambda: LinkTargets(context, content),
        lambda _: revision.weight() // 4,
    )


def text_nodes(context: Context, revision: RevisionContent, name: str, text: str, source: str) -> bytes:
    """Convert a text of a revision to nodes in JSON. Links to targets in the revision contain ids.

    Args:
        context: the transaction.
        revision: the revision.
        name: the name of the text in error messages.
        text: the Markdown.
        source: the source path of the text.

    Raises:
        ApiError: 413 if the text is too large; 422 if the conversion takes too long; 503 if too many conversions wait.
    """
    content = Content(revision.space_id, revision.tree, revision.files, revision.reusable_contents)
    return _nodes(name, text, PageRefs(context, content, "", source=source, targets=link_targets(context, revision)))


def document_by_id(context: Context, revision: RevisionContent, document_id: str) -> Serialized[ContentDocument]:
    """Return a document of a revision as nodes. Links to targets in the revision contain ids.

    Raises:
        ApiError: 404 if neither a page nor reusable content of the revision has the document; see also `text_nodes`.
    """
    place = next((item for item in walk(revision.tree) if item.page.get("documentId") == document_id), None)
    snippet = next((item for item in revision.reusable_contents if item.get("document") == document_id), None)
    if place is None and snippet is None:
        raise not_found("document")
    blob = ReusableContent.model_validate(snippet).git if snippet else None
    sources = link_targets(context, revision).sources
    source = sources.get(("page", place.page["id"]), "") if place else blob.path if blob else ""
    text = document_texts(context.session, [document_id]).get(document_id, "")
    return Serialized(text_nodes(context, revision, "document", text, source))


def _nodes(name: str, markdown: str, links: PageRefs) -> bytes:
    require_size(name, markdown)  # older versions of the service stored larger texts
    try:
        return nodes_json(markdown, links.from_address)
    except NotConverted:
        raise ApiError(422, TOO_LONG) from None
    except ConversionsBusy:
        raise Busy("Pages as nodes: too many are converted already") from None


def require_size(name: str, markdown: str, limits: TextLimits = PAGE_LIMITS) -> None:
    """Require that a text is small enough to be rendered in about a second.

    Raises:
        ApiError: 413, the text is too large.
    """
    problem = size_problem(markdown, limits)
    if problem:
        raise ApiError(413, f"{name}: {problem}")


def text_of(document: dict[str, Any], links: PageRefs | None = None) -> str:
    """Convert submitted document nodes to Markdown.

    Raises:
        ApiError: 400 for an invalid node, with its place; 413 for too many nodes.
    """
    if _has_more_objects(document, MOST_OBJECTS):
        raise ApiError(413, f"document: too large: more than {MOST_OBJECTS:,} nodes, leaves and other objects")
    try:
        return nodes_to_markdown(document, links.to_address if links else None)
    except InvalidNode as wrong:
        raise ApiError(400, str(wrong)) from None


def _has_more_objects(value: object, most: int) -> bool:
    """Return whether a JSON value has more than `most` objects."""
    pending, count = [value], 0
    while pending and count <= most:
        value = pending.pop()
        if isinstance(value, dict):
            count += 1
            pending.extend(cast("dict[str, object]", value).values())
        elif isinstance(value, list):
            pending.extend(cast("list[object]", value))
    return count > most


class LinkTargets:
    """Possible link targets of a revision: `places` finds them by path, `sources` has their paths by type and id."""

    def __init__(self, context: Context, content: Content) -> None:
        pages = as_pages(context, content.space_id, content.tree)
        files = [RevisionFile.model_validate(_without_bytes(file)) for file in content.files]
        reusable = [ReusableContent.model_validate(snippet) for snippet in content.reusable_contents]
        self.places = LinkResolver.of(pages, files, reusable)
        self.sources = {("page", page.id): source_path(page) for page in flatten(pages)}
        self.sources |= {("file", file.id): file.git.path if file.git else file.name for file in files}
        self.sources |= {("snippet", snippet.id): snippet.git.path for snippet in reusable if snippet.git}


class PageRefs:
    """Converts the links of a page between relative paths in Markdown and ids in nodes.

    Args:
        context: the transaction.
        content: the possible link targets.
        page_id: the id of the page.
        source: the path of a new page without an id, such as ``guides/new.md``.
        targets: the targets of `content`, if they are computed already.
    """

    def __init__(
        self,
        context: Context,
        content: Content,
        page_id: str,
        *,
        source: str = "",
        targets: LinkTargets | None = None,
    ) -> None:
        known_targets = targets or LinkTargets(context, content)
        self._app, self._space = context.app(""), content.space_id
        self._places, self._sources = known_targets.places, known_targets.sources
        self._source = source or self._sources.get(("page", page_id), "")

    def from_address(self, ref: Reference, kind: str) -> Reference:
        """Return a reference with the id of its target instead of a Markdown link target.

        The reference is returned unchanged if the target does not exist, or `kind` cannot have such a target.
        """
        address = ref.get("url") or ref.get("file") or ref.get("reusableContent") or ""
        if ref["kind"] not in ("url", "file", "reusable-content") or "?" in address:
            return ref
        if address.startswith(f"{self._app}/"):
            inner = parse_reference("/~" + address.removeprefix(self._app))
            return ref if inner["kind"] not in ("page", "anchor", "space") or kind in _FILES_ONLY else inner
        target = self._places.resolve(address, self._source)
        if ref["kind"] == "reusable-content":
            return {"kind": "reusable-content", "reusableContent": target.id} if target.kind == "snippet" else ref
        if target.kind == "file":
            return {"kind": "file", "file": target.id}
        if target.kind != "page" or ref["kind"] != "url" or kind in _FILES_ONLY:
            return ref
        anchor = {"kind": "anchor", "anchor": target.anchor, "page": target.id}
        return anchor if target.anchor else {"kind": "page", "page": target.id}

    def to_address(self, ref: Reference, kind: str) -> Reference:
        """Return a reference with a Markdown link target instead of an id.

        The target is a path relative to the page, or an app URL for another space. An unknown id is kept.
        """
        space = ref.get("space")
        if (space and space != self._space) or ref["kind"] == "space":
            is_shown = ref["kind"] in ("page", "anchor", "space")
            return {"kind": "url", "url": self._app + format_reference(ref).removeprefix("/~")} if is_shown else ref
        target_type, name = _NAMED.get(ref["kind"], ("", ""))
        source = self._sources.get((target_type, str(ref.get(name, ""))))
        if not source:  # such as a page that is a link to another site
            return {key: value for key, value in ref.items() if key != "space"}
        path = posixpath.relpath(source, posixpath.dirname(self._source) or ".")
        # `refs.file_source` would read a bare name as an id
        path = path if "/" in path or "." in path else f"./{path}"
        if ref["kind"] == "reusable-content":
            return {"kind": "reusable-content", "reusableContent": path}
        if kind in ("drawing", "file"):
            return {"kind": "file", "file": path}
        return {"kind": "url", "url": path + (f"#{encode_fragment(ref['anchor'])}" if ref["kind"] == "anchor" else "")}
