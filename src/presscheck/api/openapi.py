"""OpenAPI specifications, from which pages are generated."""

from typing import Annotated, Any, Literal

from pydantic import Field

from presscheck.api.operation import Argument, InOrganization, Model, NullableModel, Operation, Page, Paged
from presscheck.api.roles import Location

Slug = Annotated[
    str,
    Field(
        min_length=1,
        max_length=100,
        pattern=r"^[a-z0-9]+(?:-[a-z0-9]+)*$",
        description="lowercase letters and digits, separated by hyphens",
    ),
]
"""Lowercase letters and digits, in groups separated by single hyphens."""


class SpecUrls(Location):
    """The URLs of a specification."""

    published: str | None = None


class SpecPermissions(Model):
    """The caller's permissions for a specification."""

    view: bool = False
    edit: bool = False


class SpecError(Model):
    """An error in a specification."""

    message: str = ""
    code: str | None = None


class OpenAPISpec(Model):
    """A specification; `processing_state` is pending, progress or complete, `visibility` private or public."""

    object: str = "openapi-spec"
    id: str
    created_at: str | None = None
    updated_at: str | None = None
    slug: str = ""
    source_url: str | None = Field(default=None, alias="sourceURL")
    processing_state: str = "pending"
    visibility: str | None = None
    last_version: str | None = None
    last_processed_at: str | None = None
    last_process_error_code: str | None = None
    last_processed_errors: tuple[SpecError, ...] | None = None
    last_processed_error_count: int | None = None
    permissions: SpecPermissions = Field(default_factory=SpecPermissions)
    urls: SpecUrls = Field(default_factory=SpecUrls)


class VersionUrls(Model):
    """The URLs of a version."""

    location: str | None = None


class OpenAPISpecVersion(Model):
    """One version of a specification; `url` is its source."""

    object: str = "openapi-spec-version"
    id: str
    created_at: str | None = None
    url: str | None = None
    urls: VersionUrls = Field(default_factory=VersionUrls)


class ContentUrls(NullableModel):
    """The URLs of the content of a version; newest release only. `public` is None unless everyone may read it."""

    nullable = frozenset({"public"})
    source: str | None = None
    public: str | None = None


class OpenAPISpecContent(Model):
    """The content of a version as files, and its URL (`url` in 0.146.0, `urls` in the newest release)."""

    filesystem: Any = None
    url: str | None = None
    urls: ContentUrls | None = None


class OpenAPISpecRawContent(Model):
    """The content of a version as text; `format` is json or yaml."""

    text: str
    format: str = "json"


class SpecSource(Argument):
    """The source of a specification: a URL or the text itself."""

    url: str | None = Field(default=None, max_length=2048)
    text: str | None = Field(default=None, min_length=1)


class ListOpenAPISpecs(InOrganization, Paged, Operation[Page[OpenAPISpec]]):
    """List the OpenAPI specifications of an organization."""

    operation_id = "listOpenAPISpecs"
    route = "GET /orgs/{organization_id}/openapi"


class CreateOpenAPISpec(InOrganization, Operation[OpenAPISpec]):
    """Create an OpenAPI specification.

    The slug has at most 100 characters.
    """

    operation_id = "createOpenAPISpec"
    route = "POST /orgs/{organization_id}/openapi"
    success = 201

    slug: Slug
    source: SpecSource


class GetOpenAPISpec(InOrganization, Operation[OpenAPISpec]):
    """Get an OpenAPI specification."""

    operation_id = "getOpenAPISpecBySlug"
    route = "GET /orgs/{organization_id}/openapi/{spec_slug}"

    spec_slug: str


class PutOpenAPISpec(InOrganization, Operation[OpenAPISpec]):
    """Create or replace an OpenAPI specification.

    Replaces the source, or creates the specification under its slug (status 201).
    """

    operation_id = "createOrUpdateOpenAPISpecBySlug"
    route = "PUT /orgs/{organization_id}/openapi/{spec_slug}"

    spec_slug: str
    source: SpecSource


class DeleteOpenAPISpec(InOrganization, Operation[None]):
    """Delete an OpenAPI specification.

    Succeeds even if it does not exist.
    """

    operation_id = "deleteOpenAPISpecBySlug"
    route = "DELETE /orgs/{organization_id}/openapi/{spec_slug}"
    success = 204

    spec_slug: str


class UpdateOpenAPISpec(InOrganization, Operation[OpenAPISpec]):
    """Make an OpenAPI specification private or public."""

    operation_id = "updateOpenAPISpecBySlug"
    route = "PATCH /orgs/{organization_id}/openapi/{spec_slug}"

    spec_slug: str
    visibility: Literal["private", "public"]


class GetLatestOpenAPISpecVersion(InOrganization, Operation[OpenAPISpecVersion]):
    """Get the latest version of an OpenAPI specification."""

    operation_id = "getLatestOpenAPISpecVersion"
    route = "GET /orgs/{organization_id}/openapi/{spec_slug}/versions/latest"
    feature = "specification versions"
    may_be_absent = True

    spec_slug: str


class GetLatestOpenAPISpecContent(InOrganization, Operation[OpenAPISpecContent]):
    """Get the latest content of an OpenAPI specification."""

    operation_id = "getLatestOpenAPISpecVersionContent"
    route = "GET /orgs/{organization_id}/openapi/{spec_slug}/versions/latest/content"
    feature = "specification versions"
    may_be_absent = True

    spec_slug: str


class ListOpenAPISpecVersions(InOrganization, Paged, Operation[Page[OpenAPISpecVersion]]):
    """List the versions of an OpenAPI specification."""

    operation_id = "listOpenAPISpecVersions"
    route = "GET /orgs/{organization_id}/openapi/{spec_slug}/versions"
    feature = "all versions of specifications"
    release = "0.202.0"

    spec_slug: str


class GetLatestOpenAPISpecRawContent(InOrganization, Operation[OpenAPISpecRawContent]):
    """Get the text of an OpenAPI specification."""

    operation_id = "getLatestOpenAPISpecVersionContentRaw"
    route = "GET /orgs/{organization_id}/openapi/{spec_slug}/versions/latest/content/raw"
    feature = "all versions of specifications"
    release = "0.202.0"
    may_be_absent = True

    spec_slug: str


class GetOpenAPISpecVersion(InOrganization, Operation[OpenAPISpecVersion]):
    """Get a version of an OpenAPI specification."""

    operation_id = "getOpenAPISpecVersionById"
    route = "GET /orgs/{organization_id}/openapi/{spec_slug}/versions/{version_id}"
    feature = "all versions of specifications"
    release = "0.202.0"

    spec_slug: str
    version_id: str


class GetOpenAPISpecVersionContent(InOrganization, Operation[OpenAPISpecContent]):
    """Get the content of a version of an OpenAPI specification."""

    operation_id = "getOpenAPISpecVersionContentById"
    route = "GET /orgs/{organization_id}/openapi/{spec_slug}/versions/{version_id}/content"
    feature = "all versions of specifications"
    release = "0.202.0"

    spec_slug: str
    version_id: str
