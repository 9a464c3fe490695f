"""The keys that the user chose in ``[keys]`` of the settings file: a preset, and the keys of single commands.

A setting with an error is left out, so that its command keeps its keys.
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple, cast

from presscheck.config.validation import SettingsError, located, read_keys
from presscheck.tui.commands import BY_NAME, COMMANDS, NEVER_ALONE, WHILE_TYPING, Keymap, shown

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
"""The presets by name. Each has the commands whose keys differ from the default keys, with their keys."""
MOST_KEYS = 3
"""The maximum number of keys in a sequence."""
_NAMES = {"esc": "escape", "pgdn": "pagedown", "pgup": "pageup", "del": "delete", "return": "enter"} | {
    "↓": "down",
    "↑": "up",
    "←": "left",
    "→": "right",
}
"""The names of keys besides the names in `_NAMED`."""
_SIGNS = {"/": "slash", "_": "underscore", "\\": "backslash", "]": "right_square_bracket", "@": "at"}
"""The names of characters that terminals send together with ctrl."""
_NAMED = re.compile(
    r"escape|enter|tab|space|backspace|delete|insert|home|end|pageup|pagedown|up|down|left|right|f\d\d?"
)
_WITH_MODIFIERS = re.compile(r"((?:ctrl\+|alt\+|shift\+)+)(.+)", re.DOTALL)
_FIXED = ("escape", "enter")
"""Keys that close and choose in every dialog."""


def load_keymap(path: Path) -> tuple[Keymap, tuple[SettingsError, ...]]:
    """Return the keys that the settings file chooses, and the errors of its ``[keys]``."""
    table, errors = read_keys(path)
    keymap, problems = keymap_of(table)
    return keymap, (*errors, *located(path, [(("keys", name), message) for name, message in problems]))


def keymap_of(table: Mapping[str, object]) -> tuple[Keymap, list[tuple[str, str]]]:
    """Return the keys that a ``[keys]`` table chooses, and its errors as pairs of a setting and a message."""
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
        elif error := _shape_error(name, keys):
            problems.append((name, error))
        else:
            chosen[name] = tuple(normalized(key) for key in cast("tuple[str, ...]", keys))
    # a setting that conflicts is left out, which may solve or cause other conflicts
    while conflict := next(conflicts({**own, **chosen}, chosen), None):
        problems.append(conflict)
        del chosen[conflict[0]]
    return Keymap({**own, **chosen}), problems


def conflicts(own: Keys, changed: Sequence[str] | Mapping[str, object]) -> Iterator[tuple[str, str]]:
    """Yield the commands in `changed` whose keys are also keys of another command or cannot be typed, with a message.

    Args:
        own: the keys that replace the default keys.
        changed: the names of commands that may be at fault, in order.
    """
    keymap = Keymap(own)
    sequences = {name: [tuple(key.split(" ")) for key in keymap.keys(name)] for name in BY_NAME}
    for name in changed:
        for sequence in sequences[name]:
            for other in BY_NAME:
                if other != name and (found := _clash(sequence, sequences[other])):
                    keys, theirs = shown(" ".join(sequence)), shown(" ".join(found))
                    if found == sequence:
                        yield name, f"{keys} is also a key of {other}: change one of the two"
                    elif len(found) > len(sequence):
                        yield name, f"{keys} begins {theirs}, a key of {other}: change one of the two"
                    else:
                        yield name, f"{keys} begins with {theirs}, a key of {other}: change one of the two"


def _clash(sequence: tuple[str, ...], others: Sequence[tuple[str, ...]]) -> tuple[str, ...] | None:
    """Return the first sequence that equals another, begins with it or is its beginning."""
    pairs = ((other, min(len(sequence), len(other))) for other in others)
    return next((other for other, length in pairs if other[:length] == sequence[:length]), None)


def _unknown(name: str) -> str:
    similar = difflib.get_close_matches(name, BY_NAME, 1)
    hint = f"; did you mean {similar[0]}?" if similar else ""
    return f"is not the name of a command: `presscheck keys` lists them{hint}"


def _shape_error(name: str, keys: Sequence[object]) -> str | None:
    if not keys or any(not isinstance(key, str) or not key.strip() for key in keys):
        return 'must be a key such as "x", or a list of keys such as ["x", "g x"]'
    sequences = [normalized(cast("str", key)).split(" ") for key in keys]
    for sequence in sequences:
        if len(sequence) > MOST_KEYS:
            return f"must have at most {MOST_KEYS} keys in a sequence"
        for key in sequence:
            if not _is_key(key):
                return f"{shown(key)} is not a key: write a character, or a name such as ctrl+g, alt+x, f5 or pgdn"
        is_text = len(sequence) > 1 or len(sequence[0]) == 1 or sequence[0] in ("space", "enter", "tab")
        if BY_NAME[name].scope in WHILE_TYPING and is_text:
            return "works while you type a text, so it must be a single key such as ctrl+g, alt+x or f5"
        if sequence in ([key] for key in _FIXED) and sequence[0] not in BY_NAME[name].keys:
            return f"{shown(sequence[0])} has a fixed meaning in every dialog: choose another key"
    if all(len(sequence) == 1 and sequence[0] in NEVER_ALONE for sequence in sequences):
        return f"{shown(sequences[0][0])} may never arrive, because terminals use it: add a second key"
    return None


def normalized(keys: str) -> str:
    """Return a key or sequence with the names of keys that the command table uses."""
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
    # terminals send these with letters, and a few characters with ctrl
    is_letter = len(name) == 1 and name.isascii() and name.isalpha()
    return (is_letter and modifiers in ("ctrl+", "alt+", "alt+shift+")) or (
        modifiers == "ctrl+" and name in _SIGNS.values()
    )


def key_error(keymap: Keymap, name: str, key: str) -> str | None:
    """Return why a key or sequence cannot be the key of a command, or None."""
    error = _shape_error(name, (key,))
    conflict = next(conflicts({**keymap.own, name: (normalized(key),)}, (name,)), None) if error is None else None
    return conflict[1] if conflict else f"{shown(key)} {error}" if error else None


class KeyRow(NamedTuple):
    """The keys of a command; `changed` tells whether they differ from the default keys."""

    command: str
    keys: tuple[str, ...]
    where: str
    title: str
    changed: bool


def key_rows(keymap: Keymap) -> Iterator[KeyRow]:
    """Yield the keys of all commands, in the order of the help."""
    for command in COMMANDS:
        keys = keymap.keys(command.name)
        yield KeyRow(command.name, keys, command.scope, command.help or command.title, keys != command.keys)
