"""Renders comments: a thread with its replies, a thread as a row of a list, and the numbers of threads by state."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple

from presscheck.documents.pages.comment_text import comment_words, deleted_words, split_quote
from presscheck.documents.terminal.inline_line import inline_line
from presscheck.text.phrases import ago, count
from presscheck.text.sanitize import sanitize
from presscheck.text.styled_text import Line, Span, cut, plain, width
from presscheck.tui.commands import tab_key, tab_label
from presscheck.tui.widgets.status_bar import pressing

if TYPE_CHECKING:
    from datetime import datetime

    from presscheck.engine.review.threads import Message, PendingChange, PendingState, Thread, ThreadState

_PENDING: dict[PendingState, Span] = {
    "waiting": Span(" ◷ pending", "waiting"),
    "collected": Span(" ✎ in your review", "accent"),
    "sending": Span(" ◷ sending", "waiting"),
    "refused": Span(" ✗ failed", "removed"),
}
VERDICTS = {
    "approved": Span(" ✓ approved", "added"),
    "changes-requested": Span(" ✗ requested changes", "removed"),
}
"""Marks at the text of a review, by its status."""
OUTDATED = "↻"
"""The sign of an outdated thread."""
STATE_SIGNS: dict[ThreadState, tuple[str, str]] = {
    "open": ("●", "waiting"),
    "resolved": ("○", "added"),
    "outdated": (OUTDATED, "quiet"),
    "review": ("¶", "quiet"),
}
"""The sign and the style of a thread, by state."""
WIDEST = 100
"""Maximum width of a line, in cells, at whose right end reactions, state and number of replies are shown."""
FIRST_WORDS = 40
"""Width of the first words of a message, in cells."""
RenderMarkdown = Callable[[str, int, str | None], Sequence[Line]]
"""Renders Markdown in a number of columns; the last argument is the text that a suggestion replaces, or None."""


class ThreadLine(NamedTuple):
    """A line of a thread with the id of its message."""

    message: str
    line: Line


def thread_lines(
    thread: Thread,
    columns: int,
    now: datetime,
    render_markdown: RenderMarkdown,
    *,
    unfolded: bool = False,
) -> tuple[ThreadLine, ...]:
    """Return the lines of a thread, each with a bar on the left. A resolved thread is a single line unless `unfolded`.

    The quote is left out if the thread is shown below the quoted line.
    """
    bar = Span("┃ ", "quiet" if thread.resolved else "waiting")
    if thread.resolved and not unfolded:
        return (ThreadLine(thread.id, cut((bar, *_folded(thread, now)), columns)),)
    inside = columns - width((bar,))
    is_in_place = thread.line is not None or thread.deleted_line is not None
    first = replace(thread.first, text=split_quote(thread.first.text)[1]) if is_in_place else thread.first

    def render(markdown: str, columns: int) -> Sequence[Line]:
        return render_markdown(markdown, columns, thread.suggested_for)

    first_lines = _message_lines(first, inside, now, render, tail=_tail(thread))
    missing = thread.reply_count - len(thread.replies)
    if missing > 0:
        first_lines.append((Span(f"  {count(missing, 'reply', 'replies')} not loaded yet", "quiet"),))
    lines = [ThreadLine(thread.id, line) for line in first_lines]
    for reply in thread.replies:
        reply_lines = _message_lines(reply, inside - 2, now, render)
        lines += [ThreadLine(reply.id, (Span("  "), *line)) for line in reply_lines]
    return tuple(ThreadLine(message, cut((bar, *line), columns)) for message, line in lines)


def _message_lines(
    message: Message, columns: int, now: datetime, render: Callable[[str, int], Sequence[Line]], tail: Line = ()
) -> list[Line]:
    """Render a message as `ada 3 h  text` on one line if it fits, or with the text below the name."""
    head: list[Span] = [Span(message.author, "you strong" if message.author == "you" else "strong")]
    if message.pending is None:
        head.append(Span(f" {ago(message.posted_at, now)}", "quiet"))
    head += _pending(message.pending)
    if message.is_new:
        head.append(Span(" new", "accent strong"))
    if message.edited:
        head.append(Span(" edited", "quiet"))
    body = list(render(message.text, columns))
    ends = (*_reactions(message), *tail)
    if len(body) == 1 and width((*head, *body[0], *ends)) + 4 <= columns:
        lines = [_spread((*head, Span("  "), *body[0]), ends, columns)]
    else:
        lines = [_spread(tuple(head), ends, columns), *body]
    if message.pending and message.pending.error:
        lines.append((Span(f"✗ {sanitize(message.pending.error)}", "removed"),))
    return lines


def one_line(message: Message) -> Line:
    """Render the text of a message in one line, without its quote and without the fence of a suggestion."""
    return inline_line(comment_words(message.text))


def label_of(message: Message) -> str:
    """Return the author and the text of a message, for a choice of messages."""
    return f"{message.author}  {plain(one_line(message))}"


def first_words(message: Message) -> str:
    """Return the first words of a message in quotation marks, for a question or a notice."""
    return f"“{plain(cut(one_line(message), FIRST_WORDS))}”"


def who_resolves(threads: Sequence[Thread]) -> str:
    """Return who may resolve threads if the user may not, such as `Ada or an admin of the space`."""
    authors = {thread.first.author for thread in threads} - {"you"}
    if not authors:
        return "an admin of the space"
    return f"{authors.pop() if len(authors) == 1 else 'their authors'} or an admin of the space"


def pending_words(change: PendingChange | None) -> str:
    """Return the state of an unsent message in words; empty for a sent message."""
    return _PENDING[change.state].text.strip() if change else ""


def _pending(change: PendingChange | None) -> list[Span]:
    if change is None:
        return []
    agent = [Span(f" by {sanitize(change.agent)}", "accent strong")] if change.agent else []
    return [*agent, _PENDING[change.state]]


def _reactions(message: Message) -> Line:
    return tuple(Span(f" {emoji} {count}", "quiet") for emoji, count in message.reactions)


def _tail(thread: Thread) -> Line:
    """Render the right end of the first line: commented cell or start of the range, states, and number of replies."""
    spans: list[Span] = []
    if thread.line is not None and thread.about_cell:
        spans.append(Span(f" on “{sanitize(thread.about_cell)}”", "quiet"))
    if thread.line is not None and thread.starts_at:
        spans.append(Span(f" from “{sanitize(thread.starts_at)}”", "quiet"))
    if thread.state == "outdated":
        spans.append(Span(f" {OUTDATED} outdated", "waiting"))
    if thread.verdict in VERDICTS:
        spans.append(VERDICTS[thread.verdict])
    if thread.resolved:
        spans.append(Span(f" ○ resolved{f' by {thread.resolved_by}' if thread.resolved_by else ''}", "added"))
    spans += _pending(thread.pending_status)
    if thread.notifications:
        spans.append(Span(f" {thread.notifications}", "quiet"))
    if thread.reply_count:
        spans.append(Span(f"{' ·' if spans else ''} {count(thread.reply_count, 'reply', 'replies')}", "quiet"))
    return tuple(spans)


def _folded(thread: Thread, now: datetime) -> Line:
    author = f" {thread.first.author} {ago(thread.first.posted_at, now)}"
    return (
        Span("○ resolved", "added"),
        *_pending(thread.pending_status),
        Span(author, "quiet"),
        Span(f"  {plain(one_line(thread.first))}", "quiet"),
    )


def _spread(left: Line, right: Line, columns: int) -> Line:
    """Return a line with one part on the left and one on the right. If they do not fit, cut the left part.

    On a wide line, the right part ends at `WIDEST`, so that both parts are near each other.
    """
    if not right:
        return cut(left, columns)
    columns = min(columns, max(WIDEST, width((*left, *right)) + 1))
    room = columns - width(right) - 1
    if room < 8:
        return cut((*left, *right), columns)
    left = cut(left, room)
    return (*left, Span(" " * (columns - width(left) - width(right))), *right)


def thread_row(thread: Thread, where: str, columns: int, now: datetime) -> Line:
    """Render a thread as a row: state, author, time and place. On the right are details such as the number of replies.

    `where` is the first part of the place, such as the title of the page; the quote follows it.
    """
    sign, style = STATE_SIGNS[thread.state] if thread.first.pending is None else ("✎", "accent")
    author = Span(thread.first.author, "you strong" if thread.first.author == "you" else "strong")
    deleted = deleted_words(thread.about)
    about = f"deleted: {deleted}" if deleted else thread.about
    place = " · ".join(filter(None, (where, sanitize(about))))
    head = (Span(f"{sign} ", style), author, Span(f" {ago(thread.first.posted_at, now)}", "quiet"))
    replies = count(thread.reply_count, "reply", "replies") if thread.reply_count else ""
    unsent = pending_words(thread.first.pending or thread.pending_status)
    right = " · ".join(filter(None, (unsent, thread.notifications, replies)))
    room = columns - len(right) - 1
    left = cut((*head, Span(f"   {place}", "quiet")), room)
    return (*left, Span(" " * (room + 1 - width(left))), Span(right, "quiet"))


def states_line(states: Sequence[ThreadState], threads: Sequence[Thread], visible: Collection[ThreadState]) -> Line:
    """Render the number of threads in each state (with "hidden" if not shown), and the number of unsent threads."""
    spans: list[Span] = []
    for number, state in enumerate(states, 1):
        total = sum(thread.state == state and thread.first.pending is None for thread in threads)
        (sign, style), is_visible = STATE_SIGNS[state], state in visible
        parts = Span(f"{tab_label(number)} ", "quiet"), Span(f"{sign} ", style if is_visible else "quiet")
        name = Span(f"{state} {total}", "strong" if is_visible else "quiet")
        spans += [Span("  ", "quiet"), *pressing(tab_key(number), *parts, name), Span(" " * 3)]
        spans += [] if is_visible else [Span("hidden   ", "quiet")]
    unsent = sum(thread.first.pending is not None for thread in threads)
    return (*spans, Span(f"  ✎ {unsent} not sent", "accent")) if unsent else tuple(spans)
