"""Styled text with changed words marked: removed words are struck through, added words are underlined.

A word whose style changed counts as changed; the target of a link is shown if it changed.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from presscheck.documents.diff.word_diff import Run, RunKind, spaced, word_runs
from presscheck.text.sanitize import display_url
from presscheck.text.styled_text import BREAK, Line, Span

MIN_KEPT = 0.35
"""The share of a text that must be unchanged for a diff by word."""
FONT_STYLES = frozenset(("strong", "emphasis", "heading", "title", "code", "strike", "underline", "mark"))
"""Words of a style that are not colors; a tinted text keeps them."""
SYNTAX_STYLES = frozenset(("keyword", "number"))
"""Syntax colors that added and removed lines keep. They do not keep those of strings and comments, which fill lines."""
_TINTS: dict[RunKind, str] = {"same": "", "removed": "removed strike", "added": "added underline"}


class StyledToken(NamedTuple):
    """A token with its style and the blanks before it. A hidden token is the target of a link."""

    blank: str
    text: str
    style: str = ""
    link: str | None = None
    is_hidden: bool = False


def tint_line(line: Iterable[Span], tint: str) -> Line:
    """Change the color of a line and keep its font styles."""
    return tuple(span._replace(style=tint_style(span.style, tint)) for span in line) if tint else tuple(line)


def tint_style(style: str, tint: str) -> str:
    """Return a style with its color replaced."""
    if not tint:
        return style
    words = style.split()
    kept_styles = SYNTAX_STYLES if tint in ("added", "removed") else frozenset[str]()
    return " ".join(
        [*(word for word in words if word in FONT_STYLES), tint, *(word for word in words if word in kept_styles)]
    )


def styled_tokens(spans: Iterable[Span], *, tell_links: bool = True) -> list[StyledToken]:
    """Return the tokens of styled text. With `tell_links`, a hidden token with the target follows each link."""
    tokens: list[StyledToken] = []
    blank, target = "", None
    for span in spans:
        if tell_links and target and span.link != target:
            tokens.append(_target_token(target))
        target = span.link
        if span == BREAK:
            tokens.append(StyledToken(blank, "\n"))
            blank = ""
            continue
        for space, word in spaced(span.text):
            blank += space
            if word:
                tokens.append(StyledToken(blank, word, span.style, span.link))
                blank = ""
    if tell_links and target:
        tokens.append(_target_token(target))
    return [*tokens, StyledToken(blank, "")] if blank else tokens


def token_runs(before: Sequence[StyledToken], after: Sequence[StyledToken]) -> list[Run[StyledToken]]:
    """Diff two texts by tokens and their styles."""
    return word_runs(
        before, after, lambda token: (token.text, token.style), lambda token: 0 if token.is_hidden else len(token.text)
    )


def is_rewritten(runs: Iterable[Run[StyledToken]]) -> bool:
    """Return whether most of a text changed, so that both texts are easier to read one below the other."""
    sizes = dict.fromkeys(_TINTS, 0)
    for run in runs:
        sizes[run.kind] += sum(len(token.text) for token in run.tokens)
    return sizes["same"] < MIN_KEPT * (sizes["same"] + min(sizes["removed"], sizes["added"]))


def merged_spans(runs: Sequence[Run[StyledToken]]) -> Iterator[Span]:
    """Yield both texts merged, with removed words before added words."""
    before = "same"
    for run in runs:
        for number, span in enumerate(_spans(run.tokens, _TINTS[run.kind])):
            if not number and before == "removed" and not span.text[:1].isspace() and _needs_blank(run):
                yield Span(" ")
            yield span
        before = run.kind


def _needs_blank(run: Run[StyledToken]) -> bool:
    """Return whether a blank must separate a run from the removed words before it."""
    return run.kind == "added" or (bool(run.old) and bool(run.old[0].blank))


def one_side(runs: Iterable[Run[StyledToken]], side: RunKind, ground: str = "") -> Line:
    """Return the old text (`removed`) or the new text (`added`), and mark the words that the other text lacks.

    `ground` is the style of unmarked words without a style.
    """
    other = "added" if side == "removed" else "removed"
    sides = ((run, run.old if side == "removed" and run.kind == "same" else run.tokens) for run in runs)
    return tuple(
        span for run, tokens in sides if run.kind != other for span in _spans(tokens, _TINTS[run.kind], ground)
    )


def _target_token(target: str) -> StyledToken:
    return StyledToken(" ", f"({display_url(target)})", "quiet", None, is_hidden=True)


def _spans(tokens: Sequence[StyledToken], tint: str, ground: str = "") -> Iterator[Span]:
    """Yield the tokens of a run, joining tokens of equal style."""
    text, style, link = "", "", None
    for token in tokens:
        if token.is_hidden and not tint:
            continue
        new_style = tint_style(token.style, tint) if tint else token.style or ground
        if token.text == "\n":
            if text:
                yield Span(text, style, link)
            yield BREAK
            text = ""
        elif text and (new_style, token.link) == (style, link):
            text += token.blank + token.text
        else:
            if text:
                yield Span(text, style, link)
            if token.blank:
                is_code = ground == "code" or ("code" in new_style and "code" in style)
                yield Span(token.blank, "code" if is_code else "")
            text, style, link = token.text, new_style, token.link
    if text:
        yield Span(text, style, link)
