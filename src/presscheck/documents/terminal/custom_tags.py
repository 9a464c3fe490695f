"""Renders the platform's block tags as terminal lines: hints, tabs, steppers, references, embeds, API operations.

Each tag shows its meaning in words, so that a page is readable without color. Tabs and expandables have controls if the
page has a state for them; otherwise all their content is shown. An unknown tag is a box with its name and its content.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from html import unescape
from typing import TYPE_CHECKING, Protocol

from presscheck.documents.block_tags import HINTS, hint_of, included_address, registered_name
from presscheck.documents.markdown.inline_runs import InlineRuns, InlineWords, html_events
from presscheck.documents.markdown.parser import outermost
from presscheck.documents.terminal.code import CodeLook
from presscheck.documents.terminal.controls import Controls, Mark, target
from presscheck.documents.terminal.references import References
from presscheck.documents.terminal.symbols import Symbols
from presscheck.documents.visitors.condition_tags import condition_of
from presscheck.text.sanitize import sanitize
from presscheck.text.styled_text import Line, Span, cut, pad, plain, remaining_cells, width, with_prefix, wrap

if TYPE_CHECKING:
    from presscheck.documents.markdown.parser import Token, Tokens


class BlockContext(Protocol):
    """The parts of the page renderer that tags use."""

    @property
    def symbols(self) -> Symbols:
        """The symbols for drawing the page."""
        ...

    @property
    def references(self) -> References:
        """The content that the page refers to."""
        ...

    @property
    def controls(self) -> Controls | None:
        """The state of the page's controls; None if everything is open."""
        ...

    @property
    def inline_words(self) -> InlineWords:
        """The display forms of formulas, icons and the like."""
        ...

    def key(self, token: Token) -> str:
        """Return the key of the controls of a block."""
        ...

    def flow(self, tokens: Tokens, columns: int) -> list[Line]:
        """Render a sequence of blocks."""
        ...

    def block(self, token: Token, inner: Tokens, columns: int) -> list[Line]:
        """Render one block."""
        ...

    def words(self, text: str, style: str, columns: int) -> list[Line]:
        """Render plain text."""
        ...

    def include(self, address: str, token: Token, columns: int) -> list[Line]:
        """Render reusable content, or the reason why it is not shown; nothing if the content is unknown."""
        ...

    def code_block(
        self, text: str, columns: int, look: CodeLook, key: str, *, collapsed: int | None = None
    ) -> list[Line]:
        """Render code."""
        ...


TagRenderer = Callable[[BlockContext, "Token", "Tokens", int], list[Line]]
UNKNOWN = "Unknown block"
"""The label of a tag without a renderer."""


def tag_lines(page: BlockContext, token: Token, inner: Tokens, columns: int) -> list[Line]:
    """Render a tag and its content."""
    name = token.meta["name"]
    renderer = RENDERERS.get(name) or RENDERERS.get(registered_name(name), _unknown)
    return renderer(page, token, inner, columns)


def hint_lines(page: BlockContext, kind: str, lines: list[Line], columns: int, icon: str = "") -> list[Line]:
    """Render a hint after a colored bar: an icon, its label, and `lines`, which have at most `columns` cells."""
    hint = hint_of(kind)
    bar = Span(f"{page.symbols.hint} ", hint.style)
    return with_prefix([*_hint_label(page, kind, columns, icon), *lines], (bar,), (bar,))


def _hint_label(page: BlockContext, kind: str, columns: int, icon: str) -> list[Line]:
    hint = hint_of(kind)
    return wrap([Span(_with_icon(page, icon, hint.label), f"{hint.style} strong")], columns)


def _with_icon(page: BlockContext, icon: str, title: str) -> str:
    """Put an icon before a title, in the form of icons in text."""
    return f"{sanitize(page.inline_words.icon(icon))} {title}" if icon else title


