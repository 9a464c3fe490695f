"""The adaptive content screen of a site: visitor schema, conditions, audiences, and the pages for each audience."""

from __future__ import annotations

from collections.abc import Awaitable
from typing import TYPE_CHECKING

from typing_extensions import override

from presscheck.api.sites import AdaptiveContentChange, UpdateSite
from presscheck.text.sanitize import sanitize
from presscheck.text.styled_text import Line, Span
from presscheck.tui.commands import key_for
from presscheck.tui.screens.sites.adaptive.audience_view import view_as
from presscheck.tui.screens.sites.adaptive.audiences import AudienceList
from presscheck.tui.screens.sites.adaptive.conditions import ConditionList
from presscheck.tui.screens.sites.adaptive.grid import SeenByGrid
from presscheck.tui.screens.sites.adaptive.schema import ClaimList
from presscheck.tui.screens.sites.adaptive.session import AdaptiveContent
from presscheck.tui.screens.sites.adaptive.visitor_tokens import ask_token
from presscheck.tui.screens.sites.title import site_title
from presscheck.tui.screens.sites.writes import lacks_role, send, undo_here, write_reason
from presscheck.tui.ui.ask import confirm
from presscheck.tui.ui.tabs import Tabs, TabScreen

if TYPE_CHECKING:
    from presscheck.api.sites import Site


class AdaptiveContentScreen(TabScreen):
    """The visitor schema, conditions and audiences of a site.

    Args:
        organization_id: the organization of the site.
        site: the site.
    """

    SCOPE = "site"
    LEGEND = (("✓", "sees it"), ("–", "does not see it"), ("?", "cannot be told"))

    def __init__(self, organization_id: str, site: Site) -> None:
        super().__init__()
        self.session = AdaptiveContent(self, organization_id, site)
        self._claims, self._audiences = ClaimList(self.session), AudienceList(self.session)
        self._grid = SeenByGrid(self.session, self._audiences)
        self.lists = Tabs(self, (self._claims, ConditionList(self.session), self._audiences, self._grid))

    async def continue_draft(self, key: str) -> bool:
        """Open the form or the editor of the draft with a key.

        Returns False if the claim or audience no longer exists.
        """
        for tab in (self._claims, self._audiences):
            if editing := tab.continue_draft(key):
                self.lists.show_tab(tab)
                await editing
                return True
        return False

    @override
    def title_line(self) -> Line:
        return site_title(self.session.site, "Adaptive content")

    @override
    def on_mount(self) -> None:
        super().on_mount()
        self.session.load()
        self.session.load_suggestions()
        self.session.read_audiences()
        self.lists.draw()

    @override
    def on_screen_resume(self) -> None:
        """Redraw, and read the audiences: another screen may have saved audiences."""
        super().on_screen_resume()
        self.session.read_audiences()

    @override
    def notes(self) -> Line:
        return (Span(self._grid.notes(), "quiet"),) if self.shown_tab is self._grid else ()

    @override
    def command_refresh(self) -> None:
        super().command_refresh()
        self.session.read_content()

    def command_unsend(self) -> Awaitable[None]:
        """Undo the last change of the site, after a confirmation if it was sent."""
        return undo_here(self, self.session.site.id)

    def command_back(self) -> None:
        """Close the screen."""
        self.app_context.pop_screen()

    def command_left(self) -> None:
        """Move to the audience on the left; in the other tabs, show the previous tab."""
        if not (self.shown_tab is self._grid and self._grid.move(-1)):
            self.lists.command_left()

    def command_right(self) -> None:
        """Move to the audience on the right; in the other tabs, show the next tab."""
        if not (self.shown_tab is self._grid and self._grid.move(1)):
            self.lists.command_right()

    def command_view_as(self) -> Awaitable[None]:
        """Ask for an audience, and show the site as its visitors see it."""
        return view_as(self, self.session.organization_id, self.session.site)

    def command_test_token(self) -> Awaitable[None]:
        """Test a pasted visitor token."""
        return ask_token(self.session)

    def reason_toggle_adaptive(self) -> str | None:
        """Return why adaptive content cannot be turned on or off: its state is unknown, or the change is not allowed.

        Turning adaptive content off on a live site requires the admin role.
        """
        site = self.session.site
        if reason := write_reason(self, UpdateSite, site, "create"):
            return reason
        if site.adaptive_content is None:
            return "the service does not tell whether adaptive content is on"
        is_public = self.session.is_on and site.published
        reason = lacks_role(site, "admin") if is_public else None
        return f"{reason}: the site is live" if reason else None

    async def command_toggle_adaptive(self) -> None:
        """Turn adaptive content on or off, after a confirmation."""
        session, site, turns_on = self.session, self.session.site, not self.session.is_on
        note = f"{len(session.limited):,} sections, spaces and pages have a condition." if session.content.value else ""
        effect = "Visitors see only what they meet the conditions of." if turns_on else "Everybody sees everything."
        lines: list[Line] = [(Span(effect, "" if turns_on else "waiting"),), (Span(note, "quiet"),)]
        if site.published:
            lines.append((Span("The site is live: this shows at once.", "waiting"),))
        word = "on" if turns_on else "off"
        question = f"Turn adaptive content of {sanitize(site.title)} {word}?"
        if await confirm(self, question, lines, f"Turn {word}"):
            change = AdaptiveContentChange(enabled=turns_on)
            if await send(self, UpdateSite(**session.path, adaptive_content=change)):
                self.notify(f"adaptive content is {word}: {key_for('unsend')} undoes it")
