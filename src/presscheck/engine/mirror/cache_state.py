"""The state of a sync in the cache: which parts and responses are missing. Runs in the cache's writer thread.

For each part, the cache stores the version of the part's row, the time when that version was first seen, and whether
the part is complete. A response that was cached after that time is current and is not fetched again.
"""

from __future__ import annotations

import json
import time
from collections.abc import Iterable
from typing import Any

from presscheck.api.operation import Operation
from presscheck.client.responses import read_json
from presscheck.engine.mirror.plan import Json, MirrorRequest, MirrorUnit
from presscheck.errors import MalformedAnswer
from presscheck.store.cache import Cache


def changed_parts(cache: Cache, parts: list[MirrorUnit]) -> list[MirrorUnit]:
    """Return the parts whose current version is not complete, and store when each version was first seen."""
    now, names = time.time(), [part.name for part in parts]
    known = {name: json.loads(stored.json) for name, stored in cache.for_writing(names).items()}
    changed = [part for part in parts if known.get(part.name) != _part_state(part, complete=True)]
    for part in changed:
        if known.get(part.name, {}).get("version") != part.version:
            _store_part_state(cache, part, now, complete=False)
    return changed


def begin(cache: Cache, part: MirrorUnit) -> tuple[float, list[MirrorRequest]]:
    """Return when the current version of a part was first seen (seconds since the epoch), and the missing requests."""
    since = first_seen(cache, part)
    return since, find_missing(cache, part.requests(since))


def first_seen(cache: Cache, part: MirrorUnit) -> float:
    """Return when the current version of a part was first seen, in seconds since the epoch."""
    stored = cache.for_writing([part.name]).get(part.name)
    return stored.at if stored else time.time()


def complete(cache: Cache, part: MirrorUnit, at: float) -> None:
    """Store that a part is complete in the version that was first seen at `at`."""
    _store_part_state(cache, part, at, complete=True)


def find_missing(cache: Cache, requests: Iterable[MirrorRequest]) -> list[MirrorRequest]:
    """Return the requests without a current cached response, including the follow-ups of cached responses."""
    missing, todo = list[MirrorRequest](), list(requests)
    while todo:
        batch, todo = todo, list[MirrorRequest]()
        stored = cache.for_writing(request.call.key() for request in batch)
        for request in batch:
            cached = stored.get(request.call.key())
            try:
                answer: Json = json.loads(cached.json) if cached else {}
                if cached is None or not (cached.at >= request.since or request.is_met_by(answer)):
                    missing.append(request)
                else:
                    todo += _follow_ups(cache, request, answer)
            except MalformedAnswer:
                missing.append(request)
    return missing


def keep(cache: Cache, request: MirrorRequest, body: bytes) -> tuple[list[MirrorRequest], set[str]]:
    """Cache a response and the responses that it contains.

    Returns:
        The follow-up requests that are still missing, and the changed cache keys.

    Raises:
        MalformedAnswer: the response is invalid; nothing is cached.
    """
    answer: Json = read_json(request.call, body)
    follow_ups = _follow_ups(cache, request, answer)
    try:
        parts = [*request.contains(answer)] if request.contains else []
    except (KeyError, TypeError, AttributeError):
        raise _malformed(request) from None
    now = time.time()
    answers = [(call.key(), part) for call, part in (*parts, (request.call, answer))]
    changed = {key for key, part in answers if cache.keep_answer(key, part, now)}
    return find_missing(cache, follow_ups), changed


def _follow_ups(cache: Cache, request: MirrorRequest, answer: Json) -> list[MirrorRequest]:
    def known(call: Operation[Any]) -> Json | None:
        cached = cache.for_writing([call.key()])
        return json.loads(cached[call.key()].json) if cached else None

    try:
        return [*request.follow_ups(answer, known)] if request.follow_ups else []
    except (KeyError, TypeError, AttributeError):
        raise _malformed(request) from None


def _malformed(request: MirrorRequest) -> MalformedAnswer:
    return MalformedAnswer("Unexpected response from the service", request=str(request.call))


def _store_part_state(cache: Cache, part: MirrorUnit, at: float, *, complete: bool) -> None:
    cache.keep_answer(part.name, _part_state(part, complete=complete), at)


def _part_state(part: MirrorUnit, *, complete: bool) -> Json:
    return {"version": part.version, "complete": complete}
