"""The page pane of the browse screen: the page under the cursor, where it was left, its headings, links and history."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING
from urllib.parse import quote

from presscheck.api.content import ListChangeRequestFiles, ListFiles, Pages, RevisionFile, RevisionPage
from presscheck.api.operation import Operation, Page
from presscheck.documents.markdown.links import LinkResolver, source_path
from presscheck.documents.pages.tree import flatten
from presscheck.documents.terminal.page_lines import PageLines
from presscheck.engine.results import Result
from presscheck.engine.search.backlinks import backlinks
from presscheck.engine.shared_calls import ALL, changed_page, live_page
from presscheck.text.phrases import count, long_ago
from presscheck.text.sanitize import sanitize
from presscheck.tui.external_programs import open_address
from presscheck.tui.screens.browse.page_tree import READABLE, Item, page_key
from presscheck.tui.screens.browse.space_home import SpaceHome
from presscheck.tui.widgets.picker import Choice, Picker

if TYPE_CHECKING:
    from presscheck.api.spaces import Space
    from presscheck.tui.screens.browse.context import BrowseContext
    from presscheck.tui.widgets.page_view import PageLayout, Position

WIDEST = 96
"""Columns of text that are still easy to read."""
REMEMBERED = 200
"""Pages whose position is remembered."""
HINTS = {
    "collection": "enter expands and collapses.",
    "group": "A group of pages.",
}


class PageNavigation:
    """Shows pages where they were left, and handles the commands that move in a page and from page to page.

    Args:
        screen: the browse screen.
    """

    def __init__(self, screen: BrowseContext) -> None:
        self._screen = screen
        self.is_zoomed = False
        self._key = ""
        self._positions: dict[str, Position] = {}
        self._anchor = ("", "")

    def show(self, key: str, make: Callable[[int], PageLayout]) -> None:
        """Show a page by the key of its item: the same one as it is scrolled, another one where it was left."""
        view = self._screen.page_view
        if key == self._key:
            view.show(make, line=None)
        else:
            self.remember()
            self._key = key
            view.show(make, position=self._positions.get(key))
        if key and self._anchor[0] == key:
            anchor, self._anchor = self._anchor[1], ("", "")
            self._screen.run(self._go_to_anchor(anchor), group="anchor", exclusive=True)

    def remember(self) -> None:
        """Remember where the page that is shown is read."""
        position = self._screen.page_view.position
        if self._key and position:
            self._positions.pop(self._key, None)
            self._positions[self._key] = position
            if len(self._positions) > REMEMBERED:
                self._positions.pop(next(iter(self._positions)))

    def columns(self, columns: int) -> int:
        """The width of a text in a pane of so many columns."""
        return columns if self.is_zoomed else min(columns, WIDEST)

    def go_to_anchor(self, key: str, anchor: str) -> None:
        """Go to the line that a `#fragment` leads to, as soon as the page with this key is shown."""
        if key == self._key:
            self._screen.run(self._go_to_anchor(anchor), group="anchor", exclusive=True)
        else:
            self._anchor = (key, anchor)

    async def _go_to_anchor(self, anchor: str) -> None:
        if not await self._screen.page_view.go_to_anchor(anchor):
            self._screen.notify(f"no heading or anchor “{sanitize(anchor)}” on this page")

    def reason_outline(self) -> str | None:
        """Disabled without headings."""
        document = self._screen.page_view.document
        return None if document and (document.headings or not document.done) else "no headings here"

    async def command_outline(self) -> None:
        """Choose among the headings of the page, and go to it."""
        view = self._screen.page_view
        headings = await view.all_headings()
        if not headings:
            self._screen.notify("no headings here")
            return
        levels = min(heading.level for heading in headings)
        choices = [
            Choice(str(number), f"{'  ' * (heading.level - levels)}{heading.text}")
            for number, heading in enumerate(headings)
        ]
        at = max((number for number, heading in enumerate(headings) if heading.line <= view.cursor), default=0)
        picker = Picker("Headings", choices, self._screen.style_for, ranked=False, is_menu=False, current=str(at))
        choice = await self._screen.ask(picker)
        document = view.document
        if choice and document and int(choice[0]) < len(document.headings):
            view.place_at(document.headings[int(choice[0])].line)
            view.focus()

    def command_next_change(self) -> None:
        """Go to the next heading of the page."""
        self._go_to_heading(1)

    def command_previous_change(self) -> None:
        """Go to the previous heading of the page."""
        self._go_to_heading(-1)

    def reason_next_page(self) -> str | None:
        """Disabled until the pages of a space are known."""
        item = self._screen.item
        if item is None or item.space is None:
            return "go to a space or a page first"
        return None if self._screen.library.pages(item.space.id) else "the pages of this space are not loaded yet"

    reason_previous_page = reason_next_page

    def command_next_page(self) -> None:
        """Go to the next page of the tree, in reading order."""
        self._turn(1)

    def command_previous_page(self) -> None:
        """Go to the previous page of the tree, in reading order."""
        self._turn(-1)

    def command_zoom(self) -> None:
        """Give the page the whole width, or show the tree beside it again."""
        self.is_zoomed = not self.is_zoomed
        self._screen.show_zoom(is_zoomed=self.is_zoomed)

    def open_links(self) -> None:
        """Follow the link in the line under the cursor; label the links if it has several."""
        view = self._screen.page_view
        targets = view.cursor_targets
        if len(targets) == 1:
            view.post_message(view.LinkChosen(view, targets[0]))
        elif targets:
            view.label_links()

    def _go_to_heading(self, by: int) -> None:
        if not self._screen.page_view.next_heading(by):
            self._screen.notify("no further heading" if by > 0 else "no heading above")

    def _turn(self, by: int) -> None:
        item = self._screen.item
        pages = self._screen.library.pages(item.space.id) if item and item.space else None
        if item is None or item.space is None or pages is None:
            return
        order = list(flatten(pages.pages))
        at = next((number for number, page in enumerate(order) if item.page and page.id == item.page.id), -1)
        candidates = order[at + 1 :] if by > 0 else order[: max(0, at)][::-1]
        page = next((page for page in candidates if page.type in READABLE), None)
        if page is None:
            self._screen.notify("this is the last page" if by > 0 else "this is the first page")
            return
        key = page_key(item.space.id, page.id)
        tree = self._screen.tree_view  # the focus stays where it is: in the page or in the tree
        tree.move_to_key(key, ancestors=self._screen.library.ancestors(key))


class PagePane:
    """Shows the page under the cursor, and handles the commands about it.

    Args:
        screen: the browse screen.
    """

    def __init__(self, screen: BrowseContext) -> None:
        self._screen = screen
        self.navigation = PageNavigation(screen)
        self.home = SpaceHome(screen, self._show_home)
        self.age = ""
        """How old the shown page is, while offline."""
        self._shown = ("", "", "")
        self._back: list[str] = []
        self._forward: list[str] = []

    def show_page(self) -> None:
        """Show what is under the cursor, from the store first, then from the service."""
        item = self._screen.item
        self._set_age("")
        if item and item.kind == "space" and item.space:
            self._screen.unsubscribe("page")
            self.home.show(item.space)
            return
        if self.home.space:
            self.home.leave()
        if item is None:
            return
        if item.kind != "document" or item.page is None or item.space is None:
            self.show_text(HINTS.get(item.kind, sanitize(item.page.href or "") if item.page else ""))
            return
        space, page = item.space.id, item.page.id
        request = self._screen.library.requests.get(space)
        call: Operation[RevisionPage] = changed_page(space, request.id, page) if request else live_page(space, page)
        answers = self._screen.engine.watch(call)
        self._screen.subscribe(answers, lambda result: self._take_page(item, result), group="page", shows_errors=False)

    def show_text(self, text: str) -> None:
        """Show a sentence instead of a page."""
        self._show("", text, "")

    def follow_link(self, target: str) -> None:
        """Open the target of a link: a page, a file or a web address in the browser, or what a space's home names."""
        item = self._screen.item
        if item and item.kind == "space":
            self.home.follow(target)
            return
        pages = self._screen.library.pages(item.space.id) if item and item.space else None
        if item is None or item.space is None or item.page is None or pages is None:
            return
        link = LinkResolver.of(pages.pages).resolve(target, source_path(item.page))
        if link.kind == "web":
            open_address(self._screen.app_context, link.url)
        elif link.kind == "page":
            key = page_key(item.space.id, link.id)
            if link.anchor:
                self.navigation.go_to_anchor(key, link.anchor)
            if key != item.key:
                self._open(item, key)
        else:
            self._screen.run(self._open_file(item.space.id, pages, target, source_path(item.page)))

    async def _open_file(self, space: str, pages: Pages, target: str, source: str) -> None:
        """Open an image or a file in the browser; a link to nothing says to what."""
        request = self._screen.library.requests.get(space)
        call: Operation[Page[RevisionFile]] = (
            ListChangeRequestFiles(space_id=space, change_request_id=request.id, limit=ALL)
            if request
            else ListFiles(space_id=space, limit=ALL)
        )
        files = (await self._screen.engine.read(call)).items
        link = LinkResolver.of(pages.pages, files).resolve(target, source)
        address = next((file.download_url for file in files if link.kind == "file" and file.id == link.id), "")
        if address:
            open_address(self._screen.app_context, address)
        else:
            self._screen.notify(f"broken link, not found in this space: {sanitize(target)}")

    def reason_history_back(self) -> str | None:
        """Disabled until a link was followed."""
        return None if self._back else "no previous page"

    def command_history_back(self) -> None:
        """Go back to the page whose link was followed."""
        self._step(self._back, self._forward)

    def reason_history_forward(self) -> str | None:
        """Disabled until the user went back."""
        return None if self._forward else "no next page"

    def command_history_forward(self) -> None:
        """Go forward again."""
        self._step(self._forward, self._back)

    def reason_backlinks(self) -> str | None:
        """Disabled without a page."""
        item = self._screen.item
        return None if item and item.kind == "document" else "no page here"

    async def command_backlinks(self) -> None:
        """Choose among the pages that link to this one, and open it."""
        item = self._screen.item
        if item is None or item.page is None or item.space is None:
            return
        request = self._screen.library.requests.get(item.space.id)
        links = await backlinks(self._screen.engine, item.space.id, item.page.id, request.id if request else None)
        pages = [backlink.page for backlink in links.items if backlink.page]
        unread = f"{count(links.unread, 'page')} of this space not in the cache" if links.unread else ""
        if not pages:
            self._screen.notify(f"no known page of this space links here{': ' if unread else ''}{unread}")
            return
        choices = [Choice(page.id, sanitize(page.title), sanitize(page.path or "")) for page in pages]
        title = f"Pages that link here{' · ' if unread else ''}{unread}"
        choice = await self._screen.ask(Picker(title, choices, self._screen.style_for))
        if choice:
            self._open(item, page_key(item.space.id, choice[0]))

    def command_copy(self) -> None:
        """Copy the web address of the page or the space."""
        item = self._screen.item
        address = item.space.urls.app if item and item.space else None
        if item and address:
            path = f"/{item.page.path}" if item.page and item.page.path else ""
            self._screen.app_context.copy_to_clipboard(sanitize(address + path))
            self._screen.notify("copied")
        else:
            self._screen.notify("it has no web address")

    def command_copy_text(self) -> None:
        """Copy the Markdown of the page."""
        key, markdown, _ = self._shown
        if key:
            self._screen.app_context.copy_to_clipboard(markdown)
            self._screen.notify("copied the Markdown of the page")
        else:
            self._screen.notify("no page here")

    def command_web(self) -> None:
        """Open the published page in the browser, or that of the app if no site publishes the space."""
        item = self._screen.item
        address = self._web_address(item) if item else None
        if address:
            open_address(self._screen.app_context, address)
        else:
            self._screen.notify("it has no web address")

    def _web_address(self, item: Item) -> str | None:
        """The address of an item; a page is not published as it is in a change request, so that is the app's."""
        space, page = item.space, item.page
        if space is None:
            return None
        request = self._screen.library.requests.get(space.id)
        if space.urls.published and request is None:
            # the default space of a site has the site's address, every other its own below it, and pages their paths
            return f"{space.urls.published.rstrip('/')}/{quote(page.path or '') if page else ''}"
        app = page.urls.app if page and page.urls else None
        return app or (request.urls.app if request else None) or space.urls.app

    def _take_page(self, item: Item, result: Result[RevisionPage | None]) -> None:
        current = self._screen.item
        if current is None or current.key != item.key:
            return
        if result.value is None:
            reason = result.error.message if result.error else "it is not in the cache"
            self.show_text(f"This page cannot be shown: {sanitize(reason)}")
            return
        self._set_age(f"   as it was {long_ago(result.age)}" if result.state == "offline" else "")
        self._show(item.key, result.value.markdown or "", result.value.title)

    def _show(self, key: str, markdown: str, title: str) -> None:
        """Show a page; the scroll position stays if it is the same page."""
        if self._shown == (key, markdown, title):
            return
        self._shown = (key, markdown, title)
        columns = self.navigation.columns
        self.navigation.show(key, lambda width: PageLines(markdown, columns(width), title=title))

    def _show_home(self, space: Space) -> None:
        """Show the home of the space under the cursor."""
        item = self._screen.item
        if item and item.kind == "space" and item.space and item.space.id == space.id:
            self._shown = ("", "", "")
            self.navigation.show(item.key, lambda width: self.home.lines(self.navigation.columns(width)))
            self._set_age(self.home.age)

    def _set_age(self, age: str) -> None:
        if age != self.age:
            self.age = age
            self._screen.refresh_status_bars()

    def visit(self, key: str) -> None:
        """Remember the current item in the history, before the cursor goes to another one."""
        item = self._screen.item
        if item and item.key != key:
            self._back.append(item.key)
            self._forward.clear()

    def _open(self, item: Item, key: str) -> None:
        """Go from an item to another, and remember the first one in the history."""
        self.visit(key)
        self._screen.go_to(key)

    def _step(self, source: list[str], target: list[str]) -> None:
        item = self._screen.item
        if item:
            target.append(item.key)
        self._screen.go_to(source.pop())
