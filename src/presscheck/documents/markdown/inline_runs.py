"""Collects inline text as styled runs, from Markdown tokens and from HTML; all text is sanitized."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from html import unescape
from typing import TYPE_CHECKING

from presscheck.documents.markdown.parser import parse_attributes
from presscheck.text.sanitize import is_ordinary, sanitize
from presscheck.text.styled_text import BREAK, Span

if TYPE_CHECKING:
    from markdown_it.token import Token

_STYLES = {
    "strong": "strong",
    "b": "strong",
    "em": "emphasis",
    "i": "emphasis",
    "code": "code",
    "kbd": "code",
    "samp": "code",
    "tt": "code",
    "del": "strike",
    "s": "strike",
    "strike": "strike",
    "u": "underline",
    "ins": "underline",
    "mark": "mark",
    "th": "strong",
    "dt": "strong",
    "figcaption": "quiet",
    "a": "link",
}
_BLOCKS = frozenset(("p", "div", "ul", "ol", "li", "blockquote", "h1", "h2", "h3", "h4", "h5", "h6", "dl", "dt", "dd"))
"""Tags that begin a line of their own where they stand within a line, as in the cell of a Markdown table."""
_event = re.compile(
    r"<!--.*?(?:-->|\Z)|<(/?)([a-zA-Z][a-zA-Z0-9:-]*+)((?:[^<>\"']++|\"[^\"<]*+\"|'[^'<]*+')*)>|[^<]+|<", re.DOTALL
)
_address = re.compile(r"https?://[^\s<>\"'`]*[^\s<>\"'`.,;:!?)\]}*_]")

HtmlEvent = tuple[str, str, dict[str, str]]
"""`("text", words, {})`, or `("open" | "close", name, attributes)`."""


def html_events(text: str) -> Iterator[HtmlEvent]:
    """Yields the events of HTML in order; comments are left out, and text that only looks like a tag is text."""
    for match in _event.finditer(text):
        whole, name = match[0], match[2]
        if name:
            yield ("close" if match[1] else "open"), name.lower(), html_attributes(match[3])
        elif not whole.startswith("<!--"):
            yield "text", unescape(whole), {}


def html_attributes(text: str) -> dict[str, str]:
    """Returns the attributes of an HTML tag; one without a value is empty."""
    found = {name: unescape(value) for name, value in parse_attributes(text).items()}
    bare = re.sub(r"""=\s*("[^"]*"|'[^']*'|\S+)""", "=", text)
    return found | {word.lower(): "" for word in bare.split() if not word.endswith(("=", "/"))}


def file_name(address: str) -> str:
    """Returns the last part of a URL's path."""
    return address.partition("?")[0].rpartition("/")[2]


class InlineRuns:
    """Collects the runs of one paragraph; `anchors` are the ids that links may point to."""

    def __init__(self, image: str, style: str = "") -> None:
        self.spans: list[Span] = []
        self.anchors: list[str] = []
        self._image = image
        self._open: list[tuple[str, str, str | None]] = []
        self._style, self._link = style, None
        self._is_line_over = False

    def text(self, words: str) -> None:
        """Adds text in the current style."""
        if self._is_line_over and words.strip():
            self._is_line_over = False
            self.line_end()
        if "://" in words and self._link is None and self._style != "code":
            self._with_addresses(words)
        elif words:
            shown = words if is_ordinary(words) else sanitize(words)
            self.spans.append(Span(shown, self._style, self._link))

    def code(self, words: str) -> None:
        """Adds code."""
        self.open("code")
        self.text(words)
        self.close("code")

    def line_end(self) -> None:
        """Adds a line break."""
        self.spans.append(BREAK)

    def image(self, source: str, words: str) -> None:
        """Adds an image: its symbol with its alternative text or file name."""
        shown = " ".join(words.split()) or file_name(source)
        link = self._link or sanitize(source)
        self.spans.append(Span(sanitize(f"{self._image} {shown}".rstrip()), _joined(self._style, "quiet"), link))

    def open(self, name: str, link: str | None = None) -> None:
        """Opens a tag."""
        self._open.append((name, self._style, self._link))
        if name == "a":
            if not link:
                return
            self._link = sanitize(link)
        self._style = _joined(self._style, _STYLES.get(name, ""))

    def close(self, name: str) -> None:
        """Closes the innermost tag of this name."""
        if any(name == opened for opened, _, _ in self._open):
            while True:
                opened, self._style, self._link = self._open.pop()
                if opened == name:
                    return

    def html(self, event: HtmlEvent) -> None:
        """Adds an inline HTML tag, or text."""
        kind, name, values = event
        if kind == "text":
            self.text(re.sub(r"\s+", " ", name))
            return
        if kind == "close":
            self.close(name)
            return
        if "id" in values:
            self.anchors.append(values["id"])
        if name == "br":
            self.line_end()
        elif name == "img":
            self.image(values.get("src", ""), values.get("alt", ""))
        elif name in _STYLES:
            self.open(name, values.get("href"))

    def tokens(self, tokens: Sequence[Token]) -> None:
        """Adds inline Markdown tokens."""
        for token in tokens:
            kind = token.type
            if kind in {"text", "text_special", "math", "emoji"}:
                self.text(token.content)
            elif kind == "softbreak":
                self.text(" ")
            elif kind == "hardbreak":
                self.line_end()
            elif kind == "code_inline":
                self.code(token.content)
            elif kind == "html_inline":
                self._inline_html(token.content)
            elif kind == "image":
                self.image(str(token.attrs.get("src", "")), token.content)
            elif kind == "footnote_ref":
                self.spans.append(Span(sanitize(f"[{token.meta['label']}]"), _joined(self._style, "accent")))
            elif token.nesting == 1:
                self.open(token.tag, str(token.attrs.get("href", "")))
            elif token.nesting == -1:
                self.close(token.tag)

    def _inline_html(self, content: str) -> None:
        for event in html_events(content):
            if event[0] != "text" and event[1] in _BLOCKS:
                self._is_line_over = bool(self.spans)
            self.html(event)

    def _with_addresses(self, words: str) -> None:
        end = 0
        for match in _address.finditer(words):
            if match.start() > end:
                self.spans.append(Span(sanitize(words[end : match.start()]), self._style, None))
            shown = sanitize(match[0])
            self.spans.append(Span(shown, _joined(self._style, "link"), shown))
            end = match.end()
        if end < len(words):
            self.spans.append(Span(sanitize(words[end:]), self._style, None))


_joins: dict[tuple[str, str], str] = {}


def _joined(style: str, more: str) -> str:
    """Returns both styles combined, as a shared string."""
    known = _joins.get((style, more))
    if known is None:
        known = _joins[style, more] = " ".join(dict.fromkeys(f"{style} {more}".split()))
    return known
