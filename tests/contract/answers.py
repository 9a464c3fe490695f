"""The answer of an operation as the description declares it."""

from collections.abc import Iterator

from tests.contract.description import Described
from tests.contract.operations import releases

from presscheck.api.operation import FAMILIES


def told(name: str) -> Iterator[Described]:
    cls = FAMILIES[name]
    for release, one in releases(cls).items():
        for code in ("200", "201"):
            if one["responses"].get(code):
                yield Described(one["responses"][code], release)
