"""Sending the edits of a folder as one change request.

A push sends new files first, then the page tree, then texts and details, because links need the final paths. What was
sent before a failure is not sent again: the next push compares the folder with the change request as it is then.
"""

from __future__ import annotations

import asyncio
import base64
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Protocol, TypeVar
from urllib.parse import quote

from presscheck.api.change_requests import ChangeRequest, CreateChangeRequest, GetChangeRequest, ListChangeRequests
from presscheck.api.content import GetCurrentRevision, GetRevision, Revision, RevisionFile
from presscheck.api.content_changes import (
    ContentChange,
    ContentUpdate,
    DeletePage,
    EditChangeRequestContent,
    InsertFiles,
    NewFile,
    RevertPage,
    UpdatePage,
)
from presscheck.api.operation import ALL, Operation
from presscheck.documents.git_format.config import CONFIG_FILE
from presscheck.documents.git_format.exported import Key
from presscheck.documents.git_format.files import INCLUDES, git_oid, media_type
from presscheck.documents.git_format.models import SourcePage
from presscheck.documents.pages.tree import flatten
from presscheck.engine.checkout.content import SUMMARY, Downloader, SpaceFiles, fetched, newest_revision, same_entries
from presscheck.engine.checkout.folder import FolderChanges, folder_changes
from presscheck.engine.checkout.plan import link_title_notes, page_update, plan_tree
from presscheck.engine.checkout.state import Checkout, CheckoutState, Item, locate, write_file
from presscheck.engine.members import user_id
from presscheck.engine.reads.scheduler import REQUESTED
from presscheck.engine.replacement.file_search import free_name
from presscheck.engine.review.page_edits import MOST_CHANGES, content_of
from presscheck.engine.writes.pending_writes import PendingWrite
from presscheck.errors import ChangedSince, ChecksFailed, PresscheckError
from presscheck.store.outbox import Outbox

T = TypeVar("T")
LARGEST_UPLOAD = 1_000_000
"""Maximum size of a file in an upload, in bytes."""
MOST_FILES = 20
"""Maximum number of files in one request."""
LARGEST_WRITE = 8 << 20
"""Maximum number of characters of all texts in one request."""


class Pusher(Downloader, Protocol):
    """The parts of the engine that a push needs, now or from the outbox."""

    outbox: Outbox

    def rewrite(self, number: int, call: Operation[Any]) -> bool:
        """Replace a pending or failed write. Returns False if it is being sent or is gone."""
        ...

    def write(self, call: Operation[T], *, is_part: bool = False) -> PendingWrite[T]:
        """Send a write; see `Engine.write`."""
        ...


@dataclass
class Pushed:
    """The result of a push.

    Attributes:
        request: the change request; None if nothing was sent.
        pages: the number of pages that were added, edited, moved or deleted.
        files: the number of files that were added.
        notes: what was not sent, one sentence each; it stays in the folder.
    """

    request: ChangeRequest | None = None
    pages: int = 0
    files: int = 0
    notes: list[str] = field(default_factory=list[str])


async def push(
    engine: Pusher, checkout: Checkout, changes: FolderChanges, subject: str, *, is_new: bool = False
) -> Pushed:
    """Send the changes of a folder to the change request that it follows, or to a new change request.

    Args:
        engine: reads revisions and sends edits.
        checkout: the folder, which follows the change request afterwards.
        changes: what changed in the folder.
        subject: the subject of a new change request.
        is_new: whether to create a change request even if the folder follows one. It gets all differences of the
            folder from main, which include the edits of the change request that the folder followed.

    Raises:
        ChecksFailed: see `require_sendable`.
        ChangedSince: the folder does not have the newest revision, or somebody else just edited the same page.
        PresscheckError: the service refused a request. Edits that were sent stay, and the next push continues.
    """
    if not require_sendable(changes):
        return Pushed(notes=_unreadable_notes(changes))
    checkout.remove_remains()
    state = checkout.state
    revision = await newest_revision(engine, state)
    if revision.id != state.revision:
        raise _outdated(state)
    if is_new and state.request:
        revision = await _follow_main(engine, checkout, revision, changes)
        changes = await asyncio.to_thread(folder_changes, checkout)
        require_sendable(changes)
    work = _Push(engine, checkout, changes, revision, subject, is_new or state.request is None)
    return await work.run()


