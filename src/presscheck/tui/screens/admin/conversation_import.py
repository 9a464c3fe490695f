"""The import of conversations from a file (JSON Lines or a JSON array), with a report of failed lines."""

from __future__ import annotations

import asyncio
import errno
import os
from collections.abc import Awaitable
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO

from presscheck.api.conversations import IngestConversations, ListConversations
from presscheck.engine.conversations import LineReport, in_batches, ingest, read_conversations
from presscheck.store.drafts import DraftSlot
from presscheck.text.phrases import count
from presscheck.text.sanitize import sanitize
from presscheck.text.styled_text import Line, Span
from presscheck.tui.screens.text_screen import TextScreen
from presscheck.tui.ui.ask import prompt
from presscheck.tui.widgets.prompt_dialog import error_note

if TYPE_CHECKING:
    from presscheck.tui.screens.admin.family import OrganizationScreen
    from presscheck.tui.screens.admin.table import FamilyTable

MOST_FAILED = 1000
"""Maximum number of failed lines in the report; more lines are only counted."""


class ConversationImport:
    """The command that imports conversations.

    Args:
        screen: the administration screen.
        table: the table of the screen.
    """

    def __init__(self, screen: OrganizationScreen, table: FamilyTable) -> None:
        self._screen, self._table = screen, table

    def reason_import_rows(self) -> str | None:
        """Return why nothing can be imported: the table is of another family, or the import is not allowed now."""
        if self._table.family.listing is not ListConversations:
            return f"{self._table.family.nouns} are not imported from a file"
        return self._table.unavailable or self._table.change_reason(IngestConversations, "imported")

    async def command_import_rows(self) -> None:
        """Ask for a file, import its conversations, and show the lines that failed."""
        screen = self._screen
        draft = DraftSlot(screen.engine.outbox, f"import {self._table.family.title}")
        organization = screen.organization
        if organization is None:
            return
        reason = ""
        while True:
            path = await prompt(
                screen,
                "Import conversations from a file: JSON lines, or an array",
                draft,
                max_length=None,
                confirm_label="Import",
                hint='a conversation a line: {"id": "c1", "parts": [{"role": "user", "body": "Hello"}]}',
                notes=error_note(reason),
            )
            if path is None:
                return
            try:
                file = await asyncio.to_thread(_open_file, path)
            except (OSError, ValueError, RuntimeError) as error:
                problem = error.strerror if isinstance(error, OSError) and error.strerror else "invalid path"
                reason = f"{path} cannot be read: {problem}"
            else:
                break
        try:
            await self._send(organization.id, file)
            draft.discard()
        finally:
            file.close()

    async def _send(self, organization_id: str, file: BinaryIO) -> None:
        engine, connection = self._screen.engine, self._screen.engine.connection
        failed: list[LineReport] = []
        done = not_done = 0
        size = max(1, os.fstat(file.fileno()).st_size)

        def send(call: IngestConversations) -> Awaitable[object]:
            return engine.write(call).landed()

        try:
            async for report in ingest(send, organization_id, in_batches(read_conversations(file), in_thread=True)):
                done, not_done = done + (not report.problem), not_done + bool(report.problem)
                if report.problem and not_done <= MOST_FAILED:
                    failed.append(report)
                share = min(100, 100 * file.tell() // size)
                connection.set_running(f"importing conversations: {done + not_done:,}, {share} % of the file")
        finally:
            connection.set_running(None)
            if self._table.listing:
                engine.refresh(self._table.listing)
        summary = f"imported {count(done, 'conversation')}"
        self._screen.notify(f"{summary}; {not_done:,} not" if not_done else summary)
        if failed:
            heading = f"{count(not_done, 'line')} not imported"
            more: list[Line] = [(Span(f"  … and {not_done - len(failed):,} more", "quiet"),)]
            lines = [(), *map(_report_line, failed), *(more if not_done > len(failed) else [])]
            self._screen.app_context.push_screen(TextScreen(heading, lines))


def _report_line(report: LineReport) -> Line:
    name = f"  {sanitize(report.id)}" if report.id else ""
    return (
        Span(f"  line {report.line:,}", "strong"),
        Span(name, "quiet"),
        Span(f"  {sanitize(report.problem)}", "removed"),
    )


def _open_file(path: str) -> BinaryIO:
    """Open a regular file for reading.

    Raises:
        OSError: the file cannot be opened, or is not a regular file.
    """
    file = Path(path.strip()).expanduser()
    if file.exists() and not file.is_file():  # reading a pipe could block forever
        raise OSError(errno.EINVAL, "not a file")
    return file.open("rb")
