"""The verbs that only read: search, pages, change requests, differences, threads, merge requirements and findings."""

from __future__ import annotations

import asyncio
from difflib import unified_diff
from pathlib import Path
from typing import Any, Literal

from pydantic import Field

from presscheck.agents.verbs import ITEMS, Arguments, Name, PagedArguments, Verb, items_of, part_of, untrusted
from presscheck.api.change_requests import ChangeRequest
from presscheck.api.comments import Comment, CommentReply
from presscheck.api.organizations import ListOrganizations
from presscheck.api.spaces import ListSpaces, Space
from presscheck.cli import lookup
from presscheck.cli.agent.caller import Caller, find_page, page_row, page_tree, request_row
from presscheck.cli.comment_commands import shown_status
from presscheck.cli.inbox import fetch_inbox
from presscheck.cli.search import INDEX_TIMEOUT
from presscheck.cli.site.commands import site_findings
from presscheck.config.inner_path import inner_path
from presscheck.documents.git_format.checks import check_folder
from presscheck.documents.git_format.findings import Finding as FolderFinding
from presscheck.documents.nodes.comment_targets import document_text
from presscheck.documents.pages.tree import flatten
from presscheck.documents.sites.checks import Finding
from presscheck.engine.inbox.views import VIEWS
from presscheck.engine.members import user_id
from presscheck.engine.review.changes import ChangedItem, changed_items, in_reading_order, is_viewed
from presscheck.engine.review.merge_inputs import read_merge_inputs
from presscheck.engine.review.merge_readiness import MergeCheck, checks, reviewers
from presscheck.engine.review.owners import read_changes
from presscheck.engine.review.page_texts import page_texts
from presscheck.engine.shared_calls import (
    changed_page,
    comments_on,
    live_page,
    replies_to,
    reviewers_of,
    reviews_of,
)
from presscheck.engine.style_guide import read_style_guide
from presscheck.errors import InvalidArgument

MOST_HITS = 200
"""Maximum number of hits of a search."""
ViewId = Literal["needs-me", "mine", "involved", "all-open", "drafts", "merged", "archived", "waiting"]
"""The ids of the views of the inbox that agents can list."""


class SearchArguments(PagedArguments):
    """The arguments of the verb `search`."""

    query: str = Field(min_length=1, max_length=500, description='Words or their beginnings, and "phrases".')
    organization: Name | None = Field(None, description="Search only this organization, by id or title.")


class ListArguments(PagedArguments):
    """The arguments of the verb `list_spaces`."""

    organization: Name | None = Field(None, description="Only the spaces of this organization, by id or title.")


class PagesArguments(PagedArguments):
    """The arguments of the verb `list_pages`."""

    space: Name = Field(description="The space, by id, title or URL.")
    change_request: Name | None = Field(
        None, description="List the pages of this change request instead: SPACE#NUMBER."
    )


class PageArguments(Arguments):
    """The arguments of the verb `read_page`."""

    space: Name = Field(description="The space, by id, title or URL.")
    page: Name = Field(description="The page, by id, path or title.")
    change_request: Name | None = Field(None, description="Read the page of this change request instead: SPACE#NUMBER.")
    offset: int = Field(0, ge=0, le=100_000_000, description="The next_offset of the previous answer.")


class StyleGuideArguments(Arguments):
    """The arguments of the verb `read_style_guide`."""

    space: Name = Field(description="The space that you write in, by id, title or URL.")
    offset: int = Field(0, ge=0, le=100_000_000, description="The next_offset of the previous answer.")


class ReviewsArguments(Arguments):
    """The arguments of the verb `list_reviews`."""

    view: ViewId = Field("needs-me", description="The view of the inbox.")
    offset: int = Field(0, ge=0, le=1_000_000, description="The next_offset of the previous answer.")
    limit: int = Field(20, ge=1, le=100, description="The maximum number of change requests of each organization.")


class RequestArguments(Arguments):
    """The argument of verbs about a change request."""

    change_request: Name = Field(description="The change request: SPACE#NUMBER, its id or its URL.")


class ChangesArguments(RequestArguments):
    """The arguments of the verb `read_change_request`."""

    offset: int = Field(0, ge=0, le=1_000_000, description="The next_offset of the previous answer.")


