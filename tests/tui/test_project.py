"""A project in the app: the question about its programs, its settings, and errors in its file."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any, cast

import pytest
from tests.running_service import RunningService
from tests.tui.app_driver import app_on, inbox_loaded, running, shown, until
from tests.tui.change_request_factory import Begun, edited

from presscheck.config.project import Project, read_project
from presscheck.config.project_search import PROJECT_NAME
from presscheck.tui.app import PresscheckApp
from presscheck.tui.places import Place
from presscheck.tui.project_programs import WORD
from presscheck.tui.screens.review.screen import ReviewScreen
from presscheck.tui.widgets.confirm_dialog import ConfirmDialog

pytestmark = [pytest.mark.service(shared=True), pytest.mark.usefixtures("at_once")]

CHECK = """
import json, pathlib, sys
pathlib.Path("ran").touch()
for path in sys.argv[1:]:
    print(json.dumps({"path": path, "line": 1, "message": "seen"}))
"""


def project(tmp_path: Path, *words: str, text: str = "") -> Project:
    """Write and read a project in a folder with a space in its name. Its check is a script next to the file."""
    folder = tmp_path / "a project"
    folder.mkdir(exist_ok=True)
    (folder / "check.py").write_text(CHECK)
    command = json.dumps([sys.executable, "check.py", *words])
    (folder / PROJECT_NAME).write_text(f'{text}\n[[checks]]\nname = "own"\ncommand = {command}\n')
    return read_project(folder / PROJECT_NAME, tmp_path / "state" / "trusted-programs.json")


def is_asked(pilot: Any) -> bool:
    return isinstance(pilot.app.screen, ConfirmDialog)


async def check_prose(pilot: Any, request: Begun) -> None:
    await pilot.app.push_screen(ReviewScreen(*request.at.values()))
    await until(pilot, shows="Project page")
    await pilot.press("full_stop", "W")


@pytest.mark.slow
async def test_the_question_shows_the_exact_programs_and_is_asked_again_after_changes(
    service: RunningService, tmp_path: Path
) -> None:
    request = await edited(service, "Checked by a project", "Old.\n", "New.\n", title="Project page")
    ran = tmp_path / "a project" / "ran"
    text = '[[commands]]\nname = "[b]Ticket"\nkey = "g T"\ncommand = "[@click=app.quit]x {number}"\nmode = "suspend"\n'
    long = "x" * 300
    async with running(app_on(service, tmp_path, project=project(tmp_path, long, text=text))) as pilot:
        await until(pilot, shows=f"type: {WORD}")
        dialog = pilot.app.screen
        assert isinstance(dialog, ConfirmDialog)
        lines = ["".join(span.text for span in line) for line in dialog.lines]
        assert any(line.endswith(f"check.py {long}") for line in lines)
        assert "command [b]Ticket (key g T, suspend)" in lines
        assert "'[@click=app.quit]x' '{number}'" in lines
        await pilot.press("y")
        assert is_asked(pilot), "a key that may mean something else"
        await pilot.press("enter")
        await until(pilot, shows="not trusted; `presscheck config trust` asks again")
        assert not project(tmp_path, long, text=text).usable
        assert not pilot.app.keymap.own_commands
        await check_prose(pilot, request)
        await until(pilot, shows="are not trusted: run `presscheck config trust`")
    assert not ran.exists()
    async with running(app_on(service, tmp_path, project=project(tmp_path, "--all"))) as pilot:
        await until(pilot, holds=lambda: is_asked(pilot))
        await until(pilot, shows="--all")
        await pilot.press(*WORD, "enter")
        await until(pilot, shows="1 program trusted")
        await check_prose(pilot, request)
        await until(pilot, holds=ran.exists)


@pytest.mark.slow
async def test_a_command_of_the_user_does_not_run_in_a_folder_of_the_project(
    service: RunningService, tmp_path: Path
) -> None:
    settings = tmp_path / "config" / "config.toml"
    settings.parent.mkdir(exist_ok=True)
    command = json.dumps([sys.executable, "-c", "open('ran here', 'w')"])
    table = f'[[commands]]\nname = "NAME"\nkey = "KEY"\ncommand = {command}\ndirectory = "{{folder}}"\n'
    settings.write_text(table.replace("NAME", "Mine").replace("KEY", "f9"))
    folder = tmp_path / "a project" / "foreign"
    folder.mkdir(parents=True)
    text = '[folders]\nGuides = "foreign"\n' + table.replace("NAME", "Theirs").replace("KEY", "f12")
    async with running(app_on(service, tmp_path, project=project(tmp_path, text=text))) as pilot:
        await until(pilot, shows=f"type: {WORD}")
        await pilot.press(*WORD, "enter")
        await until(pilot, shows="2 programs trusted")
        await inbox_loaded(pilot)
        await cast("PresscheckApp", pilot.app).go(Place.item("space guides"))
        await until(pilot, shows="enter shows its pages")
        await pilot.press("f9")
        await until(pilot, shows="Mine: this space has no folder")
        assert not (folder / "ran here").exists()
        await pilot.press("f12")
        await until(pilot, holds=(folder / "ran here").exists)


async def test_the_reason_of_a_refused_file_and_errors_in_a_file_are_shown(
    service: RunningService, tmp_path: Path
) -> None:
    refused = project(tmp_path)
    refused.path.chmod(0o666)
    refused = read_project(refused.path, tmp_path / "trusted.json")
    async with running(app_on(service, tmp_path, project=refused)) as pilot:
        await until(pilot, shows=f"{PROJECT_NAME}: is not used because it can be written by other users")
        assert isinstance(pilot.app, PresscheckApp)
        assert not is_asked(pilot)
    refused.path.unlink()
    wrong = project(tmp_path, "\x1b[2J")
    async with running(app_on(service, tmp_path, project=wrong)) as pilot:
        await until(pilot, shows=f"{PROJECT_NAME}:4: checks.1.command must have no control characters")


@pytest.mark.slow
async def test_the_app_uses_the_space_the_site_and_the_views_of_the_project(
    service: RunningService, tmp_path: Path
) -> None:
    folder = tmp_path / "begin"
    folder.mkdir()
    file = folder / PROJECT_NAME
    file.write_text(
        'space = "Guides"\nsite = "Inside Tallowick"\n[[views]]\nname = "Of guides"\nquery = "space:guides"\n'
    )
    found = read_project(file, tmp_path / "trusted.json")
    async with running(app_on(service, tmp_path, project=found)) as pilot:
        await until(pilot, shows="Of guides")
        await inbox_loaded(pilot)
        await pilot.press("9", "M", "e")
        await until(pilot, shows="this view is of the project: edit .presscheck.toml")
        await pilot.press("g", "o")
        await until(pilot, holds=lambda: cursor(pilot).endswith("Guides") or "Guides" in cursor(pilot))
        await pilot.press("g", "p")
        await until(pilot, holds=lambda: "Inside Tallowick" in cursor(pilot))


def cursor(pilot: Any) -> str:
    """Return the first line with the bar of a cursor; empty if there is none."""
    return next((line for line in shown(pilot.app).splitlines() if "▌" in line), "")
