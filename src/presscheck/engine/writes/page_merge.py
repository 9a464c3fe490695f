"""Merging of a queued edit of a page with edits that others made before it was sent.

The outbox has the page before the edit as the base of the write. The merge is three-way, on the Markdown of the
service. If the response to an edit was lost, the same merge shows whether it arrived: then nothing is left to send.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from contextlib import suppress
from typing import Any, NamedTuple

from presscheck.api import change_requests, content, content_changes
from presscheck.api.change_requests import Contributor
from presscheck.api.comments import Document
from presscheck.api.content import RevisionPage
from presscheck.api.users import User
from presscheck.documents.merge.text import merge_text
from presscheck.engine.review.revision_history import LIMIT, author_of
from presscheck.engine.shared_calls import at, changed_page, page_in
from presscheck.errors import ChangedSince, PresscheckError
from presscheck.store.outbox import Row
from presscheck.text.sanitize import sanitize

Call = Any
Read = Callable[[Any], Awaitable[Any]]
SOMEBODY = "somebody else"
"""The name of an editor that the service does not report."""
EDIT_PENDING, EDIT_FAILED = "◷ your edit is pending", "✗ your edit failed: the outbox shows why"
"""Notes on a page with an edit that is not sent yet, or that failed."""
CONFLICT = "Conflict: "
"""The start of the error of an edit that cannot be merged."""
MOST_REVISIONS = 20
"""Maximum number of revisions in which an edit of unknown delivery is searched."""


class MergedEdit(NamedTuple):
    """A page edit merged with the present page, and the present page as its new base."""

    call: Call
    base: dict[str, Any]


def page_edit(call: Call) -> content_changes.UpdatePage | None:
    """Return the change of a write that only edits the text, and perhaps the title, of one page.

    Returns None for all other writes.
    """
    if not isinstance(call, content_changes.EditChangeRequestContent) or len(call.changes) != 1:
        return None
    change = call.changes[0]
    if not isinstance(change, content_changes.UpdatePage) or change.document is None:
        return None
    return change if change.model_fields_set <= {"operation", "page", "document", "title"} else None


def page_base(title: str, markdown: str) -> dict[str, Any]:
    """Return the base of an edit, which the outbox stores: the title and the text of the page before the edit."""
    return {"title": title, "markdown": _with_line_end(markdown)}


def pending_note(page: RevisionPage) -> str:
    """Return a note on an edit of the page that is pending or failed; empty if the page has no such edit."""
    extra = page.model_extra or {}
    if "waiting" not in extra:
        return ""
    return EDIT_FAILED if extra.get("refused") else EDIT_PENDING


async def merged_edit(read: Read, row: Row, call: Call) -> MergedEdit | None:
    """Merge a queued edit with the present page. Returns None if nothing is left to send.

    Raises:
        ChangedSince: others edited the same lines, or also changed the title.
        PresscheckError: the page cannot be read.
    """
    change, base = page_edit(call), row.base
    if change is None or change.document is None or base is None:
        raise ValueError("not a queued edit of a page")
    path = (call.space_id, call.change_request_id)
    page = await read(changed_page(*path, change.page))
    now = page_base(page.title, page.markdown or "")
    if row.state == "sending" and await _has_arrived(read, row, call, now):
        return None
    if now == base:
        return MergedEdit(call, base)
    text = _with_line_end(change.document.markdown or "")
    merged = await asyncio.to_thread(merge_text, base["markdown"], text, now["markdown"])
    title = None if change.title in (None, now["title"]) else change.title
    if merged.conflicts or (title and now["title"] != base["title"]):
        editor = (await last_edit(read, call, change.page)).editor
        name = sanitize(editor.display_name) if editor else SOMEBODY
        raise ChangedSince(f"{CONFLICT}{name} edited the same lines")
    if merged.text == now["markdown"] and title is None:
        return None
    renamed: dict[str, Any] = {"title": title} if title else {}
    update = content_changes.UpdatePage(page=change.page, document=Document(markdown=merged.text), **renamed)
    return MergedEdit(at(content_changes.EditChangeRequestContent, call, changes=(update,)), now)


async def _has_arrived(read: Read, row: Row, call: Call, now: dict[str, Any]) -> bool:
    """Return whether the page has the text of an edit now, or had it in a revision after the edit was sent."""
    [change] = call.changes
    wanted = letters_of(change.document.markdown or "")
    if wanted == letters_of((row.base or {})["markdown"]):
        return False  # the same edit can be sent again: it replaces the text by the same text
    if wanted == letters_of(now["markdown"]):
        return True
    former = (row.former or {}).get("revision")
    revision = (await read(at(change_requests.GetChangeRequest, call))).revision
    for _ in range(MOST_REVISIONS):
        if former is None or revision == former:
            return False
        page = await read(page_in(call.space_id, revision, change.page))
        if wanted == letters_of(page.markdown or ""):
            return True
        parents = (await read(content.GetRevision(space_id=call.space_id, revision_id=revision))).parents
        if not parents:
            return False
        revision = parents[0]
    return False


async def editors_of(read: Read, within: Call) -> list[Contributor]:
    """Return the editors of the change request of a call, the last editor first; an empty list if unknown."""
    call = at(change_requests.ListContributors, within)
    try:
        contributors = (await read(call)).items
    except PresscheckError:
        return []
    editors = (person for person in contributors if person.action_type == "edit" and person.updated_at)
    return sorted(editors, key=lambda editor: editor.updated_at or "", reverse=True)


class LastEdit(NamedTuple):
    """The last edit of a page: its author and its time; each is None if unknown."""

    editor: User | None = None
    at: str | None = None


async def last_edit(read: Read, within: Call, page: str) -> LastEdit:
    """Return the last edit of the text or title of a page in the change request of a call.

    The last editor of the change request may have edited another page, so this looks for the newest revision that
    changed the page. If it is not among the last `MOST_REVISIONS`, the edit is unknown.
    """
    editors = await editors_of(read, within)
    with suppress(PresscheckError):  # the edit is unknown then
        request = await read(at(change_requests.GetChangeRequest, within))
        revision_id, space = request.revision, within.space_id
        for _ in range(MOST_REVISIONS):
            if revision_id == request.revision_initial:
                break
            revision, changes = await asyncio.gather(
                read(content.GetRevision(space_id=space, revision_id=revision_id, computed=False)),
                read(content_changes.GetRevisionChanges(space_id=space, revision_id=revision_id, limit=LIMIT)),
            )
            if any(_edits(change, page) for change in changes.changes):
                return LastEdit(author_of(revision, editors), revision.created_at)
            if changes.more or not revision.parents:
                break
            revision_id = revision.parents[0]
    return LastEdit()


def _edits(change: content_changes.SemanticChange, page: str) -> bool:
    """Return whether a change of a revision created a page, or changed its text or title."""
    if change.page is None or change.page.id != page:
        return False
    names = {"document"} if change.attributes is None else {*change.attributes}
    return change.type == "page_created" or (change.type == "page_edited" and bool({"title", "document"} & names))


def _with_line_end(text: str) -> str:
    """Return a text that ends with one line break, because a missing line break would conflict with other edits."""
    return text.strip("\n") + "\n"


def letters_of(text: str) -> str:
    """Return the letters and digits of a text for comparison, because the service may reformat the Markdown."""
    return "".join(filter(str.isalnum, text))
