"""Actions that create and delete sites, and change their title, visibility, base path or proxy."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from presscheck.api.sites import CreateSite, DeleteSite, UpdateSite
from presscheck.store.drafts import DraftSlot
from presscheck.text.sanitize import sanitize
from presscheck.text.styled_text import Line, Span
from presscheck.tui.commands import key_for
from presscheck.tui.screens.sites.space_choices import space_choices
from presscheck.tui.screens.sites.writes import lacks_role, send
from presscheck.tui.ui.ask import change_text, choose, choose_several, confirm, prompt
from presscheck.tui.ui.screen import BaseScreen
from presscheck.tui.widgets.picker import Choice

if TYPE_CHECKING:
    from presscheck.api.sites import Site

TITLE = (2, 128)
"""Minimum and maximum number of characters of a title."""
LONGEST_NAME, LONGEST_PROXY = 100, 512
VISIBILITY = {
    "public": "anyone, and to search engines",
    "unlisted": "anyone with the link",
    "share-link": "everyone with the share link",
    "visitor-auth": "visitors who sign in",
}
_NAME = re.compile(r"[a-z0-9_]+(?:[-.][a-z0-9_]+)*")
_PROXY = re.compile(r"([\w-]+\.)*[\w-]+\.[a-zA-Z]{2,}(/[\w-]+)+")


def visibility_of(site: Site) -> str:
    """Return who can see a published site, as words that follow `visible to`."""
    return VISIBILITY.get(site.visibility, sanitize(site.visibility))


class SiteDetails:
    """The actions that create, change and delete sites.

    Args:
        screen: the screen below the dialogs.
        organization_id: the organization of the sites.
    """

    def __init__(self, screen: BaseScreen, organization_id: str) -> None:
        self._screen, self._organization_id = screen, organization_id

    async def create(self) -> Site | None:
        """Ask for title and spaces of a new site, and create it.

        Returns:
            The site, or None if the user canceled or the service has not answered with the site.
        """
        organization = self._organization_id
        draft = DraftSlot(self._screen.engine.outbox, f"new site {organization}")
        min_length, max_length = TITLE
        title = await prompt(self._screen, "Title of the new site", draft, min_length=min_length, max_length=max_length)
        if title is None:
            return None
        choices = await space_choices(self._screen.engine, organization, ())
        spaces = await choose_several(self._screen, "Spaces of the new site", choices)
        if spaces is None:
            return None
        call = CreateSite(organization_id=organization, title=title, spaces=spaces)
        site = await self._screen.engine.write(call).landed()
        draft.discard()
        return site

    async def delete(self, site: Site) -> None:
        """Delete a site after the user has typed its title."""
        title = sanitize(site.title)
        lines: list[Line] = [(Span("Its structure, settings and address are deleted. Its spaces stay."),)]
        if site.published:
            lines.insert(0, (Span("It is live: readers lose it at once.", "waiting"),))
        if await confirm(self._screen, f"Delete {title}?", lines, "Delete", type_to_confirm=title):
            call = DeleteSite(organization_id=self._organization_id, site_id=site.id)
            await self._screen.engine.write(call).landed()

    async def change(self, site: Site) -> None:
        """Choose a detail, shown with its current value, and change it."""
        choices = [
            Choice("title", "Title", sanitize(site.title), letter="t"),
            Choice("visibility", "Visibility", sanitize(site.visibility), letter="v"),
            Choice("basename", "Base path", f"/{sanitize(site.basename)}" if site.basename else "none", letter="b"),
            Choice("proxy", "Proxy", sanitize(site.proxy.origin) if site.proxy else "none", letter="p"),
        ]
        title = sanitize(site.title)
        chosen = await choose(self._screen, f"Change {title}", choices)
        if chosen:
            await self.change_detail(site, chosen)

    async def change_detail(self, site: Site, name: str) -> None:
        """Ask for the new value of a detail: `title`, `visibility`, `basename` or `proxy`."""
        title = sanitize(site.title)
        if name == "title":
            await self._change_text(site, "title", f"Title of {title}", site.title, *TITLE)
        elif name == "visibility":
            await self._change_visibility(site)
        elif name == "basename":
            await self._change_text(site, "basename", f"Base path of {title}", site.basename or "", 1, LONGEST_NAME)
        elif name == "proxy":
            origin = site.proxy.origin if site.proxy else ""
            await self._change_text(site, "proxy", f"Proxy of {title}", origin, 0, LONGEST_PROXY)

    async def _change_text(
        self, site: Site, field: str, question: str, present: str, min_length: int, max_length: int
    ) -> None:
        """Ask for a text, and change the field. Unsent input is a draft. An empty proxy removes the proxy."""
        draft = DraftSlot(self._screen.engine.outbox, f"{field} of site {site.id}", present)
        hint = {"proxy": "example.org/docs; empty: none", "basename": "docs"}.get(field, "")

        async def write(text: str) -> bool:
            may_change = field != "basename" or await self._may_rename(site, text)
            if may_change:
                await self._send(site, **{field: text or None})
            return may_change

        await change_text(
            self._screen,
            question,
            draft,
            write,
            min_length=min_length,
            max_length=max_length,
            validate=lambda typed: _problem(field, typed),
            hint=hint,
        )

    async def _may_rename(self, site: Site, name: str) -> bool:
        """Return whether the base path may change. For a live site, ask first, because its address changes."""
        if not site.published:
            return True
        lines: list[Line] = [
            (
                Span(
                    f"The address of a live site changes, its part “{sanitize(site.basename or site.id)}” to “{name}”."
                ),
            ),
            (Span("Whether the old address leads to the new one is up to the service.", "quiet"),),
        ]
        return await confirm(self._screen, f"Change the base path to {name}?", lines, "Change")

    async def _change_visibility(self, site: Site) -> None:
        choices = [Choice(name, name, f"visible to {words}") for name, words in VISIBILITY.items()]
        heading = f"Visibility of {sanitize(site.title)}"
        chosen = await choose(self._screen, heading, choices, current=site.visibility)
        if not chosen or chosen == site.visibility:
            return
        if site.published and (reason := lacks_role(site, "admin")):
            self._screen.notify(f"{reason}: the site is live")
            return
        if site.published:
            lines: list[Line] = [
                (Span(f"It is live. Now: visible to {visibility_of(site)}."),),
                (Span(f"Then: visible to {VISIBILITY[chosen]}.", "waiting"),),
            ]
            question = f"Change the visibility to {chosen}?"
            if not await confirm(self._screen, question, lines, "Change"):
                return
        await self._send(site, visibility=chosen)

    async def _send(self, site: Site, **given: Any) -> None:
        call = UpdateSite(organization_id=self._organization_id, site_id=site.id, **given)
        if await send(self._screen, call):
            self._screen.notify(f"{sanitize(site.title)} changed: {key_for('unsend')} undoes it")


def _problem(field: str, text: str) -> str | None:
    """Return why a text is invalid for a field; None if it is valid."""
    if field == "basename" and text and not _NAME.fullmatch(text):
        return "a-z, 0-9 and _, with single hyphens or dots between"
    if field == "proxy" and text and not _PROXY.fullmatch(text):
        return "a host and a path, such as example.org/docs"
    return None
