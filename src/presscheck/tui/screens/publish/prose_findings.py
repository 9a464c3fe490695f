"""New findings of prose checks in a site: only pages that changed since the site was published are checked."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from typing import TYPE_CHECKING

from presscheck.engine.publish.prose_pages import (
    ProsePage,
    has_published_pages,
    prose_pages,
    read_prose_texts,
    unread_spaces,
)
from presscheck.tui.screens.prose_checks import ProseRun, state_words

if TYPE_CHECKING:
    from presscheck.config.prose_checks import ProseCheck
    from presscheck.documents.sites.checks import Finding
    from presscheck.documents.sites.content import SiteContent
    from presscheck.engine.engine import Engine


class SiteProseFindings:
    """New findings of prose checks in the changed pages of a site. Checked pages are not checked again.

    Args:
        run: the running or last run of the checks.
    """

    def __init__(self, run: ProseRun) -> None:
        self.run = run
        self._checks: tuple[ProseCheck, ...] = ()
        self._findings: dict[ProsePage, tuple[Finding, ...]] = {}
        """Findings by checked page. The key identifies both texts of the page, so findings are never outdated."""
        self._changed: tuple[SiteContent | None, tuple[ProsePage, ...]] = (None, ())
        """The last content, with its changed pages."""

    async def check(self, engine: Engine, checks: Sequence[ProseCheck], content: SiteContent) -> int:
        """Check the changed pages that are unchecked, and return the number of findings in all changed pages.

        All changed pages are checked again if a check failed last time, or if other checks are chosen.
        """
        if self._checks != tuple(checks) or self.run.failures:
            self._findings.clear()
        self._checks = tuple(checks)
        unchecked = [page for page in self._pages(content) if page not in self._findings]
        texts = await read_prose_texts(engine, content, unchecked)
        findings = texts.site_findings(await self.run.findings(checks, texts.before, texts.after))
        by_page: defaultdict[tuple[str, str], list[Finding]] = defaultdict(list)
        for finding in findings:
            by_page[finding.space, finding.page].append(finding)
        self._findings |= {page: tuple(by_page[page.space, page.page]) for page in texts.pages.values()}
        return len(self.of(content))

    def of(self, content: SiteContent | None) -> list[Finding]:
        """Return the findings in the changed pages, in the order of the site."""
        return [finding for page in self._pages(content) for finding in self._findings.get(page, ())]

    def note(self, content: SiteContent | None) -> str:
        """Return the progress or the result of the checks in a few words; empty if they never ran."""
        if self.run.progress or not self._checks or content is None:
            return self.run.progress
        unchecked = sum(page not in self._findings for page in self._pages(content))
        words = state_words(len(self.of(content)), unchecked, len(self.run.failures))
        return " · ".join(part for part in (words, unread_spaces(content)) if part)

    def scope(self, content: SiteContent | None) -> str:
        """Return a note if all pages are checked because the published pages are unknown; otherwise an empty string."""
        if not self._checks or content is None or has_published_pages(content):
            return ""
        return "The published version is unknown: all pages in the cache are checked."

    def _pages(self, content: SiteContent | None) -> tuple[ProsePage, ...]:
        if content is None or not self._checks:
            return ()
        if self._changed[0] is not content:
            self._changed = (content, prose_pages(content))
        return self._changed[1]
