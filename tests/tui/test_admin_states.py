"""What each family of administration shows when it is forbidden, empty, failed, offline and read-only."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from tests.engine.failing_service import answer
from tests.running_service import running_service
from tests.service_users import say, token_of
from tests.stalling_proxy import holding_back
from tests.tui.app_driver import app_on, running, shown, until

from presscheck.api.organizations import ListOrganizations, UpdateMember
from presscheck.tui.screens.admin.families import FAMILIES, Family
from presscheck.tui.screens.admin.screen import AdminScreen

ORG = {"organization_id": "tallowick"}
NEVER_EMPTY = ("Organizations", "Members", "AI instructions")
FAILED = answer(500, {"error": {"code": 500, "message": "The database is full."}})


async def opened(pilot: Any) -> AdminScreen:
    """Administration, once its organization is known."""
    await until(pilot, shows="live")
    await pilot.press("g", "a")
    await until(pilot, holds=lambda: isinstance(pilot.app.screen, AdminScreen) and pilot.app.screen.organization)
    screen: AdminScreen = pilot.app.screen
    return screen


async def words(pilot: Any, screen: AdminScreen, family: Family) -> str:
    """What is to the right of the sidebar at a family, as one line, once the listing has an answer."""
    screen.show_family(family.title)
    table = screen.table
    await until(pilot, holds=lambda: table.family is family and (table._is_loaded or table._error or table.unavailable))
    await until(pilot, holds=lambda: "Loading" not in shown(pilot.app))
    return " ".join(" ".join(line.partition("│")[2] for line in shown(pilot.app).split("\n")).split())


async def test_failed_and_offline_families_say_so_and_a_read_only_profile_changes_nothing(tmp_path: Path) -> None:
    (tmp_path / "service").mkdir()
    listed = [one for one in FAMILIES if one.listing is not ListOrganizations]
    paths = {one.listing.route.partition(" ")[2].format(**ORG) for one in listed}
    with (
        running_service(tmp_path / "service", sample=True) as service,
        holding_back(service, tmp_path, *paths, answer=FAILED) as address,
    ):
        async with running(app_on(service, tmp_path / "home", base_url=address, read_only=True), (80, 24)) as pilot:
            screen = await opened(pilot)
            for family in FAMILIES:
                text = await words(pilot, screen, family)
                if family in listed:
                    assert f"Could not load the {family.nouns}" in text, text
                    assert "The database is full." in text and "ctrl+r retry" in text, text
                changes = (family.add, family.edit, family.remove)
                reasons = [screen.table.change_reason(one, "changed") for one in changes if one]
                assert set(reasons) <= {"this profile is read-only"}, family.title
            await pilot.press("a")
            await until(pilot, shows="this profile is read-only")
            service.stop()
            await pilot.press("ctrl+r")
            await until(pilot, shows="offline")
            for family in FAMILIES:
                text = await words(pilot, screen, family)
                if family in listed:
                    assert f"The {family.nouns} are not in the cache." in text and "ctrl+r retry now" in text, text
                else:
                    assert "Tallowick" in text, "what is stored is shown"


async def test_families_that_are_empty_or_not_permitted_say_why_and_what_to_do(tmp_path: Path) -> None:
    (tmp_path / "bare").mkdir()
    with running_service(tmp_path / "bare") as service:
        async with running(app_on(service, tmp_path / "home"), (80, 24)) as pilot:
            screen = await opened(pilot)
            for family in FAMILIES:
                text = await words(pilot, screen, family)
                if family.title not in NEVER_EMPTY:
                    assert f"No {family.nouns} yet. {family.hint}".strip() in text, text
                    assert family.hint, family.title
    (tmp_path / "service").mkdir()
    with running_service(tmp_path / "service", sample=True) as service:
        await say(service, service.token, UpdateMember(**ORG, user_id="luz", role=None))
        async with running(app_on(service, tmp_path / "guest", token=token_of(service, "luz")), (80, 24)) as pilot:
            screen = await opened(pilot)
            told: dict[str, str] = {}
            for family in FAMILIES:
                text = await words(pilot, screen, family)
                for change in (family.add, family.edit, family.remove):
                    reason = screen.table.change_reason(change, "changed") if change else None
                    is_free = change in family.for_everybody or change is None
                    assert is_free or "you need the role" in str(reason), (family.title, reason)
                told[family.title] = text
            assert {title for title, text in told.items() if "not permitted" in text} == set(), told
