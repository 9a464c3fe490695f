"""Reverts of merged change requests and returns to earlier revisions, each by a new change request.

A page that was not edited since the merge gets its old content back. Later edits are kept and merged with the old text;
where both changed the same words, the page contains both versions as a conflict, as after an update from main.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from presscheck.api.change_requests import ChangeRequest, CreateChangeRequest
from presscheck.api.comments import Document
from presscheck.api.content import GetRevision, Revision, RevisionPage
from presscheck.api.content_changes import (
    ContentChange,
    DeletePage,
    PageDetails,
    RevertPage,
    SemanticChange,
    UpdatePage,
)
from presscheck.api.spaces import GetSpace
from presscheck.documents.merge.text import merge_text
from presscheck.engine.protocols import Reader
from presscheck.engine.reads.scheduler import REQUESTED
from presscheck.engine.review.merge_forecast import changes_between
from presscheck.engine.review.page_edits import Writer, content_of, detail_to_send, places_of, send_edits
from presscheck.engine.shared_calls import page_in
from presscheck.errors import PresscheckError

LONGEST_SUBJECT = 100


@dataclass(frozen=True)
class Revert:
    """The edits that undo a merged change request, or all changes since a revision.

    Attributes:
        subject: the subject of the new change request.
        changes: the edits, in the order in which they are sent.
        conflicts: the titles of pages that will contain conflicts with later edits.
        kept: for each change that is not undone, a sentence with the reason.
    """

    subject: str
    changes: tuple[ContentChange, ...]
    conflicts: tuple[str, ...]
    kept: tuple[str, ...]


async def plan_revert(reader: Reader, request: ChangeRequest) -> Revert:
    """Plan the edits that undo a merged change request.

    Raises:
        PresscheckError: the change request is not merged, a revision cannot be read, or main has none of its changes.
    """
    if request.status != "merged" or not request.revision_merged:
        raise PresscheckError(f"#{request.number} is not merged: there is nothing to revert")
    after = await _revision(reader, request.space, request.revision_merged)
    if not after.parents:
        raise PresscheckError(f"#{request.number} cannot be reverted: the service does not tell what was there before")
    before = await _revision(reader, request.space, after.parents[0])
    space = await reader.read(GetSpace(space_id=request.space), priority=REQUESTED)
    live = await _revision(reader, request.space, space.revision)
    changes = await changes_between(reader, request.space, before.id, after.id)
    plan = _Plan(reader, request.space, f"#{request.number}", before, after, live)
    await plan.add(changes.changes)
    if not plan.changes:
        reasons = f" ({'; '.join(plan.kept)})" if plan.kept else ""
        raise PresscheckError(f"Nothing of #{request.number} is left on main to undo{reasons}")
    return plan.revert(f'Revert "{request.subject or f"#{request.number}"}"')


async def plan_return(reader: Reader, space_id: str, revision_id: str, when: str, page: str = "") -> Revert:
    """Plan the edits that return the pages on main to an earlier revision.

    Args:
        reader: reads the revisions.
        space_id: the id of the space.
        revision_id: the id of the revision.
        when: the age of the revision in words, such as "3 w ago".
        page: the id of the only page to return; if empty, all pages.

    Raises:
        PresscheckError: a revision cannot be read, the revision does not have the page, or main equals the revision.
    """
    space = await reader.read(GetSpace(space_id=space_id), priority=REQUESTED)
    then, live = [await _revision(reader, space_id, revision) for revision in (revision_id, space.revision)]
    plan = _Plan(reader, space_id, "the revision", then, live, live)
    if page and page not in plan.before:
        raise PresscheckError("This revision does not have the page: an older or a newer one has it")
    if page:
        is_same = page in plan.live and content_of(plan.live[page].page) == content_of(plan.before[page].page)
        plan.changes += [] if is_same else [RevertPage(page=page, revision=then.id)]
    else:
        await plan.add((await changes_between(reader, space_id, then.id, live.id)).changes)
    if not plan.changes:
        what = f"“{plan.before[page].page.title}” is" if page else "All pages are"
        raise PresscheckError(f"{what} on main as in this revision: there is nothing to bring back")
    title = plan.before[page].page.title if page else space.title
    return plan.revert(f'Bring back "{title}" of {when}')


async def create_revert(engine: Writer, space: str, revert: Revert) -> ChangeRequest:
    """Create the change request that a plan describes.

    Raises:
        PresscheckError: the service refused a request. If the change request was created before, it stays, and the
            message names it.
    """
    created = await engine.write(CreateChangeRequest(space_id=space, subject=revert.subject)).landed()
    if created is None:
        raise PresscheckError("The service does not tell which change request it created")
    try:
        await send_edits(engine, created, revert.changes)
    except PresscheckError as error:
        raise PresscheckError(f"#{created.number} was created, but is not complete: {error}") from error
    return created


async def _revision(reader: Reader, space: str, revision: str) -> Revision:
    return await reader.read(GetRevision(space_id=space, revision_id=revision), priority=REQUESTED)


@dataclass
class _Plan:
    """The edits that undo changes."""

    reader: Reader
    space: str
    name: str
    """The name of the undone changes in conflict markers, after the word *before*."""
    before_revision: Revision
    after_revision: Revision
    live_revision: Revision
    changes: list[ContentChange] = field(default_factory=list[ContentChange])
    conflicts: list[str] = field(default_factory=list[str])
    kept: list[str] = field(default_factory=list[str])

    def __post_init__(self) -> None:
        self.before = dict(places_of(self.before_revision.pages))
        self.after = dict(places_of(self.after_revision.pages))
        self.live = dict(places_of(self.live_revision.pages))

    def revert(self, subject: str) -> Revert:
        """Return the collected edits, with a subject shortened to `LONGEST_SUBJECT` characters."""
        subject = subject if len(subject) <= LONGEST_SUBJECT else f'{subject[: LONGEST_SUBJECT - 2]}…"'
        return Revert(subject, tuple(self.changes), tuple(self.conflicts), tuple(self.kept))

    async def add(self, changes: Sequence[SemanticChange]) -> None:
        """Plan the reverse of all changes: restore pages first and delete pages last."""
        by_page = {change.page.id: change for change in changes if change.page}
        deleted = [page for page in self.before if page in by_page and page not in self.after]
        created = [page for page in self.after if page in by_page and page not in self.before]
        both = [page for page in self.before if page in self.after]
        self._restore(deleted)
        for page in both:
            await self._undo_edit(page)
        self._move_back(both)
        await self._delete(created)
        others = sorted({change.type.partition("_")[0] for change in changes if not change.page})
        names = {"file": "files", "reusable": "reusable content", "variables": "variables", "tag": "tags"}
        if others:
            self.kept.append(f"changes of {', '.join(names.get(other, other) for other in others)} stay")

    def _restore(self, deleted: Sequence[str]) -> None:
        for page in deleted:
            is_with_parent = self.before[page].parent in deleted
            if not is_with_parent and page not in self.live:
                self.changes.append(RevertPage(page=page, revision=self.before_revision.id))

    async def _undo_edit(self, page: str) -> None:
        before, after, live = self.before[page].page, self.after[page].page, self.live.get(page)
        if content_of(before) == content_of(after):
            return
        if live is None:
            self.kept.append(f"{before.title} was deleted since")
        elif content_of(live.page) == content_of(after):
            self.changes.append(RevertPage(page=page, revision=self.before_revision.id))
        elif content_of(live.page) != content_of(before):
            await self._merge_edit(before, after, live.page)

    async def _merge_edit(self, before: RevisionPage, after: RevisionPage, live: RevisionPage) -> None:
        """Undo an edit of a page with later edits: reset unchanged details and merge the text."""
        given: dict[str, Any] = {
            name: detail_to_send(before, name)
            for name in PageDetails.model_fields
            if getattr(before, name) != getattr(after, name) == getattr(live, name)
        }
        if before.document_id != after.document_id:
            base, ours, theirs = [await self._text(*side) for side in self._sides(before.id)]
            merged = merge_text(base, ours, theirs, our_name="main", their_name=f"before {self.name}")
            if merged.conflicts:
                self.conflicts.append(live.title)
            if merged.text != ours:
                given["document"] = Document(markdown=merged.text)
        if given:
            self.changes.append(UpdatePage(page=before.id, **given))

    def _sides(self, page: str) -> list[tuple[str, str]]:
        return [(revision.id, page) for revision in (self.after_revision, self.live_revision, self.before_revision)]

    async def _text(self, revision: str, page: str) -> str:
        answer = await self.reader.read(page_in(self.space, revision, page), priority=REQUESTED)
        return answer.markdown or ""

    def _move_back(self, both: Sequence[str]) -> None:
        for page in both:
            before, after, live = self.before[page], self.after[page], self.live.get(page)
            if live is None or before.parent == after.parent:
                continue
            if live.parent != after.parent:
                self.kept.append(f"{live.page.title} was moved since")
            elif before.parent is None or before.parent in self.live or before.parent in self.before:
                self.changes.append(UpdatePage(page=page, into=before.parent, at=before.index))

    async def _delete(self, created: Sequence[str]) -> None:
        """Plan the deletion of pages that the undone changes added.

        A page stays if it was edited since, or if a page below it was edited or moved there. `kept` then has a sentence
        about the page.
        """
        gone: set[str] = set()
        for page in created:
            live = self.live.get(page)
            if live is None or live.parent in gone:
                gone |= {page} if live else set()
                continue
            inside = dict(places_of(live.page.pages, page))
            changed = [
                at.page.title
                for key, at in {page: live, **inside}.items()
                if key not in created or content_of(at.page) != content_of(self.after[key].page)
            ]
            if changed:
                self.kept.append(f"{live.page.title} stays: {changed[0]} was changed since")
            else:
                gone.add(page)
                self.changes.append(DeletePage(page=page))
