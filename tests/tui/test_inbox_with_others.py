"""Bulk actions of the inbox while another user archives and merges, and retries of failed items."""

import asyncio
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from tests.running_service import RunningService
from tests.service_users import At, edits, somebody, threads
from tests.tui.app_driver import app_on, inbox_loaded, pick, running, shown, until, until_row
from tests.tui.change_request_factory import begun
from tests.tui.widget_harness import app_with
from typing_extensions import override

from presscheck.api.change_requests import (
    GetChangeRequest,
    ListRequestedReviewers,
    ListReviews,
    MergeChangeRequest,
    UpdateChangeRequest,
)
from presscheck.client.client import Client
from presscheck.text.styled_text import Line, Span
from presscheck.tui.screens.batch_actions import BatchItem, BatchScreen

AUTH = {"space_id": "api", "change_request_id": "5"}
LIMITS = {"space_id": "api", "change_request_id": "4"}
TYPOS = {"space_id": "guides", "change_request_id": "3"}


def subject_here(pilot: Any) -> str:
    request = pilot.app.screen.session.current()
    return request.subject if request else ""


async def to_row(pilot: Any, subject: str) -> None:
    """Move the cursor to a row; rows may move while the list is refreshed."""
    for step in range(40):
        if subject_here(pilot) == subject:
            return
        await pilot.press(*("g", "g") if step % 10 == 0 else "j")
    raise AssertionError(f"no row {subject!r}:\n{shown(pilot.app)}")


async def act(pilot: Any, name: str, *subjects: str) -> None:
    """Mark only these rows, and start a bulk action on them."""
    await pilot.press("escape")
    for subject in subjects:
        await to_row(pilot, subject)
        await pilot.press("space")
    await pilot.press("A")
    await until(pilot, shows=f"With {len(subjects)} change requests")
    await pick(pilot, name)


async def status(client: Client, at: At) -> str:
    return (await client.send(GetChangeRequest(**at))).status


@pytest.mark.slow
async def test_bulk_actions_report_requests_that_somebody_closed_and_do_the_others(
    service: RunningService, tmp_path: Path
) -> None:
    await begun(service, "Parcels of my own", "First.\n", by="robin")
    async with running(app_on(service, tmp_path)) as pilot, somebody(service, "noor") as (noor,):
        await inbox_loaded(pilot)
        await pilot.press("4")
        await until_row(pilot, "Parcels of my own")
        await act(pilot, "approve", "Rewrite the auth guide", "Limits per workspace", "Parcels of my own")
        await until(pilot, shows="Approve 3 change requests")
        await until(pilot, shows="API docs #4  Limits per workspace  ⚠ 2 pages not viewed")
        await until(pilot, shows="⚠ yours: does not count · 1 page not viewed")
        await pilot.press(*"Fine", "ctrl+e")
        await until(pilot, shows="the draft is kept")
        await noor.send(UpdateChangeRequest(**AUTH, status="archived"))
        await pilot.press("enter", *"by me", "ctrl+s")
        await until(pilot, shows="2 done · 1 failed")
        await until(pilot, shows="Change request #5 is archived.")
        await noor.send(UpdateChangeRequest(**AUTH, status="open"))
        await pilot.press("s")
        await until(pilot, shows="3 done")
        for at in (AUTH, LIMITS):
            reviews = (await noor.send(ListReviews(**at))).items
            assert [one.status for one in reviews if one.reviewer.id == "robin"] == ["approved"]
            assert "Fine\nby me" in await threads(noor, at)

        # an approved change request waits for its author until it is edited
        await pilot.press("q", "1")
        await until(pilot, shows="Waiting for author 2")
        await until_row(pilot, "Limits per workspace", is_there=False)
        await edits(noor, LIMITS, "Limits", "Fewer than before.\n")
        await pilot.press("ctrl+r")
        await until_row(pilot, "Limits per workspace")
        await until_row(pilot, "✓ stale")

        await act(pilot, "reviewers", "Limits per workspace", "Fix typos in quickstart")
        await until(pilot, shows="Choose reviewers")
        await pilot.press(*"tom", "tab", "enter")
        await until(pilot, shows="Request reviewers: 2 change requests?")
        await pilot.press("y")
        await until(pilot, shows="2 done")
        asked = (await noor.send(ListRequestedReviewers(**LIMITS))).items
        assert "tomasz" in [one.user.id for one in asked if one.user]
        await pilot.press("q")

        await act(pilot, "archive", "Limits per workspace", "Fix typos in quickstart")
        await until(pilot, shows="Archive: 2 change requests?")
        await noor.send(MergeChangeRequest(**TYPOS))
        await pilot.press("y")
        await until(pilot, shows="1 done · 1 failed")
        await until(pilot, shows="is already merged")
        assert [await status(noor, at) for at in (LIMITS, TYPOS)] == ["archived", "merged"]


class Step(BatchItem):
    """An item that waits for `answered`; without it, its first run fails."""

    def __init__(self, name: str, answered: asyncio.Event | None = None) -> None:
        super().__init__()
        self.name, self.answered, self.runs = name, answered, 0

    @override
    @property
    def key(self) -> str:
        return self.name

    @override
    @property
    def label(self) -> Line:
        return (Span(self.name),)

    @override
    async def run(self, redraw: Callable[[], None]) -> None:
        self.runs += 1
        if self.answered:
            await self.answered.wait()
        self.state = "done" if self.answered or self.runs > 1 else "failed"


async def test_failed_items_are_retried_but_not_while_the_batch_still_runs(tmp_path: Path) -> None:
    answered = asyncio.Event()
    steps = [Step("First"), Step("Second", answered)]
    async with app_with(lambda: BatchScreen("Update", steps), tmp_path).run_test(size=(100, 20)) as pilot:
        await until(pilot, shows="1 failed")
        await pilot.press("s")
        await until(pilot, shows="it is still running")
        answered.set()
        await until(pilot, shows="1 done · 1 failed")
        await pilot.press("s")
        await until(pilot, shows="2 done")
    assert [step.runs for step in steps] == [2, 1]
