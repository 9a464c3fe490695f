"""Anchors: the names of headings, expandables, footnotes and tabs, for links such as `page.md#anchor`.

The rules follow the platform, as its documentation repositories show them; the app, published pages, PDFs and checks
all use this module. In a URL, an anchor is percent-encoded: `decode_fragment` decodes it where a URL is read,
`encode_fragment` encodes it where a URL is written.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from html import unescape
from typing import TYPE_CHECKING, Any
from urllib.parse import quote, unquote

from presscheck.documents.block_tags import included_address
from presscheck.documents.markdown.block_splitter import split_blocks
from presscheck.documents.markdown.headings import heading_level, heading_text
from presscheck.documents.markdown.romanization import romanize

if TYPE_CHECKING:
    from presscheck.documents.markdown.parser import Token, Tokens

UNNAMED = "undefined"
"""The anchor of a heading without letters and digits, or in a script that is not romanized."""
DEEPEST = 4
"""Deepest level of headings with an anchor; the platform has no deeper headings."""
_LONGEST = 100
_MAX_INCLUDES = 5
"""Maximum nesting depth of included texts."""
_IN_FRAGMENT = "!$&'()*+,;=:@/?-._~"
"""Characters of a fragment that need no encoding, besides letters and digits."""

_WORDS = str.maketrans({"&": " and ", "|": " or ", "<": " less than ", ">": " greater than "} | dict.fromkeys("'‘’"))
_separators = re.compile(r"[^a-z0-9._+]+")
_tag = re.compile(r"<[^<>]*>")
_id = re.compile(r"<(?:a\b[^<>]*?\s(?:id|name)|[a-z][^<>]*?\sid)=(?:\"([^\"<>]*)\"|'([^'<>]*)')", re.IGNORECASE)
_html_heading = re.compile(r"(<h([1-4])\b[^<>]*>)((?:[^<]|<(?!/?h[1-6]\b))*)</h\2>", re.IGNORECASE)
_markup = re.compile(r"[\\`*_\[\]<>&~!:$#]")
_VOID = frozenset(("html_inline", "image", "emoji", "footnote_ref"))
"""Inline tokens that are not text."""
_BREAKS = frozenset(("softbreak", "hardbreak"))
_WITHOUT_NAMES = frozenset(("front", "code", "rule", "definition"))
"""Kinds of blocks that contain no anchors."""
_may_name = re.compile(
    r"^[ \t>]*(?:(?:[-*+]|\d{1,9}[.)])[ \t]+)*#|^[ \t>]*(?:=+|-+)[ \t]*$|<(?:h[1-6]|details)\b|\s(?:id|name)=|\{%|\[\^",
    re.MULTILINE | re.IGNORECASE,
)
"""Matches every block that may contain an anchor."""
_OTHER_HEADINGS = ("@", "openapi", "swagger")
"""Prefixes of the names of tags whose headings are not in the text of the page."""


def heading_anchor(title: str) -> str:
    """Return the anchor for the text of a heading: `id-1.-create` for `1. Create`."""
    text = romanize(unicodedata.normalize("NFC", title).lower().translate(_WORDS))
    # a plus is treated like a letter first: `A + B` becomes `a--b`
    name = _separators.sub("-", text).replace("+", "").strip("-").rstrip("-._")
    return (f"id-{name}" if name[:1].isdigit() else name)[:_LONGEST] or UNNAMED


def footnote_anchor(label: str) -> str:
    """Return the anchor of a footnote; in the platform's Markdown, footnote references are links to it."""
    return f"user-content-fn-{label}"


def decode_fragment(text: str) -> str:
    """Return the anchor in the fragment of a URL."""
    return unquote(text)


def encode_fragment(anchor: str) -> str:
    """Return an anchor encoded for the fragment of a URL."""
    return quote(anchor, safe=_IN_FRAGMENT)


class AnchorNames:
    """Assigns anchors to the headings and expandables of a page, in order; repeated anchors get a number."""

    def __init__(self) -> None:
        self._numbers: dict[str, int] = {}

    def name(self, title: str, explicit: str = "") -> str:
        """Return the anchor for a title, or for the id that the author set (`explicit`)."""
        anchor = base = explicit or heading_anchor(title)
        while anchor in self._numbers:
            anchor = f"{base}-{self._numbers[base]}"
            self._numbers[base] += 1
        self._numbers[anchor] = 1
        return anchor

    def heading(self, level: int, tokens: Sequence[Token]) -> str:
        """Return the anchor of a heading, given its inline tokens; empty below the deepest level."""
        return self.name(title_of(tokens), own_id(tokens)) if level <= DEEPEST else ""

    def markdown(self, level: int, heading: str) -> str:
        """Return the anchor of a heading, given its Markdown without `#`; empty below the deepest level."""
        if level > DEEPEST or not _markup.search(heading):
            return self.name(heading) if level <= DEEPEST else ""
        # importing takes 32 ms, so only for a heading with markup
        from presscheck.documents.markdown.parser import parse

        inline = next((token for token in parse(f"# {heading}", {}) if token.type == "inline"), None)
        return self.heading(level, inline.children or []) if inline else self.name(heading)

    def expandable(self, token: Token) -> str:
        """Return the anchor of an expandable, given its tag."""
        return self.html(token.content, token.meta.get("summary") or "Details")

    def html(self, opening: str, inner: str) -> str:
        """Return the anchor of an HTML heading, given its opening tag and its content."""
        ids = ids_in(opening + inner)
        return self.name(unescape(_tag.sub("", inner)), ids[0] if ids else "")


