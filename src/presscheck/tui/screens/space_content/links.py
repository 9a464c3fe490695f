"""The links of a space: targets with the pages that link to them and their states, broken links first."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import TYPE_CHECKING

from typing_extensions import override

from presscheck.documents.pages.tree import flatten
from presscheck.text.sanitize import sanitize
from presscheck.text.styled_text import Line, Span
from presscheck.tui.commands import key_for
from presscheck.tui.screens.page.editor import edit_page
from presscheck.tui.screens.space_content.content_list import ContentList
from presscheck.tui.screens.space_content.link_rows import (
    SIGNS,
    STATES,
    LinkRow,
    State,
    rows_of,
    target_kind,
    target_name,
)
from presscheck.tui.ui.ask import choose
from presscheck.tui.ui.list import Column
from presscheck.tui.ui.loaded import Loaded
from presscheck.tui.widgets.empty_state import Message
from presscheck.tui.widgets.picker import Choice

if TYPE_CHECKING:
    from presscheck.tui.screens.space_content.session import SpaceContent

STATE_COLUMNS, KIND_COLUMNS = 11, 17
WIDE = 90
"""Minimum width in cells of a list with the kinds of targets."""
HELP = {"in app": "for members only", "external": "other addresses", "ok": "pages, files, content"}


class LinkList(ContentList[LinkRow]):
    """The list of all links, or of the links in a state or on a page.

    Args:
        session: the content of the space.
    """

    name, nouns = "Links", "links"
    footer = ("open", "edit", "edit_view", "find_here", "copy", "close")
    no_address = "this link leads to no web address: {open} opens its page"

    def __init__(self, session: SpaceContent) -> None:
        self._state: State | None = None
        self._page: tuple[str, Sequence[LinkRow]] | None = None
        """The title of the page whose links are shown, and its links; None for all pages."""
        self._shown: tuple[object, State | None, Sequence[LinkRow]] = (None, None, ())
        """The links and the state of the last filtering, and its result."""
        super().__init__(
            session,
            (
                Column("state", _state, STATE_COLUMNS, gap=0),
                Column("page", _page, share=2, gap=2),
                Column("links to", _target, share=3, gap=2),
                Column("kind", _kind, KIND_COLUMNS, from_width=WIDE),
            ),
        )

    @override
    @property
    def loaded(self) -> Loaded[Sequence[LinkRow]]:
        """The links in the chosen state or on the chosen page; all links without a choice."""
        links = self._page[1] if self._page else self.session.links.value
        error = self.session.links.error or self.session.revision.error
        if links is None or self._state is None:
            return Loaded(links, error)
        if self._shown[0] is not links or self._shown[1] != self._state:
            self._shown = (links, self._state, [row for row in links if row.state == self._state])
        return Loaded(self._shown[2], error)

    @override
    @property
    def total(self) -> int | None:
        """The number of all links of the space; None until they are loaded."""
        links = self.session.links.value
        return None if links is None else len(links)

    @override
    def key_of(self, item: LinkRow) -> Hashable:
        return (item.page.id if item.page else "", item.target)

    @override
    def summary(self) -> Line:
        spans: list[Span] = []
        for state in STATES:
            (sign, style), number = SIGNS[state], self.session.counts[state]
            is_quiet = not number or self._state not in (None, state)
            spans += [Span(f"{sign} ", "quiet" if is_quiet else style)]
            spans += [Span(f"{number:,} {state}   ", "quiet" if is_quiet else "")]
        if self._page:
            spans.append(Span(f"only on {self._page[0]}: {key_for('edit_view')} shows others   ", "accent"))
        if self._state:
            spans.append(Span(f"only {self._state}: {key_for('edit_view')} shows others   ", "accent"))
        return tuple(spans)

    @override
    def empty(self) -> Message:
        if self._page:
            return Message(f"{self._page[0]} has no links.", f"{key_for('edit_view')} shows those of other pages.")
        if self._state:
            return Message(f"No link is {self._state}.", f"{key_for('edit_view')} shows the others.")
        return Message("No links in this space.")

    @override
    def address(self, item: LinkRow) -> str:
        return (item.target.url or "") if item.target and item.state in ("external", "in app") else ""

    @override
    def text(self, item: LinkRow) -> str:
        return target_name(item.target)

    async def command_open(self) -> None:
        """Open the page at the link."""
        row = self.current
        if row and row.page:
            await self.session.open_page(row.page, row.target)
        elif row:
            self.session.screen.notify("the service does not say which page has this link")

    def reason_edit(self) -> str | None:
        """Return why the page of the link cannot be edited: no page is known, or nothing can be edited now."""
        reason = self.session.edit_reason()
        return reason or (None if self.current and self.current.page else "no link here")

    async def command_edit(self, *, uses_other_editor: bool = False) -> None:
        """Edit the page of the link in the change request."""
        page = self.current.page if self.current else None
        path = await self.session.request_path() if page else None
        if page and path:
            await edit_page(self.session.screen, path, page.id, uses_other_editor=uses_other_editor)

    reason_edit_other = reason_edit

    async def command_edit_other(self) -> None:
        """Edit the page of the link in the editor that is not the default: external or built-in."""
        await self.command_edit(uses_other_editor=True)

    async def command_edit_view(self) -> None:
        """Choose the state or the page whose links are shown."""
        screen, counts = self.session.screen, self.session.counts
        choices = [Choice("all", "All links", f"{self.total or 0:,}")]
        choices += [
            Choice(state, f"Only {state}", f"{HELP.get(state, '')}  {counts[state]:,}".strip()) for state in STATES
        ]
        offline = "" if screen.engine.status.online else "you are offline"
        choices.append(Choice("page", "Those of one page …", offline or "as the service has them now"))
        choice = await choose(screen, "Links: show", choices, ranked=True)
        if choice == "page":
            await self._choose_page()
        elif choice:
            self._page, self._state = None, next((state for state in STATES if state == choice), None)
            screen.redraw()

    async def _choose_page(self) -> None:
        """Ask for a page, and show only its links, which are read from the service."""
        session, content = self.session, self.session.revision.value
        pages = [page for page in flatten(content.pages) if page.type == "document"] if content else []
        page = await session.choose_page("Links of which page?", pages)
        if page:
            links = rows_of(await session.links_of_page(page.id))
            rows = [link._replace(page=link.page or page) for link in links]
            self._page, self._state = (sanitize(page.title) or "(no title)", rows), None
            session.screen.redraw()


def _state(row: LinkRow) -> Line:
    sign, style = SIGNS[row.state]
    return (Span(f"{sign} {row.state}", style),)


def _page(row: LinkRow) -> str:
    return sanitize(row.page.title) or "(no title)" if row.page else "–"


def _target(row: LinkRow) -> Line:
    return (Span(target_name(row.target), SIGNS[row.state][1] if row.state == "broken" else "link"),)


def _kind(row: LinkRow) -> Line:
    return (Span(target_kind(row.target), "quiet"),)
