"""A service with only the operations in its API document: other responses are composed from them."""

from pathlib import Path
from typing import Any

import pytest
from tests.engine.live_engine import engine_on
from tests.running_service import RunningService
from tests.service_users import say

from presscheck.api.change_requests import CreateChangeRequest, GetChangeRequest, ListReviews, UpdateChangeRequest
from presscheck.api.comments import DeleteComment, Document, ListComments, PostComment
from presscheck.api.content import GetCurrentRevision, GetPage, GetRevision, GetRevisionPage, ListPages
from presscheck.api.content_changes import EditChangeRequestContent, GetChangeRequestChanges, UpdatePage
from presscheck.api.organizations import GetMember, ListMembers
from presscheck.api.site_structure import AddSiteSpace, GetSiteStructure
from presscheck.api.sites import GetSite, ListSites, PublishSite
from presscheck.api.spaces import GetSpace, ListSpaces
from presscheck.api.teams import CreateTeam
from presscheck.api.users import GetCurrentUser, User
from presscheck.engine.engine import Engine
from presscheck.engine.reads.substitutes import Substitutes
from presscheck.engine.review.merge_forecast import forecast
from presscheck.engine.review.nearest_request import nearest_request
from presscheck.errors import NotSupported

pytestmark = pytest.mark.service(sample=True, shared=True, release="document")

ORGANIZATION = {"organization_id": "tallowick"}
TYPOS: dict[str, Any] = {"space_id": "guides", "change_request_id": "3"}
GUIDE: dict[str, Any] = {"space_id": "api", "change_request_id": "5"}


async def started(service: RunningService, home: Path, **profile: Any) -> Engine:
    engine = engine_on(service, home, **profile)
    await engine.start()
    return engine


