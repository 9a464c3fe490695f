"""Releases the cached syntax trees after the last rule."""

from collections.abc import Iterator

import pytest
from tests.rules.sources import forget_trees


@pytest.fixture(scope="package", autouse=True)
def _trees_for_rules() -> Iterator[None]:
    """Clear the caches of syntax trees: their million objects slow down the garbage collector in later tests."""
    yield
    forget_trees()
