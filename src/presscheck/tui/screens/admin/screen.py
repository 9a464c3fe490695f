"""The administration screen: the families of an organization in a sidebar, and the table of the selected family."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

from textual import on
from textual.app import ComposeResult
from textual.containers import Horizontal
from typing_extensions import override

from presscheck.api.operation import Page
from presscheck.api.organizations import ListOrganizations, Organization
from presscheck.api.teams import Team
from presscheck.text.sanitize import sanitize
from presscheck.text.styled_text import Line, Span, cut
from presscheck.tui.places import Place
from presscheck.tui.screens.admin.cluster_requests import ClusterRequests
from presscheck.tui.screens.admin.conversation_import import ConversationImport
from presscheck.tui.screens.admin.families import FAMILIES
from presscheck.tui.screens.admin.family import OrganizationScreen
from presscheck.tui.screens.admin.merge_rules import OrganizationMergeRules
from presscheck.tui.screens.admin.table import FamilyTable
from presscheck.tui.screens.organization import choose_organization
from presscheck.tui.widgets.line_view import TextView
from presscheck.tui.widgets.pane_border import PaneBorder
from presscheck.tui.widgets.row_list import RowList

if TYPE_CHECKING:
    from pydantic import BaseModel

    from presscheck.engine.results import Result
    from presscheck.tui.screens.admin.family import Family

FOOTER = ("open", "add", "rename", "delete", "find_here", "close")


class AdminScreen(OrganizationScreen):
    """The administration screen: families on the left, the table of the selected family on the right."""

    FOOTER = FOOTER
    DEFAULT_CSS = "AdminScreen #families { width: 18; }"

    def __init__(self, family: str = "") -> None:
        super().__init__()
        self._family = next((one for one in FAMILIES if one.title == family), FAMILIES[0])
        self.table = FamilyTable(self, self._family)

    @override
    def command_handlers(self) -> Iterable[object]:
        of_families = (ConversationImport, ClusterRequests, OrganizationMergeRules)
        return (self, self.table, self.table.rows.marks, *(handler(self, self.table) for handler in of_families))

    @override
    def title_line(self) -> Line:
        title = sanitize(self.organization.title) if self.organization else ""
        return (Span(f" {title}{' › ' if title else ''}Administration › {self._family.title}", "quiet"),)

    @override
    def body(self) -> ComposeResult:
        with Horizontal():
            families = RowList(self._family_row, id="families")
            yield families
            yield PaneBorder(families)
            yield self.table

    @override
    def on_mount(self) -> None:
        super().on_mount()
        self._sidebar.show(len(FAMILIES), cursor=FAMILIES.index(self._family))
        self._sidebar.focus()
        self.subscribe(self.engine.watch(ListOrganizations()), self._take_organizations, group="organizations")

    @property
    def _sidebar(self) -> RowList:
        return self.query_one("#families", RowList)

    @override
    def place(self) -> Place:
        return Place("admin", self._family.title, (self._family.title,), "administration")

    @override
    def go_to(self, place: Place) -> None:
        self._sidebar.move_to(next((at for at, one in enumerate(FAMILIES) if (one.title,) == place.ids), 0))

    def _take_organizations(self, result: Result[Page[Organization] | None]) -> None:
        organizations = result.value.items if result.value else ()
        organization = choose_organization(organizations, self.app_context.profile.organization)
        is_new = organization is not None and (self.organization is None or self.organization.id != organization.id)
        self.organization = organization or self.organization
        self._sidebar.redraw()  # permissions may have changed
        if is_new or (self.organization is None and self.table.listing is None):
            self.table.show_family(self._family, {})
        self.refresh_status_bars()

    @on(RowList.RowHighlighted)
    def row_highlighted(self, event: RowList.RowHighlighted) -> None:
        """Show the table of the family that is highlighted in the sidebar. Other lists are ignored."""
        if event.rows is self._sidebar:
            if FAMILIES[event.index] is not self._family:
                self._family = FAMILIES[event.index]
                self.table.show_family(self._family, {})
            self.refresh_status_bars()

    def _family_row(self, index: int, columns: int) -> Line:
        family = FAMILIES[index]
        style = "quiet" if self.organization and self.table.why_unavailable(family) else ""
        return cut((Span(family.title, style),), columns)

    @override
    @property
    def footer_commands(self) -> tuple[str, ...]:
        """The commands of the footer.

        An empty table hides the commands that need a row. If rows cannot be edited but filtered, the filter command
        replaces the edit command.
        """
        is_filtered = self.table.family.edit is None and self.table.reason_edit_view() is None
        shown = ("edit_view" if name == "rename" and is_filtered else name for name in self.FOOTER)
        return tuple(name for name in shown if name not in self.table.without_row)

    @override
    @property
    def footer_titles(self) -> Mapping[str, str]:
        return self.table.titles

    def reason_open(self) -> str | None:
        """Return why no item can be opened: the table has the focus and is empty."""
        return None if self._sidebar.has_focus else self.table.reason_open()

    def command_open(self) -> None:
        """Focus the table of the family; in the table, show the item under the cursor."""
        if self._sidebar.has_focus:
            self.table.focus_rows()
        else:
            self.table.command_open()

    @override
    def open_item(self, family: Family, given: dict[str, Any], item: BaseModel, name: str) -> None:
        if family.parts and self.organization:
            parts = PartsScreen(self.organization, family, given, item, name)
            parts.table.is_owner = isinstance(item, Team) and item.permissions.admin
            self.app_context.push_screen(parts)
        else:
            super().open_item(family, given, item, name)


class PartsScreen(OrganizationScreen):
    """The table of the parts of an item, such as the members of a team.

    Args:
        organization: the organization.
        whole: the family of the item.
        given: the arguments of the listing.
        item: the item.
        name: the name of the item, as display text.
    """

    FOOTER = FOOTER
    DEFAULT_CSS = "PartsScreen #head { display: none; margin-bottom: 1; }"

    def __init__(
        self, organization: Organization, whole: Family, given: dict[str, Any], item: BaseModel, name: str
    ) -> None:
        super().__init__(organization)
        self._family, self._given, self._name = whole.parts or whole, given, name  # pyrefly: ignore[bad-override-mutable-attribute]
        self._item, self._head = item, whole.head
        self.table = FamilyTable(self, self._family)

    @override
    def command_handlers(self) -> Iterable[object]:
        return (self, self.table, self.table.rows.marks, ClusterRequests(self, self.table))

    @override
    def title_line(self) -> Line:
        return (
            Span(" Administration › ", "quiet"),
            Span(self._name, "title"),
            Span(f" › {self._family.title}", "quiet"),
        )

    @override
    @property
    def footer_commands(self) -> tuple[str, ...]:
        return tuple(name for name in self.FOOTER if name not in self.table.without_row)

    @override
    @property
    def footer_titles(self) -> Mapping[str, str]:
        return self.table.titles

    @override
    def body(self) -> ComposeResult:
        yield TextView(id="head")
        yield self.table

    @override
    def on_resize(self) -> None:
        super().on_resize()
        if self._head:
            view, lines = self.query_one("#head", TextView), self._head(self._item, self.size.width)
            view.display = bool(lines)
            view.styles.height = len(lines)
            view.show(lines)

    @override
    def on_mount(self) -> None:
        super().on_mount()
        self.query_one("#head", TextView).can_focus = False
        self.table.show_family(self._family, self._given)
        self.table.focus_rows()
