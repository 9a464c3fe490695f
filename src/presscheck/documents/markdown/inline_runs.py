"""Collects inline text as styled runs, from Markdown tokens and from HTML; all text is sanitized."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from html import unescape
from typing import TYPE_CHECKING, NamedTuple, Protocol

from presscheck.documents.markdown.autolinks import autolinks
from presscheck.documents.markdown.emoji import emoji_by_name, icon_text
from presscheck.documents.markdown.links import LinkTarget
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
"""Tags that start a new line within inline text, such as in the cell of a Markdown table."""
_event = re.compile(
    r"<!--.*?(?:-->|\Z)|<(/?)([a-zA-Z][a-zA-Z0-9:-]*+)((?:[^<>\"']++|\"[^\"<]*+\"|'[^'<]*+')*)>|[^<]+|<", re.DOTALL
)

HtmlEvent = tuple[str, str, dict[str, str]]
"""`("text", words, {})`, or `("open" | "close", name, attributes)`."""


def html_events(text: str) -> Iterator[HtmlEvent]:
    """Yield the events of HTML in order, without comments; text that only resembles a tag is text."""
    for match in _event.finditer(text):
        whole, name = match[0], match[2]
        if name:
            yield ("close" if match[1] else "open"), name.lower(), html_attributes(match[3])
        elif not whole.startswith("<!--"):
            yield "text", unescape(whole), {}


def html_attributes(text: str) -> dict[str, str]:
    """Return the attributes of an HTML tag; an attribute without a value is empty."""
    attributes = {name: unescape(value) for name, value in parse_attributes(text).items()}
    bare = re.sub(r"""=\s*("[^"]*"|'[^']*'|\S+)""", "=", text)
    return attributes | {word.lower(): "" for word in bare.split() if not word.endswith(("=", "/"))}


def file_name(address: str) -> str:
    """Return the last part of a URL's path."""
    return address.partition("?")[0].rpartition("/")[2]


class InlineWords(Protocol):
    """The display forms of formulas, emoji, icons, variables, indices and references."""

    @property
    def broken(self) -> str:
        """The sign after a broken link."""
        ...

    def target(self, address: str) -> LinkTarget | None:
        """Return the target of a link, or None if it is unknown."""
        ...

    def formula(self, source: str) -> str:
        """Return the displayed form of a formula."""
        ...

    def emoji(self, name: str) -> str:
        """Return the emoji with a name."""
        ...

    def icon(self, name: str) -> str:
        """Return an icon by its name."""
        ...

    def variable(self, expression: str) -> str | None:
        """Return the value of an expression, or None if it is unknown."""
        ...

    def index(self, tag: str, text: str) -> str:
        """Return superscript (`sup`) or subscript (`sub`) text."""
        ...


class _Opened(NamedTuple):
    """An open tag: its name, the outer style and link, the index of its first run, its form and its icon."""

    name: str
    style: str
    link: str | None
    start: int
    form: str = ""
    icon: str = ""


_COLORS = {
    **dict.fromkeys(("red", "pink", "$danger"), "hint-danger"),
    **dict.fromkeys(("green", "$success"), "hint-success"),
    **dict.fromkeys(("yellow", "orange", "$warning"), "hint-warning"),
    **dict.fromkeys(("blue", "cyan", "purple", "violet", "$info", "$primary", "$tint"), "hint-info"),
}
_declared = re.compile(r"(?<![\w-])([\w-]++)\s*+:\s*+([^;\s]++)").findall