def titled_rule(title: str, columns: int, symbols: Symbols) -> Line:
    """Return a hairline with a title in it."""
    name = cut((Span(title, "accent strong"),), max(columns - 4, 1), symbols.ellipsis)
    columns_left = columns - width(name) - 3
    if columns_left < 1:
        return name
    rule = symbols.hairline
    return Span(f"{rule} ", "quiet"), *name, Span(f" {rule * columns_left}", "quiet")


def _barred(page: BlockContext, head: list[Line], inside: Callable[[int], list[Line]], columns: int) -> list[Line]:
    """Render a head, and below it indented content after a bar."""
    narrow = remaining_cells(columns, 2)
    lines = inside(narrow or columns)
    bar = (Span(f"{page.symbols.quote} ", "quiet"),)
    return [*head, *(with_prefix(lines, bar, bar) if narrow else lines)]


def _unknown(page: BlockContext, token: Token, inner: Tokens, columns: int) -> list[Line]:
    return _box(f"{UNKNOWN}: {token.meta['name']}", _attributes(token))(page, token, inner, columns)


def _box(title: str, values: Sequence[tuple[str, str]]) -> TagRenderer:
    """Return a renderer that shows a tag as a box with a title, its values and its content."""

    def render(page: BlockContext, token: Token, inner: Tokens, columns: int) -> list[Line]:
        def inside(narrow: int) -> list[Line]:
            lines: list[Line] = []
            for name, value in values:
                lines.extend(_value_lines(page, name, value, narrow))
            return [*lines, *page.flow(inner, narrow)]

        head = wrap([Span(sanitize(title), "strong")], columns)
        return _barred(page, head, inside, columns)

    return render


def _value_lines(page: BlockContext, name: str, value: str, columns: int) -> list[Line]:
    if "\n" in value:
        return [
            *page.words(f"{name}:", "quiet", columns),
            *(line for part in value.split("\n") for line in page.words(part, "", columns) or [()]),
        ]
    return wrap([Span(f"{sanitize(name)}: ", "quiet"), Span(sanitize(value))], columns)


def _attributes(token: Token) -> list[tuple[str, str]]:
    return [(name.rstrip("="), value) for name, value in token.meta.items() if name != "name"]


def _box_renderer(title: str) -> TagRenderer:
    """Return a renderer that shows a tag as a box with its attributes and its content."""

    def render(page: BlockContext, token: Token, inner: Tokens, columns: int) -> list[Line]:
        return _box(title, _attributes(token))(page, token, inner, columns)

    return render


_integration_name = re.compile(r"\{%-?[ \t]*@([\w-]+/[\w-]+)").match


def _integration(page: BlockContext, token: Token, inner: Tokens, columns: int) -> list[Line]:
    match = _integration_name(token.content)
    name = match[1] if match else str(token.meta["name"])
    title = f"Integration: {name}"
    lines = page.references.component(token.content, remaining_cells(columns, 2) or columns)
    if lines is None:
        values = [(key, unescape(value)) for key, value in _attributes(token)]
        return _box(title, values)(page, token, inner, columns)
    head = wrap([Span(sanitize(title), "quiet")], columns)
    return _barred(page, head, lambda narrow: [cut(line, narrow, page.symbols.ellipsis) for line in lines], columns)


def _include(page: BlockContext, token: Token, inner: Tokens, columns: int) -> list[Line]:
    address = included_address(token.content)
    included = page.references.included(address)
    title = sanitize(included.title if included and included.title else address or token.content)
    head = wrap([Span("Reusable content: ", "quiet"), Span(title, "strong")], columns)
    return _barred(page, head, lambda narrow: page.include(address, token, narrow), columns)


def _if(page: BlockContext, token: Token, inner: Tokens, columns: int) -> list[Line]:
    condition = " ".join((condition_of(token.content) or "").split())
    is_shown = page.references.shows(condition) if condition else None
    if is_shown is not None:
        return page.flow(inner, columns) if is_shown else []
    head = wrap([Span("Shown if ", "quiet"), Span(sanitize(condition or token.content), "code")], columns)
    return _barred(page, head, lambda narrow: page.flow(inner, narrow), columns)


