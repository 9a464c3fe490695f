"""A run of the prose checks in the background of a screen, for a review and for a site."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import TYPE_CHECKING

from presscheck.config.project import checks_of, untrusted_reason
from presscheck.errors import ConfigurationError, PresscheckError
from presscheck.text.phrases import count

if TYPE_CHECKING:
    from textual.worker import Worker

    from presscheck.config.prose_checks import ProseCheck
    from presscheck.documents.git_format.findings import Finding
    from presscheck.tui.ui.screen import BaseScreen

LOADING = "§ prose: loading …"


class ProseRun:
    """A run of prose checks: the programs one after the other, in the background.

    Args:
        screen: ends the run when it is closed.
        redraw: called when the progress changes.

    Attributes:
        progress: the running check in words; empty if none is running.
        failures: the errors of the programs in the last run.
    """

    def __init__(self, screen: BaseScreen, redraw: Callable[[], None]) -> None:
        self._screen, self._redraw = screen, redraw
        self._worker: Worker[None] | None = None
        self.progress = ""
        self.failures: list[str] = []

    def toggle(self, check: Callable[[Sequence[ProseCheck]], Awaitable[int]], next_step: str) -> None:
        """Start a run, or cancel the current run. At the end of a run, show the number of findings.

        Args:
            check: runs the checks, and returns the number of new findings.
            next_step: the text after that number, such as the key that goes to the first finding.

        Raises:
            PresscheckError: no checks are configured, or the configuration of a check has an error.
        """
        if self.progress and self._worker:
            self._worker.cancel()
            self._report("")
            self._screen.notify("prose check canceled")
            return
        app = self._screen.app_context
        checks, errors = checks_of(app.settings_file, app.profile.project)
        if errors:
            raise ConfigurationError(str(errors[0]))
        if not checks:
            raise PresscheckError(
                untrusted_reason(app.profile.project)
                or f'no prose checks: add [[checks]] with name = "typos" to {app.settings_file}'
            )
        self._worker = self._screen.run(
            lambda: self._run(check, checks, next_step), group="prose checks", exclusive=True
        )

    async def _run(
        self, check: Callable[[Sequence[ProseCheck]], Awaitable[int]], checks: Sequence[ProseCheck], next_step: str
    ) -> None:
        self._report(LOADING)
        try:
            number = await check(checks)
        except PresscheckError:
            self._report("")
            raise
        finally:
            self.progress = ""  # without drawing: the screen of a canceled run may be closed
        self._redraw()
        for failure in self.failures:
            self._screen.app_context.show_error(PresscheckError(failure))
        if number:
            self._screen.notify(f"{count(number, 'new prose finding')}: {next_step}")
        elif not self.failures:
            self._screen.notify(f"no new prose findings ({', '.join(check.name for check in checks)})")

    async def findings(
        self, checks: Sequence[ProseCheck], before: Mapping[str, str], after: Mapping[str, str]
    ) -> list[Finding]:
        """Return the new findings of checks by their place. A check that fails adds to the failures.

        Args:
            checks: the checks to run.
            before: the old texts by source path, without added pages.
            after: the new texts by source path.
        """
        from presscheck.engine.prose_checks.programs import new_findings  # 12 ms, only for prose checks

        self.failures = []
        findings: list[Finding] = []
        for number, check in enumerate(checks, 1):
            self._report(f"§ prose check {number} of {len(checks)} …")
            try:
                findings += await new_findings(check, before, after) if after else []
            except PresscheckError as error:
                self.failures.append(error.message)
        return sorted(findings, key=lambda finding: finding.place)

    def _report(self, progress: str) -> None:
        self.progress = progress
        self._redraw()


def state_words(findings: int, unchecked: int, failures: int) -> str:
    """Return the state after a run in a few words."""
    parts = [count(findings, "prose finding") if findings else "", f"{unchecked} not checked" if unchecked else ""]
    parts.append(f"{count(failures, 'check')} failed" if failures else "")
    return " · ".join(part for part in parts if part) or "no prose findings"
