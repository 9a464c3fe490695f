"""A merge train: change requests merged one after another, each against what the one before it left in main.

Each is updated where main moved, foreseen, held against the rules, and merged; the first that is red stops the train.
What is left stands beside the outbox, so that a train which a crash stopped goes on: what was merged is passed over.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from presscheck.api.change_requests import (
    ChangeRequest,
    GetChangeRequest,
    ListRequestedReviewers,
    ListReviews,
    MergeChangeRequest,
    PullChangeRequest,
)
from presscheck.api.organizations import GetOrganization
from presscheck.api.roles import MergeRules
from presscheck.api.spaces import GetSpace, Space
from presscheck.api.users import GetCurrentUser
from presscheck.engine.review.merge_forecast import forecast
from presscheck.engine.review.merge_readiness import MergeInputs, reviewers, standing
from presscheck.errors import NotFound, PresscheckError

if TYPE_CHECKING:
    from presscheck.engine.engine import Engine
    from presscheck.store.outbox import Outbox

MERGE_TRAIN = "merge train"
"""Under this name what is left of a train is remembered."""
Path = dict[str, Any]


class TrainStopped(PresscheckError):
    """Why a train stands."""


def couple(outbox: Outbox, requests: Iterable[ChangeRequest]) -> None:
    """Remember what is to be merged, in this order; nothing forgets the train."""
    left = [{"space_id": one.space, "change_request_id": one.id} for one in requests]
    outbox.remember(MERGE_TRAIN, json.dumps(left) if left else None)


async def left_over(engine: Engine) -> list[ChangeRequest]:
    """What is left of the train that was stopped, in its order; without what is not there any more.

    Raises:
        PresscheckError: the service cannot be asked.
    """
    found: list[ChangeRequest] = []
    for path in json.loads(engine.outbox.recall(MERGE_TRAIN) or "[]"):
        with suppress(NotFound):
            found.append(await engine.read(GetChangeRequest(**path)))
    return found


async def merge_next(engine: Engine, path: Path, says: Callable[[str], object]) -> str:
    """Merge one; what came of it in words.

    Args:
        engine: does it.
        path: `space_id` and `change_request_id`.
        says: told what is done now.

    Raises:
        TrainStopped: it cannot be merged, with the reason; nothing was merged.
        PresscheckError: the service refused, or cannot be reached.
    """
    request = await engine.read(GetChangeRequest(**path))
    if request.status == "merged":
        return "already merged"
    if request.outdated:
        says("updating from main")
        await _demand_clean(engine, request)
        result = await engine.write(PullChangeRequest(**path)).landed()
        if result and result.result == "conflicts":
            raise TrainStopped("updated from main, with conflicts: check the pages that both sides changed")
        request = await engine.read(GetChangeRequest(**path))
    says("checking for conflicts")
    await _demand_clean(engine, request)
    says("checking the merge rules")
    await _demand_rules(engine, request, path)
    says("merging")
    result = await engine.write(MergeChangeRequest(**path)).landed()
    return "merged, with conflicts" if result and result.result == "conflicts" else "merged"


async def _demand_clean(engine: Engine, request: ChangeRequest) -> None:
    found = await forecast(engine, request)
    if found is None:
        raise TrainStopped("could not check for conflicts with main before the merge")
    if found.conflicts:
        titles = ", ".join(dict.fromkeys(one.title for one in found.conflicts))
        raise TrainStopped(f"conflicts with main in {titles}")


async def _demand_rules(engine: Engine, request: ChangeRequest, path: Path) -> None:
    me = (await engine.read(GetCurrentUser())).id
    asked = (await engine.read(ListRequestedReviewers(**path))).items
    said = (await engine.read(ListReviews(**path))).items
    space = await engine.read(GetSpace(space_id=request.space))
    people = reviewers(request, asked, said, me)
    found = standing(MergeInputs(request, me, people, space, await _rules(engine, space), 0, ()))
    if found.certainty == "no":
        raise TrainStopped("; ".join(found.reasons))


async def _rules(engine: Engine, space: Space) -> MergeRules | None:
    """Those in force: the organization's where the space inherits."""
    rules = space.merge_rules
    if rules and rules.type == "inherit" and space.organization:
        return (await engine.read(GetOrganization(organization_id=space.organization))).merge_rules
    return rules
