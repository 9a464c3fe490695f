"""The content of a revision as a repository in the platform's Git format."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cached_property
from typing import Any, Literal, cast
from urllib.parse import quote

from presscheck.api.content import ContentRef, PageCover, PageLayout, ReusableContent, RevisionFile, RevisionPage
from presscheck.documents.git_format.config import CONFIG_FILE, RepositoryConfig, normalize_path
from presscheck.documents.git_format.files import INCLUDES
from presscheck.documents.git_format.models import DEFAULT_LAYOUT, Cover, Repository, Snippet, SourcePage
from presscheck.documents.git_format.repository import ASSETS
from presscheck.documents.markdown.anchors import encode_fragment
from presscheck.documents.markdown.links import Destination, LinkResolver, source_path, written_targets
from presscheck.documents.pages.file_urls import address_in_page, unsigned_url
from presscheck.documents.pages.tree import flatten

Kind = Literal["page", "file", "snippet"]
Key = tuple[Kind, str]
"""An item: its kind and its id."""
_DETAILS = frozenset(
    (
        "description",
        "icon",
        "emoji",
        "hidden",
        "no_index",
        "no_robots_index",
        "condition",
        "variables",
        "layout",
        "computed",
    )
)
_DEFAULT_LAYOUT = PageLayout.model_validate(DEFAULT_LAYOUT)
KINDS = ("group", "link", "computed")
"""The types of pages that have no file."""
_UNUSUAL = re.compile(r"[\0-\x1f\x7f\\/]")
_BY_ID = re.compile(r"/~/(reusable|files)/([^/?#]+)")


def kind_of(page: RevisionPage) -> Literal["document", "group", "link", "computed"]:
    """Return the kind of a page in a repository; a page of an unknown type is a document."""
    return cast("Any", page.type) if page.type in KINDS else "document"


class ExportedRevision:
    """The pages, files and reusable content of a revision with a source path for each of them.

    Imported pages keep the paths of their files. New pages get a path from their page path, and new files are placed in
    the folder of assets.

    Args:
        pages: the page tree.
        files: the files.
        snippets: the reusable content.
        names: source paths that items already have in a folder; these take precedence.
        fallback: the URL that a link page without a target leads to.

    Attributes:
        sources: the source path of each item.
    """

    def __init__(
        self,
        pages: Sequence[RevisionPage],
        files: Iterable[RevisionFile] = (),
        snippets: Iterable[ReusableContent] = (),
        *,
        names: Mapping[Key, str] | None = None,
        fallback: str = "",
    ) -> None:
        self.pages, self.files, self.snippets = pages, {file.id: file for file in files}, tuple(snippets)
        self._fallback = fallback
        self._places = LinkResolver.of(pages, self.files.values(), self.snippets)
        self._names = names or {}
        self._taken = {CONFIG_FILE, RepositoryConfig().summary, *self._names.values()}
        self._written: dict[Key, str] = {}  # the path of each item in links of the service's texts
        self._urls = {unsigned_url(file.download_url): file.id for file in self.files.values() if file.download_url}
        self.sources: dict[Key, str] = {}
        for page in flatten(pages):
            if page.type not in KINDS:
                self._assign(("page", page.id), source_path(page), f"page-{page.id}.md")
        for file in self.files.values():
            name = _UNUSUAL.sub("-", file.name).lstrip(".") or "file"
            written = file.git.path if file.git else file.name
            self._assign(("file", file.id), file.git.path if file.git else ASSETS + name, f"{ASSETS}{file.id}", written)
        for snippet in self.snippets:
            title = _UNUSUAL.sub("-", snippet.title or "").strip(". ") or "snippet"
            written = snippet.git.path if snippet.git else ""
            self._assign(
                ("snippet", snippet.id), written or f"{INCLUDES}{title}.md", f"{INCLUDES}{snippet.id}.md", written
            )

    def repository(self, texts: Mapping[str, str], redirects: Mapping[str, Destination] | None = None) -> Repository:
        """Return a repository with the pages and snippets, without files.

        Args:
            texts: the Markdown of pages and snippets by id, without titles.
            redirects: destinations by former path.
        """
        return Repository(
            title="",
            pages=tuple(self.page(page, texts) for page in self.pages),
            snippets=tuple(self.snippet(snippet, texts.get(snippet.id, "")) for snippet in self.snippets),
            redirects=redirects or {},
        )

    def page(self, page: RevisionPage, texts: Mapping[str, str]) -> SourcePage:
        """Return a page with its subpages. `texts` has the Markdown of pages by id, without titles."""
        return self.lone_page(page, texts.get(page.id, ""), (self.page(child, texts) for child in page.pages))

    def lone_page(self, page: RevisionPage, text: str, subpages: Iterable[SourcePage] = ()) -> SourcePage:
        """Return the source of a page. `text` is its Markdown, without the title."""
        source = self.sources.get(("page", page.id), "")
        given = _DETAILS & page.model_fields_set
        if page.layout == _DEFAULT_LAYOUT:
            given -= {"layout"}
        details = page.model_dump(by_alias=True, exclude_none=True, include={*given}) if given else {}
        return SourcePage(
            kind_of(page),
            page.title,
            page.slug or "",
            source=source,
            oid=page.git.oid if page.git else "",
            body=self._linked(text, ("page", page.id)) if source else "",
            target=self.target(page) if page.type == "link" else "",
            link_title=page.link_title or None,
            details=details,
            cover=self._cover(page.cover) if page.cover else None,
            pages=tuple(subpages),
        )

    def snippet(self, snippet: ReusableContent, text: str) -> Snippet:
        """Return a piece of reusable content with its text."""
        source = self.sources["snippet", snippet.id]
        return Snippet(
            source, snippet.git.oid if snippet.git else "", snippet.title, self._linked(text, ("snippet", snippet.id))
        )

    def served(self, text: str, key: Key) -> str:
        """Convert a text in the folder to the form that the service stores: links get the paths of the service.

        Args:
            text: a text with links to paths in the folder.
            key: the page or snippet with the text.
        """
        source, written = self.sources[key], self._written[key]
        if self._names and self.sources.items() != self._written.items():
            return _with_links(text, lambda target: self._served_link(target, source, written))
        return text

    @cached_property
    def _folder(self) -> LinkResolver:
        """The resolver of links between the files in the folder."""
        paths: dict[Kind, dict[str, str]] = {"page": {}, "file": {}, "snippet": {}}
        for (kind, identity), source in self.sources.items():
            paths[kind][source] = identity
        return LinkResolver(paths["page"], paths["file"], paths["snippet"])

    def _served_link(self, target: str, source: str, written: str) -> str | None:
        place = self._folder.resolve(target, source)
        if place.kind in ("web", "broken") or target.startswith("#"):
            return None
        key: Key = (place.kind, place.id)
        path = self._written[key]
        if path == self.sources[key] and (source == written or target.startswith("/")):
            return None
        if key[0] == "file" and not self.files[key[1]].git:
            return address_in_page(self.files[key[1]])
        if not path:
            return f"/~/reusable/{key[1]}"
        return _relative(path, written, place.anchor)

    def _assign(self, key: Key, source: str, fallback: str, written: str | None = None) -> None:
        """Set the source path of an item: its path in `names`, or `source` if it is safe and free, or `fallback`.

        `written` is the path of the item in links of the service, by default `source`.
        """
        self._written[key] = source if written is None else written
        if key in self._names:
            self.sources[key] = self._names[key]
            return
        if not is_safe_path(source) or source in self._taken:
            source = fallback
        self._taken.add(source)
        self.sources[key] = source

    def _linked(self, text: str, key: Key) -> str:
        """Return a text of the service, with its links changed to the paths in the folder."""
        if not self._has_moved and "/~/" not in text:
            return text
        source, written = self.sources[key], self._written[key] or self.sources[key]
        return _with_links(text, lambda target: self._folder_link(target, source, written))

    @cached_property
    def _has_moved(self) -> bool:
        """Whether an item has another path in the folder than in links of the service."""
        return any(path and path != self.sources[key] for key, path in self._written.items())

    def _folder_link(self, target: str, source: str, written: str) -> str | None:
        named = _BY_ID.fullmatch(target)
        if named:
            key, anchor = (("snippet" if named[1] == "reusable" else "file"), named[2]), ""
        elif target.startswith("#"):
            return None
        else:
            place = self._places.resolve(target, written)
            if place.kind == "web":
                place = Destination("file", self._urls.get(unsigned_url(place.url), ""))
            if place.kind in ("web", "broken"):
                return None
            key, anchor = (place.kind, place.id), place.anchor
        path = self.sources.get(cast("Key", key))
        is_same = path == self._written.get(cast("Key", key)) and not named
        return (
            None
            if not path or (is_same and (source == written or target.startswith("/")))
            else _relative(path, source, anchor)
        )

    def target(self, page: RevisionPage) -> str:
        """Return the target of a link page: a URL, or a source path with an optional anchor."""
        target = page.target or ContentRef(kind="url")
        key: Key = ("file", target.file or "") if target.kind == "file" else ("page", target.page or "")
        source = self.sources.get(key)
        if source:
            return f"{source}#{encode_fragment(target.anchor)}" if target.anchor else source
        return target.url or page.href or self._fallback

    def _cover(self, cover: PageCover) -> Cover | None:
        light, dark = (self._picture(ref) for ref in (cover.ref, cover.ref_dark))
        return Cover(light, dark or None, cover.y_pos, cover.height) if light else None

    def _picture(self, ref: ContentRef | None) -> str:
        return (self.sources.get(("file", ref.file or "")) or ref.url or "") if ref else ""


def _with_links(text: str, replaced: Callable[[str], str | None]) -> str:
    """Return a text with its link targets replaced. `replaced` returns the new target, or None to keep a target."""
    parts: list[str] = []
    end = 0
    for target in written_targets(text):
        new = replaced(target.target)
        if new is not None:
            parts += (text[end : target.start], new)
            end = target.end
    return "".join((*parts, text[end:])) if parts else text


def _relative(path: str, source: str, anchor: str) -> str:
    address = quote(posixpath.relpath(path, posixpath.dirname(source) or "."))
    return f"{address}#{encode_fragment(anchor)}" if anchor else address


def is_safe_path(source: str) -> bool:
    """Return whether a file of a repository may have a source path.

    The path must be normalized and without control characters. Hidden files and folders are not allowed, except the
    folder `.gitbook`, because Git and the service interpret others, such as `.git` and `.gitbook.yaml`.
    """
    folders = source.removeprefix(".gitbook/").split("/")
    return (
        bool(source)
        and normalize_path(source) == source
        and not re.search(r"[\0-\x1f\x7f]", source)
        and not any(name.startswith(".") for name in folders)
    )
