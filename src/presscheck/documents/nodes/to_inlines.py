"""Writes inline nodes as Markdown, or as HTML where Markdown is not parsed.

Marks are written in Markdown where they are certain to be parsed, and as HTML tags elsewhere.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence
from html import escape
from typing import Any, Literal, NamedTuple

from presscheck.documents.markdown.autolinks import autolink_end, autolinks
from presscheck.documents.markdown.emoji import emoji_by_name, find_names
from presscheck.documents.nodes.references import format_reference
from presscheck.documents.nodes.schema import Node, Nodes, markdown_details
from presscheck.documents.nodes.tag_table import format_length

Notation = Literal["text", "line", "html"]
"""Multi-line Markdown, single-line Markdown, or HTML."""
Mark = tuple[str, str, str]
"""A mark: its name, text color and background color."""
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
_opening = re.compile(r"(?:#{1,6}|[-+])(?=\s|$)|>|[=-]+\s*$|(?:[-|:][\s|:-]*)$|\||(?:-[ \t]*){3,}$")
_number = re.compile(r"(\d{1,9})([.)])(?=\s|$)")
_IMAGE = {"size": "data-size", "caption": "title"}


class Atom(NamedTuple):
    """A part of inline text that is written as a unit.

    If `marks` is None, it gets the marks that both neighbours have.
    """

    text: str
    marks: tuple[Mark, ...] | None


def mark_of(mark: Node) -> Mark:
    """Return a mark in comparable form."""
    data: dict[str, Any] = mark.get("data") or {}
    if mark["type"] != "color":
        return mark["type"], "", ""
    return "color", data.get("text", "default"), data.get("background", "default")


def common_marks(nodes: Nodes) -> list[Mark]:
    """Return the marks that all text of a link has."""
    leaves = [leaf for node in nodes for leaf in node.get("leaves", ()) if leaf["text"]]
    if not leaves:
        return []
    each = [[mark_of(mark) for mark in leaf.get("marks") or ()] for leaf in leaves]
    return [mark for mark in each[0] if all(mark in marks_of_leaf for marks_of_leaf in each)]


def render_marks(atoms: list[Atom], notation: Notation) -> str:
    """Write atoms with their marks, with the mark that spans most atoms outermost."""
    marks_of_atoms = _marks_of_atoms(atoms)
    parts: list[tuple[str, Mark | None, str]] = []
    stack: list[Mark] = []
    for number, atom in enumerate(atoms):
        marks = marks_of_atoms[number]
        while any(mark not in marks for mark in stack):
            parts.append(("close", stack.pop(), ""))
        new = sorted(
            (mark for mark in marks if mark not in stack),
            key=lambda new_mark: -_end_of_mark(new_mark, marks_of_atoms, number),
        )
        for mark in new:
            stack.append(mark)
            parts.append(("open", mark, ""))
        parts.append(("text", None, atom.text))
    parts += [("close", mark, "") for mark in reversed(stack)]
    return _join_parts(parts, notation)


def _marks_of_atoms(atoms: list[Atom]) -> list[tuple[Mark, ...]]:
    """Return the marks of each atom. An atom whose `marks` is None gets the marks that both neighbours have."""
    later: list[tuple[Mark, ...]] = [()]
    for atom in reversed(atoms):
        later.append(later[-1] if atom.marks is None else atom.marks)
    later.reverse()
    settled: list[tuple[Mark, ...]] = []
    for atom, following in zip(atoms, later, strict=False):
        before = settled[-1] if settled else ()
        settled.append(tuple(mark for mark in before if mark in following) if atom.marks is None else atom.marks)
    return settled


def _end_of_mark(mark: Mark, marks_of_atoms: list[tuple[Mark, ...]], start: int) -> int:
    end = start
    while end < len(marks_of_atoms) and mark in marks_of_atoms[end]:
        end += 1
    return end


def _join_parts(parts: list[tuple[str, Mark | None, str]], notation: Notation) -> str:
    pairs = _pairs(parts)
    written: dict[int, str] = {}
    for start, end in pairs.items():
        mark = parts[start][1] or ("", "", "")
        sign = _SIGNS.get(mark[0]) if notation != "html" else None
        if sign and _is_parsed(sign, parts, start, end):
            written[start] = written[end] = sign
        else:
            written[start], written[end] = _tags(mark)
    return "".join(written.get(number, part[2]) for number, part in enumerate(parts))


def _pairs(parts: list[tuple[str, Mark | None, str]]) -> dict[int, int]:
    stack: list[int] = []
    pairs: dict[int, int] = {}
    for number, (kind, _, _) in enumerate(parts):
        if kind == "open":
            stack.append(number)
        elif kind == "close":
            pairs[stack.pop()] = number
    return pairs


def _tags(mark: Mark) -> tuple[str, str]:
    name, text, background = mark
    if name != "color":
        return f"<{_TAGS[name]}>", f"</{_TAGS[name]}>"
    styles = [("color", text), ("background-color", background)]
    css = "".join(f"{property_name}:{color};" for property_name, color in styles if color != "default")
    return f'<mark style="{css}">', "</mark>"


def _is_parsed(sign: str, parts: list[tuple[str, Mark | None, str]], start: int, end: int) -> bool:
    """Return whether marks at these positions are parsed as opening and closing."""
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
    """Return whether a mark between two characters attaches to the inner character."""
    if inner.isspace():
        return False
    is_mark = unicodedata.category(inner)[0] in "PS"
    return not is_mark or outer.isspace() or unicodedata.category(outer)[0] == "P"


def inline_text(nodes: Nodes, notation: Notation = "text") -> str:
    """Write inline nodes."""
    return render_marks(_atoms(nodes, notation), notation)


def paragraph_text(nodes: Nodes) -> str:
    """Write inline nodes as a paragraph, escaping characters that would start another block."""
    lines = inline_text(nodes).split("\n")
    return "\n".join(_guarded(line) for line in lines)


def heading_text(nodes: Nodes) -> str:
    """Write inline nodes as a heading."""
    text = _edges(inline_text(nodes, "line"))
    return re.sub(r"(?<!#)(#++)$", lambda match: "\\" + match[1], text)


def code_span(text: str) -> str:
    """Write text as inline code."""
    text = text.replace("\n", " ")
    longest = max((len(run) for run in re.findall("`+", text)), default=0)
    fence = "`" * (longest + 1 if longest else 1)
    padded = text[:1] == "`" or text[-1:] == "`" or (text[:1] == text[-1:] == " " and text.strip(" "))
    return f"{fence} {text} {fence}" if padded else f"{fence}{text}{fence}"


def destination(address: str, title: str = "") -> str:
    """Write the destination of a link, with an optional title."""
    if not address or re.search(r"[\s<>()\\]", address):
        address = "<" + re.sub(r"([<>\\])", r"\\\1", re.sub(r"\s", "%20", address)) + ">"
    words = re.sub(r'(["\\])', r"\\\1", title).replace("\n", " ")
    return f'{address} "{words}"' if title else address


def escaped(text: str) -> str:
    """Escape text for Markdown."""
    text = re.sub(r"\\(?=[!-/:-@\[-`{-~]|$)", r"\\\\", text)
    text = re.sub(r"([*`\[\]])", r"\\\1", text)
    text = re.sub(r"(?<![^\W_])_|_(?![^\W_])", r"\\_", text)
    text = re.sub(r"&(?=#?\w+;)", "&amp;", text)
    text = re.sub(r"<(?=[a-zA-Z/!?])", "&lt;", text)
    text = text.replace("~~", "\\~\\~").replace("$$", "\\$\\$").replace("{%", "{\\%")
    names = {match.start() for match in find_names(text)}
    return "".join("\\:" if at in names else char for at, char in enumerate(text)) if names else text


def _escaped_around_urls(text: str) -> str:
    """Escape text except for bare URLs in it, which would contain the backslashes."""
    parts, end = list[str](), 0
    for start, after in autolinks(text):
        if after < len(text):  # the text after the last URL may continue it
            parts += (escaped(text[end:start]), text[start:after])
            end = after
    return "".join((*parts, escaped(text[end:])))


def _edges(text: str) -> str:
    text = re.sub(r"^[ \t]", lambda match: f"&#{ord(match[0])};", text)
    return re.sub(r"[ \t]$", lambda match: f"&#{ord(match[0])};", text)


def _guarded(line: str) -> str:
    hard = line.endswith("\\") and not line.endswith("\\\\")
    line = _edges(line[:-1]) + "\\" if hard else _edges(line)
    if _opening.match(line):
        return "\\" + line
    return _number.sub(r"\1\\\2", line, count=1) if _number.match(line) else line


def _atoms(nodes: Nodes, notation: Notation, outer_marks: Sequence[Mark] = (), *, in_link: bool = False) -> list[Atom]:
    atoms: list[Atom] = []
    for number, node in enumerate(nodes):
        if node["object"] == "text":
            atoms += _leaves(node, notation, outer_marks, in_link=in_link)
        elif node["type"] == "link":
            common = [mark for mark in common_marks(node["nodes"]) if mark[0] != "code" and mark not in outer_marks]
            inner = render_marks(_atoms(node["nodes"], notation, [*outer_marks, *common], in_link=True), notation)
            after = "".join(atom.text for atom in _atoms(nodes[number + 1 : number + 2], notation, outer_marks))
            atoms.append(Atom(_link(node, inner, notation, after), tuple(common)))
        else:
            atoms.append(Atom(_WRITERS[node["type"]](node, notation), None))
    return atoms


def _leaves(node: Node, notation: Notation, outer_marks: Sequence[Mark], *, in_link: bool) -> list[Atom]:
    atoms: list[Atom] = []
    for leaf in node["leaves"]:
        marks = [mark for mark in map(mark_of, leaf.get("marks") or ()) if mark not in outer_marks]
        is_code = any(mark[0] == "code" for mark in marks) and notation != "html"
        text: str = leaf["text"]
        if not text:
            continue
        if node.get("markdown"):
            pass
        elif is_code:
            text = code_span(text)
        elif notation == "html":
            text = escape(text, quote=False).replace("\n", "<br>")
        else:
            written = escaped(text) if in_link else _escaped_around_urls(text)
            text = written.replace("\n", "\\\n" if notation == "text" else "<br>")
        remaining_marks = [mark for mark in marks if not (is_code and mark[0] == "code")]
        atoms.append(Atom(text, tuple(remaining_marks)))
    return atoms


def _link(node: Node, words: str, notation: Notation, after: str) -> str:
    details = markdown_details(node)
    address = format_reference(node["data"]["ref"])
    is_bare = "bare" in details and words == escaped(address) and notation != "html"
    if is_bare and autolink_end(address + after, 0) == len(address):
        return address
    if notation == "html" or "id" in details:
        attributes = "".join(f' {name}="{escape(details[name])}"' for name in ("title", "id") if name in details)
        return f'<a href="{escape(address)}"{attributes}>{words}</a>'
    if re.match(r"(?:javascript|vbscript|file|data):", address.strip().lower()):
        return words
    return f"[{words}]({destination(address, details.get('title', ''))})"


def quoted(value: str) -> str:
    """Quote the value of an HTML attribute."""
    return f'"{escape(value)}"'


def _image(node: Node, notation: Notation) -> str:
    data: dict[str, Any] = node["data"]
    if notation == "html" or data.get("size") or data.get("refDark"):
        return picture(data)
    return (
        f"![{escaped(data.get('alt') or '')}]({destination(format_reference(data['ref']), data.get('caption') or '')})"
    )


def picture(data: Node) -> str:
    """Write an image in HTML, with its dark-mode image if it has one."""
    attributes = {"src": format_reference(data["ref"]), "alt": data.get("alt") or ""}
    attributes |= {name: _pixels(data[name]) for name in ("width", "height") if data.get(name) is not None}
    attributes |= {name: data[key] for key, name in _IMAGE.items() if data.get(key)}
    image = f"<img{''.join(f' {name}={quoted(value)}' for name, value in attributes.items())}>"
    if not data.get("refDark"):
        return image
    dark = escape(format_reference(data["refDark"]))
    return f'<picture><source srcset="{dark}" media="(prefers-color-scheme: dark)">{image}</picture>'


def _pixels(length: Any) -> str:
    return format_length(length).removesuffix("px")


def emoji_code(name: str) -> str:
    """Return the hexadecimal code points of an emoji, given its name."""
    return "-".join(f"{ord(char):x}" for char in emoji_by_name(name))


def _emoji(node: Node, notation: Notation) -> str:
    code, name = str(node["data"]["code"]), str(markdown_details(node).get("name", ""))
    if name and emoji_code(name) == code:
        return f":{name}:"
    if not re.fullmatch(r"[0-9a-f]{2,6}(-[0-9a-f]{2,6}){0,9}", code, re.IGNORECASE):
        return _escape_text(code, notation)
    points = [int(point, 16) for point in code.split("-")]
    is_emoji = all(0x20 < point < 0xD800 or 0xE000 <= point < 0x110000 for point in points)
    return _escape_text("".join(map(chr, points)) if is_emoji else code, notation)


def _math(node: Node, notation: Notation) -> str:
    return f"$${node['data']['formula']}$$"


def _icon(node: Node, notation: Notation) -> str:
    name = escape(node["data"]["icon"])
    color: str = node["data"].get("color") or ""
    style = f' style="color:{color};"' if color and color != "default" else ""
    return f'<i class="fa-{name}"{style}>:{name}:</i>'


def _expression(node: Node, notation: Notation) -> str:
    return f'<code class="expression">{_escape_text(node["data"]["expression"], notation)}</code>'


def _mention(node: Node, notation: Notation) -> str:
    address = format_reference(node["data"]["ref"])
    words = _escape_text(
        str(markdown_details(node).get("words") or address.rstrip("/").rpartition("/")[2] or address), notation
    )
    if notation == "html":
        return f'<a href="{escape(address)}" data-mention>{words}</a>'
    return f"[{words}]({destination(address, 'mention')})"


def _button(node: Node, notation: Notation) -> str:
    data: dict[str, Any] = node["data"]
    icon = f' data-icon="{escape(data["icon"])}"' if data.get("icon") else ""
    address = escape(format_reference(data["ref"]))
    return f'<a href="{address}" class="button {data["kind"]}"{icon}>{_escape_text(data["label"], notation)}</a>'


def _escape_text(words: str, notation: Notation) -> str:
    return escape(words, quote=False) if notation == "html" else escaped(words)


def _annotation(node: Node, notation: Notation) -> str:
    label = markdown_details(node)["label"]
    words = inline_text(node["nodes"], notation)
    if notation == "html":
        return f'<a data-footnote-ref href="#user-content-fn-{label}">{words}</a>'
    return f"[{words}](#user-content-fn-{label})[^{label}]" if words else f"[^{label}]"


_WRITERS = {
    "inline-image": _image,
    "emoji": _emoji,
    "inline-math": _math,
    "icon": _icon,
    "expression": _expression,
    "mention": _mention,
    "button": _button,
    "annotation": _annotation,
}