class InlineRuns:
    """Collects the runs of one paragraph.

    Args:
        image: the symbol of images.
        style: the style of the whole paragraph.
        words: the display forms of formulas, emoji and the like; None to show them as written.

    Attributes:
        spans: the runs.
        anchors: the ids that links may lead to.
    """

    def __init__(self, image: str, style: str = "", words: InlineWords | None = None) -> None:
        self.spans: list[Span] = []
        self.anchors: list[str] = []
        self.images: list[tuple[Span, str]] = []
        """The images with their sources."""
        self._image, self._words = image, words
        self._open: list[_Opened] = []
        self._style = style
        self._link: str | None = None
        self._needs_line_end = self._is_hidden = False
        self.names_targets = False
        """Whether a link shows the title of its target instead of its own text, as in references to pages."""

    def text(self, words: str) -> None:
        """Add text in the current style."""
        if self._is_hidden:
            return
        if self._needs_line_end and words.strip():
            self._needs_line_end = False
            self.line_end()
        if "://" in words and self._link is None and self._style != "code":
            self._with_addresses(words)
        elif words:
            displayed = words if is_ordinary(words) else sanitize(words)
            self.spans.append(Span(displayed, self._style, self._link))

    def code(self, words: str) -> None:
        """Add code."""
        self.open("code")
        self.text(words)
        self.close("code")

    def line_end(self) -> None:
        """Add a line break."""
        self.spans.append(BREAK)

    def begin_line(self) -> None:
        """Add a line break unless the current line is empty."""
        self._needs_line_end = False
        if any(span.text.strip() for span in self.spans) and self.spans[-1] is not BREAK:
            self.line_end()

    def end_block(self) -> None:
        """End a block; any following text starts on a new line."""
        self._needs_line_end = bool(self.spans)

    def image(self, source: str, words: str) -> None:
        """Add an image: its symbol with its alternative text or file name."""
        caption = " ".join(words.split()) or file_name(source)
        link = self._link or sanitize(source)
        span = Span(sanitize(f"{self._image} {caption}".rstrip()), _joined(self._style, "quiet"), link)
        self.spans.append(span)
        self.images.append((span, source))
        if self._words and source:
            self._mark_broken(self._words, self._words.target(source))

    @property
    def lone_images(self) -> list[str]:
        """The sources of the images, if the paragraph has no other content; otherwise empty."""
        images = [span for span, _ in self.images]
        if any(span.text.strip() and span not in images for span in self.spans):
            return []
        return [source for _, source in self.images]

    def open(self, name: str, link: str | None = None, *, form: str = "", icon: str = "") -> None:
        """Open a tag. The form of a link may be `mention` or `button`; a button may have an icon."""
        self._open.append(_Opened(name, self._style, self._link, len(self.spans), form, icon))
        if name == "a":
            if not link:
                return
            self._link = sanitize(link)
        if icon and self._words is None:
            self.spans.append(Span(f"{sanitize(icon_text(icon))} ", self._style, self._link))
        self._style = _joined(self._style, _STYLES.get(name, ""))

    def close(self, name: str) -> None:
        """Close the innermost tag with this name."""
        if any(name == opened.name for opened in self._open):
            while True:
                link, opened = self._link, self._open.pop()
                self._style, self._link = opened.style, opened.link
                if opened.form == "hidden":
                    self._is_hidden = False
                elif self._words:
                    self._reword(self._words, opened, link)
                if opened.name == name:
                    return

    def _reword(self, words: InlineWords, opened: _Opened, link: str | None) -> None:
        """Replace the runs of a closed tag by their displayed form."""
        inner = self.spans[opened.start :]
        text = "".join(span.text for span in inner)
        if opened.name in ("sup", "sub") and text:
            self.spans[opened.start :] = [inner[0]._replace(text=words.index(opened.name, text))]
        elif opened.form == "expression":
            value = words.variable(text)
            if value is not None:
                self.spans[opened.start :] = [Span(sanitize(value), opened.style, opened.link)]
        elif opened.name == "a" and link and not opened.link:
            target = words.target(link)
            name = _name_of_page(link)
            title = target.title if target else ""
            if self.names_targets and not title:
                title = name
            if title and (opened.form == "mention" or self.names_targets or text.strip() == name):
                self.spans[opened.start :] = [Span(sanitize(title), _joined(opened.style, "link"), link)]
            if opened.form == "button":
                style = _joined(opened.style, "link strong")
                icon = f"{sanitize(words.icon(opened.icon))} " if opened.icon else ""
                self.spans[opened.start :] = [Span(f"[ {icon}{text.strip()} ]", style, link)]
            self._mark_broken(words, target)

    def _mark_broken(self, words: InlineWords, target: LinkTarget | None) -> None:
        if target and target.is_broken:
            self.spans.append(Span(f" {words.broken}", "error"))

    def _icon(self, values: dict[str, str]) -> None:
        name = values["class"][3:]
        text = self._words.icon(name) if self._words else icon_text(name)
        style = _joined(self._style, _COLORS.get(dict(_declared(values.get("style", ""))).get("color", ""), "quiet"))
        self.spans.append(Span(sanitize(text), style, self._link))
        self.open("i", form="hidden")
        self._is_hidden = True

    def html(self, event: HtmlEvent) -> None:
        """Add an inline HTML tag, or text."""
        kind, name, values = event
        if kind == "text":
            self.text(re.sub(r"\s+", " ", name))
            return
        if kind == "close":
            self.close(name)
            return
        anchor = values.get("id") or (values.get("name") if name == "a" else "")
        if anchor:
            self.anchors.append(anchor)
        if name == "br":
            self.line_end()
        elif name == "img":
            self.image(values.get("src", ""), values.get("alt", ""))
        elif name == "i" and values.get("class", "").startswith("fa-"):
            self._icon(values)
        elif self._words and name in ("sup", "sub"):
            self.open(name)
        elif name in _STYLES:
            self.open(name, values.get("href"), form=_form_of(name, values), icon=values.get("data-icon", ""))
            if self._words and name == "mark" and "style" in values:
                self._color(values["style"])

    def _color(self, style: str) -> None:
        colors = dict(_declared(style))
        outer_style = self._open[-1].style
        background = "mark" if colors.get("background-color", "default") != "default" else ""
        self._style = _joined(outer_style, f"{_COLORS.get(colors.get('color', ''), '')} {background}")

    def _sign(self, token: Token) -> None:
        if token.type == "emoji":
            name = token.content[1:-1]
            text = self._words.emoji(name) if self._words else emoji_by_name(name)
        else:
            text = self._words.formula(token.content[2:-2]) if self._words else token.content
        if not self._is_hidden:
            self.spans.append(Span(sanitize(text), self._style, self._link))

    def tokens(self, tokens: Sequence[Token]) -> None:
        """Add inline Markdown tokens."""
        for token in tokens:
            kind = token.type
            if kind == "emoji" or (kind == "math" and self._words):
                self._sign(token)
            elif kind in {"text", "text_special", "math"}:
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
                form = "mention" if token.attrs.get("title") == "mention" else ""
                self.open(token.tag, str(token.attrs.get("href", "")), form=form)
            elif token.nesting == -1:
                self.close(token.tag)

    def _inline_html(self, content: str) -> None:
        for event in html_events(content):
            if event[0] != "text" and event[1] in _BLOCKS:
                self.end_block()
            self.html(event)

    def _with_addresses(self, words: str) -> None:
        end = 0
        for start, after in autolinks(words):
            if start > end:
                self.spans.append(Span(sanitize(words[end:start]), self._style, None))
            displayed = sanitize(words[start:after])
            self.spans.append(Span(displayed, _joined(self._style, "link"), displayed))
            end = after
        if end < len(words):
            self.spans.append(Span(sanitize(words[end:]), self._style, None))


def _form_of(name: str, values: dict[str, str]) -> str:
    if name == "code":
        return "expression" if values.get("class") == "expression" else ""
    if name != "a":
        return ""
    if "data-mention" in values or values.get("title") == "mention":
        return "mention"
    return "button" if values.get("class", "").startswith("button") else ""


def _name_of_page(address: str) -> str:
    """Return the text that exporters use for a link without text: the last part of a relative address."""
    path = address.partition("#")[0].rstrip("/")
    return "" if "://" in path else path.rpartition("/")[2]


_joins: dict[tuple[str, str], str] = {}


def _joined(style: str, more: str) -> str:
    """Return both styles combined. Results are cached, so that equal styles are the same string."""
    joined = _joins.get((style, more))
    if joined is None:
        joined = _joins[style, more] = " ".join(dict.fromkeys(f"{style} {more}".split()))
    return joined
