"""The platform's tags as markup for a typesetter: hints, tabs, steppers, references, files and the rest.

On paper nothing opens: tabs stand one after another under their titles, and what is expandable is open.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from presscheck.documents.markdown.inline_runs import file_name, html_events
from presscheck.documents.markdown.token_tree import outermost
from presscheck.documents.terminal.custom_tags import HINTS
from presscheck.service.pdf.typst_inlines import TypstRuns, text_markup, typst_string, web_target
from presscheck.text.sanitize import sanitize
from presscheck.text.styled_text import plain

if TYPE_CHECKING:
    from presscheck.documents.markdown.token_tree import Token, Tokens
    from presscheck.service.pdf.typst_document import TypstRenderer

    Meta = dict[str, str]


def tag_markup(page: TypstRenderer, token: Token, inner: Tokens) -> str:
    """A tag and what it holds; one that is not known stands as it is written."""
    draw = _TAGS.get(token.meta["name"])
    if draw:
        return draw(page, token.meta, inner)
    if token.meta["name"] == "include":
        return _include(page, token)
    return f"#text(fill: quiet)[{text_markup(token.content)}];\n\n{page.flow(inner)}"


def hint_markup(kind: str, body: str) -> str:
    """A hint under its word."""
    word, look = HINTS.get(kind, HINTS["info"])
    return f"#hint({typst_string(look.removeprefix('hint-'))}, {typst_string(word)}, [{body}]);\n"


def pointer(kind: str, label: str, url: str, title: str, note: str = "") -> str:
    """Something that leads elsewhere: what it is, where it leads, what it is called, and more about it."""
    return f"#pointer({', '.join(typst_string(one) for one in (kind, label, url, title, note))});\n"


def _hint(page: TypstRenderer, meta: Meta, inner: Tokens) -> str:
    return hint_markup(meta.get("style", "info"), page.flow(inner))


def _div(page: TypstRenderer, meta: Meta, inner: Tokens) -> str:
    kind = meta.get("class", "")
    return hint_markup(kind, page.flow(inner)) if kind in HINTS else page.flow(inner)


def _plain(page: TypstRenderer, meta: Meta, inner: Tokens) -> str:
    return page.flow(inner)


def _tab(page: TypstRenderer, meta: Meta, inner: Tokens) -> str:
    return f"#tab({typst_string(meta.get('title', '') or 'Tab')}, [{page.flow(inner)}]);\n"


def _stepper(page: TypstRenderer, meta: Meta, inner: Tokens) -> str:
    parts: list[str] = []
    number = 0
    for token, within in outermost(inner):
        if token.type == "tag_open" and token.meta["name"] == "step":
            number += 1
            parts.append(f"#step({number}, [{page.flow(within)}]);\n")
        else:
            parts.append(page.one(token, within))
    return "\n".join(parts)


def _columns(page: TypstRenderer, meta: Meta, inner: Tokens) -> str:
    parts = [page.flow(within) for token, within in outermost(inner) if token.type == "tag_open"]
    loose = [page.one(token, within) for token, within in outermost(inner) if token.type != "tag_open"]
    beside = f"#side-by-side({', '.join(f'[{part}]' for part in parts)});\n" if parts else ""
    return "\n".join([*loose, beside])


def _code(page: TypstRenderer, meta: Meta, inner: Tokens) -> str:
    title, numbers = meta.get("title", ""), meta.get("linenumbers", "") == "true"
    parts: list[str] = []
    for token, within in outermost(inner):
        if token.type == "fence":
            parts.append(page.code(token, within, title, numbers=numbers))
            title = ""
        else:
            parts.append(page.one(token, within))
    return "\n".join(parts)


def _details(page: TypstRenderer, meta: Meta, inner: Tokens) -> str:
    runs = TypstRuns()
    for event in html_events(meta.get("summary", "") or "Details"):
        runs.html(event)
    return f"#expandable([{page.inline(runs.spans)}], [{page.flow(inner)}]);\n"


def _written(inner: Tokens) -> str:
    """The words that a tag holds."""
    runs = TypstRuns()
    for token in inner:
        if token.type == "inline":
            runs.tokens(token.children or [])
    return plain(tuple(runs.spans)).strip()


def _reference(page: TypstRenderer, meta: Meta, inner: Tokens) -> str:
    address = meta.get("url", "")
    target = page.resolve(address)
    title = target.title or _written(inner) or file_name(address.rstrip("/")) or address or "Reference"
    return pointer("Page" if target.label else "See", target.label, target.url, title)


def _embed(page: TypstRenderer, meta: Meta, inner: Tokens) -> str:
    url = meta.get("url", "")
    return pointer("Embed", "", web_target(url).url, _written(inner) or url or "Embed", url if _written(inner) else "")


def _file(page: TypstRenderer, meta: Meta, inner: Tokens) -> str:
    address = meta.get("src", "")
    target = page.resolve(address)
    name = target.title or file_name(address) or "File"
    caption = _written(inner) or meta.get("caption", "")
    return pointer("File", "", target.url, caption or name, name if caption and caption != name else "")


def _update(page: TypstRenderer, meta: Meta, inner: Tokens) -> str:
    return f"#update({typst_string(meta.get('date', 'Update'))}, [{page.flow(inner)}]);\n"


def _operation(page: TypstRenderer, meta: Meta, inner: Tokens) -> str:
    named = " ".join(filter(None, (meta.get("method", "").upper(), meta.get("path", "") or "Operation")))
    source = meta.get("src", "") or meta.get("spec", "")
    return pointer("API", "", web_target(source).url, named, source) + page.flow(inner)


def _include(page: TypstRenderer, token: Token) -> str:
    """A snippet, which is named in quotation marks."""
    named = token.content.partition('"')[2].partition('"')[0]
    text = page.resolve(named).text
    return page.include(text) if text else f"#text(fill: quiet)[{text_markup(sanitize(token.content))}];\n"


_TAGS: dict[str, Callable[[TypstRenderer, Meta, Tokens], str]] = {
    "hint": _hint,
    "div": _div,
    "tabs": _plain,
    "tab": _tab,
    "stepper": _stepper,
    "code": _code,
    "details": _details,
    "columns": _columns,
    "column": _plain,
    "updates": _plain,
    "update": _update,
    "content-ref": _reference,
    "embed": _embed,
    "file": _file,
    "swagger": _operation,
    "openapi": _operation,
    "openapi-operation": _operation,
}
