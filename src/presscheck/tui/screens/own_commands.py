"""The user's own commands, ``[[commands]]`` of the settings: programs that run on the item under the cursor.

A program in the background belongs to the app, so closing its screen does not end it; the same command cancels it. A
program whose output is shown ends when the screen with the output is closed.
"""

from __future__ import annotations

import asyncio
import shlex
from collections.abc import Awaitable, Callable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from typing_extensions import override

from presscheck.config.browser_tab import is_in_browser
from presscheck.config.own_commands import OwnCommand
from presscheck.config.project import folders_of
from presscheck.engine.child_programs import ProgramOutput, expanded, run_program
from presscheck.engine.own_commands import address_of, argument_list, clean_values, directory_of, printed_address
from presscheck.errors import PresscheckError
from presscheck.text.phrases import count
from presscheck.text.sanitize import sanitize
from presscheck.text.styled_text import Line, Span, split_cells
from presscheck.tui.commands import WORDS_OF_PLACE, Command, OwnHandler, key_for
from presscheck.tui.external_programs import run_in_folder
from presscheck.tui.screens.text_screen import TextScreen
from presscheck.tui.screens.web_address import open_address
from presscheck.tui.ui.ask import confirm
from presscheck.tui.ui.screen import BaseScreen

if TYPE_CHECKING:
    from presscheck.tui.app_context import AppContext

MAX_TEXT = 1_000_000
"""Maximum number of characters of output that are shown: a longer output would block the app."""
MAX_LINES = 20_000
"""Maximum number of lines of output that are shown."""
PIECE = 512
"""Number of characters that are split at a time: the time grows with the square of this number."""
NO_VALUE = {
    "space": "there is no space here",
    "number": "there is no change request here",
    "page": "there is no page here",
    "line": "the cursor is not on a line of a page",
    "path": "there is no page here",
    "title": "there is no title here",
    "url": "there is no web address here",
    "selection": "select a text with the mouse first",
    "folder": "there is no space here",
}
"""Why a field has no value, in words."""


def own_handlers(screen: BaseScreen, commands: Sequence[Command]) -> list[OwnHandler]:
    """Return the own commands with their handlers on a screen."""
    return [
        OwnHandler(command, partial(_run, screen, own), partial(_reason, screen, own))
        for command in commands
        if (own := command.own)
    ]


def _reason(screen: BaseScreen, own: OwnCommand) -> str | None:
    """Return why a command cannot run: it needs a terminal, belongs elsewhere, or a field has no value here."""
    if own.mode == "suspend" and is_in_browser():
        return f"{sanitize(own.name)}: needs a terminal, which the browser does not have"
    place = screen.place()
    if own.places and (place is None or place.kind not in own.places):
        places = [WORDS_OF_PLACE[kind] for kind in own.places]
        return f"{sanitize(own.name)}: works {' and '.join(places)}, not here"
    name = next((name for name in own.fields if not _value(screen, name)), None)
    return f"{sanitize(own.name)}: {NO_VALUE[name]} ({{{name}}})" if name else None


def _value(screen: BaseScreen, name: str) -> str:
    """Return the value of a field. For `folder`, return the id of the space: finding the folder needs disk access."""
    if name == "selection":
        return screen.field(name) or screen.selected_text
    return screen.field("space" if name == "folder" else name)


@dataclass(frozen=True)
class _Run:
    """A command with all of its values.

    Attributes:
        own: the command.
        words: the arguments, the program included; empty for a web address.
        directory: the working directory.
        address: the web address to open; empty for a program.
    """

    own: OwnCommand
    words: list[str] = field(default_factory=list[str])
    directory: Path = Path()
    address: str = ""

    async def output(self) -> ProgramOutput:
        """Run the program and return its output.

        Raises:
            PresscheckError: the program is missing, or it exceeded its limits.
        """
        return await run_program(self.own.name, self.words, self.directory, self.own.timeout)


async def _run(screen: BaseScreen, own: OwnCommand) -> None:
    if _cancel(screen, own):
        screen.notify(f"{own.name}: canceled")
        return
    prepared = await _prepared(screen, own)
    if own.asks_first and not await confirm(screen, f"Run {sanitize(own.name)}?", _lines(prepared), "run"):
        return
    app = screen.app_context
    if prepared.address:
        open_address(app, prepared.address)
    elif own.mode == "suspend":
        code = run_in_folder(app, prepared.words, prepared.directory)
        if code:
            raise ProgramOutput(code, "", "").failure(own.name)
    elif own.mode == "capture":
        app.push_screen(OutputScreen(prepared))
    else:
        screen.notify(f"{own.name}: running …")
        _start(screen, own, lambda: _finish(app, prepared))


async def _prepared(screen: BaseScreen, own: OwnCommand) -> _Run:
    """Return a command with the current values of its fields filled in.

    Raises:
        PresscheckError: a value or the working directory is missing, or cannot be used.
    """
    values = {name: _value(screen, name) for name in own.fields}
    if "folder" in values:
        values["folder"] = await _folder(screen, own, values["folder"])
    values = clean_values(own, values)
    if own.is_address and not own.is_script:
        return _Run(own, address=address_of(own, values))
    return _Run(own, argument_list(own, values), await asyncio.to_thread(directory_of, own, values))


