"""The platform's block tags as HTML: hints, code, tabs, steppers, references, embeds, files, API operations.

An embed becomes a link, because its content would be code of another site. For known players, the script of the site
loads the content when the reader asks for it. An unknown tag is replaced by its content, or shown as written if it is
empty.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from html import escape, unescape
from typing import TYPE_CHECKING, Any, Protocol
from urllib.parse import urlsplit

from presscheck.documents.block_tags import HINTS, hint_of, registered_name
from presscheck.documents.markdown.anchors import heading_anchor
from presscheck.documents.markdown.emoji import icon_text
from presscheck.documents.markdown.parser import outermost
from presscheck.documents.nodes.from_tags import TagBlock, integration_node
from presscheck.documents.openapi.blocks import block_reference
from presscheck.documents.visitors.condition_tags import condition_of
from presscheck.service.web.html.code import code_html
from presscheck.service.web.html.components import component_html
from presscheck.service.web.html.context import Component, ResolvedLink
from presscheck.service.web.html.inlines import anchor_end, anchor_tag
from presscheck.service.web.html.operations import endpoint_html, specified_html
from presscheck.service.web.html.players import player_of

if TYPE_CHECKING:
    from presscheck.documents.markdown.parser import Token, Tokens
    from presscheck.documents.openapi.specification import SpecificationReader

TAB_ID = "~tab-"
"""Prefix of the provisional ids of tabs. They are replaced after the ids of all headings have been set."""
_quoted = re.compile(r"\"([^\"]*)\"").search
_percent = re.compile(r"\d{1,3}(?:\.\d{1,4})?%").fullmatch
_marks = re.compile(r"<[^<>]*>")
_is_open = re.compile(r"\sopen(?=[\s=>])").search


class BlockContext(Protocol):
    """The parts of the page renderer that tags use."""

    def flow(self, tokens: Tokens) -> str:
        """Render a sequence of blocks."""
        ...

    def block(self, token: Token, inner: Tokens) -> str:
        """Render one block."""
        ...

    def closed_tab(self, title: str, inner: Tokens) -> str:
        """Render the content of a tab that is closed at first."""
        ...

    def include(self, target: str) -> str:
        """Render an included text."""
        ...

    def leads(self, target: str) -> ResolvedLink | None:
        """Resolve a link of the current text; return None if the link is broken."""
        ...

    def clean(self, html: str) -> str:
        """Sanitize raw HTML."""
        ...

    def component(self, integration: str, block: str, props: dict[str, Any]) -> Component | None:
        """Return the component for a block of an integration, or None if it cannot be drawn."""
        ...

    def specification(self, name: str, *, is_file: bool) -> SpecificationReader | None:
        """Return the specification that a block refers to, or None if it cannot be read."""
        ...

    def model_url(self, reader: SpecificationReader, name: str) -> str | None:
        """Return the URL of the description of a model, or None if no page has it."""
        ...

    def named_heading(self, level: int, title: str) -> str:
        """Render a heading with its anchor."""
        ...

    def connect(self, origin: str) -> None:
        """Allow the script of the page to send requests to an origin."""
        ...

    def frame(self, origin: str) -> None:
        """Allow the script of the page to show frames of an origin."""
        ...

    def reference_text(self, markdown: str) -> str:
        """Render Markdown of a specification."""
        ...

    def has_reference_room(self, html: str) -> bool:
        """Reserve room on the page for a part of a specification. Return False if too little is left."""
        ...

    def has_room(self, html: str) -> bool:
        """Reserve room on the page for the HTML of a component. Return False if too little is left."""
        ...

    def foreign_text(self, markdown: str) -> str:
        """Render Markdown of an integration."""
        ...

    def variable(self, name: str) -> str | None:
        """Return the value of an expression, or None if it is unknown."""
        ...

    def holds(self, condition: str) -> bool:
        """Return whether the visitor meets a condition."""
        ...

    def expandable_anchor(self, token: Token) -> str:
        """Return the anchor of an expandable, given its tag."""
        ...

    def translated(self, words: str) -> str:
        """Return a text of the interface in the language of the page."""
        ...

    def number(self) -> int:
        """Return the next number on the page, for unique ids."""
        ...


TagRenderer = Callable[[BlockContext, "Token", "Tokens"], str]


def tag_html(page: BlockContext, token: Token, inner: Tokens) -> str:
    """Render a tag and its content."""
    return RENDERERS.get(registered_name(token.meta["name"]), _unknown)(page, token, inner)


def hint_html(page: BlockContext, kind: str, inner: Tokens) -> str:
    """Render a hint with the style and the label of its kind."""
    hint = hint_of(kind)
    label = escape(page.translated(hint.label))
    return f'<div class="hint {hint.style}" role="note" aria-label="{label}">{page.flow(inner)}</div>'


def _unknown(page: BlockContext, token: Token, inner: Tokens) -> str:
    return page.flow(inner) or (f'<p class="quiet">{escape(token.content)}</p>' if not inner else "")


def _integration(page: BlockContext, token: Token, inner: Tokens) -> str:
    """Render a block of an integration as its component, or else as source code."""
    node = integration_node(TagBlock(token, [], is_paired=False))
    if node is None or inner:
        return _unknown(page, token, inner)
    data = node["data"]
    content = data["props"].get("content")
    source = code_html(content, data["block"], data["integration"]) if isinstance(content, str) else ""
    component = page.component(data["integration"], data["block"], data["props"])
    drawn = component_html(page, component, source) if component else ""
    return (drawn if page.has_room(drawn) else "") or source or _unknown(page, token, inner)


def _include(page: BlockContext, token: Token, inner: Tokens) -> str:
    target = _quoted(token.content)
    return page.include(target[1]) if target else ""


def _if(page: BlockContext, token: Token, inner: Tokens) -> str:
    condition = condition_of(token.content)
    return page.flow(inner) if condition and page.holds(condition) else ""


def _prompt(page: BlockContext, token: Token, inner: Tokens) -> str:
    description = token.meta.get("description", "")
    return (f"<p><strong>{escape(description)}</strong></p>" if description else "") + page.flow(inner)


def _hint(page: BlockContext, token: Token, inner: Tokens) -> str:
    return hint_html(page, token.meta.get("style", "info"), inner)


def _div(page: BlockContext, token: Token, inner: Tokens) -> str:
    kind = token.meta.get("class", "")
    if kind in HINTS:
        return hint_html(page, kind, inner)
    framed = "framed" if token.meta.get("data-with-frame") == "true" else ""
    return f'<div class="{framed}">{page.flow(inner)}</div>' if framed else page.flow(inner)


def _tabs(page: BlockContext, token: Token, inner: Tokens) -> str:
    """Render tabs as `<details>` elements with a common name.

    Browsers open the tab with the target of a link, and close the other tabs.

    The anchor of a tab is within the closed part, because a link to its summary would not open it.
    """
    name = f"tabs-{page.number()}"
    parts: list[str] = []
    for tab, within in _child_tags(inner, "tab"):
        title = tab.meta.get("title", "") or "Tab"
        anchor = escape(heading_anchor(tab.meta.get("title", "")))
        body = page.closed_tab(title, within) if parts else page.flow(within)
        parts.append(
            f'<details name="{name}"{"" if parts else " open"}><summary>{escape(title)}</summary>'
            f'<div class="tab" id="{TAB_ID}{anchor}">{body}</div></details>'
        )
    return f'<div class="tabs">{"".join(parts)}</div>' if parts else page.flow(inner)


def _stepper(page: BlockContext, token: Token, inner: Tokens) -> str:
    steps = "".join(f"<li>{_step_icon(step)}{page.flow(within)}</li>" for step, within in _child_tags(inner, "step"))
    return f'<ol class="stepper">{steps}</ol>' if steps else page.flow(inner)


def _step_icon(step: Token) -> str:
    name = step.meta.get("icon", "")
    return f'<span class="icon">{escape(icon_text(name))}</span> ' if name else ""


def _columns(page: BlockContext, token: Token, inner: Tokens) -> str:
    return f'<div class="columns">{page.flow(inner)}</div>'


def _column(page: BlockContext, token: Token, inner: Tokens) -> str:
    size = token.meta.get("width", "")
    grow = f' style="flex-grow:{size[:-1]}"' if _percent(size) else ""
    return f'<div class="column"{grow}>{page.flow(inner)}</div>'


def _code(page: BlockContext, token: Token, inner: Tokens) -> str:
    parts: list[str] = []
    title = token.meta.get("title", "")
    is_numbered, is_wrapped = token.meta.get("linenumbers") == "true", token.meta.get("overflow") == "wrap"
    for child, within in outermost(inner):
        if child.type != "fence":
            parts.append(page.block(child, within))
            continue
        language = (child.info.split() or [""])[0]
        parts.append(code_html(child.content, language, title, is_numbered=is_numbered, is_wrapped=is_wrapped))
        title = ""
    return "\n".join(parts)


def _details(page: BlockContext, token: Token, inner: Tokens) -> str:
    summary = page.clean(token.meta.get("summary", "")) or "Details"
    anchor = escape(page.expandable_anchor(token))
    body, is_open = page.flow(inner), " open" if _is_open(token.content) else ""
    return f'<details class="unfolds" id="{anchor}"{is_open}><summary>{summary}</summary><div>{body}</div></details>'


def _update(page: BlockContext, token: Token, inner: Tokens) -> str:
    date = f"<time>{escape(token.meta['date'])}</time>" if token.meta.get("date") else ""
    return f'<section class="update">{date}<div>{page.flow(inner)}</div></section>'


def _content(page: BlockContext, token: Token, inner: Tokens) -> str:
    return page.flow(inner)


def _content_ref(page: BlockContext, token: Token, inner: Tokens) -> str:
    address = page.leads(token.meta.get("url", ""))
    return _box(
        "content-ref", address, (address.title if address else "") or _caption(page, inner) or token.meta.get("url", "")
    )


def _embed(page: BlockContext, token: Token, inner: Tokens) -> str:
    target = token.meta.get("url", "")
    address = page.leads(target)
    caption = _caption(page, inner)
    player = player_of(target) if address else None
    if player:
        page.frame(player.origin)
    attribute = f' data-player="{escape(player.url)}"' if player else ""
    return _box("embed", address, caption or target, _host(target) if caption else "", attribute)


def _file(page: BlockContext, token: Token, inner: Tokens) -> str:
    target = token.meta.get("src", "")
    address = page.leads(target)
    name = (address.title if address else "") or target.rstrip("/").rpartition("/")[2]
    caption = _caption(page, inner) or token.meta.get("caption", "")
    return _box("file", address, caption or name, name if caption else "")


def _box(kind: str, address: ResolvedLink | None, words: str, more: str = "", attribute: str = "") -> str:
    quiet = f' <span class="quiet">{escape(more)}</span>' if more else ""
    return f'<p class="box {kind}"{attribute}>{anchor_tag(address)}{escape(words)}{anchor_end(address)}{quiet}</p>'


def _caption(page: BlockContext, inner: Tokens) -> str:
    """Return the content of a tag as plain text."""
    return " ".join(unescape(_marks.sub("", page.flow(inner))).split())


def _host(target: str) -> str:
    try:
        return urlsplit(target).hostname or ""
    except ValueError:
        return ""


def _api(page: BlockContext, token: Token, inner: Tokens) -> str:
    """Render an operation, a webhook or models. Without a specification, render the attributes of the tag."""
    block = block_reference(token.meta["name"], token.meta)
    html = specified_html(page, block) if block.origin else ""
    if html:
        return html
    method, path = block.method.upper(), token.meta.get("baseurl", "") + token.meta.get("path", "")
    summary = token.meta.get("summary") or token.meta.get("schemas") or (block.kind == "webhook" and block.name)
    parts = [f'<p class="title">{escape(summary)}</p>'] if summary else []
    if method or path:
        parts.append(endpoint_html(method, path))
    if block.origin:
        address = page.leads(block.origin) if "src" in token.meta else None
        link = f"{anchor_tag(address)}{escape(block.origin)}</a>" if address else escape(block.origin)
        parts.append(f'<p class="quiet">Described in {link}</p>')
    return f'<section class="api">{"".join(parts)}{page.flow(inner)}</section>'


def _parameter(page: BlockContext, token: Token, inner: Tokens) -> str:
    words = [
        token.meta.get("in", ""),
        token.meta.get("type", ""),
        "required" if token.meta.get("required") == "true" else "",
    ]
    details = escape(" · ".join(filter(None, words)))
    head = f'<p><code>{escape(token.meta.get("name=", ""))}</code> <span class="quiet">{details}</span></p>'
    return f'<div class="parameter">{head}{page.flow(inner)}</div>'


def _response(page: BlockContext, token: Token, inner: Tokens) -> str:
    status = escape(token.meta.get("status", "") or "Response")
    description = escape(token.meta.get("description", ""))
    return f'<details class="unfolds"><summary>{status} {description}</summary><div>{page.flow(inner)}</div></details>'


def _child_tags(inner: Tokens, name: str) -> Iterator[tuple[Token, Tokens]]:
    """Yield the child tags with this name and their content."""
    for token, within in outermost(inner):
        if token.type == "tag_open" and token.meta["name"] == name:
            yield token, within


RENDERERS: dict[str, TagRenderer] = {
    "hint": _hint,
    "div": _div,
    "tabs": _tabs,
    "tab": _content,
    "stepper": _stepper,
    "step": _content,
    "code": _code,
    "prompt": _prompt,
    "details": _details,
    "columns": _columns,
    "column": _column,
    "updates": _content,
    "update": _update,
    "if": _if,
    "include": _include,
    "content-ref": _content_ref,
    "embed": _embed,
    "file": _file,
    "openapi": _api,
    "openapi-operation": _api,
    "openapi-webhook": _api,
    "openapi-schemas": _api,
    "swagger": _api,
    "swagger-description": _content,
    "swagger-parameter": _parameter,
    "swagger-response": _response,
    "@": _integration,
}
"""The renderer of each tag in `block_tags.BLOCK_TAGS`."""
