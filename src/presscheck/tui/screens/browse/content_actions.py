"""Commands on the content under the cursor: PDF export, search in a space, find and replace."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

from presscheck.api.change_requests import GetChangeRequestPDF
from presscheck.api.spaces import GetSpacePDF, SearchSpace
from presscheck.text.sanitize import sanitize
from presscheck.tui.commands import key_for
from presscheck.tui.screens.browse.page_tree import page_key
from presscheck.tui.screens.page.editor import stays_locked
from presscheck.tui.screens.web_address import open_address
from presscheck.tui.ui.ask import choose, prompt
from presscheck.tui.widgets.picker import Choice

if TYPE_CHECKING:
    from collections.abc import Awaitable

    from presscheck.api.spaces import Space
    from presscheck.tui.screens.browse.session import ContentTree

MOST = 50
"""Maximum number of pages in search results."""
LONGEST = 512
"""Maximum number of characters in a search, a limit of the service."""


class ContentActions:
    """The commands that export and search the space under the cursor.

    Args:
        session: the tree and the page pane.
    """

    def __init__(self, session: ContentTree) -> None:
        self._session, self._screen = session, session.screen

    def reason_pdf(self) -> str | None:
        """Return why no PDF can be generated: there is no space, the app is offline, or the service makes no PDFs."""
        item = self._session.item
        if item is None or item.space is None:
            return "go to a space or a page first"
        if not self._screen.engine.status.online:
            return "you are offline: the service makes the PDF"
        in_request = item.space.id in self._session.library.requests
        return self._screen.engine.missing_reason(GetChangeRequestPDF if in_request else GetSpacePDF)

    async def command_pdf(self) -> None:
        """Generate a PDF of the page or space, and open it in the browser or, without a browser, copy its address.

        The service keeps the PDF for an hour.
        """
        item = self._session.item
        if item is None or item.space is None:
            return
        space, request = item.space.id, self._session.library.requests.get(item.space.id)
        page: dict[str, Any] = {"page": item.page.id, "only": True} if item.page and item.kind == "document" else {}
        self._screen.notify(f"generating the PDF of the {'page' if page else 'space'} …")
        engine = self._screen.engine
        if request:
            answer = await engine.read(GetChangeRequestPDF(space_id=space, change_request_id=request.id, **page))
        else:
            answer = await engine.read(GetSpacePDF(space_id=space, **page))
        open_address(self._screen.app_context, answer.url)

    def reason_find_in_all(self) -> str | None:
        """Return why the space cannot be searched: there is none, the app is offline, or the service has no search."""
        item = self._session.item
        if item is None or item.space is None:
            return "go to a space or a page first"
        if not self._screen.engine.status.online:
            return f"you are offline: {key_for('find_anything')} searches what is cached"
        return self._screen.engine.missing_reason(SearchSpace)

    async def command_find_in_all(self) -> None:
        """Ask for words, search all pages of the space for them, and open a result."""
        item = self._session.item
        if item is None or item.space is None:
            return
        screen, space, title = self._screen, item.space.id, sanitize(item.space.title)
        words = await prompt(screen, f"Search in {title}", max_length=LONGEST, confirm_label="Search")
        if words is None:
            return
        found = (await screen.engine.read(SearchSpace(space_id=space, query=words, limit=MOST))).items
        if not found:
            screen.notify(f"no page of {title} has “{sanitize(words)}”")
            return
        choices = [Choice(page.id, sanitize(page.title) or "(no title)", sanitize(page.path)) for page in found]
        chosen = await choose(screen, f"“{sanitize(words)}” in {title}", choices)
        if chosen:
            self._session.visit_page(space, chosen)
            self._session.go_to(page_key(space, chosen))


class ReplaceActions:
    """The command that finds and replaces text in all pages of a space.

    Args:
        session: the tree and the page pane.
    """

    def __init__(self, session: ContentTree) -> None:
        self._session, self._screen = session, session.screen

    def reason_find_replace(self) -> str | None:
        """Return why no text can be found and replaced: no space is under the cursor."""
        item = self._session.item
        return None if item and item.space else "go to a space or a page first"

    def command_find_replace(self) -> Awaitable[None] | None:
        """Ask for the text to find, and list its hits."""
        item = self._session.item
        return self._open(item.space) if item and item.space else None

    async def _open(self, space: Space) -> None:
        # 40 ms of imports, only when it is first opened
        from presscheck.tui.screens.replace.screen import ReplaceScreen
        from presscheck.tui.screens.replace.task import TextTask, ask_query

        screen = self._screen
        if await stays_locked(screen, space.id):
            return
        query = await ask_query(screen, space)
        if query:
            request = self._session.library.requests.get(space.id)
            show_request = partial(self._session.browse_in, space.id)
            screen.app_context.push_screen(ReplaceScreen(space, request, TextTask(space, query), show_request))
