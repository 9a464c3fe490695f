"""Blocks that Markdown has no signs for, as the HTML that the platform writes: figures, drawings, marked code."""

from __future__ import annotations

from html import escape

from presscheck.documents.nodes.references import format_file
from presscheck.documents.nodes.schema import Node, Nodes, markdown_details, node_data
from presscheck.documents.nodes.to_inlines import inline_text, picture

ALIGNED = {"center": "center", "end": "right"}
"""How words are aligned, and what HTML calls it; those that are not begin where words begin."""
CODE_VALUES = {"title": "data-title", "overflow": "data-overflow", "collapsedLineCount": "data-collapsed-line-count"}
"""What a block of code says in an attribute of `pre`."""
CODE_FLAGS = {"lineNumbers": "data-line-numbers", "fullWidth": "data-full-width", "expandable": "data-expandable"}
"""The same where it is true or false."""
IMAGE_FLAGS = {"withFrame": "data-with-frame", "fullWidth": "data-full-width"}
"""What images say in an attribute of the `div` around them."""


def images_html(node: Node) -> str:
    """Images: each a figure, within a `div` where they are several, or say how they are shown."""
    figures = "".join(_figure(image) for image in node["nodes"])
    data = node_data(node)
    values = f' align="{escape(data["align"])}"' if data.get("align") else ""
    values += "".join(
        f' {name}="{str(data[key]).lower()}"' for key, name in IMAGE_FLAGS.items() if data.get(key) is not None
    )
    return f"<div{values}>{figures}</div>" if values or len(node["nodes"]) != 1 else figures


def _figure(image: Node) -> str:
    captions: Nodes = [node for fragment in image.get("fragments") or () for node in fragment["nodes"]]
    caption = "".join(f"<p>{inline_text(node['nodes'], 'html')}</p>" for node in captions if node.get("nodes"))
    return f"<figure>{picture(node_data(image))}<figcaption>{caption}</figcaption></figure>"


def drawing_html(node: Node) -> str:
    """A drawing."""
    ref = node_data(node).get("ref")
    source = f' src="{escape(format_file(ref))}"' if ref else ""
    return f'<img alt="" class="gitbook-drawing"{source}>'


def preformatted(node: Node) -> str:
    """Code with lines that are marked, or with more than words in it."""
    data, said = node_data(node), markdown_details(node)
    syntax = escape(data.get("syntax") or "")
    values = f' class="language-{syntax}"' if syntax else ""
    values += f' data-info="{escape(said["info"])}"' if said.get("info") else ""
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
