"""Contents of the status bar and the footer: connection state, pending writes, key hints."""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import TYPE_CHECKING

from presscheck.text.relative_time import span
from presscheck.text.sanitize import sanitize
from presscheck.text.styled_text import Line, Span, width
from presscheck.tui.command_table import CommandTable
from presscheck.tui.commands import PREFIXES, Keymap, keys_of, shown

if TYPE_CHECKING:
    from presscheck.engine.connection_state import Status

MAX_HINTS = 6
"""The most key hints in the footer."""
_DOT = Span(" · ", "quiet")


def connection_state(status: Status, profile: str) -> Line:
    """The connection, pending writes, running work, and the profile if it is not the default one."""
    parts: list[Span] = []
    if status.running:
        parts.append(Span(sanitize(status.running), "quiet"))
    if status.refused:
        parts.append(Span(f"✗ {status.refused} failed", "removed"))
    if status.waiting:
        parts.append(Span(f"◷ {status.waiting} pending", "waiting"))
    if status.read_only:
        parts.append(Span("read-only", "waiting"))
    if profile != "default":
        parts.append(Span(sanitize(profile), "accent"))
    if status.online:
        parts.append(Span("live", "quiet"))
    else:
        ago = span(time.time() - status.offline_since) if status.offline_since else "now"
        parts.append(Span("offline" if ago == "now" else f"offline {ago}", "waiting"))
    return tuple(span_ for part in parts for span_ in (_DOT, part))[1:]


def pending_keys(keys: Sequence[str]) -> Line:
    """The keys pressed so far of a sequence; empty if there are none."""
    return (Span(f" {shown(' '.join(keys))} …", "accent"),) if keys else ()


def key_hints(names: Sequence[str], table: CommandTable, keymap: Keymap, columns: int) -> Line:
    """Keys and titles of these commands as far as there is room; help comes last and always stays."""
    hints: list[tuple[Span, Span]] = []
    first_keys: set[str] = set()
    for name in (*names[:MAX_HINTS], "help"):
        command = table.command(name)
        if command is None:
            continue
        keys = keys_of(command, keymap)[0]
        first = keys.split(" ")[0]
        title = PREFIXES.get(first, command.title) if " " in keys else command.title
        if first not in first_keys:
            first_keys.add(first)
            is_disabled = table.disabled_reason(name) is not None
            hints.append((Span(f" {shown(first)}", "quiet" if is_disabled else "accent"), Span(f" {title}  ", "quiet")))
    while len(hints) > 1 and sum(map(width, hints)) > columns - 3:
        hints.pop(-2)
    return tuple(span for hint in hints for span in hint)