def _content(page: BlockContext, token: Token, inner: Tokens, columns: int) -> list[Line]:
    return page.flow(inner, columns)


def _hint(page: BlockContext, token: Token, inner: Tokens, columns: int) -> list[Line]:
    meta: dict[str, str] = token.meta
    return _hint_of_kind(page, meta.get("style", "info"), inner, columns, meta.get("icon", ""))


def _hint_of_kind(page: BlockContext, kind: str, inner: Tokens, columns: int, icon: str = "") -> list[Line]:
    narrow = remaining_cells(columns, 2)
    lines = page.flow(inner, narrow or columns)
    if narrow:
        return hint_lines(page, kind, lines, narrow, icon)
    return [*_hint_label(page, kind, columns, icon), *lines]


def _div(page: BlockContext, token: Token, inner: Tokens, columns: int) -> list[Line]:
    kind = token.meta.get("class", "")
    return _hint_of_kind(page, kind, inner, columns) if kind in HINTS else page.flow(inner, columns)


def _tabs(page: BlockContext, token: Token, inner: Tokens, columns: int) -> list[Line]:
    """Render the titles of all tabs and the content of one tab; without controls, all tabs one below the other."""
    blocks = outermost(inner)
    tabs = [(tab, within) for tab, within in blocks if tab.type == "tag_open" and tab.meta["name"] == "tab"]
    controls = page.controls
    if controls is None or controls.shows_all or len(tabs) != len(blocks) or len(tabs) < 2:
        lines = page.flow(inner, columns)
        return [*lines, (Span(page.symbols.hairline * columns, "quiet"),)] if lines else []
    key = page.key(token)
    controls.hides = True
    chosen = min(controls.value(key), len(tabs) - 1)
    titles = [_tag_title(page, tab, "title", "Tab") for tab, _ in tabs]
    mark = Mark("tabs", key, chosen, len(tabs) - 1).span
    bar = [(mark, *line) for line in _tab_bar(titles, chosen, key, columns, page.symbols)]
    rule: Line = (Span(page.symbols.hairline * columns, "quiet"),)
    return [*bar, rule, *page.flow(tabs[chosen][1], columns), rule]


def _tab_bar(titles: Sequence[str], chosen: int, key: str, columns: int, symbols: Symbols) -> Iterator[Line]:
    """Yield the titles of tabs, as many per line as fit; the chosen title is in brackets."""
    line: list[Span] = []
    for number, title in enumerate(titles):
        is_chosen = number == chosen
        name = cut((Span(title, "accent strong" if is_chosen else ""),), max(columns - 4, 1), symbols.ellipsis)[0].text
        # without surrounding blanks, which would be part of the link's label
        link = Span(name, "quiet", target(key, number))
        spans = (Span(f"[ {name} ]", "accent strong"),) if is_chosen else (Span("  "), link, Span("  "))
        if line and width((*line, *spans)) > columns:
            yield tuple(line)
            line = []
        line += cut(spans, columns)
    yield tuple(line)


def _tag_title(page: BlockContext, token: Token, attribute: str, default: str) -> str:
    return _with_icon(page, token.meta.get("icon", ""), sanitize(token.meta.get(attribute, "")) or default)


def _titled(attribute: str, default: str) -> TagRenderer:
    """Return a renderer that shows a tag as a hairline with a title, above its content."""

    def render(page: BlockContext, token: Token, inner: Tokens, columns: int) -> list[Line]:
        title = _tag_title(page, token, attribute, default)
        return [titled_rule(title, columns, page.symbols), *page.flow(inner, columns)]

    return render


