"""The checks of a site: they run in the background, are listed by a command, and are shown before publishing."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping, Sequence
from time import monotonic, time
from typing import TYPE_CHECKING, cast

from presscheck.config.checks_file import ChecksFile
from presscheck.config.project import checks_of
from presscheck.documents.sites.checks import CHECK_NAMES, Finding, Level, Severity, check_site, summary
from presscheck.documents.sites.content import SiteContent
from presscheck.engine.publish.published_state import PublishedStates
from presscheck.engine.publish.publishing import state_of
from presscheck.engine.publish.site_content import SiteReader
from presscheck.engine.reads.scheduler import BACKGROUND, REQUESTED
from presscheck.errors import PresscheckError
from presscheck.text.phrases import count
from presscheck.text.sanitize import sanitize
from presscheck.text.styled_text import Line, Span
from presscheck.tui.commands import key_for
from presscheck.tui.places import Place
from presscheck.tui.screens.problem_list import ProblemListScreen, ProblemRow
from presscheck.tui.screens.prose_checks import ProseRun
from presscheck.tui.screens.publish.prose_findings import SiteProseFindings

if TYPE_CHECKING:
    from presscheck.api.site_structure import SiteStructure
    from presscheck.api.sites import Site
    from presscheck.client.request_priority import Priority
    from presscheck.config.prose_checks import ProseCheck
    from presscheck.tui.screens.publish.session import PublishSession
    from presscheck.tui.screens.publish.site_screens import SiteScreens

REST = 0.4
"""Seconds that the cursor rests on a site before its check starts."""
CURRENT = 60.0
"""Seconds before a visible site is checked again."""
AFTER_A_SCREEN = 5.0
"""Seconds before a site is checked again after another screen was open, where the user may have fixed problems."""
SHOWN_BEFORE_PUBLISHING = 5
"""Maximum number of findings in the confirmation."""
SIGNS: dict[Severity, tuple[str, str]] = {
    "error": ("✗", "removed"),
    "unknown": ("?", "waiting"),
    "warning": ("⚠", "waiting"),
    "info": ("·", "quiet"),
}
NOT_CHECKED = "Prose not checked: {} checks it."
_HEADINGS: dict[Severity, str] = {
    "error": "Errors that readers would see",
    "unknown": "Not checked",
    "warning": "Warnings",
    "info": "Notes",
}


class Checklist:
    """The checks of the sites, and the command that lists the findings.

    Args:
        session: the sites.
        screens: opens the screen where a finding can be fixed.
    """

    def __init__(self, session: PublishSession, screens: SiteScreens) -> None:
        self._session, self._screens = session, screens
        self._found: dict[str, list[Finding]] = {}
        """Findings of the last check by site id."""
        self._failed: dict[str, str] = {}
        """Messages of failed checks by site id."""
        self._checked_at: dict[str, float] = {}
        """Monotonic time of the last check by site id."""
        self._running: list[str] = []
        """Ids of the sites whose checks are running."""
        self._shown: dict[str, tuple[Site, SiteStructure | None]] = {}
        """The last displayed site and structure by site id."""
        self._reader: SiteReader | None = None
        self._contents: dict[str, SiteContent] = {}
        """Content read by the last check, by site id."""
        self._prose: dict[str, SiteProseFindings] = {}
        """Findings of prose checks by site id."""
        self._has_prose_checks = False
        """Whether prose checks were configured at the last check."""
        self._list: ProblemListScreen[Finding] | None = None

    def check_soon(self, site: Site, *, current: float = CURRENT) -> None:
        """Check a site after the cursor has rested on it, unless its last check is less than `current` seconds old."""

        async def check() -> None:
            await asyncio.sleep(REST)
            is_due = monotonic() - self._checked_at.get(site.id, -CURRENT) >= current
            if is_due and self._is_visible:  # a hidden screen starts the check when it is shown again
                await self.check(site, priority=BACKGROUND)

        self._session.screen.run(check, group="checks", exclusive=True)

    @property
    def _is_visible(self) -> bool:
        return self._session.screen.is_shown or (self._list is not None and self._list.is_shown)

    def check_if_changed(self, site: Site, structure: SiteStructure | None) -> None:
        """Check a site again when its displayed details or structure change.

        The displayed site is compared instead of the checked content, because it includes unsent changes.
        """
        before, before_structure = self._shown.get(site.id, (site, structure))
        now = structure or before_structure
        self._shown[site.id] = (site, now)
        if before != site or (before_structure and before_structure != now):
            self.forget([site])
            self.check_soon(site)

    async def check(self, site: Site, *, priority: Priority = REQUESTED) -> list[Finding] | None:
        """Check a site now, and show its findings.

        Returns:
            The findings, or None if the check failed.
        """
        self._reader = self._reader or SiteReader(self._session.screen.engine)
        self._running.append(site.id)
        try:
            return await self._check(site, self._reader, priority)
        finally:
            self._running.remove(site.id)

    async def _check(self, site: Site, reader: SiteReader, priority: Priority) -> list[Finding] | None:
        engine = self._session.screen.engine
        await engine.noted(site.id)
        states = PublishedStates(engine.outbox)
        published = states.of(site.id)
        try:
            levels = await asyncio.to_thread(self._levels, site)
            app = self._session.screen.app_context
            checks, _ = await asyncio.to_thread(checks_of, app.settings_file, app.profile.project)
            self._has_prose_checks = bool(checks)
            content = await reader.read(self._session.organization_id, site.id, priority=priority, published=published)
        except PresscheckError as error:
            self._checked_at[site.id] = monotonic()
            self._failed[site.id] = error.message
            self._found.pop(site.id, None)
            self._contents.pop(site.id, None)
            self._show(site)
            return None
        if published is None and content.site.published and not content.unread:
            states.note_if_new(site.id, state_of(content, time(), is_own=False))
        found = await asyncio.to_thread(check_site, content, levels)
        self._failed.pop(site.id, None)
        self._checked_at[site.id] = monotonic()
        self._contents[site.id], self._found[site.id] = content, found
        self._show(site)
        return found

    def is_running(self, site: Site) -> bool:
        """Return whether a check of the site is running."""
        return site.id in self._running

    def content(self, site: Site) -> SiteContent | None:
        """Return the content that the last check read; None before a check, and after a failed one."""
        return self._contents.get(site.id)

    def forget(self, sites: Sequence[Site]) -> None:
        """Expire the checks of sites, so that each site is checked again when the cursor rests on it."""
        for site in sites:
            self._checked_at.pop(site.id, None)

    def _levels(self, site: Site) -> Mapping[str, Level]:
        """Return the severity of each check for a site, from the checks file of the profile.

        Raises:
            ConfigurationError: the checks file has errors.
        """
        app = self._session.screen.app_context
        file = ChecksFile(app.settings_file, app.profile.checks)
        return cast("dict[str, Level]", file.read(CHECK_NAMES).of(site.id, site.title))

    def line(self, site: Site) -> Line:
        """Return the summary of a site's checks, with the key that lists the findings."""
        prose, content = self._prose_of(site), self.content(site)
        note = prose.note(content)
        state = (Span(f" · {note}", "waiting" if prose.of(content) else "quiet"),) if note else ()
        has_findings = self._found.get(site.id) or prose.of(content)
        hint = (Span(f" · {key_for('why')} lists them", "quiet"),) if has_findings else ()
        return (*self.summary_line(site), *state, *hint)

    def summary_line(self, site: Site) -> Line:
        """Return the summary of a site's checks: the error, the progress, or the number of problems."""
        failed = self._failed.get(site.id)
        if failed is not None:
            return (Span("could not be checked: ", "waiting"), Span(sanitize(failed), "quiet"))
        findings = self._found.get(site.id)
        if findings is None:
            return (Span("Checking …", "quiet"),)
        if not findings:
            return (Span("✓ no problems", "added"),)
        sign, style = SIGNS[findings[0].severity]
        return (Span(f"{sign} {summary(findings)}", style),)

    def reason_why(self) -> str | None:
        """Return why no findings can be listed: there is no site."""
        return self._session.site_reason()

    def command_why(self) -> None:
        """List the findings of the site; enter opens the page of a finding, or repeats a check that failed."""
        site = self._session.current
        if site is None:
            return
        heading = f"Checks of {sanitize(site.title)}"
        self._list = SiteProblemsScreen(heading, self._rows(site), self._go_to, self)
        self._session.screen.app_context.push_screen(self._list)
        self._session.screen.run(lambda: self.check(site), group="checks", exclusive=True)

    reason_check_prose = reason_why

    def command_check_prose(self) -> None:
        """Run the prose checks on the changed pages of the site, or cancel them."""
        site = self._session.current
        if site is None:
            return
        key = key_for("why")
        next_step = f"{key} lists them" if self._session.screen.is_shown else "they are at the end of the list"

        async def check(checks: Sequence[ProseCheck]) -> int:
            if await self.check(site) is None:
                raise PresscheckError(f"prose not checked: {self._failed.get(site.id, '')}")
            return await self._prose_of(site).check(self._session.screen.engine, checks, self._contents[site.id])

        self._prose_of(site).run.toggle(check, next_step)

    def prose_lines(self, site: Site) -> list[Line]:
        """Return the lines about prose for a confirmation: the number of findings, or a note that it is unchecked."""
        prose, content = self._prose_of(site), self.content(site)
        note = prose.note(content)
        if prose.of(content) and not prose.run.progress:
            return [(Span(f"⚠ {note}, {key_for('why')} lists them", "waiting"),)]
        if not note and self._has_prose_checks:
            note = NOT_CHECKED.format(key_for("check_prose"))
        return [(Span(note, "quiet"),)] if note else []

    def _prose_of(self, site: Site) -> SiteProseFindings:
        if site.id not in self._prose:
            self._prose[site.id] = SiteProseFindings(ProseRun(self._session.screen, lambda: self._show(site)))
        return self._prose[site.id]

    def lines_before_publishing(self, site: Site) -> list[Line]:
        """Return the lines of the confirmation: the summary, errors and unchecked parts, and prose findings."""
        findings = self._found.get(site.id, [])
        worst = [finding for finding in findings if finding.severity in ("error", "unknown")]
        lines: list[Line] = [self.summary_line(site)]
        for finding in worst[:SHOWN_BEFORE_PUBLISHING]:
            sign, style = SIGNS[finding.severity]
            where, what = sanitize(finding.where), sanitize(finding.message)
            lines.append((Span(f"{sign} ", style), Span(where, "strong"), Span(f" {what}")))
        if len(worst) > SHOWN_BEFORE_PUBLISHING:
            lines.append((Span(f"and {count(len(worst) - SHOWN_BEFORE_PUBLISHING, 'more', 'more')}", "quiet"),))
        return [*lines, *self.prose_lines(site)]

    def _show(self, site: Site) -> None:
        if self._session.current and self._session.current.id == site.id:
            self._session.pane.show_checks(self.line(site))
        if self._list:
            self._list.show(self._rows(site))

    def _rows(self, site: Site) -> Sequence[ProblemRow[Finding]]:
        findings = self._found.get(site.id)
        if not findings:
            return [ProblemRow((Span("  "), *self.summary_line(site)), is_note=True), *self._prose_rows(site)]
        rows: list[ProblemRow[Finding]] = []
        for severity, heading in _HEADINGS.items():
            group = [_row(finding) for finding in findings if finding.severity == severity]
            if group:
                rows += [ProblemRow((Span(f"  {heading}", "heading"),), is_note=True), *group]
        return [*rows, *self._prose_rows(site)]

    def _prose_rows(self, site: Site) -> list[ProblemRow[Finding]]:
        prose, content = self._prose_of(site), self.content(site)
        note = prose.note(content)
        if not note:
            words = NOT_CHECKED.format(key_for("check_prose"))
            return [ProblemRow((Span(f"  {words}", "quiet"),), is_note=True)] if self._has_prose_checks else []
        rows = [ProblemRow[Finding]((Span("  Prose: ", "heading"), Span(note, "quiet")), is_note=True)]
        if scope := prose.scope(content):
            rows.append(ProblemRow((Span("   "), Span(scope, "quiet")), is_note=True))
        return [*rows, *map(_row, prose.of(content))]

    def _go_to(self, finding: Finding) -> None:
        app, site = self._session.screen.app_context, self._session.current
        if finding.unchecked:
            if site:
                self._session.screen.run(lambda: self._check_again(site, finding), group="checks", exclusive=True)
        elif finding.request:
            self._session.screen.run(lambda: app.go(Place.review(finding.space, finding.request)))
        elif finding.part == "comments":
            self._session.screen.run(lambda: app.go(Place.comments(finding.space, finding.page)))
        elif finding.part:
            self._screens.open_part(finding.part, finding.item)
        else:
            page = Place.page(finding.space, finding.page, link=finding.link, line=finding.line)
            self._session.screen.run(lambda: app.go(page))

    async def _check_again(self, site: Site, finding: Finding) -> None:
        """Check a site again, and notify whether the part that failed before could be checked."""
        self._session.screen.notify("checking again …")
        found = await self.check(site)
        where, checks = sanitize(finding.where), finding.unchecked
        if found is None:
            self._session.screen.notify(f"could not be checked: {sanitize(self._failed.get(site.id, ''))}")
            return
        still = next((other for other in found if (other.where, other.unchecked) == (finding.where, checks)), None)
        if still:
            self._session.screen.notify(f"{where}: still not checked: {sanitize(still.reason)}")
        else:
            problems = summary(other for other in found if other.check in checks)
            self._session.screen.notify(f"{where}: checked now, {problems or 'no problems'}")


class SiteProblemsScreen(ProblemListScreen[Finding]):
    """The list of the findings of a site. The prose checks can be run from it.

    Args:
        heading: the title.
        rows: the findings and notes.
        go_to: goes to the place of a finding.
        checklist: runs the prose checks.
    """

    def __init__(
        self,
        heading: str,
        rows: Sequence[ProblemRow[Finding]],
        go_to: Callable[[Finding], None],
        checklist: Checklist,
    ) -> None:
        super().__init__(heading, rows, go_to)
        self._checklist = checklist

    def reason_check_prose(self) -> str | None:
        """Return why no prose can be checked: there is no site."""
        return self._checklist.reason_check_prose()

    def command_check_prose(self) -> None:
        """Run the prose checks on the changed pages, or cancel them."""
        self._checklist.command_check_prose()


def _row(finding: Finding) -> ProblemRow[Finding]:
    sign, style = SIGNS[finding.severity]
    where, what = sanitize(finding.where), sanitize(finding.message)
    label = (Span(f"   {sign} ", style), Span(where, "strong"))
    can_open = finding.part or finding.space or finding.unchecked
    return ProblemRow((Span(f"  {what}"),), finding if can_open else None, label=label, stays=bool(finding.unchecked))
