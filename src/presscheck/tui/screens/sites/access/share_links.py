"""The tab of share links. Addresses are secrets: they can be copied, but are never shown."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from typing import TYPE_CHECKING, Any

from typing_extensions import override

from presscheck.api.site_settings import CreateShareLink, DeleteShareLink, ListShareLinks, ShareLink, UpdateShareLink
from presscheck.store.outbox import NEW
from presscheck.text.phrases import count, now, since
from presscheck.text.sanitize import sanitize
from presscheck.text.styled_text import Line, Span
from presscheck.tui.commands import key_for
from presscheck.tui.screens.sites.published_profile import published_reason, show_published
from presscheck.tui.screens.sites.writes import mark_of, send
from presscheck.tui.ui.ask import change_text, choose, confirm
from presscheck.tui.ui.list import Column, List
from presscheck.tui.ui.loaded import Loaded
from presscheck.tui.widgets.empty_state import Message
from presscheck.tui.widgets.picker import Choice

if TYPE_CHECKING:
    from presscheck.api.operation import Operation
    from presscheck.api.sites import Site
    from presscheck.tui.screens.sites.access.session import SiteAccess

LONGEST_NAME = 50
STATE_COLUMNS, DATE_COLUMNS, ADDRESS_COLUMNS = 8, 22, 24


class ShareLinkList(List[ShareLink]):
    """The share links of a site.

    Args:
        session: the access settings of the site.
    """

    name, nouns, place = "Share links", "share links", " of this site"
    footer = ("add", "rename", "copy", "go_published", "delete", "close")

    def __init__(self, session: SiteAccess) -> None:
        self._session = session
        super().__init__(
            (
                Column("name", _name),
                Column("state", _state, STATE_COLUMNS, gap=0),
                Column("created", lambda link: (Span(since(link.created_at, now()), "quiet"),), DATE_COLUMNS),
                Column("address", self._address, ADDRESS_COLUMNS),
            )
        )

    @override
    @property
    def loaded(self) -> Loaded[Sequence[ShareLink]]:
        return self._session.links

    @override
    def searched(self, item: ShareLink) -> str:
        return item.name or ""

    @override
    def summary(self) -> Line:
        links, site = self._session.links.value, self._session.site
        if not links:
            return ()
        active = sum(bool(link.active) for link in links)
        note = "" if site.visibility == "share-link" else f"   not used: the site is {sanitize(site.visibility)}"
        return (Span(f"{count(active, 'share link')} on"), Span(note, "waiting"))

    @override
    def empty(self) -> Message:
        return Message(
            "No share links yet.", f"{key_for('add')} creates one: anyone with its address can read the site."
        )

    def _address(self, link: ShareLink) -> Line:
        why = no_address(link, self._session.site)
        return (Span(why or f"secret: {key_for('copy')} copies it", "quiet"),)

    def _reason(self, write: type[Operation[Any]] | None = None) -> str | None:
        """Return why the link cannot be used or changed: there is none, it is not sent, or no change is allowed."""
        if reason := self._session.reason(ListShareLinks, write):
            return reason
        if self.current is None:
            return f"no share link here: {key_for('add')} creates one"
        is_waiting = write is not None and self.current.id.startswith(NEW)
        return f"it is not sent yet: {key_for('unsend')} discards it" if is_waiting else None

    def reason_add(self) -> str | None:
        """Return why a share link cannot be created: the change is not allowed now."""
        return self._session.reason(ListShareLinks, CreateShareLink)

    def reason_rename(self) -> str | None:
        """Return why the link cannot be changed: there is none, it is not sent yet, or the change is not allowed."""
        return self._reason(UpdateShareLink)

    reason_open = reason_rename

    def reason_delete(self) -> str | None:
        """Return why the link cannot be revoked: there is none, it is not sent yet, or the change is not allowed."""
        return self._reason(DeleteShareLink)

    def reason_copy(self) -> str | None:
        """Return why the address cannot be copied: there is no link, or the link has no address."""
        if reason := self._reason():
            return reason
        why = no_address(self.current, self._session.site) if self.current else None
        return f"it has no address: {why}" if why else None

    def reason_go_published(self) -> str | None:
        """Return why the site cannot be shown through the link: the link has no address, or the site is unavailable."""
        return self.reason_copy() or published_reason(self._session.screen, self._session.site)

    async def command_go_published(self) -> None:
        """Show the site as visitors with the share link see it."""
        await show_published(self._session.screen, self._session.organization_id, self._session.site, self.current)

    def command_copy(self) -> None:
        """Copy the address of the link."""
        link = self.current
        if link is None:
            return
        self._session.screen.app_context.copy_to_clipboard(sanitize(link.urls.published or ""))
        name = sanitize(link.name or "the link")
        self._session.screen.notify(f"copied the address of {name}: anyone who has it can read the site")

    async def command_add(self) -> None:
        """Create a share link."""

        async def create(name: str) -> None:
            await send(self._session.screen, CreateShareLink(**self._session.path, name=name))

        key = f"share link of site {self._session.site.id}"
        await self._ask_name("Name of the new share link", key, "", create)

    async def command_rename(self) -> None:
        """Change the name of the link, or turn it on or off."""
        link = self.current
        if link is None:
            return
        path: dict[str, Any] = {**self._session.path, "share_link_id": link.id}
        name = sanitize(link.name or "") or "(no name)"
        choices = [
            Choice("name", "Name", name, letter="n"),
            Choice("active", "Turn off" if link.active else "Turn on", "on" if link.active else "off", letter="t"),
        ]
        chosen = await choose(self._session.screen, f"Change {name}", choices)
        if chosen == "active":
            await send(self._session.screen, UpdateShareLink(**path, active=not link.active))
        elif chosen:

            async def rename(new: str) -> None:
                await send(self._session.screen, UpdateShareLink(**path, name=new))

            await self._ask_name(f"Name of {name}", f"share link {link.id}", link.name or "", rename)

    command_open = command_rename

    async def command_delete(self) -> None:
        """Revoke the link, after a confirmation."""
        link = self.current
        if link is None:
            return
        name = sanitize(link.name or "") or "(no name)"
        lines: list[Line] = [
            (Span("Its address no longer opens the site."),),
            (Span(f"It cannot be restored; {key_for('rename')} turns a link off for a while.", "waiting"),),
        ]
        if await confirm(self._session.screen, f"Revoke {name}?", lines, "Revoke"):
            await send(self._session.screen, DeleteShareLink(**self._session.path, share_link_id=link.id))

    async def _ask_name(self, question: str, key: str, present: str, write: Callable[[str], Awaitable[object]]) -> None:
        draft = self._session.draft(key, present)
        await change_text(self._session.screen, question, draft, write, max_length=LONGEST_NAME, hint="for partners")


def _name(link: ShareLink) -> Line:
    sign, style = mark_of(link)
    return (Span(sign, style), Span(sanitize(link.name or "") or "(no name)", "strong"))


def _state(link: ShareLink) -> Line:
    return (Span("● on", "added") if link.active else Span("○ off", "quiet"),)


def no_address(link: ShareLink, site: Site) -> str | None:
    """Return why a share link has no address, or None if it has one."""
    if link.urls.published:
        return None
    if link.id.startswith(NEW):
        return "not sent yet"
    if not link.active:
        return "the link is off"
    if site.visibility != "share-link":
        return f"the site is {sanitize(site.visibility)}"
    return "not known yet" if site.published else "the site is not live"
