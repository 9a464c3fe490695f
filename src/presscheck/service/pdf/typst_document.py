"""Rendering of the blocks of a page as Typst markup.

The markup calls functions of `typst_document.typ`. All text, names, addresses and code of a page are string literals.
Interactive content becomes static: tabs follow one another with their titles, and expandable content is open.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from presscheck.documents.block_tags import HINTS, hint_of, registered_name
from presscheck.documents.markdown.anchors import AnchorNames, heading_anchor
from presscheck.documents.markdown.emoji import icon_text
from presscheck.documents.markdown.inline_runs import file_name, html_events
from presscheck.documents.markdown.page_size import PAGE_LIMITS, count_parts
from presscheck.documents.markdown.parser import inside, outermost, parse, take_alert, take_task
from presscheck.documents.markdown.table import read_table
from presscheck.documents.pages.front_matter import split_front_matter
from presscheck.service.pdf.typst_html import html_markup, table_markup
from presscheck.service.pdf.typst_inlines import (
    Resolve,
    TypstRuns,
    anchor_label,
    inline,
    only_pictures,
    text_markup,
    typst_string,
    web_target,
)
from presscheck.text.sanitize import sanitize
from presscheck.text.styled_text import Span, plain

if TYPE_CHECKING:
    from presscheck.documents.markdown.parser import Token, Tokens

MAX_DEPTH = 7
"""Maximum nesting depth of blocks, a limit of Typst; deeper blocks are flattened."""
_SHALLOW = frozenset(("paragraph_open", "heading_open", "table_open", "footnote_reference_open"))


class BlockContext(Protocol):
    """The parts of the page renderer that tags use."""

    @property
    def names(self) -> AnchorNames:
        """The anchors of the headings of the page."""
        ...

    def spots(self, anchors: Sequence[str]) -> str:
        """Render anchors, to which links can point."""
        ...

    @property
    def resolve(self) -> Resolve:
        """The resolver of addresses in the page."""
        ...

    def flow(self, tokens: Tokens) -> str:
        """Render a sequence of blocks."""
        ...

    def block(self, token: Token, inner: Tokens) -> str:
        """Render one block."""
        ...

    def code(self, token: Token, inner: Tokens, title: str = "", *, numbers: bool = False) -> str:
        """Render a code block."""
        ...

    def inline(self, spans: Sequence[Span], *, picture: str = "small-picture") -> str:
        """Render inline text."""
        ...

    def include(self, text: str) -> str:
        """Render the text of a snippet."""
        ...


TagRenderer = Callable[[BlockContext, "Token", "Tokens"], str]


def tag_markup(page: BlockContext, token: Token, inner: Tokens) -> str:
    """Render a tag and its content; unknown tags are rendered as written."""
    return RENDERERS.get(registered_name(token.meta["name"]), _as_written)(page, token, inner)


def hint_markup(kind: str, body: str) -> str:
    """Render a hint with its label."""
    hint = hint_of(kind)
    return f"#hint({typst_string(hint.style.removeprefix('hint-'))}, {typst_string(hint.label)}, [{body}]);\n"


def _as_written(page: BlockContext, token: Token, inner: Tokens) -> str:
    return f"#text(fill: quiet)[{text_markup(token.content)}];\n\n{page.flow(inner)}"


def _if(page: BlockContext, token: Token, inner: Tokens) -> str:
    """Omit the content: `visible_text` has already removed the condition tags of visible content."""
    return ""


def _content(page: BlockContext, token: Token, inner: Tokens) -> str:
    return page.flow(inner)


def pointer(kind: str, label: str, url: str, title: str, note: str = "") -> str:
    """Render a reference: its kind, target, title and a note."""
    return f"#pointer({', '.join(typst_string(argument) for argument in (kind, label, url, title, note))});\n"


def _hint(page: BlockContext, token: Token, inner: Tokens) -> str:
    return hint_markup(token.meta.get("style", "info"), page.flow(inner))


def _div(page: BlockContext, token: Token, inner: Tokens) -> str:
    kind = token.meta.get("class", "")
    return hint_markup(kind, page.flow(inner)) if kind in HINTS else page.flow(inner)


def _tab(page: BlockContext, token: Token, inner: Tokens) -> str:
    title = token.meta.get("title", "")
    spot = page.spots([heading_anchor(title)]) if title else ""
    return f"#tab({typst_string(title or 'Tab')}, [{spot}{page.flow(inner)}]);\n"


def _prompt(page: BlockContext, token: Token, inner: Tokens) -> str:
    return f"#tab({typst_string(token.meta.get('description', '') or 'Prompt')}, [{page.flow(inner)}]);\n"


def _stepper(page: BlockContext, token: Token, inner: Tokens) -> str:
    parts: list[str] = []
    number = 0
    for child, within in outermost(inner):
        if child.type == "tag_open" and child.meta["name"] == "step":
            number += 1
            icon = child.meta.get("icon", "")
            sign = f"{text_markup(icon_text(icon))}\n\n" if icon else ""
            parts.append(f"#step({number}, [{sign}{page.flow(within)}]);\n")
        else:
            parts.append(page.block(child, within))
    return "\n".join(parts)


def _columns(page: BlockContext, token: Token, inner: Tokens) -> str:
    parts = [page.flow(within) for child, within in outermost(inner) if child.type == "tag_open"]
    loose = [page.block(child, within) for child, within in outermost(inner) if child.type != "tag_open"]
    columns = f"#side-by-side({', '.join(f'[{part}]' for part in parts)});\n" if parts else ""
    return "\n".join([*loose, columns])


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
    spot = page.spots([page.names.expandable(token)])
    return f"#expandable([{spot}{page.inline(runs.spans)}], [{page.flow(inner)}]);\n"


def _caption(inner: Tokens) -> str:
    """Return the content of a tag as plain text."""
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
    title = " ".join(filter(None, (token.meta.get("method", "").upper(), _subject(token) or "Operation")))
    source = token.meta.get("src", "") or token.meta.get("spec", "")
    return pointer("API", "", web_target(source).url, title, source) + page.flow(inner)


def _include(page: BlockContext, token: Token, inner: Tokens) -> str:
    """Render the snippet that an include tag refers to by an address in quotation marks.

    Without a snippet, show the tag.
    """
    address = token.content.partition('"')[2].partition('"')[0]
    text = page.resolve(address).text
    return page.include(text) if text else f"#text(fill: quiet)[{text_markup(sanitize(token.content))}];\n"


RENDERERS: dict[str, TagRenderer] = {
    "hint": _hint,
    "div": _div,
    "tabs": _content,
    "tab": _tab,
    "stepper": _stepper,
    "step": _as_written,
    "code": _code,
    "prompt": _prompt,
    "details": _details,
    "columns": _columns,
    "column": _content,
    "updates": _content,
    "update": _update,
    "if": _if,
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
"""The renderer of each tag in `block_tags.BLOCK_TAGS`."""


@cache
def template() -> str:
    """Return the Typst definitions that precede the markup."""
    return Path(__file__).with_suffix(".typ").read_text("utf-8")


def render_typst(markdown: str, resolve: Resolve, *, name: str = "", level: int = 1) -> str:
    """Render the text of a page.

    Args:
        markdown: the text, without the title.
        resolve: resolves the addresses in it.
        name: the prefix of its labels; unique in a document.
        level: the level of the page's title; headings are below it.
    """
    text = split_front_matter(markdown.replace("\r\n", "\n").replace("\r", "\n"))[1]
    try:
        return TypstRenderer(resolve, name, level).page(text)
    except RecursionError:
        # too deeply nested to parse, so show the source code
        return source_markup(text)


def source_markup(text: str) -> str:
    """Render a text as source code."""
    return f"#code({typst_string(text, lines=True)});\n"


class TypstRenderer:
    """A renderer of the blocks of one page.

    Args:
        resolve: resolves addresses.
        name: the prefix of its labels.
        level: the level of the page's title.
    """

    def __init__(self, resolve: Resolve, name: str, level: int) -> None:
        self.resolve = resolve
        self._name, self._level = name, level
        self.names = AnchorNames()
        self._depth = 0
        self._including = 0
        self._room = PAGE_LIMITS.parts
        self._notes: dict[str, Tokens] = {}
        self._set_notes: set[str] = set()
        self._in_note = False

    def page(self, text: str) -> str:
        """Render a whole page."""
        tokens = parse(text, {})
        self._notes |= _notes(tokens)
        return self.flow(tokens)

    def flow(self, tokens: Tokens) -> str:
        """Render a sequence of blocks."""
        return "\n".join(filter(None, (self.block(token, inner) for token, inner in outermost(tokens))))

    def block(self, token: Token, inner: Tokens) -> str:
        """Render one block; blocks that are nested too deep are flattened."""
        render = _RENDERERS.get(token.type)
        if render is None:
            # parts without their own rendering, such as an item of a list that was flattened
            return self.flow(inner)
        if self._depth >= MAX_DEPTH and token.nesting == 1 and token.type not in _SHALLOW:
            return "\n\n".join(filter(None, (self._title(token), self.flow(inner))))
        self._depth += 1
        try:
            return render(self, token, inner)
        finally:
            self._depth -= 1

    def _title(self, token: Token) -> str:
        """Return the title of a tag that is rendered without a frame."""
        runs = TypstRuns()
        for event in html_events(token.meta.get("summary") or token.meta.get("title") or ""):
            runs.html(event)
        return self.inline(runs.spans)

    def include(self, text: str) -> str:
        """Render a snippet, or nothing if it includes itself or exceeds the limits of a page."""
        self._room -= 20 + count_parts(text) + len(text) // 25
        if self._including or self._room < 0:
            return ""
        self._including += 1
        try:
            return self.page(text)
        finally:
            self._including -= 1

    def spans(self, token: Token) -> TypstRuns:
        """Return the runs of inline text."""
        runs = TypstRuns()
        runs.tokens(token.children or [])
        return runs

    def inline(self, spans: Sequence[Span], *, picture: str = "small-picture") -> str:
        """Render inline text."""
        return inline(spans, self.resolve, self._note, picture=picture)

    def paragraph(self, token: Token, inner: Tokens) -> str:
        """Render a paragraph; a paragraph of images shows them at full size."""
        runs = self.spans(inner[0])
        pictures = only_pictures(runs.spans)
        if pictures:
            return "\n".join(self.picture(span.link or "", span.text) for span in pictures)
        markup = self.spots(runs.anchors) + self.inline(runs.spans)
        return markup if token.hidden else f"{markup}\n"

    def picture(self, address: str, shows: str, caption: str = "none") -> str:
        """Render an image as a block, or a link if it is not among the files."""
        target = self.resolve(address)
        if target.picture:
            return f"#picture({typst_string(target.picture)}, {typst_string(shows)}, {caption});\n"
        title = shows or target.title or sanitize(address).rpartition("/")[2] or "Image"
        url = typst_string(target.url)
        below = "" if caption == "none" else f"\n#{caption};\n"
        address = typst_string(target.url if target.url != title else "")
        return f'#pointer("Image", "", {url}, {typst_string(title)}, {address});\n{below}'

    def spots(self, anchors: Sequence[str]) -> str:
        """Render anchors, to which links can point."""
        names = (anchor_label(self._name, anchor) for anchor in dict.fromkeys(anchors) if anchor) if self._name else ()
        return "".join(f"#spot({typst_string(name)});" for name in names)

    def heading(self, token: Token, inner: Tokens) -> str:
        """Render a heading, relative to the level of the page's title."""
        runs = self.spans(inner[0])
        level = int(token.tag[1])
        anchor = self.names.heading(level, inner[0].children or [])
        # without footnotes, which would also appear in the running head and the bookmarks
        return self.titled(level, [anchor, *runs.anchors], inline(runs.spans, self.resolve))

    def titled(self, rank: int, anchors: Sequence[str], markup: str) -> str:
        """Render a heading, given its rank, anchors and markup."""
        return f"#section({self._level + max(rank - 1, 1)}, {rank}, [{self.spots(anchors)}{markup}]);\n"

    def rule(self, token: Token, inner: Tokens) -> str:
        """Render a divider."""
        return "#rule();\n"

    def code(self, token: Token, inner: Tokens, title: str = "", *, numbers: bool = False) -> str:
        """Render a code block."""
        info = token.info.split()
        lang = typst_string(info[0].lower()) if info else "none"
        titled = f"title: {typst_string(title)}, " if title else ""
        counted = "numbers: true, " if numbers else ""
        return f"#code({titled}{counted}lang: {lang}, {typst_string(token.content.rstrip(chr(10)), lines=True)});\n"

    def quote(self, token: Token, inner: Tokens) -> str:
        """Render a quotation or an alert."""
        kind = take_alert(inner)
        body = self.flow(inner)
        return hint_markup(kind, body) if kind else f"#cite[{body}];\n"

    def list(self, token: Token, inner: Tokens) -> str:
        """Render a list, as a task list if it has tasks."""
        items = [within for _, within in outermost(inner)]
        marks = [take_task(within) for within in items]
        bodies = [f"[{self.flow(within)}]" for within in items]
        if any(marks):
            states = {"": "none", " ": "false"}
            pairs = (f"({states.get(mark, 'true')}, {body})" for mark, body in zip(marks, bodies, strict=True))
            return f"#tasks({', '.join(pairs)});\n"
        is_tight = all(
            child.hidden for within in items for child, _ in outermost(within) if child.type == "paragraph_open"
        )
        tight = f"tight: {str(is_tight).lower()}"
        if token.type == "bullet_list_open":
            return f"#list({tight}, {', '.join(bodies)});\n"
        return f"#enum(start: {int(token.attrs.get('start', 1))}, {tight}, {', '.join(bodies)});\n"

    def table(self, token: Token, inner: Tokens) -> str:
        """Render a table."""
        return table_markup(self, read_table(inner, lambda cell: self.spans(cell).spans))

    def html(self, token: Token, inner: Tokens) -> str:
        """Render HTML."""
        return html_markup(self, token.content)

    def tag(self, token: Token, inner: Tokens) -> str:
        """Render a block tag."""
        return tag_markup(self, token, inner)

    def footnote(self, token: Token, inner: Tokens) -> str:
        """Render a footnote without a reference; other footnotes are rendered at their references."""
        label = str(token.meta["label"])
        return "" if label in self._notes else f"#super[{text_markup(label)}]; {self.flow(inner)}"

    def _note(self, label: str) -> str:
        inner = self._notes.get(label)
        if inner is None or self._in_note or self._including:
            return f"#super[{text_markup(label)}];"
        name = typst_string(f"{self._name}^{label}")
        if label in self._set_notes:
            return f"#footnote(label({name}));"
        self._set_notes.add(label)
        self._in_note = True
        try:
            return f"#footnote[{self.flow(inner)}]#label({name});"
        finally:
            self._in_note = False


