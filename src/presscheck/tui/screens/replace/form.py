"""The dialog for a query of find and replace."""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable
from dataclasses import asdict, replace
from typing import TYPE_CHECKING, Any, cast

from textual import events, on
from textual.app import ComposeResult
from textual.containers import Horizontal
from textual.message import Message
from typing_extensions import override

from presscheck.documents.pages.replacement import Query
from presscheck.errors import InvalidArgument, PresscheckError
from presscheck.text.sanitize import sanitize
from presscheck.text.styled_text import Line, Span, wrap
from presscheck.tui.app_context import app_of
from presscheck.tui.commands import key_for
from presscheck.tui.widgets.dialog import Dialog
from presscheck.tui.widgets.line_view import TextView
from presscheck.tui.widgets.search_inputs import SearchInput
from presscheck.tui.widgets.status_bar import StatusLine

if TYPE_CHECKING:
    from presscheck.store.drafts import DraftSlot

ERROR_LINES = 2
"""Lines reserved for an error."""
INPUTS = {"find": ("Find", "the text to find"), "replacement": ("Replace", "the text to put in its place; empty: none")}
"""The text fields of a query, each with its label and the placeholder of its input."""
SWITCHES = {
    "match_case": ("match case", "capital and small letters differ"),
    "whole_words": ("whole words", "not inside longer words"),
    "is_regex": ("regular expression", "of Python; \\1 is its first group"),
    "in_code": ("also in code", "code blocks and code in a line"),
}
"""The boolean fields of a query, each with its label and explanation."""


class Switch(StatusLine, can_focus=True):
    """A field that is on or off.

    Args:
        name: the name of the field.
        is_on: whether it is on.
    """

    class Switched(Message):
        """Posted when the switch was turned on or off."""

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
        """Turn the switch on or off."""
        self.is_on = not self.is_on
        self.draw()
        self.post_message(self.Switched())

    def draw(self) -> None:
        """Draw the field again."""
        bar = Span("▌" if self.has_focus else " ", "accent")
        box = Span("[x] " if self.is_on else "[ ] ", "accent" if self.is_on else "quiet")
        hint = Span(f"   {key_for('mark')} switches" if self.has_focus else f"   {self._hint}", "quiet")
        self.show((bar, box, Span(self._label, "strong" if self.is_on else ""), hint))


class ReplaceForm(Dialog[Query]):
    """A dialog that returns a valid query, or None if it was canceled.

    Args:
        title: the question, as display text.
        draft: stores the query while it is edited.
        query: the initial query; None for the stored query.
        check: returns the error of a query that cannot be run, or None.
        error: the error of the last run of the query, if any.
    """

    DEFAULT_CSS = """
    ReplaceForm Horizontal { height: 1; margin-top: 1; }
    ReplaceForm .label { width: 11; }
    ReplaceForm #match_case { margin-top: 1; }
    ReplaceForm TextView { height: 2; margin: 1 0; }
    """

    def __init__(
        self,
        title: str,
        draft: DraftSlot,
        query: Query | None,
        *,
        check: Callable[[Query], Awaitable[InvalidArgument | None]],
        error: InvalidArgument | None = None,
    ) -> None:
        super().__init__(title)
        self._draft, self._current = draft, query or _stored_query(draft.text)
        self._check, self._error = check, error
        self._is_checking = False

    @override
    def body(self) -> ComposeResult:
        for field, (_, hint) in INPUTS.items():
            with Horizontal():
                yield StatusLine(id=f"label-{field}", classes="label")
                yield SearchInput(getattr(self._current, field), placeholder=hint, id=field)
        for field in SWITCHES:
            yield Switch(field, is_on=getattr(self._current, field))
        yield TextView()

    def on_mount(self) -> None:
        """Focus the field with the error, or the first field."""
        self.query_one(TextView).can_focus = False
        self.show_title()
        field = self._error.field if self._error and self._error.field in INPUTS else "find"
        self.query_one(f"#{field}", SearchInput).focus()
        self._show()

    def on_resize(self) -> None:
        """Wrap the error to the new width."""
        self._show()

    def on_input_changed(self) -> None:
        """Store the query as a draft, and clear the error."""
        self._take()

    @on(Switch.Switched)
    def switched(self) -> None:
        """Store the query as a draft, and clear the error."""
        self._take()

    def _take(self) -> None:
        if self.typed() == self._current:  # inputs post their initial values
            return
        self._current, self._error = self.typed(), None
        try:
            self._draft.save(json.dumps(asdict(self._current)))
        except PresscheckError as error:  # such as a full disk
            self._error = InvalidArgument("", error.message)
        self._show()

    @override
    def keys(self) -> dict[str, Callable[[], object]]:
        switch = self.focused.switch if isinstance(self.focused, Switch) else None
        return {**super().keys(), **(dict.fromkeys(("space", "left", "right"), switch) if switch else {})}

    @override
    def submit(self) -> None:
        if not self._is_checking:
            self.run_worker(app_of(self).type_ahead.command(self._submit()), exclusive=True)

    async def _submit(self) -> None:
        """Close with the query if it is valid, or else show the error."""
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
        """Return the query as entered."""
        texts = {field: self.query_one(f"#{field}", SearchInput).value for field in INPUTS}
        switched = {field: self.query_one(f"#{field}", Switch).is_on for field in SWITCHES}
        return replace(self._current, **texts, **cast("dict[str, Any]", switched))  # pyrefly: ignore[bad-argument-type]

    def _show(self) -> None:
        error = self._error
        for field, (label, _) in INPUTS.items():
            is_wrong = error is not None and error.field == field
            self.query_one(f"#label-{field}", StatusLine).show((Span(label, "waiting" if is_wrong else "quiet"),))
        label = f"{INPUTS[error.field][0]}: " if error and error.field in INPUTS else ""
        why: Line = (Span(f"{label}{sanitize(error.reason)}", "waiting"),) if error else ()
        self.query_one(TextView).show(wrap(why, self.columns)[:ERROR_LINES] if why else [])
        search = "checking …" if self._is_checking else "search"
        self.show_keys({"enter": search, "tab": "next", "escape": "cancel"})


def _stored_query(text: str) -> Query:
    """Return the query of a stored draft; an empty query if there is none, or another version stored it."""
    try:
        return Query(**json.loads(text)) if text else Query("")
    except (ValueError, TypeError):
        return Query("")
