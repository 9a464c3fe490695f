"""Permitted operations of integration tokens.

A token gives access to its own installation and, depending on its scopes, to the spaces and sites of the installation.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from presscheck.api import (
    content,
    content_installations,
    conversations,
    integrations,
    openapi,
    site_settings,
    site_structure,
    sites,
    spaces,
)
from presscheck.api.operation import Operation
from presscheck.api.published_sites import GetPublishedSite
from presscheck.service.http.operations import ApiError, Context, InstallationGrant, not_found
from presscheck.service.integrations.integrations import KINDS, is_installed
from presscheck.service.models.integrations import InstallationRow

_OWN = frozenset[type[Operation[Any]]](
    (
        integrations.GetInstallation,
        integrations.GetIntegration,
        integrations.ListIntegrationInstallations,
        integrations.ListIntegrationSites,
        integrations.ListIntegrationSpaces,
        integrations.UpdateInstallation,
        content_installations.GetSiteInstallation,
        content_installations.GetSpaceInstallation,
        content_installations.ListInstallationSites,
        content_installations.ListInstallationSpaces,
        content_installations.UpdateSiteInstallation,
        content_installations.UpdateSpaceInstallation,
    )
)
"""Operations on the integration itself, which need no scope."""
_BY_SCOPE: dict[str, frozenset[type[Operation[Any]]]] = {
    "space:metadata:read": frozenset((spaces.GetSpace,)),
    "space:content:read": frozenset(
        (
            content.GetCurrentRevision,
            content.GetDocument,
            content.GetFile,
            content.GetPage,
            content.GetPageByPath,
            content.GetReusableContent,
            content.GetRevision,
            content.GetRevisionPage,
            content.GetRevisionPageByPath,
            content.GetRevisionPageDocument,
            content.GetRevisionReusableContentDocument,
            content.ListFiles,
            content.ListPages,
            content.ListRevisionFiles,
            content.ListRevisionPages,
        )
    ),
    "site:metadata:read": frozenset((sites.GetSite, GetPublishedSite, site_structure.GetSiteStructure)),
    "site:adaptive:read": frozenset((site_settings.GetAdaptiveSchema,)),
    "openapi:read": frozenset(
        (
            openapi.GetLatestOpenAPISpecContent,
            openapi.GetLatestOpenAPISpecVersion,
            openapi.GetOpenAPISpec,
            openapi.ListOpenAPISpecs,
        )
    ),
    "conversations:ingest": frozenset((conversations.IngestConversations,)),
}


def require_installation_grants(
    context: Context, grant: InstallationGrant, operation: type[Operation[Any]], path: Mapping[str, str]
) -> None:
    """Require that the token of an integration allows a call.

    Args:
        context: the transaction.
        grant: the limits of the token.
        operation: the operation that is called.
        path: the parameters of its path.

    Raises:
        ApiError: 403 if no scope of the integration allows the operation, 404 if the path is outside the installation.
    """
    if operation not in _OWN and not any(operation in _BY_SCOPE.get(scope, ()) for scope in grant.scopes):
        raise ApiError(403, "The scopes of the integration do not allow this.")
    own = {
        "integration_name": grant.integration,
        "installation_id": grant.installation_id,
        "organization_id": grant.organization_id,
    }
    for name, value in own.items():
        if name in path and path[name] != value:
            raise not_found(name.partition("_")[0])
    row = context.session.get(InstallationRow, grant.installation_id) if grant.installation_id else None
    for kind in KINDS:
        identity = path.get(f"{kind}_id")
        if identity is not None and (row is None or not is_installed(context, row, kind, identity)):
            raise not_found(kind)
