"""Findings of sites: the problems that the checks of `documents.sites` detect in the present content of a site.

Findings are computed for each call. The id of a finding stays the same as long as the problem exists. Only the statuses
that users set are stored.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from hashlib import blake2b
from typing import Any, TypeVar, cast

from sqlalchemy import select

from presscheck.api.change_requests import ChangeRequest, ListChangeRequests
from presscheck.api.content import ContentDocument
from presscheck.api.content_changes import ChangedPage
from presscheck.api.openapi import ListOpenAPISpecs
from presscheck.api.operation import Page, Paged
from presscheck.api.roles import Location
from presscheck.api.site_findings import (
    GetSiteFinding,
    GetSiteFindingStats,
    InSiteFinding,
    ListSiteFindingChangeRequests,
    ListSiteFindingPages,
    ListSiteFindings,
    SiteFinding,
    SiteFindingPage,
    SiteFindingStats,
    UpdateSiteFinding,
)
from presscheck.api.site_settings import AdaptiveSchema, ListRedirects, ShareLink
from presscheck.api.site_structure import SiteSection, SiteSpace
from presscheck.documents.nodes.from_markdown import markdown_to_nodes
from presscheck.documents.nodes.to_inlines import escaped
from presscheck.documents.pages.tree import flatten
from presscheck.documents.sites.checks import Finding, Level, check_site
from presscheck.documents.sites.content import PageFacts, SiteContent, SpaceContent, page_facts
from presscheck.service.content.revision_content import cached_by_document, known_content
from presscheck.service.content.serializers import as_pages
from presscheck.service.handlers.change_requests import list_change_requests
from presscheck.service.handlers.links import content_links
from presscheck.service.handlers.openapi import list_specs
from presscheck.service.handlers.redirects import list_redirects
from presscheck.service.handlers.site_settings import as_auth
from presscheck.service.handlers.sites import as_sites, site_for
from presscheck.service.http.operations import Context, Serialized, handles, moment_of, not_found
from presscheck.service.http.pagination import page_of_items
from presscheck.service.models.content import RevisionRow
from presscheck.service.models.sites import FindingStatusRow, ShareLinkRow, SiteRow, SiteSettingsRow
from presscheck.service.models.spaces import SpaceRow
from presscheck.service.review.change_requests import as_change_request, change_request_for
from presscheck.service.sites.structure import SiteContents

Item = TypeVar("Item")
Call = TypeVar("Call", bound=Paged)

LONGEST_TITLE = 256
SEVERITIES = {"error": "high", "warning": "medium", "info": "low"}
ORDER = ("high", "medium", "low")
TYPES = {
    "broken-link": "broken-link",
    "in-app-link": "broken-link",
    "redirect-loop": "broken-link",
    "redirect-target": "broken-link",
    "conflict-markers": "content-incorrect",
    "unreadable-condition": "content-incorrect",
    "unknown-claim": "content-incorrect",
    "failing-spec": "content-incorrect",
    "outdated-requests": "content-outdated",
    "empty-site": "content-gap",
    "empty-space": "content-gap",
    "empty-page": "content-gap",
    "unnamed-image": "content-gap",
    "no-description": "content-gap",
}
"""The types of findings in the API by check. Findings of other checks have the type `other`."""

NOT_MADE: dict[str, Level] = {"changed-address": "off"}
"""Checks that are turned off, because the service keeps no record of former URLs."""


@dataclass(frozen=True)
class CheckedFinding:
    """A serialized finding, and the result of the check from which it was made."""

    finding: SiteFinding
    source: Finding


@handles(ListSiteFindings)
def list_site_findings(context: Context, call: ListSiteFindings) -> Page[SiteFinding]:
    """List the findings of a site, by default the most recently changed ones first."""
    findings = [checked.finding for checked in _matching(_findings(context, call), call)]
    if call.updated_after is not None:
        after = moment_of("updatedAfter", call.updated_after)
        findings = [finding for finding in findings if finding.updated_at > after]
    if call.updated_before is not None:
        before = moment_of("updatedBefore", call.updated_before)
        findings = [finding for finding in findings if finding.updated_at < before]
    if call.order_by == "severity":
        findings.sort(key=lambda finding: ORDER.index(finding.severity))
    elif call.order_by == "sources":
        findings.sort(key=lambda finding: -finding.pages)
    else:
        findings.sort(key=lambda finding: finding.updated_at, reverse=True)
    return page_of_items(call, findings)


@handles(GetSiteFinding)
def get_site_finding(context: Context, call: GetSiteFinding) -> SiteFinding:
    """Return a finding."""
    return _finding(context, call).finding


@handles(UpdateSiteFinding)
def update_site_finding(context: Context, call: UpdateSiteFinding) -> SiteFinding:
    """Set the status of a finding."""
    finding = _finding(context, call).finding
    row = context.session.get(FindingStatusRow, (call.site_id, finding.id))
    if row is None:
        row = FindingStatusRow(site_id=call.site_id, finding_id=finding.id)
        context.session.add(row)
    row.status, row.updated_at = call.status, context.now()
    context.session.flush()
    return finding.model_copy(update={"status": row.status, "updated_at": row.updated_at})


@handles(ListSiteFindingPages)
def list_site_finding_pages(context: Context, call: ListSiteFindingPages) -> Page[SiteFindingPage]:
    """List the page that has the problem; none if the problem is not on a page."""
    source = _finding(context, call).source
    space = context.session.get_one(SpaceRow, source.space) if source.page else None
    places = known_content(context, space.revision_id).pages if space else {}
    page = places.get(source.page)
    if page is None:
        return page_of_items(call, list[SiteFindingPage]())
    [shown] = as_pages(context, source.space, [page.page], (page.path or "").removesuffix(page.page.get("slug") or ""))
    changed = ChangedPage(id=shown.id, type=shown.type, title=shown.title, path=page.path)
    return page_of_items(call, [SiteFindingPage(space_id=source.space, page=changed)])


@handles(ListSiteFindingChangeRequests)
def list_site_finding_change_requests(context: Context, call: ListSiteFindingChangeRequests) -> Page[ChangeRequest]:
    """List the change request that has the problem; none for problems of the live content."""
    source = _finding(context, call).source
    if not source.request:
        return page_of_items(call, list[ChangeRequest]())
    _, row = change_request_for(context, source.space, source.request)
    return page_of_items(call, [as_change_request(context, row)])


@handles(GetSiteFindingStats)
def get_site_finding_stats(context: Context, call: GetSiteFindingStats) -> SiteFindingStats:
    """Count the findings of a site by status and severity."""
    findings = [checked.finding for checked in _matching(_findings(context, call), call)]
    statuses = Counter(finding.status for finding in findings)
    severities = Counter(finding.severity for finding in findings)
    return SiteFindingStats(
        total=len(findings),
        statuses={status: statuses[status] for status in ("open", "done", "canceled")},
        severities={severity: severities[severity] for severity in reversed(ORDER)},
    )


def _finding(context: Context, call: InSiteFinding) -> CheckedFinding:
    match = next((checked for checked in _findings(context, call) if checked.finding.id == call.site_finding_id), None)
    if match is None:
        raise not_found("finding")
    return match


def _matching(findings: Iterable[CheckedFinding], call: ListSiteFindings | GetSiteFindingStats) -> list[CheckedFinding]:
    """Return the findings that match the filters that lists and statistics share."""
    question = call.question if isinstance(call, ListSiteFindings) else None
    if call.topic is not None or question is not None or call.source:
        return []  # not supported here: no finding has any
    return [
        checked
        for checked in findings
        if call.status in (None, checked.finding.status)
        and (call.type is None or checked.finding.type in call.type)
        and call.severity in (None, checked.finding.severity)
        and call.has_change_requests in (None, bool(checked.finding.change_requests))
    ]


def _findings(context: Context, call: Any) -> list[CheckedFinding]:
    site = site_for(context, call.organization_id, call.site_id, "create")
    content = site_content(context, site)
    rows = context.session.scalars(select(FindingStatusRow).where(FindingStatusRow.site_id == site.id))
    statuses = {row.finding_id: row for row in rows}
    live = {space.space.id: space.space.revision for space in content.spaces}
    seen = Counter[str]()
    findings: list[CheckedFinding] = []
    for source in check_site(content, NOT_MADE):
        key = "\n".join(
            (source.check, source.space, source.page, source.request, source.part, source.item, source.link)
        )
        seen[key] += 1
        finding_id = blake2b(f"{key}\n{seen[key]}".encode(), digest_size=10).hexdigest()
        scan = live.get(source.space, "")
        since = known_content(context, scan).created_at if scan else site.created_at
        row = statuses.get(finding_id)
        finding = SiteFinding(
            id=finding_id,
            scan=scan or site.id,
            title=f"{source.where}: {source.message}"[:LONGEST_TITLE],
            change_requests=int(bool(source.request)),
            pages=int(bool(source.page)),
            status=row.status if row else "open",
            type=TYPES.get(source.check, "other"),
            severity=SEVERITIES[source.severity],
            description=ContentDocument.model_validate(
                markdown_to_nodes(f"{escaped(source.where)}\n\n{escaped(source.message)}\n")
            ),
            created_at=since,
            updated_at=max(row.updated_at, since) if row else since,
            urls=Location(
                location=context.location(f"/orgs/{site.organization_id}/sites/{site.id}/findings/{finding_id}")
            ),
        )
        findings.append(CheckedFinding(finding, source))
    return findings


def site_content(context: Context, site: SiteRow) -> SiteContent:
    """Return the content of a site for its checks, as the caller may see it.

    Links from other sites, comments on deleted texts, and changed URLs are not checked.
    """
    contents, at = SiteContents(context, site), {"organization_id": site.organization_id, "site_id": site.id}
    spaces = tuple(_space_content(context, item, section) for item, section in _placed(contents))
    settings = context.session.get_one(SiteSettingsRow, site.id)
    schema, shared = settings.visitor_schema, select(ShareLinkRow).where(ShareLinkRow.site_id == site.id)
    uses_specs = any(facts.specs for space in spaces for facts in space.facts.values())
    specs = ListOpenAPISpecs(organization_id=site.organization_id)
    return SiteContent(
        as_sites(context, [site])[0],
        contents.structure(),
        spaces,
        tuple(_all(context, list_redirects, ListRedirects(**at))),
        tuple(ShareLink(id=row.id, active=row.active) for row in context.session.scalars(shared)),
        as_auth(settings) if site.visibility == "visitor-auth" else None,
        None if schema is None else AdaptiveSchema(json_schema=schema),
        specs=tuple(_all(context, list_specs, specs)) if uses_specs else (),
    )


def _placed(contents: SiteContents) -> Iterator[tuple[SiteSpace, SiteSection | None]]:
    yield from ((item, None) for item in contents.shown_spaces(None))
    for row in contents.sections_in_order():
        section = contents.section(row)
        yield from ((item, section) for item in section.site_spaces)


def _space_content(context: Context, item: SiteSpace, section: SiteSection | None) -> SpaceContent:
    space = context.session.get_one(SpaceRow, item.space.id)
    content = known_content(context, space.revision_id)
    pages = as_pages(context, space.id, content.tree)
    documents = {page.id: page.document_id for page in flatten(pages) if page.type == "document"}
    facts = cached_by_document(
        context, "facts", [document for document in documents.values() if document], page_facts, _weight
    )
    links = content_links(context, space, context.session.get_one(RevisionRow, space.revision_id))
    return SpaceContent(
        item,
        section,
        item.space,
        pages,
        {
            page: facts[document] if document else PageFacts(is_empty=True)
            for page, document in documents.items()
            if not document or document in facts
        },
        tuple(links.as_links(links.usages)),
        requests=tuple(_all(context, list_change_requests, ListChangeRequests(space_id=space.id, status="open"))),
    )


def _weight(facts: PageFacts) -> int:
    """Return the approximate size of facts in memory, in bytes."""
    return 200 + 100 * sum(len(part) for part in facts[1:])


def _all(
    context: Context, listing: Callable[[Context, Call], Page[Item] | Serialized[Page[Item]]], call: Call
) -> Iterator[Item]:
    """Yield the items of all pages of a list."""
    while True:
        page = cast("Page[Item]", listing(context, call))
        yield from page.items
        if page.next is None:
            return
        call = call.model_copy(update={"page": page.next.page})
