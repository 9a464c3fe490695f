"""Writes documents as readable TOML, and changes TOML files without losing their comments."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any, cast

from presscheck.engine.site_config.document import Place

if TYPE_CHECKING:
    from tomlkit.items import AoT

LONGEST_INLINE = 100
"""Maximum number of characters of a list or table written on one line."""
IDENTITIES = ("id", "source", "section", "group", "space", "title")
"""Keys that identify an item of a list, most reliable first."""
_BARE = re.compile(r"[A-Za-z0-9_-]+")
_HEADER = re.compile(r"\s*(\[\[?)(.+?)\]\]?\s*(?:#.*)?$")
_KEY = re.compile(
    r"\s*((?:\"(?:[^\"\\]|\\.)*\"|'[^']*'|[A-Za-z0-9_-]+)(?:\s*\.\s*(?:\"(?:[^\"\\]|\\.)*\"|'[^']*'|[A-Za-z0-9_-]+))*)\s*="
)
_SHORT = {"\b": "\\b", "\t": "\\t", "\n": "\\n", "\f": "\\f", "\r": "\\r", '"': '\\"', "\\": "\\\\"}


def write_toml(plain: Mapping[str, Any]) -> str:
    """Write a document as TOML, with escapes for invisible characters."""
    return "\n".join(_table_lines((), plain)).strip("\n") + "\n"


def changed_toml(text: str, plain: Mapping[str, Any]) -> str | None:
    """Change the document in a TOML text and keep its comments.

    Args:
        text: the text of the file.
        plain: the new document.

    Returns:
        The new text, or None if the library cannot change this text correctly.
    """
    import tomlkit  # 6 ms, only for a file that exists
    from tomlkit.exceptions import TOMLKitError

    try:
        document = tomlkit.parse(text)
        _change(cast("Any", document), plain, cast("Any", tomlkit.parse(write_toml(plain))))
        written = tomlkit.dumps(document)
        return written if tomllib.loads(written) == plain else None
    except (TOMLKitError, ValueError, TypeError, LookupError, RecursionError):
        return None  # the caller then writes a new file


def toml_lines(text: str) -> dict[Place, int]:
    """Return the line of each key and table that starts a line, counted from 1."""
    found: dict[Place, int] = {}
    counts: dict[Place, int] = {}
    table: Place = ()
    quotes = ""
    for number, line in enumerate(text.split("\n"), 1):
        if quotes:
            quotes = "" if line.count(quotes) % 2 else quotes
            continue
        header, key = _HEADER.match(line), _KEY.match(line)
        if header and not key:
            names = _names(header[2])
            table = _within(names[:-1], counts)
            place = (*table, *names[-1:])
            if header[1] == "[[":
                counts[place] = counts.get(place, -1) + 1
                place = (*place, counts[place])
            table = place
            found.setdefault(place, number)
        elif key:
            found.setdefault((*table, *_names(key[1])), number)
            rest = line[key.end() :]
            quotes = next((mark for mark in ('"""', "'''") if rest.count(mark) % 2), "")
    return found


def _within(names: Iterable[str], counts: Mapping[Place, int]) -> Place:
    """Return the place of a table: below the latest item of each list of tables in its name."""
    place: Place = ()
    for name in names:
        place = (*place, name)
        place = (*place, counts[place]) if place in counts else place
    return place


def _names(dotted: str) -> tuple[str, ...]:
    """Split a dotted key."""
    try:
        value: Any = tomllib.loads(f"{dotted} = 0")
    except tomllib.TOMLDecodeError:
        return (dotted,)
    names = list[str]()
    while isinstance(value, dict) and value:
        name, value = next(iter(cast("dict[str, Any]", value).items()))
        names.append(name)
    return tuple(names)


def _table_lines(name: Place, table: Mapping[str, Any]) -> Iterable[str]:
    """Yield the lines of a table below its header: first values, then nested tables and lists of tables."""
    blocks = {key: value for key, value in table.items() if _is_block(key, value)}
    for key, value in table.items():
        if key not in blocks:
            yield f"{_key(key)} = {_top_value(value)}"
    for key, value in blocks.items():
        inner = (*name, key)
        header = ".".join(_key(str(part)) for part in inner)
        if isinstance(value, dict):
            yield from ("", f"[{header}]", *_table_lines(inner, cast("dict[str, Any]", value)))
            continue
        for item in cast("list[dict[str, Any]]", value):
            yield from ("", f"[[{header}]]", *_table_lines(inner, item))


