"""The page pane of the browse screen: the page under the cursor, its links and backlinks."""

from __future__ import annotations

from typing import TYPE_CHECKING, cast
from urllib.parse import quote

from presscheck.api.content import ListChangeRequestFiles, ListFiles, Pages, RevisionFile, RevisionPage
from presscheck.api.operation import ALL, Operation, Page
from presscheck.documents.markdown.links import LinkResolver, source_path
from presscheck.documents.merge.conflict_blocks import START_SIGNS
from presscheck.documents.nodes.references import parse_reference
from presscheck.documents.terminal.page_lines import PageLines
from presscheck.documents.terminal.references import NO_REFERENCES
from presscheck.engine.reads.scheduler import VISIBLE
from presscheck.engine.results import Result
from presscheck.engine.search.backlinks import backlinks
from presscheck.engine.shared_calls import changed_page, live_page
from presscheck.engine.writes.page_merge import pending_note
from presscheck.text.phrases import count, long_ago
from presscheck.text.sanitize import sanitize
from presscheck.tui.commands import with_keys
from presscheck.tui.external_programs import folder_reason
from presscheck.tui.screens.browse.item_contents import CONTENTS_OF, Contents
from presscheck.tui.screens.browse.page_navigation import PageNavigation
from presscheck.tui.screens.browse.page_references import ReferenceLoader
from presscheck.tui.screens.browse.page_tree import Item, page_key
from presscheck.tui.screens.browse.shortcut_actions import shortcut_text
from presscheck.tui.screens.browse.site_actions import site_lines
from presscheck.tui.screens.browse.space_home import SpaceHome
from presscheck.tui.screens.folder import open_folder
from presscheck.tui.screens.references.page_pictures import PagePictures
from presscheck.tui.screens.web_address import open_address
from presscheck.tui.ui.ask import choose
from presscheck.tui.widgets.picker import Choice

if TYPE_CHECKING:
    from collections.abc import Callable

    from presscheck.api.spaces import Space
    from presscheck.tui.screens.browse.session import ContentTree

NO_HIT = "Nothing that is loaded has this text in its title. {back} ends the filter."


