"""For the tests that drive the app."""

import pytest

from presscheck.tui.screens.review import drafts


@pytest.fixture
def at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """What is said in a review leaves at once: nobody thinks better of it."""
    monkeypatch.setattr(drafts, "HOLD", 0.0)
