"""Actions on a site: create, rename, delete, and change what it contains and in which order."""

from __future__ import annotations

from collections.abc import Awaitable, Collection
from typing import TYPE_CHECKING, Any, Literal, cast

from presscheck.api.site_structure import (
    AddSiteSpace,
    DeleteSection,
    DeleteSectionGroup,
    DeleteSiteSpace,
    SiteSection,
    SiteSectionGroup,
    SiteSpace,
    SortSiteStructure,
    StructureItem,
    UpdateSection,
    UpdateSectionGroup,
    UpdateSiteSpace,
)
from presscheck.api.sites import CreateSite, DeleteSite, Site, UpdateSite
from presscheck.api.spaces import ListSpaces
from presscheck.errors import PresscheckError
from presscheck.text.sanitize import sanitize
from presscheck.text.styled_text import Line, Span
from presscheck.tui.screens.publish.site_details import TITLE, SiteDetails
from presscheck.tui.screens.publish.site_pane import all_items, move_item, pointer, title_of
from presscheck.tui.screens.site_writes import undo_here, write_reason
from presscheck.tui.widgets.confirm_dialog import ConfirmDialog
from presscheck.tui.widgets.picker import Choice, Picker
from presscheck.tui.widgets.prompt_dialog import PromptDialog

if TYPE_CHECKING:
    from presscheck.api.operation import Operation
    from presscheck.tui.screens.publish.context import PublishContext

MANY = 10_000


