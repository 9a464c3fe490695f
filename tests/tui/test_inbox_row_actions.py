"""Commands of a review on rows of the inbox, on the real service, while another user acts at the same time."""

import re
import threading
from pathlib import Path
from typing import Any

import pytest
from tests.running_service import RunningService
from tests.service_users import edits, main_moves, page_of, somebody, thread_of, threads, token_of
from tests.stalling_proxy import holding_back
from tests.tui.app_driver import all_sent, app_on, inbox_loaded, pick, running, shown, until, until_row, write
from tests.tui.change_request_factory import begun

from presscheck.api.change_requests import (
    GetChangeRequest,
    ListRequestedReviewers,
    ListReviews,
    RequestReviewers,
    UpdateChangeRequest,
)
from presscheck.api.comments import Document, ListReplies, PostComment
from presscheck.tui.comments import drafts

AUTH = {"space_id": "api", "change_request_id": "5"}
LIMITS = {"space_id": "api", "change_request_id": "4"}
TYPOS = {"space_id": "guides", "change_request_id": "3"}

pytestmark = pytest.mark.slow


def subject_here(pilot: Any) -> str:
    request = pilot.app.screen.session.current()
    return request.subject if request else ""


async def to_row(pilot: Any, subject: str) -> None:
    """Move the cursor to a row of the current view."""
    await pilot.press("g", "g")
    for _ in range(20):
        if subject_here(pilot) == subject:
            return
        await pilot.press("j")
    raise AssertionError(f"no row {subject!r}:\n{shown(pilot.app)}")


async def reviews_by(client: Any, at: dict[str, str], person: str) -> list[Any]:
    found = (await client.send(ListReviews(**at, format="markdown"))).items
    return [one for one in found if one.reviewer.id == person]


@pytest.mark.usefixtures("at_once")
async def test_an_approval_warns_is_sent_and_goes_to_the_next_row(service: RunningService, tmp_path: Path) -> None:
    async with running(app_on(service, tmp_path)) as pilot, somebody(service, "mia") as (mia,):
        await inbox_loaded(pilot)
        await pilot.press("v", "a")
        await until(pilot, shows="API docs #5: Approve")
        await until(pilot, shows="⚠ 4 pages not viewed: Tokens, Scopes, Sessions, Errors")
        await pilot.press("escape")
        await until(pilot, holds=lambda: "not viewed" not in shown(pilot.app))
        assert subject_here(pilot) == "Rewrite the auth guide", "nothing was sent"
        await pilot.press("v", "a", *"Good", "enter")  # in one burst

        def is_next() -> bool:
            return not pilot.app.screen.is_modal and subject_here(pilot) == "What to write afterwards"

        await until(pilot, holds=is_next)
        await until_row(pilot, "Rewrite the auth guide", is_there=False)
        await all_sent(pilot)
        [review] = await reviews_by(mia, AUTH, "robin")
        assert review.status == "approved"
        assert "Good" in await threads(mia, AUTH)


@pytest.mark.usefixtures("at_once")
async def test_a_review_names_the_changes_that_arrived_meanwhile(service: RunningService, tmp_path: Path) -> None:
    async with running(app_on(service, tmp_path)) as pilot, somebody(service, "mia") as (mia,):
        await inbox_loaded(pilot)
        await write(pilot, "v r", "Not so")
        await until(pilot, shows="API docs #5: Request changes")
        await edits(mia, AUTH, "Tokens", "expires after 90 days", "expires after 30 days")
        await pilot.press("ctrl+s")
        await until(pilot, shows="API docs #5: your review also covers changes made just before it arrived: Tokens")
        [review] = await reviews_by(mia, AUTH, "robin")
        assert review.status == "changes-requested"
        assert review.revision == (await mia.send(GetChangeRequest(**AUTH))).revision


async def test_keys_wait_for_the_dialog_of_a_slow_service(service: RunningService, tmp_path: Path) -> None:
    answered = threading.Event()
    async with somebody(service, "mia") as (mia,):
        held = f"/change-requests/{(await mia.send(GetChangeRequest(**AUTH))).id}/requested-reviewers"
    with holding_back(service, tmp_path, held, until=answered) as address:
        async with running(app_on(service, tmp_path / "home", base_url=address)) as pilot:
            await until(pilot, shows="3 open comments")
            await pilot.press("v", "a", *"Done")
            await until(pilot, shows="API docs #5: loading …")
            answered.set()
            await until(pilot, shows="API docs #5: Approve", holds=lambda: "Done" in shown(pilot.app))
            assert "loading" not in shown(pilot.app)
            await pilot.press("escape")
            await until(pilot, holds=lambda: "Approve" not in shown(pilot.app))
            assert subject_here(pilot) == "Rewrite the auth guide", "D hid no row"


