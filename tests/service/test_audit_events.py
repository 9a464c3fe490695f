"""Audit events: their contents, filters, permissions and retention."""

from __future__ import annotations

from datetime import timedelta
from typing import Any
from uuid import UUID

import pytest
from tests.service.factories import ROLES, World, insert
from tests.service.jobs import until

from presscheck.api.audit_events import AuditEvent, GetAuditEvent, ListAuditEventActions, ListAuditEvents
from presscheck.api.change_requests import CreateChangeRequest, MergeChangeRequest
from presscheck.api.collections import CreateCollection, DeleteCollection
from presscheck.api.comments import Document, PostComment
from presscheck.api.integrations import InstallIntegration, PublishIntegration
from presscheck.api.invites import CreateInvite
from presscheck.api.organizations import UpdateLastSeen, UpdateMember
from presscheck.api.spaces import CreateSpace, DeleteSpace, UpdateSpace
from presscheck.api.teams import AddTeamMember, CreateTeam
from presscheck.errors import Forbidden, InvalidArgument, NotFound, Refused
from presscheck.service.db.engine import Database
from presscheck.service.db.ids import moment_text, new_uuid, system_clock
from presscheck.service.jobs.purge_deleted import AUDITED
from presscheck.service.jobs.worker import HOUSEKEEPING
from presscheck.service.models.jobs import JobRow
from presscheck.service.models.organizations import AuditEventRow


async def events(world: World, **given: Any) -> list[AuditEvent]:
    return [*(await world.admin.send(ListAuditEvents(organization_id=world.organization, **given))).items]


async def details(world: World, event: AuditEvent) -> dict[str, Any]:
    return (await world.admin.send(GetAuditEvent(organization_id=world.organization, audit_event_id=event.id))).payload


async def test_an_event_has_actor_action_and_target(world: World) -> None:
    change = UpdateMember(organization_id=world.organization, user_id=world.users["read"], role="comment")
    await world.admin.send(change)
    [event] = await events(world)
    assert (event.action, event.source) == ("updateMemberInOrganizationById", "api")
    assert (event.actor.type, event.actor.id, event.actor.label) == ("user", world.users["admin"], "Admin")
    assert (event.target.type, event.target.id) == ("member", world.users["read"])
    expected = {"organizationId": world.organization, "userId": world.users["read"], "role": "comment"}
    assert await details(world, event) == expected


async def test_actions_have_the_names_that_the_platform_documents(world: World) -> None:
    at = {"organization_id": world.organization}
    team = await world.admin.send(CreateTeam(**at, title="Writers"))
    await world.admin.send(AddTeamMember(**at, team_id=team.id, user_id=world.users["edit"]))
    names = ["organization.team.member-added", "organization.team.created"]
    assert [event.action for event in await events(world)] == names
    assert len(await events(world, action="organization.team.created")) == 1
    listed = {item.id: item.label for item in (await world.admin.send(ListAuditEventActions(**at))).items}
    assert listed["organization.team.created"] == "Created organization team"
    assert "createOrganizationTeam" not in listed and "createSpace" in listed


async def test_target_of_a_creation_is_the_new_item(world: World) -> None:
    made = await world.clients["edit"].send(CreateChangeRequest(space_id=world.space, subject="Secret plan"))
    [event] = await events(world)
    assert (event.target.type, event.target.id) == ("change-request", made.id)
    assert await details(world, event) == {"spaceId": world.space}


async def test_texts_are_not_recorded(world: World) -> None:
    request = await world.draft("Sesame subject")
    await world.edit(request, insert("Sesame page", "Sesame text"))
    at = {"space_id": world.space, "change_request_id": request.id}
    await world.admin.send(PostComment(**at, body=Document(markdown="Sesame comment")))
    await world.admin.send(UpdateSpace(space_id=world.space, title="Sesame space"))
    await world.admin.send(MergeChangeRequest(**at))
    recorded = await events(world)
    assert len(recorded) == 5
    assert "sesame" not in str([await details(world, event) for event in recorded]).casefold()


async def test_writes_that_change_nothing_are_not_recorded(world: World) -> None:
    at = {"organization_id": world.organization}
    await world.admin.send(UpdateLastSeen(**at))
    await world.admin.send(DeleteCollection(collection_id="never-existed"))
    await world.admin.send(UpdateMember(**at, user_id=world.users["read"], role="read"))
    with pytest.raises(Forbidden):
        await world.clients["read"].send(CreateInvite(**at, role="read"))
    assert await events(world) == []


