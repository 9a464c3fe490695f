"""The table of all writes in `writes.txt`: what each does in words, what it makes stale, and how it is undone.

`PRESSCHECK_UPDATE_GOLDEN=1` writes the table anew: read the difference.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from typing import Any

from tests.engine.write_samples import SAMPLES
from tests.root import ROOT

from presscheck.api.operation import Operation, every_operation
from presscheck.engine.writes.descriptions import describe, place_of
from presscheck.engine.writes.effects import EFFECTS, effects_of, may_wait
from presscheck.engine.writes.inverses import INVERSES, SentWrite, inverse_of, reason_against

TABLE = ROOT / "tests" / "engine" / "writes.txt"
WRITES = sorted((one for one in every_operation() if not one.is_read()), key=lambda one: one.stored_name())
ODD = "a b/é"
"""An id whose characters must be quoted in a path."""


def shown(call: Operation[Any]) -> str:
    given = ", ".join(f"{name}={value!r}" for name, value in sorted(call.given().items()))
    return f"{type(call).__name__}({given})"


def place(call: Operation[Any], result: dict[str, Any] | None) -> str:
    found = place_of(call, result)
    return " ".join(f"{name}={value}" for name, value in vars(found).items() if value is not None)


def of_each_operation() -> Iterator[str]:
    """What depends on the operation and its path alone."""
    yield "# Every write: whether it can wait, what is done if its delivery is unknown, and what it makes stale"
    for operation in WRITES:
        call = operation.model_construct(**dict.fromkeys(operation.path_fields(), ODD))
        effects = effects_of(call)
        yield f"\n{operation.stored_name()}: {'waits' if may_wait(operation) else 'is sent now'}, {effects.reconcile}"
        assert effects.queued == may_wait(operation)
        yield f"  scope {effects.scope(call)}"
        yield f"  stale {' '.join(effects.stale(call))}"
        if effects.state:
            yield f"  state {shown(effects.state[0](call))}"
        if isinstance(reason := INVERSES.get(operation), str):
            yield f"  not undone: {reason}"


def of_each_sample() -> Iterator[str]:
    """What depends on the arguments of a write."""
    yield "\n# Sample writes: the words for them, the place, and what undoes them"
    for call, former, result in SAMPLES:
        yield f"\n{shown(call)}"
        yield f"  former {former}, result {result}"
        yield f"  {describe(call)} ({place(call, result)})"
        effects = EFFECTS.get(type(call))
        for author in ("ada", "") if effects and effects.listings else ():
            assert effects
            assert effects.listings
            yield f"  looked for, by {author or 'anybody'}: {' '.join(map(shown, effects.listings(call, author)))}"
        sent = SentWrite(call, former, result, "me")
        inverse, reason = inverse_of(call), reason_against(sent)
        if reason:
            yield f"  not undone: {reason}"
        elif inverse:
            yield f"  undone: {inverse.words(sent)}"
            yield from (f"    {shown(undo)}" for undo in inverse.calls(sent))


def test_the_table_of_writes() -> None:
    table = "\n".join((*of_each_operation(), *of_each_sample())) + "\n"
    if os.environ.get("PRESSCHECK_UPDATE_GOLDEN"):
        TABLE.write_text(table, "utf-8")
    assert table == TABLE.read_text("utf-8")


def test_every_write_with_an_inverse_is_a_sample() -> None:
    sampled = {type(call) for call, _, _ in SAMPLES}
    missing = {one.__name__ for one, inverse in INVERSES.items() if not isinstance(inverse, str)} - {
        one.__name__ for one in sampled
    }
    assert missing == set()
