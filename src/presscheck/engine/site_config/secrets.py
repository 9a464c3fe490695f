"""Secrets of a site that a customization or a redirect may repeat: they never get into a file.

The keys of share links are parts of their addresses. Whoever links to such an address in the header of the site would
write the key into the repository, so a file has the name of the share link in its place.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, cast
from urllib.parse import urlsplit

from presscheck.api.site_settings import ShareLink
from presscheck.api.sites import Site

SHORTEST = 8
"""The fewest characters of a key; anything shorter is a part of an ordinary address."""


class SiteSecrets:
    """The keys of a site that are known.

    Args:
        site: the site, which has a key in its address if it is shared by link.
        share_links: its share links.
    """

    def __init__(self, site: Site, share_links: Iterable[ShareLink]) -> None:
        own = site.urls.published if site.visibility == "share-link" else None
        links = [(link.urls.published, link.name or link.id, link.id) for link in share_links]
        self._names: dict[str, str] = {}
        for address, name, identity in [(own, "the site", ""), *links]:
            key = urlsplit(address or "").path.rstrip("/").rpartition("/")[2]
            if len(key) >= SHORTEST and key not in self._names:
                text = f"(key of {name})"
                # several links may have one name, and each name must lead back to its own key
                self._names[key] = f"(key of {name}, {identity})" if text in self._names.values() else text

    def hide(self, value: Any) -> Any:
        """A value in which names are in the place of keys."""
        return _replaced(value, self._names)

    def reveal(self, value: Any) -> Any:
        """A value in which keys are in the place of names."""
        return _replaced(value, {name: key for key, name in self._names.items()})


def _replaced(value: Any, texts: Mapping[str, str]) -> Any:
    if isinstance(value, str):
        for before, after in texts.items():
            value = value.replace(before, after)
        return value
    if isinstance(value, dict):
        return {name: _replaced(inner, texts) for name, inner in cast("dict[str, Any]", value).items()}
    return [_replaced(inner, texts) for inner in cast("list[Any]", value)] if isinstance(value, list) else value
