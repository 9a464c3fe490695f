"""The log of notices: messages, errors and activity of others since the start, the newest first."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from typing_extensions import override

from presscheck.text.styled_text import Line, Span, wrap
from presscheck.tui.notifications import Notice
from presscheck.tui.places import Place
from presscheck.tui.screens.text_screen import TextScreen
from presscheck.tui.ui.list import Column, List
from presscheck.tui.ui.loaded import Loaded
from presscheck.tui.ui.tabs import Tabs, TabScreen
from presscheck.tui.widgets.empty_state import Message

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

TIME_COLUMNS = 10


class NoticeList(List[Notice]):
    """All notices. Opening a notice goes to its change request or, without one, shows the whole text.

    Args:
        screen: the screen of the list.
    """

    nouns = "notices"
    footer = ("open", "copy_text", "find_here", "activity", "close")

    def __init__(self, screen: NoticeLogScreen) -> None:
        self._screen = screen
        time = Column[Notice](
            "time", lambda notice: (Span(f"{notice.at.astimezone():%H:%M:%S}", "quiet"),), TIME_COLUMNS
        )
        super().__init__((time, Column("notice", _text)))

    @override
    @property
    def loaded(self) -> Loaded[Sequence[Notice]]:
        return Loaded(self._screen.notices)

    @override
    def key_of(self, item: Notice) -> int:
        return id(item)

    @override
    def empty(self) -> Message:
        return Message("No notices yet.", "Messages, errors and what others do are listed here.")

    def command_open(self) -> Awaitable[object] | None:
        """Open the change request of the notice. If the notice has none, show the whole text."""
        notice, app = self.current, self._screen.app_context
        if notice and notice.request:
            return app.go(Place.review(notice.space, notice.request))
        if notice:
            text = wrap((Span(notice.text),), max(20, self._screen.size.width - 2))
            lines = [(Span(f" {notice.at.astimezone():%H:%M:%S}", "quiet"),), ()]
            app.push_screen(TextScreen("Notice", [*lines, *((Span(" "), *line) for line in text)]))
        return None

    def command_copy_text(self) -> None:
        """Copy the text of the notice."""
        if self.current:
            self._screen.app_context.copy_to_clipboard(self.current.text)
            self._screen.notify("copied")

    command_copy = command_copy_text


class NoticeLogScreen(TabScreen):
    """The log of notices, the newest first."""

    def __init__(self) -> None:
        super().__init__()
        self.notices: Sequence[Notice] = ()
        self.lists = Tabs(self, [NoticeList(self)])
        self._stop_listening: Callable[[], None] | None = None

    @override
    def title_line(self) -> Line:
        return (Span(" Notices", "strong"), Span(f"  {len(self.notices)}" if self.notices else "", "quiet"))

    @override
    def on_mount(self) -> None:
        super().on_mount()
        self._stop_listening = self.app_context.notices.on_change(self._read)
        self._read()

    @override
    def on_unmount(self) -> None:
        super().on_unmount()
        if self._stop_listening:
            self._stop_listening()

    def _read(self) -> None:
        self.notices = [*reversed(self.app_context.notices.history)]
        self.redraw()


def _text(notice: Notice) -> Line:
    sign, style = ("✗", "error") if notice.is_error else ("◆", "accent") if notice.request else ("·", "quiet")
    return (Span(f"{sign} ", style), Span(notice.text))
