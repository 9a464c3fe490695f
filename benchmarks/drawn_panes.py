"""The baseline for a key in a list with a pane: two rows are repainted, and the pane shows the text of the row.

Usage: python -m benchmarks.drawn_panes [--rows N] [--below]. `j` and `k` move, ctrl+d moves half a page, `q` ends it.
The pane is on the right, as in a review and in a tree of pages, or below the list, as in the inbox.
"""

import argparse
from typing import ClassVar

from rich.segment import Segment
from rich.style import Style
from textual.app import App, ComposeResult
from textual.geometry import Size
from textual.scroll_view import ScrollView
from textual.strip import Strip

from benchmarks.drawn_lines import Rows

WORDS = ("a", "pane", "draws", "about", "as", "many", "words", "as", "a", "page", "has", "on", "a", "common", "screen")
HEADING = Style(bold=True)


class List(Rows):
    """A list whose cursor the pane follows."""

    def action_move(self, by: int) -> None:
        super().action_move(by)
        self.app.query_one(Pane).show(self.cursor)

    def action_half_a_page(self) -> None:
        super().action_half_a_page()
        self.app.query_one(Pane).show(self.cursor)


class Pane(ScrollView):
    """The lines of a text."""

    number = 0

    def on_mount(self) -> None:
        self.virtual_size = Size(self.size.width, 100)

    def show(self, number: int) -> None:
        """Show the text of a row from its first line."""
        self.number = number
        self.scroll_to(y=0, animate=False)
        self.refresh()

    def render_line(self, y: int) -> Strip:
        line = y + round(self.scroll_y)
        if line == 0:
            text, style = f" The text of row {self.number}", HEADING
        elif line % 4 == 1:
            text, style = "", None
        else:
            start = (self.number + line * 5) % len(WORDS)
            text, style = " " + " ".join((*WORDS[start:], *WORDS)[:12]), None
        return Strip([Segment(text, style)]).adjust_cell_length(self.size.width)


class DrawnPanes(App[None]):
    """An app with the list and the pane; `q` ends it."""

    CSS = """
    Screen { layout: horizontal; }
    List { width: 40; }
    Pane { width: 1fr; border-left: solid gray; }
    .below { layout: vertical; }
    .below List { width: 1fr; height: 1fr; }
    .below Pane { height: 1fr; border-left: none; border-top: solid gray; }
    """
    BINDINGS: ClassVar = [("q", "quit", "quit")]

    def __init__(self, rows: int, *, is_below: bool) -> None:
        super().__init__()
        self.rows, self.is_below = rows, is_below

    def compose(self) -> ComposeResult:
        yield List(self.rows)
        yield Pane()

    def on_mount(self) -> None:
        self.screen.set_class(self.is_below, "below")
        self.query_one(List).focus()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=100_000)
    parser.add_argument("--below", action="store_true", help="the pane below the list")
    options = parser.parse_args()
    DrawnPanes(options.rows, is_below=options.below).run()


if __name__ == "__main__":
    main()
