"""Commands that work on all redirects, available in every tab: CSV import and export, suggestions, and path tests."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import TYPE_CHECKING

from presscheck.api.site_settings import CreateRedirect
from presscheck.engine.publish.redirect_suggestions import suggestions
from presscheck.engine.publish.redirects import (
    ImportPlan,
    PlannedChange,
    Problem,
    Receipt,
    offline_problem,
    plan_import,
    read_table,
    send_changes,
    write_table,
)
from presscheck.errors import PresscheckError
from presscheck.store.drafts import DraftSlot
from presscheck.text.phrases import count
from presscheck.text.sanitize import sanitize
from presscheck.text.styled_text import Line, Span
from presscheck.tui.screens.text_screen import TextScreen
from presscheck.tui.ui.ask import choose_several, confirm, prompt
from presscheck.tui.widgets.picker import Choice

if TYPE_CHECKING:
    from collections.abc import Sequence

    from presscheck.engine.publish.redirect_suggestions import Suggestion
    from presscheck.engine.publish.redirects import RedirectMap
    from presscheck.tui.screens.sites.access.redirects import RedirectList
    from presscheck.tui.screens.sites.access.session import SiteAccess

LONGEST_PATH = 4096
LONGEST_REDIRECT = 2048


class RedirectTables:
    """The commands that import, export, suggest and test redirects. File and network access never block the screen.

    Args:
        session: the access settings of the site.
        redirects: the list of redirects, which the commands show first.
    """

    def __init__(self, session: SiteAccess, redirects: RedirectList) -> None:
        self._session, self._redirects = session, redirects

    def _show_list(self) -> None:
        self._session.screen.lists.show_tab(self._redirects)

    def reason_import_rows(self) -> str | None:
        """Return why redirects cannot be imported: the change is not allowed now, or the data is not loaded yet."""
        return self._redirects.reason(CreateRedirect)

    reason_suggest_rows = reason_import_rows

    def reason_export_rows(self) -> str | None:
        """Return why redirects cannot be exported: the service does not support them, or the data is not loaded yet."""
        return self._redirects.reason()

    reason_test_path = reason_export_rows

    async def command_test_path(self) -> None:
        """Ask for a path, and show the redirects that visitors of the path follow."""
        redirects = self._session.map
        if redirects is None:
            return
        typed = await prompt(
            self._session.screen,
            "Test a path",
            max_length=LONGEST_REDIRECT,
            confirm_label="Test",
            hint="/old/page, or its whole address",
            validate=lambda typed: None if self._inside(typed).startswith("/") else "a path of the site, such as /old",
        )
        if typed is not None:
            self._redirects.show_trail(redirects.trail(self._inside(typed)))

    def _inside(self, typed: str) -> str:
        paths = self._session.paths
        path = (paths.inside(typed) if paths else "") if "://" in typed else typed
        return path.partition("?")[0].partition("#")[0]

    async def command_import_rows(self) -> None:
        """Ask for a CSV file, show the changes or the errors of its import, and import it after a confirmation."""
        self._show_list()
        redirects, session = self._session.map, self._session
        typed = await self._ask_path("Import redirects from a CSV file: its path", "", "Read") if redirects else None
        if typed is None or redirects is None:
            return
        content = await asyncio.to_thread(_read, typed)
        name = sanitize(Path(typed).name)
        plan = await asyncio.to_thread(_plan, session.path, content, redirects)
        if plan.problems:
            self._show_problems(f"Not imported: {count(len(plan.problems), 'problem')} in {name}", plan.problems)
            return
        if not plan.changes:
            self._session.screen.notify(f"{name}: nothing to import, {plan.summary}")
            return
        lines: list[Line] = [(Span(f"{plan.summary}."),)]
        if plan.shortened:
            lines.append((Span(f"{count(plan.shortened, 'chain')} shortened: stored with its end.", "quiet"),))
        if not self._session.screen.engine.status.online and (reason := offline_problem(len(plan.changes))):
            self._session.screen.notify(reason)
            return
        lines.append((Span("Redirects that are not in the file stay as they are.", "quiet"),))
        if await confirm(self._session.screen, f"Import {name}?", lines, "Import"):
            await self._import(name, plan.changes)

    async def _import(self, name: str, changes: Sequence[PlannedChange]) -> None:
        connection, total = self._session.screen.engine.connection, f"{len(changes):,}"

        def progress(receipt: Receipt) -> None:
            connection.set_running(f"importing redirects, {receipt.done + len(receipt.failed):,} of {total}")

        self._session.pause_redirects()
        try:
            progress(Receipt())
            receipt = await send_changes(self._session.screen.engine, changes, progress)
        finally:
            connection.set_running(None)
            self._session.watch_redirects()
        if receipt.failed:
            self._show_problems(f"Import of {name}: {receipt.summary}", receipt.failed)
        else:
            self._session.screen.notify(f"{name}: {receipt.summary}")

    def _show_problems(self, heading: str, problems: Sequence[Problem]) -> None:
        lines: list[Line] = [(), *((Span(f" {sanitize(str(problem))}"),) for problem in problems)]
        self._session.screen.app_context.push_screen(TextScreen(heading, lines))

    async def command_export_rows(self) -> None:
        """Ask for a path, and export all redirects as a CSV table, with a confirmation before replacing a file."""
        redirects = self._session.map
        start = str(Path.cwd() / "redirects.csv")
        typed = await self._ask_path("Export the redirects as", start, "Export") if redirects else None
        if typed is None or redirects is None:
            return
        path, exists = await asyncio.to_thread(_resolve, typed)
        if exists:
            lines: list[Line] = [(Span("It is replaced, and cannot be restored."),)]
            question = f"Replace {sanitize(path.name)}?"
            if not await confirm(self._session.screen, question, lines, "Replace"):
                return
        await asyncio.to_thread(_write, path, write_table(redirects))
        self._session.screen.notify(f"{count(len(redirects.by_source), 'redirect')} exported to {sanitize(str(path))}")

    async def command_suggest_rows(self) -> None:
        """Suggest redirects for moved and deleted pages, and add the suggestions that the user chooses."""
        self._show_list()
        session, redirects = self._session, self._session.map
        if redirects is None:
            return
        self._session.screen.notify("looking for moved and deleted pages …")
        found = await suggestions(self._session.screen.engine, session.organization_id, session.site, redirects)
        if not found:
            self._session.screen.notify("no moved or deleted pages in the last revisions")
            return
        by_source = {suggestion.source: suggestion for suggestion in found}
        choices = [
            Choice(suggestion.source, sanitize(suggestion.source), self._note(suggestion, redirects))
            for suggestion in found
        ]
        heading = "Redirects for moved and deleted pages"
        chosen = await choose_several(session.screen, heading, choices, ranked=False)
        calls = [
            CreateRedirect(**session.path, source=source, destination=by_source[source].destination)
            for source in chosen or ()
        ]
        if calls:
            await self._import("suggestions", [PlannedChange(0, call.source, call) for call in calls])

    def _note(self, suggestion: Suggestion, redirects: RedirectMap) -> str:
        where = sanitize(redirects.paths.path_of(suggestion.destination) or "")
        return f"{'deleted' if suggestion.is_deleted else 'moved'} → {where}"

    async def _ask_path(self, question: str, start: str, label: str) -> str | None:
        draft = DraftSlot(self._session.screen.engine.outbox, f"{label} redirects {self._session.site.id}", start)
        screen, hint = self._session.screen, "~/redirects.csv"
        return await prompt(screen, question, draft, max_length=LONGEST_PATH, confirm_label=label, hint=hint)


def _read(typed: str) -> bytes:
    """Read the bytes of a table.

    Raises:
        PresscheckError: the file cannot be read.
    """
    try:
        return Path(typed).expanduser().read_bytes()
    except (OSError, RuntimeError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) and error.strerror else "invalid path"
        raise PresscheckError(f"not imported, {sanitize(typed)} cannot be read: {reason}") from None


def _plan(site: dict[str, str], content: bytes, redirects: RedirectMap) -> ImportPlan:
    rows, problems = read_table(content)
    return ImportPlan(problems=tuple(problems)) if problems else plan_import(site, rows, redirects)


def _resolve(typed: str) -> tuple[Path, bool]:
    """Return the path for a typed text, and whether a file exists there; False for an invalid path."""
    try:
        path = Path(typed).expanduser()
        return path, path.exists()
    except (OSError, RuntimeError, ValueError):
        return Path(typed), False  # writing reports the error


def _write(path: Path, text: str) -> None:
    """Write a table to a file.

    Raises:
        PresscheckError: the file cannot be written.
    """
    try:
        path.write_text(text, encoding="utf-8", newline="")
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) and error.strerror else "invalid path"
        raise PresscheckError(f"not exported to {sanitize(str(path))}: {reason}") from None
