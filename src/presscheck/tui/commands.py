"""The table of all commands, from which keys, footer, palette, help and the manual's key table are generated.

A screen has a command if one of its command handlers, or the app, has a method ``command_<name>``. The command is
disabled while a method ``reason_<name>`` returns a reason. Names are stable, because settings refer to them. A key has
the same meaning on every screen, and all keys of a command are equivalent. The command table of a screen is built once
from its command handlers, and read on every key press.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from presscheck.config.own_commands import OwnCommand

PREFIXES = {"g": "go", "p": "pick a side", "v": "review", "M": "my inbox", ".": "this item"}
"""Titles of keys that start a key sequence."""
NEVER_ALONE = frozenset(
    ("ctrl+a", "ctrl+b", "ctrl+h", "ctrl+i", "ctrl+j", "ctrl+m", "ctrl+z", "ctrl+backslash", "alt+b", "alt+f", "f10")
) | {"f11"}
"""Keys that must not be the only keys of a command.

Terminals or multiplexers may intercept them, or Textual reads them as other keys (alt+b and alt+f).
"""
_ALWAYS_IN_DIALOGS = frozenset(("escape", "enter", "tab", "up", "down", "left", "right", "pageup", "pagedown"))
"""Default keys that dialogs keep even if the user chose other keys."""
ASK_FOR_TEXT = frozenset(
    (
        *("comment", "comment_on_all", "reply", "edit", "edit_other", "approve", "request_changes", "comment_only"),
        *("react", "reviewers", "rename", "add", "save_view"),
    )
)
"""Commands that open an input for a text."""
NEED_TERMINAL = frozenset(("edit_other", "edit_outside", "folder"))
"""Commands that give the terminal to another program. They do not work in a web browser."""
NO_TERMINAL = "not in the browser: presscheck in a terminal can open your editor or shell"
_KEY_LABELS = {
    "escape": "esc",
    "pagedown": "pgdn",
    "pageup": "pgup",
    "delete": "del",
    "down": "↓",
    "up": "↑",
    "left": "←",
    "right": "→",
    "alt+left": "alt+←",
    "alt+right": "alt+→",
    "ctrl+slash": "ctrl+/",
    "ctrl+underscore": "ctrl+_",
}


@dataclass(frozen=True)
class Command:
    """A user action.

    Args:
        name: the stable name; the method is ``command_<name>``.
        keys: equivalent keys; each is a key, or a key sequence separated by spaces. Own commands may have none.
        title: a short title, for footer and popup.
        scope: the group in help and manual.
        help: a sentence of at most 60 characters; empty if the title is sufficient.
        own: the settings of the user's own command; None for the commands of presscheck.
    """

    name: str
    keys: tuple[str, ...]
    title: str
    scope: str
    help: str = ""
    own: OwnCommand | None = None


def _scope(scope: str, *rows: tuple[str, str, str, str]) -> tuple[Command, ...]:
    return tuple(Command(name, tuple(keys.split("  ")), title, scope, help_) for name, keys, title, help_ in rows)


COMMANDS: tuple[Command, ...] = (
    *_scope(
        "move",
        ("down", "j  down", "down", ""),
        ("up", "k  up", "up", ""),
        ("left", "h  left", "left", "Collapse, tab before, or the pane or view on the left"),
        ("right", "l  right", "right", "Expand, next tab, or the pane or view on the right"),
        ("top", "g g  home", "to the top", ""),
        ("bottom", "G  end", "to the bottom", ""),
        ("half_down", "ctrl+d  pagedown", "half a page down", ""),
        ("half_up", "ctrl+u  pageup", "half a page up", ""),
        ("next_pane", "tab", "next pane", ""),
        ("previous_pane", "shift+tab", "previous pane", ""),
        ("tab", "1  2  3  4  5  6  7  8  9", "view by number", ""),
        ("open", "enter", "open", "Open what is under the cursor"),
        ("back", "escape", "back", "Back, close or cancel; a composer keeps its draft"),
        ("history_back", "H", "back in history", ""),
        ("history_forward", "L", "forward in history", ""),
    ),
    *_scope(
        "find",
        ("find_here", "/", "find", "Find text in this pane"),
        (
            "find_in_all",
            "ctrl+slash  ctrl+underscore",
            "find in all",
            "Find text in all pages: of a review, or of a space",
        ),
        ("find_next", "n", "next match", ""),
        ("find_previous", "N", "previous match", ""),
        ("find_anything", "ctrl+k", "find anything", "Find pages, spaces and change requests by name or text"),
        ("labels", "f", "follow a link", "Label the links, and open one by its label"),
        ("open_all", "_", "open all", "Open all tabs, expandables and tables; again: fold them"),
        ("wrap", "%", "wrap", "Wrap the code or wide table, or let it scroll"),
        ("fold_section", ",", "fold section", "Fold the section at the cursor, or unfold it"),
        ("fold_sections", ". ,", "fold all", "Fold all sections of the page, or unfold them"),
        ("outline", "#", "headings", "Show the headings next to the page, or list them"),
        ("spelling", ". w  f7", "check spelling", "List the doubtful words of the page (aspell, hunspell)"),
        ("palette", ":  ctrl+p", "commands", "Find a command, or open `cr 42` or `api#42`"),
    ),
    *_scope(
        "go",
        ("go_inbox", "g i", "inbox", ""),
        ("go_browse", "g o", "organization", "Browse spaces and pages"),
        ("go_space", "g s", "space", "Go to a space by name"),
        ("go_review", "g r", "review", "Open the last change request again"),
        ("go_publish", "g p", "publish", "Manage sites"),
        ("go_admin", "g a", "administration", "Members, teams, invites, SAML, integrations and more"),
        ("go_outbox", "g x", "outbox", "Show unsent changes, their history, and drafts"),
        ("go_profile", "g m", "profile", "Switch to another profile, with its service and user"),
        ("go_all_profiles", "g M", "all profiles", "List what needs you in several profiles, and go there"),
        ("go_links", "g l", "links and files", "List links, files and reusable content of a space"),
        ("go_permissions", "g w", "permissions", "Show who has which level here, and why"),
        ("go_deleted", "g d", "deleted spaces", "List the deleted spaces, and restore one"),
        ("backlinks", "g b", "backlinks", "List the pages that link to this one, or use it"),
        ("place_back", "alt+left", "previous place", "Go back to the place before, as a web browser does"),
        ("place_forward", "alt+right", "next place", "Go forward again to the place after this one"),
        ("places", "B", "open places", "List the places where you were, and go to one"),
    ),
    *_scope(
        "mark",
        ("mark", "space", "mark", "Mark the row; in a review, mark the page as viewed"),
        ("mark_range", "V", "mark a range", "Start or end a range of marks; in a page, lines to comment"),
        ("mark_visible", "*", "mark all visible", ""),
        ("bookmark", "b", "bookmark", "Bookmark what is under the cursor; again: remove it"),
        ("act_on_marked", "A", "act on marked", "Act on marked rows or this row; in a review, on suggestions"),
    ),
    *_scope(
        "copy, open",
        ("copy", "y", "copy link", "Copy the web address, or the id"),
        ("copy_text", "Y", "copy text", "Copy the text; in code on a page, copy the code"),
        ("web", "o", "open in browser", "Open in the web browser; over SSH, copy the address"),
        ("edit", "e", "edit", "Edit the page, your own comment, or a specification"),
        ("edit_other", ". e", "other editor", "Edit the page in your own editor, or in the built-in one"),
    ),
    *_scope(
        "state",
        ("refresh", "ctrl+r  f5", "refresh", "Request everything that is shown again"),
        ("unsend", "z", "undo", "Undo the last change here; asks first if it was sent"),
        ("activity", "@", "activity", "List all API requests since the start"),
        ("errors", "!", "notices", "List all messages, errors and activity since the start"),
    ),
    *_scope(
        "inbox",
        ("done", "D", "done", "Done: hide until there is new activity"),
        ("snooze", "S", "snooze", "Hide until tomorrow, next week or new activity"),
        ("mute", "M m", "mute", "Mute: no notifications; again: unmute"),
        ("follow", "M f", "follow", "Follow: get notifications; again: unfollow"),
        ("edit_view", "F", "filter", "Filter this view; in a review, timeline and threads"),
        ("preview_side", "|", "preview side", "Show the preview on the right of the rows, or below"),
        ("column_headings", "M h", "column headings", "Show or hide the column headings"),
        ("save_view", "M s", "save view", "Save this view, with its filter, as a tab"),
        ("change_view", "M e", "edit view", "Edit name, query, order and grouping of a saved view"),
        ("choose_user", "M u", "your name", "Choose who you are, if the service does not tell"),
        ("remove_view", "M d", "remove view", "Remove a saved view (asks first)"),
    ),
    *_scope(
        "review",
        ("next_change", "]", "next change", "Next change; on a page in Browse, next heading"),
        ("previous_change", "[", "previous change", "Previous change; on a page in Browse, heading above"),
        ("next_page", "}", "next page", "Next page; in Browse, in reading order"),
        ("previous_page", "{", "previous page", "Previous page; in Browse, in reading order"),
        ("next_thread", "t", "next thread", "Next thread, or finding of a prose check"),
        ("previous_thread", "T", "previous thread", "Previous thread, or finding of a prose check"),
        ("diff_view", "d", "diff view", "Switch between rendered, side by side and source"),
        ("since_review", "I", "since my review", "Show only changes since your last review; again: all"),
        ("only_changed", "i", "unchanged lines", "Fold the unchanged lines, or show them all"),
        ("all_pages", "&", "all pages", "All pages in one scroll, or all in the grid; again: fewer"),
        ("review_with", ". V", "review program", "Review with a program of your settings; again: cancel"),
        ("check_prose", ". W", "check prose", "Run the prose checks on the changed pages; again: cancel"),
        ("read_page", "g e", "read page", "Read the page as it is in the change request, in Browse"),
        ("zoom", "=", "zoom", "Give the page the whole width; again: back"),
        ("comment", "c", "comment", "Comment on this line; in the inbox, on the change request"),
        ("comment_on_all", "C", "comment on all", "Comment on the whole change request; in Browse, page"),
        ("reply", "r", "reply", ""),
        ("resolve", "x", "resolve", "Resolve the thread or finding, or reopen it"),
        ("react", "+", "react", "Add or remove a reaction"),
        ("use_suggestion", "U", "use suggestion", "Commit the suggestion and resolve the thread"),
        ("take_ours", "p o", "take ours", "Resolve the conflict: take the text of the change request"),
        ("take_theirs", "p t", "take theirs", "Resolve the conflict: take the text of main"),
        ("take_both", "p b", "take both", "Resolve the conflict: keep both texts"),
        ("approve", "v a", "approve", ""),
        ("request_changes", "v r", "request changes", ""),
        ("comment_only", "v c", "comment only", "Submit review: comment"),
        ("begin_review", "v b", "start a review", "Start a review: hold comments until you submit"),
        ("reviewers", "R", "reviewers", "Add or remove reviewers"),
        ("pull", "u", "update", "Update from main"),
        ("merge", "m", "merge", "Merge (shows what will change, asks first)"),
        ("threads", "g t", "threads", "List all comments: of a change request, or a live page"),
        ("history", "g h", "history", "Revisions and what each changed; of a site, its history"),
        ("why", "W", "checks", "Show merge requirements; among sites, their checks"),
        ("pdf", "g f", "PDF", "Export as PDF: open it, or copy its address"),
        ("archive", "X", "archive", "Archive the change request, or reopen it"),
        ("revert", "Z", "revert", "Undo a merge, or go back to a revision, in a new request"),
        ("drop_change", ". d", "drop", "Drop the change or the marked pages: back to main's text"),
        ("copy_change", ". c", "copy", "Copy: changes to another request, a page, a space"),
        ("move_change", ". m", "move to", "Move: changes to another request, pages, spaces, sections"),
    ),
    *_scope(
        "browse",
        ("new_request", "O", "new change request", "Start or choose a change request to edit pages in"),
        ("add", "a", "add", "Add a page, space or collection; among sites, a site"),
        ("rename", "E", "edit details", "Edit title and details; in a review, its subject"),
        ("indent", ")  shift+right", "indent", "Move the page into the page before it"),
        ("outdent", "(  shift+left", "outdent", "Move the page out of its parent, to come after it"),
        ("delete", "delete  -", "delete", "Delete (asks first)"),
        ("folder", ". F", "folder", "Check out into a folder; open it in your editor or a shell"),
        ("find_replace", ". f", "find and replace", "Find and replace text in all pages; a file, in its list"),
        ("lock", ". l", "lock", "Lock the space, or unlock it"),
        ("settings", ". s", "settings", "Change default level, language or merge rules"),
        ("transfer", ". t", "transfer", "Transfer to another organization (asks first)"),
    ),
    *_scope(
        "site",
        ("go_access", "g v", "access", "Redirects, share links and visitor sign-in of a site"),
        ("go_structure", "g u", "structure", "Sections, groups and spaces of a site, as a tree"),
        ("go_adaptive", "g c", "adaptive content", "Visitor schema, conditions and audiences of a site"),
        ("go_customization", "g y", "customization", "Colors, fonts, header and footer of a site, as a form"),
        ("go_findings", "g n", "findings", "Problems that the service found in a site, by status"),
        ("go_style_guide", "g k", "style guide", "Style guide of a site in Browse, created if there is none"),
        ("restore_snapshot", ". b", "restore", "Restore what the site had before, from a snapshot"),
        ("toggle_adaptive", ". a", "turn on or off", "Turn adaptive content of the site on or off (asks first)"),
        ("test_token", ". j", "visitor token", "Test a visitor token (JWT), or make one for an audience"),
        ("make_default", ". *", "make default", "Make the section or space the default"),
        ("import_rows", ". i", "import", "Import redirects or conversations from a file"),
        ("test_path", ". p", "test a path", "Test a path: where its redirects lead"),
        ("suggest_rows", ". r", "suggestions", "Suggest redirects for moved and deleted pages"),
        ("rotate_key", ". k", "rotate key", "Rotate the key that signs visitors in (asks first)"),
        ("move_down", "J", "move down", "Move the page or item down among its siblings"),
        ("move_up", "K", "move up", "Move the page or item up among its siblings"),
        ("publish", "P", "publish", "Publish or unpublish (asks first)"),
        ("go_published", ". g", "visitors", "What visitors get: address, sections, spaces, scripts"),
        ("view_as", "w", "view as", "Show the site as an audience (a set of claims) reads it"),
        ("preview_site", ". v", "preview", "Preview the site in the browser, also with a change request"),
    ),
    *_scope(
        "admin",
        ("sort_rows", ". o", "sort", "Sort by a column; the same again turns the order round"),
        ("list_requests", ". q", "change requests", "Change requests made for a group of issues"),
        ("export_rows", ". x", "export", "Export the rows to a CSV or JSON file"),
        ("development_mode", ". u", "development mode", "Send the events of an integration to a tunnel, or stop"),
    ),
    *_scope(
        "composer",
        ("send", "ctrl+s  alt+enter", "send", "Send; save a page to its change request, or a form"),
        ("edit_outside", "ctrl+e", "editor", "Continue in $EDITOR"),
        ("preview_text", "ctrl+o", "preview", "Preview the text; again: edit"),
        ("suggest", "ctrl+g", "suggest", "Insert the selected lines as a suggestion to edit"),
    ),
    *_scope(
        "editor",
        ("insert_block", "ctrl+l", "insert", "Insert a block, link or mention; also / @ [[ ]( then tab"),
        ("find_in_text", "ctrl+f", "find", "Find in the text; enter without a text: the next match"),
        ("discard_draft", "alt+d  f8", "discard draft", "Discard the draft, show the page as it is (asks first)"),
        ("take_mine", "alt+m  f2", "take mine", "Resolve the conflict at the cursor: take your text"),
        ("take_other", "alt+t  f3", "take theirs", "Resolve the conflict at the cursor: take the other text"),
        ("take_each", "alt+a  f4", "take both", "Resolve the conflict at the cursor: keep both texts"),
        ("merge_edits", "alt+u  f6", "merge edits", "Merge the page, as others edited it, into your text"),
        ("undo_typing", "ctrl+z  alt+z", "undo typing", ""),
        ("redo_typing", "ctrl+y  alt+y", "redo typing", ""),
    ),
    *_scope(
        "outbox",
        ("retry", "s", "retry", "Retry a failed change; send one behind it or a draft first"),
    ),
    *_scope(
        "always",
        ("help", "?  f1", "keys", "Show all keys, searchable"),
        ("tour", "g ?", "tour", "Take a tour of the app, about two minutes"),
        ("tour_next", ";", "next step", "Next step of the tour; esc ends it"),
        ("theme", "ctrl+t", "theme", "Choose a theme"),
        ("close", "q", "close", "Close, back to where you came from; in the inbox, quit"),
        ("quit", "ctrl+q  ctrl+c", "quit", "Quit; pending changes stay in the outbox"),
    ),
)
"""All commands of presscheck, in the order of the help."""
BY_NAME = {command.name: command for command in COMMANDS}
OWN_SCOPE = "own commands"
"""The scope of the commands that the user added."""
WHILE_TYPING = ("composer", "editor")
"""The scopes of the commands that work while the user types a text."""
_COMMAND_IN_BRACES = re.compile(r"\{([a-z_]+)\}")
_IN_DIALOGS = tuple(
    command
    for command in COMMANDS
    if command.scope == "composer" or command.name in ("back", "down", "up", "left", "right", "half_down", "half_up")
)
"""The commands whose keys also work in dialogs."""


class Keymap:
    """The keys of each command: the default keys or the user's keys.

    Args:
        own: the user's keys, by name of the command.
        own_commands: the commands that the user added, with their keys.
    """

    def __init__(
        self, own: Mapping[str, tuple[str, ...]] = MappingProxyType({}), own_commands: Sequence[Command] = ()
    ) -> None:
        self.own, self.own_commands = dict(own), tuple(own_commands)
        self.commands = (*COMMANDS, *own_commands)
        """All commands, in the order of the help."""
        self._by_name = BY_NAME | {command.name: command for command in own_commands}
        changed = [command for command in _IN_DIALOGS if command.name in self.own]
        free = {key: "" for command in changed for key in command.keys if key not in _ALWAYS_IN_DIALOGS}
        self._meanings = free | {key: _dialog_key(command) for command in changed for key in self.own[command.name]}

    def keys(self, name: str) -> tuple[str, ...]:
        """Return all keys of a command."""
        return self.own.get(name) or self._by_name[name].keys

    def command(self, name: str) -> Command | None:
        """Return the command with a name, or None."""
        return self._by_name.get(name)

    def first(self, name: str) -> str:
        """Return the first key of a command; empty for an own command without a key."""
        return next(iter(self.keys(name)), "")

    def label(self, name: str) -> str:
        """Return the display text of the first key of a command."""
        return shown(self.first(name))

    def default_of(self, key: str) -> str:
        """Translate a pressed key to the default key with the same meaning, because dialogs handle default keys.

        Returns an empty text for a default key whose command the user moved to another key.
        """
        return self._meanings.get(key, key)

    def current_of(self, key: str) -> str:
        """Return the key to press for a default key of dialogs; the inverse of `default_of`."""
        own = (self.own[command.name][0] for command in _IN_DIALOGS if command.name in self.own and key in command.keys)
        return next(own, key)


_keymap = Keymap()


def use_keymap(keymap: Keymap) -> None:
    """Set the keymap whose keys messages show."""
    global _keymap
    _keymap = keymap


def key_for(name: str) -> str:
    """Return the display text of the first key of a command, for a message such as `z undoes it`."""
    return _keymap.label(name)


def tab_key(number: int) -> str:
    """Return the key of the command `tab` for a view, counted from 1. Each of the nine views has a key."""
    return _keymap.keys("tab")[number - 1]


def tab_label(number: int) -> str:
    """Return the display text of the key for a view, for a message such as `2 shows the teams`."""
    return shown(tab_key(number))


def with_keys(text: str) -> str:
    """Replace names of commands in braces, such as `{unsend}`, by their keys."""
    return _COMMAND_IN_BRACES.sub(lambda match: key_for(match[1]), text)


def _dialog_key(command: Command) -> str:
    """Return the default key of a command in dialogs: `down` rather than `j`, which is needed for text."""
    return next((key for key in command.keys if key in _ALWAYS_IN_DIALOGS), command.keys[0])


class Where(NamedTuple):
    """Where a command works.

    Attributes:
        words: a phrase for the place, such as `in a review`.
        kind: the kind of the place, such as `review`; empty if there is no way to go there.
        targets: the kinds of items to choose from before going there, as in the palette: `cr`, `space`, `page`, `site`.
        opener: the command that opens the screen on which the command works; empty if the command works at the place.
    """

    words: str
    kind: str = ""
    targets: tuple[str, ...] = ()
    opener: str = ""


_INBOX = Where("in the inbox", "inbox")
_REVIEW = Where("in a review", "review", ("cr",))
_BROWSE = Where("in Browse", "browse", ("space", "page"))
_SITES = Where("among sites", "publish", ("site",))
_ADMIN = Where("in administration", "admin")
_REDIRECTS = Where("among the redirects of a site", "publish", ("site",), "go_access")
_WHERE_BY_SCOPE = {
    "mark": _INBOX,
    "inbox": _INBOX,
    "review": _REVIEW,
    "site": _SITES,
    "admin": _ADMIN,
    "composer": Where("while you write a text"),
    "editor": Where("in the page editor"),
    "outbox": Where("in the outbox", "outbox"),
}
"""Where the commands of a scope work. For other scopes, the default is Browse."""
_WHERE_BY_NAME = {
    "tab": _INBOX,
    "bookmark": _BROWSE,
    "go_deleted": Where("in Browse", "browse"),
    "restore_snapshot": Where("in the history of a site", "publish", ("site",), "history"),
    "toggle_adaptive": Where("in the adaptive content of a site", "publish", ("site",), "go_adaptive"),
    "test_token": Where("in the adaptive content of a site", "publish", ("site",), "go_adaptive"),
    "import_rows": _REDIRECTS,
    "test_path": _REDIRECTS,
    "suggest_rows": _REDIRECTS,
    "rotate_key": Where("in the access of a site", "publish", ("site",), "go_access"),
    "development_mode": Where("on an integration, in administration", "admin"),
}
"""Where commands work that differ from the rest of their scope."""


WORDS_OF_PLACE = {
    place.kind: place.words for place in (_INBOX, _REVIEW, _BROWSE, _SITES, _ADMIN, _WHERE_BY_SCOPE["outbox"])
}
"""Phrases for the kinds of places."""


def where(command: Command) -> Where:
    """Return where a command works, for commands that not every screen has."""
    return _WHERE_BY_NAME.get(command.name) or _WHERE_BY_SCOPE.get(command.scope, _BROWSE)


def shown(keys: str) -> str:
    """Return the display text of a key or key sequence."""
    return " ".join(_KEY_LABELS.get(key, key) for key in keys.split(" "))


def key_table() -> str:
    """Return the key table of the manual, as Markdown."""
    lines = ["| where | key | does |", "|---|---|---|"]
    scope = ""
    for command in COMMANDS:
        keys = " ".join(f"`{shown(key)}`" for key in command.keys).replace("|", "\\|")
        first = f"**{command.scope}**" if command.scope != scope else ""
        scope = command.scope
        lines.append(f"| {first} | {keys} | {command.help or command.title} |")
    return "\n".join(lines)


class FirstKey(NamedTuple):
    """A key hint: the key or key sequence of a command, or a prefix with a title, for all commands that begin with it.

    Attributes:
        key: the key, the sequence or the prefix.
        label: the display text of `key`.
        title: the title of the command or of the prefix.
        is_disabled: whether the command cannot run now.
    """

    key: str
    label: str
    title: str
    is_disabled: bool


class OwnHandler(NamedTuple):
    """The user's own command, a function that runs it, and a function that returns why it is disabled."""

    command: Command
    run: Callable[[], Any]
    reason: Callable[[], str | None]