async def test_an_own_change_request_says_that_an_approval_does_not_count(
    service: RunningService, tmp_path: Path
) -> None:
    async with running(app_on(service, tmp_path)) as pilot:
        await inbox_loaded(pilot)
        await pilot.press("2")
        await until_row(pilot, "Say where the keyring is")
        await pilot.press("v", "a")
        await until(pilot, shows="Command line #3: Approve your own change request (does not count)")


@pytest.mark.usefixtures("at_once")
async def test_comments_and_replies_are_sent_from_the_row(service: RunningService, tmp_path: Path) -> None:
    async with running(app_on(service, tmp_path)) as pilot, somebody(service, "luz") as (luz,):
        await inbox_loaded(pilot)
        await write(pilot, "c", "Soon", "ctrl+s")
        await until(pilot, holds=lambda: subject_here(pilot) == "What to write afterwards")
        await all_sent(pilot)
        assert "Soon" in await threads(luz, AUTH)
        await pilot.press("r")
        await until(pilot, shows="Runbook #3: no open comment to reply to")
        await to_row(pilot, "Rewrite the auth guide")
        asked = await luz.send(PostComment(**AUTH, body=Document(markdown="And the old keys?")))
        await pilot.press("r")
        await until(pilot, shows="API docs #5: Reply to which comment?")
        assert re.search(r"And the old keys\? +now\b", shown(pilot.app))
        assert re.search(r"An hour is short.* · on Tokens", shown(pilot.app)), (
            "comments of equal words differ by their page"
        )
        await pick(pilot, "And the old keys?")
        await until(pilot, shows="API docs #5: Reply to Luz: “And the old keys?”")
        await pilot.press(*"They stay", "ctrl+s")
        await all_sent(pilot)
        replies = (await luz.send(ListReplies(**AUTH, comment_id=asked.id, format="markdown"))).items
        assert [(reply.body.markdown or "").strip() for reply in replies] == ["They stay"]


@pytest.mark.usefixtures("at_once")
async def test_a_single_open_comment_is_replied_to_without_a_question(service: RunningService, tmp_path: Path) -> None:
    async with running(app_on(service, tmp_path)) as pilot, somebody(service, "luz") as (luz,):
        await inbox_loaded(pilot)
        await to_row(pilot, "Rename workspaces to projects")
        await pilot.press("r", *"When it ships", "ctrl+s")  # in one burst
        await all_sent(pilot)
        at = {"space_id": "guides", "change_request_id": "4"}
        thread = await thread_of(luz, at, "Wait until it ships?")
        replies = (await luz.send(ListReplies(**at, comment_id=thread.id, format="markdown"))).items
        assert "When it ships" in [(reply.body.markdown or "").strip() for reply in replies]


@pytest.mark.usefixtures("at_once")
async def test_a_merge_that_changed_meanwhile_is_shown_again(service: RunningService, tmp_path: Path) -> None:
    async with running(app_on(service, tmp_path)) as pilot, somebody(service, "mia") as (mia,):
        await inbox_loaded(pilot)
        await to_row(pilot, "Limits per workspace")
        await pilot.press("m")
        await until(pilot, shows="API docs #4: Merge into the live content?")
        await until(pilot, shows="y  n  tab enter")
        await main_moves(mia, "api", "Limits", "</details>", "</details>\n\nDo not ask us.")
        await pilot.press("y")
        await until(pilot, shows="not merged: the change request has changed")
        assert subject_here(pilot) == "Limits per workspace", "the cursor stays"
        assert (await mia.send(GetChangeRequest(**LIMITS))).status == "open"
        await pilot.press("m")
        await until(pilot, shows="Conflicts with main:")
        await until(pilot, shows="type: 4")
        await pilot.press("4", "enter")
        await until(pilot, shows="API docs #4: merged with conflicts")
        await until(pilot, holds=lambda: subject_here(pilot) == "Rename workspaces to projects")
        assert (await mia.send(GetChangeRequest(**LIMITS))).status == "merged"


