"""The syntax trees of all modules stay in memory for the rules alone."""

from collections.abc import Iterator

import pytest
from tests.rules.sources import forget_trees


@pytest.fixture(scope="package", autouse=True)
def _trees_for_rules() -> Iterator[None]:
    """Forget the trees with the last rule: a million objects, among which garbage is looked for in later tests."""
    yield
    forget_trees()
