"""Merges two edits of a customization: what somebody else changed stays, unless the user changed the same value."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple, cast

from presscheck.engine.site_config.comparison import same_value
from presscheck.engine.site_config.document import Place
from presscheck.engine.site_customization.settings import path_name, with_value

_NOTHING: Any = object()


class Conflict(NamedTuple):
    """A value that both changed: before, now, and as the user wants it; None where it is missing."""

    path: Place
    before: Any
    now: Any
    mine: Any

    @property
    def name(self) -> str:
        """Its path as text."""
        return path_name(self.path)


class Merged(NamedTuple):
    """A merged document, with the user's values where both changed one, and these values."""

    document: dict[str, Any]
    conflicts: tuple[Conflict, ...]

    def with_theirs(self, conflict: Conflict) -> Merged:
        """With the value of somebody else in one conflict."""
        rest = tuple(one for one in self.conflicts if one != conflict)
        return Merged(with_value(self.document, conflict.path, conflict.now), rest)


def merge(base: Mapping[str, Any], mine: Mapping[str, Any], now: Mapping[str, Any]) -> Merged:
    """Merge two edits of a document. Objects are merged field by field, lists are one value.

    Args:
        base: what both began with.
        mine: what the user made of it.
        now: what the site has.
    """
    conflicts: list[Conflict] = []
    merged = _merged((), base, mine, now, conflicts)
    return Merged(cast("dict[str, Any]", merged), tuple(conflicts))


def _merged(path: Place, base: Any, mine: Any, now: Any, conflicts: list[Conflict]) -> Any:
    if isinstance(mine, dict) and isinstance(now, dict):
        first = cast("dict[str, Any]", base) if isinstance(base, dict) else {}
        ours, theirs = cast("dict[str, Any]", mine), cast("dict[str, Any]", now)
        merged: dict[str, Any] = {}
        for name in dict.fromkeys((*theirs, *ours)):
            was, mine_now, their_now = (side.get(name, _NOTHING) for side in (first, ours, theirs))
            value = _merged((*path, name), was, mine_now, their_now, conflicts)
            if value is not _NOTHING:
                merged[name] = value
        return merged
    if same_value(mine, base) or same_value(mine, now):
        return now
    if not same_value(now, base):
        conflicts.append(Conflict(path, _known(base), _known(now), _known(mine)))
    return cast("Any", mine)


def _known(value: Any) -> Any:
    return None if value is _NOTHING else value
