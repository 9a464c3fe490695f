"""The conflict forecast agrees with merges by the service, for random changes on both sides."""

import os
import random
from typing import Any

import pytest
from tests.engine.forecast import begun, edited, text_of

from presscheck.api.change_requests import (
    ChangeRequest,
    GetChangeRequest,
    MergeChangeRequest,
    UpdateChangeRequest,
)
from presscheck.api.content import ListPages, RevisionPage
from presscheck.api.content_changes import DeletePage, InsertPage, UpdatePage
from presscheck.api.organizations import ListOrganizations
from presscheck.api.spaces import CreateSpace
from presscheck.engine.engine import Engine
from presscheck.engine.review.merge_forecast import Forecast, forecast

CASES = int(os.environ.get("PRESSCHECK_CASES", "3"))
"""The number of random cases; `make forecast` runs 500."""
FIRST = 5
"""The seed of the first case; one of the first three cases has a conflict."""
LINES = [f"Sentence {number} says what it has to say." for number in range(6)]


async def merged(engine: Engine, request: ChangeRequest) -> str:
    at = {"space_id": request.space, "change_request_id": request.id}
    await engine.write(UpdateChangeRequest(**at, status="open")).landed()
    answer = await engine.write(MergeChangeRequest(**at)).landed()
    assert answer
    return answer.result


def change(chance: random.Random, page: RevisionPage) -> Any:
    """Return a random edit of a page."""
    lines, at = [*LINES], chance.randrange(len(LINES))
    act = chance.choice(["words", "words", "line", "add", "remove", "delete", "title", "details", "same"])
    if act == "words":
        lines[at] = lines[at].replace("says", chance.choice(["tells", "shows", "means"]))
    elif act == "line":
        lines[at] = chance.choice(["Something else.", "Another thing."])
    elif act == "add":
        lines.insert(at, chance.choice(["More.", "Much more."]))
    elif act == "remove":
        del lines[at]
    elif act == "delete":
        return DeletePage(page=page.id)
    elif act == "title":
        return UpdatePage(page=page.id, title=chance.choice(["Other", "Another", page.title]))
    elif act == "details":
        return UpdatePage(page=page.id, description=chance.choice(["Short.", "Long."]))
    else:
        lines[0] = "The same on both sides."
    return UpdatePage(page=page.id, document=text_of(lines))


async def a_case(engine: Engine, organization: str, seed: int) -> tuple[Forecast | None, str]:
    """Edit a space in two change requests and merge one of them.

    Returns:
        The forecast for the other change request, and the result of its merge.
    """
    chance = random.Random(seed)
    space = await engine.write(CreateSpace(organization_id=organization, title=f"Case {seed}")).landed()
    assert space
    first = await begun(engine, space.id)
    await edited(engine, first, [InsertPage(title=f"Page {n}", document=text_of(LINES)) for n in range(3)])
    await merged(engine, first)
    pages = [one for one in (await engine.read(ListPages(space_id=space.id))).pages if one.title.startswith("Page")]
    ours, theirs = await begun(engine, space.id), await begun(engine, space.id)
    for side in (ours, theirs):
        await edited(engine, side, [change(chance, page) for page in chance.sample(pages, chance.randint(1, 3))])
    await merged(engine, theirs)
    request = await engine.read(GetChangeRequest(space_id=space.id, change_request_id=ours.id))
    assert request.outdated
    return await forecast(engine, request), await merged(engine, ours)


@pytest.mark.slow
async def test_the_forecast_agrees_with_the_merge_of_the_service(engine: Engine) -> None:
    organization = (await engine.read(ListOrganizations())).items[0].id
    came, misses, alarms = {"conflicts": 0, "merge": 0}, list[str](), list[str]()
    for seed in range(FIRST, FIRST + CASES):
        found, came_to = await a_case(engine, organization, seed)
        assert found is not None, f"seed {seed}"
        came[came_to] += 1
        if bool(found.conflicts) != (came_to == "conflicts"):
            (alarms if found.conflicts else misses).append(f"seed {seed}: {found}")
    print(f"{CASES} cases, {came['conflicts']} conflicts: {len(misses)} misses, {len(alarms)} false alarms")  # noqa: T201
    assert not misses
    assert not alarms
    assert min(came.values()) > CASES / 10, came


async def test_an_up_to_date_change_request_has_no_conflicts(engine: Engine) -> None:
    organization = (await engine.read(ListOrganizations())).items[0].id
    space = await engine.write(CreateSpace(organization_id=organization, title="Quiet")).landed()
    assert space
    assert await forecast(engine, await begun(engine, space.id)) == Forecast()
