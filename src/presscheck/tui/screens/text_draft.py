"""The draft of a text as the editor uses it, that of a page or of another document; and the question to discard it."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from datetime import UTC, datetime
from difflib import unified_diff
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

from presscheck.documents.merge.conflict_blocks import damaged_marker, draft_name, unresolved_conflicts
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
_STYLES = {"+": "added", "-": "removed", "@": "quiet"}


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

    def difference(self) -> list[Line]:
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
    return await confirm(screen, title, draft.summary(), "Discard", details=draft.difference())


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


def diff_lines(before: str, after: str) -> list[Line]:
    """The changed lines with those around them."""
    rows = list(unified_diff(before.split("\n"), after.split("\n"), n=CONTEXT, lineterm=""))[2:]
    lines: list[Line] = [(Span(sanitize(row) or " ", _STYLES.get(row[:1], "")),) for row in rows[:MOST_DIFF_LINES]]
    if len(rows) > MOST_DIFF_LINES:
        lines.append((Span(f"… {count(len(rows) - MOST_DIFF_LINES, 'more line')}", "quiet"),))
    return lines


def lost_lines(difference: Sequence[Line], where: str) -> list[Line]:
    """How many lines are lost with a draft that makes a difference."""
    added, removed = (sum(line[0].style == style for line in difference) for style in ("added", "removed"))
    return [
        (Span(f"+{added} ", "added"), Span(f"−{removed} lines", "removed"), Span(f" {where}.")),
        (Span("They are lost: the draft is in no other place.", "waiting"),),
    ]
