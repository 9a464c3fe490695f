"""The store's side of a mirror: what of it is here and what is missing; for the thread that writes.

When a row was first seen as it is now stands in the cache under the name of its part, and so does whether the part is
complete. The other answers know when they came: what is younger than its row need not be asked for again.
"""

from __future__ import annotations

import json
import time
from typing import Any

from presscheck.api.operation import Operation
from presscheck.engine.mirror.plan import Json, MirrorRequest, MirrorUnit
from presscheck.errors import MalformedAnswer
from presscheck.store.cache import Cache


def moved(cache: Cache, parts: list[MirrorUnit]) -> list[MirrorUnit]:
    """The parts that are not complete as they are now; from now on it is known since when they are so."""
    now, names = time.time(), [part.name for part in parts]
    known = {name: json.loads(stored.json) for name, stored in cache.for_writing(names).items()}
    found = [part for part in parts if known.get(part.name) != _mark(part, complete=True)]
    for part in found:
        if known.get(part.name, {}).get("version") != part.version:
            _keep_mark(cache, part, now, complete=False)
    return found


def since(cache: Cache, part: MirrorUnit) -> float:
    """When a part was first seen as it is now, in seconds since the epoch."""
    stored = cache.for_writing([part.name]).get(part.name)
    return stored.at if stored else time.time()


def complete(cache: Cache, part: MirrorUnit, at: float) -> None:
    """All of a part is here, as it is since that moment."""
    _keep_mark(cache, part, at, complete=True)


def look(cache: Cache, wants: list[MirrorRequest]) -> tuple[list[MirrorRequest], list[MirrorRequest]]:
    """What is missing, and what is wanted because of what is not."""
    missing, further = list[MirrorRequest](), list[MirrorRequest]()
    stored = cache.for_writing(want.call.key() for want in wants)
    for want in wants:
        found = stored.get(want.call.key())
        try:
            answer: Json = json.loads(found.json) if found else {}
            if found is None or not (found.at >= want.since or want.is_met_by(answer)):
                missing.append(want)
            else:
                further += _wanted_then(cache, want, answer)
        except MalformedAnswer:
            missing.append(want)
    return missing, further


def keep(cache: Cache, want: MirrorRequest, body: bytes) -> tuple[list[MirrorRequest], set[str]]:
    """Keep an answer and those that it holds; what is wanted then, and the keys of what is news.

    Raises:
        MalformedAnswer: it is not what it should be; nothing is kept.
    """
    try:
        answer: Json = json.loads(body)
    except ValueError:
        raise _malformed(want) from None
    further = _wanted_then(cache, want, answer)
    held = [(call.key(), json.dumps(part).encode()) for call, part in (want.holds(answer) if want.holds else ())]
    now = time.time()
    return further, {key for key, text in (*held, (want.call.key(), body)) if cache.keep(key, text, now)}


def _wanted_then(cache: Cache, want: MirrorRequest, answer: Json) -> list[MirrorRequest]:
    def known(call: Operation[Any]) -> Json | None:
        found = cache.for_writing([call.key()])
        return json.loads(found[call.key()].json) if found else None

    try:
        return [*want.then(answer, known)] if want.then else []
    except (KeyError, TypeError, AttributeError):
        raise _malformed(want) from None


def _malformed(want: MirrorRequest) -> MalformedAnswer:
    return MalformedAnswer("Unexpected response from the service", request=str(want.call))


def _keep_mark(cache: Cache, part: MirrorUnit, at: float, *, complete: bool) -> None:
    cache.keep(part.name, json.dumps(_mark(part, complete=complete)).encode(), at)


def _mark(part: MirrorUnit, *, complete: bool) -> Json:
    return {"version": part.version, "complete": complete}
