"""Owners of changed pages in a review: the choice of reviewers and the merge requirements, on the real service."""

from pathlib import Path
from typing import Any

import pytest
from tests.running_service import RunningService
from tests.tui.app_driver import all_sent, app_on, open_review, running, shown, until

from presscheck.api.change_requests import ListRequestedReviewers
from presscheck.client.client import Client
from presscheck.tui.widgets.picker import Picker

AUTH = {"space_id": "api", "change_request_id": "5"}
OWNERS = """\
reference/ kenji
authentication/ luz@tallowick.example
/api/authentication/tokens  "Noor Haddad" luz ada
"""


pytestmark = pytest.mark.usefixtures("at_once")


def write_owners(home: Path, text: str) -> None:
    (home / "config").mkdir(exist_ok=True)
    (home / "config" / "owners").write_text(text)


def people(pilot: Any) -> list[tuple[str, str]]:
    """The names in the picker with their notes, in their order."""
    picker = pilot.app.screen
    return [(choice.label, choice.note) for choice in picker.matches] if isinstance(picker, Picker) else []


@pytest.mark.slow
async def test_owners_come_first_among_the_reviewers(service: RunningService, tmp_path: Path) -> None:
    write_owners(tmp_path, OWNERS)
    async with running(app_on(service, tmp_path)) as pilot, Client(service.base_url, service.token) as other:
        await open_review(pilot, AUTH)
        await pilot.press("R")
        await until(pilot, shows="owns 3 of 4 pages")
        assert people(pilot)[:4] == [
            ("Luz Quispe", "owns 3 of 4 pages · role comment"),
            ("Noor Haddad", "owns 1 of 4 pages · role edit"),
            ("Ada Moreau", "owns 1 of 4 pages · role review"),
            ("田中 健司", "owns 1 of 4 pages · role edit"),
        ]
        assert not any("owns" in note for _, note in people(pilot)[4:])
        await pilot.press("space", "enter")
        await all_sent(pilot)
        asked = (await other.send(ListRequestedReviewers(**AUTH))).items
        assert "luz" in [reviewer.user.id for reviewer in asked if reviewer.user]
        write_owners(tmp_path, "* tomasz@tallowick.example\n")
        await pilot.press("R")
        await until(pilot, shows="owns 4 of 4 pages")
        assert people(pilot)[0] == ("Tomasz Wiśniewski", "owns 4 of 4 pages · role edit")


async def test_owners_who_have_not_reviewed_are_information(service: RunningService, tmp_path: Path) -> None:
    write_owners(tmp_path, OWNERS + "**/errors nobody\n")
    async with running(app_on(service, tmp_path)) as pilot:
        await open_review(pilot, AUTH)
        before = pilot.app.screen.session.model.readiness()
        await pilot.press("W")
        await until(pilot, shows="Luz Quispe, Noor Haddad and nobody have not reviewed; not required to merge")
        text = shown(pilot.app)
        assert "Luz Quispe  owns 3 of 4 pages · no review" in text
        assert "nobody  owns 1 of 4 pages · not found among members and teams" in text
        assert "Ada Moreau  owns" not in text, "she requested changes"
        await pilot.press("G", "enter")
        await until(pilot, holds=lambda: people(pilot)[:1] == [("Luz Quispe", "owns 3 of 4 pages · role comment")])
        await pilot.press("space", "enter")
        await all_sent(pilot)
        await pilot.press("W")
        await until(pilot, shows="Luz Quispe  owns 3 of 4 pages · review requested")
        await pilot.press("escape")
        assert pilot.app.screen.session.model.readiness() == before, "owners block nothing"


@pytest.mark.slow
async def test_all_owners_reviewed(service: RunningService, tmp_path: Path) -> None:
    write_owners(tmp_path, "* mia\nauthentication/ jon ada\n")
    async with running(app_on(service, tmp_path)) as pilot:
        await open_review(pilot, AUTH)
        await pilot.press("W")
        await until(pilot, shows="all owners of the changed pages reviewed")


@pytest.mark.slow
async def test_an_error_in_the_file_is_shown_and_other_lines_count(service: RunningService, tmp_path: Path) -> None:
    write_owners(tmp_path, "* kenji\n!limits \x1b]0;evil\x07\n")
    async with running(app_on(service, tmp_path), (180, 40)) as pilot:
        await open_review(pilot, AUTH)
        await pilot.press("R")
        await until(pilot, shows="owns 4 of 4 pages")
        await pilot.press("escape")
        errors = [notice.text for notice in pilot.app.notices.history if notice.text.startswith("owners: ")]
        file = tmp_path / "config" / "owners"
        assert errors == [f"owners: {file}:2: has control characters or invisible ones: remove them"]


@pytest.mark.slow
async def test_without_a_file_there_is_nothing_about_owners(service: RunningService, tmp_path: Path) -> None:
    async with running(app_on(service, tmp_path)) as pilot:
        await open_review(pilot, AUTH)
        await pilot.press("W")
        await until(pilot, shows="Merge requirements")
        await until(pilot, shows="main")
        assert "owner" not in shown(pilot.app)
