"""Everything that a person can do, as values: the one table behind keys, footer, palette, help and the README.

A place has a command when it, or the app, has a method ``command_<name>``; a command cannot be done while a method
``reason_<name>`` gives a reason. Names are stable: a user remaps names, not keys. One key means one thing everywhere;
what is said by a second key in the table is the same thing for other hands.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass

Keymap = Mapping[str, tuple[str, ...]]
"""Keys by the name of a command, instead of those in the table."""


@dataclass(frozen=True)
class Command:
    """One thing to do.

    Args:
        name: stable; the method is ``command_<name>``.
        keys: alternatives, each a key or a sequence of keys separated by spaces.
        title: a few words, for footer and popup.
        scope: where it belongs, for help and README.
        help: a sentence; the title where that says enough.
    """

    name: str
    keys: tuple[str, ...]
    title: str
    scope: str
    help: str = ""


def _scope(scope: str, *rows: tuple[str, str, str, str]) -> tuple[Command, ...]:
    return tuple(Command(name, tuple(keys.split("  ")), title, scope, more) for name, keys, title, more in rows)


COMMANDS: tuple[Command, ...] = (
    *_scope(
        "move",
        ("down", "j  down", "down", ""),
        ("up", "k  up", "up", ""),
        ("left", "h  left", "left", "Fold, or go to the pane or the view on the left."),
        ("right", "l  right", "right", "Unfold, or go to the pane or the view on the right."),
        ("top", "g g  home", "to the top", ""),
        ("bottom", "G  end", "to the bottom", ""),
        ("half_down", "ctrl+d  pagedown", "half a page down", ""),
        ("half_up", "ctrl+u  pageup", "half a page up", ""),
        ("next_pane", "tab", "next pane", ""),
        ("previous_pane", "shift+tab", "previous pane", ""),
        ("tab", "1  2  3  4  5  6  7  8  9", "view by number", ""),
        ("open", "enter", "open", "Open what the cursor stands on."),
        ("back", "escape", "back", "Back, close or leave; a composer keeps its draft."),
        ("history_back", "H", "back in history", ""),
        ("history_forward", "L", "forward in history", ""),
    ),
    *_scope(
        "find",
        ("find_here", "/", "find", "Find a text in what is shown."),
        ("find_next", "n", "next match", ""),
        ("find_previous", "N", "previous match", ""),
        (
            "find_anything",
            "ctrl+k",
            "find anything",
            "Find a page, a space or a change request by its name, or by what it says.",
        ),
        ("labels", "f", "follow a link", "Label what can be followed, and follow the label that is typed."),
        ("palette", ":  ctrl+p", "commands", "Find a command by name; `cr 42` opens a change request."),
    ),
    *_scope(
        "go",
        ("go_inbox", "g i", "inbox", ""),
        ("go_browse", "g o", "organization", "The spaces and pages of the organization."),
        ("go_space", "g s", "space", "Go to a space by name."),
        ("go_review", "g r", "review", "The change request that was open last."),
        ("go_publish", "g p", "publish", "The sites."),
        ("go_outbox", "g x", "outbox", "What is not sent, and why."),
        ("backlinks", "g b", "backlinks", "The pages that link here."),
    ),
    *_scope(
        "mark",
        ("mark", "space", "mark", "Mark the row; in a review, mark the page as viewed."),
        ("mark_range", "V", "mark a range", "Begin a range; a second time, mark it."),
        ("mark_visible", "*", "mark all visible", ""),
        (
            "act_on_marked",
            "A",
            "act on marked",
            "One act on all that is marked, a receipt for each; or go on with a merge train.",
        ),
    ),
    *_scope(
        "copy, open",
        ("copy", "y", "copy link", "Copy the web address, or the id."),
        ("copy_text", "Y", "copy text", ""),
        ("web", "o", "open in browser", "Open in the web browser; over SSH, copy the address."),
        (
            "edit",
            "e",
            "edit",
            "Edit the text in your editor; in a review, what you said where the cursor is.",
        ),
    ),
    *_scope(
        "state",
        ("refresh", "ctrl+r  f5", "ask again", "Ask the service again for what is shown."),
        ("unsend", "z", "take back", "Take back the last write that has not left; in the inbox, what was put away."),
        ("activity", "@", "activity", "Every request since the app was opened."),
        ("errors", "!", "errors", "Every error since the app was opened."),
    ),
    *_scope(
        "inbox",
        ("done", "D", "done", "Put it away until something happens to it."),
        ("snooze", "S", "snooze", "Put it away until tomorrow, until next week, or until something happens to it."),
        ("bookmark", "b", "bookmark", "Put a star before it, or take it away."),
        ("edit_view", "F", "view", "Say what this view shows, such as `space:api outdated:yes sort:-comments`."),
        ("save_view", "M s", "save view", "Keep what this view shows as a tab of your own, under a name."),
        ("change_view", "M e", "edit view", "Edit name, query, order and headings of a view of your own."),
        ("remove_view", "M d", "remove view", "Remove a view of your own; asks once."),
    ),
    *_scope(
        "review",
        ("next_change", "]", "next change", ""),
        ("previous_change", "[", "previous change", ""),
        ("next_page", "}", "next page", ""),
        ("previous_page", "{", "previous page", ""),
        ("next_thread", "t", "next thread", ""),
        ("previous_thread", "T", "previous thread", ""),
        ("diff_view", "d", "diff view", "Prose; before and after side by side; or source."),
        (
            "since_review",
            "I",
            "since my review",
            "What changed since your last review; a second time, all that it changes.",
        ),
        ("only_changed", "i", "changed pages only", ""),
        ("zoom", "=", "zoom", "Give the pane the whole width."),
        ("preview", "p", "preview", "The page as it will be."),
        ("comment", "c", "comment", "Comment on what the cursor stands on."),
        ("comment_on_all", "C", "comment on all", "Comment on the whole change request."),
        ("reply", "r", "reply", ""),
        ("resolve", "x", "resolve", "Resolve the thread, or open it again."),
        ("react", "+", "react", "Put an emoji under what was said, or take yours away."),
        ("use_suggestion", "U", "use suggestion", "Put the suggested words into the page, and resolve the thread."),
        ("approve", "v a", "approve", ""),
        ("request_changes", "v r", "request changes", ""),
        ("comment_only", "v c", "comment only", "A review that neither approves nor refuses."),
        ("begin_review", "v b", "begin a review", "Keep what you say, until a verdict sends all of it; again, stop."),
        ("reviewers", "R", "reviewers", "Ask people for a review, or ask them no longer."),
        ("pull", "u", "update", "Bring in what changed in main."),
        ("merge", "m", "merge", "Says what will happen, and asks."),
        ("threads", "g t", "threads", "All threads, and which are shown: the open, the resolved, the outdated."),
        ("history", "g h", "history", "Who took part, the revisions, and what each of them changed."),
        ("why", "W", "why not merge", "Each thing that a merge depends on, and who can put it right."),
        ("pdf", "g f", "PDF", "All of it as a PDF, made by the service; opens it, or copies its address."),
        ("archive", "X", "archive", "Archive the change request, or open it again."),
    ),
    *_scope(
        "browse",
        ("new_request", "O", "new change request", "Begin a change request, to edit pages in."),
        ("add", "a", "add", "Add a page here; among sites, a site or a space."),
        ("rename", "E", "details", "Edit title and details; in a review, subject, description and state."),
        ("delete", "delete  -", "delete", "Says what will happen, and asks; in a review, what you said."),
    ),
    *_scope(
        "site",
        ("move_down", "J", "move down", "Move the item down among its siblings."),
        ("move_up", "K", "move up", "Move the item up among its siblings."),
        ("publish", "P", "publish", "Publish or unpublish: says what will happen, and asks."),
        ("segment", "w", "view as", "View as a segment of readers."),
    ),
    *_scope(
        "composer",
        ("send", "ctrl+s  alt+enter", "send", ""),
        ("edit_outside", "ctrl+e", "editor", "Continue in $EDITOR."),
        ("preview_text", "ctrl+o", "preview", "The text as it will be read; again, to write on."),
        ("suggest", "ctrl+g", "suggest", "Put in the words of the page, to be changed as you suggest."),
    ),
    *_scope(
        "outbox",
        ("retry", "s", "send again", "Send a refused write again."),
    ),
    *_scope(
        "always",
        ("help", "?  f1", "keys", "All keys, searchable."),
        ("theme", "ctrl+t", "theme", "Choose a theme."),
        ("close", "q", "close", "Close this place; at the root, quit."),
        ("quit", "ctrl+q  ctrl+c", "quit", "Quit; what waits to be sent stays in the outbox."),
    ),
)
"""The table."""

PREFIXES = {"g": "go", "v": "verdict", "M": "my views"}
"""What a key says whose continuations are commands."""

NEVER_ALONE = frozenset(
    ("ctrl+a", "ctrl+b", "ctrl+h", "ctrl+i", "ctrl+j", "ctrl+m", "ctrl+z", "ctrl+backslash", "f10", "f11")
)
"""Keys that terminals and multiplexers keep for themselves: never a command's only one."""

