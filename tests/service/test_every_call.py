"""All 200 calls, said by the real client: each is answered with its declared type, or is not supported."""

from __future__ import annotations

import base64
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
from tests.api.test_families import filled
from tests.running_service import RunningService

from presscheck.api.operation import Operation, answer_reader, every_operation, revive
from presscheck.client.client import Client
from presscheck.errors import NotSupported
from presscheck.service.database import Database
from presscheck.service.founding import bring_in
from presscheck.service.handlers import all_handlers
from presscheck.service.identity import new_id, system_clock
from presscheck.service.tables import MemberRow, OrganizationRow, UserRow

NOW = "2026-05-20T09:30:00.000Z"
BOOK = {
    "SUMMARY.md": "# The Lamp Book\n\n* [Home](README.md)\n* [Start](start.md)\n",
    "README.md": "# Home\n\nSee [Start](start.md).\n",
    "start.md": '# Start\n\n![Sky](.gitbook/assets/sky.svg)\n\n{% include ".gitbook/includes/note.md" %}\n',
    ".gitbook/assets/sky.svg": '<svg xmlns="http://www.w3.org/2000/svg"/>',
    ".gitbook/includes/note.md": "---\ntitle: A note\n---\nMind the step.\n",
}


class Talk:
    """Says calls by their stored names, and keeps which were answered."""

    def __init__(self, client: Client, owner: str, member: str, elsewhere: str) -> None:
        self.client, self.owner, self.member, self.elsewhere = client, owner, member, elsewhere
        self.answered: set[type[Operation[Any]]] = set()

    async def __call__(self, name: str, **given: Any) -> Any:
        call = revive(name, given)
        answer = await self.client.send(call)
        if type(call).answer is None:
            assert answer is None
        else:
            answer_reader(type(call)).validate_python(answer, strict=False)
        self.answered.add(type(call))
        return answer


@pytest.fixture
async def say(tmp_path: Path) -> AsyncIterator[Talk]:
    for name, text in BOOK.items():
        (tmp_path / "book" / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / "book" / name).write_text(text)
    service = RunningService(tmp_path)
    database = Database(service.database_url)
    with database.writing.begin() as session:
        owner = session.get_one(UserRow, service.owner_id)
        assert bring_in(session, system_clock, owner, tmp_path, (tmp_path / "book",)) == []
        home = session.query(OrganizationRow).one()
        elsewhere = OrganizationRow(id=new_id(), title="Other", created_at=NOW)
        member = UserRow(id=new_id(), display_name="Member", email="member@example.org", created_at=NOW)
        session.add_all((elsewhere, member))
        for organization, user, role in ((elsewhere, owner, "admin"), (home, member, "edit")):
            session.add(MemberRow(organization_id=organization.id, user_id=user.id, role=role, joined_at=NOW))
        ids = member.id, elsewhere.id
    database.close()
    service.start()
    async with Client(service.base_url, service.token) as client:
        yield Talk(client, service.owner_id, *ids)
    service.stop()


async def people(say: Talk) -> str:
    """Who we are; the organization."""
    assert (await say("users.GetCurrentUser")).id == say.owner
    await say("users.GetUser", user_id=say.member)
    listed = await say("organizations.ListOrganizations")
    org = next(one.id for one in listed.items if one.id != say.elsewhere)
    at = {"organization_id": org}
    for name in ("GetOrganization", "ListMembers"):
        await say(f"organizations.{name}", **at)
    await say("organizations.SearchOrganization", **at, query="step")
    await say("organizations.GetMember", **at, user_id=say.member)
    await say("organizations.UpdateMember", **at, user_id=say.member, role="review")
    await say("organizations.UpdateOrganization", **at, title="Lamps")
    return org


