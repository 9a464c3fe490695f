"""The user's keys: a preset and keys of commands in ``[keys]`` of the settings file, and own commands.

A setting with an error is ignored, so its command keeps its default keys. An own command whose key has an error gets no
key, and can be run from the palette.
"""

from __future__ import annotations

import difflib
import re
import shlex
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple, cast

from presscheck.config.own_commands import OwnCommand
from presscheck.config.saved_views import same_name
from presscheck.config.validation import SettingsError, located, read_commands, read_keys
from presscheck.text.sanitize import sanitize
from presscheck.tui.commands import (
    BY_NAME,
    NEVER_ALONE,
    OWN_SCOPE,
    WHILE_TYPING,
    Command,
    Keymap,
    shown,
)

if TYPE_CHECKING:
    from presscheck.config.project import Project

Keys = Mapping[str, tuple[str, ...]]
PRESETS: dict[str, Keys] = {
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
    "vim-strict": {
        "down": ("j",),
        "up": ("k",),
        "left": ("h",),
        "right": ("l",),
        "top": ("g g",),
        "bottom": ("G",),
        "half_down": ("ctrl+d",),
        "half_up": ("ctrl+u",),
        "history_back": ("ctrl+o",),
        "preview_text": ("alt+p",),
        "palette": (":",),
        "unsend": ("u",),
        "pull": ("v u",),
        "copy": ("y y",),
        "copy_text": ("y c",),
        "delete": ("d d",),
        "diff_view": ("v d",),
        "close": ("Z Z", "q"),
        "revert": ("v z",),
        "quit": ("Z Q", "ctrl+q", "ctrl+c"),
    },
    "emacs": {
        "down": ("down", "ctrl+n"),
        "up": ("up", "ctrl+p"),
        "left": ("left", "ctrl+b"),
        "right": ("ctrl+f", "right"),
        "half_down": ("ctrl+v", "pagedown"),
        "half_up": ("alt+v", "pageup"),
        "palette": ("alt+x", ":"),
        "find_in_text": ("ctrl+r",),
        "refresh": ("f5",),
        "back": ("escape", "ctrl+g"),
        "suggest": ("alt+g",),
        "quit": ("ctrl+x ctrl+c", "ctrl+q", "ctrl+c"),
        "copy": ("alt+w", "y"),
    },
}
"""The presets by name. Each lists only the commands whose keys differ from the default keys."""
MOST_KEYS = 3
"""The maximum number of keys in a sequence."""
_NAMES = {"esc": "escape", "pgdn": "pagedown", "pgup": "pageup", "del": "delete", "return": "enter"} | {
    "↓": "down",
    "↑": "up",
    "←": "left",
    "→": "right",
}
"""Other accepted key names, with the names in `_NAMED`."""
_SIGNS = {"/": "slash", "_": "underscore", "\\": "backslash", "]": "right_square_bracket", "@": "at"}
"""Key names of characters that terminals can send with ctrl."""
_NAMED = re.compile(
    r"escape|enter|tab|space|backspace|delete|insert|home|end|pageup|pagedown|up|down|left|right|f(?:[1-9]|1\d|2[0-4])"
)
_NEW_PROTOCOL = re.compile(r"(?!shift\+tab).+\+(?:enter|tab|space|backspace|escape)|ctrl\+at|f(?:1[3-9]|2[0-4])")
"""Keys that only arrive from terminals with the keyboard protocol of Kitty."""
_WITH_MODIFIERS = re.compile(r"((?:ctrl\+|alt\+|shift\+)+)(.+)", re.DOTALL)
_MODES = {"run": "run", "suspend": "run in the terminal", "capture": "show the output of", "open": "open"}
"""The words before the command line in the help of an own command, by mode."""
_FIXED = ("escape", "enter")
"""Keys with a fixed meaning in every dialog: close and choose."""


def load_keymap(path: Path, project: Project | None = None) -> tuple[Keymap, tuple[SettingsError, ...]]:
    """Load the keys and own commands of the settings file and of the project. Return the keymap and all errors.

    The settings file has precedence: a command of the project cannot take its names and keys.
    """
    table, errors = read_keys(path)
    keymap, problems = keymap_of(table)
    all_errors = (*errors, *located(path, [(("keys", name), message) for name, message in problems]))
    commands, errors = read_commands(path)
    keymap, key_errors = with_commands(keymap, path, commands)
    if project and project.commands:
        keymap, project_errors = with_commands(keymap, project.path, project.commands)
        key_errors = (*key_errors, *project_errors)
    # without duplicates: both readers report an error about the whole file
    return keymap, tuple(dict.fromkeys((*all_errors, *errors, *key_errors)))


