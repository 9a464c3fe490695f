"""Finds the code in a text: fenced and indented blocks, code spans and HTML. Every scan takes linear time."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterable, Iterator

from presscheck.documents.markdown.block_splitter import split_blocks

Range = tuple[int, int]
"""Start and end offset of a part of a text."""
_BLANK = re.compile(r"\n[ \t]*\n")
_FENCE = re.compile(r"^[ \t>*+-]*(?:\d+[.)][ \t]+)?(`{3,}(?=[^`\n]*$)|~{3,})", re.MULTILINE)
_BACKTICKS = re.compile(r"(?<!\\)`+")
_LINE_END = re.compile(r"\r\n|\r|\n")
_HTML = re.compile(r"<(/?)(pre|code)\b[^<>]*+>", re.IGNORECASE)


def without_code(markdown: str) -> str:
    """Replace code and comments by blanks of the same length, so that offsets stay valid."""
    text = _blanked(markdown, _fences(markdown))
    text = _blanked(text, _comments(text))
    return _blanked(text, _code_spans(text))


def code_ranges(markdown: str) -> list[Range]:
    """Return the ranges of code in a text, in order. They include fences, but not backticks of code spans.

    Comments are not code.
    """
    fences = list(_fences(markdown))
    text = _blanked(markdown, fences)
    text = _blanked(text, _comments(text))
    ranges = sorted((*fences, *_code_spans(text), *_html(text), *_blocks(markdown)))
    merged: list[Range] = []
    for start, end in ranges:
        if merged and start <= merged[-1][1]:
            merged[-1] = (merged[-1][0], max(end, merged[-1][1]))
        else:
            merged.append((start, end))
    return merged


def unclosed_fence(markdown: str) -> int | None:
    """Return the start of fenced code that has no closing fence, or None.

    The code may end where the block around it ends, such as a list item.
    """
    return next((start for start, _, is_closed in _marked_fences(markdown) if not is_closed), None)


def _fences(text: str) -> Iterator[Range]:
    return ((start, end) for start, end, _ in _marked_fences(text))


def _marked_fences(text: str) -> Iterator[tuple[int, int, bool]]:
    at = 0 if "```" in text or "~~~" in text else len(text)
    while opening := _FENCE.search(text, at):
        mark = opening[1]
        closing = re.compile(rf"^[ \t>]*{mark[0]}{{{len(mark)},}}[ \t]*$", re.MULTILINE).search(text, opening.end())
        at = closing.end() if closing else len(text)
        yield opening.start(), at, closing is not None


def _comments(text: str) -> Iterator[Range]:
    at = 0
    while (start := text.find("<!--", at)) >= 0 and (end := text.find("-->", start)) >= 0:
        at = end + 3
        yield start, at


def _code_spans(text: str) -> Iterator[Range]:
    runs = [(match.start(), match.end() - match.start()) for match in _BACKTICKS.finditer(text)]
    by_length: dict[int, list[int]] = {}
    for start, length in runs:
        by_length.setdefault(length, []).append(start)
    breaks = [match.start() for match in _BLANK.finditer(text)] if runs else []
    at = 0
    for start, length in runs:
        if start < at:
            continue
        same = by_length[length]
        following = bisect_right(same, start)
        paragraph = bisect_right(breaks, start)
        limit = breaks[paragraph] if paragraph < len(breaks) else len(text)
        if following < len(same) and same[following] < limit:
            at = same[following] + length
            yield start + length, at - length


def _html(text: str) -> Iterator[Range]:
    opened, name = 0, ""
    for tag in _HTML.finditer(text):
        if not name and not tag[1]:
            opened, name = tag.end(), tag[2].lower()
        elif tag[1] and tag[2].lower() == name:
            yield opened, tag.start()
            name = ""


def _blocks(markdown: str) -> Iterator[Range]:
    line_ends = [match.span() for match in _LINE_END.finditer(markdown)]
    starts = [0, *(end for _, end in line_ends)]
    ends = [*(start for start, _ in line_ends), len(markdown)]
    for block in split_blocks(markdown):
        if block.kind == "code":
            yield starts[block.start_line], ends[block.start_line + block.text.count("\n")]


def _blanked(text: str, ranges: Iterable[Range]) -> str:
    parts: list[str] = []
    at = 0
    for start, end in ranges:
        parts += (text[at:start], "\n".join(" " * len(line) for line in text[start:end].split("\n")))
        at = end
    return "".join((*parts, text[at:]))
