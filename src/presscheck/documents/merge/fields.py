"""Three-way merge of objects and orders, field by field; where both sides changed a field, ours wins."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple, cast

from presscheck.documents.merge.three_way import three_way

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
            fields |= {name: ours[name]} if name in ours else {}
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
    """Merges two orders of the members; what only one side moved or added keeps that side's place."""
    wanted = dict.fromkeys(members)
    sides = [[one for one in side if one in wanted] for side in (base, ours, theirs)]
    placed: list[tuple[str, bool]] = []
    known = set(sides[1])
    for region in three_way(*sides):
        is_ours = region.kind != "theirs"
        placed += [(one, is_ours) for one in region.taken]
        if region.kind == "conflict":
            placed += [(one, False) for one in region.theirs if one not in known]
    at_ours = {one for one, is_ours in placed if is_ours}
    order = [*dict.fromkeys(one for one, is_ours in placed if is_ours or one not in at_ours)]
    for one in wanted.keys() - set(order):
        _put_back(order, one, sides[2] if one in sides[2] else sides[1])
    return order


def _put_back(order: list[str], one: str, side: Sequence[str]) -> None:
    """Inserts an item that both sides moved apart: after its predecessor on a side, else at the start."""
    before = side[: side.index(one)] if one in side else order[-1:]
    follows = next((other for other in reversed(before) if other in order), None)
    order.insert(order.index(follows) + 1 if follows is not None else 0, one)
