"""Comparisons before an undo: the current state of the service, the result of the write, and the former state."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from tests.engine.scripted_service import ScriptedService
from tests.engine.write_samples import (
    AFTER_SPACE,
    BEFORE_COLLECTION,
    BESIDE,
    EXTERNAL,
    ITEM,
    ORGANIZATION,
    REQUEST,
    SITE,
    TEAM,
    THREAD,
    page,
    pages,
    target,
    text,
)
from tests.table import each_case

from presscheck.api import (
    change_requests,
    collections,
    comments,
    content,
    invites,
    organizations,
    permissions,
    site_settings,
    site_structure,
    sites,
    spaces,
    teams,
)
from presscheck.api.operation import Operation
from presscheck.client.responses import read_answer
from presscheck.engine.writes.inverse import SentWrite
from presscheck.engine.writes.inverses import inverse_of

Json = dict[str, Any]
Answers = Mapping[Operation[Any], Any]


def listing(*items: Any, following: str | None = None) -> Json:
    return {"items": [*items], **({"next": {"page": following}} if following else {})}


def comment(**fields: Any) -> Json:
    return {"object": "comment", "id": "c1", "postedBy": {"object": "user", "id": "me"}, **fields}


def reviewer(identity: str) -> Json:
    return {
        "object": "requested-reviewer",
        "id": identity,
        "user": {"object": "user", "id": identity, "displayName": identity.title()},
    }


def member(identity: str, role: str = "member") -> Json:
    user = {"object": "user", "id": identity}
    return {"organization": {"object": "member", "id": identity, "user": user}, "team": {"role": role}}


def site_space(identity: str, **fields: Any) -> Json:
    return {
        "object": "site-space",
        "id": identity,
        "path": identity,
        "space": {"object": "space", "id": f"in-{identity}"},
        **fields,
    }


def section(identity: str, *spaces: Json, **fields: Any) -> Json:
    return {
        "object": "site-section",
        "id": identity,
        "title": identity,
        "path": identity,
        "siteSpaces": [*spaces],
        **fields,
    }


def group(identity: str, *children: Json, **fields: Any) -> Json:
    return {"object": "site-section-group", "id": identity, "title": identity, "children": [*children], **fields}


def structure(*items: Json) -> tuple[Operation[Any], Json]:
    return site_structure.GetSiteStructure(**SITE), {"type": "sections", "structure": [*items]}


def redirect(identity: str = "r1", source: str = "/a", **destination: Any) -> Json:
    return {"object": "site-redirect", "id": identity, "source": source, "destination": destination or EXTERNAL}


def share_link(**fields: Any) -> Json:
    return {"object": "share-link", "id": "l1", **fields}


GET_COMMENT = comments.GetComment(**REQUEST, comment_id="c1", format="markdown")
POST, NEW = comments.PostComment(**REQUEST, body=text("Hello *you*")), {"id": "c1"}
EDIT = comments.UpdateComment(**THREAD, body=text("New"), resolved=True)
EDITED = {"text": "Old", "resolved": False}
REACT = comments.UpdateComment(**THREAD, added_reactions=("x",), removed_reactions=("y",))
REVIEWERS = change_requests.ListRequestedReviewers(**REQUEST, limit=1000)
POST_LIVE = comments.PostSpaceComment(space_id="api", body=text("Live"))
GET_LIVE = comments.GetSpaceComment(space_id="api", comment_id="c1", format="markdown")
RENAME = pages(page(title="After"))
RENAMED: tuple[Json, Json] = (
    {"revision": "r1", "places": {}, "orders": []},
    {"revision": "r2", "pages": [None]},
)
NOW = content.GetChangeRequestRevision(**REQUEST)
AFTER = content.GetRevision(space_id="api", revision_id="r2")
BEFORE = content.GetRevision(space_id="api", revision_id="r1")


def revision(identity: str, title: str, *parents: str) -> Json:
    """Return a revision with one page; all values except the title contain the id of the revision."""
    bookkeeping = dict.fromkeys(("createdAt", "updatedAt", "path", "markdown"), identity)
    only = {"id": "p1", "title": title, "urls": {"app": identity}, **bookkeeping}
    return {"object": "revision", "id": identity, "parents": [*parents], "pages": [only]}


def text_in(revision: str) -> content.GetRevisionPage:
    return content.GetRevisionPage(space_id="api", revision_id=revision, page_id="p1", format="markdown")


ASK = change_requests.RequestReviewers(**REQUEST, users=("ada", "bo", "cy"))
GET_REQUEST = change_requests.GetChangeRequest(**REQUEST)
CREATE_REQUEST = change_requests.CreateChangeRequest(space_id="api", subject="S")
UPDATE_REQUEST = change_requests.UpdateChangeRequest(**REQUEST, subject="After", status="open")
GET_SITE = sites.GetSite(**SITE)
REDIRECTS = site_settings.ListRedirects(**SITE, limit=1000)
FOUND_REDIRECTS = site_settings.ListRedirects(**SITE, search="/a", limit=1000)
CREATE_REDIRECT = site_settings.CreateRedirect(
    **SITE, source="/a", destination=target("external", url="https://a.example/x")
)
UPDATE_REDIRECT = site_settings.UpdateRedirect(**SITE, site_redirect_id="r1", source="/b")
DELETE_REDIRECT = site_settings.DeleteRedirect(**SITE, site_redirect_id="r1")
LINKS = site_settings.ListShareLinks(**SITE, limit=1000)
LINK = site_settings.CreateShareLink(**SITE, name="Press")
SCHEMA = site_settings.GetAdaptiveSchema(**SITE)
NEW_SCHEMA = site_settings.UpdateAdaptiveSchema(**SITE, json_schema={"type": "object"})
SORT = site_structure.SortSiteStructure(**SITE, item=ITEM, position=BESIDE)
SORT_BEFORE = site_structure.SortSiteStructure(
    **SITE, item=ITEM, position=site_structure.StructurePosition(before=BESIDE.after)
)
GET_SPACE = spaces.GetSpace(space_id="api")
ALL_SPACES = spaces.ListSpaces(organization_id="org", limit=1000)
MOVE_SPACE = spaces.MoveSpace(space_id="api", position=AFTER_SPACE)
ALL_COLLECTIONS = collections.ListCollections(organization_id="org", nested=True, limit=1000)
MOVE_COLLECTION = collections.MoveCollection(collection_id="c", position=BEFORE_COLLECTION)
MEMBERS = teams.ListTeamMembers(**TEAM, limit=1000)
GET_TEAM = teams.GetTeam(**TEAM)
LEVELS = permissions.ListCollectionTeamPermissions(collection_id="product", limit=1000)
MINE = organizations.ListOrganizations(limit=1000)
ADDED_SECTION = {"id": "s9", "title": "G", "spaces": ["in-a"]}
FORMER_GROUP = {"title": "All", "icon": None, "parent": None, "sections": ["s1"], "others": 0}


def space(identity: str = "api", **fields: Any) -> Json:
    return {"object": "space", "id": identity, "title": identity, "organization": "org", **fields}


def collection(identity: str = "c", **fields: Any) -> Json:
    return {"object": "collection", "id": identity, "title": identity, "organization": "org", **fields}


def team_level(identity: str, level: str) -> Json:
    return {"team": {"object": "team", "id": identity}, "permission": level}


CASES: list[tuple[Operation[Any], Json | None, Json | None, list[tuple[Operation[Any], Any]], tuple[str, str, str]]] = [
    # messages
    (POST, None, NEW, [], ("undone", "", "")),
    (
        POST,
        None,
        NEW,
        [(GET_COMMENT, comment(body={"markdown": "Hello _you_\n"}))],
        ("unchanged", "Hello *you*", "Hello _you_"),
    ),
    (POST, None, NEW, [(GET_COMMENT, comment(body={"markdown": "Bye"}))], ("changed", "Hello *you*", "Bye")),
    (
        POST,
        None,
        NEW,
        [(GET_COMMENT, comment(body={"markdown": "Hello *you*"}, replies=2))],
        ("changed", "Hello *you*", "Hello *you*\n(2 replies)"),
    ),
    (
        EDIT,
        EDITED,
        None,
        [(GET_COMMENT, comment(body={"markdown": "New"}, status="resolved"))],
        ("unchanged", "resolved: resolved\ntext: New", "resolved: resolved\ntext: New"),
    ),
    (
        EDIT,
        EDITED,
        None,
        [(GET_COMMENT, comment(body={"markdown": "Old"}))],
        ("undone", "resolved: resolved\ntext: New", "resolved: open\ntext: Old"),
    ),
    (
        EDIT,
        EDITED,
        None,
        [(GET_COMMENT, comment(body={"markdown": "New"}))],
        ("changed", "resolved: resolved\ntext: New", "resolved: open\ntext: New"),
    ),
    (
        REACT,
        {"reactions": ["y"]},
        None,
        [
            (
                GET_COMMENT,
                comment(
                    reactions=[
                        {"emoji": "x", "users": [{"user": {"id": "me"}}, {"user": {"id": "ada"}}]},
                        {"emoji": "y", "users": [{"user": {"id": "ada"}}]},
                    ]
                ),
            )
        ],
        ("unchanged", "x", "x"),
    ),
    (
        REACT,
        {"reactions": ["y"]},
        None,
        [(GET_COMMENT, comment(reactions=[{"emoji": "y", "users": [{"user": {"id": "me"}}]}]))],
        ("undone", "x", "y"),
    ),
    (REACT, {"reactions": ["y"]}, None, [(GET_COMMENT, comment())], ("changed", "x", "none")),
    (POST_LIVE, None, NEW, [], ("undone", "", "")),
    (POST_LIVE, None, NEW, [(GET_LIVE, comment(body={"markdown": "Live"}))], ("unchanged", "Live", "Live")),
    # pages
    (
        RENAME,
        *RENAMED,
        [(NOW, revision("r3", "After", "r2")), (AFTER, revision("r2", "After", "r1"))],
        ("unchanged", "", ""),
    ),
    (
        RENAME,
        *RENAMED,
        [
            (NOW, revision("r3", "Before", "r2")),
            (AFTER, revision("r2", "After", "r1")),
            (BEFORE, revision("r1", "Before")),
        ],
        ("undone", "", ""),
    ),
    (
        RENAME,
        *RENAMED,
        [
            (NOW, revision("r3", "Hers", "r2")),
            (AFTER, revision("r2", "After", "r1")),
            (BEFORE, revision("r1", "Before")),
            (text_in("r2"), {"id": "p1", "title": "After", "markdown": "x"}),
        ],
        ("changed", "After\n\nx", "(deleted)"),
    ),
    (
        RENAME,
        *RENAMED,
        [
            (NOW, revision("r2", "After", "r0")),
            (AFTER, revision("r2", "After", "r0")),
            (content.GetRevision(space_id="api", revision_id="r0"), revision("r0", "By others")),
            (BEFORE, revision("r1", "Before")),
        ],
        ("changed", "(edited)", "(edited by others just before)"),
    ),
    # change requests
    (
        CREATE_REQUEST,
        None,
        {"id": "5"},
        [(GET_REQUEST, {"object": "change-request", "id": "5", "status": "archived"})],
        ("undone", "", ""),
    ),
    (
        CREATE_REQUEST,
        None,
        {"id": "5"},
        [(GET_REQUEST, {"object": "change-request", "id": "5", "status": "merged"})],
        ("changed", "open", "merged"),
    ),
    (
        CREATE_REQUEST,
        None,
        {"id": "5"},
        [(GET_REQUEST, {"object": "change-request", "id": "5", "status": "draft"})],
        ("unchanged", "open", "draft"),
    ),
    (
        UPDATE_REQUEST,
        {"subject": "Before", "status": "draft"},
        None,
        [(GET_REQUEST, {"object": "change-request", "id": "5", "status": "open", "subject": " After "})],
        ("unchanged", "subject: After\nstatus: open", "subject:  After \nstatus: open"),
    ),
    (
        UPDATE_REQUEST,
        {"subject": "Before", "status": "draft"},
        None,
        [(GET_REQUEST, {"object": "change-request", "id": "5", "status": "draft", "subject": "Before"})],
        ("undone", "subject: After\nstatus: open", "subject: Before\nstatus: draft"),
    ),
    (
        UPDATE_REQUEST,
        {"subject": "Before", "status": "draft"},
        None,
        [(GET_REQUEST, {"object": "change-request", "id": "5", "status": "draft", "subject": "After"})],
        ("changed", "subject: After\nstatus: open", "subject: After\nstatus: draft"),
    ),
    (
        ASK,
        {"users": ["cy"]},
        None,
        [(REVIEWERS, listing(reviewer("ada"), reviewer("bo"), reviewer("cy")))],
        ("unchanged", "ada, bo", "ada, bo, cy"),
    ),
    (
        ASK,
        {"users": ["cy"]},
        None,
        [(REVIEWERS, listing(reviewer("bo"), reviewer("cy")))],
        ("changed", "ada, bo", "bo, cy"),
    ),
    (ASK, {"users": ["cy"]}, None, [(REVIEWERS, listing(reviewer("cy")))], ("undone", "", "")),
    (
        change_requests.RemoveRequestedReviewer(**REQUEST, user_id="ada"),
        {"users": ["ada"], "name": ""},
        None,
        [(REVIEWERS, listing(reviewer("ada")))],
        ("undone", "", ""),
    ),
    (
        change_requests.RemoveRequestedReviewer(**REQUEST, user_id="ada"),
        {"users": ["ada"], "name": ""},
        None,
        [(REVIEWERS, listing(reviewer("bo")))],
        ("unchanged", "", ""),
    ),
    # sites
    (
        sites.PublishSite(**SITE),
        {"published": False},
        None,
        [(GET_SITE, {"object": "site", "id": "site", "published": True})],
        ("unchanged", "", ""),
    ),
    (
        sites.PublishSite(**SITE),
        {"published": False},
        None,
        [(GET_SITE, {"object": "site", "id": "site", "published": False})],
        ("undone", "", ""),
    ),
    (
        sites.UnpublishSite(**SITE),
        {"published": True},
        None,
        [(GET_SITE, {"object": "site", "id": "site", "published": True})],
        ("undone", "", ""),
    ),
    (
        sites.UpdateSite(**SITE, title="After", proxy="a.example/docs"),
        {"title": "B", "proxy": None},
        None,
        [(GET_SITE, {"object": "site", "id": "site", "title": "After", "proxy": {"origin": "a.example/docs"}})],
        ("unchanged", "title: After\nproxy: a.example/docs", "title: After\nproxy: a.example/docs"),
    ),
    (
        sites.UpdateSite(**SITE, default_site_section="s2"),
        {"default_site_section": "s1"},
        None,
        [structure(section("s1"), section("s2", default=True))],
        ("unchanged", "s2", "s2"),
    ),
    (
        sites.UpdateSite(**SITE, default_site_space="b"),
        {"default_site_space": "a"},
        None,
        [structure(site_space("a", default=True), site_space("b"))],
        ("undone", "b", "a"),
    ),
    (
        sites.UpdateSite(**SITE, default_site_space="b"),
        {"default_site_space": "a"},
        None,
        [
            structure(
                section("s1", site_space("x", default=True)), section("s2", site_space("b", default=True), default=True)
            )
        ],
        ("unchanged", "b", "b"),
    ),
    (
        site_structure.AddSiteSpace(**SITE, space_id="api"),
        None,
        {"id": "a", "path": "a"},
        [structure()],
        ("undone", "", ""),
    ),
    (
        site_structure.AddSiteSpace(**SITE, space_id="api"),
        None,
        {"id": "a", "path": "a"},
        [structure(group("g", section("s", site_space("a"))))],
        ("unchanged", "path a", "path a"),
    ),
    (
        site_structure.AddSiteSpace(**SITE, space_id="api"),
        None,
        {"id": "a", "path": "b"},
        [structure(site_space("a"))],
        ("changed", "path b", "path a"),
    ),
    (
        site_structure.UpdateSection(**SITE, site_section_id="s1", title="After", default_site_space="b"),
        {"title": "B", "default_site_space": "a"},
        None,
        [structure(section("s1", site_space("a"), site_space("b", default=True), title="After"))],
        ("unchanged", "title: After\ndefault site space: b", "title: After\ndefault site space: b"),
    ),
    (
        site_structure.UpdateSection(**SITE, site_section_id="s1", title="After"),
        {"title": "B"},
        None,
        [structure(group("s1"))],
        ("changed", "After", "(deleted)"),
    ),
    (
        site_structure.UpdateSectionGroup(**SITE, site_section_group_id="g", title="After"),
        {"title": "g"},
        None,
        [structure(group("g"))],
        ("undone", "After", "g"),
    ),
    (
        site_structure.AddSection(**SITE, space_id="api"),
        {"spaces": []},
        ADDED_SECTION,
        [structure()],
        ("undone", "", ""),
    ),
    (
        site_structure.AddSection(**SITE, space_id="api"),
        {"spaces": []},
        ADDED_SECTION,
        [structure(section("s9", site_space("a"), title="G"))],
        ("unchanged", "title: G\nspaces: in-a", "title: G\nspaces: in-a"),
    ),
    (
        site_structure.AddSection(**SITE, space_id="api"),
        {"spaces": []},
        ADDED_SECTION,
        [structure(section("s9", site_space("a"), site_space("b"), title="G"))],
        ("changed", "title: G\nspaces: in-a", "title: G\nspaces: in-a, in-b"),
    ),
    (site_structure.AddSectionGroup(**SITE, title="All"), None, {"id": "g"}, [structure()], ("undone", "", "")),
    (
        site_structure.AddSectionGroup(**SITE, title="g"),
        None,
        {"id": "g"},
        [structure(group("g"))],
        ("unchanged", "g", "g"),
    ),
    (
        site_structure.AddSectionGroup(**SITE, title="All"),
        None,
        {"id": "g"},
        [structure(group("g"))],
        ("changed", "All", "g"),
    ),
    (
        site_structure.DeleteSectionGroup(**SITE, site_section_group_id="g"),
        FORMER_GROUP,
        None,
        [structure(section("s1"))],
        ("unchanged", "(its sections one level higher)", "(moved since)"),
    ),
    (
        site_structure.DeleteSectionGroup(**SITE, site_section_group_id="g"),
        FORMER_GROUP | {"parent": "h"},
        None,
        [structure(group("h", section("s1")))],
        ("unchanged", "(its sections one level higher)", "(moved since)"),
    ),
    (
        site_structure.DeleteSectionGroup(**SITE, site_section_group_id="g"),
        FORMER_GROUP | {"parent": "h"},
        None,
        [structure(section("s1"))],
        ("changed", "(its sections one level higher)", "(moved since)"),
    ),
    (
        site_structure.DeleteSectionGroup(**SITE, site_section_group_id="g"),
        FORMER_GROUP,
        None,
        [structure(group("h", section("s1")))],
        ("changed", "(its sections one level higher)", "(moved since)"),
    ),
    (SORT, {"previous": None, "next": None}, None, [structure()], ("changed", "(moved)", "(deleted)")),
    (
        SORT,
        {"previous": None, "next": None},
        None,
        [structure(group("g", site_space("s2"), section("s1")))],
        ("unchanged", "", ""),
    ),
    (
        SORT,
        {"previous": None, "next": None},
        None,
        [structure(section("s1"), site_space("s2"))],
        ("undone", "(moved)", "(moved again)"),
    ),
    (
        SORT,
        {"previous": None, "next": None},
        None,
        [structure(section("s3"), section("s1"), site_space("s2"))],
        ("changed", "(moved)", "(moved again)"),
    ),
    (
        SORT_BEFORE,
        {"previous": None, "next": None},
        None,
        [structure(section("s3"), section("s1"), site_space("s2"))],
        ("unchanged", "", ""),
    ),
    # settings of sites
    (CREATE_REDIRECT, None, {"id": "r1"}, [(FOUND_REDIRECTS, listing()), (REDIRECTS, listing())], ("undone", "", "")),
    (
        CREATE_REDIRECT,
        None,
        {"id": "r1"},
        [(FOUND_REDIRECTS, listing(redirect("r0"), redirect()))],
        ("unchanged", "/a → external https://a.example/x", "/a → external https://a.example/x"),
    ),
    (
        CREATE_REDIRECT,
        None,
        {"id": "r1"},
        [
            (FOUND_REDIRECTS, listing()),
            (REDIRECTS, listing(redirect("r0"), following="2")),
            (
                REDIRECTS.model_copy(update={"page": "2"}),
                listing(redirect(source="/c", kind="site-page", siteSpaceId="s", pageId="p")),
            ),
        ],
        ("changed", "/a → external https://a.example/x", "/c → page s p"),
    ),
    (
        UPDATE_REDIRECT,
        {"source": "/a", "destination": EXTERNAL},
        None,
        [(FOUND_REDIRECTS.model_copy(update={"search": "/b"}), listing(redirect(source="/b")))],
        ("unchanged", "/b → external https://a.example/x", "/b → external https://a.example/x"),
    ),
    (
        UPDATE_REDIRECT,
        {"source": "/a", "destination": EXTERNAL},
        None,
        [(FOUND_REDIRECTS.model_copy(update={"search": "/b"}), listing()), (REDIRECTS, listing(redirect()))],
        ("undone", "/b → external https://a.example/x", "/a → external https://a.example/x"),
    ),
    (
        UPDATE_REDIRECT,
        {"source": "/a", "destination": EXTERNAL},
        None,
        [(FOUND_REDIRECTS.model_copy(update={"search": "/b"}), listing()), (REDIRECTS, listing())],
        ("changed", "/b → external https://a.example/x", "(deleted)"),
    ),
    (
        DELETE_REDIRECT,
        {"source": "/a", "destination": EXTERNAL},
        None,
        [(FOUND_REDIRECTS, listing(redirect("x", "/b")))],
        ("unchanged", "", ""),
    ),
    (
        DELETE_REDIRECT,
        {"source": "/a", "destination": EXTERNAL},
        None,
        [(FOUND_REDIRECTS, listing(redirect("x")))],
        ("undone", "(deleted)", "/a → external https://a.example/x"),
    ),
    (
        DELETE_REDIRECT,
        {"source": "/a", "destination": EXTERNAL},
        None,
        [(FOUND_REDIRECTS, listing(redirect("x", kind="site-section", siteSectionId="s")))],
        ("changed", "(deleted)", "/a → section s"),
    ),
    (LINK, None, {"id": "l1"}, [(LINKS, listing())], ("undone", "", "")),
    (LINK, None, {"id": "l1"}, [(LINKS, listing(share_link(name="Press")))], ("unchanged", "Press", "Press")),
    (LINK, None, {"id": "l1"}, [(LINKS, listing(share_link()))], ("changed", "Press", "")),
    (
        site_settings.UpdateShareLink(**SITE, share_link_id="l1", active=False),
        {"active": True},
        None,
        [(LINKS, listing(share_link(active=False)))],
        ("unchanged", "off", "off"),
    ),
    (
        NEW_SCHEMA,
        {"json_schema": {}},
        None,
        [(SCHEMA, {"jsonSchema": {"type": "object"}})],
        ("unchanged", '{\n  "type": "object"\n}\n', '{\n  "type": "object"\n}\n'),
    ),
    (
        NEW_SCHEMA,
        {"json_schema": {"title": "a"}},
        None,
        [(SCHEMA, {"jsonSchema": {"title": "b"}})],
        ("changed", '{\n  "type": "object"\n}\n', '{\n  "title": "b"\n}\n'),
    ),
    (
        NEW_SCHEMA,
        {"json_schema": {"title": "a"}},
        None,
        [(SCHEMA, {"jsonSchema": {"title": "a"}})],
        ("undone", '{\n  "type": "object"\n}\n', '{\n  "title": "a"\n}\n'),
    ),
    # spaces and collections
    (spaces.DeleteSpace(space_id="api"), None, None, [], ("unchanged", "", "")),
    (
        spaces.DeleteSpace(space_id="api"),
        None,
        None,
        [(GET_SPACE, space(deletedAt="2026-01-01T00:00:00Z"))],
        ("unchanged", "", ""),
    ),
    (spaces.DeleteSpace(space_id="api"), None, None, [(GET_SPACE, space())], ("undone", "", "")),
    (spaces.DuplicateSpace(space_id="x"), None, {"id": "api", "revision": "r1"}, [], ("undone", "", "")),
    (
        spaces.DuplicateSpace(space_id="x"),
        None,
        {"id": "api", "revision": "r1"},
        [(GET_SPACE, space(revision="r1", deletedAt="2026-01-01T00:00:00Z"))],
        ("undone", "", ""),
    ),
    (
        spaces.DuplicateSpace(space_id="x"),
        None,
        {"id": "api", "revision": "r1"},
        [(GET_SPACE, space(revision="r1"))],
        ("unchanged", "(new space)", "(changed in the meantime)"),
    ),
    (
        spaces.DuplicateSpace(space_id="x"),
        None,
        {"id": "api", "revision": "r1"},
        [(GET_SPACE, space(revision="r2"))],
        ("changed", "(new space)", "(changed in the meantime)"),
    ),
    (
        spaces.DuplicateSpace(space_id="x"),
        None,
        {"id": "api", "revision": "r1"},
        [(GET_SPACE, space(revision="r1", changeRequests=1))],
        ("changed", "(new space)", "(changed in the meantime)"),
    ),
    (
        MOVE_SPACE,
        {"parent": None, "previous": "x", "next": "y"},
        None,
        [(GET_SPACE, space()), (ALL_SPACES, listing(space("guides"), space("other", parent="z"), space(), space("y")))],
        ("unchanged", "", ""),
    ),
    (
        MOVE_SPACE,
        {"parent": None, "previous": "x", "next": "y"},
        None,
        [(GET_SPACE, space()), (ALL_SPACES, listing(space("x"), space(), space("y")))],
        ("undone", "(moved)", "(moved again)"),
    ),
    (
        MOVE_SPACE,
        {"parent": None, "previous": "x", "next": "y"},
        None,
        [(GET_SPACE, space()), (ALL_SPACES, listing(space("x"), space()))],
        ("changed", "(moved)", "(moved again)"),
    ),
    (
        MOVE_SPACE,
        {"parent": None, "previous": "x", "next": "y"},
        None,
        [(GET_SPACE, space(parent="p")), (ALL_SPACES, listing(space("x"), space(parent="p")))],
        ("changed", "(moved)", "(in another collection)"),
    ),
    (
        spaces.MoveSpace(space_id="api", parent="p"),
        {"parent": None, "previous": None, "next": None},
        None,
        [(GET_SPACE, space(parent="p")), (ALL_SPACES, listing())],
        ("unchanged", "p", "p"),
    ),
    (
        spaces.MoveSpace(space_id="api", parent="p"),
        {"parent": None, "previous": None, "next": None},
        None,
        [(GET_SPACE, space()), (ALL_SPACES, listing())],
        ("undone", "p", ""),
    ),
    (
        MOVE_COLLECTION,
        {"parent": None, "previous": "x", "next": None},
        None,
        [
            (collections.GetCollection(collection_id="c"), collection()),
            (ALL_COLLECTIONS, listing(collection(), collection("product"))),
        ],
        ("unchanged", "", ""),
    ),
    (
        collections.CreateCollection(**ORGANIZATION, title="M"),
        None,
        {"id": "c"},
        [(ALL_COLLECTIONS, listing())],
        ("undone", "", ""),
    ),
    (
        collections.CreateCollection(**ORGANIZATION, title="M"),
        None,
        {"id": "c"},
        [
            (ALL_COLLECTIONS, listing(collection())),
            (collections.ListSpacesInCollection(collection_id="c", limit=1000), listing()),
        ],
        ("unchanged", "(empty collection)", "(no longer empty)"),
    ),
    (
        collections.CreateCollection(**ORGANIZATION, title="M"),
        None,
        {"id": "c"},
        [
            (ALL_COLLECTIONS, listing(collection(), collection("d", parent="c"))),
            (collections.ListSpacesInCollection(collection_id="c", limit=1000), listing()),
        ],
        ("changed", "(empty collection)", "(no longer empty)"),
    ),
    (
        collections.CreateCollection(**ORGANIZATION, title="M"),
        None,
        {"id": "c"},
        [
            (ALL_COLLECTIONS, listing(collection())),
            (collections.ListSpacesInCollection(collection_id="c", limit=1000), listing(space())),
        ],
        ("changed", "(empty collection)", "(no longer empty)"),
    ),
    # people
    (
        teams.AddTeamMember(**TEAM, user_id="ada"),
        {"value": None},
        None,
        [
            (MEMBERS, listing(member("bo", "owner"), following="2")),
            (MEMBERS.model_copy(update={"page": "2"}), listing(member("ada"))),
        ],
        ("unchanged", "member", "member"),
    ),
    (
        teams.AddTeamMember(**TEAM, user_id="ada", role="owner"),
        {"value": "member"},
        None,
        [(MEMBERS, listing(member("ada")))],
        ("undone", "owner", "member"),
    ),
    (
        teams.RemoveTeamMember(**TEAM, user_id="ada"),
        {"value": "owner"},
        None,
        [(MEMBERS, listing(member("ada")))],
        ("changed", "none", "member"),
    ),
    (
        teams.RemoveTeamMember(**TEAM, user_id="ada"),
        {"value": "owner"},
        None,
        [(MEMBERS, listing())],
        ("unchanged", "none", "none"),
    ),
    (
        permissions.UpdateCollectionTeamPermission(collection_id="product", team_id="t1", role="edit"),
        {"value": None},
        None,
        [(LEVELS, listing(team_level("t0", "read"), team_level("t1", "edit")))],
        ("unchanged", "edit", "edit"),
    ),
    (
        teams.UpdateTeamMembers(**TEAM, add=("ada", "bo"), remove=("cy",)),
        {"roles": {"cy": "owner"}},
        None,
        [(MEMBERS, listing(member("ada"), member("bo"), member("x")))],
        ("unchanged", "ada: member\nbo: member\ncy: not in the team", "ada: member\nbo: member\ncy: not in the team"),
    ),
    (
        teams.UpdateTeamMembers(**TEAM, add=("ada",), remove=("cy",)),
        {"roles": {"cy": "owner"}},
        None,
        [(MEMBERS, listing(member("cy", "owner")))],
        ("undone", "ada: member\ncy: not in the team", "ada: not in the team\ncy: owner"),
    ),
    (
        teams.UpdateTeamMembers(**TEAM, add=("ada",), remove=("cy",)),
        {"roles": {"cy": "owner"}},
        None,
        [(MEMBERS, listing(member("cy"), member("ada")))],
        ("changed", "ada: member\ncy: not in the team", "ada: member\ncy: member"),
    ),
    (teams.CreateTeam(**ORGANIZATION, title="W"), None, {"id": "t1", "members": 1}, [], ("undone", "", "")),
    (
        teams.CreateTeam(**ORGANIZATION, title="W"),
        None,
        {"id": "t1", "members": 1},
        [(GET_TEAM, {"object": "team", "id": "t1", "title": "W", "members": 1})],
        ("unchanged", "W, 1 members", "W, 1 members"),
    ),
    (
        teams.CreateTeam(**ORGANIZATION, title="W"),
        None,
        {"id": "t1", "members": 1},
        [(GET_TEAM, {"object": "team", "id": "t1", "title": "W", "members": 2})],
        ("changed", "W, 1 members", "W, 2 members"),
    ),
    (invites.CreateInvite(**ORGANIZATION, role="read"), None, {"id": "i1"}, [], ("undone", "", "")),
    (
        invites.CreateInvite(**ORGANIZATION, role="read"),
        None,
        {"id": "i1"},
        [(invites.GetInvite(**ORGANIZATION, invite_id="i1"), {"object": "invite", "id": "i1"})],
        ("unchanged", "", ""),
    ),
    (
        organizations.JoinOrganization(**ORGANIZATION),
        {"joined": False},
        None,
        [(MINE, listing({"object": "organization", "id": "org", "title": "O"}))],
        ("unchanged", "", ""),
    ),
    (organizations.JoinOrganization(**ORGANIZATION), {"joined": False}, None, [(MINE, listing())], ("undone", "", "")),
]


@each_case("number", range(len(CASES)))
async def test_present_state_is_compared(number: int) -> None:
    call, former, result, answers, expected = CASES[number]
    inverse = inverse_of(call)
    assert inverse
    found = await inverse.compare(ScriptedService(answers).read, SentWrite(call, former, result, "me"))
    assert (found.state, found.written, found.present) == expected


FORMER: list[tuple[Operation[Any], list[tuple[Operation[Any], Any]], Json | None]] = [
    (POST, [], None),
    (EDIT, [(GET_COMMENT, comment(body={"markdown": " Old "}, status="open"))], {"resolved": False, "text": "Old"}),
    (EDIT, [(GET_COMMENT, comment(body={}, status="open"))], {"resolved": False, "text": ""}),
    (
        REACT,
        [(GET_COMMENT, comment(reactions=[{"emoji": "y", "users": [{"user": {"id": "me"}}]}]))],
        {"reactions": ["y"]},
    ),
    (
        UPDATE_REQUEST,
        [(GET_REQUEST, {"object": "change-request", "id": "5", "status": "draft", "subject": "B"})],
        {"subject": "B", "status": "draft"},
    ),
    (ASK, [(REVIEWERS, listing(reviewer("cy"), reviewer("bo")))], {"users": ["bo", "cy"]}),
    (
        change_requests.RemoveRequestedReviewer(**REQUEST, user_id="ada"),
        [(REVIEWERS, listing(reviewer("bo"), reviewer("ada")))],
        {"users": ["ada", "bo"], "name": "Ada"},
    ),
    (
        sites.PublishSite(**SITE),
        [(GET_SITE, {"object": "site", "id": "site", "title": "Docs"})],
        {"published": False, "title": "Docs"},
    ),
    (
        site_structure.AddSection(**SITE, space_id="x"),
        [structure(group("g", section("s", site_space("a"))), site_space("b"))],
        {"spaces": ["in-a", "in-b"]},
    ),
    (
        site_structure.DeleteSectionGroup(**SITE, site_section_group_id="g"),
        [structure(group("h", group("g", section("s1"), group("i"), section("s2"), icon="x")))],
        {"title": "g", "icon": "x", "parent": "h", "sections": ["s1", "s2"], "others": 1},
    ),
    (
        site_structure.DeleteSectionGroup(**SITE, site_section_group_id="g"),
        [structure(group("g"))],
        {"title": "g", "icon": None, "parent": None, "sections": [], "others": 0},
    ),
    (site_structure.DeleteSectionGroup(**SITE, site_section_group_id="g"), [structure(section("g"))], None),
    (
        UPDATE_REDIRECT,
        [(FOUND_REDIRECTS.model_copy(update={"search": "/b"}), listing(redirect()))],
        {"source": "/a", "destination": EXTERNAL},
    ),
    (DELETE_REDIRECT, [(REDIRECTS, listing(redirect("x"), redirect()))], {"source": "/a", "destination": EXTERNAL}),
    (DELETE_REDIRECT, [(REDIRECTS, listing(redirect("x")))], None),
    (NEW_SCHEMA, [], {"json_schema": None}),
    (NEW_SCHEMA, [(SCHEMA, {"jsonSchema": {"type": "object"}})], {"json_schema": {"type": "object"}}),
    (
        SORT,
        [structure(section("s0"), section("s1"), site_space("s2"))],
        {"previous": {"type": "site-section", "id": "s0"}, "next": {"type": "site-space", "id": "s2"}},
    ),
    (SORT, [structure(group("g", section("s1")))], {"previous": None, "next": None}),
    (SORT, [structure()], None),
    (
        MOVE_SPACE,
        [
            (GET_SPACE, space(parent="p")),
            (ALL_SPACES, listing(space("x"), space("a", parent="p"), space(parent="p"), space("b", parent="p"))),
        ],
        {"parent": "p", "previous": "a", "next": "b"},
    ),
    (
        MOVE_SPACE,
        [(GET_SPACE, space()), (ALL_SPACES, listing(space()))],
        {"parent": None, "previous": None, "next": None},
    ),
    (
        MOVE_SPACE,
        [(GET_SPACE, space()), (ALL_SPACES, listing(space("x")))],
        {"parent": None, "previous": None, "next": None},
    ),
    (
        teams.AddTeamMember(**TEAM, user_id="ada"),
        [(MEMBERS, listing(member("bo"), member("ada", "owner")))],
        {"value": "owner"},
    ),
    (teams.AddTeamMember(**TEAM, user_id="ada"), [(MEMBERS, listing(member("bo")))], {"value": None}),
    (
        teams.UpdateTeamMembers(**TEAM, add=("x",)),
        [(MEMBERS, listing(member("bo"), member("ada", "owner")))],
        {"roles": {"bo": "member", "ada": "owner"}},
    ),
    (organizations.JoinOrganization(**ORGANIZATION), [(MINE, listing())], {"joined": False}),
    (
        pages(page(title="After")),
        [(GET_REQUEST, {"object": "change-request", "id": "5", "revision": "r1"})],
        {"revision": "r1", "places": {}, "orders": []},
    ),
    (
        pages(page(at=0), page(page="p2", into="p3")),
        [
            (GET_REQUEST, {"object": "change-request", "id": "5", "revision": "r1"}),
            (
                content.ListChangeRequestPages(**REQUEST),
                {"pages": [{"id": "p3", "pages": []}, {"id": "p1", "pages": [{"id": "p2"}]}]},
            ),
        ],
        {
            "revision": "r1",
            "places": {"p1": [None, 1], "p2": ["p1", 0]},
            "orders": [[None, ["p3", "p1"]], ["p1", ["p2"]], ["p3", []]],
        },
    ),
]


@each_case("number", range(len(FORMER)))
async def test_former_values_are_read(number: int) -> None:
    call, answers, expected = FORMER[number]
    inverse = inverse_of(call)
    assert inverse
    assert await inverse.former(ScriptedService(answers).read, call, "me") == expected


def test_result_has_the_needed_parts_of_a_response() -> None:
    def kept(call: Operation[Any], answer: Any) -> Json | None:
        inverse = inverse_of(call)
        assert inverse
        return inverse.result(read_answer(call, json.dumps(answer).encode()) if answer is not None else None)

    assert kept(POST, comment()) == {"id": "c1"}
    assert kept(POST, None) is None
    users = {"users": [reviewer("ada")]}
    assert kept(ASK, users) == {"users": ["ada"]}
    assert kept(ASK, None) is None
    assert kept(spaces.DuplicateSpace(space_id="x"), space(revision="r1")) == {
        "id": "api",
        "title": "api",
        "revision": "r1",
    }
    assert kept(spaces.DuplicateSpace(space_id="x"), None) is None
    assert kept(teams.CreateTeam(**ORGANIZATION, title="W"), {"id": "t1", "members": 2}) == {"id": "t1", "members": 2}
    assert kept(site_structure.AddSiteSpace(**SITE, space_id="x"), site_space("a")) == {"id": "a", "path": "a"}
    assert kept(site_structure.AddSection(**SITE, space_id="x"), section("s", site_space("a"))) == {
        "id": "s", "title": "s", "spaces": ["in-a"],
    }  # fmt: skip
