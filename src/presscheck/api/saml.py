"""Single sign-on: SAML providers, and the providers that members can sign in with."""

from pydantic import Field

from presscheck.api.operation import InOrganization, Model, NullableModel, Operation, Page, Paged
from presscheck.api.roles import MemberRole
from presscheck.api.teams import Team


class SAMLService(Model):
    """The URLs and the entity id of the platform, which the identity provider needs."""

    acs_url: str | None = Field(default=None, alias="acsURL")
    start_url: str | None = Field(default=None, alias="startURL")
    entity_id: str | None = Field(default=None, alias="entityID")


class SAMLUrls(Model):
    """The URLs of a provider."""

    location: str | None = None


class SAMLProvider(NullableModel):
    """An identity provider; `status` is active or pending, `default_role` is null for guests."""

    nullable = frozenset({"default_role"})
    object: str = "saml-provider"
    id: str
    label: str = ""
    sso_url: str | None = Field(default=None, alias="ssoURL")
    entity_id: str | None = Field(default=None, alias="entityID")
    certificate: str | None = None
    default_team: Team | None = None
    default_role: str | None = None
    created_at: str | None = None
    status: str = "pending"
    service: SAMLService = Field(default_factory=SAMLService)
    urls: SAMLUrls = Field(default_factory=SAMLUrls)


class SSOLogin(Model):
    """A sign-in provider."""

    id: str
    label: str = ""
    start_url: str | None = Field(default=None, alias="startURL")


class SSOLogins(Model):
    """The sign-in providers of an organization."""

    items: tuple[SSOLogin, ...] = ()


class ListSAMLProviders(InOrganization, Paged, Operation[Page[SAMLProvider]]):
    """List the SAML providers of an organization."""

    operation_id = "listSAMLProvidersInOrganizationById"
    route = "GET /orgs/{organization_id}/saml"


class CreateSAMLProvider(InOrganization, Operation[SAMLProvider]):
    """Create a SAML provider.

    The label has 1 to 30 characters, the entity id at most 1024, the certificate 10,000, the sign-in URL 2048.
    """

    operation_id = "createOrganizationSAMLProvider"
    route = "POST /orgs/{organization_id}/saml"
    success = 201

    label: str = Field(min_length=1, max_length=30)
    entity_id: str | None = Field(default=None, alias="entityID", max_length=1024)
    certificate: str | None = Field(default=None, max_length=10_000)
    sso_url: str | None = Field(default=None, alias="ssoURL", max_length=2048)
    default_team: str | None = None
    default_role: MemberRole | None = None


class GetSAMLProvider(InOrganization, Operation[SAMLProvider]):
    """Get a SAML provider."""

    operation_id = "getOrganizationSAMLProviderById"
    route = "GET /orgs/{organization_id}/saml/{saml_provider_id}"

    saml_provider_id: str


class UpdateSAMLProvider(InOrganization, Operation[SAMLProvider]):
    """Update a SAML provider.

    Fields that are not given keep their values. A label has at most 30 characters, a certificate 10,000.
    """

    operation_id = "updateOrganizationSAMLProvider"
    route = "PATCH /orgs/{organization_id}/saml/{saml_provider_id}"

    saml_provider_id: str
    label: str | None = Field(default=None, min_length=1, max_length=30)
    entity_id: str | None = Field(default=None, alias="entityID", max_length=1024)
    certificate: str | None = Field(default=None, max_length=10_000)
    sso_url: str | None = Field(default=None, alias="ssoURL", max_length=2048)
    default_team: str | None = None
    default_role: MemberRole | None = None


class DeleteSAMLProvider(InOrganization, Operation[None]):
    """Delete a SAML provider.

    Succeeds even if it does not exist.
    """

    operation_id = "deleteOrganizationSAMLProvider"
    route = "DELETE /orgs/{organization_id}/saml/{saml_provider_id}"
    success = 204

    saml_provider_id: str


class ListSSOLogins(InOrganization, Operation[SSOLogins]):
    """List the SSO logins of an organization.

    Returns all of them; there is no pagination.
    """

    operation_id = "listSSOProviderLoginsInOrganization"
    route = "GET /orgs/{organization_id}/sso"
