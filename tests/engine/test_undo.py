"""Undoing sent writes: the former state is restored, and later changes by others are kept."""

from __future__ import annotations

import ast
from pathlib import Path
from typing import Any

import pytest
from tests.engine.live_engine import engine_on, places_in, until
from tests.rules.sources import MODULES, SOURCE, tree_of
from tests.running_service import RunningService
from tests.service_users import somebody

from presscheck.api import (
    agent_instructions,
    collections,
    comments,
    content,
    content_changes,
    invites,
    organizations,
    permissions,
    site_structure,
    sites,
    spaces,
    teams,
)
from presscheck.api import change_requests as cr
from presscheck.api.operation import Operation, every_operation
from presscheck.api.roles import CollectionPointer, ContentPosition, MergeRuleChange, MergeRulesChange, SpacePointer
from presscheck.config.profile import Profile
from presscheck.documents.nodes.from_markdown import markdown_to_nodes
from presscheck.engine.engine import Engine
from presscheck.engine.writes.history import HistoryEntry
from presscheck.engine.writes.inverses import INVERSES
from presscheck.errors import ChangedSince, NotFound, NotNow, PresscheckError
from presscheck.wiring import open_engine

pytestmark = pytest.mark.service(sample=True)

AUTH = {"space_id": "api", "change_request_id": "5"}
ORGANIZATION = {"organization_id": "tallowick"}
WRITES = {operation.__name__: operation for operation in every_operation() if not operation.is_read()}


def body(text: str) -> comments.Document:
    return comments.Document(markdown=text)


async def fresh(engine: Engine, call: Operation[Any]) -> Any:
    """Read from the service, without the cache and without pending writes."""
    return await engine._write_queue.reconciler.read(call)


async def sent(engine: Engine, call: Operation[Any]) -> HistoryEntry:
    """Send a write. Returns its entry in the history."""
    await engine.write(call).landed()
    return engine.history()[0]


async def undone(engine: Engine, entry: HistoryEntry) -> None:
    """Undo a write as users do: check first, then send."""
    await engine.check_undo(entry.id)
    tickets = engine.undo(entry.id)
    assert tickets
    for ticket in tickets:
        await ticket.landed()
    now = engine.history_entry(entry.id)
    assert now
    assert (now.state, now.reason) == ("undone", "it is undone")


async def posted(engine: Engine, text: str = "Typed by me") -> dict[str, Any]:
    answer = await engine.write(comments.PostComment(**AUTH, body=body(text))).landed()
    assert answer
    return {**AUTH, "comment_id": answer.id}


def written_by_the_screens() -> set[str]:
    """Return the names of all writes that the screens and the engine import."""
    found: set[str] = set()
    for path in MODULES:
        package = path.relative_to(SOURCE).parts
        if package[0] == "tui" or (package[0] == "engine" and "writes" not in package):
            nodes = ast.walk(tree_of(path))
            found |= {alias.name for node in nodes if isinstance(node, ast.ImportFrom) for alias in node.names}
    return found & WRITES.keys()


@pytest.mark.slow
def test_every_write_of_the_screens_has_an_inverse_or_a_reason() -> None:
    names = written_by_the_screens()
    assert len(names) > 25, "the writes of the screens are found"
    assert not {name for name in names if WRITES[name] not in INVERSES}
    assert all(isinstance(inverse, str) is not hasattr(inverse, "calls") for inverse in INVERSES.values())


async def test_a_comment_and_a_reply_are_deleted(engine: Engine) -> None:
    path = await posted(engine)
    comment = engine.history()[0]
    assert (comment.state, comment.description, comment.reason) == ("sent", "add comment", None)
    assert comment.inverse == "Deletes “Typed by me”"
    reply = await sent(engine, comments.PostReply(**path, body=body("And more"), format="markdown"))
    await undone(engine, reply)
    assert (await fresh(engine, comments.ListReplies(**path))).items == ()
    await undone(engine, comment)
    with pytest.raises(NotFound):
        await fresh(engine, comments.GetComment(**path))
    states = [(entry.description, entry.state) for entry in engine.history()]
    assert states == [
        ("delete comment", "sent"),
        ("delete reply", "sent"),
        ("add reply", "undone"),
        ("add comment", "undone"),
    ]


