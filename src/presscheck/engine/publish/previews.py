"""Addresses of previews: of a site before it is published, and of a change request on a site."""

from __future__ import annotations

from typing import Any, Protocol
from urllib.parse import urlsplit

from presscheck.api.change_requests import ChangeRequest
from presscheck.api.site_settings import GetPreview, Preview
from presscheck.api.site_structure import ListSiteSpaces, SiteSpace
from presscheck.client.request_priority import Priority
from presscheck.engine.protocols import Reader
from presscheck.engine.publish.publishing import OK, PublishedVisitor
from presscheck.engine.reads.listing_guard import whole_listing
from presscheck.errors import InvalidArgument, RequestError


class PreviewService(PublishedVisitor, Protocol):
    """The parts of the engine that previews need."""

    async def fetch(self, call: GetPreview, priority: Priority = ...) -> bytes:
        """Fetch a response without caching it, because anyone with the address of a preview can read the site."""
        ...


async def spaces_of_site(engine: Reader, organization_id: str, site_id: str) -> tuple[SiteSpace, ...]:
    """Read the spaces of a site.

    Raises:
        PresscheckError: the spaces cannot be read.
    """
    return await whole_listing(engine, ListSiteSpaces(organization_id=organization_id, site_id=site_id))


async def preview_url(
    engine: PreviewService,
    organization_id: str,
    site_id: str,
    *,
    site_space: str | None = None,
    request: ChangeRequest | None = None,
    claims: str | None = None,
) -> str:
    """Request the address of a preview, which is valid for about an hour.

    Args:
        engine: the engine.
        organization_id: the id of the site's organization.
        site_id: the id of the site.
        site_space: the id of the site space at which the preview opens; by default, the first.
        request: a change request whose pages replace the live pages of its space.
        claims: the claims of the visitor, encoded in Rison.

    Raises:
        InvalidArgument: the site does not have the space of the change request.
        RequestError: the service cannot be reached, or cannot preview the change request.
    """
    if request is not None:
        spaces = await spaces_of_site(engine, organization_id, site_id)
        shown = next((item for item in spaces if item.space.id == request.space), None)
        if shown is None:
            raise InvalidArgument("site", f"it does not have the space of #{request.number}")
        site_space = shown.id
    chosen = {"site_space": site_space, "claims": claims}
    given: dict[str, Any] = {name: value for name, value in chosen.items() if value is not None}
    call = GetPreview(organization_id=organization_id, site_id=site_id, **given)
    url = str(Preview.model_validate_json(await engine.fetch(call)).url)
    if request is None:
        return url
    parts = urlsplit(url)
    url = parts._replace(path=f"{parts.path.rstrip('/')}/~/changes/{request.number}/").geturl()
    status = await engine.visit(call, url)
    if status != OK:
        message = f"This service does not preview #{request.number} on the site: the page answers with status {status}"
        raise RequestError(message, request=str(call))
    return url
