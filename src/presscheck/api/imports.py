"""Imports of content from websites and files. The paths start with ``/org``, not ``/orgs``."""

from typing import Annotated, Any, Literal

from pydantic import Field

from presscheck.api.operation import Argument, InOrganization, Model, Operation, Page, Paged


class ImportedPage(Model):
    """A page that was imported."""

    id: str
    source_url: str | None = Field(default=None, alias="sourceURL")
    type: str | None = None
    status: str | None = None


class ImportRun(Model):
    """An import; `status` is pending, in-progress, completed, failed or cancelled."""

    id: str
    status: str = "pending"
    started_at: str | None = None
    completed_at: str | None = None
    reason: str | None = None
    source: dict[str, Any] | None = None
    target: dict[str, Any] | None = None
    pages: tuple[ImportedPage, ...] | None = None


class WebsiteSource(Argument):
    """A website to import; its address is at most 2048 characters."""

    always_sent = frozenset({"type"})

    type: Literal["website"] = "website"
    url: str = Field(max_length=2048)


class FilesSource(Argument):
    """Files to import, at most 50 of them."""

    always_sent = frozenset({"type"})

    type: Literal["file"] = "file"
    files: tuple[str, ...] = Field(max_length=50)


class ImportTarget(Argument):
    """The target of an import: a space, optionally a change request and a page to import below."""

    space: str
    change_request: str | None = None
    page: str | None = None


class StartImport(InOrganization, Operation[ImportRun]):
    """Start an import."""

    operation_id = "startImportRun"
    route = "POST /org/{organization_id}/imports"
    success = 201

    source: Annotated[WebsiteSource | FilesSource, Field(discriminator="type")]
    target: ImportTarget


class CancelImport(InOrganization, Operation[ImportRun]):
    """Cancel an import."""

    operation_id = "cancelImportRun"
    route = "POST /org/{organization_id}/imports/{import_run_id}/cancel"
    success = 201

    import_run_id: str


class ListImports(InOrganization, Paged, Operation[Page[ImportRun]]):
    """List the imports of an organization."""

    operation_id = "listImportRuns"
    route = "GET /org/{organization_id}/imports"
    feature = "list of imports"
    release = "0.202.0"

    space: str | None = None
    change_request: str | None = None
    site: str | None = None
    status: Literal["active", "pending", "in-progress", "completed", "failed", "cancelled"] | None = None


class GetImport(InOrganization, Operation[ImportRun]):
    """Get an import."""

    operation_id = "getImportRun"
    route = "GET /org/{organization_id}/imports/{import_run_id}"
    feature = "list of imports"
    release = "0.202.0"

    import_run_id: str
