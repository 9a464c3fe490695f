"""Reads the table of contents of a repository, ``SUMMARY.md``: groups are headings, pages are nested list items."""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from markdown_it import MarkdownIt
from markdown_it.token import Token

_ANCHOR = re.compile(r"<a\b([^<>]*)>(?:\s*+</a>)?|</a>", re.IGNORECASE)
_ID = re.compile(r"\bid=[\"']([^\"']++)[\"']", re.IGNORECASE)
_MARKDOWN = MarkdownIt("commonmark", {"maxNesting": 100}).disable(
    "code"
)  # deep items may be indented by any number of blanks
_USUAL_TITLES = frozenset(("table of contents", "summary", "contents"))


@dataclass
class Item:
    """An entry: a group or a page. `target` is as written, None if the entry has no link."""

    title: str
    line: int
    is_group: bool = False
    target: str | None = None
    link_title: str | None = None
    slug: str | None = None
    items: list[Item] = field(default_factory=list["Item"])


@dataclass
class Summary:
    """The table of contents; `title` is set if its first heading is more than "Table of contents"."""

    title: str | None
    items: list[Item]


def read_summary(text: str) -> Summary:
    """Reads a table of contents."""
    top: list[Item] = []
    current, title = top, None
    open_items: list[Item | None] = []
    heading = 0
    for token in _MARKDOWN.parse(text):
        if token.type == "list_item_open":
            open_items.append(None)
        elif token.type == "list_item_close":
            open_items.pop()
        elif token.type == "heading_open":
            heading = int(token.tag[1])
        elif token.type == "inline" and heading:
            if heading > 1:
                group = _group(token)
                top.append(group)
                current = group.items
            elif _words(token).casefold() not in _USUAL_TITLES:
                title = title or _words(token)
            heading = 0
        elif token.type == "inline" and open_items and open_items[-1] is None:
            item = _page(token)
            above = next((one for one in reversed(open_items[:-1]) if one), None)
            (above.items if above else current).append(item)
            open_items[-1] = item
    return Summary(title, top)


def plain_title(text: str) -> tuple[str, str | None]:
    """Returns a title without its anchors, and the id of the first anchor."""
    ids: list[str] = []

    def without_anchor(match: re.Match[str]) -> str:
        anchor = _ID.search(match[1] or "")
        ids.extend([anchor[1]] if anchor else [])
        return "" if anchor or match[1] is None else match[0]

    return " ".join(_ANCHOR.sub(without_anchor, text).split()), ids[0] if ids else None


def path_slug(text: str) -> str:
    """Returns a path segment for a file name or a title."""
    words = re.sub(r"[^\w.]+", "-", text.casefold()).strip("-.")
    return words[:100].strip("-.") or "page"


def _group(token: Token) -> Item:
    title, slug = plain_title(_words(token))
    return Item(title or "Untitled", _line(token), is_group=True, slug=slug)


def _page(token: Token) -> Item:
    children = token.children or []
    opening = next((at for at, child in enumerate(children) if child.type == "link_open"), None)
    if opening is None:
        return Item(_words(token) or "Untitled", _line(token))
    closing = next(at for at, child in enumerate(children) if at > opening and child.type == "link_close")
    link = children[opening]
    title = plain_title("".join(_text(child) for child in children[opening + 1 : closing]))[0]
    caption = link.attrGet("title")
    return Item(
        title or "Untitled",
        _line(token),
        target=str(link.attrGet("href") or ""),
        link_title=str(caption) if caption else None,
    )


def _words(token: Token) -> str:
    return " ".join("".join(_text(child) for child in token.children or []).split())


def _text(token: Token) -> str:
    return " " if token.type in ("softbreak", "hardbreak") else token.content


def _line(token: Token) -> int:
    return token.map[0] + 1 if token.map else 1