def with_commands(
    keymap: Keymap, path: Path, commands: Sequence[OwnCommand]
) -> tuple[Keymap, tuple[SettingsError, ...]]:
    """Add own commands to a keymap. Return the new keymap, and the errors in their names and keys.

    Keys that other commands have already are errors. A command whose name exists already is skipped.
    """
    problems: list[tuple[tuple[str, ...], str]] = []
    for own in commands:
        place = ("commands", str(own.number))
        if any(same_name(other.title, own.name) for other in keymap.own_commands):
            problems.append(((*place, "name"), "is the name of another command"))
            continue
        command = _own_command(own)
        keyed = Keymap(keymap.own, (*keymap.own_commands, command))
        if own.keys:
            error = _shape_error(command, own.keys)
            conflict = None if error else next(conflicts(keyed, (command.name,)), None)
            if error or conflict:
                problems.append(((*place, "key"), error or (conflict[1] if conflict else "")))
                keyed = Keymap(keymap.own, (*keymap.own_commands, replace(command, keys=())))
        keymap = keyed
    return keymap, located(path, problems) if problems else ()


def _own_command(own: OwnCommand) -> Command:
    keys, title = tuple(map(normalized, own.keys)), sanitize(own.name)
    words = sanitize(own.words[0] if own.is_script or own.is_address else shlex.join(own.words))
    help_ = f"{title}: {_MODES[own.mode]} {words}"
    return Command(f"own:{title}", keys, title, OWN_SCOPE, help_, own)


def keymap_of(table: Mapping[str, object]) -> tuple[Keymap, list[tuple[str, str]]]:
    """Return the keymap for a ``[keys]`` table, and its errors as pairs of a setting and a message."""
    problems: list[tuple[str, str]] = []
    preset = table.get("preset", "default")
    own = dict(PRESETS.get(cast("str", preset), {}))
    if preset not in PRESETS:
        problems.append(("preset", f"must be one of {', '.join(PRESETS)}"))
    chosen: dict[str, tuple[str, ...]] = {}
    for name, value in table.items():
        if name == "preset":
            continue
        keys = tuple(value) if isinstance(value, list) else (value,)
        if name not in BY_NAME:
            problems.append((name, _unknown(name)))
        elif error := _shape_error(BY_NAME[name], keys):
            problems.append((name, error))
        else:
            chosen[name] = tuple(normalized(key) for key in cast("tuple[str, ...]", keys))
    # removing a setting with a conflict may solve or cause other conflicts
    while conflict := next(conflicts(Keymap({**own, **chosen}), chosen), None):
        problems.append(conflict)
        del chosen[conflict[0]]
    return Keymap({**own, **chosen}), problems


def conflicts(keymap: Keymap, changed: Sequence[str] | Mapping[str, object]) -> Iterator[tuple[str, str]]:
    """Yield the commands in `changed` whose keys conflict with keys of other commands, each with a message.

    Args:
        keymap: the keys of all commands.
        changed: the names of the commands to check, in order.
    """
    names = [command.name for command in keymap.commands]
    sequences = {name: [tuple(key.split(" ")) for key in keymap.keys(name)] for name in names}
    for name in changed:
        for sequence in sequences[name]:
            for other in names:
                if other != name and (clash := _clash(sequence, sequences[other])):
                    keys, theirs = shown(" ".join(sequence)), shown(" ".join(clash))
                    if clash == sequence:
                        yield name, f"{keys} is also a key of {other}: change one of the two"
                    elif len(clash) > len(sequence):
                        yield name, f"{keys} begins {theirs}, a key of {other}: change one of the two"
                    else:
                        yield name, f"{keys} begins with {theirs}, a key of {other}: change one of the two"


def _clash(sequence: tuple[str, ...], others: Sequence[tuple[str, ...]]) -> tuple[str, ...] | None:
    """Return the first of `others` that equals `sequence`, begins with it, or is its beginning."""
    pairs = ((other, min(len(sequence), len(other))) for other in others)
    return next((other for other, length in pairs if other[:length] == sequence[:length]), None)


