"""What the platform's tags look like: hints, tabs, steppers, references, embeds, files, details and the rest.

Each says in words what it is, so that it reads without colour. A tag that is not known is shown as it is written.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from presscheck.documents.markdown.inline_runs import InlineRuns, html_events
from presscheck.documents.terminal.code import code_lines
from presscheck.documents.terminal.wrap import remaining_cells, with_prefix, wrap
from presscheck.text.sanitize import sanitize
from presscheck.text.styled_text import Line, Span, cut, plain, width

if TYPE_CHECKING:
    from markdown_it.token import Token

    from presscheck.documents.terminal.blocks import BlockRenderer

    Meta = dict[str, str]
    Inner = Sequence[Token]

HINTS = {
    "info": ("Note", "hint-info"),
    "note": ("Note", "hint-info"),
    "tip": ("Tip", "hint-success"),
    "warning": ("Warning", "hint-warning"),
    "caution": ("Caution", "hint-warning"),
    "danger": ("Danger", "hint-danger"),
    "important": ("Important", "hint-warning"),
    "success": ("Success", "hint-success"),
}
"""The word and the style of each kind of hint."""


def tag_lines(page: BlockRenderer, token: Token, inner: Inner, columns: int) -> list[Line]:
    """The lines of a tag and of what it holds."""
    draw = _TAGS.get(token.meta["name"])
    if draw:
        return draw(page, token.meta, inner, columns)
    return [*page.words(token.content, "quiet", columns), *page.flow(inner, columns)]


def hint_lines(page: BlockRenderer, kind: str, lines: list[Line], title: str = "") -> list[Line]:
    """A hint: a bar in its colour, and its word."""
    word, style = HINTS.get(kind, HINTS["info"])
    bar = Span(f"{page.glyphs.hint} ", style)
    return with_prefix([(Span(title or word, f"{style} strong"),), *lines], (bar,), (bar,))


def _hint(page: BlockRenderer, meta: Meta, inner: Inner, columns: int) -> list[Line]:
    kind = meta.get("style", "info")
    narrow = remaining_cells(columns, 2)
    lines = page.flow(inner, narrow or columns)
    if narrow:
        return hint_lines(page, kind, lines)
    word, style = HINTS.get(kind, HINTS["info"])
    return [*wrap([Span(word, f"{style} strong")], columns), *lines]


def _div(page: BlockRenderer, meta: Meta, inner: Inner, columns: int) -> list[Line]:
    kind = meta.get("class", "")
    return _hint(page, {"style": kind}, inner, columns) if kind in HINTS else page.flow(inner, columns)


def _titled(page: BlockRenderer, title: str, columns: int) -> Line:
    """A hairline with a title in it."""
    name = cut((Span(title, "accent strong"),), max(columns - 4, 1), page.glyphs.ellipsis)
    left = columns - width(name) - 3
    if left < 1:
        return name
    rule = page.glyphs.hairline
    return Span(f"{rule} ", "quiet"), *name, Span(f" {rule * left}", "quiet")


def _tabs(page: BlockRenderer, meta: Meta, inner: Inner, columns: int) -> list[Line]:
    lines = page.flow(inner, columns)
    return [*lines, (Span(page.glyphs.hairline * columns, "quiet"),)] if lines else []


def _tab(page: BlockRenderer, meta: Meta, inner: Inner, columns: int) -> list[Line]:
    title = sanitize(meta.get("title", "")) or "Tab"
    return [_titled(page, title, columns), *page.flow(inner, columns)]


def _stepper(page: BlockRenderer, meta: Meta, inner: Inner, columns: int) -> list[Line]:
    lines: list[Line] = []
    number = 0
    for token, within in page.children(inner):
        if token.type == "tag_open" and token.meta["name"] == "step":
            number += 1
            step = _step(page, number, within, columns)
        else:
            step = page.one(token, within, columns)
        lines.extend([(), *step] if lines else step)
    return lines


def _step(page: BlockRenderer, number: int, inner: Inner, columns: int) -> list[Line]:
    label = f"{number}"
    narrow = remaining_cells(columns, len(label) + 2)
    lines = page.flow(inner, narrow or columns) or [()]
    if not narrow:
        return [*page.words(label, "accent strong", columns), *lines]
    bar = Span(page.glyphs.quote.ljust(len(label) + 2), "quiet")
    return with_prefix(lines, (Span(f"{label}  ", "accent strong"),), (bar,))


def _code(page: BlockRenderer, meta: Meta, inner: Inner, columns: int) -> list[Line]:
    lines: list[Line] = []
    title = meta.get("title", "")
    for token, within in page.children(inner):
        if token.type == "fence":
            words = token.info.split()
            part = code_lines(token.content, columns, page.glyphs, language=words[0] if words else "", title=title)
            title = ""
        else:
            part = page.one(token, within, columns)
        lines.extend(part)
    return lines


def _details(page: BlockRenderer, meta: Meta, inner: Inner, columns: int) -> list[Line]:
    runs = InlineRuns(page.glyphs.image, "strong")
    for event in html_events(meta.get("summary", "") or "Details"):
        runs.html(event)
    narrow = remaining_cells(columns, 2)
    if not narrow:
        return [*wrap(runs.spans, columns), *page.flow(inner, columns)]
    head = with_prefix(wrap(runs.spans, narrow), (Span(f"{page.glyphs.opened} ", "accent"),), (Span("  "),))
    return [*head, *with_prefix(page.flow(inner, narrow), (Span("  "),), (Span("  "),))]


def _pointing(
    mark: Callable[[BlockRenderer], str], *names: str
) -> Callable[[BlockRenderer, Meta, Inner, int], list[Line]]:
    """A tag that leads somewhere: its mark, what it is called, and the address where that says something else."""

    def draw(page: BlockRenderer, meta: Meta, inner: Inner, columns: int) -> list[Line]:
        target = sanitize(next((meta[name] for name in names if meta.get(name)), ""))
        written = [plain(line).strip() for line in page.flow(inner, 1000)]
        label = " ".join(filter(None, written)) or sanitize(meta.get("caption", "")) or _last_part(target)
        runs = [Span(f"{mark(page)} ", "quiet"), Span(label, "link", target or None)]
        if target and target not in label:
            runs.append(Span(f"  {target}", "quiet"))
        return wrap(runs, columns)

    return draw


def _last_part(target: str) -> str:
    return target if "://" in target else target.rstrip("/").rpartition("/")[2] or target


def _update(page: BlockRenderer, meta: Meta, inner: Inner, columns: int) -> list[Line]:
    return [_titled(page, sanitize(meta.get("date", "Update")), columns), *page.flow(inner, columns)]


def _operation(page: BlockRenderer, meta: Meta, inner: Inner, columns: int) -> list[Line]:
    words = [meta.get("method", "").upper(), meta.get("path", ""), meta.get("spec", "")]
    runs = [Span(f"{page.glyphs.reference} ", "quiet"), Span(sanitize(" ".join(filter(None, words))), "strong")]
    return [*wrap(runs, columns), *page.flow(inner, columns)]


def _plain(page: BlockRenderer, meta: Meta, inner: Inner, columns: int) -> list[Line]:
    return page.flow(inner, columns)


_TAGS: dict[str, Callable[[BlockRenderer, Meta, Inner, int], list[Line]]] = {
    "hint": _hint,
    "div": _div,
    "tabs": _tabs,
    "tab": _tab,
    "stepper": _stepper,
    "code": _code,
    "details": _details,
    "columns": _plain,
    "column": _plain,
    "updates": _plain,
    "update": _update,
    "content-ref": _pointing(lambda page: page.glyphs.reference, "url"),
    "embed": _pointing(lambda page: page.glyphs.embed, "url"),
    "file": _pointing(lambda page: page.glyphs.file, "src"),
    "swagger": _operation,
    "openapi": _operation,
    "openapi-operation": _operation,
}
