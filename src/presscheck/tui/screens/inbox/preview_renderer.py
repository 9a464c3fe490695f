"""Rendering of the preview of a change request: facts, description, pages and latest threads.

The preview never exceeds the available lines. It shows how many pages and threads are omitted.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from itertools import zip_longest

from presscheck.api.change_requests import ChangeRequest
from presscheck.api.comments import Comment
from presscheck.documents.pages.comment_text import comment_words
from presscheck.documents.terminal.inline_line import inline_line
from presscheck.engine.inbox.preview import Preview, last_activity
from presscheck.engine.inbox.views import RowDetails, name_of
from presscheck.engine.review.changes import ChangedItem, is_viewed, kinds_text
from presscheck.text.phrases import ago, count, since
from presscheck.text.sanitize import sanitize
from presscheck.text.styled_text import Line, Span, cut, pad, width, wrap

FACTS = 4
"""Lines of the facts; description, pages and threads follow if there are more lines."""
SIDE_BY_SIDE = 100
"""Minimum columns for pages and threads side by side."""
THREAD_LINES = 2
"""Maximum lines of a thread's text."""
MIN_PAGES = 40
"""Minimum columns of the pages when the threads are next to them."""
MIN_LISTS = 12
"""Minimum lines for a list of pages with the threads below."""
UNTITLED, UNTITLED_PAGE = "(no subject)", "Untitled"


def preview_lines(
    request: ChangeRequest,
    known: RowDetails,
    contents: Preview | None,
    columns: int,
    rows: int,
    moment: datetime,
    *,
    me: str = "",
) -> list[Line]:
    """Render the preview in at most `rows` lines.

    Args:
        request: the change request.
        known: its details.
        contents: its description, pages and threads; None if they are not read yet.
        columns: the width.
        rows: the available lines.
        moment: the current time.
        me: the id of the signed-in user.
    """
    has_room = rows > FACTS + 2
    lines = [*_title(request, columns, moment, me, has_room=has_room), _reviewers(known), _changes(request, known)]
    if known.latest and not has_room:
        lines.append(_latest(known.latest, me))
    if contents and has_room:
        lines += _contents(request, contents, columns - 2, rows - len(lines), moment, me)
    return [cut(line, max(1, columns - 1)) for line in lines[:rows]]


def _title(request: ChangeRequest, columns: int, moment: datetime, me: str, *, has_room: bool) -> list[Line]:
    """Render number, subject and facts; the facts move to a second line if they do not fit and there is room."""
    creator = request.created_by
    author = "somebody" if creator is None else "you" if creator.id == me else sanitize(creator.display_name)
    facts = Span(f"{request.status} · by {author} · updated {since(request.updated_at, moment)}", "quiet")
    title = (Span(f" #{request.number} ", "quiet"), Span(sanitize(request.subject) or UNTITLED, "title"))
    room = columns - width((facts,)) - 4
    if width(title) > room and has_room:
        return [title, (Span(" "), facts)]
    return [(*cut(title, max(10, room)), Span("   "), facts)]


