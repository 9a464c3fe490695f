"""Sample writes for the table in `writes.txt`, with the values noted before and after they are sent."""

from __future__ import annotations

from typing import Any

from presscheck.api import (
    agent_instructions,
    change_requests,
    collections,
    comments,
    content_changes,
    invites,
    openapi,
    organizations,
    permissions,
    site_findings,
    site_settings,
    site_structure,
    sites,
    spaces,
    teams,
)
from presscheck.api.operation import Operation
from presscheck.api.roles import CollectionPointer, ContentPosition, MergeRuleChange, MergeRulesChange, SpacePointer

Json = dict[str, Any]
REQUEST = {"space_id": "api", "change_request_id": "5"}
THREAD = {**REQUEST, "comment_id": "c1"}
LIVE = {"space_id": "api", "comment_id": "c1"}
ORGANIZATION = {"organization_id": "org"}
SITE = {**ORGANIZATION, "site_id": "site"}
TEAM = {**ORGANIZATION, "team_id": "t1"}
LONG = "A title that is longer than what fits into a line of the outbox, much longer than that"
CREATED = {"id": "new"}
NODES = {"object": "document", "nodes": []}


def text(markdown: str) -> comments.Document:
    return comments.Document(markdown=markdown)


def pages(*changes: Any) -> content_changes.EditChangeRequestContent:
    return content_changes.EditChangeRequestContent(**REQUEST, changes=changes)


def page(**fields: Any) -> content_changes.UpdatePage:
    return content_changes.UpdatePage(page=fields.pop("page", "p1"), **fields)


def edited(changes: int, **places: list[Any]) -> tuple[Json, Json]:
    """Return the former values noted for an edit of pages, and the result kept of its response."""
    return {"revision": "r1", "places": places, "orders": []}, {"revision": "r2", "pages": [None] * changes}


def target(kind: Any, **fields: str) -> site_settings.RedirectDestination:
    return site_settings.RedirectDestination(kind=kind, **fields)


EXTERNAL = {"kind": "external", "url": "https://a.example/x"}
ITEM = site_structure.StructureItemPointer(type="site-section", id="s1")
BESIDE = site_structure.StructurePosition(after=site_structure.StructureItemPointer(type="site-space", id="s2"))
AFTER_SPACE = ContentPosition(after=SpacePointer(space="guides"))
BEFORE_COLLECTION = ContentPosition(before=CollectionPointer(collection="product"))
RULES = MergeRulesChange(type="rules", rules=(MergeRuleChange(rule="require_at_least_one_review"),))


def item_of(kind: Any) -> site_structure.StructureItemPointer:
    return site_structure.StructureItemPointer(type=kind, id="x")


