"""Actions on redirects: add, change, delete, one or several marked, and where a path leads."""

from __future__ import annotations

from collections.abc import Awaitable, Sequence
from typing import TYPE_CHECKING, Any, Protocol

from presscheck.api.site_settings import CreateRedirect, DeleteRedirect, RedirectDestination, UpdateRedirect
from presscheck.engine.publish.redirects import RedirectMap, Trail, destination_at, source_problem
from presscheck.engine.publish.site_structure import plain_path, wire_path
from presscheck.errors import PresscheckError
from presscheck.text.phrases import count
from presscheck.text.sanitize import sanitize
from presscheck.text.styled_text import Line, Span
from presscheck.tui.screens.site.writes import send
from presscheck.tui.screens.text_screen import TextScreen
from presscheck.tui.widgets.confirm_dialog import ConfirmDialog
from presscheck.tui.widgets.picker import Choice, Picker
from presscheck.tui.widgets.prompt_dialog import PromptDialog

if TYPE_CHECKING:
    from presscheck.api.operation import Operation
    from presscheck.api.site_settings import Redirect
    from presscheck.tui.screens.site_access.context import AccessContext

LONGEST_PATH = 2048
SHOWN = 8
"""Marked redirects that a confirmation names."""
ENDS = {
    "page": ("✓ a page of the site", "added"),
    "address": ("✓ an address outside of the site", "added"),
    "nothing": ("✗ page not found (404)", "removed"),
    "loop": ("✗ redirect loop: visitors get a browser error", "removed"),
    "unknown": ("? the pages of its space could not be read", "waiting"),
}


class Selection(Protocol):
    """The redirects that a command is about."""

    @property
    def current(self) -> Redirect | None:
        """The redirect under the cursor."""
        ...

    @property
    def marked(self) -> list[Redirect]:
        """The marked redirects."""
        ...