async def test_a_comment_that_others_answered_stays(engine: Engine, service: RunningService) -> None:
    path = await posted(engine)
    comment = engine.history()[0]
    async with somebody(service, "mia") as (mia,):
        await mia.send(comments.PostReply(**path, body=body("I disagree")))
        with pytest.raises(ChangedSince, match="changed by others since") as refused:
            await engine.check_undo(comment.id)
        assert "1 reply" in refused.value.present
        # also if the reply was added between the check and the undo
        [ticket] = engine.undo(comment.id)
        with pytest.raises(ChangedSince):
            await ticket.landed()
        assert await mia.send(comments.GetComment(**path))
    [row] = engine.waiting()
    assert (row.state, "changed by others since" in (row.error or "")) == ("refused", True)
    entry = engine.history_entry(comment.id)
    assert entry
    assert entry.state == "sent"


async def test_an_edited_comment_gets_its_former_text(engine: Engine, service: RunningService) -> None:
    path = await posted(engine, "First *words*")
    first = engine.history()[0]
    edit = await sent(engine, comments.UpdateComment(**path, body=body("Second words")))
    assert edit.inverse == "Restores the text “First *words*”"
    with pytest.raises(ChangedSince, match=r"you changed it again since \(edit comment\)"):
        await engine.check_undo(first.id)
    await undone(engine, edit)
    comment = await fresh(engine, comments.GetComment(**path, format="markdown"))
    assert comment.body.markdown.strip() == "First *words*"
    await undone(engine, first)


async def test_a_thread_is_reopened_and_resolved_again(engine: Engine, service: RunningService) -> None:
    path = await posted(engine)
    resolved = await sent(engine, comments.UpdateComment(**path, resolved=True))
    assert (resolved.description, resolved.inverse) == ("resolve thread", "Reopens the thread")
    await undone(engine, resolved)
    assert (await fresh(engine, comments.GetComment(**path))).status == "open"
    undo = engine.history()[0]
    assert (undo.description, undo.undoes) == ("reopen thread", resolved.id)
    await undone(engine, undo)  # an undo can be undone like any other write
    assert (await fresh(engine, comments.GetComment(**path))).status == "resolved"
    again = await sent(engine, comments.UpdateComment(**path, resolved=True))
    assert again.reason == "it changed nothing"


async def test_reactions_are_removed_and_added(engine: Engine, service: RunningService) -> None:
    path = await posted(engine)
    async with somebody(service, "mia") as (mia,):
        await mia.send(comments.UpdateComment(**path, added_reactions=("1f44d",)))
    added = await sent(engine, comments.UpdateComment(**path, added_reactions=("1f44d",)))
    assert added.inverse == "Removes your reaction"
    await undone(engine, added)
    [reaction] = (await fresh(engine, comments.GetComment(**path))).reactions
    assert [one.user.id for one in reaction.users] == ["mia"]
    again = await sent(engine, comments.UpdateComment(**path, added_reactions=("1f389",)))
    removed = await sent(engine, comments.UpdateComment(**path, removed_reactions=("1f389",)))
    await undone(engine, removed)
    await undone(engine, again)
    assert len((await fresh(engine, comments.GetComment(**path))).reactions) == 1


async def test_reviewers_are_removed_and_requested_again(engine: Engine) -> None:
    async def requested() -> set[str]:
        page = await fresh(engine, cr.ListRequestedReviewers(**AUTH, limit=1000))
        return {item.user.id for item in page.items}

    before = await requested()
    people = {"mia", "jon", "luz"} - before
    both = await sent(engine, cr.RequestReviewers(**AUTH, users=(*before, *people)))
    await undone(engine, both)
    assert await requested() == before
    someone = next(iter(before))
    removed = await sent(engine, cr.RemoveRequestedReviewer(**AUTH, user_id=someone))
    assert removed.inverse.startswith("Requests the review of ")
    await undone(engine, removed)
    assert await requested() == before


