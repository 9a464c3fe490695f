"""Addresses of sites for display, in which the key of a site shared by link is replaced by a mark.

Anyone with the key can read the site, and screens may be visible to other people. Screens and lists therefore show a
mark in place of the key. Actions that copy or open an address, and JSON output, use the full address.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, cast
from urllib.parse import urlsplit, urlunsplit

if TYPE_CHECKING:
    from presscheck.api.sites import Site

SHORTEST = 8
"""Minimum number of characters of a key; shorter texts are ordinary parts of an address."""
LIKE_A_KEY = re.compile(r"(?=[^A-Z]*[A-Z])[A-Za-z0-9_-]{16,}")
"""A random segment of an address. Names of sites and paths of sections are lowercase."""
FIELDS = ("published", "canonicalUrl", "redirect", "basePath", "siteBasePath")
"""Fields with an address or path of a published site, which may contain a key."""
MARK = "…"


def key_in(address: str | None) -> str:
    """Return the key at the end of a share link's address; empty if there is none."""
    last = urlsplit(address or "").path.rstrip("/").rpartition("/")[2]
    return last if len(last) >= SHORTEST else ""


def without_key(address: str | None) -> str:
    """Replace the key in the address of a share link, or of a site shared by link. The result is untrusted text."""
    key = key_in(address)
    return _replaced(address or "", key)


def shown_address(site: Site, address: str | None) -> str:
    """Return an address of a site, or of a part of the site, with a mark in place of the site's key.

    The result is untrusted text, and empty if there is no address.
    """
    return _replaced(address or "", key_in(site.urls.published) if site.visibility == "share-link" else "")


def shown_page(site: Site, address: str) -> str:
    """Return the address of a page that a reader opened, with a mark in place of the key of any share link.

    The keys of links that are off or were revoked are in no list. Therefore the segment after the address of the site
    is replaced, and segments that look like a key, because the address or the visibility may have changed since.
    """
    parts = urlsplit(address)
    segments = [_without_likely_key(segment) for segment in parts.path.split("/")]
    if site.visibility == "share-link" and site.urls.published:
        place = len(urlsplit(site.urls.published).path.rstrip("/").split("/")) - 1
        if len(segments) > place:
            segments[place] = MARK
    return urlunsplit(parts._replace(path="/".join(segments)))


def hide_keys(value: Any) -> Any:
    """Replace what looks like a key in the addresses of a JSON response, also in a table of events."""
    if isinstance(value, list):
        return [hide_keys(item) for item in cast("list[Any]", value)]
    if not isinstance(value, dict):
        return value
    fields = cast("dict[str, Any]", value)
    if fields.get("column") == "url" and isinstance(fields.get("values"), list):
        return {**fields, "values": [_without_likely_keys(item) for item in fields["values"]]}
    return {name: _without_likely_keys(inner) if name in FIELDS else hide_keys(inner) for name, inner in fields.items()}


def _without_likely_keys(value: Any) -> Any:
    return "/".join(map(_without_likely_key, value.split("/"))) if isinstance(value, str) else value


def _without_likely_key(segment: str) -> str:
    return MARK if LIKE_A_KEY.fullmatch(segment) else segment


def _replaced(address: str, key: str) -> str:
    return "/".join(MARK if part == key else part for part in address.split("/")) if key else address