def _stepper(page: BlockContext, token: Token, inner: Tokens, columns: int) -> list[Line]:
    lines: list[Line] = []
    number = 0
    for child, within in outermost(inner):
        if child.type == "tag_open" and child.meta["name"] == "step":
            number += 1
            step = _step(page, number, child.meta.get("icon", ""), within, columns)
        else:
            step = page.block(child, within, columns)
        lines.extend([(), *step] if lines else step)
    return lines


def _step(page: BlockContext, number: int, icon: str, inner: Tokens, columns: int) -> list[Line]:
    label = f"{number}"
    narrow = remaining_cells(columns, len(label) + 2)
    lines = page.flow(inner, narrow or columns)
    if icon:
        lines = _after_icon(page, icon, inner, lines, narrow or columns)
    if not narrow:
        return [*page.words(label, "accent strong", columns), *lines]
    bar = Span(page.symbols.quote.ljust(len(label) + 2), "quiet")
    return with_prefix(lines or [()], (Span(f"{label}  ", "accent strong"),), (bar,))


def _after_icon(page: BlockContext, icon: str, inner: Tokens, lines: list[Line], columns: int) -> list[Line]:
    """Put an icon before the first of the rendered `lines`.

    The icon has a line of its own if the first line has no room or does not start with words.
    """
    sign = page.words(page.inline_words.icon(icon), "quiet", columns)
    words = inner[1].content if inner and inner[0].type in ("heading_open", "paragraph_open") else ""
    line = (*sign[-1], Span(" "), *lines[0]) if lines and sign else ()
    if not line or not words or "![" in words or "<img" in words or width(line) > columns:
        return [*sign, *lines]
    return [*sign[:-1], line, *lines[1:]]


def _code(page: BlockContext, token: Token, inner: Tokens, columns: int) -> list[Line]:
    lines: list[Line] = []
    meta: dict[str, str] = token.meta
    title = meta.get("title", "")
    collapsed = meta.get("collapsedlinecount", "10") if meta.get("expandable") == "true" else ""
    for child, within in outermost(inner):
        if child.type == "fence":
            words = child.info.split()
            look = CodeLook(
                language=words[0] if words else "", title=title, is_numbered=meta.get("linenumbers") == "true"
            )
            most = int(collapsed) if collapsed.isdecimal() and len(collapsed) < 7 else None
            part = page.code_block(child.content, columns, look, page.key(child), collapsed=most)
            title = ""
        else:
            part = page.block(child, within, columns)
        lines.extend(part)
    return lines


def _columns(page: BlockContext, token: Token, inner: Tokens, columns: int) -> list[Line]:
    """Render columns side by side if each has enough room, otherwise one below the other."""
    blocks = outermost(inner)
    if len(blocks) < 2 or not all(
        opening.type == "tag_open" and opening.meta["name"] == "column" for opening, _ in blocks
    ):
        return page.flow(inner, columns)
    sizes = _column_sizes(
        [opening.meta.get("width", "") for opening, _ in blocks], columns - COLUMN_GAP * (len(blocks) - 1)
    )
    if min(sizes) < NARROWEST_COLUMN:
        return page.flow(inner, columns)
    parts = [page.flow(within, size) for (_, within), size in zip(blocks, sizes, strict=True)]
    gap = Span(" " * COLUMN_GAP)
    lines: list[Line] = []
    for number in range(max(map(len, parts))):
        line: list[Span] = []
        for part, size in zip(parts, sizes, strict=True):
            line.extend((*([gap] if line else ()), *pad(part[number] if number < len(part) else (), size)))
        lines.append(tuple(line))
    return lines


NARROWEST_COLUMN = 24
"""Minimum width of columns that are rendered side by side."""
COLUMN_GAP = 3


def _column_sizes(widths: Sequence[str], columns: int) -> list[int]:
    shares = [float(text[:-1]) if re.fullmatch(r"\d{1,3}(\.\d{1,6})?%", text) else 0.0 for text in widths]
    free = max(0.0, 100 - sum(shares)) / max(1, shares.count(0))
    shares = [share or max(free, 1.0) for share in shares]
    sizes = [int(columns * share / sum(shares)) for share in shares]
    sizes[-1] += columns - sum(sizes)
    return sizes


