"""Sanitizer for HTML of authors: no scripts, events or forms, and only links that `is_safe_link` allows.

The page renderer resolves every link; a link without a target is removed.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import cached_property
from html import escape

import nh3

from presscheck.documents.markdown.emoji import icon_text
from presscheck.text.sanitize import LINK_SCHEMES

_TAGS = (
    "a abbr b bdi bdo blockquote br caption cite code col colgroup dd del details dfn div dl dt em figcaption figure "
    "h1 h2 h3 h4 h5 h6 hr i img ins kbd li mark ol p picture pre q rp rt ruby s samp section small source span strike "
    "strong sub summary sup table tbody td tfoot th thead time tr tt u ul var wbr"
)
TAGS = frozenset(_TAGS.split())
ATTRIBUTES: dict[str, set[str]] = {
    "*": {"id", "class", "style", "title", "lang", "dir"},
    "a": {"href", "target", "name"},
    "img": {"src", "alt", "width", "height", "data-size"},
    "source": {"srcset", "media"},
    "td": {"colspan", "rowspan", "align"},
    "th": {"colspan", "rowspan", "align", "scope"},
    "col": {"span", "width"},
    "ol": {"start", "type", "reversed"},
    "li": {"value"},
    "details": {"open"},
    "time": {"datetime"},
}
STYLES = frozenset(("color", "background-color", "text-align"))
_CLASSES = "broken button expression footnote-mark formula outside primary secondary"
CLASSES = frozenset(_CLASSES.split())
"""Classes that authors may use; none can place content over the page."""

_icon = re.compile(r"""<i\s+class=["']fa-([\w-]{1,50})["'][^<>]*>[^<]{0,200}</i>""")
_button = re.compile(r"""<a\s(?:[^<>]*?\s)?data-icon=["']([\w-]{1,50})["'][^<>]*>""")
_NAME = re.compile(r"\S{1,200}")

ResolveUrl = Callable[[str, str], str | None]
"""A function that resolves a URL in a tag, given the name of the tag and the URL; None if it has no target."""


class HtmlSanitizer:
    """A sanitizer for the HTML of one page."""

    def __init__(self, follow: ResolveUrl) -> None:
        self._follow = follow

    @cached_property
    def _cleaner(self) -> nh3.Cleaner:
        """Created on first use: it takes a tenth of the time of a page, and most pages have no HTML."""
        return nh3.Cleaner(
            tags=TAGS,
            clean_content_tags={"script", "style", "template", "noscript", "iframe", "object", "svg", "math", "title"},
            attributes=ATTRIBUTES,
            attribute_filter=self._attribute,
            filter_style_properties=STYLES,
            url_schemes=set(LINK_SCHEMES),
            link_rel="noopener",
        )

    def clean(self, html: str) -> str:
        """Return sanitized HTML: icons become characters, unknown tags are removed, and open tags are closed."""
        if "fa-" in html:
            html = _icon.sub(lambda match: escape(icon_text(match[1])), html)
        if "data-icon" in html:
            html = _button.sub(lambda match: f"{match[0]}{escape(icon_text(match[1]))} ", html)
        return self._cleaner.clean(html)

    def _attribute(self, tag: str, name: str, value: str) -> str | None:
        if name in ("href", "src"):
            return self._follow(tag, value)
        if name == "srcset":
            return self._follow(tag, value.split()[0]) if value.split() else None
        if name == "class":
            return " ".join(word for word in value.split() if word in CLASSES) or None
        if name in ("id", "name"):
            return value if _NAME.fullmatch(value) else None
        return None if name == "target" and value != "_blank" else value
