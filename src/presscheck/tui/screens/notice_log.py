"""The log of notices: messages, errors and activity of others since the start, the newest first."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from textual.app import ComposeResult
from typing_extensions import override

from presscheck.text.styled_text import Line, Span, cut, wrap
from presscheck.tui.places import Place
from presscheck.tui.screens.text_screen import TextScreen
from presscheck.tui.ui.screen import BaseScreen
from presscheck.tui.widgets.empty_state import EmptyState
from presscheck.tui.widgets.row_list import RowList

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from presscheck.tui.notifications import Notice


class NoticeLogScreen(BaseScreen):
    """A list of all notices. Opening a notice goes to its change request or, without one, shows the whole text."""

    DEFAULT_CSS = "NoticeLogScreen RowList { margin-top: 1; }"
    FOOTER: ClassVar[tuple[str, ...]] = ("open", "copy_text", "find_here", "activity", "close")

    def __init__(self) -> None:
        super().__init__()
        self._notices: list[Notice] = []
        self._stop_listening: Callable[[], None] | None = None

    @override
    def title_line(self) -> Line:
        return (Span(" Notices", "strong"), Span(f"  {len(self._notices)}" if self._notices else "", "quiet"))

    @override
    def body(self) -> ComposeResult:
        yield EmptyState()
        yield RowList(self._row, key=lambda at: id(self._notices[at]))

    @override
    def on_mount(self) -> None:
        super().on_mount()
        self._stop_listening = self.app_context.notices.on_change(lambda: self.when_shown("notices", self._show))
        self._show()
        self.query_one(RowList).focus()

    @override
    def on_unmount(self) -> None:
        if self._stop_listening:
            self._stop_listening()

    def command_open(self) -> Awaitable[object] | None:
        """Open the change request of the notice. If the notice has none, show the whole text."""
        notice = self._current
        if notice and notice.request:
            return self.app_context.go(Place.review(notice.space, notice.request))
        if notice:
            text = wrap((Span(notice.text),), max(20, self.size.width - 2))
            lines = [(Span(f" {notice.at.astimezone():%H:%M:%S}", "quiet"),), ()]
            self.app_context.push_screen(TextScreen("Notice", [*lines, *((Span(" "), *line) for line in text)]))
        return None

    def command_copy_text(self) -> None:
        """Copy the text of the notice."""
        if self._current:
            self.app_context.copy_to_clipboard(self._current.text)
            self.notify("copied")

    command_copy = command_copy_text

    @property
    def _current(self) -> Notice | None:
        at = self.query_one(RowList).cursor
        return self._notices[at] if at < len(self._notices) else None

    def _show(self) -> None:
        self._notices = [*reversed(self.app_context.notices.history)]
        self.query_one(RowList).show(len(self._notices))
        empty_state = self.query_one(EmptyState)
        if self._notices:
            empty_state.hide()
        else:
            empty_state.show_empty("No notices yet.", "Messages, errors and what others do are listed here.")
        self.refresh_status_bars()

    def _row(self, at: int, columns: int) -> Line:
        notice = self._notices[at]
        sign, style = ("✗", "error") if notice.is_error else ("◆", "accent") if notice.request else ("·", "quiet")
        head = (Span(f"{notice.at.astimezone():%H:%M:%S}  ", "quiet"), Span(f"{sign} ", style))
        return cut((*head, Span(notice.text)), columns)
