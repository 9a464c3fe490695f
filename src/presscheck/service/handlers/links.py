"""Links and backlinks in the live content and in change requests, with the number of newly broken links."""

from __future__ import annotations

from collections.abc import Sequence

from presscheck.api.content import ReusableContent
from presscheck.api.links import (
    BrokenCount,
    ContentLocation,
    Links,
    LinkStats,
    ListChangeRequestFileBacklinks,
    ListChangeRequestPageBacklinks,
    ListChangeRequestPageLinks,
    ListPageBacklinks,
    ListPageLinks,
    ListSpaceLinks,
)
from presscheck.api.operation import Page, Paged
from presscheck.documents.markdown.anchors import PageAnchors
from presscheck.documents.markdown.link_report import LinkReport, LinkUsage, RevisionContent, linked_anchors
from presscheck.documents.markdown.links import find_links
from presscheck.documents.markdown.page_size import size_problem
from presscheck.documents.pages.tree import walk
from presscheck.service.content.revision_content import cached_by_document
from presscheck.service.content.serializers import as_files, as_pages
from presscheck.service.handlers.organizations import as_organization
from presscheck.service.http.operations import ApiError, Context, handles, not_found
from presscheck.service.http.pagination import page_of_items
from presscheck.service.models.content import RevisionRow
from presscheck.service.models.organizations import OrganizationRow
from presscheck.service.models.spaces import SpaceRow
from presscheck.service.permissions import space_for
from presscheck.service.review.change_requests import change_request_for
from presscheck.service.spaces.serializers import as_spaces

MOST_LINKS = 100_000
"""The maximum number of links of a revision that are checked; this takes about a second."""


def content_links(context: Context, space: SpaceRow, revision: RevisionRow) -> LinkReport:
    """Return the links of all pages of a revision.

    Raises:
        ApiError: 413 if the pages have too many links.
    """
    pages = {
        place.page["id"]: place.page["documentId"] for place in walk(revision.tree) if place.page.get("documentId")
    }
    targets = cached_by_document(context, "targets", pages.values(), _targets, _weight)
    count = sum(len(targets[document]) for document in pages.values())
    if count > MOST_LINKS:
        raise ApiError(413, f"pages: too many links: {count:,}, at most {MOST_LINKS:,} are checked")
    anchors: dict[str, PageAnchors] = {}
    owner = context.session.get_one(OrganizationRow, space.organization_id)
    report = LinkReport(
        RevisionContent(
            pages=as_pages(context, space.id, revision.tree),
            links={page: targets[document] for page, document in pages.items()},
            anchors=anchors,
            files=as_files(context, revision.files),
            reusable=[ReusableContent.model_validate(snippet) for snippet in revision.reusable_contents],
            organization=as_organization(context, owner),
            space=next(iter(as_spaces(context, [space]))),
            app=context.app("/"),
        )
    )
    anchored = {page: pages[page] for page in report.anchored if page in pages}
    anchors_by_document = cached_by_document(
        context, "anchors", anchored.values(), linked_anchors, lambda page_anchors: _weight(tuple(page_anchors.lines))
    )
    anchors.update((page, anchors_by_document[document]) for page, document in anchored.items())
    return report


def _targets(text: str) -> tuple[str, ...]:
    if size_problem(text):  # such pages are not rendered, so their links do not count
        return ()
    return tuple(link.target for link in find_links(text))


def _weight(texts: tuple[str, ...]) -> int:
    """Return the approximate size of short texts in memory, in bytes."""
    return 100 + sum(100 + len(text) for text in texts)


@handles(ListSpaceLinks)
def list_space_links(context: Context, call: ListSpaceLinks) -> Links:
    """List all link targets of the live content."""
    links = _live(context, call.space_id)
    return _links(links, call, links.usages, call.status)


@handles(ListPageLinks)
def list_page_links(context: Context, call: ListPageLinks) -> Links:
    """List the links of a page."""
    links = _live(context, call.space_id)
    return _links(links, call, _of_page(links, call.page_id), call.status)


@handles(ListPageBacklinks)
def list_page_backlinks(context: Context, call: ListPageBacklinks) -> Page[ContentLocation]:
    """List the pages that link to a page."""
    links = _live(context, call.space_id)
    _of_page(links, call.page_id)
    return page_of_items(call, links.to("page", call.page_id))


@handles(ListChangeRequestPageLinks)
def list_branch_page_links(context: Context, call: ListChangeRequestPageLinks) -> Links:
    """List the links of a page of a change request, with the number of links that the change request breaks."""
    links = _branch(context, call.space_id, call.change_request_id)
    usages = _of_page(links, call.page_id)
    before = _live(context, call.space_id)
    broken_before = {usage.target for usage in before.of_page(call.page_id) if usage.status == "broken"}
    newly_broken = sum(usage.status == "broken" and usage.target not in broken_before for usage in usages)
    return _links(links, call, usages, None, in_change_request=newly_broken)


@handles(ListChangeRequestPageBacklinks)
def list_branch_page_backlinks(context: Context, call: ListChangeRequestPageBacklinks) -> Page[ContentLocation]:
    """List the pages of a change request that link to a page."""
    links = _branch(context, call.space_id, call.change_request_id)
    _of_page(links, call.page_id)
    return page_of_items(call, links.to("page", call.page_id))


@handles(ListChangeRequestFileBacklinks)
def list_branch_file_backlinks(context: Context, call: ListChangeRequestFileBacklinks) -> Page[ContentLocation]:
    """List the pages of a change request that link to a file."""
    links = _branch(context, call.space_id, call.change_request_id)
    if not links.has_file(call.file_id):
        raise not_found("file")
    return page_of_items(call, links.to("file", call.file_id))


def _live(context: Context, space_id: str) -> LinkReport:
    space = space_for(context, space_id)
    return content_links(context, space, context.session.get_one(RevisionRow, space.revision_id))


def _branch(context: Context, space_id: str, change_request: str) -> LinkReport:
    space, row = change_request_for(context, space_id, change_request)
    return content_links(context, space, context.session.get_one(RevisionRow, row.revision))


def _of_page(links: LinkReport, page_id: str) -> list[LinkUsage]:
    if not links.has_page(page_id):
        raise not_found("page")
    return links.of_page(page_id)


def _links(
    links: LinkReport,
    call: Paged,
    usages: Sequence[LinkUsage],
    status: str | None,
    *,
    in_change_request: int | None = None,
) -> Links:
    """Return a page of links with the total counts."""
    broken = sum(usage.status == "broken" for usage in usages)
    page = page_of_items(call, [usage for usage in usages if status in (None, usage.status)])
    return Links(
        items=tuple(links.as_links(page.items)),
        next=page.next,
        count=page.count,
        total=page.total,
        stats=LinkStats(total=len(usages), broken=BrokenCount(total=broken, change_request=in_change_request)),
    )
