"""A dialog with a form, such as for an API operation: labeled fields, each with its help or error below."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any, cast

from textual import events, on
from textual.app import ComposeResult
from textual.containers import VerticalScroll
from textual.message import Message
from textual.widgets import Input
from typing_extensions import override

from presscheck.engine.drafts import FILE_OF
from presscheck.errors import InvalidArgument, PresscheckError
from presscheck.store.drafts import DraftSlot
from presscheck.text.phrases import count
from presscheck.text.sanitize import sanitize
from presscheck.text.styled_text import Line, Span, width, wrap
from presscheck.tui.app_context import app_of
from presscheck.tui.widgets.dialog import SUBMIT, Dialog
from presscheck.tui.widgets.line_view import TextView
from presscheck.tui.widgets.picker import Choice, Picker
from presscheck.tui.widgets.prompt_dialog import PromptDialog, error_note
from presscheck.tui.widgets.search_inputs import SearchInput
from presscheck.tui.widgets.status_bar import ClickableLines, StatusLine, pressing

if TYPE_CHECKING:
    from presscheck.engine.forms.form import Form, FormField
    from presscheck.engine.forms.form_files import FormFile
    from presscheck.engine.forms.references import Reference

Lookup = Callable[["Reference"], Awaitable["Sequence[Choice] | None"]]
"""Returns the items that a field can refer to, by id and name, or None if they cannot be listed."""
COPY, FROM_FILE = "ctrl+y", "ctrl+l"
COPY_EARLIER = "alt+y"
"""The key that copies the texts of a draft that fit in no field."""
EARLIER = "Typed in an earlier version, in fields that this form does not have:"
MOST_EARLIER = 6
"""Maximum number of shown lines of the texts that fit in no field."""
MARGINS = 7
"""Number of cells to the left and right of the key hints, together."""


class ChoiceBox(StatusLine):
    """An input that shows the chosen value; a click presses enter, which lists all values.

    Args:
        words: the words of each value.
        value: the chosen value; a value without words counts as no choice.
    """

    DEFAULT_CSS = "ChoiceBox { background: $ink-ground; padding: 0 1; }"
    can_focus = True
    is_raised = False

    @dataclass
    class Changed(Message):
        """Posted when another value is chosen."""

        value: str

    def __init__(self, words: Mapping[str, str], value: str, *, id: str) -> None:  # noqa: A002
        super().__init__(id=id)
        self._words, self._value = words, value
        self._draw()

    @property
    def value(self) -> str:
        """The chosen value."""
        return self._value

    @value.setter
    def value(self, value: str) -> None:
        self._value = value
        self._draw()
        self.post_message(self.Changed(value))

    def _draw(self) -> None:
        chosen = self._words.get(self._value)
        text = Span(chosen) if chosen else Span(" / ".join(self._words.values()), "quiet")
        self.show(pressing("enter", text), pressing("enter", Span("▾", "accent")))


class FieldHelp(ClickableLines):
    """The text below a field, whose height follows the text."""

    DEFAULT_CSS = "FieldHelp { height: 1; }"

    def __init__(self, *, id: str) -> None:  # noqa: A002
        super().__init__(id=id)
        self._text: Line = ()
        self._lines: list[Line] = []

    def show(self, text: Line) -> None:
        """Replace the text."""
        if text != self._text:
            self._text = text
            self.on_resize()

    def on_resize(self) -> None:
        """Wrap the text."""
        self._lines = wrap(self._text, self.size.width) if self.size.width else [self._text]
        self.styles.height = max(1, len(self._lines))
        self.refresh()

    @override
    def line_at(self, y: int) -> Line:
        return self._lines[y] if y < len(self._lines) else ()


class WholeTextInput(SearchInput):
    """A single-line input that joins the lines of a pasted text, such as a certificate."""

    @override
    def _on_paste(self, event: events.Paste) -> None:
        self.replace(" ".join(event.text.splitlines()), *self.selection)
        event.stop()
        event.prevent_default()


@dataclass(frozen=True)
class FormContent:
    """The content of a form dialog.

    Attributes:
        title: the title, as display text.
        form: the fields, and the conversion of their texts to a result.
        present: the initial texts by name of the field.
        file: the kind of file that can fill in fields.
        has_command: whether a key copies the form as a command.
    """

    title: str
    form: Form
    present: Mapping[str, str]
    file: FormFile | None = None
    has_command: bool = False


class FormDialog(Dialog[Any]):
    """A dialog with a form, which is sent by `send`.

    The dialog returns the result of `send` or, if that is None, the result of the form. If the user closes the dialog,
    it returns None and keeps the texts as a draft.

    A draft of an earlier version may have texts of fields or choices that no longer exist. These texts are shown above
    the fields, and stay in the draft until they are copied and the form is sent.

    Args:
        content: the form.
        send: sends the result of the form. An error is shown at the field that it names, and the form stays open.
        draft: the stored texts, as JSON; None to store no draft.
        lookup: lists the items that a field can refer to.
        send_label: the label of the key that sends.
    """

    DEFAULT_CSS = """
    FormDialog > Vertical { width: 80; max-height: 100%; }
    FormDialog VerticalScroll {
        height: auto; margin: 1 0; scrollbar-size-vertical: 1; scrollbar-background: $ink-raised;
        scrollbar-background-hover: $ink-raised; scrollbar-background-active: $ink-raised;
        scrollbar-color: $ink-quiet; scrollbar-color-hover: $ink-text; scrollbar-color-active: $ink-text;
    }
    FormDialog TextView { display: none; margin: 1 0 0 0; }
    FormDialog FieldHelp { padding: 0 1; margin-bottom: 1; }
    """
    WIDEST = 80

    def __init__(
        self,
        content: FormContent,
        send: Callable[[Any], Awaitable[Any]],
        draft: DraftSlot | None,
        *,
        lookup: Lookup | None = None,
        send_label: str = "send",
    ) -> None:
        super().__init__(content.title)
        self.form, self.present = content.form, dict(content.present)
        self.fields, self._file, self._has_command = content.form.fields, content.file, content.has_command
        self._path = ""
        """The path that was entered last for a file."""
        self._send_label = send_label
        self._send, self._lookup, self._draft = send, lookup, draft
        self._stored, self._earlier = _read_draft(draft.text if draft else "", self.fields)
        self._has_copied_earlier = False
        self._names: dict[str, str] = {}
        """The names of the listed items, by id."""
        self._error: tuple[str, str] = ("", "")
        """The last error: the name of its field, empty if it belongs to no field, and the message."""
        self._is_sending = False

    @override
    def body(self) -> ComposeResult:
        if self._file:
            yield StatusLine(id="form-file")
        yield TextView()
        with VerticalScroll(can_focus=False):
            for field in self.fields:
                yield StatusLine(id=f"label-{field.name}", classes="label")
                text = self._stored.get(field.name, self.present.get(field.name, ""))
                if field.kind == "choice":
                    yield ChoiceBox(dict(field.choices), text, id=f"field-{field.name}")
                else:
                    hint = "enter lists them" if _is_listed(field) else ""
                    box = WholeTextInput if field.kind == "certificate" else SearchInput
                    yield box(text, placeholder=hint, id=f"field-{field.name}")
                yield FieldHelp(id=f"help-{field.name}")

    def on_mount(self) -> None:
        """Focus the first field."""
        self.query_one(TextView).can_focus = False
        self.on_resize()
        self._input(self.fields[0].name).focus()
        self._show()

    def on_resize(self) -> None:
        """Keep the key hints in view, and wrap the texts of an earlier version."""
        view, lines = self.query_one(TextView), self._earlier_lines(self.columns)
        view.display = bool(lines)
        view.styles.height = len(lines)
        view.show(lines)
        others = (8 if self._file else 7) + (len(lines) + 1 if lines else 0)
        self.query_one(VerticalScroll).styles.max_height = max(3, self.size.height - others)

    @property
    def texts(self) -> dict[str, str]:
        """The typed texts by name of the field."""
        return {field.name: self._input(field.name).value for field in self.fields}

    @property
    def chosen_ids(self) -> dict[str, str]:
        """The ids that were chosen from lists, by path parameter such as `space_id`.

        Lists of other fields may need these ids, such as the list of change requests of a space.
        """
        return {
            _path_name(field): text
            for field in self.fields
            if field.reference and (text := self._input(field.name).value.strip()) in self._names
        }

    def result(self) -> Any:
        """Return the result of the typed texts, such as a call.

        Raises:
            InvalidArgument: a value is missing or invalid.
        """
        return self.form.result(self.texts, self.present)

    def _input(self, name: str) -> SearchInput | ChoiceBox:
        return cast("SearchInput | ChoiceBox", self.query_one(f"#field-{name}"))

    def _focused(self) -> FormField | None:
        name = (self.focused.id or "").removeprefix("field-") if self.focused else ""
        return next((field for field in self.fields if field.name == name), None)

    @on(Input.Changed)
    @on(ChoiceBox.Changed)
    def text_changed(self) -> None:
        """Save the draft, and check the texts."""
        changed = {name: text for name, text in self.texts.items() if text != self.present.get(name, "")}
        self._error = ("", "")
        try:
            self._save({**self._earlier, **changed})
        except PresscheckError as error:  # such as a full disk
            self._error = ("", error.message)
        self._show()

    def _save(self, texts: Mapping[str, str]) -> None:
        if self._draft:
            self._draft.save(json.dumps(texts, ensure_ascii=False) if texts else "")

    def on_descendant_focus(self) -> None:
        """Scroll the focused field into view with its label and its help."""
        self._show()
        # the input scrolls itself into view first, after the refresh
        self.call_after_refresh(self.call_after_refresh, self._reveal)

    def _reveal(self) -> None:
        field = self._focused()
        if field is None or self.is_leaving:
            return
        scroll = self.query_one(VerticalScroll)
        top = self.query_one(f"#label-{field.name}").virtual_region.y
        bottom = self.query_one(f"#help-{field.name}").virtual_region.bottom
        if top < scroll.scroll_y or field is self.fields[0]:  # the first field fits, even before the dialog is laid out
            scroll.scroll_to(y=top, animate=False, immediate=True)
        elif bottom > scroll.scroll_y + scroll.size.height:
            scroll.scroll_to(y=bottom - scroll.size.height, animate=False, immediate=True)

    @override
    def keys(self) -> dict[str, Callable[[], object]]:
        if self._is_sending:
            return {"escape": self.cancel}  # opening a list or a file would cancel the request
        keys, field = super().keys(), self._focused()
        if self._has_command:
            keys[COPY] = self._copy_command
        if self._earlier:
            keys[COPY_EARLIER] = self._copy_earlier
        if self._file:
            keys[FROM_FILE] = lambda file=self._file: self._run(self._fill_in(file))
        if field and _is_listed(field):
            keys["enter"] = lambda: self._run(self._choose(field))
        elif field is not self.fields[-1]:
            keys["enter"] = self.focus_next
        if field and field.kind == "choice":
            keys |= {"space": keys["enter"], "left": partial(self._step, field, -1)}
            keys["right"] = partial(self._step, field, 1)
        return keys

    @override
    def page(self, by: int) -> None:
        scroll = self.query_one(VerticalScroll)
        scroll.scroll_to(y=scroll.scroll_y + by * scroll.size.height, animate=False)

    def _run(self, work: Awaitable[None]) -> None:
        self.run_worker(app_of(self).type_ahead.command(work), exclusive=True)

    def _step(self, field: FormField, by: int) -> None:
        values = [value for value, _ in field.choices]
        present = self._input(field.name).value
        at = values.index(present) + by if present in values else 0 if by > 0 else len(values) - 1
        self._input(field.name).value = values[at % len(values)]

    async def _choose(self, field: FormField) -> None:
        """Choose the value of a field from a list, or several values for a field of the kind `list`."""
        box = self._input(field.name)
        if field.reference and self._lookup:
            reason = ""
            try:
                await self._name_ids(skipped=field)  # the listing may need the id of another field, such as a space
                listed = await self._lookup(field.reference)
            except InvalidArgument as error:
                self._take_error(error)
                return
            except PresscheckError as error:
                listed, reason = None, f"could not be listed: {error.message}. Type an id"
            if listed is None:
                self._error = (field.name, reason or self._how_to_list(field.reference))
                self._show()
                return
            choices = list(listed)
            self._names |= {choice.key: choice.label for choice in choices}
        else:
            choices = [Choice(value or " ", words) for value, words in field.choices]
        several = field.kind == "list"
        chosen = await app_of(self).push_screen_wait(
            Picker(
                field.label,
                choices,
                ranked=False,
                multiple=several,
                chosen=[part.strip() for part in box.value.split(",")] if several else (),
                current=box.value,
            )
        )
        if chosen is not None:
            box.value = ", ".join(key.strip() for key in chosen)
            self._show()

    async def _fill_in(self, file: FormFile) -> None:
        form = self._draft
        draft = DraftSlot(form.outbox, f"{FILE_OF}{form.key}", self._path, form.about) if form else None
        reason = ""
        while True:
            path = await app_of(self).push_screen_wait(
                PromptDialog(
                    f"Fill in from a file ({file.title})",
                    draft or self._path,
                    max_length=None,
                    hint="path of the file",
                    notes=error_note(f"{self._path}: {reason}" if reason else ""),
                )
            )
            if path is None:
                return
            self._path = path
            try:
                texts = await asyncio.to_thread(file.read_path, path)
            except InvalidArgument as error:
                reason = error.reason
            else:
                break
        if draft:
            draft.discard()
        for field in self.fields:
            if field.name in texts:
                self._input(field.name).value = field.text_of(texts[field.name])
        self._error = ("", "")
        self._show()

    @override
    def submit(self) -> None:
        try:
            result = self.result()
        except InvalidArgument as error:
            self._take_error(error)
            return
        if self.form.changes_nothing(result):
            self._error = ("", "nothing is changed yet")
            self._show()
            return
        self._is_sending = True
        self._show()
        self._run(self._sending(result))

    async def _sending(self, result: Any) -> None:
        try:
            if await self._name_ids():
                result = self.result()
            answer = await self._send(result)
        except PresscheckError as error:
            self._is_sending = False
            self._take_error(error)
        else:
            self._save({} if self._has_copied_earlier else self._earlier)
            self.dismiss(answer if answer is not None else result)

    def _how_to_list(self, reference: Reference) -> str:
        """Return what to do if a list cannot be shown: choose another field first, such as a space, or type an id."""
        needed = {name for listing in reference.listings for name in listing.path_fields()}
        outer = next((each for each in self.fields if each.reference and _path_name(each) in needed), None)
        return f"first choose: {outer.label}" if outer else "cannot be listed here. Type an id"

    async def _name_ids(self, skipped: FormField | None = None) -> bool:
        """Replace typed names by ids. Return True if any name was replaced.

        Args:
            skipped: the field whose value is being chosen.

        Raises:
            InvalidArgument: a typed name or id is unknown, or a name is ambiguous.
        """
        is_changed = False
        for field in self.fields:
            text = self._input(field.name).value
            parts = [part for part in field.parts_of(text) if part not in self._names]
            if (
                field is skipped
                or not field.reference
                or field.takes_others
                or not parts
                or text == self.present.get(field.name, "")
            ):
                continue
            try:
                choices = await self._lookup(field.reference) if self._lookup else None
            except PresscheckError:  # a user who may not list items may still type an id, which the service checks
                choices = None
            if choices is None:
                continue
            self._names |= {choice.key: choice.label for choice in choices}
            ids = [_id_of(part, choices, field) for part in field.parts_of(text)]
            if ids != list(field.parts_of(text)):
                self._input(field.name).value = ", ".join(ids)
                is_changed = True
        return is_changed

    def _take_error(self, error: PresscheckError) -> None:
        name = error.field.partition(".")[0] if isinstance(error, InvalidArgument) else _named_in(error, self.fields)
        is_field = any(field.name == name for field in self.fields)
        reason = error.reason if isinstance(error, InvalidArgument) else error.message
        self._error = (name if is_field else "", reason)
        if is_field:
            self._input(name).focus()
            # the refresh makes room for the error first, which may take several lines
            self.call_after_refresh(self.call_after_refresh, self._reveal)
        self._show()

    def _copy_command(self) -> None:
        try:
            app_of(self).copy_to_clipboard(sanitize(self.form.command(self.result())))
        except InvalidArgument as error:
            self._take_error(error)
        else:
            self._error = ("", "copied as a command")
            self._show()

    def _copy_earlier(self) -> None:
        """Copy the texts that fit in no field; the draft keeps them until the form is sent."""
        text = sanitize("\n".join(self._earlier_texts()), lines=True)
        app_of(self).copy_to_clipboard(text)
        self._has_copied_earlier = True
        self._error = ("", "copied")
        self._show()

    def _earlier_texts(self) -> list[str]:
        """Return the texts that fit in no field, each after the name of its former field."""
        return [f"{name.replace('_', ' ')}: {text}" for name, text in self._earlier.items()]

    def _earlier_lines(self, columns: int) -> list[Line]:
        if not self._earlier:
            return []
        words = sanitize("\n".join(self._earlier_texts()), lines=True).split("\n")
        lines = [line for text in words for line in wrap((Span(text),), columns)]
        more = (Span(f"… {count(len(lines) - MOST_EARLIER, 'more line')}: {COPY_EARLIER} copies all", "quiet"),)
        head = wrap((Span(EARLIER, "waiting"),), columns)
        return [*head, *lines[:MOST_EARLIER], *([more] if len(lines) > MOST_EARLIER else [])]

    def _show(self) -> None:
        if self.is_leaving:
            return
        focused, problems = self._focused(), self._problems()
        for field in self.fields:
            problem = problems.get(field.name, "")
            name = Span(field.label, "strong" if field is focused else "")
            star = Span(" *", "waiting") if field.is_required else Span("")
            self.query_one(f"#label-{field.name}", StatusLine).show((name, star))
            self.query_one(f"#help-{field.name}", FieldHelp).show(self._help(field, problem))
        error = "" if self._error[0] else self._error[1]
        self.show_title((Span(sanitize(error), "error"),))
        self._show_hints(focused)
        if self._file:
            key = self.key_hints({FROM_FILE: f"fill in from a file: {self._file.title}"}, (), 0)
            self.query_one("#form-file", StatusLine).show(key)

    def _help(self, field: FormField, problem: str) -> Line:
        """Return the line below a field: its error, else the name of its value, else its help."""
        if problem:
            return (Span(sanitize(problem), "error"),)
        text = self._input(field.name).value
        names = ", ".join(filter(None, (self._names.get(part.strip(), "") for part in text.split(","))))
        limit = f"{count(len(text), 'character')} · {field.help}" if "character" in field.help and text else field.help
        return (Span(sanitize(names or field.note_of(text) or limit), "quiet"),)

    def _problems(self) -> dict[str, str]:
        """Return the problems by name of the field: the last error, and problems found before sending."""
        problems = {self._error[0]: self._error[1]} if self._error[0] else {}
        try:
            self.result()
        except InvalidArgument as error:
            texts = self.texts
            for problem in (error, *error.others):
                name = problem.field.partition(".")[0]
                if texts.get(name):  # an empty field is not reported before sending
                    problems.setdefault(name, problem.reason)
        return problems

    def _show_hints(self, field: FormField | None) -> None:
        hints = {SUBMIT[0]: "sending …" if self._is_sending else self._send_label}
        if self._earlier:
            hints[COPY_EARLIER] = "copy earlier"
        if field and _is_listed(field):
            hints["enter"] = "choose"
        hints["tab"] = "next"
        if self._has_command:
            hints[COPY] = "copy command"
        hints["escape"] = "cancel"
        gaps = self.GAP * (len(hints) - 1)
        room = min(self.WIDEST, self.size.width) - MARGINS - width(self.key_hints(hints, (), 0))
        self.query_one("#keys", StatusLine).show(self.key_hints(hints, (), self.GAP if gaps <= room else self.GAP - 1))


def _path_name(field: FormField) -> str:
    """Return the path parameter for the id in a field, such as `space_id`."""
    return f"{field.name.rpartition('__')[2].removesuffix('_id')}_id"


def _is_listed(field: FormField) -> bool:
    """Return whether the values of a field can be chosen from a list."""
    return field.reference is not None or bool(field.choices)


def _read_draft(draft: str, fields: Sequence[FormField]) -> tuple[dict[str, str], dict[str, str]]:
    """Return the texts of a draft by name of the field, and the texts that fit in no field by their former names.

    A draft that is no JSON object becomes a single text that fits in no field.
    """
    try:
        read: Any = json.loads(draft) if draft else {}
    except ValueError:
        read = None
    texts = cast("dict[str, Any]", read) if isinstance(read, dict) else {"text": draft}
    by_name = {field.name: field for field in fields}
    stored, earlier = dict[str, str](), dict[str, str]()
    for name, value in texts.items():
        text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
        field = by_name.get(name) if isinstance(read, dict) else None
        if field and (field.kind != "choice" or text in dict(field.choices)):
            stored[name] = text
        elif text:
            earlier[f"{name} (earlier)" if name in by_name else name] = text
    return stored, earlier


def _id_of(part: str, choices: Sequence[Choice], field: FormField) -> str:
    """Return the id for a typed id or name. If `choices` is incomplete, an unknown text counts as an id.

    Raises:
        InvalidArgument: the id or name is unknown, or the name is ambiguous.
    """
    name = sanitize(part)
    for ids in (
        [choice.key for choice in choices if choice.key == part],
        [choice.key for choice in choices if name in (choice.label, choice.note)],
        [choice.key for choice in choices if name.casefold() in (choice.label.casefold(), choice.note.casefold())],
    ):
        if len(ids) == 1:
            return ids[0]
        if ids:
            raise InvalidArgument(field.name, f"{part} is the name of {len(ids)}: enter lists them")
    if field.reference and not field.reference.lists_all:
        return part
    listed = f"enter lists all {len(choices):,}" if len(choices) > 1 else "enter lists what there is"
    raise InvalidArgument(field.name, f"{part} not found: {listed if choices else 'there is none yet'}")


def _named_in(error: PresscheckError, fields: Sequence[FormField]) -> str:
    """Return the name of the field that an error message of the service mentions; empty if it mentions none."""
    words = error.message.replace("`", " ").replace(":", " ").replace("'", " ").split()
    wire = {".".join(map(_on_wire, field.name.split("__"))): field.name for field in fields}
    return next((wire[word] for word in words if word in wire), "")


def _on_wire(name: str) -> str:
    """Return a name in the service's spelling: `default_team` becomes `defaultTeam`."""
    first, *others = name.split("_")
    return "".join((first, *(part.capitalize() for part in others)))
