"""What an operation sends: path, query, body; absent, null and given fields differ."""

import json

import pytest
from pydantic import ValidationError

from presscheck.api.comments import Document, ListComments, PostReply, UpdateComment
from presscheck.api.content import GetPage, GetPageByPath, RevisionPage
from presscheck.api.content_changes import (
    ContentUpdate,
    DeletePage,
    EditChangeRequestContent,
    InsertFiles,
    InsertPage,
    NewFile,
    UpdatePage,
)
from presscheck.api.openapi import CreateOpenAPISpec, SpecSource
from presscheck.api.operation import revive
from presscheck.api.organizations import Organization, UpdateOrganization
from presscheck.api.roles import ContentPosition, SpacePointer
from presscheck.api.site_structure import GetSiteStructure, SiteExternalLink, SiteSection, SiteSectionGroup, SiteSpace
from presscheck.api.sites import Checkout, PublishSite, Site, UpdateSite
from presscheck.api.spaces import CreateSpace, GetSpace, MoveSpace, SearchSpace, UpdateSpace
from presscheck.api.users import GetCurrentUser, User
from presscheck.errors import InvalidArgument, PresscheckError


def test_path_fields_are_quoted_and_a_page_path_keeps_its_slashes() -> None:
    assert GetSpace(space_id="a/b?c").wire_path() == "/spaces/a%2Fb%3Fc"
    call = GetPageByPath(space_id="s", page_path="guides/über uns")
    assert call.wire_path() == "/spaces/s/content/path/guides/%C3%BCber%20uns"


def test_the_query_repeats_arrays_and_spells_booleans() -> None:
    call = ListComments(space_id="s", change_request_id="7", authors=("a", "b"), target_page="p", limit=5)
    assert sorted(call.wire_query()) == [("authors", "a"), ("authors", "b"), ("limit", "5"), ("targetPage", "p")]
    assert GetPage(space_id="s", page_id="p", computed=False).wire_query() == [("computed", "false")]
    assert GetPage(space_id="s", page_id="p", evaluated="deterministic-only").wire_query() == [
        ("evaluated", "deterministic-only")
    ]


def test_a_query_field_of_a_post_stays_out_of_its_body() -> None:
    call = PostReply(
        space_id="s", change_request_id="7", comment_id="c", body=Document(markdown="x"), format="markdown"
    )
    assert call.wire_query() == [("format", "markdown")]
    assert call.wire_body() == {"body": {"markdown": "x"}}


def test_absent_fields_differ_from_null() -> None:
    assert MoveSpace(space_id="s").wire_body() is None
    assert MoveSpace(space_id="s", parent=None).wire_body() == {"parent": None}
    position = ContentPosition(before=SpacePointer(space="t"))
    assert MoveSpace(space_id="s", position=position).wire_body() == {
        "position": {"before": {"type": "space", "space": "t"}}
    }
    assert UpdateComment(space_id="s", change_request_id="1", comment_id="c", resolved=True).wire_body() == {
        "resolved": True
    }


def test_keys_tell_calls_apart_and_do_not_depend_on_order() -> None:
    assert GetSpace(space_id="s") == GetSpace(spaceId="s")
    assert SearchSpace(query="x", space_id="s").key() == SearchSpace(space_id="s", query="x").key()
    assert MoveSpace(space_id="s").key() != MoveSpace(space_id="s", parent=None).key()
    assert GetCurrentUser().key() == "getAuthenticatedUser {}"


@pytest.mark.parametrize(
    ("build", "field"),
    [
        (lambda: CreateSpace(organization_id="o", title="x" * 51), "title"),
        (lambda: UpdateSpace(space_id="s", edit_mode="frozen"), "edit_mode"),
        (lambda: SearchSpace(space_id="s", query="x" * 513), "query"),
        (lambda: ListComments(space_id="s", change_request_id="1", limit=1001), "limit"),
        (lambda: UpdateOrganization(organization_id="o", title="x"), "title"),
        (lambda: GetSpace(space_id="s", spaceid="t"), "spaceid"),
        (lambda: GetSpace(), "space_id"),
        (lambda: GetSpace(space_id=""), "space_id"),
        (lambda: GetSpace(space_id=".."), "space_id"),
        (lambda: GetPageByPath(space_id="s", page_path="a/../../b"), "page_path"),
        (lambda: EditChangeRequestContent(space_id="s", change_request_id="1", changes=()), "changes"),
        (lambda: InsertFiles(files=(NewFile(name="x"),) * 21), "files"),
        (lambda: InsertPage(document=Document(), title=""), "title"),
    ],
)
def test_a_broken_limit_names_the_field(build: object, field: str) -> None:
    with pytest.raises(InvalidArgument) as caught:
        build()  # type: ignore[operator]
    assert caught.value.field == field


