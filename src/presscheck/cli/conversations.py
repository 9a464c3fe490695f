"""`presscheck conversation ingest`: imports conversations from JSON lines, with a report for each line."""

from __future__ import annotations

import io
import json
import sys
from typing import Any, BinaryIO

import click

from presscheck.api.conversations import IngestConversations
from presscheck.cli import lookup
from presscheck.cli.operations.command_factory import sends
from presscheck.cli.operations.resource_commands import conversation
from presscheck.cli.output import print_json, print_message, print_text
from presscheck.cli.session import Session, org_option, with_session
from presscheck.engine.conversations import LineReport, in_batches, ingest, read_conversations
from presscheck.errors import ChecksFailed, InvalidArgument, NotNow
from presscheck.text.phrases import count

__all__ = ["conversation"]


@conversation.command("ingest")
@click.argument("file", type=click.File("rb"), required=False)
@org_option
@click.option("--conversations", metavar="JSON", help="A conversation, or an array of conversations, instead of FILE.")
@click.option("--dry-run", is_flag=True, help="Check every line, and send nothing.")
@with_session
@sends(IngestConversations)
async def ingest_conversations(
    session: Session, file: BinaryIO | None, org: str | None, conversations: str | None, *, dry_run: bool
) -> None:
    """Import conversations from JSON lines, or from a JSON array.

    FILE has a conversation in each line, such as {"id": "c1", "parts": [{"role": "user", "body": "Hello"}]}, or an
    array of them; - reads standard input. Conversations are sent while the file is read, and each gets a report. A
    conversation with a known id is replaced, so an interrupted import can be repeated. The exit code is 6 if a
    conversation was not sent. Requires the token of an integration's installation.
    """
    if (file is None) == (conversations is None):
        raise InvalidArgument("FILE", "give a file of JSON lines, or --conversations")
    lines = read_conversations(file if file is not None else _file_of(conversations or ""))
    organization = await lookup.organization(session, org)
    sent = failed = 0

    async def send(call: IngestConversations) -> None:
        if not dry_run:
            await session.engine.write(call).landed()

    if not dry_run and (reason := session.engine.write_reason(None, "conversations")):
        raise NotNow(reason)
    async for report in ingest(send, organization.id, in_batches(lines)):
        _print(session, report, dry_run=dry_run)
        sent, failed = sent + (not report.problem), failed + bool(report.problem)
    verb = "valid" if dry_run else "imported"
    print_message(f"{count(sent, 'conversation')} {verb}{f', {failed:,} not' if failed else ''}.")
    if failed:
        raise ChecksFailed(f"{count(failed, 'line')} {'invalid' if dry_run else 'not imported'}")


def _print(session: Session, report: LineReport, *, dry_run: bool) -> None:
    if session.json:
        print_json({"line": report.line, "id": report.id, "problem": report.problem or None})
    else:
        state = f"failed: {report.problem}" if report.problem else "valid" if dry_run else "imported"
        print_text(f"line {report.line}: {f'{report.id} ' if report.id else ''}{state}")
    sys.stdout.flush()  # so that the report of a long file can be followed


def _file_of(text: str) -> BinaryIO:
    """Return a conversation or an array of conversations as a file.

    Raises:
        InvalidArgument: the text is not JSON.
    """
    try:
        given: Any = json.loads(text)
    except ValueError as error:
        raise InvalidArgument("--conversations", f"is not valid JSON: {error}") from None
    return io.BytesIO(json.dumps(given).encode())
