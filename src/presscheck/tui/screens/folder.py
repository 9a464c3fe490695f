"""Check out a space into a folder, open the folder in the user's editor or shell, and offer to push the edits."""

from __future__ import annotations

import asyncio
import shlex
from collections.abc import Mapping
from pathlib import Path

from presscheck.api.change_requests import ChangeRequest
from presscheck.api.spaces import GetSpace, Space
from presscheck.config.project import folders_of
from presscheck.config.project_search import PROJECT_NAME
from presscheck.config.settings_file import save_folder
from presscheck.config.validation import folder_error, read_folders
from presscheck.engine.checkout.folder import FolderChanges, folder_changes
from presscheck.engine.checkout.pull import open_checkout, pull
from presscheck.engine.checkout.queued_push import push_or_queue, require_idle
from presscheck.engine.checkout.state import Checkout, CheckoutState
from presscheck.errors import PresscheckError
from presscheck.store.drafts import DraftSlot
from presscheck.text.phrases import count
from presscheck.text.sanitize import sanitize
from presscheck.text.styled_text import Line, Span, wrap
from presscheck.tui.commands import key_for
from presscheck.tui.external_programs import editor, run_in_folder, shell
from presscheck.tui.ui.ask import choose, confirm, prompt
from presscheck.tui.ui.screen import BaseScreen
from presscheck.tui.widgets.picker import Choice

MOST_SHOWN = 12
"""Maximum number of changed files in the confirmation of a push."""


async def open_folder(screen: BaseScreen, space_id: str, request: ChangeRequest | None) -> None:
    """Check out a change request, or the main content of a space, into the space's folder, and open the folder.

    Raises:
        PresscheckError: the folder cannot be used, or the service refused a request.
    """
    space = await screen.engine.read(GetSpace(space_id=space_id))
    own = _folder_of(space, read_folders(screen.app_context.settings_file))
    folder = _folder_of(space, folders_of(screen.app_context.settings_file, screen.app_context.profile.project))
    is_new = folder is None or own is None or _path(folder) != _path(own)
    about, proposal = {"space": space.id, "title": space.title}, f"~/{'-'.join(space.title.casefold().split())}"
    draft = DraftSlot(screen.engine.outbox, f"folder of space {space.id}", proposal, about)
    if folder is None:
        folder = await _ask_folder(screen, space, draft)
    elif is_new and not await _allow_folder(screen, space, folder):
        folder = None
    if folder is None:
        return
    state = CheckoutState(
        service=screen.app_context.profile.base_url,
        space=space.id,
        title=space.title,
        request=request.id if request else None,
        number=request.number if request else None,
    )
    try:
        checkout = await asyncio.to_thread(open_checkout, _path(folder), state)
        if is_new:  # saved only after the checkout, so that an unusable folder is asked for again
            save_folder(screen.app_context.settings_file, space.title, folder)
            draft.discard()
        require_idle(screen.engine.outbox, checkout.root)
        screen.notify(f"checking out {state.place} of {sanitize(space.title)} …")
        pulled = await pull(screen.engine, checkout, screen.engine.me.display_name)
        program = await _program(screen, checkout, pulled.conflicts)
        if program:
            run_in_folder(screen.app_context, program, checkout.root)
            await _offer_push(screen, checkout)
    except OSError as error:
        raise PresscheckError(f"{error.filename}: {error.strerror}") from None


def _folder_of(space: Space, folders: Mapping[str, str]) -> str | None:
    return folders.get(space.id) or folders.get(space.title)


async def _allow_folder(screen: BaseScreen, space: Space, folder: str) -> bool:
    """Ask whether to use the folder that the project's file names: a shell or an editor opens in it."""
    title = f"Check {sanitize(space.title)} out into {sanitize(folder)}?"
    note = f"{PROJECT_NAME} names this folder. If you use it, it is kept in your settings."
    return await confirm(screen, title, [(Span(note),)], "check out")


async def _ask_folder(screen: BaseScreen, space: Space, draft: DraftSlot) -> str | None:
    """Ask for the folder of a space."""
    note = "Its pages become Markdown files there, for any editor. The folder is kept in your settings."
    return await prompt(
        screen,
        f"Folder for {sanitize(space.title)}",
        draft,
        confirm_label="check out",
        validate=lambda folder: folder_error(space.title, folder),
        hint="a new or empty folder, such as ~/docs/guides",
        notes=lambda columns: wrap([Span(note, "quiet")], columns),
    )


def _path(folder: str) -> Path:
    return Path(folder).expanduser()


async def _program(screen: BaseScreen, checkout: Checkout, conflicts: list[str]) -> list[str] | None:
    """Ask for the program that opens the folder. Returns its arguments, or None if the user canceled."""
    programs = {"shell": shell(), "editor": [*editor(), "."]}
    note = f"{count(len(conflicts), 'conflict')} to resolve" if conflicts else sanitize(str(checkout.root))
    choices = [
        Choice(name, sanitize(shlex.join(command)), note if name == "shell" else "", letter=name[0])
        for name, command in programs.items()
    ]
    chosen = await choose(screen, f"Open {checkout.state.place} of {sanitize(checkout.state.title)}", choices)
    return programs[chosen] if chosen else None


async def _offer_push(screen: BaseScreen, checkout: Checkout) -> None:
    """Ask whether to push the edits in the folder, if there are any."""
    checkout = Checkout.find(checkout.root)  # a queued push may have been sent meanwhile
    changes = await asyncio.to_thread(folder_changes, checkout)
    if not changes or screen.engine.status.read_only:
        return
    if changes.conflicts:
        screen.notify(f"not pushed: {count(len(changes.conflicts), 'file')} with conflict markers")
        return
    state = checkout.state
    place = f"#{state.number}" if state.request else "a new change request"
    if await confirm(screen, f"Push {_number(changes)} to {place}?", _lines(changes), "push"):
        pushed = await push_or_queue(screen.engine, checkout, changes, None)
        if isinstance(pushed, int):
            screen.notify(f"push queued in the outbox ({key_for('go_outbox')})")
            return
        notes = f", {count(len(pushed.notes), 'edit')} cannot be sent: {pushed.notes[0]}" if pushed.notes else ""
        sent = f"pushed to #{pushed.request.number}" if pushed.request else "nothing pushed"
        screen.notify(sanitize(sent + notes))


def _number(changes: FolderChanges) -> str:
    return count(len({*changes.added, *changes.modified, *changes.deleted, *changes.renamed}), "changed file")


def _lines(changes: FolderChanges) -> list[Line]:
    named = [
        *(("added", path) for path in changes.added),
        *(("edited", path) for path in changes.modified),
        *(("deleted", path) for path in changes.deleted),
        *(("renamed", f"{old} → {new}") for old, new in changes.renamed.items()),
    ]
    lines: list[Line] = [(Span(f"{word:<9}", "quiet"), Span(sanitize(path))) for word, path in named[:MOST_SHOWN]]
    more = len(named) - MOST_SHOWN
    return [*lines, (Span(f"and {more} more", "quiet"),)] if more > 0 else lines
