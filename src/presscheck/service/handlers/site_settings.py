"""Site settings: customization, visitor claims schema, and visitor authentication."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any, cast

from presscheck.api.site_settings import (
    AdaptiveSchema,
    DeleteSiteSpaceCustomization,
    GetAdaptiveSchema,
    GetCustomization,
    GetPreview,
    GetPublishingAuth,
    GetSiteSpaceCustomization,
    ListTemplateConditions,
    OverrideSiteSpaceCustomization,
    Preview,
    PublishingAuth,
    RegeneratePublishingAuth,
    TemplateCondition,
    TemplateConditions,
    UpdateAdaptiveSchema,
    UpdateCustomization,
    UpdatePublishingAuth,
)
from presscheck.documents.rison import InvalidRison, load_rison
from presscheck.documents.visitors.claim_schema import schema_claims, schema_mistakes
from presscheck.service.handlers.sites import site_for
from presscheck.service.http.operations import ApiError, Context, handles, not_found
from presscheck.service.models.sites import SiteRow, SiteSettingsRow, SiteSpaceRow
from presscheck.service.permissions import require_every_space
from presscheck.service.sites.customization import (
    OF_SPACES,
    combined,
    looks_of,
    require_customization,
    with_newest_parts,
)
from presscheck.service.sites.structure import SiteContents
from presscheck.service.sites.urls import new_signing_key, space_path
from presscheck.service.web.access import preview_address


def require_visitor_schema(schema: dict[str, Any]) -> None:
    """Check a JSON schema of visitor claims.

    Raises:
        ApiError: 400 with the path of the first invalid field.
    """
    for mistake in schema_mistakes(schema):
        path = "".join(f".{step}" for step in mistake.path)
        raise ApiError(400, f"jsonSchema{path}: {mistake.message}")


def conditions_for(schema: dict[str, Any]) -> Iterator[tuple[str, str]]:
    """Yield the description and the expression of each condition that is suggested for a schema."""
    for claim in schema_claims(schema):
        path = claim.expression
        description = claim.description.rstrip(".") or path
        if claim.kind == "boolean":
            yield description, f"{path} == true"
        for value in claim.values if claim.kind != "array" else ():
            yield f"{description}: {value}", f"{path} == {json.dumps(value, ensure_ascii=False)}"


@handles(GetCustomization)
def get_customization(context: Context, call: GetCustomization) -> dict[str, Any]:
    """Return the customization with all values; none of them is secret."""
    return looks_of(context, site_for(context, call.organization_id, call.site_id))


@handles(UpdateCustomization)
def update_customization(context: Context, call: UpdateCustomization) -> dict[str, Any]:
    """Replace the whole customization."""
    row = _settings_to_write(context, call.organization_id, call.site_id, "create")
    require_customization(call.settings)
    row.looks = call.settings
    return call.settings


@handles(GetSiteSpaceCustomization)
def get_site_space_customization(context: Context, call: GetSiteSpaceCustomization) -> dict[str, Any]:
    """Return the customization of a space: the values of the site, and the values that the space overrides."""
    site = site_for(context, call.organization_id, call.site_id)
    row = _site_space(context, site, call.site_space_id)
    SiteContents(context, site).site_space(row)  # the caller must see the space
    return with_newest_parts(combined(looks_of(context, site), row.looks))


@handles(OverrideSiteSpaceCustomization)
def override_site_space_customization(context: Context, call: OverrideSiteSpaceCustomization) -> dict[str, Any]:
    """Change the values that a space overrides; null removes an override."""
    site = site_for(context, call.organization_id, call.site_id, "create")
    row = _site_space(context, site, call.site_space_id)
    foreign = sorted(call.settings.keys() - OF_SPACES)
    if foreign:
        raise ApiError(400, f"{foreign[0]}: is a setting of the whole site")
    own = combined(row.looks or {}, call.settings)
    looks = combined(looks_of(context, site), own)
    require_customization(looks)
    row.looks = own
    return with_newest_parts(looks)


@handles(DeleteSiteSpaceCustomization)
def delete_site_space_customization(context: Context, call: DeleteSiteSpaceCustomization) -> None:
    """Remove all values that a space overrides. Return normally if the site does not have the space."""
    site = site_for(context, call.organization_id, call.site_id, "create")
    row = context.session.get(SiteSpaceRow, call.site_space_id)
    if row is not None and row.site_id == site.id:
        row.looks = None


def _site_space(context: Context, site: SiteRow, site_space_id: str) -> SiteSpaceRow:
    row = context.session.get(SiteSpaceRow, site_space_id)
    if row is None or row.site_id != site.id:
        raise not_found("site space")
    return row


@handles(GetAdaptiveSchema)
def get_adaptive_schema(context: Context, call: GetAdaptiveSchema) -> AdaptiveSchema:
    """Return the schema of visitor claims, to its editors and to integrations with the scope for it."""
    required = "read" if context.installation is not None else "create"
    row = _settings(context, call.organization_id, call.site_id, required)
    if row.visitor_schema is None:
        raise ApiError(404, "This site has no visitor schema.")
    return AdaptiveSchema(json_schema=row.visitor_schema, updated_at=row.visitor_schema_at)


@handles(UpdateAdaptiveSchema)
def update_adaptive_schema(context: Context, call: UpdateAdaptiveSchema) -> AdaptiveSchema:
    """Replace the schema of visitor claims."""
    row = _settings_to_write(context, call.organization_id, call.site_id, "create")
    require_visitor_schema(call.json_schema)
    row.visitor_schema, row.visitor_schema_at = call.json_schema, context.now()
    return AdaptiveSchema(json_schema=row.visitor_schema, updated_at=row.visitor_schema_at)


@handles(ListTemplateConditions)
def list_template_conditions(context: Context, call: ListTemplateConditions) -> TemplateConditions:
    """Suggest conditions that fit the schema."""
    row = _settings(context, call.organization_id, call.site_id, "read")
    conditions = conditions_for(row.visitor_schema) if row.visitor_schema else ()
    return TemplateConditions(
        items=tuple(
            TemplateCondition(description=description, condition=condition) for description, condition in conditions
        )
    )


@handles(GetPublishingAuth)
def get_publishing_auth(context: Context, call: GetPublishingAuth) -> PublishingAuth:
    """Return the visitor authentication with its signing key; requires an admin."""
    return as_auth(_settings(context, call.organization_id, call.site_id, "admin"))


@handles(UpdatePublishingAuth)
def update_publishing_auth(context: Context, call: UpdatePublishingAuth) -> PublishingAuth:
    """Change the visitor authentication."""
    row = _settings_to_write(context, call.organization_id, call.site_id, "admin")
    given = call.given()
    row.auth_backend = call.backend
    for name, column in (("fallback_url", "auth_fallback"), ("logout_url", "auth_logout")):
        if name in given:
            if given[name] is not None and not given[name].startswith(("https://", "http://")):
                raise ApiError(400, f"{call.on_wire(name)}: must be a URL such as https://example.org/sign-in")
            setattr(row, column, given[name])
    return as_auth(row)


@handles(RegeneratePublishingAuth)
def regenerate_publishing_auth(context: Context, call: RegeneratePublishingAuth) -> PublishingAuth:
    """Replace the signing key, so that visitors who signed in with the old key are signed out."""
    row = _settings_to_write(context, call.organization_id, call.site_id, "admin")
    row.auth_key = new_signing_key()
    return as_auth(row)


@handles(GetPreview)
def get_preview(context: Context, call: GetPreview) -> Preview:
    """Return the URL of a preview of a published or unpublished site, valid for one hour. `claims` are in Rison.

    The caller must see all spaces of the site, because everyone who has the URL can read them.
    """

    site = site_for(context, call.organization_id, call.site_id)
    require_every_space(context, site)
    contents = SiteContents(context, site)
    inside = ""
    if call.site_space is not None:
        visible_space = next(
            (candidate for candidate in contents.every_space() if candidate.id == call.site_space), None
        )
        row = next((site_space for site_space in contents.site_spaces if site_space.id == call.site_space), None)
        if visible_space is None or row is None:
            raise ApiError(400, "siteSpace: space not found in this site")
        section = next((candidate for candidate in contents.sections if candidate.id == row.section_id), None)
        inside = space_path(site, section, row)
    return Preview(url=preview_address(context, site, _claims(call.claims)) + inside)


def _claims(text: str | None) -> dict[str, Any]:
    if text is None:
        return {}
    try:
        claims = load_rison(text)
    except InvalidRison:
        claims = None
    if not isinstance(claims, dict):
        raise ApiError(400, "claims: must be a Rison object, such as (isBeta:!t)")
    return cast("dict[str, Any]", claims)


def _settings(context: Context, organization_id: str, site_id: str, required: str) -> SiteSettingsRow:
    """Return the stored settings of a site, or else new default settings that are not part of the session."""
    site = site_for(context, organization_id, site_id, required)
    return context.session.get(SiteSettingsRow, site.id) or _new_settings(site.id)


def _settings_to_write(context: Context, organization_id: str, site_id: str, required: str) -> SiteSettingsRow:
    site = site_for(context, organization_id, site_id, required)
    row = context.session.get(SiteSettingsRow, site.id)
    if row is None:
        row = _new_settings(site.id)
        context.session.add(row)
    return row


def _new_settings(site_id: str) -> SiteSettingsRow:
    """Return default settings. The signing key is empty until a key is created."""
    return SiteSettingsRow(site_id=site_id, auth_backend="custom", auth_key="")


def as_auth(row: SiteSettingsRow) -> PublishingAuth:
    """Serialize the visitor authentication, with its signing key."""
    return PublishingAuth(
        backend=row.auth_backend,
        private_key=row.auth_key,
        fallbackURL=row.auth_fallback,
        logoutURL=row.auth_logout,
    )
