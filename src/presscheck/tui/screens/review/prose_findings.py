"""The new findings of prose checks in the changed pages of a review."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from presscheck.documents.pages.comment_text import block_at, format_suggestion
from presscheck.tui.screens.prose_checks import ProseRun, state_words

if TYPE_CHECKING:
    from presscheck.config.prose_checks import ProseCheck
    from presscheck.documents.git_format.findings import Finding
    from presscheck.engine.review.changes import ChangedItem
    from presscheck.tui.screens.review.loader import PageTextLoader
    from presscheck.tui.ui.screen import BaseScreen

Texts = tuple[str, str]
"""The texts of a page before and after the change."""


class ProseFindings:
    """The new findings of prose checks in the changed pages of a review, for the texts that were checked.

    Args:
        texts: the texts of the changed pages.
        screen: the screen of the review.

    Attributes:
        run: the running or last run of the checks.
        missing: the number of pages whose text could not be loaded for the last run.
    """

    def __init__(self, texts: PageTextLoader, screen: BaseScreen) -> None:
        self._texts = texts
        self.run = ProseRun(screen, screen.redraw)
        self._checks: tuple[ProseCheck, ...] = ()
        self._findings: dict[str, tuple[Texts, tuple[Finding, ...]]] = {}
        self.missing = 0

    def on(self, item: ChangedItem | None) -> tuple[Finding, ...]:
        """Return the findings in a page; empty if its text was not checked."""
        checked = self._findings.get(item.id) if item and item.noun == "page" else None
        return checked[1] if item and checked and checked[0] == self._texts_of(item) else ()

    def note(self, items: Sequence[ChangedItem]) -> str:
        """Return the state of the checks in a few words; empty if they never ran."""
        if self.run.progress:
            return self.run.progress
        if not self._checks:
            return ""
        number = sum(len(self.on(item)) for item in items)
        return state_words(number, self.missing + len(self._outdated(items)), len(self.run.failures))

    async def check(self, checks: Sequence[ProseCheck], items: Sequence[ChangedItem]) -> None:
        """Check the pages whose texts have changed; after a failure or a change of the configured checks, all pages."""
        from presscheck.engine.prose_checks.programs import page_sources  # 12 ms, only for prose checks

        await self._texts.load_all(items)
        if self._checks != tuple(checks) or self.run.failures:
            self._findings.clear()
        self._checks = tuple(checks)
        outdated = self._outdated(items)
        self.missing = sum(self._texts_of(item) is None for item in items if has_prose(item))
        sources = page_sources({item.id: item.path or "" for item in items if item.noun == "page"})
        texts = {sources[item.id]: texts for item in outdated if (texts := self._texts_of(item))}
        before = {source: old for source, (old, _) in texts.items() if old}
        after = {source: new for source, (_, new) in texts.items()}
        findings = await self.run.findings(checks, before, after)
        for item in outdated:
            source = sources[item.id]
            if source in texts:
                own = tuple(finding for finding in findings if finding.path == source)
                self._findings[item.id] = texts[source], own

    def _outdated(self, items: Sequence[ChangedItem]) -> list[ChangedItem]:
        """Return the pages with loaded texts that were not checked."""
        found: list[ChangedItem] = []
        for item in items:
            texts = self._texts_of(item) if has_prose(item) else None
            if texts and (item.id not in self._findings or self._findings[item.id][0] != texts):
                found.append(item)
        return found

    def _texts_of(self, item: ChangedItem) -> Texts | None:
        page = self._texts.loaded(item)
        return (page.before, page.after) if page.difference else None


def has_prose(item: ChangedItem) -> bool:
    """Return whether an item is a page with a text after the change."""
    return item.has_text and "deleted" not in item.kinds


def comment_about(finding: Finding, markdown: str) -> str:
    """Return the text of a comment on a finding: a suggestion if the finding has a replacement, else its message."""
    block = block_at(markdown, finding.line - 1)
    if finding.fix and block:
        lines = block.text.split("\n")
        at, start = finding.line - 1 - block.start_line, finding.column - 1
        if lines[at].startswith(finding.fix.old, start):
            lines[at] = lines[at][:start] + finding.fix.new + lines[at][start + len(finding.fix.old) :]
            return format_suggestion("\n".join(lines))
    return f"{finding.message}\n"
