"""Converts Markdown to the platform's node tree (`JSONDocument` in the API).

Nothing is lost: Markdown without a matching node becomes a paragraph or a text with `markdown: true`, and an object
under `markdown` has details of the source that the node lacks. The key of a node is a hash of its content, and of its
position among equal nodes, so that an edit elsewhere does not change it.
"""

from __future__ import annotations

import copy
import hashlib
import json
import re
from collections import Counter
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, TypeAlias

from presscheck.documents.block_tags import ALERT, HINTS
from presscheck.documents.markdown.parser import outermost, parse, take_task
from presscheck.documents.nodes.footnotes import annotations_in
from presscheck.documents.nodes.from_html import heading_node, html_block, read_image
from presscheck.documents.nodes.from_inlines import inlines_of_tokens
from presscheck.documents.nodes.from_tables import pipe_table
from presscheck.documents.nodes.from_tags import TagBlock, fit_children, tag_node
from presscheck.documents.nodes.inline_events import token_events
from presscheck.documents.nodes.references import ReferenceMapper, map_references, parse_reference
from presscheck.documents.nodes.schema import (
    Node,
    Nodes,
    block_node,
    child_nodes,
    fragment,
    markdown_paragraph,
    tag_line,
    text_node,
)
from presscheck.documents.nodes.to_markdown import blocks_markdown, note_markdown
from presscheck.documents.nodes.validation import MAX_DEPTH, PART_TYPES

if TYPE_CHECKING:
    from markdown_it.token import Token

    from presscheck.documents.markdown.parser import Environment

Tokens: TypeAlias = "Sequence[Token]"
_alert = ALERT.match
_heading_id = re.compile(r"[-a-z0-9.+_]+").fullmatch


SCHEMA_VERSION = 1
"""The value of `data.schemaVersion`."""
MAX_NOTE_COPIES = 20
"""Maximum number of copies of a footnote body: many references must not make the tree grow without limit."""
MAX_COPIED_NODES = 10_000
"""Maximum number of nodes in all repeated copies of footnote bodies."""


def markdown_to_nodes(markdown: str, change: ReferenceMapper | None = None) -> Node:
    """Convert a text to a node tree; `change` maps its references."""
    document = keyless_nodes(markdown)
    if change:
        map_references(document, change)
    add_keys(document)
    return document


def keyless_nodes(markdown: str) -> Node:
    """Convert a text to a node tree without keys, which depend on the references and must be added last."""
    text = markdown.replace("\r\n", "\n").replace("\r", "\n")
    environment: Environment = {}
    try:
        nodes = _folded(BlockReader().document(parse(text, environment)), MAX_DEPTH - len(PART_TYPES))
    except RecursionError:
        # too deeply nested to parse: keep the text as Markdown
        nodes = [markdown_paragraph(text)]
    return {"object": "document", "data": {"schemaVersion": SCHEMA_VERSION}, "nodes": nodes}


def add_keys(document: Node) -> None:
    """Add a key to each node of a document."""
    _with_keys(document, Counter())


def _folded(nodes: Nodes, room: int) -> Nodes:
    """Replace blocks below the depth limit by Markdown paragraphs."""
    folded: Nodes = []
    for node in nodes:
        if (
            room <= 0
            and node["object"] == "block"
            and node["type"] not in PART_TYPES
            and (child_nodes(node) or "fragments" in node)
        ):
            folded.append(markdown_paragraph(blocks_markdown([node])))
            continue
        folded.append(node)
        for name in ("nodes", "fragments"):
            if name in node:
                node[name] = _folded(node[name], room - 1)
    return folded


def _with_keys(node: Node, seen: Counter[str]) -> str:
    """Add keys to all nodes inside a node; return a hash of its content."""
    parts: dict[str, Any] = {name: value for name, value in node.items() if name not in ("nodes", "fragments")}
    for name in ("nodes", "fragments"):
        for number, child in enumerate(node.get(name, ())):
            child_hash = _with_keys(child, seen)
            parts[f"{name} {number}"] = child_hash
            node[name][number] = {"object": child["object"], "key": _key(child_hash, seen), **child}
    return hashlib.sha256(json.dumps(parts, sort_keys=True).encode()).hexdigest()[:24]


def _key(content_hash: str, seen: Counter[str]) -> str:
    number = seen[content_hash]
    seen[content_hash] += 1
    return hashlib.sha256(f"{content_hash} {number}".encode()).hexdigest()[:12] if number else content_hash[:12]


