"""Threads as lines: who said what and when, answers below; the resolved are folded, what waits to be sent says so."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from presscheck.documents.display_text import display_text
from presscheck.documents.moments import ago
from presscheck.documents.quotes import quoted
from presscheck.documents.spans import Line, Span, cut, width

if TYPE_CHECKING:
    from datetime import datetime

    from presscheck.desk.review.threads import Message, Thread, Unsent, UnsentState

_SAID: dict[UnsentState, Span] = {
    "waiting": Span(" ◷ waiting to send", "waiting"),
    "collected": Span(" ✎ in your review", "accent"),
    "sending": Span(" ◷ sending", "waiting"),
    "refused": Span(" ✗ refused", "removed"),
}
OUTDATED = "◌"
"""Stands before what is about words that are gone."""
Typeset = Callable[[str, int], Sequence[Line]]
"""What lays Markdown out in so many columns."""


def thread_lines(
    one: Thread,
    columns: int,
    now: datetime,
    typeset: Typeset,
    *,
    unfolded: bool = False,
) -> tuple[Line, ...]:
    """The lines of a thread, each behind a bar; one line only where it is resolved and not unfolded.

    The quote is left out where its words stand right above.
    """
    bar = Span("┃ ", "quiet" if one.resolved else "waiting")
    if one.resolved and not unfolded:
        return (cut((bar, *_folded(one, now)), columns),)
    inside = columns - width((bar,))
    first = one.first if one.line is None else replace(one.first, text=quoted(one.first.text)[1])
    lines = _message_lines(first, inside, now, typeset, tail=_tail(one))
    missing = one.reply_count - len(one.replies)
    if missing > 0:
        lines.append((Span(f"  {missing} {_answers(missing)} not here yet", "quiet"),))
    for reply in one.replies:
        lines += [(Span("  "), *line) for line in _message_lines(reply, inside - 2, now, typeset)]
    return tuple(cut((bar, *line), columns) for line in lines)


def _message_lines(one: Message, columns: int, now: datetime, typeset: Typeset, tail: Line = ()) -> list[Line]:
    """`ada 3 h  text` in one line where it fits, else the text below the name."""
    head: list[Span] = [Span(one.author, "you strong" if one.author == "you" else "strong")]
    if one.unsent is None:
        head.append(Span(f" {ago(one.posted_at, now)}", "quiet"))
    head += _unsent(one.unsent)
    if one.edited:
        head.append(Span(" edited", "quiet"))
    body = list(typeset(one.text, columns))
    ends = (*_reactions(one), *tail)
    if len(body) == 1 and width((*head, *body[0], *ends)) + 4 <= columns:
        lines = [_spread((*head, Span("  "), *body[0]), ends, columns)]
    else:
        lines = [_spread(tuple(head), ends, columns), *body]
    if one.unsent and one.unsent.error:
        lines.append((Span(f"✗ {display_text(one.unsent.error)}", "removed"),))
    return lines


def _unsent(unsent: Unsent | None) -> list[Span]:
    return [_SAID[unsent.state]] if unsent else []


def _reactions(one: Message) -> Line:
    return tuple(Span(f" {emoji} {count}", "quiet") for emoji, count in one.reactions)


def _tail(one: Thread) -> Line:
    """What stands at the right of the first line: how many answered, whether it is resolved."""
    spans: list[Span] = []
    if one.line is not None and one.about_cell:
        spans.append(Span(f" on “{display_text(one.about_cell)}”", "quiet"))
    if one.state == "outdated":
        spans.append(Span(f" {OUTDATED} its words are gone", "waiting"))
    if one.resolved:
        spans.append(Span(f" ✓ resolved{f' by {one.resolved_by}' if one.resolved_by else ''}", "added"))
    if one.settling:
        spans += _unsent(one.settling)
    if one.reply_count:
        spans.append(Span(f" {one.reply_count} {_answers(one.reply_count)}", "quiet"))
    return tuple(spans)


def _folded(one: Thread, now: datetime) -> Line:
    words = display_text(" ".join(quoted(one.first.text)[1].split()))
    who = f" {one.first.author} {ago(one.first.posted_at, now)}"
    return (
        Span("✓ resolved", "added"),
        *(_unsent(one.settling)),
        Span(who, "quiet"),
        Span(f"  {words}", "quiet"),
    )


def _answers(number: int) -> str:
    return "reply" if number == 1 else "replies"


def _spread(left: Line, right: Line, columns: int) -> Line:
    """Left and right at the two ends of a line; what is left is cut for what is right."""
    if not right:
        return cut(left, columns)
    room = columns - width(right) - 1
    if room < 8:
        return cut((*left, *right), columns)
    left = cut(left, room)
    return (*left, Span(" " * (columns - width(left) - width(right))), *right)
