"""The first screen without a token: all choices, errors at their fields, and no token on the screen."""

import asyncio
import importlib.util
import os
import re
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import httpx
import pytest
from tests.browser_sign_in import SignInSite
from tests.running_service import RunningService
from tests.tui.app_driver import inbox_loaded, running, shown, until
from textual.widgets import Input

from presscheck import extras
from presscheck.config.profile import load
from presscheck.errors import InvalidArgument
from presscheck.first_run import FirstRunChoices
from presscheck.paths import Places, places
from presscheck.sign_in import SignIn
from presscheck.tui.app import PresscheckApp
from presscheck.tui.screens.welcome.folders import complete_folder
from presscheck.tui.screens.welcome.screen import ChoiceRows
from presscheck.wiring import app_without_token

SMALL = (80, 24)


@pytest.fixture
def where(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Places:
    """A home without any configuration."""
    for name in [name for name in os.environ if name.startswith("PRESSCHECK_")]:
        monkeypatch.delenv(name)
    monkeypatch.setenv("PRESSCHECK_HOME", str(tmp_path / "home"))
    return places()


@pytest.fixture
def services() -> Iterator[ExitStack]:
    """A stack that ends all started services after the test."""
    with ExitStack() as stack:
        yield stack


def first_app(where: Places, services: ExitStack) -> PresscheckApp:
    sign_in = SignIn(where.config_file, "default", os.environ)
    return app_without_token(load(where.config_file), FirstRunChoices(sign_in, where, services))


async def type_into(pilot: Any, text: str) -> None:
    """Replace the text of the input that has the focus, and press enter."""
    await until(pilot, holds=lambda: isinstance(pilot.app.focused, Input))
    pilot.app.focused.value = text
    await pilot.press("enter")


@pytest.mark.slow
async def test_sign_in_stores_a_token_that_is_never_shown(
    service: RunningService, where: Places, services: ExitStack
) -> None:
    app: Any = first_app(where, services)
    async with running(app, SMALL) as pilot:
        await until(pilot, shows="Where is your documentation?")
        await pilot.press("s")
        await until(pilot, shows="https://api.gitbook.com")
        await until(pilot, holds=lambda: getattr(app.focused, "password", False))
        await pilot.press("up")
        await type_into(pilot, "http://docs.example.org")
        await type_into(pilot, "wrong-token")
        await until(pilot, shows="http sends the token unencrypted")
        await type_into(pilot, service.base_url)
        await pilot.press("enter")
        await until(pilot, holds=lambda: app.screen._error[0] == "token")
        assert "wrong-token" not in shown(app)
        assert not where.config.exists(), "nothing is stored before the service accepts it"
        await type_into(pilot, service.token)
        await inbox_loaded(pilot)
        assert service.token not in shown(app)
    again = load(where.config_file)
    assert (again.base_url, again.token) == (service.base_url, service.token)
    assert service.token not in where.config_file.read_text("utf-8")
    [file] = (one for one in (where.config / "tokens").iterdir() if one.suffix != ".lock")
    assert file.stat().st_mode & 0o777 == 0o600


@pytest.mark.slow
async def test_without_a_token_a_browser_signs_in(service: RunningService, where: Places, services: ExitStack) -> None:
    app: Any = first_app(where, services)
    async with running(app, SMALL) as pilot:
        await until(pilot, shows="Where is your documentation?")
        await pilot.press("s")
        await until(pilot, holds=lambda: getattr(app.focused, "password", False))
        await pilot.press("up")
        await type_into(pilot, service.base_url)
        await pilot.press("enter")
        await until(pilot, shows="Enter the code ")
        code = re.search(r"[A-Z]{4}-[A-Z]{4}", shown(app))
        assert code and app.clipboard == code[0]
        with httpx.Client() as browser:
            site = SignInSite(service.base_url, service.token, browser)
            await asyncio.to_thread(site.decide, f"{service.base_url}/device", user_code=code[0])
        await inbox_loaded(pilot)
    profile = load(where.config_file)
    assert profile.browser and profile.browser.session.scope == "write"


@pytest.mark.slow
async def test_a_folder_is_opened_with_its_pages(where: Places, services: ExitStack, tmp_path: Path) -> None:
    folder = tmp_path / "my-documents"
    (folder / "empty").mkdir(parents=True)
    (folder / "README.md").write_text("# Harbour\n\nShips come in at **high tide**.\n")
    app: Any = first_app(where, services)
    async with running(app, SMALL) as pilot:
        await until(pilot, shows="Where is your documentation?")
        await pilot.click(ChoiceRows, offset=(6, 2))
        await until(pilot, shows="Open a documentation folder")
        await type_into(pilot, f"{folder}/empty")
        await until(pilot, shows="Markdown file", holds=lambda: "has no Markdown file" in app.screen._error[1])
        app.focused.value = f"{tmp_path}/my"
        await pilot.press("end", "-")
        await until(pilot, shows=" my-documents/")
        await pilot.press("tab")
        await until(pilot, holds=lambda: app.focused.value == f"{folder}/")
        await pilot.press("enter")
        await until(pilot, shows="Importing")
        await until(pilot, shows="Harbour")
        assert app.profile.name == "folder"
    assert not where.config.exists(), "a folder needs no profile"


async def test_a_folder_that_cannot_be_opened_has_a_reason(where: Places, services: ExitStack, tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    (tmp_path / "file.md").touch()
    choices = FirstRunChoices(SignIn(where.config_file, "default", os.environ), where, services)
    for name, reason in (
        ("none", "does not exist"),
        ("file.md", "is a file: give the folder that it is in"),
        ("empty", "has no Markdown file"),
    ):
        with pytest.raises(InvalidArgument, match=reason):
            await choices.open_folder(str(tmp_path / name))


async def test_a_missing_extra_shows_the_command_that_installs_it(
    where: Places, services: ExitStack, monkeypatch: pytest.MonkeyPatch
) -> None:
    find_spec = importlib.util.find_spec
    monkeypatch.setattr(extras, "find_spec", lambda name: None if name == "typst" else find_spec(name))
    app: Any = first_app(where, services)
    async with running(app, SMALL) as pilot:
        await until(pilot, shows="pip install 'presscheck[serve]'")
        for letter in "wf":
            await pilot.press(letter)
            await pilot.pause()
            assert not app.screen.is_modal
            assert "pip install 'presscheck[serve]'" in shown(app)
        await pilot.press("1")
        await until(pilot, shows="Personal access token")
        await pilot.press("escape")
        await until(pilot, holds=lambda: not app.screen.is_modal)
        await pilot.press("q")
        await until(pilot, holds=lambda: app.return_code is not None)
    assert app.return_code == 0


def test_folders_are_completed_as_in_a_shell(tmp_path: Path) -> None:
    for name in ("docs", "documents", ".hidden"):
        (tmp_path / name).mkdir()
    (tmp_path / "do-file").touch()
    assert complete_folder(f"{tmp_path}/do") == [f"{tmp_path}/docs/", f"{tmp_path}/documents/"]
    assert complete_folder(f"{tmp_path}/.h") == [f"{tmp_path}/.hidden/"]
    assert complete_folder(f"{tmp_path}/none/x") == []
    assert complete_folder("~") == ["~/"]
    assert complete_folder("\0") == []
