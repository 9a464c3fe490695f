"""Unsent writes, which are shown in the responses that they change."""

from __future__ import annotations

import json
from typing import Any

from tests.engine.write_samples import SITE
from tests.table import each_case

from presscheck.api import change_requests, comments, site_findings, site_settings, site_structure, sites
from presscheck.api.comments import Document, TableCellTarget
from presscheck.api.content import GetChangeRequestPage, ListChangeRequestPages
from presscheck.api.content_changes import (
    DeletePage,
    EditChangeRequestContent,
    InsertFiles,
    InsertPage,
    NewFile,
    UpdatePage,
)
from presscheck.api.operation import Operation
from presscheck.api.users import User
from presscheck.client.responses import read_answer
from presscheck.engine.writes.pending_writes import OutboxEntry, apply_pending

ME = User(id="me")
EXTERNAL = {"kind": "external", "url": "https://a.example/x"}
TARGET = site_settings.RedirectDestination(kind="external", url="https://b.example/y")
GET, SITES = sites.GetSite(**SITE), sites.ListSites(organization_id="org")
STRUCTURE = site_structure.GetSiteStructure(**SITE)
REDIRECTS, LINKS = site_settings.ListRedirects(**SITE), site_settings.ListShareLinks(**SITE)


def shown(read: Operation[Any], answer: Any, write: Operation[Any], *, state: str = "waiting") -> Any:
    """Apply one unsent write to a response."""
    entry = OutboxEntry(7, write, write.stored_name(), state, "No", 0.0)
    return apply_pending(read, read_answer(read, json.dumps(answer).encode()), [entry], ME)


@each_case(("state", "refused"), [("waiting", None), ("refused", "No"), ("parked", "No")])
def test_a_site(state: str, refused: str | None) -> None:
    fields = {"title": "After", "visibility": "unlisted", "basename": "b", "agents_context": "included"}
    adaptive = sites.AdaptiveContentChange(enabled=True)
    write = sites.UpdateSite(**SITE, **fields, proxy="a.example/docs", adaptive_content=adaptive)
    before = {"object": "site", "id": "site", "title": "Before"}
    site = shown(GET, before, write, state=state)
    assert (site.waiting, site.refused) == (7, refused)
    if refused:
        assert (site.title, site.visibility, site.proxy, site.basename) == ("Before", "public", None, None)
        return
    assert {name: getattr(site, name) for name in fields} == fields
    assert (site.proxy.origin, site.adaptive_content.enabled) == ("a.example/docs", True)
    assert shown(GET, before | {"proxy": {"origin": "x"}}, sites.UpdateSite(**SITE, proxy=None)).proxy is None
    other, same = shown(SITES, {"items": [before | {"id": "other"}, before]}, write).items
    assert (other.title, same.title, same.waiting) == ("Before", "After", 7)


def test_the_defaults_of_a_site() -> None:
    def space(identity: str, **fields: Any) -> dict[str, Any]:
        return {"object": "site-space", "id": identity, "space": {"object": "space", "id": identity}, **fields}

    def section(identity: str, *inner: dict[str, Any], **fields: Any) -> dict[str, Any]:
        return {"object": "site-section", "id": identity, "siteSpaces": [*inner], **fields}

    first = section("s1", space("a", default=True), space("b"), default=True)
    grouped = {"object": "site-section-group", "id": "g", "children": [section("s2", space("c", default=True))]}
    answer = {"type": "sections", "structure": [first, grouped]}

    def defaults(*, state: str = "waiting", **fields: str) -> list[bool | None]:
        one, group = shown(STRUCTURE, answer, sites.UpdateSite(**SITE, **fields), state=state).structure
        [two] = group.children
        return [item.default for item in (one, *one.site_spaces, two, *two.site_spaces)]

    assert defaults(title="T1") == [True, True, None, None, True]
    assert defaults(default_site_section="s2") == [False, True, None, True, True]
    assert defaults(default_site_space="b") == [True, False, True, False, True]
    assert defaults(default_site_section="s2", state="refused") == [True, True, None, None, True]
    flat = shown(
        STRUCTURE,
        {"type": "siteSpaces", "structure": [space("a", default=True), space("b")]},
        sites.UpdateSite(**SITE, default_site_space="b"),
    ).structure
    assert [item.default for item in flat] == [False, True]