class DifferenceArguments(RequestArguments):
    """The arguments of the verb `read_difference`."""

    page: Name = Field(description="A changed page, by id, path or title.")
    offset: int = Field(0, ge=0, le=100_000_000, description="The next_offset of the previous answer.")


class ThreadsArguments(PagedArguments):
    """The arguments of the verb `list_threads`."""

    change_request: Name = Field(description="The change request: SPACE#NUMBER, its id or its URL.")
    state: Literal["open", "resolved", "all"] = Field("open", description="The state of the threads.")


class SiteArguments(PagedArguments):
    """The arguments of the verb `check_site`."""

    site: Name = Field(description="The site, by id or title.")
    organization: Name | None = Field(None, description="The organization of the site, by id or title.")


class FolderArguments(PagedArguments):
    """The arguments of the verb `check_folder`."""

    path: str = Field(".", max_length=1000, description="A folder, relative to the working directory and inside of it.")


async def _search(caller: Caller, given: SearchArguments) -> dict[str, Any]:
    session = caller.session
    named = given.organization or session.profile.organization
    owner = (await lookup.organization(session, named, "organization")).id if named else None
    answers = session.engine.search(given.query, limit=MOST_HITS, organization=owner, index_timeout=INDEX_TIMEOUT)
    results = [results async for results in answers][-1]
    if results.error and not results.value:
        raise results.error
    answer = items_of(
        results.value,
        given,
        lambda hit: {
            "kind": hit.kind,
            "id": hit.id,
            "space": hit.space,
            "space_title": untrusted(hit.space_title),
            "change_request": hit.change_request or None,
            "page": hit.page or None,
            "title": untrusted(hit.title),
            "path": untrusted(hit.path),
            "excerpt": untrusted(hit.excerpt),
        },
    )
    return {**answer, "is_complete": results.error is None}


async def _list_spaces(caller: Caller, given: ListArguments) -> dict[str, Any]:
    return items_of(await all_spaces(caller, given.organization), given, _space_row)


async def all_spaces(caller: Caller, organization: str | None = None) -> list[Space]:
    """Return the spaces of an organization (id or title), or of all organizations for None."""
    session = caller.session
    if organization:
        owners = [await lookup.organization(session, organization, "organization")]
    else:
        owners = await session.all(ListOrganizations())
    return [space for owner in owners for space in await session.all(ListSpaces(organization_id=owner.id))]


def _space_row(space: Space) -> dict[str, Any]:
    return {"space": space.id, "title": untrusted(space.title), "visibility": space.visibility}


async def _list_pages(caller: Caller, given: PagesArguments) -> dict[str, Any]:
    space = await lookup.space(caller.session, given.space, "space")
    request = await _request_in(caller, space, given.change_request)
    return items_of([*flatten(await page_tree(caller, space.id, request))], given, page_row)


async def _request_in(caller: Caller, space: Space, named: str | None) -> ChangeRequest | None:
    """Find a change request of a space, or return None if none is named.

    Raises:
        InvalidArgument: there is no such change request, or it is in another space.
    """
    if named is None:
        return None
    request = await lookup.change_request(caller.session, named, "change_request")
    if request.space != space.id:
        raise InvalidArgument("change_request", f"{named} is in another space")
    return request


async def _read_page(caller: Caller, given: PageArguments) -> dict[str, Any]:
    space = await lookup.space(caller.session, given.space, "space")
    request = await _request_in(caller, space, given.change_request)
    found = await find_page(caller, space.id, request, given.page)
    call = changed_page(space.id, request.id, found.id) if request else live_page(space.id, found.id)
    page = await caller.session.read(call)
    return {**page_row(found), **part_of(page.markdown or "", given.offset)}


async def _read_style_guide(caller: Caller, given: StyleGuideArguments) -> dict[str, Any]:
    space = await lookup.space(caller.session, given.space, "space")
    return part_of(await read_style_guide(caller.session.engine, space), given.offset)


