"""The outbox: unsent changes, the history of sent changes, and drafts."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from typing_extensions import override

from presscheck.text.styled_text import Line, Span
from presscheck.tui.places import Place
from presscheck.tui.screens.outbox.draft_actions import DraftActions
from presscheck.tui.screens.outbox.draft_list import DraftList
from presscheck.tui.screens.outbox.drafts import Drafts
from presscheck.tui.screens.outbox.history_list import HistoryList
from presscheck.tui.screens.outbox.unsent_list import UnsentList
from presscheck.tui.ui.signs import legend
from presscheck.tui.ui.tabs import Tabs, TabScreen


class OutboxScreen(TabScreen):
    """A screen with three tabs: unsent changes, oldest first; the history of changes and drafts, newest first."""

    SCOPE = "outbox"
    LEGEND = legend("◷✎✓✗⚠")

    def __init__(self) -> None:
        super().__init__()
        self._drafts = Drafts(self)
        actions = DraftActions(self, self._drafts, self._edit_change)
        self.unsent, self.history = UnsentList(self, actions), HistoryList(self)
        self.drafts = DraftList(self._drafts, actions)
        self.lists = Tabs(self, (self.unsent, self.history, self.drafts))
        self._stop_listening: Callable[[], None] | None = None

    @override
    def title_line(self) -> Line:
        return (Span(" Outbox", "strong"), Span(f"  {self.unsent.total}" if self.unsent.total else "", "quiet"))

    @override
    def place(self) -> Place:
        return Place("outbox", "Outbox")

    @override
    def on_mount(self) -> None:
        super().on_mount()
        self._stop_listening = self.engine.on_status(lambda _: self.redraw())
        self.redraw()

    @override
    def on_screen_resume(self) -> None:
        """Read the drafts again, which may have changed on other screens."""
        super().on_screen_resume()
        self.redraw()

    @override
    def on_unmount(self) -> None:
        super().on_unmount()
        if self._stop_listening:
            self._stop_listening()

    @override
    @property
    def footer_titles(self) -> Mapping[str, str]:
        return self.unsent.AGENT_TITLES if self._is_on_agent_draft else {}

    @override
    @property
    def footer_commands(self) -> tuple[str, ...]:
        return self.unsent.AGENT_FOOTER if self._is_on_agent_draft else super().footer_commands

    @property
    def _is_on_agent_draft(self) -> bool:
        return self.lists.tab is self.unsent and bool(self.unsent.agent)

    @override
    def draw(self) -> None:
        self.unsent.read()
        self.history.read()
        self._drafts.read()
        if self.lists.tab is self.drafts:
            self._drafts.watch()
        super().draw()

    def _edit_change(self, number: int) -> bool:
        """Edit the text of an unsent change by its number. Returns False if it is no longer unsent."""
        self.unsent.read()
        if all(entry.id != number for entry in self.unsent.loaded.value or ()):
            return False
        self.unsent.target = number
        self.lists.show_tab(self.unsent)
        self.unsent.command_edit()
        return True
