"""The screen of the adaptive content of a site: visitor schema, conditions, audiences, and who sees what."""

from __future__ import annotations

from collections.abc import Awaitable, Iterable
from typing import TYPE_CHECKING, Any

from textual import on
from textual.app import ComposeResult
from typing_extensions import override

from presscheck.api.site_settings import ListTemplateConditions, TemplateConditions
from presscheck.api.sites import AdaptiveContentChange, UpdateSite
from presscheck.engine.publish.audiences import Audiences
from presscheck.errors import Forbidden
from presscheck.text.sanitize import sanitize
from presscheck.text.styled_text import Line, Span
from presscheck.tui.screens.sites.adaptive.audience_view import viewing
from presscheck.tui.screens.sites.adaptive.audiences_tab import AudiencesTab
from presscheck.tui.screens.sites.adaptive.conditions_tab import ConditionsTab
from presscheck.tui.screens.sites.adaptive.grid_tab import GridTab
from presscheck.tui.screens.sites.adaptive.model import AdaptiveModel, AdaptiveSubscriptions
from presscheck.tui.screens.sites.adaptive.schema_tab import SchemaTab
from presscheck.tui.screens.sites.adaptive.token_actions import TokenActions
from presscheck.tui.screens.sites.title import site_title
from presscheck.tui.screens.sites.writes import lacks_role, send, undo_here, write_reason
from presscheck.tui.ui.row_filter import filter_tab
from presscheck.tui.ui.screen import BaseScreen
from presscheck.tui.ui.tabbed_lists import TabbedLists
from presscheck.tui.widgets.confirm_dialog import ConfirmDialog
from presscheck.tui.widgets.empty_state import EmptyState
from presscheck.tui.widgets.row_list import RowList

if TYPE_CHECKING:
    from presscheck.api.operation import Operation
    from presscheck.api.sites import Site
    from presscheck.engine.publish.audiences import Audience
    from presscheck.engine.results import Result
    from presscheck.tui.screens.sites.adaptive.context import Tab


