"""The list of what changes, a line each: viewed or not, its title, how much changed, and the open threads on it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from presscheck.desk.review.changes import weight
from presscheck.documents.spans import Line, Span, cut, pad, width

if TYPE_CHECKING:
    from presscheck.desk.review.changes import Changed, Words

_THREADS = 4
_NARROW = 22
"""Below this many columns only the title is left."""
_STYLES = {"added": "added", "deleted": "removed", "edited": "", "moved": "link", "renamed": "link", "details": "quiet"}
_NOUNS = {"file": "file ", "content": "reusable ", "tag": "tag ", "variables": ""}


def page_line(thing: Changed, columns: int, *, viewed: bool, words: Words | None = None, open_threads: int = 0) -> Line:
    """`✓ Overview      ±12  ┃2`: the title is cut for what stands behind it."""
    mark = Span("✓ ", "added") if viewed else Span("  ")
    style = "quiet" if viewed else "removed strike" if thing.kinds[0] == "deleted" else ""
    title = (mark, Span(_NOUNS.get(thing.noun, ""), "quiet"), Span(thing.title, style))
    return _columns(title, _weight(thing, words, viewed=viewed), open_threads, columns)


def conversation_line(columns: int, open_threads: int) -> Line:
    """The entry above all pages: what is said of the whole request."""
    return _columns((Span("  "), Span("Conversation", "strong")), (), open_threads, columns)


def _columns(title: Line, what: Line, open_threads: int, columns: int) -> Line:
    if columns < _NARROW:
        return pad(cut(title, columns), columns)
    threads = (Span(f"┃{min(open_threads, 99)}", "waiting"),) if open_threads else ()
    right = (*what, *pad((Span(" "), *threads), _THREADS))
    room = columns - width(right) - 1
    return (*pad(cut(title, room), room), Span(" "), *right)


def _weight(thing: Changed, words: Words | None, *, viewed: bool) -> Line:
    style = "quiet" if viewed else _STYLES[thing.kinds[0]]
    return (Span(weight(thing, words), style),)
