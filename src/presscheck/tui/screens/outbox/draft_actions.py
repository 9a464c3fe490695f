"""Actions on drafts in the outbox: continue a draft where it belongs or in a new place, copy it, discard it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast

from presscheck.api.comments import Document
from presscheck.api.content import ListPages
from presscheck.api.content_changes import EditChangeRequestContent, InsertPage
from presscheck.api.spaces import GetSpace
from presscheck.documents.pages.tree import flatten
from presscheck.engine.drafts import APPROVAL, CHANGES, PAGE, draft_about, page_ids, read_fate
from presscheck.engine.review.pending_review import draft_key
from presscheck.engine.writes.page_merge import page_edit
from presscheck.errors import Forbidden, NetworkError, NotFound, PresscheckError
from presscheck.store.drafts import DraftSlot
from presscheck.text.sanitize import sanitize
from presscheck.text.styled_text import Line, Span
from presscheck.tui.commands import key_for
from presscheck.tui.places import Place
from presscheck.tui.screens.new_request import create_request
from presscheck.tui.screens.outbox.draft_places import DraftPlaces
from presscheck.tui.screens.outbox.drafts import FATES, label_of, size_of
from presscheck.tui.screens.page.draft import PageDraft
from presscheck.tui.screens.page.editor import TITLE, edit_page, stays_locked
from presscheck.tui.screens.page.markdown import from_editor, title_of, to_editor
from presscheck.tui.screens.text_screen import TextScreen
from presscheck.tui.ui.ask import choose, confirm, prompt
from presscheck.tui.widgets.picker import Choice

if TYPE_CHECKING:
    from collections.abc import Callable

    from presscheck.engine.drafts import Draft, Fate
    from presscheck.tui.screens.outbox.drafts import Drafts
    from presscheck.tui.screens.page_comments import PageCommentsScreen
    from presscheck.tui.screens.review.screen import ReviewScreen
    from presscheck.tui.ui.screen import BaseScreen

SHOWN_LINES = 4
"""Maximum number of lines of a draft in the confirmation of discarding it."""
IN_REVIEW = ("page", "whole", "reply", "message", "pending", APPROVAL, CHANGES)
"""Drafts that the review screen continues, besides subject and description."""
DETAILS = ("title", "description", "icon", "emoji", "slug", "condition")
"""Drafts of details of pages."""
IN_BROWSE = {"new page": "add", **dict.fromkeys(DETAILS, "rename")}
"""Commands in the browse screen that continue drafts."""


class DraftActions:
    """The commands that open, copy and discard drafts.

    Args:
        screen: the outbox screen.
        drafts: the drafts.
        edit_change: edits an unsent change by its number; returns whether the change is still unsent.
    """

    def __init__(self, screen: BaseScreen, drafts: Drafts, edit_change: Callable[[int], bool]) -> None:
        self._screen, self._drafts = screen, drafts
        self._places = DraftPlaces(screen, edit_change)

    async def open(self, draft: Draft) -> None:
        """Continue a draft where it belongs.

        If the change request has ended or the page was deleted, ask what to do with the draft. If the place of the
        draft is unknown or cannot be opened now, show the text.
        """
        status = self._screen.engine.status
        if draft.is_live and draft.space and not status.read_only:
            page = draft.target.partition(" ")[0] if draft.name == "page" else ""
            screen = cast("PageCommentsScreen", await self._screen.app_context.go(Place.comments(draft.space, page)))
            screen.continue_draft(draft.name, draft.target, draft.stored.about)
            return
        place = draft.place
        if place and place.kind == "draft":
            await self._open_other(draft, place.target)
            return
        if place and not status.read_only and (status.online or place.kind in ("form", "change", "inbox")):
            if not await self._places.open(draft):
                self._show_without_place(draft)
            return
        if draft.is_page and draft.path and not status.read_only and not status.online:
            await self._continue_offline(draft)
            return
        if not draft.path or status.read_only or not status.online:
            self._show(draft)
            if status.read_only:
                self._screen.app_context.notify(
                    f"this profile is read-only: {key_for('copy_text')} in the list copies the text"
                )
            elif not status.online and draft.path:
                self._screen.app_context.notify(f"you are offline: {key_for('copy_text')} in the list copies the text")
            return
        fate = await read_fate(self._screen.engine, draft)
        self._drafts.note(draft, fate)
        if fate:
            await self._ask_what_to_do(draft, fate)
        else:
            await self._continue(draft)

    async def open_edit(self, call: EditChangeRequestContent) -> None:
        """Open the page of an edit that is not sent. A failed edit becomes the draft of its page first."""
        page = page_edit(call)
        if page is None:
            return
        path: dict[str, Any] = {"space_id": call.space_id, "change_request_id": call.change_request_id}
        if PageDraft(self._screen, path, page.page).take_failed():
            self._drafts.read()
        key = draft_key(call.change_request_id, f"{PAGE} {page.page}")
        draft = next((each for each in self._drafts.drafts if each.stored.key == key), None)
        if draft:
            await self.open(draft)
        else:
            await edit_page(self._screen, path, page.page)

    async def _continue_offline(self, draft: Draft) -> None:
        """Edit the cached page of a draft, or show the text if the page is not in the cache."""
        try:
            await edit_page(self._screen, draft.path, draft.target)
        except NetworkError:
            self._show(draft)
            self._screen.app_context.notify(
                f"you are offline, and the page is not in the cache: {key_for('copy_text')} copies the text"
            )

    async def _open_other(self, draft: Draft, key: str) -> None:
        """Open the draft that a new page was to contain. If it is gone, show the title that was typed for the page."""
        other = next((each for each in self._drafts.drafts if each.stored.key == key), None)
        if other:
            await self.open(other)
        else:
            self._show(draft)

    def copy(self, draft: Draft) -> None:
        """Copy the text of a draft."""
        self._screen.app_context.copy_to_clipboard(sanitize(draft.readable, lines=True))
        self._screen.notify("copied")

    async def discard(self, draft: Draft) -> None:
        """Discard a draft, after a confirmation that shows the text."""
        where = self._drafts.where(draft)
        words = [line for line in sanitize(draft.readable, lines=True).split("\n") if line.strip()]
        lines: list[Line] = [(Span(where, "quiet"),)] if where else []
        lines.append((Span(f"{size_of(draft)}, in no other place, will be lost:", "waiting"),))
        lines += [(Span(f"  {line}"),) for line in words[:SHOWN_LINES]]
        if len(words) > SHOWN_LINES:
            lines.append((Span("  …", "quiet"),))
        title = f"Discard your draft: {label_of(draft)}?"
        if await confirm(self._screen, title, lines, "Discard"):
            for key in draft.stored_keys:
                self._screen.engine.outbox.save_draft(key, "")
            self._screen.redraw()
            self._screen.notify("discarded")

    def _show(self, draft: Draft) -> None:
        lines: list[Line] = [(), (Span(f" {self._drafts.where(draft)}", "quiet"),), ()]
        lines += [(Span(f" {line}"),) for line in sanitize(draft.readable, lines=True).split("\n")]
        self._screen.app_context.push_screen(TextScreen(label_of(draft), lines))

    def _show_without_place(self, draft: Draft) -> None:
        """Show a draft whose place is gone or unknown, so that its text can still be read."""
        self._show(draft)
        self._screen.app_context.notify(
            f"its place is gone, or is no longer visible to you: {key_for('copy_text')} in the list copies the text"
        )

    async def _continue(self, draft: Draft) -> None:
        """Open a draft in its change request."""
        path = draft.path
        if draft.is_page:
            await edit_page(self._screen, path, draft.target)
        elif draft.name in IN_REVIEW or (draft.name in ("subject", "description") and not draft.target):
            screen = await self._screen.app_context.go(Place.review(draft.space, draft.request))
            cast("ReviewScreen", screen).continuation.start(draft.name, draft.target, draft.page_title)
        elif draft.name in IN_BROWSE:
            if not await self._places.open_in_request(draft, IN_BROWSE[draft.name]):
                self._show_without_place(draft)
        else:
            self._show(draft)

    async def _ask_what_to_do(self, draft: Draft, fate: Fate) -> None:
        """Ask what to do with a draft whose change request has ended or whose page was deleted, and do it."""
        choices: list[Choice] = []
        if draft.is_page and fate == "page deleted":
            choices.append(Choice("page", "Put it into a new page", "of the change request", letter="p"))
        elif draft.is_page:
            choices.append(Choice("request", "New change request with this text", "merged with main", letter="n"))
        elif draft.name in IN_BROWSE and fate != "missing" and await self._is_on_main(draft):
            choices.append(Choice("request", "Continue in a new change request", letter="n"))
        if fate in ("merged", "archived"):
            label = "Continue in the review" if draft.name in IN_REVIEW else "Open the review"
            choices.append(Choice("review", label, letter="o"))
        choices += [
            Choice("show", "Show the text", letter="s"),
            Choice("copy", "Copy the text", letter="y"),
            Choice("discard", "Discard the draft (asks first)", letter="d"),
        ]
        title = f"{label_of(draft)}: {FATES[fate]}"
        chosen = await choose(self._screen, title, choices)
        if chosen == "page":
            await self._add_page(draft, draft.path)
        elif chosen == "request":
            await self._move_to_new_request(draft)
        elif chosen == "review" and draft.name in IN_REVIEW:
            await self._continue(draft)
        elif chosen == "review":
            await self._screen.app_context.go(Place.review(draft.space, draft.request))
        elif chosen == "show":
            self._show(draft)
        elif chosen == "copy":
            self.copy(draft)
        elif chosen == "discard":
            await self.discard(draft)

    async def _is_on_main(self, draft: Draft) -> bool:
        """Return whether the page of a draft exists on main, so that a new change request will contain the page too.

        Return True for a draft without a page, and False if the pages cannot be read.
        """
        if not draft.target:
            return True
        try:
            pages = (await self._screen.engine.read(ListPages(space_id=draft.space))).pages
        except PresscheckError:
            return False
        return any(page.id == draft.target for page in flatten(pages))

    async def _move_to_new_request(self, draft: Draft) -> None:
        """Create a change request, move the draft there, and open the draft, which merges its text with main."""
        engine = self._screen.engine
        try:
            space = await engine.read(GetSpace(space_id=draft.space))
        except (NotFound, Forbidden):
            self._screen.notify(
                "the space was deleted, or is no longer visible to you: "
                f"{key_for('go_deleted')} in Browse restores spaces"
            )
            return
        if await stays_locked(self._screen, draft.space):
            return
        request = await create_request(self._screen, space, draft.stored.about.get("subject", ""))
        if request is None:
            return
        path: dict[str, Any] = {"space_id": draft.space, "change_request_id": request.id}
        about = {
            **draft.stored.about,
            **draft_about(engine, path),
            "subject": request.subject,
            "number": str(request.number),
        }
        engine.outbox.move_drafts(draft.keys_in(request.id), about)
        self._drafts.read()
        self._screen.refresh_status_bars()
        if not draft.is_page:
            moved = next(each for each in self._drafts.drafts if each.stored.key in draft.keys_in(request.id).values())
            await self._continue(moved)
            return
        if draft.target in await page_ids(engine, path):
            await edit_page(self._screen, path, draft.target)
            return
        moved = next(each for each in self._drafts.drafts if each.stored.key in draft.keys_in(request.id).values())
        await self._add_page(moved, path)

    async def _add_page(self, draft: Draft, path: dict[str, Any]) -> None:
        """Add a page with the text of a draft. The draft is removed once the service has created the page."""
        if await stays_locked(self._screen, path["space_id"]):
            return
        engine, title = self._screen.engine, title_of(draft.text) or draft.page_title
        slot = DraftSlot(engine.outbox, f"new page from {draft.stored.key}", title[:TITLE])
        title = await prompt(self._screen, "Title of the new page", slot, max_length=TITLE)
        if title is None:
            return
        edit = from_editor(to_editor(title, ""), draft.text)
        document = Document(markdown=edit.markdown if edit else "")
        change = InsertPage(title=title, document=document)
        answer = await engine.write(EditChangeRequestContent(**path, changes=(change,), compat=False)).landed()
        for key in (slot.key, *draft.stored_keys):
            engine.outbox.save_draft(key, "")
        self._drafts.read()
        changes = answer.changes if answer else ()
        page = next((created.page_id for created in changes if created.object == "created_page"), None)
        await self._screen.app_context.go(Place.page(path["space_id"], page, path["change_request_id"]))
        self._screen.app_context.notify(f"added a page with your text: {sanitize(title)}")
