"""The dialog that asks what to find, what to put in its place, and how."""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable
from dataclasses import asdict, replace
from typing import Any, ClassVar, cast

from textual import events, on
from textual.app import ComposeResult
from textual.binding import BindingType
from textual.containers import Horizontal, Vertical
from textual.message import Message
from textual.screen import ModalScreen
from typing_extensions import override

from presscheck.documents.pages.replacement import Query
from presscheck.errors import InvalidArgument, PresscheckError
from presscheck.text.sanitize import sanitize
from presscheck.text.styled_text import Line, Span, wrap
from presscheck.tui.app_context import app_of
from presscheck.tui.widgets.line_view import TextView
from presscheck.tui.widgets.search_inputs import SearchInput
from presscheck.tui.widgets.status_bar import StatusLine, pressing

WIDEST = 76
ERROR_LINES = 2
"""Lines of an error."""
INPUTS = {"find": ("Find", "the text to find"), "replacement": ("Replace", "the text to put in its place; empty: none")}
"""The fields of a query that are typed: the label, and the hint of the empty input."""
SWITCHES = {
    "match_case": ("match case", "capital and small letters differ"),
    "whole_words": ("whole words", "not inside longer words"),
    "is_regex": ("regular expression", "of Python; \\1 is its first group"),
    "in_code": ("also in code", "code blocks and code in a line"),
}
"""The fields of a query that are switched: the label, and what it means."""


class Switch(StatusLine, can_focus=True):
    """A field that is on or off.

    Args:
        name: the name of the field.
        is_on: whether it is on.
    """

    class Switched(Message):
        """Posted when it was switched."""

    def __init__(self, name: str, *, is_on: bool) -> None:
        super().__init__(id=name)
        self._label, self._hint = SWITCHES[name]
        self.is_on = is_on

    def on_mount(self) -> None:
        """Draw the field."""
        self.draw()

    @override
    def watch_has_focus(self, _has_focus: bool) -> None:
        super().watch_has_focus(_has_focus)
        self.draw()

    @override
    def on_click(self, event: events.Click) -> None:
        event.stop()
        self.switch()

    def switch(self) -> None:
        """Turn it on or off."""
        self.is_on = not self.is_on
        self.draw()
        self.post_message(self.Switched())

    def draw(self) -> None:
        """Draw the field again."""
        bar = Span("▌" if self.has_focus else " ", "accent")
        box = Span("[✓] " if self.is_on else "[ ] ", "accent" if self.is_on else "quiet")
        hint = Span("   space switches" if self.has_focus else f"   {self._hint}", "quiet")
        self.show((bar, box, Span(self._label, "strong" if self.is_on else ""), hint))


