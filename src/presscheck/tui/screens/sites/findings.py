"""The findings of a site: problems that the service found, with the status that users give them."""

from __future__ import annotations

from collections.abc import Awaitable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, ClassVar

from typing_extensions import override

from presscheck.api.operation import ALL, Page
from presscheck.api.site_findings import (
    FindingStatus,
    ListSiteFindingChangeRequests,
    ListSiteFindingPages,
    ListSiteFindings,
    SiteFinding,
    UpdateSiteFinding,
)
from presscheck.text.phrases import now, since
from presscheck.text.sanitize import sanitize
from presscheck.text.styled_text import Line, Span
from presscheck.tui.commands import key_for
from presscheck.tui.places import Place
from presscheck.tui.screens.sites.title import site_title
from presscheck.tui.screens.sites.writes import mark_of, send, undo_here, write_reason
from presscheck.tui.ui.ask import choose
from presscheck.tui.ui.list import Column, List
from presscheck.tui.ui.loaded import Loaded
from presscheck.tui.ui.tabs import Tabs, TabScreen
from presscheck.tui.widgets.empty_state import Message
from presscheck.tui.widgets.picker import Choice

if TYPE_CHECKING:
    from presscheck.api.sites import Site
    from presscheck.engine.results import Result

SIGNS = {"high": ("✗", "removed"), "medium": ("⚠", "waiting"), "low": ("·", "quiet")}
"""Sign and style of each severity."""
STATUSES: dict[FindingStatus, tuple[str, str, str]] = {
    "open": ("Open", "to be fixed", "o"),
    "done": ("Done", "fixed, or about to be", "d"),
    "canceled": ("Ignored", "it stays as it is", "i"),
}
"""Name, hint and key of each status that users can set."""
SIGN_COLUMNS, TYPE_COLUMNS, TIME_COLUMNS = 2, 20, 22
WIDE = 110
"""Minimum width in cells of a list that shows types and times."""


class FindingList(List[SiteFinding]):
    """The findings with a status.

    Args:
        screen: the screen of the findings.
        status: the status.
    """

    nouns, place = "findings", " of this site"
    footer = ("open", "resolve", "rename", "find_here", "unsend", "close")

    def __init__(self, screen: SiteFindingsScreen, status: FindingStatus) -> None:
        self._screen, self.status = screen, status
        self.name = STATUSES[status][0]
        super().__init__(
            (
                Column("", _sign, SIGN_COLUMNS),
                Column("finding", _title),
                Column("type", lambda finding: sanitize(finding.type), TYPE_COLUMNS, from_width=WIDE),
                Column("changed", _changed, TIME_COLUMNS, from_width=WIDE),
            )
        )

    @override
    @property
    def loaded(self) -> Loaded[Sequence[SiteFinding]]:
        return self._screen.findings[self.status]

    @override
    def empty(self) -> Message:
        if self.status == "open":
            return Message("No open findings: the service found no other problems.")
        return Message(f"No finding is {self.name.lower()}.", f"{key_for('rename')} changes the status of a finding.")

    def reason_open(self) -> str | None:
        """Return why nothing can be opened: there is no finding, or it has neither a page nor a change request."""
        finding = self.current
        if finding is None:
            return "no finding here"
        has_place = finding.pages or finding.change_requests
        return (
            None if has_place else f"it is on no page: {key_for('why')} among the sites goes to where it can be fixed"
        )

    async def command_open(self) -> None:
        """Open the page or change request of the finding; with several, ask which."""
        if self.current:
            await self._screen.open_finding(self.current)

    def reason_resolve(self) -> str | None:
        """Return why the status cannot be changed: there is no finding, or the change is not allowed now."""
        if self.current is None:
            return "no finding here"
        return write_reason(self._screen, UpdateSiteFinding, self._screen.site, "create")

    reason_rename = reason_resolve

    def command_resolve(self) -> Awaitable[None] | None:
        """Mark the finding as done; in the other tabs, open it again."""
        return self._change("done" if self.status == "open" else "open")

    async def command_rename(self) -> None:
        """Choose the status of the finding."""
        choices = [Choice(status, name, hint, letter=key) for status, (name, hint, key) in STATUSES.items()]
        chosen = await choose(self._screen, "Status of the finding", choices, current=self.status)
        status = next((status for status in STATUSES if chosen == status != self.status), None)
        if status and (change := self._change(status)):
            await change

    def _change(self, status: FindingStatus) -> Awaitable[None] | None:
        return self._screen.change_status(self.current, status) if self.current else None


