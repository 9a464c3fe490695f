"""The protocol of drafts that the editor opens, and functions that merge and compare their texts."""

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
"""Maximum lines of a diff in the save dialog."""
_STYLES = {"+": "added", "-": "removed"}


class Difference(NamedTuple):
    """The diff of an edit, limited to `MOST_DIFF_LINES`, with the numbers of all added and removed lines."""

    lines: list[Line]
    added: int
    removed: int

    @property
    def numbers(self) -> Line:
        """The numbers of added and removed lines: `+5,000 −1 lines`."""
        return (Span(f"+{self.added:,} ", "added"), Span(f"−{self.removed:,} lines", "removed"))


class Saved(NamedTuple):
    """The result of saving a text."""

    message: str
    """The message to the user; empty if the text was saved and there is nothing else to tell."""
    text: str
    """The text, merged with edits of others."""
    is_sent: bool = False
    """Whether the text was sent or queued."""
    line: int | None = None
    """The line of the first conflict or damaged marker, counted from 0."""
    has_conflicts: bool = False
    """Whether the text was not sent because of conflicts."""


class TextDraft(Protocol):
    """A draft of a text that is edited, stored until the text is saved."""

    path: dict[str, Any]
    """The `space_id` and `change_request_id` of a page; empty for other documents."""
    is_kept: bool
    """Whether a draft is stored."""
    age: str
    """The age of the draft when it was opened, such as `, saved 2 h ago`; empty if unknown."""
    line: int | None
    """The last changed line of the opened draft; None without a draft."""
    noun: str
    """The noun for the document, such as `page`."""
    saved_message: str
    """The message after the text was saved."""
    waits_offline: bool
    """Whether the text can be saved offline, and is sent later."""

    @property
    def page_id(self) -> str:
        """The id of the page; empty for other documents."""
        ...

    @property
    def title(self) -> str:
        """The title of the document."""
        ...

    @property
    def slot(self) -> DraftSlot:
        """The stored draft."""
        ...

    @property
    def text(self) -> str:
        """The text of the stored draft; empty without a draft."""
        ...

    def keep(self, text: str) -> None:
        """Store a text as the draft, or remove the draft if the text is unchanged."""
        ...

    def discard(self) -> str:
        """Remove the draft, and return the saved text."""
        ...

    def difference(self) -> Difference:
        """Return the changes of the draft."""
        ...

    def summary(self) -> list[Line]:
        """Return lines about the changes that discarding the draft would lose."""
        ...

    async def changed_by(self) -> str:
        """Return the name of another user who has changed the saved text since it was read; empty if there is none.

        Raises:
            PresscheckError: the saved text cannot be read.
        """
        ...

    async def merge_saved(self, text: str) -> MergedText:
        """Merge a text with the current saved text. The saved text becomes the base of the draft.

        Raises:
            PresscheckError: the saved text cannot be read.
        """
        ...

    async def merged(self, base: str, ours: str, theirs: str) -> MergedText:
        """Merge the draft with the saved text; the conflict markers name people and times."""
        ...

    async def save(self, screen: BaseScreen, text: str) -> Saved:
        """Ask for confirmation, and send the text; the sent text becomes the base of later drafts.

        Raises:
            PresscheckError: the document cannot be read or written; the text stays a draft.
        """
        ...


async def confirm_discard(screen: BaseScreen, draft: TextDraft) -> bool:
    """Ask whether to discard a draft, and show the changes that would be lost."""
    title = f"Discard your draft of {sanitize(draft.title) or f'this {draft.noun}'}?"
    return await confirm(screen, title, draft.summary(), "Discard", details=draft.difference().lines)


async def merged_texts(
    base: str, ours: str, theirs: str, our_name: str, their_name: Callable[[], Awaitable[str]]
) -> MergedText:
    """Merge both texts in a thread, because a long page takes a while.

    Args:
        base: the common base of both texts.
        ours: the draft.
        theirs: the saved text.
        our_name: the name of the draft in conflict markers.
        their_name: returns the name of the saved text; only called if conflicts are possible.
    """
    may_conflict = theirs not in (base, ours) and ours != base
    name = await their_name() if may_conflict else ""
    return await asyncio.to_thread(merge_text, base, ours, theirs, our_name=our_name, their_name=name)


def name_of_draft(engine: Engine, key: str) -> str:
    """Return the name of a draft in conflict markers: its author and time."""
    changed_at = engine.outbox.draft_changed_at(key)
    typed_at = clock() if changed_at is None else datetime.fromtimestamp(changed_at, UTC)
    return draft_name(engine.me.display_name, typed_at.isoformat())


async def name_of_saved() -> str:
    """Return the name of a saved text in conflict markers, if its author is unknown."""
    return f"the saved text, as of {exact(clock().isoformat())}"


def problem_of_markers(text: str, before: str) -> Saved | None:
    """Return the result of a save that is refused, because readers would see a damaged conflict marker.

    Return None if no marker is damaged.
    """
    marker = damaged_marker(text, before)
    if marker is None:
        return None
    return Saved(f"not saved: {marker}; resolve it, or put it into a code block", text, line=marker.line)


def line_of_conflict(text: str) -> int | None:
    """Return the first line of our text in the first conflict, or None without conflicts."""
    conflicts = unresolved_conflicts(text)
    return conflicts[0].first + 1 if conflicts else None


def difference(before: str, after: str) -> Difference:
    """Compare two texts line by line; the numbers include changed lines beyond the limit of the diff."""
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
    """Return lines about the changes that are lost with a draft; `where` completes the sentence."""
    return [
        (*changes.numbers, Span(f" {where}.")),
        (Span("They are lost: the draft is in no other place.", "waiting"),),
    ]


def line_written(before: str, after: str) -> int | None:
    """Return the number of the last line of `after` that differs from `before`, from 0; None if the texts are equal."""
    old, new = before.split("\n"), after.split("\n")
    if old == new:
        return None
    same = 0
    while same < min(len(old), len(new)) and old[-1 - same] == new[-1 - same]:
        same += 1
    return max(0, len(new) - same - 1)
