"""Inline text as a sequence of events, from Markdown tokens and from HTML."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from html import escape
from typing import TYPE_CHECKING, NamedTuple

from presscheck.documents.markdown.inline_runs import html_attributes, html_events
from presscheck.documents.nodes.references import parse_reference
from presscheck.documents.nodes.schema import Node, Nodes, block_node, fragment, inline_node, text_node
from presscheck.documents.nodes.to_inlines import emoji_code

if TYPE_CHECKING:
    from markdown_it.token import Token


class Event(NamedTuple):
    """A part of inline text.

    `kind` is text, code, open, close, node or raw. `raw` is the source, which remains text if it has no matching node.
    """

    kind: str
    name: str = ""
    values: dict[str, str] = {}  # noqa: RUF012
    raw: str = ""
    node: Node | None = None


def html_as_events(text: str, *, keeps_blanks: bool = False) -> Iterable[Event]:
    """Yield the events of HTML."""
    for kind, name, values in html_events(text):
        if kind == "text":
            yield Event("text", raw=name if keeps_blanks else re.sub(r"\s+", " ", name))
        elif kind == "open":
            attributes = "".join(f' {key}="{escape(value)}"' if value else f" {key}" for key, value in values.items())
            yield Event("open", name, values, f"<{name}{attributes}>")
        else:
            yield Event("close", name, raw=f"</{name}>")


def token_events(tokens: Sequence[Token]) -> Iterable[Event]:
    """Yield the events of Markdown tokens; annotations have a label, but no body yet."""
    for token in tokens:
        kind = token.type
        if kind in {"text", "text_special"}:
            yield Event("text", raw=token.content)
        elif kind in {"softbreak", "hardbreak"}:
            yield Event("text", raw=" " if kind == "softbreak" else "\n")
        elif kind == "code_inline":
            yield Event("code", raw=token.content)
        elif kind == "html_inline":
            yield _html_event(token.content)
        elif token.nesting == 1:
            values = {name: str(value) for name, value in token.attrs.items()}
            if token.markup == "linkify":
                values["bare"] = "true"
            yield Event("open", token.tag, values)
        elif token.nesting == -1:
            yield Event("close", token.tag)
        elif made := _node(token):
            yield Event("node", node=made)


_tag = re.compile(r"<(/?)([a-zA-Z][\w:-]*+)(.*?)/?>", re.DOTALL).fullmatch


def _html_event(content: str) -> Event:
    content = re.sub(r"\s++", lambda blanks: " " if "\n" in blanks[0] else blanks[0], content)
    match = _tag(content)
    if not match or content.startswith("<!"):
        return Event("raw", raw=content)
    kind = "close" if match[1] else "open"
    return Event(kind, match[2].lower(), {} if match[1] else html_attributes(match[3]), content)


def _node(token: Token) -> Node | None:
    if token.type == "math":
        return inline_node("inline-math", {"formula": token.content[2:-2]})
    if token.type == "emoji":
        name = token.content[1:-1]
        return inline_node("emoji", {"code": emoji_code(name)}, markdown={"name": name})
    if token.type == "image":
        return _image_node(token)
    if token.type == "footnote_ref":
        return annotation(str(token.meta["label"]), [])
    return text_node(token.content, is_markdown=True) if token.content else None


def _image_node(token: Token) -> Node:
    texts = {"alt": token.content, "caption": str(token.attrs.get("title", ""))}
    ref = parse_reference(str(token.attrs.get("src", "")))
    return inline_node("inline-image", {"ref": ref} | {name: value for name, value in texts.items() if value})


def annotation(label: str, nodes: Nodes) -> Node:
    """Create an annotation with an empty body."""
    body = fragment("annotation-body", [block_node("paragraph", [])], kind="annotation-body")
    more = {"isVoid": False, "nodes": nodes, "fragments": [body], "markdown": {"label": label}}
    return {"object": "inline", "type": "annotation", **more}
