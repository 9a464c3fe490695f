"""Files of published sites. Their URLs do not expire, and all readers of the space can use them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any
from urllib.parse import quote

from starlette.responses import Response

from presscheck.documents.visitors.condition_tags import words_without_claims
from presscheck.service.blobs.store import BlobStore
from presscheck.service.http.files import file_response
from presscheck.service.http.operations import is_known, not_found
from presscheck.service.models.sites import SiteSpaceRow
from presscheck.service.web.published_site import PublishedSite

FILES = "~files"
"""First segment of the path of a file; no section, space or page has this name."""


def file_url(site: PublishedSite, site_space: SiteSpaceRow, file: dict[str, Any]) -> str:
    """Return the URL of a stored file of a space for this reader."""
    previewed = site.previewed and site.previewed.site_space
    base = site.home if previewed and previewed.id == site_space.id else site.base
    return f"{base}{FILES}/{site_space.id}/{quote(_tail(file))}"


def site_file(
    site: PublishedSite, files: BlobStore, if_none_match: str, refused: Callable[[int, str], Response]
) -> Response | None:
    """Respond with the file at the requested path, or return None if the path does not belong to a file.

    Args:
        site: the site for this reader.
        files: the stored files.
        if_none_match: the `If-None-Match` header of the request, or an empty string.
        refused: builds the error response from a status and a message, if the store cannot be used.

    Raises:
        ApiError: 404, the reader may not see the space, or the file does not exist any more.
    """
    first, _, rest = site.path.partition("/")
    if first != FILES:
        return None
    site_space_id, _, tail = rest.partition("/")
    site_space = next((candidate for candidate in site.site_spaces if candidate.id == site_space_id), None)
    stored_files = site.content(site_space.space_id).revision.files if site_space else []
    file = next((candidate for candidate in stored_files if _tail(candidate) == tail), None)
    if file is None:
        raise not_found("file")
    content = file.get("content") or ""
    headers = {"cache-control": site.cache_control, "etag": f'"{content}"'}
    if not site.is_listed:
        headers["x-robots-tag"] = "noindex"
    if content and is_known(headers["etag"], if_none_match):
        return Response(status_code=304, headers=headers)
    return file_response(files, content, _name(file), headers, refused)


def _tail(file: dict[str, Any]) -> str:
    return f"{file['id']}/{_name(file)}"


def _name(file: dict[str, Any]) -> str:
    return words_without_claims(str(file["name"])).replace("/", "_")