def _unknown(name: str) -> str:
    if name.startswith("own:"):
        return "is an own command: write its key into [[commands]]"
    similar = difflib.get_close_matches(name, BY_NAME, 1)
    hint = f"; did you mean {similar[0]}?" if similar else ""
    return f"is not the name of a command: `presscheck keys` lists them{hint}"


def _shape_error(command: Command, keys: Sequence[object]) -> str | None:
    if not keys or any(not isinstance(key, str) or not key.strip() for key in keys):
        return 'must be a key such as "x", or a list of keys such as ["x", "g x"]'
    if command.name == "tab" and len(keys) != len(command.keys):
        return f"must be a list of {len(command.keys)} keys, one for each view"
    sequences = [normalized(cast("str", key)).split(" ") for key in keys]
    for sequence in sequences:
        if len(sequence) > MOST_KEYS:
            return f"must have at most {MOST_KEYS} keys in a sequence"
        for key in sequence:
            if not _is_key(key):
                return f"{shown(key)} is not a key: write a character, or a name such as ctrl+g, alt+x, f5 or pgdn"
        is_text = len(sequence) > 1 or len(sequence[0]) == 1 or sequence[0] in ("space", "enter", "tab")
        if command.scope in WHILE_TYPING and is_text:
            return "works while you type a text, so it must be a single key such as ctrl+g, alt+x or f5"
        if sequence in ([key] for key in _FIXED) and sequence[0] not in (command.keys if command.own is None else ()):
            return f"{shown(sequence[0])} has a fixed meaning in every dialog: choose another key"
    reasons = [next(filter(None, map(_never_arrives, sequence)), None) for sequence in sequences]
    return f"{reasons[0]}: add a second key" if all(reasons) else None


def _never_arrives(key: str) -> str | None:
    """Return why a key may never reach the app, or None."""
    if key in NEVER_ALONE:
        return f"{shown(key)} may never arrive, because terminals use it"
    return f"{shown(key)} may never arrive, because few terminals send it" if _NEW_PROTOCOL.fullmatch(key) else None


def normalized(keys: str) -> str:
    """Normalize a key or sequence to the key names of the command table."""
    return " ".join(_normalized_key(key) for key in keys.split())


def _normalized_key(key: str) -> str:
    match = _WITH_MODIFIERS.fullmatch(key)
    if match is None:
        return _NAMES.get(key.lower(), key.lower() if _NAMED.fullmatch(key.lower()) else key)
    is_capital = len(match[2]) == 1 and match[2].isupper() and "alt+" in match[1]
    names = ("alt", "ctrl", *(("shift",) if is_capital or "shift+" in match[1] else ()))
    modifiers = "".join(f"{each}+" for each in names if f"{each}+" in match[1] or each == "shift")
    name = match[2].lower()
    return modifiers + _NAMES.get(name, _SIGNS.get(name, name) if "ctrl+" in modifiers else name)


def _is_key(key: str) -> bool:
    match = _WITH_MODIFIERS.fullmatch(key)
    if match is None:
        return (len(key) == 1 and key.isprintable() and not key.isspace()) or _NAMED.fullmatch(key) is not None
    modifiers, name = match[1], match[2]
    if _NAMED.fullmatch(name):
        return True
    # terminals can send letters with these modifiers, and a few other characters with ctrl
    is_letter = len(name) == 1 and name.isascii() and name.isalpha()
    return (is_letter and modifiers in ("ctrl+", "alt+", "alt+shift+")) or (
        modifiers == "ctrl+" and name in _SIGNS.values()
    )


def key_error(keymap: Keymap, name: str, key: str) -> str | None:
    """Return why a key or sequence cannot be used for a command, or None."""
    error = _shape_error(BY_NAME[name], (key,))
    changed = Keymap({**keymap.own, name: (normalized(key),)}, keymap.own_commands)
    conflict = next(conflicts(changed, (name,)), None) if error is None else None
    return conflict[1] if conflict else error


class KeyRow(NamedTuple):
    """The keys of a command. `changed` is whether they differ from the default keys."""

    command: str
    keys: tuple[str, ...]
    where: str
    title: str
    changed: bool


def key_rows(keymap: Keymap) -> Iterator[KeyRow]:
    """Yield the keys of all commands, in the order of the help."""
    for command in keymap.commands:
        keys = keymap.keys(command.name)
        yield KeyRow(command.name, keys, command.scope, command.help or command.title, keys != command.keys)
