"""Rendering of a page of Markdown as static HTML with resolved links.

The renderer builds its own markup from escaped text; raw HTML passes `sanitizer`. Pages need no script: tabs and
expandable parts are `<details>`. Ids of the page layout begin with `Site-`. Anchors of headings have no capital
letters, so they are never equal to such an id.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from html import escape
from typing import TYPE_CHECKING, Any, NamedTuple

from presscheck.documents.markdown.anchors import (
    AnchorNames,
    decode_fragment,
    encode_fragment,
    footnote_anchor,
    named_html,
    own_id,
)
from presscheck.documents.markdown.emoji import with_emoji
from presscheck.documents.markdown.page_size import PAGE_LIMITS, count_parts, size_problem
from presscheck.documents.markdown.parser import outermost, parse, take_alert, take_task
from presscheck.documents.visitors.condition_tags import visible_words
from presscheck.documents.visitors.conditional_text import visible_text
from presscheck.service.web.html.code import code_html
from presscheck.service.web.html.context import Component, Heading, Included, RenderContext, ResolvedLink
from presscheck.service.web.html.custom_tags import TAB_ID, hint_html, tag_html
from presscheck.service.web.html.formulas import with_formulas
from presscheck.service.web.html.inlines import image_html, inline_html
from presscheck.service.web.html.sanitizer import clean_html
from presscheck.service.web.html.tables import html_block
from presscheck.service.web.translations import translated

if TYPE_CHECKING:
    from presscheck.documents.markdown.parser import Environment, Token, Tokens
    from presscheck.documents.openapi.specification import SpecificationReader

__all__ = ["Heading", "HtmlPage", "Included", "RenderContext", "ResolvedLink", "render_page_html"]

INCLUDED = PAGE_LIMITS.parts
"""Maximum number of parts of all texts that a page includes. A lookup counts as 20 parts, 25 characters as one part."""
REFERENCE = 3 * INCLUDED
"""Maximum number of parts of all API references of a page; 25 characters count as one part."""
MAX_INCLUDES = 5
"""Maximum nesting depth of included texts."""
OUTLINE_LEVEL = 3
"""Deepest level of headings in the outline."""

_BREAKS = frozenset(("softbreak", "hardbreak"))
_empty_target = re.compile(r'(?<!\s)\s*<span id="[^"]*"></span>')
_ids = re.compile(r' id="([^"<>]*)"')
_tab_ids = re.compile(rf' id="{TAB_ID}([^"<>]*)"')
_formula = re.compile(r"\$\$(.+)\$\$", re.DOTALL)
_align = re.compile(r"text-align:(left|right|center)").search


class HtmlPage(NamedTuple):
    """A rendered page.

    Attributes:
        html: the HTML of its body.
        connections: origins to which the script of the page may send requests.
        frames: origins whose frames the script of the page may show.
    """

    html: str
    outline: tuple[Heading, ...]
    connections: tuple[str, ...] = ()
    frames: tuple[str, ...] = ()


def render_page_html(markdown: str, source: str, context: RenderContext, language: str = "en") -> HtmlPage:
    """Render a page without its title, with labels for screen readers in a language."""
    writer = HtmlRenderer(source, context, language)
    html = with_formulas(_with_tab_ids(writer.text(markdown)))
    return HtmlPage(html, tuple(writer.outline), tuple(writer.connections), tuple(writer.frames))


def _with_tab_ids(html: str) -> str:
    """Replace the provisional id of each tab by its anchor, or remove the id if the page already uses the anchor."""
    if TAB_ID not in html:
        return html
    used_ids = {match for match in _ids.findall(html) if not match.startswith(TAB_ID)}

    def with_id(match: re.Match[str]) -> str:
        anchor = match[1]
        if anchor in used_ids:
            return ""
        used_ids.add(anchor)
        return f' id="{anchor}"'

    return _tab_ids.sub(with_id, html)


class HtmlRenderer:
    """A renderer of the blocks of a page and of the texts that it includes.

    Rendering fills `outline`, `connections` and `frames`; see `HtmlPage`.
    """

    def __init__(self, source: str, context: RenderContext, language: str) -> None:
        self.context, self.language = context, language
        self.outline: list[Heading] = []
        self.connections: dict[str, None] = {}
        self.frames: dict[str, None] = {}
        self._sources = [source]
        self._names = AnchorNames()
        self._numbers = 0
        self._levels: list[int] = []
        """Levels of the last heading and the headings that contain it."""
        self._room, self._reference_room = INCLUDED, REFERENCE
        self._tab = ""
        self._is_foreign = False

    def text(self, markdown: str) -> str:
        """Render the parts of a text that the visitor may see."""
        if problem := size_problem(markdown):  # older versions of the service stored larger texts
            return f"<p>This text is {escape(problem)}.</p>"
        markdown = visible_text(markdown, self.holds)
        environment: Environment = {}
        try:
            return self.flow(parse(markdown, environment))
        except RecursionError:
            # too deeply nested to parse, so show the source code
            return f"<pre>{escape(markdown)}</pre>"

    def flow(self, tokens: Tokens) -> str:
        """Render a sequence of blocks."""
        return "\n".join(filter(None, (self.block(token, inner) for token, inner in outermost(tokens))))

    def block(self, token: Token, inner: Tokens) -> str:
        """Render one block."""
        write = _RENDERERS.get(token.type)
        return write(self, token, inner) if write else ""

    def closed_tab(self, title: str, inner: Tokens) -> str:
        """Render the content of a tab that is closed at first. Its headings in the outline get the title of the tab."""
        outer, self._tab = self._tab, title
        try:
            return self.flow(inner)
        finally:
            self._tab = outer

    def include(self, target: str) -> str:
        """Render an included text, or nothing if it includes itself or exceeds the limits of a page."""
        self._room -= 20
        is_allowed = self._room >= 0 and not self._is_foreign
        text = self.context.included(target, self._sources[-1]) if is_allowed else None
        if text is None or text.source in self._sources or len(self._sources) > MAX_INCLUDES:
            return ""
        self._room -= count_parts(text.markdown) + len(text.markdown) // 25
        if self._room < 0:
            return ""
        self._sources.append(text.source)
        try:
            return self.text(text.markdown)
        finally:
            self._sources.pop()

    def leads(self, target: str) -> ResolvedLink | None:
        """Resolve a link of the current text; return None if the link is broken."""
        if target.startswith("#"):
            return ResolvedLink(f"#{encode_fragment(decode_fragment(target[1:]))}")
        link = self.context.leads(target, self._sources[-1])
        return link and link._replace(title=visible_words(link.title, self.holds))

    def clean(self, html: str) -> str:
        """Sanitize raw HTML."""
        return clean_html(html, self._follow) if html.strip() else ""

    def variable(self, name: str) -> str | None:
        """Return the value of an expression, or None if it is unknown."""
        value = self.context.variable(name)
        return value and visible_words(value, self.holds)

    def holds(self, condition: str) -> bool:
        """Return whether the visitor meets a condition."""
        return self.context.holds(condition)

    def component(self, integration: str, block: str, props: dict[str, Any]) -> Component | None:
        """Return the component for a block.

        Return None if it cannot be drawn, is in the text of another component, or the page has no room left.
        """
        return None if self._is_foreign or self._room < 0 else self.context.component(integration, block, props)

    def has_room(self, html: str) -> bool:
        """Reserve room on the page for the HTML of a component. Return False if too little is left."""
        self._room -= len(html) // 25
        return self._room >= 0

    def specification(self, name: str, *, is_file: bool) -> SpecificationReader | None:
        """Return the specification that a block of the page refers to, or None if it cannot be read."""
        return None if self._is_foreign else self.context.specification(name, self._sources[-1], is_file=is_file)

    def model_url(self, reader: SpecificationReader, name: str) -> str | None:
        """Return the URL of the description of a model, or None if no page has it."""
        return self.context.model_url(reader, name)

    def connect(self, origin: str) -> None:
        """Allow the script of the page to send requests to an origin."""
        self.connections[origin] = None

    def frame(self, origin: str) -> None:
        """Allow the script of the page to show frames of an origin."""
        self.frames[origin] = None

    def named_heading(self, level: int, title: str) -> str:
        """Render a heading that is not in the Markdown, such as the title of an API operation, with its anchor."""
        anchor = self._names.name(title)
        href, depth = encode_fragment(anchor), self._depth(level)
        self.outline.append(Heading(level, title, href, self._tab))
        at = f' aria-level="{depth}"' if depth != level else ""
        return f'<h{level} id="{escape(anchor)}"{at}>{escape(title)} {self._anchor_link(href)}</h{level}>'

    def foreign_text(self, markdown: str) -> str:
        """Render Markdown of an integration without includes, and leave its headings out of the outline.

        Return an empty string if the page has no room left.
        """
        self._room -= count_parts(markdown) + len(markdown) // 25
        if self._room < 0:
            return ""
        self._is_foreign, listed = True, len(self.outline)
        try:
            return self.text(markdown)
        finally:
            self._is_foreign = False
            del self.outline[listed:]

    def reference_text(self, markdown: str) -> str:
        """Render Markdown of a specification, within the limit for all API references on the page."""
        room, self._room = self._room, self._reference_room
        try:
            return self.foreign_text(markdown)
        finally:
            self._reference_room, self._room = self._room, room

    def has_reference_room(self, html: str) -> bool:
        """Reserve room on the page for the HTML of an operation. Return False if too little is left."""
        self._reference_room -= len(html) // 25
        return self._reference_room >= 0

    def translated(self, words: str) -> str:
        """Return a text of the interface in the language of the page."""
        return translated(words, self.language)

    def number(self) -> int:
        """Return the next number on the page, for unique ids."""
        self._numbers += 1
        return self._numbers

    def words(self, inner: Tokens) -> str:
        """Render the inline text of a block."""
        return inline_html(inner[0].children or [], self) if inner else ""

    def paragraph(self, token: Token, inner: Tokens) -> str:
        """Render a paragraph, a formula, or a single image as a figure with its caption."""
        children = inner[0].children or [] if inner else []
        if len(children) == 1 and children[0].type == "image" and not token.hidden:
            image, source = children[0], str(children[0].attrs.get("src", ""))
            caption = str(image.attrs.get("title") or "")
            figcaption = f"<figcaption>{escape(caption)}</figcaption>" if caption else ""
            return f"<figure>{image_html(source, image.content, self)}{figcaption}</figure>"
        formula = _formula.fullmatch(inner[0].content.strip()) if inner else None
        if formula and "$$" not in formula[1]:
            return f'<pre class="formula">{escape(formula[1].strip())}</pre>'
        words = inline_html(children, self)
        return words if token.hidden else f"<p>{words}</p>"

    def heading(self, token: Token, inner: Tokens) -> str:
        """Render a heading with its anchor. Level 1 becomes 2, because the title of the page has level 1."""
        level = max(2, int(token.tag[1]))
        children = inner[0].children or [] if inner else []
        title, anchor = _words(children), self._names.heading(int(token.tag[1]), children)
        href, words = encode_fragment(anchor), self.words(inner)
        depth = self._depth(level)
        at = f' aria-level="{depth}"' if depth != level else ""
        if not anchor:
            return f"<h{level}{at}>{words}</h{level}>"
        if own_id(children):  # the heading has taken over the id of this empty target
            words = _empty_target.sub("", words, count=1)
        if level <= OUTLINE_LEVEL and title:
            self.outline.append(Heading(level, with_emoji(title), href, self._tab))
        return f'<h{level} id="{escape(anchor)}"{at}>{words} {self._anchor_link(href)}</h{level}>'

    def _depth(self, level: int) -> int:
        """Return the depth of the next heading, given its level.

        The title of the page has depth 1. A heading is one deeper than the heading that contains it, even if levels are
        skipped.
        """
        while self._levels and self._levels[-1] >= level:
            self._levels.pop()
        self._levels.append(level)
        return 1 + len(self._levels)

    def expandable_anchor(self, token: Token) -> str:
        """Return the anchor of an expandable, given its tag."""
        return self._names.expandable(token)

    def code(self, token: Token, inner: Tokens) -> str:
        """Render a code block."""
        words = token.info.split()
        return code_html(token.content, words[0] if words else "")

    def quote(self, token: Token, inner: Tokens) -> str:
        """Render a quotation or an alert."""
        kind = take_alert(inner)
        if kind:
            return hint_html(self, kind, inner)
        return f"<blockquote>{self.flow(inner)}</blockquote>"

    def list(self, token: Token, inner: Tokens) -> str:
        """Render a list, with check boxes for tasks."""
        name = "ol" if token.type == "ordered_list_open" else "ul"
        first = token.attrs.get("start", 1)
        start = f' start="{int(first)}"' if name == "ol" and first != 1 else ""
        return f"<{name}{start}>{''.join(self._item(within) for _, within in outermost(inner))}</{name}>"

    def _item(self, inner: Tokens) -> str:
        task = take_task(inner)
        if not task:
            return f"<li>{self.flow(inner)}</li>"
        checked = " checked" if task in "xX" else ""
        label = self.translated("Done" if checked else "Not done")
        box = f'<input type="checkbox" disabled{checked} aria-label="{label}">'
        return f'<li class="task">{box} {self.flow(inner)}</li>'

    def table(self, token: Token, inner: Tokens) -> str:
        """Render a table."""
        parts = "".join(
            f"<{part.tag}>{''.join(self._row(row) for _, row in outermost(rows))}</{part.tag}>"
            for part, rows in outermost(inner)
        )
        return f'<div class="table" tabindex="0"><table>{parts}</table></div>'

    def _row(self, cells: Tokens) -> str:
        written = ""
        for cell, within in outermost(cells):
            align = _align(str(cell.attrs.get("style", "")))
            classed = f' class="{align[1]}"' if align else ""
            words = self.words(within)
            name, scope = ("th", ' scope="col"') if cell.tag == "th" and words else ("td", "")
            written += f"<{name}{scope}{classed}>{words}</{name}>"
        return f"<tr>{written}</tr>"

    def html(self, token: Token, inner: Tokens) -> str:
        """Render raw HTML."""
        return named_html(html_block(token.content, self), self._names)

    def tag(self, token: Token, inner: Tokens) -> str:
        """Render a block tag."""
        return tag_html(self, token, inner)

    def rule(self, token: Token, inner: Tokens) -> str:
        """Render a divider."""
        return "<hr>"

    def footnote(self, token: Token, inner: Tokens) -> str:
        """Render a footnote where it is defined."""
        label = str(token.meta["label"])
        anchor = escape(footnote_anchor(label))
        return f'<div class="footnote" id="{anchor}"><sup>{escape(label)}</sup> {self.flow(inner)}</div>'

    def _anchor_link(self, fragment: str) -> str:
        label = self.translated("Link to this heading")
        return f'<a class="anchor" href="#{escape(fragment)}" aria-label="{escape(label)}">#</a>'

    def _follow(self, tag: str, target: str) -> str | None:
        link = self.leads(target)
        return link.url if link else None


def _words(tokens: Sequence[Token]) -> str:
    """Return inline text without markup."""
    words = [" " if token.type in _BREAKS else token.content for token in tokens if token.type != "html_inline"]
    return " ".join("".join(words).split())


_RENDERERS: dict[str, Callable[[HtmlRenderer, Token, Sequence[Token]], str]] = {
    "paragraph_open": HtmlRenderer.paragraph,
    "heading_open": HtmlRenderer.heading,
    "bullet_list_open": HtmlRenderer.list,
    "ordered_list_open": HtmlRenderer.list,
    "blockquote_open": HtmlRenderer.quote,
    "fence": HtmlRenderer.code,
    "code_block": HtmlRenderer.code,
    "hr": HtmlRenderer.rule,
    "table_open": HtmlRenderer.table,
    "html_block": HtmlRenderer.html,
    "tag_open": HtmlRenderer.tag,
    "tag": HtmlRenderer.tag,
    "footnote_reference_open": HtmlRenderer.footnote,
}
