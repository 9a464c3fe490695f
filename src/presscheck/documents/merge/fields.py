"""Three-way merge of objects and orders, field by field; where both sides changed a field, ours wins."""

from __future__ import annotations

from collections.abc import Container, Iterable, Mapping, Sequence
from typing import Any, NamedTuple, cast

from presscheck.documents.diff.sequence_matcher import longest_increasing_subsequence

Fields = Mapping[str, Any]

BOOKKEEPING = frozenset(("createdAt", "updatedAt", "git", "urls", "path", "pages"))
"""Derived fields: a difference in them is no edit."""
_NESTED = frozenset(("layout", "variables"))
"""Fields whose own fields are merged one by one; any other value is merged as a whole."""
_NOTHING: Any = object()


class MergedFields(NamedTuple):
    """Merged fields, and the names of those in conflict."""

    fields: dict[str, Any]
    conflicts: list[str]


def merge_fields(
    base: Fields, ours: Fields, theirs: Fields, *, units: Iterable[tuple[str, ...]] = (), but: Iterable[str] = ()
) -> MergedFields:
    """Merges two objects.

    Args:
        base: the common ancestor; empty when both are new.
        ours: the side that wins a conflict.
        theirs: the other side.
        units: names that belong together and come from one side.
        but: names to leave out.
    """
    fields: dict[str, Any] = {}
    conflicts: list[str] = []
    together = {name: unit for unit in units for name in unit}
    for name in {**ours, **theirs, **base}:
        if name in but:
            continue
        if name not in together and ours.get(name, _NOTHING) == theirs.get(name, _NOTHING):
            if name in ours:
                fields[name] = ours[name]
            continue
        one, other, was = (
            {key: side[key] for key in together.get(name, (name,)) if key in side} for side in (ours, theirs, base)
        )
        taken = other if other not in (one, was) and one == was else one
        if name in _NESTED and all(isinstance(side.get(name, {}), dict) for side in (one, other, was)):
            inner = merge_fields(*(cast("Fields", side.get(name, {})) for side in (was, one, other)))
            taken = {name: inner.fields} if inner.fields or name in taken else {}
            conflicts += [f"{name} {within}" for within in inner.conflicts]
        elif one != other and was not in (one, other):
            if name == "updatedAt":
                taken = max(one, other, key=lambda side: str(side.get(name, "")))
            elif name not in BOOKKEEPING:
                conflicts.append(name)
        fields |= {name: taken[name]} if name in taken else {}
    return MergedFields(fields, conflicts)


def is_edited(before: Fields, after: Fields) -> bool:
    """Returns whether anything but derived fields differs."""
    names = ({*before} | {*after}) - BOOKKEEPING
    return any(before.get(name, _NOTHING) != after.get(name, _NOTHING) for name in names)


def merge_order(base: Sequence[str], ours: Sequence[str], theirs: Sequence[str], members: Iterable[str]) -> list[str]:
    """Merges two orders of the members; what only one side moved or added keeps that side's place.

    That place is behind the same item, of those that no side moved; where both sides put something, ours comes first.
    """
    wanted = dict.fromkeys(members)
    first, one, other = ([item for item in side if item in wanted] for side in (base, ours, theirs))
    if first == one == other:
        return [*dict.fromkeys((*first, *wanted))]
    of_ours = _moved(first, one)
    of_theirs = _moved(first, other) - of_ours
    kept = [item for item in first if item not in of_ours and item not in of_theirs]
    anchors = {*kept}
    runs = [_runs(one, anchors, of_ours), _runs(other, anchors, of_theirs)]
    order: list[str] = []
    for anchor in (None, *kept):
        order += [] if anchor is None else [anchor]
        for run in runs:
            order += run.get(anchor, ())
    return [*dict.fromkeys((*order, *wanted))]


def _moved(base: Sequence[str], side: Sequence[str]) -> set[str]:
    """Returns what a side added, and the fewest items whose moves explain its order."""
    at = {item: number for number, item in enumerate(base)}
    stayed = [item for item in side if item in at]
    in_order = {stayed[number] for number in longest_increasing_subsequence([at[item] for item in stayed])}
    return {*side} - in_order


def _runs(side: Sequence[str], anchors: Container[str], own: Container[str]) -> dict[str | None, list[str]]:
    """Returns what a side placed itself, by the item that it follows; None at the start."""
    runs: dict[str | None, list[str]] = {}
    anchor: str | None = None
    for item in side:
        if item in anchors:
            anchor = item
        elif item in own:
            runs.setdefault(anchor, []).append(item)
    return runs