def _contents(
    request: ChangeRequest, contents: Preview, columns: int, rows: int, moment: datetime, me: str
) -> list[Line]:
    """Render the description, and below it pages and threads, which are side by side if there is room."""
    lines: list[Line] = []
    if contents.description.strip():
        lines += [(), *_description(contents.description, columns, max(2, rows // 3))]
    left = rows - len(lines) - 1
    if left < 2:
        return lines
    if columns >= SIDE_BY_SIDE:
        pages = _pages(request, contents, columns * 2 // 5, left)
        size = max(MIN_PAGES, *map(width, pages), 0)
        threads = _threads(contents, columns - size - 3, left, moment, me)
        sides = zip_longest(pages, threads, fillvalue=())
        return [*lines, (), *((*pad(page, size), Span("   "), *thread) for page, thread in sides)]
    if left < MIN_LISTS:
        titles = ", ".join(sanitize(item.title) or UNTITLED_PAGE for item in contents.items or ())
        return [(Span(f"            {titles}"),), *lines, (), *_threads(contents, columns, left - 1, moment, me)]
    needed = 1 + len(contents.items or ())
    pages = _pages(request, contents, columns, min(needed, max(3, left // 2)))
    threads = _threads(contents, columns, left - len(pages) - 1, moment, me)
    return [*lines, (), *pages, (), *threads]


def _description(text: str, columns: int, most: int) -> list[Line]:
    lines = wrap(inline_line(" ".join(text.split())), max(1, columns - 1))
    if len(lines) > most:
        lines = [*lines[: most - 1], cut((*lines[most - 1], Span(" …")), columns - 1)]
    return [(Span(" "), *line) for line in lines]


def _pages(request: ChangeRequest, contents: Preview, columns: int, most: int) -> list[Line]:
    """Render the changed items in at most `most` lines, each with its viewed mark and kind of change."""
    if contents.items is None:
        return []
    lines: list[Line] = [(Span(f" {count(len(contents.items), 'changed page')}", "heading"),)]
    shown = _fitting(contents.items, most - 1)
    kinds = [Span(kinds_text(item), "quiet") for item in shown]
    longest_title = max((width((Span(sanitize(item.title) or UNTITLED_PAGE),)) for item in shown), default=0)
    size = max(8, min(columns - max((width((kind,)) for kind in kinds), default=0) - 2, longest_title + 5))
    for item, kind in zip(shown, kinds, strict=True):
        mark = "☑" if is_viewed(item, contents.viewed or {}, request.revision) else " "
        title = (Span(f" {mark} ", "added"), Span(sanitize(item.title) or UNTITLED_PAGE))
        lines.append((*pad(cut(title, size - 2), size), kind))
    return [*lines, *_rest(len(contents.items) - len(shown))]


def _threads(contents: Preview, columns: int, most: int, moment: datetime, me: str) -> list[Line]:
    """Render the open threads in at most `most` lines: author, time and page, followed by the text."""
    if contents.threads is None:
        return []
    if not contents.threads:
        return [(Span(" no open comments", "quiet"),)]
    titles = {item.id: sanitize(item.title) for item in contents.items or ()}
    lines: list[Line] = [(Span(f" {count(len(contents.threads), 'open comment')}", "heading"),)]
    for number, thread in enumerate(contents.threads):
        block = _thread(thread, titles, columns, moment, me)
        left = len(contents.threads) - number
        if number == 0:
            block = block[: max(0, most - 1)]
        elif len(lines) + len(block) + (left > 1) > most:
            return [*lines, *_rest(left)][: max(1, most)]
        lines += block
    return lines


def _thread(thread: Comment, titles: dict[str, str], columns: int, moment: datetime, me: str) -> list[Line]:
    page = titles.get(thread.target.page.id or "", "") if thread.target.page else ""
    facts = [ago(last_activity(thread), moment), *([f"on {page}"] if page else [])]
    facts += [count(thread.replies, "reply", "replies")] if thread.replies else []
    name = sanitize(name_of(thread.posted_by.id, thread.posted_by.display_name, me))
    lines = wrap(inline_line(comment_words(thread.body.markdown or "")), max(1, columns - 3))
    if len(lines) > THREAD_LINES:
        lines = [*lines[: THREAD_LINES - 1], cut((*lines[THREAD_LINES - 1], Span(" …")), columns - 3)]
    head = (Span(f" {name}", "strong"), Span(f"  {' · '.join(facts)}", "quiet"))
    return [head, *((Span("   "), *line) for line in lines)]


def _fitting(items: Sequence[ChangedItem], most: int) -> Sequence[ChangedItem]:
    """Return the items that fit into `most` lines, leaving a line for the number of omitted items."""
    return items if len(items) <= most else items[: max(0, most - 1)]


def _rest(number: int) -> list[Line]:
    return [(Span(f"   … {number} more", "quiet"),)] if number else []


def _latest(comment: Comment, me: str) -> Line:
    body = inline_line(comment_words(comment.body.markdown or ""))
    name = sanitize(name_of(comment.posted_by.id, comment.posted_by.display_name, me))
    return (Span(" Latest     ", "quiet"), Span(name, "strong"), Span(": “"), *body, Span("”"))


def _reviewers(known: RowDetails) -> Line:
    parts = [Span(" Reviewers  ", "quiet")]
    parts += [Span(f"✓ {sanitize(name)}   ", "added") for name in known.approved or ()]
    parts += [Span(f"✗ {sanitize(name)}   ", "removed") for name in known.refused or ()]
    parts += [Span(f"✓ {sanitize(name)} stale   ", "waiting") for name in known.stale]
    parts += [Span(f"◷ {sanitize(name)}   ", "waiting") for name in known.asked or ()]
    if known.approved is None or known.asked is None:
        parts.append(Span("…", "quiet"))
    return tuple(parts) if len(parts) > 1 else (parts[0], Span("none requested", "quiet"))


def _changes(request: ChangeRequest, known: RowDetails) -> Line:
    """Render the numbers of added, edited, moved and deleted pages, and whether main has new changes or conflicts."""
    if known.has_conflict:
        main = (Span("   conflict", "removed"),)
    else:
        main = (Span("   main has new changes", "waiting"),) if request.outdated else ()
    if known.changes is None:
        return (Span(" Pages      …", "quiet"), *main)
    words = [
        f"{number} {word}"
        for number, word in zip(known.changes, ("added", "edited", "moved", "deleted"), strict=True)
        if number
    ]
    return (Span(" Pages      ", "quiet"), Span(", ".join(words) or "no changes yet", "" if words else "quiet"), *main)