def _is_block(key: str, value: Any) -> bool:
    """Return whether a value gets its own header: a list of tables, or a table too long for one line."""
    if isinstance(value, dict):
        items = cast("dict[str, Any]", value)
        is_flat = not any(isinstance(inner, (dict, list)) or "\n" in str(inner) for inner in items.values())
        return not (is_flat and len(key) + len(_value(items)) <= LONGEST_INLINE)
    is_list = isinstance(value, list) and bool(cast("list[Any]", value))
    return is_list and all(isinstance(item, dict) for item in cast("list[Any]", value))


def _top_value(value: Any) -> str:
    """Write a value after its key; texts with line breaks and long lists take several lines."""
    if isinstance(value, str) and "\n" in value:
        return '"""\n' + "\n".join(_escaped(line) for line in value.split("\n")) + '"""'
    inline = _value(value)
    if isinstance(value, list) and len(inline) > LONGEST_INLINE:
        return "[\n" + "".join(f"    {_value(item)},\n" for item in cast("list[Any]", value)) + "]"
    return inline


def _value(value: Any) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str):
        return f'"{_escaped(value)}"'
    if isinstance(value, dict):
        inner = ", ".join(f"{_key(key)} = {_value(item)}" for key, item in cast("dict[str, Any]", value).items())
        return f"{{ {inner} }}" if inner else "{}"
    if isinstance(value, list):
        return f"[{', '.join(_value(item) for item in cast('list[Any]', value))}]"
    return repr(value)


def _key(key: str) -> str:
    return key if _BARE.fullmatch(key) else f'"{_escaped(key)}"'


def _escaped(text: str) -> str:
    return "".join(
        character if is_visible(character) and character not in _SHORT else _escape(character) for character in text
    )


def _escape(character: str) -> str:
    code = ord(character)
    return _SHORT.get(character) or (f"\\u{code:04x}" if code <= 0xFFFF else f"\\U{code:08x}")


def is_visible(character: str) -> bool:
    """Return whether a character is visible to a reviewer: neither a control nor a format character."""
    return character == " " or character.isprintable()


def _change(table: Any, plain: Mapping[str, Any], fresh: Any) -> None:
    """Give a table of a parsed file exactly these values, in place, so that comments stay.

    Args:
        table: the table.
        plain: the new values.
        fresh: the table with the new values in a newly written document; new values are copied from there with their
            formatting.
    """
    from tomlkit.items import AoT  # 6 ms, only for a file that exists

    for key in [key for key in table if key not in plain]:
        del table[key]
    for key, value in plain.items():
        if key in table and _unwrapped(table[key]) == value:
            continue
        present = table.get(key)
        if isinstance(value, dict) and isinstance(present, dict):
            _change(present, cast("dict[str, Any]", value), fresh[key])
        elif isinstance(present, AoT) and isinstance(fresh[key], AoT):
            _change_list(present, cast("list[dict[str, Any]]", value), fresh[key])
        else:
            table[key] = fresh[key]


def _change_list(tables: AoT, plain: list[dict[str, Any]], fresh: AoT) -> None:
    """Change a list of tables in place; tables that remain keep their comments."""
    left, chosen, new_tables = list[Any](tables), list[Any](), list[Any](fresh)
    for item, new in zip(plain, new_tables, strict=True):
        present = next((one for one in left if _is_same(_unwrapped(one), item)), None)
        if present is None:
            chosen.append(new)
            continue
        left = [one for one in left if one is not present]
        _change(present, item, new)
        chosen.append(present)
    if [id(one) for one in chosen] != [id(one) for one in list[Any](tables)]:
        while len(tables):
            del tables[0]
        for one in chosen:
            cast("Any", tables).append(one)


def _is_same(one: Mapping[str, Any], other: Mapping[str, Any]) -> bool:
    if one == other:
        return True
    name = next((name for name in IDENTITIES if name in one and name in other), None)
    return name is not None and one[name] == other[name]


def _unwrapped(value: Any) -> Any:
    return value.unwrap() if hasattr(value, "unwrap") else value
