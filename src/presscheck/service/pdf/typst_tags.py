"""Renders the platform's block tags as Typst markup: hints, tabs, steppers, references, files and the rest.

Nothing opens on paper: tabs stand one after another under their titles, and what is expandable is open.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Protocol

from presscheck.documents.block_tags import HINTS, hint_of, registered_name
from presscheck.documents.markdown.inline_runs import file_name, html_events
from presscheck.documents.markdown.parser import outermost
from presscheck.service.pdf.typst_inlines import Resolve, TypstRuns, text_markup, typst_string, web_target
from presscheck.text.sanitize import sanitize
from presscheck.text.styled_text import Span, plain

if TYPE_CHECKING:
    from collections.abc import Sequence

    from presscheck.documents.markdown.parser import Token, Tokens


class BlockContext(Protocol):
    """What a tag needs of the renderer of the page that it stands in."""

    @property
    def resolve(self) -> Resolve:
        """Resolves the addresses of the page."""
        ...

    def flow(self, tokens: Tokens) -> str:
        """Renders blocks below one another."""
        ...

    def block(self, token: Token, inner: Tokens) -> str:
        """Renders one block."""
        ...

    def code(self, token: Token, inner: Tokens, title: str = "", *, numbers: bool = False) -> str:
        """Renders a code block."""
        ...

    def inline(self, spans: Sequence[Span], *, picture: str = "small-picture") -> str:
        """Renders inline text."""
        ...

    def include(self, text: str) -> str:
        """Renders a snippet in its place."""
        ...


TagRenderer = Callable[[BlockContext, "Token", "Tokens"], str]


def tag_markup(page: BlockContext, token: Token, inner: Tokens) -> str:
    """Renders a tag and its content; an unknown tag is shown as it is written."""
    return RENDERERS.get(registered_name(token.meta["name"]), _as_written)(page, token, inner)


def hint_markup(kind: str, body: str) -> str:
    """Renders a hint under its label."""
    hint = hint_of(kind)
    return f"#hint({typst_string(hint.style.removeprefix('hint-'))}, {typst_string(hint.label)}, [{body}]);\n"


def _as_written(page: BlockContext, token: Token, inner: Tokens) -> str:
    return f"#text(fill: quiet)[{text_markup(token.content)}];\n\n{page.flow(inner)}"


def _content(page: BlockContext, token: Token, inner: Tokens) -> str:
    return page.flow(inner)


def pointer(kind: str, label: str, url: str, title: str, note: str = "") -> str:
    """Renders a link to something: its kind, target, title and a note."""
    return f"#pointer({', '.join(typst_string(one) for one in (kind, label, url, title, note))});\n"


def _hint(page: BlockContext, token: Token, inner: Tokens) -> str:
    return hint_markup(token.meta.get("style", "info"), page.flow(inner))


def _div(page: BlockContext, token: Token, inner: Tokens) -> str:
    kind = token.meta.get("class", "")
    return hint_markup(kind, page.flow(inner)) if kind in HINTS else page.flow(inner)


def _titled(attribute: str, default: str) -> TagRenderer:
    def render(page: BlockContext, token: Token, inner: Tokens) -> str:
        return f"#tab({typst_string(token.meta.get(attribute, '') or default)}, [{page.flow(inner)}]);\n"

    return render


def _stepper(page: BlockContext, token: Token, inner: Tokens) -> str:
    parts: list[str] = []
    number = 0
    for child, within in outermost(inner):
        if child.type == "tag_open" and child.meta["name"] == "step":
            number += 1
            parts.append(f"#step({number}, [{page.flow(within)}]);\n")
        else:
            parts.append(page.block(child, within))
    return "\n".join(parts)


def _columns(page: BlockContext, token: Token, inner: Tokens) -> str:
    parts = [page.flow(within) for child, within in outermost(inner) if child.type == "tag_open"]
    loose = [page.block(child, within) for child, within in outermost(inner) if child.type != "tag_open"]
    beside = f"#side-by-side({', '.join(f'[{part}]' for part in parts)});\n" if parts else ""
    return "\n".join([*loose, beside])


def _code(page: BlockContext, token: Token, inner: Tokens) -> str:
    title, numbers = token.meta.get("title", ""), token.meta.get("linenumbers", "") == "true"
    parts: list[str] = []
    for child, within in outermost(inner):
        if child.type == "fence":
            parts.append(page.code(child, within, title, numbers=numbers))
            title = ""
        else:
            parts.append(page.block(child, within))
    return "\n".join(parts)


def _details(page: BlockContext, token: Token, inner: Tokens) -> str:
    runs = TypstRuns()
    for event in html_events(token.meta.get("summary", "") or "Details"):
        runs.html(event)
    return f"#expandable([{page.inline(runs.spans)}], [{page.flow(inner)}]);\n"


def _caption(inner: Tokens) -> str:
    """Returns the content of a tag as plain text."""
    runs = TypstRuns()
    for token in inner:
        if token.type == "inline":
            runs.tokens(token.children or [])
    return plain(tuple(runs.spans)).strip()


def _reference(page: BlockContext, token: Token, inner: Tokens) -> str:
    address = token.meta.get("url", "")
    target = page.resolve(address)
    title = target.title or _caption(inner) or file_name(address.rstrip("/")) or address or "Reference"
    return pointer("Page" if target.label else "See", target.label, target.url, title)


def _embed(page: BlockContext, token: Token, inner: Tokens) -> str:
    url = token.meta.get("url", "")
    return pointer("Embed", "", web_target(url).url, _caption(inner) or url or "Embed", url if _caption(inner) else "")


def _file(page: BlockContext, token: Token, inner: Tokens) -> str:
    address = token.meta.get("src", "")
    target = page.resolve(address)
    name = target.title or file_name(address) or "File"
    caption = _caption(inner) or token.meta.get("caption", "")
    return pointer("File", "", target.url, caption or name, name if caption and caption != name else "")


def _update(page: BlockContext, token: Token, inner: Tokens) -> str:
    return f"#update({typst_string(token.meta.get('date', 'Update'))}, [{page.flow(inner)}]);\n"


def _subject(token: Token) -> str:
    return token.meta.get("path", "") or token.meta.get("name=", "") or token.meta.get("schemas", "")


def _operation(page: BlockContext, token: Token, inner: Tokens) -> str:
    named = " ".join(filter(None, (token.meta.get("method", "").upper(), _subject(token) or "Operation")))
    source = token.meta.get("src", "") or token.meta.get("spec", "")
    return pointer("API", "", web_target(source).url, named, source) + page.flow(inner)


def _include(page: BlockContext, token: Token, inner: Tokens) -> str:
    """Renders a snippet, which is named in quotation marks."""
    named = token.content.partition('"')[2].partition('"')[0]
    text = page.resolve(named).text
    return page.include(text) if text else f"#text(fill: quiet)[{text_markup(sanitize(token.content))}];\n"


RENDERERS: dict[str, TagRenderer] = {
    "hint": _hint,
    "div": _div,
    "tabs": _content,
    "tab": _titled("title", "Tab"),
    "stepper": _stepper,
    "step": _as_written,
    "code": _code,
    "prompt": _titled("description", "Prompt"),
    "details": _details,
    "columns": _columns,
    "column": _content,
    "updates": _content,
    "update": _update,
    "if": _as_written,
    "include": _include,
    "content-ref": _reference,
    "embed": _embed,
    "file": _file,
    "openapi": _operation,
    "openapi-operation": _operation,
    "openapi-webhook": _operation,
    "openapi-schemas": _operation,
    "swagger": _operation,
    "swagger-description": _as_written,
    "swagger-parameter": _as_written,
    "swagger-response": _as_written,
    "@": _as_written,
}
"""The renderer of every tag in `block_tags.BLOCK_TAGS`."""