async def content(say: Talk, space: str) -> None:
    """What a space holds."""
    at = {"space_id": space}
    await say("spaces.GetSpace", **at)
    await say("spaces.SearchSpace", **at, query="step")
    revision = await say("content.GetCurrentRevision", **at)
    then = {**at, "revision_id": revision.id}
    page, file = revision.pages[0], (await say("content.ListFiles", **at)).items[0]
    await say("content.ListPages", **at)
    await say("content.GetPage", **at, page_id=page.id)
    await say("content.GetPageByPath", **at, page_path=page.path)
    await say("content.GetFile", **at, file_id=file.id)
    await say("content.GetReusableContent", **at, reusable_content_id=revision.reusable_contents[0].id)
    for name in ("GetRevision", "ListRevisionPages", "ListRevisionFiles"):
        await say(f"content.{name}", **then)
    await say("content.GetRevisionPage", **then, page_id=page.id)
    await say("changes.GetRevisionChanges", **then)


async def change_request(say: Talk, org: str, space: str) -> None:
    """A change, from its first word to its merge."""
    begun = await say("change_requests.CreateChangeRequest", space_id=space, subject="Light")
    at = {"space_id": space, "change_request_id": begun.id}
    text = base64.b64encode(b"x").decode()
    changes = [
        {"operation": "insert_page", "document": {"markdown": "# New\n\nLight.\n"}},
        {"operation": "insert_files", "files": [{"name": "a.txt", "base64": text, "content_type": "text/plain"}]},
    ]
    await say("changes.EditChangeRequestContent", **at, changes=changes, compat=False)
    await say("change_requests.UpdateChangeRequest", **at, status="open")
    for name in ("GetChangeRequest", "ListContributors", "PullChangeRequest"):
        await say(f"change_requests.{name}", **at)
    await say("change_requests.ListChangeRequests", space_id=space)
    await say("change_requests.ListOrganizationChangeRequests", organization_id=org)
    await say("changes.GetChangeRequestChanges", **at)
    await change_request_content(say, at)
    await talk(say, at)
    await verdicts(say, at)
    assert (await say("change_requests.MergeChangeRequest", **at)).result == "merge"


async def change_request_content(say: Talk, at: dict[str, str]) -> None:
    """What a change request holds."""
    revision = await say("content.GetChangeRequestRevision", **at)
    page = (await say("content.ListChangeRequestPages", **at)).pages[0]
    file = (await say("content.ListChangeRequestFiles", **at)).items[0]
    await say("content.GetChangeRequestPage", **at, page_id=page.id)
    await say("content.GetChangeRequestPageByPath", **at, page_path=page.path)
    await say("content.GetChangeRequestFile", **at, file_id=file.id)
    snippet = revision.reusable_contents[0].id
    await say("content.GetChangeRequestReusableContent", **at, reusable_content_id=snippet)


async def talk(say: Talk, at: dict[str, str], kind: str = "") -> None:
    """Comments and replies; `kind` is Space for those on a space itself."""
    posted = await say(f"comments.Post{kind}Comment", **at, body={"markdown": "Really?"})
    there = {**at, "comment_id": posted.id}
    await say(f"comments.List{kind}Comments", **at)
    await say(f"comments.Get{kind}Comment", **there)
    await say(f"comments.Update{kind}Comment", **there, resolved=True)
    reply = await say(f"comments.Post{kind}Reply", **there, body={"markdown": "Yes."})
    await say(f"comments.List{kind}Replies", **there)
    if not kind:
        below = {**there, "comment_reply_id": reply.id}
        await say("comments.GetReply", **below)
        await say("comments.UpdateReply", **below, body={"markdown": "Yes!"})
        await say("comments.DeleteReply", **below)
        await say("change_requests.ListCommenters", **at)
    await say(f"comments.Delete{kind}Comment", **there)


async def verdicts(say: Talk, at: dict[str, str]) -> None:
    """Reviewers and reviews."""
    await say("change_requests.RequestReviewers", **at, users=[say.member])
    await say("change_requests.ListRequestedReviewers", **at)
    await say("change_requests.RemoveRequestedReviewer", **at, user_id=say.member)
    review = await say("change_requests.SubmitReview", **at, status="approved")
    await say("change_requests.ListReviews", **at)
    await say("change_requests.GetReview", **at, review_id=review.id)


