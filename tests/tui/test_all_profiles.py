"""The list of several profiles: change requests of real services in one list, and the way into a profile and back."""

import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.profiles import write_settings
from tests.running_service import RunningService, running_service
from tests.terminal import Terminal
from tests.tui.app_driver import app_on, inbox_loaded, running, shown, until

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
    """The rows of the visible tab."""
    return [*app.screen.lists.tab.items]


def notes(app: Any) -> str:
    """The lines about profiles, with single blanks."""
    lines = app.screen.query_one("#notes").lines
    return " ".join("".join(span.text for line in lines for span in (*line, *line[:1])).split())


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
async def test_rows_of_all_profiles_are_in_the_order_of_the_inbox(
    sample: RunningService, other: RunningService, tmp_path: Path
) -> None:
    write_settings(tmp_path, work=sample, client=other)
    app = app_on(sample, tmp_path, name="work")
    async with running(app) as pilot:
        await inbox_loaded(pilot)
        caches = {*(tmp_path / "cache").rglob("*.sqlite")}
        await list_loaded(pilot, "work", "client")
        assert {*(tmp_path / "cache").rglob("*.sqlite")} > caches, "a profile is opened with the list, not before"
        times = [row.request.updated_at for row in rows(app)]
        assert times == sorted(times, reverse=True)
        assert len({(row.profile, row.request.id) for row in rows(app)}) == len(rows(app)) == 14
        text = shown(app)
        assert "● work" in text
        assert "○ client" in text
        assert "Needs me 14" in text
        assert "client 7   work 7" in text
        await pilot.press("2")
        await until(pilot, shows="Mine 2")
        assert {row.request.created_by.display_name for row in rows(app) if row.request.created_by} == {
            "Robin Achterberg"
        }
        await pilot.press("/", *"client", "enter")
        await until(pilot, holds=lambda: {row.profile for row in rows(app)} == {"client"})
        await pilot.press("escape", "y")
        await until(pilot, shows="copied")


@pytest.mark.slow
async def test_a_row_of_the_profile_in_use_is_opened_at_once(
    sample: RunningService, other: RunningService, tmp_path: Path
) -> None:
    write_settings(tmp_path, ("client", "work"), work=sample, client=other)
    app = app_on(sample, tmp_path, name="work")
    async with running(app) as pilot:
        await list_loaded(pilot, "work", "client")
        row = await go_to_row(pilot, "work")
        await pilot.press("enter")
        await until(pilot, shows=row.request.subject)
        assert app.next_profile is None
        await pilot.press("q")
        await until(pilot, shows="All profiles")
        assert app.screen.lists.tab.current == row


@pytest.mark.slow
async def test_a_row_of_another_profile_switches_and_asks_for_unsent_changes(
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


@pytest.mark.slow
async def test_a_profile_that_fails_is_named_with_the_reason_and_the_others_are_shown(
    sample: RunningService, tmp_path: Path
) -> None:
    table = f'base_url = "{sample.base_url}"\n'
    token = tmp_path / "refused-token"
    token.write_text("gb_api_wrong")
    token.chmod(0o600)
    write_settings(
        tmp_path,
        ("work", "bare", "refused", "gone", "broken", "wrong", "\u001b[31mred", "n" * 40),
        work=sample,
        bare=table,
        refused=f'{table}token_file = "{token}"',
        gone=f'base_url = "http://127.0.0.1:9"\ntoken_file = "{token}"',
        broken=f'{table}token_command = "false"',
        wrong="theme = 3",
        **{'"\\u001b[31mred"': table, "n" * 40: table},
    )
    app = app_on(sample, tmp_path, name="work")
    async with running(app, (120, 60)) as pilot:
        await list_loaded(pilot, "work")
        await until(pilot, shows="token_command")
        await until(pilot, holds=lambda: "◷" not in notes(app))
        text = notes(app)
        for reason in (
            f"✗ bare: no token for {sample.base_url}",
            "✗ refused: Not signed in",
            "127.0.0.1:9",
            "profiles.wrong.theme must be a quoted string",
            f"✗ {'n' * 40}: no token",
            "use up to 40 letters",
        ):
            assert reason in text
        assert "\x1b" not in shown(app)
        assert "gb_api_wrong" not in shown(app)
        token.write_text(sample.token)
        await pilot.press("ctrl+r")
        await until(pilot, holds=lambda: {row.profile for row in rows(app)} == {"work", "refused"})
        assert "✗ refused" not in notes(app)


@pytest.mark.slow
async def test_an_offline_profile_keeps_its_rows(sample: RunningService, tmp_path: Path) -> None:
    (tmp_path / "service").mkdir()
    with running_service(tmp_path / "service", sample=True) as client:
        write_settings(tmp_path, work=sample, client=client)
        async with running(app_on(sample, tmp_path, name="work")) as pilot:
            await list_loaded(pilot, "work", "client")
    async with running(app_on(sample, tmp_path, name="work")) as pilot:
        app: Any = pilot.app
        await list_loaded(pilot, "work", "client")
        await until(pilot, holds=lambda: "⚠ client: offline. " in notes(app))
        await go_to_row(pilot, "client")
        await pilot.press("enter")
        await until(pilot, shows="client is offline, and this change request was never loaded")
        assert app.next_profile is None


@pytest.mark.slow
async def test_an_empty_list_names_the_reason(sample: RunningService, tmp_path: Path) -> None:
    file = tmp_path / "config" / "config.toml"
    (tmp_path / "empty").mkdir()
    with running_service(tmp_path / "empty") as empty:
        write_settings(tmp_path, ("client",), client=empty, bare=f'base_url = "{sample.base_url}"')
        app = app_on(sample, tmp_path, name="work")
        async with running(app) as pilot:
            await inbox_loaded(pilot)
            await pilot.press("g", "M")
            await until(pilot, shows="No change request needs your review.")
    async with running(app_on(sample, tmp_path, name="work")) as pilot:
        await inbox_loaded(pilot)
        await pilot.press("g", "M")
        await until(pilot, shows="All profiles")
        for names, text in (("bare", "Could not load the change requests"), ("gone", "[profiles.gone]: add it")):
            lines = file.read_text().splitlines()[1:]
            file.write_text("\n".join([f'inbox_profiles = ["{names}"]', *lines]))
            await pilot.press("ctrl+r")
            await until(pilot, shows=text)


async def test_a_profile_that_is_deleted_while_it_is_shown(
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


@pytest.mark.slow
def test_the_terminal_opens_a_row_of_another_profile_and_returns(
    sample: RunningService, other: RunningService, tmp_path: Path
) -> None:
    write_settings(tmp_path, work=sample, client=other)
    environment = {"PRESSCHECK_HOME": str(tmp_path), "PRESSCHECK_PROFILE": "work"}
    terminal = Terminal([sys.executable, "-m", "presscheck"], env=environment)
    try:
        terminal.wait("Needs me 7")
        for back in (b"q", b"\x1b[1;3D"):  # alt+left
            terminal.press("g", "M")
            terminal.wait("○ client")
            terminal.rest()
            terminal.press("g", "g")
            terminal.down_to("▌○ client")
            terminal.press("enter")
            terminal.wait("client · live")
            terminal.wait("c comment   space viewed")
            terminal.send(back)
            terminal.wait("work · live")
            terminal.wait("▌○ client")
            terminal.press("q")
            terminal.wait("Needs me 7   Mine")
        terminal.press("q")
        assert terminal.end() == 0
    finally:
        terminal.close()
