"""Writes blocks without Markdown syntax as the platform's HTML: figures, drawings, highlighted code."""

from __future__ import annotations

from html import escape

from presscheck.documents.nodes.references import format_file
from presscheck.documents.nodes.schema import Node, Nodes, markdown_details, node_data
from presscheck.documents.nodes.to_inlines import inline_text, picture

ALIGNED = {"center": "center", "end": "right"}
"""Alignments of text and their HTML names; the default is omitted."""
CODE_VALUES = {"title": "data-title", "overflow": "data-overflow", "collapsedLineCount": "data-collapsed-line-count"}
"""Data of code blocks that become attributes of `pre`."""
CODE_FLAGS = {"lineNumbers": "data-line-numbers", "fullWidth": "data-full-width", "expandable": "data-expandable"}
"""Boolean data of code blocks that become attributes of `pre`."""
IMAGE_FLAGS = {"withFrame": "data-with-frame", "fullWidth": "data-full-width"}
"""Data of images that become attributes of the `div` around them."""


def images_html(node: Node) -> str:
    """Write images as figures, inside a `div` if there are several or they have display attributes."""
    data = node_data(node)
    is_bare = bool(markdown_details(node).get("html")) and not any(image.get("fragments") for image in node["nodes"])
    if is_bare:
        figures = "\n".join(picture(node_data(image)) for image in node["nodes"])
    else:
        figures = "".join(_figure(image) for image in node["nodes"])
    values = f' align="{escape(data["align"])}"' if data.get("align") else ""
    values += "".join(
        f' {name}="{str(data[key]).lower()}"' for key, name in IMAGE_FLAGS.items() if data.get(key) is not None
    )
    return f"<div{values}>{figures}</div>" if values or (len(node["nodes"]) != 1 and not is_bare) else figures


def _figure(image: Node) -> str:
    captions: Nodes = [node for fragment in image.get("fragments") or () for node in fragment["nodes"]]
    caption = "".join(f"<p>{inline_text(node['nodes'], 'html')}</p>" for node in captions if node.get("nodes"))
    return f"<figure>{picture(node_data(image))}<figcaption>{caption}</figcaption></figure>"


def drawing_html(node: Node) -> str:
    """Write a drawing."""
    ref = node_data(node).get("ref")
    source = f' src="{escape(format_file(ref))}"' if ref else ""
    return f'<img alt="" class="gitbook-drawing"{source}>'


def preformatted(node: Node) -> str:
    """Write code with highlighted lines or inline nodes."""
    data, details = node_data(node), markdown_details(node)
    syntax = escape(data.get("syntax") or "")
    values = f' class="language-{syntax}"' if syntax else ""
    values += f' data-info="{escape(details["info"])}"' if details.get("info") else ""
    values += "".join(
        f' {name}="{escape(str(data[key]))}"' for key, name in CODE_VALUES.items() if data.get(key) is not None
    )
    values += "".join(
        f' {name}="{str(data[key]).lower()}"' for key, name in CODE_FLAGS.items() if data.get(key) is not None
    )
    lines = "".join(_code_line(line) for line in node["nodes"])
    return f"<pre{values}><code>{lines}</code></pre>"


def _code_line(line: Node) -> str:
    words = "".join(_coded(node) for node in line["nodes"])
    return f"<strong>{words}\n</strong>" if node_data(line).get("highlighted") else f"{words}\n"


def _coded(node: Node) -> str:
    if node["object"] != "text":
        return inline_text([node], "html")
    return escape("".join(leaf["text"] for leaf in node["leaves"]), quote=False)
