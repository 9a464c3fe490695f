"""The composer: a dialog for longer texts, which saves a draft on every change.

An `@` at the start of a word proposes people while the name is typed; a preview shows the rendered Markdown.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence

from textual import events, on
from textual.app import ComposeResult
from textual.widgets import TextArea
from textual.widgets.text_area import Selection
from typing_extensions import override

from presscheck.api.users import User
from presscheck.config.browser_tab import is_in_browser
from presscheck.documents.pages.comment_text import parse_suggestion
from presscheck.documents.terminal.page_lines import comment_lines
from presscheck.errors import PresscheckError
from presscheck.store.drafts import DraftSlot
from presscheck.text.phrases import count
from presscheck.text.sanitize import sanitize
from presscheck.text.styled_text import Line, Span, width
from presscheck.tui.app_context import app_of
from presscheck.tui.commands import COMMANDS, NEED_TERMINAL
from presscheck.tui.external_programs import edit_text
from presscheck.tui.keyboard import is_alt_letter
from presscheck.tui.widgets.completion import CompletionList, Opening, Proposal, mention
from presscheck.tui.widgets.dialog import Dialog
from presscheck.tui.widgets.line_view import TextView

KEYS = tuple(command for command in COMMANDS if command.scope == "composer" or command.name == "back")


class CompletedText(TextArea):
    """A text area whose keys go to a list of proposals first."""

    takes_text = True
    completion: CompletionList

    def on_key(self, event: events.Key) -> None:
        """Pass the key to the list, and letters with alt to the dialog. Other keys are typed."""
        if self.completion.press(event):
            event.stop()
            event.prevent_default()
        elif is_alt_letter(event):
            event.prevent_default()


class Composer(Dialog[str]):
    """A dialog whose result is the written text, or None if it was closed. Closing keeps the draft.

    Args:
        title: the purpose of the text, as display text.
        draft: the initial text, and where changes are saved.
        may_be_empty: whether an empty text can be sent.
        limit: the maximum number of characters.
        people: returns the people that can be mentioned; called at the first `@`.
        suggestion: the text that the command `suggest` inserts and selects.
        suggestion_reason: the message of `suggest` if there is nothing to insert. Without both, there is no `suggest`.
        validate: returns why a text cannot be sent, or None.
        render: renders the preview of a text in a number of columns.
        submit: sends the text; if it raises an error, the dialog stays open and shows it.
        is_code: whether the text is code, such as JSON: adds line numbers, uses the whole height, and has no preview.
    """

    DEFAULT_CSS = """
    Composer { align: center bottom; layers: default above; }
    Composer > Vertical { width: 1fr; height: 14; max-height: 100%; }
    Composer TextArea, Composer TextArea:focus {
        height: 1fr; margin: 1 0; border: none; padding: 0; background: $ink-ground; color: $ink-text;
        background-tint: $ink-ground 0%;
    }
    Composer TextArea .text-area--cursor-line { background: $ink-ground; }
    Composer TextArea .text-area--cursor { background: $ink-accent; color: $ink-ground; }
    Composer TextArea .text-area--selection { background: $ink-ground; color: $ink-text; text-style: reverse; }
    Composer.code > Vertical { height: 100%; }
    Composer TextArea .text-area--gutter, Composer TextArea .text-area--cursor-gutter {
        background: $ink-ground; color: $ink-quiet; text-style: none;
    }
    """

    GAP = 2

    def __init__(
        self,
        title: str,
        draft: DraftSlot,
        *,
        may_be_empty: bool = False,
        limit: int | None = None,
        people: Callable[[], Awaitable[Sequence[User]]] | None = None,
        suggestion: str = "",
        suggestion_reason: str = "",
        validate: Callable[[str], str | None] | None = None,
        render: Callable[[str, int], Sequence[Line]] = comment_lines,
        submit: Callable[[str], None] | None = None,
        is_code: bool = False,
    ) -> None:
        super().__init__(title, classes="code" if is_code else None)
        self.text, self._draft = draft.text, draft
        self.may_be_empty, self.limit, self._send = may_be_empty, limit, submit
        self.people, self.suggestion, self.suggestion_reason = people, suggestion, suggestion_reason
        self.validate, self.render_preview = validate, render
        can_suggest = bool(suggestion or suggestion_reason)
        self._is_code = is_code
        self._area = CompletedText(self.text, soft_wrap=True, show_line_numbers=is_code, compact=True)
        self._completion = CompletionList(self._area, self._find_mention, self._propose, self._insert)
        self._area.completion = self._completion
        self._commands = [command for command in KEYS if command.name != "suggest" or can_suggest]
        if is_in_browser():
            self._commands = [command for command in self._commands if command.name not in NEED_TERMINAL]
        if is_code:
            self._commands = [command for command in self._commands if command.name != "preview_text"]
        self._people: list[Proposal] | None = None
        """The proposed people; None until they are needed."""
        self._error = ""
        self._was_refused = False
        """Whether the user tried to send the current text although it cannot be sent."""

    @override
    def compose(self) -> ComposeResult:
        yield from super().compose()
        yield self._completion

    @override
    def body(self) -> ComposeResult:
        yield self._area
        yield TextView()

    def on_mount(self) -> None:
        """Focus the text area, with the cursor at the end of a text or at the start of code."""
        area = self._area
        area.cursor_blink = False
        area.focus()
        area.move_cursor((0, 0) if self._is_code else area.document.end)
        self.query_one(TextView).display = False
        self._show()

    def on_resize(self) -> None:
        """Close the list of people, whose place has changed."""
        self._completion.close()

    @on(TextArea.Changed)
    def text_changed(self) -> None:
        """Save the draft, and update the error, the keys and the proposed people."""
        self._error, self._was_refused = self._try(self._draft.save), False
        self._show()
        self._completion.update()

    @on(TextArea.SelectionChanged)
    def cursor_moved(self) -> None:
        """Update or close the open list of people after the cursor has moved."""
        if self._completion.is_open:
            self._completion.update()

    @override
    def keys(self) -> dict[str, Callable[[], object]]:
        actions: dict[str, Callable[[], object]] = {
            "back": self.cancel,
            "send": self.submit,
            "edit_outside": self._edit_outside,
            "preview_text": self._preview,
            "suggest": self._suggest,
        }
        return {key: actions[command.name] for command in self._commands for key in command.keys}

    @override
    def submit(self) -> None:
        if self._disabled_reason() is not None:
            self._was_refused = True
            self._show()
            return
        self._error = self._try(self._send) if self._send else ""
        if self._error:
            self._show()
        else:
            self.dismiss(self._area.text)

    def _try(self, action: Callable[[str], None]) -> str:
        """Call an action with the text. Return its error message, or an empty text."""
        try:
            action(self._area.text)
        except PresscheckError as error:
            return error.message
        return ""

    def _edit_outside(self) -> None:
        """Edit the text in the user's editor, and save the result as a draft."""
        area = self._area

        def keep(text: str) -> None:
            typed = text.rstrip("\n")
            self._draft.save(typed)
            area.load_text(typed)

        try:
            suffix = ".json" if self._is_code else ".md"
            edit_text(app_of(self), area.text, keep, self._draft, suffix=suffix)
        except PresscheckError as error:
            self._error = error.message
        area.move_cursor(area.document.end)
        self._show()

    def _suggest(self) -> None:
        """Insert the suggestion unless the text contains one, and select its words.

        If there is no suggestion to insert, show the reason.
        """
        area = self._area
        if not self.suggestion:
            self._error = self.suggestion_reason
            self._show()
            return
        if parse_suggestion(area.text) is None:
            area.move_cursor(area.selection.end)
            area.insert(self.suggestion if area.cursor_location[1] == 0 else f"\n{self.suggestion}")
        if found := parse_suggestion(area.text):
            area.selection = Selection(_location(area.text, found.start), _location(area.text, found.end))

    def _preview(self) -> None:
        area, lines = self._area, self.query_one(TextView)
        area.display, lines.display = lines.display, area.display
        if lines.display:
            lines.show(self.render_preview(area.text, max(20, area.size.width - 2)))
        self._completion.close()
        (lines if lines.display else area).focus()

    def _find_mention(self, before: str) -> Opening | None:
        return mention(before) if self.people else None

    def _propose(self, opening: Opening) -> Sequence[Proposal]:
        """Return the people loaded so far. The first call starts loading them."""
        if self._people is None and self.people:
            self._people = []
            self.run_worker(self._load(self.people))
        return self._people or ()

    async def _load(self, people: Callable[[], Awaitable[Sequence[User]]]) -> None:
        try:
            names = [sanitize(user.display_name) for user in await people()]
        except PresscheckError as error:
            self._error = error.message
            self._show()
            return
        self._people = [Proposal(name, "", f"@{name} ") for name in names if name]
        self._completion.update()

    def _insert(self, opening: Opening, proposal: Proposal) -> None:
        row, column = self._area.cursor_location
        self._area.history.checkpoint()
        self._area.replace(proposal.text, (row, opening.start), (row, column), maintain_selection_offset=False)

    def _disabled_reason(self) -> str | None:
        text = self._area.text
        if self.limit is not None and len(text) > self.limit:
            return f"{count(len(text) - self.limit, 'character')} too many"
        if not text.strip() and not self.may_be_empty:
            return "nothing to send: write a text first"
        return self.validate(text) if self.validate else None

    def _show(self) -> None:
        size, reason = len(self._area.text), self._disabled_reason()
        of = f" of {self.limit:,}" if self.limit is not None else ""
        has_reason = reason and (size or self._was_refused)
        count: Line = (Span(reason, "waiting"),) if reason and has_reason else (Span(f"{size:,}{of}", "quiet"),)
        count = (Span(sanitize(self._error), "error"),) if self._error else count
        self.show_title(count)
        hints = {command.keys[0]: command.title for command in self._commands}
        is_disabled = {"send": reason is not None, "suggest": not self.suggestion}
        disabled = [command.keys[0] for command in self._commands if is_disabled.get(command.name)]
        draft_note: Line = (Span("the draft is kept", "quiet"),)
        room = self.size.width - 4 - width(self.key_hints(hints, disabled, self.GAP))
        self.show_keys(hints, disabled=disabled, right=draft_note if width(draft_note) < room else ())


def _location(text: str, index: int) -> tuple[int, int]:
    before = text[:index]
    return before.count("\n"), index - (before.rfind("\n") + 1)
