"""The list of the change requests of several profiles, on real services; opening a row switches the profile."""

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.profiles import write_settings
from tests.running_service import RunningService, running_service
from tests.tui.app_driver import app_on, inbox_loaded, running, until

from presscheck.api.comments import Document, PostComment
from presscheck.engine.inbox.profile_inboxes import ProfileRow
from presscheck.tui.widgets.confirm_dialog import ConfirmDialog


@pytest.fixture
def sample(shared_service: Callable[..., RunningService]) -> RunningService:
    return shared_service(sample=True)


@pytest.fixture(scope="module")
def other(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningService]:
    with running_service(tmp_path_factory.mktemp("other"), sample=True) as service:
        yield service


def rows(app: Any) -> list[ProfileRow]:
    """Return the rows of the visible tab."""
    return [*app.screen.lists.tab.items]


async def list_loaded(pilot: Any, *profiles: str) -> None:
    """Open the list, and wait until it has rows of each of these profiles."""
    await inbox_loaded(pilot)
    await pilot.press("g", "M")
    await until(pilot, shows="All profiles")
    await until(pilot, holds=lambda: {row.profile for row in rows(pilot.app)} == {*profiles})


async def go_to_row(pilot: Any, profile: str) -> ProfileRow:
    """Move the cursor to the first row of a profile."""
    at, row = next((at, row) for at, row in enumerate(rows(pilot.app)) if row.profile == profile)
    pilot.app.screen.lists.tab.rows.move_to(at)
    return row


@pytest.mark.slow
async def test_opening_a_row_of_another_profile_switches_and_asks_about_unsent_changes(
    sample: RunningService, other: RunningService, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PRESSCHECK_TOKEN", "of the first profile")
    write_settings(tmp_path, work=sample, client=other)
    app = app_on(sample, tmp_path, name="work")
    async with running(app) as pilot:
        await list_loaded(pilot, "work", "client")
        row = await go_to_row(pilot, "client")
        app.engine.write(PostComment(space_id="api", change_request_id="5", body=Document(markdown="later")), hold=600)
        await pilot.press("enter")
        await until(pilot, holds=lambda: isinstance(app.screen, ConfirmDialog))
        await pilot.press("n")
        await until(pilot, holds=lambda: not isinstance(app.screen, ConfirmDialog))
        assert app.next_profile is None
        await pilot.press("enter")
        await until(pilot, holds=lambda: isinstance(app.screen, ConfirmDialog))
        await pilot.press("y")
        await until(pilot, holds=lambda: app.next_profile is not None)
    assert app.next_profile
    assert (app.next_profile.name, app.next_profile.token) == ("client", other.token), "never the token of another one"
    assert app.next_place
    assert app.next_place.key == ("review", row.request.space, row.request.id)
    assert app.place_before
    assert app.place_before.key == ("work", "profiles", "Needs me", "client", row.request.id)


async def test_opening_a_row_of_a_deleted_profile_shows_an_error(
    sample: RunningService, other: RunningService, tmp_path: Path
) -> None:
    write_settings(tmp_path, work=sample, client=other)
    async with running(app_on(sample, tmp_path, name="work"), (200, 40)) as pilot:
        app: Any = pilot.app
        await list_loaded(pilot, "work", "client")
        await go_to_row(pilot, "client")
        write_settings(tmp_path, work=sample)
        await pilot.press("enter")
        await until(pilot, shows="profile [profiles.client] not found")
        assert app.next_profile is None
        await pilot.press("ctrl+r")
        await until(pilot, holds=lambda: {row.profile for row in rows(app)} == {"work"})
