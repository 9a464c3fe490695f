"""Embeds of URLs in pages, as the block of an integration or as a link. The URLs themselves are not requested."""

from __future__ import annotations

import re
from fnmatch import fnmatchcase
from typing import Any, cast
from urllib.parse import SplitResult, unquote

from sqlalchemy import select

from presscheck.api.embeds import Embed, GetSpaceEmbed
from presscheck.service.content.file_urls import file_address
from presscheck.service.http.operations import ApiError, Context, handles
from presscheck.service.integrations.integrations import is_installed_in
from presscheck.service.integrations.outbound_http import web_address
from presscheck.service.models.integrations import InstallationRow, IntegrationRow
from presscheck.service.models.spaces import SpaceRow
from presscheck.service.permissions import space_for


@handles(GetSpaceEmbed)
def get_space_embed(context: Context, call: GetSpaceEmbed) -> Embed:
    """Return the block of an integration in the space that renders the URL, or else a link with a title."""
    space = space_for(context, call.space_id)
    address = web_address(call.url)
    if address is None:
        raise ApiError(400, "url: must be a URL such as https://example.org/video")
    link = Embed(type="link", title=_title(address), site=address.hostname or "")
    match = _block_for(context, space, call.url)
    if match is None:
        return link
    integration, block = match
    icon = file_address(context, integration.icon, "icon.png") if integration.icon else None
    shown = {"type": "integration", "integration": integration.name, "block": block, "icon": icon}
    return link.model_copy(update=shown)


def _title(address: SplitResult) -> str:
    """Return a title made from the last segment of a URL path, or the host."""
    last = unquote(address.path).rstrip("/").rpartition("/")[2].rpartition(".")
    words = re.sub(r"[-_+\s]+", " ", last[0] or last[2]).strip()
    return words[:200] or address.netloc


def _block_for(context: Context, space: SpaceRow, url: str) -> tuple[IntegrationRow, dict[str, Any]] | None:
    """Return an integration in the space and its first block whose patterns match a URL, or None if no block does."""
    installed = (
        select(InstallationRow, IntegrationRow)
        .join(IntegrationRow, IntegrationRow.name == InstallationRow.integration)
        .where(InstallationRow.organization_id == space.organization_id)
        .order_by(IntegrationRow.name)
    )
    for installation, integration in context.session.execute(installed):
        blocks = [block for block in integration.blocks or () if _unfurls(block, url)]
        if blocks and is_installed_in(installation, "space", space.id):
            return integration, blocks[0]
    return None


def _unfurls(block: dict[str, Any], url: str) -> bool:
    patterns = block.get("urlUnfurl")
    if not isinstance(patterns, list):
        return False
    texts = [pattern for pattern in cast("list[Any]", patterns) if isinstance(pattern, str)]
    # as on the platform, a pattern is a prefix of the URL, or a glob for the whole URL
    return any(url.startswith(text) or fnmatchcase(url, text) for text in texts)
