"""The redirects of a site: paths with destinations and problems, and commands to add, change, delete and test them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from typing_extensions import override

from presscheck.api.site_settings import (
    CreateRedirect,
    DeleteRedirect,
    ListRedirects,
    Redirect,
    RedirectDestination,
    UpdateRedirect,
)
from presscheck.engine.publish.redirects import (
    RedirectMap,
    Trail,
    destination_at,
    reference,
    source_problem,
)
from presscheck.engine.publish.site_structure import plain_path, wire_path
from presscheck.errors import PresscheckError
from presscheck.store.drafts import DraftSlot
from presscheck.text.phrases import count
from presscheck.text.sanitize import sanitize
from presscheck.text.styled_text import Line, Span
from presscheck.tui.commands import key_for
from presscheck.tui.screens.sites.writes import mark_of, send
from presscheck.tui.screens.text_screen import TextScreen
from presscheck.tui.ui.ask import choose, confirm, prompt
from presscheck.tui.ui.list import Column, MarkedList
from presscheck.tui.ui.loaded import Loaded
from presscheck.tui.widgets.empty_state import Message
from presscheck.tui.widgets.picker import Choice, Picker

if TYPE_CHECKING:
    from presscheck.api.operation import Operation
    from presscheck.tui.screens.sites.access.session import SiteAccess

PROBLEM_COLUMNS = 18
LONGEST_PATH = 2048
SHOWN = 8
"""Maximum number of marked redirects that a confirmation lists."""
ENDS = {
    "page": ("✓ a page of the site", "added"),
    "address": ("✓ an address outside of the site", "added"),
    "nothing": ("✗ page not found (404)", "removed"),
    "loop": ("✗ redirect loop: visitors get a browser error", "removed"),
    "unknown": ("? the pages of its space could not be read", "waiting"),
}


class RedirectList(MarkedList[Redirect]):
    """The redirects of a site.

    Args:
        session: the access settings of the site.
        target: the id of the redirect to select when it appears in the list.
    """

    name, nouns, place = "Redirects", "redirects", " of this site"
    footer = ("open", "add", "rename", "delete", "mark", "import_rows", "find_here", "close")

    def __init__(self, session: SiteAccess, *, target: str = "") -> None:
        self._session = session
        super().__init__(
            (
                Column("path", self._source, share=2),
                Column("leads to", self._destination, share=3),
                Column("problem", self._problem, PROBLEM_COLUMNS),
            ),
            target=target or None,
        )

    @override
    @property
    def loaded(self) -> Loaded[Sequence[Redirect]]:
        return self._session.redirects

    @override
    def summary(self) -> Line:
        session, redirects = self._session, self._session.redirects.value
        if not redirects:
            return ()
        marked = len(self.marked)
        parts = [Span(count(len(redirects), "redirect"))]
        parts += [Span(f"   {marked:,} marked: {key_for('act_on_marked')} acts on them", "accent")] if marked else []
        parts += [Span(f"   {len(session.problems):,} with problems", "waiting")] if session.problems else []
        return tuple(parts) if session.paths else (*parts, Span("   reading the pages …", "quiet"))

    @override
    def empty(self) -> Message:
        return Message(
            "No redirects yet.",
            f"{key_for('add')} adds one, {key_for('import_rows')} imports a CSV "
            f"file, {key_for('suggest_rows')} suggests some.",
        )

    def _source(self, redirect: Redirect) -> Line:
        sign, style = mark_of(redirect)
        return (Span(sign, style), Span(sanitize(redirect.source), "strong"))

    def _destination(self, redirect: Redirect) -> Line:
        paths = self._session.paths
        target = paths.path_of(redirect.destination) if paths else None
        title = paths.title_of(redirect.destination) if paths else ""
        path = sanitize(target or reference(redirect.destination))
        return (Span(path, "link" if target else "quiet"), Span(f"  {sanitize(title)}", "quiet"))

    def _problem(self, redirect: Redirect) -> Line:
        problem = self._session.problems.get(redirect.id, "")
        return (Span(problem, "removed" if problem.startswith("leads") else "waiting"),)

    def reason(self, write: type[Operation[Any]] | None = None, *, needs_paths: bool = True) -> str | None:
        """Return why the redirects are unavailable, or why `write` is not allowed; None otherwise.

        Unless `needs_paths` is False, redirects are also unavailable until the pages of the site are loaded.
        """
        if reason := self._session.reason(ListRedirects, write):
            return reason
        return "the pages of the site are not loaded yet" if needs_paths and self._session.map is None else None

    def _row_reason(self, write: type[Operation[Any]] | None = None, *, needs_paths: bool = True) -> str | None:
        if reason := self.reason(write, needs_paths=False):
            return reason
        return self.reason(needs_paths=needs_paths) if self.count else f"no redirect here: {key_for('add')} adds one"

    def reason_open(self) -> str | None:
        """Return why the destination cannot be shown: there is no redirect, or the data is not loaded yet."""
        return self._row_reason()

    def reason_copy(self) -> str | None:
        """Return why the path cannot be copied: there is no redirect."""
        return self._row_reason(needs_paths=False)

    def reason_add(self) -> str | None:
        """Return why a redirect cannot be added: the change is not allowed now, or the data is not loaded yet."""
        return self.reason(CreateRedirect)

    def reason_rename(self) -> str | None:
        """Return why the redirect cannot be changed: there is none, or the change is not allowed now."""
        return self._row_reason(UpdateRedirect)

    def reason_delete(self) -> str | None:
        """Return why the redirect cannot be deleted: there is none, or the change is not allowed now."""
        return self._row_reason(DeleteRedirect, needs_paths=False)

    def reason_act_on_marked(self) -> str | None:
        """Return why the marked redirects cannot be changed: none is marked, or the change is not allowed now."""
        if not self.rows.marks.keys:
            return f"nothing is marked: {key_for('mark')} marks a redirect, {key_for('mark_visible')} all visible rows"
        return self.reason(UpdateRedirect)

    def command_open(self) -> None:
        """Show where the redirect leads."""
        redirect, redirects = self.current, self._session.map
        if redirect and redirects:
            self.show_trail(redirects.trail(redirect.source))

    def command_copy(self) -> None:
        """Copy the path of the redirect."""
        redirect = self.current
        if redirect:
            self._session.screen.app_context.copy_to_clipboard(sanitize(redirect.source))
            self._session.screen.notify("copied the path")

    def show_trail(self, trail: Trail) -> None:
        """Show where the redirects from a path lead."""
        words, style = ENDS[trail.end]
        arrows = [("→" if number else " ", step) for number, step in enumerate(trail.steps)]
        lines: list[Line] = [(), *((Span(f"  {arrow} ", "quiet"), Span(sanitize(step))) for arrow, step in arrows)]
        lines += [(), (Span(f"  {words}", style), Span(f"  {sanitize(trail.title)}", "quiet"))]
        if trail.redirects > 1 and trail.end != "loop":
            note = f"  A chain of {trail.redirects} redirects: each costs visitors a request."
            lines += [(), (Span(note, "waiting"),)]
        elif not trail.redirects:
            lines += [(), (Span("  No redirect from this path.", "quiet"),)]
        self._session.screen.app_context.push_screen(TextScreen(f"Test of {sanitize(trail.steps[0])}", lines))

    async def command_add(self) -> None:
        """Ask for a path and its destination, and add the redirect."""
        redirects, path = self._session.map, self._session.path
        if redirects is None:
            return
        draft = self._session.draft(f"redirect of site {self._session.site.id}")
        source = await self._ask_source(draft, redirects)
        destination = await self._ask_destination(f"{source} redirects to", redirects) if source else None
        if source and destination:
            await send(self._session.screen, CreateRedirect(**path, source=source, destination=destination))
            draft.discard()

    async def command_rename(self) -> None:
        """Change the path or the destination of the redirect."""
        redirect, redirects = self.current, self._session.map
        if redirect is None or redirects is None:
            return
        if reason := unsent(redirect):
            self._session.screen.notify(reason)
            return
        source = sanitize(redirect.source)
        path: dict[str, Any] = {**self._session.path, "site_redirect_id": redirect.id}
        choices = [
            Choice("target", "Where it leads", sanitize(redirects.destination(redirect)), letter="t"),
            Choice("source", "Path", source, letter="p"),
        ]
        chosen = await choose(self._session.screen, f"Change {source}", choices)
        if chosen == "source":
            draft = self._session.draft(f"redirect {redirect.id}", redirect.source)
            new = await self._ask_source(draft, redirects, redirect.id)
            if new and new != redirect.source:
                await send(self._session.screen, UpdateRedirect(**path, source=new))
            if new:
                draft.discard()
        elif chosen:
            destination = await self._ask_destination(f"{source} redirects to", redirects)
            if destination:
                call = UpdateRedirect(**path, source=redirect.source, destination=destination)
                await send(self._session.screen, call)

    async def command_delete(self) -> None:
        """Delete the redirect, or all marked redirects, after a confirmation."""
        current = self.current
        redirects = self.marked or ([current] if current else [])
        pending = next((reason for redirect in redirects if (reason := unsent(redirect))), None)
        if pending or not redirects:
            self._session.screen.notify(pending or "no redirect here")
            return
        lines = [*_named(redirects), (Span("Visitors of the old addresses get “page not found”."),)]
        question = f"Delete {count(len(redirects), 'redirect')}?"
        if await confirm(self._session.screen, question, lines, "Delete"):
            path = self._session.path
            calls = [DeleteRedirect(**path, site_redirect_id=redirect.id) for redirect in redirects]
            await self._send_all(calls, redirects)

    async def command_act_on_marked(self) -> None:
        """Choose an action, and apply it to all marked redirects."""
        marked, redirects = self.marked, self._session.map
        if redirects is None:
            return
        number = count(len(marked), "redirect")
        choices = [
            Choice("target", "Redirect them all to one page", letter="t"),
            Choice("delete", "Delete them", letter="d"),
        ]
        chosen = await choose(self._session.screen, number, choices)
        if chosen == "delete":
            await self.command_delete()
        elif chosen:
            destination = await self._ask_destination(f"{number} redirect to", redirects)
            if destination:
                path = self._session.path
                calls = [
                    UpdateRedirect(
                        **path, site_redirect_id=redirect.id, source=redirect.source, destination=destination
                    )
                    for redirect in marked
                    if not unsent(redirect)
                ]
                await self._send_all(calls, marked)

    async def _send_all(self, calls: Sequence[Operation[Any]], redirects: Sequence[Redirect]) -> None:
        """Queue all changes at once, then wait for each change unless the app is offline.

        The redirects lose their marks. Rejected changes stay in the outbox with the reason.
        """
        tickets = [self._session.screen.engine.write(call) for call in calls]
        self.rows.marks.keys -= {redirect.id for redirect in redirects}
        self._session.screen.redraw()
        if not self._session.screen.engine.status.online:
            self._session.screen.notify(f"{count(len(tickets), 'change')} pending, sent once you are online")
            return
        failed: list[PresscheckError] = []
        for ticket in tickets:
            try:
                await ticket.landed()
            except PresscheckError as error:
                failed.append(error)
        if failed:
            raise failed[0]
        self._session.screen.notify(f"{count(len(tickets), 'redirect')} changed")

    async def _ask_source(self, draft: DraftSlot, redirects: RedirectMap, own: str = "") -> str | None:
        """Ask for the path of a redirect. Returns None if the user canceled.

        The input is stored in `draft`. Paths of other redirects are invalid; `own` is the id of the changed redirect.
        """

        def validate(typed: str) -> str | None:
            existing = redirects.by_source.get(plain_path(typed))
            if existing and existing.id != own:
                return f"it is redirected already: {key_for('rename')} changes where it leads"
            return source_problem(typed)

        screen, title = self._session.screen, "Path to redirect"
        typed = await prompt(screen, title, draft, max_length=LONGEST_PATH, validate=validate, hint="/old/page")
        return wire_path(typed) if typed else None

    async def _ask_destination(self, question: str, redirects: RedirectMap) -> RedirectDestination | None:
        """Ask for a destination: a section, space or page of the site, or a web address.

        Returns None if the user chose no destination.
        """
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
        chosen = await self._session.screen.ask(picker)
        if not chosen:
            return None
        if chosen[0].startswith("url "):
            place = destination_at(chosen[0][4:], redirects.paths)
            return None if isinstance(place, str) else place
        return targets[int(chosen[0])].destination


def unsent(redirect: Redirect) -> str | None:
    """Return why an unsent redirect cannot be changed; None for other redirects."""
    return f"it is not sent yet: {key_for('unsend')} discards it" if redirect.id.startswith("waiting:") else None


def _named(redirects: Sequence[Redirect]) -> list[Line]:
    more = len(redirects) - SHOWN
    lines: list[Line] = [(Span(f"· {sanitize(redirect.source)}"),) for redirect in redirects[:SHOWN]]
    return [*lines, (Span(f"  and {more:,} more", "quiet"),)] if more > 0 else lines
