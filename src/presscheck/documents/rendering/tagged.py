"""What the platform's tags look like: hints, tabs, steppers, references, embeds, files, details and the rest.

Each says in words what it is, so that it reads without colour. A tag that is not known is shown as it is written.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from presscheck.documents.display_text import display_text
from presscheck.documents.rendering.code import code_lines
from presscheck.documents.rendering.inlines import Runs, html_events
from presscheck.documents.rendering.wrapping import beside, room, wrap
from presscheck.documents.spans import Line, Span, cut, plain, width

if TYPE_CHECKING:
    from markdown_it.token import Token

    from presscheck.documents.rendering.layout import Layout

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


def tag_lines(page: Layout, token: Token, inner: Inner, columns: int) -> list[Line]:
    """The lines of a tag and of what it holds."""
    draw = _TAGS.get(token.meta["name"])
    if draw:
        return draw(page, token.meta, inner, columns)
    return [*page.words(token.content, "quiet", columns), *page.flow(inner, columns)]


def hint_lines(page: Layout, kind: str, lines: list[Line], title: str = "") -> list[Line]:
    """A hint: a bar in its colour, and its word."""
    word, style = HINTS.get(kind, HINTS["info"])
    bar = Span(f"{page.glyphs.hint} ", style)
    return beside([(Span(title or word, f"{style} strong"),), *lines], (bar,), (bar,))


def _hint(page: Layout, meta: Meta, inner: Inner, columns: int) -> list[Line]:
    kind = meta.get("style", "info")
    narrow = room(columns, 2)
    lines = page.flow(inner, narrow or columns)
    if narrow:
        return hint_lines(page, kind, lines)
    word, style = HINTS.get(kind, HINTS["info"])
    return [*wrap([Span(word, f"{style} strong")], columns), *lines]


def _div(page: Layout, meta: Meta, inner: Inner, columns: int) -> list[Line]:
    kind = meta.get("class", "")
    return _hint(page, {"style": kind}, inner, columns) if kind in HINTS else page.flow(inner, columns)


def _titled(page: Layout, title: str, columns: int) -> Line:
    """A hairline with a title in it."""
    name = cut((Span(title, "accent strong"),), max(columns - 4, 1), page.glyphs.ellipsis)
    left = columns - width(name) - 3
    if left < 1:
        return name
    rule = page.glyphs.hairline
    return Span(f"{rule} ", "quiet"), *name, Span(f" {rule * left}", "quiet")


def _tabs(page: Layout, meta: Meta, inner: Inner, columns: int) -> list[Line]:
    lines = page.flow(inner, columns)
    return [*lines, (Span(page.glyphs.hairline * columns, "quiet"),)] if lines else []


def _tab(page: Layout, meta: Meta, inner: Inner, columns: int) -> list[Line]:
    title = display_text(meta.get("title", "")) or "Tab"
    return [_titled(page, title, columns), *page.flow(inner, columns)]


def _stepper(page: Layout, meta: Meta, inner: Inner, columns: int) -> list[Line]:
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


def _step(page: Layout, number: int, inner: Inner, columns: int) -> list[Line]:
    label = f"{number}"
    narrow = room(columns, len(label) + 2)
    lines = page.flow(inner, narrow or columns) or [()]
    if not narrow:
        return [*page.words(label, "accent strong", columns), *lines]
    bar = Span(page.glyphs.quote.ljust(len(label) + 2), "quiet")
    return beside(lines, (Span(f"{label}  ", "accent strong"),), (bar,))


def _code(page: Layout, meta: Meta, inner: Inner, columns: int) -> list[Line]:
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


def _details(page: Layout, meta: Meta, inner: Inner, columns: int) -> list[Line]:
    runs = Runs(page.glyphs.image, "strong")
    for event in html_events(meta.get("summary", "") or "Details"):
        runs.html(event)
    narrow = room(columns, 2)
    if not narrow:
        return [*wrap(runs.spans, columns), *page.flow(inner, columns)]
    head = beside(wrap(runs.spans, narrow), (Span(f"{page.glyphs.opened} ", "accent"),), (Span("  "),))
    return [*head, *beside(page.flow(inner, narrow), (Span("  "),), (Span("  "),))]


def _pointing(mark: Callable[[Layout], str], *names: str) -> Callable[[Layout, Meta, Inner, int], list[Line]]:
    """A tag that leads somewhere: its mark, what it is called, and the address where that says something else."""

    def draw(page: Layout, meta: Meta, inner: Inner, columns: int) -> list[Line]:
        target = display_text(next((meta[name] for name in names if meta.get(name)), ""))
        written = [plain(line).strip() for line in page.flow(inner, 1000)]
        label = " ".join(filter(None, written)) or display_text(meta.get("caption", "")) or _last_part(target)
        runs = [Span(f"{mark(page)} ", "quiet"), Span(label, "link", target or None)]
        if target and target not in label:
            runs.append(Span(f"  {target}", "quiet"))
        return wrap(runs, columns)

    return draw


def _last_part(target: str) -> str:
    return target if "://" in target else target.rstrip("/").rpartition("/")[2] or target


def _update(page: Layout, meta: Meta, inner: Inner, columns: int) -> list[Line]:
    return [_titled(page, display_text(meta.get("date", "Update")), columns), *page.flow(inner, columns)]


def _operation(page: Layout, meta: Meta, inner: Inner, columns: int) -> list[Line]:
    words = [meta.get("method", "").upper(), meta.get("path", ""), meta.get("spec", "")]
    runs = [Span(f"{page.glyphs.reference} ", "quiet"), Span(display_text(" ".join(filter(None, words))), "strong")]
    return [*wrap(runs, columns), *page.flow(inner, columns)]


def _plain(page: Layout, meta: Meta, inner: Inner, columns: int) -> list[Line]:
    return page.flow(inner, columns)


_TAGS: dict[str, Callable[[Layout, Meta, Inner, int], list[Line]]] = {
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
