"""Drafts outside of change requests, opened where they were written: in their form, or with their command."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, cast

from presscheck.api.organizations import ListOrganizations
from presscheck.engine.drafts import FILE_OF, DraftPlace
from presscheck.tui.places import Place
from presscheck.tui.screens.admin.integration.settings_form import continue_settings
from presscheck.tui.screens.admin.operation_form import fill_in, outcome, stored_form
from presscheck.tui.screens.agent_instructions import InstructionsScreen
from presscheck.tui.screens.browse.page_tree import page_key
from presscheck.tui.screens.outbox.drafts import label_of

if TYPE_CHECKING:
    from collections.abc import Callable

    from presscheck.engine.drafts import Draft
    from presscheck.tui.screens.browse.screen import BrowseScreen
    from presscheck.tui.screens.publish.screen import PublishScreen
    from presscheck.tui.screens.sites.access.screen import SiteAccessScreen
    from presscheck.tui.screens.sites.adaptive.screen import AdaptiveContentScreen
    from presscheck.tui.ui.screen import BaseScreen

STEP, LOOKS = 0.05, 100
"""Seconds between two checks whether a place is loaded, and the maximum number of checks."""
SCREENS = {
    "structure": "go_structure",
    "access": "go_access",
    "share links": "go_access",
    "sign-in": "go_access",
    "adaptive": "go_adaptive",
    "customization": "go_customization",
}
"""Commands that open further screens of a site."""


class DraftPlaces:
    """The ways to continue drafts in the places where they were written.

    Args:
        screen: the outbox screen.
        edit_change: edits an unsent change by its number; returns whether the change is still unsent.
    """

    def __init__(self, screen: BaseScreen, edit_change: Callable[[int], bool]) -> None:
        self._screen, self._edit_change = screen, edit_change

    async def open(self, draft: Draft) -> bool:
        """Continue a draft where it was written. Returns False if that place is unknown or gone."""
        place = draft.place
        if place is None:
            return False
        if place.kind == "form":
            return await self._open_form(draft)
        if place.kind == "settings":
            return await continue_settings(self._screen, draft)
        if place.kind == "instructions":
            return await self._open_instructions(draft, place)
        if place.kind == "change":
            return self._edit_change(int(place.target))
        if place.kind == "inbox":
            self._run("go_inbox")
            self._tell(draft, place)
            return True
        if place.kind == "family":
            await self._screen.app_context.go(Place.family(place.target))
            return await self._continue(draft, place)
        if place.kind in ("space", "item", "files"):
            return await self._open_in_browse(draft, place)
        if place.kind == "sites":
            return await self._open_sites(draft, place)
        return place.kind != "draft" and await self._open_site(draft, place)

    async def _open_form(self, draft: Draft) -> bool:
        """Open the form of a draft with the stored texts. Returns False if the form no longer exists."""
        form = stored_form(draft)
        if form is None:
            return False
        answer = await fill_in(self._screen, form, draft.stored.key.removeprefix(FILE_OF))
        if answer is not None:
            self._screen.notify(outcome(form.title, answer))
        self._screen.refresh_status_bars()
        return True

    async def _open_instructions(self, draft: Draft, place: DraftPlace) -> bool:
        """Open the AI instructions of an organization with the draft in the editor.

        Returns False if the organization is gone.
        """
        organizations = (await self._screen.engine.read(ListOrganizations())).items
        organization = next((each for each in organizations if each.id == place.target), None)
        if organization is None:
            return False
        await self._screen.app_context.push_screen(InstructionsScreen(organization))
        return await self._continue(draft, place)

    async def _open_in_browse(self, draft: Draft, place: DraftPlace) -> bool:
        app = self._screen.app_context
        key = f"space {place.target}" if place.kind != "item" else place.target
        if place.command == "add" and place.kind == "item":
            key = "" if place.target == "top" else f"collection {place.target}"
        browse = cast("BrowseScreen", await app.go(Place.item(key)))

        def is_there() -> bool:
            return not key or (browse.item is not None and browse.item.key == key)

        if place.kind == "files":
            is_found = await self._until(is_there)
            if is_found:
                self._run("go_links")
                app.notify(f"the tab of files continues your draft: {label_of(draft)}")
            return is_found
        return await self._continue(draft, place, is_there)

    async def open_in_request(self, draft: Draft, command: str) -> bool:
        """Show the change request and the page of a draft in the browse screen, and continue the draft with `command`.

        Returns False if the page is gone.
        """
        app = self._screen.app_context
        browse = cast("BrowseScreen", await app.go(Place.page(draft.space, draft.target, draft.request)))
        key = page_key(draft.space, draft.target) if draft.target else f"space {draft.space}"

        def is_there() -> bool:
            request = browse.library.requests.get(draft.space)
            return bool(browse.item and browse.item.key == key and request and request.id == draft.request)

        return await self._continue(draft, DraftPlace("item", key, command), is_there)

    async def _open_sites(self, draft: Draft, place: DraftPlace) -> bool:
        publish = cast("PublishScreen", await self._screen.app_context.go(Place("publish")))
        publish.session.sites.rows.focus()  # with the focus in the structure, the command would act on an item
        return await self._continue(draft, place, lambda: publish.session.organization_id == place.target)

    async def _open_site(self, draft: Draft, place: DraftPlace) -> bool:
        app = self._screen.app_context
        publish = cast("PublishScreen", await app.go(Place.site(place.target)))

        def is_there() -> bool:
            return publish.current is not None and publish.current.id == place.target

        if not await self._until(is_there):
            return False
        if place.kind == "site":
            return await self._continue(draft, place)
        self._run(SCREENS[place.kind])
        await self._until(lambda: app.screen is not publish and app.screen.is_mounted)
        if place.kind == "adaptive":
            adaptive = cast("AdaptiveContentScreen", app.screen)
            if await self._until(lambda: adaptive.session.schema.value is not None):
                return await adaptive.continue_draft(draft.stored.key)
            return False
        if place.kind in ("share links", "sign-in"):
            access = cast("SiteAccessScreen", app.screen)
            access.lists.show_tab(access.share_links if place.kind == "share links" else access.sign_in)
        return await self._continue(draft, place)

    async def _continue(self, draft: Draft, place: DraftPlace, is_there: Callable[[], bool] = lambda: True) -> bool:
        """Run the command of a place once the command is enabled, unless the user presses a key.

        In both cases, show the key of the command.

        Returns False if the place of the draft is gone.
        """
        app = self._screen.app_context
        screen = cast("BaseScreen", app.screen)
        pressed = screen.last_key
        can_run = await self._until(lambda: is_there() and screen.disabled_reason(place.command) is None)
        if not is_there():
            return False
        if place.command and can_run and app.screen is screen and screen.last_key == pressed:
            self._run(place.command)
        self._tell(draft, place)
        return True

    async def _until(self, holds: Callable[[], bool]) -> bool:
        for _ in range(LOOKS):
            if holds():
                return True
            await asyncio.sleep(STEP)
        return holds()

    def _run(self, name: str) -> None:
        screen = cast("BaseScreen", self._screen.app_context.screen)
        command = screen.command_table.command(name)
        if command:
            screen.run_command(command)

    def _tell(self, draft: Draft, place: DraftPlace) -> None:
        key = self._key(place.command or "rename")
        self._screen.app_context.notify(f"{key} here continues your draft: {label_of(draft)}")

    def _key(self, name: str) -> str:
        return self._screen.app_context.keymap.label(name)
