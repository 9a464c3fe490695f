"""Reading while browsing: the page under the cursor, the links in it, and the way back."""

from __future__ import annotations

from abc import abstractmethod

from textual import on

from presscheck.api.content import RevisionPage
from presscheck.api.operation import Operation
from presscheck.desk.linking import backlinks
from presscheck.desk.page_questions import changed_page, live_page
from presscheck.desk.seen import Seen
from presscheck.documents.display_text import display_text
from presscheck.documents.lines import PageLines
from presscheck.documents.links import Places, source_of
from presscheck.documents.moments import long_ago
from presscheck.tui.outside import open_address
from presscheck.tui.screens.base_screen import BaseScreen
from presscheck.tui.screens.browse_tree import Item, Library, page_key
from presscheck.tui.widgets.page_view import PageView
from presscheck.tui.widgets.picker import Choice, Picker

WIDEST = 96
"""Columns of text that the eye still follows."""
HINTS = {
    "space": "enter shows its pages; e on a page edits it, in a change request.",
    "collection": "enter folds and unfolds.",
    "group": "A group of pages.",
}


class Reading(BaseScreen):
    """A place where a page of a library is read."""

    def __init__(self) -> None:
        super().__init__()
        self.library = Library()
        self.age = ""
        """How old the page is that is shown, where that matters."""
        self._shown = ("", "", "")
        self._been: list[str] = []
        self._ahead: list[str] = []

    @property
    @abstractmethod
    def item(self) -> Item | None:
        """What is under the cursor."""

    @abstractmethod
    def go_to(self, key: str) -> None:
        """Put the cursor on an item, as soon as it is known."""

    def command_history_back(self) -> None:
        """To the page before the link that was followed."""
        self._along(self._been, self._ahead)

    def command_history_forward(self) -> None:
        """Forward again."""
        self._along(self._ahead, self._been)

    def reason_history_back(self) -> str | None:
        """No link was followed."""
        return None if self._been else "there is no page before"

    def reason_history_forward(self) -> str | None:
        """Nobody went back."""
        return None if self._ahead else "there is no page after"

    def reason_backlinks(self) -> str | None:
        """There is no page."""
        item = self.item
        return None if item and item.kind == "document" else "there is no page here"

    async def command_backlinks(self) -> None:
        """Choose among the pages that link here, and go there."""
        item = self.item
        if item is None or item.page is None or item.space is None:
            return
        request = self.library.requests.get(item.space.id)
        found = await backlinks(self.desk, item.space.id, item.page.id, request.id if request else None)
        pages = [one.page for one in found.items if one.page]
        unread = f"{found.unread} pages of this space are not known here" if found.unread else ""
        if not pages:
            self.notify(f"no page of this space links here{', as far as is known: ' if unread else ''}{unread}")
            return
        choices = [Choice(page.id, display_text(page.title), display_text(page.path or "")) for page in pages]
        chosen = await self.ask(Picker(f"What links here{' · ' if unread else ''}{unread}", choices, self.style_for))
        if chosen:
            self._leave(item, page_key(item.space.id, chosen[0]))

    def command_copy(self) -> None:
        """Copy the address of the page or the space."""
        item = self.item
        where = item.space.urls.app if item and item.space else None
        if item and where:
            path = f"/{item.page.path}" if item.page and item.page.path else ""
            self.app_context.copy_to_clipboard(display_text(where + path))
            self.notify("copied")
        else:
            self.notify("it has no web address")

    def command_copy_text(self) -> None:
        """Copy the Markdown of the page."""
        key, markdown, _ = self._shown
        if key:
            self.app_context.copy_to_clipboard(markdown)
            self.notify("the page's Markdown is copied")
        else:
            self.notify("there is no page here")

    def command_web(self) -> None:
        """Open the space in the browser."""
        item = self.item
        where = item.space.urls.published or item.space.urls.app if item and item.space else None
        if where:
            open_address(self.app_context, where)
        else:
            self.notify("it has no web address")

    @on(PageView.LinkChosen)
    def link_chosen(self, event: PageView.LinkChosen) -> None:
        """A link on the page: to another page, or out into the web."""
        self.follow_target(event.target)

    def show_page(self) -> None:
        """Show what is under the cursor, as it is known, then as it is."""
        item = self.item
        self.age = ""
        self.refresh_status_bars()
        if item is None:
            return
        if item.kind != "document" or item.page is None or item.space is None:
            self.say(HINTS.get(item.kind, display_text(item.page.href or "") if item.page else ""))
            return
        space, page = item.space.id, item.page.id
        request = self.library.requests.get(space)
        ask: Operation[RevisionPage] = changed_page(space, request.id, page) if request else live_page(space, page)
        self.subscribe(self.desk.watch(ask), lambda seen: self._page_seen(item, seen), group="page", complains=False)

    def _page_seen(self, item: Item, seen: Seen[RevisionPage | None]) -> None:
        now = self.item
        if now is None or now.key != item.key:
            return
        if seen.value is None:
            why = seen.error.message if seen.error else "nothing is known of it"
            self.say(f"This page cannot be shown: {display_text(why)}")
            return
        self.age = f"   as it was {long_ago(seen.age)}" if seen.state == "offline" else ""
        self.refresh_status_bars()
        self._open_page(item.key, seen.value.markdown or "", seen.value.title)

    def _open_page(self, key: str, markdown: str, title: str) -> None:
        """Show a page; the same page with the same words stays where the eye is."""
        if self._shown == (key, markdown, title):
            return
        is_other, self._shown = self._shown[0] != key, (key, markdown, title)
        self.query_one(PageView).show(
            lambda columns: PageLines(markdown, min(columns, WIDEST), title=title), line=0 if is_other else None
        )

    def say(self, words: str) -> None:
        """Show a sentence instead of a page."""
        self._open_page("", words, "")

    def follow_target(self, target: str) -> None:
        """Go where a link leads: to another page, or out into the web."""
        item = self.item
        pages = self.library.pages(item.space.id) if item and item.space else None
        if item is None or item.space is None or item.page is None or pages is None:
            return
        found = Places.of(pages.pages).resolve(target, source_of(item.page))
        if found.kind == "web":
            open_address(self.app_context, found.url)
        elif found.kind == "page":
            self._leave(item, page_key(item.space.id, found.id))
        else:
            self.notify(f"that link leads to no page of this space: {display_text(target)}")

    def _leave(self, item: Item, key: str) -> None:
        """Go from an item to another; there is a way back."""
        self._been.append(item.key)
        self._ahead.clear()
        self.go_to(key)

    def _along(self, taken: list[str], left: list[str]) -> None:
        if self.item:
            left.append(self.item.key)
        self.go_to(taken.pop())
