"""Counts the blocks of a page by kind, in its Markdown and in its node tree, to detect lost blocks.

The Markdown is read line by line with separate rules, without the program's parser.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from typing import Any

TAGS = {
    "hint": "hint",
    "tabs": "tabs",
    "tab": "tabs-item",
    "code-tabs": "tabs",
    "code-tabs-item": "tabs-item",
    "stepper": "stepper",
    "step": "stepper-step",
    "columns": "columns",
    "column": "column",
    "updates": "updates",
    "update": "update",
    "content-ref": "content-ref",
    "page-ref": "content-ref",
    "embed": "embed",
    "file": "file",
    "prompt": "prompt",
    "if": "if",
    "openapi": "swagger",
    "openapi-operation": "openapi-operation",
    "openapi-webhook": "openapi-webhook",
    "openapi-schemas": "openapi-schemas",
    "include": "reusable-content",
}
"""The node types of tags."""
_PARTS = {"tabs-item": "tabs", "stepper-step": "stepper", "column": "columns", "update": "updates"}
_NEED_NO_END = frozenset(
    name for name in TAGS if name.startswith(("content-ref", "page-ref", "embed", "file", "openapi", "include"))
)
_LISTS = ("list-ordered", "list-unordered", "list-tasks")
_front = re.compile(r"\A\ufeff?---[ \t]*\n.*?\n(?:---|\.\.\.)[ \t]*(?:\n|\Z)", re.DOTALL)
_raw = re.compile(r"<!--.*?-->|<(pre|script|style)\b.*?</\1>", re.DOTALL | re.IGNORECASE)
_marker = re.compile(r"(?:([-*+])|(\d{1,9})([.)]))(?=[ \t]|$)")
_rule = re.compile(r"(?:(?:\*[ \t]*){3,}|(?:-[ \t]*){3,}|(?:_[ \t]*){3,})$").match
_fence = re.compile(r"(`{3,})[^`]*$|(~{3,})").match
_code = re.compile(r"(?<!`)(`+)(?!`).+?(?<!`)\1(?!`)")
_delimiters = re.compile(r"\|?[ \t]*:?-+:?[ \t]*(?:\|[ \t]*:?-+:?[ \t]*)*\|?$").match
_MARKUP = {
    "picture": r"<img\b(?![^<>]*gitbook-drawing)|!\[[^\]]*\]\(",
    "drawing": r"<img\b[^<>]*gitbook-drawing",
    "cell": r"<t[dh]\b",
    "list-item": r"<li\b",
}
_alert = re.compile(r"\[!(?:note|info|tip|warning|caution|danger|important|success)\]", re.IGNORECASE).match


def body(markdown: str) -> str:
    """Return a page without its front matter."""
    return _front.sub("", markdown.replace("\r\n", "\n").replace("\r", "\n"))


def written(markdown: str) -> Counter[str]:
    """Count the blocks of a text, and the cells of its tables, by node type."""
    return _Lines().read(body(markdown))


def kept(document: dict[str, Any]) -> Counter[str]:
    """Count the blocks of a tree, and the cells of its tables, by node type."""
    counts: Counter[str] = Counter()
    for node in _every(document):
        kind = node.get("type")
        if kind == "table":
            counts["cell"] += len(node["data"]["definition"]) * (len(node["data"]["records"]) + 1)
        if kind in ("image", "inline-image"):
            counts["picture"] += 1
        if kind in _LISTS:
            continue
        if node["object"] == "block":
            counts[str(kind)] += 1
    return counts


def _every(node: dict[str, Any]) -> Iterator[dict[str, Any]]:
    for name in ("nodes", "fragments"):
        for inner in node.get(name) or ():
            yield inner
            yield from _every(inner)


class _Lines:
    """The state of the line-by-line reader."""

    def __init__(self) -> None:
        self.counts: Counter[str] = Counter()
        self.margins: list[int] = []
        """The columns at which the content of open list items starts; those of quotations are negative."""
        self.fence = ""
        self.is_text = False
        """True if the next line may continue the text of the last line."""
        self.columns = 0
        """The number of columns of the open pipe table."""
        self.before = ""
        self.html = ""
        self.tags: list[_Tag] = []
        self.unclosed: Counter[str] = Counter()
        """Counts of the blocks in the open HTML."""

    def read(self, text: str) -> Counter[str]:
        for line in _raw.sub(_blank, text).split("\n"):
            self.line(line.expandtabs(4).rstrip())
        return self.counts

    def line(self, line: str) -> None:
        if not line.strip(" >"):
            # a blank line ends a quotation unless it has the mark of the quotation
            self.leave(line, is_blank=True)
            self.is_text, self.columns, self.before = False, 0, ""
            return
        column = self.leave(line, is_blank=False)
        text = line[column:] if column else line
        if self.fence:
            text = text.strip()
            if text.startswith(self.fence) and not text.strip(self.fence[0]):
                self.fence = ""
            return
        self.content(text, column)

    def leave(self, line: str, *, is_blank: bool) -> int:
        """Close quotations and items that a line does not belong to. Returns the column where its content starts."""
        column = 0
        for number, margin in enumerate(self.margins):
            blanks = len(line[column:]) - len(line[column:].lstrip())
            if margin < 0 and blanks < 4 and line[column:].lstrip().startswith(">"):
                column += blanks + 1
                column += line[column : column + 1] == " "
            elif margin >= 0 and (blanks >= margin - column or not line[column:].strip()):
                column = max(column, min(margin, len(line)))
            elif margin < 0 or not is_blank:
                is_sibling = margin >= 0 and _marker.match(line[column:].lstrip())
                if self.is_text and not is_sibling and not _starts(line[column:]):
                    return column
                del self.margins[number:]
                self.fence, self.columns, self.is_text = "", 0, False
                return column
        return column

    def content(self, text: str, column: int) -> None:
        blanks = len(text) - len(text.lstrip())
        if blanks >= 4 and not self.is_text and not self.html:
            return
        column += blanks
        text = text.lstrip()
        while not self.html:
            if text.startswith(">"):
                self.margins.append(-1)
                size = 1 + text[1:2].count(" ")
            elif (match := _marker.match(text)) and not _rule(text):
                rest = text[match.end() :].lstrip()
                blanks = len(text) - match.end() - len(rest)
                if self.is_text and (not rest or match[2] not in (None, "1")):
                    break
                self.counts["list-item"] += 1
                size = match.end() + (blanks if rest and blanks < 5 else 1)
                self.margins.append(column + size)
                if not rest or blanks >= 5:
                    self.is_text, self.columns, self.before = False, 0, ""
                    return
            else:
                break
            self.is_text, self.columns, self.before = False, 0, ""
            column, text = column + size, text[size:].lstrip()
        self.block(text)

    def block(self, text: str) -> None:
        is_text, self.is_text = self.is_text, False
        if (fence := _fence(text)) and not self.html:
            self.fence = fence[1] or fence[2]
            self.counts["code"] += 1
            return
        if text.startswith("{%") and not self.html:
            self.tag(text)
            return
        if self.tags:
            self.tags[-1].has_text = True
        if self.margins and self.margins[-1] < 0 and not is_text and _alert(text):
            self.counts["hint"] += 1
        self.pipes(text)
        self.markup(_code.sub("", text))
        self.is_text = not (text.startswith(("#", "<", "|")) or _rule(text))
        self.before = text

    def tag(self, text: str) -> None:
        """Count closed tags and tags without an end; parts only in groups, and groups only without other content."""
        match = re.match(r"\{%-?\s*([\w-]+)", text)
        name = match[1].lower() if match else ""
        if name in _NEED_NO_END:
            self.counts[TAGS[name]] += 1
        elif name and not name.startswith("end"):
            self.tags.append(_Tag(name, self.quotations))
        end = re.search(r"\{%-?\s*end([\w-]+)\s*-?%\}$", text)
        if end and (tag := self.closed(end[1].lower())):
            self.close(tag)

    @property
    def quotations(self) -> int:
        return sum(margin < 0 for margin in self.margins)

    def closed(self, name: str) -> _Tag | None:
        """Return the open tag that an end tag closes. Tags that were opened after it have no end tag."""
        if all(tag.name != name for tag in self.tags):
            return None
        while (tag := self.tags.pop()).name != name:
            if self.tags:
                self.tags[-1].has_text = True
        return tag if tag.quotations == self.quotations else None

    def close(self, tag: _Tag) -> None:
        kind = TAGS.get(tag.name, "")
        if kind in _PARTS and self.tags and TAGS.get(self.tags[-1].name) == _PARTS[kind]:
            self.tags[-1].parts += 1
            return
        if self.tags:
            self.tags[-1].has_text = True
        if kind in _PARTS.values():
            part = next(part for part, group in _PARTS.items() if group == kind)
            if tag.parts and not tag.has_text:
                self.counts[kind] += 1
                self.counts[part] += tag.parts
        elif kind and kind not in _PARTS:
            self.counts[kind] += 1

    def pipes(self, text: str) -> None:
        if not self.columns and "|" in self.before and "|" in text and _delimiters(text):
            columns, head = _cells(text), _cells(self.before)
            if columns == head:
                self.columns = columns
                self.counts["cell"] += columns
        elif self.columns:
            self.counts["cell"] += self.columns

    def markup(self, text: str) -> None:
        opened = "" if self.html else "open"
        counts: Counter[str] = Counter()
        for kind, pattern in _MARKUP.items():
            if kind == "list-item" and not (self.html or self.columns or text.startswith("<")):
                continue  # list tags within a line of text do not start a list
            counts[kind] += len(re.findall(pattern, text, re.IGNORECASE))
        for closing, name in re.findall(r"<(/?)(details|table|ul|ol|figure)\b", text, re.IGNORECASE):
            name = name.lower()
            if not closing and (not self.html or name == self.html):
                self.tags.append(_Tag(f"<{name}>", self.quotations))
                self.html = self.html or ("" if name == "details" else name)
            elif closing and (not self.html or name == self.html):
                is_closed = self.closed(f"<{name}>") is not None
                counts["expandable"] += is_closed and name == "details"
                if self.html and all(tag.name != f"<{name}>" for tag in self.tags):
                    self.html = ""
                    opened = "open"
        self.unclosed += counts
        if opened and not self.html:
            self.counts += self.unclosed
            self.unclosed.clear()


class _Tag:
    """An open tag."""

    def __init__(self, name: str, quotations: int) -> None:
        self.name = name
        self.quotations = quotations
        self.parts = 0
        self.has_text = False


def _blank(match: re.Match[str]) -> str:
    return "\n" * match[0].count("\n")


def _starts(text: str) -> bool:
    """Return True if a line starts a block, regardless of the lines before it."""
    text = text.strip()
    match = _marker.match(text)
    is_item = match and text[match.end() :].strip() and match[2] in (None, "1")
    return bool(is_item or _rule(text) or _fence(text) or text.startswith(("{%", "#", "<", ">")))


def _cells(row: str) -> int:
    return len(re.findall(r"(?<!\\)\|", row.strip().strip("|"))) + 1
