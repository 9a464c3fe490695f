"""Writes marks around inline text: Markdown marks where they are certain to parse, HTML tags elsewhere."""

from __future__ import annotations

import unicodedata
from typing import Any, Literal, NamedTuple

from presscheck.documents.nodes.schema import Node, Nodes

Notation = Literal["text", "line", "html"]
"""Multi-line Markdown, single-line Markdown, or HTML."""
Mark = tuple[str, str, str]
"""A mark: its name, text colour and background colour."""


class Atom(NamedTuple):
    """A part that is written as a whole; without marks of its own it takes those around it."""

    text: str
    marks: tuple[Mark, ...] | None


def mark_of(mark: Node) -> Mark:
    """Returns a mark in comparable form."""
    data: dict[str, Any] = mark.get("data") or {}
    if mark["type"] != "color":
        return mark["type"], "", ""
    return "color", data.get("text", "default"), data.get("background", "default")


def common_marks(nodes: Nodes) -> list[Mark]:
    """Returns the marks that all text of a link has."""
    leaves = [leaf for node in nodes for leaf in node.get("leaves", ()) if leaf["text"]]
    if not leaves:
        return []
    each = [[mark_of(mark) for mark in leaf.get("marks") or ()] for leaf in leaves]
    return [mark for mark in each[0] if all(mark in one for one in each)]


def render_marks(atoms: list[Atom], manner: Notation) -> str:
    """Writes atoms with their marks, the longest-lasting mark outermost."""
    around = _settled(atoms)
    parts: list[tuple[str, Mark | None, str]] = []
    stack: list[Mark] = []
    for number, atom in enumerate(atoms):
        marks = around[number]
        while any(mark not in marks for mark in stack):
            parts.append(("close", stack.pop(), ""))
        new = sorted((mark for mark in marks if mark not in stack), key=lambda one: -_lasts(one, around, number))
        for mark in new:
            stack.append(mark)
            parts.append(("open", mark, ""))
        parts.append(("text", None, atom.text))
    parts += [("close", mark, "") for mark in reversed(stack)]
    return _joined(parts, manner)


def _settled(atoms: list[Atom]) -> list[tuple[Mark, ...]]:
    """Returns the marks of each atom; one without its own has those that both neighbours have."""
    later: list[tuple[Mark, ...]] = [()]
    for atom in reversed(atoms):
        later.append(later[-1] if atom.marks is None else atom.marks)
    later.reverse()
    found: list[tuple[Mark, ...]] = []
    for atom, following in zip(atoms, later, strict=False):
        before = found[-1] if found else ()
        found.append(tuple(mark for mark in before if mark in following) if atom.marks is None else atom.marks)
    return found


def _lasts(mark: Mark, around: list[tuple[Mark, ...]], start: int) -> int:
    end = start
    while end < len(around) and mark in around[end]:
        end += 1
    return end


_SIGNS = {"bold": "**", "italic": "_", "strikethrough": "~~"}
_TAGS = {
    "bold": "strong",
    "italic": "em",
    "strikethrough": "del",
    "code": "code",
    "keyboard": "kbd",
    "superscript": "sup",
    "subscript": "sub",
}


def _joined(parts: list[tuple[str, Mark | None, str]], manner: Notation) -> str:
    pairs = _pairs(parts)
    written: dict[int, str] = {}
    for start, end in pairs.items():
        mark = parts[start][1] or ("", "", "")
        sign = _SIGNS.get(mark[0]) if manner != "html" else None
        if sign and _is_read(sign, parts, start, end):
            written[start] = written[end] = sign
        else:
            written[start], written[end] = _tags(mark)
    return "".join(written.get(number, part[2]) for number, part in enumerate(parts))


def _pairs(parts: list[tuple[str, Mark | None, str]]) -> dict[int, int]:
    stack: list[int] = []
    found: dict[int, int] = {}
    for number, (kind, _, _) in enumerate(parts):
        if kind == "open":
            stack.append(number)
        elif kind == "close":
            found[stack.pop()] = number
    return found


def _tags(mark: Mark) -> tuple[str, str]:
    name, text, background = mark
    if name != "color":
        return f"<{_TAGS[name]}>", f"</{_TAGS[name]}>"
    styles = [("color", text), ("background-color", background)]
    said = "".join(f"{what}:{color};" for what, color in styles if color != "default")
    return f'<mark style="{said}">', "</mark>"


def _is_read(sign: str, parts: list[tuple[str, Mark | None, str]], start: int, end: int) -> bool:
    """Returns whether marks at these places parse as opening and closing."""
    before, first = _char(parts, start - 1, -1), _char(parts, start + 1, 0)
    last, after = _char(parts, end - 1, -1), _char(parts, end + 1, 0)
    if not (_faces(first, before) and _faces(last, after)):
        return False
    return sign != "_" or not (before.isalnum() or after.isalnum())


def _char(parts: list[tuple[str, Mark | None, str]], at: int, end: int) -> str:
    if not 0 <= at < len(parts):
        return " "
    return parts[at][2][end] if parts[at][0] == "text" else "*"


def _faces(inner: str, outer: str) -> bool:
    """Returns whether a mark between two characters attaches to the inner one."""
    if inner.isspace():
        return False
    is_mark = unicodedata.category(inner)[0] in "PS"
    return not is_mark or outer.isspace() or unicodedata.category(outer)[0] == "P"
