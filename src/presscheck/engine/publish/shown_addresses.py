"""Addresses of sites as they are shown: without the key of a site that is shared by link.

Whoever has such a key can read the site, and lists of sites are seen by people who look over a shoulder or at a shared
screen. So a screen and a list have a mark in its place; what copies an address, opens it, or prints JSON has all of it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING
from urllib.parse import urlsplit

if TYPE_CHECKING:
    from presscheck.api.sites import Site

SHORTEST = 8
"""The fewest characters of a key; anything shorter is a part of an ordinary address."""
MARK = "…"


def key_in(address: str | None) -> str:
    """The key at the end of the address of a share link; empty if it has none."""
    last = urlsplit(address or "").path.rstrip("/").rpartition("/")[2]
    return last if len(last) >= SHORTEST else ""


def without_key(address: str | None) -> str:
    """The address of a share link, or of a site that is shared by link, without its key; untrusted text."""
    key = key_in(address)
    return _replaced(address or "", key)


def shown_address(site: Site, address: str | None) -> str:
    """An address of a site, or of a part of it, as it is shown; untrusted text, empty if there is none."""
    return _replaced(address or "", key_in(site.urls.published) if site.visibility == "share-link" else "")


def _replaced(address: str, key: str) -> str:
    return "/".join(MARK if part == key else part for part in address.split("/")) if key else address