async def _follow_main(engine: Downloader, checkout: Checkout, revision: Revision, changes: FolderChanges) -> Revision:
    """Let a folder follow main instead of a change request. No file changes, and the state is not saved.

    The edits of the change request become edits of the folder.

    Args:
        engine: reads the change request and main.
        checkout: the folder.
        revision: the revision of the change request, which the folder has.
        changes: what changed in the folder.

    Returns:
        The revision of main.

    Raises:
        ChangedSince: the folder does not have the newest content of the change request, or this does not have that of
            main. A push would revert the newer content.
    """
    state = checkout.state
    request = await fetched(engine, GetChangeRequest(space_id=state.space, change_request_id=state.request or ""))
    main = await fetched(engine, GetCurrentRevision(space_id=state.space))
    if request.revision != revision.id:  # it was updated from main just now
        raise _outdated(state)
    if (request.revision_merged_ancestor or request.revision_initial) != main.id:
        raise ChangedSince(
            f"main has newer content than {state.place}: run presscheck cr update {state.space}{state.place}, pull, and"
            " push again"
        )
    paths = state.names()
    before, unnamed = SpaceFiles.of(state.space, revision, paths), SpaceFiles.of(state.space, main, {})
    # a page whose slug was edited keeps its former path in main, so that its file counts as renamed
    named = {
        key: path
        for key, path in paths.items()
        if key in unnamed.exported.sources and _slug(before, key) == _slug(unnamed, key)
    }
    after = SpaceFiles.of(state.space, main, named)
    items: dict[str, Item] = {}
    for key, path in after.exported.sources.items():
        if key[1] in state.removed:
            continue
        former = paths.get(key, "")
        present = changes.renamed.get(former, former)
        if present == path and before.fingerprint(key) == after.fingerprint(key):
            items[path] = state.items[path]
        else:
            # without an id, the file counts as edited, and the push compares its text with that of the service; with
            # the id of its present content, it counts as renamed, and the push compares its text, too
            items[path] = Item(kind=key[0], id=key[1], oid=changes.oids.get(present, "") if present != path else "")
    state.items = items
    state.others[SUMMARY] = git_oid(after.summary().encode())
    state.revision, state.request, state.number = main.id, None, None
    return main


def _slug(files: SpaceFiles, key: Key) -> str | None:
    page = files.pages.get(key[1])
    return page.slug if page else None


def _outdated(state: CheckoutState) -> ChangedSince:
    return ChangedSince(f"{state.place} has changed since your last pull: pull first")


def require_sendable(changes: FolderChanges) -> bool:
    """Check that the changes of a folder can be sent. Return whether there are any.

    Raises:
        ChecksFailed: the folder has conflicts, the table of contents names a missing page, or front matter is not YAML.
    """
    if changes.conflicts:
        raise ChecksFailed(f"Resolve the conflicts first: {', '.join(changes.conflicts[:5])}")
    for finding in changes.repository.findings:
        is_missing = finding.rule == "missing-page" and finding.target not in changes.unreadable
        # without its front matter, the page would lose its details
        is_unread = finding.rule == "front-matter" and finding.path in {*changes.modified, *changes.added}
        if is_missing or is_unread:
            raise ChecksFailed(str(finding))
    return bool(changes)


