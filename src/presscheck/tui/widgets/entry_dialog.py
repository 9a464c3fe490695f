"""A dialog with text fields. They are checked in the background on submit, and errors are shown at their fields."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Generic, TypeVar

from textual import on
from textual.app import ComposeResult
from textual.widgets import Input
from typing_extensions import override

from presscheck.errors import InvalidArgument, PresscheckError
from presscheck.text.sanitize import sanitize
from presscheck.text.styled_text import Line, Span, wrap
from presscheck.tui.app_context import app_of
from presscheck.tui.widgets.dialog import Dialog
from presscheck.tui.widgets.line_view import TextView
from presscheck.tui.widgets.search_inputs import SearchInput
from presscheck.tui.widgets.status_bar import StatusLine

T = TypeVar("T")
Completion = Callable[[str], Awaitable[Sequence[str]]]
"""Returns the completions of a typed text. Must not block; it can read files in a thread."""
ERROR_LINES = 3
"""Maximum number of lines of an error or a help text below a field."""


@dataclass(frozen=True)
class EntryField:
    """A text field of a dialog.

    Attributes:
        name: the name of the field in errors.
        label: the title, as display text.
        value: the initial text.
        hint: the placeholder of an empty input.
        help: an explanation below the field, as display text.
        is_secret: whether the typed text is hidden.
        is_optional: whether the text may be empty.
        complete: returns the completions for the key tab.
    """

    name: str
    label: str
    value: str = ""
    hint: str = ""
    help: str = ""
    is_secret: bool = False
    is_optional: bool = False
    complete: Completion | None = None


class EntryDialog(Dialog[T], Generic[T]):
    """A dialog that returns the result of `submit`, or None if it was closed. Closing cancels a running check.

    Args:
        title: the question, as display text.
        fields: the text fields, from top to bottom.
        confirm_label: the label of the key that confirms, such as `sign in`.
        progress: the message during the check, such as `Checking …`.
        submit: checks the texts, by name of the field, and returns the result. An `InvalidArgument` is shown at the
            field that it names, and any other error at the first field.
    """

    DEFAULT_CSS = """
    EntryDialog .label { margin-top: 1; }
    EntryDialog TextView { height: 1; margin-bottom: 1; }
    """

    def __init__(
        self,
        title: str,
        fields: Sequence[EntryField],
        *,
        confirm_label: str,
        progress: str,
        submit: Callable[[Mapping[str, str]], Awaitable[T]],
    ) -> None:
        super().__init__(title)
        self.fields = tuple(fields)
        self.confirm_label, self.progress, self._submit = confirm_label, progress, submit
        self._error = ("", "")
        """The name of the field of the last error, and the reason; both empty without an error."""
        self._candidates: dict[str, Sequence[str]] = {}
        """The completions of the text of each field, by name of the field."""
        self._is_checking = False
        self._steps: Line = ()
        """Instructions for the user during the check, shown below the last field."""

    def show_steps(self, text: str) -> None:
        """Show instructions for the user during the check."""
        self._steps = (Span(sanitize(text), "strong"),)
        self._show()

    @override
    def body(self) -> ComposeResult:
        for field in self.fields:
            yield StatusLine(id=f"label-{field.name}", classes="label")
            box = SearchInput(field.value, placeholder=field.hint, id=f"entry-{field.name}")
            box.password = field.is_secret
            yield box
            yield TextView(id=f"help-{field.name}")

    def on_mount(self) -> None:
        """Focus the first empty field, or the first field if none is empty, and look up completions."""
        for view in self.query(TextView):
            view.can_focus = False
        empty = next((field for field in self.fields if not field.value), self.fields[0])
        self._box(empty).focus()
        self._show()
        for field in self.fields:
            self._look_up(field)

    def on_resize(self) -> None:
        """Wrap the lines below the fields to the new width."""
        self._show()

    def _box(self, field: EntryField) -> SearchInput:
        return self.query_one(f"#entry-{field.name}", SearchInput)

    def _focused(self) -> EntryField:
        name = (self.focused.id or "").removeprefix("entry-") if self.focused else ""
        return next((field for field in self.fields if field.name == name), self.fields[0])

    @on(Input.Changed)
    def text_changed(self, event: Input.Changed) -> None:
        """Clear the error of the field, and look up completions."""
        field = next(field for field in self.fields if self._box(field) is event.input)
        if self._error[0] == field.name:
            self._error = ("", "")
        self._look_up(field)
        self._show()

    @override
    def keys(self) -> dict[str, Callable[[], object]]:
        keys, field = super().keys(), self._focused()
        if field is not self.fields[-1]:
            keys["enter"] = self.focus_next
        if complete := field.complete:
            keys["tab"] = lambda: self._run(self._complete(field, complete), "complete")
        return keys

    def _look_up(self, field: EntryField) -> None:
        if field.complete:
            self.run_worker(self._list_candidates(field, field.complete), group=field.name, exclusive=True)

    async def _list_candidates(self, field: EntryField, complete: Completion) -> None:
        self._candidates[field.name] = await complete(self._box(field).value)
        self._show()

    async def _complete(self, field: EntryField, complete: Completion) -> None:
        """Complete the text to the longest common prefix of its completions.

        Without completions, go to the next field.
        """
        box = self._box(field)
        text = box.value
        candidates = await complete(text)  # the displayed completions may be for an earlier text
        if box.value != text or not box.has_focus:
            return
        if not candidates:
            self.focus_next()
            return
        common = _common_start(candidates)
        if len(common) > len(text) or len(candidates) == 1:
            box.value = common
            box.cursor_position = len(common)

    def _run(self, work: Awaitable[None], group: str) -> None:
        self.run_worker(app_of(self).type_ahead.command(work), group=group, exclusive=True)

    @override
    def submit(self) -> None:
        if self._is_checking:
            return
        texts = {field.name: self._box(field).value.strip() for field in self.fields}
        empty = next((field for field in self.fields if not (texts[field.name] or field.is_optional)), None)
        if empty:
            self._take_error(InvalidArgument(empty.name, "required"))
            return
        self._is_checking, self._error, self._steps = True, ("", ""), ()
        self._show()
        self._run(self._check(texts), "check")

    async def _check(self, texts: Mapping[str, str]) -> None:
        try:
            result = await self._submit(texts)
        except PresscheckError as error:
            self._take_error(error)
        else:
            self.dismiss(result)

    def _take_error(self, error: PresscheckError) -> None:
        self._is_checking = False
        if self.is_leaving:
            return
        name = error.field if isinstance(error, InvalidArgument) else ""
        field = next((field for field in self.fields if field.name == name), self.fields[0])
        reason = error.reason if isinstance(error, InvalidArgument) else error.message
        self._error = (field.name, reason)
        self._box(field).focus()
        self._show()

    def _show(self) -> None:
        if self.is_leaving:
            return
        for field in self.fields:
            self.query_one(f"#label-{field.name}", StatusLine).show((Span(field.label, "strong"),))
            view = self.query_one(f"#help-{field.name}", TextView)
            lines = list(wrap(self._below(field), self.columns))[:ERROR_LINES]
            view.styles.height = max(1, len(lines))
            view.show(lines)
        state = Span(self.progress, "accent") if self._is_checking else Span("")
        self.show_title((state,))
        tab = "complete" if any(field.complete for field in self.fields) else "next field"
        self.show_keys({"enter": self.confirm_label, "tab": tab, "escape": "cancel"})

    def _below(self, field: EntryField) -> Line:
        """Return the line below a field: its error, else its completions, else its help text."""
        name, reason = self._error
        if self._is_checking and self._steps and field is self.fields[-1]:
            return self._steps
        if name == field.name:
            return (Span(sanitize(reason), "error"),)
        candidates = self._candidates.get(field.name, ())
        if candidates and self._box(field).value and self.focused is self._box(field):
            names = "  ".join(sanitize(text.rstrip("/").rpartition("/")[2]) + "/" for text in candidates)
            return (Span(names, "quiet"),)
        return (Span(field.help, "quiet"),)


def _common_start(texts: Sequence[str]) -> str:
    first, last = min(texts), max(texts)
    size = next((at for at, character in enumerate(first) if last[at : at + 1] != character), len(first))
    return first[:size]