PRESETS: dict[str, Keymap] = {
    "default": {},
    "gh-dash": {"refresh": ("r", "f5"), "reply": ("ctrl+r",)},
    "lazygit": {"top": ("<", "home"), "bottom": (">", "end"), "refresh": ("R", "f5"), "reviewers": ("ctrl+r",)},
    "arrows": {
        "down": ("down",),
        "up": ("up",),
        "left": ("left",),
        "right": ("right",),
        "top": ("home",),
        "bottom": ("end",),
    },
}
"""Keymaps for hands that come from elsewhere."""

_SHOWN = {
    "escape": "esc",
    "pagedown": "pgdn",
    "pageup": "pgup",
    "delete": "del",
    "down": "↓",
    "up": "↑",
    "left": "←",
    "right": "→",
}


def keys_of(command: Command, keymap: Keymap | None = None) -> tuple[str, ...]:
    """The keys of a command, as the user wants them."""
    return (keymap or {}).get(command.name, command.keys)


def shown(keys: str) -> str:
    """A key or a sequence as a person reads it."""
    return " ".join(_SHOWN.get(key, key) for key in keys.split(" "))


def key_table(names: Collection[str]) -> str:
    """The key table of the README, as Markdown, of the commands with these names."""
    lines = ["| where | key | does |", "|---|---|---|"]
    said = ""
    for command in (one for one in COMMANDS if one.name in names):
        keys = " ".join(f"`{shown(key)}`" for key in command.keys).replace("|", "\\|")
        scope = f"**{command.scope}**" if command.scope != said else ""
        said = command.scope
        lines.append(f"| {scope} | {keys} | {command.help or command.title} |")
    return "\n".join(lines)
