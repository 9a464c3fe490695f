"""The screen of the customization of a site: its settings by group as a form, and a picture of the result."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any, ClassVar

from textual import on
from textual.app import ComposeResult
from textual.containers import Container
from typing_extensions import override

from presscheck.api.site_settings import GetCustomization, ListShareLinks, ShareLink, UpdateCustomization
from presscheck.api.sites import GetSite
from presscheck.engine.site_config.site_state import SiteSecrets
from presscheck.engine.site_customization.rows import Row
from presscheck.engine.site_customization.settings import GROUPS, path_name
from presscheck.errors import Forbidden
from presscheck.text.sanitize import sanitize
from presscheck.text.styled_text import Line
from presscheck.tui.screens.sites.customization.edit_actions import EditActions
from presscheck.tui.screens.sites.customization.model import CustomizationModel
from presscheck.tui.screens.sites.customization.picture import HEIGHT, picture
from presscheck.tui.screens.sites.customization.save_actions import SaveActions
from presscheck.tui.screens.sites.customization.setting_tab import SettingTab
from presscheck.tui.screens.sites.title import site_title
from presscheck.tui.screens.sites.writes import lacks_role, write_reason
from presscheck.tui.ui.row_filter import RowFilter
from presscheck.tui.ui.screen import NARROW, BaseScreen
from presscheck.tui.ui.tabbed_lists import TabbedLists
from presscheck.tui.widgets.empty_state import EmptyState
from presscheck.tui.widgets.line_view import TextView
from presscheck.tui.widgets.row_list import RowList

if TYPE_CHECKING:
    from presscheck.api.operation import Page
    from presscheck.api.sites import Site
    from presscheck.engine.results import Result


NOT_LOADED = "the customization is not loaded"
MANY = 1000


class CustomizationScreen(BaseScreen):
    """The customization of a site as a form.

    Args:
        organization_id: the organization of the site.
        site: the site.
    """

    SCOPE = "site"
    FOOTER_TITLES: ClassVar[Mapping[str, str]] = {"send": "save"}
    LEGEND = (("±", "changed, not saved"), ("✗", "invalid, or too little contrast"))
    DEFAULT_CSS = """
    CustomizationScreen #form { layout: horizontal; }
    CustomizationScreen #picture { width: 42; padding: 1 1 0 2; }
    CustomizationScreen.narrow #form { layout: vertical; }
    CustomizationScreen.narrow #picture { width: 1fr; height: 9; padding: 0 1; }
    """

    def __init__(self, organization_id: str, site: Site) -> None:
        super().__init__()
        self._draft_key = f"customization of site {site.id}"
        self._organization_id, self._site = organization_id, site
        self._model: CustomizationModel | None = None
        self._received: dict[str, Any] | None = None
        self._share_links: tuple[ShareLink, ...] = ()
        tabs = tuple(SettingTab(self, group) for group in GROUPS)
        self.lists = TabbedLists(self, tabs, self._show_empty, has_mark_column=False)
        self._edits, self._saves = EditActions(self), SaveActions(self)

    @property
    def model(self) -> CustomizationModel:
        """The document, and what it was before."""
        if self._model is None:
            outbox = self.engine.outbox

            def keep(text: str) -> None:
                outbox.save_draft(self._draft_key, text, {"site": self._site.title})

            draft = outbox.draft(self._draft_key)
            self._model = CustomizationModel(self._organization_id, self._site, keep, draft)
        return self._model

    @override
    def title_line(self) -> Line:
        return site_title(self.model.site, "Customization")

    @override
    def body(self) -> ComposeResult:
        with Container(id="form"):
            yield self.lists
            yield TextView(id="picture")

    @override
    def command_handlers(self) -> Iterable[object]:
        return (self, self._edits, self._saves, self.lists)

    @override
    def on_mount(self) -> None:
        super().on_mount()
        self.query_one("#picture").can_focus = False
        watch, path = self.engine.watch, self.model.path
        self.subscribe(watch(GetSite(**path)), self._take_site, group="site", shows_errors=False)
        links = watch(ListShareLinks(**path, limit=MANY))
        self.subscribe(links, self._take_links, group="share links", shows_errors=False)
        self.subscribe(watch(GetCustomization(**path)), self._take, group="customization", shows_errors=False)
        self.lists.draw()

    def _take_site(self, result: Result[Site | None]) -> None:
        if result.value:
            self.model.site = result.value
            self._update()

    def _take_links(self, result: Result[Page[ShareLink] | None]) -> None:
        if result.value:
            self._share_links = result.value.items
            self._update()

    def _take(self, result: Result[dict[str, Any] | None]) -> None:
        self.model.error = result.error if result.value is None else None
        if result.value is not None:
            self._received = result.value
        self._update()

    def _update(self) -> None:
        """Take what was received, with names in the place of keys of share links."""
        if self._received is not None:
            self.model.take(self._received, SiteSecrets(self.model.site, self._share_links))
        self.redraw()

    @property
    def rows(self) -> RowList:
        """The rows of the tab."""
        return self.lists.rows

    @property
    def settings_rows(self) -> tuple[Row, ...]:
        """The rows of the tab."""
        return self.lists.tab.rows

    @property
    def row(self) -> Row | None:
        """The row under the cursor."""
        rows = self.settings_rows
        at = self.rows.cursor if self.is_mounted else 0
        return rows[at] if at < len(rows) else None

    def go_to(self, name: str) -> None:
        """Show the tab of a setting, with the cursor on it."""
        for tab in self.lists.tabs:
            tab.filter("")
            names = [path_name(row.path) for row in tab.rows]
            if name in names:
                self.lists.show_tab(tab)
                self.rows.move_to(names.index(name))
                break
        self.redraw()

    @override
    @property
    def footer_commands(self) -> tuple[str, ...]:
        return self.lists.tab.footer

    def change_reason(self) -> str | None:
        """Why nothing can be edited; offline edits are kept as a draft."""
        if not self.model.is_loaded:
            return NOT_LOADED
        if not self.engine.status.online and not self.engine.status.read_only:
            return lacks_role(self.model.site, "create")
        return write_reason(self, UpdateCustomization, self.model.site, "create")

    @override
    def redraw(self) -> None:
        self.lists.redraw()
        self._draw_picture()

    @override
    def on_resize(self) -> None:
        super().on_resize()
        self.redraw()

    def _draw_picture(self) -> None:
        if not self.is_mounted or self.is_leaving:
            return
        view, model = self.query_one("#picture", TextView), self.model
        is_narrow = self.size.width < NARROW
        view.display = model.is_loaded and self.size.height >= 2 * HEIGHT
        columns = self.size.width - 2 if is_narrow else 39
        title = sanitize(model.site.title)
        view.show(picture(model.document, title, columns, side_by_side=is_narrow) if model.is_loaded else ())

    def _show_empty(self, empty: EmptyState) -> None:
        model, status = self.model, self.engine.status
        error = model.error
        if model.is_loaded:
            empty.show_empty("No setting has this text.")
        elif isinstance(error, Forbidden):
            empty.show_empty("You may not read the customization of this site.", sanitize(error.message))
        elif error and status.online:
            empty.show_failed("Could not load the customization", error.message)
        elif not status.online:
            empty.show_offline("The customization of this site is not in the cache.")
        else:
            empty.show_loading("Loading the customization …")

    @on(RowList.RowHighlighted)
    def row_highlighted(self) -> None:
        """Show the keys of another row."""
        self.refresh_status_bars()

    async def command_find_here(self) -> None:
        """Filter the settings of the tab by a text."""
        tab, rows = self.lists.tab, self.rows

        def apply(text: str) -> None:
            tab.filter(text)
            self.redraw()

        await self.find.open(RowFilter(lambda: rows, apply), rows)

    def command_back(self) -> None:
        """Close; edits are kept as a draft."""
        if self.model.is_changed:
            self.notify("your edits are kept as a draft: g y opens them again")
        self.app_context.pop_screen()
