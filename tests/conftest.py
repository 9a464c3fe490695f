"""Set-up and fixtures of all tests."""

import asyncio
import gc
import os
import signal
from collections.abc import AsyncIterator, Callable, Coroutine, Generator, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

import pytest
from tests.bait import Bait, laid_bait
from tests.generated_docs.documentation import Documentation, Source, named_sources
from tests.private_names import (
    render_what_is_looked_at,
    share_compiled_statements,
    share_tls_contexts,
    shorten_shutdowns,
    wait_for_work_rather_than_time,
)
from tests.running_service import RunningService, running_service
from tests.secret_service import SecretService, secret_service

from presscheck.client.client import Client
from presscheck.store.outbox import Outbox

# imported modules and collected tests stay until the end: scanning them for garbage took a sixth of the collection
gc.disable()

pytest_plugins = ("tests.suite_plugin",)

# programs that tests start use compiled modules, as they do for users
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)

# tests must not use the keyring of the user who runs them
os.environ.pop("DBUS_SESSION_BUS_ADDRESS", None)
os.environ["PYTHON_KEYRING_BACKEND"] = "keyring.backends.fail.Keyring"  # on macOS

# shells make background jobs ignore SIGINT; the programs that tests interrupt would inherit this
signal.signal(signal.SIGINT, signal.default_int_handler)

wait_for_work_rather_than_time()
shorten_shutdowns()
share_tls_contexts()
share_compiled_statements()
render_what_is_looked_at()


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Generator[None, object, object]:
    try:
        return (yield)
    finally:
        gc.enable()


def pytest_collection_finish() -> None:
    """Exclude permanent objects from garbage collection: scanning them took a quarter of the suite's time."""
    gc.collect()
    gc.freeze()
    gc.set_threshold(200_000, 20, 20)


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """Run tests with the fixture `documentation` on each generated repository, and on those in `PRESSCHECK_DOCS`."""
    if "documentation" in metafunc.fixturenames:
        marker = metafunc.definition.get_closest_marker("documentation")
        kinds = marker.args if marker and marker.args else ("handbook", "varied")
        sources = named_sources(kinds)
        metafunc.parametrize(
            "documentation", sources, ids=[source.name for source in sources], indirect=True, scope="session"
        )


@pytest.fixture(scope="session")
def documentation(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Documentation:
    """A documentation repository, written once per session; see the marker `documentation`."""
    source: Source = request.param
    return source.documentation(tmp_path_factory.mktemp("documentation"))


@pytest.fixture
def service_defaults() -> Mapping[str, Any]:
    """Default options of the marker `service`; folders can override this fixture."""
    return {"sample": True}


@pytest.fixture(scope="module")
def shared_service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Callable[..., RunningService]]:
    """Return a function that starts a service once per module and set of options of the marker `service`."""
    with ExitStack() as stack:
        running: dict[tuple[tuple[str, Any], ...], RunningService] = {}

        def start(**options: Any) -> RunningService:
            key = tuple(sorted(options.items()))
            if key not in running:
                running[key] = stack.enter_context(_prepared_service(tmp_path_factory.mktemp("service"), **options))
            return running[key]

        yield start


Preparation = Callable[[RunningService], Coroutine[Any, Any, None] | None]


@contextmanager
def _prepared_service(
    directory: Path, *, prepare: Preparation | None = None, **options: Any
) -> Iterator[RunningService]:
    with running_service(directory, **options) as new_service:
        if prepare is not None and (preparation := prepare(new_service)) is not None:
            asyncio.run(preparation)
        yield new_service


@pytest.fixture
def service(
    request: pytest.FixtureRequest,
    service_defaults: Mapping[str, Any],
    shared_service: Callable[..., RunningService],
    tmp_path_factory: pytest.TempPathFactory,
) -> Iterator[RunningService]:
    """A running service. By default each test gets a new one with the sample workspace; see the marker `service`."""
    marker = request.node.get_closest_marker("service")
    options = {**service_defaults, **(marker.kwargs if marker else {})}
    if options.pop("shared", False):
        yield shared_service(**options)
    else:
        with _prepared_service(tmp_path_factory.mktemp("service"), **options) as new_service:
            yield new_service


@pytest.fixture
async def client(service: RunningService) -> AsyncIterator[Client]:
    """A client of the service with the token of its first user."""
    async with Client(service.base_url, service.token) as opened:
        yield opened


@pytest.fixture
def bait(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Bait]:
    """Addresses with a secret; the test fails if one is opened over the network."""
    with laid_bait(tmp_path_factory.mktemp("bait")) as laid:
        yield laid


@pytest.fixture
def outbox(tmp_path: Path) -> Iterator[Outbox]:
    """An empty outbox in a file."""
    opened = Outbox(tmp_path / "outbox.sqlite")
    yield opened
    opened.close()


@pytest.fixture
def dbus_session(monkeypatch: pytest.MonkeyPatch) -> Iterator[SecretService]:
    """A D-Bus session without a keyring, used by this process."""
    with secret_service() as session:
        monkeypatch.setenv("DBUS_SESSION_BUS_ADDRESS", session.address)
        yield session


@pytest.fixture
def keyring(dbus_session: SecretService) -> SecretService:
    """An unlocked system keyring."""
    dbus_session.start(unlocked=True)
    return dbus_session