def _notes(tokens: Sequence[Token]) -> dict[str, Tokens]:
    """Return the content of footnotes that have a reference outside of headings, by label."""
    labels = {
        str(child.meta["label"])
        for before, token in pairwise(tokens)
        if token.type == "inline" and before.type != "heading_open"
        for child in token.children or ()
        if child.type == "footnote_ref"
    }
    notes: dict[str, Tokens] = {}
    for at, token in enumerate(tokens):
        if token.type == "footnote_reference_open" and str(token.meta["label"]) in labels:
            notes.setdefault(str(token.meta["label"]), inside(tokens, at))
    return notes


_RENDERERS: dict[str, Callable[[TypstRenderer, Token, Tokens], str]] = {
    "paragraph_open": TypstRenderer.paragraph,
    "heading_open": TypstRenderer.heading,
    "bullet_list_open": TypstRenderer.list,
    "ordered_list_open": TypstRenderer.list,
    "blockquote_open": TypstRenderer.quote,
    "fence": TypstRenderer.code,
    "code_block": TypstRenderer.code,
    "hr": TypstRenderer.rule,
    "table_open": TypstRenderer.table,
    "html_block": TypstRenderer.html,
    "tag_open": TypstRenderer.tag,
    "tag": TypstRenderer.tag,
    "footnote_reference_open": TypstRenderer.footnote,
}