class PagePane:
    """The pane that shows the page under the cursor, and the commands on the page.

    Args:
        session: the tree and the filter.
    """

    def __init__(self, session: ContentTree) -> None:
        self._session, self._screen = session, session.screen
        self.navigation = PageNavigation(session)
        self.home = SpaceHome(session, self._show_home)
        self.pictures = PagePictures(session.screen, lambda: session.page_view.size.height, self._references_changed)
        self._references = ReferenceLoader(session, self.pictures, self._references_changed)
        self.age = ""
        """A note on the age of the cached page while offline, and on a pending edit."""
        self._shown = ("", "", "")
        self._drawn_with: Pages | None = None
        """The pages of the space with which the current page was drawn: links show their titles."""

    def show_page(self) -> Item | None:
        """Show and return the item under the cursor. A page is shown from the store first, then from the service."""
        item = self._session.item
        self.age = ""
        self._show_item(item)
        self._screen.refresh_status_bars()  # the bars name the item under the cursor
        return item

    def _show_item(self, item: Item | None) -> None:
        if item is None or item.kind != "document":
            self._references.leave()
        if item and item.kind == "space" and item.space:
            self._screen.unsubscribe("page")
            self.home.show(item.space)
            return
        if self.home.space:
            self.home.leave()
        if item is None:
            self._screen.unsubscribe("page")
            self.show_text(with_keys(NO_HIT) if self._session.tree_view.search_text else self._session.message)
            return
        if item.site:
            self._screen.unsubscribe("page")
            site = item.site
            self._shown = ("", "", "")
            self.navigation.show(item.key, lambda width: site_lines(site, self.navigation.columns(width)))
            return
        if item.kind in CONTENTS_OF:
            self._screen.unsubscribe("page")
            self._shown = ("", "", "")
            self.navigation.show(
                item.key, lambda width: Contents(self._session.library, item, self.navigation.columns(width))
            )
            return
        if item.kind in ("shortcuts", "shortcut"):
            self.show_text(shortcut_text(self._session.library, item))
            return
        if item.kind != "document" or item.page is None or item.space is None:
            self.show_text(sanitize(item.page.href or "") if item.page else "")
            return
        space, page = item.space.id, item.page.id
        request = self._session.library.requests.get(space)
        call: Operation[RevisionPage] = changed_page(space, request.id, page) if request else live_page(space, page)
        engine = self._screen.engine
        # at once, so that row and page change in one frame, unless the next key is waiting already
        is_passed = self._screen.app_context.type_ahead.has_more
        known = None if is_passed else engine.known(call, priority=VISIBLE)
        answers = engine.watch(call, known=known)
        self._screen.subscribe(answers, lambda result: self._take_page(item, result), group="page", shows_errors=False)
        if known:
            self._show_page(item, cast("Result[RevisionPage | None]", known))

    @property
    def page_text(self) -> tuple[str, str] | None:
        """Title and Markdown of the page that is shown; None if there is no page."""
        key, markdown, title = self._shown
        return (title, markdown) if key else None

    def show_text(self, text: str) -> None:
        """Show a sentence instead of a page."""
        self._show(None, text, "")

    def follow_link(self, target: str) -> None:
        """Open the target of a link: a page, a file, a web address, or an item that the pane lists.

        For a mention of a user, only show the name.
        """
        item = self._session.item
        if item and item.kind == "space":
            self.home.follow(target)
            return
        if item and item.site:
            open_address(self._screen.app_context, target)
            return
        if item and item.kind in CONTENTS_OF:
            self._session.visit(target)
            return
        pages = self._session.library.pages(item.space.id) if item and item.space else None
        if item is None or item.space is None or item.page is None or pages is None:
            return
        if target.startswith("/~/users/"):
            person = self._references.of(item, pages).target(target)
            self._screen.notify(sanitize(person.title) if person else "somebody who is not in this organization")
            return
        ref = parse_reference(target)
        if ref["kind"] in ("page", "anchor") and ref.get("page"):
            self._follow_reference(item, ref.get("space") or item.space.id, ref["page"], ref.get("anchor", ""))
            return
        link = LinkResolver.of(pages.pages).resolve(target, source_path(item.page))
        if link.kind == "web":
            open_address(self._screen.app_context, link.url)
        elif link.kind == "page":
            key = page_key(item.space.id, link.id)
            if link.anchor:
                self.navigation.go_to_anchor(key, link.anchor)
            if key != item.key:
                self._session.visit(key)
        else:
            self._screen.run(self._open_file(item.space.id, pages, target, source_path(item.page)))

    def _follow_reference(self, item: Item, space: str, page: str, anchor: str) -> None:
        """Go to a page, possibly in another space, and to an anchor on it."""
        key = page_key(space, page)
        if anchor:
            self.navigation.go_to_anchor(key, anchor)
        if item.space and space != item.space.id:
            self._session.visit_page(space, page)
        elif key != item.key:
            self._session.visit(key)

    async def _open_file(self, space: str, pages: Pages, target: str, source: str) -> None:
        """Open an image or file in the browser. For a broken link, show its target."""
        request = self._session.library.requests.get(space)
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

    def reason_backlinks(self) -> str | None:
        """Return why no backlinks can be shown: no page is under the cursor."""
        item = self._session.item
        return None if item and item.kind == "document" else "no page here"

    async def command_backlinks(self) -> None:
        """Choose one of the pages that link to this page, and open it."""
        item = self._session.item
        if item is None or item.page is None or item.space is None:
            return
        request = self._session.library.requests.get(item.space.id)
        links = await backlinks(self._screen.engine, item.space.id, item.page.id, request.id if request else None)
        pages = [backlink.page for backlink in links.items if backlink.page]
        unread = f"{count(links.unread, 'page')} of this space not in the cache" if links.unread else ""
        if not pages:
            self._screen.notify(
                f"no {'known ' if unread else ''}page of this space links here{': ' if unread else ''}{unread}"
            )
            return
        choices = [Choice(page.id, sanitize(page.title), sanitize(page.path or "")) for page in pages]
        title = f"Pages that link here{' · ' if unread else ''}{unread}"
        choice = await choose(self._screen, title, choices, ranked=True)
        if choice:
            self._session.visit(page_key(item.space.id, choice))

    def command_copy(self) -> None:
        """Copy the web address of the page, the space or the site."""
        if self.address:
            self._screen.app_context.copy_to_clipboard(sanitize(self.address))
        self._screen.notify("copied" if self.address else "it has no web address")

    @property
    def address(self) -> str:
        """The web address of the page, the space or the site under the cursor; empty for none."""
        item = self._session.item
        if item and item.site:
            return item.site.urls.published or item.site.urls.app or ""
        address = item.space.urls.app if item and item.space else None
        path = f"/{item.page.path}" if address and item and item.page and item.page.path else ""
        return f"{address or ''}{path}"

    def command_copy_text(self) -> None:
        """Copy the code under the cursor or, without code there, the Markdown of the page."""
        key, markdown, _ = self._shown
        code = self._session.page_view.code_at_cursor if self._session.page_view.has_focus else None
        if code is not None:
            self._screen.app_context.copy_to_clipboard(code)
            self._screen.notify("copied the code")
        elif key:
            self._screen.app_context.copy_to_clipboard(markdown)
            self._screen.notify("copied the Markdown of the page")
        else:
            self._screen.notify("no page here")

    def command_web(self) -> None:
        """Open the published page, space or site in the browser; if it is not published, open it in the web app."""
        item = self._session.item
        address = self._web_address(item) if item else None
        if address:
            open_address(self._screen.app_context, address)
        else:
            self._screen.notify("it has no web address")

    def reason_folder(self) -> str | None:
        """Return why the space cannot be checked out."""
        item = self._session.item
        return folder_reason(self._screen.engine) if item and item.space else "no space here"

    async def command_folder(self) -> None:
        """Check the space, or the change request chosen in it, out into its folder, and open the folder."""
        item = self._session.item
        if item and item.space:
            space = item.space.id
            await open_folder(self._screen, space, self._session.library.requests.get(space))

    def _web_address(self, item: Item) -> str | None:
        """Return the web address of an item; None if it has none.

        Items that are not published, and spaces in a change request, only have an address in the web app.
        """
        space, page = item.space, item.page
        if item.site:
            return item.site.urls.published or item.site.urls.app
        if space is None:
            return None
        request = self._session.library.requests.get(space.id)
        if space.urls.published and request is None:
            # the default space has the address of its site; other spaces have a path below it, and pages a path below
            # that
            return f"{space.urls.published.rstrip('/')}/{quote(page.path or '') if page else ''}"
        app = page.urls.app if page and page.urls else None
        return app or (request.urls.app if request else None) or space.urls.app

    def _take_page(self, item: Item, result: Result[RevisionPage | None]) -> None:
        current = self._session.item
        if current is not None and current.key == item.key:
            self._show_page(item, result)

    def _show_page(self, item: Item, result: Result[RevisionPage | None]) -> None:
        if result.value is None:
            reason = result.error.message if result.error else "it is not in the cache"
            self.show_text(f"This page cannot be shown: {sanitize(reason)}")
            return
        age = f"   as it was {long_ago(result.age)}" if result.state == "offline" else ""
        note = pending_note(result.value)
        self._set_age(f"{age}   {note}" if note else age)
        markdown = result.value.markdown or ""
        self._references.load(item, markdown)
        self._show(item, markdown, result.value.title)

    def _show(self, item: Item | None, markdown: str, title: str) -> None:
        """Show a page, or a sentence if there is no item. The same page keeps its scroll position."""
        key = item.key if item else ""
        pages = self._session.library.pages(item.space.id) if item and item.space else None
        if self._shown == (key, markdown, title) and self._drawn_with is pages:
            return
        self._shown, self._drawn_with = (key, markdown, title), pages
        self.navigation.show(key, self._layout(item, pages))

    def _layout(self, item: Item | None, pages: Pages | None) -> Callable[[int], PageLines]:
        """Return a function that lays out the current page for a width, with the references loaded so far."""
        key, markdown, title = self._shown
        columns = self.navigation.columns
        references = self._references.of(item, pages) if item else NO_REFERENCES
        controls = self.navigation.controls(key) if key else None
        hint = f"{self._edit_key} edits there" if key and START_SIGNS in markdown else ""
        return lambda width: PageLines(
            markdown, columns(width), title=title, references=references, controls=controls, conflict_hint=hint
        )

    @property
    def _edit_key(self) -> str:
        return self._screen.app_context.keymap.label("edit")

    def _references_changed(self) -> None:
        """Redraw the current page with the references loaded so far."""
        key, item = self._shown[0], self._session.item
        if key and item and item.key == key:
            self._drawn_with = self._session.library.pages(item.space.id) if item.space else None
            self.navigation.show_again(key, self._layout(item, self._drawn_with))

    def _show_home(self, space: Space) -> None:
        item = self._session.item
        if item and item.kind == "space" and item.space and item.space.id == space.id:
            self._shown = ("", "", "")
            self.navigation.show(item.key, lambda width: self.home.lines(self.navigation.columns(width)))
            self._set_age(self.home.age)

    def _set_age(self, age: str) -> None:
        if age != self.age:
            self.age = age
            self._screen.refresh_status_bars()
