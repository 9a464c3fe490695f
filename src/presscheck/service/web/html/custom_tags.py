"""The platform's tags as HTML: hints, tabs, steppers, references, embeds, files, descriptions of APIs and the rest.

An embed is a link that says where it leads: what it shows would be a stranger's program. A tag that is not known shows
what it holds, or else itself.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from html import escape, unescape
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from presscheck.documents.markdown.token_tree import outermost
from presscheck.documents.terminal.custom_tags import HINTS
from presscheck.service.web.html.code import code_html
from presscheck.service.web.html.context import ResolvedLink
from presscheck.service.web.html.inlines import anchor_end, anchor_tag

if TYPE_CHECKING:
    from presscheck.documents.markdown.token_tree import Token
    from presscheck.service.web.html.page import HtmlRenderer

    Meta = dict[str, str]
    Inner = Sequence[Token]

_quoted = re.compile(r"\"([^\"]*)\"").search
_condition = re.compile(r"\{%-?\s*if\s+(.*?)\s*-?%\}", re.DOTALL).match
_percent = re.compile(r"\d{1,3}(?:\.\d{1,4})?%").fullmatch
_marks = re.compile(r"<[^<>]*>")


def tag_html(page: HtmlRenderer, name: str, meta: Meta, inner: Inner, written: str) -> str:
    """The HTML of a tag and of what it holds.

    Args:
        page: what writes the page.
        name: the name of the tag.
        meta: its attributes.
        inner: what it holds.
        written: the tag as it is written.
    """
    if name == "include":
        found = _quoted(written)
        return page.include(found[1]) if found else ""
    if name == "if":
        condition = _condition(written)
        return page.flow(inner) if condition and page.surroundings.holds(condition[1]) else ""
    write = _TAGS.get(name) or (_api if name.startswith(("openapi", "swagger")) else None)
    if write:
        return write(page, meta, inner)
    return page.flow(inner) or (f'<p class="quiet">{escape(written)}</p>' if not inner else "")


def _hint(page: HtmlRenderer, meta: Meta, inner: Inner) -> str:
    word, style = HINTS.get(meta.get("style", "info"), HINTS["info"])
    return f'<div class="hint {style}" role="note" aria-label="{word}">{page.flow(inner)}</div>'


def _div(page: HtmlRenderer, meta: Meta, inner: Inner) -> str:
    kind = meta.get("class", "")
    if kind in HINTS:
        return _hint(page, {"style": kind}, inner)
    framed = "framed" if meta.get("data-with-frame") == "true" else ""
    return f'<div class="{framed}">{page.flow(inner)}</div>' if framed else page.flow(inner)


def _tabs(page: HtmlRenderer, meta: Meta, inner: Inner) -> str:
    """Radio buttons, of which the first is chosen, each before its label and what it shows."""
    name = f"tabs-{page.number()}"
    parts: list[str] = []
    for number, (token, within) in enumerate(_named(inner, "tab")):
        title = escape(token.meta.get("title", "") or "Tab")
        checked = "" if number else " checked"
        parts.append(
            f'<input type="radio" name="{name}" id="{name}-{number}"{checked}>'
            f'<label for="{name}-{number}">{title}</label><div class="tab">{page.flow(within)}</div>'
        )
    return f'<div class="tabs">{"".join(parts)}</div>' if parts else page.flow(inner)


def _stepper(page: HtmlRenderer, meta: Meta, inner: Inner) -> str:
    steps = "".join(f"<li>{page.flow(within)}</li>" for _, within in _named(inner, "step"))
    return f'<ol class="stepper">{steps}</ol>' if steps else page.flow(inner)


def _columns(page: HtmlRenderer, meta: Meta, inner: Inner) -> str:
    return f'<div class="columns">{page.flow(inner)}</div>'


def _column(page: HtmlRenderer, meta: Meta, inner: Inner) -> str:
    size = meta.get("width", "")
    basis = f' style="flex-basis:{size}"' if _percent(size) else ""
    return f'<div class="column"{basis}>{page.flow(inner)}</div>'


def _code(page: HtmlRenderer, meta: Meta, inner: Inner) -> str:
    parts: list[str] = []
    title = meta.get("title", "")
    for token, within in outermost(inner):
        if token.type != "fence":
            parts.append(page.one(token, within))
            continue
        language = (token.info.split() or [""])[0]
        is_numbered, is_wrapped = meta.get("linenumbers") == "true", meta.get("overflow") == "wrap"
        parts.append(code_html(token.content, language, title, is_numbered=is_numbered, is_wrapped=is_wrapped))
        title = ""
    return "\n".join(parts)


def _details(page: HtmlRenderer, meta: Meta, inner: Inner) -> str:
    summary = page.clean(meta.get("summary", "")) or "Details"
    return f'<details class="unfolds"><summary>{summary}</summary><div>{page.flow(inner)}</div></details>'


def _update(page: HtmlRenderer, meta: Meta, inner: Inner) -> str:
    date = f"<time>{escape(meta['date'])}</time>" if meta.get("date") else ""
    return f'<section class="update">{date}<div>{page.flow(inner)}</div></section>'


def _plain(page: HtmlRenderer, meta: Meta, inner: Inner) -> str:
    return page.flow(inner)


def _content_ref(page: HtmlRenderer, meta: Meta, inner: Inner) -> str:
    address = page.leads(meta.get("url", ""))
    return _box("content-ref", address, (address.title if address else "") or _said(page, inner) or meta.get("url", ""))


def _embed(page: HtmlRenderer, meta: Meta, inner: Inner) -> str:
    target = meta.get("url", "")
    address = page.leads(target)
    caption = _said(page, inner)
    return _box("embed", address, caption or target, _host(target) if caption else "")


def _file(page: HtmlRenderer, meta: Meta, inner: Inner) -> str:
    target = meta.get("src", "")
    address = page.leads(target)
    name = (address.title if address else "") or target.rstrip("/").rpartition("/")[2]
    caption = _said(page, inner) or meta.get("caption", "")
    return _box("file", address, caption or name, name if caption else "")


def _box(kind: str, address: ResolvedLink | None, words: str, more: str = "") -> str:
    quiet = f' <span class="quiet">{escape(more)}</span>' if more else ""
    return f'<p class="box {kind}">{anchor_tag(address)}{escape(words)}{anchor_end(address)}{quiet}</p>'


def _said(page: HtmlRenderer, inner: Inner) -> str:
    """What a tag holds, as words alone."""
    return " ".join(unescape(_marks.sub("", page.flow(inner))).split())


def _host(target: str) -> str:
    try:
        return urlsplit(target).hostname or ""
    except ValueError:
        return ""


def _api(page: HtmlRenderer, meta: Meta, inner: Inner) -> str:
    """An operation: its method and path, where it is described, and what is said of it."""
    method, path = meta.get("method", "").upper(), meta.get("baseurl", "") + meta.get("path", "")
    summary = meta.get("summary") or meta.get("schemas") or meta.get("webhook") or ""
    parts = [f'<p class="title">{escape(summary)}</p>'] if summary else []
    if method or path:
        parts.append(f'<p><strong class="method">{escape(method)}</strong> <code>{escape(path)}</code></p>')
    origin = meta.get("spec") or meta.get("src") or ""
    if origin:
        address = page.leads(origin) if "src" in meta else None
        shown = f"{anchor_tag(address)}{escape(origin)}</a>" if address else escape(origin)
        parts.append(f'<p class="quiet">Described in {shown}</p>')
    return f'<section class="api">{"".join(parts)}{page.flow(inner)}</section>'


def _parameter(page: HtmlRenderer, meta: Meta, inner: Inner) -> str:
    words = [meta.get("in", ""), meta.get("type", ""), "required" if meta.get("required") == "true" else ""]
    about = escape(" · ".join(filter(None, words)))
    head = f'<p><code>{escape(meta.get("name=", ""))}</code> <span class="quiet">{about}</span></p>'
    return f'<div class="parameter">{head}{page.flow(inner)}</div>'


def _response(page: HtmlRenderer, meta: Meta, inner: Inner) -> str:
    status = escape(meta.get("status", "") or "Response")
    about = escape(meta.get("description", ""))
    return f'<details class="unfolds"><summary>{status} {about}</summary><div>{page.flow(inner)}</div></details>'


def _named(inner: Inner, name: str) -> Iterator[tuple[Token, Inner]]:
    """The tags of a name among what a tag holds."""
    for token, within in outermost(inner):
        if token.type == "tag_open" and token.meta["name"] == name:
            yield token, within


_TAGS: dict[str, Callable[[HtmlRenderer, Meta, Inner], str]] = {
    "hint": _hint,
    "div": _div,
    "tabs": _tabs,
    "stepper": _stepper,
    "code": _code,
    "details": _details,
    "columns": _columns,
    "column": _column,
    "updates": _plain,
    "update": _update,
    "content-ref": _content_ref,
    "embed": _embed,
    "file": _file,
    "swagger-description": _plain,
    "swagger-parameter": _parameter,
    "swagger-response": _response,
}
