"""Editing while browsing: a space is browsed live, or in a change request that its pages can be edited in."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, Any

from presscheck.api.change_requests import ChangeRequest, CreateChangeRequest, ListChangeRequests
from presscheck.documents.display_text import display_text
from presscheck.tui.screens import page_edits
from presscheck.tui.screens.browse_reading import Reading
from presscheck.tui.screens.browse_tree import count_below, page_key
from presscheck.tui.widgets.entry import Entry
from presscheck.tui.widgets.picker import Choice, Picker

if TYPE_CHECKING:
    from presscheck.api.content import RevisionPage
    from presscheck.api.spaces import Space

Path = dict[str, Any]
SUBJECT = 100
"""Characters that a subject may have."""


class Editing(Reading):
    """The commands of a place where pages are edited in change requests."""

    @abstractmethod
    def browse_in(self, space: Space, request: ChangeRequest | None) -> None:
        """Browse a space in a change request from now on, or (None) live."""

    def _no_space(self) -> str | None:
        item = self.item
        if item is None or item.space is None:
            return "go to a space or a page first"
        if not self.desk.status.online:
            return "offline: an edit cannot wait"
        return "this profile is read-only" if self.desk.status.read_only else None

    def _no_page(self) -> str | None:
        item = self.item
        return self._no_space() or (None if item and item.page else "go to a page first")

    reason_new_request = reason_add = _no_space
    reason_rename = reason_delete = _no_page

    def reason_edit(self) -> str | None:
        """It needs a page with a text."""
        item = self.item
        return self._no_space() or (None if item and item.kind == "document" else "go to a page with a text first")

    def command_new_request(self) -> Awaitable[object] | None:
        """Choose what the space is browsed in: a new change request, one that is there, or what is live."""
        item = self.item
        return self._choose(item.space) if item and item.space else None

    def command_edit(self) -> Awaitable[None] | None:
        """Edit the page, in a change request."""
        return self._on_page(lambda path, page: page_edits.edit_page(self, path, page.id))

    def command_add(self) -> Awaitable[None] | None:
        """Add a page below a group, a space or the page that this one is below."""
        item = self.item
        if item is None or item.space is None:
            return None
        parent = item if item.kind == "group" else self.library.item(item.parent)
        return self._add(item.space, parent.page.id if parent and parent.page else None)

    def command_rename(self) -> Awaitable[None] | None:
        """Give the page another title."""
        return self._on_page(lambda path, page: page_edits.rename_page(self, path, page.id, page.title))

    def command_delete(self) -> Awaitable[None] | None:
        """Delete the page, in a change request."""
        return self._on_page(
            lambda path, page: page_edits.delete_page(self, path, page.id, page.title, count_below(page))
        )

    def _on_page(self, act: Callable[[Path, RevisionPage], Awaitable[None]]) -> Awaitable[None] | None:
        """Act on the page under the cursor when the key was pressed: news may move it before the act begins."""
        item = self.item
        return self._acted(item.space, item.page, act) if item and item.space and item.page else None

    async def _acted(
        self, space: Space, page: RevisionPage, act: Callable[[Path, RevisionPage], Awaitable[None]]
    ) -> None:
        if path := await self._path(space):
            await act(path, page)

    async def _add(self, space: Space, below: str | None) -> None:
        path = await self._path(space)
        made = await page_edits.add_page(self, path, below) if path else None
        if made:
            self.go_to(page_key(space.id, made))

    async def _path(self, space: Space) -> Path | None:
        """The change request that the space is browsed in; asks for one where it is browsed live."""
        request = self.library.requests.get(space.id) or await self._choose(space)
        return {"space_id": space.id, "change_request_id": request.id} if request else None

    async def _choose(self, space: Space) -> ChangeRequest | None:
        now = self.library.requests.get(space.id)
        found = await self._unfinished(space)
        choices = [Choice("new", "New change request …")]
        if now:
            choices.append(Choice("live", "What is live", "leaves the change request"))
        choices += [
            Choice(one.id, f"{one.number} {display_text(one.subject) or '(no subject)'}", one.status) for one in found
        ]
        chosen = ("new",) if not found and not now else None
        chosen = chosen or await self.ask(Picker(f"Edit {display_text(space.title)} in", choices, self.style_for))
        if chosen is None:
            return None
        begin: dict[str, Callable[[], ChangeRequest | None]] = {one.id: lambda one=one: one for one in found}
        request = await self._begin(space) if chosen[0] == "new" else begin.get(chosen[0], lambda: None)()
        if request or chosen[0] == "live":
            self.browse_in(space, request)
        return request

    async def _unfinished(self, space: Space) -> list[ChangeRequest]:
        found: list[ChangeRequest] = []
        for status in ("draft", "open"):
            found += (await self.desk.read(ListChangeRequests(space_id=space.id, status=status))).items
        return sorted(found, key=lambda one: -one.number)

    async def _begin(self, space: Space) -> ChangeRequest | None:
        question = f"New change request in {display_text(space.title)}: what is it about?"
        key, outbox = f"subject {space.id}", self.desk.outbox
        entry = Entry(
            question,
            outbox.draft(key) or "",
            self.style_for,
            most=SUBJECT,
            save=lambda text: outbox.save_draft(key, text),
        )
        subject = await self.ask(entry)
        if subject is None:
            return None
        request = await self.desk.write(CreateChangeRequest(space_id=space.id, subject=subject)).landed()
        outbox.save_draft(key, "")
        return request
