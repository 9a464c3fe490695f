"""Finds the links of a text and resolves them to a page, a file, a snippet or a URL.

Links between pages are stored as written, relative to their file; `LinkResolver` resolves them.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterable, Iterator, Mapping
from html import unescape
from typing import Literal, NamedTuple
from urllib.parse import unquote

from presscheck.api.content import ReusableContent, RevisionFile, RevisionPage
from presscheck.documents.markdown.anchors import decode_fragment
from presscheck.documents.markdown.autolinks import autolinks
from presscheck.documents.markdown.code_ranges import Range, without_code
from presscheck.documents.pages.tree import flatten
from presscheck.text.sanitize import is_safe_link

Kind = Literal["link", "image", "file", "embed", "content-ref", "include"]
_LinkMatch = tuple[int, str, str, Kind, Range]
"""Start of a link, its text, its target, its kind, and the range of its target."""
_BRACKET = re.compile(r"\\.|!?\[|\]|\n[ \t]*\n")
_TARGET = re.compile(
    r"\([ \t]*+(?:\n[ \t]*+)?(<[^<>\n]*+>|[^\s()]*+(?:\([^\s()]*+\)[^\s()]*+)*)"
    r"(?:\s++(?:\"[^\"]*+\"|'[^']*+'|\([^()]*+\)))?\s*+\)"
)
_DEFINITION = re.compile(r"^[ \t>]*\[([^\]\n^][^\]\n]*)\]:[ \t]*\n?[ \t]*(<[^<>\n]*>|\S+)", re.MULTILINE)
_ESCAPE = re.compile(r"\\([!-/:-@\[-`{-~])")
_TAG = re.compile(
    r"\{%-?[ \t]*(content-ref|page-ref|embed|file|include|openapi|openapi-operation|swagger)\b((?:(?!\{%)[^\n])*?)%\}",
    re.IGNORECASE,
)
_VALUE = re.compile(r"\b(?:url|src|page)=(?:\"([^\"\n]*)\"|'([^'\n]*)')")
_INCLUDED = re.compile(r"(?:\"([^\"\n]*)\"|'([^'\n]*)')")
_HTML = re.compile(r"<(a|img|source|video|audio|iframe)\b([^<>]*)>", re.IGNORECASE)
_ADDRESS = re.compile(r"\b(?:href|src|srcset)=(?:\"([^\"]*)\"|'([^']*)')", re.IGNORECASE)
_ALTERNATIVE = re.compile(r"\balt=(?:\"([^\"]*)\"|'([^']*)')", re.IGNORECASE)
_MAYBE_UNNAMED = re.compile(r"!\[[\s*`\\]*\]")
"""Matches images whose alternative text may have only blanks and markup."""
_UNNAMED = re.compile(r"\\.|(!\[(?:[\s*`]|\\[*`])*\])")
"""Matches an escape, or an image without alternative text once code is blanked out."""
_BLANK = re.compile(r"\n[ \t]*\n")
_MAYBE_UNNAMED_TAG = re.compile(r"<[iI][mM][gG]\b(?![^<>]*?\b[aA][lL][tT]=(?:\"\s*[^\"\s&*`\\]|'\s*[^'\s&*`\\]))")
"""Matches image tags whose alternative text is missing, or may be empty once entities are resolved."""
_IMAGE_TAG = re.compile(r"<img\b([^<>]*)>", re.IGNORECASE)
_CLOSING = re.compile(r"</(?:a|picture)>", re.IGNORECASE)
_CAPTION_END = re.compile(r"</figcaption", re.IGNORECASE)
_BEFORE_CAPTION, _LONGEST_CAPTION = 40, 2000
"""Maximum numbers of characters between an image and its caption, and of a caption."""
_ANY_TAG = re.compile(r"<[^<>]*+>")
_AUTOLINK = re.compile(r"<((?:https?|mailto):[^<>\s]+)>", re.IGNORECASE)
_OF_TAG: dict[str, Kind] = {
    "content-ref": "content-ref",
    "page-ref": "content-ref",
    "embed": "embed",
    "include": "include",
}


class Link(NamedTuple):
    """A link as written; `line` counts from 1."""

    text: str
    target: str
    line: int
    kind: Kind


class WrittenTarget(NamedTuple):
    """The range of a link target in a text; `target` is the target without escapes."""

    start: int
    end: int
    target: str


class Destination(NamedTuple):
    """The destination of a link: `id` of the page, file or snippet, or `url` on the web; `anchor` is decoded."""

    kind: Literal["page", "file", "snippet", "web", "broken"]
    id: str = ""
    anchor: str = ""
    url: str = ""


def find_links(markdown: str) -> list[Link]:
    """Return all links of a text in order, except in code and comments."""
    return [link for link, _ in placed_links(markdown)]


def placed_links(markdown: str) -> list[tuple[Link, Range]]:
    """Return all links of a text as `find_links` does, each with the range of its target."""
    text = without_code(markdown)
    ends = _line_ends(text)
    return [
        (Link(words, target, bisect_left(ends, at) + 1, kind), place)
        for at, words, target, kind, place in _all_links(text, markdown)
    ]


def unnamed_images(markdown: str) -> list[int]:
    """Return the offsets of images without alternative text or caption, except in code and comments."""
    # rules out most texts within microseconds; checking for single characters first is fastest
    may_be_written = "!" in markdown and "![" in markdown and _MAYBE_UNNAMED.search(markdown)
    if not may_be_written and not ("<" in markdown and _MAYBE_UNNAMED_TAG.search(markdown)):
        return []
    text = without_code(markdown)
    written = (
        match.start()
        for match in _UNNAMED.finditer(text)
        if match[1]
        and not _BLANK.search(match[1])
        and not _words(markdown[match.start() + 2 : match.end() - 1])
        and _TARGET.match(text, match.end())
    )
    tags = (
        match.start()
        for match in _IMAGE_TAG.finditer(text)
        if _ADDRESS.search(match[1]) and not _alternative(match[1]) and not _caption(text, match.end())
    )
    return sorted((*written, *tags))


def written_targets(markdown: str) -> list[WrittenTarget]:
    """Return the ranges of all link targets of a text, in order, including bare URLs."""
    text = without_code(markdown)
    written = [WrittenTarget(*place, target) for _, _, target, _, place in _all_links(text, markdown)]
    written += (WrittenTarget(start, end, text[start:end]) for start, end in autolinks(text))
    targets: list[WrittenTarget] = []
    for target in sorted(written, key=lambda target: (target.start, -target.end)):
        if not targets or target.start >= targets[-1].end:  # otherwise a bare URL within a target
            targets.append(target)
    return targets


class LinkResolver:
    """Resolves links by source paths of files and, for pages, also by paths that readers see.

    Args:
        pages: page ids by source path, and optionally by the path that readers see.
        files: file ids by source path.
        snippets: snippet ids by source path.
        redirects: destinations by former page path (see `page_path`).
    """

    def __init__(
        self,
        pages: Mapping[str, str],
        files: Mapping[str, str] | None = None,
        snippets: Mapping[str, str] | None = None,
        redirects: Mapping[str, Destination] | None = None,
    ) -> None:
        self._pages, self._files, self._snippets = pages, files or {}, snippets or {}
        self._redirects = redirects or {}
        self._readmes = {source.rpartition("/")[0]: page_id for source, page_id in pages.items() if _is_readme(source)}

    @classmethod
    def of(
        cls,
        pages: Iterable[RevisionPage],
        files: Iterable[RevisionFile] = (),
        snippets: Iterable[ReusableContent] = (),
    ) -> LinkResolver:
        """Create the resolver of a revision."""
        page_ids: dict[str, str] = {}
        for page in flatten(pages):
            for source in _sources(page):
                page_ids.setdefault(source, page.id)
        return cls(
            page_ids,
            {file.git.path if file.git else file.name: file.id for file in files},
            {snippet.git.path: snippet.id for snippet in snippets if snippet.git},
        )

    def resolve(self, target: str, source: str) -> Destination:
        """Return the destination of a link target. `source` is the source path of the text with the link."""
        if re.match(r"[a-zA-Z][a-zA-Z0-9+.-]*:|//", target):
            url = f"https:{target}" if target.startswith("//") else target
            return Destination("web" if is_safe_link(url) else "broken", url=target)
        path, anchor = linked_path(target, source), decode_fragment(target.partition("#")[2])
        destination = None if path is None else self._find(path, anchor)
        return destination or Destination("broken")

    def _find(self, path: str, anchor: str) -> Destination | None:
        for candidate in (path, f"{path}.md"):
            page = self._pages.get(candidate) or self._readmes.get(candidate)
            if page is not None:
                return Destination("page", page, anchor)
            if candidate in self._files:
                return Destination("file", self._files[candidate])
            if candidate in self._snippets:
                return Destination("snippet", self._snippets[candidate])
        redirect = self._redirects.get(path) or self._redirects.get(page_path(path))
        return redirect._replace(anchor=anchor or redirect.anchor) if redirect else None


def linked_path(target: str, source: str) -> str | None:
    """Return the source path that a relative link target leads to, or None if the target leaves the repository.

    `source` is the source path of the text with the link.
    """
    path = unquote(target.partition("#")[0].partition("?")[0])
    if not path:
        return source
    return _resolve_path("" if path.startswith("/") else source.rpartition("/")[0], path)


def source_path(page: RevisionPage) -> str:
    """Return the path of a page's file in the repository, or else the path that its page path implies.

    The path is empty for a page with neither, such as a link page.
    """
    return next(iter(_sources(page)), "")


def page_path(source: str) -> str:
    """Return the page path for a source path; a README has the path of its folder."""
    path = source[:-3] if source.casefold().endswith(".md") else source
    folder, _, name = path.rpartition("/")
    return folder if path != source and name.casefold() == "readme" else path


def _sources(page: RevisionPage) -> list[str]:
    path = page.path or ""
    written = [page.git.path] if page.git else []
    if page.type != "document":
        return [path] if path else []
    # links that were written before the page got or lost its subpages still work
    files = (f"{path}/README.md", f"{path}.md")
    return [*written, *(files if page.pages else reversed(files)), path]


def _is_readme(source: str) -> bool:
    return source.rpartition("/")[2].casefold() == "readme.md"


def _resolve_path(folder: str, path: str) -> str | None:
    parts = folder.split("/") if folder else []
    for part in path.split("/"):
        if part == "..":
            if not parts:
                return None
            parts.pop()
        elif part not in ("", "."):
            parts.append(part)
    return "/".join(parts)


# Finding links. Every scan is linear in the length of the text, whatever it contains.


def _line_ends(text: str) -> list[int]:
    return [match.start() for match in re.finditer("\n", text)]


def _all_links(text: str, written: str) -> list[_LinkMatch]:
    return sorted((*_bracketed(text, written), *_defined(text), *_in_tags(text), *_in_html(text)))


def _bracketed(text: str, written: str) -> Iterator[_LinkMatch]:
    opened: list[tuple[int, bool]] = []
    for token in _BRACKET.finditer(text):
        first = token[0][0]
        if first == "\n":
            opened.clear()
        elif first in "![":
            opened.append((token.start(), first == "!"))
        elif first == "]" and opened:
            start, is_image = opened.pop()
            target = _TARGET.match(text, token.end())
            if target:
                words = written[start + 1 + is_image : token.start()]
                kind: Kind = "image" if is_image else "link"
                yield start, _words(words), _address(target[1]), kind, _bare_range(target, 1)


def _defined(text: str) -> Iterator[_LinkMatch]:
    for match in _DEFINITION.finditer(text):
        yield match.start(), _words(match[1]), _address(match[2]), "link", _bare_range(match, 2)


def _in_tags(text: str) -> Iterator[_LinkMatch]:
    for match in _TAG.finditer(text):
        name = match[1].lower()
        value = (_INCLUDED if name == "include" else _VALUE).search(match[2])
        if value:
            place = _range_in(match, 2, value)
            yield match.start(), "", value[1] or value[2] or "", _OF_TAG.get(name, "file"), place


def _in_html(text: str) -> Iterator[_LinkMatch]:
    for match in _HTML.finditer(text):
        address = _ADDRESS.search(match[2])
        if address is None:
            continue
        target, is_anchor = unescape(address[1] or address[2] or ""), match[1].lower() == "a"
        if target:
            following = text[match.end() : match.end() + 200].partition("<")[0]
            words = _words(following) if is_anchor else _alternative(match[2])
            place = _range_in(match, 2, address)
            yield match.start(), words, target, "link" if is_anchor else "image", place
    for match in _AUTOLINK.finditer(text):
        yield match.start(), match[1], match[1], "link", match.span(1)


def _alternative(attributes: str) -> str:
    """Return the alternative text in the attributes of an image tag, or an empty string."""
    match = _ALTERNATIVE.search(attributes)
    return _words(unescape(match[1] or match[2] or "")) if match else ""


def _caption(text: str, end: int) -> str:
    """Return the caption of an image whose tag ends at an offset, or an empty string."""
    start = text.find("<figcaption", end, end + _BEFORE_CAPTION)
    if start < 0 or _CLOSING.sub("", text[end:start]).strip():
        return ""
    inside = _CAPTION_END.split(text[start : start + _LONGEST_CAPTION].partition(">")[2], maxsplit=1)[0]
    return _words(unescape(_ANY_TAG.sub("", inside)))


def _bare_range(match: re.Match[str], group: int) -> Range:
    """Return the range of a group, without surrounding angle brackets."""
    start, end = match.span(group)
    is_bracketed = match[group].startswith("<") and match[group].endswith(">")
    return (start + 1, end - 1) if is_bracketed else (start, end)


def _range_in(match: re.Match[str], group: int, value: re.Match[str]) -> Range:
    """Return the range of the value of an attribute in the whole text, without its quotes.

    `value` is a match within the group `group` of `match`; its first or second group is the value, depending on the
    quotes.
    """
    start, end = value.span(1 if value[1] is not None else 2)
    return match.start(group) + start, match.start(group) + end


def _words(text: str) -> str:
    return " ".join(_ESCAPE.sub(r"\1", text).replace("**", "").replace("`", "").split())


def _address(target: str) -> str:
    bare = target[1:-1] if target.startswith("<") and target.endswith(">") else target
    return unescape(_ESCAPE.sub(r"\1", bare))


class LinkTarget(NamedTuple):
    """The title of a link's target, and whether the target is missing."""

    title: str = ""
    is_broken: bool = False
