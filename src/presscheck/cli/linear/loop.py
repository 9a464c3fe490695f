"""The loop of `presscheck --linear`: prints a place, reads a line, runs a verb."""

from __future__ import annotations

import asyncio
import signal
from collections.abc import Awaitable
from functools import partial

from presscheck.cli.exit_codes import exit_code
from presscheck.cli.linear.draft_places import DraftsPlace
from presscheck.cli.linear.inbox_place import InboxPlace, ViewsPlace
from presscheck.cli.linear.line_terminal import EndOfInput, LineTerminal
from presscheck.cli.linear.place import Linear, Place, Verb, find_verb, typed_number
from presscheck.cli.linear.site_places import SitesPlace
from presscheck.cli.session import open_session
from presscheck.cli.watch import until_signal
from presscheck.config.profile import Profile
from presscheck.errors import InvalidArgument, PresscheckError
from presscheck.store.open_texts import take_left_texts
from presscheck.text.phrases import count


def run_linear(profile: Profile) -> int:
    """Run the loop for a profile until the user quits, the input ends or a signal arrives. Return the exit code."""
    return asyncio.run(_run(profile))


async def _run(profile: Profile) -> int:
    terminal = LineTerminal(is_ascii=profile.uses_ascii)
    async with open_session(profile, as_json=False, report=lambda text: terminal.print([text])) as session:
        if left := take_left_texts(session.engine.outbox):
            were = "text that was" if left == 1 else "texts that were"
            terminal.print([f"{count(left, 'draft')}: the {were} open in your editor."])
        loop = LinearLoop(Linear(session, terminal))
        await until_signal(session, loop.run())
        code = session.on_close() if session.on_close else 0
        if code == 128 + signal.SIGINT and terminal.is_interactive:
            terminal.print(["", "Ended. Drafts and unsent changes are kept."])
        await session.engine.noted()
    return loop.code or code


class LinearLoop:
    """The loop, with the stack of places that the user has opened.

    Attributes:
        code: the exit code. If the input is not a terminal, the first error sets it and ends the loop, because the
            following lines could act on the wrong place.

    Args:
        linear: what all places share.
    """

    def __init__(self, linear: Linear) -> None:
        self.code = 0
        self._linear, self._terminal = linear, linear.terminal
        self._places: list[Place] = []

    async def run(self) -> None:
        """Run until the user quits or the input ends.

        Raises:
            PresscheckError: the inbox cannot be loaded at the start.
        """
        await self._go(InboxPlace(self._linear))
        while self._places and not self.code:
            try:
                line = await self._terminal.read(f"{self._places[-1].name}> ")
            except EndOfInput:
                return
            await self._try(self._take(line.strip()))

    async def _try(self, work: Awaitable[None]) -> None:
        try:
            await work
        except PresscheckError as error:
            end = "" if error.message[-1:] in (".", "?", "!") else "."
            self._terminal.print([f"Error: {error.message}{end}"])
            if not self._terminal.is_interactive:
                self.code = exit_code(error)

    async def _take(self, line: str) -> None:
        self._linear.session.next_command()
        place = self._places[-1]
        if not line:
            await self._more()
        elif line == "?":
            self._show_verbs(place)
        elif line.isdecimal():
            await self._go(await self._linear.wait(place.open(typed_number(line))))
        else:
            word, _, argument = line.partition(" ")
            verb = find_verb(self._verbs(place), word)
            if argument.strip() and not verb.takes:
                raise InvalidArgument(argument.strip(), f"{verb.name} takes no argument")
            target = await verb.run(argument.strip())
            if target:
                await self._go(target)

    def _verbs(self, place: Place) -> tuple[Verb, ...]:
        own = place.verbs()
        everywhere = (
            Verb("again", "", "Load and print this place again.", self._again),
            Verb("back", "b", "Go back to the place before.", self._back),
            Verb("inbox", "", "Go to the inbox.", partial(self._to, InboxPlace)),
            Verb("views", "", "List the views of the inbox.", partial(self._to, ViewsPlace)),
            Verb("sites", "", "List the sites.", partial(self._to, SitesPlace)),
            Verb("drafts", "", "List your drafts in change requests.", partial(self._to, DraftsPlace)),
            Verb("quit", "q", "Quit. Drafts and unsent changes are kept.", self._quit),
        )
        return (*own, *everywhere)

    def _show_verbs(self, place: Place) -> None:
        lines = [verb.line for verb in self._verbs(place)]
        hints = "A number opens an item of the list. An empty line prints more. A verb's unique beginning is enough."
        self._terminal.print([f"Verbs of {place.name}:", *lines, hints])

    async def _more(self) -> None:
        if self._terminal.later:
            self._terminal.show(self._terminal.later)
            return
        following = next((verb for verb in self._places[-1].verbs() if verb.name == "next"), None)
        if following is None or following.reason:
            self._terminal.print(["Nothing more here. ? lists the verbs."])
            return
        target = await following.run("")
        if target:
            await self._go(target)

    async def _go(self, place: Place) -> None:
        """Load, push and print a place. If it cannot be loaded, the current place stays."""
        lines = await self._linear.wait(place.load())
        if place not in self._places:
            # a neighbor, such as the next page, replaces the current place, so that `back` leaves all neighbors at once
            if self._places and type(self._places[-1]) is type(place):
                self._places.pop()
            if isinstance(place, InboxPlace):
                self._places.clear()
            self._places.append(place)
        self._terminal.show(lines)

    async def _again(self, _: str) -> Place | None:
        return self._places[-1]

    async def _back(self, _: str) -> Place | None:
        if len(self._places) == 1:
            raise InvalidArgument("back", "this is the first place. quit ends presscheck")
        self._places.pop()
        return self._places[-1]

    async def _to(self, kind: type[Place], _: str) -> Place | None:
        return kind(self._linear)

    async def _quit(self, _: str) -> Place | None:
        self._places.clear()
        return None
