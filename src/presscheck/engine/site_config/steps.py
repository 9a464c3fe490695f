"""The plan of a push and its steps, one call each, all planned before the first call is sent."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, cast

from presscheck.api.operation import Operation
from presscheck.engine.site_config.comparison import Difference
from presscheck.engine.site_config.document import Part
from presscheck.engine.site_config.validation import Problem

Keys = Mapping[str, str]
"""The keys (kind and id) of items that a push created, by their names in the plan."""


class ItemId(str):
    """Placeholder for an item's id in the arguments of a step: the item's key, or its name in the plan."""

    __slots__ = ()


@dataclass(frozen=True)
class Step:
    """A planned call of a push.

    Attributes:
        part: the part that the call changes.
        text: a description for the user.
        operation: the type of the call.
        given: the arguments of the call.
        creates: the name in the plan of the item that the call creates.
        adds_space: the id of the space that the call adds, and the name in the plan of the new item.
        item: the changed item: its key, or its name in the plan.
        expects: the values that the item must have when the call is sent: texts, or `in` and `content`.
        leaves: the values that the item has after the call; if it already has them, nothing is sent.
    """

    part: Part
    text: str
    operation: type[Operation[Any]]
    given: Mapping[str, Any]
    creates: str = ""
    adds_space: tuple[str, str] | None = None
    item: str = ""
    expects: Mapping[str, Any] = field(default_factory=dict[str, Any])
    leaves: Mapping[str, Any] = field(default_factory=dict[str, Any])

    def call(self, keys: Keys) -> Operation[Any]:
        """Return the call, with the ids of the items that earlier steps created."""
        return self.operation(**_with_ids(self.given, keys))


@dataclass(frozen=True)
class Plan:
    """The plan of a push.

    Attributes:
        steps: the steps, in sending order within each part.
        differences: all fields that differ, including fields that the push does not change.
        kept: the differences that remain because the push does not prune.
        manual: the differences that no call of the API can remove.
        problems: the mistakes in the file; if there are any, nothing is sent.
    """

    steps: tuple[Step, ...] = ()
    differences: tuple[Difference, ...] = ()
    kept: tuple[Difference, ...] = ()
    manual: tuple[Difference, ...] = ()
    problems: tuple[Problem, ...] = ()

    def steps_of(self, part: Part) -> Sequence[Step]:
        """Return the steps of one part."""
        return [step for step in self.steps if step.part == part]


def _with_ids(value: Any, keys: Keys) -> Any:
    if isinstance(value, ItemId):
        return keys.get(value, value).partition(" ")[2]
    if isinstance(value, dict):
        return {name: _with_ids(inner, keys) for name, inner in cast("dict[str, Any]", value).items()}
    if isinstance(value, tuple):
        return tuple(_with_ids(inner, keys) for inner in cast("tuple[Any, ...]", value))
    return value
