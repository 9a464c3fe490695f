"""Content that the scripts of integrations compute in their content sources.

The seed of a call is a version of the result, for caches; nothing is cached here.
"""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any, NamedTuple, TypeVar, cast

from sqlalchemy import or_, select

from presscheck.api.computed_content import ComputedRevision, GetComputedDocument, GetComputedRevision
from presscheck.api.content import ContentDocument
from presscheck.api.operation import Model
from presscheck.service.db.ids import new_id
from presscheck.service.http.operations import ApiError, Context, handles, not_found, require_fit
from presscheck.service.integrations.event_delivery import DeliveryLog, deliver_event
from presscheck.service.integrations.integrations import (
    integration_for,
    is_installed_in,
    is_owner,
    receiver_of,
    record_event,
)
from presscheck.service.models.imports import SpecRow
from presscheck.service.models.integrations import InstallationRow, IntegrationRow
from presscheck.service.models.spaces import SpaceRow
from presscheck.service.permissions import is_member, level_in_space, space_for
from presscheck.service.sites.granted_reads import is_granted

MOST_DEPENDENCIES = 20
Answer = TypeVar("Answer", bound=Model)


class _Source(NamedTuple):
    """A content source of an installed integration, with the properties and dependencies of a call."""

    integration: IntegrationRow
    installation: InstallationRow
    source_id: str
    props: dict[str, Any]
    dependencies: dict[str, Any]


class _ComputedDocument(Model):
    """The response of a script to the event for a document."""

    document: ContentDocument


class _ComputedRevision(ComputedRevision):
    """The response of a script to the event for a revision, which must have pages."""

    pages: tuple[dict[str, Any], ...]


@handles(GetComputedDocument, writes=False)
def get_computed_document(context: Context, call: GetComputedDocument) -> ContentDocument:
    """Compute a document with the script of an integration that is installed in the space."""
    return _computed(context, call, "content_compute_document", _ComputedDocument).document


@handles(GetComputedRevision, writes=False)
def get_computed_revision(context: Context, call: GetComputedRevision) -> ComputedRevision:
    """Compute pages, files and reusable content with the script of an integration that is installed in the space."""
    return _computed(context, call, "content_compute_revision", _ComputedRevision)


def _computed(
    context: Context, call: GetComputedDocument | GetComputedRevision, kind: str, answer: type[Answer]
) -> Answer:
    space = space_for(context, call.space_id)
    source = _source(context, space, call.source)
    row = source.integration
    outgoing = context.outgoing_requests(row.organization_id)
    event = {
        "eventId": new_id(),
        "type": kind,
        "installationId": source.installation.id,
        "spaceId": space.id,
        "sourceId": source.source_id,
        "props": source.props,
        "dependencies": source.dependencies,
    }
    receiver = receiver_of(context, row, source.installation, is_own=is_owner(context, row), space_id=space.id)
    log, now = DeliveryLog(context.now), context.now()
    outcome = deliver_event(receiver, event, log, outgoing=outgoing, scripts=context.scripts, read=context.files.read)
    result = _parsed(outcome.text, answer) if outcome.error is None else None
    if result is None and outcome.error is None:
        outcome = replace(outcome, error=f"{row.title} did not respond with content.")
        log.add("error", "The response is not content: it must have a document, or pages.")
    recorded = event | {"props": {}, "dependencies": {}}
    name, installation_id = row.name, source.installation.id
    context.afterwards.append(lambda session: record_event(session, name, installation_id, recorded, outcome, log, now))
    if result is None:
        raise ApiError(outcome.problem, outcome.error or "no response")
    return result


def _source(context: Context, space: SpaceRow, given: dict[str, Any]) -> _Source:
    """Return the content source that a call names.

    Raises:
        ApiError: 400, the source is invalid; 404, no integration with this source is installed in the space.
    """
    builtin, _, rest = str(given.get("type")).partition(":")
    name, _, source_id = rest.partition(":")
    if builtin != "integration" or not source_id:
        raise ApiError(400, "source.type: must be integration:NAME:SOURCE; this service has no other sources")
    props, dependencies = given.get("props"), given.get("dependencies", {})
    if not isinstance(props, dict) or not isinstance(dependencies, dict):
        raise ApiError(400, "source: props and dependencies must be objects")
    row = integration_for(context, name)
    installed = context.session.scalar(
        select(InstallationRow).where(
            InstallationRow.integration == row.name, InstallationRow.organization_id == space.organization_id
        )
    )
    sources = [source.get("id") for source in row.content_sources or ()]
    if installed is None or source_id not in sources or not is_installed_in(installed, "space", space.id):
        raise not_found("content source")
    named = cast("dict[str, Any]", dependencies)
    if len(named) > MOST_DEPENDENCIES:
        raise ApiError(400, f"source.dependencies: at most {MOST_DEPENDENCIES}")
    resolved = {key: _dependency(context, space, value) for key, value in named.items()}
    return _Source(row, installed, source_id, cast("dict[str, Any]", props), resolved)


def _dependency(context: Context, space: SpaceRow, given: Any) -> dict[str, Any]:
    """Return a dependency with its value. The value is None for an unknown kind, or if the caller does not see it."""
    ref = cast("dict[str, Any]", given).get("ref") if isinstance(given, dict) else None
    if not isinstance(ref, dict):
        raise ApiError(400, "source.dependencies: must have references")
    values = cast("dict[str, Any]", ref)
    value: dict[str, Any] | None = None
    if values.get("kind") == "space" and isinstance(values.get("space"), str):
        other = context.session.get(SpaceRow, values["space"])
        is_seen = other is not None and other.deleted_at is None and level_in_space(context, other) is not None
        if other is not None and is_seen and is_granted(context, {"space_id": other.id}):
            value = {"object": "space", "id": other.id, "revision": other.revision_id}
    if values.get("kind") == "openapi" and isinstance(values.get("spec"), str):
        query = select(SpecRow).where(
            SpecRow.organization_id == space.organization_id,
            or_(SpecRow.id == values["spec"], SpecRow.slug == values["spec"]),
        )
        spec = context.session.scalar(query)
        if spec is not None and (spec.visibility == "public" or is_member(context, space.organization_id)):
            value = {"object": "openapi-spec", "id": spec.id, "slug": spec.slug, "visibility": spec.visibility}
            value |= {"lastVersion": spec.last_version} if spec.last_version else {}
    return {"ref": values, "value": value}


def _parsed(text: str, answer: type[Answer]) -> Answer | None:
    """Parse the response of a script. Return None if it is not the expected content."""
    try:
        value = json.loads(text)
        json.dumps(value, allow_nan=False)
        require_fit("response", value)
        return answer.model_validate(value)
    except (ValueError, RecursionError, ApiError):
        return None
