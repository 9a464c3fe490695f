"""The editor of a saved view: name, query, order and grouping."""

from __future__ import annotations

from collections.abc import Callable

from textual import events
from textual.app import ComposeResult
from textual.containers import Horizontal
from typing_extensions import override

from presscheck.config.saved_views import SavedView
from presscheck.text.sanitize import sanitize
from presscheck.text.styled_text import Line, Span, wrap
from presscheck.tui.widgets.dialog import Dialog
from presscheck.tui.widgets.line_view import TextView
from presscheck.tui.widgets.search_inputs import Complete, SearchInput
from presscheck.tui.widgets.status_bar import StatusLine

HINTS = {
    "name": "the title of its tab",
    "query": "space:api author:me updated:<2w, or words of the subject",
    "sort_by": "-updated, -comments, number, author, subject, space",
}
ERROR_LINES = 2
"""Lines reserved for an error or for completions."""


class Toggle(StatusLine, can_focus=True):
    """A field that chooses between grouping by space and no grouping. The space bar switches between them."""

    DEFAULT_CSS = "Toggle { width: 1fr; }"

    def __init__(self, *, is_on: bool) -> None:
        super().__init__(id="group")
        self.is_on = is_on

    def on_mount(self) -> None:
        """Draw the field."""
        self.draw()

    def on_focus(self) -> None:
        """Draw the field with the focus."""
        self.draw()

    def on_blur(self) -> None:
        """Draw the field without the focus."""
        self.draw()

    @override
    def on_click(self, event: events.Click) -> None:
        self.toggle_value()

    def toggle_value(self) -> None:
        """Switch between grouping by space and no grouping."""
        self.is_on = not self.is_on
        self.draw()

    def draw(self) -> None:
        """Draw the field again."""
        yes, no = ("accent strong", "quiet") if self.is_on else ("quiet", "accent strong")
        bar = Span("▌" if self.has_focus else " ", "accent")
        marks = ("●", "○") if self.is_on else ("○", "●")
        hint = Span("   space switches" if self.has_focus else "", "quiet")
        self.show((bar, Span(f"{marks[0]} by space", yes), Span(f"   {marks[1]} no grouping", no), hint))


class SavedViewEditor(Dialog[SavedView]):
    """A dialog that returns a valid saved view, or None if it was canceled.

    Args:
        title: the question, as display text.
        view: the initial values.
        validate: returns the first invalid field and the reason, or None.
        complete: returns the words that complete the last word of the query.
    """

    DEFAULT_CSS = """
    SavedViewEditor Horizontal { height: 1; margin-top: 1; }
    SavedViewEditor Horizontal > .label { width: 8; }
    SavedViewEditor TextView { height: 2; margin: 1 0; }
    """

    def __init__(
        self,
        title: str,
        view: SavedView,
        validate: Callable[[SavedView], tuple[str, str] | None],
        complete: Complete,
    ) -> None:
        super().__init__(title)
        self.view, self.validate, self._complete = view, validate, complete

    @override
    def body(self) -> ComposeResult:
        for field, hint in HINTS.items():
            with Horizontal():
                yield StatusLine(id=f"label-{field}", classes="label")
                complete = self._complete if field == "query" else None
                yield SearchInput(sanitize(getattr(self.view, field)), placeholder=hint, id=field, complete=complete)
        with Horizontal():
            yield StatusLine(id="label-group", classes="label")
            yield Toggle(is_on=self.view.group == "space")
        yield TextView()

    def on_mount(self) -> None:
        """Focus the name."""
        self.query_one(TextView).can_focus = False
        self.show_title()
        self.query_one("#name", SearchInput).focus()
        self._show()

    def on_resize(self) -> None:
        """Wrap the error to the new width."""
        self._show()

    def on_input_changed(self) -> None:
        """Check the view again, and update the error, the completions and the keys."""
        self._show()

    def on_descendant_focus(self) -> None:
        """Update the completions and the keys for the focused field."""
        self._show()

    @override
    def keys(self) -> dict[str, Callable[[], object]]:
        toggle = self.query_one(Toggle)
        switches = dict.fromkeys(("space", "left", "right"), toggle.toggle_value) if toggle.has_focus else {}
        return {**super().keys(), **switches}

    @override
    def submit(self) -> None:
        if self.validate(self._typed()) is None:
            self.dismiss(self._typed())

    def _typed(self) -> SavedView:
        name, query, sort_by = (self.query_one(f"#{field}", SearchInput).value.strip() for field in HINTS)
        return SavedView(name, query, sort_by, "space" if self.query_one(Toggle).is_on else "")

    def _show(self) -> None:
        error = self.validate(self._typed())
        for field, title in zip((*HINTS, "group"), ("Name", "Query", "Sort", "Group"), strict=True):
            is_wrong = error is not None and error[0] == field
            self.query_one(f"#label-{field}", StatusLine).show((Span(title, "waiting" if is_wrong else "quiet"),))
        query = self.query_one("#query", SearchInput)
        words = self._complete(query.value) if query.has_focus else ()
        # the name is missing until it is typed: that does not hide the completions
        if error and not (words and error[0] != "query"):
            note: Line = (Span(f"{error[0]} {sanitize(error[1])}", "waiting"),)
        else:
            note = (Span(" ".join(map(sanitize, words)), "quiet"),)
        self.query_one(TextView).show(wrap(note, self.columns)[:ERROR_LINES])
        completes = {"right": "complete"} if words else {}
        hints = {"enter": "save", "tab": "next", **completes, "escape": "cancel"}
        self.show_keys(hints, disabled=("enter",) if error else ())
