"""Edit actions of the browse screen: pages are edited in the change request in which their space is shown."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from typing import TYPE_CHECKING, Any, cast

from presscheck.api.change_requests import ChangeRequest, CreateChangeRequest, ListChangeRequests
from presscheck.api.content_changes import EditChangeRequestContent
from presscheck.engine.inbox.views import listings_of
from presscheck.engine.review.page_edits import MOST_CHANGES
from presscheck.errors import NotNow
from presscheck.store.outbox import NEW
from presscheck.text.sanitize import sanitize
from presscheck.tui.commands import key_for
from presscheck.tui.screens.browse.page_tree import page_key
from presscheck.tui.screens.new_request import create_request
from presscheck.tui.screens.page import details as page_details
from presscheck.tui.screens.page import editor as page_editor
from presscheck.tui.screens.undo import undo_last_sent
from presscheck.tui.ui.ask import choose
from presscheck.tui.widgets.picker import Choice

if TYPE_CHECKING:
    from presscheck.api.content import RevisionPage
    from presscheck.api.operation import Operation
    from presscheck.api.spaces import Space
    from presscheck.engine.writes.descriptions import Place
    from presscheck.tui.screens.browse.page_tree import Item
    from presscheck.tui.screens.browse.session import ContentTree

Path = dict[str, Any]
"""The `space_id` and `change_request_id` arguments of a call."""
MANY = 2000
"""Maximum number of cached change requests of a listing that are searched offline."""


class EditActions:
    """The commands that edit, add, rename and delete pages.

    If the space is shown on main, each command asks for a change request first.

    Args:
        session: the tree and the page pane.
    """

    def __init__(self, session: ContentTree) -> None:
        self._session, self._screen = session, session.screen
        self._engine = session.screen.engine

    def reason_new_request(self) -> str | None:
        """Return why no change request can be created or chosen: there is no space, or it cannot be edited now."""
        return self._disabled(self._session.item, CreateChangeRequest, can_wait=True)

    def _disabled(self, item: Item | None, write: type[Operation[Any]], *, can_wait: bool = False) -> str | None:
        if item is None or item.space is None:
            return "go to a space or a page first"
        space = item.space
        permissions = space.permissions
        # a user who may edit a locked space is asked to unlock it, or sees that it is locked
        if permissions.view and not permissions.edit and space.edit_mode != "locked":
            return f"you need the level edit in {sanitize(space.title)}"
        status = self._engine.status
        if can_wait and not status.online and not status.read_only:
            return self._engine.missing_reason(write)
        return self._engine.write_reason(write, "this change of the page tree")

    def reason_add(self) -> str | None:
        """Return why no page can be added: there is no space, or the space cannot be edited now."""
        return self._cannot_edit(self._session.item, can_wait=True)

    def reason_copying(self) -> str | None:
        """Return why the page under the cursor cannot be copied: it has no text, or its space cannot be edited now."""
        return self._cannot_edit(self._session.item) or self.reason_edit()

    def _cannot_edit(self, item: Item | None, *, can_wait: bool = False) -> str | None:
        reason = self._disabled(item, EditChangeRequestContent, can_wait=can_wait)
        return reason or self._session.ended_reason(item)

    def targets(self) -> tuple[Space | None, list[str]]:
        """Return the ids of the marked pages or, without marks, of the page under the cursor, and their space.

        The space is None if there is no page.
        """
        items = self._marked() or [self._session.item]
        pages = [item.page.id for item in items if item and item.page]
        return (items[0].space if pages and items[0] else None), pages

    def _marked(self) -> list[Item]:
        marked = (self._session.library.item(key) for key in self._session.tree_view.marks.keys)
        return [item for item in marked if item and item.page and item.space]

    def reason_pages(self) -> str | None:
        """Return why the marked pages or, without marks, the page under the cursor cannot be changed."""
        marked = self._marked()
        if len({item.space.id for item in marked if item.space}) > 1:
            return f"pages of several spaces are marked: {key_for('back')} removes the marks"
        if len(marked) > MOST_CHANGES:
            return f"at most {MOST_CHANGES} pages can be changed at once"
        item = marked[0] if marked else self._session.item
        return self._cannot_edit(item, can_wait=True) or (None if item and item.page else "go to a page first")

    reason_rename = reason_pages

    def reason_edit(self) -> str | None:
        """Return why the text under the cursor cannot be edited. Offline, the edit waits in the outbox."""
        item = self._session.item
        is_document = item is not None and item.kind == "document"
        return self._cannot_edit(item, can_wait=True) or (None if is_document else "go to a page with a text first")

    reason_edit_other = reason_edit
    reason_delete = reason_pages

    def command_new_request(self) -> Awaitable[object] | None:
        """Choose where the space is shown and edited: in a new or existing change request, or on main."""
        item = self._session.item
        return self.choose_request(item.space) if item and item.space else None

    def command_edit(self) -> Awaitable[None] | None:
        """Edit the page. A text with conflicts opens at the conflict at or above the cursor."""
        conflict = self._session.page_view.conflict_at_cursor
        return self._on_page(lambda path, page: page_editor.edit_page(self._screen, path, page.id, conflict=conflict))

    def command_edit_other(self) -> Awaitable[None] | None:
        """Edit the page in the editor that is not the default: external instead of built-in, or the reverse."""
        conflict = self._session.page_view.conflict_at_cursor
        return self._on_page(
            lambda path, page: page_editor.edit_page(
                self._screen, path, page.id, uses_other_editor=True, conflict=conflict
            )
        )

    def command_add(self) -> Awaitable[None] | None:
        """Add a page before, after or inside the item under the cursor."""
        item = self._session.item
        return self._add(item.space, item) if item and item.space else None

    def command_rename(self) -> Awaitable[None] | None:
        """Edit title and details of the page; for marked pages, only the details that pages can share."""
        space, pages = self.targets()
        return self._edit_details(space, pages) if space else None

    def command_delete(self) -> Awaitable[None] | None:
        """Delete the page or the marked pages, after a confirmation."""
        space, pages = self.targets()
        return self._delete(space, pages) if space else None

    def undo_reason(self) -> str | None:
        """Return why no sent change can be undone: no space is under the cursor."""
        item = self._session.item
        return None if item and item.space else "go to a space or a page first"

    def undo_last_sent(self) -> Awaitable[None] | None:
        """Offer to undo the last sent change of the space or, if it is shown in a change request, of that request."""
        item = self._session.item
        if item is None or item.space is None:
            return None
        space, request = item.space.id, self._session.library.requests.get(item.space.id)

        def is_here(place: Place) -> bool:
            return place.space == space and (request is None or place.request == request.id)

        return undo_last_sent(self._screen, is_here)

    def _on_page(self, action: Callable[[Path, RevisionPage], Awaitable[None]]) -> Awaitable[None] | None:
        """Run an action on the page under the cursor. A later move of the cursor does not change the page."""
        item = self._session.item
        return self._run(item.space, item.page, action) if item and item.space and item.page else None

    async def _run(
        self, space: Space, page: RevisionPage, action: Callable[[Path, RevisionPage], Awaitable[None]]
    ) -> None:
        if path := await self.path(space):
            await action(path, page)

    async def _add(self, space: Space, item: Item) -> None:
        """Ask for a change request if the space is shown on main, then for a position, and add a page there."""
        path = await self.path(space)
        side = await self._ask_side(item) if path else None
        if path is None or side is None:
            return
        waiting = {row.id for row in self._engine.outbox.rows()}
        page_id = await page_editor.add_page(self._screen, path, item.page.id if item.page else None, side)
        if page_id is None:  # queued
            new = [row.id for row in self._engine.outbox.rows() if row.is_tree_change and row.id not in waiting]
            page_id = f"{NEW}{new[-1]}" if new else None
        if page_id:
            self._session.go_to(page_key(space.id, page_id))

    async def _ask_side(self, item: Item) -> page_editor.Side | None:
        """Ask for the position of a new page, with the usual position first. On a space, return `inside` at once."""
        if item.page is None:
            return "inside"
        sides = {"after": "After", "before": "Before", "inside": "Inside, as its last subpage"}
        order = ["inside", "after", "before"] if item.kind == "group" else ["after", "before", "inside"]
        can_have_pages = item.kind in ("document", "group")
        choices = [Choice(side, sides[side], letter=side[0]) for side in order if side != "inside" or can_have_pages]
        # the letters are a for after, b for before, i for inside
        title = f"Add a page: where from {sanitize(item.title) or 'this page'}?"
        chosen = await choose(self._screen, title, choices)
        return cast("page_editor.Side", chosen) if chosen else None

    async def _edit_details(self, space: Space, pages: Sequence[str]) -> None:
        path = await self.path(space)
        if path:
            await page_details.edit_details(self._screen, path, pages)

    async def _delete(self, space: Space, pages: Sequence[str]) -> None:
        path = await self.path(space)
        if path and await page_editor.delete_pages(self._screen, path, pages):
            self._session.tree_view.marks.clear()

    async def path(self, space: Space) -> Path | None:
        """Return the path parameters of the change request to edit in: the current one or, on main, a chosen one.

        The checks come before any input, so that no input is lost.

        Returns:
            `space_id` and `change_request_id`, or None if the user cancels, the space stays locked, or the change
            request was merged or archived.
        """
        if await page_editor.stays_locked(self._screen, space.id) or await self._session.has_ended(space.id):
            return None
        request = self._session.library.requests.get(space.id) or await self.choose_request(space)
        return {"space_id": space.id, "change_request_id": request.id} if request else None

    async def choose_request(self, space: Space) -> ChangeRequest | None:
        """Ask for the change request, new or existing, in which to show and edit a space.

        Return None if the space is shown on main, or if the question was canceled.

        Raises:
            NotNow: the app is offline, and no change request of the space is in the cache.
        """
        current = self._session.library.requests.get(space.id)
        requests = await self._unfinished(space)
        is_online = self._engine.status.online
        if not is_online and not requests and not current:
            raise NotNow("You are offline, and no change request of this space is in the cache")
        choices = [Choice("new", "New change request …")] if is_online else []
        if current:
            choices.append(Choice("live", "Main", "leaves the change request"))
        choices += [
            Choice(request.id, f"#{request.number} {sanitize(request.subject) or '(no subject)'}", request.status)
            for request in requests
        ]
        choice = "new" if not requests and not current else None
        title = f"Edit {sanitize(space.title)} in"
        choice = choice or await choose(self._screen, title, choices, ranked=True)
        if choice is None:
            return None
        existing = {request.id: request for request in requests}
        request = await create_request(self._screen, space) if choice == "new" else existing.get(choice)
        if request or choice == "live":
            self._session.browse_in(space.id, request)
        return request

    async def _unfinished(self, space: Space) -> list[ChangeRequest]:
        """Return the drafts and open change requests of a space, newest first. Offline, return the cached ones only."""
        requests: list[ChangeRequest] = []
        if self._engine.status.online:
            for status in ("draft", "open"):
                call = ListChangeRequests(space_id=space.id, status=status)
                requests += (await self._engine.read(call)).items
        else:
            listings = listings_of(space.organization or "", self._engine.me.id)
            cached = (request for listing in listings for request in self._engine.window(listing, 0, MANY).items)
            by_id = {request.id: request for request in cached if request.space == space.id}
            requests += [request for request in by_id.values() if request.status in ("draft", "open")]
        return sorted(requests, key=lambda request: -request.number)
