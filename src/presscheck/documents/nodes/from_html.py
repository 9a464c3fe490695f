"""Reads HTML blocks as nodes: figures, drawings, highlighted code, aligned text, tables.

Functions return None for HTML that has no matching node.
"""

from __future__ import annotations

import re

from presscheck.documents.markdown.inline_runs import html_attributes
from presscheck.documents.nodes.from_cells import cell_blocks
from presscheck.documents.nodes.from_inlines import dark_image, image_data, inlines_of_html, paragraphs_of
from presscheck.documents.nodes.from_tables import html_table
from presscheck.documents.nodes.inline_events import html_as_events
from presscheck.documents.nodes.references import parse_file
from presscheck.documents.nodes.schema import LISTS, Node, Nodes, block_node, fragment, markdown_details, text_node
from presscheck.documents.nodes.tag_table import positive_int
from presscheck.documents.nodes.to_html import ALIGNED, CODE_FLAGS, CODE_VALUES, IMAGE_FLAGS

_figure = re.compile(
    r"(?:(?<!\s)\s++)?<figure>([^<]*+(?:<(?!/?fig)[^<]*+)*)"
    r"(?:<figcaption>([^<]*+(?:<(?!/?fig)[^<]*+)*)</figcaption>\s*+)?</figure>\s*+",
    re.DOTALL,
)
_drawing = re.compile(r"\s*<img\s[^<>]*gitbook-drawing[^<>]*>\s*", re.DOTALL).fullmatch
_bare_image = re.compile(
    r"(?:<img\s[^<>]*+>|<picture>[^<]*+(?:<(?!/?picture)[^<]*+)*</picture>)\s*+", re.DOTALL | re.IGNORECASE
)
_html_list = re.compile(r"\s*<[uo]l[\s>]", re.IGNORECASE).match
_aligned = re.compile(r'\s*<(p|h[1-6]) align="(center|right)">(.*)</\1>\s*', re.DOTALL).fullmatch
_pre = re.compile(r"\s*<pre([^<>]*)>\s*<code(?: class=\"[^<>\"]*\")?>(.*)</code></pre>\s*", re.DOTALL).fullmatch
_BARE = {"html": True}
"""The details of lists that are written in HTML, and of images that are written without a figure."""
_FLAGS = {"true": True, "false": False, "": True}


def html_block(text: str) -> Node | None:
    """Read an HTML block as a node. Return None if no node can represent the block."""
    if "<!--" in text:
        return None
    if _drawing(text):
        return _read_drawing(text)
    if figures := _figure.findall(text):
        images = [image for picture, caption in figures if (image := _image(picture, caption))]
        return block_node("images", images) if len(images) == len(figures) and not _figure.sub("", text) else None
    if (pictures := _bare_image.findall(text)) and not _bare_image.sub("", text).strip():
        bare = [image for picture in pictures if (image := _image(picture, ""))]
        return block_node("images", bare, markdown=_BARE) if len(bare) == len(pictures) else None
    if aligned := _aligned(text):
        return _aligned_words(*aligned.groups())
    if code := _pre(text):
        return _preformatted(html_attributes(code[1]), code[2])
    if _html_list(text):
        blocks = cell_blocks(list(html_as_events(text)))
        is_list = len(blocks) == 1 and blocks[0]["type"] in LISTS
        return blocks[0] | {"markdown": _BARE} if is_list else None
    return html_table(text) if text.lstrip().lower().startswith("<table") else None


def framed(values: dict[str, str], nodes: Nodes) -> Node | None:
    """Return the images in a `div` with display attributes as one node.

    Return None if the `div` has other content, or an attribute is unknown.
    """
    if not nodes or any(node["type"] != "images" or node["data"] for node in nodes):
        return None
    details = markdown_details(nodes[0])
    if details not in ({}, _BARE) or any(markdown_details(node) != details for node in nodes):
        return None
    data: Node = {}
    flags = {name: key for key, name in IMAGE_FLAGS.items()}
    for name, value in values.items():
        if name == "align" and value in ("left", "center", "right"):
            data["align"] = value
        elif name in flags and value in ("true", "false"):
            data[flags[name]] = value == "true"
        else:
            return None
    images = [image for node in nodes for image in node["nodes"]]
    if not data and (details or len(images) == 1):
        return None
    return block_node("images", images, data, **({"markdown": details} if details else {}))