class SiteActions:
    """Handles the commands that change a site; while its structure has the focus, those on an item of it.

    Args:
        screen: the publish screen.
    """

    def __init__(self, screen: PublishContext) -> None:
        self._screen = screen
        self._details = SiteDetails(screen)

    def reason_add(self) -> str | None:
        """Disabled in the structure of a site if the service cannot add spaces to it."""
        return self._missing(AddSiteSpace)

    def reason_rename(self) -> str | None:
        """Disabled without the role, and in the structure of a site if the service cannot change its items."""
        return self._missing(UpdateSiteSpace) or write_reason(self._screen, UpdateSite, self._screen.current, "create")

    def reason_delete(self) -> str | None:
        """Disabled without the role, and in the structure of a site if the service cannot remove its items."""
        is_item = self._screen.site.structure.has_focus
        operation, role = (DeleteSiteSpace, "create") if is_item else (DeleteSite, "admin")
        return self._missing(DeleteSiteSpace) or write_reason(self._screen, operation, self._screen.current, role)

    def _missing(self, operation: type[Operation[Any]]) -> str | None:
        is_in_structure = self._screen.site.structure.has_focus
        return self._screen.engine.missing_reason(operation) if is_in_structure else None

    def reason_move_down(self) -> str | None:
        """Disabled unless an item of the structure is under the cursor."""
        item = self._screen.site.item
        return None if item else "press tab to go to the structure; J and K move items there"

    reason_move_up = reason_move_down

    def command_add(self) -> Awaitable[None] | None:
        """Create a site; in the structure of a site, add a space to it."""
        site = self._screen.current
        return self._add_space(site) if site and self._screen.site.structure.has_focus else self._add_site()

    def command_rename(self) -> Awaitable[None] | None:
        """Change the title of the site, or title or path of an item."""
        site, item = self._screen.current, self._screen.site.item
        if site is None:
            return None
        return self._rename_item(site, item) if item else self._details.change(site)

    def command_delete(self) -> Awaitable[None] | None:
        """Delete the site, or remove an item from it, after a confirmation."""
        site, item = self._screen.current, self._screen.site.item
        if site is None:
            return None
        return self._remove_item(site, item) if item else self._delete_site(site)

    def command_move_down(self) -> Awaitable[None] | None:
        """Move the item below its next sibling."""
        site, item = self._screen.current, self._screen.site.item
        return self._move(site, item, 1) if site and item else None

    def command_move_up(self) -> Awaitable[None] | None:
        """Move the item above its previous sibling."""
        site, item = self._screen.current, self._screen.site.item
        return self._move(site, item, -1) if site and item else None

    def reason_unsend(self) -> str | None:
        """Disabled without a site."""
        return None if self._screen.current else "there is no site: a creates one"

    def command_unsend(self) -> Awaitable[None] | None:
        """Undo the last change of the site; asks first if it was sent."""
        site = self._screen.current
        return undo_here(self._screen, site.id) if site else None

    async def _add_site(self) -> None:
        min_length, max_length = TITLE
        title = await self._prompt("Title of the new site", "", min_length, max_length)
        if title is None:
            return
        dialog = Picker("Spaces of the new site", await self._spaces(()), self._screen.style_for, multiple=True)
        spaces = await self._screen.ask(dialog)
        if spaces is not None:
            call = CreateSite(organization_id=self._screen.organization_id, title=title, spaces=spaces)
            site = await self._screen.engine.write(call).landed()
            if site is None:
                return  # another presscheck has sent it
            self._screen.open_site(site.id)
            self._screen.notify(f"{sanitize(site.title)} created as a draft: P publishes it")

    async def _add_space(self, site: Site) -> None:
        """Add a space to the site, into the section under the cursor."""
        contained = {item.space.id for item in all_items(self._screen.site.items) if isinstance(item, SiteSpace)}
        choices = await self._spaces(contained)
        if not choices:
            self._screen.notify("every space of the organization is in this site already")
            return
        choice = await self._screen.ask(Picker(f"Add to {sanitize(site.title)}", choices, self._screen.style_for))
        if choice:
            item = self._screen.site.item
            section = (
                item.section if isinstance(item, SiteSpace) else item.id if isinstance(item, SiteSection) else None
            )
            path = self._path(site) | ({"section_id": section} if section else {})
            await self._screen.engine.write(AddSiteSpace(**path, space_id=choice[0])).landed()

    async def _rename_item(self, site: Site, item: StructureItem) -> None:
        """Change the title of a section or group; a space has a path in the site instead."""
        path, call = self._path(site), cast("Operation[Any] | None", None)
        if isinstance(item, SiteSpace):
            slug = await self._prompt(f"Path of {title_of(item)}", item.path, 1, 100)
            if slug and slug != item.path:
                call = UpdateSiteSpace(**path, site_space_id=item.id, path=slug)
        else:
            title = await self._prompt(f"Title of {title_of(item)}", item.title, 2, 100)
            is_new = title is not None and title != item.title
            if is_new and isinstance(item, SiteSection):
                call = UpdateSection(**path, site_section_id=item.id, title=title)
            elif is_new and isinstance(item, SiteSectionGroup):
                call = UpdateSectionGroup(**path, site_section_group_id=item.id, title=title)
        if call:
            await self._screen.engine.write(call).landed()

    async def _delete_site(self, site: Site) -> None:
        """Delete a site after its title was typed."""
        title = sanitize(site.title)
        lines: list[Line] = [(Span("Its structure, settings and address are deleted. Its spaces stay."),)]
        if site.published:
            lines.insert(0, (Span("It is public: readers lose it at once.", "waiting"),))
        if await self._confirm(f"Delete {title}?", lines, "Delete", type_to_confirm=title):
            await self._screen.engine.write(DeleteSite(**self._path(site))).landed()

    async def _remove_item(self, site: Site, item: StructureItem) -> None:
        path = self._path(site)
        if isinstance(item, SiteSpace):
            call, effect = DeleteSiteSpace(**path, site_space_id=item.id), "The space itself stays, with all its pages."
        elif isinstance(item, SiteSection):
            call, effect = DeleteSection(**path, site_section_id=item.id), "Its spaces stay, outside of the site."
        elif isinstance(item, SiteSectionGroup):
            call, effect = DeleteSectionGroup(**path, site_section_group_id=item.id), "Its sections stay in the site."
        else:
            self._screen.notify("this kind of item can only be removed in the browser")
            return
        if await self._confirm(f"Remove {title_of(item)} from the site?", [(Span(effect),)], "Remove"):
            await self._screen.engine.write(cast("Operation[None]", call)).landed()

    async def _move(self, site: Site, item: StructureItem, by: Literal[1, -1]) -> None:
        """Move an item among its siblings: shown at once, and reverted if the service refuses."""
        before = self._screen.site.items
        change = move_item(before, f"{item.object} {item.id}", by)
        if change is None:
            self._screen.notify("this is the last item" if by > 0 else "this is the first item")
            return
        items, position = change
        call = SortSiteStructure(**self._path(site), item=pointer(item), position=position)
        self._screen.site.show_items(site, items)
        try:
            with self._screen.site.pending_order():
                await self._screen.engine.write(call).landed()
        except PresscheckError:
            self._screen.site.show_items(site, before)
            raise

    def _path(self, site: Site) -> dict[str, Any]:
        return {"organization_id": self._screen.organization_id, "site_id": site.id}

    async def _spaces(self, without: Collection[str]) -> list[Choice]:
        """The spaces of the organization as choices; waits for them if they are not in the cache.

        Raises:
            PresscheckError: they could not be loaded.
        """
        listing = ListSpaces(organization_id=self._screen.organization_id)
        known = self._screen.engine.window(listing, 0, MANY)
        if not known.complete:
            async for result in self._screen.engine.watch_listing(listing):
                known = self._screen.engine.window(listing, 0, MANY)
                if result.error and not known.items:
                    raise result.error
                if result.error or known.complete:
                    break
        return [Choice(space.id, sanitize(space.title)) for space in known.items if space.id not in without]

    async def _prompt(self, question: str, text: str, min_length: int, max_length: int) -> str | None:
        return await self._screen.ask(
            PromptDialog(question, text, self._screen.style_for, min_length=min_length, max_length=max_length)
        )

    async def _confirm(
        self, question: str, lines: list[Line], action: str, *, type_to_confirm: str | None = None
    ) -> bool:
        dialog = ConfirmDialog(question, lines, action, self._screen.style_for, type_to_confirm=type_to_confirm)
        return bool(await self._screen.ask(dialog))
