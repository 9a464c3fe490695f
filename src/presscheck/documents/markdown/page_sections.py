"""Divides a page into sections of plain text for search, as a published page shows them, without parsing it.

A section belongs to an anchor: of a heading, a tab or an expandable. Each line is read once, so the time is linear, and
a tenth of the time of parsing.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from html import unescape
from typing import NamedTuple

from presscheck.documents.markdown.anchors import AnchorNames, heading_anchor
from presscheck.documents.markdown.headings import heading_level, heading_text

MAX_LINE = 2000
"""Maximum number of characters that are matched at once, to limit the search for the end of a mark."""

_lead = re.compile(r"[ \t>]*(?:(?:[-*+]|\d{1,9}[.)])(?:[ \t]+|$))*(?:\[[ xX]\][ \t]+|\[!\w+\]$)?").match
_fence = re.compile(r"`{3,}(?=[^`]*$)|~{3,}").match
_rule = re.compile(r"[-=|:*_ \t]*$").match
_definition = re.compile(r"\[(?!\^)[^\]]+\]:\s").match
_html_heading = re.compile(r"<h([1-4])\b[^<>]*>(.*)</h\1>\s*$", re.IGNORECASE).match
_details = re.compile(r"<details\b[^<>]*>", re.IGNORECASE).search
_summary = re.compile(r"<summary\b[^<>]*>((?:(?!<summary)[^\n])*?)</summary>", re.IGNORECASE)
_tag = re.compile(r"\{%-?[ \t]*([\w@/-]++)((?:(?!\{%)[^\n])*?)-?%\}")
_shown = re.compile(r"""(?<![\w-])(?:title|summary|description|caption)=(?:"((?:\\.|[^"\\])*)"|'((?:\\.|[^'\\])*)')""")
_MARKUP = re.compile(
    r"\\(?P<escaped>[!-/:-@\[-`{-~])"
    r"|(?<!`)(?P<ticks>`+)(?!`)(?P<code>.+?)(?<!`)(?P=ticks)(?!`)"
    r"|\{%(?P<tag>(?:(?!\{%)[^\n])*?)%\}"
    r"|<!--(?:(?!<!--)[^\n])*?-->"
    r"|<(?P<link>(?:https?|mailto):[^<>\s]+)>"
    r"|</?(?P<html>[A-Za-z][\w-]*+)[^<>]*+>"
    r"|\[\^[^\]\s]{1,100}\]:?|(?P<open>(?<!\w)!?\[)"
    r"|(?P<close>\](?:\((?:[^()\n]++|\([^()\n]*+\))*\)|\[[^\[\]\n]*+\])?)"
    r"|(?<!\s)\*+|\*+(?!\s)|(?<!\w)_++(?=\w)|(?<=[^\W_])_++(?!\w)|~~|\$\$"
    r"|(?P<entity>&(?:#\d{1,7}|#[xX][\da-fA-F]{1,6}|[A-Za-z]\w{1,31});)"
    r"|(?P<cell>\|)|\\$"
)
_SPECIAL = re.compile(r"[\\`{<\[\]*_~$&|]").search
_INLINE = frozenset(
    ["a", "abbr", "b", "code", "del", "em", "i", "ins", "kbd", "mark", "s", "span", "strong", "sub", "sup", "u"]
)
_TABS = frozenset(("tab", "code-tabs-item"))


class PageSection(NamedTuple):
    """A section of a page.

    Attributes:
        kind: `heading`, `tab`, `expandable`, or empty for the start of the page.
        level: the level of a heading.
        source: the title in Markdown, or the HTML of an expandable or HTML heading, from which the anchor is made.
        title: the title as text.
        text: the text without the title, one line for each line of the page.
        outer: for a tab or an expandable, the index of the section that contains it.
    """

    kind: str
    level: int
    source: str
    title: str
    text: str
    outer: int


class _Open:
    def __init__(self, kind: str = "", level: int = 0, source: str = "", title: str = "", outer: int = 0) -> None:
        self.kind, self.level, self.source, self.title, self.outer = kind, level, source, title, outer
        self.lines: list[str] = []

    def closed(self) -> PageSection:
        return PageSection(self.kind, self.level, self.source, self.title, "\n".join(self.lines), self.outer)


def page_sections(markdown: str) -> list[PageSection]:
    """Return the sections of a page, in the order of their titles. The first section is the start of the page."""
    reader = _Reader()
    for line in markdown.splitlines():
        reader.line(line)
    return [section.closed() for section in reader.sections]


def section_anchors(sections: Sequence[PageSection]) -> list[str]:
    """Return the anchors of sections. A section without an anchor gets the anchor of the section that contains it."""
    names = AnchorNames()
    own = [_named(section, names) for section in sections]
    used = {anchor for anchor in own if anchor}
    anchors: list[str] = []
    for section, name in zip(sections, own, strict=True):
        anchor = heading_anchor(section.source) if section.kind == "tab" else name
        if section.kind == "tab" and anchor in used:
            anchor = ""
        used.add(anchor)
        anchors.append(anchor or (anchors[section.outer] if anchors else ""))
    return anchors