def test_redirects() -> None:
    answer = {"items": [{"id": "r1", "source": "/a", "destination": EXTERNAL}], "count": 1, "total": 9}
    create = site_settings.CreateRedirect(**SITE, source="/New", destination=TARGET)
    page = shown(REDIRECTS, answer, create)
    new = page.items[-1]
    assert [item.id for item in page.items] == ["r1", "waiting:7"]
    assert (new.source, new.destination.url, new.waiting, new.refused) == ("/New", "https://b.example/y", 7, None)
    assert (page.count, page.total) == (2, 10)
    for search, number in (("new", 2), ("NEW", 2), ("other", 1)):
        read = REDIRECTS.model_copy(update={"search": search})
        assert len(shown(read, answer, create).items) == number
    for state, source, url in (("waiting", "/b", "https://b.example/y"), ("refused", "/a", "https://a.example/x")):
        update = site_settings.UpdateRedirect(**SITE, site_redirect_id="r1", source="/b", destination=TARGET)
        [item] = shown(REDIRECTS, answer, update, state=state).items
        assert (item.source, item.destination.url, item.waiting) == (source, url, 7)
    other = site_settings.UpdateRedirect(**SITE, site_redirect_id="r2", source="/b")
    assert shown(REDIRECTS, answer, other).items[0].source == "/a"
    gone = shown(REDIRECTS, answer, site_settings.DeleteRedirect(**SITE, site_redirect_id="r1"))
    assert (gone.items, gone.count, gone.total) == ((), 0, 8)


def test_share_links() -> None:
    answer = {"items": [{"id": "l1", "name": "Press", "active": True}]}
    page = shown(LINKS, answer, site_settings.CreateShareLink(**SITE, name="New"))
    assert [(item.id, item.name, item.active) for item in page.items] == [
        ("l1", "Press", True),
        ("waiting:7", "New", True),
    ]
    assert (page.items[1].waiting, page.count) == (7, None)
    update = site_settings.UpdateShareLink(**SITE, share_link_id="l1", name="After", active=False)
    for state, name, active in (("waiting", "After", False), ("refused", "Press", True)):
        [item] = shown(LINKS, answer, update, state=state).items
        assert (item.name, item.active, item.waiting) == (name, active, 7)
    elsewhere = site_settings.UpdateShareLink(**SITE | {"site_id": "other"}, share_link_id="l1", active=False)
    assert shown(LINKS, answer, elsewhere).items[0].active
    assert shown(LINKS, answer, site_settings.DeleteShareLink(**SITE, share_link_id="l1")).items == ()


def test_findings() -> None:
    answer = {"items": [{"id": "f1", "status": "open"}, {"id": "f2", "status": "open"}]}
    listing = site_findings.ListSiteFindings(**SITE)
    update = site_findings.UpdateSiteFinding(**SITE, site_finding_id="f1", status="canceled")
    for state, status in (("waiting", "canceled"), ("refused", "open")):
        changed, other = shown(listing, answer, update, state=state).items
        assert (changed.status, changed.waiting, other.status) == (status, 7, "open")


CHANGE = {"space_id": "s", "change_request_id": "c"}
OTHER = {"id": "mia", "displayName": "Mia"}
THERE = {"object": "comment", "id": "c1", "status": "open", "postedBy": OTHER, "body": {"markdown": "Why?"}}


def test_a_new_comment() -> None:
    listing, text = comments.ListComments(**CHANGE), Document(markdown="Here")
    cell = TableCellTarget.model_validate({"record": "r", "definition": "k"})
    write = comments.PostComment(**CHANGE, body=text, page="p", node="n", table_cell=cell)
    page = shown(listing, {"items": [THERE], "count": 1}, write)
    new, before = page.items
    assert (before.id, page.count) == ("c1", 2)
    assert (new.id, new.status, new.waiting, new.held) == ("waiting:7", "open", 7, False)
    assert (new.posted_by.id, new.posted_at, new.body.markdown) == ("me", "1970-01-01T00:00:00+00:00", "Here")
    assert new.target.model_dump(by_alias=True, exclude_none=True) == {
        "space": "s",
        "changeRequest": "c",
        "page": {"id": "p"},
        "node": {"id": "n"},
        "tableCell": {"record": "r", "definition": "k"},
    }
    oldest_first = listing.model_copy(update={"order": "asc"})
    assert [item.id for item in shown(oldest_first, {"items": [THERE]}, write).items] == ["c1", "waiting:7"]
    [held, _] = shown(listing, {"items": [THERE]}, write, state="collected").items
    assert held.held
    elsewhere = comments.PostComment(space_id="s", change_request_id="other", body=text)
    assert len(shown(listing, {"items": [THERE]}, elsewhere).items) == 1
    live = comments.PostSpaceComment(space_id="s", body=text)
    [new] = shown(comments.ListSpaceComments(space_id="s"), {"items": []}, live).items
    assert new.target.model_dump(by_alias=True, exclude_none=True) == {"space": "s"}


