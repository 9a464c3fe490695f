"""For every test."""

import gc
import os

import pytest
import textual._wait
from tests.generated_docs.documentation import Documentation, Source, named_sources

pytest_plugins = ("tests.suite_plugin",)

# programs that tests start are compiled once, as they are for their users
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)

# After each key the pilot sleeps by this much until the process rests. Fiftieths of a second were two thirds of the
# time of the app's tests; what takes longer than a moment is waited for by name, never by resting.
assert textual._wait.SLEEP_GRANULARITY
textual._wait.SLEEP_GRANULARITY = 1 / 200


def pytest_collection_finish() -> None:
    """Leave what stays until the end alone: a quarter of the suite's time was looking for garbage among it."""
    gc.collect()
    gc.freeze()
    gc.set_threshold(20_000, 25, 50)


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """Run what asks for documentation on each generated repository, and on those that `PRESSCHECK_DOCS` names."""
    if "documentation" in metafunc.fixturenames:
        marker = metafunc.definition.get_closest_marker("documentation")
        kinds = marker.args if marker and marker.args else ("handbook", "varied")
        found = named_sources(kinds)
        metafunc.parametrize(
            "documentation", found, ids=[source.name for source in found], indirect=True, scope="session"
        )


@pytest.fixture(scope="session")
def documentation(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Documentation:
    """A repository of documentation, written once; see the marker `documentation`."""
    source: Source = request.param
    return source.documentation(tmp_path_factory.mktemp("documentation"))
