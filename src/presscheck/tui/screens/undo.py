"""Undo of sent changes after a confirmation. If others changed the same content since, both texts are shown."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Sequence
from typing import TYPE_CHECKING, Any

from presscheck.errors import ChangedSince, PresscheckError
from presscheck.text.sanitize import sanitize
from presscheck.text.styled_text import Line, Span
from presscheck.tui.screens.text_screen import TextScreen
from presscheck.tui.ui.ask import confirm

if TYPE_CHECKING:
    from presscheck.engine.engine import Engine, PendingWrite
    from presscheck.engine.writes.descriptions import Place
    from presscheck.engine.writes.history import HistoryEntry
    from presscheck.tui.ui.screen import BaseScreen


async def undo_last_sent(
    screen: BaseScreen,
    is_here: Callable[[Place], bool],
    *,
    shows_place: bool = False,
    sent_with: Callable[[int], Collection[int]] = lambda _: (),
) -> None:
    """Undo the last sent change of a place after a confirmation, or show that there is none.

    Args:
        screen: the screen below the confirmation.
        is_here: returns whether a change of this place belongs to the screen.
        shows_place: whether the confirmation names the place of the change.
        sent_with: returns the ids of the changes that are undone together with a change.
    """
    entries = _sent(screen.engine, is_here)
    last = next(entries, None)
    if last is None:
        screen.notify("nothing to undo: no change of yours was sent from here")
        return
    ids = sent_with(last.id)
    others = [entry for entry in entries if entry.id in ids and not entry.reason]
    await undo_sent(screen, last, *others, shows_place=shows_place)


def _sent(engine: Engine, is_here: Callable[[Place], bool]) -> Iterator[HistoryEntry]:
    """Yield the sent changes whose places satisfy `is_here`, newest first, without undone changes and undos."""
    entries = (entry for entry in engine.history() if entry.state == "sent" and not entry.is_being_undone)
    return (entry for entry in entries if entry.undoes is None and is_here(entry.place))


async def undo_sent(screen: BaseScreen, entry: HistoryEntry, *others: HistoryEntry, shows_place: bool = False) -> None:
    """Undo a sent change after a confirmation; if others changed the same content since, show both texts.

    Args:
        screen: the screen below the confirmation.
        entry: the change.
        others: changes of the same kind to undo together with `entry`; all of them can be undone.
        shows_place: whether the confirmation names the place of the change.
    """
    what = sanitize(entry.description)
    if entry.reason:
        screen.notify(f"{what}: {sanitize(entry.reason)}")
        return
    entries = [entry, *others]
    try:
        is_online = screen.engine.status.online
        if is_online:
            entries = await _undoable(screen.engine, entries)
        if others:
            of_all = f"{len(entries)} of {1 + len(others)}" if len(entries) <= len(others) else f"{len(entries)}"
            what = f"{of_all} changes, {what}"
        lines: list[Line] = [(Span(f"{sanitize(entry.inverse)}."),)]
        if not is_online:
            lines.append((Span("You are offline: it is sent later, unless others change it before.", "waiting"),))
        if shows_place:
            lines.append((Span(sanitize(entry.place_name), "quiet"),))
        if not await confirm(screen, f"Undo: {what}?", lines, "Undo"):
            return
        tickets = [ticket for each in entries for ticket in screen.engine.undo(each.id)]
        if not tickets:
            screen.notify(f"{what}: it is being undone already")
        elif all(ticket.id for ticket in tickets):
            screen.notify(f"undoing: {what}")
            if is_online:  # offline, the outbox shows the result later, without a notice
                screen.run(_follow(screen, what, tickets))
        else:
            await _landed(screen, what, tickets)
    except ChangedSince as error:
        show_both(screen, what, error)


async def _undoable(engine: Engine, entries: Sequence[HistoryEntry]) -> list[HistoryEntry]:
    """Return the changes that can be undone; raise the error of the first if none can."""
    undoable, errors = [], []
    for entry in entries:
        try:
            await engine.check_undo(entry.id)
            undoable.append(entry)
        except PresscheckError as error:
            errors.append(error)
    if not undoable:
        raise errors[0]
    return undoable


def show_both(screen: BaseScreen, what: str, error: ChangedSince) -> None:
    """Show the text that the user wrote, and the current text."""
    lines: list[Line] = [(), (Span(f" {sanitize(error.message.partition('. You wrote')[0])}.", "waiting"),)]
    for heading, text in (("What you wrote", error.written), ("What is there now", error.present)):
        rows = sanitize(text, lines=True).split("\n")
        lines += [(), (Span(f" {heading}", "title"),), (), *((Span(f" {row}"),) for row in rows)]
    screen.app_context.push_screen(TextScreen(f"Not undone: {what}", lines))


async def _follow(screen: BaseScreen, what: str, tickets: list[PendingWrite[Any]]) -> None:
    try:
        await _landed(screen, what, tickets)
    except ChangedSince as error:
        show_both(screen, what, error)


async def _landed(screen: BaseScreen, what: str, tickets: list[PendingWrite[Any]]) -> None:
    for ticket in tickets:
        await ticket.landed()
    screen.notify(f"undone: {what}")
