"""The tab of share links: names and states; the address, which is a secret, is only copied."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Hashable
from typing import TYPE_CHECKING, Any

from presscheck.api.site_settings import CreateShareLink, DeleteShareLink, ListShareLinks, UpdateShareLink
from presscheck.text.phrases import count, now, since
from presscheck.text.sanitize import sanitize
from presscheck.text.styled_text import Line, Span, cut, pad
from presscheck.tui.screens.site.writes import mark_of, send
from presscheck.tui.widgets.confirm_dialog import ConfirmDialog
from presscheck.tui.widgets.picker import Choice, Picker
from presscheck.tui.widgets.prompt_dialog import PromptDialog

if TYPE_CHECKING:
    from presscheck.api.operation import Operation
    from presscheck.api.site_settings import ShareLink
    from presscheck.tui.screens.site_access.context import AccessContext

LONGEST_NAME = 50
STATE_COLUMNS, DATE_COLUMNS, ADDRESS_COLUMNS = 8, 22, 24
WRITES: dict[str, type[Operation[Any]]] = {
    "open": UpdateShareLink,
    "rename": UpdateShareLink,
    "add": CreateShareLink,
    "delete": DeleteShareLink,
}


class ShareLinksTab:
    """The share links.

    Args:
        screen: the screen of access.
    """

    name, noun = "Share links", "share links"
    footer = ("add", "rename", "copy", "go_published", "delete", "close")

    def __init__(self, screen: AccessContext) -> None:
        self._screen = screen
        self._text = ""

    @property
    def shown(self) -> list[ShareLink]:
        """The links that are listed: all, or those whose name has the text of the filter."""
        links = self._screen.model.links or ()
        return [link for link in links if self._text in (link.name or "").lower()]

    @property
    def total(self) -> int | None:
        """How many there are."""
        links = self._screen.model.links
        return None if links is None else len(links)

    @property
    def count(self) -> int:
        """The number of rows."""
        return len(self.shown)

    @property
    def current(self) -> ShareLink | None:
        """The link under the cursor."""
        at, shown = self._screen.rows.cursor, self.shown
        return shown[at] if at < len(shown) else None

    def key(self, index: int) -> Hashable | None:
        """What identifies a row."""
        return self.shown[index].id if index < self.count else None

    def filter(self, text: str) -> None:
        """Show only the rows with a text."""
        self._text = text

    def summary(self) -> Line:
        """How many are on, and whether they are used."""
        links, site = self._screen.model.links, self._screen.model.site
        if not links:
            return ()
        active = sum(bool(link.active) for link in links)
        note = "" if site.visibility == "share-link" else f"   not used: the site is {sanitize(site.visibility)}"
        return (Span(f"{count(active, 'share link')} on"), Span(note, "waiting"))

    def heading(self, columns: int) -> Line:
        """The names of the columns."""
        line = self._columns(*((Span(name),) for name in ("name", "state", "created", "address")), columns=columns)
        return tuple(span._replace(style="quiet") for span in line)

    def row(self, index: int, columns: int) -> Line:
        """Name, state and age of a link; never its address."""
        link = self.shown[index]
        sign, style = mark_of(link)
        return self._columns(
            (Span(sign, style), Span(sanitize(link.name or "") or "(no name)", "strong")),
            (Span("● on", "added") if link.active else Span("○ off", "quiet"),),
            (Span(since(link.created_at, now()), "quiet"),),
            (Span("secret: y copies it" if link.urls.published else "none while not live", "quiet"),),
            columns=columns,
        )

    def _columns(self, name: Line, state: Line, created: Line, address: Line, *, columns: int) -> Line:
        room = max(10, columns - STATE_COLUMNS - DATE_COLUMNS - ADDRESS_COLUMNS)
        return (
            *pad(cut(name, room - 1), room),
            *pad(state, STATE_COLUMNS),
            *pad(cut(created, DATE_COLUMNS - 1), DATE_COLUMNS),
            *cut(address, ADDRESS_COLUMNS),
        )

    def empty(self) -> tuple[str, str]:
        """What to do without share links."""
        return "No share links yet.", "a creates one: anyone with its address can read the site."

    def reason(self, command: str) -> str | None:
        """Why a command cannot run now."""
        if missing := self._screen.engine.missing_reason(ListShareLinks):
            return missing
        if command in WRITES and (reason := self._screen.change_reason(WRITES[command])):
            return reason
        link = self.current
        if command != "add" and link is None:
            return "no share link here: a creates one"
        if command == "copy" and link and not link.urls.published:
            return "it has no address: the site is not live with share links, or the link is off"
        if command in ("rename", "open", "delete") and link and link.id.startswith("waiting:"):
            return "it is not sent yet: z discards it"
        return None

    def run(self, command: str) -> Awaitable[None] | None:
        """Run a command."""
        if command == "add":
            return self._add()
        link = self.current
        if link is None:
            return None
        commands: dict[str, Callable[[ShareLink], Awaitable[None] | None]] = {
            "open": self._change,
            "rename": self._change,
            "delete": self._revoke,
            "copy": self._copy,
        }
        return commands[command](link)

    def _copy(self, link: ShareLink) -> None:
        self._screen.app_context.copy_to_clipboard(sanitize(link.urls.published or ""))
        name = sanitize(link.name or "the link")
        self._screen.notify(f"copied the address of {name}: anyone who has it can read the site")

    async def _add(self) -> None:
        key = f"share link of site {self._screen.model.site.id}"
        name = await self._ask_name("Name of the new share link", "", key)
        if name is not None:
            await send(self._screen, CreateShareLink(**self._screen.model.path, name=name))
            self._screen.engine.outbox.save_draft(key, "")

    async def _change(self, link: ShareLink) -> None:
        path: dict[str, Any] = {**self._screen.model.path, "share_link_id": link.id}
        name = sanitize(link.name or "") or "(no name)"
        choices = [
            Choice("name", "Name", name, letter="n"),
            Choice("active", "Turn off" if link.active else "Turn on", "on" if link.active else "off", letter="t"),
        ]
        chosen = await self._screen.ask(Picker(f"Change {name}", choices, ranked=False))
        if chosen == ("active",):
            await send(self._screen, UpdateShareLink(**path, active=not link.active))
        elif chosen:
            key = f"share link {link.id}"
            new = await self._ask_name(f"Name of {name}", link.name or "", key)
            if new is not None and new != link.name:
                await send(self._screen, UpdateShareLink(**path, name=new))
            if new is not None:
                self._screen.engine.outbox.save_draft(key, "")

    async def _revoke(self, link: ShareLink) -> None:
        name = sanitize(link.name or "") or "(no name)"
        lines: list[Line] = [
            (Span("Its address no longer opens the site."),),
            (Span("It cannot be restored; E turns a link off for a while.", "waiting"),),
        ]
        if await self._screen.ask(ConfirmDialog(f"Revoke {name}?", lines, "Revoke")):
            await send(self._screen, DeleteShareLink(**self._screen.model.path, share_link_id=link.id))

    async def _ask_name(self, question: str, present: str, key: str) -> str | None:
        outbox, site = self._screen.engine.outbox, self._screen.model.site
        about = {"site": site.id, "title": present or site.title}
        dialog = PromptDialog(
            question,
            outbox.draft(key) or present,
            max_length=LONGEST_NAME,
            save=lambda typed: outbox.save_draft(key, "" if typed == present else typed, about),
            hint="for partners",
        )
        return await self._screen.ask(dialog)
