"""Extracts the plain text of pages and node trees for search, and excerpts that match a query.

The text keeps its lines, so that a match in the folded text can be located in the original.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, cast

from presscheck.documents.markdown.headings import heading_text
from presscheck.documents.markdown.search_terms import fold

EXCERPT_MARGIN = 60
"""Number of characters before and after a match."""
MAX_LINE = 4000
"""Number of characters of a line that are searched for the exact match."""

_FENCE = re.compile(r"[ \t]*(```|~~~)")
UNSEEN = re.compile(
    r"\{%(?:(?!\{%)[^\n])*?%\}|<(?:/?[A-Za-z]|!--)[^<>\n]*+>"
    r"|(?<=\])(?:\((?:[^()\n]++|\([^()\n]*+\))*\)|\[[^\[\]\n]*+\])"
)
"""Matches tags, comments and link targets."""
_MARKS = re.compile(r"^[ \t]*(?:#{1,6}|[-*+>]|\d+\.)[ \t]+|\*\*|__|[\[\]`]", re.MULTILINE)


def page_text(markdown: str) -> tuple[str, str]:
    """Return the headings of a page, one per line, and its text without tags, URLs and markup."""
    headings: list[str] = []
    lines: list[str] = []
    fence = ""
    for line in markdown.split("\n"):
        mark = _FENCE.match(line)
        if mark and fence in ("", mark[1]):
            fence = "" if fence else mark[1]
            lines.append("")
        elif fence:
            lines.append(line)
        else:
            heading = heading_text(line)
            if heading:
                headings.append(_visible(heading))
            lines.append(_visible(line))
    return "\n".join(headings), "\n".join(lines)


def node_text(node: Mapping[str, Any]) -> str:
    """Return the text of a node tree, one line per block with text."""
    if "leaves" in node:
        return "".join(str(leaf.get("text", "")) for leaf in cast("list[dict[str, Any]]", node["leaves"]))
    inside = [(child, node_text(child)) for child in cast("list[dict[str, Any]]", node.get("nodes") or [])]
    return "".join(text + ("\n" if child.get("object") == "block" else "") for child, text in inside).strip("\n")


def excerpt(text: str, divided: str, phrases: list[str]) -> str:
    """Return an excerpt of a text around the first matching phrase, or its start.

    Args:
        text: the plain text.
        divided: the text after `split_unspaced`.
        phrases: the phrases of the query, see `query_phrases`.
    """
    for phrase in phrases:
        match = re.search(rf"(?<!\w){re.escape(phrase).replace(chr(92) + ' ', chr(92) + 'W+')}", divided)
        if match:
            line = text.split("\n")[divided.count("\n", 0, match.start())][:MAX_LINE]
            return _excerpt_around(line, phrase)
    return _excerpt_around(text[: 4 * EXCERPT_MARGIN], "")


def _excerpt_around(line: str, phrase: str) -> str:
    flat = " ".join(line.split())
    words = fold(flat)
    at = max(0, words.find(phrase), words.find(phrase.replace(" ", "")), words.find(phrase.split(" ")[0]))
    start, end = max(0, at - EXCERPT_MARGIN), at + len(phrase) + EXCERPT_MARGIN
    start = flat.find(" ", start, at) + 1 or start if start else 0
    return ("…" if start else "") + flat[start:end].strip() + ("…" if end < len(flat) else "")


def _visible(text: str) -> str:
    return _MARKS.sub("", UNSEEN.sub(" ", text)).strip()