async def test_the_user_is_searched_once(
    service: RunningService, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for home, user in (("other", "MIA@tallowick.example"), ("home", "mia")):
        engine = await started(service, tmp_path / home, user=user)
        assert (await engine.read(GetCurrentUser())).display_name == "Mia Okonkwo"
        await engine.close()
    searched: list[str] = []

    async def search(_: Substitutes, organization: str, _priority: object) -> list[User]:
        searched.append(organization)
        return []

    monkeypatch.setattr(Substitutes, "people", search)
    engine = await started(service, tmp_path / "home", user="Mia Okonkwo")
    assert (await engine.read(GetCurrentUser())).id == "mia"
    assert searched == []
    engine.set_user("noor")
    with pytest.raises(NotSupported, match="No user “noor” is known: check `user` in the settings"):
        await engine.read(GetCurrentUser())
    assert "tallowick" in searched
    await engine.close()


async def test_members_come_from_teams(service: RunningService, tmp_path: Path) -> None:
    [team] = await say(service, service.token, CreateTeam(**ORGANIZATION, title="Writers", members=("noor", "mia")))
    assert team.members == 2
    engine = await started(service, tmp_path)
    assert {member.user.id for member in (await engine.read(ListMembers(**ORGANIZATION))).items} == {"noor", "mia"}
    assert [member.user.id for member in (await engine.read(ListMembers(**ORGANIZATION, search="haddad"))).items] == [
        "noor"
    ]
    assert (await engine.read(GetMember(**ORGANIZATION, user_id="mia"))).user.display_name == "Mia Okonkwo"
    with pytest.raises(NotSupported, match="This service has no list of members, and this person is in no team"):
        await engine.read(GetMember(**ORGANIZATION, user_id="jon"))
    await engine.close()


@pytest.mark.slow
async def test_compared_changes_equal_those_that_a_service_lists(service: RunningService, tmp_path: Path) -> None:
    engine = await started(service, tmp_path)
    changes = await engine.read(GetChangeRequestChanges(**TYPOS))
    [request] = await say(service, service.token, GetChangeRequest(**TYPOS))
    page = changes.changes[0].page
    assert page
    before = await engine.read(
        GetRevisionPage(space_id="guides", revision_id=request.revision_initial, page_id=page.id, format="markdown")
    )
    whole = await engine.read(GetChangeRequestChanges(**GUIDE, limit=100))
    assert (await engine.read(GetChangeRequestChanges(**GUIDE))).more == len(whole.changes) - 10
    await engine.close()
    assert changes.note == "compared with #1, which was merged before"
    assert (whole.note, {change.type for change in whole.changes}) == ("all pages, not compared", {"page_listed"})
    service.stop()
    service.release = None
    service.start()
    try:
        [listed, text] = await say(
            service,
            service.token,
            GetChangeRequestChanges(**TYPOS),
            GetRevisionPage(
                space_id="guides", revision_id=request.revision_initial, page_id=page.id, format="markdown"
            ),
        )
    finally:
        service.stop()
        service.release = "document"
        service.start()
    assert changes.changes == listed.changes
    assert before.markdown == text.markdown


async def test_main_is_readable_while_a_change_request_equals_it(service: RunningService, tmp_path: Path) -> None:
    engine = await started(service, tmp_path)
    with pytest.raises(NotSupported, match="no page content outside change requests, and no change request has this"):
        await engine.read(ListPages(space_id="cli"))
    assert (await nearest_request(engine, "cli")).number == 1, "the one whose merge made main"
    [space] = await say(service, service.token, GetSpace(space_id="cli"))
    [empty] = await say(service, service.token, CreateChangeRequest(space_id="cli", subject="Empty"))
    assert empty.revision == space.revision
    engine._reads._substitutes._holders.clear()  # otherwise the search is repeated only after half a minute
    pages = (await engine.read(ListPages(space_id="cli"))).pages
    assert (await engine.read(GetPage(space_id="cli", page_id=pages[0].id, format="markdown"))).markdown
    assert (await engine.read(GetCurrentRevision(space_id="cli"))).id == space.revision
    assert (await engine.read(GetRevision(space_id="cli", revision_id=space.revision))).pages == pages
    assert (await engine.read(GetChangeRequestChanges(space_id="cli", change_request_id="3"))).note == ""
    archived = UpdateChangeRequest(space_id="cli", change_request_id=empty.id, status="archived")
    await say(service, service.token, archived)
    await engine.close()


async def test_a_revision_is_not_read_from_a_change_request_that_was_edited(
    service: RunningService, tmp_path: Path
) -> None:
    """The engine remembers that the change request has the revision, but an edit has replaced it since."""
    engine = await started(service, tmp_path)
    [empty] = await say(service, service.token, CreateChangeRequest(space_id="notes", subject="Empty"))
    pages = (await engine.read(ListPages(space_id="notes"))).pages
    service.stop()
    service.release = None
    service.start()
    edit = UpdatePage(page=pages[0].id, document=Document(markdown="Other words."))
    await say(
        service,
        service.token,
        EditChangeRequestContent(space_id="notes", change_request_id=empty.id, changes=(edit,)),
    )
    service.stop()
    service.release = "document"
    service.start()
    with pytest.raises(NotSupported):
        await engine.fetch(ListPages(space_id="notes"))
    await engine.close()


async def test_site_structure_is_read_from_the_published_site(service: RunningService, tmp_path: Path) -> None:
    engine = await started(service, tmp_path)
    sites = {site.title: site for site in (await engine.read(ListSites(**ORGANIZATION))).items}
    [live, draft] = sites["Tallowick Docs"], sites["Inside Tallowick"]
    structure = await engine.read(GetSiteStructure(**ORGANIZATION, site_id=live.id))
    assert [item.title for item in structure.structure] == ["Guides", "News", "Developers"]
    with pytest.raises(NotSupported, match="Its structure is shown once it is published"):
        await engine.read(GetSiteStructure(**ORGANIZATION, site_id=draft.id))
    with pytest.raises(NotSupported):
        await engine.read(GetSiteStructure(**ORGANIZATION, site_id="no-such-site"))
    await engine.write(PublishSite(**ORGANIZATION, site_id=draft.id)).landed()
    assert (await engine.read(GetSite(**ORGANIZATION, site_id=draft.id))).published
    await engine.read(GetSiteStructure(**ORGANIZATION, site_id=draft.id))
    await engine.close()


async def test_writes_of_an_unknown_user_are_sent_once(service: RunningService, tmp_path: Path) -> None:
    engine = await started(service, tmp_path)
    await engine.events.poll()
    call = PostComment(**TYPOS, body=Document(markdown="Written by somebody."))
    comment = await engine.write(call).landed()
    listed = (await engine.read(ListComments(**TYPOS, format="markdown"))).items
    assert [(one.body.markdown or "").strip() for one in listed].count("Written by somebody.") == 1
    assert comment
    await engine.events.poll()
    assert engine.events.recent() == (), "own actions could not be told from those of others"
    await engine.write(DeleteComment(**TYPOS, comment_id=comment.id)).landed()
    await engine.close()


async def test_missing_operations_are_detected_and_remembered(service: RunningService, tmp_path: Path) -> None:
    engine = await started(service, tmp_path)
    assert engine.missing_reason(EditChangeRequestContent) is None, "nothing is known yet"
    spaces = {space.id: space for space in (await engine.read(ListSpaces(**ORGANIZATION))).items}
    assert {*spaces} == {"api", "cli", "guides", "handbook", "notes", "runbook"}
    assert [spaces["guides"]] == await say(service, service.token, GetSpace(space_id="guides"))
    assert engine.missing_reason(ListSpaces) == "This service has no list of spaces"
    assert engine.missing_reason(EditChangeRequestContent) is None
    for call in (GetCurrentUser(), ListPages(space_id="guides")):
        with pytest.raises(NotSupported):
            await engine.read(call)
    assert (await engine.read(ListReviews(**TYPOS))).items == ()
    assert engine.missing_reason(EditChangeRequestContent) == "This service has no page editing"
    assert engine.missing_reason(AddSiteSpace) == "This service has no editing of site structure"
    assert engine.missing_reason(PostComment) is None
    await engine.close()
    engine = await started(service, tmp_path)
    assert engine.missing_reason(EditChangeRequestContent) == "This service has no page editing", "at the next start"
    await engine.close()


async def test_a_forecast_needs_exact_revisions(service: RunningService, tmp_path: Path) -> None:
    """A base that is only similar could hide a conflict."""
    engine = await started(service, tmp_path)
    outdated = await engine.read(GetChangeRequest(space_id="runbook", change_request_id="2"))
    assert outdated.outdated
    with pytest.raises(NotSupported, match="no change request has this content"):
        await forecast(engine, outdated)
    current = await engine.read(GetChangeRequest(**TYPOS))
    assert (await forecast(engine, current)) is not None
    await engine.close()