def heading_node(level: int, nodes: Nodes, data: Node) -> Node:
    """Create a heading. `##` is heading-1, because the first level is the page title.

    The level is in the data if there is no node type for it.
    """
    number = min(max(level - 1, 1), 3)
    return block_node(f"heading-{number}", nodes, data if number == level - 1 else data | {"level": level})


def read_image(node: Node) -> Node | None:
    """Read an inline image as a block. Return None for other nodes, and for an image with a size."""
    if node.get("type") != "inline-image" or node["data"].get("size"):
        return None
    data = dict(node["data"])
    caption = data.pop("caption", "")
    image = _with_caption(data, [block_node("paragraph", [text_node(caption)])] if caption else [])
    return block_node("images", [image], markdown={"inline": True})


def _with_caption(data: Node, caption: Nodes) -> Node:
    return block_node("image", None, data, fragments=[fragment("caption", caption)] if caption else [])


def _image(picture: str, caption: str) -> Node | None:
    events = [event for event in html_as_events(picture) if event.kind != "text" or event.raw.strip()]
    dark = dark_image(events)
    events = [event for event in events if event.name == "img"] if dark else events
    data = (
        image_data(events[0].values, ("alt", "width", "height"))
        if [event.name for event in events] == ["img"]
        else None
    )
    paragraphs = paragraphs_of(list(html_as_events(caption)))
    if data is None or paragraphs is None:
        return None
    return _with_caption(data | (dark or {}), [block_node("paragraph", nodes) for nodes in paragraphs if nodes])


def _read_drawing(text: str) -> Node | None:
    values = next(iter(html_as_events(text.strip()))).values
    if values.get("class") != "gitbook-drawing" or not set(values) <= {"class", "src", "alt"} or values.get("alt"):
        return None
    return block_node("drawing", None, {"ref": parse_file(values["src"])} if values.get("src") else {})


def _aligned_words(name: str, align: str, words: str) -> Node:
    data = {"align": next(key for key, word in ALIGNED.items() if word == align)}
    nodes = inlines_of_html(words)
    return block_node("paragraph", nodes, data) if name == "p" else heading_node(int(name[1]), nodes, data)


def _preformatted(values: dict[str, str], text: str) -> Node | None:
    data: Node = {}
    markdown: Node = {}
    texts, flags = ({name: key for key, name in names.items()} for names in (CODE_VALUES, CODE_FLAGS))
    for name, value in values.items():
        if name == "class" and value.startswith("language-"):
            data["syntax"] = value.removeprefix("language-")
        elif name == "data-info":
            markdown["markdown"] = {"info": value}
        elif name in flags and value in _FLAGS:
            data[flags[name]] = _FLAGS[value]
        elif name in texts:
            data[texts[name]] = positive_int(value) if texts[name] == "collapsedLineCount" else value
        else:
            return None
    lines = _code_lines(text)
    if lines is None or data.get("overflow") not in (None, "wrap", "scroll") or None in data.values():
        return None
    return block_node("code", lines, data, **markdown)


def _code_lines(text: str) -> Nodes | None:
    """Read lines of code, highlighted where bold; return None if the lines contain other HTML."""
    lines: list[Nodes] = [[]]
    marked: set[int] = set()
    for node in inlines_of_html(text, keeps_blanks=True):
        if node["object"] != "text":
            if node["type"] not in ("annotation", "expression"):
                return None
            lines[-1].append(node)
            continue
        for leaf in node["leaves"]:
            kinds = [mark["type"] for mark in leaf["marks"]]
            if "markdown" in node or kinds not in ([], ["bold"]):
                return None
            parts = leaf["text"].split("\n")
            marked |= (
                {len(lines) - 1 + number for number, _ in enumerate(parts if parts[-1] else parts[:-1])}
                if kinds
                else set()
            )
            lines[-1] += [text_node(parts[0])] if parts[0] else []
            lines += [[text_node(part)] if part else [] for part in parts[1:]]
    if not lines[-1]:
        lines.pop()
    return [
        block_node("code-line", nodes or [text_node("")], {"highlighted": True} if number in marked else {})
        for number, nodes in enumerate(lines)
    ]