SAMPLES: list[tuple[Operation[Any], Json | None, Json | None]] = [
    # comments
    (comments.PostComment(**REQUEST, body=text("Hello *you*"), page="p1"), None, CREATED),
    (comments.PostComment(**REQUEST, body=text(LONG)), None, None),
    (comments.PostReply(**THREAD, body=text("Yes")), None, CREATED),
    (comments.PostSpaceComment(space_id="api", body=text("Live")), None, CREATED),
    (comments.PostSpaceReply(**LIVE, body=text("Yes")), None, CREATED),
    (comments.DeleteSpaceComment(**LIVE), None, None),
    (comments.UpdateComment(**THREAD, body=text("New")), {"text": "Old"}, None),
    (comments.UpdateComment(**THREAD, body=text("New ")), {"text": "New"}, None),
    (comments.UpdateComment(**THREAD, body=text("New")), None, None),
    (comments.UpdateComment(**THREAD, body=text("New")), {"resolved": True}, None),
    (comments.UpdateComment(**THREAD, resolved=True), {"resolved": False}, None),
    (comments.UpdateComment(**THREAD, resolved=False), {"resolved": True}, None),
    (comments.UpdateComment(**THREAD, resolved=True), {"resolved": True}, None),
    (comments.UpdateComment(**THREAD, added_reactions=("1f44d",)), {"reactions": []}, None),
    (comments.UpdateComment(**THREAD, removed_reactions=("1f44d",)), {"reactions": ["1f44d"]}, None),
    (
        comments.UpdateComment(**THREAD, added_reactions=("1", "2"), removed_reactions=("3",)),
        {"reactions": ["2", "3"]},
        None,
    ),
    (
        comments.UpdateComment(**THREAD, body=text("New"), resolved=True),
        {"resolved": False, "text": "Old"},
        None,
    ),
    (comments.UpdateComment(**THREAD), {}, None),
    (comments.UpdateReply(**THREAD, comment_reply_id="r1", body=text("New")), {"text": "Old"}, None),
    (comments.UpdateSpaceComment(**LIVE, resolved=True), {"resolved": False}, None),
    (comments.UpdateSpaceReply(**LIVE, comment_reply_id="r1", body=text("New")), {"text": "Old"}, None),
    # change requests
    (change_requests.CreateChangeRequest(space_id="api", subject="Rewrite"), None, CREATED),
    (change_requests.CreateChangeRequest(space_id="api"), None, None),
    (change_requests.UpdateChangeRequest(**REQUEST, subject=LONG), {"subject": "Before"}, None),
    (change_requests.UpdateChangeRequest(**REQUEST, subject="After"), {"subject": None}, None),
    (change_requests.UpdateChangeRequest(**REQUEST, status="archived"), {"status": "open"}, None),
    (change_requests.UpdateChangeRequest(**REQUEST, status="open"), {"status": "archived"}, None),
    (change_requests.UpdateChangeRequest(**REQUEST, status="open"), {"status": "draft"}, None),
    (change_requests.UpdateChangeRequest(**REQUEST, status=None), None, None),
    (change_requests.UpdateChangeRequest(**REQUEST, status="draft"), {"status": "open"}, None),
    (
        change_requests.UpdateChangeRequest(**REQUEST, subject="After", description=NODES),
        {"subject": "Before", "description": None},
        None,
    ),
    (change_requests.UpdateChangeRequest(**REQUEST), {}, None),
    (change_requests.SubmitReview(**REQUEST, status="approved"), None, None),
    (change_requests.SubmitReview(**REQUEST, status="changes-requested"), None, None),
    (change_requests.PullChangeRequest(**REQUEST), None, None),
    (change_requests.MergeChangeRequest(**REQUEST), None, None),
    (change_requests.RequestReviewers(**REQUEST, users=("ada", "bo")), {"users": ["ada"]}, None),
    (change_requests.RequestReviewers(**REQUEST, users=("ada", "bo", "cy")), {"users": []}, {"users": ["ada", "cy"]}),
    (change_requests.RequestReviewers(**REQUEST, users=("ada",)), {"users": ["ada"]}, None),
    (change_requests.RequestReviewers(**REQUEST, users=("ada",)), None, None),
    (
        change_requests.RemoveRequestedReviewer(**REQUEST, user_id="ada"),
        {"users": ["ada", "bo"], "name": "Ada"},
        None,
    ),
    (change_requests.RemoveRequestedReviewer(**REQUEST, user_id="ada"), {"users": ["ada"], "name": ""}, None),
    (change_requests.RemoveRequestedReviewer(**REQUEST, user_id="ada"), {"users": ["bo"], "name": ""}, None),
    # pages
    (pages(page(title="After")), *edited(1)),
    (pages(page(icon="star")), *edited(1)),
    (pages(page(no_index=True)), *edited(1)),
    (pages(page(no_robots_index=True)), *edited(1)),
    (pages(page(document=text("x"))), *edited(1)),
    (pages(page(title="After", icon="star")), *edited(1)),
    (pages(page(hidden=True)), *edited(1)),
    (pages(page(hidden=False)), *edited(1)),
    (pages(page(into=None, at=0)), *edited(1, p1=["p0", 2])),
    (pages(page(at=0)), *edited(1)),
    (pages(page(at=0, title="After")), *edited(1, p1=[None, 1])),
    (
        pages(page(into=None, at=2), page(page="p2", into=None, at=0)),
        {
            "revision": "r1",
            "places": {"p1": [None, 0], "p2": ["p3", 0]},
            "orders": [[None, ["p1", "p3", "p4"]], ["p3", ["p2"]]],
        },
        {"revision": "r2", "pages": [None, None]},
    ),
    (pages(page(hidden=True), page(page="p2", hidden=True)), *edited(2)),
    (pages(page(title="A"), page(icon="star")), *edited(2)),
    (pages(content_changes.InsertPage(title="New", document=text("x"))), *edited(0)),
    (
        pages(content_changes.InsertPage(title="New", document=text("x")), page(title="B")),
        edited(0)[0],
        {"revision": "r2", "pages": ["p9", "p1"]},
    ),
    (pages(content_changes.InsertPage(document=text("x"))), edited(0)[0], {"revision": "r2", "pages": ["p9"]}),
    (pages(content_changes.DeletePage(page="p1")), *edited(1)),
    (pages(content_changes.DeletePage(page="p1"), content_changes.DeletePage(page="p2")), *edited(2)),
    (pages(content_changes.RevertPage(page="p1", revision="r0")), *edited(1)),
    (pages(content_changes.RevertPage(page="p1"), content_changes.RevertPage(page="p2")), *edited(2)),
    (
        pages(
            content_changes.InsertPage(title="A", document=text("x")),
            content_changes.InsertPage(title="B", document=text("y")),
        ),
        edited(0)[0],
        {"revision": "r2", "pages": ["p8", "p9"]},
    ),
    (pages(page(title="A", into="p0")), *edited(1, p1=[None, 1])),
    (pages(page(page="p2", at=0), page(icon="star")), *edited(2, p2=["p0", 4])),
    (
        pages(content_changes.InsertFiles(files=(content_changes.NewFile(name="a", url="https://a.example/a"),))),
        *edited(1),
    ),
    (pages(page(title="After")), None, None),
    (pages(page(title="After")), edited(1)[0], None),
    # spaces and collections
    (spaces.UpdateSpace(space_id="api", edit_mode="locked"), {"edit_mode": "live"}, None),
    (spaces.UpdateSpace(space_id="api", edit_mode="live"), {"edit_mode": "locked"}, None),
    (spaces.UpdateSpace(space_id="api", title="After"), {"title": "Before"}, None),
    (spaces.UpdateSpace(space_id="api", title=None), {"title": "Before"}, None),
    (
        spaces.UpdateSpace(space_id="api", default_level="read", merge_rules=RULES),
        {"default_level": "inherit", "merge_rules": {"type": "inherit"}},
        None,
    ),
    (spaces.UpdateSpace(space_id="api", merge_rules=RULES), {"merge_rules": {"type": "none"}}, None),
    (
        spaces.UpdateSpace(space_id="api", merge_rules=RULES),
        {
            "merge_rules": {
                "type": "rules",
                "rules": [
                    {"rule": "require_specific_reviewers", "users": ["ada", "bo"]},
                    {"rule": "custom", "expression": "x > 1"},
                ],
            }
        },
        None,
    ),
    (spaces.UpdateSpace(space_id="api"), {}, None),
    (spaces.CreateSpace(**ORGANIZATION, title="Made"), None, {"id": "new", "title": "Made", "revision": "r1"}),
    (spaces.CreateSpace(**ORGANIZATION), None, CREATED),
    (spaces.DuplicateSpace(space_id="api"), None, {"id": "new", "title": "Copy", "revision": "r1"}),
    (spaces.DeleteSpace(space_id="api"), None, None),
    (spaces.RestoreSpace(space_id="api"), None, None),
    (spaces.MoveSpace(space_id="api", parent="product"), {"parent": None, "previous": "a", "next": "b"}, None),
    (spaces.MoveSpace(space_id="api", parent=None), {"parent": "product", "previous": None, "next": "b"}, None),
    (spaces.MoveSpace(space_id="api", parent="product"), {"parent": "product", "previous": None, "next": None}, None),
    (spaces.MoveSpace(space_id="api", position=AFTER_SPACE), {"parent": None, "previous": "a", "next": None}, None),
    (spaces.MoveSpace(space_id="api", position=AFTER_SPACE), {"parent": None, "previous": None, "next": None}, None),
    (spaces.MoveSpace(space_id="api", position=AFTER_SPACE), None, None),
    (collections.CreateCollection(**ORGANIZATION, title="Made"), None, CREATED),
    (collections.CreateCollection(**ORGANIZATION), None, None),
    (collections.UpdateCollection(collection_id="product", title="After"), {"title": "Before"}, None),
    (
        collections.UpdateCollection(collection_id="product", description="x", default_level=None),
        {"description": None, "default_level": "read"},
        None,
    ),
    (
        collections.MoveCollection(collection_id="product", parent="a"),
        {"parent": "b", "previous": None, "next": "c"},
        None,
    ),
    (
        collections.MoveCollection(collection_id="product", position=BEFORE_COLLECTION),
        {"parent": "b", "previous": "a", "next": "c"},
        None,
    ),
    # sites
    (sites.CreateSite(**ORGANIZATION, title="Docs"), None, CREATED),
    (sites.UpdateSite(**SITE, title="After"), {"title": "Before"}, None),
    (sites.UpdateSite(**SITE, basename="docs"), {"basename": None}, None),
    (sites.UpdateSite(**SITE, default_site_section="s2"), {"default_site_section": "s1"}, None),
    (sites.UpdateSite(**SITE, default_site_space="s2"), {"default_site_space": None}, None),
    (
        sites.UpdateSite(**SITE, adaptive_content=sites.AdaptiveContentChange(enabled=True)),
        {"adaptive_content": {"enabled": False}},
        None,
    ),
    (
        sites.UpdateSite(**SITE, adaptive_content=sites.AdaptiveContentChange(enabled=False)),
        {"adaptive_content": {"enabled": True}},
        None,
    ),
    (
        sites.UpdateSite(**SITE, visibility="public", agents_context="included"),
        {"visibility": "unlisted", "agents_context": "excluded"},
        None,
    ),
    (sites.PublishSite(**SITE), {"published": False, "title": "Docs"}, None),
    (sites.PublishSite(**SITE), {"published": True, "title": "Docs"}, None),
    (sites.UnpublishSite(**SITE), {"published": True, "title": "Docs"}, None),
    (sites.UnpublishSite(**SITE), None, None),
    (site_structure.AddSiteSpace(**SITE, space_id="api"), None, {"id": "new", "path": "api"}),
    (site_structure.AddSiteSpace(**SITE, space_id="api"), None, None),
    (site_structure.UpdateSiteSpace(**SITE, site_space_id="s1", path="after"), {"path": "before"}, None),
    (site_structure.DeleteSiteSpace(**SITE, site_space_id="s1"), None, None),
    (
        site_structure.AddSection(**SITE, space_id="api", title="Guides"),
        {"spaces": ["a"]},
        {"id": "new", "title": "Guides", "spaces": ["api"]},
    ),
    (
        site_structure.AddSection(**SITE, space_id="api"),
        {"spaces": ["api"]},
        {"id": "new", "title": "G", "spaces": ["api"]},
    ),
    (site_structure.AddSection(**SITE, space_id="api"), None, {"id": "new", "title": "G", "spaces": ["api"]}),
    (site_structure.AddSection(**SITE, space_id="api"), None, None),
    (site_structure.UpdateSection(**SITE, site_section_id="s1", title="After"), {"title": "Before"}, None),
    (
        site_structure.UpdateSection(**SITE, site_section_id="s1", default_site_space="s2"),
        {"default_site_space": None},
        None,
    ),
    (site_structure.DeleteSection(**SITE, site_section_id="s1"), None, None),
    (site_structure.AddSectionGroup(**SITE, title="All"), None, CREATED),
    (site_structure.AddSectionGroup(**SITE, title="All"), None, None),
    (site_structure.UpdateSectionGroup(**SITE, site_section_group_id="g1", title="After"), {"title": "Before"}, None),
    (
        site_structure.UpdateSectionGroup(**SITE, site_section_group_id="g1", icon="x", title="T"),
        {"icon": None, "title": "T"},
        None,
    ),
    (
        site_structure.DeleteSectionGroup(**SITE, site_section_group_id="g1"),
        {"title": "All", "icon": "x", "parent": None, "sections": ["s1", "s2"], "others": 0},
        None,
    ),
    (
        site_structure.DeleteSectionGroup(**SITE, site_section_group_id="g1"),
        {"title": "All", "icon": None, "parent": "g0", "sections": [], "others": 1},
        None,
    ),
    (site_structure.DeleteSectionGroup(**SITE, site_section_group_id="g1"), None, None),
    (
        site_structure.SortSiteStructure(**SITE, item=ITEM, position=BESIDE),
        {"previous": {"type": "site-space", "id": "s0"}, "next": None},
        None,
    ),
    (
        site_structure.SortSiteStructure(**SITE, item=ITEM, position=BESIDE),
        {"previous": None, "next": {"type": "site-space", "id": "s3"}},
        None,
    ),
    (site_structure.SortSiteStructure(**SITE, item=ITEM, position=BESIDE), {"previous": None, "next": None}, None),
    (site_structure.SortSiteStructure(**SITE, item=ITEM, position=BESIDE), None, None),
    *(
        (site_structure.SortSiteStructure(**SITE, item=item_of(kind), position=BESIDE), None, None)
        for kind in ("site-space", "site-section-group", "site-external-link")
    ),
    (
        site_settings.CreateRedirect(**SITE, source="/a", destination=target("external", url="https://a.example/x")),
        None,
        CREATED,
    ),
    (
        site_settings.CreateRedirect(**SITE, source="/a", destination=target("site-space", site_space_id="s")),
        None,
        None,
    ),
    (
        site_settings.UpdateRedirect(**SITE, site_redirect_id="r1", source="/b"),
        {"source": "/a", "destination": EXTERNAL},
        None,
    ),
    (
        site_settings.UpdateRedirect(
            **SITE, site_redirect_id="r1", destination=target("site-section", site_section_id="s1")
        ),
        {"source": "/a", "destination": {"kind": "site-page", "site_space_id": "s", "page_id": "p"}},
        None,
    ),
    (
        site_settings.UpdateRedirect(**SITE, site_redirect_id="r1", source="/a"),
        {"source": "/a", "destination": EXTERNAL},
        None,
    ),
    (site_settings.UpdateRedirect(**SITE, site_redirect_id="r1", source="/a"), None, None),
    (site_settings.DeleteRedirect(**SITE, site_redirect_id="r1"), {"source": "/a", "destination": EXTERNAL}, None),
    (site_settings.DeleteRedirect(**SITE, site_redirect_id="r1"), None, None),
    (site_findings.UpdateSiteFinding(**SITE, site_finding_id="f1", status="done"), {"status": "open"}, None),
    (site_findings.UpdateSiteFinding(**SITE, site_finding_id="f1", status="open"), {"status": "canceled"}, None),
    (site_findings.UpdateSiteFinding(**SITE, site_finding_id="f1", status="canceled"), {"status": "done"}, None),
    (site_settings.CreateShareLink(**SITE, name="Press"), None, CREATED),
    (site_settings.CreateShareLink(**SITE, name="Press"), None, None),
    (site_settings.UpdateShareLink(**SITE, share_link_id="l1", active=False), {"active": True}, None),
    (site_settings.UpdateShareLink(**SITE, share_link_id="l1", active=True), {"active": False}, None),
    (site_settings.UpdateShareLink(**SITE, share_link_id="l1", name="After"), {"name": None}, None),
    (site_settings.DeleteShareLink(**SITE, share_link_id="l1"), None, None),
    (
        site_settings.UpdateAdaptiveSchema(**SITE, json_schema={"type": "object"}),
        {"json_schema": {"type": "object", "properties": {"plan": {"type": "string"}}}},
        None,
    ),
    (
        site_settings.UpdateAdaptiveSchema(**SITE, json_schema={"type": "object"}),
        {"json_schema": {"type": "object"}},
        None,
    ),
    (site_settings.UpdateAdaptiveSchema(**SITE, json_schema={"type": "object"}), {"json_schema": None}, None),
    (site_settings.UpdateAdaptiveSchema(**SITE, json_schema={"type": "object"}), None, None),
    (site_settings.RegeneratePublishingAuth(**SITE), None, None),
    # people
    (organizations.UpdateMember(**ORGANIZATION, user_id="ada", role="edit"), {"role": "read"}, None),
    (organizations.UpdateMember(**ORGANIZATION, user_id="ada", role=None), {"role": "read"}, None),
    (organizations.UpdateOrganization(**ORGANIZATION, title="After"), {"title": "Before"}, None),
    (
        organizations.UpdateOrganization(**ORGANIZATION, sso=True, ai=True, invite_links=False),
        {"sso": False, "ai": False, "invite_links": True},
        None,
    ),
    (
        organizations.UpdateOrganization(**ORGANIZATION, email_domains=("a.example",)),
        {"email_domains": ["b", "c"]},
        None,
    ),
    (organizations.UpdateOrganization(**ORGANIZATION, email_domains=("a.example",)), {"email_domains": []}, None),
    (organizations.JoinOrganization(**ORGANIZATION), {"joined": False}, None),
    (organizations.JoinOrganization(**ORGANIZATION), {"joined": True}, None),
    (organizations.JoinOrganization(**ORGANIZATION), None, None),
    (
        agent_instructions.UpdateAgentInstructions(**ORGANIZATION, instructions={**NODES, "data": {}}),
        {"instructions": NODES},
        None,
    ),
    (teams.CreateTeam(**ORGANIZATION, title="Writers"), None, {"id": "new", "members": 0}),
    (teams.CreateTeam(**ORGANIZATION, title="Writers"), None, CREATED),
    (teams.UpdateTeam(**TEAM, title="After"), {"title": "Before"}, None),
    (teams.AddTeamMember(**TEAM, user_id="ada"), {"value": None}, None),
    (teams.AddTeamMember(**TEAM, user_id="ada"), {"value": "member"}, None),
    (teams.AddTeamMember(**TEAM, user_id="ada", role="owner"), {"value": "member"}, None),
    (teams.RemoveTeamMember(**TEAM, user_id="ada"), {"value": "owner"}, None),
    (teams.RemoveTeamMember(**TEAM, user_id="ada"), {"value": None}, None),
    (
        teams.UpdateTeamMembers(**TEAM, add=("ada", "bo"), remove=("cy",)),
        {"roles": {"bo": "owner", "cy": "owner"}},
        None,
    ),
    (
        teams.UpdateTeamMembers(**TEAM, memberships={"bo": teams.Membership(role="owner")}),
        {"roles": {"bo": "member"}},
        None,
    ),
    (teams.UpdateTeamMembers(**TEAM, add=("ada", "bo")), {"roles": {}}, None),
    (teams.UpdateTeamMembers(**TEAM, add=("bo",)), {"roles": {"bo": "owner"}}, None),
    (teams.UpdateTeamMembers(**TEAM, remove=("a@example.org",)), {"roles": {}}, None),
    (teams.UpdateTeamMembers(**TEAM, remove=("ada",)), None, None),
    (
        permissions.UpdateCollectionTeamPermission(collection_id="product", team_id="t1", role="edit"),
        {"value": None},
        None,
    ),
    (
        permissions.UpdateCollectionTeamPermission(collection_id="product", team_id="t1", role=None),
        {"value": "edit"},
        None,
    ),
    (permissions.RemoveCollectionTeamPermission(collection_id="product", team_id="t1"), {"value": "edit"}, None),
    (permissions.RemoveCollectionTeamPermission(collection_id="product", team_id="t1"), None, None),
    (
        permissions.UpdateCollectionUserPermission(collection_id="product", user_id="ada", role="edit"),
        {"value": None},
        None,
    ),
    (permissions.RemoveCollectionUserPermission(collection_id="product", user_id="ada"), {"value": "edit"}, None),
    (permissions.UpdateSpaceUserPermission(space_id="api", user_id="ada", role="edit"), None, None),
    (permissions.UpdateSiteUserPermission(**SITE, user_id="ada", role="edit"), {"value": None}, None),
    (permissions.RemoveSiteTeamPermission(**SITE, team_id="t1"), {"value": "edit"}, None),
    (permissions.UpdateSiteTeamPermission(**SITE, team_id="t1", role="edit"), {"value": "read"}, None),
    (permissions.RemoveSiteUserPermission(**SITE, user_id="ada"), {"value": "edit"}, None),
    (permissions.InviteToSpace(space_id="api", users=("ada",), role="edit"), None, None),
    (invites.CreateInvite(**ORGANIZATION, role="read"), None, CREATED),
    (invites.CreateInvite(**ORGANIZATION, role="read"), None, None),
    (invites.UpdateInvite(**ORGANIZATION, invite_id="i1", role="edit"), {"role": "read"}, None),
    (openapi.UpdateOpenAPISpec(**ORGANIZATION, spec_slug="api", visibility="public"), {"visibility": "private"}, None),
]
"""Writes, the values that they replace, and the parts of the response that are kept."""
