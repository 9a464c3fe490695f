"""Converts nodes to Markdown from which the same nodes can be read again."""

from __future__ import annotations

import re
from collections.abc import Callable
from html import escape
from typing import Any, cast

from presscheck.documents.block_tags import HINTS, OLD_NAMES, OLD_TARGET, BlockTag
from presscheck.documents.nodes.footnotes import footnotes_of, with_labels
from presscheck.documents.nodes.from_tables import html_table
from presscheck.documents.nodes.references import ReferenceMapper, format_reference, map_references
from presscheck.documents.nodes.schema import (
    LISTS,
    Node,
    Nodes,
    child_nodes,
    markdown_details,
    node_data,
    plain_text,
    text_node,
)
from presscheck.documents.nodes.tag_table import TAGS, attributes_of, format_prop, format_tag
from presscheck.documents.nodes.to_html import ALIGNED, drawing_html, images_html, preformatted
from presscheck.documents.nodes.to_inlines import heading_text, inline_text, paragraph_text
from presscheck.documents.nodes.to_tables import block_html, table_markdown
from presscheck.documents.nodes.validation import validate


def nodes_to_markdown(document: object, change: ReferenceMapper | None = None, *, path: str = "document") -> str:
    """Convert a node tree to Markdown.

    Args:
        document: the tree, not validated yet.
        change: maps its references.
        path: the name of the tree in errors.

    Raises:
        InvalidNode: the tree is invalid.
    """
    checked = with_labels(validate(document, path))
    if change:
        map_references(checked, change)
    text = blocks_markdown(checked["nodes"])
    return f"{text}\n" if text else ""


def blocks_markdown(nodes: Nodes) -> str:
    """Write blocks and the footnotes that they refer to."""
    notes = (note_markdown(label, body) for label, body in footnotes_of(nodes).items())
    return "\n\n".join(filter(None, (_blocks(nodes), *notes)))


def note_markdown(label: str, nodes: Nodes) -> str:
    """Write a footnote."""
    return f"[^{label}]: " + _indented(_blocks(nodes), 4).lstrip()


def _blocks(nodes: Nodes, gap: str = "\n\n") -> str:
    written = ""
    before, turn = "", 0
    is_within = False
    for node in nodes:
        family = _family(node)
        turn = 1 - turn if family and family == before else 0
        text = _list(node, turn) if family else _block(node)
        if text:
            part = markdown_details(node).get("part") if text.startswith("{%") else ""
            written += ("\n" if is_within or part == "end" else gap if written else "") + text
            is_within = part == "begin"
            before = family
    return written


def _family(node: Node) -> str:
    """Return the family of a list. Adjacent lists of the same family need different markers."""
    return "" if markdown_details(node).get("html") else _FAMILIES.get(node["type"], "")


_FAMILIES = {"list-ordered": "ordered", "list-unordered": "bullet", "list-tasks": "bullet"}


def _block(node: Node) -> str:
    write = _WRITERS.get(node["type"])
    return write(node) if write else _tag(node)


def _tag(node: Node) -> str:
    """Write a block tag, including attributes that the data of its node lacks."""
    kind, details = node["type"], markdown_details(node)
    tag = TAGS[kind]
    values = attributes_of(tag, node_data(node))
    values |= _odd_choices(tag, values, details)
    known = {name.lower() for name in values}
    values |= {name: text for name, text in details.get("values", {}).items() if name not in known}
    name = _written_name(node, tag.name)
    if name == "page-ref" and "url" in values:
        values = {OLD_TARGET: values.pop("url"), **values}
    return format_tag(name, values, _blocks(node["nodes"]) if tag.content == "blocks" else details.get("inside"))


def _odd_choices(tag: BlockTag, values: dict[str, str], details: Node) -> dict[str, str]:
    """Return the invalid choices that the Markdown had. The node has the defaults of these attributes instead."""
    written: dict[str, str] = details.get("values", {})
    return {
        attribute.name: written[attribute.name]
        for attribute in tag.attributes
        if attribute.default
        and attribute.default == values.get(attribute.name)
        and written.get(attribute.name, attribute.default) not in attribute.choices
    }


def _written_name(node: Node, name: str) -> str:
    """Return the name that a tag has in Markdown: its current or its old name."""
    old = str(markdown_details(node).get("name"))
    return old if OLD_NAMES.get(old) == name else name


