"""The inbox on the sample workspace."""

from pathlib import Path

import pytest
from tests.running_service import RunningService, running_service
from tests.tui.app_driver import app_on, running, shown, until, write


@pytest.fixture(scope="module")
def service(tmp_path_factory: pytest.TempPathFactory):
    with running_service(tmp_path_factory.mktemp("service"), sample=True) as one:
        yield one


async def test_it_shows_what_needs_me(service: RunningService, tmp_path: Path) -> None:
    async with running(app_on(service, tmp_path)) as pilot:
        await until(pilot, shows="Rewrite the auth guide")
        await until(pilot, shows="✓ Jón   ✗ Ada   ◷ you")
        text = shown(pilot.app)
        assert "Tallowick" in text
        assert "Needs me 7" in text
        assert "live" in text


async def test_keys_move_the_cursor_and_the_preview_follows(service: RunningService, tmp_path: Path) -> None:
    async with running(app_on(service, tmp_path)) as pilot:
        await until(pilot, shows="Limits per workspace")
        await pilot.press("j", "j")
        await until(pilot, shows="▌     4 Limits per workspace")
        await until(pilot, shows="by Noor Haddad")
        await pilot.press("G")
        await until(pilot, shows="▌     2 Explain 409")
        await pilot.press("g", "g")
        await until(pilot, shows="▌     5 Rewrite")


async def test_views_are_one_key_apart(service: RunningService, tmp_path: Path) -> None:
    async with running(app_on(service, tmp_path)) as pilot:
        await until(pilot, shows="Rewrite the auth guide")
        await pilot.press("h")
        await until(pilot, shows="track follows more than")
        await pilot.press("l", "l")
        await until(pilot, shows="Say where the keyring is")


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


async def test_narrow_keeps_its_columns(service: RunningService, tmp_path: Path) -> None:
    async with running(app_on(service, tmp_path), (80, 24)) as pilot:
        await until(pilot, shows="Explain")
        await until(pilot, shows="✗1")
        assert all(len(line) <= 80 for line in shown(pilot.app).splitlines())


async def test_a_prefix_shows_possible_keys(service: RunningService, tmp_path: Path) -> None:
    async with running(app_on(service, tmp_path)) as pilot:
        await until(pilot, shows="Rewrite")
        await pilot.press("g")
        await until(pilot, shows="g to the top")
        await pilot.press("escape")
        await until(pilot, holds=lambda: "g to the top" not in shown(pilot.app))


async def test_a_view_has_a_number(service: RunningService, tmp_path: Path) -> None:
    async with running(app_on(service, tmp_path)) as pilot:
        await until(pilot, shows="Needs me 7")
        await pilot.press("6")
        await until(pilot, shows="merged · by")
        await pilot.press("1")
        await until(pilot, shows="open · by")


async def test_a_change_request_is_opened_by_its_number(service: RunningService, tmp_path: Path) -> None:
    async with running(app_on(service, tmp_path)) as pilot:
        await until(pilot, shows="Needs me 7")
        await write(pilot, ":", "cr 5")
        await until(pilot, shows="▌#5 Rewrite the auth guide")
        await pilot.press("enter")
        await until(pilot, shows="Can merge?")
        await until(pilot, shows="› 5 Rewrite the auth guide")