class BlockReader:
    """Converts the tokens of one page to blocks."""

    def __init__(self) -> None:
        self._notes: dict[str, Tokens] = {}

    def document(self, tokens: Tokens) -> Nodes:
        """Return the blocks of a page. Footnotes are in their annotations; footnotes without a reference come last."""
        self._take_notes(tokens)
        nodes = fit_children("document", self.flow(tokens))
        bodies = {label: self.flow(inner) for label, inner in self._notes.items()}
        sizes = {label: _count_nodes(body) for label, body in bodies.items()}
        uses: Counter[str] = Counter()
        copied = 0
        for node in list(annotations_in(nodes)):
            label = node["markdown"]["label"]
            uses[label] += 1
            copied += sizes.get(label, 0) if uses[label] > 1 else 0
            is_copied = uses[label] == 1 or (uses[label] <= MAX_NOTE_COPIES and copied <= MAX_COPIED_NODES)
            body = fit_children("annotation-body", bodies.get(label, [])) if is_copied else []
            body = copy.deepcopy(body) or [block_node("paragraph", [])]
            node["fragments"] = [fragment("annotation-body", body, kind="annotation-body")]
        rest = [label for label in bodies if label not in uses]
        return [*nodes, *(markdown_paragraph(note_markdown(label, bodies[label])) for label in rest)]

    def _take_notes(self, tokens: Tokens) -> None:
        for token, inner in outermost(tokens):
            if token.type == "footnote_reference_open":
                self._notes.setdefault(str(token.meta["label"]), inner)
            self._take_notes(inner)

    def flow(self, tokens: Tokens) -> Nodes:
        """Convert a sequence of blocks."""
        return [node for token, inner in outermost(tokens) for node in self.block(token, inner)]

    def block(self, token: Token, inner: Tokens) -> Nodes:
        """Convert one block."""
        make = _CONVERTERS.get(token.type)
        return make(self, token, inner) if make else []

    def words(self, token: Token) -> Nodes:
        """Convert inline text."""
        return inlines_of_tokens(token.children or [])

    def paragraph(self, token: Token, inner: Tokens) -> Nodes:
        """Convert a paragraph; a single formula or image becomes a block."""
        nodes = self.words(inner[0]) if inner else []
        if len(nodes) == 1 and nodes[0].get("type") == "inline-math":
            return [block_node("math", None, {"formula": nodes[0]["data"]["formula"].strip("\n")})]
        if len(nodes) == 1 and (image := read_image(nodes[0])):
            return [image]
        return [block_node("paragraph", nodes)]

    def heading(self, token: Token, inner: Tokens) -> Nodes:
        """Convert a heading."""
        level = int(token.tag[1])
        nodes = self.words(inner[0]) if inner else []
        nodes, anchor = _heading_anchor(nodes)
        return [heading_node(level, nodes, anchor)]

    def quote(self, token: Token, inner: Tokens) -> Nodes:
        """Convert a quotation or an alert."""
        nodes = self.flow(inner)
        first = child_nodes(nodes[0]) if nodes and nodes[0]["type"] == "paragraph" else []
        is_text = bool(first) and first[0]["object"] == "text" and "markdown" not in first[0]
        leaf: Node | None = first[0]["leaves"][0] if is_text else None
        match = _alert(leaf["text"]) if leaf and not leaf["marks"] else None
        if not leaf or not match:
            return [block_node("blockquote", fit_children("blockquote", nodes))]
        leaf["text"] = leaf["text"][match.end() :]
        if not leaf["text"]:
            first[0]["leaves"].pop(0)
        nodes[0]["nodes"] = [node for node in first if node.get("leaves") != []]
        body = nodes if nodes[0]["nodes"] else nodes[1:]
        style = HINTS[match[1].lower()].node_style
        return [block_node("hint", fit_children("hint", body), {"style": style}, markdown={"alert": match[1]})]

    def list(self, token: Token, inner: Tokens) -> Nodes:
        """Convert a list, which is a task list if all items are tasks."""
        items = [self._item(within) for _, within in outermost(inner)]
        if token.type == "ordered_list_open":
            start = int(token.attrs.get("start", 1))
            return [block_node("list-ordered", items, {"start": start} if start != 1 else {})]
        are_tasks = all("checked" in item["data"] for item in items)
        return [block_node("list-tasks" if are_tasks and items else "list-unordered", items)]

    def _item(self, inner: Tokens) -> Node:
        mark = take_task(inner)
        data = {"checked": mark != " "} if mark else {}
        return block_node("list-item", fit_children("list-item", self.flow(inner)), data)

    def code(self, token: Token, inner: Tokens) -> Nodes:
        """Convert a code block; each of its lines becomes a node."""
        return [code_node(token.content, token.info.strip())]

    def rule(self, token: Token, inner: Tokens) -> Nodes:
        """Convert a divider."""
        return [block_node("divider", None)]

    def table(self, token: Token, inner: Tokens) -> Nodes:
        """Convert a table."""
        rows = [
            [
                (list(token_events(within[0].children or [])) if within else [], str(cell.attrs.get("style", "")))
                for cell, within in outermost(row)
            ]
            for _, part in outermost(inner)
            for _, row in outermost(part)
        ]
        return [pipe_table(rows)]

    def html(self, token: Token, inner: Tokens) -> Nodes:
        """Convert HTML; tables, figures and drawings have nodes."""
        return [html_block(token.content) or markdown_paragraph(token.content.rstrip("\n"))]

    def tag(self, token: Token, inner: Tokens) -> Nodes:
        """Convert a block tag or paired HTML."""
        nodes = self.flow(inner)
        node = tag_node(TagBlock(token, nodes, token.type == "tag_open"))
        return [node] if node else _tag_lines(token, nodes)


