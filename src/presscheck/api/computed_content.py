"""Content that integrations compute: documents, and whole revisions with pages, files and reusable content."""

from typing import Any

from pydantic import Field

from presscheck.api.content import ContentDocument, DocumentSchema
from presscheck.api.operation import InSpace, Model, Operation

NEWEST = "0.202.0"
FEATURE = "computed content"


class ComputedRevision(Model):
    """The content that a source computes; the items are not parsed."""

    pages: tuple[dict[str, Any], ...] = ()
    files: tuple[dict[str, Any], ...] = ()
    reusable_contents: tuple[dict[str, Any], ...] = ()


class GetComputedDocument(InSpace, Operation[ContentDocument]):
    """Compute a document with a content source of an integration.

    `source` has the type ``integration:NAME:SOURCE`` and the properties of the source. The local service has no other
    sources.
    """

    operation_id = "getComputedDocument"
    route = "POST /spaces/{space_id}/content/computed/document"
    in_query = frozenset({"document_schema"})
    feature = FEATURE
    release = NEWEST

    document_schema: DocumentSchema | None = Field(default=None, alias="schema")
    source: dict[str, Any]
    seed: str


class GetComputedRevision(InSpace, Operation[ComputedRevision]):
    """Compute pages with a content source of an integration.

    `source` has the type ``integration:NAME:SOURCE`` and the properties of the source. The local service has no other
    sources.
    """

    operation_id = "getComputedRevision"
    route = "POST /spaces/{space_id}/content/computed/revision"
    feature = FEATURE
    release = NEWEST

    source: dict[str, Any]
    seed: str
