"""The steps of a push: one call each, planned before any is sent."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from presscheck.api.operation import Operation
from presscheck.engine.site_config.comparison import Difference
from presscheck.engine.site_config.document import Part
from presscheck.engine.site_config.validation import Problem

Keys = Mapping[str, str]
"""The keys in the site (kind and id) of items that a push created, by the names that the plan gave them."""


@dataclass(frozen=True)
class Step:
    """One call of a push.

    Attributes:
        part: the part that it changes.
        text: what it does, for people.
        operation: the call.
        build: makes the call, from the keys of the items that earlier steps created.
        creates: the name of the item that it creates, until its key is known.
        adds_space: the id of a space that it adds, and the name of that item in the plan.
        item: the item that it changes, as a key or a name.
        expects: what the item must have when the call is sent: texts, or `in` and `content`.
        leaves: what the item has after it; if it has that already, nothing is sent.
    """

    part: Part
    text: str
    operation: type[Operation[Any]]
    build: Callable[[Keys], Operation[Any]]
    creates: str = ""
    adds_space: tuple[str, str] | None = None
    item: str = ""
    expects: Mapping[str, Any] = field(default_factory=dict[str, Any])
    leaves: Mapping[str, Any] = field(default_factory=dict[str, Any])


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


def id_of(keys: Keys, name: str) -> str:
    """The id of an item, from its key, or from its name in a plan."""
    return keys.get(name, name).partition(" ")[2]
