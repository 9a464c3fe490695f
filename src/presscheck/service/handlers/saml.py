"""SAML providers. Their settings are stored, but members cannot sign in with them at this service."""

from __future__ import annotations

from sqlalchemy import select

from presscheck.api.operation import Page
from presscheck.api.saml import (
    CreateSAMLProvider,
    DeleteSAMLProvider,
    GetSAMLProvider,
    ListSAMLProviders,
    ListSSOLogins,
    SAMLProvider,
    SAMLService,
    SAMLUrls,
    SSOLogin,
    SSOLogins,
    UpdateSAMLProvider,
)
from presscheck.service.db.ids import new_id
from presscheck.service.handlers.teams import as_teams
from presscheck.service.http.operations import ApiError, Context, handles, not_found
from presscheck.service.http.pagination import page_of_rows
from presscheck.service.models.teams import SAMLProviderRow, TeamRow
from presscheck.service.permissions import organization_for

NEEDED = ("sso_url", "entity_id", "certificate")
"""The settings that a provider needs before its status is active."""


@handles(ListSAMLProviders)
def list_providers(context: Context, call: ListSAMLProviders) -> Page[SAMLProvider]:
    """List the providers of an organization; requires an admin."""
    organization = organization_for(context, call.organization_id, "admin")
    return page_of_rows(
        context,
        call,
        select(SAMLProviderRow).where(SAMLProviderRow.organization_id == organization.id),
        lambda rows: [_as_provider(context, row) for row in rows],
        order=(SAMLProviderRow.created_at, SAMLProviderRow.id),
    )


@handles(CreateSAMLProvider)
def create_provider(context: Context, call: CreateSAMLProvider) -> SAMLProvider:
    """Add a provider."""
    organization = organization_for(context, call.organization_id, "admin")
    row = SAMLProviderRow(id=new_id(), organization_id=organization.id, label=call.label, created_at=context.now())
    _change(context, row, call)
    context.session.add(row)
    context.session.flush()
    return _as_provider(context, row)


@handles(GetSAMLProvider)
def get_provider(context: Context, call: GetSAMLProvider) -> SAMLProvider:
    """Return a provider."""
    return _as_provider(context, _provider(context, call.organization_id, call.saml_provider_id))


@handles(UpdateSAMLProvider)
def update_provider(context: Context, call: UpdateSAMLProvider) -> SAMLProvider:
    """Update a provider."""
    row = _provider(context, call.organization_id, call.saml_provider_id)
    _change(context, row, call)
    return _as_provider(context, row)


@handles(DeleteSAMLProvider)
def delete_provider(context: Context, call: DeleteSAMLProvider) -> None:
    """Delete a provider."""
    organization_for(context, call.organization_id, "admin")
    row = context.session.get(SAMLProviderRow, call.saml_provider_id)
    if row is not None and row.organization_id == call.organization_id:
        context.session.delete(row)


@handles(ListSSOLogins)
def list_logins(context: Context, call: ListSSOLogins) -> SSOLogins:
    """List the providers with complete settings."""
    organization = organization_for(context, call.organization_id, "guest")
    rows = select(SAMLProviderRow).where(SAMLProviderRow.organization_id == organization.id)
    providers = context.session.scalars(rows.order_by(SAMLProviderRow.created_at, SAMLProviderRow.id))
    ready = [row for row in providers if _status(row) == "active"]
    return SSOLogins(
        items=tuple(SSOLogin(id=row.id, label=row.label, startURL=_address(context, row, "start")) for row in ready)
    )


def _provider(context: Context, organization_id: str, provider_id: str) -> SAMLProviderRow:
    organization_for(context, organization_id, "admin")
    row = context.session.get(SAMLProviderRow, provider_id)
    if row is None or row.organization_id != organization_id:
        raise not_found("SAML provider")
    return row


def _change(context: Context, row: SAMLProviderRow, call: CreateSAMLProvider | UpdateSAMLProvider) -> None:
    given = call.given()
    for name in ("label", *NEEDED):
        if name in given:
            if given[name] is None:
                raise ApiError(400, f"{call.on_wire(name)}: must not be null")
            setattr(row, name, given[name])
    if "default_role" in given:
        row.default_role = call.default_role
    if "default_team" in given:
        if call.default_team is not None:
            team = context.session.get(TeamRow, call.default_team)
            if team is None or team.organization_id != row.organization_id:
                raise ApiError(400, "defaultTeam: team not found in this organization")
        row.default_team_id = call.default_team


def _status(row: SAMLProviderRow) -> str:
    return "active" if all(getattr(row, name) for name in NEEDED) else "pending"


def _address(context: Context, row: SAMLProviderRow, endpoint: str) -> str:
    return f"{context.origin}/sso/{row.id}/{endpoint}"


def _as_provider(context: Context, row: SAMLProviderRow) -> SAMLProvider:
    team = context.session.get(TeamRow, row.default_team_id) if row.default_team_id else None
    return SAMLProvider(
        id=row.id,
        label=row.label,
        ssoURL=row.sso_url,
        entityID=row.entity_id,
        certificate=row.certificate,
        default_team=as_teams(context, [team])[0] if team else None,
        default_role=row.default_role,
        created_at=row.created_at,
        status=_status(row),
        service=SAMLService(
            acsURL=_address(context, row, "acs"),
            startURL=_address(context, row, "start"),
            entityID=_address(context, row, "metadata"),
        ),
        urls=SAMLUrls(location=context.location(f"/orgs/{row.organization_id}/saml/{row.id}")),
    )
