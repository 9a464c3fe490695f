"""The Typst markup of a PDF: `python -m presscheck.service.pdf.markup` reads a `PdfSource` in JSON from standard input.

Writing the markup of a large space takes half a minute, so it is done in a separate process with limits (see
`bounded_process`). Standard output has the fields of a `Markup` in JSON.

A PDF may be passed on to anyone, so it only has content that visitors without claims see. A note is added if content is
left out.
"""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, NamedTuple

from presscheck.api.content import ReusableContent, RevisionFile, RevisionPage
from presscheck.documents.markdown.emoji import with_emoji
from presscheck.documents.markdown.links import LinkResolver, source_path
from presscheck.documents.pages.tree import Page, Tree, children, find, flatten, walk
from presscheck.documents.visitors.condition_tags import holds_without_claims, words_without_claims
from presscheck.documents.visitors.conditional_text import visible_text
from presscheck.service.bounded_process import limit_resources, run_bounded
from presscheck.service.integrations.script_process import INTERPRETER_MEMORY, restrict
from presscheck.service.pdf.typesetter import MOST_MEMORY, MOST_SECONDS
from presscheck.service.pdf.typst_document import render_typst, source_markup, template
from presscheck.service.pdf.typst_inlines import Resolve, Target, anchor_label, text_markup, typst_string, web_target

MOST_BYTES = 20 * 1024 * 1024
"""Maximum size of an image in bytes. Larger images are replaced by their names."""
PARTIAL = "without content for visitors with claims"
"""The note in a document without the content for visitors with claims."""
_PICTURES = ("image/png", "image/jpeg", "image/gif", "image/webp", "image/svg+xml")
_ENDINGS = (".png", ".jpg", ".jpeg", ".gif", ".webp", ".svg")
"""Formats that the typesetter supports. `export` replaces files that have another format by a placeholder."""
_ADDRESS = re.compile(r"/files/([0-9a-f]{64})/[^/]*\Z").search


class Chapter(NamedTuple):
    """A page of the document. `is_fresh` is true if the page starts on a new sheet."""

    page: Page
    depth: int
    is_fresh: bool


@dataclass(frozen=True)
class PdfSource:
    """The content of a document, as JSON values.

    Attributes:
        title: the title.
        organization: the title of the organization.
        note: the line below the title.
        created_at: the creation time of the revision.
        tree: the pages of the revision that visitors without claims see.
        is_partial: whether the revision has further pages.
        page: the id of the page to export with its subpages, or None for all pages that are not hidden.
        only: whether to leave out the subpages of the page.
        texts: the Markdown of pages and reusable content, by document id.
        files: the files of the revision.
        reusable_contents: the reusable content of the revision.
    """

    title: str
    organization: str
    note: str
    created_at: str
    tree: Tree
    is_partial: bool
    page: str | None
    only: bool
    texts: dict[str, str]
    files: list[dict[str, Any]]
    reusable_contents: list[dict[str, Any]]

    @property
    def made_at(self) -> datetime:
        """The time of the document in whole seconds, the precision of PDF metadata."""
        return datetime.fromisoformat(self.created_at).replace(microsecond=0)

    def chapters(self) -> list[Chapter]:
        """Return the pages in reading order, without hidden pages that were not requested."""
        return [*_chapters(_chosen(self.tree, self.page, only=self.only), requested=self.page)]


class Markup(NamedTuple):
    """The markup of a document, and the ids of its images, which the markup uses as file names."""

    markup: str
    pictures: list[str]


def write_markup(source: PdfSource, *, as_written: bool = False) -> Markup:
    """Write the markup in a separate process. With `as_written`, it shows the Markdown source of pages.

    Raises:
        ProcessFailed: the process exceeded its limits or failed.
    """
    payload = json.dumps({"source": vars(source), "as_written": as_written}).encode()
    return Markup(**json.loads(run_bounded(__name__, stdin=payload, seconds=MOST_SECONDS)))


