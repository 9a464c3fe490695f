"""URLs of files: two signed URLs of one file are equal, although each expires at another time."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any
from urllib.parse import parse_qsl, urlencode

_SIGNED = frozenset(("expires", "signature"))


def unsigned_url(url: str) -> str:
    """Returns a URL without its signature; one that is not signed stays as it is."""
    path, mark, query = url.partition("?")
    values = parse_qsl(query, keep_blank_values=True)
    if not mark or not _SIGNED.issubset(name for name, _ in values):
        return url
    rest = urlencode([(name, value) for name, value in values if name not in _SIGNED])
    return f"{path}?{rest}" if rest else path


def unsigned_file(file: Mapping[str, Any]) -> dict[str, Any]:
    """Returns an API file whose URL can be compared with that of another response."""
    url = file.get("downloadURL")
    return {**file, "downloadURL": unsigned_url(url)} if isinstance(url, str) else dict(file)