_opening = re.compile(r"<details\b[^<>]*\sopen\b", re.IGNORECASE).match


def _details(page: BlockContext, token: Token, inner: Tokens, columns: int) -> list[Line]:
    runs = InlineRuns(page.symbols.image, "strong", page.inline_words)
    for event in html_events(token.meta.get("summary", "") or "Details"):
        runs.html(event)
    return _foldable(page, token, runs.spans, inner, columns, is_open=bool(_opening(token.content)))


def _foldable(
    page: BlockContext, token: Token, title: list[Span], inner: Tokens, columns: int, *, is_open: bool
) -> list[Line]:
    """Render a title, and content below it unless it is folded."""
    controls = page.controls
    mark: tuple[Span, ...] = ()
    sign = Span(f"{page.symbols.opened} ", "accent")
    if controls and not controls.shows_all:
        key = page.key(token)
        is_open = bool(controls.value(key, int(is_open)))
        controls.hides = controls.hides or not is_open
        fold = target(key, 0 if is_open else 1)
        mark = (Mark("fold", key, int(is_open), 1).span,)
        sign = Span(f"{page.symbols.opened if is_open else page.symbols.closed} ", "accent", fold)
        title = [span if span.link else span._replace(link=fold) for span in title]
    else:
        is_open = True
    narrow = remaining_cells(columns, 2)
    if not narrow:
        lines = [(*mark, *line) for line in wrap([sign, *title], columns)]
        return [*lines, *(page.flow(inner, columns) if is_open else ())]
    head = with_prefix(wrap(title, narrow), (*mark, sign), (*mark, Span("  ")))
    return [*head, *(with_prefix(page.flow(inner, narrow), (Span("  "),), (Span("  "),)) if is_open else ())]


def _update(page: BlockContext, token: Token, inner: Tokens, columns: int) -> list[Line]:
    tags = "  ".join(f"#{name.strip()}" for name in token.meta.get("tags", "").split(",") if name.strip())
    title = sanitize("   ".join(filter(None, (token.meta.get("date", "") or "Update", tags))))
    return [titled_rule(title, columns, page.symbols), *page.flow(inner, columns)]


def _link(symbol: Callable[[Symbols], str], attribute: str) -> TagRenderer:
    """Return a renderer for a tag with a link: its symbol, its label, and the address unless the label contains it."""

    def render(page: BlockContext, token: Token, inner: Tokens, columns: int) -> list[Line]:
        address = sanitize(token.meta.get(attribute, ""))
        target = page.references.target(address) if address else None
        caption = [plain(line).strip() for line in page.flow(inner, 1000)]
        words = " ".join(filter(None, caption)) or sanitize(token.meta.get("caption", ""))
        if target and target.title and token.meta["name"] == "content-ref":
            words = sanitize(target.title)
        label = words or (sanitize(target.title) if target else "") or _last_part(address)
        sign = f" {page.symbols.broken}" if target and target.is_broken else ""
        runs = [Span(f"{symbol(page.symbols)} ", "quiet"), Span(label.removesuffix(sign), "link", address or None)]
        if sign:
            runs.append(Span(sign, "error"))
        if address and address not in label:
            runs.append(Span(f"  {address}", "quiet"))
        return wrap(runs, columns)

    return render


def _last_part(target: str) -> str:
    return target if "://" in target else target.rstrip("/").rpartition("/")[2] or target