def _paragraph(node: Node) -> str:
    nodes: Nodes = node["nodes"]
    if len(nodes) == 1 and nodes[0].get("markdown") is True:
        return plain_text(nodes)
    align = ALIGNED.get(node_data(node).get("align", ""))
    return f'<p align="{align}">{inline_text(nodes, "html")}</p>' if align and nodes else paragraph_text(nodes)


def _heading(node: Node) -> str:
    data = node_data(node)
    level = min(max(data.get("level") or int(node["type"][-1]) + 1, 1), 6)
    name = escape(data.get("id") or "")
    anchor = f'<a href="#{name}" id="{name}"></a>' if name else ""
    if align := ALIGNED.get(data.get("align", "")):
        return f'<h{level} align="{align}">{inline_text(node["nodes"], "html")}{anchor}</h{level}>'
    return " ".join(filter(None, ("#" * level, heading_text(node["nodes"]), anchor)))


def _list(node: Node, turn: int) -> str:
    items: Nodes = node["nodes"]
    is_tight = all(_is_tight(item) for item in items)
    is_ordered = node["type"] == "list-ordered"
    number = _start(node)
    written: list[str] = []
    for place, item in enumerate(items):
        mark = f"{number + place}{').'[1 - turn]}" if is_ordered else "-*"[turn]
        written.append(_item(mark, item, node["type"] == "list-tasks", is_tight))
    return ("\n" if is_tight else "\n\n").join(written)


def _start(node: Node) -> int:
    start = node_data(node).get("start")
    return 1 if start is None else int(start)


def _is_tight(item: Node) -> bool:
    return all(map(_family, item["nodes"][1:])) and all(
        node["type"] != "list-ordered" or _start(node) == 1 for node in item["nodes"][1:]
    )


def _item(mark: str, item: Node, is_task: bool, is_tight: bool) -> str:
    nodes: Nodes = item["nodes"]
    checked = node_data(item).get("checked")
    body = _within_item(nodes, is_tight)
    if is_task or checked is not None:
        box = f"[{'x' if checked else ' '}] "
        # a tag must begin a line: after the box it would be text
        is_text = nodes and nodes[0]["type"] in ("paragraph", "images") and not body.startswith(("{%", "<"))
        body = box + body if is_text else f"{box}\n{body}".rstrip("\n")
    return f"{mark} {_indented(body, len(mark) + 1).lstrip(' ')}".rstrip(" ")


def _within_item(nodes: Nodes, is_tight: bool) -> str:
    text = _blocks(nodes, "\n" if is_tight else "\n\n")
    return "___" + text[3:] if nodes and nodes[0]["type"] == "divider" else text


def _indented(text: str, columns: int) -> str:
    return "\n".join(" " * columns + line if line else line for line in text.split("\n"))


def _divider(node: Node) -> str:
    return "---"


def _quote(node: Node) -> str:
    return _quoted(_blocks(node["nodes"]))


def _quoted(text: str) -> str:
    return "\n".join(f"> {line}".rstrip(" ") if not line else f"> {line}" for line in text.split("\n"))


def _hint(node: Node) -> str:
    alert = str(markdown_details(node).get("alert", ""))
    hint = HINTS.get(alert.lower())
    if hint is None or hint.node_style != node_data(node)["style"] or node_data(node).get("icon"):
        return _tag(node)
    return _quoted("\n".join(filter(None, (f"[!{alert}]", _blocks(node["nodes"])))))


def _code(node: Node) -> str:
    data, details = node_data(node), markdown_details(node)
    if any(node_data(line).get("highlighted") or _has_inlines(line) for line in node["nodes"]):
        return preformatted(node)
    lines = [plain_text(line["nodes"]) for line in node["nodes"]]
    longest = max((len(run) for run in re.findall(r"`{3,}", "\n".join(lines))), default=2)
    fence = "`" * (longest + 1)
    head = fence + " ".join(filter(None, (str(data.get("syntax") or ""), str(details.get("info") or ""))))
    body = "\n".join([head, *lines, fence])
    values = attributes_of(TAGS["code"], data) | details.get("values", {})
    return format_tag("code", values, body) if values or details.get("tag") else body


def _has_inlines(line: Node) -> bool:
    return any(node["object"] != "text" for node in line["nodes"])