async def test_a_change_request_gets_its_former_details(engine: Engine, service: RunningService) -> None:
    before = await fresh(engine, cr.GetChangeRequest(**AUTH))
    described = await sent(engine, cr.UpdateChangeRequest(**AUTH, description=markdown_to_nodes("Why *not*")))
    renamed = await sent(engine, cr.UpdateChangeRequest(**AUTH, subject="Another subject"))
    archived = await sent(engine, cr.UpdateChangeRequest(**AUTH, status="archived"))
    assert (archived.description, archived.inverse) == ("archive change request", "Reopens it")
    for entry in (archived, described):
        await undone(engine, entry)
    async with somebody(service, "mia") as (mia,):
        await mia.send(cr.UpdateChangeRequest(**AUTH, subject="By Mia"))
        with pytest.raises(ChangedSince) as refused:
            await engine.check_undo(renamed.id)
        assert (refused.value.written, refused.value.present) == ("Another subject", "By Mia")
        await mia.send(cr.UpdateChangeRequest(**AUTH, subject="Another subject"))
    await undone(engine, renamed)
    after = await fresh(engine, cr.GetChangeRequest(**AUTH))
    assert (after.subject, after.description, after.status) == (before.subject, before.description, before.status)


async def test_a_new_change_request_is_archived(engine: Engine) -> None:
    entry = await sent(engine, cr.CreateChangeRequest(space_id="guides", subject="Created in error"))
    assert entry.place.request
    await undone(engine, entry)
    path = {"space_id": "guides", "change_request_id": entry.place.request}
    assert (await fresh(engine, cr.GetChangeRequest(**path))).status == "archived"


def shape(pages: tuple[Any, ...]) -> list[Any]:
    """Return the ids, titles and other details of the pages of a tree, nested like the tree."""
    details = ("id", "title", "icon", "hidden", "document_id")
    return [(*(getattr(page, name) for name in details), shape(page.pages)) for page in pages]


@pytest.mark.slow
async def test_page_edits_are_undone_exactly(engine: Engine) -> None:
    tree = content.ListChangeRequestPages(**AUTH)

    async def now() -> list[Any]:
        return shape((await fresh(engine, tree)).pages)

    async def edit(*changes: Any, **more: Any) -> HistoryEntry:
        return await sent(engine, content_changes.EditChangeRequestContent(**AUTH, changes=changes, **more))

    pages = (await fresh(engine, tree)).pages
    everything = [one for page in pages for one in (page, *page.pages) if one.type == "document"]
    first, last = everything[0], everything[-1]
    parent = next(page for page in pages if page.pages)
    start = await now()
    new_text = content_changes.UpdatePage(page=first.id, document=body("All of it is new"))
    update, delete = content_changes.UpdatePage, content_changes.DeletePage
    one, _, three, four = [page.id for page in pages][:4]
    block_to_the_front = (update(page=four, into=None, at=0), update(page=three, into=None, at=0))
    into_each_other = (update(page=four, into=one, at=0), update(page=three, into=one), update(page=one, at=2))
    for description, changes, more in (
        ("edit page", (new_text,), {}),
        ("move 2 pages", block_to_the_front, {}),
        ("move 3 pages", into_each_other, {}),
        ("delete 2 pages", (delete(page=one), delete(page=three)), {}),
        ("delete page", (delete(page=parent.id),), {}),
        ("add page “New”", (content_changes.InsertPage(title="New", document=body("x")),), {"compat": False}),
        ("edit 2 pages", (new_text, content_changes.UpdatePage(page=last.id, title="Both", into=None)), {}),
    ):
        entry = await edit(*changes, **more)
        assert entry.description == description
        assert await now() != start, description
        await undone(engine, entry)
        assert await now() == start, description


async def test_later_edit_of_a_page_by_others_is_kept(engine: Engine, service: RunningService) -> None:
    tree = content.ListChangeRequestPages(**AUTH)
    pages = (await fresh(engine, tree)).pages
    page, other = [one for page in pages for one in (page, *page.pages) if one.type == "document"][:2]
    change = content_changes.UpdatePage(page=page.id, document=body("Mine"))
    entry = await sent(engine, content_changes.EditChangeRequestContent(**AUTH, changes=(change,)))
    async with somebody(service, "mia") as (mia,):
        elsewhere = content_changes.UpdatePage(page=other.id, document=body("On another page"))
        await mia.send(content_changes.EditChangeRequestContent(**AUTH, changes=(elsewhere,)))
        await engine.check_undo(entry.id)  # changes of other pages do not matter
        theirs = content_changes.UpdatePage(page=page.id, document=body("Hers"))
        await mia.send(content_changes.EditChangeRequestContent(**AUTH, changes=(theirs,)))
        with pytest.raises(ChangedSince) as refused:
            await engine.check_undo(entry.id)
        assert ("Mine" in refused.value.written, "Hers" in refused.value.present) == (True, True)
        [ticket] = engine.undo(entry.id)
        with pytest.raises(ChangedSince):
            await ticket.landed()
        found = await mia.send(content.GetChangeRequestPage(**AUTH, page_id=page.id, format="markdown"))
        assert (found.markdown or "").strip().endswith("Hers")
    refusal = engine.history()[0]
    assert (refusal.state, refusal.undoes) == ("refused", entry.id)
    assert "changed by others since" in (refusal.error or "")


