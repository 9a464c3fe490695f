"""Reads inline text as nodes, from Markdown tokens and from HTML.

Source without a matching node becomes a text node with `markdown: true`, whose text is Markdown or HTML.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from typing import TYPE_CHECKING

from presscheck.documents.nodes.inline_events import Event, annotation, html_as_events, token_events
from presscheck.documents.nodes.references import parse_reference
from presscheck.documents.nodes.schema import COLORS, Node, Nodes, inline_node, merge_texts, text_node
from presscheck.documents.nodes.tag_table import parse_length
from presscheck.documents.nodes.to_inlines import inline_text

if TYPE_CHECKING:
    from markdown_it.token import Token

_MARKS = {
    "strong": "bold",
    "b": "bold",
    "em": "italic",
    "i": "italic",
    "s": "strikethrough",
    "del": "strikethrough",
    "strike": "strikethrough",
    "code": "code",
    "kbd": "keyboard",
    "sub": "subscript",
    "sup": "superscript",
}
_note = re.compile(r"#user-content-fn-(.+)").fullmatch


def inlines_of_tokens(tokens: Sequence[Token]) -> Nodes:
    """Read Markdown tokens as inline nodes; annotations have a label, but no body yet."""
    return InlineReader(list(token_events(tokens))).nodes()


def inlines_of_html(text: str, *, keeps_blanks: bool = False) -> Nodes:
    """Read HTML as inline nodes."""
    return InlineReader(list(html_as_events(text, keeps_blanks=keeps_blanks))).nodes()


def paragraphs_of(events: Sequence[Event]) -> list[Nodes] | None:
    """Read HTML paragraphs. Return None if a paragraph has attributes."""
    groups: list[list[Event]] = [[]]
    for event in events:
        if event.name == "p":
            if event.values:
                return None
            groups.append([])
        else:
            groups[-1].append(event)
    return [InlineReader(group).nodes() for group in groups if any(item.raw.strip() for item in group)]


class InlineReader:
    """Reads inline events as nodes."""

    def __init__(self, events: Sequence[Event]) -> None:
        self._events = events
        self._pairs = event_pairs(events)

    def nodes(self) -> Nodes:
        """Return all nodes."""
        return self._between(0, len(self._events), ())

    def _between(self, start: int, end: int, marks: tuple[Node, ...]) -> Nodes:
        nodes: Nodes = []
        at = start
        while at < end:
            closing = self._pairs.get(at)
            if closing is None:
                nodes += self._event_nodes(self._events[at], marks)
                at += 1
            else:
                made = self._pair(at, closing, marks)
                if made and made[-1].get("type") == "link" and self._is_footnote(made[-1], closing + 1, end):
                    label = made[-1]["data"]["ref"]["anchor"].removeprefix("user-content-fn-")
                    made, closing = [annotation(label, _only_text(made[-1]["nodes"]))], closing + 1
                nodes += made
                at = closing + 1
        return merge_texts(nodes)

    def _is_footnote(self, link: Node, at: int, end: int) -> bool:
        """Return whether a link is followed by the annotation of the same footnote. Both then become one annotation."""
        ref = link["data"]["ref"]
        after = self._events[at].node if at < end else None
        if ref["kind"] != "anchor" or not after or after.get("type") != "annotation" or "markdown" in link:
            return False
        return ref["anchor"] == f"user-content-fn-{after['markdown']['label']}"

    def _event_nodes(self, event: Event, marks: tuple[Node, ...]) -> Nodes:
        if event.kind == "text":
            return [text_node(event.raw, marks)] if event.raw else []
        if event.kind == "code":
            return [text_node(event.raw, (*marks, {"object": "mark", "type": "code"}))]
        if event.kind == "node" and event.node is not None:
            return [event.node]
        if event.kind == "open" and event.name == "br" and not event.values:
            return [text_node("\n", marks)]
        if event.kind == "open" and event.name == "img" and (image := html_image(event.values)):
            return [image]
        return [text_node(event.raw, marks, is_markdown=True)] if event.raw else []

    def _pair(self, at: int, closing: int, marks: tuple[Node, ...]) -> Nodes:
        event = self._events[at]
        within = self._events[at + 1 : closing] if closing <= at + MAX_NAMED_EVENTS else ()
        made = _icon_or_image(event, within)
        if made:
            return [made]
        mark = _mark_of(event)
        if mark:
            return self._between(at + 1, closing, marks if mark in marks else (*marks, mark))
        inner = self._between(at + 1, closing, marks)
        if event.name == "a" and "href" in event.values and set(event.values) <= _LINK_VALUES[bool(event.raw)]:
            return [_link(event.values, inner)]
        opened, closed = (text_node(tag.raw, marks, is_markdown=True) for tag in (event, self._events[closing]))
        return [opened, *inner, closed]


_LINK_VALUES = (frozenset(("href", "title", "id", "bare")), frozenset(("href", "title", "id")))
"""The attributes of links in Markdown and in HTML; `bare` marks a URL without brackets."""
_VOID = frozenset(("br", "img", "source"))


def event_pairs(events: Sequence[Event]) -> dict[int, int]:
    """Return the index of the closing event by the index of its opening event.

    Pairs do not overlap: tags that are still open inside of a pair remain without an end.
    """
    pairs: dict[int, int] = {}
    stack: list[int] = []
    opened: Counter[tuple[str, bool]] = Counter()
    for number, event in enumerate(events):
        sign = event.name, bool(event.raw)
        if event.kind == "open" and event.name not in _VOID:
            stack.append(number)
            opened[sign] += 1
        elif event.kind == "close" and opened[sign] and (at := _innermost(events, stack, sign)) is not None:
            pairs[stack[at]] = number
            for item in stack[at:]:
                opened[events[item].name, bool(events[item].raw)] -= 1
            del stack[at:]
    return pairs


def _innermost(events: Sequence[Event], stack: Sequence[int], sign: tuple[str, bool]) -> int | None:
    for at in range(len(stack) - 1, -1, -1):
        event = events[stack[at]]
        if (event.name, bool(event.raw)) == sign:
            return at
        if not event.raw:  # marks of Markdown never overlap
            return None
    return None


def _mark_of(event: Event) -> Node | None:
    if event.name == "mark" and set(event.values) == {"style"}:
        return _color(event.values["style"])
    if event.values or event.name not in _MARKS:
        return None
    return {"object": "mark", "type": _MARKS[event.name]}


def _color(style: str) -> Node | None:
    styles = dict(re.findall(r"(?<![\w-])([\w-]++)\s*+:\s*+([^;\s]++)", style))
    if not set(styles) <= {"color", "background-color"} or not set(styles.values()) <= COLORS:
        return None
    data = {"text": styles.get("color", "default"), "background": styles.get("background-color", "default")}
    return {"object": "mark", "type": "color", "data": data}


MAX_NAMED_EVENTS = 4
"""Maximum number of events inside an inline node whose content is only a text or an image, such as an icon."""


def _icon_or_image(event: Event, within: Sequence[Event]) -> Node | None:
    """Read a tag whose content is only a text or an image: an icon, expression, mention, footnote, button or image.

    Return None for any other tag.
    """
    values = event.values
    if event.name == "picture" and not values:
        data = dark_image(within)
        image = html_image(within[1].values) if data else None
        return image | {"data": image["data"] | data} if image and data else None
    words = within[0].raw if len(within) == 1 and within[0].kind == "text" else ""
    if event.name == "i" and set(values) <= {"class", "style"} and values.get("class", "").startswith("fa-"):
        color = _color(values.get("style", ""))
        more = {"color": color["data"]["text"]} if color and "style" in values else {}
        return inline_node("icon", {"icon": values["class"][3:], **more}) if color and len(within) <= 1 else None
    if not words:
        return None
    if event.name == "code" and values == {"class": "expression"}:
        return inline_node("expression", {"expression": words})
    if event.name == "a" and (set(values) == {"href", "data-mention"} or values.get("title") == "mention"):
        return inline_node("mention", {"ref": parse_reference(values["href"])}, markdown={"words": words})
    if event.name == "a" and set(values) == {"data-footnote-ref", "href"} and (label := _note(values["href"])):
        return annotation(label[1], [text_node(words)])
    return _button(values, words) if event.name == "a" else None


def _button(values: dict[str, str], words: str) -> Node | None:
    kind = values.get("class", "").removeprefix("button ")
    if kind not in ("primary", "secondary") or not {"href", "class"} <= set(values) <= {"href", "class", "data-icon"}:
        return None
    icon = {"icon": values["data-icon"]} if "data-icon" in values else {}
    return inline_node("button", {"label": words, "kind": kind, "ref": parse_reference(values["href"]), **icon})


def _link(values: dict[str, str], inner: Nodes) -> Node:
    details = {name: values[name] for name in ("title", "id", "bare") if values.get(name)}
    nodes = [node if _in_links(node) else text_node(inline_text([node]), is_markdown=True) for node in inner]
    more: Node = {"markdown": details} if details else {}
    data = {"ref": parse_reference(values["href"])}
    return {"object": "inline", "type": "link", "data": data, "nodes": merge_texts(nodes), "isVoid": False, **more}


def _in_links(node: Node) -> bool:
    return node["object"] == "text" or node["type"] == "inline-image"


def _only_text(nodes: Nodes) -> Nodes:
    return [node if node["object"] == "text" else text_node(inline_text([node]), is_markdown=True) for node in nodes]


def image_data(values: dict[str, str], names: Sequence[str]) -> Node | None:
    """Return the data of an image from its attributes.

    Return None if the source is missing, a value is invalid, or an attribute is neither `src` nor in `names`.
    """
    if not values.get("src") or not set(values) <= {"src", *names}:
        return None
    data: Node = {"ref": parse_reference(values["src"])}
    data |= {key: values[name] for name, key in (("alt", "alt"), ("title", "caption")) if values.get(name)}
    data |= {name: parse_length(values[name]) for name in ("width", "height") if name in values}
    if values.get("data-size"):
        data["size"] = values["data-size"] if values["data-size"] in ("original", "line") else None
    return None if None in data.values() else data


def html_image(values: dict[str, str]) -> Node | None:
    """Read an HTML image; return None if a node cannot represent the image."""
    data = image_data(values, ("alt", "title", "data-size"))
    return inline_node("inline-image", data) if data else None


def dark_image(events: Sequence[Event]) -> Node | None:
    """Return the data for the dark-mode image of a `picture` element, or None."""
    images = [event for event in events if event.name != "picture"]
    values = images[0].values if [event.name for event in images] == ["source", "img"] else {}
    if set(values) != {"srcset", "media"} or values["media"] != "(prefers-color-scheme: dark)":
        return None
    return {"refDark": parse_reference(values["srcset"])}
