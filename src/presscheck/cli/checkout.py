"""`presscheck checkout`, `status`, `diff`, `pull` and `push`: a space as a folder."""

from __future__ import annotations

import asyncio
import contextlib
import shutil
import sys
import time
from pathlib import Path
from typing import Any

import click

from presscheck.api.change_requests import ChangeRequest, GetChangeRequest
from presscheck.cli import lookup
from presscheck.cli.exit_codes import report_errors
from presscheck.cli.json_filter import json_option
from presscheck.cli.output import print_json, print_line, print_message
from presscheck.cli.progress_line import ProgressLine
from presscheck.cli.session import Session, load_profile, profile_option, with_session
from presscheck.cli.watch import TEMPORARY_ERRORS
from presscheck.documents.diff.page_diff import compare, difference_lines
from presscheck.engine.checkout.content import SpaceFiles, revision_by_id
from presscheck.engine.checkout.folder import FolderChanges, folder_changes
from presscheck.engine.checkout.pull import Pulled, prepare_folder
from presscheck.engine.checkout.pull import pull as pull_folder
from presscheck.engine.checkout.push import Pushed
from presscheck.engine.checkout.push import push as push_folder
from presscheck.engine.checkout.queued_push import SUBJECT, push_or_queue, require_idle, waiting_push
from presscheck.engine.checkout.state import Checkout, CheckoutState
from presscheck.errors import ChangedSince, ChecksFailed, ConfigurationError, InvalidArgument, PresscheckError, ReadOnly
from presscheck.store.outbox import FAILED, Outbox, Row
from presscheck.text.phrases import count
from presscheck.text.sanitize import sanitize
from presscheck.text.styled_text import Span
from presscheck.wiring import outbox_file

WATCH_SECONDS = 1.0
"""Seconds between two checks of the folder with --watch."""
WIDE = 100
in_folder = click.argument(
    "directory", type=click.Path(path_type=Path, file_okay=False, exists=True), default=Path(), required=False
)


@click.command()
@click.argument("space")
@click.argument("directory", type=click.Path(path_type=Path, file_okay=False), required=False)
@click.option("--cr", metavar="NUMBER", help="Check out this change request of the space instead of its live content.")
@with_session
async def checkout(session: Session, space: str, directory: Path | None, cr: str | None) -> None:
    """Write a space into a folder, in GitBook's Git format.

    DIRECTORY must be empty or new; by default it has the name of the space. Edit the files with any editor, then run
    presscheck push.
    """
    owner = await lookup.space(session, space)
    state = CheckoutState(service=session.profile.base_url, space=owner.id, title=owner.title)
    if cr is not None:
        number = cr.lstrip("#")
        if not number.isdigit():
            raise InvalidArgument("--cr", "must be the number of a change request")
        request = await session.read(GetChangeRequest(space_id=owner.id, change_request_id=number))
        _require_open(request)
        state.request, state.number = request.id, request.number
    root = directory or Path(_folder_name(owner.title) or owner.id)
    prepare_folder(root)
    folder = Checkout(root.resolve(), state)
    folder.save()
    result = await _pulled(session, folder)
    if session.json:
        print_json({"directory": str(folder.root), "files": len(result.written), "place": result.place})
        return
    print_message(f"Checked out {result.place} of {sanitize(owner.title)}: {count(len(result.written), 'file')}.")
    click.echo(str(root))


@click.command()
@in_folder
@json_option
@profile_option
@click.pass_context
@report_errors
def status(context: click.Context, directory: Path, *, as_json: bool) -> None:
    """List what changed in a checkout.

    DIRECTORY is the folder of the checkout, or a folder inside; by default the working directory. The service is not
    asked.
    """
    folder = Checkout.find(directory)
    changes = folder_changes(folder)
    queued = _queued_push(context, folder)
    if as_json:
        print_json({**_changes_as_json(folder, changes), "queued": queued and {"id": queued.id, "error": queued.error}})
        return
    print_message(f"{sanitize(folder.state.title)}, {folder.state.place}")
    if queued:
        problem = f"failed: {sanitize(queued.error or '')}" if queued.state in FAILED else "pending"
        print_message(f"A push is queued in the outbox as number {queued.id}: {problem}.")
    for word, style, paths in (
        ("conflict", "removed", changes.conflicts),
        ("added", "added", changes.added),
        ("edited", "strong", [path for path in changes.modified if path not in changes.conflicts]),
        ("deleted", "removed", changes.deleted),
        ("renamed", "strong", [f"{old} -> {new}" for old, new in changes.renamed.items()]),
        ("unreadable", "removed", [f"{path} {reason}" for path, reason in changes.unreadable.items()]),
    ):
        for path in paths:
            print_line((Span(f"{word:<10} ", style), Span(sanitize(path))))
    if not changes and not changes.unreadable:
        print_message("No changes.")