async def test_deletions_are_recorded_and_events_outlive_their_targets(world: World) -> None:
    at = {"organization_id": world.organization}
    collection = (await world.admin.send(CreateCollection(**at, title="Lamps"))).id
    space = (await world.admin.send(CreateSpace(**at, title="Oil", parent=collection))).id
    await world.admin.send(DeleteSpace(space_id=space))
    await world.admin.send(DeleteCollection(collection_id=collection))
    assert [(event.action, event.target.id) for event in await events(world)] == [
        ("deleteCollectionById", collection),
        ("deleteSpaceById", space),
        ("createSpace", space),
        ("createCollection", collection),
    ]


async def test_changes_of_integrations_belong_to_their_organization(world: World) -> None:
    details = {"title": "Lamp", "description": "Lights", "scopes": (), "script": ""}
    await world.admin.send(PublishIntegration(integration_name="lamp", organization=world.organization, **details))
    await world.admin.send(InstallIntegration(integration_name="lamp", organization=world.organization))
    assert [(event.action, event.target.type) for event in await events(world)] == [
        ("installIntegration", "installation"),
        ("publishIntegration", "integration"),
    ]


async def test_events_are_filtered_by_action_actor_target_and_time(world: World) -> None:
    first = await world.draft(by="admin")
    second = await world.draft(by="edit")
    both = await events(world)
    assert [event.target.id for event in both] == [second.id, first.id]
    assert [event.target.id for event in await events(world, actor=world.users["edit"])] == [second.id]
    assert [event.target.id for event in await events(world, target=first.id)] == [first.id]
    assert await events(world, action="deleteSpaceById") == []
    assert len(await events(world, action="createChangeRequest")) == 2
    assert await events(world, since=both[0].occurred_at) == both[: 1 + (both[1].occurred_at == both[0].occurred_at)]
    assert await events(world, until="2001-01-01T00:00:00+02:00") == []
    with pytest.raises(Refused, match="from: must be an ISO 8601 timestamp"):
        await events(world, since="yesterday")


async def test_events_are_listed_by_page(world: World) -> None:
    made = [(await world.draft()).id for _ in range(5)]
    listed: list[str] = []
    call = ListAuditEvents(organization_id=world.organization, limit=2)
    async for event in world.admin.every(call):
        listed.append(event.target.id)
    assert listed == made[::-1]
    with pytest.raises(InvalidArgument):
        ListAuditEvents(organization_id=world.organization, limit=101)


async def test_only_admins_read_events(world: World) -> None:
    await world.draft()
    [event] = await events(world)
    at = {"organization_id": world.organization}
    calls = (ListAuditEvents(**at), ListAuditEventActions(**at), GetAuditEvent(**at, audit_event_id=event.id))
    for role in (*ROLES[1:], "guest"):
        for call in calls:
            with pytest.raises(Forbidden):
                await world.clients[role].send(call)
    with pytest.raises(NotFound):
        await world.admin.send(GetAuditEvent(**at, audit_event_id=new_uuid()))


async def test_every_recorded_action_is_listed_with_its_meaning(world: World) -> None:
    listed = (await world.admin.send(ListAuditEventActions(organization_id=world.organization))).items
    labels = {action.id: action.label for action in listed}
    assert labels["mergeChangeRequest"] == "Merge a change request into the live content"
    assert not any(name.startswith(("get", "list", "search", "render")) for name in labels)
    await world.draft()
    assert {event.action for event in await events(world)} <= set(labels)


async def test_old_events_are_deleted(world: World) -> None:
    await world.draft()
    [event] = await events(world)
    database = Database(world.database_url)
    with database.writing.begin() as session:
        row = session.get_one(AuditEventRow, event.id)
        row.occurred_at = moment_text(system_clock() - AUDITED - timedelta(minutes=1))
        session.get_one(JobRow, HOUSEKEEPING).run_at = moment_text(system_clock())
    database.close()
    await world.draft()
    left = await until(lambda: events(world), lambda found: len(found) == 1)
    assert left[0].id != event.id


def test_uuids_sort_by_creation() -> None:
    made = [new_uuid() for _ in range(1000)]
    assert made == sorted(made) and len({*made}) == 1000
    assert {(UUID(one).version, UUID(one).variant) for one in made} == {(8, "specified in RFC 4122")}
