"""Search index entries from cached JSON: pages, documents, change requests and comments.

Documents are the texts of reusable content; a search replaces a document by the pages that include it. Invalid JSON has
no entries.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any, cast

from presscheck.documents.markdown.links import find_links
from presscheck.documents.markdown.plain_text import node_text, page_text
from presscheck.documents.markdown.search_terms import split_unspaced
from presscheck.documents.pages.tree import flatten
from presscheck.store.search_index import Entry, SourceEntries

Json = dict[str, Any]


def read_source(source: str, text: str) -> SourceEntries:
    """Return the index entries of a source.

    A source that cannot be parsed has no entries.

    Args:
        source: the cache key of a response, or the object type and the id of a resource.
        text: the JSON of the source.
    """
    name, _, description = source.partition(" ")
    read = _READERS.get(name)
    try:
        parsed = json.loads(text)
        if read is None or not isinstance(parsed, dict):
            return SourceEntries()
        return read(json.loads(description) if description.startswith("{") else {}, cast("Json", parsed))
    except (ValueError, KeyError, TypeError, AttributeError):
        return SourceEntries()


def _page(arguments: Json, page: Json) -> SourceEntries:
    markdown: str | None = page.get("markdown")
    if markdown is None:
        return SourceEntries((_page_entry(arguments, page, node_text(page.get("document") or {}), None),))
    text = markdown.removeprefix(f"# {page.get('title')}\n")  # the service puts the title before the text
    return SourceEntries(
        (_page_entry(arguments, page, text, list(dict.fromkeys(link.target for link in find_links(text)))),)
    )


def _tree(arguments: Json, tree: Json) -> SourceEntries:
    """Return entries with the titles of all pages, so that pages without cached text can be found too.

    The scope is complete: the index drops pages that are not in the tree.
    """
    pages = [page for page in flatten(tree.get("pages") or []) if page.get("type") != "link"]
    return SourceEntries(
        tuple(_page_entry(arguments, page, None, None) for page in pages), (pages_of(arguments["space_id"]),)
    )


def pages_of(space: str, change_request: str = "") -> str:
    """Return the index scope of the pages of a space, live or in a change request."""
    return f"pages {space} {change_request}"


def _page_entry(arguments: Json, page: Json, markdown: str | None, links: list[str] | None) -> Entry:
    space, request = arguments["space_id"], arguments.get("change_request_id") or ""
    title, description = page.get("title") or "", page.get("description") or ""
    headings, body = page_text(markdown or "")
    body = f"{description}\n{body}" if description else body
    return Entry(
        scope=pages_of(space, request),
        id=page["id"],
        kind="page",
        space=space,
        change_request=request,
        page=page["id"],
        title=title,
        path=page.get("path") or "",
        address=_object(page, "urls").get("app") or "",
        body=None if markdown is None else body.lstrip(),
        links=links,
        words=(split_unspaced(title), split_unspaced(headings), split_unspaced(body.lstrip())),
    )


def _document(arguments: Json, document: Json) -> SourceEntries:
    space, name, body = arguments["space_id"], arguments["document_id"], node_text(document)
    entry = Entry(
        scope=f"documents {space}",
        id=name,
        kind="document",
        space=space,
        change_request="",
        page="",
        title="",
        path="",
        address="",
        body=body,
        links=None,
        words=("", "", split_unspaced(body)),
    )
    return SourceEntries((entry,))


def _change_request(_: Json, request: Json) -> SourceEntries:
    space, number, subject = request["space"], request.get("number") or 0, request.get("subject") or ""
    body = node_text(request.get("description") or {})
    entry = Entry(
        scope="change-requests",
        id=request["id"],
        kind="change-request",
        space=space,
        change_request=request["id"],
        page="",
        title=f"#{number} {subject}",
        path=f"{space}#{number}",
        address=_object(request, "urls").get("app") or "",
        body=body,
        links=None,
        words=(split_unspaced(f"{number} {subject}"), "", split_unspaced(body)),
    )
    is_over = request.get("status") in ("merged", "archived")
    return SourceEntries((entry,), (pages_of(space, request["id"]),) if is_over else ())


def _comment(_: Json, comment: Json) -> SourceEntries:
    target = _object(comment, "target")
    arguments = {"space_id": target.get("space") or "", "change_request_id": target.get("changeRequest") or ""}
    return SourceEntries((_comment_entry(arguments, comment),))


def _comments(arguments: Json, listing: Json) -> SourceEntries:
    """Return entries for all comments, or for all replies to a comment.

    If the list is complete, the index drops comments that are not in the list.
    """
    entries = tuple(_comment_entry(arguments, comment) for comment in listing["items"])
    is_complete = not {"status", "target_page", "authors", "page"} & arguments.keys()
    total = listing.get("total")  # missing if the service does not count the items
    is_complete = is_complete and total is not None and total <= len(entries)
    is_complete = is_complete and len(entries) < arguments.get("limit", len(entries) + 1)
    return SourceEntries(entries, (_comments_in(arguments),) if is_complete else ())


def _comments_in(arguments: Json) -> str:
    place = f"{arguments['space_id']} {arguments.get('change_request_id') or ''}"
    return f"replies {place} {arguments['comment_id']}" if "comment_id" in arguments else f"comments {place}"


def _comment_entry(arguments: Json, comment: Json) -> Entry:
    body_json = _object(comment, "body")
    body = (
        page_text(body_json["markdown"])[1] if body_json.get("markdown") else node_text(body_json.get("document") or {})
    )
    return Entry(
        scope=_comments_in(arguments),
        id=comment["id"],
        kind="comment",
        space=arguments["space_id"],
        change_request=arguments.get("change_request_id") or "",
        page=_object(_object(comment, "target"), "page").get("id") or "",
        title=_object(comment, "postedBy").get("displayName") or "",
        path=arguments.get("comment_id") or comment["id"],
        address=_object(comment, "urls").get("app") or "",
        body=body.strip(),
        links=None,
        words=("", "", split_unspaced(body.strip())),
    )


def _object(thing: Json, name: str) -> Json:
    parsed: Json | None = thing.get(name)
    return parsed or {}


_READERS: dict[str, Callable[[Json, Json], SourceEntries]] = {
    "getCurrentRevision": _tree,
    "listPages": _tree,
    "getPageById": _page,
    "getPageByPath": _page,
    "getPageInChangeRequestById": _page,
    "getPageInChangeRequestByPath": _page,
    "getDocumentById": _document,
    "change-request": _change_request,
    "comment": _comment,
    "listCommentsInChangeRequest": _comments,
    "listCommentRepliesInChangeRequest": _comments,
    "listCommentsInSpace": _comments,
    "listCommentRepliesInSpace": _comments,
}
