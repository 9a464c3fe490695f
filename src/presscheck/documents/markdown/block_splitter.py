"""Splits Markdown quickly into top-level blocks, on which rendering, diffs and merges are based.

A block is a run of whole lines that can be parsed without its context (except for link definitions). Every line that
is not blank belongs to exactly one block. Code, lists, quotations, paired tags and paired HTML are single blocks.

Opening and closing tags are paired by line, at any depth: `{% hint %}` … `{% endhint %}`, `<details>` … `</details>`.
Tags in fenced code do not count. A tag that is never closed opens nothing, so that a typo cannot swallow the rest of a
page. One pass, linear in the length of the text.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections import Counter
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from presscheck.documents.pages.front_matter import OPENING, front_matter_size

HTML_NAMES = ("details", "div", "table", "figure", "ul", "ol")
LINES_AHEAD = 25
"""Number of lines below a block that may decide where it ends: the end of a tag is searched in 20 lines."""
TagPairs = dict[tuple[int, str], int]
"""Maps opening line and lower-case tag name to the closing line."""
_lead = re.compile(r"[ \t>]*(?:(?:[-*+]|\d{1,9}[.)])[ \t]+)*").match
_end_tag = re.compile(r"\{%-?\s*end([a-zA-Z][\w-]*)\s*-?%\}\s*$", re.IGNORECASE)
_html = re.compile(rf"(?<!`)<(/?)({'|'.join(HTML_NAMES)})\b[^<>]*>", re.IGNORECASE)
_heading = re.compile(r"#{1,6}(?:[ \t]|$)").match
_fence = re.compile(r"`{3,}(?=[^`]*$)|~{3,}").match
_item = re.compile(r"(?:[-*+]|\d{1,9}[.)])(?=[ \t]|$)[ \t]{0,4}").match
_rule = re.compile(r"(?:(?:\*[ \t]*){3,}|(?:-[ \t]*){3,}|(?:_[ \t]*){3,})$").match
_delimiter = re.compile(r"[ \t]*+(?:\|[ \t]*+)?:?-++:?[ \t]*+(?:\|[ \t]*+:?-++:?[ \t]*+)*\|?$").match
_definition = re.compile(r"\[[^\]]+\]:").match
_tag = re.compile(r"\{%-?\s*([a-zA-Z][\w-]*)").match
_html_name = re.compile(r"</?([a-zA-Z][a-zA-Z0-9-]*)(?=[\s/>]|$)").match
_lone_html = re.compile(r"</?[a-zA-Z][^<>]*>$").match
_SPECIAL = frozenset("#`~>-*+_{<0123456789[|")
"""First characters, after blanks, of lines that may start something other than a paragraph."""
_RAW_HTML = (
    (
        re.compile(r"<(?:script|pre|style|textarea)(?=[\s>]|$)", re.IGNORECASE).match,
        re.compile(r"</(?:script|pre|style|textarea)>", re.IGNORECASE).search,
    ),
    (re.compile(r"<!--").match, re.compile(r"-->").search),
    (re.compile(r"<\?").match, re.compile(r"\?>").search),
    (re.compile(r"<!\[CDATA\[").match, re.compile(r"\]\]>").search),
    (re.compile(r"<![a-zA-Z]").match, re.compile(r">").search),
)
_NAMES = (
    "address article aside base blockquote body caption center col colgroup dd details dialog dir div dl "
    "dt fieldset figcaption figure footer form frame h1 h2 h3 h4 h5 h6 head header hr html iframe legend "
    "li link main menu menuitem meta nav noframes ol optgroup option p param search section source "
    "summary table tbody td tfoot th thead title tr track ul"
)
_BLOCK_HTML = frozenset(_NAMES.split())


class UnpairedTag(NamedTuple):
    """A tag that opens or closes nothing: its line, from 0, and its lower-case name."""

    line: int
    name: str
    is_end: bool = False


def tag_pairs(lines: Sequence[str]) -> TagPairs:
    """Return the pairs of opening and closing tags in the lines of a text."""
    return _matched_tags(lines).pairs


def unpaired_tags(lines: Sequence[str]) -> list[UnpairedTag]:
    """Return the tags in the lines of a text that open or close nothing, in order.

    This includes tags that stand alone, such as `embed`.
    """
    matcher = _matched_tags(lines)
    opening = [UnpairedTag(line, name) for name, line in (*matcher.unclosed, *matcher.open_tags)]
    return sorted((*opening, *(UnpairedTag(line, name, is_end=True) for name, line in matcher.unopened)))


def _matched_tags(lines: Sequence[str]) -> _TagMatcher:
    matcher = _TagMatcher()
    fence, quoted = "", False
    for number, line in enumerate(lines):
        if fence:
            if not (quoted and ">" not in line):
                fence = "" if _closes(fence, line) else fence
                continue
            # the end of a quotation closes a fence inside it
            fence = ""
        if "{%" in line:
            matcher.take_tags(number, line)
        elif "<" in line:
            matcher.take_html(number, line)
        elif "```" in line or "~~~" in line:
            start = _start(line)
            opened = _fence(line, start)
            fence, quoted = (opened[0], ">" in line[:start]) if opened else ("", False)
    return matcher


def _start(line: str) -> int:
    """Return the offset of the text in a line, after quotation and list marks."""
    lead = _lead(line)
    return lead.end() if lead else 0


def _closes(fence: str, line: str) -> bool:
    text = line.strip(" \t>")
    return text.startswith(fence) and not text.strip(fence[0])


class _TagMatcher:
    """Pairs tags with a stack of open tags."""

    def __init__(self) -> None:
        self.pairs: TagPairs = {}
        self.open_tags: list[tuple[str, int]] = []
        self.unclosed: list[tuple[str, int]] = []
        self.unopened: list[tuple[str, int]] = []
        self._count: Counter[str] = Counter()

    def take_tags(self, number: int, line: str) -> None:
        """Read a line with `{%`. Tags count at the start of the line, closing tags also at its end."""
        at_start = _tag(line, _start(line))
        name = at_start[1].lower() if at_start else ""
        if name and not name.startswith("end"):
            self._opens(name, number)
        at_end = _end_tag.search(line)
        if at_end:
            self._closes(at_end[1].lower(), number)
        elif name.startswith("end"):
            self._closes(name[3:], number)

    def take_html(self, number: int, line: str) -> None:
        """Read a line with `<`. Opening tags count at the start of the line, closing tags anywhere."""
        begins = line.startswith("<", _start(line))
        for closing, name in _html.findall(line):
            if closing:
                self._closes(name.lower(), number)
            elif begins:
                self._opens(name.lower(), number)

    def _opens(self, name: str, number: int) -> None:
        self.open_tags.append((name, number))
        self._count[name] += 1

    def _closes(self, name: str, number: int) -> None:
        while self._count[name]:
            opened, line = self.open_tags.pop()
            self._count[opened] -= 1
            if opened == name:
                # a later closing tag on the same line belongs to an outer element
                self.pairs[line, name] = number
                return
            self.unclosed.append((opened, line))
        self.unopened.append((name, number))


class Block(NamedTuple):
    """A block: its kind, its text, and its first line (from 0).

    Kinds: front, heading, paragraph, code, list, quote, table, rule, html, details, figure, definition, footnote; a tag
    `{% name %}` has the kind `name`: hint, tabs, stepper, columns, content-ref, embed, file, …
    """

    kind: str
    text: str
    start_line: int


def split_blocks(markdown: str) -> list[Block]:
    """Split a page into its blocks."""
    return SplitText(markdown).blocks


class SplitText:
    """A text and its blocks. After an edit, only the blocks near the edit are read again.

    Args:
        markdown: the text.
        before: the text before the edit; None splits the whole text.
    """

    def __init__(self, markdown: str, before: SplitText | None = None) -> None:
        self._lines = text_lines(markdown)
        self._splitter = _BlockSplitter([line.rstrip() for line in self._lines])
        self.blocks = (before and self._edited(before)) or list(self._read(0))

    def _read(self, at: int) -> Iterator[Block]:
        for kind, start, end in self._splitter.blocks(at):
            yield Block(kind, "\n".join(self._lines[start:end]), start)

    def _edited(self, before: SplitText) -> list[Block] | None:
        """Return the blocks, reusing blocks above and below an edit. Return None if the edit may change all blocks."""
        old, new = before._lines, self._lines
        shorter, moved = min(len(old), len(new)), len(new) - len(old)
        first = next((at for at in range(shorter) if old[at] != new[at]), shorter)
        same_below = next((at for at in range(shorter - first) if old[-1 - at] != new[-1 - at]), shorter - first)
        starts = [block.start_line for block in before.blocks]
        # the end of a block depends on the beginning of the next, and on a few lines more
        reused = max(0, bisect_left(starts, first - LINES_AHEAD) - 2)
        start, end = starts[reused] if reused else 0, len(new) - same_below
        if front_size(self._splitter.lines) != front_size(before._splitter.lines):
            return None
        blocks = before.blocks[:reused]
        pairs, old_pairs = self._splitter.pairs, before._splitter.pairs
        if _pairs_in(pairs, range(start)) != _pairs_in(old_pairs, range(start)):
            return None
        for block in self._read(start):
            line = block.start_line
            at = bisect_left(starts, line - moved) if line >= end else len(starts)
            if at < len(starts) and starts[at] == line - moved:
                below = _pairs_in(old_pairs, range(starts[at], len(old)), moved)
                if _pairs_in(pairs, range(line, len(new))) == below:
                    rest = before.blocks[at:]
                    return blocks + (
                        [old._replace(start_line=old.start_line + moved) for old in rest] if moved else rest
                    )
            blocks.append(block)
        return blocks


def _pairs_in(pairs: TagPairs, lines: range, moved: int = 0) -> TagPairs:
    """Return the pairs whose opening tag is in `lines`, with their line numbers shifted by `moved`."""
    return {(line + moved, name): end + moved for (line, name), end in pairs.items() if line in lines}


def text_lines(markdown: str) -> list[str]:
    """Split a text into lines at any kind of line end."""
    if "\r" in markdown:
        markdown = markdown.replace("\r\n", "\n").replace("\r", "\n")
    return markdown.split("\n")


def front_size(lines: Sequence[str]) -> int:
    """Return the number of lines of the front matter, or 0."""
    return front_matter_size(lines) if lines[:1] == [OPENING] else 0


class _BlockSplitter:
    def __init__(self, lines: list[str]) -> None:
        self.lines = lines
        self.pairs: TagPairs = tag_pairs(lines)

    def blocks(self, at: int) -> Iterator[tuple[str, int, int]]:
        """Yield the kind, the first line and the end of each block, beginning with the block at line `at`."""
        front = 0 if at else front_size(self.lines)
        if front:
            yield "front", 0, front
            at = front
        while at < len(self.lines):
            if not self.lines[at]:
                at += 1
                continue
            kind, end = self._block(at)
            yield kind, at, end
            at = end

    def _block(self, at: int) -> tuple[str, int]:
        line = self.lines[at]
        text = line.lstrip(" ")
        if len(line) - len(text) > 3 or text[0] == "\t":
            return "code", self._indented(at)
        if text[0] in _SPECIAL or text[0] == "|":
            special = self._special(at, text)
            if special:
                return special
        if self._is_table(at):
            return "table", self._until_blank(at)
        return self._paragraph(at)

    def _special(self, at: int, text: str) -> tuple[str, int] | None:
        """Return the kind and the end of the block that starts at line `at`, or None for a table or a paragraph."""
        first = text[0]
        if first == "#" and _heading(text):
            return "heading", at + 1
        if first in "`~" and (fence := _fence(text)):
            return "code", self._fenced(at, fence[0])
        if first == "{" and (tag := _tag(text)):
            name = tag[1].lower()
            return name, self._tagged(at, name)
        if first == "<" and (html := self._html(at, text)):
            return html
        if first == ">":
            return "quote", self._quoted(at)
        if first in "-*_" and _rule(text):
            return "rule", at + 1
        if (first in "-*+" or first.isdigit()) and (item := _item(text)):
            return "list", self._list(at, item.end())
        if first == "[" and _definition(text):
            return ("footnote", self._footnote(at)) if text[1] == "^" else ("definition", self._definitions(at))
        return None

    def _indented(self, at: int) -> int:
        end = at + 1
        for number in range(at + 1, len(self.lines)):
            line = self.lines[number]
            if line.startswith(("    ", "\t")):
                end = number + 1
            elif line:
                break
        return end

    def _fenced(self, at: int, fence: str) -> int:
        for number in range(at + 1, len(self.lines)):
            text = self.lines[number].lstrip(" ")
            if text.startswith(fence) and not text.strip(fence[0]):
                return number + 1
        return len(self.lines)

    def _tagged(self, at: int, name: str) -> int:
        closing = self.pairs.get((at, name))
        if closing is not None:
            return closing + 1
        # a tag without an end may span several lines
        for number in range(at, min(at + 20, len(self.lines))):
            if "%}" in self.lines[number]:
                return number + 1
            if not self.lines[number]:
                break
        return at + 1

    def _html(self, at: int, text: str) -> tuple[str, int] | None:
        for opens, closes in _RAW_HTML:
            if opens(text):
                last = next((n for n in range(at, len(self.lines)) if closes(self.lines[n])), len(self.lines) - 1)
                return "html", last + 1
        match = _html_name(text)
        name = match[1].lower() if match else ""
        if name not in _BLOCK_HTML and not _lone_html(text):
            return None
        closing_line = self.pairs.get((at, name))
        if closing_line is None:
            return "html", self._until_blank(at)
        kind = name if name in {"details", "table", "figure"} else "html"
        return kind, self._until_blank(closing_line) if name in HTML_NAMES[2:] else closing_line + 1

    def _until_blank(self, at: int) -> int:
        for number in range(at, len(self.lines)):
            if not self.lines[number]:
                return number
        return len(self.lines)

    def _quoted(self, at: int) -> int:
        end = at + 1
        while end < len(self.lines) and (line := self.lines[end]):
            if not line.lstrip(" ").startswith(">") and self._interrupts(end):
                break
            end += 1
        return end

    def _footnote(self, at: int) -> int:
        end = self._uninterrupted(at)
        while end + 1 < len(self.lines) and self.lines[end + 1].startswith(("    ", "\t")):
            end = self._uninterrupted(end + 1)
        return end

    def _uninterrupted(self, at: int) -> int:
        end = at + 1
        while end < len(self.lines) and self.lines[end] and not self._interrupts(end):
            end += 1
        return end

    def _definitions(self, at: int) -> int:
        end = at + 1
        while end < len(self.lines) and (text := self.lines[end].lstrip(" ")):
            if not (_definition(text) or text[0] in "\"'(" or self.lines[end - 1].endswith("]:")):
                break
            end += 1
        return end

    def _is_table(self, at: int) -> bool:
        if at + 1 == len(self.lines) or "|" not in self.lines[at] or "|" not in self.lines[at + 1]:
            return False
        return bool(_delimiter(self.lines[at + 1]))

    def _paragraph(self, at: int) -> tuple[str, int]:
        lines = self.lines
        for number in range(at + 1, len(lines)):
            text = lines[number].lstrip(" ")
            if not text:
                return "paragraph", number
            if text[0] in "=-" and not text.strip("=").strip("-") and len(lines[number]) - len(text) < 4:
                return "heading", number + 1
            if text[0] in _SPECIAL and self._interrupts(number):
                return "paragraph", number
        return "paragraph", len(lines)

    def _interrupts(self, at: int) -> bool:
        """Return whether a line starts a new block without a preceding blank line."""
        line = self.lines[at]
        text = line.lstrip(" ")
        if len(line) - len(text) > 3:
            return False
        first = text[0]
        if first == "<":
            match = _html_name(text)
            return match[1].lower() in _BLOCK_HTML if match else any(opens(text) for opens, _ in _RAW_HTML)
        if first in "-*+" or first.isdigit():
            item = _item(text)
            return bool(_rule(text)) or bool(
                item and len(text) > item.end() and (first in "-*+" or item[0][:2] == "1.")
            )
        if first == "|":
            return self._is_table(at)
        return bool(
            (first == "#" and _heading(text))
            or (first in "`~" and _fence(text))
            or (first == "{" and _tag(text))
            or (first == ">" or (first == "_" and _rule(text)))
        )

    def _list(self, at: int, indent: int) -> int:
        """Return the end of a list, which includes indented lines and further items."""
        lines, number, end = self.lines, at, at + 1
        indent += len(lines[at]) - len(lines[at].lstrip(" "))
        while number < len(lines):
            line = lines[number]
            text = line.lstrip(" ")
            depth = len(line) - len(text)
            after_blank = number > end
            if text and number > at:
                item = _item(text) if depth < 4 else None
                if item and not _rule(text):
                    indent = min(indent, depth + item.end()) if depth >= indent else depth + item.end()
                elif depth < indent and text[0] != "\t" and (after_blank or self._interrupts(number)):
                    break
            if text:
                end = self._past_tags(number, text) + 1
                number = end
            else:
                number += 1
        return end

    def _past_tags(self, at: int, text: str) -> int:
        """Return the line that closes a tag which a list item opens, or the line of the item."""
        item = _item(text)
        text = text[item.end() :] if item else text
        tag = _tag(text) or _html_name(text)
        return self.pairs.get((at, tag[1].lower()), at) if tag else at
