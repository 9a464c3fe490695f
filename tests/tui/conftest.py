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
    """Send comments at once, without the delay in which they can be undone."""
    monkeypatch.setattr(drafts, "HOLD", 0.0)


@pytest.fixture(autouse=True)
def short_pauses(monkeypatch: pytest.MonkeyPatch) -> None:
    """Shorten the time between two keys of a burst, and the pauses between connection checks."""
    monkeypatch.setattr(keyboard, "BURST", 0.002)
    monkeypatch.setattr(scheduler, "FIRST_PAUSE", 0.1)
    monkeypatch.setattr(scheduler, "SHORTEST_PAUSE", 0.1)
    monkeypatch.setattr(scheduler, "LONGEST_PAUSE", 1.0)


@pytest.fixture
def fast_live_updates(monkeypatch: pytest.MonkeyPatch) -> None:
    """Poll for changes by other users ten times a second while a review is open."""
    monkeypatch.setattr(live_updates, "INTERVAL", 0.1)


@pytest.fixture
def forecasts_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Forecast conflicts in the inbox at once, so that pictures contain them."""
    monkeypatch.setattr(inbox_session, "STAY", 0.0)


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Mark picture tests as slow, and select one look for each: a size and a theme.

    All looks run with `make pictures`, with `--snapshot-update`, and for tests that are named on the command line.
    """
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
