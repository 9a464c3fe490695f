"""A screen that lists problems, such as unmet merge requirements; enter goes to where a problem can be fixed."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import ClassVar, Generic, TypeVar

from textual import on
from textual.app import ComposeResult
from typing_extensions import override

from presscheck.text.styled_text import Line, Span, cut, pad, remaining_cells, width, wrap
from presscheck.tui.commands import key_for
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
        self._heading, self._problems, self._go_to = heading, rows, go_to
        self._rows: list[ProblemRow[T]] = []
        """The rows in display order: a wrapped problem has more than one."""

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
        self._rows = wrapped_rows(self._problems, self.size.width - rows.bar_width)
        first = next((number for number, row in enumerate(self._rows) if row.target), 0)
        rows.show(len(self._rows), cursor=first)
        rows.focus()

    @override
    def on_resize(self) -> None:
        super().on_resize()
        self.show(self._problems)

    def show(self, rows: Sequence[ProblemRow[T]]) -> None:
        """Replace the problems; the cursor stays on its row."""
        self._problems = rows
        if not self.is_mounted or self.is_leaving:
            return
        shown = self.query_one(RowList)
        here = self._rows[shown.cursor] if shown.cursor < len(self._rows) else None
        self._rows = wrapped_rows(rows, self.size.width - shown.bar_width)
        same = (
            number
            for number, row in enumerate(self._rows)
            if here and (row.target, row.line[-1:]) == (here.target, here.line[-1:])
        )
        shown.show(len(self._rows), cursor=next(same, None))

    def reason_open(self) -> str | None:
        """Return why nothing can be opened: the row under the cursor has no target."""
        row = self.query_one(RowList).cursor
        target = self._rows[row].target if row < len(self._rows) else None
        return None if target else f"nothing to open here: {key_for('open')} goes to what is missing"

    def command_open(self) -> None:
        """Close the list, and go to the target of the row."""
        row = self._rows[self.query_one(RowList).cursor]
        if row.target:
            if not row.stays:
                self.app_context.pop_screen()
            self._go_to(row.target)

    @on(RowList.RowSelected)
    def row_selected(self) -> None:
        """Go to the target of the row, if it has a target."""
        if self.reason_open() is None:
            self.command_open()

    def _row(self, number: int, columns: int) -> Line:
        return cut(self._rows[number].line, columns)


def wrapped_rows(rows: Sequence[ProblemRow[T]], columns: int) -> list[ProblemRow[T]]:
    """Return the rows with the labels moved into the lines. A line that is too long continues in notes below its row.

    All labels are padded to the same width, unless a padded label and its line would not fit in a row.
    """
    labelled = [row for row in rows if row.label]
    size = max((width(row.label) for row in labelled), default=0)
    if size + max((width(row.line) for row in labelled), default=0) > columns:
        size = 0
    return [wrapped for row in rows for wrapped in _wrapped(row, size, columns)]


def _wrapped(row: ProblemRow[T], label_size: int, columns: int) -> list[ProblemRow[T]]:
    line = (*(pad(row.label, label_size) if label_size and row.label else row.label), *row.line)
    before = line[:-1]
    room = remaining_cells(columns, width(before), least=20)
    if width(line) <= columns or room is None:
        return [replace(row, line=line, label=())]
    # the blanks before the text stay before each of its lines
    text = line[-1].text.lstrip()
    indent = len(line[-1].text) - len(text)
    first, *rest = wrap((line[-1]._replace(text=text),), room - indent)
    notes = [ProblemRow[T]((Span(" " * (width(before) + indent)), *part), is_note=True) for part in rest]
    return [replace(row, line=(*before, Span(" " * indent), *first), label=()), *notes]
