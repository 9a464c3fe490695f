"""Computed content: pages that the script of an integration generates for one of its content sources.

Clients send a seed as the version of the content, for caches. This service ignores it, because it caches no computed
content. A space that is created from a content source gets its pages once; afterwards, it is an ordinary space.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable
from dataclasses import replace
from typing import Any, NamedTuple, TypeVar, cast

from sqlalchemy import or_, select
from sqlalchemy.orm import Session

from presscheck.api.computed_content import ComputedRevision, GetComputedDocument, GetComputedRevision
from presscheck.api.content import ContentDocument
from presscheck.api.operation import Model
from presscheck.documents.pages.tree import Page, title_slug
from presscheck.service.content.revisions import add_document, new_page
from presscheck.service.content.serializers import require_size, text_of
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
MOST_PAGES = 50
"""Maximum number of pages that are computed for a new space; each runs the script."""
LONGEST_TITLE = 128
LONGEST_DESCRIPTION = 1_000
Answer = TypeVar("Answer", bound=Model)


class _Source(NamedTuple):
    """A content source of an installed integration, with the properties and dependencies of a call."""

    integration: IntegrationRow
    installation: InstallationRow
    source_id: str
    props: dict[str, Any]
    dependencies: dict[str, Any]


class _ComputedDocument(Model):
    """The response of a script to a `content_compute_document` event."""

    document: ContentDocument


class _ComputedRevision(ComputedRevision):
    """The response of a script to a `content_compute_revision` event. It must have pages."""

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
    return _run(context, _source(context, space.organization_id, space.id, call.source), kind, answer, space.id)


def _run(context: Context, source: _Source, kind: str, answer: type[Answer], space_id: str) -> Answer:
    """Send an event to the script, record the delivery, and return the response.

    Raises:
        ApiError: the script failed, or its response is not the expected content.
    """
    row = source.integration
    outgoing = context.outgoing_requests(row.organization_id)
    event = {
        "eventId": new_id(),
        "type": kind,
        "installationId": source.installation.id,
        "spaceId": space_id,
        "sourceId": source.source_id,
        "props": source.props,
        "dependencies": source.dependencies,
    }
    receiver = receiver_of(context, row, source.installation, is_own=is_owner(context, row), space_id=space_id)
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


class ComputedPage(NamedTuple):
    """A page of a new space, with the text that a content source computed."""

    kind: str
    title: str
    slug: str
    description: str | None
    markdown: str
    pages: tuple[ComputedPage, ...]


class ComputedSpace(NamedTuple):
    """The id and pages of a new space, and functions that record the events sent to the content source."""

    space_id: str
    pages: tuple[ComputedPage, ...]
    events: tuple[Callable[[Session], None], ...]


def computed_space(context: Context, organization_id: str, given: dict[str, Any]) -> ComputedSpace:
    """Compute the pages of a new space. Pages that are neither documents nor groups are left out.

    Raises:
        ApiError: 413, too many pages; or an error of `_run`.
    """
    space_id = new_id()
    source = _source(context, organization_id, space_id, given)
    pages = [*_run(context, source, "content_compute_revision", _ComputedRevision, space_id).pages]
    if _count(pages) > MOST_PAGES:
        raise ApiError(413, f"computedSource: at most {MOST_PAGES} pages are computed for a new space")

    def built(page: dict[str, Any]) -> ComputedPage:
        title, slug, description = (str(page.get(name) or "") for name in ("title", "slug", "description"))
        markdown, computed = "", page.get("computed")
        if isinstance(computed, dict):
            named = {"dependencies": given.get("dependencies", {})} | computed
            used = _source(context, organization_id, space_id, named)
            computed_document = _run(context, used, "content_compute_document", _ComputedDocument, space_id)
            markdown = text_of(computed_document.document.model_dump(mode="json", by_alias=True))
            require_size(f"computedSource: {title}", markdown)
        kind = str(page.get("type", "document"))
        return ComputedPage(
            kind, title[:LONGEST_TITLE], slug, description[:LONGEST_DESCRIPTION] or None, markdown, inside(page)
        )

    def inside(page: dict[str, Any]) -> tuple[ComputedPage, ...]:
        return tuple(built(child) for child in _readable(page.get("pages")))

    return ComputedSpace(space_id, tuple(built(page) for page in _readable(pages)), tuple(context.afterwards))


def computed_tree(session: Session, pages: Iterable[ComputedPage], now: str) -> list[Page]:
    """Store the documents of computed pages and return the page tree."""
    return [
        new_page(
            page.title or "Untitled",
            slug=title_slug(page.slug or page.title),
            kind=page.kind,
            document=add_document(session, page.markdown) if page.markdown else None,
            pages=computed_tree(session, page.pages, now),
            created_at=now,
            description=page.description,
        )
        for page in pages
    ]


def _readable(pages: Any) -> list[dict[str, Any]]:
    """Return the pages from a script that are documents or groups."""
    if not isinstance(pages, list):
        return []
    each = [cast("dict[str, Any]", page) for page in cast("list[Any]", pages) if isinstance(page, dict)]
    return [page for page in each if page.get("type", "document") in ("document", "group")]


def _count(pages: Any) -> int:
    waiting, number = _readable(pages), 0
    while waiting:
        number += 1
        waiting += _readable(waiting.pop().get("pages"))
    return number


def _source(context: Context, organization_id: str, space_id: str, given: dict[str, Any]) -> _Source:
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
            InstallationRow.integration == row.name, InstallationRow.organization_id == organization_id
        )
    )
    sources = [source.get("id") for source in row.content_sources or ()]
    if installed is None or source_id not in sources or not is_installed_in(installed, "space", space_id):
        raise not_found("content source")
    named = cast("dict[str, Any]", dependencies)
    if len(named) > MOST_DEPENDENCIES:
        raise ApiError(400, f"source.dependencies: at most {MOST_DEPENDENCIES}")
    resolved = {key: _dependency(context, organization_id, value) for key, value in named.items()}
    return _Source(row, installed, source_id, cast("dict[str, Any]", props), resolved)


def _dependency(context: Context, organization_id: str, given: Any) -> dict[str, Any]:
    """Return a dependency with its value, or with None if its kind is unknown or the caller may not see it."""
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
            SpecRow.organization_id == organization_id,
            or_(SpecRow.id == values["spec"], SpecRow.slug == values["spec"]),
        )
        spec = context.session.scalar(query)
        if spec is not None and (spec.visibility == "public" or is_member(context, organization_id)):
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
