"""URLs of files, and the addresses by which pages refer to files.

Two signed URLs of a file refer to the same file, although their signatures differ.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any
from urllib.parse import parse_qsl, quote, urlencode

if TYPE_CHECKING:
    from presscheck.api.content import RevisionFile

_SIGNED = frozenset(("expires", "signature"))


def unsigned_url(url: str) -> str:
    """Return a URL without its signature; unsigned URLs are returned unchanged."""
    path, mark, query = url.partition("?")
    values = parse_qsl(query, keep_blank_values=True)
    if not mark or not _SIGNED.issubset(name for name, _ in values):
        return url
    rest = urlencode([(name, value) for name, value in values if name not in _SIGNED])
    return f"{path}?{rest}" if rest else path


def unsigned_file(file: Mapping[str, Any]) -> dict[str, Any]:
    """Return an API file without its signature, so that it equals the same file in another response."""
    url = file.get("downloadURL")
    return {**file, "downloadURL": unsigned_url(url)} if isinstance(url, str) else dict(file)


def address_in_page(file: RevisionFile) -> str:
    """Return the address by which a page refers to a file: its path from the root of the space, or a permanent URL."""
    if file.git or unsigned_url(file.download_url) != file.download_url or not file.download_url:
        return quote(f"/{file.git.path if file.git else file.name}")
    return file.download_url.replace("(", "%28").replace(")", "%29").replace(" ", "%20")
