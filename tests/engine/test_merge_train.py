"""Merge trains on the real service: each change request is updated, checked and merged; the first failure stops."""

from pathlib import Path
from typing import Any

import pytest
from tests.engine.forecast import begun, edited, text_of
from tests.running_service import running_service
from tests.service_users import somebody

from presscheck.api.change_requests import (
    ChangeRequest,
    GetChangeRequest,
    PullChangeRequest,
    SubmitReview,
    UpdateChangeRequest,
)
from presscheck.api.content import ListPages
from presscheck.api.content_changes import InsertPage, UpdatePage
from presscheck.api.organizations import ListOrganizations
from presscheck.api.roles import MergeRuleChange, MergeRulesChange
from presscheck.api.spaces import CreateSpace, UpdateSpace
from presscheck.config.profile import Profile
from presscheck.engine.engine import Engine
from presscheck.engine.review.merge_train import TrainStopped, load_train, merge_next, save_train
from presscheck.paths import Places
from presscheck.service.db.engine import Database
from presscheck.service.models.organizations import MemberRow, OrganizationRow, UserRow
from presscheck.wiring import open_engine


def at(request: ChangeRequest) -> dict[str, str]:
    return {"space_id": request.space, "change_request_id": request.id}


async def status(engine: Engine, request: ChangeRequest) -> str:
    return (await engine.read(GetChangeRequest(**at(request)))).status


async def opened(engine: Engine, space: str, changes: list[Any]) -> ChangeRequest:
    request = await begun(engine, space)
    await edited(engine, request, changes)
    await engine.write(UpdateChangeRequest(**at(request), status="open")).landed()
    return request


async def planted(engine: Engine) -> tuple[str, dict[str, str]]:
    """A space, and the ids of its two pages by title."""
    [organization] = (await engine.read(ListOrganizations())).items
    space = await engine.write(CreateSpace(organization_id=organization.id, title="Lamps")).landed()
    assert space
    pages = [InsertPage(title=title, document=text_of([f"{title} burns."])) for title in ("Wick", "Oil")]
    first = await opened(engine, space.id, pages)
    assert await merge_next(engine, at(first), len) == "merged"
    found = (await engine.read(ListPages(space_id=space.id))).pages
    return space.id, {one.title: one.id for one in found}


@pytest.mark.slow
async def test_a_train_updates_and_merges_in_order_and_stops_at_a_conflict(engine: Engine) -> None:
    space, pages = await planted(engine)
    wick, oil, again = [
        await opened(engine, space, [UpdatePage(page=pages[title], document=text_of([words]))])
        for title, words in (("Wick", "Wick glows."), ("Oil", "Oil glows."), ("Wick", "Wick smokes."))
    ]
    save_train(engine.outbox, (wick, oil, again))
    told: list[str] = []
    assert await merge_next(engine, at(wick), told.append) == "merged"
    assert told == ["checking the merge requirements", "merging"]
    assert await merge_next(engine, at(oil), told.append) == "merged"
    assert told[2] == "updating from main"
    with pytest.raises(TrainStopped, match="conflicts with main in Wick"):
        await merge_next(engine, at(again), told.append)
    assert [await status(engine, one) for one in (wick, oil, again)] == ["merged", "merged", "open"]
    assert [one.id for one in await load_train(engine)] == [wick.id, oil.id, again.id], "its driver says what is done"


@pytest.mark.slow
async def test_a_train_stops_at_an_unresolved_conflict(engine: Engine) -> None:
    space, pages = await planted(engine)
    glows, smokes = [
        await opened(engine, space, [UpdatePage(page=pages["Wick"], document=text_of([words]))])
        for words in ("Wick glows.", "Wick smokes.")
    ]
    await merge_next(engine, at(glows), len)
    updated = await engine.write(PullChangeRequest(**at(smokes))).landed()
    assert updated
    assert updated.result == "conflicts"
    assert (await engine.read(GetChangeRequest(**at(smokes)))).outdated is False
    with pytest.raises(TrainStopped, match="unresolved conflicts in Wick"):
        await merge_next(engine, at(smokes), len)
    assert await status(engine, smokes) == "open"
    await edited(engine, smokes, [UpdatePage(page=pages["Wick"], document=text_of(["Wick glows and smokes."]))])
    assert await merge_next(engine, at(smokes), len) == "merged"


async def test_an_already_merged_change_request_is_skipped(engine: Engine) -> None:
    space, pages = await planted(engine)
    request = await opened(engine, space, [UpdatePage(page=pages["Wick"], title="Wicks")])
    await merge_next(engine, at(request), len)
    assert await merge_next(engine, at(request), len) == "already merged"


@pytest.mark.slow
async def test_a_deleted_change_request_is_skipped(engine: Engine) -> None:
    space, pages = await planted(engine)
    there = await opened(engine, space, [UpdatePage(page=pages["Wick"], title="Wicks")])
    save_train(engine.outbox, (there.model_copy(update={"id": "gone"}), there))
    assert [one.id for one in await load_train(engine)] == [there.id]


@pytest.mark.slow
async def test_an_unmet_merge_rule_stops_the_train(engine: Engine) -> None:
    space, pages = await planted(engine)
    rules = MergeRulesChange(type="rules", rules=(MergeRuleChange(rule="require_at_least_one_approved_review"),))
    await engine.write(UpdateSpace(space_id=space, merge_rules=rules)).landed()
    request = await opened(engine, space, [UpdatePage(page=pages["Oil"], title="Oils")])
    with pytest.raises(TrainStopped, match="an approval is required"):
        await merge_next(engine, at(request), len)
    assert await status(engine, request) == "open"


@pytest.mark.slow
async def test_approved_ones_arrive_although_each_is_updated_from_main(tmp_path: Path) -> None:
    now, home = "2026-05-20T09:30:00.000Z", tmp_path / "home"
    (tmp_path / "service").mkdir()
    with running_service(tmp_path / "service") as service:
        database = Database(service.database_url)
        with database.writing.begin() as session:
            organization = session.query(OrganizationRow).one().id
            session.add(UserRow(id="rea", display_name="Rea", created_at=now))
            session.add(MemberRow(organization_id=organization, user_id="rea", role="review", joined_at=now))
        database.close()
        places = Places(home / "config", home / "cache", home / "state", home / "data")
        engine = open_engine(Profile(base_url=service.base_url, token=service.token), places)
        await engine.start()
        space, pages = await planted(engine)
        names = ("require_at_least_one_approved_review", "require_up_to_date_change_request")
        rules = MergeRulesChange(type="rules", rules=tuple(MergeRuleChange(rule=name) for name in names))
        await engine.write(UpdateSpace(space_id=space, merge_rules=rules)).landed()
        added = [InsertPage(title="Lamp", document=text_of(["Lamps glow."]))]
        changed = [[UpdatePage(page=pages[title], document=text_of(["Glows."]))] for title in ("Wick", "Oil")]
        train = [await opened(engine, space, changes) for changes in (*changed, added)]
        async with somebody(service, "rea") as (reviewer,):
            for request in train:
                await reviewer.send(SubmitReview(**at(request), status="approved"))
        told: list[str] = []
        for request in train:
            assert await merge_next(engine, at(request), told.append) == "merged"
        assert told.count("updating from main") == 2
        await engine.close()