class SiteFindingsScreen(TabScreen):
    """The findings of a site, in a tab for each status.

    Args:
        organization_id: the organization of the site.
        site: the site.
    """

    SCOPE = "site"
    FOOTER_TITLES: ClassVar[Mapping[str, str]] = {"rename": "status"}

    def __init__(self, organization_id: str, site: Site) -> None:
        super().__init__()
        self.site = site
        self._path: dict[str, Any] = {"organization_id": organization_id, "site_id": site.id}
        self.findings = dict.fromkeys(STATUSES, Loaded[Sequence[SiteFinding]]())
        self.lists = Tabs(self, [FindingList(self, status) for status in STATUSES])

    @override
    def title_line(self) -> Line:
        return site_title(self.site, "Findings")

    @override
    def on_mount(self) -> None:
        super().on_mount()
        call = ListSiteFindings(**self._path, limit=ALL, order_by="severity")
        self.subscribe(self.engine.watch(call), self._take, group="findings", shows_errors=False)
        self.redraw()

    def _take(self, result: Result[Page[SiteFinding] | None]) -> None:
        for status, loaded in self.findings.items():
            findings = loaded.value
            if result.value:
                findings = [finding for finding in result.value.items if _tab_of(finding) == status]
            self.findings[status] = Loaded(findings, result.error)
        self.redraw()

    async def command_unsend(self) -> None:
        """Undo the last change of the site, after a confirmation if it was sent."""
        await undo_here(self, self.site.id)

    async def open_finding(self, finding: SiteFinding) -> None:
        """Open the page or change request of a finding; with several, ask which."""
        at: dict[str, Any] = {**self._path, "site_finding_id": finding.id}
        places: list[tuple[Place, Choice]] = []
        if finding.pages:
            for place in (await self.engine.read(ListSiteFindingPages(**at, limit=ALL))).items:
                page = place.page
                choice = Choice(f"{len(places)}", sanitize(page.title or "") or "(no title)", sanitize(page.path or ""))
                places.append((Place.page(place.space_id, page.id), choice))
        if finding.change_requests:
            for request in (await self.engine.read(ListSiteFindingChangeRequests(**at, limit=ALL))).items:
                subject = f"#{request.number} {sanitize(request.subject) or '(no subject)'}"
                choice = Choice(f"{len(places)}", subject, sanitize(request.status))
                places.append((Place.review(request.space, request.id), choice))
        if not places:
            self.notify("the page of this finding no longer exists")
            return
        title = "Pages and change requests of the finding"
        chosen = "0" if len(places) == 1 else await choose(self, title, [choice for _, choice in places])
        if chosen:
            await self.app_context.go(places[int(chosen)][0])

    async def change_status(self, finding: SiteFinding, status: FindingStatus) -> None:
        """Change the status of a finding."""
        call = UpdateSiteFinding(**self._path, site_finding_id=finding.id, status=status)
        if await send(self, call):
            self.notify(f"{STATUSES[status][0].lower()}: {sanitize(finding.title)}")


def _tab_of(finding: SiteFinding) -> str:
    """Return the status of the tab that lists a finding. Other statuses, such as `candidate`, are listed as open."""
    return finding.status if finding.status in STATUSES else "open"


def _sign(finding: SiteFinding) -> Line:
    return (Span(*SIGNS.get(finding.severity, ("?", "waiting"))),)


def _title(finding: SiteFinding) -> Line:
    sign, style = mark_of(finding)
    return (Span(sign, style), Span(sanitize(finding.title)))


def _changed(finding: SiteFinding) -> Line:
    return (Span(since(finding.updated_at, now()), "quiet"),)
