"""The inbox and bulk actions, while another user opens, archives and merges between key presses."""

import threading
from pathlib import Path
from typing import Any

import pytest
from tests.running_service import RunningService
from tests.service_users import At, main_moves, opens, somebody, threads
from tests.stalling_proxy import holding_back
from tests.tui.app_driver import app_on, inbox_loaded, pick, running, shown, until, until_row, write

from presscheck.api.change_requests import (
    GetChangeRequest,
    ListRequestedReviewers,
    ListReviews,
    MergeChangeRequest,
    UpdateChangeRequest,
)
from presscheck.api.comments import Document, PostComment
from presscheck.client.client import Client
from presscheck.tui.widgets.row_list import RowList

pytestmark = pytest.mark.slow

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


async def approved(client: Client, at: At) -> bool:
    """Whether Robin approved the change request."""
    found = (await client.send(ListReviews(**at))).items
    return any(one.reviewer.id == "robin" and one.status == "approved" for one in found)


async def test_cursor_and_marks_stay_and_done_requests_come_back(service: RunningService, tmp_path: Path) -> None:
    async with running(app_on(service, tmp_path)) as pilot, somebody(service, "mia", "luz") as (mia, luz):
        await inbox_loaded(pilot)
        await to_row(pilot, "Limits per workspace")
        await pilot.press("space")
        await to_row(pilot, "Fix typos in quickstart")
        marked = set(pilot.app.screen.query_one(RowList).marks.keys)
        await opens(mia, "cli", "Errors by number", "Configuration", "The file of settings.\n", asks=("robin",))
        await luz.send(PostComment(**TYPOS, body=Document(markdown="At last")))
        await pilot.press("ctrl+r")
        await until_row(pilot, "Errors by number")
        await until(pilot, shows="At last")
        assert subject_here(pilot) == "Fix typos in quickstart"
        assert pilot.app.screen.query_one(RowList).marks.keys == marked
        await pilot.press("escape", "D")
        await until_row(pilot, "#3 Fix typos in quickstart", is_there=False)
        await luz.send(PostComment(**TYPOS, body=Document(markdown="Really")))
        await pilot.press("ctrl+r")
        await until_row(pilot, "#3 Fix typos in quickstart")


async def test_a_range_of_marks_starts_at_its_row_also_if_that_moves_or_goes(
    service: RunningService, tmp_path: Path
) -> None:
    async with running(app_on(service, tmp_path)) as pilot, somebody(service, "mia", "noor") as (mia, noor):
        await inbox_loaded(pilot)
        rows = pilot.app.screen.query_one(RowList)
        await to_row(pilot, "Limits per workspace")
        start = rows.cursor
        await pilot.press("V")
        await opens(mia, "cli", "Errors by number", "Configuration", "The file of settings.\n", asks=("robin",))
        await pilot.press("ctrl+r")
        await until(pilot, shows="Errors by number", holds=lambda: rows.cursor == start + 1)
        expected = {pilot.app.screen.session.current().id}
        await pilot.press("j")
        expected.add(pilot.app.screen.session.current().id)
        await pilot.press("V")
        await until(pilot, shows="2 marked")
        assert rows.marks.keys == expected, "without the row that is now where the range started"

        await pilot.press("escape")
        await to_row(pilot, "Limits per workspace")
        await pilot.press("V", "j")
        await noor.send(UpdateChangeRequest(**LIMITS, status="archived"))
        await pilot.press("ctrl+r")
        await until_row(pilot, "Limits per workspace", is_there=False)
        here = pilot.app.screen.session.current().id
        await pilot.press("V", "V")
        await until(pilot, shows="1 marked")
        assert rows.marks.keys == {here}, "the range from a row that is gone begins anew"


async def test_what_failed_is_not_retried_while_the_batch_still_sends(service: RunningService, tmp_path: Path) -> None:
    answered, asked = threading.Event(), list[str]()
    async with somebody(service, "noor") as (noor,):
        held = f"/change-requests/{(await noor.send(GetChangeRequest(**LIMITS))).id}/update"
        with holding_back(service, tmp_path, held, until=answered, asked=asked) as address:
            async with running(app_on(service, tmp_path / "home", base_url=address)) as pilot:
                await inbox_loaded(pilot)
                await act(pilot, "update", "Rewrite the auth guide", "Limits per workspace")
                await until(pilot, shows="Update from main: 2 change requests?")
                await noor.send(UpdateChangeRequest(**AUTH, status="archived"))
                await pilot.press("y")
                await until(pilot, shows="1 failed", holds=lambda: any(held in path for path in asked))
                await pilot.press("s")
                await until(pilot, shows="it is still running")
                answered.set()
                await until(pilot, shows="1 done · 1 failed")
                await noor.send(UpdateChangeRequest(**AUTH, status="open"))
                await pilot.press("s")
                await until(pilot, shows="2 done")
                assert len([path for path in asked if held in path]) == 1