async def test_later_move_of_a_page_by_others_is_kept(engine: Engine, service: RunningService) -> None:
    tree = content.ListChangeRequestPages(**AUTH)
    page, other, neighbor, last = [page.id for page in (await fresh(engine, tree)).pages][:4]

    async def order() -> list[str]:
        return [one.id for one in (await fresh(engine, tree)).pages][:4]

    def edit(page: str, at: int) -> content_changes.EditChangeRequestContent:
        change = content_changes.UpdatePage(page=page, into=None, at=at)
        return content_changes.EditChangeRequestContent(**AUTH, changes=(change,))

    entry = await sent(engine, edit(page, 1))
    assert entry.inverse == "Moves the page back to its former place"
    async with somebody(service, "mia") as (mia,):
        await mia.send(edit(last, 2))
        assert await order() == [other, page, last, neighbor]
        await engine.check_undo(entry.id)  # the page itself has not moved since
        await mia.send(edit(page, 3))  # below the same parent, but behind its former neighbors
        with pytest.raises(ChangedSince):
            await engine.check_undo(entry.id)
        [ticket] = engine.undo(entry.id)
        with pytest.raises(ChangedSince):
            await ticket.landed()
    assert await order() == [other, last, neighbor, page]


async def test_a_space_is_unlocked_and_moved_back(engine: Engine) -> None:
    before = await fresh(engine, spaces.GetSpace(space_id="cli"))
    locked = await sent(engine, spaces.UpdateSpace(space_id="cli", edit_mode="locked"))
    assert (locked.description, locked.inverse) == ("lock space", "Unlocks the space")
    await undone(engine, locked)
    titled = await sent(engine, spaces.UpdateSpace(space_id="cli", title="CLI"))
    await undone(engine, titled)
    moved = await sent(engine, spaces.MoveSpace(space_id="cli", parent=None))
    if moved.reason is None:
        await undone(engine, moved)
    deleted = await sent(engine, spaces.DeleteSpace(space_id="cli"))
    await undone(engine, deleted)
    after = await fresh(engine, spaces.GetSpace(space_id="cli"))
    assert (after.title, after.edit_mode, after.parent) == (before.title, before.edit_mode, before.parent)


async def test_changes_of_the_tree_are_undone(engine: Engine) -> None:
    listed = spaces.ListSpaces(**ORGANIZATION, limit=1000)
    nested = collections.ListCollections(**ORGANIZATION, nested=True, limit=1000)

    async def tree() -> dict[tuple[str, str | None], list[str]]:
        """Return the ids in order, by kind (space or collection) and parent."""
        places: dict[tuple[str, str | None], list[str]] = {}
        for call in (listed, nested):
            for item in (await fresh(engine, call)).items:
                places.setdefault((item.object, item.parent), []).append(item.id)
        return places

    start = await tree()
    beside = ContentPosition(after=SpacePointer(space="runbook"))
    await undone(engine, await sent(engine, spaces.MoveSpace(space_id="handbook", position=beside)))
    assert await tree() == start
    await undone(engine, await sent(engine, spaces.MoveSpace(space_id="guides", parent="internal")))
    await undone(engine, await sent(engine, collections.MoveCollection(collection_id="developers", parent=None)))
    ahead = ContentPosition(before=CollectionPointer(collection="product"))
    await undone(engine, await sent(engine, collections.MoveCollection(collection_id="internal", position=ahead)))
    assert await tree() == start
    for call in (spaces.CreateSpace, collections.CreateCollection):
        made = await sent(engine, call(**ORGANIZATION, title="Made", parent="product"))
        assert made.description == f"create {'space' if call is spaces.CreateSpace else 'collection'} “Made”"
        await undone(engine, made)
    await undone(engine, await sent(engine, spaces.DuplicateSpace(space_id="guides")))
    await undone(engine, await sent(engine, collections.UpdateCollection(collection_id="product", title="Goods")))
    rules = MergeRulesChange(type="rules", rules=(MergeRuleChange(rule="require_at_least_one_review"),))
    ruled = await sent(engine, spaces.UpdateSpace(space_id="handbook", merge_rules=rules))
    assert ruled.inverse == "Restores the merge rules “require at least one approved review”"
    await undone(engine, ruled)
    assert await tree() == start


