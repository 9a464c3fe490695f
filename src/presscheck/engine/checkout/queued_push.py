"""A push without a connection: one row of the outbox, which is sent when the service can be reached again.

The row names the folder and identifies its content; the plan of the push is made when the row is sent. A push that was
interrupted in the middle is continued like any other push, because it compares the folder with the change request.
"""

from __future__ import annotations

import asyncio
import hashlib
import time
from pathlib import Path

from presscheck.api.users import GetCurrentUser
from presscheck.engine.checkout.folder import FolderChanges, folder_changes
from presscheck.engine.checkout.push import Pushed, Pusher, push, require_sendable
from presscheck.engine.checkout.state import Checkout
from presscheck.engine.writes.folder_push import PushFolder
from presscheck.errors import ChangedSince, ChecksFailed, ConfigurationError, NetworkError, NotNow, ReadOnly
from presscheck.store.outbox import FAILED, Outbox, Row

SUBJECT = 100
"""Maximum number of characters of a subject."""
SENDING_SECONDS = 60.0
"""Maximum seconds that a push waits for a queued push of the same folder that is being sent."""
POLL_SECONDS = 0.1


def waiting_push(outbox: Outbox, root: Path) -> Row | None:
    """Return the unsent push of a folder, or None."""
    return next((row for row in outbox.rows() if _is_push_of(row, root)), None)


def require_idle(outbox: Outbox, root: Path) -> None:
    """Check that no push of a folder is being sent, which would change the state of the checkout meanwhile.

    Raises:
        NotNow: a push of the folder is being sent.
    """
    row = waiting_push(outbox, root)
    if row and row.state not in ("waiting", *FAILED):
        raise NotNow(f"A push of {root} is being sent (number {row.id} in the outbox): try again when it is sent")


def _is_push_of(row: Row, root: Path) -> bool:
    return row.name == PushFolder.stored_name() and row.given.get("directory") == str(root)


async def push_or_queue(
    engine: Pusher, checkout: Checkout, changes: FolderChanges, subject: str | None, *, is_new: bool = False
) -> Pushed | int:
    """Push a folder, or queue the push if the service cannot be reached. A later push replaces a queued one.

    Args:
        engine: reads revisions, and sends or queues the push.
        checkout: the folder.
        changes: what changed in the folder.
        subject: the subject of a new change request; None for the subject of the queued push or else the default.
        is_new: whether to create a change request even if the folder follows one; a queued push keeps it.

    Returns:
        The result, or the number of the push in the outbox.

    Raises:
        PresscheckError: the push failed for another reason than the connection; see `push`.
    """
    waiting = await _settled_push(engine.outbox, checkout.root)
    state = checkout.state
    words = subject or (waiting and str(waiting.given["subject"])) or f"Edit {state.title}"
    words = words.strip()[:SUBJECT]
    if waiting is None:
        try:
            return await push(engine, checkout, changes, words, is_new=is_new)
        except ReadOnly:
            raise
        except (NetworkError, NotNow):
            # the requests of the push that were sent are in the stored state of the checkout, so the rest can wait
            state = checkout.state = Checkout.find(checkout.root).state
            changes = await asyncio.to_thread(folder_changes, checkout)
    if not require_sendable(changes):
        return Pushed()
    call = PushFolder(
        space_id=state.space,
        directory=str(checkout.root),
        subject=words,
        content=content_id(changes),
        files=len({*changes.added, *changes.modified, *changes.deleted, *changes.renamed}),
        change_request_id=state.request,
        is_new=is_new or (waiting is not None and bool(waiting.given.get("is_new"))),
    )
    if waiting:
        engine.rewrite(waiting.id, call)
        return waiting.id
    return engine.write(call).id


async def _settled_push(outbox: Outbox, root: Path) -> Row | None:
    """Return the unsent push of a folder, or None. A push that is being sent is awaited for `SENDING_SECONDS`."""
    ends = time.monotonic() + SENDING_SECONDS
    while (row := waiting_push(outbox, root)) and row.state == "sending" and time.monotonic() < ends:  # noqa: ASYNC110
        await asyncio.sleep(POLL_SECONDS)
    return row


def content_id(changes: FolderChanges) -> str:
    """Return a value that identifies the content of a folder."""
    paths = sorted(changes.oids.items())
    return hashlib.sha256("\n".join(f"{oid} {path}" for path, oid in paths).encode()).hexdigest()


async def send_push(engine: Pusher, call: PushFolder) -> None:
    """Send a push that waited in the outbox.

    Raises:
        ChangedSince: the folder or the change request was changed since, or the push cannot be sent for another reason
            that only the user can change.
        PresscheckError: a request failed. The push can be sent again.
    """
    try:
        await engine.fetch(GetCurrentUser())  # without a connection the push waits, whatever the folder has
        checkout = Checkout.find(Path(call.directory))
        changes = await asyncio.to_thread(folder_changes, checkout)
        if changes and content_id(changes) != call.content:
            raise ChangedSince(
                f"{call.directory} was edited since: push it again to send it as it is now, or discard this push"
            )
        # once the push has created its change request, the folder follows it
        is_new = call.is_new and checkout.state.request == call.change_request_id
        await push(engine, checkout, changes, call.subject, is_new=is_new)
    except (ConfigurationError, ChecksFailed) as error:
        raise ChangedSince(error.message) from None
    except OSError as error:
        raise ChangedSince(f"{error.filename}: {error.strerror}") from None
