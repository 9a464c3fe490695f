"""The base class of places, the lookup of typed verbs and numbers, and the input of texts."""

from __future__ import annotations

import asyncio
from abc import ABC, abstractmethod
from collections.abc import Awaitable, Callable, Hashable, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

from presscheck.cli.linear.line_terminal import EndOfInput, LineTerminal
from presscheck.cli.session import Session
from presscheck.cli.text_input import run_editor
from presscheck.errors import InvalidArgument, NotNow, PresscheckError
from presscheck.store.drafts import DraftSlot
from presscheck.store.open_texts import OpenText
from presscheck.text.phrases import count

if TYPE_CHECKING:
    from presscheck.api.change_requests import ChangeRequest

T = TypeVar("T")
SILENT_SECONDS = 3.0
"""Seconds after which presscheck prints that it is still loading."""
SEND, EDIT, KEEP, DISCARD = ".", ".e", ".k", ".d"
"""The lines that end a text, open it in the editor, keep it as a draft, and discard it."""
MARK = "."
"""The first character of these lines. It is typed twice at the start of a line of text, as in SMTP."""
_MOST_DIGITS = 10
"""Maximum number of digits of a typed number."""


class Verb(NamedTuple):
    """A verb of a place.

    Attributes:
        name: the whole name; a unique beginning is enough.
        letter: a short form, which has precedence over the beginnings of names; empty for none.
        help: its description in the list of verbs.
        run: takes the typed argument, and returns the next place, or None to stay.
        takes: the name of its argument in the list of verbs; empty if it takes none.
        reason: why it cannot be used now; None if it can.
    """

    name: str
    letter: str
    help: str
    run: Callable[[str], Awaitable[Place | None]]
    takes: str = ""
    reason: str | None = None

    @property
    def line(self) -> str:
        """The line of the list of verbs."""
        argument = f" {self.takes}" if self.takes else ""
        letter = f", or {self.letter}" if self.letter else ""
        return f"  {self.name}{argument}{letter}: {self.help}{f' (not now: {self.reason})' if self.reason else ''}"


class Linear:
    """The state that all places share, such as the change request that `undo` brings back.

    Args:
        session: reads and writes.
        terminal: prints and reads lines.
    """

    def __init__(self, session: Session, terminal: LineTerminal) -> None:
        self.session, self.terminal = session, terminal
        self.last_hidden: ChangeRequest | None = None

    async def wait(self, work: Awaitable[T]) -> T:
        """Wait for work. After `SILENT_SECONDS`, print that it is loading: screen readers say nothing else."""
        task = asyncio.ensure_future(work)
        try:
            await asyncio.wait((task,), timeout=SILENT_SECONDS)
            if not task.done() and self.terminal.is_interactive:
                self.terminal.print(["Loading ..."])
            return await task
        finally:
            task.cancel()

    async def confirm(self, question: str, answer: str = "yes", otherwise: str = "Cancelled.") -> bool:
        """Ask a question, and return whether the user typed `answer`, in any case. Print `otherwise` if not."""
        self.terminal.print([f"{question} Type {answer} to confirm, or an empty line for no."])
        try:
            typed = (await self.terminal.read("confirm> ")).strip().casefold()
        except EndOfInput:
            typed = ""
        is_confirmed = typed == answer.casefold()
        if not is_confirmed:
            is_mistyped = typed not in ("", "n", "no")
            self.terminal.print([f"This is not {answer}. {otherwise}" if is_mistyped else otherwise])
        return is_confirmed

    async def compose(self, title: str, draft: DraftSlot, *, is_optional: bool = False) -> str | None:
        """Read a text of several lines, which is stored as a draft after each line.

        Args:
            title: the heading, such as `Reply to Ann`.
            draft: where the text is stored until it is accepted; a stored text is continued.
            is_optional: whether the text may be empty.

        Returns:
            The text. None if the user keeps or discards it, or if it is empty but not optional.
        """
        lines = draft.text.split("\n") if draft.text else []
        if lines:
            self.terminal.print([f"Your draft, {count(len(lines), 'line')}:", *lines, "End of your draft."])
        optional = " The text is optional." if is_optional else ""
        self.terminal.print(
            [
                f"{title}.{optional} A line with only a dot sends it. {EDIT} opens your editor, {KEEP} keeps a draft, "
                f"{DISCARD} discards it."
            ]
        )
        while True:
            try:
                line = await self.terminal.read("text> ")
            except EndOfInput:
                line = KEEP
            if line == SEND:
                return self._finished("\n".join(lines), is_optional=is_optional)
            if line == KEEP:
                self.terminal.print(["Kept as a draft." if lines else "Nothing was written."])
                return None
            if line == DISCARD:
                draft.discard()
                self.terminal.print(["Discarded."])
                return None
            if line == EDIT:
                lines = (await self._edit("\n".join(lines), draft)).split("\n")
                self.terminal.print(["Your text:", *lines, "End of your text. A line with only a dot sends it."])
            else:
                lines.append(line.removeprefix(MARK) if line.startswith(2 * MARK) else line)
            draft.save("\n".join(lines))

    async def send(self, call: Any, draft: DraftSlot, done: str) -> None:
        """Send a call with a text. The draft is discarded once the outbox or the service has the text.

        Raises:
            PresscheckError: the service rejected it.
        """
        ticket = self.session.engine.write(call)
        if ticket.id:
            draft.discard()
        await self.session.settled(ticket, done)
        draft.discard()

    def _finished(self, text: str, *, is_optional: bool) -> str | None:
        if text.strip():
            return text
        if not is_optional:
            self.terminal.print(["The text is empty: nothing was sent."])
        return "" if is_optional else None

    async def _edit(self, text: str, draft: DraftSlot) -> str:
        """Edit a text in the editor. Without a terminal or an editor, return it unchanged.

        If this process ends before the editor, the next start stores the edited text as the draft.
        """
        if not self.terminal.is_interactive:
            self.terminal.print(["The editor needs a terminal."])
            return text
        opened = OpenText(draft, text, ".md")
        try:
            code = await asyncio.to_thread(run_editor, opened.file)
        except PresscheckError as error:
            opened.remove()
            self.terminal.print([f"Error: {error.message}."])
            return text
        edited = opened.written(failed=bool(code)).rstrip("\n")
        draft.save(edited)
        opened.remove()
        if code:
            self.terminal.print([f"The editor exited with code {code}."])
        return edited


