"""What there is to be found in an answer that the cache holds: its pages, its change request, its comments.

Plain JSON in, entries of the index out; what is not of the shape that it should be has nothing to be found.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any, cast

from presscheck.documents.markdown.links import find_links
from presscheck.documents.markdown.plain_text import node_text, page_text
from presscheck.documents.markdown.search_terms import split_unspaced
from presscheck.documents.pages.tree import flatten
from presscheck.store.search_index import Entry, Reading

Thing = dict[str, Any]


def read_source(source: str, text: str) -> Reading:
    """The entries of a source of the index: the key of an answer, or the kind and the id of a thing."""
    name, _, about = source.partition(" ")
    read = _READERS.get(name)
    try:
        found = json.loads(text)
        if read is None or not isinstance(found, dict):
            return Reading()
        return read(json.loads(about) if about.startswith("{") else {}, cast("Thing", found))
    except (ValueError, KeyError, TypeError, AttributeError):
        return Reading()


def _page(given: Thing, page: Thing) -> Reading:
    markdown: str | None = page.get("markdown")
    if markdown is None:
        return Reading((_page_entry(given, page, node_text(page.get("document") or {}), None),))
    text = markdown.removeprefix(f"# {page.get('title')}\n")  # the service puts the title before the text
    return Reading((_page_entry(given, page, text, list(dict.fromkeys(link.target for link in find_links(text)))),))


def _tree(given: Thing, tree: Thing) -> Reading:
    """The titles of all pages, for those whose text nobody has read; and that there are no others."""
    pages = [one for one in flatten(tree.get("pages") or []) if one.get("type") != "link"]
    return Reading(tuple(_page_entry(given, one, None, None) for one in pages), (pages_of(given["space_id"]),))


def pages_of(space: str, change_request: str = "") -> str:
    """The scope of the pages of a space, live or in a change request."""
    return f"pages {space} {change_request}"


def _page_entry(given: Thing, page: Thing, markdown: str | None, links: list[str] | None) -> Entry:
    space, request = given["space_id"], given.get("change_request_id") or ""
    title, about = page.get("title") or "", page.get("description") or ""
    headings, body = page_text(markdown or "")
    body = f"{about}\n{body}" if about else body
    return Entry(
        scope=pages_of(space, request),
        id=page["id"],
        kind="page",
        space=space,
        change_request=request,
        page=page["id"],
        title=title,
        path=page.get("path") or "",
        address=_part(page, "urls").get("app") or "",
        body=None if markdown is None else body.lstrip(),
        links=links,
        words=(split_unspaced(title), split_unspaced(headings), split_unspaced(body.lstrip())),
    )


def _change_request(_: Thing, request: Thing) -> Reading:
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
        address=_part(request, "urls").get("app") or "",
        body=body,
        links=None,
        words=(split_unspaced(f"{number} {subject}"), "", split_unspaced(body)),
    )
    is_over = request.get("status") in ("merged", "archived")
    return Reading((entry,), (pages_of(space, request["id"]),) if is_over else ())


def _comment(_: Thing, comment: Thing) -> Reading:
    target = _part(comment, "target")
    given = {"space_id": target.get("space") or "", "change_request_id": target.get("changeRequest") or ""}
    return Reading((_comment_entry(given, comment),))


def _comments(given: Thing, listing: Thing) -> Reading:
    """All comments, or all replies to one; those that are gone are found no longer."""
    entries = tuple(_comment_entry(given, one) for one in listing["items"])
    is_all = not {"status", "target_page", "authors", "page"} & given.keys()
    is_all = is_all and listing.get("count", 0) <= len(entries) < given.get("limit", len(entries) + 1)
    return Reading(entries, (_comments_in(given),) if is_all else ())


def _comments_in(given: Thing) -> str:
    place = f"{given['space_id']} {given.get('change_request_id') or ''}"
    return f"replies {place} {given['comment_id']}" if "comment_id" in given else f"comments {place}"


def _comment_entry(given: Thing, comment: Thing) -> Entry:
    said = _part(comment, "body")
    body = page_text(said["markdown"])[1] if said.get("markdown") else node_text(said.get("document") or {})
    return Entry(
        scope=_comments_in(given),
        id=comment["id"],
        kind="comment",
        space=given["space_id"],
        change_request=given.get("change_request_id") or "",
        page=_part(_part(comment, "target"), "page").get("id") or "",
        title=_part(comment, "postedBy").get("displayName") or "",
        path=given.get("comment_id") or comment["id"],
        address=_part(comment, "urls").get("app") or "",
        body=body.strip(),
        links=None,
        words=("", "", split_unspaced(body.strip())),
    )


def _part(thing: Thing, name: str) -> Thing:
    found: Thing | None = thing.get(name)
    return found or {}


_READERS: dict[str, Callable[[Thing, Thing], Reading]] = {
    "getCurrentRevision": _tree,
    "listPages": _tree,
    "getPageById": _page,
    "getPageByPath": _page,
    "getPageInChangeRequestById": _page,
    "getPageInChangeRequestByPath": _page,
    "change-request": _change_request,
    "comment": _comment,
    "listCommentsInChangeRequest": _comments,
    "listCommentRepliesInChangeRequest": _comments,
    "listCommentsInSpace": _comments,
    "listCommentRepliesInSpace": _comments,
}