@pytest.mark.usefixtures("at_once")
async def test_a_request_that_somebody_archived_is_not_merged(service: RunningService, tmp_path: Path) -> None:
    async with running(app_on(service, tmp_path)) as pilot, somebody(service, "noor") as (noor,):
        await inbox_loaded(pilot)
        await to_row(pilot, "Fix typos in quickstart")
        await pilot.press("m")
        await until(pilot, shows="y  n  tab enter")
        await noor.send(UpdateChangeRequest(**TYPOS, status="archived"))
        await pilot.press("y")
        await until(pilot, shows="Change request #3 is archived.")
        assert (await noor.send(GetChangeRequest(**TYPOS))).status == "archived"


@pytest.mark.usefixtures("at_once")
async def test_a_row_is_updated_and_archived_and_its_reviewers_change(service: RunningService, tmp_path: Path) -> None:
    async with running(app_on(service, tmp_path)) as pilot, somebody(service, "mia") as (mia,):
        await inbox_loaded(pilot)
        await to_row(pilot, "Limits per workspace")
        await pilot.press("u")
        await until(pilot, shows="API docs #4: it is up to date with main")
        await main_moves(mia, "api", "Scopes", "read only", "read alone")
        await pilot.press("u")  # reads the change request first
        await until(pilot, shows="API docs #4: Update from main?")
        await until(pilot, shows="No conflicts with main.")
        await pilot.press("y")
        await until(pilot, shows="API docs #4: updated from main")
        assert "read alone" in (await page_of(mia, LIMITS, "Scopes")).markdown

        await to_row(pilot, "Limits per workspace")
        await pilot.press("R")
        await until(pilot, shows="API docs #4: Reviewers")
        await mia.send(RequestReviewers(**LIMITS, users=("kenji",)))
        await pilot.press(*"tomasz", "tab", "enter")
        await all_sent(pilot)
        asked = (await mia.send(ListRequestedReviewers(**LIMITS))).items
        assert {"kenji", "tomasz"} <= {one.user.id for one in asked if one.user}

        await to_row(pilot, "Limits per workspace")
        await pilot.press("X")
        await until(pilot, shows="API docs #4: Archive it?")
        await pilot.press("y")
        await all_sent(pilot)
        await until_row(pilot, "Limits per workspace", is_there=False)
        assert (await mia.send(GetChangeRequest(**LIMITS))).status == "archived"