class Place(ABC):
    """A place, such as the inbox or a page: prints lines, opens numbered items, and has verbs.

    Args:
        linear: what all places share.
    """

    def __init__(self, linear: Linear) -> None:
        self.linear = linear
        self.session, self.engine = linear.session, linear.session.engine

    @property
    @abstractmethod
    def name(self) -> str:
        """The name in the prompt, such as `inbox`."""

    @abstractmethod
    async def load(self) -> Sequence[str]:
        """Load everything, and return the lines of the place.

        Raises:
            PresscheckError: the place cannot be loaded.
        """

    def verbs(self) -> tuple[Verb, ...]:
        """Return the verbs of the place, other than those that every place has."""
        return ()

    async def open(self, number: int) -> Place:
        """Return the place behind a number.

        Raises:
            InvalidArgument: nothing has this number.
        """
        raise InvalidArgument(str(number), "this place has no numbers to open")


class Siblings(NamedTuple):
    """The list that a place was opened from, for its verbs `next` and `previous`.

    Attributes:
        noun: a name for the items.
        keys: the keys of the items.
        key: the key of the place.
        open: returns the place of the item with an index.
    """

    noun: str
    keys: Sequence[Hashable]
    key: Hashable
    open: Callable[[int], Place]

    def neighbor(self, step: int) -> Place | None:
        """Return the place `step` items further, or None if this place is not in the list, or at its end."""
        index = self.keys.index(self.key) + step if self.key in self.keys else -1
        return self.open(index) if 0 <= index < len(self.keys) else None

    def verbs(self) -> tuple[Verb, Verb]:
        """Return `next` and `previous`."""
        return self._verb("next", 1, "last"), self._verb("previous", -1, "first")

    def _verb(self, name: str, step: int, end: str) -> Verb:
        place = self.neighbor(step)

        async def run(_: str) -> Place | None:
            return place

        reason = None if place else f"this is the {end} {self.noun}"
        return Verb(name, name[0], f"Go to the {name} {self.noun}.", run, reason=reason)


def typed_number(typed: str) -> int:
    """Return a typed decimal number.

    Only the first `_MOST_DIGITS` digits count: no list is that long, and Python does not convert thousands of digits.
    """
    return int((typed.lstrip("0") or "0")[:_MOST_DIGITS])


def pick(items: Sequence[Any], typed: str, noun: str) -> Any:
    """Return the item with a typed number, counted from 1. A single item needs no number.

    Raises:
        InvalidArgument: no item has this number.
    """
    if not typed and len(items) == 1:
        return items[0]
    if typed.isdecimal():
        number = typed_number(typed)
        if 1 <= number <= len(items):
            return items[number - 1]
        typed = str(number)
    if not items:
        raise InvalidArgument(typed or "number", f"there is no {noun} here")
    known = "1" if len(items) == 1 else f"a number from 1 to {len(items)}"
    raise InvalidArgument(typed or "number", f"choose a {noun} by {known}")


def find_verb(verbs: Sequence[Verb], typed: str) -> Verb:
    """Return the verb with this name, letter or unique beginning.

    Raises:
        InvalidArgument: no verb matches, or several start with the typed text.
        NotNow: the verb cannot be used now.
    """
    word = typed.lower()
    matches = [verb for verb in verbs if word in (verb.name, verb.letter)] or [
        verb for verb in verbs if verb.name.startswith(word)
    ]
    if not matches:
        raise InvalidArgument(typed, "no such verb here. ? lists the verbs")
    if len(matches) > 1:
        raise InvalidArgument(typed, f"could be {' or '.join(verb.name for verb in matches)}")
    if matches[0].reason:
        raise NotNow(f"{matches[0].name}: {matches[0].reason}")
    return matches[0]
