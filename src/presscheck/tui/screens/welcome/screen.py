"""The screen that opens without configuration: it asks where the documentation is, and signs in or starts a service.

There is no engine yet, so the screen is not a `BaseScreen`. Its result is the profile to open.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from typing import ClassVar, NamedTuple, Protocol

from textual import events
from textual.app import ComposeResult
from textual.binding import BindingType
from textual.containers import Vertical
from textual.screen import Screen
from typing_extensions import override

from presscheck.config.profile import Profile
from presscheck.errors import PresscheckError
from presscheck.text.sanitize import sanitize
from presscheck.text.styled_text import Line, Span, pad, wrap
from presscheck.tui.app_context import app_of
from presscheck.tui.commands import COMMANDS, shown
from presscheck.tui.keyboard import KeySequences, key_name
from presscheck.tui.screens.welcome.folders import complete_folder
from presscheck.tui.widgets.entry_dialog import EntryDialog, EntryField
from presscheck.tui.widgets.status_bar import ClickableLines, StatusLine, pressing

WIDEST = 76
LABEL_COLUMNS = 28
_USED = ("down", "up", "open", "back", "close", "quit")


class FirstRun(Protocol):
    """The actions behind the choices, each of which returns the profile to open."""

    @property
    def address(self) -> str:
        """The proposed URL of the service."""
        ...

    @property
    def space(self) -> str:
        """The id of the space to open first; empty for the inbox."""
        ...

    def missing_extra(self) -> str:
        """Return why the local service cannot run, with the package to install; empty if it can. Reads the disk."""
        ...

    async def sign_in(self, address: str, token: str, show: Callable[[str, str], None]) -> Profile:
        """Sign in to a service with a token or, without a token, by browser.

        Args:
            address: the URL of the service.
            token: the token; empty to sign in by browser.
            show: shows what to do in the browser, and the code to copy; the code is empty if it was copied already.

        Raises:
            InvalidArgument: the field `address` or `token` is invalid.
            PresscheckError: the token cannot be stored.
        """
        ...

    async def open_sample(self) -> Profile:
        """Start the sample workspace.

        Raises:
            PresscheckError: the sample workspace cannot be started.
        """
        ...

    async def open_folder(self, folder: str) -> Profile:
        """Start a service with a folder, and wait until the folder is imported.

        Raises:
            InvalidArgument: the field `folder` is invalid.
            PresscheckError: the service cannot be started.
        """
        ...


class Choice(NamedTuple):
    """A row: its letter, title and explanation."""

    letter: str
    title: str
    note: str


CHOICES = (
    Choice("s", "Sign in", "to a service, by browser or with a token"),
    Choice("w", "Sample workspace", "to try everything; no account is needed"),
    Choice("f", "A documentation folder", "Markdown files on this machine"),
)


class ChoiceRows(ClickableLines):
    """The choices in rows. Clicking a row presses its letter."""

    DEFAULT_CSS = "ChoiceRows { height: 3; margin: 1 0; }"

    def __init__(self) -> None:
        super().__init__()
        self.cursor = 0

    def move(self, by: int) -> None:
        """Move the cursor by a number of rows."""
        self.cursor = max(0, min(len(CHOICES) - 1, self.cursor + by))
        self.refresh()

    @override
    def line_at(self, y: int) -> Line:
        if y >= len(CHOICES):
            return ()
        choice, style = CHOICES[y], "strong" if y == self.cursor else ""
        head = (
            Span("▌ " if y == self.cursor else "  ", "accent"),
            Span(choice.letter, "accent"),
            Span(f"  {choice.title}", style),
        )
        return pressing(choice.letter, *pad(head, LABEL_COLUMNS), Span(choice.note, "quiet"))


class WelcomeScreen(Screen[Profile | None], inherit_bindings=False):
    """The screen that asks where the documentation is. Its result is the profile to open, or None to quit.

    Args:
        first_run: the actions behind the choices.
    """

    BINDINGS: ClassVar[list[BindingType]] = []
    DEFAULT_CSS = """
    WelcomeScreen { background: $ink-ground; color: $ink-text; align: center middle; }
    WelcomeScreen > Vertical { width: 76; max-width: 100%; height: auto; }
    WelcomeScreen > #welcome-keys { dock: bottom; }
    """

    def __init__(self, first_run: FirstRun) -> None:
        super().__init__()
        self._first_run = first_run
        self._keys = KeySequences(())
        self._missing = ""
        self._is_starting = False

    @override
    def compose(self) -> ComposeResult:
        with Vertical():
            yield StatusLine(id="welcome-title")
            yield StatusLine(id="welcome-question")
            yield ChoiceRows()
            for number in range(3):
                yield StatusLine(id=f"problem-{number}", classes="problem")
        yield StatusLine(id="welcome-keys")

    def on_mount(self) -> None:
        """Show the choices. Whether the local service is installed is checked afterwards, in a thread."""
        keymap = app_of(self).keymap
        self._keys = KeySequences([command for command in COMMANDS if command.name in _USED], keymap)
        self.query_one("#welcome-title", StatusLine).show((Span("presscheck", "title"),))
        self.query_one("#welcome-question", StatusLine).show((Span("Where is your documentation?"),))
        quit_key = keymap.first("close")
        hints = [("enter", "choose"), (quit_key, "quit")]
        line = [
            span
            for key, title in hints
            for span in (*pressing(key, Span(f" {shown(key)}", "accent"), Span(f" {title}", "quiet")), Span("  "))
        ]
        self.query_one("#welcome-keys", StatusLine).show(tuple(line))
        self.run_worker(self._look_for_extra())

    async def _look_for_extra(self) -> None:
        self._missing = await asyncio.to_thread(self._first_run.missing_extra)
        if self._missing:
            self._show_problem(self._missing, "waiting")

    def on_key(self, event: events.Key) -> None:
        """Move the cursor, choose a row, or quit."""
        event.stop()
        event.prevent_default()
        if self._is_starting:
            return
        rows, key = self.query_one(ChoiceRows), key_name(event)
        letters = [choice.letter for choice in CHOICES]
        if key in letters or (key.isdecimal() and 1 <= int(key) <= len(CHOICES)):
            at = letters.index(key) if key in letters else int(key) - 1
            rows.move(at - rows.cursor)
            self._choose(at)
            return
        command = self._keys.press(key)
        name = command.name if command else ""
        if name in ("down", "up"):
            rows.move(1 if name == "down" else -1)
        elif name == "open":
            self._choose(rows.cursor)
        elif name in ("back", "close", "quit"):
            self.dismiss(None)

    def _choose(self, number: int) -> None:
        if number == 0:
            self._ask(self._sign_in_dialog())
        elif self._missing:
            self._show_problem(self._missing, "error")
        elif number == 1:
            self._is_starting = True
            self._show_problem("Starting the sample workspace …", "quiet")
            self.run_worker(self._start_sample())
        else:
            self._ask(self._folder_dialog())

    def _ask(self, dialog: EntryDialog[Profile]) -> None:
        def opened(profile: Profile | None) -> None:
            if profile:
                self.dismiss(profile)

        self._show_problem(self._missing, "waiting")
        app_of(self).push_screen(dialog, opened)

    async def _start_sample(self) -> None:
        try:
            profile = await self._first_run.open_sample()
        except PresscheckError as error:
            self._is_starting = False
            self._show_problem(error.message, "error")
        else:
            self.dismiss(profile)

    def _sign_in_dialog(self) -> EntryDialog[Profile]:
        fields = (
            EntryField("address", "Address of the service", self._first_run.address, hint="https://…"),
            EntryField(
                "token",
                "Personal access token",
                hint="paste it here; empty to sign in by browser",
                help="Create it in the developer settings of the service, or leave this empty to sign in by browser, "
                "if the service offers that. The token is stored in the system keyring, or in a file that only you can "
                "read.",
                is_secret=True,
                is_optional=True,
            ),
        )

        def submit(texts: Mapping[str, str]) -> Awaitable[Profile]:
            return self._first_run.sign_in(texts["address"], texts["token"], show)

        def show(text: str, code: str) -> None:
            dialog.show_steps(text)
            if code:
                app_of(self).copy_to_clipboard(code)

        dialog = self._dialog("Sign in", fields, "sign in", "Checking …", submit)
        return dialog

    def _folder_dialog(self) -> EntryDialog[Profile]:
        field = EntryField(
            "folder",
            "Folder",
            hint="~/docs",
            help="A folder with Markdown files, such as a clone of a Git-synced space. They are copied into a local "
            "service the first time; the files stay as they are.",
            complete=_complete,
        )

        def submit(texts: Mapping[str, str]) -> Awaitable[Profile]:
            return self._first_run.open_folder(texts["folder"])

        return self._dialog("Open a documentation folder", (field,), "open", "Importing …", submit)

    def _dialog(
        self,
        title: str,
        fields: tuple[EntryField, ...],
        confirm_label: str,
        progress: str,
        submit: Callable[[Mapping[str, str]], Awaitable[Profile]],
    ) -> EntryDialog[Profile]:
        return EntryDialog(title, fields, confirm_label=confirm_label, progress=progress, submit=submit)

    def _show_problem(self, text: str, style: str) -> None:
        lines = wrap((Span(sanitize(text), style),), max(20, min(WIDEST, self.size.width) - 2))
        for number, line in enumerate(self.query(".problem").results(StatusLine)):
            line.show(lines[number] if number < len(lines) else ())


async def _complete(text: str) -> list[str]:
    return await asyncio.to_thread(complete_folder, text)
