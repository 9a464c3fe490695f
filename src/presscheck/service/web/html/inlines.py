"""Rendering of inline text as HTML. If a text contains raw HTML, the whole text is sanitized."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from html import escape
from typing import TYPE_CHECKING, Protocol

from presscheck.documents.markdown.anchors import encode_fragment, footnote_anchor
from presscheck.documents.markdown.emoji import emoji_by_name
from presscheck.service.web.html.context import ResolvedLink

if TYPE_CHECKING:
    from presscheck.documents.markdown.parser import Token

_shows = re.compile(r"<(?:i|img|picture)\b", re.IGNORECASE).match
_formula = re.compile(r"\$\$(.+?)\$\$", re.DOTALL)
_expression = re.compile(r'<code class="expression">([\w. ]{1,200})</code>')
_TAGS = {"em": "em", "strong": "strong", "s": "s"}


class InlineContext(Protocol):
    """The parts of the page renderer that inline text uses."""

    def leads(self, target: str) -> ResolvedLink | None:
        """Resolve a link; return None if the link is broken."""
        ...

    def clean(self, html: str) -> str:
        """Sanitize raw HTML."""
        ...

    def variable(self, name: str) -> str | None:
        """Return the value of an expression, or None if it is unknown."""
        ...


def inline_html(tokens: Sequence[Token], page: InlineContext) -> str:
    """Render inline tokens."""
    has_html = any(token.type == "html_inline" for token in tokens)
    html = "".join(_parts(tokens, page, has_html=has_html))
    if not has_html:
        return html
    if "expression" in html:
        html = _expression.sub(lambda match: _value(match, page), html)
    return page.clean(html)


def anchor_tag(address: ResolvedLink | None, **attributes: str) -> str:
    """Return the opening tag of a link, or for a broken link the tag that marks it. `anchor_end` closes both."""
    more = "".join(f' {name}="{escape(value)}"' for name, value in attributes.items() if value)
    if address is None:
        return '<span class="broken">'
    outside = ' class="outside" target="_blank" rel="noopener"' if address.is_outside else ""
    return f'<a href="{escape(address.url)}"{outside}{more}>'


def anchor_end(address: ResolvedLink | None) -> str:
    """Return the closing tag for `anchor_tag`."""
    return "</span>" if address is None else "</a>"


def image_html(source: str, words: str, page: InlineContext, *, title: str = "") -> str:
    """Render an image, or its alternative text if its file is missing."""
    link = page.leads(source)
    if link is None:
        return f'<span class="broken">{escape(words or source)}</span>'
    titled = f' title="{escape(title)}"' if title else ""
    return f'<img src="{escape(link.url)}" alt="{escape(words)}"{titled} loading="lazy">'


def _parts(tokens: Sequence[Token], page: InlineContext, *, has_html: bool) -> Iterator[str]:
    opened: list[ResolvedLink | None] = []
    for number, token in enumerate(tokens):
        kind = token.type
        if kind in ("text", "text_special", "math"):
            yield _text(token.content)
        elif kind == "emoji":
            yield emoji_by_name(token.content[1:-1])
        elif kind == "link_open":
            href = str(token.attrs.get("href", ""))
            link = page.leads(href)
            # the sanitizer resolves the links of the whole text
            opened.append(link._replace(url=href) if link and has_html else link)
            name = "" if _has_name(tokens, number + 1) else (opened[-1] and opened[-1].title) or href
            has_image = tokens[number + 1].type == "image"
            label = {"aria-label": name} if has_image else {}
            yield anchor_tag(opened[-1], title=str(token.attrs.get("title") or ""), **label)
            yield "" if has_image else escape(name)
        elif kind == "link_close":
            yield anchor_end(opened.pop()) if opened else ""
        elif kind == "image":
            title = str(token.attrs.get("title") or "")
            yield image_html(str(token.attrs.get("src", "")), token.content, page, title=title)
        else:
            yield _other(token)


def _has_name(tokens: Sequence[Token], start: int) -> bool:
    """Return whether a link has text, or raw HTML that may be visible. `start` is the index of its first token."""
    for number in range(start, len(tokens)):
        token = tokens[number]
        if token.type == "link_close":
            return False
        if token.content.strip() and (token.type != "html_inline" or _shows(token.content)):
            return True
    return True


def _other(token: Token) -> str:
    kind, name = token.type, _TAGS.get(token.tag)
    if kind == "softbreak":
        return "\n"
    if kind == "hardbreak":
        return "<br>"
    if kind == "code_inline":
        return f"<code>{escape(token.content)}</code>"
    if kind == "html_inline":
        return token.content
    if kind == "footnote_ref":
        label = str(token.meta["label"])
        href = escape(encode_fragment(footnote_anchor(label)))
        return f'<sup class="footnote-mark"><a href="#{href}">{escape(label)}</a></sup>'
    if name:
        return f"</{name}>" if token.nesting == -1 else f"<{name}>"
    return escape(token.content)


def _text(words: str) -> str:
    """Render text; formulas are shown as source code."""
    end, parts = 0, list[str]()
    for match in _formula.finditer(words) if "$$" in words else ():
        parts += (escape(words[end : match.start()]), f'<code class="formula">{escape(match[1].strip())}</code>')
        end = match.end()
    return "".join((*parts, escape(words[end:])))


def _value(match: re.Match[str], page: InlineContext) -> str:
    value = page.variable(match[1].strip())
    return match[0] if value is None else escape(value)