async def test_space_or_collection_that_others_use_is_not_deleted(engine: Engine, service: RunningService) -> None:
    space = await sent(engine, spaces.CreateSpace(**ORGANIZATION, title="Made", parent="product"))
    collection = await sent(engine, collections.CreateCollection(**ORGANIZATION, title="Made", parent="product"))
    assert space.place.space
    assert collection.place.collection
    async with somebody(service, "mia") as (mia,):
        await mia.send(cr.CreateChangeRequest(space_id=space.place.space, subject="First"))
        await mia.send(spaces.CreateSpace(**ORGANIZATION, title="In it", parent=collection.place.collection))
    for entry in (space, collection):
        with pytest.raises(ChangedSince):
            await engine.check_undo(entry.id)


@pytest.mark.slow
async def test_changes_of_a_site_are_undone(engine: Engine) -> None:
    listing = await fresh(engine, sites.ListSites(**ORGANIZATION, limit=1000))
    for site in listing.items[:1]:
        path = {**ORGANIZATION, "site_id": site.id}
        structure = site_structure.GetSiteStructure(**path)
        start = (await fresh(engine, structure)).model_dump()
        write: Operation[Any] = (sites.UnpublishSite if site.published else sites.PublishSite)(**path)
        await undone(engine, await sent(engine, write))
        await undone(engine, await sent(engine, sites.UpdateSite(**path, title="Another title")))
        now = await fresh(engine, sites.GetSite(**path))
        assert (now.published, now.title) == (site.published, site.title)
        for item in _items((await fresh(engine, structure)).structure):
            if item.object == "site-space":
                call: Operation[Any] = site_structure.UpdateSiteSpace(**path, site_space_id=item.id, path="elsewhere")
            elif item.object == "site-section":
                call = site_structure.UpdateSection(**path, site_section_id=item.id, title="Elsewhere")
            else:
                call = site_structure.UpdateSectionGroup(**path, site_section_group_id=item.id, title="Elsewhere")
            await undone(engine, await sent(engine, call))
        top = (await fresh(engine, structure)).structure
        if len(top) > 1:
            pointers = [site_structure.StructureItemPointer(type=item.object, id=item.id) for item in top]
            place = site_structure.StructurePosition(before=pointers[0])
            await undone(
                engine, await sent(engine, site_structure.SortSiteStructure(**path, item=pointers[-1], position=place))
            )
        assert (await fresh(engine, structure)).model_dump() == start
        contained = {item.space.id for item in _items(top) if item.object == "site-space"}
        others = (await fresh(engine, spaces.ListSpaces(**ORGANIZATION, limit=1000))).items
        space = next(space.id for space in others if space.id not in contained)
        await undone(engine, await sent(engine, site_structure.AddSiteSpace(**path, space_id=space)))
        assert (await fresh(engine, structure)).model_dump() == start


def _items(items: tuple[Any, ...]) -> list[Any]:
    nested = [
        one for item in items for one in _items((*getattr(item, "children", ()), *getattr(item, "site_spaces", ())))
    ]
    return [*items, *nested]


@pytest.mark.parametrize(
    ("call", "reason"),
    [
        (cr.SubmitReview(**AUTH, status="approved"), "a review cannot be withdrawn"),
        (cr.PullChangeRequest(**AUTH), "an update from main cannot be undone"),
        (comments.DeleteComment(**AUTH, comment_id="gone"), "a deleted comment cannot be restored"),
    ],
)
async def test_write_without_an_inverse_has_a_reason(engine: Engine, call: Operation[Any], reason: str) -> None:
    entry = await sent(engine, call)
    assert entry.state == "sent"
    assert (entry.reason or "").startswith(reason)
    with pytest.raises(PresscheckError, match=reason):
        engine.undo(entry.id)
    assert engine.waiting() == ()


