"""Addresses of sites for display, in which the key of a site shared by link is replaced by a mark.

Anyone with the key can read the site, and screens may be visible to other people. Screens and lists therefore show a
mark in place of the key. Actions that copy or open an address, and JSON output, use the full address.
"""

from __future__ import annotations

from typing import TYPE_CHECKING
from urllib.parse import urlsplit

if TYPE_CHECKING:
    from presscheck.api.sites import Site

SHORTEST = 8
"""Minimum number of characters of a key; shorter texts are ordinary parts of an address."""
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


def _replaced(address: str, key: str) -> str:
    return "/".join(MARK if part == key else part for part in address.split("/")) if key else address
