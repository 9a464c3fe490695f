"""Lines with places to stop at: a difference with its threads in place, stepped through by change, thread or page.

The lines are laid out by whoever knows what they say, for the width there is, and again when it changes; what the
cursor stood on is found again by its anchor.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass, field

from textual.message import Message

from presscheck.text.styled_text import Line
from presscheck.tui.widgets.line_view import LineView
from presscheck.tui.widgets.strips import Look


@dataclass(frozen=True)
class Laid:
    """Lines, the lines where one may stop by kind (`change`, `thread`), and what a line stands for."""

    lines: Sequence[Line] = ()
    stops: Mapping[str, Sequence[int]] = field(default_factory=dict[str, Sequence[int]])
    anchors: Mapping[int, Hashable] = field(default_factory=dict[int, Hashable])


class ChangeView(LineView):
    """Lines to step through.

    Args:
        look: the theme.
        id: the widget's id.
        classes: the widget's classes.
    """

    @dataclass
    class LinePointed(Message):
        """The cursor stands on another line."""

        view: ChangeView
        line: int

    def __init__(self, look: Look, *, id: str | None = None, classes: str | None = None) -> None:  # noqa: A002
        super().__init__(look, id=id, classes=classes)
        self.laid = Laid()
        self._lay: Callable[[int], Laid] | None = None

    @property
    def count(self) -> int:
        """How many lines there are."""
        return len(self.laid.lines)

    @property
    def stands_for(self) -> Hashable | None:
        """What the line under the cursor stands for, or the nearest line above it that stands for anything."""
        return next((self.laid.anchors[at] for at in range(self.cursor, -1, -1) if at in self.laid.anchors), None)

    def item(self, number: int, part: int, columns: int) -> Line:
        """A line."""
        return self.laid.lines[number]

    def show(self, lay: Callable[[int], Laid] | None, *, keep: bool = False) -> None:
        """Show what `lay` makes for so many columns; `keep` stays at what the cursor stands on."""
        self._lay = lay
        if not keep:
            self.cursor = self.top = 0
        self._lay_out()
        self.redraw()

    def step(self, kind: str, by: int = 1) -> bool:
        """Go to the next place of a kind, or to the one before; whether there is one."""
        stops = self.laid.stops.get(kind, ())
        found = [x for x in stops if x > self.cursor] if by > 0 else [x for x in stops if x < self.cursor][::-1]
        if found:
            self.point(found[0], top=self._comfortable(found[0]))
        return bool(found)

    def point_to(self, anchor: Hashable) -> bool:
        """Go to the line that stands for this; whether there is one."""
        found = next((line for line, one in self.laid.anchors.items() if one == anchor), None)
        if found is not None:
            self.point(found, top=self._comfortable(found))
        return found is not None

    def pointed(self) -> None:
        """Tell of the line."""
        self.post_message(self.LinePointed(self, self.cursor))

    def on_resize(self) -> None:
        """Lay the lines out for the new width."""
        self._lay_out()

    def _comfortable(self, line: int) -> int:
        is_seen = self.top <= line < self.top + self.size.height * 2 // 3
        return self.top if is_seen else line - self.size.height // 4

    def _lay_out(self) -> None:
        if not self.size.width:
            return
        before, offset = self.stands_for, self.cursor - self.top
        self.laid = self._lay(self.columns) if self._lay else Laid()
        kept = next((line for line, one in self.laid.anchors.items() if one == before), None)
        if before is not None and kept is not None:
            self.cursor, self.top = kept, kept - offset
        self.cursor = max(0, min(self.cursor, self.count - 1))
        self.top = self._with_cursor(self.top)
