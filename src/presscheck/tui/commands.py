"""Everything that a person can do, as values: the one table behind keys, footer, help and the README.

A place has a command when it has a method ``command_<name>``; a command is greyed out where its ``reason_<name>`` gives
one.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Command:
    """One thing to do. `keys` are alternatives, each a sequence separated by spaces; `rank` orders the footer."""

    name: str
    keys: tuple[str, ...]
    title: str
    scope: str
    rank: int = 0


COMMANDS: tuple[Command, ...] = (
    Command("down", ("j", "down"), "down", "move"),
    Command("up", ("k", "up"), "up", "move"),
    Command("top", ("g g", "home"), "to the top", "move"),
    Command("bottom", ("G", "end"), "to the bottom", "move"),
    Command("half_down", ("ctrl+d", "pagedown"), "half a page down", "move"),
    Command("half_up", ("ctrl+u", "pageup"), "half a page up", "move"),
    Command("next_pane", ("l", "right", "tab"), "next view or pane", "move", 5),
    Command("previous_pane", ("h", "left", "shift+tab"), "previous view or pane", "move"),
    Command("open", ("enter",), "open", "move", 1),
    Command("back", ("escape",), "back", "move", 6),
    Command("go_inbox", ("g i",), "inbox", "go"),
    Command("go_browse", ("g o",), "browse", "go", 4),
    Command("refresh", ("ctrl+r", "f5"), "ask again now", "state", 7),
    Command("copy", ("y",), "copy id or link", "copy, open"),
    Command("web", ("o",), "show the web address", "copy, open"),
    Command("help", ("?", "f1"), "all keys", "always", 9),
    Command("close", ("q",), "close", "always", 8),
    Command("quit", ("ctrl+q",), "quit", "always"),
)
"""The table. Names are stable: a user remaps names, not keys."""

SHOWN = {"enter": "enter", "escape": "esc", "pagedown": "pgdn", "pageup": "pgup"}


def shown_keys(command: Command) -> str:
    """The keys of a command as a person reads them."""
    return " ".join(SHOWN.get(key, key) for key in command.keys)


def key_table() -> str:
    """The key table of the README, as Markdown."""
    scopes = dict.fromkeys(command.scope for command in COMMANDS)
    lines = ["| where | key | does |", "|---|---|---|"]
    for scope in scopes:
        for command in COMMANDS:
            if command.scope == scope:
                keys = " · ".join(f"`{SHOWN.get(key, key)}`" for key in command.keys)
                lines.append(f"| {scope} | {keys} | {command.title} |")
    return "\n".join(lines)
