"""Styled text with what became of its words: what went is struck, what came is underlined, and each has its colour.

A word that only changed its look counts as changed; where a link leads is said when that changed.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from presscheck.documents.diff.word_diff import Run, RunKind, spaced, word_runs
from presscheck.text.sanitize import display_url
from presscheck.text.styled_text import BREAK, Line, Span

MIN_KEPT = 0.35
"""How much of a text must have stayed for its words to be told apart one by one."""
FONT_STYLES = frozenset(("strong", "emphasis", "heading", "title", "code", "strike", "underline", "mark"))
"""Words of a style that are no colour, and stay beside one."""
SYNTAX_STYLES = frozenset(("keyword", "number"))
"""Colours of code that stay in a line that came or went; strings and comments may be all of it, and must say that."""
_TINTS: dict[RunKind, str] = {"same": "", "removed": "removed strike", "added": "added underline"}


class StyledToken(NamedTuple):
    """A word or a sign in its look, and the blanks before it. A hidden one is where a link leads."""

    blank: str
    text: str
    style: str = ""
    link: str | None = None
    is_hidden: bool = False


def tint_line(line: Iterable[Span], tint: str) -> Line:
    """The line in one colour; weight and ground stay."""
    return tuple(span._replace(style=tint_style(span.style, tint)) for span in line) if tint else tuple(line)


def tint_style(style: str, tint: str) -> str:
    """A style in another colour."""
    if not tint:
        return style
    words = style.split()
    kept = SYNTAX_STYLES if tint in ("added", "removed") else frozenset[str]()
    return " ".join([*(word for word in words if word in FONT_STYLES), tint, *(word for word in words if word in kept)])


def styled_tokens(spans: Iterable[Span], *, tell_links: bool = True) -> list[StyledToken]:
    """The words of styled text; those of links are followed by where they lead."""
    found: list[StyledToken] = []
    blank, target = "", None
    for span in spans:
        if tell_links and target and span.link != target:
            found.append(_led(target))
        target = span.link
        if span == BREAK:
            found.append(StyledToken(blank, "\n"))
            blank = ""
            continue
        for space, word in spaced(span.text):
            blank += space
            if word:
                found.append(StyledToken(blank, word, span.style, span.link))
                blank = ""
    if tell_links and target:
        found.append(_led(target))
    return [*found, StyledToken(blank, "")] if blank else found


def token_runs(before: Sequence[StyledToken], after: Sequence[StyledToken]) -> list[Run[StyledToken]]:
    """Compare two texts by their words and the looks of them."""
    return word_runs(
        before, after, lambda ink: (ink.text, ink.style), lambda ink: 0 if ink.is_hidden else len(ink.text)
    )


def is_rewritten(runs: Iterable[Run[StyledToken]]) -> bool:
    """Whether so little stayed that both texts are better shown one below the other."""
    sizes = dict.fromkeys(_TINTS, 0)
    for run in runs:
        sizes[run.kind] += sum(len(ink.text) for ink in run.tokens)
    return sizes["same"] < MIN_KEPT * (sizes["same"] + min(sizes["removed"], sizes["added"]))


def merged_spans(runs: Sequence[Run[StyledToken]]) -> Iterator[Span]:
    """Both texts in one: what went stands before what came in its place."""
    before = "same"
    for run in runs:
        for number, span in enumerate(_spans(run.tokens, _TINTS[run.kind])):
            if not number and before == "removed" and not span.text[:1].isspace() and _stands_apart(run):
                yield Span(" ")
            yield span
        before = run.kind


def _stands_apart(run: Run[StyledToken]) -> bool:
    """Whether a blank must stand between a run and what went before it: always before what came in its place."""
    return run.kind == "added" or (bool(run.old) and bool(run.old[0].blank))


def one_side(runs: Iterable[Run[StyledToken]], side: RunKind, ground: str = "") -> Line:
    """The old text (`removed`) or the new one (`added`), with the words that the other has not."""
    other = "added" if side == "removed" else "removed"
    sides = ((run, run.old if side == "removed" and run.kind == "same" else run.tokens) for run in runs)
    return tuple(
        span for run, tokens in sides if run.kind != other for span in _spans(tokens, _TINTS[run.kind], ground)
    )


def _led(target: str) -> StyledToken:
    return StyledToken(" ", f"({display_url(target)})", "quiet", None, is_hidden=True)


def _spans(tokens: Sequence[StyledToken], tint: str, ground: str = "") -> Iterator[Span]:
    """The words of a run, joined where they look alike."""
    text, style, link = "", "", None
    for ink in tokens:
        if ink.is_hidden and not tint:
            continue
        look = tint_style(ink.style, tint) if tint else ink.style or ground
        if ink.text == "\n":
            if text:
                yield Span(text, style, link)
            yield BREAK
            text = ""
        elif text and (look, ink.link) == (style, link):
            text += ink.blank + ink.text
        else:
            if text:
                yield Span(text, style, link)
            if ink.blank:
                is_code = ground == "code" or ("code" in look and "code" in style)
                yield Span(ink.blank, "code" if is_code else "")
            text, style, link = ink.text, look, ink.link
    if text:
        yield Span(text, style, link)