async def test_z_undoes_what_was_sent_last_although_the_cursor_moved_on(
    service: RunningService, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(drafts, "HOLD", 60.0)
    async with running(app_on(service, tmp_path)) as pilot, somebody(service, "mia") as (mia,):
        await inbox_loaded(pilot)
        await pilot.press("v", "a", *"Good", "enter")
        await until(pilot, shows="API docs #5: sent (z to undo)")
        await until_row(pilot, "Rewrite the auth guide", is_there=False)
        await pilot.press("D")
        await until(pilot, shows="What to write afterwards done (z to undo)")
        await pilot.press("z")
        await until_row(pilot, "What to write afterwards")
        await pilot.press("v", "a", *"Well", "enter")
        await until(pilot, shows="sent (z to undo)")
        await pilot.press("z")
        await until(pilot, shows="undone; its text is a draft again")
        await until(pilot, holds=lambda: len(pilot.app.engine.waiting()) == 1)
        assert not await reviews_by(mia, AUTH, "robin")


async def test_the_reason_why_a_key_does_not_apply_is_shown(service: RunningService, tmp_path: Path) -> None:
    async with running(app_on(service, tmp_path)) as pilot, somebody(service, "noor") as (noor,):
        await inbox_loaded(pilot)
        await noor.send(UpdateChangeRequest(**AUTH, status="archived"))
        await pilot.press("v", "a")  # the row still shows it as open
        await until(pilot, shows="it is archived: it needs no review")
        await noor.send(UpdateChangeRequest(**AUTH, status="open"))
        await pilot.press("6")
        await until_row(pilot, "Whom to wake")
        for keys, reason in (
            (("m",), "it is merged"),
            (("v", "r"), "it is merged: it needs no review"),
            (("X",), "it is merged"),
            (("u",), "it is merged"),
        ):
            await pilot.press("escape", *keys)
            await until(pilot, shows=reason)
        await pilot.press("1")
        await until_row(pilot, "Limits per workspace")
        service.stop()
        try:
            await pilot.press("ctrl+r")
            await until(pilot, shows="offline")
            await to_row(pilot, "Limits per workspace")
            await pilot.press("m")
            await until(pilot, shows="you are offline, and a merge cannot be queued")
            await pilot.press("v", "a")
            await until(pilot, shows="API docs #4: Approve")
            await pilot.press("enter")
            await until(pilot, shows="API docs #4: pending (z to undo)")
        finally:
            service.start()


async def test_read_only_profiles_and_roles_without_reviews_see_the_reason(
    service: RunningService, tmp_path: Path
) -> None:
    async with running(app_on(service, tmp_path / "read", read_only=True)) as pilot:
        await inbox_loaded(pilot)
        for keys in (("v", "a"), ("c",), ("m",), ("R",)):
            await pilot.press("escape", *keys)
            await until(pilot, shows="this profile is read-only")
    async with running(app_on(service, tmp_path / "luz", token=token_of(service, "luz"))) as pilot:
        await until(pilot, shows="Needs me")
        await pilot.press("4")
        await until_row(pilot, "Rewrite the auth guide")
        await to_row(pilot, "Rewrite the auth guide")
        await pilot.press("v", "a")
        await until(pilot, shows="you do not have permission to review in this space")


@pytest.mark.usefixtures("at_once")
async def test_a_without_marks_acts_on_the_row_and_shows_the_keys(service: RunningService, tmp_path: Path) -> None:
    async with running(app_on(service, tmp_path)) as pilot, somebody(service, "mia") as (mia,):
        await inbox_loaded(pilot)
        await pilot.press("A")
        await until(pilot, shows="With API docs #5")
        await until(pilot, holds=lambda: any("Approve" in x and "v a" in x for x in shown(pilot.app).splitlines()))
        await pick(pilot, "Approve")
        await until(pilot, shows="API docs #5: Approve")
        await pilot.press("enter")
        await all_sent(pilot)
        assert [one.status for one in await reviews_by(mia, AUTH, "robin")] == ["approved"]


@pytest.mark.usefixtures("at_once")
async def test_an_approval_of_marked_rows_warns_of_each_and_takes_a_text(
    service: RunningService, tmp_path: Path
) -> None:
    _, own, _ = await begun(service, "Parcels of my own", "First.\n", by="robin")
    async with running(app_on(service, tmp_path)) as pilot, somebody(service, "mia") as (mia,):
        await inbox_loaded(pilot)
        await pilot.press("4")
        await until_row(pilot, "Parcels of my own")
        for subject in ("Limits per workspace", "Rename workspaces to projects", "Parcels of my own"):
            await to_row(pilot, subject)
            await pilot.press("space")
        await pilot.press("r")
        await until(pilot, shows="reply works on one row: esc removes the marks")
        await pilot.press("v", "a")
        await until(pilot, shows="Approve 3 change requests")
        await until(pilot, shows="API docs #4  Limits per workspace  ⚠ 2 pages not viewed")
        await until(pilot, shows="Guides #4  Rename workspace")
        await until(pilot, shows="⚠ yours: does not count · 1 page not viewed")
        await pilot.press(*"Fine", "ctrl+e")
        await until(pilot, shows="the draft is kept")
        await pilot.press("enter", *"by me", "ctrl+s")
        await until(pilot, shows="3 done")
        await until(pilot, shows="API docs #4  Limits per workspace")
        await until(pilot, holds=lambda: "retry" not in shown(pilot.app))
        for at in (LIMITS, own):
            assert [one.status for one in await reviews_by(mia, at, "robin")] == ["approved"]
            assert "Fine\nby me" in await threads(mia, at)


async def test_an_approval_of_many_rows_fits_a_small_terminal(service: RunningService, tmp_path: Path) -> None:
    async with running(app_on(service, tmp_path), (80, 24)) as pilot:
        await inbox_loaded(pilot)
        await pilot.press("4")
        await until_row(pilot, "Say where the keyring is")
        await pilot.press("g", "g", "V", "G", "V", "v", "a")
        await until(pilot, shows="Approve ")
        await until(pilot, shows="… and ")
        await until(pilot, shows="enter approve")
        assert "⚠ yours: does not count" in shown(pilot.app), "warnings come first"
