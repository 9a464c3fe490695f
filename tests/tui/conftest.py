"""Fixtures for the tests that drive the app."""

import pytest

from presscheck.tui.screens.review import drafts


@pytest.fixture
def at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Comments are sent at once, without the time to undo them."""
    monkeypatch.setattr(drafts, "HOLD", 0.0)
