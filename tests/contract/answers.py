"""The response schemas of operations in the published descriptions."""

from collections.abc import Iterator
from typing import Any

from tests.contract.description import Described
from tests.contract.operations import releases

from presscheck.api.operation import Operation


def told(cls: type[Operation[Any]]) -> Iterator[Described]:
    """Yield the schemas of an operation's successful responses in all releases."""
    for release, facts in releases(cls).items():
        for code in ("200", "201"):
            if facts["responses"].get(code):
                yield Described(facts["responses"][code], release)
