"""The part of the screen of links and files that its tabs use, as a protocol."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol

from presscheck.tui.ui.screen_context import ScreenContext
from presscheck.tui.ui.tabbed_lists import ListTab

if TYPE_CHECKING:
    from presscheck.api.content import RevisionFile, RevisionPage
    from presscheck.api.links import ContentLocation
    from presscheck.tui.screens.space_content.model import SpaceContent


class SpaceContentContext(ScreenContext, Protocol):
    """The screen of links and files as its tabs see it."""

    @property
    def model(self) -> SpaceContent:
        """The space, its links, files and reusable content."""
        ...

    @property
    def columns(self) -> int:
        """Its width."""
        ...

    def edit_reason(self) -> str | None:
        """Why nothing can be changed here now; None if it can."""
        ...

    async def request_path(self) -> dict[str, Any] | None:
        """The arguments that name the change request to edit in; asks for one on main. None if none was chosen."""
        ...

    async def replace_file(self, file: RevisionFile) -> None:
        """Replace a file by a local one, on all pages that show it."""
        ...

    async def open_page(self, page: RevisionPage, target: ContentLocation | None) -> None:
        """Browse a page, at its first link to a target."""
        ...

    async def choose_page(self, title: str, pages: list[RevisionPage]) -> RevisionPage | None:
        """Ask for one of some pages."""
        ...

    async def show_uses(self, name: str, pages: list[RevisionPage], target: ContentLocation) -> None:
        """List the pages that name a target, also those of other spaces that are cached, and open one."""
        ...

    def redraw(self) -> None:
        """Draw the tab again."""
        ...


class Tab(ListTab, Protocol):
    """One of the tabs, and what can be done with its rows."""

    def address(self, index: int) -> str:
        """The web address of a row; empty if it has none."""
        ...

    def text(self, index: int) -> str:
        """The text of a row that `Y` copies; empty if it has none."""
        ...

    async def open(self, index: int) -> None:
        """Open a row."""
        ...

    def open_web(self, index: int) -> None:
        """Open a row in the browser."""
        ...
