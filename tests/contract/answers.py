"""The answer of an operation as the description declares it."""

from collections.abc import Iterator
from typing import Any

from tests.contract.description import Described
from tests.contract.operations import releases

from presscheck.api.operation import Operation


def told(cls: type[Operation[Any]]) -> Iterator[Described]:
    for release, one in releases(cls).items():
        for code in ("200", "201"):
            if one["responses"].get(code):
                yield Described(one["responses"][code], release)
