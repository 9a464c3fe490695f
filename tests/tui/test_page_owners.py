"""Owners of changed pages in a review: the choice of reviewers and the merge requirements, on the real service."""

from pathlib import Path
from typing import Any

import pytest
from tests.running_service import RunningService
from tests.tui.app_driver import all_sent, app_on, open_review, running, shown, until

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
    """Return names and notes of the open picker, in order; empty without a picker."""
    picker = pilot.app.screen
    return [(choice.label, choice.note) for choice in picker.matches] if isinstance(picker, Picker) else []


@pytest.mark.slow
async def test_missing_reviews_of_owners_are_shown_and_block_nothing(service: RunningService, tmp_path: Path) -> None:
    write_owners(tmp_path, OWNERS + "**/errors nobody\n!limits \x1b]0;evil\x07\n")
    async with running(app_on(service, tmp_path)) as pilot:
        await open_review(pilot, AUTH)
        before = pilot.app.screen.session.model.readiness()
        await pilot.press("W")
        await until(pilot, shows="Luz Quispe, Noor Haddad and nobody have not reviewed; not required to merge")
        text = shown(pilot.app)
        assert "Luz Quispe  owns 3 of 4 pages · no review" in text
        assert "nobody  owns 1 of 4 pages · not found among members and teams" in text
        assert "Ada Moreau  owns" not in text, "she requested changes"
        errors = [notice.text for notice in pilot.app.notices.history if notice.text.startswith("owners: ")]
        file = tmp_path / "config" / "owners"
        assert errors == [f"owners: {file}:5: has control characters or invisible ones: remove them"]
        await pilot.press("G", "enter")
        await until(pilot, holds=lambda: people(pilot)[:1] == [("Luz Quispe", "owns 3 of 4 pages · role comment")])
        await pilot.press("space", "enter")
        await all_sent(pilot)
        await pilot.press("W")
        await until(pilot, shows="Luz Quispe  owns 3 of 4 pages · review requested")
        await pilot.press("escape")
        assert pilot.app.screen.session.model.readiness() == before, "owners block nothing"
