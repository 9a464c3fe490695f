"""The operations that site tokens permit: only the reads that a renderer of the site needs."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import Any

from sqlalchemy import select

from presscheck.api import (
    change_requests,
    computed_content,
    content,
    content_changes,
    embeds,
    integrations,
    openapi,
    site_settings,
    spaces,
    url_lookup,
)
from presscheck.api.operation import Operation
from presscheck.api.published_sites import GetPublishedSite, SearchSite
from presscheck.documents.visitors.conditions import holds
from presscheck.service.content.revision_content import VISITOR, known_content
from presscheck.service.http.operations import ApiError, Context, SiteGrant
from presscheck.service.integrations.granted_calls import require_installation_grants
from presscheck.service.models.sites import SiteRow, SiteSpaceRow
from presscheck.service.models.spaces import SpaceRow

READS_ONLY = "This token only reads the site that it was made for."
_ANYWHERE = frozenset(
    (
        integrations.RenderIntegration,
        integrations.RenderIntegrationWithGet,
        url_lookup.GetPublishedContent,
        url_lookup.ResolvePublishedContent,
    )
)
"""Operations without a site or a space in their path. Their handlers check the token."""
_OF_SITE = frozenset[type[Operation[Any]]](
    (
        GetPublishedSite,
        SearchSite,
        computed_content.GetComputedDocument,
        computed_content.GetComputedRevision,
        content.GetRevision,
        content.GetRevisionPage,
        content.GetRevisionPageByPath,
        content.GetRevisionPageDocument,
        content.GetRevisionReusableContentDocument,
        content.ListRevisionFiles,
        content.ListRevisionPageMetaLinks,
        content.ListRevisionPages,
        embeds.GetSpaceEmbed,
        openapi.GetLatestOpenAPISpecContent,
        openapi.GetLatestOpenAPISpecVersion,
        site_settings.GetRedirectBySource,
        spaces.GetSpace,
    )
)
_OF_PREVIEW = frozenset[type[Operation[Any]]](
    (
        change_requests.GetChangeRequest,
        content.GetDocument,
        content_changes.GetChangeRequestChanges,
        content_changes.GetRevisionChanges,
    )
)
"""Further operations for tokens of a preview, because previews show change requests."""
MOST_STEPS = 50
"""Number of newest live revisions of a space that a renderer may read."""


def require_granted(context: Context, operation: type[Operation[Any]], path: Mapping[str, str]) -> None:
    """Require that the caller's token allows a call, if it is a site token or an integration token.

    If the site of a site token has adaptive content, limit the call to the pages that the visitor may see.

    Raises:
        ApiError: 403 or 404, the token does not allow the call.
    """
    if context.installation is not None:
        require_installation_grants(context, context.installation, operation, path)
    grant = context.grant
    if grant is None or operation in _ANYWHERE:
        return
    allowed = _OF_SITE | _OF_PREVIEW if grant.is_preview else _OF_SITE
    if operation not in allowed or not _is_in_site(context, grant, path):
        raise ApiError(403, READS_ONLY)
    site = context.row(SiteRow, grant.site_id)
    if site is not None and site.adaptive_content:
        context.known[VISITOR] = partial(holds, claims=grant.claims)


def is_granted(context: Context, place: Mapping[str, str]) -> bool:
    """Return whether the caller's token permits access to a place. Only site tokens are limited to places.

    Args:
        context: the transaction.
        place: the ids of an organization, a site, a space or a revision, by the names of path parameters.
    """
    return context.grant is None or _is_in_site(context, context.grant, place)


def _is_in_site(context: Context, grant: SiteGrant, path: Mapping[str, str]) -> bool:
    if path.get("site_id", grant.site_id) != grant.site_id:
        return False
    if path.get("organization_id", grant.organization_id) != grant.organization_id:
        return False
    space_id = path.get("space_id")
    if space_id is None:
        return True
    shown = select(SiteSpaceRow.id).where(SiteSpaceRow.site_id == grant.site_id, SiteSpaceRow.space_id == space_id)
    if context.session.scalar(shown.limit(1)) is None:
        return False
    return grant.is_preview or "revision_id" not in path or _was_live(context, space_id, path["revision_id"])


def _was_live(context: Context, space_id: str, revision_id: str) -> bool:
    """Return whether a revision is the live revision of a space or one of its newest former live revisions."""
    space = context.row(SpaceRow, space_id)
    live = space.revision_id if space else ""
    for _ in range(MOST_STEPS):
        if live == revision_id:
            return True
        parents = known_content(context, live).parents if live else []
        live = parents[0] if parents else ""
    return False
