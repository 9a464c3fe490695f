"""Changes since a review, while another user edits: viewed marks are removed, approvals become stale."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
from tests.running_service import RunningService
from tests.service_users import edits, somebody
from tests.tui.app_driver import app_on, running, shown, until

from presscheck.tui.places import Place

REQUEST = {"space_id": "api", "change_request_id": "5"}


pytestmark = pytest.mark.usefixtures("at_once")


@asynccontextmanager
async def review(service: RunningService, home: Path, size: tuple[int, int] = (120, 40)) -> AsyncIterator[Any]:
    async with running(app_on(service, home), size) as pilot:
        await until(pilot, shows="Rewrite the auth guide")
        await pilot.app.go(Place.review(*REQUEST.values()))
        await until(pilot, shows="4 changes")
        await until(pilot, shows="Can merge? ⚠ with warnings")
        yield pilot


async def somebody_edits(service: RunningService, title: str, text: str) -> None:
    """Replace the text of a page in the change request, as another user."""
    async with somebody(service, "mia") as (mia,):
        await edits(mia, REQUEST, title, text)


async def approve(pilot: Any) -> None:
    await pilot.press("v", "a")
    await until(pilot, shows="enter approve")
    await pilot.press("enter")
    await until(pilot, shows="✓2 ✗1")
    await until(
        pilot, holds=lambda: pilot.app.screen.session.model.own_review() is not None
    )  # the review was sent and loaded again


@pytest.mark.slow
async def test_an_edit_makes_approvals_stale_removes_a_viewed_mark_and_is_shown_as_changed_since(
    service: RunningService, tmp_path: Path
) -> None:
    async with review(service, tmp_path) as pilot:
        await until(pilot, shows="1 of 4")
        await pilot.press("space", "space")
        await until(pilot, shows="· 2 viewed")
        await pilot.press("I")
        await until(pilot, shows="you have not reviewed it yet")
        await approve(pilot)
        await pilot.press("I")
        await until(pilot, shows="no changes since your review")
        await somebody_edits(service, "Tokens", "# Tokens\n\nAll of it is new.\n")
        await pilot.press("ctrl+r")
        await until(pilot, shows="· 1 viewed")
        await until(pilot, shows="approved an older revision")
        await pilot.press("I")
        await until(pilot, shows="words · 1 of 1 since your review")
        text = shown(pilot.app)
        assert "since your review" in text.splitlines()[2]
        assert "1 change" in text
        assert "Sessions" not in text
        await pilot.press("I")
        await until(pilot, shows="4 changes")
        assert "since your review" not in shown(pilot.app)
        await pilot.press("g", "g")
        await until(pilot, shows="you  approved an older revision · changed since: Tokens")
        await until(pilot, shows="Ada  requested changes in an older revision")