async def test_a_failed_and_an_unsent_write_are_in_the_history(engine: Engine) -> None:
    with pytest.raises(PresscheckError):
        await engine.write(cr.MergeChangeRequest(space_id="api", change_request_id="999")).landed()
    ticket = engine.write(comments.PostComment(**AUTH, body=body("Never")), hold=600)
    assert engine.unsend(ticket.id)
    unsent, refused = engine.history()
    assert (unsent.state, unsent.reason) == ("unsent", "it was never sent")
    assert (refused.state, refused.reason, bool(refused.error)) == ("refused", "it was not saved", True)


async def test_an_undo_waits_offline_and_is_checked_when_it_is_sent(
    engine: Engine, service: RunningService, tmp_path: Path
) -> None:
    path = await posted(engine)
    resolved = await sent(engine, comments.UpdateComment(**path, resolved=True))
    page = (await fresh(engine, content.ListChangeRequestPages(**AUTH))).pages[0]
    change = content_changes.UpdatePage(page=page.id, title="Another title")
    renamed = await sent(engine, content_changes.EditChangeRequestContent(**AUTH, changes=(change,)))
    service.stop()
    with pytest.raises(PresscheckError):
        await engine.read(spaces.GetSpace(space_id="internal-unknown"))
    await until(lambda: not engine.status.online)
    with pytest.raises(NotNow):  # like any edit of a page
        engine.undo(renamed.id)
    assert engine.undo(resolved.id)
    assert engine.undo(resolved.id) == [] if not engine.history_entry(resolved.id).reason else True  # type: ignore[union-attr]
    waiting = engine.history_entry(resolved.id)
    assert waiting
    assert (waiting.is_being_undone, waiting.reason) == (True, "its undo is in the outbox")
    await engine.close()
    service.start()
    again = engine_on(service, tmp_path / "home")
    await again.start()
    await until(lambda: not again.waiting())
    assert (await fresh(again, comments.GetComment(**path))).status == "open"
    entry = again.history_entry(resolved.id)
    assert entry
    assert entry.state == "undone"
    await again.close()


async def test_a_write_of_another_user_is_not_undone(engine: Engine, service: RunningService, tmp_path: Path) -> None:
    await posted(engine)
    engine.outbox._execute("UPDATE history SET author = 'mia'", ())
    assert engine.history()[0].reason == "another user wrote it"


async def test_a_read_only_profile_shows_the_history_and_undoes_nothing(
    engine: Engine, service: RunningService, tmp_path: Path
) -> None:
    await posted(engine)
    number = engine.history()[0].id
    await engine.close()
    options: dict[str, Any] = {"base_url": service.base_url, "token": service.token, "read_only": True}
    reader = open_engine(Profile(**options), places_in(tmp_path / "home"))
    await reader.start()
    assert reader.history()[0].id == number
    with pytest.raises(NotNow, match="read-only"):
        reader.undo(number)
    await reader.close()


