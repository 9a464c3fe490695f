"""The draft of a text as the editor uses it, that of a page or of another document; and the question to discard it."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from difflib import unified_diff
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

from presscheck.documents.merge.text import MergedText, merge_text
from presscheck.text.phrases import count
from presscheck.text.sanitize import sanitize
from presscheck.text.styled_text import Line, Span
from presscheck.tui.widgets.confirm_dialog import ConfirmDialog

if TYPE_CHECKING:
    from presscheck.store.open_texts import DraftSlot
    from presscheck.tui.ui.screen import BaseScreen

OURS, THEIRS = "you", "somebody else"
"""Names of both sides in conflict markers."""
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

    async def save(self, screen: BaseScreen, text: str) -> Saved:
        """Ask, and send the text; what is kept from then on was edited from what was sent.

        Raises:
            PresscheckError: it cannot be read or written; the text is a draft.
        """
        ...


async def confirm_discard(screen: BaseScreen, draft: TextDraft) -> bool:
    """Ask whether to discard a draft; the question shows what is lost."""
    title = f"Discard your draft of {sanitize(draft.title) or f'this {draft.noun}'}?"
    dialog = ConfirmDialog(title, draft.summary(), "Discard", details=draft.difference())
    return bool(await screen.ask(dialog))


async def merged_texts(base: str, ours: str, theirs: str) -> MergedText:
    """Both texts merged, in a thread: a long page takes a while."""
    return await asyncio.to_thread(merge_text, base, ours, theirs, our_name=OURS, their_name=THEIRS)


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
