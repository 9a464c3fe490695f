"""Commands of a review on rows of the inbox, on the real service, while another user acts at the same time."""

import threading
from pathlib import Path
from typing import Any

import pytest
from tests.running_service import RunningService
from tests.service_users import main_moves, page_of, somebody, thread_of, threads
from tests.stalling_proxy import holding_back
from tests.tui.app_driver import all_sent, app_on, inbox_loaded, pick, running, shown, until, until_row, write
from tests.tui.change_request_factory import begun

from presscheck.api.change_requests import (
    GetChangeRequest,
    ListRequestedReviewers,
    ListReviews,
    RequestReviewers,
)
from presscheck.api.comments import Document, ListReplies, PostComment
from presscheck.text.styled_text import Span, plain, width
from presscheck.tui.comments import drafts
from presscheck.tui.screens.inbox.bulk_actions import MOST_LINES, _warned_first

AUTH = {"space_id": "api", "change_request_id": "5"}
LIMITS = {"space_id": "api", "change_request_id": "4"}
TYPOS = {"space_id": "guides", "change_request_id": "3"}


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


@pytest.mark.slow
@pytest.mark.usefixtures("at_once")
async def test_a_row_is_approved_commented_on_and_replied_to(service: RunningService, tmp_path: Path) -> None:
    async with running(app_on(service, tmp_path)) as pilot, somebody(service, "luz") as (luz,):
        await inbox_loaded(pilot)
        await pilot.press("A")
        await until(pilot, shows="With API docs #5")
        await until(pilot, holds=lambda: any("Approve" in x and "v a" in x for x in shown(pilot.app).splitlines()))
        await pick(pilot, "Approve")
        await until(pilot, shows="API docs #5: Approve")
        await until(pilot, shows="⚠ 4 pages not viewed: Tokens, Scopes, Sessions, Errors")
        await pilot.press("escape")
        await until(pilot, holds=lambda: "not viewed" not in shown(pilot.app))
        assert subject_here(pilot) == "Rewrite the auth guide", "nothing was sent"
        await write(pilot, "c", "Soon", "ctrl+s")
        await until(pilot, holds=lambda: subject_here(pilot) == "What to write afterwards")
        await pilot.press("r")
        await until(pilot, shows="Runbook #3: no open comment to reply to")
        asked = await luz.send(PostComment(**AUTH, body=Document(markdown="And the old keys?")))
        await to_row(pilot, "Rewrite the auth guide")
        await pilot.press("r")
        await until(pilot, shows="API docs #5: Reply to which comment?")
        await pick(pilot, "And the old keys?")
        await until(pilot, shows="API docs #5: Reply to Luz: “And the old keys?”")
        await pilot.press(*"They stay", "ctrl+s")
        await all_sent(pilot)
        replies = (await luz.send(ListReplies(**AUTH, comment_id=asked.id, format="markdown"))).items
        assert [(reply.body.markdown or "").strip() for reply in replies] == ["They stay"]
        await to_row(pilot, "Rewrite the auth guide")
        await pilot.press("v", "a", *"Good", "enter")  # in one burst
        await until_row(pilot, "Rewrite the auth guide", is_there=False)
        await all_sent(pilot)
        [review] = await reviews_by(luz, AUTH, "robin")
        assert review.status == "approved"
        assert {"Soon", "Good"} <= (await threads(luz, AUTH)).keys()
        await to_row(pilot, "Rename workspaces to projects")
        await pilot.press("r", *"When it ships", "ctrl+s")  # in one burst: no picker opens for a single open comment
        await all_sent(pilot)
        at = {"space_id": "guides", "change_request_id": "4"}
        thread = await thread_of(luz, at, "Wait until it ships?")
        replies = (await luz.send(ListReplies(**at, comment_id=thread.id, format="markdown"))).items
        assert "When it ships" in [(reply.body.markdown or "").strip() for reply in replies]


@pytest.mark.slow
@pytest.mark.usefixtures("at_once")
async def test_rows_are_updated_merged_and_archived_and_their_reviewers_change(
    service: RunningService, tmp_path: Path
) -> None:
    async with running(app_on(service, tmp_path)) as pilot, somebody(service, "mia") as (mia,):
        await inbox_loaded(pilot)
        await to_row(pilot, "Limits per workspace")
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
        await pilot.press("m")
        await until(pilot, shows="API docs #4: Merge into the live content?")
        await until(pilot, shows="y  n  tab enter")
        await pilot.press("y")
        await until_row(pilot, "Limits per workspace", is_there=False)
        assert (await mia.send(GetChangeRequest(**LIMITS))).status == "merged"

        await to_row(pilot, "Fix typos in quickstart")
        await pilot.press("X")
        await until(pilot, shows="Guides #3: Archive it?")
        await pilot.press("y")
        await all_sent(pilot)
        await until_row(pilot, "Fix typos in quickstart", is_there=False)
        assert (await mia.send(GetChangeRequest(**TYPOS))).status == "archived"


@pytest.mark.slow
async def test_z_undoes_the_last_action_although_the_cursor_has_moved(
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


def test_an_approval_of_many_rows_lists_rows_with_warnings_first() -> None:
    lines = [(Span(f"API docs #{number}  Parcels"), Span("")) for number in range(MOST_LINES)]
    lines.append((Span("API docs #99  Parcels"), Span("  ⚠ yours: does not count")))
    texts = [plain(line) for line in _warned_first(lines, 40)]
    assert len(texts) == MOST_LINES
    assert texts[0].endswith("⚠ yours: does not count")
    assert texts[-1] == "… and 2 more"
    assert all(width(line) <= 40 for line in _warned_first(lines, 40))


@pytest.mark.slow
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


@pytest.mark.slow
@pytest.mark.usefixtures("at_once")
async def test_an_approval_of_marked_rows_shows_the_warnings_of_each_and_accepts_a_text(
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