def test_a_comment_that_is_edited_resolved_or_deleted() -> None:
    listing, answer = comments.ListComments(**CHANGE), {"items": [THERE, THERE | {"id": "c2"}]}

    def edited(**fields: Any) -> Any:
        first, second = shown(listing, answer, comments.UpdateComment(**CHANGE, comment_id="c1", **fields)).items
        assert (first.waiting, second.body.markdown, second.status) == (7, "Why?", "open")
        return first

    assert (edited(body=Document(markdown="So")).body.markdown, edited(resolved=True).body.markdown) == ("So", "Why?")
    assert [edited(resolved=to).status for to in (True, False)] == ["resolved", "open"]
    assert edited(body=Document(markdown="So")).status == "open"
    gone = shown(listing, answer, comments.DeleteComment(**CHANGE, comment_id="c1"))
    assert [item.id for item in gone.items] == ["c2"]


def test_reactions_to_a_comment() -> None:
    def reaction(emoji: str, *users: str) -> dict[str, Any]:
        return {"emoji": emoji, "count": len(users), "users": [{"user": {"id": user}} for user in users]}

    there = THERE | {"reactions": [reaction("up", "mia", "me"), reaction("heart", "me"), reaction("eyes", "mia")]}

    def reactions(added: tuple[str, ...], removed: tuple[str, ...]) -> dict[str, list[str]]:
        write = comments.UpdateComment(**CHANGE, comment_id="c1", added_reactions=added, removed_reactions=removed)
        [item] = shown(comments.ListComments(**CHANGE), {"items": [there]}, write).items
        assert all(one.count == len(one.users) for one in item.reactions)
        return {one.emoji: [user.user.id for user in one.users] for one in item.reactions}

    as_before = {"up": ["mia", "me"], "heart": ["me"], "eyes": ["mia"]}
    assert reactions(("up",), ()) == as_before, "once is enough"
    assert reactions(("eyes", "new"), ()) == as_before | {"eyes": ["mia", "me"], "new": ["me"]}
    assert reactions((), ("up", "heart")) == {"up": ["mia"], "eyes": ["mia"]}
    assert reactions((), ("eyes",)) == as_before, "a reaction of somebody else stays"


def test_replies() -> None:
    path = CHANGE | {"comment_id": "c1"}
    listing = comments.ListReplies(**path)
    there = {"object": "comment-reply", "id": "r1", "postedBy": OTHER, "body": {"markdown": "Yes"}}
    new = shown(listing, {"items": [there]}, comments.PostReply(**path, body=Document(markdown="No"))).items
    assert [(item.id, item.body.markdown) for item in new] == [("r1", "Yes"), ("waiting:7", "No")]
    edit = comments.UpdateReply(**path, comment_reply_id="r1", body=Document(markdown="Perhaps"))
    assert shown(listing, {"items": [there]}, edit).items[0].body.markdown == "Perhaps"
    [item] = shown(listing, {"items": [there]}, edit.model_copy(update={"comment_reply_id": "r2"})).items
    assert (item.body.markdown, getattr(item, "waiting", None)) == ("Yes", None)
    assert shown(listing, {"items": [there]}, comments.DeleteReply(**path, comment_reply_id="r1")).items == ()


def test_a_review_replaces_an_earlier_one_of_the_same_user() -> None:
    def review(identity: str, user: str) -> dict[str, Any]:
        return {"object": "change-request-review", "id": identity, "reviewer": {"id": user}, "status": "approved"}

    listing, write = change_requests.ListReviews(**CHANGE), change_requests.SubmitReview(**CHANGE, status="approved")
    answer = {"items": [review("r1", "me"), review("r2", "mia")]}
    mine, other, new = shown(listing, answer, write).items
    assert [bool(item.outdated) for item in (mine, other, new)] == [True, False, False]
    assert (new.id, new.reviewer.id, new.status, new.waiting) == ("waiting:7", "me", "approved", 7)
    assert new.created_at and new.updated_at == new.created_at
    assert len(shown(listing, answer, write, state="refused").items) == 2


def test_a_change_request() -> None:
    read = change_requests.GetChangeRequest(**CHANGE)
    answer = {"object": "change-request", "id": "c", "subject": "Before", "status": "draft"}
    write = change_requests.UpdateChangeRequest(**CHANGE, subject="After", status="open")
    assert [getattr(shown(read, answer, write), name) for name in ("subject", "status", "waiting")] == [
        "After",
        "open",
        7,
    ]
    refused = shown(read, answer, write, state="refused")
    assert (refused.subject, refused.status, refused.refused) == ("Before", "draft", "No")
    before = read_answer(read, json.dumps(answer).encode())
    edits = [
        shown(
            read,
            answer,
            EditChangeRequestContent(**CHANGE, changes=(UpdatePage(page="p", document=Document(markdown=text)),)),
        )
        for text in ("a", "b")
    ]
    assert (edits[0].waiting, edits[0] != edits[1], edits[0].subject == before.subject) == (7, True, True)


