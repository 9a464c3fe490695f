"""Reads a documentation repository in the platform's Git format into pages, files and findings.

Nothing outside of the directory is read. An invalid page does not prevent reading the others. The page tree comes from
the table of contents, ``SUMMARY.md``, or from the folders. Every text becomes exactly one page; further entries for it
in the table of contents become links. A page consists of front matter, title and body.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from math import isfinite
from pathlib import Path
from typing import Any, NamedTuple, cast
from urllib.parse import quote, unquote

from markdown_it import MarkdownIt
from markdown_it.token import Token

from presscheck.documents.git_format.config import (
    CONFIG_FILE,
    RepositoryConfig,
    WrittenRedirect,
    normalize_path,
    read_config,
)
from presscheck.documents.git_format.files import INCLUDES, Entry, RepositoryFiles, read_text
from presscheck.documents.git_format.findings import Finding
from presscheck.documents.git_format.models import Cover, Repository, Snippet, SourceFile, SourcePage
from presscheck.documents.markdown.code_ranges import Range
from presscheck.documents.markdown.links import (
    Destination,
    Link,
    LinkResolver,
    linked_path,
    page_path,
    placed_links,
)
from presscheck.documents.openapi.generated_pages import specification_slug
from presscheck.documents.pages.front_matter import find_front_matter
from presscheck.documents.visitors.condition_tags import words_without_claims
from presscheck.documents.yaml_mapping import InvalidYaml, load_yaml

_ANCHOR = re.compile(r"<a\b([^<>]*)>(?:\s*+</a>)?|</a>", re.IGNORECASE)
_ID = re.compile(r"\bid=[\"']([^\"']++)[\"']", re.IGNORECASE)
# without indented code: nested items may be indented by any number of blanks
_MARKDOWN = MarkdownIt("commonmark", {"maxNesting": 100}).disable("code")
_USUAL_TITLES = frozenset(("table of contents", "summary", "contents"))
MAX_TITLE = 1000
"""Maximum number of characters of a heading that can be a title."""
_TITLE = re.compile(r"\s*(?:#[ \t]+(.*)(?:\n|\Z)|([^\s#>*+<{`~|-].*)\n=+[ \t]*(?:\n|\Z))")
_ESCAPE = re.compile(r"\\([!-/:-@\[-`{-~])")
_STRONG = re.compile(r"(\*\*|__|`)(.+?)\1")
_LINK = re.compile(r"!?\[([^\[\]]*)\]\([^()]*\)")
_TEXTS = ("description", "icon", "emoji")
_FLAGS = ("hidden", "noIndex", "noRobotsIndex")
_KEYS = frozenset((*_TEXTS, *_FLAGS, "title", "if", "vars", "layout", "cover", "coverY", "coverHeight"))
"""The keys of front matter that a page has a field for."""
_PARTS = (
    "cover",
    "title",
    "description",
    "tableOfContents",
    "outline",
    "pagination",
    "metadata",
    "tags",
    "actions",
    "anchors",
)
MAX_LINK_TITLE = 100
_ADDRESS = re.compile(r"[a-zA-Z][a-zA-Z0-9+.-]*:|//")
__all__ = ["Cover", "Finding", "Repository", "Snippet", "SourceFile", "SourcePage", "read_repository"]
ASSETS = ".gitbook/assets/"
_MISSING = {
    "include": ("snippet not found", "missing-snippet"),
    "image": ("target not found", "missing-file"),
    "file": ("target not found", "missing-file"),
}
"""The messages and rules of broken links that do not lead to pages, by kind of link."""


@dataclass
class Item:
    """An entry of the table of contents: a group or a page. `target` is as written, or None without a link.

    `computed` is the source of generated pages.
    """

    title: str
    line: int
    is_group: bool = False
    target: str | None = None
    link_title: str | None = None
    slug: str | None = None
    computed: dict[str, Any] | None = None
    items: list[Item] = field(default_factory=list["Item"])


@dataclass
class Summary:
    """The table of contents. `title` is its first heading of level 1 that is not generic like "Table of contents"."""

    title: str | None
    items: list[Item]


def read_summary(text: str) -> Summary:
    """Read a table of contents."""
    top: list[Item] = []
    current, title = top, None
    open_items: list[Item | None] = []
    heading = 0
    for token in _MARKDOWN.parse(text):
        if token.type == "list_item_open":
            open_items.append(None)
        elif token.type == "list_item_close":
            open_items.pop()
        elif token.type == "heading_open":
            heading = int(token.tag[1])
        elif token.type == "inline" and heading:
            if heading > 1:
                group = _group(token)
                top.append(group)
                current = group.items
            elif _words(token).casefold() not in _USUAL_TITLES:
                title = title or _words(token)
            heading = 0
        elif token.type in ("inline", "fence") and open_items and open_items[-1] is None:
            item = _generated(token) if token.type == "fence" else _page(token)
            if item is None:
                continue
            above = next((open_item for open_item in reversed(open_items[:-1]) if open_item), None)
            (above.items if above else current).append(item)
            open_items[-1] = item
    return Summary(title, top)


def plain_title(text: str) -> tuple[str, str | None]:
    """Return a title without its anchors, and the id of the first anchor, or None."""
    ids: list[str] = []

    def without_anchor(match: re.Match[str]) -> str:
        anchor = _ID.search(match[1] or "")
        ids.extend([anchor[1]] if anchor else [])
        return "" if anchor or match[1] is None else match[0]

    return " ".join(_ANCHOR.sub(without_anchor, text).split()), ids[0] if ids else None


def path_slug(text: str) -> str:
    """Return a path segment for a file name or a title, without the parts that conditions hide from visitors."""
    words = re.sub(r"[^\w.]+", "-", words_without_claims(text).casefold()).strip("-.")
    return words[:100].strip("-.") or "page"


def _group(token: Token) -> Item:
    title, slug = plain_title(_words(token))
    return Item(title or "Untitled", _line(token), is_group=True, slug=slug)


def _generated(token: Token) -> Item | None:
    """Return the entry for a block of YAML that generates pages from a specification; None for any other block."""
    try:
        source = load_yaml(token.content)
    except InvalidYaml:
        return None
    slug = specification_slug(source)
    settings = {name: source[name] for name in ("type", "props", "dependencies") if name in source}
    return Item(slug, _line(token), computed={"props": {"models": False}} | settings) if slug else None


def _page(token: Token) -> Item:
    children = token.children or []
    opening = next((at for at, child in enumerate(children) if child.type == "link_open"), None)
    if opening is None:
        return Item(_words(token) or "Untitled", _line(token))
    closing = next(at for at, child in enumerate(children) if at > opening and child.type == "link_close")
    link = children[opening]
    title = plain_title("".join(_text(child) for child in children[opening + 1 : closing]))[0]
    caption = link.attrGet("title")
    return Item(
        title or "Untitled",
        _line(token),
        target=str(link.attrGet("href") or ""),
        link_title=str(caption) if caption else None,
    )


def _words(token: Token) -> str:
    return " ".join("".join(_text(child) for child in token.children or []).split())


def _text(token: Token) -> str:
    return " " if token.type in ("softbreak", "hardbreak") else token.content


def _line(token: Token) -> int:
    return token.map[0] + 1 if token.map else 1


@dataclass(frozen=True)
class PageText:
    """The file of a page, divided into title, details and body.

    `text` is the whole file, `body_line` the number of the first line of the body, and `unknown_keys` are the keys of
    front matter that a page has no field for.
    """

    title: str | None
    body: str
    body_line: int
    oid: str = ""
    details: dict[str, Any] = field(default_factory=dict[str, Any])
    cover: Cover | None = None
    unknown_keys: tuple[str, ...] = ()
    findings: tuple[Finding, ...] = ()
    text: str = ""

    @cached_property
    def links(self) -> list[tuple[Link, Range]]:
        """The links of the body, each with the range of its target in the body."""
        return placed_links(self.body)


def read_page(source: str, text: str, *, oid: str = "", has_title: bool = True) -> PageText:
    """Read the file of a page. With `has_title`, a heading at the start of the text is the title of the page."""
    findings: list[Finding] = []
    front: dict[str, Any] = {}
    start = 0
    front_matter = find_front_matter(text)
    if front_matter:
        start = front_matter.end
        try:
            front = load_yaml(front_matter.yaml)
        except InvalidYaml as error:
            findings.append(Finding(source, error.line + 1, f"the front matter is not YAML: {error}", "front-matter"))
    heading = _TITLE.match(text, start) if has_title else None
    title = plain_heading(heading[1] or heading[2]) if heading else None
    start = heading.end() if heading else start
    body = text[start:].lstrip("\n")
    body_line = text.count("\n", 0, len(text) - len(body)) + 1
    front_title = front.get("title")
    return PageText(
        title or (front_title if isinstance(front_title, str) and front_title.strip() else None),
        body,
        body_line,
        oid,
        _details(front),
        _cover(front, source),
        tuple(str(key) for key in front if key not in _KEYS),
        tuple(findings),
        text,
    )


def _details(front: Mapping[str, Any]) -> dict[str, Any]:
    details: dict[str, Any] = {}
    for name in _TEXTS:
        if front.get(name) is not None and not isinstance(front[name], (dict, list, bool)):
            details[name] = str(front[name]).strip()
    details |= {name: front[name] for name in _FLAGS if isinstance(front.get(name), bool)}
    if isinstance(front.get("if"), str):
        details["condition"] = front["if"]
    variables = _mapping(front.get("vars"))
    if variables:
        details["variables"] = {
            str(name): value
            for name, value in variables.items()
            if isinstance(value, str) or _number(value) is not None
        }
    layout = _mapping(front.get("layout"))
    if layout:
        details["layout"] = _layout(layout)
    return details


def _layout(layout: Mapping[str, Any]) -> dict[str, Any]:
    """Return the full layout in API form; parts that the file does not mention are visible."""
    cover = _mapping(layout.get("cover"))
    return {
        "width": str(layout.get("width") or "default"),
        "coverSize": str(cover.get("size") or "hero"),
        "coverMask": str(cover.get("mask") or "none"),
        **{part: _is_visible(layout.get(part)) for part in _PARTS},
    }


def _is_visible(part: object) -> bool:
    return part is not False and _mapping(part).get("visible") is not False


def _mapping(value: object) -> dict[str, Any]:
    return cast("dict[str, Any]", value) if isinstance(value, dict) else {}


def _cover(front: Mapping[str, Any], source: str) -> Cover | None:
    pictures = _mapping(front.get("cover"))
    picture = pictures.get("light") if pictures else front.get("cover")
    dark = pictures.get("dark")
    if not isinstance(picture, str):
        return None
    return Cover(
        _from_root(picture, source),
        _from_root(dark, source) if isinstance(dark, str) else None,
        _number(front.get("coverY")) or 0,
        _number(front.get("coverHeight")),
    )


def _from_root(picture: str, source: str) -> str:
    """Return the source path of an image in a page; return a URL or a path outside of the repository unchanged."""
    if "://" in picture:
        return picture
    return normalize_path(f"{source.rpartition('/')[0]}/{unquote(picture)}") or picture


def _number(value: object) -> float | None:
    return float(value) if isinstance(value, int | float) and isfinite(value) else None


def plain_heading(heading: str) -> str | None:
    """Return the title in the text of a heading, without markup; None if no text remains."""
    words = heading[:MAX_TITLE].rstrip()
    bare = words.rstrip("#")
    if not bare or bare[-1] in " \t":  # the heading had closing #s
        words = bare
    words = _STRONG.sub(r"\2", _LINK.sub(r"\1", plain_title(words)[0]))
    return " ".join(_ESCAPE.sub(r"\1", words).split()) or None


class PageTreeBuilder:
    """Arranges the pages of a repository in a tree.

    Attributes:
        title: the title of the table of contents; None before `pages` is called, or without such a title.
        findings: the problems that `pages` found.
        files_linked: the source paths of files that the table of contents links.
    """

    def __init__(self, files: RepositoryFiles, settings: RepositoryConfig, texts: Mapping[str, PageText]) -> None:
        self.files = files
        self.summary = settings.summary
        self.readme = settings.readme
        self.texts = texts
        self.title: str | None = None
        self.findings: list[Finding] = []
        self.files_linked: set[str] = set()
        self._listed: set[str] = set()
        self._placed: set[str] = set()

    def pages(self) -> tuple[SourcePage, ...]:
        """Return the page tree. Pages that the table of contents does not list come last."""
        if self.summary in self.files:
            text = self.files.text(self.summary)
            self.findings += text.findings
            summary = read_summary(text.text)
            self.title = summary.title
            targets = [item.target for item in _all_items(summary.items) if item.target]
            self._listed = {self._source(target) for target in targets if "#" not in target}
            pages = self._from_items(summary.items)
        else:
            self._report(self.summary, 1, "is missing: pages are ordered by folder", "no-summary")
            pages = self._from_folder("")
        return _with_own_slugs([*pages, *self._unlisted()])

    def _from_items(self, items: Iterable[Item]) -> list[SourcePage]:
        pages: list[SourcePage] = []
        for item in items:
            page = self._from_item(item)
            below = self._from_items(item.items)
            if page.kind in ("link", "computed"):
                if below and page.kind == "link":
                    self._report(
                        self.summary, item.line, "is a link: its subpages are placed next to it", "subpages-of-link"
                    )
                pages += [page, *below]
            else:
                pages.append(replace(page, pages=_with_own_slugs(below)))
        return pages

    def _from_item(self, item: Item) -> SourcePage:
        if item.computed:
            return SourcePage("computed", item.title, details={"computed": item.computed})
        if item.is_group:
            return SourcePage("group", item.title, item.slug or path_slug(item.title))
        if not item.target:
            return SourcePage("document", item.title, path_slug(item.title))
        if _ADDRESS.match(item.target):
            return SourcePage("link", item.title, target=item.target)
        source, anchor = self._source(item.target), item.target.partition("#")[2]
        if source in self.texts:
            if source not in self._placed and (not anchor or source not in self._listed):
                return self._document(source, item)
            if not anchor:
                self._report(self.summary, item.line, f"{source} is listed again: imported as a link", "repeated-page")
            return SourcePage("link", item.title, target=f"{source}#{anchor}" if anchor else source)
        if source in self.files:
            self.files_linked.add(source)
            return SourcePage("link", item.title, target=source)
        message = f"{unquote(item.target)} does not exist: the page is empty"
        self.findings.append(Finding(self.summary, item.line, message, "missing-page", target=source))
        return SourcePage("document", item.title, self._slug(source) if source else path_slug(item.title))

    def _document(self, source: str, item: Item | None = None) -> SourcePage:
        """Return the page of a text. A different title in the table of contents becomes the link title."""
        self._placed.add(source)
        text = self.texts[source]
        title = text.title or (item.title if item else None) or self._slug(source)
        listed_title = (item.link_title or item.title) if item else title
        return SourcePage(
            "document",
            title,
            self._slug(source),
            source=source,
            oid=text.oid,
            body=text.body,
            link_title=listed_title[:MAX_LINK_TITLE] if listed_title != title else None,
            details=text.details,
            cover=text.cover,
            unknown_keys=text.unknown_keys,
        )

    def _from_folder(self, folder: str) -> list[SourcePage]:
        """Return the pages of a folder. The README of an inner folder is the page of that folder."""
        prefix = f"{folder}/" if folder else ""
        inner = [text[len(prefix) :] for text in self.texts if text.startswith(prefix)]
        own_readme = self._readme(folder)
        pages = [self._document(own_readme)] if own_readme and not folder else []
        for name in sorted({inner_path.partition("/")[0] for inner_path in inner if prefix + inner_path != own_readme}):
            path = prefix + name
            if path in self.texts:
                pages.append(self._document(path))
                continue
            readme = self._readme(path)
            page = self._document(readme) if readme else SourcePage("document", name, path_slug(name))
            pages.append(replace(page, pages=_with_own_slugs(self._from_folder(path))))
        return pages

    def _unlisted(self) -> Iterator[SourcePage]:
        for source in self.texts:
            if source not in self._placed:
                page = self._document(source)
                self._report(source, 1, f"is not listed in {self.summary}: imported as a hidden page", "unlisted-page")
                yield replace(page, details={**page.details, "hidden": True})

    def _source(self, target: str) -> str:
        """Return the source path for a target in the table of contents.

        The result is an empty string for a URL or a path outside of the repository.
        """
        path = unquote(target.partition("#")[0])
        if _ADDRESS.match(target):
            return ""
        folder = "" if path.startswith("/") else self.summary.rpartition("/")[0]
        for candidate in (normalize_path(f"{folder}/{path}"), normalize_path(path)):
            if candidate is not None:
                for source in (candidate, self._readme(candidate), f"{candidate}.md"):
                    if source and source in self.files:
                        return source
        return normalize_path(path) or ""

    def _readme(self, folder: str) -> str | None:
        return self.readme if not folder and self.readme in self.texts else self.files.readme(folder)

    def _slug(self, source: str) -> str:
        folder, _, name = source.rpartition("/")
        stem = name[:-3] if name.casefold().endswith(".md") else name
        is_readme = stem.casefold() == "readme"
        return path_slug(folder.rpartition("/")[2] if is_readme and folder else stem)

    def _report(self, path: str, line: int, message: str, rule: str) -> None:
        self.findings.append(Finding(path, line, message, rule))


def _all_items(items: Iterable[Item]) -> Iterator[Item]:
    for item in items:
        yield item
        yield from _all_items(item.items)


def _with_own_slugs(pages: Iterable[SourcePage]) -> tuple[SourcePage, ...]:
    """Return siblings with unique slugs; a slug that is taken gets a number."""
    slugs: set[str] = set()
    unique: list[SourcePage] = []
    for page in pages:
        slug, number = page.slug, 1
        while slug and slug in slugs:
            slug = f"{page.slug}-{number}"
            number += 1
        slugs.add(slug)
        unique.append(page if slug == page.slug else replace(page, slug=slug))
    return tuple(unique)


class AnchoredLink(NamedTuple):
    """A link to an anchor.

    Attributes:
        page: the source path of the linked page.
        anchor: the anchor.
        fragment: the anchor as written in the link.
        finding: the finding to report if the page lacks the anchor.
    """

    page: str
    anchor: str
    fragment: str
    finding: Finding


@dataclass
class Folder:
    """The content of a documentation folder, with details that only checks need.

    Attributes:
        settings: the configuration.
        files: the files of the folder.
        title: the title in the table of contents, or None.
        pages: the page tree.
        texts: the texts of pages and snippets by source path.
        places: resolves links between the files.
        redirects: destinations by former page path.
        findings: the problems found so far.
        used: the source paths of linked files.
        anchored: the links to anchors.
    """

    settings: RepositoryConfig
    files: RepositoryFiles
    title: str | None
    pages: tuple[SourcePage, ...]
    texts: dict[str, PageText]
    places: LinkResolver
    redirects: dict[str, Destination]
    findings: list[Finding]
    used: set[str] = field(default_factory=set[str])
    anchored: list[AnchoredLink] = field(default_factory=list[AnchoredLink])


KnownTexts = dict[str, tuple[Entry, PageText]]
"""The texts of an earlier reading by source path, each with the file that it was read from."""


def read_repository(path: Path, known: KnownTexts | None = None) -> Repository:
    """Read a repository.

    Pages that the table of contents does not list come last and hidden, so that links to them keep working.

    Args:
        path: the directory.
        known: the texts of an earlier reading, so that unchanged files are not read again. They are replaced by the
            texts of this reading.

    Raises:
        OSError: the directory does not exist.
    """
    folder = read_folder(path, known)
    files = folder.files
    used = folder.used | {source for source in files if source.startswith(ASSETS)}
    snippets = ((source, page) for source, page in folder.texts.items() if source.startswith(INCLUDES))
    return Repository(
        title=folder.title or path.resolve().name,
        pages=folder.pages,
        files=tuple(files.file(source) for source in sorted(used)),
        snippets=tuple(_snippet(source, page) for source, page in snippets),
        redirects=folder.redirects,
        findings=tuple(sorted(folder.findings, key=lambda finding: finding.place)),
    )


def read_folder(path: Path, known: KnownTexts | None = None) -> Folder:
    """Read a repository with the details that only checks need; see `read_repository`."""
    directory = path.resolve(strict=True)
    settings, findings = _settings(directory)
    files = RepositoryFiles(directory / settings.root)
    before, after = known or {}, KnownTexts()
    for source in files.texts():
        if source != settings.summary:
            entry = files.entries[source]
            former = before.get(source)
            after[source] = former if former and former[0] == entry else (entry, _read_text(files, source))
    if known is not None:
        known.clear()
        known.update(after)
    texts = {source: page for source, (_, page) in after.items()}
    for page in texts.values():
        findings += page.findings
    tree = PageTreeBuilder(
        files, settings, {source: page for source, page in texts.items() if not source.startswith(INCLUDES)}
    )
    pages = tree.pages()
    redirects = _redirects(settings.redirects, _places(files, settings), pages, findings)
    places = _places(files, settings, redirects)
    findings += (*files.findings, *tree.findings)
    folder = Folder(settings, files, tree.title, pages, texts, places, redirects, findings, tree.files_linked)
    _follow(folder)
    return folder


def _read_text(files: RepositoryFiles, source: str) -> PageText:
    text = files.text(source)
    page = read_page(source, text.text, oid=text.oid, has_title=not source.startswith(INCLUDES))
    return replace(page, findings=(*text.findings, *page.findings))


def _settings(directory: Path) -> tuple[RepositoryConfig, list[Finding]]:
    location = directory / CONFIG_FILE
    if location.is_symlink() or not location.is_file():
        return RepositoryConfig(), []
    text = read_text(CONFIG_FILE, location)
    settings, findings = read_config(text.text)
    root = directory / settings.root
    if not root.is_dir() or root.resolve() != root:
        message = f"root: {settings.root} is not a directory of the repository"
        findings.append(Finding(CONFIG_FILE, 1, message, "config"))
        settings = RepositoryConfig(redirects=settings.redirects)
    return settings, [*text.findings, *findings]


def _snippet(source: str, page: PageText) -> Snippet:
    return Snippet(source, page.oid, page.title or source.rpartition("/")[2].removesuffix(".md"), page.body)


def _places(
    files: RepositoryFiles, settings: RepositoryConfig, redirects: Mapping[str, Destination] | None = None
) -> LinkResolver:
    texts = {source: source for source in files.texts() if source != settings.summary}
    return LinkResolver(
        {source: source for source in texts if not source.startswith(INCLUDES)},
        {source: source for source in files if source not in texts and source != settings.summary},
        {source: source for source in texts if source.startswith(INCLUDES)},
        redirects,
    )


def _follow(folder: Folder) -> None:
    """Report broken links of a folder, and collect linked files and links to anchors."""
    for source, page in folder.texts.items():
        for link, (start, end) in page.links:
            if link.target.startswith("/~/"):
                continue  # refers to an id, such as a user, which cannot be checked in a repository
            destination = folder.places.resolve(link.target, source)
            if destination.kind == "file":
                folder.used.add(destination.id)
            # `<a href="#slug" id="other"></a>` names the heading around it
            is_anchored = destination.kind == "page" and destination.anchor and (link.text or link.target[0] != "#")
            if not is_anchored and destination.kind != "broken":
                continue
            line = page.body_line + page.body.count("\n", 0, start)
            column = start - page.body.rfind("\n", 0, start)
            if is_anchored:
                message = f"{link.target}: {destination.id} has no heading “{destination.anchor}”"
                fragment = page.body[start:end].partition("#")[2]
                at = column + (end - start) - len(fragment)
                finding = Finding(source, line, message, "broken-anchor", at, destination.id)
                folder.anchored.append(AnchoredLink(destination.id, destination.anchor, fragment, finding))
            else:
                message, rule = _MISSING.get(link.kind, ("target not found", "broken-link"))
                target = linked_path(link.target, source) or ""
                folder.findings.append(Finding(source, line, f"{link.target}: {message}", rule, column, target))
        pictures = (page.cover.picture, page.cover.picture_dark) if page.cover else ()
        for picture in filter(None, pictures):
            destination = folder.places.resolve(quote(picture, safe="/:"), "")
            if destination.kind == "file":
                folder.used.add(destination.id)
            elif destination.kind == "broken":
                folder.findings.append(Finding(source, 1, f"{picture}: cover not found", "missing-file", 1, picture))


def _redirects(
    written: Sequence[WrittenRedirect], places: LinkResolver, pages: Sequence[SourcePage], findings: list[Finding]
) -> dict[str, Destination]:
    """Return the final destinations of redirects by former path, following chains.

    A problem is added to `findings` for each redirect that is not served.
    """
    by_path = {redirect.former: redirect for redirect in written}
    ends: dict[str, Destination | str] = {}  # the destination, or the reason why there is none
    for redirect in written:
        followed: dict[str, None] = {}
        path, target = redirect.former, redirect.target
        end = ends.get(path)
        while end is None:
            followed[path] = None
            end = _page_or_file(target, places)
            if end is None:
                path = page_path(unquote(target.partition("#")[0]))
                if path in followed:
                    end = "leads in a loop"
                elif path not in by_path:
                    end = f"leads to {target}, which was not found"
                else:
                    end, target = ends.get(path), by_path[path].target
        ends |= dict.fromkeys(followed, end)
    paths = {*_paths(pages)}
    destinations: dict[str, Destination] = {}
    for former, end in ends.items():
        reason = end
        if isinstance(end, Destination):
            destinations[former] = end
            reason = "is not served: it leads to a file" if end.kind == "file" else ""
        if former in paths:
            reason = "is not served: a page has this path"
        if reason:
            message, target = f"the redirect of {former} {reason}", by_path[former].target
            findings.append(Finding(CONFIG_FILE, by_path[former].line, message, "redirect", target=target))
    return destinations


def _page_or_file(target: str, places: LinkResolver) -> Destination | None:
    for address in (quote(target), target):  # as a file name, then as a link
        destination = places.resolve("/" + address, "")
        if destination.kind in ("page", "file"):
            return destination
    return None


def _paths(pages: Iterable[SourcePage], prefix: str = "") -> Iterator[str]:
    for page in pages:
        if page.slug:
            yield prefix + page.slug
        yield from _paths(page.pages, f"{prefix}{page.slug}/" if page.slug else prefix)
