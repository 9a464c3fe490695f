"""Drafts: their labels, the places where they were written, and the state of these places."""

from __future__ import annotations

import json
from types import SimpleNamespace
from typing import Any

import pytest
from tests.engine.scripted_service import ScriptedService
from tests.engine.write_samples import REQUEST
from tests.table import each_case

from presscheck.api.change_requests import GetChangeRequest
from presscheck.api.comments import GetComment
from presscheck.api.content import ListChangeRequestPages
from presscheck.engine.drafts import (
    APPROVAL,
    Draft,
    DraftPlace,
    Fate,
    draft_about,
    drafts,
    fate_of,
    live_draft_about,
    live_draft_key,
    read_fate,
)
from presscheck.engine.review.pending_review import draft_key
from presscheck.errors import Forbidden
from presscheck.store.outbox import StoredDraft

ABOUT = {"space": "api", "page": "Tokens"}
GET, TREE = GetChangeRequest(**REQUEST), ListChangeRequestPages(**REQUEST)


def draft(key: str, text: str = "x", **about: str) -> Draft:
    [found] = drafts((StoredDraft(key, text, None, about),))
    return found


@each_case(
    ("name", "label", "target"),
    [
        ("edit p1", "Tokens", "p1"),
        ("page p1", "comment on Tokens", "p1"),
        ("title p1", "title of Tokens", "p1"),
        ("reply c1", "reply to Ada", "c1"),
        ("message c1", "edit of a comment by Ada", "c1"),
        ("whole", "comment on the change request to Ada", ""),
        (APPROVAL, "approval to Ada", ""),
        ("new page", "title of a new page to Ada", ""),
        ("unknown", "text to Ada", ""),
    ],
)
def test_a_draft_of_a_change_request_has_a_name_and_a_target(name: str, label: str, target: str) -> None:
    found = draft(draft_key("5", name), **ABOUT, author="Ada")
    assert (found.request, found.target, found.label, found.place) == ("5", target, label, None)
    assert (found.path, found.is_page, found.is_live) == (REQUEST, name == "edit p1", False)


def test_draft_without_details_omits_them() -> None:
    assert draft(draft_key("5", "edit p1")).label == "page without a title"
    assert draft(draft_key("5", "page p1")).label == "comment on a page"
    assert draft(draft_key("5", "title p1")).label == "title of a page"
    reply = draft(draft_key("5", "reply c1"))
    assert (reply.label, reply.path, reply.space) == ("reply", {}, "")
    assert draft("something").label == "unsent text"
    assert draft("review ").request == ""


def test_drafts_on_live_content_belong_to_no_change_request() -> None:
    found = draft(live_draft_key("api", "reply c1"), author="Ada", space="api")
    assert (found.is_live, found.request, found.name, found.target, found.path) == (True, "", "reply", "c1", {})
    assert found.label == "reply to Ada"
    assert draft(live_draft_key("api", "whole")).label == "comment on the space"
    assert live_draft_about("api", "", thread="x") == {"space": "api", "thread": "x"}


@each_case(
    ("key", "label", "place"),
    [
        ("inbox comment", "comment on marked change requests", DraftPlace("inbox", "comment", "act_on_marked")),
        ("outbox 7", "edit of an unsent change", DraftPlace("change", "7")),
        ("form teams a b", "form", DraftPlace("form", "teams a b")),
        ("import Conversations", "path of a file to import", DraftPlace("family", "Conversations", "import_rows")),
        ("folder of space s1", "folder of a space", DraftPlace("space", "s1", "folder")),
        ("file of form teams a", "path of a file to fill in a form", DraftPlace("form", "form teams a")),
        ("new site org", "title of a new site", DraftPlace("sites", "org", "add")),
        ("emoji space s1", "emoji of a space", DraftPlace("item", "space s1", "rename")),
        ("sign-in logout_url of site st", "URL of visitor sign-in", DraftPlace("sign-in", "st")),
        ("new space col", "title of a new space", DraftPlace("item", "col", "add")),
        ("title space s1", "title of a space", DraftPlace("item", "space s1", "rename")),
        ("replace subject s1", "subject of a replacement", DraftPlace("space", "s1", "find_replace")),
        ("replace file f1", "path of a file that replaces another", DraftPlace("files", "api")),
        ("replace s1", "find and replace", DraftPlace("space", "s1", "find_replace")),
        ("customization x of site st", "customization of a site", DraftPlace("customization", "st")),
        ("share link of site st", "name of a share link", DraftPlace("share links", "st", "add")),
        ("share link l1", "name of a share link", DraftPlace("share links", "api")),
        ("title in site st", "detail of a section, group or space", DraftPlace("structure", "st")),
        ("title of site st", "detail of a site", DraftPlace("site", "st", "rename")),
        ("AI instructions o1", "AI instructions", DraftPlace("instructions", "o1", "edit")),
    ],
)
def test_drafts_outside_of_change_requests_have_a_label_and_a_place(key: str, label: str, place: DraftPlace) -> None:
    found = draft(key, **ABOUT)
    assert (found.label, found.place) == (label, place)
    assert draft(key, title="Docs").label == f"{label}: Docs"
    assert draft(key, title=label).label == label