async def _list_reviews(caller: Caller, given: ReviewsArguments) -> dict[str, Any]:
    session = caller.session
    me, end = await user_id(session.engine), given.offset + given.limit
    organizations: list[dict[str, Any]] = []
    for organization in await session.all(ListOrganizations()):
        inbox = await fetch_inbox(session, organization, VIEWS, given.view, end)
        rows = [
            {**request_row(request), "space_title": untrusted(inbox.spaces.get(request.space)), "reviews": reviews}
            for request in inbox.requests[given.offset :]
            if (reviews := await _reviews(caller, request, me)) is not None
        ]
        organizations.append(
            {
                "organization": organization.id,
                "title": untrusted(organization.title),
                "items": rows,
                "total": inbox.counts.get(given.view, 0),
                "next_offset": end if end < inbox.counts.get(given.view, 0) else None,
                "counts": inbox.counts,
            }
        )
    return {"view": given.view, "organizations": organizations}


async def _reviews(caller: Caller, request: ChangeRequest, me: str) -> list[dict[str, Any]]:
    session = caller.session
    asked, done = await asyncio.gather(session.read(reviewers_of(request)), session.read(reviews_of(request)))
    return [
        {"reviewer": untrusted(one.name), "status": one.status, "is_stale": one.stale}
        for one in reviewers(request, asked.items, done.items, me)
    ]


async def _read_change_request(caller: Caller, given: ChangesArguments) -> dict[str, Any]:
    request = await lookup.change_request(caller.session, given.change_request, "change_request")
    items, end = await changed_pages(caller, request), given.offset + ITEMS
    viewed = caller.session.engine.viewed(request.id)
    return {
        **request_row(request),
        "description": untrusted(document_text(request.description)) if request.description else None,
        "reviews": await _reviews(caller, request, await user_id(caller.session.engine)),
        "changes": [
            {
                "noun": item.noun,
                "id": item.id,
                "title": untrusted(item.title),
                "path": untrusted(item.path),
                "kinds": item.kinds,
                "has_difference": item.has_text,
                "is_viewed": is_viewed(item, viewed, request.revision),
            }
            for item in items[given.offset : end]
        ],
        "total": len(items),
        "next_offset": end if end < len(items) else None,
    }


async def changed_pages(caller: Caller, request: ChangeRequest) -> tuple[ChangedItem, ...]:
    """Return all changed pages, files and other items of a change request, in reading order."""
    changes = await read_changes(caller.session.engine, request)
    return in_reading_order(changed_items(changes.changes), await page_tree(caller, request.space, request))


async def _read_difference(caller: Caller, given: DifferenceArguments) -> dict[str, Any]:
    session = caller.session
    request = await lookup.change_request(session, given.change_request, "change_request")
    pages = [change for change in (await read_changes(session.engine, request)).changes if change.page]
    change = next(
        (one for one in pages if one.page and given.page in (one.page.id, one.page.path, one.page.title)), None
    )
    if change is None or change.page is None:
        raise InvalidArgument("page", f"{given.page} is not changed. read_change_request lists the changed pages")
    before, after = await page_texts(session, request, change)
    old, new = ((side or "").splitlines() for side in (before, after))
    text = "\n".join(unified_diff(old, new, "before", "after", lineterm=""))
    return {
        "page": change.page.id,
        "title": untrusted(change.page.title),
        "kind": change.type,
        **part_of(text, given.offset),
    }


async def _list_threads(caller: Caller, given: ThreadsArguments) -> dict[str, Any]:
    session = caller.session
    request = await lookup.change_request(session, given.change_request, "change_request")
    comments = [
        comment
        for comment in await session.all(comments_on(request))
        if given.state == "all" or (comment.status == "resolved") == (given.state == "resolved")
    ]
    replies: dict[str, list[CommentReply]] = {}
    for comment in comments[given.offset : given.offset + given.limit]:
        if comment.replies:
            replies[comment.id] = await session.all(replies_to(request.space, request.id, comment.id), ITEMS)
    return items_of(comments, given, lambda comment: _thread_row(comment, replies.get(comment.id, ())))


def _thread_row(comment: Comment, replies: Any) -> dict[str, Any]:
    return {
        **_message_row(comment),
        "status": shown_status(comment),
        "page": comment.target.page.id if comment.target.page else None,
        "reply_count": comment.replies,
        "replies": [_message_row(reply) for reply in replies],
    }


