"""Finds and replaces the URLs in the HTML, the style sheets and the texts of a published site."""

from __future__ import annotations

import re
from collections.abc import Callable
from html import escape, unescape
from typing import NamedTuple
from urllib.parse import unquote, urlsplit

_TAG = re.compile(r"<([a-zA-Z][\w-]*+)([^<>]*+)>")
_ATTRIBUTE = re.compile(r"""(?<=\s)([^\s=/"'<>]++)="([^"]*+)\"""")
_POSTED_FORM = re.compile(r"<form\b[^<>]*\bmethod=\"post\"[^<>]*>.*?</form>\s*", re.DOTALL | re.IGNORECASE)
_DATA = re.compile(r'(<script type="application/ld\+json">)(.*?)(</script>)', re.DOTALL)
_SCRIPT = re.compile(r"<script\b[^<>]*\bsrc=\"([^\"]*)\"[^<>]*></script>\n?")
_MCP = re.compile(
    r"<li hidden><button [^<>]*data-copies=\"[^\"]*/mcp\"[^<>]*>[^<]*</button></li>\s*<li class=\"url\">[^<]*</li>\s*"
)
_PDF = re.compile(r"<li><a href=\"([^\"]*\.pdf)\">[^<]*</a></li>\s*")
_IN_STYLES = re.compile(r"""url\(\s*(["']?)([^"'()\s]+)\1\s*\)""")
_IN_TEXT = re.compile(r"""https?://[^\s<>"'`()\[\]{}|\\]+""")
_ENDING = ".,;:!?"
"""Characters after a URL in a text that belong to the sentence."""
_LOADED = frozenset(("audio", "embed", "iframe", "img", "input", "link", "script", "source", "track", "video"))
"""Elements whose files a page loads by itself."""


class Reference(NamedTuple):
    """A URL in a tag.

    Attributes:
        tag: the name of the element, in lower case.
        attribute: the name of the attribute, in lower case.
        relation: the `rel` of a link, `hreflang` for a link to another language, or the `property` of a `meta`.
    """

    tag: str
    attribute: str
    url: str
    relation: str = ""

    @property
    def is_loaded(self) -> bool:
        """Whether a browser loads the URL together with the page, without a click."""
        return self.tag in _LOADED and self.relation not in ("canonical", "hreflang", "alternate", "next", "prev")

    @property
    def is_about_page(self) -> bool:
        """Whether the URL is for search engines and other sites, which need an absolute URL."""
        return self.tag == "meta" or self.relation in ("canonical", "hreflang")


class SiteUrls(NamedTuple):
    """The URLs of a site.

    Attributes:
        origin: the scheme and host of the service.
        base: the path of the site, which ends with a slash.
    """

    origin: str
    base: str

    def path_of(self, url: str) -> tuple[str, str] | None:
        """Split a URL into the path on the service, unquoted, and the query with the fragment.

        Return None if the URL leads to another host, or is relative.
        """
        url = url.removeprefix(self.origin) if url.startswith(f"{self.origin}/") else url
        if not url.startswith("/") or url.startswith("//"):
            return None
        parts = urlsplit(url)
        suffix = (f"?{parts.query}" if parts.query else "") + (f"#{parts.fragment}" if parts.fragment else "")
        return unquote(parts.path), suffix


def replace_in_html(html: str, replaced: Callable[[Reference], str | None]) -> str:
    """Replace the URLs of a page that begin with a slash or a scheme.

    Args:
        html: the page. The service escapes `<` and `>` in texts and attributes, and quotes attributes with `"`.
        replaced: returns the new URL, or None to remove the whole tag.
    """

    def tag(match: re.Match[str]) -> str:
        name = match[1].lower()
        values = {pair[1].lower(): unescape(pair[2]) for pair in _ATTRIBUTE.finditer(match[2])}
        relation = "hreflang" if "hreflang" in values else values.get("rel") or values.get("property") or ""
        is_removed = False

        def attribute(pair: re.Match[str]) -> str:
            nonlocal is_removed
            key, value = pair[1].lower(), unescape(pair[2])
            if key == "srcset":
                parts = [part.strip().partition(" ") for part in value.split(",")]
                urls = [replaced(Reference(name, key, url)) if _is_url(url) else url for url, _, _ in parts]
                new = ", ".join(f"{url} {size}".strip() for url, (_, _, size) in zip(urls, parts, strict=True))
            elif _is_url(value) and key not in ("alt", "title", "aria-label", "value", "placeholder"):
                new = replaced(Reference(name, key, value, relation))
            else:
                return pair[0]
            is_removed = is_removed or new is None
            return f'{pair[1]}="{escape(new or "")}"'

        attributes = _ATTRIBUTE.sub(attribute, match[2])
        return "" if is_removed else f"<{match[1]}{attributes}>"

    return _TAG.sub(tag, html)


def references_in_html(html: str) -> list[Reference]:
    """Return the URLs of a page that begin with a slash or a scheme."""
    found: list[Reference] = []

    def collect(reference: Reference) -> str:
        found.append(reference)
        return reference.url

    replace_in_html(html, collect)
    return found


def replace_in_styles(css: str, replaced: Callable[[str], str]) -> str:
    """Replace the URLs in a style sheet."""
    return _IN_STYLES.sub(lambda match: f'url("{replaced(match[2])}")', css)


def urls_in_styles(css: str) -> list[str]:
    """Return the URLs in a style sheet."""
    return [match[2] for match in _IN_STYLES.finditer(css)]


def replace_in_text(text: str, start: str, replaced: Callable[[str], str]) -> str:
    """Replace the URLs in Markdown, JSON or XML that begin with `start`."""

    def url(match: re.Match[str]) -> str:
        whole = match[0].rstrip(_ENDING)
        return replaced(whole) + match[0][len(whole) :] if whole.startswith(start) else match[0]

    return _IN_TEXT.sub(url, text)


def without_service_parts(html: str, urls: SiteUrls, is_own_script: Callable[[str], bool]) -> str:
    """Remove the parts of a page that need the service.

    These are posted forms, scripts of integrations, and the page actions for PDFs and agents.

    Args:
        html: the page.
        urls: the URLs of the site.
        is_own_script: returns whether the script at a URL is part of the site.
    """

    def action(match: re.Match[str]) -> str:
        place = urls.path_of(unescape(match[1]))
        is_action = place and place[0].startswith(urls.base) and not place[0].startswith(f"{urls.base}~files/")
        return "" if is_action else match[0]

    html = _PDF.sub(action, _MCP.sub("", _POSTED_FORM.sub("", html)))
    return _SCRIPT.sub(lambda match: match[0] if is_own_script(unescape(match[1])) else "", html)


def replace_structured_data(html: str, replaced: Callable[[str], str] | None) -> str:
    """Replace the structured data (JSON-LD) of a page, or remove it if `replaced` is None."""
    return _DATA.sub(lambda match: f"{match[1]}{replaced(match[2])}{match[3]}" if replaced else "", html)


def _is_url(value: str) -> bool:
    return value.startswith(("/", "http://", "https://"))