class AdaptiveContentScreen(BaseScreen):
    """Visitor schema, conditions and audiences of a site.

    Args:
        organization_id: the organization of the site.
        site: the site.
    """

    SCOPE = "site"
    LEGEND = (("✓", "sees it"), ("–", "does not see it"), ("?", "cannot be told"))

    def __init__(self, organization_id: str, site: Site) -> None:
        super().__init__()
        self.model = AdaptiveModel(organization_id, site)
        self._schema_tab, self._audiences_tab, self._grid_tab = SchemaTab(self), AudiencesTab(self), GridTab(self)
        tabs: tuple[Tab, ...] = (self._schema_tab, ConditionsTab(self), self._audiences_tab, self._grid_tab)
        self.lists = TabbedLists(self, tabs, self._show_empty, notes=self._notes, has_mark_column=False)
        self._tokens = TokenActions(self, self._audience)
        self._subscriptions = AdaptiveSubscriptions(self, self.model, self.redraw)
        self._view_as = viewing(self, lambda: organization_id, lambda: self.model.site, self.read_audiences)

    async def continue_draft(self, key: str) -> bool:
        """Open the form or the editor that a draft was written in, by its key; returns whether its subject is there."""
        for tab in (self._schema_tab, self._audiences_tab):
            if editing := tab.continue_draft(key):
                self.lists.show_tab(tab)
                await editing
                return True
        return False

    @override
    def title_line(self) -> Line:
        return site_title(self.model.site, "Adaptive content")

    @override
    def body(self) -> ComposeResult:
        yield self.lists

    @override
    def command_handlers(self) -> Iterable[object]:
        return (self, self._tokens, self._view_as, self.lists)

    @override
    def on_mount(self) -> None:
        super().on_mount()
        self._subscriptions.start()
        templates = self.engine.watch(ListTemplateConditions(**self.model.path))
        self.subscribe(templates, self._take_templates, group="conditions", shows_errors=False)
        self.read_audiences()
        self.lists.draw()

    def read_audiences(self) -> None:
        """Read the saved audiences again, and draw the tab."""
        self.model.take_audiences(Audiences(self.engine.outbox, self.model.site.id).all())
        self.redraw()

    def _take_templates(self, result: Result[TemplateConditions | None]) -> None:
        if result.value:
            self.model.templates = result.value.items
            self.model.update_uses()
            self.redraw()

    @property
    def tab(self) -> Tab:
        """The tab that is shown."""
        return self.lists.tab

    @property
    def rows(self) -> RowList:
        """Its rows."""
        return self.lists.rows

    @override
    @property
    def footer_commands(self) -> tuple[str, ...]:
        return self.tab.footer

    @override
    def redraw(self) -> None:
        self.lists.redraw()

    def _audience(self) -> Audience | None:
        """The audience under the cursor."""
        if self.tab is self._audiences_tab:
            return self._audiences_tab.current
        return self._grid_tab.audience if self.tab is self._grid_tab else None

    def _notes(self) -> Line:
        return (Span(self._grid_tab.notes(), "quiet"),) if self.tab is self._grid_tab else ()

    def _show_empty(self, empty: EmptyState) -> None:
        tab, status = self.tab, self.engine.status
        error = self.model.errors.get(tab.noun)
        if tab.total is not None:
            title, hint = ("No row has this text.", "") if tab.total else tab.empty()
            if status.read_only and not tab.total:
                hint = "This profile is read-only."
            empty.show_empty(title, hint)
        elif isinstance(error, Forbidden):
            empty.show_empty(f"You may not read the {tab.noun} of this site.", sanitize(error.message))
        elif error:
            empty.show_failed(f"Could not load the {tab.noun}", error.message)
        elif not status.online:
            empty.show_offline(f"The {tab.noun} of this site are not in the cache.")
        else:
            empty.show_loading(f"Loading the {tab.noun} …")

    @on(RowList.RowHighlighted)
    def row_highlighted(self) -> None:
        """Show the keys of another row, and its cell in words."""
        self.lists.draw_summary()
        self.refresh_status_bars()

    def change_reason(self, operation: type[Operation[Any]], role: str = "create") -> str | None:
        """Why nothing can be changed here now; None if it can."""
        return write_reason(self, operation, self.model.site, role)

    async def command_find_here(self) -> None:
        """Filter the rows by a text."""
        await filter_tab(self.find, self.tab, self.rows, self.redraw)

    @override
    def command_refresh(self) -> None:
        super().command_refresh()
        self._subscriptions.read_again()

    def command_unsend(self) -> Awaitable[None]:
        """Undo the last change of the site; asks first if it was sent."""
        return undo_here(self, self.model.site.id)

    def command_back(self) -> None:
        """Close."""
        self.app_context.pop_screen()

    def command_left(self) -> None:
        """Go to the audience on the left; in the other tabs, to the tab before."""
        self._sideways(-1)

    def command_right(self) -> None:
        """Go to the audience on the right; in the other tabs, to the next tab."""
        self._sideways(1)

    def _sideways(self, by: int) -> None:
        if self.tab is self._grid_tab and self._grid_tab.move(by):
            self.redraw()
        elif by > 0:
            self.lists.command_right()
        else:
            self.lists.command_left()

    def reason_all_pages(self) -> str | None:
        """Only in the tab that lists pages."""
        return None if self.tab is self._grid_tab else "4 shows the pages, and who sees them"

    def command_all_pages(self) -> None:
        """List all pages, or only what has a condition."""
        self._grid_tab.shows_all = not self._grid_tab.shows_all
        self.redraw()

    def reason_toggle_adaptive(self) -> str | None:
        """Disabled without the role, which is a higher one to turn it off on a live site."""
        if reason := self.change_reason(UpdateSite):
            return reason
        if self.model.site.adaptive_content is None:
            return "the service does not tell whether adaptive content is on"
        is_public = self.model.is_on and self.model.site.published
        reason = lacks_role(self.model.site, "admin") if is_public else None
        return f"{reason}: the site is live" if reason else None

    async def command_toggle_adaptive(self) -> None:
        """Turn adaptive content on or off, after a confirmation."""
        title, turns_on = sanitize(self.model.site.title), not self.model.is_on
        limited = sum(bool(place.condition) for place in self.model.content.places) if self.model.content else 0
        found = f"{limited:,} sections, spaces and pages have a condition." if self.model.content else ""
        effect = "Visitors see only what they meet the conditions of." if turns_on else "Everybody sees everything."
        lines: list[Line] = [(Span(effect, "" if turns_on else "waiting"),), (Span(found, "quiet"),)]
        if self.model.site.published:
            lines.append((Span("The site is live: this shows at once.", "waiting"),))
        word = "on" if turns_on else "off"
        dialog = ConfirmDialog(f"Turn adaptive content of {title} {word}?", lines, f"Turn {word}")
        if await self.ask(dialog):
            change = AdaptiveContentChange(enabled=turns_on)
            if await send(self, UpdateSite(**self.model.path, adaptive_content=change)):
                self.notify(f"adaptive content is {word}: z undoes it")

    def reason_open(self) -> str | None:
        """As the tab says."""
        return self.tab.reason("open")

    def command_open(self) -> Awaitable[None] | None:
        """Change the claim or audience; list what has the condition; show the page as the audience gets it."""
        return self.tab.run("open")

    def reason_add(self) -> str | None:
        """As the tab says."""
        return self.tab.reason("add")

    def command_add(self) -> Awaitable[None] | None:
        """Add a claim or an audience."""
        return self._audiences_tab.run("add") if self.tab is self._grid_tab else self.tab.run("add")

    def reason_rename(self) -> str | None:
        """As the tab says."""
        return self.tab.reason("rename")

    def command_rename(self) -> Awaitable[None] | None:
        """Change the claim or the audience in a form."""
        return self.tab.run("rename")

    def reason_edit(self) -> str | None:
        """As the tab says."""
        return self.tab.reason("edit")

    def command_edit(self) -> Awaitable[None] | None:
        """Edit the schema, or the claims of the audience, as JSON."""
        return self.tab.run("edit")

    def reason_edit_other(self) -> str | None:
        """As the tab says."""
        return self.tab.reason("edit_other")

    def command_edit_other(self) -> Awaitable[None] | None:
        """Edit the JSON in the other editor."""
        return self.tab.run("edit_other")

    def reason_delete(self) -> str | None:
        """As the tab says."""
        return self.tab.reason("delete")

    def command_delete(self) -> Awaitable[None] | None:
        """Delete the claim or the audience."""
        return self.tab.run("delete")

    def reason_copy(self) -> str | None:
        """As the tab says."""
        return self.tab.reason("copy")

    def command_copy(self) -> Awaitable[None] | None:
        """Copy the claim as conditions name it, the condition, or the claims of the audience."""
        return self.tab.run("copy")
