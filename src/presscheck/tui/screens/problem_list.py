"""A screen that lists problems, such as unmet merge requirements; enter goes to where a problem can be fixed."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import ClassVar, Generic, TypeVar

from textual import on
from textual.app import ComposeResult
from typing_extensions import override

from presscheck.text.styled_text import Line, Span, cut, pad, width
from presscheck.tui.ui.screen import BaseScreen
from presscheck.tui.widgets.row_list import RowList

T = TypeVar("T")


@dataclass(frozen=True)
class ProblemRow(Generic[T]):
    """A row: a problem, or a note about a problem.

    Attributes:
        line: the text.
        target: the destination of enter; None if the problem cannot be fixed in the app.
        is_note: whether the row is a note, which the cursor skips.
        label: the text before the line, such as a page; lines are aligned after the labels if all fit.
        stays: whether the list stays open, because enter acts on the row itself.
    """

    line: Line
    target: T | None = None
    is_note: bool = False
    label: Line = ()
    stays: bool = False


class ProblemListScreen(BaseScreen, Generic[T]):
    """A list of problems; enter goes to where a problem can be fixed.

    Args:
        heading: the title.
        rows: the problems and notes.
        go_to: goes to the target of a row, after this screen was closed unless the row `stays`.
    """

    DEFAULT_CSS = "ProblemListScreen RowList { margin-top: 1; }"
    FOOTER: ClassVar[tuple[str, ...]] = ("open", "down", "find_here", "close")

    def __init__(self, heading: str, rows: Sequence[ProblemRow[T]], go_to: Callable[[T], None]) -> None:
        super().__init__()
        self._heading, self._rows, self._go_to = heading, rows, go_to
        self._label_size: tuple[Sequence[ProblemRow[T]], int, int] = ((), 0, 0)
        """The measured rows, the width of their labels, and the width of labels and lines together."""

    @override
    def title_line(self) -> Line:
        return (Span(f" {self._heading}", "title"),)

    @override
    def body(self) -> ComposeResult:
        yield RowList(self._row, is_heading=lambda number: self._rows[number].is_note)

    @override
    def on_mount(self) -> None:
        """Show the problems, with the cursor on the first problem with a target."""
        super().on_mount()
        rows = self.query_one(RowList)
        first = next((number for number, row in enumerate(self._rows) if row.target), 0)
        rows.show(len(self._rows), cursor=first)
        rows.focus()

    def show(self, rows: Sequence[ProblemRow[T]]) -> None:
        """Replace the problems; the cursor stays on its row."""
        if not self.is_mounted or self.is_leaving:
            self._rows = rows
            return
        shown = self.query_one(RowList)
        here = self._rows[shown.cursor] if shown.cursor < len(self._rows) else None
        self._rows = rows
        same = (
            number
            for number, row in enumerate(rows)
            if here and (row.target, row.line[-1:]) == (here.target, here.line[-1:])
        )
        shown.show(len(rows), cursor=next(same, None))

    def reason_open(self) -> str | None:
        """Return why the row has no target."""
        row = self.query_one(RowList).cursor
        target = self._rows[row].target if row < len(self._rows) else None
        return None if target else "nothing to open here: enter goes to what is missing"

    def command_open(self) -> None:
        """Close the list, and go to the target of the row."""
        row = self._rows[self.query_one(RowList).cursor]
        if row.target:
            if not row.stays:
                self.app_context.pop_screen()
            self._go_to(row.target)

    @on(RowList.RowSelected)
    def row_selected(self) -> None:
        """Open a row."""
        if self.reason_open() is None:
            self.command_open()

    def _row(self, number: int, columns: int) -> Line:
        row = self._rows[number]
        size = self._label_columns(columns) if row.label else 0
        return cut((*(pad(row.label, size) if size else row.label), *row.line), columns)

    def _label_columns(self, columns: int) -> int:
        """Return the common width of labels, or 0 if a line after such a label would be cut."""
        rows, size, needed = self._label_size
        if rows is not self._rows:
            labelled = [row for row in self._rows if row.label]
            size = max((width(row.label) for row in labelled), default=0)
            needed = size + max((width(row.line) for row in labelled), default=0)
            self._label_size = self._rows, size, needed
        return size if needed <= columns else 0