def _operation(page: BlockContext, token: Token, inner: Tokens, columns: int) -> list[Line]:
    """Render an API operation: method and path, and its documentation if the API description is loaded."""
    meta: dict[str, str] = token.meta
    source = meta.get("spec", "") or meta.get("src", "")
    subject = meta.get("path", "") or meta.get("name=", "")
    method = meta.get("method", "")
    title = [Span(f"{sanitize(method.upper())} ", "accent strong"), Span(sanitize(subject), "strong")]
    if source:
        title.append(Span(f"  {sanitize(source)}", "quiet"))
    description = page.references.specification(source) if source else None
    if description is None:
        return [*wrap([Span(f"{page.symbols.reference} ", "quiet"), *title], columns), *page.flow(inner, columns)]
    # importing takes 2 ms, so only for a page with an API operation whose description is loaded
    from presscheck.documents.terminal import openapi

    find = openapi.find_webhook if meta["name"] == "openapi-webhook" else openapi.find_operation
    operation = find(description, subject, method)
    if operation is None:
        title.append(Span(f" {page.symbols.broken} not in the specification", "error"))
        return [*wrap([Span(f"{page.symbols.reference} ", "quiet"), *title], columns), *page.flow(inner, columns)]
    lines = openapi.operation_lines(description, operation, remaining_cells(columns, 2) or columns)
    return [*_with_lines(page, token, title, lines, columns), *page.flow(inner, columns)]


def _schemas(page: BlockContext, token: Token, inner: Tokens, columns: int) -> list[Line]:
    """Render schemas of an API, with their properties if the API description is loaded."""
    meta: dict[str, str] = token.meta
    names = [name.strip() for name in meta.get("schemas", "").split(",") if name.strip()]
    description = page.references.specification(meta.get("spec", ""))
    title = [Span("Schemas ", "accent strong"), Span(sanitize(", ".join(names)), "strong")]
    title.append(Span(f"  {sanitize(meta.get('spec', ''))}", "quiet"))
    if description is None:
        return [*wrap([Span(f"{page.symbols.reference} ", "quiet"), *title], columns), *page.flow(inner, columns)]
    # importing takes 2 ms, so only for a page with schemas whose description is loaded
    from presscheck.documents.terminal import openapi

    lines: list[Line] = []
    for name in names:
        lines.extend(([()] if lines else []) + wrap([Span(sanitize(name), "heading")], columns))
        schema = openapi.schema_lines(description, name, remaining_cells(columns, 2) or columns)
        lines.extend(schema or [(Span(f"{page.symbols.broken} not in the specification", "error"),)])
    return [*_with_lines(page, token, title, lines, columns), *page.flow(inner, columns)]


def _with_lines(page: BlockContext, token: Token, title: list[Span], lines: list[Line], columns: int) -> list[Line]:
    head = _foldable(page, token, title, (), columns, is_open=True)
    controls = page.controls
    if controls and not controls.shows_all and not controls.value(page.key(token), 1):
        return head
    blank = (Span("  "),)
    indented = with_prefix(lines, blank, blank) if remaining_cells(columns, 2) else lines
    return [*head, *(cut(line, columns) for line in indented)]


RENDERERS: dict[str, TagRenderer] = {
    "hint": _hint,
    "div": _div,
    "tabs": _tabs,
    "tab": _titled("title", "Tab"),
    "stepper": _stepper,
    "step": _content,
    "code": _code,
    "prompt": _titled("description", "Prompt"),
    "details": _details,
    "columns": _columns,
    "column": _content,
    "updates": _content,
    "update": _update,
    "if": _if,
    "include": _include,
    "content-ref": _link(lambda symbols: symbols.reference, "url"),
    "embed": _link(lambda symbols: symbols.embed, "url"),
    "file": _link(lambda symbols: symbols.file, "src"),
    "openapi": _operation,
    "openapi-operation": _operation,
    "openapi-webhook": _operation,
    "openapi-schemas": _schemas,
    "swagger": _operation,
    "swagger-description": _content,
    "swagger-parameter": _box_renderer("Parameter"),
    "swagger-response": _box_renderer("Response"),
    "@": _integration,
}
"""The renderer of each tag in `block_tags.BLOCK_TAGS`."""
