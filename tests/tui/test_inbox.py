"""The inbox on the sample workspace."""

import json
import threading
from pathlib import Path
from typing import Any

import pytest
from tests.running_service import RunningService, running_service
from tests.service_users import opens, somebody
from tests.stalling_proxy import holding_back
from tests.tui.app_driver import app_on, inbox_loaded, running, shown, until, write

from presscheck.tui.keyboard import press_keys
from presscheck.tui.screens.review.screen import ReviewScreen

pytestmark = pytest.mark.service(shared=True)


@pytest.mark.slow
async def test_it_shows_what_needs_me(service: RunningService, tmp_path: Path) -> None:
    async with running(app_on(service, tmp_path)) as pilot:
        await until(pilot, shows="Rewrite the auth guide")
        await until(pilot, shows="✓ Jón   ✗ Ada   ◷ you")
        text = shown(pilot.app)
        assert "Tallowick" in text
        assert "Needs me 7" in text
        assert "live" in text


@pytest.mark.slow
async def test_keys_move_the_cursor_and_the_preview_follows(service: RunningService, tmp_path: Path) -> None:
    async with running(app_on(service, tmp_path)) as pilot:
        await until(pilot, shows="Limits per workspace")
        await pilot.press("j", "j")
        await until(pilot, shows="▌   #4 Limits per workspace")
        await until(pilot, shows="by Noor Haddad")
        await pilot.press("G")
        await until(pilot, shows="▌   #2 Explain 409")
        await pilot.press("g", "g")
        await until(pilot, shows="▌   #5 Rewrite")


@pytest.mark.slow
@pytest.mark.parametrize("view", ["1", "4"], ids=["arranged", "as listed"])
async def test_rows_that_are_shown_keep_their_places_while_others_are_stored(
    service: RunningService, tmp_path: Path, view: str
) -> None:
    async with running(app_on(service, tmp_path)) as pilot:
        await until(pilot, shows="Rewrite the auth guide")
        await pilot.press(view)
        model, engine = pilot.app.screen.session.model, pilot.app.engine
        await until(pilot, holds=lambda: model.count() > 2 and model.request(1) is not None)
        shown_ids = [request.id for index in range(model.count()) if (request := model.request(index))]
        listing = model.listing()

        def reverse(cache: Any) -> None:
            rows = [json.loads(row) for row in cache.window(listing.key(), 0, 100).items]
            cache.keep_page(listing.key(), rows[::-1], 0, 1.0, total=len(rows), last=True)

        await engine._stored_reads.in_store(reverse)  # as a poll does before it tells
        assert [model.request(model.index(request_id)).id for request_id in shown_ids] == shown_ids


@pytest.mark.slow
async def test_keys_of_a_review_do_nothing_else_here(service: RunningService, tmp_path: Path) -> None:
    async with running(app_on(service, tmp_path)) as pilot:
        await until(pilot, shows="✗ Ada")
        await pilot.press("v", "b")
        await until(pilot, shows="v b (start a review) works in a review, not here")
        await pilot.press("g", "h")
        await until(pilot, shows="g h (history) works in a review, not here")
        await pilot.press("x")
        await until(pilot, shows="x (resolve) works in a review, not here")
        await pilot.press("^")
        await until(pilot, shows="^ has no command here: ? shows all keys")
        await until(pilot, holds=lambda: "works in a review" not in shown(pilot.app))
        assert "★" not in shown(pilot.app), "no bookmark"
        assert pilot.app.screen.session.model.view.title == "Needs me", "the same view"
        await pilot.press("v", "j", "b")
        await until(pilot, shows="★")
        await pilot.press("?", *"older revision")
        await until(pilot, shows="↻", holds=lambda: "outdated: made for an older revision" in shown(pilot.app))


@pytest.mark.slow
async def test_views_are_one_key_apart(service: RunningService, tmp_path: Path) -> None:
    async with running(app_on(service, tmp_path)) as pilot:
        await until(pilot, shows="Rewrite the auth guide")
        await pilot.press("8")
        await until(pilot, shows="No change request that you reviewed waits for its author.")
        await pilot.press("l")
        await until(pilot, shows="You have no drafts and no pending review.")
        await pilot.press("l", "l")
        await until(pilot, shows="Say where the keyring is")