async def test_roles_names_and_visibility_of_an_organization_are_changed_back(engine: Engine) -> None:
    role = await sent(engine, organizations.UpdateMember(**ORGANIZATION, user_id="luz", role="edit"))
    await undone(engine, role)
    assert (await fresh(engine, organizations.GetMember(**ORGANIZATION, user_id="luz"))).role == "comment"
    made = await engine.write(teams.CreateTeam(**ORGANIZATION, title="Writers")).landed()
    assert made
    renamed = await sent(engine, teams.UpdateTeam(**ORGANIZATION, team_id=made.id, title="Editors"))
    await undone(engine, renamed)
    assert (await fresh(engine, teams.GetTeam(**ORGANIZATION, team_id=made.id))).title == "Writers"
    organization = organizations.GetOrganization(**ORGANIZATION)
    changed = await sent(engine, organizations.UpdateOrganization(**ORGANIZATION, title="Other", default_role="read"))
    await undone(engine, changed)
    now = await fresh(engine, organization)
    assert (now.title, now.default_role) == ("Tallowick", None)
    text = {"instructions": markdown_to_nodes("Be brief.")}
    written = await sent(engine, agent_instructions.UpdateAgentInstructions(**ORGANIZATION, **text))
    await undone(engine, written)
    assert (await fresh(engine, agent_instructions.GetAgentInstructions(**ORGANIZATION))).instructions["nodes"] == []
    made = await sent(engine, invites.CreateInvite(**ORGANIZATION, role="read"))
    assert made.inverse == "Revokes the invite link: nobody can join with it any more"
    listed = (await fresh(engine, invites.ListInvites(**ORGANIZATION))).items
    invite = {**ORGANIZATION, "invite_id": listed[0].id}
    changed = await sent(engine, invites.UpdateInvite(**invite, role="edit"))
    await undone(engine, changed)
    assert (await fresh(engine, invites.GetInvite(**invite))).role == "read"
    await undone(engine, made)
    assert (await fresh(engine, invites.ListInvites(**ORGANIZATION))).items == ()


async def test_members_and_roles_of_a_team_are_restored(engine: Engine, service: RunningService) -> None:
    created = await sent(engine, teams.CreateTeam(**ORGANIZATION, title="Writers", members=("mia",)))
    [team] = (await fresh(engine, teams.ListTeams(**ORGANIZATION))).items
    path = {**ORGANIZATION, "team_id": team.id}

    async def roles() -> dict[str, str]:
        people = (await fresh(engine, teams.ListTeamMembers(**path))).items
        return {one.organization.id: one.team.role for one in people}

    both = teams.UpdateTeamMembers(**path, add=("luz", "mia"), memberships={"luz": teams.Membership(role="owner")})
    several = await sent(engine, both)
    assert (await roles(), several.inverse) == (
        {"luz": "owner", "mia": "member"},
        "Removes 1 person from the team again",
    )
    await undone(engine, several)
    assert await roles() == {"mia": "member"}
    role = await sent(engine, teams.AddTeamMember(**path, user_id="mia", role="owner"))
    assert role.inverse == "Restores the role in the team “member”"
    await undone(engine, role)
    removed = await sent(engine, teams.RemoveTeamMember(**path, user_id="mia"))
    await undone(engine, removed)
    assert await roles() == {"mia": "member"}

    grant = {"collection_id": "product", "team_id": team.id}
    listing = permissions.ListCollectionTeamPermissions(collection_id="product")
    given = await sent(engine, permissions.UpdateCollectionTeamPermission(**grant, role="edit"))
    assert given.inverse == "Removes the level of the team again"
    async with somebody(service, "robin") as (robin,):
        await robin.send(permissions.UpdateCollectionTeamPermission(**grant, role="admin"))
        with pytest.raises(ChangedSince) as refused:
            await engine.check_undo(given.id)
        assert (refused.value.written, refused.value.present) == ("edit", "admin")
        await robin.send(permissions.UpdateCollectionTeamPermission(**grant, role="edit"))
    gone = await sent(engine, permissions.RemoveCollectionTeamPermission(**grant))
    await undone(engine, gone)
    assert [one.permission for one in (await fresh(engine, listing)).items] == ["edit"]
    await undone(engine, given)
    assert (await fresh(engine, listing)).items == ()
    await undone(engine, created)
    assert (await fresh(engine, teams.ListTeams(**ORGANIZATION))).items == ()


async def test_joining_an_organization_is_undone(engine: Engine, service: RunningService) -> None:
    async with somebody(service, "robin") as (robin,):
        await robin.send(organizations.UpdateMember(**ORGANIZATION, user_id="mia", role="admin"))
        await robin.send(organizations.UpdateOrganization(**ORGANIZATION, email_domains=("tallowick.example",)))
        await robin.send(organizations.RemoveMember(**ORGANIZATION, user_id="robin"))
    joined = await sent(engine, organizations.JoinOrganization(**ORGANIZATION))
    assert joined.inverse == "Leaves the organization again"
    again = await sent(engine, organizations.JoinOrganization(**ORGANIZATION))
    assert again.reason == "it changed nothing"
    await undone(engine, joined)
    assert (await fresh(engine, organizations.ListOrganizations())).items == ()