@click.command()
@in_folder
@with_session
async def diff(session: Session, directory: Path) -> None:
    """Show the edits in a checkout.

    Compares the pages in the folder with the revision that was checked out.
    """
    folder = _find_checkout(session, directory)
    changes = folder_changes(folder)
    state = folder.state
    files = SpaceFiles.of(state.space, await revision_by_id(session.engine, state), state.names())
    before_paths = {new: old for old, new in changes.renamed.items()}
    shown: list[dict[str, str]] = []
    for path in sorted({*changes.modified, *changes.added, *changes.deleted}):
        if not path.endswith(".md"):
            shown.append({"path": path, "before": "", "after": ""})
            continue
        item = state.items.get(before_paths.get(path, path))
        before = ""
        if item and files.fingerprint((item.kind, item.id)) is not None:
            before = (await files.content(session.engine, (item.kind, item.id))).decode("utf-8", "replace")
        elif path in state.others:
            before = files.general_files()[path].decode()
        file = folder.root / path
        after = file.read_text("utf-8", "replace") if file.is_file() else ""
        shown.append({"path": path, "before": before, "after": after})
    if session.json:
        print_json(shown)
        return
    columns = shutil.get_terminal_size((WIDE, 24)).columns if sys.stdout.isatty() else WIDE
    for file in shown:
        compared = compare(file["before"], file["after"])
        print_line((Span(sanitize(f"{file['path']}  +{compared.added} −{compared.removed} words"), "strong"),))
        for line in difference_lines(compared, columns, mode="source").lines:
            print_line(line)
        print_line(())


@click.command()
@in_folder
@with_session
async def pull(session: Session, directory: Path) -> None:
    """Bring changes of others into a checkout.

    Edits of both sides are merged. Lines that both sides changed stay in the file, with conflict markers and the names
    of their authors.
    """
    folder = _find_checkout(session, directory)
    queued = waiting_push(session.engine.outbox, folder.root)
    if queued and queued.state not in FAILED:
        with contextlib.suppress(PresscheckError):  # such as a push that needs this pull
            await session.sent(queued.id)
        folder = _find_checkout(session, directory)
    require_idle(session.engine.outbox, folder.root)
    result = await _pull(session, folder)
    if session.json:
        print_json(result.__dict__)
    if result.conflicts:
        raise ChecksFailed(f"Conflicts in {', '.join(result.conflicts[:5])}: edit the files, then push")


@click.command()
@in_folder
@click.option("-m", "--message", "subject", metavar="SUBJECT", help="Subject of a new change request.")
@click.option("--new", "is_new", is_flag=True, help="Create a change request, even if the folder follows one.")
@click.option("--watch", is_flag=True, help="Keep pushing edits and pulling those of others, until ctrl+C.")
@with_session
async def push(session: Session, directory: Path, subject: str | None, *, is_new: bool, watch: bool) -> None:
    """Send the edits in a checkout as a change request.

    A folder that follows main gets a new change request, and follows it from then on.
    """
    if subject is not None and not 0 < len(subject.strip()) <= SUBJECT:
        raise InvalidArgument("-m", f"must have 1 to {SUBJECT} characters")
    folder = _find_checkout(session, directory)
    if session.profile.read_only:
        raise ReadOnly
    if watch:
        await _watch(session, folder, subject, is_new=is_new)
        return
    changes = await asyncio.to_thread(folder_changes, folder)
    pushed = await _push(session, folder, changes, subject, is_new=is_new)
    if pushed:
        _print_pushed(session, folder, pushed)


async def _push(
    session: Session, folder: Checkout, changes: FolderChanges, subject: str | None, *, is_new: bool = False
) -> Pushed | None:
    """Push a folder. Return None if the push waits in the outbox."""
    result = await push_or_queue(session.engine, folder, changes, subject, is_new=is_new)
    if isinstance(result, Pushed):
        return result
    if not await session.sent(result):
        return None
    # the sender of the outbox changed the state of the checkout; what could not be sent is still in the folder
    folder.state = Checkout.find(folder.root).state
    left = await asyncio.to_thread(folder_changes, folder)
    pushed = await push_folder(session.engine, folder, left, subject or "")
    if pushed.request is None and folder.state.request:
        call = GetChangeRequest(space_id=folder.state.space, change_request_id=folder.state.request)
        pushed.request = await session.read(call)
    return pushed


async def _pull(session: Session, folder: Checkout) -> Pulled:
    result = await _pulled(session, folder)
    for word, paths in (
        ("conflict", result.conflicts),
        ("merged", result.merged),
        ("updated", result.written),
        ("deleted", result.deleted),
        ("kept", result.kept),
    ):
        for path in paths if not session.json else ():
            print_line((Span(f"{word:<10} ", "strong"), Span(sanitize(path))))
    if not session.json and not (result.conflicts or result.merged or result.written or result.deleted):
        print_message(f"Up to date with {result.place}.")
    return result


async def _pulled(session: Session, folder: Checkout) -> Pulled:
    """Pull a folder, and show the last written file as progress."""
    progress = ProgressLine()
    try:
        return await pull_folder(session.engine, folder, session.engine.me.display_name, progress.update)
    finally:
        progress.clear()


