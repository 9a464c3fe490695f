"""A merge train: merges change requests one after another, each onto the result of the previous merge.

Each change request is updated from main, checked for conflicts and against the merge rules, and merged. The first
failure stops the train. The remaining change requests are stored with the outbox, so that a train can continue after a
crash.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from presscheck.api.change_requests import ChangeRequest, GetChangeRequest, MergeChangeRequest, PullChangeRequest
from presscheck.engine.review.merge_forecast import forecast
from presscheck.engine.review.merge_inputs import read_merge_inputs
from presscheck.engine.review.merge_readiness import merge_readiness
from presscheck.errors import NotFound, PresscheckError

if TYPE_CHECKING:
    from presscheck.engine.engine import Engine
    from presscheck.store.outbox import Outbox

MERGE_TRAIN = "merge train"
"""The key under which the remaining change requests are stored."""
Path = dict[str, Any]


class TrainStopped(PresscheckError):
    """A change request of the train cannot be merged; the message is the reason."""


def save_train(outbox: Outbox, requests: Iterable[ChangeRequest]) -> None:
    """Store the remaining change requests in merge order; an empty list deletes the stored train."""
    paths = [{"space_id": request.space, "change_request_id": request.id} for request in requests]
    outbox.remember(MERGE_TRAIN, json.dumps(paths) if paths else None)


async def load_train(engine: Engine) -> list[ChangeRequest]:
    """Return the remaining change requests of a stopped train, in merge order, without deleted ones.

    Raises:
        PresscheckError: a change request cannot be read.
    """
    requests: list[ChangeRequest] = []
    for path in json.loads(engine.outbox.recall(MERGE_TRAIN) or "[]"):
        with suppress(NotFound):
            requests.append(await engine.read(GetChangeRequest(**path)))
    return requests


async def merge_next(engine: Engine, path: Path, report: Callable[[str], object]) -> str:
    """Update, check and merge one change request.

    Args:
        engine: the engine.
        path: `space_id` and `change_request_id`.
        report: called with a description of each step.

    Returns:
        `merged`, `merged, with conflicts` or `already merged`.

    Raises:
        TrainStopped: the change request cannot be merged; it may have been updated from main.
        PresscheckError: a request failed.
    """
    request = await engine.read(GetChangeRequest(**path))
    if request.status == "merged":
        return "already merged"
    if request.outdated:
        report("updating from main")
        result = await forecast(engine, request)
        if result is None:
            raise TrainStopped("could not check for conflicts with main before the merge")
        if result.conflicts:
            titles = ", ".join(dict.fromkeys(conflict.title for conflict in result.conflicts))
            raise TrainStopped(f"conflicts with main in {titles}")
        result = await engine.write(PullChangeRequest(**path)).landed()
        if result and result.result == "conflicts":
            raise TrainStopped("updated from main, with conflicts: check the pages that both sides changed")
        request = await engine.read(GetChangeRequest(**path))
    report("checking the merge requirements")
    inputs = await read_merge_inputs(engine, request)
    if inputs.conflicts is None:
        raise TrainStopped("could not check for conflicts with main before the merge")
    readiness = merge_readiness(inputs)
    if readiness.certainty in ("no", "blocked"):
        raise TrainStopped("; ".join(readiness.reasons))
    report("merging")
    result = await engine.write(MergeChangeRequest(**path)).landed()
    return "merged, with conflicts" if result and result.result == "conflicts" else "merged"
