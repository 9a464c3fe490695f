"""The border between two panes. Dragging it resizes the first pane."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from textual import events
from textual.geometry import clamp
from textual.message import Message
from textual.strip import Strip
from textual.widget import Widget
from typing_extensions import override

from presscheck.config.settings_schema import NARROWEST_PANE
from presscheck.text.styled_text import Span
from presscheck.tui.widgets.line_view import render_strip, style_of

MIN_COLUMNS = NARROWEST_PANE
"""The minimum width of each pane, in cells."""


class PaneBorder(Widget):
    """A line between two panes, which the user can drag.

    The border is hidden if only one pane is shown. The width of the pane is then that of the style sheet.

    Args:
        pane: the pane on the left, or above.
        is_horizontal: whether the border is horizontal, between a pane above and a pane below.
        on_drag: resizes the pane; called with the new size, and whether the drag has ended. By default, the border sets
            the width of the pane.
    """

    DEFAULT_CSS = """
    PaneBorder { width: 1; height: 1fr; margin-top: 1; }
    PaneBorder.horizontal { width: 1fr; height: 1; margin-top: 0; }
    """

    @dataclass
    class Moved(Message):
        """Posted at the end of a drag, with the width of the pane on the left."""

        border: PaneBorder
        columns: int

    def __init__(
        self,
        pane: Widget,
        *,
        is_horizontal: bool = False,
        on_drag: Callable[[int, bool], None] | None = None,
    ) -> None:
        super().__init__(classes="horizontal" if is_horizontal else None)
        self.pane = pane
        self.is_horizontal, self._on_drag = is_horizontal, on_drag
        self._columns: int | None = None
        self._is_exact = False
        self._dragged_to: int | None = None
        self._is_dragged = False

    def set_columns(self, columns: int) -> None:
        """Set the width of the left pane, in cells. It is limited so that both panes stay visible."""
        self._columns, self._is_exact = columns, False
        self._apply()

    def use_setting(self, columns: int) -> None:
        """Set the width of the left pane from the settings, in cells. It only applies while there is room for it."""
        self._columns, self._is_exact = columns, True
        self._apply()

    def screen_resized(self) -> None:
        """Apply the width from the settings, or from the style sheet if there is no room for it."""
        if self._is_exact:
            self._apply()

    @override
    def render_line(self, y: int) -> Strip:
        line = f" {'─' * (self.size.width - 2)}" if self.is_horizontal else "│"
        return render_strip((Span(line, "accent" if self._is_dragged else "quiet"),), self.size.width, style_of(self))

    def on_mouse_down(self, event: events.MouseDown) -> None:
        """Start the drag."""
        event.stop()
        self._is_dragged, self._dragged_to = True, None
        self.capture_mouse()
        self.refresh()

    def on_mouse_move(self, event: events.MouseMove) -> None:
        """Resize the pane to the pointer."""
        if not self._is_dragged:
            return
        at, pane = event.screen_offset, self.pane.region
        self._dragged_to = at.y - pane.y if self.is_horizontal else at.x - pane.x
        if self._on_drag:
            self._on_drag(self._dragged_to, False)
        else:
            self.set_columns(self._dragged_to)

    def on_mouse_up(self) -> None:
        """Release the mouse, which ends the drag."""
        self.release_mouse()

    def on_mouse_release(self) -> None:
        """End the drag. Call `on_drag` with the final size, or post the new width."""
        self._is_dragged = False
        self.refresh()
        if self._on_drag and self._dragged_to is not None:
            self._on_drag(self._dragged_to, True)
        if self._columns is not None and not self._is_exact:
            self.post_message(self.Moved(self, self._columns))

    def on_show(self) -> None:
        """Apply the dragged width."""
        self._apply()

    def on_hide(self) -> None:
        """Return to the width of the style sheet."""
        if self._columns is not None:
            self.pane.styles.clear_rule("width")

    def _apply(self) -> None:
        if self._columns is None or not self.display or self.parent is None:
            return
        room = max(MIN_COLUMNS, self.screen.size.width - MIN_COLUMNS - 1)
        if self._is_exact and self._columns > room:
            self.pane.styles.clear_rule("width")
            return
        self.pane.styles.width = self._columns = clamp(self._columns, MIN_COLUMNS, room)
