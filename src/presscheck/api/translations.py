"""Translations of spaces."""

from typing import Any

from pydantic import Field

from presscheck.api.languages import Language
from presscheck.api.operation import Argument, InOrganization, Model, Operation, Page, Paged


class TranslationSource(Model):
    """The translated space and its language."""

    space: str
    language: str | None = None


class TranslationResult(Model):
    """The space with the translation, and the latest revision that the translation created."""

    space: str
    revision: str
    language: str | None = None


class TranslationStats(Model):
    """The number of translated words and pages, and the duration of runs."""

    runs: int = 0
    total_words: int = 0
    total_pages: int = 0
    total_duration: float = 0
    latest_run_duration: float = 0
    latest_pages: int = 0
    latest_words: int = 0


class TranslationPermissions(Model):
    """The caller's permissions for a translation."""

    view: bool = False
    edit: bool = False


class TranslationUrls(Model):
    """The URLs of a translation."""

    location: str | None = None


class Translation(Model):
    """A translation; `status` is pending, running or completed; `instructions` is a node tree."""

    object: str = "translation"
    id: str
    status: str = "pending"
    source: TranslationSource
    language: str = ""
    instructions: dict[str, Any] | None = None
    result: TranslationResult | None = None
    created_at: str | None = None
    updated_at: str | None = None
    stats: TranslationStats = Field(default_factory=TranslationStats)
    permissions: TranslationPermissions = Field(default_factory=TranslationPermissions)
    urls: TranslationUrls = Field(default_factory=TranslationUrls)


class SourceToTranslate(Argument):
    """The space to translate, and its language."""

    space: str
    language: Language


class ListTranslations(InOrganization, Paged, Operation[Page[Translation]]):
    """List the translations of an organization."""

    operation_id = "listTranslations"
    route = "GET /orgs/{organization_id}/translations"


class CreateTranslation(InOrganization, Operation[Translation]):
    """Create a translation of a space.

    The instructions are a tree of nodes; Markdown is not accepted.
    """

    operation_id = "createTranslation"
    route = "POST /orgs/{organization_id}/translations"
    success = 201

    source: SourceToTranslate
    language: Language
    instructions: dict[str, Any] | None = None


class GetTranslation(InOrganization, Operation[Translation]):
    """Get a translation."""

    operation_id = "getTranslation"
    route = "GET /orgs/{organization_id}/translations/{translation_id}"

    translation_id: str


class UpdateTranslation(InOrganization, Operation[Translation]):
    """Replace the instructions of a translation."""

    operation_id = "updateTranslation"
    route = "PUT /orgs/{organization_id}/translations/{translation_id}"

    translation_id: str
    instructions: dict[str, Any]


class DeleteTranslation(InOrganization, Operation[None]):
    """Delete a translation.

    Succeeds even if it does not exist.
    """

    operation_id = "deleteTranslation"
    route = "DELETE /orgs/{organization_id}/translations/{translation_id}"
    success = 204

    translation_id: str


class RunTranslation(InOrganization, Operation[None]):
    """Run a translation again."""

    operation_id = "runTranslation"
    route = "POST /orgs/{organization_id}/translations/{translation_id}/run"
    success = 204

    translation_id: str
