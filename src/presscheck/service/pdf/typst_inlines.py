"""Rendering of inline text as Typst markup. The text of pages is always a string literal, never code."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING, NamedTuple

from typing_extensions import override

from presscheck.documents.markdown.inline_runs import InlineRuns, file_name
from presscheck.text.sanitize import is_safe_link, sanitize
from presscheck.text.styled_text import BREAK, Span

if TYPE_CHECKING:
    from presscheck.documents.markdown.parser import Token

PICTURE, FOOTNOTE = "picture", "footnote"
"""Styles of runs that only the Typst renderer uses: an image with its alternative text, and a footnote reference."""
_LONGEST_ADDRESS = 4000
_WRAPPED = {
    "emphasis": "emph",
    "strong": "strong",
    "strike": "strike",
    "underline": "underline",
    "mark": "highlight",
}


class Target(NamedTuple):
    """The target of an address in a document; fields that do not apply are empty."""

    label: str = ""
    """The label of a page, or of a heading with `#` and its anchor."""
    url: str = ""
    """The URL on the web."""
    picture: str = ""
    """The name of the image among the files of the document."""
    title: str = ""
    """The title."""
    text: str = ""
    """The Markdown of a snippet."""


Resolve = Callable[[str], Target]


def web_target(address: str) -> Target:
    """Return a URL as a target, or an empty target if the URL is unsafe or too long for a link."""
    return Target(url=address) if len(address) < _LONGEST_ADDRESS and is_safe_link(address) else Target()


def typst_string(text: str, *, lines: bool = False) -> str:
    """Return a text as a Typst string literal, which cannot contain code."""
    clean = sanitize(text, lines=lines).replace("\\", "\\\\").replace('"', '\\"')
    return '"' + clean.replace("\n", "\\n") + '"'


def text_markup(text: str) -> str:
    """Return a text as markup."""
    return f"#{typst_string(text)};" if text else ""


def anchor_label(page: str, anchor: str) -> str:
    """Return the label of an anchor in a page."""
    return f"{page}#{anchor}"


class TypstRuns(InlineRuns):
    """The runs of a paragraph, with images and footnote references as separate runs."""

    def __init__(self, style: str = "") -> None:
        super().__init__("", style)

    @override
    def image(self, source: str, words: str) -> None:
        self.spans.append(Span(" ".join(words.split()), PICTURE, source))

    @override
    def tokens(self, tokens: Sequence[Token]) -> None:
        for token in tokens:
            if token.type == "footnote_ref":
                self.spans.append(Span(str(token.meta["label"]), FOOTNOTE))
            else:
                super().tokens([token])


def inline(
    spans: Iterable[Span],
    resolve: Resolve,
    footnote: Callable[[str], str] | None = None,
    *,
    picture: str = "small-picture",
) -> str:
    """Render runs.

    Args:
        spans: the runs.
        resolve: resolves addresses.
        footnote: renders a footnote reference; without it, references are superscript.
        picture: the Typst function for images.
    """
    parts: list[str] = []
    for span in spans:
        if span is BREAK:
            parts.append("#linebreak();")
        elif span.style == PICTURE:
            parts.append(_picture(span, resolve, picture))
        elif span.style == FOOTNOTE:
            parts.append(footnote(span.text) if footnote else f"#super[{text_markup(span.text)}];")
        else:
            parts.append(_styled(span, resolve))
    return "".join(parts)


def only_pictures(spans: Sequence[Span]) -> list[Span]:
    """Return the images of a paragraph that has no other content; an empty list for other paragraphs."""
    pictures = [span for span in spans if span.style == PICTURE]
    rest = [span for span in spans if span.style != PICTURE and span.text.strip()]
    return [] if rest else pictures


def link(target: Target, markup: str) -> str:
    """Render a link."""
    if not (target.label or target.url):
        return markup
    return f"#to({typst_string(target.label)}, {typst_string(target.url)})[{markup}];"


def _picture(span: Span, resolve: Resolve, how: str) -> str:
    target = resolve(span.link or "")
    if target.picture:
        return f"#{how}({typst_string(target.picture)}, {typst_string(span.text)});"
    return link(target, text_markup(span.text or file_name(span.link or "") or "Image"))


def _styled(span: Span, resolve: Resolve) -> str:
    if not span.text:
        return ""
    styles = span.style.split()
    markup = f"#raw({typst_string(span.text)});" if "code" in styles else text_markup(span.text)
    for style in styles:
        if style in _WRAPPED:
            markup = f"#{_WRAPPED[style]}[{markup}];"
        elif style == "quiet":
            markup = f"#text(fill: quiet)[{markup}];"
    return link(resolve(span.link), markup) if span.link else markup
