"""The list of a screen's keys in groups, with its special keys first; in two columns on wide screens."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, NamedTuple

from textual import events, on
from textual.app import ComposeResult
from textual.message import Message
from textual.widgets import Input
from typing_extensions import override

from presscheck.engine.reads.cached_reads import is_about_service
from presscheck.text.styled_text import Line, Span, cut, pad
from presscheck.tui.app_context import app_of
from presscheck.tui.commands import Command, shown, where
from presscheck.tui.screens.command_targets import run_anywhere
from presscheck.tui.screens.key_editor import change_keys
from presscheck.tui.ui.ask import choose
from presscheck.tui.widgets.dialog import Dialog
from presscheck.tui.widgets.line_view import LineView
from presscheck.tui.widgets.picker import Choice
from presscheck.tui.widgets.search_inputs import SearchInput
from presscheck.tui.widgets.status_bar import StatusLine

if TYPE_CHECKING:
    from presscheck.tui.app_context import AppContext
    from presscheck.tui.ui.screen import BaseScreen

COMMON_SCOPES = ("move", "find", "go", "mark", "copy, open", "state", "always")
"""Scopes of commands that every screen has; they come after the special scopes of the screen."""
KEYS_COLUMNS = 15
"""The width of the keys, in cells."""
MIN_COLUMNS = 48
"""The minimum width of a column, in cells."""
GAP = 2
CHANGE = "ctrl+e"
WITHOUT_KEY = "not here: the text takes these keys"
"""The heading of the commands of a screen whose keys belong to its text field."""


class Entry(NamedTuple):
    """A command in the list, or a sign of the screen, which has no name.

    `reason` is why the command cannot run here; empty if it can.
    """

    name: str
    keys: str
    text: str
    reason: str = ""


class Group(NamedTuple):
    """Commands with a heading; `is_here` tells whether the screen has them."""

    heading: str
    entries: Sequence[Entry]
    is_here: bool = True


def shown_keys(app: AppContext, command: Command) -> str:
    """Return the keys of a command, at most three."""
    return "  ".join(shown(keys) for keys in app.keymap.keys(command.name)[:3])


def why_disabled(screen: BaseScreen, command: Command) -> str:
    """Return why a command cannot run on a screen or, if the screen lacks it, where it works; empty if it can run."""
    if screen.command_table.command(command.name) is None:
        return f"works {where(command).words}"
    return screen.disabled_reason(command.name) or ""


def groups_of(app: AppContext, screen: BaseScreen) -> list[Group]:
    """Return all commands in groups, and the signs of the screen.

    The commands of the screen come first, by scope: its own scope, other special scopes, common scopes. The commands
    that it lacks come last, by the place where they work.
    """
    own = screen.command_table.commands
    scopes = list(dict.fromkeys(command.scope for command in own))
    scopes.sort(key=lambda scope: (scope != screen.SCOPE, scope in COMMON_SCOPES))
    here: dict[str, list[Entry]] = {scope: [] for scope in scopes}
    if screen.LEGEND:
        here["signs"] = [Entry("", sign, words) for sign, words in screen.LEGEND]
    elsewhere: dict[str, list[Entry]] = {}
    for command in app.keymap.commands:
        reason = why_disabled(screen, command)
        entry = Entry(command.name, shown_keys(app, command), command.help or command.title, reason)
        if command in own and screen.has_key_for(command):
            here[command.scope].append(entry)
        elif command in own and command.scope != "move":
            elsewhere.setdefault(WITHOUT_KEY, []).append(entry)
        elif command.scope != "move":
            elsewhere.setdefault(f"not here: {where(command).words}", []).append(entry)
    return [
        *(Group(heading, entries) for heading, entries in here.items()),
        *(Group(heading, entries, is_here=False) for heading, entries in elsewhere.items()),
    ]


async def choose_command(screen: BaseScreen) -> None:
    """Choose a command that can run now, and run it.

    The choices are the commands in the footer, then other commands in the scope of the screen.
    """
    footer = screen.footer_commands
    names = [command.name for command in screen.command_table.commands if command.scope == screen.SCOPE]
    commands = [screen.command_table.command(name) for name in dict.fromkeys((*footer, *names))]
    choices = [
        Choice(command.name, command.title, shown_keys(screen.app_context, command))
        for command in commands
        if command and screen.handler(command.name) and screen.disabled_reason(command.name) is None
    ]
    chosen = await choose(screen, "Commands", choices) if choices else None
    command = screen.command_table.command(chosen or "")
    if command:
        screen.run_command(command)
        screen.refresh_status_bars()


def show_keys(app: AppContext, screen: BaseScreen) -> None:
    """Show all keys of a screen; enter runs the command."""

    def run(name: str | None) -> None:
        command = app.keymap.command(name or "")
        if command:
            run_anywhere(screen, command)

    app.push_screen(KeyList(groups_of(app, screen)), run)


class KeyGrid(LineView):
    """Groups of keys in one or two columns, with a cursor."""

    has_cursor = False
    bar_width = 0

    @dataclass
    class Chosen(Message):
        """Posted when a command was double-clicked."""

        name: str

    @dataclass
    class Highlighted(Message):
        """Posted when the cursor moved to another entry, or the keys were replaced."""

        entry: Entry | None

    def __init__(self) -> None:
        super().__init__()
        self._groups: Sequence[Group] = ()
        self._columns: list[list[Entry | str]] = [[]]
        """The cells of each column: entries, headings and empty lines."""
        self._place = (0, 0)
        """The column and the line of the cursor."""

    @override
    @property
    def count(self) -> int:
        return max(map(len, self._columns))

    @property
    def entry(self) -> Entry | None:
        """The entry under the cursor."""
        return self._entry_at(*self._place)

    def show(self, groups: Sequence[Group]) -> None:
        """Replace the keys, and move the cursor to the first key."""
        self._groups = groups
        self._arrange()
        self._place = (0, next((at for at, cell in enumerate(self._columns[0]) if isinstance(cell, Entry)), 0))
        self.top = 0
        self.redraw()
        self.post_message(self.Highlighted(self.entry))

    @property
    def has_two_columns(self) -> bool:
        """Whether the widget is wide enough for two columns."""
        return self.columns >= 2 * MIN_COLUMNS + GAP

    @override
    def item(self, number: int, part: int, columns: int) -> Line:
        size = self._cell_size(columns)
        cells = [self._cell(column, number, size) for column in range(len(self._columns))]
        return tuple(span for cell in cells for span in (*pad(cell, size), Span(" " * GAP)))

    @override
    def move(self, by: int) -> None:
        column, line = self._place
        step = 1 if by > 0 else -1
        for _ in range(abs(by)):
            ahead = range(line + step, len(self._columns[column]) if step > 0 else -1, step)
            line = next((at for at in ahead if self._entry_at(column, at)), line)
        self._go(column, line)

    @override
    def move_half_pages(self, count: int) -> None:
        self.move(count * self.half_page)

    def switch_column(self, by: int) -> None:
        """Move the cursor to the nearest key of the next column, or of the previous column if `by` is -1."""
        column = max(0, min(self._place[0] + by, len(self._columns) - 1))
        lines = [at for at, cell in enumerate(self._columns[column]) if isinstance(cell, Entry)]
        if lines:
            self._go(column, min(lines, key=lambda at: abs(at - self._place[1])))

    @override
    def choose(self) -> None:
        if self.entry:
            self.post_message(self.Chosen(self.entry.name))

    @override
    def on_click(self, event: events.Click) -> None:
        column = min(event.x // (self._cell_size(self.columns) + GAP), len(self._columns) - 1)
        line = self.top + event.y
        if self._entry_at(column, line):
            self._go(column, line)
        else:
            event.prevent_default()  # a double click outside all keys chooses none

    @override
    def on_resize(self) -> None:
        name = self.entry.name if self.entry else ""
        self._arrange()
        places = (
            (column, line)
            for column, cells in enumerate(self._columns)
            for line, cell in enumerate(cells)
            if isinstance(cell, Entry) and cell.name == name
        )
        self._go(*next(places, (0, 0)))

    def _arrange(self) -> None:
        """Arrange the groups in one or two columns: the groups of the screen, then all others below."""
        self._columns = [[]]
        for is_here in (True, False):
            groups = [group for group in self._groups if group.is_here == is_here]
            height = self.count
            for column, cells in enumerate(self._columns_of(groups)):
                if column == len(self._columns):
                    self._columns.append([])
                above = self._columns[column]
                above += [*[""] * (height - len(above)), *cells]

    def _columns_of(self, groups: Sequence[Group]) -> list[list[Entry | str]]:
        """Return the cells of groups in a single column, or in two columns of similar length."""
        blocks: list[list[Entry | str]] = [[group.heading, *group.entries, ""] for group in groups]
        at = len(blocks)
        if self.has_two_columns and at > 1:
            total = sum(map(len, blocks))
            at = min(range(1, at), key=lambda cut_: abs(2 * sum(map(len, blocks[:cut_])) - total))
        return [[cell for block in part for cell in block] for part in (blocks[:at], blocks[at:]) if part]

    def _cell_size(self, columns: int) -> int:
        if not self.has_two_columns:
            return max(1, columns - GAP)
        return max(1, (columns - 2 * GAP) // 2)

    def _cell(self, column: int, line: int, size: int) -> Line:
        cells = self._columns[column]
        cell = cells[line] if line < len(cells) else ""
        if isinstance(cell, str):
            return cut((Span(f" {cell}", "title"),), size)
        is_current = (column, line) == self._place
        style = "quiet" if cell.reason else ""
        text = cell.reason if is_about_service(cell.reason) else cell.text
        keys = pad((Span(cell.keys, style or "accent"),), KEYS_COLUMNS)
        bar = Span("▌" if is_current else " ", "accent")
        return cut((bar, *keys, Span(" "), Span(text, f"{style} strong" if is_current else style)), size)

    def _entry_at(self, column: int, line: int) -> Entry | None:
        cells = self._columns[column] if column < len(self._columns) else []
        cell = cells[line] if 0 <= line < len(cells) else ""
        return cell if isinstance(cell, Entry) else None

    def _go(self, column: int, line: int) -> None:
        self._place = (column, line)
        height = max(1, self.size.height)
        # the heading above the first key of a group is shown with it
        first = line - 1 if isinstance(next(iter(self._columns[column][max(0, line - 1) : line]), None), str) else line
        if first < self.top:
            self.top = max(0, first)
        elif line >= self.top + height:
            self.top = line - height + 1
        self.redraw()
        self.post_message(self.Highlighted(self.entry))


class KeyList(Dialog[str]):
    """A searchable dialog of the keys of a screen; its result is the name of a command to run, or None.

    Args:
        groups: the keys in groups.
    """

    DEFAULT_CSS = """
    KeyList { align: center top; }
    KeyList > Vertical { width: 120; height: 100%; margin: 1 0; }
    KeyList KeyGrid { margin: 1 0; }
    """
    GAP = 2

    def __init__(self, groups: Sequence[Group]) -> None:
        super().__init__("Keys")
        self._groups = groups

    @override
    def body(self) -> ComposeResult:
        yield SearchInput(placeholder="type to search")
        yield KeyGrid()

    def on_mount(self) -> None:
        """Focus the input and show all keys."""
        grid = self.query_one(KeyGrid)
        grid.can_focus = False
        self.query_one(SearchInput).focus()
        self._show("")

    def on_input_changed(self, event: Input.Changed) -> None:
        """Show the keys that match the typed text."""
        self._show(event.value)

    @on(KeyGrid.Highlighted)
    def key_highlighted(self, event: KeyGrid.Highlighted) -> None:
        """Show the whole help text, which may be cut in a column, and the keys of the dialog."""
        entry = event.entry
        text = Span(entry.reason or entry.text if entry else "", "quiet")
        self.show_title((text,))
        if entry:
            columns = {"tab": "other column"} if self.query_one(KeyGrid).has_two_columns else {}
            change = {CHANGE: "change key"} if entry.name else {}
            self.show_keys({"enter": "run", **change, **columns, "escape": "close"})
        else:
            self.query_one("#keys", StatusLine).show((Span("No match", "quiet"),))

    @on(KeyGrid.Chosen)
    def key_chosen(self, event: KeyGrid.Chosen) -> None:
        """Run the double-clicked command."""
        self.dismiss(event.name)

    @override
    def keys(self) -> dict[str, Callable[[], object]]:
        grid = self.query_one(KeyGrid)
        return {
            **super().keys(),
            CHANGE: self._change,
            "tab": partial(grid.switch_column, 1),
            "shift+tab": partial(grid.switch_column, -1),
        }

    @override
    def move(self, by: int) -> None:
        self.query_one(KeyGrid).move(by)

    @override
    def page(self, by: int) -> None:
        self.query_one(KeyGrid).move_half_pages(by)

    @override
    def submit(self) -> None:
        if entry := self.query_one(KeyGrid).entry:
            self.dismiss(entry.name)

    def _change(self) -> None:
        """Ask for a new key of the command under the cursor, in place of the list."""
        entry = self.query_one(KeyGrid).entry
        if entry and entry.name:
            app = app_of(self)
            command = app.keymap.command(entry.name)
            self.dismiss(None)
            if command and command.own:
                app.notify(f"{command.title}: change its key in [[commands]] of {app.settings_file.name}")
            elif command:
                change_keys(app, command)

    def _show(self, text: str) -> None:
        words = text.lower().split()
        groups: list[Group] = []
        for group in self._groups:
            entries = [entry for entry in group.entries if _contains(group.heading, entry, words)]
            if entries:
                groups.append(group._replace(entries=entries))
        self.query_one(KeyGrid).show(groups)


def _contains(heading: str, entry: Entry, words: Sequence[str]) -> bool:
    label = f"{entry.keys} {entry.text} {entry.name.replace('_', ' ')} {heading}".lower()
    return all(word in label for word in words)
