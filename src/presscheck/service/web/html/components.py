"""Rendering of components of integrations as static HTML.

Components come from the scripts of integrations and are not trusted: only known elements become HTML, with escaped
text, resolved links, and limits on depth, number and size. Inputs and most buttons are left out, because they need the
script.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from html import escape
from typing import Any, Protocol, cast
from urllib.parse import urlencode

from presscheck.service.web.html.code import code_html
from presscheck.service.web.html.context import Component, ResolvedLink
from presscheck.service.web.html.inlines import anchor_end, anchor_tag, image_html

Element = Mapping[str, Any]
DEEPEST, MOST_ELEMENTS = 30, 2_000
LARGEST = 500_000
"""Maximum number of characters of the HTML of a component."""
_STYLES = {"bold": "strong", "italic": "em", "code": "code", "strikethrough": "s"}


class ComponentContext(Protocol):
    """The parts of the page renderer that components use."""

    def leads(self, target: str) -> ResolvedLink | None:
        """Resolve a link of the current text; return None if the link is broken."""
        ...

    def clean(self, html: str) -> str:
        """Sanitize raw HTML."""
        ...

    def variable(self, name: str) -> str | None:
        """Return the value of an expression, or None if it is unknown."""
        ...

    def foreign_text(self, markdown: str) -> str:
        """Render Markdown of an integration."""
        ...


class ComponentTooLarge(Exception):
    """A component exceeds a limit."""


def component_html(page: ComponentContext, component: Component, source: str) -> str:
    """Render a component.

    Args:
        page: the renderer of the page.
        component: the component.
        source: HTML that replaces `webframe` elements, whose content needs scripts.

    Returns:
        The HTML, or an empty string if no part of the component can be shown or the component exceeds a limit.
    """
    writer = _ComponentWriter(page, component.state, source)
    try:
        return writer.flow(component.element.get("children"), 0) if component.element.get("type") == "block" else ""
    except ComponentTooLarge:
        return ""


class _ComponentWriter:
    def __init__(self, page: ComponentContext, state: Element, source: str) -> None:
        self._page, self._state, self._source = page, state, source
        self._elements = self._characters = 0
        self._writers: dict[str, Callable[[Element, int], str]] = {
            "box": self._children,
            "button": self._button,
            "card": self._card,
            "codeblock": self._code,
            "divider": lambda _element, _depth: "<hr>",
            "hint": self._hint,
            "hstack": self._hstack,
            "image": self._paragraph,
            "link": self._paragraph,
            "markdown": self._markdown,
            "text": self._paragraph,
            "vstack": self._children,
            "webframe": lambda _element, _depth: self._source,
        }

    def flow(self, value: Any, depth: int) -> str:
        """Render a list of elements as blocks."""
        return "\n".join(filter(None, (self._element(item, depth + 1) for item in _items(value))))

    def _element(self, value: Any, depth: int) -> str:
        element = _element(value)
        write = self._writers.get(str(element.get("type")))
        self._count(depth)
        html = write(element, depth) if write else ""
        self._characters += len(html) if depth == 1 else 0
        if self._characters > LARGEST:
            raise ComponentTooLarge
        return html

    def _count(self, depth: int) -> None:
        self._elements += 1
        if depth > DEEPEST or self._elements > MOST_ELEMENTS:
            raise ComponentTooLarge

    def _children(self, element: Element, depth: int) -> str:
        return self.flow(element.get("children"), depth)

    def _hstack(self, element: Element, depth: int) -> str:
        columns = (self._element(item, depth + 1) for item in _items(element.get("children")))
        return f'<div class="columns">{"".join(f"<div>{html}</div>" for html in columns if html)}</div>'

    def _card(self, element: Element, depth: int) -> str:
        title = self._words(element.get("title"), depth)
        hint = self._words(element.get("hint"), depth)
        parts = [f"<p><strong>{title}</strong></p>" if title else "", f'<p class="quiet">{hint}</p>' if hint else ""]
        parts += [self.flow(element.get("children"), depth), self.flow(element.get("buttons"), depth)]
        return f'<div class="framed">{"".join(parts)}</div>'

    def _button(self, element: Element, depth: int) -> str:
        """Render a button that opens a URL as a link. Leave out other buttons."""
        action = _element(element.get("onPress"))
        if action.get("action") != "@ui.url.open":
            return ""
        return f"<p>{self._anchor(str(action.get('url')), escape(str(element.get('label') or action.get('url'))))}</p>"

    def _code(self, element: Element, depth: int) -> str:
        text, syntax = self._bound(element.get("content")), element.get("syntax")
        code = code_html(text, syntax if isinstance(syntax, str) else "", is_numbered=bool(element.get("lineNumbers")))
        return f"{self.flow(element.get('header'), depth)}{code}{self.flow(element.get('footer'), depth)}"

    def _hint(self, element: Element, depth: int) -> str:
        return f'<div class="hint info" role="note"><p>{self._words(element.get("children"), depth)}</p></div>'

    def _markdown(self, element: Element, depth: int) -> str:
        return self._page.foreign_text(self._bound(element.get("content")))

    def _paragraph(self, element: Element, depth: int) -> str:
        return f"<p>{self._words(element, depth)}</p>"

    def _words(self, value: Any, depth: int) -> str:
        """Render inline content: a text, or texts, links and images."""
        self._count(depth)
        if isinstance(value, str):
            return escape(value)
        if isinstance(value, (list, tuple)):
            return "".join(self._words(item, depth + 1) for item in _items(value))
        element = _element(value)
        match element.get("type"):
            case "text":
                tag, words = _STYLES.get(str(element.get("style"))), self._words(element.get("children"), depth + 1)
                return f"<{tag}>{words}</{tag}>" if tag else words
            case "link":
                target = self._address(element.get("target"))
                return self._anchor(target, self._words(element.get("children"), depth + 1) or escape(target))
            case "image":
                return image_html(self._address(element.get("source")), "", self._page)
            case _:
                return ""

    def _anchor(self, target: str, words: str) -> str:
        address = self._page.leads(target)
        return f"{anchor_tag(address)}{words}{anchor_end(address)}"

    def _address(self, target: Any) -> str:
        """Return the URL of a target, which is given as text or as host, path and query."""
        url = _element(target).get("url")
        parts = _element(url)
        if not parts:
            return url if isinstance(url, str) else ""
        query = urlencode({str(name): self._bound(text) for name, text in _element(parts.get("query")).items()})
        path = str(parts.get("pathname") or "").lstrip("/")
        return f"https://{parts.get('host') or ''}/{path}{'?' if query else ''}{query}"

    def _bound(self, value: Any) -> str:
        """Return a text, or the text in the state that `value` is bound to, or an empty string."""
        name = _element(value).get("$state")
        text = self._state.get(name) if isinstance(name, str) else value
        return text if isinstance(text, str) else ""


def _element(value: Any) -> Element:
    return cast("Element", value) if isinstance(value, Mapping) else {}


def _items(value: Any) -> list[Any]:
    return list(cast("Sequence[Any]", value)) if isinstance(value, (list, tuple)) else []