def _count_nodes(nodes: Nodes) -> int:
    return sum(1 + _count_nodes(child_nodes(node)) + _count_nodes(child_nodes(node, "fragments")) for node in nodes)


def code_node(content: str, info: str) -> Node:
    """Create a code block; words after the language of the fence are preserved."""
    syntax, _, more = info.partition(" ")
    data: Node = {"syntax": syntax} if syntax else {}
    details: Node = {"markdown": {"info": more.strip()}} if more.strip() else {}
    lines = content.removesuffix("\n").split("\n") if content else []
    return block_node("code", [block_node("code-line", [text_node(line)]) for line in lines], data, **details)


def _tag_lines(token: Token, nodes: Nodes) -> Nodes:
    """Return a tag without a node as Markdown, around the blocks inside it."""
    if token.type == "tag":
        return [markdown_paragraph(token.content)]
    name = token.meta.get("old=", token.meta["name"])
    is_html = not token.content.startswith("{")
    summary = f"\n\n<summary>{token.meta['summary']}</summary>" if "summary" in token.meta else ""
    opening, closing = token.content + summary, f"</{name}>" if is_html else f"{{% end{name} %}}"
    if not nodes:
        return [markdown_paragraph(f"{opening}\n\n{closing}" if is_html else f"{opening}\n{closing}")]
    return [tag_line(opening, "begin"), *fit_children("document", nodes), tag_line(closing, "end")]


def _heading_anchor(nodes: Nodes) -> tuple[Nodes, Node]:
    """Return the content of a heading without the anchor at its end, and the id of the anchor as data of the node."""
    last = nodes[-1] if nodes else {}
    if last.get("type") != "link" or last["nodes"] or last.get("markdown", {}).keys() != {"id"}:
        return nodes, {}
    name = last["markdown"]["id"]
    if last["data"]["ref"] != parse_reference(f"#{name}") or not _heading_id(name):
        return nodes, {}
    remaining = nodes[:-1]
    if remaining and remaining[-1]["object"] == "text" and "markdown" not in remaining[-1]:
        leaf = remaining[-1]["leaves"][-1]
        leaf["text"] = leaf["text"].rstrip(" ")
        if not leaf["text"]:
            remaining[-1]["leaves"].pop()
    return [node for node in remaining if node.get("leaves") != []], {"id": name}


_CONVERTERS: dict[str, Callable[[BlockReader, Token, Tokens], Nodes]] = {
    "paragraph_open": BlockReader.paragraph,
    "heading_open": BlockReader.heading,
    "bullet_list_open": BlockReader.list,
    "ordered_list_open": BlockReader.list,
    "blockquote_open": BlockReader.quote,
    "fence": BlockReader.code,
    "code_block": BlockReader.code,
    "hr": BlockReader.rule,
    "table_open": BlockReader.table,
    "html_block": BlockReader.html,
    "tag_open": BlockReader.tag,
    "tag": BlockReader.tag,
}