async def collections(say: Talk, org: str) -> None:
    """Collections."""
    top = await say("collections.CreateCollection", organization_id=org, title="Top")
    inner = await say("collections.CreateCollection", organization_id=org, title="Inner", parent=top.id)
    at = {"collection_id": inner.id}
    await say("collections.ListCollections", organization_id=org)
    await say("collections.GetCollection", **at)
    await say("collections.ListSpacesInCollection", **at)
    await say("collections.UpdateCollection", **at, title="Within")
    await say("collections.MoveCollection", **at, parent=None)
    await say("collections.TransferCollection", **at, organization=say.elsewhere)
    await say("collections.DeleteCollection", collection_id=top.id)


async def sites(say: Talk, org: str, spaces: list[str]) -> None:
    """A site, built, published and taken away."""
    site = await say("sites.CreateSite", organization_id=org, title="Lamps", spaces=spaces[:1])
    at = {"organization_id": org, "site_id": site.id}
    await say("sites.ListSites", organization_id=org)
    await say("sites.GetSite", **at)
    await say("sites.UpdateSite", **at, title="All lamps")
    added = await say("site_structure.AddSiteSpace", **at, space_id=spaces[1])
    await say("site_structure.ListSiteSpaces", **at)
    await say("site_structure.UpdateSiteSpace", **at, site_space_id=added.id, path="second")
    await say("site_structure.DeleteSiteSpace", **at, site_space_id=added.id)
    section = await say("site_structure.AddSection", **at, space_id=spaces[1], title="Second")
    third = await say("site_structure.AddSection", **at, space_id=spaces[2], title="Third")
    group = await say("site_structure.AddSectionGroup", **at, title="Group", sections=[third.id])
    for name in ("GetSiteStructure", "ListSections", "ListSectionGroups"):
        await say(f"site_structure.{name}", **at)
    await say("site_structure.UpdateSection", **at, site_section_id=section.id, title="The second")
    await say("site_structure.UpdateSectionGroup", **at, site_section_group_id=group.id, title="Groups")
    moved = {"type": "site-section", "id": section.id}
    after = {"after": {"type": "site-section-group", "id": group.id}}
    await say("site_structure.SortSiteStructure", **at, item=moved, position=after)
    await say("site_structure.DeleteSectionGroup", **at, site_section_group_id=group.id)
    await say("site_structure.DeleteSection", **at, site_section_id=section.id)
    await say("sites.PublishSite", **at)
    await say("sites.GetPublishedSite", **at)
    await say("sites.UnpublishSite", **at)
    await say("sites.DeleteSite", **at)


async def spaces(say: Talk, org: str) -> list[str]:
    """Spaces, made, moved, copied, thrown away and given away; three that stay."""
    made = await say("spaces.CreateSpace", organization_id=org, title="Made")
    at = {"space_id": made.id}
    await say("spaces.UpdateSpace", **at, title="Named")
    await say("spaces.MoveSpace", **at, parent=None)
    copied = await say("spaces.DuplicateSpace", **at)
    await say("spaces.DeleteSpace", space_id=copied.id)
    await say("spaces.RestoreSpace", space_id=copied.id)
    given = await say("spaces.DuplicateSpace", **at)
    await say("spaces.TransferSpace", space_id=given.id, organization=say.elsewhere)
    return [one.id for one in (await say("spaces.ListSpaces", organization_id=org)).items]


async def test_every_call_is_answered_with_its_type_or_is_not_supported(say: Talk) -> None:
    org = await people(say)
    found = await spaces(say, org)
    titles = {(await say("spaces.GetSpace", space_id=one)).title: one for one in found}
    book = titles["The Lamp Book"]
    await content(say, book)
    await change_request(say, org, book)
    await talk(say, {"space_id": book}, "Space")
    await collections(say, org)
    await sites(say, org, found)
    await say("organizations.RemoveMember", organization_id=org, user_id=say.member)

    assert set(all_handlers()) - say.answered == set(), "answered by the service, but not said here"
    for operation in set(every_operation()) - say.answered:
        with pytest.raises(NotSupported, match="does not support that"):
            await say.client.send(filled(operation))
    assert len(every_operation()) == 200