async def test_one_of_many_was_archived_and_one_merged_meanwhile(service: RunningService, tmp_path: Path) -> None:
    async with running(app_on(service, tmp_path)) as pilot, somebody(service, "noor") as (noor,):
        await inbox_loaded(pilot)
        await act(pilot, "approve", "Rewrite the auth guide", "Limits per workspace", "Fix typos in quickstart")
        await until(pilot, shows="Approve 3 change requests")
        await noor.send(MergeChangeRequest(**LIMITS))
        await noor.send(UpdateChangeRequest(**AUTH, status="archived"))
        await pilot.press("enter")
        await until(pilot, shows="1 done · 2 failed")
        await until(pilot, shows="Change request #5 is archived.")
        await until(pilot, shows="Change request #4 is merged.")
        assert [await approved(noor, at) for at in (AUTH, LIMITS, TYPOS)] == [False, False, True]
        await noor.send(UpdateChangeRequest(**AUTH, status="open"))
        await pilot.press("s")
        await until(pilot, shows="2 done · 1 failed")
        assert [await approved(noor, at) for at in (AUTH, LIMITS, TYPOS)] == [True, False, True]
        await pilot.press("q")
        await until(pilot, shows="Needs me")


async def test_bulk_actions_skip_requests_that_somebody_closed(service: RunningService, tmp_path: Path) -> None:
    async with running(app_on(service, tmp_path)) as pilot, somebody(service, "noor") as (noor,):
        await inbox_loaded(pilot)
        await act(pilot, "comment", "Rewrite the auth guide", "Limits per workspace")
        await write(pilot, "", "Soon")
        await noor.send(PostComment(**LIMITS, body=Document(markdown="Now?")))
        await pilot.press("ctrl+s")
        await until(pilot, shows="Comment: 2 change requests?")
        await pilot.press("y")
        await until(pilot, shows="2 done")
        assert {"Now?", "Soon"} <= (await threads(noor, LIMITS)).keys()
        await pilot.press("q")

        await act(pilot, "reviewers", "Rewrite the auth guide", "Limits per workspace")
        await until(pilot, shows="Choose reviewers")
        await pilot.press(*"tom", "tab", "enter")
        await until(pilot, shows="Request reviewers: 2 change requests?")
        await noor.send(UpdateChangeRequest(**AUTH, status="archived"))
        await pilot.press("y")
        await until(pilot, shows="1 done · 1 failed")
        await noor.send(UpdateChangeRequest(**AUTH, status="open"))
        await pilot.press("s")
        await until(pilot, shows="2 done")
        asked = (await noor.send(ListRequestedReviewers(**AUTH))).items
        assert "tomasz" in [one.user.id for one in asked if one.user]
        await pilot.press("q")

        await act(pilot, "update", "Rewrite the auth guide", "Limits per workspace")
        await until(pilot, shows="Update from main: 2 change requests?")
        await noor.send(MergeChangeRequest(**LIMITS))
        await pilot.press("y")
        await until(pilot, shows="1 done · 1 failed")
        await until(pilot, shows="Change request #4 is merged.")
        assert not (await noor.send(GetChangeRequest(**AUTH))).outdated
        await pilot.press("q")

        await act(pilot, "archive", "Rewrite the auth guide", "Fix typos in quickstart")
        await until(pilot, shows="Archive: 2 change requests?")
        await noor.send(MergeChangeRequest(**TYPOS))
        await pilot.press("y")
        await until(pilot, shows="1 done · 1 failed")
        await until(pilot, shows="is already merged")
        assert [await status(noor, at) for at in (AUTH, TYPOS)] == ["archived", "merged"]


async def test_a_merge_train_skips_merged_and_stops_at_archived_requests(
    service: RunningService, tmp_path: Path
) -> None:
    async with running(app_on(service, tmp_path)) as pilot, somebody(service, "noor") as (noor,):
        await inbox_loaded(pilot)
        explained = {"space_id": "api", "change_request_id": "2"}
        await act(pilot, "merge", "Limits per workspace", "Explain 409 with an example", "Fix typos in quickstart")
        await until(pilot, shows="one after another?")
        await until(pilot, shows="To undo a merge")
        await noor.send(MergeChangeRequest(**LIMITS))
        await noor.send(UpdateChangeRequest(**TYPOS, status="archived"))
        await pilot.press("y")
        await until(pilot, shows="already merged")
        await until(pilot, shows="1 failed")
        await noor.send(UpdateChangeRequest(**TYPOS, status="open"))
        await main_moves(noor, "api", "Scopes", "read only", "read alone")
        await pilot.press("s")
        await until(pilot, shows="3 done")
        assert [await status(noor, at) for at in (LIMITS, TYPOS, explained)] == ["merged"] * 3
