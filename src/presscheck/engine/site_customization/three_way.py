"""Merges two edits of a customization. Other people's changes stay, unless the user changed the same value."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple, cast

from presscheck.engine.site_config.comparison import same_value
from presscheck.engine.site_config.document import Place
from presscheck.engine.site_customization.settings import path_name, with_value

_NOTHING: Any = object()


class Conflict(NamedTuple):
    """A value that both sides changed: the old value, the current value and the user's value; None if missing."""

    path: Place
    before: Any
    now: Any
    mine: Any

    @property
    def name(self) -> str:
        """The path as text."""
        return path_name(self.path)


class Merged(NamedTuple):
    """A merged document and the conflicts. For each conflict, the document has the user's value."""

    document: dict[str, Any]
    conflicts: tuple[Conflict, ...]

    def with_theirs(self, conflict: Conflict) -> Merged:
        """Return the merge with one conflict resolved by the current value of the site."""
        rest = tuple(one for one in self.conflicts if one != conflict)
        return Merged(with_value(self.document, conflict.path, conflict.now), rest)


def merge(base: Mapping[str, Any], mine: Mapping[str, Any], now: Mapping[str, Any]) -> Merged:
    """Merge two edits of a document. Objects are merged key by key; a list is a single value.

    Args:
        base: the common old document.
        mine: the document with the user's changes.
        now: the current document of the site.
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
    # the user changed nothing, or both sides made the same change
    if same_value(mine, base) or same_value(mine, now):
        return now
    if not same_value(now, base):
        conflicts.append(Conflict(path, _known(base), _known(now), _known(mine)))
    return cast("Any", mine)


def _known(value: Any) -> Any:
    return None if value is _NOTHING else value