def plain_line(line: str) -> str:
    """Return the text of a line without markup and URLs."""
    if not _SPECIAL(line):
        return line
    unclosed: list[str] = []

    def replaced(match: re.Match[str]) -> str:
        kind = match.lastgroup
        match kind:
            case "escaped" | "link":
                return match[kind]
            case "code":
                return match["code"].strip()
            case "open":
                unclosed.append(match[0])
                return ""
            case "close":
                # a bracket within a word, as in `array[0]`, has no partner that was removed
                is_paired = bool(unclosed and unclosed.pop())
                return "" if is_paired or len(match[0]) > 1 else "]"
            case "tag":
                return f" {_titles(match['tag'])} "
            case "html":
                return "" if match["html"].lower() in _INLINE else " "
            case "entity":
                return unescape(match["entity"])
            case "cell":
                return " "
            case _:
                return ""

    if len(line) <= MAX_LINE:
        return _MARKUP.sub(replaced, line)
    parts = (line[at : at + MAX_LINE] for at in range(0, len(line), MAX_LINE))
    return "".join(_MARKUP.sub(replaced, part) for part in parts)


class _Reader:
    def __init__(self) -> None:
        self.sections = [_Open()]
        self._current = 0
        self._outer: list[int] = []
        self._fence = ""
        self._is_comment = False

    def line(self, line: str) -> None:
        lead = _lead(line)
        text = line[lead.end() :] if lead else line
        if self._fence:
            if text.startswith(self._fence) and not text.strip(f"{self._fence[0]} \t"):
                self._fence = ""
            else:
                self._add(line)
            return
        if self._is_comment or "<!--" in text:
            text = self._without_comment(text)
        fence = _fence(text)
        if fence:
            self._fence = fence[0]
            return
        if not text or (text[0] in "-=|:*_" and _rule(text)) or _definition(text):
            return
        heading = line.removeprefix("> ")
        title = heading_text(heading) if "#" in line else None
        if title:
            self._start("heading", heading_level(heading), title, plain_line(title).strip())
        elif "{%" in text:
            self._tags(text)
        elif "<" in text:
            self._html(text)
        else:
            self._add(plain_line(text))

    def _without_comment(self, text: str) -> str:
        before, opening, rest = ("", "<!--", text) if self._is_comment else text.partition("<!--")
        if not opening:
            return before
        _, closing, after = rest.partition("-->")
        self._is_comment = not closing
        return f"{before}{after}" if closing and "<!--" not in after else before

    def _tags(self, text: str) -> None:
        end = 0
        for tag in _tag.finditer(text):
            name = tag[1].lower()
            if name in _TABS or (name.startswith("end") and name[3:] in _TABS):
                self._add(plain_line(text[end : tag.start()]))
                end = tag.end()
                if name in _TABS:
                    title = _titles(tag[2])
                    self._open("tab", title, title)
                else:
                    self._close("tab")
        self._add(plain_line(text[end:]))

    def _html(self, text: str) -> None:
        heading = _html_heading(text)
        if heading:
            self._start("heading", int(heading[1]), text.strip(), plain_line(heading[2]).strip())
            return
        opening = _details(text)
        if opening:
            self._open("expandable", opening[0], "")
        summary = _summary.search(text)
        if summary and self.sections[self._current].kind == "expandable":
            section = self.sections[self._current]
            section.source, section.title = section.source + summary[1], plain_line(summary[1]).strip()
            text = _summary.sub(" ", text)
        self._add(plain_line(text))
        if "</details>" in text.lower():
            self._close("expandable")

    def _start(self, kind: str, level: int, source: str, title: str) -> None:
        self.sections.append(_Open(kind, level, source, title, self._current))
        self._current = len(self.sections) - 1

    def _open(self, kind: str, source: str, title: str) -> None:
        self._outer.append(self._current)
        self._start(kind, 0, source, title)

    def _close(self, kind: str) -> None:
        if self._outer:
            self._current = self._outer.pop()

    def _add(self, text: str) -> None:
        if text and not text.isspace():
            self.sections[self._current].lines.append(text.strip())


def _named(section: PageSection, names: AnchorNames) -> str:
    if section.kind == "expandable":
        opening, _, summary = section.source.partition(">")
        return names.html(f"{opening}>", summary or "Details")
    if section.kind != "heading":
        return ""
    if section.source.startswith("<"):
        opening, _, inner = section.source.partition(">")
        return names.html(f"{opening}>", inner)
    return names.markdown(section.level, section.source)


def _titles(tag: str) -> str:
    titles = (double or single for double, single in _shown.findall(tag))
    return " ".join(re.sub(r"\\(.)", r"\1", title) for title in titles)