def _math(node: Node) -> str:
    formula = "\n".join(line for line in node_data(node)["formula"].strip("\n").split("\n") if line.strip())
    return f"$$\n{formula}\n$$"


def _images(node: Node) -> str:
    return images_html(node) if (line := _in_line(node)) is None else line


def _in_line(node: Node) -> str | None:
    """Write an image in Markdown syntax, or return None if the syntax cannot express the whole image."""
    image: Node = node["nodes"][0] if node["nodes"] else {}
    captions = [block for fragment in image.get("fragments") or () for block in fragment["nodes"]]
    words = child_nodes(captions[0]) if len(captions) == 1 else []
    is_plain = len(words) <= 1 and all(word["object"] == "text" and not _is_marked(word) for word in words)
    if not markdown_details(node).get("inline") or node_data(node) or len(node["nodes"]) != 1 or len(captions) > 1:
        return None
    data = node_data(image)
    if not is_plain or set(data) - {"ref", "alt"}:
        return None
    caption = {"caption": plain_text(words)} if words else {}
    return inline_text([{"object": "inline", "type": "inline-image", "data": data | caption}])


def _is_marked(text: Node) -> bool:
    return bool(text.get("markdown")) or any(leaf.get("marks") for leaf in text["leaves"])


def _content_ref(node: Node) -> str:
    if "inside" in markdown_details(node) or _written_name(node, "content-ref") != "content-ref":
        return _tag(node)
    address = format_reference(node_data(node)["ref"])
    words = address if "://" in address else address.rstrip("/").rpartition("/")[2] or address
    link: Node = {"object": "inline", "type": "link", "data": node_data(node), "nodes": [text_node(words)]}
    return _tag(node | {"markdown": markdown_details(node) | {"inside": inline_text([link])}})


def _integration(node: Node) -> str:
    data = node_data(node)
    values = {"url": data["url"]} if data.get("url") else {}
    values |= {"fullWidth": str(data["fullWidth"]).lower()} if data.get("fullWidth") is not None else {}
    values |= {name: format_prop(value) for name, value in data["props"].items()}
    return format_tag(f"@{data['integration']}/{data['block']}", values)


def _include(node: Node) -> str:
    ref = node_data(node)["ref"]
    is_place = re.search(r"[./]", str(ref.get("reusableContent", "")))
    return f'{{% include "{ref["reusableContent"] if is_place else format_reference(ref)}" %}}'


def _expandable(node: Node) -> str:
    fragments = {fragment.get("type") or fragment.get("fragment"): fragment for fragment in node.get("fragments") or ()}
    title = [
        node for block in fragments.get("expandable-title", {}).get("nodes", ()) for node in block.get("nodes", ())
    ]
    body = _blocks(fragments.get("expandable-body", {}).get("nodes", []))
    opened = "<details open>" if node_data(node).get("defaultExpanded") else "<details>"
    summary = f"<summary>{inline_text(title, 'html')}</summary>" if "expandable-title" in fragments else ""
    return "\n\n".join(filter(None, (opened, summary, body, "</details>")))


def _if(node: Node) -> str:
    lines = (f"{{% if {node_data(node)['expression']} %}}", _blocks(node["nodes"]), "{% endif %}")
    return "\n".join(filter(None, lines))


def _table(node: Node) -> str:
    """Write a table. If its node has not changed since it was read, return the original source."""
    source = markdown_details(node).get("source", "")
    written = html_table(source) if source else None
    return source if written and _without_keys(node) == _without_keys(written) else table_markdown(node)


def _without_keys(value: Any) -> Any:
    if isinstance(value, list):
        return [_without_keys(item) for item in cast("list[Any]", value)]
    if isinstance(value, dict):
        node = cast("Node", value)
        return {name: _without_keys(item) for name, item in node.items() if name != "key"}
    return value


_WRITERS: dict[str, Callable[[Node], str]] = {
    "paragraph": _paragraph,
    **dict.fromkeys(("heading-1", "heading-2", "heading-3"), _heading),
    "divider": _divider,
    "blockquote": _quote,
    "hint": _hint,
    "code": _code,
    "math": _math,
    "images": _images,
    "drawing": drawing_html,
    "content-ref": _content_ref,
    "reusable-content": _include,
    "expandable": _expandable,
    "if": _if,
    "table": _table,
    **dict.fromkeys(LISTS, block_html),
    "integration": _integration,
}
"""The writers of blocks that are more than a tag with attributes."""
