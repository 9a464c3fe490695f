"""The reads of a page's text that more than one screen asks, spelled once; bodies are asked for as Markdown to be read.

They stand apart from `questions` because an inbox does not pay for their imports.
"""

from __future__ import annotations

from presscheck.api.content import GetChangeRequestPage, GetPage, GetRevisionPage


def live_page(space: str, page: str) -> GetPage:
    """A page as it is live, all by their ids."""
    return GetPage(space_id=space, page_id=page, format="markdown")


def changed_page(space: str, request: str, page: str) -> GetChangeRequestPage:
    """A page as it is in a change request."""
    return GetChangeRequestPage(space_id=space, change_request_id=request, page_id=page, format="markdown")


def changed_nodes(space: str, request: str, page: str) -> GetChangeRequestPage:
    """A page as it is in a change request, as a tree of nodes, which names its blocks."""
    return GetChangeRequestPage(space_id=space, change_request_id=request, page_id=page, format="document")


def page_in(space: str, revision: str, page: str) -> GetRevisionPage:
    """A page as it was in a revision; it never changes."""
    return GetRevisionPage(space_id=space, revision_id=revision, page_id=page, format="markdown")
