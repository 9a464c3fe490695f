"""The draft of a text as the editor uses it, that of a page or of another document; and the question to discard it."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

from presscheck.documents.diff.sequence_matcher import Gap, gaps
from presscheck.documents.merge.conflict_blocks import damaged_marker, draft_name, unresolved_conflicts
from presscheck.documents.merge.hunks import line_numbers
from presscheck.documents.merge.text import MergedText, merge_text
from presscheck.text.phrases import count, exact
from presscheck.text.phrases import now as clock
from presscheck.text.sanitize import sanitize
from presscheck.text.styled_text import Line, Span
from presscheck.tui.ui.ask import confirm

if TYPE_CHECKING:
    from presscheck.engine.engine import Engine
    from presscheck.store.drafts import DraftSlot
    from presscheck.tui.ui.screen import BaseScreen

CONTEXT = 2
"""Unchanged lines around each change of the diff."""
MOST_DIFF_LINES = 2000
"""Lines of a diff that the save sheet shows."""
_STYLES = {"+": "added", "-": "removed"}


class Difference(NamedTuple):
    """What an edit changes: the changed lines with those around them, as far as they are shown, and their numbers."""

    lines: list[Line]
    added: int
    removed: int

    @property
    def numbers(self) -> Line:
        """How many lines are added and removed: `+5,000 −1 lines`."""
        return (Span(f"+{self.added:,} ", "added"), Span(f"−{self.removed:,} lines", "removed"))


class Saved(NamedTuple):
    """What became of a text that was to be saved."""

    message: str
    """What to tell the user; empty if it was saved."""
    text: str
    """The draft: the text, merged with edits of others."""
    is_sent: bool = False
    line: int | None = None
    """Where to look, counted from 0: the first conflict, or a damaged marker."""
    has_conflicts: bool = False
    """Whether it was not sent because both changed the same text."""


class TextDraft(Protocol):
    """A text that is edited, and kept until it is saved."""

    path: dict[str, Any]
    """`space_id` and `change_request_id` of a page; empty for another document."""
    page_id: str
    """The page; empty for another document."""
    is_kept: bool
    """Whether there is a draft."""
    age: str
    """How old the draft was when it was opened, such as `, saved 2 h ago`; empty if that is not known."""
    line: int | None
    """Where a draft that was opened was written; None without one."""
    noun: str
    """What is edited, such as `page`."""
    saved_message: str
    """What is shown once it is saved."""

    @property
    def title(self) -> str:
        """The title of what is edited."""
        ...

    @property
    def slot(self) -> DraftSlot:
        """Where the draft is stored."""
        ...

    @property
    def text(self) -> str:
        """The draft as it is stored; empty without one."""
        ...

    def keep(self, text: str) -> None:
        """Store the draft; the text that it was edited from is no draft."""
        ...

    def discard(self) -> str:
        """Remove the draft; returns the text as it is at the service."""
        ...

    def difference(self) -> Difference:
        """What the draft changes."""
        ...

    def summary(self) -> list[Line]:
        """How much is lost if the draft is discarded."""
        ...

    async def merged(self, base: str, ours: str, theirs: str) -> MergedText:
        """Merge the draft with what is saved; the markers of conflicts name people and times."""
        ...

    async def save(self, screen: BaseScreen, text: str) -> Saved:
        """Ask, and send the text; what is kept from then on was edited from what was sent.

        Raises:
            PresscheckError: it cannot be read or written; the text is a draft.
        """
        ...


async def confirm_discard(screen: BaseScreen, draft: TextDraft) -> bool:
    """Ask whether to discard a draft; the question shows what is lost."""
    title = f"Discard your draft of {sanitize(draft.title) or f'this {draft.noun}'}?"
    return await confirm(screen, title, draft.summary(), "Discard", details=draft.difference().lines)


async def merged_texts(
    base: str, ours: str, theirs: str, our_name: str, their_name: Callable[[], Awaitable[str]]
) -> MergedText:
    """Both texts merged, in a thread: a long page takes a while.

    Args:
        base: the text that both were edited from.
        ours: the draft.
        theirs: the text as it is saved.
        our_name: the name of the draft in the markers of conflicts.
        their_name: reads the name of the saved text; only called if there may be conflicts.
    """
    may_conflict = theirs not in (base, ours) and ours != base
    name = await their_name() if may_conflict else ""
    return await asyncio.to_thread(merge_text, base, ours, theirs, our_name=our_name, their_name=name)


def name_of_draft(engine: Engine, key: str) -> str:
    """The name of a draft in the markers of conflicts: its author, and when it was typed."""
    changed_at = engine.outbox.draft_changed_at(key)
    typed_at = clock() if changed_at is None else datetime.fromtimestamp(changed_at, UTC)
    return draft_name(engine.me.display_name, typed_at.isoformat())


async def name_of_saved() -> str:
    """The name of a saved text whose author the service does not tell."""
    return f"the saved text, as of {exact(clock().isoformat())}"


def problem_of_markers(text: str, before: str) -> Saved | None:
    """Why a text cannot be saved: a damaged conflict marker, which readers would see; None if it can."""
    marker = damaged_marker(text, before)
    if marker is None:
        return None
    return Saved(f"not saved: {marker}; resolve it, or put it into a code block", text, line=marker.line)


def line_of_conflict(text: str) -> int | None:
    """The first line of our text in the first conflict; None without conflicts."""
    conflicts = unresolved_conflicts(text)
    return conflicts[0].first + 1 if conflicts else None


def difference(before: str, after: str) -> Difference:
    """Compare two texts line by line; the numbers count all changed lines, also those that are not shown."""
    old, new = before.split("\n"), after.split("\n")
    changes = [part for part in gaps(old, new) if isinstance(part, Gap)]
    lines: list[Line] = []
    shown_to, hidden = 0, 0
    for number, (removed, added) in enumerate(changes):
        context = max(shown_to, added.start - CONTEXT)
        rows: list[Line] = []
        if number == 0 or context > shown_to:
            rows.append((Span(line_numbers(added), "quiet"),))
        rows += [_row(" ", new[at]) for at in range(context, added.start)]
        rows += [_row("-", old[at]) for at in removed] + [_row("+", new[at]) for at in added]
        following = changes[number + 1].after.start if number + 1 < len(changes) else len(new)
        shown_to = min(added.stop + CONTEXT, following)
        rows += [_row(" ", new[at]) for at in range(added.stop, shown_to)]
        room = MOST_DIFF_LINES - len(lines)
        lines += rows[:room]
        hidden += max(0, len(rows) - room)
    if hidden:
        lines.append((Span(f"… {count(hidden, 'more line')}", "quiet"),))
    return Difference(lines, sum(len(part.after) for part in changes), sum(len(part.before) for part in changes))


def _row(sign: str, line: str) -> Line:
    return (Span(f"{sign}{sanitize(line)}", _STYLES.get(sign, "")),)


def lost_lines(changes: Difference, where: str) -> list[Line]:
    """How many lines are lost with a draft that makes a difference."""
    return [
        (*changes.numbers, Span(f" {where}.")),
        (Span("They are lost: the draft is in no other place.", "waiting"),),
    ]


def line_written(before: str, after: str) -> int | None:
    """The last line of a draft that differs from the text that it was edited from; None if there is none."""
    old, new = before.split("\n"), after.split("\n")
    if old == new:
        return None
    same = 0
    while same < min(len(old), len(new)) and old[-1 - same] == new[-1 - same]:
        same += 1
    return max(0, len(new) - same - 1)