class _Document:
    """Writes the markup of a document. `pictures` is complete after `markup` was called."""

    def __init__(self, source: PdfSource) -> None:
        self._source, self._chapters = source, source.chapters()
        self._texts = {name: visible_text(text, holds_without_claims) for name, text in source.texts.items()}
        self._title = words_without_claims(source.title)
        note = words_without_claims(source.note)
        is_partial = source.is_partial or self._texts != source.texts
        self._note = " · ".join(filter(None, (note, PARTIAL if is_partial else "")))
        self.pictures: set[str] = set()
        shown = {chapter.page["id"] for chapter in self._chapters}
        self._links = _PageLinks(source, shown, self._texts, self.pictures)

    def markup(self, *, as_written: bool) -> str:
        made_at, organization = self._source.made_at, words_without_claims(self._source.organization)
        date = f"{made_at.day} {made_at:%B} {made_at.year}"
        facts = (("title", self._title), ("organization", organization), ("note", self._note), ("date", date))
        arguments = "".join(f"{name}: {typst_string(value)}, " for name, value in facts)
        has_cover = len(self._chapters) > 1
        pages = (self._chapter(chapter, as_written=as_written) for chapter in self._chapters)
        end = "" if has_cover else f'#text(fill: quiet, style: "italic")[{text_markup(self._note)}];\n'
        return "\n".join((template(), f"#show: manual.with({arguments}cover: {str(has_cover).lower()});", *pages, end))

    def _chapter(self, chapter: Chapter, *, as_written: bool) -> str:
        page, level, label = chapter.page, chapter.depth + 1, _label(chapter.page["id"])
        title, fresh = text_markup(with_emoji(page.get("title") or "Untitled")), str(chapter.is_fresh).lower()
        # the running head shows the title of the page that starts the sheet
        head = f"#set page(header: running-head({typst_string(self._title)}, [{title}]));\n" if chapter.is_fresh else ""
        if page["type"] == "group":
            return f"{head}#part-title({level}, {typst_string(label)}, [{title}], {fresh});\n"
        lead = typst_string(with_emoji(page.get("description") or ""))
        head += f"#page-title({level}, {typst_string(label)}, [{title}], {lead}, {fresh});\n"
        if page["type"] == "link":
            return head + _destination(page)
        text = self._texts.get(page.get("documentId", ""), "")
        body = (
            source_markup(text)
            if as_written
            else render_typst(text, self._links.of(page["id"]), name=label, level=level)
        )
        return head + body


def _chosen(tree: Tree, page: str | None, *, only: bool) -> Sequence[Page]:
    place = find(tree, page) if page is not None else None
    if place is None:
        return tree
    return [place.page | {"pages": []}] if only else [place.page]


def _chapters(
    pages: Sequence[Page], depth: int = 0, *, requested: str | None, below_part: bool = False
) -> Iterator[Chapter]:
    first = True
    for page in pages:
        if page.get("hidden") and page["id"] != requested:
            continue
        yield Chapter(page, depth, depth < 2 and not (first and below_part))
        first = False
        yield from _chapters(children(page), depth + 1, requested=requested, below_part=page["type"] == "group")


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


class _PageLinks:
    """A resolver of the links in the pages of a revision."""

    def __init__(self, source: PdfSource, shown: set[str], texts: dict[str, str], pictures: set[str]) -> None:
        paths = {place.page["id"]: place.path for place in walk(source.tree)}
        tree = [RevisionPage.model_validate(page) for page in _with_paths(source.tree, paths)]
        self._pages = {page.id: page for page in flatten(tree)}
        self._files = {file["id"]: file for file in source.files}
        self._by_content = {file["content"]: file for file in source.files if file.get("content")}
        self._snippets = {snippet["id"]: snippet for snippet in source.reusable_contents}
        files = [RevisionFile.model_validate(file) for file in source.files]
        self._places = LinkResolver.of(
            tree, files, [ReusableContent.model_validate(snippet) for snippet in source.reusable_contents]
        )
        self._shown, self._texts, self._pictures = shown, texts, pictures

    def of(self, page_id: str) -> Resolve:
        """Return the resolver for the links in one page."""
        written_in = source_path(self._pages[page_id])
        resolved: dict[str, Target] = {}

        def resolve(address: str) -> Target:
            if address not in resolved:
                resolved[address] = self._resolve(address, written_in)
            return resolved[address]

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
        if not content or not _is_picture(file):
            return Target(title=name)
        self._pictures.add(content)
        return Target(picture=content, title=name)  # without a link: URLs of files expire, but a PDF is kept


def _is_picture(file: dict[str, Any]) -> bool:
    is_named = (file.get("contentType") or "").startswith(_PICTURES) or file["name"].lower().endswith(_ENDINGS)
    return is_named and (file.get("size") or 0) <= MOST_BYTES


def _with_paths(pages: Sequence[Page], paths: dict[str, str | None]) -> list[Page]:
    return [page | {"path": paths[page["id"]], "pages": _with_paths(children(page), paths)} for page in pages]


def main() -> None:
    """Write the markup of the document on standard input to standard output."""
    limit_resources(MOST_MEMORY, MOST_SECONDS)
    payload = json.load(sys.stdin.buffer)
    restrict(MOST_MEMORY + INTERPRETER_MEMORY, MOST_SECONDS, MOST_SECONDS, reads_files=True)
    document = _Document(PdfSource(**payload["source"]))
    markup = document.markup(as_written=payload["as_written"])
    sys.stdout.write(json.dumps(Markup(markup, sorted(document.pictures))._asdict()))


if __name__ == "__main__":
    main()
