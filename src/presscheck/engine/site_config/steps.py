"""The steps of a push: one call each, planned before any is sent."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, cast

from presscheck.api.operation import Operation
from presscheck.engine.site_config.comparison import Difference
from presscheck.engine.site_config.document import Part
from presscheck.engine.site_config.validation import Problem

Keys = Mapping[str, str]
"""The keys in the site (kind and id) of items that a push created, by the names that the plan gave them."""


class ItemId(str):
    """The id of an item among the arguments of a step: its key, or its name in the plan, until the step is sent."""

    __slots__ = ()


@dataclass(frozen=True)
class Step:
    """One call of a push.

    Attributes:
        part: the part that it changes.
        text: what it does, for people.
        operation: the call.
        given: the arguments of the call.
        creates: the name of the item that it creates, until its key is known.
        adds_space: the id of a space that it adds, and the name of that item in the plan.
        item: the item that it changes, as a key or a name.
        expects: what the item must have when the call is sent: texts, or `in` and `content`.
        leaves: what the item has after it; if it has that already, nothing is sent.
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
    """What a push does.

    Attributes:
        steps: its calls in their order.
        differences: the fields that differ, also those that are left alone.
        kept: the differences that only a push that prunes removes.
        manual: the differences that no call of the API can change.
        problems: what is wrong; nothing is sent then.
    """

    steps: tuple[Step, ...] = ()
    differences: tuple[Difference, ...] = ()
    kept: tuple[Difference, ...] = ()
    manual: tuple[Difference, ...] = ()
    problems: tuple[Problem, ...] = ()

    def steps_of(self, part: Part) -> Sequence[Step]:
        """The steps of one part."""
        return [step for step in self.steps if step.part == part]


def _with_ids(value: Any, keys: Keys) -> Any:
    if isinstance(value, ItemId):
        return keys.get(value, value).partition(" ")[2]
    if isinstance(value, dict):
        return {name: _with_ids(inner, keys) for name, inner in cast("dict[str, Any]", value).items()}
    if isinstance(value, tuple):
        return tuple(_with_ids(inner, keys) for inner in cast("tuple[Any, ...]", value))
    return value
