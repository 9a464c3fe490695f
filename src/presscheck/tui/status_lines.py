"""What the two lines of a place say: the state of the world on the right above, the keys that matter here below."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from presscheck.text.relative_time import span
from presscheck.text.sanitize import sanitize
from presscheck.text.styled_text import Line, Span, width
from presscheck.tui.commands import PREFIXES, keys_of, shown

if TYPE_CHECKING:
    from presscheck.engine.results import Status
    from presscheck.tui.screens.place import Place

MOST = 6
"""Keys in the line below."""
_DOT = Span(" · ", "quiet")


def world(status: Status, profile: str) -> Line:
    """`live`, `offline 3 min`, `2 waiting`, what is under way, and the profile where it is not the default one."""
    parts: list[Span] = []
    if status.running:
        parts.append(Span(sanitize(status.running), "quiet"))
    if status.refused:
        parts.append(Span(f"✗ {status.refused} refused", "removed"))
    if status.waiting:
        parts.append(Span(f"◷ {status.waiting} waiting", "waiting"))
    if status.read_only:
        parts.append(Span("read-only", "waiting"))
    if profile != "default":
        parts.append(Span(sanitize(profile), "accent"))
    if status.online:
        parts.append(Span("live", "quiet"))
    else:
        ago = span(time.time() - status.offline_since) if status.offline_since else "now"
        parts.append(Span("offline" if ago == "now" else f"offline {ago}", "waiting"))
    return tuple(one for part in parts for one in (_DOT, part))[1:]


def footer(place: Place, notice: Line) -> Line:
    """What there is to say, else the keys; the keys pressed so far of a sequence come first."""
    if place.keys.pending:
        return (Span(f" {shown(' '.join(place.keys.pending))} …", "accent"),)
    if notice:
        return notice
    known = {command.name: command for command in place.commands()}
    parts: list[tuple[Span, Span]] = []
    said: set[str] = set()
    for name in (*place.FOOTER[:MOST], "help"):
        command = known.get(name)
        if command is None:
            continue
        keys = keys_of(command, place.home.keymap)[0]
        first = keys.split(" ")[0]
        title = PREFIXES.get(first, command.title) if " " in keys else command.title
        if first not in said:
            said.add(first)
            is_off = place.reason(name) is not None
            parts.append((Span(f" {shown(first)}", "quiet" if is_off else "accent"), Span(f" {title}  ", "quiet")))
    # the last one says where all the others are
    while len(parts) > 1 and sum(map(width, parts)) > place.size.width - 3:
        parts.pop(-2)
    return tuple(span for part in parts for span in part)
