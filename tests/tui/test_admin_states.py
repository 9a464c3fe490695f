"""Families of administration that are forbidden, empty, failed, offline or read-only.

Each 80×24 screen is compared with `admin_states/STATE.txt`. `PRESSCHECK_UPDATE_GOLDEN=1` rewrites these files: review
the difference.
"""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import Any

import pytest
from tests.engine.failing_service import answer
from tests.running_service import running_service
from tests.service_users import say, token_of
from tests.stalling_proxy import holding_back
from tests.tui.app_driver import app_on, noon, running, shown, until
from tests.tui.snapshot_setup import at_noon

from presscheck.api.organizations import ListOrganizations, UpdateMember
from presscheck.tui.commands import with_keys
from presscheck.tui.places import Place
from presscheck.tui.screens.admin.families import FAMILIES
from presscheck.tui.screens.admin.family import Family
from presscheck.tui.screens.admin.screen import AdminScreen

pytestmark = pytest.mark.slow

ORG = {"organization_id": "tallowick"}
SOME = [one for one in FAMILIES if one.title in ("Organizations", "Members", "Teams", "SAML", "OpenAPI")]
"""Families that differ in their permissions and requirements."""
NEVER_EMPTY = ("Organizations", "Members")
REFUSED = ("Teams", "SAML", "OpenAPI")
"""Families that guests may not list."""
FAILED = answer(500, {"error": {"code": 500, "message": "The database is full."}})


PICTURES = Path(__file__).with_name("admin_states")
"""A file for each state, with the screens of all families in it."""
PORT = re.compile(r"127\.0\.0\.1:\d+")
__all__ = ["at_noon"]


class Pictures:
    """The screens of all families in one state, as text without the sidebar.

    Args:
        state: the name of the golden file, without its suffix.
    """

    def __init__(self, state: str) -> None:
        self._file, self._screens = PICTURES / f"{state}.txt", list[str]()

    def add(self, pilot: Any, family: Family) -> None:
        """Add the current screen, which shows this family."""
        lines = shown(pilot.app).split("\n")[1:-1]
        border = max(line.find("│") for line in lines)
        text = "\n".join(kept for line in lines if (kept := line[border + 1 :].rstrip()))
        self._screens.append(f"== {family.title}\n{PORT.sub('127.0.0.1:PORT', text)}\n")

    def compare(self) -> None:
        """Compare the screens with the golden file."""
        text = "\n".join(self._screens)
        if os.environ.get("PRESSCHECK_UPDATE_GOLDEN"):
            self._file.parent.mkdir(exist_ok=True)
            self._file.write_text(text, "utf-8")
        assert text == self._file.read_text("utf-8"), "PRESSCHECK_UPDATE_GOLDEN=1 writes it anew: read the difference"


async def opened(pilot: Any) -> AdminScreen:
    """Open administration, and wait until its organization is loaded."""
    await until(pilot, shows="live")
    await pilot.press("g", "a")
    await until(pilot, holds=lambda: isinstance(pilot.app.screen, AdminScreen) and pilot.app.screen.organization)
    screen: AdminScreen = pilot.app.screen
    return screen


async def says(pilot: Any, screen: AdminScreen, family: Family, *texts: str, pictures: Pictures | None = None) -> None:
    """Open a family, and wait until these texts are to the right of the sidebar, however their lines are wrapped."""

    def words() -> str:
        return " ".join(" ".join(line.partition("│")[2] for line in shown(pilot.app).split("\n")).split())

    screen.go_to(Place.family(family.title))
    await until(pilot, holds=lambda: screen.table.family is family)
    try:
        await until(pilot, holds=lambda: all(text in words() for text in texts))
    except AssertionError:
        raise AssertionError(f"{family.title} does not say {texts}: {words()}") from None
    if pictures:
        await until(pilot, holds=lambda: not pilot.app.engine._scheduler._shared)
        await pilot.pause()
        pictures.add(pilot, family)


async def test_failed_and_offline_families_show_the_reason_and_read_only_disables_changes(tmp_path: Path) -> None:
    (tmp_path / "service").mkdir()
    listed = [one for one in SOME if one.listing is not ListOrganizations]
    paths = {one.listing.route.partition(" ")[2].format(**ORG) for one in listed}
    with (
        running_service(tmp_path / "service", sample=True, clock=noon) as service,
        holding_back(service, tmp_path, *paths, answer=FAILED) as address,
    ):
        async with running(app_on(service, tmp_path / "home", base_url=address, read_only=True), (80, 24)) as pilot:
            screen, failed = await opened(pilot), Pictures("failed")
            for family in SOME:
                if family in listed:
                    reason = "The service failed (500): The database is full."
                    await says(
                        pilot,
                        screen,
                        family,
                        f"Could not load the {family.nouns}",
                        reason,
                        "ctrl+r retry",
                        pictures=failed,
                    )
                else:
                    await says(pilot, screen, family, "Tallowick", pictures=failed)
                changes = (family.add, family.edit, family.remove)
                reasons = [screen.table.change_reason(one, "changed") for one in changes if one]
                assert set(reasons) <= {"this profile is read-only"}, family.title
            failed.compare()
            await pilot.press("a")
            await until(pilot, shows="this profile is read-only")
            service.stop()
            await pilot.press("ctrl+r")
            await until(pilot, shows="offline")
            offline = Pictures("offline")
            for family in SOME:
                what = f"The {family.nouns} are not in the cache.", "ctrl+r retry now"
                stored = ("Tallowick",)  # its rows are in the cache
                await says(pilot, screen, family, *(what if family in listed else stored), pictures=offline)
            offline.compare()


async def test_empty_and_forbidden_families_show_the_reason_and_a_hint(tmp_path: Path) -> None:
    (tmp_path / "bare").mkdir()
    with running_service(tmp_path / "bare", clock=noon) as service:
        async with running(app_on(service, tmp_path / "home"), (80, 24)) as pilot:
            screen, empty = await opened(pilot), Pictures("empty")
            for family in SOME:
                if family.title not in NEVER_EMPTY:
                    assert family.hint, family.title
                    await says(
                        pilot, screen, family, f"No {family.nouns} yet. {with_keys(family.hint)}", pictures=empty
                    )
                    assert not {"open", "rename", "delete"} & {*screen.footer_commands}, family.title
            empty.compare()
    (tmp_path / "service").mkdir()
    with running_service(tmp_path / "service", sample=True, clock=noon) as service:
        await say(service, service.token, UpdateMember(**ORG, user_id="luz", role=None))
        async with running(app_on(service, tmp_path / "guest", token=token_of(service, "luz")), (80, 24)) as pilot:
            screen, forbidden = await opened(pilot), Pictures("forbidden")
            for family in SOME:
                refusal = f"You are not permitted to see the {family.nouns}"
                await says(pilot, screen, family, *([refusal] if family.title in REFUSED else []), pictures=forbidden)
                for change in (family.add, family.edit, family.remove):
                    if change and change not in family.for_everybody:
                        assert "you need the role" in str(screen.table.change_reason(change, "changed")), family.title
            forbidden.compare()
            imports = next(one for one in FAMILIES if one.title == "Imports")
            await says(pilot, screen, imports, "No imports yet. You need the role create in the organization.")