class ReplaceForm(ModalScreen[Query | None], inherit_bindings=False):
    """A dialog whose result is a query that can be run; None if it was closed.

    Args:
        title: the question, as display text.
        query: the initial values.
        check: returns why a query cannot be run, or None; it takes a bounded time.
        save: saves what is typed.
        error: why the query could not be run before, if it could not.
    """

    BINDINGS: ClassVar[list[BindingType]] = []
    DEFAULT_CSS = """
    ReplaceForm { align: center middle; background: transparent; }
    ReplaceForm > Vertical { width: 76; max-width: 100%; height: auto; padding: 1 2; background: $ink-raised; }
    ReplaceForm Horizontal { height: 1; margin-top: 1; }
    ReplaceForm .label { width: 11; }
    ReplaceForm #match_case { margin-top: 1; }
    ReplaceForm TextView { height: 2; margin: 1 0; }
    """

    def __init__(
        self,
        title: str,
        query: Query,
        *,
        check: Callable[[Query], Awaitable[InvalidArgument | None]],
        save: Callable[[Query], None],
        error: InvalidArgument | None = None,
    ) -> None:
        super().__init__()
        self.heading, self.query_given = title, query
        self._check, self._save, self._error = check, save, error
        self._is_checking = False

    @override
    def compose(self) -> ComposeResult:
        with Vertical():
            yield StatusLine(id="form-title")
            for field, (_, hint) in INPUTS.items():
                with Horizontal():
                    yield StatusLine(id=f"label-{field}", classes="label")
                    yield SearchInput(getattr(self.query_given, field), placeholder=hint, id=field)
            for field in SWITCHES:
                yield Switch(field, is_on=getattr(self.query_given, field))
            yield TextView()
            yield StatusLine(id="form-keys")

    def on_mount(self) -> None:
        """Focus the field with the error, or the first one."""
        self.query_one(TextView).can_focus = False
        self.query_one("#form-title", StatusLine).show((Span(self.heading, "title"),))
        field = self._error.field if self._error and self._error.field in INPUTS else "find"
        self.query_one(f"#{field}", SearchInput).focus()
        self._show()

    def on_resize(self) -> None:
        """Wrap the error to the new width."""
        self._show()

    def on_input_changed(self) -> None:
        """Save what is typed."""
        self._take()

    @on(Switch.Switched)
    def switched(self) -> None:
        """Save what is switched."""
        self._take()

    def _take(self) -> None:
        if self.typed() == self.query_given:  # the inputs tell their initial values
            return
        self.query_given, self._error = self.typed(), None
        try:
            self._save(self.query_given)
        except PresscheckError as error:  # such as on a disk that is full
            self._error = InvalidArgument("", error.message)
        self._show()

    def on_key(self, event: events.Key) -> None:
        """Search, close, switch, or go to another field."""
        if event.key in ("escape", "ctrl+c"):
            self.dismiss(None)
        elif event.key == "enter":
            if not self._is_checking:
                self.run_worker(app_of(self).type_ahead.command(self._submit()), exclusive=True)
        elif event.key in ("tab", "down"):
            self.focus_next()
        elif event.key in ("shift+tab", "up"):
            self.focus_previous()
        elif isinstance(self.focused, Switch) and event.key in ("space", "left", "right"):
            self.focused.switch()
        else:
            return
        event.stop()
        event.prevent_default()

    async def _submit(self) -> None:
        """Close with the query if it can be run; otherwise show why not."""
        query = self.typed()
        self._is_checking = True
        self._show()
        try:
            error = await self._check(query)
        except PresscheckError as failed:
            error = InvalidArgument("", failed.message)
        finally:
            self._is_checking = False
        if error is None:
            self.dismiss(query)
            return
        self._error = error
        if error.field in INPUTS:
            self.query_one(f"#{error.field}", SearchInput).focus()
        self._show()

    def typed(self) -> Query:
        """What is typed and switched."""
        texts = {field: self.query_one(f"#{field}", SearchInput).value for field in INPUTS}
        switched = {field: self.query_one(f"#{field}", Switch).is_on for field in SWITCHES}
        return replace(self.query_given, **texts, **cast("dict[str, Any]", switched))  # pyrefly: ignore[bad-argument-type]

    def _show(self) -> None:
        error = self._error
        for field, (label, _) in INPUTS.items():
            is_wrong = error is not None and error.field == field
            self.query_one(f"#label-{field}", StatusLine).show((Span(label, "waiting" if is_wrong else "quiet"),))
        columns = max(20, min(WIDEST, self.size.width) - 4)
        label = f"{INPUTS[error.field][0]}: " if error and error.field in INPUTS else ""
        why: Line = (Span(f"{label}{sanitize(error.reason)}", "waiting"),) if error else ()
        self.query_one(TextView).show(wrap(why, columns)[:ERROR_LINES] if why else [])
        search = pressing("enter", Span("enter", "accent"), Span(" search", "quiet"))
        if self._is_checking:
            search = (Span("checking …", "quiet"),)
        following = pressing("tab", Span("tab", "accent"), Span(" next", "quiet"))
        cancel = pressing("escape", Span("esc", "accent"), Span(" cancel", "quiet"))
        gap = Span("   ", "quiet")
        self.query_one("#form-keys", StatusLine).show((*search, gap, *following, gap, *cancel))


def stored_text(query: Query) -> str:
    """A query as the text of a draft."""
    return json.dumps(asdict(query))


def stored_query(text: str | None) -> Query:
    """The query of a draft; an empty one if there is none, or if it was stored by another version."""
    try:
        return Query(**json.loads(text)) if text else Query("")
    except (ValueError, TypeError):
        return Query("")
