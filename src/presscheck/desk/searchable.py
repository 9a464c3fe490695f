"""What there is to be found in an answer that the cache holds: its pages, its change request, its comments.

Plain JSON in, entries of the index out; what is not of the shape that it should be has nothing to be found.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from typing import Any

from presscheck.documents.page_words import page_words, tree_words
from presscheck.documents.search_words import divided
from presscheck.store.search import Entry, Reading

Thing = dict[str, Any]


def read_source(source: str, text: str) -> Reading:
    """The entries of a source of the index: the key of an answer, or the kind and the id of a thing."""
    name, _, about = source.partition(" ")
    read = _READERS.get(name)
    try:
        found = json.loads(text)
        if read is None or not isinstance(found, dict):
            return Reading()
        return read(json.loads(about) if about.startswith("{") else {}, found)
    except (ValueError, KeyError, TypeError, AttributeError):
        return Reading()


def _page(given: Thing, page: Thing) -> Reading:
    text = page.get("markdown")
    if text is None:
        text = tree_words(page.get("document") or {})
    return Reading((_page_entry(given, page, text),))


def _tree(given: Thing, tree: Thing) -> Reading:
    """The titles of all pages, for those whose text nobody has read; and that there are no others."""
    pages = [one for one in _walk(tree.get("pages") or []) if one.get("type") != "link"]
    return Reading(tuple(_page_entry(given, one, None) for one in pages), (_pages_of(given["space_id"], ""),))


def _walk(pages: list[Thing]) -> Iterator[Thing]:
    for page in pages:
        yield page
        yield from _walk(page.get("pages") or [])


def _pages_of(space: str, request: str) -> str:
    return f"pages {space} {request}"


def _page_entry(given: Thing, page: Thing, markdown: str | None) -> Entry:
    space, request = given["space_id"], given.get("change_request_id") or ""
    title, about = page.get("title") or "", page.get("description") or ""
    headings, body = page_words(markdown or "")
    if body.startswith(title):
        body = body[len(title) :].lstrip()  # the service puts the title before the text
    body = f"{about}\n{body}" if about else body
    return Entry(
        scope=_pages_of(space, request),
        id=page["id"],
        kind="page",
        space=space,
        change_request=request,
        title=title,
        body=None if markdown is None else body,
        path=page.get("path") or "",
        address=(page.get("urls") or {}).get("app") or "",
        words=(divided(title), divided(headings), divided(body)),
    )


def _change_request(_: Thing, request: Thing) -> Reading:
    space, number, subject = request["space"], request.get("number") or 0, request.get("subject") or ""
    body = tree_words(request.get("description") or {})
    entry = Entry(
        scope="change-requests",
        id=request["id"],
        kind="change-request",
        space=space,
        change_request=request["id"],
        title=f"#{number} {subject}",
        body=body,
        path=f"{space}#{number}",
        address=(request.get("urls") or {}).get("app") or "",
        words=(divided(f"{number} {subject}"), "", divided(body)),
    )
    is_over = request.get("status") in ("merged", "archived")
    return Reading((entry,), (_pages_of(space, request["id"]),) if is_over else ())


def _comment(_: Thing, comment: Thing) -> Reading:
    target: Thing = comment.get("target") or {}
    given = {"space_id": target.get("space") or "", "change_request_id": target.get("changeRequest") or ""}
    return Reading((_comment_entry(given, comment),))


def _comments(given: Thing, listing: Thing) -> Reading:
    """All comments, or all replies to one; those that are gone are found no longer."""
    entries = tuple(_comment_entry(given, one) for one in listing["items"])
    is_all = not {"status", "target_page", "authors", "page"} & given.keys()
    return Reading(entries, (_comments_in(given),) if is_all else ())


def _comments_in(given: Thing) -> str:
    place = f"{given['space_id']} {given.get('change_request_id') or ''}"
    return f"replies {place} {given['comment_id']}" if "comment_id" in given else f"comments {place}"


def _comment_entry(given: Thing, comment: Thing) -> Entry:
    said: Thing = comment.get("body") or {}
    body = page_words(said["markdown"])[1] if said.get("markdown") else tree_words(said.get("document") or {})
    return Entry(
        scope=_comments_in(given),
        id=comment["id"],
        kind="comment",
        space=given["space_id"],
        change_request=given.get("change_request_id") or "",
        title=(comment.get("postedBy") or {}).get("displayName") or "",
        body=body.strip(),
        path="",
        address=(comment.get("urls") or {}).get("app") or "",
        words=("", "", divided(body.strip())),
    )


_READERS: dict[str, Callable[[Thing, Thing], Reading]] = {
    "content.ListPages": _tree,
    "content.GetPage": _page,
    "content.GetPageByPath": _page,
    "content.GetChangeRequestPage": _page,
    "content.GetChangeRequestPageByPath": _page,
    "change-request": _change_request,
    "comment": _comment,
    "comments.ListComments": _comments,
    "comments.ListReplies": _comments,
    "comments.ListSpaceComments": _comments,
    "comments.ListSpaceReplies": _comments,
}
