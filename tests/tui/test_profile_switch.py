"""Several profiles: their list, and switches between them in the same terminal."""

import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from tests.profiles import write_settings
from tests.running_service import RunningService, running_service
from tests.terminal import Terminal
from tests.tui.app_driver import app_on, inbox_loaded, pick, running, shown, until

from presscheck.api.comments import Document, PostComment
from presscheck.tui.widgets.picker import Picker


@pytest.fixture
def sample(shared_service: Callable[..., RunningService]) -> RunningService:
    return shared_service(sample=True)


@pytest.fixture(scope="module")
def other(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningService]:
    with running_service(tmp_path_factory.mktemp("other"), sample=True) as service:
        yield service


def choices(app: object) -> list[str]:
    screen = getattr(app, "screen", None)
    return [f"{choice.label}  {choice.note}" for choice in screen.choices] if isinstance(screen, Picker) else []


@pytest.mark.slow
async def test_all_profiles_are_listed_and_a_switch_with_unsent_changes_asks(
    sample: RunningService, other: RunningService, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PRESSCHECK_TOKEN", "of the first profile")
    write_settings(tmp_path, work=sample, client=other, bare='base_url = "https://docs.example.org"')
    app = app_on(sample, tmp_path, name="work", offline=True)
    async with running(app) as pilot:
        await until(pilot, shows="offline")
        app.engine.write(PostComment(space_id="api", change_request_id="5", body=Document(markdown="later")))
        await until(pilot, shows="1 pending")
        await pilot.press("g", "m")
        await until(pilot, holds=lambda: len(choices(app)) == 3)
        rows = {row.split()[0]: row for row in choices(app)}
        assert rows["bare"] == "bare     docs.example.org  no token"
        assert "in use" in rows["work"]
        await pick(pilot, "bare")
        await until(pilot, shows="no token for https://docs.example.org: run `presscheck login --profile bare`")
        for answer in ("n", "y"):
            await pilot.press("g", "m")
            await until(pilot, holds=lambda: len(choices(app)) == 3)
            await pick(pilot, "client")
            await until(pilot, shows="You have unsent changes")
            assert app.next_profile is None
            await pilot.press(answer)
            if answer == "n":
                await until(pilot, holds=lambda: "unsent changes" not in shown(app))
        await until(pilot, holds=lambda: app.next_profile is not None)
    assert app.next_profile
    assert (app.next_profile.name, app.next_profile.token) == ("client", other.token), "never the token of another one"


async def test_a_single_profile_has_nothing_to_switch_to(sample: RunningService, tmp_path: Path) -> None:
    write_settings(tmp_path, work=sample)
    async with running(app_on(sample, tmp_path, name="work"), (300, 40)) as pilot:
        await inbox_loaded(pilot)
        await pilot.press("g", "m")
        await until(pilot, shows="there is no other profile: `presscheck config edit` adds one")
        (tmp_path / "config" / "config.toml").write_text("[profiles.work]\ntheme = 3\n")
        await pilot.press("g", "m")
        await until(pilot, shows="profiles.work.theme must be a quoted string")


@pytest.mark.slow
def test_the_terminal_shows_the_other_profile_and_returns(
    sample: RunningService, other: RunningService, tmp_path: Path
) -> None:
    write_settings(tmp_path, work=sample, client=other, odd=f'base_url = "{other.base_url}"\ntoken_command = "false"')
    environment = {"PRESSCHECK_HOME": str(tmp_path), "PRESSCHECK_PROFILE": "work"}
    terminal = Terminal([sys.executable, "-m", "presscheck"], env=environment)
    try:
        for name in ("client", "work"):
            terminal.wait("Needs me 7")
            terminal.press("g", "m")
            terminal.wait("in use")
            terminal.press(*name, "enter")
            terminal.wait(rf"{name} · live")
        terminal.press("g", "m")
        terminal.wait("in use")
        terminal.press(*"odd", "enter")
        terminal.wait("token_command")
        terminal.press("q")
        assert terminal.end() == 0
    finally:
        terminal.close()
