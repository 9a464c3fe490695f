"""The Typst source of a PDF: the markup of a space or a part of it, and the images that it shows.

A PDF may be passed on to visitors of all kinds: it has what visitors without claims see, with a note if something may
be missing.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, NamedTuple

from sqlalchemy.orm import Session

from presscheck.api.content import ReusableContent, RevisionFile, RevisionPage
from presscheck.documents.markdown.emoji import with_emoji
from presscheck.documents.markdown.links import LinkResolver, source_path
from presscheck.documents.markdown.page_size import count_parts
from presscheck.documents.pages.tree import Page, children, find, flatten, walk
from presscheck.documents.visitors.condition_tags import holds_without_claims, words_without_claims
from presscheck.documents.visitors.conditional_text import visible_text
from presscheck.documents.visitors.visible_pages import visible_pages
from presscheck.service.content.revisions import document_texts
from presscheck.service.db.blob_store import BlobStore
from presscheck.service.models.content import RevisionRow
from presscheck.service.pdf.typst_document import render_typst, source_markup, template
from presscheck.service.pdf.typst_inlines import Resolve, Target, anchor_label, text_markup, typst_string, web_target

MOST_BYTES = 20 * 1024 * 1024
"""Largest size of an image, in bytes; a larger one is replaced by its name."""
PARTIAL = "without content for visitors with claims"
"""The note on a document in which something is left out."""
_STARTS = (b"\x89PNG\r\n\x1a\n", b"\xff\xd8\xff", b"GIF87a", b"GIF89a")
_ADDRESS = re.compile(r"/files/([0-9a-f]{64})/[^/]*\Z").search


class Chapter(NamedTuple):
    """A page of the document; `is_fresh` if it starts on a new sheet."""

    page: Page
    depth: int
    is_fresh: bool


@dataclass(frozen=True)
class PdfSource:
    """The source of a document."""

    title: str
    organization: str
    note: str
    made_at: datetime
    chapters: Sequence[Chapter]
    texts: dict[str, str]
    resolver: Callable[[str], Resolve]
    """The links of each page, by page id."""
    pictures: set[str] = field(default_factory=set[str])
    """The ids of the images, which are their names in the markup; complete after the markup was created."""

    def parts(self) -> int:
        """The lines, table cells, links and tags of all pages, see `count_parts`."""
        return sum(count_parts(self.texts.get(chapter.page.get("documentId", ""), "")) for chapter in self.chapters)

    def markup(self, *, as_written: bool = False) -> str:
        """The markup of the whole document; `as_written` shows pages as Markdown source."""
        date = f"{self.made_at.day} {self.made_at:%B} {self.made_at.year}"
        facts = (("title", self.title), ("organization", self.organization), ("note", self.note), ("date", date))
        given = "".join(f"{name}: {typst_string(value)}, " for name, value in facts)
        has_cover = len(self.chapters) > 1
        pages = (self._chapter(chapter, as_written=as_written) for chapter in self.chapters)
        end = "" if has_cover else f'#text(fill: quiet, style: "italic")[{text_markup(self.note)}];\n'
        return "\n".join((template(), f"#show: manual.with({given}cover: {str(has_cover).lower()});", *pages, end))

    def _chapter(self, chapter: Chapter, *, as_written: bool) -> str:
        page, level, label = chapter.page, chapter.depth + 1, _label(chapter.page["id"])
        title, fresh = text_markup(with_emoji(page.get("title") or "Untitled")), str(chapter.is_fresh).lower()
        # the running head shows the title of the page that starts the sheet
        head = f"#set page(header: running-head({typst_string(self.title)}, [{title}]));\n" if chapter.is_fresh else ""
        if page["type"] == "group":
            return f"{head}#part-title({level}, {typst_string(label)}, [{title}], {fresh});\n"
        lead = typst_string(with_emoji(page.get("description") or ""))
        head += f"#page-title({level}, {typst_string(label)}, [{title}], {lead}, {fresh});\n"
        if page["type"] == "link":
            return head + _destination(page)
        text = self.texts.get(page.get("documentId", ""), "")
        body = (
            source_markup(text)
            if as_written
            else render_typst(text, self.resolver(page["id"]), name=label, level=level)
        )
        return head + body


def manuscript(
    session: Session, files: BlobStore, revision: RevisionRow, page: str | None, *, only: bool, **facts: str
) -> PdfSource | None:
    """Loads the source of a document; None if the page does not exist.

    Args:
        session: the transaction; everything is read before this returns.
        files: the stored files.
        revision: the revision.
        page: the id of the first page; None for all pages that are not hidden.
        only: exports that page without its subpages.
        facts: title, organization and note.
    """
    tree = visible_pages(revision.tree, holds_without_claims)
    chosen: Sequence[Page] = tree
    if page is not None:
        place = find(tree, page)
        if place is None:
            return None
        chosen = [place.page | {"pages": []}] if only else [place.page]
    chapters = list(_chapters(chosen, asked=page))
    ids = [chapter.page["documentId"] for chapter in chapters if chapter.page.get("documentId")]
    snippets = [snippet["document"] for snippet in revision.reusable_contents if snippet.get("document")]
    written = document_texts(session, [*ids, *snippets])
    texts = {name: visible_text(text, holds_without_claims) for name, text in written.items()}
    facts = {name: words_without_claims(words) for name, words in facts.items()}
    if texts != written or tree != revision.tree:
        facts["note"] = " · ".join(filter(None, (facts["note"], PARTIAL)))
    pictures: set[str] = set()
    resolving = _Resolving(revision, tree, files, {chapter.page["id"] for chapter in chapters}, texts, pictures)
    made_at = datetime.fromisoformat(revision.created_at).replace(microsecond=0)  # PDF metadata has whole seconds
    return PdfSource(made_at=made_at, chapters=chapters, texts=texts, resolver=resolving.of, pictures=pictures, **facts)


def _chapters(
    pages: Sequence[Page], depth: int = 0, *, asked: str | None, below_part: bool = False
) -> Iterator[Chapter]:
    """Pages in reading order; hidden pages are omitted unless requested."""
    first = True
    for page in pages:
        if page.get("hidden") and page["id"] != asked:
            continue
        yield Chapter(page, depth, depth < 2 and not (first and below_part))
        first = False
        yield from _chapters(children(page), depth + 1, asked=asked, below_part=page["type"] == "group")


def _label(page_id: str) -> str:
    return f"page:{page_id}".replace("#", "_")


def _destination(page: Page) -> str:
    target: dict[str, Any] = page.get("target") or {}
    url = web_target(str(target.get("url") or "")).url
    return (
        f'#pointer("Link", "", {typst_string(url)}, {typst_string(url or with_emoji(page.get("title") or ""))}, "");\n'
        if url
        else ""
    )


class _Resolving:
    """Resolves the links in the pages of a revision."""

    def __init__(
        self,
        revision: RevisionRow,
        visible: Sequence[Page],
        store: BlobStore,
        shown: set[str],
        texts: dict[str, str],
        pictures: set[str],
    ) -> None:
        paths = {place.page["id"]: place.path for place in walk(visible)}
        tree = [RevisionPage.model_validate(page) for page in _with_paths(visible, paths)]
        self._pages = {page.id: page for page in flatten(tree)}
        self._files = {file["id"]: file for file in revision.files}
        self._by_content = {file["content"]: file for file in revision.files if file.get("content")}
        self._snippets = {snippet["id"]: snippet for snippet in revision.reusable_contents}
        files = [RevisionFile.model_validate(file) for file in revision.files]
        self._places = LinkResolver.of(
            tree, files, [ReusableContent.model_validate(snippet) for snippet in revision.reusable_contents]
        )
        self._store = store
        self._is_picture: dict[str, bool] = {}
        self._shown, self._texts, self._pictures = shown, texts, pictures

    def of(self, page_id: str) -> Resolve:
        """Resolves the links in one page."""
        written_in = source_path(self._pages[page_id])
        known: dict[str, Target] = {}

        def resolve(address: str) -> Target:
            if address not in known:
                known[address] = self._resolve(address, written_in)
            return known[address]

        return resolve

    def _resolve(self, address: str, written_in: str) -> Target:
        stored = _ADDRESS(address)
        if stored and stored[1] in self._by_content:
            return self._file(self._by_content[stored[1]])
        target = self._places.resolve(address, written_in)
        if target.kind == "page":
            label = _label(target.id)
            label = anchor_label(label, target.anchor) if target.anchor else label
            title = with_emoji(self._pages[target.id].title)
            return Target(label=label if target.id in self._shown else "", title=title)
        if target.kind == "file":
            return self._file(self._files[target.id])
        if target.kind == "snippet":
            return Target(text=self._texts.get(self._snippets[target.id].get("document") or "", ""))
        return web_target(target.url)

    def _file(self, file: dict[str, Any]) -> Target:
        content, name = file.get("content") or "", words_without_claims(file["name"]).rpartition("/")[2]
        if content not in self._is_picture:
            self._is_picture[content] = _is_picture(self._store, content)
        if not self._is_picture[content]:
            return Target(title=name)
        self._pictures.add(content)
        return Target(picture=content, title=name)  # without a link: URLs of files expire, and a PDF is kept


def _is_picture(store: BlobStore, content: str) -> bool:
    """Whether the typesetter supports the image format, by its first bytes and not by the file name."""
    blob = store.open(content)
    if blob is None:
        return False
    try:
        start = next(blob.chunks, b"")[:1024] if blob.size <= MOST_BYTES else b""
    finally:
        blob.close()
    return start.startswith(_STARTS) or (start[:4] == b"RIFF" and start[8:12] == b"WEBP") or b"<svg" in start


def _with_paths(pages: Sequence[Page], paths: dict[str, str | None]) -> list[Page]:
    return [page | {"path": paths[page["id"]], "pages": _with_paths(children(page), paths)} for page in pages]