async def _folder(screen: BaseScreen, own: OwnCommand, space_id: str) -> str:
    """Return the folder that is configured for a space, by id or by title.

    The folders of a project count only for commands of the same project: the user never allowed a command of the
    settings file to run in a folder that came with a repository, where even `make` and `git` run code that they find.

    Raises:
        PresscheckError: the space has no folder.
    """
    from presscheck.tui.screens.command_targets import stored_items  # 10 ms, only for the folder of a space

    app = screen.app_context
    project = app.profile.project if app.profile.project and own in app.profile.project.commands else None
    folders = await asyncio.to_thread(folders_of, app.settings_file, project)
    spaces = stored_items(app, "space")
    title = next((choice.label for choice, _ in spaces if choice.key == f"space {space_id}"), None)
    by_title = {sanitize(name): folder for name, folder in folders.items()}
    folder = folders.get(space_id) or (by_title.get(title) if title else None)
    if folder is None:
        key = key_for("folder")
        raise PresscheckError(f"{own.name}: this space has no folder: check it out with {key}, or add it to [folders]")
    return expanded([folder])[0]


def _lines(prepared: _Run) -> list[Line]:
    """Return the exact arguments, one on each line, and the working directory."""
    if prepared.address:
        return [(Span("open  ", "quiet"), Span(sanitize(prepared.address), "link"))]
    words: list[Line] = [
        (Span(f"{at or 'program':<9}", "quiet"), Span(sanitize(shlex.quote(word))))
        for at, word in enumerate(prepared.words)
    ]
    return [*words, (Span(f"{'in':<9}", "quiet"), Span(sanitize(str(prepared.directory.absolute())), "quiet"))]


async def _finish(app: AppContext, prepared: _Run) -> None:
    """Run a program in the background. Then show that it is done, or open the web address that it printed."""
    own = prepared.own
    ran = await prepared.output()
    if ran.code:
        raise ran.failure(own.name)
    if own.mode == "open":
        open_address(app, printed_address(own, ran.output))
    else:
        app.notify(f"{own.name}: done")


def _start(screen: BaseScreen, own: OwnCommand, work: Callable[[], Awaitable[None]]) -> None:
    """Run work in a worker of the app, which outlives the screen. Show its error."""
    app = screen.app_context

    async def guarded() -> None:
        try:
            await work()
        except PresscheckError as error:
            app.show_error(error)

    screen.app.run_worker(guarded, group=_group(own))


def _cancel(screen: BaseScreen, own: OwnCommand) -> bool:
    """End the program that a command has started in the background. Return whether there was one."""
    return bool(screen.app.workers.cancel_group(screen.app, _group(own)))


def _group(own: OwnCommand) -> str:
    return f"own command {own.name}"


class OutputScreen(TextScreen):
    """The output of an own command, to read, search and copy; closing the screen cancels the program.

    Args:
        prepared: the command to run.
    """

    FOOTER = ("down", "half_down", "find_here", "copy_text", "close")

    def __init__(self, prepared: _Run) -> None:
        super().__init__(sanitize(prepared.own.name), [(Span(f"running …  {key_for('close')} cancels it", "quiet"),)])
        self._prepared = prepared
        self._text = ""
        self._state = "running …"

    @override
    def title_line(self) -> Line:
        return (*super().title_line(), Span(f"  {self._state}", "quiet"))

    @override
    def on_mount(self) -> None:
        self.run(self._show_output, group="output")

    def reason_copy_text(self) -> str | None:
        """Return why there is nothing to copy."""
        return None if self._text else "no output yet" if self._state == "running …" else "there is no output"

    def command_copy_text(self) -> None:
        """Copy the output as it is shown, without the breaks of long lines."""
        self.app_context.copy_to_clipboard(self._text)
        self.notify("copied the output")

    async def _show_output(self) -> None:
        try:
            ran = await self._prepared.output()
        except PresscheckError as error:
            self._state = "failed"
            self.show([(Span(sanitize(error.message), "error"),)])
        else:
            self._state = f"exit code {ran.code}"
            # in a thread, because it takes longer than a frame
            self._text, lines = await asyncio.to_thread(_output_lines, ran, max(self.size.width - 2, 1))
            self.show(lines)
        self.refresh_status_bars()


def _parts(line: str, columns: int) -> Iterator[str]:
    """Split a line into parts of at most `columns` cells. Blanks are kept; an empty line is a single part."""
    if line.isascii():
        yield from (line[at : at + columns] for at in range(0, max(len(line), 1), columns))
        return
    for at in range(0, len(line), PIECE):
        piece = line[at : at + PIECE]
        while piece:
            part, piece = split_cells(piece, columns)
            yield part


def _output_lines(ran: ProgramOutput, columns: int) -> tuple[str, list[Line]]:
    """Return the output as text and as wrapped lines: standard output, then standard error and a failure."""
    printed = ran.output + (f"\n{ran.errors}" if ran.output and ran.errors else ran.errors)
    shown = sanitize(printed[:MAX_TEXT], lines=True).rstrip("\n").split("\n")
    is_cut = len(printed) > MAX_TEXT or len(shown) > MAX_LINES
    text = "\n".join(shown[:MAX_LINES])
    lines: list[Line] = []
    for line in shown[:MAX_LINES]:
        lines += [(Span(part),) for part in _parts(line, columns)]
    if is_cut:
        lines.append((Span(f"only the first {count(min(len(shown), MAX_LINES), 'line')} are shown", "waiting"),))
    if not text.strip():
        lines = [(Span("The program printed nothing.", "quiet"),)]
    if ran.code:
        lines += [(), (Span(ProgramOutput(ran.code, "", "").failure("The program").message, "error"),)]
    return text, lines
