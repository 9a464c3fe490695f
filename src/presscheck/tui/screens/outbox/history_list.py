"""The tab of the outbox with the history of changes, newest first."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from typing_extensions import override

from presscheck.engine.writes.history import HistoryEntry
from presscheck.engine.writes.typed_texts import typed_text_in
from presscheck.text.phrases import now, span
from presscheck.text.sanitize import sanitize
from presscheck.text.styled_text import Line, Span
from presscheck.tui.commands import key_for
from presscheck.tui.places import Place
from presscheck.tui.screens.undo import undo_sent
from presscheck.tui.ui.list import Column, List
from presscheck.tui.ui.loaded import Loaded
from presscheck.tui.widgets.empty_state import Message

if TYPE_CHECKING:
    from presscheck.tui.ui.screen import BaseScreen

GLYPHS = {
    "sent": ("✓", "added"),
    "undone": ("←", "link"),
    "refused": ("✗", "removed"),
    "unsent": ("·", "quiet"),
}
STATES = {"sent": "sent", "undone": "undone", "refused": "failed", "unsent": "undone before it was sent"}
"""Descriptions of the states of changes in the history."""


class HistoryList(List[HistoryEntry]):
    """The changes of the last 30 days, except for unsent changes.

    Args:
        screen: the outbox screen.
    """

    name, nouns = "History", "changes"
    footer = ("open", "unsend", "copy_text", "find_here", "next_pane", "close")

    def __init__(self, screen: BaseScreen) -> None:
        self._screen = screen
        self._entries: tuple[HistoryEntry, ...] = ()
        super().__init__((Column("change", _change), Column("age", _age, 6)), second_line=self._outcome)

    @override
    @property
    def loaded(self) -> Loaded[Sequence[HistoryEntry]]:
        return Loaded(self._entries)

    @override
    def empty(self) -> Message:
        hint = f"What you send is listed here for 30 days; {key_for('unsend')} undoes it."
        return Message("No changes yet.", hint)

    def read(self) -> None:
        """Read the history from the store."""
        self._entries = self._screen.engine.history()

    def reason_unsend(self) -> str | None:
        """Return why the change cannot be undone: for example, the history is empty."""
        return "the history is empty" if self.current is None else self.current.reason and sanitize(self.current.reason)

    async def command_open(self) -> None:
        """Go to the place of the change: its thread, page, change request, site or space."""
        if self.current is None:
            return
        place, app = self.current.place, self._screen.app_context
        if place.site and not place.space:
            await app.go(Place.site(place.site))
        elif place.space:
            page = place.page if place.request or place.comment else None
            await app.go(Place.content(place.space, page, place.request, place.comment or ""))
        else:
            self._screen.notify("this change has no place to go to")

    async def command_unsend(self) -> None:
        """Send the inverse of the change."""
        if self.current:
            await undo_sent(self._screen, self.current, shows_place=True)

    def command_copy_text(self) -> None:
        """Copy the text of the change or, without a text, its name."""
        if self.current:
            typed_text = typed_text_in(self.current.call)
            text = typed_text[1] if typed_text else self.current.description
            self._screen.app_context.copy_to_clipboard(sanitize(text, lines=True))
            self._screen.notify("copied")

    command_copy = command_copy_text

    def _outcome(self, entry: HistoryEntry) -> Line:
        """Return the state of a change, and whether it can be undone."""
        undone = next((other for other in self._entries if other.id == entry.undoes), None) if entry.undoes else None
        parts = [STATES[entry.state]]
        if undone:
            parts.append(f"undo of “{undone.description}”")
        if entry.error:
            parts.append(entry.error)
        elif entry.state == "sent":
            undo = f"{key_for('unsend')}: {entry.inverse[:1].lower()}{entry.inverse[1:]}" if entry.inverse else ""
            parts.append(undo or entry.reason or "")
        text = sanitize(" · ".join(filter(None, parts)))
        return (Span(f"  {text}", "removed" if entry.state == "refused" else "quiet"),)


def _change(entry: HistoryEntry) -> Line:
    glyph, style = ("◷", "waiting") if entry.is_being_undone else GLYPHS[entry.state]
    agent = (Span(f"{sanitize(entry.agent)}: ", "accent strong"),) if entry.agent else ()
    place = Span(f"  {sanitize(entry.place_name)}", "quiet")
    return (Span(f"{glyph} ", style), *agent, Span(sanitize(entry.description)), place)


def _age(entry: HistoryEntry) -> Line:
    return (Span(span(now().timestamp() - entry.ended_at), "quiet"),)