@dataclass
class _Push:
    engine: Pusher
    checkout: Checkout
    changes: FolderChanges
    revision: Revision
    subject: str
    is_new: bool
    result: Pushed = field(default_factory=Pushed)

    async def run(self) -> Pushed:
        state = self.checkout.state
        self._note_unsent()
        before = SpaceFiles.of(state.space, self.revision, state.names())
        renamed = self._renamed(before)
        uploads = self._uploads()
        ids = self._page_ids(renamed)
        tree = plan_tree(
            self.revision.pages,
            self.changes.repository.pages,
            ids,
            {page.id: before.exported.target(page) for page in before.pages.values() if page.type == "link"},
            [state.items[path].id for path in self.changes.unreadable if path in state.items],
        )
        tree_changes = tree.changes if self._tree_differs() else ()
        if tree_changes or SUMMARY in self.changes.modified:
            self.result.notes += [*tree.notes, *link_title_notes(self.revision.pages, self._documents(), ids)]
        edited = {*self.changes.modified, *renamed.values()} | self._with_replaced_files(uploads)
        if tree_changes or uploads:
            await self._upload(uploads)
            edited |= await self._send(tree_changes, tree.keys)
        with_unsent = await self._send_texts(edited, renamed)
        self._remember(renamed, edited, with_unsent)
        self._update_summary()
        self.checkout.save()
        return self.result

    def _update_summary(self) -> None:
        """Write new titles of pages into the table of contents.

        The file stays unchanged if its entries equal those of the revision, or differ in more than titles.
        """
        root, state = self.checkout.root, self.checkout.state
        local = (root / SUMMARY).read_bytes()
        served = SpaceFiles.of(state.space, self.revision, state.names()).summary().encode()
        if same_entries(local, served):
            served = local
        elif same_entries(local, served, with_titles=False):
            write_file(locate(root, SUMMARY, set()), served)
        state.others[SUMMARY] = git_oid(served)

    def _documents(self) -> list[SourcePage]:
        return [page for page in flatten(self.changes.repository.pages) if page.source]

    def _tree_differs(self) -> bool:
        pages = {path for path, item in self.checkout.state.items.items() if item.kind == "page"}
        sources = {page.source for page in self._documents()}
        return bool(SUMMARY in self.changes.modified or sources - pages or pages & {*self.changes.deleted})

    def _page_ids(self, renamed: Mapping[str, str]) -> dict[str, str]:
        ids = {path: item.id for path, item in self.checkout.state.items.items() if item.kind == "page"}
        return {renamed.get(path, path): identity for path, identity in ids.items()}

    def _note_unsent(self) -> None:
        state, notes = self.checkout.state, self.result.notes
        notes += _unreadable_notes(self.changes)
        for path in (*self.changes.modified, *self.changes.added, *self.changes.deleted):
            if path.startswith(INCLUDES):
                notes.append(f"{path}: the API cannot change reusable content; edit it in the app")
        if CONFIG_FILE in self.changes.modified:
            notes.append(f"{CONFIG_FILE}: the API cannot change redirects")
        for path in self.changes.deleted:
            item = state.items.get(path)
            if item and item.kind == "file":
                notes.append(f"{path}: the API cannot delete files; it is no longer part of this folder")

    def _renamed(self, before: SpaceFiles) -> dict[str, str]:
        """Return the new paths of renamed files by old path: of equal content or, for a page, with the same title."""
        renamed = {**self.changes.renamed}
        new = {page.title: page.source for page in self._documents() if page.source in self.changes.added}
        for path in self.changes.deleted:
            item = self.checkout.state.items.get(path)
            page = before.pages.get(item.id) if item and item.kind == "page" else None
            if page and page.title in new:
                renamed[path] = new.pop(page.title)
        return renamed

    def _with_replaced_files(self, uploads: Mapping[str, bytes]) -> set[str]:
        """Return the paths of pages that link to a replaced file. They must be sent again, to link to the new file."""
        names = {quote(path.rpartition("/")[2]) for path in uploads if path in self.checkout.state.items}
        return {page.source for page in self._documents() if any(name in page.body for name in names)}

    def _uploads(self) -> dict[str, bytes]:
        """Return the contents of new and changed files by path. A file that is too large becomes a note."""
        uploads: dict[str, bytes] = {}
        sources = {file.source: file for file in self.changes.repository.files}
        for path in sorted({*self.changes.added, *self.changes.modified} & {*sources}):
            content = sources[path].read()
            if len(content) > LARGEST_UPLOAD:
                self.result.notes.append(
                    f"{path}: has {len(content):,} bytes, and an upload at most {LARGEST_UPLOAD:,}; add it in the app"
                )
            else:
                uploads[path] = content
        return uploads

    async def _request(self) -> ChangeRequest:
        """Return the change request of this push. The first call creates it, if necessary."""
        if self.result.request is None:
            self.result.request = await self._open_request()
        return self.result.request

    async def _open_request(self) -> ChangeRequest:
        state = self.checkout.state
        if not self.is_new and state.request:
            call = GetChangeRequest(space_id=state.space, change_request_id=state.request)
            return await self.engine.read(call, priority=REQUESTED)
        request = await self._request_of_interrupted_push()
        if request is None:
            state.creating = self.subject
            self.checkout.save()
            call = CreateChangeRequest(space_id=state.space, subject=self.subject)
            request = await self.engine.write(call, is_part=True).landed()
        if request is None:
            raise PresscheckError("The service does not tell which change request it created: push again")
        state.request, state.number, state.creating = request.id, request.number, None
        self.checkout.save()  # a push that is killed goes on in this change request
        if request.revision != self.revision.id:
            raise ChangedSince(f"#{request.number} began from newer content: pull, and push again")
        return request

    async def _request_of_interrupted_push(self) -> ChangeRequest | None:
        """Return the unedited change request that a push created before it was interrupted, or None."""
        state = self.checkout.state
        if not state.creating:
            return None
        me = await user_id(self.engine)
        for status in ("draft", "open"):
            call = ListChangeRequests(space_id=state.space, status=status, limit=ALL)
            for request in (await self.engine.read(call, priority=REQUESTED)).items:
                is_mine = request.created_by and request.created_by.id == me
                if is_mine and request.subject == state.creating and request.revision == self.revision.id:
                    return request
        return None

    async def _upload(self, uploads: Mapping[str, bytes]) -> None:
        state = self.checkout.state
        names = list(self.revision.files)
        paths = [*uploads]
        for at in range(0, len(paths), MOST_FILES):
            files: list[NewFile] = []
            for path in paths[at : at + MOST_FILES]:
                name = free_name(path.rpartition("/")[2], names)
                names.append(RevisionFile(id="", name=name))
                encoded = base64.b64encode(uploads[path]).decode()
                files.append(NewFile(name=name, base64=encoded, content_type=media_type(name)))
            changes = (InsertFiles(files=tuple(files)),)
            answer = await self._edit(changes)
            for path, file in zip(paths[at:], answer.inserted_files or (), strict=False):
                old = state.items.get(path)
                if old:
                    state.removed[old.id] = old.kind
                state.items[path] = Item(kind="file", id=file.id, oid=self.changes.oids[path])
                self.result.files += 1
            await self._follow(answer, changes)

    async def _send(self, changes: Sequence[ContentChange], keys: Mapping[str, str] | None = None) -> set[str]:
        """Send edits in as few requests as possible. Return the paths of added pages, whose keys are `keys` by path."""
        ids: dict[str, str] = {}
        paths = {key: path for path, key in (keys or {}).items()}
        added: set[str] = set()
        for part in _parts(changes):
            known = [_with_ids(change, ids) for change in part]
            answer = await self._edit(known)
            new = {written.ref: written.page_id for written in answer.changes if written.ref and written.page_id}
            for key in new.keys() & paths.keys():
                self.checkout.state.items[paths[key]] = Item(kind="page", id=new[key])
                added.add(paths[key])
            ids |= new
            self.result.pages += len(known)
            await self._follow(answer, known)
        return added

    async def _edit(self, changes: Sequence[ContentChange]) -> ContentUpdate:
        """Send edits in one request.

        Raises:
            PresscheckError: the service refused the edits, or another process sent them.
        """
        request = await self._request()
        path = {"space_id": request.space, "change_request_id": request.id}
        call = EditChangeRequestContent(**path, changes=tuple(changes), compat=False)
        answer = await self.engine.write(call, is_part=True).landed()
        if answer is None:
            raise PresscheckError("Another presscheck process sent the edits: pull, and push again")
        return answer

    async def _follow(self, answer: ContentUpdate, changes: Sequence[ContentChange]) -> None:
        """Record the revision that `changes` made, and the items that they added.

        Raises:
            ChangedSince: somebody else edited since this push read the change request. Their edits are not in the
                folder, so its revision stays the former one, and the next pull merges them.
        """
        self.checkout.save()  # a push that is killed here adds no item again
        made = await self._revision_by_id(answer.change_request.revision)
        if made.parents and self.revision.id not in made.parents:
            await self._restore(await self._revision_by_id(made.parents[0]), changes)
            raise ChangedSince("Somebody else edited at the same time: pull, and push again")
        self.revision = made
        self.checkout.state.revision = made.id
        self.checkout.save()

    async def _restore(self, theirs: Revision, changes: Sequence[ContentChange]) -> None:
        """Restore pages that somebody else edited after this push read them, and before `changes` arrived.

        Raises:
            ChangedSince: pages were restored; the message names them.
        """
        before, now = ({page.id: page for page in flatten(one.pages)} for one in (self.revision, theirs))
        sent = [change.page for change in changes if isinstance(change, (UpdatePage, DeletePage))]
        lost = [page for page in sent if page in now and content_of(now[page]) != content_of(before[page])]
        if lost:
            reverts = tuple(RevertPage(page=page, revision=theirs.id) for page in dict.fromkeys(lost))
            await self._edit(reverts)
            names = ", ".join(now[page].title for page in dict.fromkeys(lost))
            raise ChangedSince(
                f"Somebody else edited at the same time: {names}. Their edits are kept; pull, and push again"
            )

    async def _revision_by_id(self, revision: str) -> Revision:
        call = GetRevision(space_id=self.checkout.state.space, revision_id=revision)
        return await self.engine.read(call, priority=REQUESTED)

    def _remember(self, renamed: Mapping[str, str], sent: set[str], with_unsent: set[str]) -> None:
        """Record renamed, deleted and sent files in the state of the checkout."""
        state = self.checkout.state
        for old, new in renamed.items():
            state.items[new] = state.items.pop(old)
        for path in {*self.changes.deleted} - {*renamed}:
            item = state.items.get(path)
            if item and item.kind == "page":
                del state.items[path]
            elif item and item.kind == "file":
                state.removed[item.id] = state.items.pop(path).kind
        for page in self._documents():
            if page.source in sent:
                item = state.items[page.source]
                item.oid, item.has_unsent = self.changes.oids[page.source], page.source in with_unsent

    async def _send_texts(self, paths: set[str], renamed: Mapping[str, str]) -> set[str]:
        """Send texts, details and slugs of the pages at `paths`. Return the paths of those with unsendable details."""
        state, ids = self.checkout.state, self._page_ids(renamed)
        names = {key: renamed.get(path, path) for key, path in state.names().items()}
        files = SpaceFiles.of(state.space, self.revision, names)
        changes: list[ContentChange] = []
        with_unsent: set[str] = set()
        for page in self._documents():
            if page.source not in paths:
                continue
            key = ids[page.source]
            before = replace(files.source_page(key), body=await files.text(self.engine, key))
            body = await asyncio.to_thread(files.exported.served, page.body, ("page", key))
            slug = page.slug if page.source in renamed.values() else ""
            update, notes = page_update(key, before, page, body, slug)
            self.result.notes += notes
            if notes:
                with_unsent.add(page.source)
            if update:
                changes.append(update)
        await self._send(changes)
        return with_unsent


def _unreadable_notes(changes: FolderChanges) -> list[str]:
    return [f"{path}: {reason}" for path, reason in changes.unreadable.items()]


def _parts(changes: Sequence[ContentChange]) -> list[list[ContentChange]]:
    """Split edits into as few requests as the service accepts."""
    parts: list[list[ContentChange]] = []
    size = 0
    for change in changes:
        document = getattr(change, "document", None)
        length = len(document.markdown or "") if document else 0
        if not parts or len(parts[-1]) == MOST_CHANGES or size + length > LARGEST_WRITE:
            parts.append([])
            size = 0
        parts[-1].append(change)
        size += length
    return parts


def _with_ids(change: ContentChange, ids: Mapping[str, str]) -> ContentChange:
    """Replace the keys of new pages in an edit by the ids that earlier requests returned."""
    names = {name: ids[value] for name in ("into", "page") if (value := getattr(change, name, None)) in ids}
    return change.model_copy(update=names) if names else change
