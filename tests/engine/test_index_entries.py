"""Entries of the search index, made from cached JSON. Unexpected JSON has no entries."""

from __future__ import annotations

import json
from typing import Any

from tests.table import each_case

from presscheck.api.comments import ListComments, ListReplies
from presscheck.api.content import GetChangeRequestPage, GetPage, ListPages
from presscheck.api.operation import Operation
from presscheck.engine.search.index_entries import pages_of, read_source
from presscheck.store.search_index import Entry, SourceEntries

PATH = {"space_id": "s", "change_request_id": "c"}
ADA = {"object": "user", "id": "ada", "displayName": "Ada Lund"}
GET = GetPage(space_id="s", page_id="p")


def entries(source: Operation[Any] | str, answer: Any) -> SourceEntries:
    return read_source(source if isinstance(source, str) else source.key(), json.dumps(answer))


def entry(source: Operation[Any] | str, answer: Any) -> Entry:
    [found] = entries(source, answer).entries
    return found


def test_a_page_has_its_text_without_the_title_and_its_links() -> None:
    markdown = "# Tokens\n\n## Old **keys**\n\nSee [one](../a.md), [two](b.md) and [again](b.md)."
    page = {
        "id": "p",
        "title": "Tokens",
        "path": "auth/tokens",
        "description": "What they are",
        "markdown": markdown,
        "urls": {"app": "https://a.example/p"},
    }
    found = entry(GET, page)
    assert (found.scope, found.kind, found.id, found.page) == ("pages s ", "page", "p", "p")
    assert (found.space, found.change_request, found.title, found.path) == ("s", "", "Tokens", "auth/tokens")
    assert found.address == "https://a.example/p"
    assert found.links == ["../a.md", "b.md"]
    assert found.body
    assert found.body.startswith("What they are\n")
    assert "See one" in found.body
    assert "Tokens" not in found.body
    assert found.words[1] == "old keys"
    assert found.words[0] == "tokens"
    assert "see one" in found.words[2]
    in_request = entry(GetChangeRequestPage(**PATH, page_id="p"), {**page, "markdown": ""})
    assert (in_request.scope, in_request.change_request, in_request.links) == (pages_of("s", "c"), "c", [])
    assert in_request.body == "What they are\n".lstrip()
    assert entries(GET, page).complete_scopes == ()


def test_page_with_nodes_has_text_but_no_links() -> None:
    text = {"object": "text", "leaves": [{"object": "leaf", "text": "Some words"}]}
    document = {"object": "document", "nodes": [{"object": "block", "type": "paragraph", "nodes": [text]}]}
    found = entry(GET, {"id": "p", "title": None, "document": document})
    assert (found.body, found.links, found.title, found.path, found.address) == ("Some words", None, "", "", "")


def test_a_page_tree_has_all_titles_and_is_complete() -> None:
    pages = [{"id": "a", "title": "A", "type": "group", "pages": [{"id": "b", "title": "B", "description": "About"}]}]
    found = entries(ListPages(space_id="s"), {"pages": [*pages, {"id": "l", "type": "link"}]})
    assert [(one.id, one.title, one.body, one.links) for one in found.entries] == [
        ("a", "A", None, None),
        ("b", "B", None, None),
    ]
    assert found.entries[1].words[2].strip() == "about"
    assert found.complete_scopes == (pages_of("s"),)
    assert entries(ListPages(space_id="s"), {}).complete_scopes == (pages_of("s"),)


@each_case(("status", "scopes"), [("open", ()), ("merged", (pages_of("s", "c"),)), ("archived", (pages_of("s", "c"),))])
def test_a_change_request_is_found_by_number_and_subject(status: str, scopes: tuple[str, ...]) -> None:
    found = entries("change-request c", {"id": "c", "space": "s", "number": 5, "subject": "Rewrite", "status": status})
    [one] = found.entries
    assert (one.scope, one.kind, one.title, one.path, one.page) == (
        "change-requests",
        "change-request",
        "#5 Rewrite",
        "s#5",
        "",
    )
    assert (one.words[0], one.change_request) == ("5 rewrite", "c")
    assert found.complete_scopes == scopes, "the pages of one that is over leave the index"


def comment(identity: str, **more: Any) -> dict[str, Any]:
    return {"object": "comment", "id": identity, "postedBy": ADA, "body": {"markdown": "A **Word**."}, **more}


def test_a_comment_is_found_by_its_text() -> None:
    target = {"space": "s", "changeRequest": "c", "page": {"id": "p"}}
    found = entry("comment 1", comment("1", target=target))
    assert (found.scope, found.space, found.change_request, found.page) == ("comments s c", "s", "c", "p")
    assert (found.title, found.path, found.body, found.words) == ("Ada Lund", "1", "A Word.", ("", "", "a word."))
    live = entry("comment 1", comment("1", target={"space": "s"}, body={}))
    assert (live.scope, live.page, live.body) == ("comments s ", "", "")
    reply = entry(ListReplies(**PATH, comment_id="1"), {"items": [comment("r")]})
    assert (reply.scope, reply.path, reply.id) == ("replies s c 1", "1", "r")


@each_case(
    ("arguments", "total", "is_complete"),
    [
        ({}, 2, True),
        ({}, 1, True),
        ({}, 3, False),
        ({}, None, False),
        ({"limit": 3}, 2, True),
        ({"limit": 2}, 2, False),
        ({"status": "open"}, 2, False),
        ({"page": "p2"}, 2, False),
        ({"target_page": "p"}, 2, False),
    ],
)
def test_deleted_comments_leave_the_index_if_the_list_is_complete(
    arguments: dict[str, Any], total: int | None, *, is_complete: bool
) -> None:
    listing = ListComments(**PATH, **arguments)
    answer = {"items": [comment("1"), comment("2")], **({} if total is None else {"total": total})}
    found = entries(listing, answer)
    assert [one.id for one in found.entries] == ["1", "2"]
    assert found.complete_scopes == (("comments s c",) if is_complete else ())


@each_case(
    ("source", "text"),
    [
        ("unknown 1", "{}"),
        ("comment 1", "["),
        ("comment 1", "[]"),
        ("comment 1", "{}"),
        ("comment 1", '{"id": "1", "body": 7}'),
        ("change-request c", '{"id": "c"}'),
        ("getPageById", '{"id": "p"}'),
        ("getPageById {", '{"id": "p"}'),
        (GET.key(), '{"id": "p", "markdown": 7}'),
        (ListComments(**PATH).key(), '{"items": null}'),
    ],
)
def test_unexpected_json_has_no_entries(source: str, text: str) -> None:
    assert read_source(source, text) == SourceEntries()
