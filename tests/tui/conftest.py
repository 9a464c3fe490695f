"""Fixtures for the tests that drive the app."""

import os
from zlib import crc32

import pytest
from tests.tui.snapshot_setup import LOOK_NAMES, WHOLE_LOOK_NAMES

from presscheck.engine.reads import scheduler
from presscheck.engine.review import live_updates
from presscheck.tui import keyboard
from presscheck.tui.comments import drafts
from presscheck.tui.screens.inbox import session as inbox_session


@pytest.fixture
def at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Comments are sent at once, without the time to undo them."""
    monkeypatch.setattr(drafts, "HOLD", 0.0)


@pytest.fixture(autouse=True)
def short_pauses(monkeypatch: pytest.MonkeyPatch) -> None:
    """Tests press the next key sooner than people do who read why a key does nothing, and services return sooner."""
    monkeypatch.setattr(keyboard, "BURST", 0.002)
    monkeypatch.setattr(scheduler, "FIRST_PAUSE", 0.1)
    monkeypatch.setattr(scheduler, "SHORTEST_PAUSE", 0.1)
    monkeypatch.setattr(scheduler, "LONGEST_PAUSE", 1.0)


@pytest.fixture
def fast_live_updates(monkeypatch: pytest.MonkeyPatch) -> None:
    """An open review shows what others do ten times a second."""
    monkeypatch.setattr(live_updates, "INTERVAL", 0.1)


@pytest.fixture
def forecasts_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """The inbox forecasts conflicts without waiting until somebody stays, so that a picture has them."""
    monkeypatch.setattr(inbox_session, "STAY", 0.0)


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Compare each picture in one of its looks, in turn; in all with `make pictures`, and for tests that are named."""
    for item in items:
        if is_picture(item):
            item.add_marker("slow")
    is_whole = os.environ.get("PRESSCHECK_LOOKS") == "all" or config.getoption("update_snapshots", default=False)
    if is_whole or any("::" in argument for argument in config.args):
        return
    config.hook.pytest_deselected(items=[item for item in items if _is_other_look(item)])
    items[:] = [item for item in items if not _is_other_look(item)]


def is_picture(item: pytest.Item) -> bool:
    return "snap_compare" in getattr(item, "fixturenames", ())


def _is_other_look(item: pytest.Item) -> bool:
    if not is_picture(item):
        return False
    for names in (LOOK_NAMES, WHOLE_LOOK_NAMES):
        for number, name in enumerate(names):
            if item.name.endswith((f"[{name}]", f"-{name}]")):
                return crc32(item.name.removesuffix(f"{name}]").encode()) % len(names) != number
    return False