def test_a_page_tree() -> None:
    def page(identity: str, *below: Any) -> dict[str, Any]:
        return {"id": identity, "type": "document", "title": identity.upper(), "pages": [*below]}

    listing, answer = ListChangeRequestPages(**CHANGE), {"pages": [page("a", page("b")), page("c")]}

    def tree(*changes: Any, state: str = "waiting") -> str:
        def text(pages: Any) -> str:
            return " ".join(one.title + (f"({text(one.pages)})" if one.pages else "") for one in pages)

        write = EditChangeRequestContent(**CHANGE, changes=changes)
        return text(shown(listing, answer, write, state=state).pages)

    new = InsertPage(title="New", document=Document(markdown="x"))
    assert tree(new) == "A(B) C New"
    assert tree(InsertPage(title="New", document=Document(markdown="x"), into="a", at=0)) == "A(New B) C"
    assert tree(new, state="refused") == "A(B) C"
    assert tree(InsertPage(title="New", document=Document(markdown="x"), into="gone")) == "A(B) C"
    assert tree(DeletePage(page="a")) == "C"
    assert tree(DeletePage(page="gone")) == "A(B) C"
    files = InsertFiles(files=(NewFile(name="a.png", url="https://a.example/a.png"),))
    assert tree(files, DeletePage(page="c")) == "A(B)", "a change without a page is skipped"
    assert tree(UpdatePage(page="b", title="Other")) == "A(Other) C"
    assert tree(UpdatePage(page="b", into=None, at=0)) == "B A C"
    assert tree(UpdatePage(page="c", into="b")) == "A(B(C))"
    assert tree(UpdatePage(page="a", into="b")) == "A(B) C", "not below itself"
    assert tree(UpdatePage(page="a", into="gone", title="Other")) == "Other(B) C"
    assert tree(UpdatePage(page="a", document=Document(markdown="y"))) == "A(B) C"
    change = UpdatePage(operation="update_page", page="c", title="First", into=None, at=0)
    first, _ = shown(listing, answer, EditChangeRequestContent(**CHANGE, changes=(change,))).pages
    assert first == read_answer(listing, json.dumps({"pages": [page("c") | {"title": "First"}]}).encode()).pages[0]


def test_a_page() -> None:
    def read(identity: str, form: str = "markdown") -> GetChangeRequestPage:
        return GetChangeRequestPage(**CHANGE, page_id=identity, format=form)

    answer = {"id": "p", "type": "document", "title": "Before", "markdown": "old"}
    edit = EditChangeRequestContent(**CHANGE, changes=(UpdatePage(page="p", document=Document(markdown="new")),))
    page = shown(read("p"), answer, edit)
    assert (page.title, page.markdown, page.waiting) == ("Before", "new", 7)
    refused = shown(read("p"), answer, edit, state="refused")
    assert (refused.markdown, refused.refused) == ("old", "No")
    assert getattr(shown(read("q"), answer | {"id": "q"}, edit), "waiting", None) is None
    assert shown(read("p", "document"), answer, edit).markdown == "old"
    renamed = UpdatePage(page="p", title="After", document=Document(markdown="new"))
    assert shown(read("p"), answer, EditChangeRequestContent(**CHANGE, changes=(renamed,))).title == "After"


def test_a_renamed_page_has_its_new_title_also_in_the_heading_that_repeats_it() -> None:
    read = GetChangeRequestPage(**CHANGE, page_id="p", format="markdown")
    answer = {"id": "p", "type": "document", "title": "Be_fore", "markdown": "# Be\\_fore\n\ntext"}
    changes = (UpdatePage(page="q", title="Other"), UpdatePage(page="p", title="After"))
    rename = EditChangeRequestContent(**CHANGE, changes=changes)
    page = shown(read, answer, rename)
    assert (page.title, page.markdown, getattr(page, "waiting", None)) == ("After", "# After\n\ntext", None)
    assert shown(read, answer | {"markdown": "# Heading"}, rename).markdown == "# Heading"
    assert shown(read, answer, rename, state="refused").title == "Be_fore"
    before = {"id": "c", "space": "s", "number": 1, "status": "open", "revision": "r"}
    request = change_requests.GetChangeRequest(**CHANGE)
    assert shown(request, before, rename) != shown(
        request, before, EditChangeRequestContent(**CHANGE, changes=(UpdatePage(page="p", into="q"),))
    )