@pytest.mark.slow
async def test_a_second_start_shows_the_store_before_the_service_answers(
    service: RunningService, tmp_path: Path
) -> None:
    async with running(app_on(service, tmp_path)) as pilot:
        await until(pilot, shows="✗ Ada")
    service.stop()
    try:
        async with running(app_on(service, tmp_path)) as pilot:
            await until(pilot, shows="Rewrite the auth guide")
            await until(pilot, shows="offline")
    finally:
        service.start()


@pytest.mark.slow
async def test_narrow_keeps_its_columns(service: RunningService, tmp_path: Path) -> None:
    async with running(app_on(service, tmp_path), (80, 24)) as pilot:
        await until(pilot, shows="Explain")
        await until(pilot, shows="✗1")
        assert all(len(line) <= 80 for line in shown(pilot.app).splitlines())


@pytest.mark.slow
async def test_a_prefix_shows_possible_keys(service: RunningService, tmp_path: Path) -> None:
    async with running(app_on(service, tmp_path)) as pilot:
        await until(pilot, shows="Rewrite")
        await pilot.press("g")
        await until(pilot, shows="g to the top")
        await pilot.press("escape")
        await until(pilot, holds=lambda: "g to the top" not in shown(pilot.app))


@pytest.mark.slow
async def test_a_view_has_a_number(service: RunningService, tmp_path: Path) -> None:
    async with running(app_on(service, tmp_path)) as pilot:
        await inbox_loaded(pilot)
        await pilot.press("6")
        await until(pilot, shows="merged · by")
        await pilot.press("1")
        await until(pilot, shows="open · by")


@pytest.mark.slow
async def test_a_change_request_is_opened_by_its_number(service: RunningService, tmp_path: Path) -> None:
    async with running(app_on(service, tmp_path)) as pilot:
        await inbox_loaded(pilot)
        await write(pilot, ":", "cr 5")
        await until(pilot, shows="▌#5 Rewrite the auth guide")
        await pilot.press("enter")
        await until(pilot, shows="Can merge?")
        await until(pilot, shows="› #5 Rewrite the auth guide")


async def opened(pilot: Any) -> str:
    """The change request that was opened."""
    await until(pilot, holds=lambda: isinstance(pilot.app.screen, ReviewScreen))
    review = pilot.app.screen
    await until(pilot, holds=lambda: review.is_mounted and review.session.model.request is not None)
    return review.session.model.request.subject


@pytest.mark.slow
async def test_rows_that_arrive_above_the_cursor_do_not_change_what_enter_opens(
    tmp_path: Path, tmp_path_factory: pytest.TempPathFactory
) -> None:
    answered = threading.Event()
    answered.set()
    with (
        running_service(tmp_path_factory.mktemp("service"), sample=True) as service,
        holding_back(service, tmp_path, "/change-requests?", until=answered) as address,
    ):
        async with running(app_on(service, tmp_path, base_url=address)) as pilot, somebody(service, "mia") as (mia,):
            await inbox_loaded(pilot)
            answered.clear()
            await opens(mia, "cli", "Errors by number", "Configuration", "The file.\n", asks=("robin",))
            await pilot.press("ctrl+r", "g", "g", "j", "j")
            await until(pilot, shows="▌   #4 Limits per workspace")
            assert "Errors by number" not in shown(pilot.app)
            answered.set()
            await until(pilot, shows="Errors by number")
            await pilot.press("enter")
            assert await opened(pilot) == "Limits per workspace"


@pytest.mark.slow
async def test_a_key_after_another_view_acts_on_a_row_of_that_view(service: RunningService, tmp_path: Path) -> None:
    async with running(app_on(service, tmp_path)) as pilot:
        await inbox_loaded(pilot)
        inbox: Any = pilot.app.screen
        firsts = dict[str, str]()
        for number, title, query in (("3", "Involved", "sort:number"), ("4", "All open", "sort:-number")):
            await write(pilot, f"{number} F", query, "enter")
            await until(pilot, shows=f"filtered: {query}")
            await until(
                pilot,
                holds=lambda title=title: inbox.session.model.view.title == title and inbox.session.rows.count > 1,
            )
            await pilot.press("g", "g")
            await until(pilot, holds=lambda: inbox.session.current() is not None)
            firsts[number] = inbox.session.current().subject
        assert firsts["3"] != firsts["4"]
        press_keys(pilot.app, "3 enter")
        assert await opened(pilot) == firsts["3"]
