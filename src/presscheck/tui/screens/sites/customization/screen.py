"""The customization screen of a site: settings by group as a form, with a preview of the result."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, ClassVar

from textual.app import ComposeResult
from textual.containers import Container
from typing_extensions import override

from presscheck.engine.site_customization.settings import GROUPS
from presscheck.text.sanitize import sanitize
from presscheck.text.styled_text import Line
from presscheck.tui.commands import key_for
from presscheck.tui.screens.sites.customization.edits import Edits
from presscheck.tui.screens.sites.customization.picture import HEIGHT, picture
from presscheck.tui.screens.sites.customization.saves import Saves
from presscheck.tui.screens.sites.customization.session import Customization
from presscheck.tui.screens.sites.customization.settings import SettingList
from presscheck.tui.screens.sites.title import site_title
from presscheck.tui.ui.screen import NARROW
from presscheck.tui.ui.tabs import Tabs, TabScreen
from presscheck.tui.widgets.line_view import TextView

if TYPE_CHECKING:
    from presscheck.api.sites import Site


class CustomizationScreen(TabScreen):
    """A form with the customization of a site.

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
        self.session = Customization(self, organization_id, site)
        self.lists = Tabs(self, [SettingList(self.session, group) for group in GROUPS])

    @override
    def title_line(self) -> Line:
        return site_title(self.session.site, "Customization")

    @override
    def body(self) -> ComposeResult:
        with Container(id="form"):
            yield self.lists
            yield TextView(id="picture")

    @override
    def command_handlers(self) -> Iterable[object]:
        return (self, Edits(self.session), Saves(self.session), self.lists)

    @override
    def on_mount(self) -> None:
        super().on_mount()
        self.query_one("#picture").can_focus = False
        self.session.load()
        self.lists.draw()

    @override
    @property
    def footer_commands(self) -> tuple[str, ...]:
        has_lists = any(row.setting.is_list for row in self.lists.tab.loaded.value or ())
        edits = ("open", "rename", "add", "delete", "move_down") if has_lists else ("open", "rename", "delete")
        return (*edits, "send", "unsend", "close")

    @override
    def draw(self) -> None:
        super().draw()
        self._draw_picture()

    @override
    def on_resize(self) -> None:
        super().on_resize()
        self.redraw()

    def _draw_picture(self) -> None:
        view, session, is_loaded = self.query_one("#picture", TextView), self.session, self.session.base is not None
        is_narrow = self.size.width < NARROW
        view.display = is_loaded and self.size.height >= 2 * HEIGHT
        columns = self.size.width - 2 if is_narrow else 39
        title = sanitize(session.site.title)
        view.show(picture(session.document, title, columns, side_by_side=is_narrow) if is_loaded else ())

    def command_back(self) -> None:
        """Close the screen. Unsaved edits stay as a draft."""
        if self.session.is_changed:
            self.notify(f"your edits are kept as a draft: {key_for('go_customization')} opens them again")
        self.app_context.pop_screen()
