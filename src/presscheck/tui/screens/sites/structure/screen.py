"""The structure screen of a site: section groups, sections and spaces in a tree."""

from __future__ import annotations

from collections.abc import Awaitable, Iterable, Sequence
from typing import TYPE_CHECKING

from textual.app import ComposeResult
from textual.containers import Vertical
from typing_extensions import override

from presscheck.api.site_structure import GetSiteStructure, SiteSpace, SiteStructure
from presscheck.api.sites import GetSite
from presscheck.engine.publish.site_structure import children_of
from presscheck.text.sanitize import sanitize
from presscheck.text.styled_text import Line, Span
from presscheck.tui.commands import key_for
from presscheck.tui.places import Place
from presscheck.tui.screens.sites.adaptive.audience_view import view_as
from presscheck.tui.screens.sites.structure.additions import Additions
from presscheck.tui.screens.sites.structure.item_details import ItemDetails
from presscheck.tui.screens.sites.structure.model import SiteTree
from presscheck.tui.screens.sites.structure.moves import Moves
from presscheck.tui.screens.sites.structure.removals import Removals
from presscheck.tui.screens.sites.structure.rows import detail_lines, nodes, path_columns, summary
from presscheck.tui.screens.sites.structure.session import StructureSession
from presscheck.tui.screens.sites.title import site_title
from presscheck.tui.screens.sites.writes import undo_here
from presscheck.tui.screens.web_address import open_address
from presscheck.tui.ui.loaded import message_for
from presscheck.tui.ui.screen import BaseScreen
from presscheck.tui.widgets.empty_state import EmptyState, Message
from presscheck.tui.widgets.line_view import TextView
from presscheck.tui.widgets.status_bar import StatusLine
from presscheck.tui.widgets.tree import Node, Tree

if TYPE_CHECKING:
    from presscheck.api.sites import Site
    from presscheck.engine.results import Result

NO_ADDRESS = "it has no address: it is not live"


class SiteStructureScreen(BaseScreen):
    """The structure of a site as a tree, with the details of the current item below.

    Args:
        organization_id: the organization of the site.
        site: the site.
    """

    SCOPE = "site"
    FOOTER = ("add", "rename", "move_down", "make_default", "delete", "find_here", "close")
    DEFAULT_CSS = """
    SiteStructureScreen #summary { margin-top: 1; }
    SiteStructureScreen #structure { margin-top: 1; }
    """

    def __init__(self, organization_id: str, site: Site) -> None:
        super().__init__()
        self.session = StructureSession(self, SiteTree(organization_id, site))
        self._handlers = (
            Additions(self.session),
            ItemDetails(self.session),
            Moves(self.session),
            Removals(self.session),
        )
        self._seen: set[str] = set()
        """Keys of the items that were expanded when they first appeared."""

    @override
    def title_line(self) -> Line:
        return site_title(self.session.model.site, "Structure")

    @override
    def body(self) -> ComposeResult:
        yield StatusLine(id="summary")
        with Vertical():
            yield EmptyState()
            yield Tree(self._children, on_highlight=self._show_item, id="structure")
        yield TextView(id="facts")

    @override
    def command_handlers(self) -> Iterable[object]:
        return (self, *self._handlers)

    @override
    def on_mount(self) -> None:
        super().on_mount()
        self.query_one("#facts").can_focus = False
        site, structure = GetSite(**self.session.model.path), GetSiteStructure(**self.session.model.path)
        self.subscribe(self.engine.watch(site), self._take_site, group="site", shows_errors=False)
        self.subscribe(self.engine.watch(structure), self._take_structure, group="structure", shows_errors=False)
        self.redraw()

    @override
    def draw(self) -> None:
        if self.is_leaving:
            return
        tree, empty = self.session.tree, self.query_one(EmptyState)
        new = {key for key, item in self.session.model.items.items() if children_of(item)} - self._seen
        self._seen |= new
        tree.expanded |= new
        tree.show()
        tree.display = bool(tree.count)
        if tree.count:
            empty.hide()
            if not tree.has_focus and not self.find.is_open:
                tree.focus()
        else:
            empty.show_message(self._explanation())
        self.query_one("#summary", StatusLine).show((Span(" "), *summary(self.session.model)) if tree.count else ())
        self._show_item()

    def _explanation(self) -> Message:
        loaded = self.session.model.loaded
        if loaded.value:
            hint = f"{key_for('add')} adds a space, or a section with its first space."
            return Message("This site has no spaces yet.", hint)
        hint = f"{key_for('web')} opens the site in the browser."
        online = self.engine.status.online
        return message_for(loaded, "structure", " of this site", online=online, verb="is", hint=hint)

    def _show_item(self) -> None:
        self.query_one("#facts", TextView).show(detail_lines(self.session.item, self.session.model.site))
        self.refresh_status_bars()

    def _children(self, key: str | None) -> Sequence[Node]:
        return nodes(self.session.model.below(key), path_columns(self.session.model, self.size.width))

    def _take_site(self, result: Result[Site | None]) -> None:
        if result.value:
            self.session.model.site = result.value
            self.redraw()

    def _take_structure(self, result: Result[SiteStructure | None]) -> None:
        self.session.model.take_result(result)
        self.redraw()

    @override
    def on_resize(self) -> None:
        super().on_resize()
        self.redraw()

    def command_open(self) -> Awaitable[object] | None:
        """Expand or collapse the group or section, or open the pages of the space."""
        item = self.session.item
        if isinstance(item, SiteSpace):
            return self.app_context.go(Place.page(item.space.id))
        if item:
            self.session.tree.toggle()
        return None

    def command_view_as(self) -> Awaitable[None]:
        """Ask for an audience, and show the site as its visitors see it."""
        return view_as(self, self.session.model.organization_id, self.session.model.site)

    def command_unsend(self) -> Awaitable[None]:
        """Undo the last change of the site, after a confirmation if it was sent."""
        return undo_here(self, self.session.model.site.id)

    @property
    def _address(self) -> str | None:
        item = self.session.item
        urls = getattr(item, "urls", None)
        return urls.published if urls else None

    def reason_copy(self) -> str | None:
        """Return why the address cannot be copied: the item has none."""
        return None if self._address else NO_ADDRESS

    def command_copy(self) -> None:
        """Copy the web address of the item."""
        self.app_context.copy_to_clipboard(sanitize(self._address or ""))
        self.notify("copied")

    def reason_web(self) -> str | None:
        """Return why the item cannot be opened in the browser: neither the item nor the site has a web address."""
        return None if self._address or self.session.model.site.urls.app else NO_ADDRESS

    def command_web(self) -> None:
        """Open the item in the browser. For an item that is not live, open the site in the web app."""
        open_address(self.app_context, self._address or self.session.model.site.urls.app or "")