async def _watch(session: Session, folder: Checkout, subject: str | None, *, is_new: bool) -> None:
    """Push edits of the folder and pull edits of other users, until the user interrupts.

    With `is_new`, the first push creates a change request, to which the others add.

    Raises:
        PresscheckError: an error that is not temporary, such as an invalid token.
    """
    print_message(f"Watching {sanitize(str(folder.root))}; ctrl+C ends.")
    last_pull, before, pushed_files = 0.0, None, None
    notes, problem = set[str](), ""
    while True:
        folder.state = Checkout.find(folder.root).state  # a queued push may have changed it
        changes = await asyncio.to_thread(folder_changes, folder)
        now, is_queued = (changes.oids, changes.deleted), waiting_push(session.engine.outbox, folder.root) is not None
        is_done = False
        try:
            if changes and now != pushed_files:  # after a push, only edits that cannot be sent are left
                if now == before and not changes.conflicts:  # nothing was saved in the last second
                    try:
                        pushed = await _push(session, folder, changes, subject, is_new=is_new)
                    except ChangedSince:
                        last_pull = await _pull_watched(session, folder)
                    else:
                        if pushed is None or pushed.request:
                            is_new = False  # created, or a queued push will create it
                        pushed_files = now if pushed else None
                        _print_watched(session, folder, pushed, notes)
                    is_done = True
            elif time.monotonic() - last_pull > 10 * WATCH_SECONDS and not is_queued:
                last_pull = await _pull_watched(session, folder)
                is_done = True
        except TEMPORARY_ERRORS as error:
            if error.message != problem:
                print_message(f"{error.message}: retrying every {10 * WATCH_SECONDS:g} s.")
            problem = error.message
            await asyncio.sleep(9 * WATCH_SECONDS)
        if is_done and problem:
            print_message("Back online.")
            problem = ""
        before = now
        await asyncio.sleep(WATCH_SECONDS)


async def _pull_watched(session: Session, folder: Checkout) -> float:
    """Pull, and print the paths. Return the time."""
    folder.state = Checkout.find(folder.root).state
    result = await pull_folder(session.engine, folder, session.engine.me.display_name)
    for path in (*result.written, *result.merged, *result.conflicts, *result.deleted):
        print_message(f"Pulled {sanitize(path)}")
    return time.monotonic()


def _print_watched(session: Session, folder: Checkout, pushed: Pushed | None, notes: set[str]) -> None:
    """Print the result of a push, without the notes that were printed before, which are in `notes`."""
    if pushed:
        pushed.notes = [note for note in pushed.notes if note not in notes]
        notes.update(pushed.notes)
        if pushed.request or pushed.notes:
            _print_pushed(session, folder, pushed)


def _print_pushed(session: Session, folder: Checkout, pushed: Pushed) -> None:
    request = pushed.request
    if session.json:
        print_json({"changeRequest": request, "pages": pushed.pages, "files": pushed.files, "notSent": pushed.notes})
        return
    for note in pushed.notes:
        print_message(f"Not sent: {sanitize(note)}.")
    if request is None:
        print_message("Nothing to push.")
        return
    parts = [count(number, noun) for number, noun in ((pushed.pages, "page change"), (pushed.files, "file")) if number]
    what = f" {' and '.join(parts)}" if parts else ""  # both numbers are 0 if the outbox sent the push
    print_message(f"Pushed{what} to #{request.number}.")
    click.echo(f"{folder.state.space}#{request.number}")


def _queued_push(context: click.Context, folder: Checkout) -> Row | None:
    """Return the unsent push of a folder in the outbox of the profile, or None."""
    file = outbox_file(load_profile(context, with_token=False))
    if not file.is_file():
        return None
    outbox = Outbox(file)
    try:
        return waiting_push(outbox, folder.root)
    finally:
        outbox.close()


def _find_checkout(session: Session, directory: Path) -> Checkout:
    """Return the checkout that contains a directory.

    Raises:
        ConfigurationError: no checkout contains the directory, or the checkout is from another service.
    """
    folder = Checkout.find(directory)
    if folder.state.service != session.profile.base_url:
        raise ConfigurationError(
            f"{folder.root} is from {folder.state.service}, and the profile in use is for {session.profile.base_url}: "
            "choose another with --profile"
        )
    return folder


def _require_open(request: ChangeRequest) -> None:
    if request.status not in ("draft", "open"):
        raise ChecksFailed(f"#{request.number} is {request.status}: check out its space instead")


def _folder_name(title: str) -> str:
    words = "".join(sign if sign.isalnum() or sign in "-_." else "-" for sign in title.strip().casefold())
    return "-".join(filter(None, words.split("-"))).strip(".")[:100]


def _changes_as_json(folder: Checkout, changes: FolderChanges) -> dict[str, Any]:
    return {
        "space": folder.state.space,
        "place": folder.state.place,
        "revision": folder.state.revision,
        "added": changes.added,
        "edited": changes.modified,
        "deleted": changes.deleted,
        "renamed": changes.renamed,
        "conflicts": changes.conflicts,
        "unreadable": changes.unreadable,
    }
