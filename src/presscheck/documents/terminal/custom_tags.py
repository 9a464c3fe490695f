"""Renders the platform's block tags as terminal lines: hints, tabs, steppers, references, embeds, files, details.

Each tag says in words what it is, so that a page reads without colour. An unknown tag is shown as it is written.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Protocol

from presscheck.documents.block_tags import HINTS, hint_of, registered_name
from presscheck.documents.markdown.inline_runs import InlineRuns, html_events
from presscheck.documents.markdown.parser import outermost
from presscheck.documents.terminal.code import code_lines
from presscheck.documents.terminal.symbols import Symbols
from presscheck.text.sanitize import sanitize
from presscheck.text.styled_text import Line, Span, cut, plain, remaining_cells, width, with_prefix, wrap

if TYPE_CHECKING:
    from presscheck.documents.markdown.parser import Token, Tokens


class BlockContext(Protocol):
    """What a tag needs of the renderer of the page that it stands in."""

    @property
    def symbols(self) -> Symbols:
        """The symbols that the page is drawn with."""
        ...

    def flow(self, tokens: Tokens, columns: int) -> list[Line]:
        """Renders blocks below one another."""
        ...

    def block(self, token: Token, inner: Tokens, columns: int) -> list[Line]:
        """Renders one block."""
        ...

    def words(self, text: str, style: str, columns: int) -> list[Line]:
        """Renders plain text."""
        ...


TagRenderer = Callable[[BlockContext, "Token", "Tokens", int], list[Line]]


def tag_lines(page: BlockContext, token: Token, inner: Tokens, columns: int) -> list[Line]:
    """Renders a tag and its content."""
    return RENDERERS.get(registered_name(token.meta["name"]), _as_written)(page, token, inner, columns)


def hint_lines(page: BlockContext, kind: str, lines: list[Line], title: str = "") -> list[Line]:
    """Renders a hint: its label, and a bar in its colour."""
    hint = hint_of(kind)
    bar = Span(f"{page.symbols.hint} ", hint.style)
    return with_prefix([(Span(title or hint.label, f"{hint.style} strong"),), *lines], (bar,), (bar,))


def titled_rule(title: str, columns: int, symbols: Symbols) -> Line:
    """Returns a hairline with a title in it."""
    name = cut((Span(title, "accent strong"),), max(columns - 4, 1), symbols.ellipsis)
    left = columns - width(name) - 3
    if left < 1:
        return name
    rule = symbols.hairline
    return Span(f"{rule} ", "quiet"), *name, Span(f" {rule * left}", "quiet")


def _as_written(page: BlockContext, token: Token, inner: Tokens, columns: int) -> list[Line]:
    return [*page.words(token.content, "quiet", columns), *page.flow(inner, columns)]


def _content(page: BlockContext, token: Token, inner: Tokens, columns: int) -> list[Line]:
    return page.flow(inner, columns)


def _hint(page: BlockContext, token: Token, inner: Tokens, columns: int) -> list[Line]:
    return _hint_of_kind(page, token.meta.get("style", "info"), inner, columns)


def _hint_of_kind(page: BlockContext, kind: str, inner: Tokens, columns: int) -> list[Line]:
    narrow = remaining_cells(columns, 2)
    lines = page.flow(inner, narrow or columns)
    if narrow:
        return hint_lines(page, kind, lines)
    hint = hint_of(kind)
    return [*wrap([Span(hint.label, f"{hint.style} strong")], columns), *lines]


def _div(page: BlockContext, token: Token, inner: Tokens, columns: int) -> list[Line]:
    kind = token.meta.get("class", "")
    return _hint_of_kind(page, kind, inner, columns) if kind in HINTS else page.flow(inner, columns)


def _tabs(page: BlockContext, token: Token, inner: Tokens, columns: int) -> list[Line]:
    lines = page.flow(inner, columns)
    return [*lines, (Span(page.symbols.hairline * columns, "quiet"),)] if lines else []


def _titled(attribute: str, default: str) -> TagRenderer:
    """Renders a tag as a hairline with a title in it, above its content."""

    def render(page: BlockContext, token: Token, inner: Tokens, columns: int) -> list[Line]:
        title = sanitize(token.meta.get(attribute, "")) or default
        return [titled_rule(title, columns, page.symbols), *page.flow(inner, columns)]

    return render


def _stepper(page: BlockContext, token: Token, inner: Tokens, columns: int) -> list[Line]:
    lines: list[Line] = []
    number = 0
    for child, within in outermost(inner):
        if child.type == "tag_open" and child.meta["name"] == "step":
            number += 1
            step = _step(page, number, within, columns)
        else:
            step = page.block(child, within, columns)
        lines.extend([(), *step] if lines else step)
    return lines


def _step(page: BlockContext, number: int, inner: Tokens, columns: int) -> list[Line]:
    label = f"{number}"
    narrow = remaining_cells(columns, len(label) + 2)
    lines = page.flow(inner, narrow or columns) or [()]
    if not narrow:
        return [*page.words(label, "accent strong", columns), *lines]
    bar = Span(page.symbols.quote.ljust(len(label) + 2), "quiet")
    return with_prefix(lines, (Span(f"{label}  ", "accent strong"),), (bar,))


def _code(page: BlockContext, token: Token, inner: Tokens, columns: int) -> list[Line]:
    lines: list[Line] = []
    title = token.meta.get("title", "")
    for child, within in outermost(inner):
        if child.type == "fence":
            words = child.info.split()
            part = code_lines(child.content, columns, page.symbols, language=words[0] if words else "", title=title)
            title = ""
        else:
            part = page.block(child, within, columns)
        lines.extend(part)
    return lines


def _details(page: BlockContext, token: Token, inner: Tokens, columns: int) -> list[Line]:
    runs = InlineRuns(page.symbols.image, "strong")
    for event in html_events(token.meta.get("summary", "") or "Details"):
        runs.html(event)
    narrow = remaining_cells(columns, 2)
    if not narrow:
        return [*wrap(runs.spans, columns), *page.flow(inner, columns)]
    head = with_prefix(wrap(runs.spans, narrow), (Span(f"{page.symbols.opened} ", "accent"),), (Span("  "),))
    return [*head, *with_prefix(page.flow(inner, narrow), (Span("  "),), (Span("  "),))]


def _link(symbol: Callable[[Symbols], str], attribute: str) -> TagRenderer:
    """Renders a tag with a link: its symbol, its label, and the address unless the label contains it."""

    def render(page: BlockContext, token: Token, inner: Tokens, columns: int) -> list[Line]:
        target = sanitize(token.meta.get(attribute, ""))
        caption = [plain(line).strip() for line in page.flow(inner, 1000)]
        label = " ".join(filter(None, caption)) or sanitize(token.meta.get("caption", "")) or _last_part(target)
        runs = [Span(f"{symbol(page.symbols)} ", "quiet"), Span(label, "link", target or None)]
        if target and target not in label:
            runs.append(Span(f"  {target}", "quiet"))
        return wrap(runs, columns)

    return render


def _last_part(target: str) -> str:
    return target if "://" in target else target.rstrip("/").rpartition("/")[2] or target


def _operation(page: BlockContext, token: Token, inner: Tokens, columns: int) -> list[Line]:
    meta: dict[str, str] = token.meta
    subject = meta.get("path", "") or meta.get("name=", "") or meta.get("schemas", "")
    words = " ".join(filter(None, (meta.get("method", "").upper(), subject, meta.get("spec", ""))))
    runs = [Span(f"{page.symbols.reference} ", "quiet"), Span(sanitize(words), "strong")]
    return [*wrap(runs, columns), *page.flow(inner, columns)]


RENDERERS: dict[str, TagRenderer] = {
    "hint": _hint,
    "div": _div,
    "tabs": _tabs,
    "tab": _titled("title", "Tab"),
    "stepper": _stepper,
    "step": _as_written,
    "code": _code,
    "prompt": _titled("description", "Prompt"),
    "details": _details,
    "columns": _content,
    "column": _content,
    "updates": _content,
    "update": _titled("date", "Update"),
    "if": _as_written,
    "include": _as_written,
    "content-ref": _link(lambda symbols: symbols.reference, "url"),
    "embed": _link(lambda symbols: symbols.embed, "url"),
    "file": _link(lambda symbols: symbols.file, "src"),
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
