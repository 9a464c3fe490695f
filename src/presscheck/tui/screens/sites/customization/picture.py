"""A small preview of a site in the terminal: header, list of pages, text and buttons, in the colors of both themes."""

from __future__ import annotations

from typing import TYPE_CHECKING

from presscheck.engine.site_customization.contrast import MODES, mixed, palette
from presscheck.engine.site_customization.rows import items_at
from presscheck.engine.site_customization.settings import value_at
from presscheck.text.sanitize import sanitize
from presscheck.text.styled_text import Line, Span, cut, pad

if TYPE_CHECKING:
    from presscheck.engine.site_customization.contrast import Mode, Palette
    from presscheck.engine.site_customization.settings import Document

SIDE = 11
"""Width in cells of the list of pages."""
MOST_LINKS = 3
GAP = 2
HEIGHT = 9
"""Height in lines of the preview of a theme, including its name."""


def picture(document: Document, title: str, columns: int, *, side_by_side: bool) -> list[Line]:
    """Draw the previews of the light and the dark theme.

    Args:
        document: the customization.
        title: the title of the site, as display text.
        columns: the width in cells.
        side_by_side: draw the themes next to each other; otherwise, the dark theme is below the light theme.
    """
    if not side_by_side:
        return [line for mode in MODES for line in (*_page(document, title, mode, columns), ())]
    half = (columns - GAP) // 2
    pages = [_page(document, title, mode, half) for mode in MODES]
    return [(*left, Span(" " * GAP), *right) for left, right in zip(*pages, strict=True)]


def _page(document: Document, title: str, mode: Mode, columns: int) -> list[Line]:
    page = palette(document, mode)
    first = value_at(document, ("themes", "default"))
    name = f"{mode}{' (first)' if first == mode else ''}"
    lines: list[Line] = [pad((Span(name, "quiet"),), columns)]
    message = _announcement(document, page, columns)
    lines += [message] if message else []
    if value_at(document, ("header", "preset")) != "none":
        lines.append(_header(document, title, page, columns))
    lines += _content(document, page, columns)
    blank = _row((), (), page, columns)
    return [*lines, *([blank] * HEIGHT)][:HEIGHT]


def _announcement(document: Document, page: Palette, columns: int) -> Line | None:
    if value_at(document, ("announcement", "enabled")) is not True:
        return None
    color = page.hints.get(str(value_at(document, ("announcement", "style"))), page.hints["info"])
    text = sanitize(str(value_at(document, ("announcement", "message")) or ""))
    return _on(color, (Span(f" {text}", page.ground),), columns)


def _header(document: Document, title: str, page: Palette, columns: int) -> Line:
    shown = sanitize(str(value_at(document, ("title",)) or "")) or title
    spans = [Span(f" {shown} ", f"{page.header_text} strong")]
    for item in items_at(document, ("header", "links"))[:MOST_LINKS]:
        label = sanitize(str(value_at(item, ("title",)) or ""))
        style = value_at(item, ("style",))
        if style == "button-primary":
            spans += [Span(" "), Span(f" {label} ", f"{page.ground} on{page.primary}")]
        else:
            spans.append(Span(f"  {label}{' ▾' if items_at(item, ('links',)) else ''}", page.header_link))
    return _on(page.header, tuple(spans), columns)


def _content(document: Document, page: Palette, columns: int) -> list[Line]:
    links = page.text if value_at(document, ("styling", "links")) == "accent" else page.primary
    pill = mixed(page.sidebar, page.primary, 0.12)
    mark = {"pill": "", "line": "▏"}.get(str(value_at(document, ("styling", "sidebar", "list"))), "")
    corners = "[]" if value_at(document, ("styling", "corners")) == "straight" else "()"
    current = Span(f" {mark}Start".ljust(SIDE), f"{page.primary} on{pill} strong")
    other = Span("  Guides".ljust(SIDE), page.quiet)
    more = Span("  Reference".ljust(SIDE), page.quiet)
    button = (Span(" Button ", f"{page.ground} on{page.primary} strong"),)
    second = Span(f"  {corners[0]}Second{corners[1]}", page.primary)
    hints = [
        Span(f"▍{name.capitalize()} ", f"{color} on{mixed(page.ground, color, 0.1)}")
        for name, color in page.hints.items()
    ]
    has_page_links = value_at(document, ("pagination", "enabled")) is not False
    return [
        _row((), (), page, columns),
        _row((current,), (Span("Start", f"{page.text} strong"),), page, columns),
        _row(
            (other,),
            (Span("Text with ", page.text), Span("a link", f"{links} underline"), Span(" in it", page.text)),
            page,
            columns,
        ),
        _row((more,), (*button, second), page, columns),
        _row((), tuple(hints[:2]), page, columns),
        _row((), tuple(hints[2:]), page, columns),
        _row((), (Span("Next: Guides →", page.quiet),) if has_page_links else (), page, columns),
    ]


def _row(side: Line, text: Line, page: Palette, columns: int) -> Line:
    """Join a line of the list of pages on the left and a line of text on the right."""
    return (*_on(page.sidebar, side, SIDE), *_on(page.ground, (Span(" "), *text), columns - SIDE))


def _on(color: str, line: Line, columns: int) -> Line:
    """Cut or pad a line to a width in cells, on a background color. Spans with a background color keep that color."""
    padded = pad(cut(line, columns), columns)
    return tuple(
        span if "on#" in span.style else span._replace(style=f"{span.style} on{color}".strip()) for span in padded
    )