def _message_row(message: Comment | CommentReply) -> dict[str, Any]:
    author, text = untrusted(message.posted_by.display_name), untrusted((message.body.markdown or "").strip())
    return {"id": message.id, "author": author, "posted_at": message.posted_at, "text": text}


async def _explain_blocks(caller: Caller, given: RequestArguments) -> dict[str, Any]:
    request = await lookup.change_request(caller.session, given.change_request, "change_request")
    found = [*checks(await read_merge_inputs(caller.session.engine, request))]
    return {
        "change_request": f"{request.space}#{request.number}",
        "can_merge": not any(check.certainty in ("no", "blocked") for check in found),
        "requirements": [_check_row(check) for check in found],
    }


def _check_row(check: MergeCheck) -> dict[str, Any]:
    is_met = check.certainty == "yes"
    fixed_by = None if is_met else untrusted(check.fixed_by) if check.fixed_by else None
    message = untrusted(check.message)
    return {"subject": check.subject, "certainty": check.certainty, "message": message, "fixed_by": fixed_by}


async def _check_site(caller: Caller, given: SiteArguments) -> dict[str, Any]:
    owner, site = await lookup.site(caller.session, given.site, given.organization, "site", "organization")
    return items_of(await site_findings(caller.session, owner.id, site), given, _finding_row)


def _finding_row(finding: Finding) -> dict[str, Any]:
    place = {"space": finding.space, "page": finding.page, "line": finding.line}
    words = {"where": untrusted(finding.where), "message": untrusted(finding.message)}
    return {"severity": finding.severity, "check": finding.check, **words, **place}


async def _check_folder(_: Caller, given: FolderArguments) -> dict[str, Any]:
    folder = inner_path(Path.cwd(), given.path)
    if folder is None or not folder.is_dir():
        raise InvalidArgument("path", "must be a folder inside the working directory")
    return items_of(await asyncio.to_thread(check_folder, folder), given, _folder_row)


def _folder_row(finding: FolderFinding) -> dict[str, Any]:
    place = {"path": untrusted(finding.path), "line": finding.line, "column": finding.column}
    return {"severity": finding.severity, "rule": finding.rule, **place, "message": untrusted(finding.message)}


READ_VERBS: tuple[Verb[Caller], ...] = (
    Verb(
        "search",
        "Search pages, change requests and comments.",
        "read",
        SearchArguments,
        _search,
        "search",
    ),
    Verb("list_spaces", "List spaces.", "read", ListArguments, _list_spaces, "space list"),
    Verb(
        "list_pages",
        "List the pages of a space or of a change request.",
        "read",
        PagesArguments,
        _list_pages,
        "page list",
    ),
    Verb("read_page", "Read a page as Markdown.", "read", PageArguments, _read_page, "page view"),
    Verb(
        "read_style_guide",
        "Read the style guide of the sites of a space: how people want texts to be written there.",
        "read",
        StyleGuideArguments,
        _read_style_guide,
    ),
    Verb(
        "list_reviews",
        "List the change requests that need your review, or another view of the inbox.",
        "read",
        ReviewsArguments,
        _list_reviews,
        "inbox",
    ),
    Verb(
        "read_change_request",
        "Read the facts, the reviews and the changed pages of a change request.",
        "read",
        ChangesArguments,
        _read_change_request,
        "cr show",
    ),
    Verb(
        "read_difference",
        "Read the difference of a page in a change request, as a unified diff of its Markdown.",
        "read",
        DifferenceArguments,
        _read_difference,
        "cr diff",
    ),
    Verb(
        "list_threads",
        "List the comments on a change request with their replies.",
        "read",
        ThreadsArguments,
        _list_threads,
        "cr comments list",
    ),
    Verb(
        "explain_blocks",
        "Explain what blocks the merge of a change request, and who can fix it.",
        "read",
        RequestArguments,
        _explain_blocks,
    ),
    Verb(
        "check_site", "Check a site before its readers see problems.", "read", SiteArguments, _check_site, "site check"
    ),
    Verb(
        "check_folder",
        "Check a documentation folder on this machine.",
        "read",
        FolderArguments,
        _check_folder,
        "check",
    ),
)
"""The verbs that only read."""
