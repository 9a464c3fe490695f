"""Commands that create, change and delete sites or, while the structure has the focus, items of a site."""

from __future__ import annotations

from collections.abc import Awaitable
from typing import TYPE_CHECKING

from presscheck.api.sites import CreateSite, DeleteSite, UpdateSite
from presscheck.text.sanitize import sanitize
from presscheck.tui.commands import key_for, with_keys
from presscheck.tui.screens.sites.details import SiteDetails
from presscheck.tui.screens.sites.structure.additions import Additions
from presscheck.tui.screens.sites.structure.item_details import ItemDetails
from presscheck.tui.screens.sites.structure.moves import Moves
from presscheck.tui.screens.sites.structure.removals import Removals
from presscheck.tui.screens.sites.writes import undo_here, write_reason

if TYPE_CHECKING:
    from presscheck.tui.screens.publish.session import PublishSession

GO_THERE = "press {next_pane} to go to the structure, or {go_structure} for a screen of it"


class SiteActions:
    """The commands that change a site, or an item of its structure while the structure has the focus.

    Args:
        session: the sites.
    """

    def __init__(self, session: PublishSession) -> None:
        self._session = session
        self._adds, self._changes = Additions(session), ItemDetails(session)
        self._moves, self._removals = Moves(session), Removals(session)

    @property
    def _details(self) -> SiteDetails:
        return SiteDetails(self._session.screen, self._session.organization_id)

    @property
    def _is_in_structure(self) -> bool:
        return self._session.tree.has_focus

    def reason_add(self) -> str | None:
        """Return why no site (or, in the structure, no item) can be added: the change is not allowed now."""
        if self._is_in_structure:
            return self._adds.reason_add()
        return self._session.screen.engine.write_reason(CreateSite, "a new site")

    def reason_rename(self) -> str | None:
        """Return why the site or item cannot be changed: there is none, or the change is not allowed now."""
        if self._is_in_structure:
            return self._changes.reason_rename()
        return write_reason(self._session.screen, UpdateSite, self._session.current, "create")

    def reason_delete(self) -> str | None:
        """Return why the site or item cannot be removed: there is none, or the change is not allowed now."""
        if self._is_in_structure:
            return self._removals.reason_delete()
        return write_reason(self._session.screen, DeleteSite, self._session.current, "admin")

    def reason_move_down(self) -> str | None:
        """Return why no item can be moved: the structure does not have the focus, or its item cannot be moved."""
        return self._moves.reason_move_down() if self._is_in_structure else with_keys(GO_THERE)

    reason_move_up = reason_move_down

    def reason_move_change(self) -> str | None:
        """Return why no item can be moved to another section or group.

        The structure does not have the focus, or the item has no other section or group.
        """
        return self._moves.reason_move_change() if self._is_in_structure else with_keys(GO_THERE)

    def reason_make_default(self) -> str | None:
        """Return why no item can become the default: the structure does not have the focus, or the item cannot."""
        return self._changes.reason_make_default() if self._is_in_structure else with_keys(GO_THERE)

    def command_add(self) -> Awaitable[None]:
        """Create a site; in the structure, add an item."""
        return self._adds.command_add() if self._is_in_structure else self._add_site()

    def command_rename(self) -> Awaitable[None] | None:
        """Change a detail of the site, or of the item in the structure."""
        if self._is_in_structure:
            return self._changes.command_rename()
        site = self._session.current
        return self._details.change(site) if site else None

    def change_detail(self, name: str) -> Awaitable[None] | None:
        """Change a detail of the site, or notify why the user cannot change it."""
        site = self._session.current
        if reason := write_reason(self._session.screen, UpdateSite, site, "create"):
            self._session.screen.notify(reason)
            return None
        return self._details.change_detail(site, name) if site else None

    def command_delete(self) -> Awaitable[None] | None:
        """Delete the site, or remove the item from the structure, after a confirmation."""
        if self._is_in_structure:
            return self._removals.command_delete()
        site = self._session.current
        return self._details.delete(site) if site else None

    def command_move_down(self) -> None:
        """Move the item below its next sibling."""
        self._moves.command_move_down()

    def command_move_up(self) -> None:
        """Move the item above its previous sibling."""
        self._moves.command_move_up()

    def command_move_change(self) -> Awaitable[None] | None:
        """Move the item to another section or group."""
        return self._moves.command_move_change()

    def command_make_default(self) -> Awaitable[None] | None:
        """Make the section or space the default."""
        return self._changes.command_make_default()

    def reason_unsend(self) -> str | None:
        """Return why nothing can be undone: there is no site."""
        return self._session.site_reason()

    def command_unsend(self) -> Awaitable[None] | None:
        """Undo the last change of the site, after a confirmation if it was sent."""
        site = self._session.current
        return undo_here(self._session.screen, site.id) if site else None

    async def _add_site(self) -> None:
        site = await self._details.create()
        if site is not None:
            self._session.open_site(site.id)
            self._session.screen.notify(f"{sanitize(site.title)} created as a draft: {key_for('publish')} publishes it")