def test_a_pattern_error_describes_the_pattern() -> None:
    with pytest.raises(InvalidArgument, match=r"proxy: must be a host and a path, such as example\.org/docs"):
        UpdateSite(organization_id="o", site_id="s", proxy="here")
    with pytest.raises(InvalidArgument, match="slug: must be lowercase letters and digits, separated by hyphens"):
        CreateOpenAPISpec(organization_id="o", slug="Ä", source=SpecSource(text="{}"))


def test_edits_carry_their_kind_through_wire_and_store() -> None:
    call = EditChangeRequestContent(
        space_id="s",
        change_request_id="1",
        compat=False,
        changes=(
            InsertPage(document=Document(markdown="# x"), title="X", at=0),
            UpdatePage(page="p", into=None),
            DeletePage(page="q"),
        ),
    )
    assert call.wire_query() == [("compat", "false")]
    body = {
        "changes": [
            {"operation": "insert_page", "document": {"markdown": "# x"}, "title": "X", "at": 0},
            {"operation": "update_page", "page": "p", "into": None},
            {"operation": "delete_page", "page": "q"},
        ]
    }
    assert call.wire_body() == body
    assert revive(call.stored_name(), json.loads(json.dumps(call.given()))).wire_body() == body


def test_an_edit_is_answered_in_either_form() -> None:
    change_request = {"object": "change-request", "id": "c", "number": 1, "status": "open"}
    alone = ContentUpdate.model_validate(change_request)
    assert alone.change_request.id == "c"
    full = ContentUpdate.model_validate(
        {
            "changeRequest": change_request,
            "changes": [
                {"object": "created_page", "page": {"object": "page", "id": "p", "urls": {"location": "u"}}},
                {"object": "deleted_page", "page": "q"},
            ],
        }
    )
    assert [written.page_id for written in full.changes] == ["p", "q"]


def test_publishing_answers_a_site_or_a_checkout() -> None:
    call = PublishSite(organization_id="o", site_id="s")
    assert isinstance(call.read_answer(b'{"type": "checkout", "sessionId": "x"}'), Checkout)
    assert isinstance(call.read_answer(b'{"object": "site", "type": "basic", "id": "x"}'), Site)


def test_a_structure_nests_and_keeps_what_it_does_not_know() -> None:
    space = {"object": "site-space", "id": "ss", "space": {"object": "space", "id": "s"}}
    section = {"object": "site-section", "id": "sec", "siteSpaces": [space]}
    inner = {"object": "site-section-group", "id": "in", "children": [section]}
    group = {"object": "site-section-group", "id": "g", "children": [inner, section]}
    link = {"object": "site-external-link", "id": "l", "url": "https://example.org"}
    call = GetSiteStructure(organization_id="o", site_id="s")
    answer = call.read_answer(json.dumps({"type": "sections", "structure": [section, group, link]}).encode())
    first, second, third = answer.structure
    assert isinstance(first, SiteSection)
    assert isinstance(first.site_spaces[0], SiteSpace)
    assert isinstance(second, SiteSectionGroup)
    assert isinstance(second.children[0], SiteSectionGroup)
    assert isinstance(third, SiteExternalLink)
    assert third.url == "https://example.org"


def test_unusual_spellings_are_read() -> None:
    assert User.model_validate({"id": "u", "photoURL": "p"}).photo_url == "p"
    organization = Organization.model_validate({"id": "o", "permissions": {"createOpenAPISpec": True, "ownTeam": True}})
    assert organization.permissions.create_open_api_spec
    assert organization.permissions.own_team


def test_a_tree_of_pages_is_read_whole() -> None:
    leaf = {"id": "l", "type": "link", "kind": "link", "title": "L", "target": {"kind": "url", "url": "https://x.y"}}
    tree = {"id": "g", "type": "group", "title": "G", "pages": [{"id": "d", "type": "document", "pages": [leaf]}]}
    page = RevisionPage.model_validate(tree)
    target = page.pages[0].pages[0].target
    assert target is not None
    assert target.url == "https://x.y"


def test_an_answer_that_is_not_json_is_an_error() -> None:
    with pytest.raises(ValidationError):
        GetSpace(space_id="s").read_answer(b"<html>")


def test_reviving_an_unknown_operation_is_an_error() -> None:
    for name in ("spaces.Explode", "nowhere.GetSpace", "../x.GetSpace", "explodeSpace", ""):
        with pytest.raises(PresscheckError, match="does not know that operation"):
            revive(name, {})
