"""Sanitizer for raw HTML in pages: no scripts, events or forms, and only links that `is_safe_link` allows.

The page renderer resolves every link; a link without a target is removed.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from contextvars import ContextVar
from functools import cache
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
_nameless = re.compile(r"<a\b[^<>]*>((?:\s|<br>)*)</a>")
_own_name = re.compile(r' (?:id|name)="([^"]*)"').search
_missing = re.compile(r"<img\b(?![^<>]* src=)[^<>]*>")
_alt = re.compile(r' alt="([^"]*)"').search
_picture = re.compile(r"<picture\b[^<>]*>.*?</picture>", re.DOTALL)
_image = re.compile(r"<img\b[^<>]*>").search
_sources = re.compile(r"<source\b[^<>]*>").findall
_scheme = re.compile(r"prefers-color-scheme:\s*(dark|light)").findall
_srcset = re.compile(r' srcset="([^"]*)"').search
_source = re.compile(r' src="[^"]*"').search
_class = re.compile(r' class="[^"]*"')
_NAME = re.compile(r"\S{1,200}")

ResolveUrl = Callable[[str, str], str | None]
"""A function that resolves a URL in a tag, given the name of the tag and the URL; None if it has no target."""


def _mended(html: str) -> str:
    """Repair links without text and images without a file in sanitized HTML, and split pictures by theme."""
    if "</a>" in html:
        html = _nameless.sub(_target, html)
    if "<img" in html:
        html = _missing.sub(
            lambda match: f'<span class="broken">{_alternative(match[0]) or "missing image"}</span>', html
        )
    if "<picture" in html:
        html = _picture.sub(_themed, html)
    return html


def _target(match: re.Match[str]) -> str:
    """Return the replacement of a link without text: an empty element with the id of the link, if it has one."""
    name = _own_name(match[0])
    return (f'<span id="{name[1]}"></span>' if name else "") + match[1]


def _alternative(tag: str) -> str:
    alternative = _alt(tag)
    return alternative[1] if alternative else ""


def _themed(match: re.Match[str]) -> str:
    """Split a picture into one image per theme, because readers may choose a theme that differs from their system.

    Return the picture unchanged if it has no sources for themes.
    """
    image = _image(match[0])
    sources = {scheme: _srcset(tag) for tag in _sources(match[0]) for scheme in _scheme(tag)}
    usual = _source(image[0]) if image else None
    if not image or not usual or not any(sources.values()):
        return match[0]
    images: list[str] = []
    for scheme in ("light", "dark"):
        source = sources.get(scheme)
        tag = image[0].replace(usual[0], f' src="{source[1]}"') if source else image[0]
        images.append(_class.sub("", tag).replace("<img", f'<img class="if-{scheme}"', 1))
    return "".join(images)


def clean_html(html: str, follow: ResolveUrl) -> str:
    """Return sanitized HTML: icons become characters, unknown tags are removed, and open tags are closed."""
    if "fa-" in html:
        html = _icon.sub(lambda match: escape(icon_text(match[1])), html)
    if "data-icon" in html:
        html = _button.sub(lambda match: f"{match[0]}{escape(icon_text(match[1]))} ", html)
    before = _follow.set(follow)
    try:
        return _mended(_cleaner().clean(html))
    finally:
        _follow.reset(before)


_follow: ContextVar[ResolveUrl] = ContextVar("follow")
"""The function that resolves the URLs of the text that is sanitized in this thread."""


@cache
def _cleaner() -> nh3.Cleaner:
    # one for all pages: whatever its filter refers to is never freed
    return nh3.Cleaner(
        tags=TAGS,
        clean_content_tags={"script", "style", "template", "noscript", "iframe", "object", "svg", "math", "title"},
        attributes=ATTRIBUTES,
        attribute_filter=_attribute,
        filter_style_properties=STYLES,
        url_schemes=set(LINK_SCHEMES),
        link_rel="noopener",
    )


def _attribute(tag: str, name: str, value: str) -> str | None:
    if name in ("href", "src"):
        return _follow.get()(tag, value)
    if name == "srcset":
        return _follow.get()(tag, value.split()[0]) if value.split() else None
    if name == "class":
        return " ".join(word for word in value.split() if word in CLASSES) or None
    if name in ("id", "name"):
        return value if _NAME.fullmatch(value) else None
    return None if name == "target" and value != "_blank" else value
