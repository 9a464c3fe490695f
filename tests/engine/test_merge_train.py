"""Merge trains on the real service: each change request is updated, checked and merged; the first failure stops."""

from typing import Any

import pytest
from tests.engine.forecast import begun, edited, text_of

from presscheck.api.change_requests import (
    ChangeRequest,
    GetChangeRequest,
    PullChangeRequest,
    UpdateChangeRequest,
)
from presscheck.api.content import ListPages
from presscheck.api.content_changes import InsertPage, UpdatePage
from presscheck.api.organizations import ListOrganizations
from presscheck.api.roles import MergeRuleChange, MergeRulesChange
from presscheck.api.spaces import CreateSpace, UpdateSpace
from presscheck.engine.engine import Engine
from presscheck.engine.review.merge_train import TrainStopped, load_train, merge_next, save_train


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
    """Create a space with two pages. Returns the ids of the space and of the pages, by title."""
    [organization] = (await engine.read(ListOrganizations())).items
    space = await engine.write(CreateSpace(organization_id=organization.id, title="Lamps")).landed()
    assert space
    pages = [InsertPage(title=title, document=text_of([f"{title} burns."])) for title in ("Wick", "Oil")]
    first = await opened(engine, space.id, pages)
    assert await merge_next(engine, at(first), len) == "merged"
    found = (await engine.read(ListPages(space_id=space.id))).pages
    return space.id, {one.title: one.id for one in found}


@pytest.mark.slow
async def test_a_train_updates_and_merges_in_order_and_stops_where_somebody_must_decide(engine: Engine) -> None:
    space, pages = await planted(engine)
    wick, oil, again = [
        await opened(engine, space, [UpdatePage(page=pages[title], document=text_of([words]))])
        for title, words in (("Wick", "Wick glows."), ("Oil", "Oil glows."), ("Wick", "Wick smokes."))
    ]
    save_train(engine.outbox, (wick.model_copy(update={"id": "gone"}), wick, oil, again))
    told: list[str] = []
    assert await merge_next(engine, at(wick), told.append) == "merged"
    assert told == ["checking the merge requirements", "merging"]
    assert await merge_next(engine, at(oil), told.append) == "merged"
    assert told[2] == "updating from main"
    with pytest.raises(TrainStopped, match="conflicts with main in Wick"):
        await merge_next(engine, at(again), told.append)
    assert [await status(engine, one) for one in (wick, oil, again)] == ["merged", "merged", "open"]
    assert [one.id for one in await load_train(engine)] == [wick.id, oil.id, again.id], "its driver says what is done"

    updated = await engine.write(PullChangeRequest(**at(again))).landed()
    assert updated
    assert updated.result == "conflicts"
    with pytest.raises(TrainStopped, match="unresolved conflicts in Wick"):
        await merge_next(engine, at(again), len)
    await edited(engine, again, [UpdatePage(page=pages["Wick"], document=text_of(["Wick glows and smokes."]))])
    assert await merge_next(engine, at(again), len) == "merged"

    ruled = await opened(engine, space, [UpdatePage(page=pages["Oil"], title="Oils")])
    rules = MergeRulesChange(type="rules", rules=(MergeRuleChange(rule="require_at_least_one_approved_review"),))
    await engine.write(UpdateSpace(space_id=space, merge_rules=rules)).landed()
    with pytest.raises(TrainStopped, match="an approval is required"):
        await merge_next(engine, at(ruled), len)
    assert await status(engine, ruled) == "open"


async def test_an_already_merged_change_request_is_skipped(engine: Engine) -> None:
    space, pages = await planted(engine)
    request = await opened(engine, space, [UpdatePage(page=pages["Wick"], title="Wicks")])
    await merge_next(engine, at(request), len)
    assert await merge_next(engine, at(request), len) == "already merged"