def title_of(tokens: Sequence[Token]) -> str:
    """Return the text of a heading, given its inline tokens."""
    text = "".join([" " if token.type in _BREAKS else token.content for token in tokens if token.type not in _VOID])
    return " ".join(text.split())


def own_id(tokens: Sequence[Token]) -> str:
    """Return the id that an author set with a tag in a heading, or an empty string."""
    return next((name for token in tokens if token.type == "html_inline" for name in ids_in(token.content)), "")


def ids_in(html: str) -> list[str]:
    """Return the ids of the tags in HTML, including names of `<a name="…">`."""
    return [unescape(first or second) for first, second in _id.findall(html) if first or second]


def named_html(html: str, names: AnchorNames) -> str:
    """Return HTML in which each heading has its anchor as id."""

    def with_id(match: re.Match[str]) -> str:
        anchor = names.html(match[1], match[3])
        has_id = bool(ids_in(match[0]))
        return match[0] if has_id else f'<h{match[2]} id="{anchor}"{match[1][3:]}{match[3]}</h{match[2]}>'

    return _html_heading.sub(with_id, html)


@dataclass
class PageAnchors:
    """The anchors of a page.

    Attributes:
        lines: the line of each anchor in the Markdown, from 0.
        is_complete: False if the page may have further anchors, such as headings that a block generates.
    """

    lines: dict[str, int] = field(default_factory=dict[str, int])
    is_complete: bool = True


def page_anchors(markdown: str, title: str = "", included: Callable[[str], str | None] = lambda _: None) -> PageAnchors:
    """Return the anchors of a page.

    Args:
        markdown: the text of the page.
        title: the title of the page; if the text repeats it as its first heading, that heading has no anchor.
        included: returns the reusable content for the URL of an include, or None if it is unknown.
    """
    reader = _Reader(title, included)
    reader.text(markdown)
    for name, line in reader.tabs.items():
        reader.anchors.lines.setdefault(name, line)
    return reader.anchors


class _Reader:
    """Collects the anchors of a page and of the texts that it includes."""

    def __init__(self, title: str, included: Callable[[str], str | None]) -> None:
        self.anchors = PageAnchors()
        self.tabs = dict[str, int]()
        """Anchors of tabs; a heading with the same anchor takes precedence."""
        self._names = AnchorNames()
        self._title, self._included = title.casefold(), included
        self._includes = 0

    def text(self, markdown: str, tag: int | None = None) -> None:
        """Read a text. For included text, `tag` is the line of the tag that includes the text."""
        # importing takes 32 ms, so only once a link has an anchor
        from presscheck.documents.markdown.parser import parse

        blocks, environment = split_blocks(markdown), dict[str, Any]()
        for block in blocks:
            if block.kind == "definition":
                parse(block.text, environment)
        for block in blocks:
            if block.kind in _WITHOUT_NAMES or not (block.kind == "heading" or _may_name.search(block.text)):
                continue  # parsing all blocks would take twice as long
            line = first = block.start_line if tag is None else tag
            title = heading_text(block.text) if block.kind == "heading" else None
            if title and not _markup.search(title):
                self._heading(heading_level(block.text), title, "", line)
                continue
            try:
                tokens = parse(block.text, environment)
            except RecursionError:
                self.anchors.is_complete = False
                continue
            for at, token in enumerate(tokens):
                if token.map and tag is None:
                    line = first + token.map[0]
                self._token(token, tokens[at + 1 : at + 2], line)

    def _token(self, token: Token, following: Tokens, line: int) -> None:
        if token.type == "heading_open":
            inline = following[0].children or []
            self._heading(int(token.tag[1]), title_of(inline), own_id(inline), line)
        elif token.type == "inline":
            for name in ids_in("".join([child.content for child in token.children or () if child.type in _VOID])):
                self._add(name, line)
        elif token.type == "footnote_reference_open":
            self._add(footnote_anchor(str(token.meta["label"])), line)
        elif token.type == "html_block":
            self._html(token.content, line)
        elif token.type in ("tag", "tag_open"):
            self._tag(token, line)

    def _heading(self, level: int, title: str, explicit: str, line: int) -> None:
        repeats_title = level == 1 and not self.anchors.lines and title.casefold() == self._title
        if level <= DEEPEST and not repeats_title:
            self._add(self._names.name(title, explicit), line)

    def _html(self, html: str, line: int) -> None:
        for at, match in _with_lines(_html_heading, html):
            self._add(self._names.html(match[1], match[3]), line + at)
        for at, match in _with_lines(_id, html):
            self._add(unescape(match[1] or match[2] or ""), line + at)

    def _tag(self, token: Token, line: int) -> None:
        name: str = token.meta["name"]
        if name == "details" and token.type == "tag_open":
            self._add(self._names.expandable(token), line)
        elif name == "tab":
            self.tabs.setdefault(heading_anchor(token.meta.get("title", "")), line)
        elif name == "include":
            self._include(token, line)
        elif name.startswith(_OTHER_HEADINGS):
            self.anchors.is_complete = False

    def _include(self, token: Token, line: int) -> None:
        text = self._included(included_address(token.content))
        if text is None or self._includes >= _MAX_INCLUDES:
            self.anchors.is_complete = False
            return
        self._includes += 1
        self.text(text, line)
        self._includes -= 1

    def _add(self, name: str, line: int) -> None:
        if name:
            self.anchors.lines.setdefault(name, line)


def _with_lines(pattern: re.Pattern[str], text: str) -> Iterator[tuple[int, re.Match[str]]]:
    """Yield the matches in a text with their line numbers."""
    line = at = 0
    for match in pattern.finditer(text):
        line, at = line + text.count("\n", at, match.start()), match.start()
        yield line, match