class CommandTable:
    """The command handlers and disabled reasons of a screen, by name of the command.

    Args:
        owners: objects with methods `command_<name>`, which run a command, and `reason_<name>`, which return why the
            command is disabled now, or None. The first object that has a method wins.
        parts: objects by title, such as tabs, whose methods are only used while the object is visible.
        shown_parts: returns the visible parts, which take precedence over the owners.
        own: the own commands of the user.
    """

    def __init__(
        self,
        owners: Iterable[object],
        parts: Mapping[str, object] = MappingProxyType({}),
        shown_parts: Callable[[], Iterable[object]] = tuple,
        own: Sequence[OwnHandler] = (),
    ) -> None:
        objects = tuple(owners)
        self._handlers = _methods("command_", objects)
        self._reasons = _methods("reason_", objects)
        self._titles = tuple(parts)
        self._parts = {
            id(part): (_methods("command_", (part,)), _methods("reason_", (part,))) for part in parts.values()
        }
        self._shown_parts = shown_parts
        names = {name for handlers, _ in self._parts.values() for name in handlers} | self._handlers.keys()
        self._handlers |= {handler.command.name: handler.run for handler in own}
        self._reasons |= {handler.command.name: handler.reason for handler in own}
        self._own = tuple(handler.command for handler in own)
        self.commands = (*(command for command in COMMANDS if command.name in names), *self._own)
        """The commands that have a handler, in the order of the help."""
        self._by_name = {command.name: command for command in self.commands}

    def handler(self, name: str) -> Callable[[], Any] | None:
        """Return the method that runs a command, or None if no object handles the command now."""
        methods = (handlers[name] for handlers, _ in self._shown() if name in handlers)
        return next(methods, self._handlers.get(name))

    def disabled_reason(self, name: str) -> str | None:
        """Return why a command cannot run now, or None if it can.

        If only hidden parts handle the command, the reason names these parts.
        """
        for handlers, reasons in self._shown():
            if name in handlers or name in reasons:
                return reasons[name]() if name in reasons else None
        if name in self._handlers:
            return self._reasons[name]() if name in self._reasons else None
        titles = enumerate(zip(self._titles, self._parts.values(), strict=True), 1)
        places = [f"{title} ({tab_label(at)})" for at, (title, (handlers, _)) in titles if name in handlers]
        return f"{self._by_name[name].title}: works in {' and '.join(places)}, not here" if places else None

    def _shown(self) -> Iterable[tuple[dict[str, Callable[[], Any]], dict[str, Callable[[], Any]]]]:
        return (self._parts[id(part)] for part in self._shown_parts())

    def command(self, name: str) -> Command | None:
        """Return the command with a name, or None if it has no handler."""
        return self._by_name.get(name)

    def first_keys(
        self, names: Iterable[str], keymap: Keymap, titles: Mapping[str, str] = MappingProxyType({})
    ) -> list[FirstKey]:
        """Return the distinct first keys of commands; commands without a handler are skipped.

        Args:
            names: the names of the commands.
            keymap: the keys of the commands.
            titles: titles by name of the command, which replace the general titles.
        """
        found: dict[str, FirstKey] = {}
        for name in names:
            command = self._by_name.get(name)
            if command is None:
                continue
            keys = keymap.first(name)
            first, *others = keys.split(" ")
            key = first if first in PREFIXES else keys
            if key not in found:
                title = titles.get(name, command.title)
                title = PREFIXES.get(key, title) if others else title
                found[key] = FirstKey(key, shown(key), title, self.disabled_reason(name) is not None)
        return list(found.values())

    def own_keys(self, keymap: Keymap) -> list[FirstKey]:
        """Return the keys of the own commands that can run now."""
        return [
            FirstKey(keys, shown(keys), command.title, is_disabled=False)
            for command in self._own
            if (keys := keymap.first(command.name)) and self.disabled_reason(command.name) is None
        ]


def _methods(prefix: str, owners: Iterable[object]) -> dict[str, Callable[[], Any]]:
    methods: dict[str, Callable[[], Any]] = {}
    for owner in owners:
        for command in COMMANDS:
            method = getattr(owner, prefix + command.name, None)
            if method is not None:
                methods.setdefault(command.name, method)
    return methods
