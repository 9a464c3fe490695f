"""Integrations: list, publish, delete, and set up a development tunnel."""

from __future__ import annotations

import base64
import json
from typing import Any, cast

from sqlalchemy import or_, select, update

from presscheck.api.content_installations import ListOrganizationIntegrations
from presscheck.api.integrations import (
    DisableDevelopmentMode,
    GetIntegration,
    Integration,
    ListIntegrations,
    PublishIntegration,
    SetDevelopmentMode,
    UnpublishIntegration,
)
from presscheck.api.operation import Page
from presscheck.service.http.operations import ApiError, Context, handles
from presscheck.service.http.pagination import page_of_items
from presscheck.service.integrations.integrations import (
    as_integrations,
    integration_for,
    is_owner,
    may_see,
    store_secrets,
)
from presscheck.service.integrations.outbound_http import web_address
from presscheck.service.models.integrations import InstallationRow, IntegrationRow
from presscheck.service.models.organizations import MemberRow, OrganizationRow
from presscheck.service.permissions import organization_for

COPIED_FIELDS = ("title", "description", "summary", "configurations", "content_security_policy")

LONGEST_POLICY = 20_000
"""Maximum number of characters of a content security policy, as JSON; it is read for each page of a site."""


@handles(ListIntegrations)
def list_integrations(context: Context, call: ListIntegrations) -> Page[Integration]:
    """List the public integrations and the integrations of the caller's organizations, by name."""
    own_organizations = select(MemberRow.organization_id).where(
        MemberRow.user_id == context.user.id, MemberRow.disabled.is_(False)
    )
    seen = select(IntegrationRow).where(
        or_(IntegrationRow.visibility == "public", IntegrationRow.organization_id.in_(own_organizations))
    )
    rows = context.session.scalars(seen.order_by(IntegrationRow.name)).all()
    return page_of_items(call, as_integrations(context, [row for row in rows if is_wanted(row, call)]))


@handles(GetIntegration)
def get_integration(context: Context, call: GetIntegration) -> Integration:
    """Return an integration."""
    return as_integrations(context, [integration_for(context, call.integration_name)])[0]


@handles(PublishIntegration)
def publish_integration(context: Context, call: PublishIntegration) -> Integration:
    """Publish a new version of an integration. If the call has no secrets, the stored secrets are kept.

    The installation in the publishing organization gets the new scopes. Other installations keep the scopes that their
    admins agreed to.
    """
    organization = _publisher(context, call.organization)
    if len(json.dumps(call.content_security_policy)) > LONGEST_POLICY:
        raise ApiError(400, f"contentSecurityPolicy: too long: at most {LONGEST_POLICY:,} characters")
    row, now = context.session.get(IntegrationRow, call.integration_name), context.now()
    if row is None:
        store_secrets(context.session, call.integration_name, None)  # left by a deleted organization
        row = IntegrationRow(name=call.integration_name, organization_id=organization.id, version=0, created_at=now)
        context.session.add(row)
    elif row.organization_id != organization.id or not is_owner(context, row):
        raise ApiError(403, f"The name {row.name} is not available.")
    for name in COPIED_FIELDS:
        setattr(row, name, getattr(call, name))
    row.version, row.updated_at = row.version + 1, now
    row.runtime, row.visibility, row.target = call.runtime or "v1", call.visibility or "private", call.target or "all"
    row.scopes, row.categories = [*map(str, call.scopes)], [*map(str, call.categories or ())]
    row.blocks = list(call.blocks) if call.blocks is not None else None
    row.content_sources = list(call.content_sources) if call.content_sources is not None else None
    row.external_links = [link.model_dump() for link in call.external_links or ()]
    row.script = context.files.put(call.script.encode())
    row.icon = _picture(context, "icon", call.icon) if call.icon else None
    row.preview_images = [_picture(context, "previewImages", image) for image in call.preview_images or ()]
    if call.secrets is not None:
        store_secrets(context.session, row.name, call.secrets)
    context.session.flush()
    own = InstallationRow.integration == row.name, InstallationRow.organization_id == organization.id
    context.session.execute(update(InstallationRow).where(*own).values(scopes=row.scopes))
    return as_integrations(context, [row])[0]


@handles(UnpublishIntegration)
def unpublish_integration(context: Context, call: UnpublishIntegration) -> None:
    """Delete an integration with its installations and events.

    Ignore an integration that is missing or that the caller may not see.
    """
    row = context.session.get(IntegrationRow, call.integration_name)
    if row is not None and may_see(context, row):
        context.session.delete(integration_for(context, call.integration_name, to_own=True))
        store_secrets(context.session, row.name, None)


@handles(SetDevelopmentMode)
def set_development_mode(context: Context, call: SetDevelopmentMode) -> None:
    """Set the development tunnel. Each request to the tunnel checks that its address is allowed."""
    row = integration_for(context, call.integration_name, to_own=True)
    if web_address(call.tunnel_url) is None:
        raise ApiError(400, "tunnelUrl: must be a URL such as https://example.org/tunnel")
    row.tunnel_url, row.tunnel_for_all = call.tunnel_url, bool(call.all)


@handles(DisableDevelopmentMode)
def disable_development_mode(context: Context, call: DisableDevelopmentMode) -> None:
    """Remove the development tunnel."""
    row = integration_for(context, call.integration_name, to_own=True)
    row.tunnel_url, row.tunnel_for_all = None, False


def is_wanted(row: IntegrationRow, call: ListIntegrations | ListOrganizationIntegrations) -> bool:
    """Return whether an integration matches the filters of a listing."""
    blocks = row.blocks or []
    unfurled = (block.get("urlUnfurl") for block in blocks)
    domains = [str(domain) for value in unfurled if isinstance(value, list) for domain in cast("list[Any]", value)]
    return not (
        (call.search and call.search.casefold() not in f"{row.name} {row.title}".casefold())
        or (call.category and call.category not in row.categories)
        or (call.block_domain and not any(call.block_domain in domain for domain in domains))
        or (call.blocks is not None and call.blocks != bool(blocks))
        or (call.content_sources is not None and call.content_sources != bool(row.content_sources))
        or (call.owner and call.owner != row.organization_id)
        or (call.scope and call.scope not in row.scopes)
        or (call.target and row.target != call.target)
    )


def _publisher(context: Context, name: str) -> OrganizationRow:
    """Return an organization by its id or hostname.

    Raises:
        ApiError: 403 or 404 if the caller is not an admin of the organization.
    """
    organization = context.session.scalar(select(OrganizationRow).where(OrganizationRow.hostname == name))
    return organization_for(context, organization.id if organization else name, "admin")


def _picture(context: Context, field: str, text: str) -> str:
    try:
        return context.files.put(base64.b64decode(text.rpartition(",")[2], validate=True))
    except ValueError:  # invalid characters or wrong padding
        raise ApiError(400, f"{field}: invalid base64") from None