def test_draft_without_the_id_of_its_target_has_no_place() -> None:
    assert draft("share link l1").place is None
    assert draft("share link l1", site="st", space="api").place == DraftPlace("share links", "st")
    assert draft("something").place is None


def test_base_texts_of_drafts_are_not_listed() -> None:
    keys = [
        draft_key("5", "edit p1"),
        draft_key("5", "base p1"),
        "AI instructions o1",
        "AI instructions base o1",
        "visitor schema of site st",
        "visitor schema base of site st",
    ]
    found = drafts(tuple(StoredDraft(key, "x", None, {}) for key in keys))
    assert [each.stored.key for each in found] == keys[::2]
    assert [each.stored_keys for each in found] == [tuple(keys[at : at + 2]) for at in (0, 2, 4)]
    assert draft("outbox 7").stored_keys == ("outbox 7",)


def test_a_draft_has_other_keys_in_another_change_request() -> None:
    assert draft(draft_key("5", "edit p1")).keys_in("6") == {
        "review 5 edit p1": "review 6 edit p1",
        "review 5 base p1": "review 6 base p1",
    }
    assert draft(draft_key("5", "reply c1")).keys_in("6") == {"review 5 reply c1": "review 6 reply c1"}


def test_a_form_is_read_field_by_field() -> None:
    form = draft("form teams", json.dumps({"title": "Writers", "team_id": "t1"}))
    assert form.fields == {"title": "Writers", "team_id": "t1"}
    assert form.readable == "title: Writers\nteam id: t1"
    for key, text in (
        ("something", '{"title": "Writers"}'),
        ("form teams", '{"title": 7}'),
        ("form teams", '{"title"'),
        ("form teams", '["title"]'),
        ("form teams", "Words"),
    ):
        assert (draft(key, text).fields, draft(key, text).readable) == ({}, text)


def test_place_of_a_draft_is_stored_with_cached_titles() -> None:
    known: dict[str, Any] = {}

    class Stored:
        def known(self, call: Any, /) -> Any:
            return known.get(type(call).__name__)

    assert draft_about(Stored(), REQUEST, page="Tokens", node="") == ABOUT
    known["GetSpace"] = SimpleNamespace(value=SimpleNamespace(title="API docs"))
    known["GetChangeRequest"] = SimpleNamespace(value=SimpleNamespace(subject="Rewrite", number=5))
    assert draft_about(Stored(), REQUEST) == {
        "space": "api",
        "space_title": "API docs",
        "subject": "Rewrite",
        "number": "5",
    }


@each_case(
    ("status", "pages", "fate"),
    [
        ("open", frozenset({"p1"}), ""),
        ("open", frozenset({"p2"}), "page deleted"),
        ("open", None, ""),
        (None, frozenset[str](), "page deleted"),
        ("merged", frozenset[str](), "merged"),
        ("archived", None, "archived"),
        ("missing", None, "missing"),
    ],
)
def test_fate_depends_on_the_status_and_the_pages(status: str | None, pages: frozenset[str] | None, fate: Fate) -> None:
    assert fate_of(draft(draft_key("5", "edit p1")), status, pages) == fate
    expected = "" if fate == "page deleted" else fate
    assert fate_of(draft(draft_key("5", "reply p1")), status, pages) == expected


async def test_fate_is_read_from_the_service() -> None:
    service = ScriptedService()
    page, reply = (draft(draft_key("5", name), **ABOUT) for name in ("edit b", "reply c1"))
    assert await read_fate(service, page) == "missing"
    request = {"object": "change-request", "id": "5", "space": "api", "status": "open"}
    service.answer(GET, request)
    inner = {"id": "b", "title": "B", "type": "document"}
    service.answer(TREE, {"pages": [{"id": "a", "title": "A", "type": "group", "pages": [inner]}]})
    assert await read_fate(service, page) == "", "pages below others count"
    assert await read_fate(service, draft(draft_key("5", "edit gone"), **ABOUT)) == "page deleted"
    service.sent.clear()
    assert await read_fate(service, reply) == "comment deleted"
    comment = GetComment(**REQUEST, comment_id="c1")
    assert service.sent == [GET, comment]
    service.answer(comment, {"object": "comment", "id": "c1", "postedBy": {"id": "ada"}})
    assert await read_fate(service, reply) == ""
    on_thread = draft(draft_key("5", "message m1"), **ABOUT, comment="c2")
    assert await read_fate(service, on_thread) == "comment deleted"
    service.answer(GET, {**request, "status": "merged"})
    assert await read_fate(service, on_thread) == "merged"
    service.answer(GET, Forbidden("No", request="", status=403))
    with pytest.raises(Forbidden):
        await read_fate(service, page)
