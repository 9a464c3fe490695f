"""Shared by the verbs of agents: the caller, the search for a page, and rows of answers."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from presscheck.agents.verbs import untrusted
from presscheck.api.change_requests import ChangeRequest
from presscheck.api.content import ListChangeRequestPages, ListPages, RevisionPage
from presscheck.cli import lookup
from presscheck.cli.session import Session


@dataclass(frozen=True)
class Caller:
    """The session that a verb uses, and the name of the agent."""

    session: Session
    agent: str


def request_row(request: ChangeRequest) -> dict[str, Any]:
    """Return a change request as a row; `change_request` can be passed to other verbs."""
    return {
        "change_request": f"{request.space}#{request.number}",
        "space": request.space,
        "subject": untrusted(request.subject),
        "status": request.status,
        "author": untrusted(request.created_by.display_name) if request.created_by else None,
        "updated_at": request.updated_at,
        "is_outdated": request.outdated,
        "open_comments": request.comments,
    }


def page_row(page: RevisionPage) -> dict[str, Any]:
    """Return a page as a row, without its text."""
    return {"page": page.id, "type": page.type, "title": untrusted(page.title), "path": untrusted(page.path)}


async def find_page(caller: Caller, space: str, request: ChangeRequest | None, page: str) -> RevisionPage:
    """Find a page of a change request, or of the live content of a space, by id, path or title.

    Raises:
        InvalidArgument: no page, or several pages match.
    """
    return lookup.page(await page_tree(caller, space, request), page, "page")


async def page_tree(caller: Caller, space: str, request: ChangeRequest | None) -> tuple[RevisionPage, ...]:
    """Return the page tree of a change request, or of the live content of a space."""
    if request:
        return (await caller.session.read(ListChangeRequestPages(**lookup.path_of(request)))).pages
    return (await caller.session.read(ListPages(space_id=space))).pages
