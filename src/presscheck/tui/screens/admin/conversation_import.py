"""Imports conversations from a file of JSON lines, and shows what became of each line."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable
from pathlib import Path
from typing import TYPE_CHECKING

from presscheck.api.conversations import IngestConversations, ListConversations
from presscheck.engine.conversations import LineReport, ReadLine, ingest, read_lines
from presscheck.text.phrases import count
from presscheck.text.sanitize import sanitize
from presscheck.text.styled_text import Line, Span
from presscheck.tui.screens.text_screen import TextScreen
from presscheck.tui.widgets.prompt_dialog import PromptDialog, error_note

if TYPE_CHECKING:
    from presscheck.tui.screens.admin.table import FamilyTable, TableContext

DRAFT = "import conversations"
"""The key of the draft of the path."""


class ConversationImport:
    """Handles the command that imports conversations.

    Args:
        screen: administration.
        table: its table.
    """

    def __init__(self, screen: TableContext, table: FamilyTable) -> None:
        self._screen, self._table = screen, table

    def reason_import_rows(self) -> str | None:
        """Only conversations are imported, by those who may."""
        if self._table.family.listing is not ListConversations:
            return f"{self._table.family.nouns} are not imported from a file"
        return self._table.unavailable or self._table.change_reason(IngestConversations, "imported")

    async def command_import_rows(self) -> None:
        """Ask for a file of JSON lines, import its conversations, and show the lines that were not imported."""
        screen, outbox = self._screen, self._screen.engine.outbox
        organization = screen.organization
        if organization is None:
            return
        reason = ""
        while True:
            dialog = PromptDialog(
                "Import conversations from a file of JSON lines",
                outbox.draft(DRAFT) or "",
                screen.style_for,
                max_length=None,
                save=lambda text: outbox.save_draft(DRAFT, text),
                confirm_label="Import",
                hint='a conversation a line: {"id": "c1", "parts": [{"role": "user", "body": "Hello"}]}',
                notes=error_note(reason),
            )
            path = await screen.ask(dialog)
            if path is None:
                return
            try:
                lines = await asyncio.to_thread(_read, path)
            except (OSError, ValueError, RuntimeError) as error:
                told = error.strerror if isinstance(error, OSError) and error.strerror else "invalid path"
                reason = f"{path} cannot be read: {told}"
            else:
                break
        outbox.save_draft(DRAFT, "")
        await self._send(organization.id, lines)

    async def _send(self, organization_id: str, lines: list[ReadLine]) -> None:
        engine, connection = self._screen.engine, self._screen.engine.connection
        reports: list[LineReport] = []

        def send(call: IngestConversations) -> Awaitable[object]:
            return engine.write(call).landed()

        try:
            async for report in ingest(send, organization_id, lines):
                reports.append(report)
                connection.set_running(f"importing conversations: {len(reports):,} of {len(lines):,}")
        finally:
            connection.set_running(None)
            if self._table.listing:
                engine.refresh(self._table.listing)
        failed = [report for report in reports if report.problem]
        summary = f"imported {count(len(reports) - len(failed), 'conversation')}"
        self._screen.notify(f"{summary}; {len(failed):,} not" if failed else summary)
        if failed:
            heading = f"{count(len(failed), 'line')} not imported"
            self._screen.app_context.push_screen(TextScreen(heading, [(), *map(_report_line, failed)]))


def _report_line(report: LineReport) -> Line:
    name = f"  {sanitize(report.id)}" if report.id else ""
    return (
        Span(f"  line {report.line:,}", "strong"),
        Span(name, "quiet"),
        Span(f"  {sanitize(report.problem)}", "removed"),
    )


def _read(path: str) -> list[ReadLine]:
    """The lines of a file.

    Raises:
        OSError: it cannot be read.
    """
    with Path(path.strip()).expanduser().open("rb") as file:
        return list(read_lines(file))