class RedirectActions:
    """Handles the commands on redirects.

    Args:
        screen: the screen of access.
        selection: the tab of redirects.
    """

    def __init__(self, screen: AccessContext, selection: Selection) -> None:
        self._screen, self._selection = screen, selection

    def show_trail(self) -> None:
        """Show where the redirect under the cursor leads."""
        redirect, redirects = self._selection.current, self._screen.model.map
        if redirect and redirects:
            self._show(redirects.trail(redirect.source))

    def copy(self) -> None:
        """Copy the path of the redirect."""
        redirect = self._selection.current
        if redirect:
            self._screen.app_context.copy_to_clipboard(sanitize(redirect.source))
            self._screen.notify("copied the path")

    async def test_path(self) -> None:
        """Ask for a path, and show where it leads."""
        redirects = self._screen.model.map
        if redirects is None:
            return
        dialog = PromptDialog(
            "Test a path",
            "",
            max_length=LONGEST_PATH,
            confirm_label="Test",
            hint="/old/page, or its whole address",
            validate=lambda typed: None if self._inside(typed).startswith("/") else "a path of the site, such as /old",
        )
        typed = await self._screen.ask(dialog)
        if typed is not None:
            self._show(redirects.trail(self._inside(typed)))

    def _inside(self, typed: str) -> str:
        paths = self._screen.model.paths
        path = (paths.inside(typed) if paths else "") if "://" in typed else typed
        return path.partition("?")[0].partition("#")[0]

    def _show(self, trail: Trail) -> None:
        words, style = ENDS[trail.end]
        arrows = [("→" if number else " ", step) for number, step in enumerate(trail.steps)]
        lines: list[Line] = [(), *((Span(f"  {arrow} ", "quiet"), Span(sanitize(step))) for arrow, step in arrows)]
        lines += [(), (Span(f"  {words}", style), Span(f"  {sanitize(trail.title)}", "quiet"))]
        if trail.redirects > 1 and trail.end != "loop":
            note = f"  A chain of {trail.redirects} redirects: each costs visitors a request."
            lines += [(), (Span(note, "waiting"),)]
        elif not trail.redirects:
            lines += [(), (Span("  No redirect from this path.", "quiet"),)]
        self._screen.app_context.push_screen(TextScreen(f"Test of {sanitize(trail.steps[0])}", lines))

    async def add(self) -> None:
        """Ask for a path and where it leads, and add the redirect."""
        redirects, path = self._screen.model.map, self._screen.model.path
        if redirects is None:
            return
        draft = f"redirect of site {self._screen.model.site.id}"
        source = await self._ask_source("Path to redirect", "", redirects, draft)
        destination = await self._ask_destination(f"{source} redirects to", redirects) if source else None
        if source and destination:
            await send(self._screen, CreateRedirect(**path, source=source, destination=destination))
            self._screen.engine.outbox.save_draft(draft, "")

    def change(self) -> Awaitable[None] | None:
        """Change the path or the target of the redirect."""
        redirect, redirects = self._selection.current, self._screen.model.map
        return self._change(redirect, redirects) if redirect and redirects else None

    async def _change(self, redirect: Redirect, redirects: RedirectMap) -> None:
        if reason := unsent(redirect):
            self._screen.notify(reason)
            return
        source = sanitize(redirect.source)
        path: dict[str, Any] = {**self._screen.model.path, "site_redirect_id": redirect.id}
        choices = [
            Choice("target", "Where it leads", sanitize(redirects.destination(redirect)), letter="t"),
            Choice("source", "Path", source, letter="p"),
        ]
        chosen = await self._screen.ask(Picker(f"Change {source}", choices, ranked=False))
        if chosen == ("source",):
            draft = f"redirect {redirect.id}"
            new = await self._ask_source("Path to redirect", redirect.source, redirects, draft, redirect.id)
            if new and new != redirect.source:
                await send(self._screen, UpdateRedirect(**path, source=new))
            if new:
                self._screen.engine.outbox.save_draft(draft, "")
        elif chosen:
            destination = await self._ask_destination(f"{source} redirects to", redirects)
            if destination:
                call = UpdateRedirect(**path, source=redirect.source, destination=destination)
                await send(self._screen, call)

    async def delete(self) -> None:
        """Delete the redirect, or the marked ones, after a confirmation."""
        current = self._selection.current
        redirects = self._selection.marked or ([current] if current else [])
        pending = next((reason for redirect in redirects if (reason := unsent(redirect))), None)
        if pending or not redirects:
            self._screen.notify(pending or "no redirect here")
            return
        lines = [*_named(redirects), (Span("Visitors of the old addresses get “page not found”."),)]
        question = f"Delete {count(len(redirects), 'redirect')}?"
        if await self._screen.ask(ConfirmDialog(question, lines, "Delete")):
            path = self._screen.model.path
            await self._send_all([DeleteRedirect(**path, site_redirect_id=one.id) for one in redirects], redirects)

    async def act_on_marked(self) -> None:
        """Choose what to do with the marked redirects."""
        marked, redirects = self._selection.marked, self._screen.model.map
        if redirects is None:
            return
        number = count(len(marked), "redirect")
        choices = [
            Choice("target", "Redirect them all to one page", letter="t"),
            Choice("delete", "Delete them", letter="d"),
        ]
        chosen = await self._screen.ask(Picker(number, choices, ranked=False))
        if chosen == ("delete",):
            await self.delete()
        elif chosen:
            destination = await self._ask_destination(f"{number} redirect to", redirects)
            if destination:
                path = self._screen.model.path
                calls = [
                    UpdateRedirect(**path, site_redirect_id=one.id, source=one.source, destination=destination)
                    for one in marked
                    if not unsent(one)
                ]
                await self._send_all(calls, marked)

    async def _send_all(self, calls: Sequence[Operation[Any]], redirects: Sequence[Redirect]) -> None:
        """Put all into the outbox at once, and wait for each; what is refused stays there with its reason."""
        tickets = [self._screen.engine.write(call) for call in calls]
        self._screen.rows.marked -= {redirect.id for redirect in redirects}
        self._screen.redraw()
        if not self._screen.engine.status.online:
            self._screen.notify(f"{count(len(tickets), 'change')} pending, sent once you are online")
            return
        failed: list[PresscheckError] = []
        for ticket in tickets:
            try:
                await ticket.landed()
            except PresscheckError as error:
                failed.append(error)
        if failed:
            raise failed[0]
        self._screen.notify(f"{count(len(tickets), 'redirect')} changed")

    async def _ask_source(
        self, question: str, present: str, redirects: RedirectMap, draft: str, own: str = ""
    ) -> str | None:
        """A path that can be redirected, which is a draft until the redirect is in the outbox."""
        outbox, site = self._screen.engine.outbox, self._screen.model.site
        about = {"site": site.id, "title": present or site.title}

        def validate(typed: str) -> str | None:
            known = redirects.by_source.get(plain_path(typed))
            if known and known.id != own:
                return "it is redirected already: E changes where it leads"
            return source_problem(typed)

        dialog = PromptDialog(
            question,
            outbox.draft(draft) or present,
            max_length=LONGEST_PATH,
            validate=validate,
            save=lambda typed: outbox.save_draft(draft, "" if typed == present else typed, about),
            hint="/old/page",
        )
        typed = await self._screen.ask(dialog)
        return wire_path(typed) if typed else None

    async def _ask_destination(self, question: str, redirects: RedirectMap) -> RedirectDestination | None:
        """A section, space or page of the site, or a typed web address."""
        targets = redirects.paths.targets
        choices = [
            Choice(str(number), sanitize(target.title), sanitize(target.path or "/"))
            for number, target in enumerate(targets)
        ]

        def typed_address(text: str) -> list[Choice] | None:
            if not text.strip().startswith(("http://", "https://")):
                return None
            place = destination_at(text, redirects.paths)
            return [] if isinstance(place, str) else [Choice(f"url {text.strip()}", sanitize(text.strip()))]

        picker = Picker(
            sanitize(question),
            choices,
            extra_choices=typed_address,
            empty_text=lambda _: "no page with these words; a web address begins with https://",
        )
        chosen = await self._screen.ask(picker)
        if not chosen:
            return None
        if chosen[0].startswith("url "):
            place = destination_at(chosen[0][4:], redirects.paths)
            return None if isinstance(place, str) else place
        return targets[int(chosen[0])].destination


def unsent(redirect: Redirect) -> str | None:
    """Why a redirect cannot be changed: the service does not have it yet."""
    return "it is not sent yet: z discards it" if redirect.id.startswith("waiting:") else None


def _named(redirects: Sequence[Redirect]) -> list[Line]:
    more = len(redirects) - SHOWN
    lines: list[Line] = [(Span(f"· {sanitize(redirect.source)}"),) for redirect in redirects[:SHOWN]]
    return [*lines, (Span(f"  and {more:,} more", "quiet"),)] if more > 0 else lines
