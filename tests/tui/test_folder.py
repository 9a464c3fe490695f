"""The folder of a space: checked out, opened and pushed by keys."""

from __future__ import annotations

import asyncio
from contextlib import nullcontext
from dataclasses import replace
from pathlib import Path

import pytest
from tests.running_service import RunningService
from tests.tui.app_driver import app_on, pick, running, shown, until, write

from presscheck.api.content import GetChangeRequestPageByPath
from presscheck.client.client import Client
from presscheck.config.project import read_project
from presscheck.config.project_search import PROJECT_NAME
from presscheck.config.validation import read_folders
from presscheck.engine.checkout.folder import folder_changes
from presscheck.engine.checkout.pull import open_checkout
from presscheck.engine.checkout.state import Checkout, CheckoutState
from presscheck.engine.drafts import drafts
from presscheck.errors import ChecksFailed, ConfigurationError
from presscheck.tui.app import PresscheckApp


@pytest.fixture
def shell(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Set the shell of the user to a script that edits a page and exits."""
    program = tmp_path / "shell"
    program.write_text("#!/bin/sh\necho 'From the shell.' >> overview.md\n")
    program.chmod(0o755)
    monkeypatch.setenv("SHELL", str(program))
    monkeypatch.setattr(PresscheckApp, "suspend", lambda _: nullcontext())
    return program


@pytest.mark.slow
async def test_change_request_is_checked_out_edited_and_pushed(
    service: RunningService, client: Client, tmp_path: Path, shell: Path
) -> None:
    folder = tmp_path / "folder of api"
    async with running(app_on(service, tmp_path)) as pilot:
        await until(pilot, shows="Rewrite the auth guide")
        await pilot.press(".", "F")
        await until(pilot, shows="Folder for API docs")
        await pilot.press("ctrl+u", *("backspace",) * 20)
        await write(pilot, "", "docs")
        await until(pilot, shows="must be a quoted path that begins with / or ~/")
        await pilot.press(*("backspace",) * 4)
        (tmp_path / "full").mkdir()
        (tmp_path / "full/note.txt").touch()
        await write(pilot, "", str(tmp_path / "full"), "enter")
        await until(pilot, shows="Choose another folder")
        assert read_folders(pilot.app.settings_file) == {}, "another folder can be chosen"
        [draft] = drafts(pilot.app.engine.outbox.drafts())
        assert (draft.label, draft.text) == ("folder of a space: API docs", str(tmp_path / "full"))
        await pilot.press(".", "F")
        await until(pilot, shows="Its pages become Markdown files there")
        assert pilot.app.focused.value == draft.text
        await pilot.press("ctrl+u", *("backspace",) * 20)
        await write(pilot, "", str(folder))
        await pilot.press("enter")
        await until(pilot, shows="Open #5 of API docs")
        assert read_folders(pilot.app.settings_file) == {"API docs": str(folder)}
        assert not pilot.app.engine.outbox.drafts()
        await pick(pilot, str(shell))
        await until(pilot, shows="Push 1 changed file to #5?")
        assert "edited overview.md" in " ".join(shown(pilot.app).split())
        await pilot.press("y")
        await until(pilot, shows="pushed to #5")
    call = GetChangeRequestPageByPath(space_id="api", change_request_id="5", page_path="overview", format="markdown")
    assert "From the shell." in ((await client.send(call)).markdown or "")
    assert not await asyncio.to_thread(folder_changes, Checkout.find(folder))


@pytest.mark.slow
async def test_a_folder_from_a_project_file_is_used_only_after_confirmation(
    service: RunningService, tmp_path: Path, shell: Path
) -> None:
    project = tmp_path / "a project"
    project.mkdir()
    (project / PROJECT_NAME).write_text('[folders]\n"API docs" = "foreign"\n')
    app = app_on(service, tmp_path)
    app.profile = replace(app.profile, project=read_project(project / PROJECT_NAME, tmp_path / "trusted.json"))
    async with running(app) as pilot:
        await until(pilot, shows="Rewrite the auth guide")
        await pilot.press(".", "F")
        await until(pilot, shows="names this folder")
        await pilot.press("escape")
        await until(pilot, holds=lambda: "names this folder" not in shown(pilot.app))
        assert not (project / "foreign").exists()
        assert read_folders(app.settings_file) == {}
        await pilot.press(".", "F")
        await until(pilot, shows="names this folder")
        await pilot.press("y")
        await until(pilot, shows="Open #5 of API docs")
        assert read_folders(app.settings_file) == {"API docs": str(project / "foreign")}
        await pilot.press("escape")
        await until(pilot, holds=lambda: "Open #5" not in shown(pilot.app))
        await pilot.press(".", "F")
        await until(pilot, shows="Open #5 of API docs")


def test_a_checkout_of_another_space_or_with_edits_is_refused(tmp_path: Path) -> None:
    state = CheckoutState(service="https://a.example", space="one", title="One", revision="r")
    open_checkout(tmp_path / "one", state)
    with pytest.raises(ConfigurationError, match="is a checkout of One: choose another folder for Two"):
        open_checkout(tmp_path / "one", state.model_copy(update={"space": "two", "title": "Two"}))
    (tmp_path / "one/SUMMARY.md").write_text("# Table of contents\n\n* [A](a.md)\n")
    (tmp_path / "one/a.md").write_text("# A\n")
    with pytest.raises(ChecksFailed, match="the edits for main first"):
        open_checkout(tmp_path / "one", state.model_copy(update={"request": "r", "number": 3}))
