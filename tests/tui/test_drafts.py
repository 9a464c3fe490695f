"""Drafts stay reachable in the outbox: after their change request was merged, and after an editor or the app failed."""

import os
import signal
import sys
import time
from contextlib import nullcontext
from pathlib import Path
from typing import Any

import pytest
from tests.running_service import RunningService
from tests.service_users import page_of, say, somebody
from tests.terminal import Terminal
from tests.tui.app_driver import app_on, pick, running, until
from tests.tui.change_request_factory import begun, edited, rewritten
from tests.tui.drafts import open_drafts, type_draft

from presscheck.api.change_requests import GetChangeRequest, MergeChangeRequest
from presscheck.tui.app import PresscheckApp
from presscheck.tui.places import Place
from presscheck.tui.screens.markdown_editor.area import MarkdownArea

pytestmark = pytest.mark.service(shared=True)

TEXT = "A token lasts 30 days.\n\nA key lasts for ever.\n"


@pytest.fixture(autouse=True)
def no_editor(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("VISUAL", raising=False)
    monkeypatch.delenv("EDITOR", raising=False)


def area(pilot: Any) -> str:
    return pilot.app.focused.text if isinstance(pilot.app.focused, MarkdownArea) else ""


@pytest.mark.slow
async def test_a_draft_of_a_merged_change_request_continues_in_a_new_one(
    service: RunningService, tmp_path: Path
) -> None:
    one = await edited(service, "Tokens last longer", TEXT, TEXT.replace("30 days", "60 days"))
    async with running(app_on(service, tmp_path), (80, 24)) as pilot:
        await until(pilot, shows="Needs me")
        await type_draft(pilot, one, "Ask Mia.")
        await open_drafts(pilot)
        await until(pilot, shows="Tokens last longer")
        await rewritten(service, one, TEXT.replace("30 days", "90 days"))
        await say(service, one.token, MergeChangeRequest(**one.at))
        await pilot.press("enter")
        await until(pilot, shows="change request merged")
        await pick(pilot, "New change request with this text")
        await until(pilot, shows="New change request in Guides: subject")
        await pilot.press("enter")
        await until(pilot, holds=lambda: "Ask Mia." in area(pilot))
        assert "90 days" in area(pilot), "merged with what main has now"
        await pilot.press("ctrl+s")
        await until(pilot, shows="Save to the change request?")
        await pilot.press("y")
        await until(pilot, shows="No drafts.")
        path = pilot.app.engine.history()[0].call
        async with somebody(service, "mia") as (mia,):
            at = {"space_id": path.space_id, "change_request_id": path.change_request_id}
            assert at != one.at
            assert "Ask Mia." in (await page_of(mia, at, "Lasting")).markdown


@pytest.mark.slow
async def test_text_in_an_external_editor_is_a_draft_after_the_app_was_killed(
    service: RunningService, tmp_path: Path
) -> None:
    """Kill the app in a real terminal while the editor runs: the next start stores the editor's text as a draft."""
    one = await begun(service, "Killed", TEXT, title="Interrupted")
    [request] = await say(service, one.token, GetChangeRequest(**one.at))
    script, started = tmp_path / "editor.sh", tmp_path / "started"
    script.write_text(f'#!/bin/sh\nprintf "Typed for an hour.\\n" >> "$1"\necho $$ > {started}\nexec sleep 60\n')
    script.chmod(0o755)
    env = {
        "PRESSCHECK_HOME": str(tmp_path),
        "PRESSCHECK_BASE_URL": service.base_url,
        "PRESSCHECK_TOKEN": service.token,
        "VISUAL": str(script),
    }
    terminal = Terminal([sys.executable, "-m", "presscheck", "open", f"guides#{request.number}"], env=env)
    try:
        terminal.wait("A key lasts for ever.")
        terminal.press("g", "e")
        terminal.wait("e edit")
        terminal.press("e")
        limit = time.monotonic() + 20
        while not (started.exists() and started.read_text().strip()):
            terminal.read()
            assert time.monotonic() < limit, terminal.text
    finally:
        terminal.close()  # kills the app, not the editor
        if started.exists():
            os.kill(int(started.read_text()), signal.SIGKILL)
    async with running(app_on(service, tmp_path), (80, 24)) as pilot:
        await until(pilot, shows="g x 3 shows a draft: the text that was open in your editor")
        await open_drafts(pilot)
        await until(pilot, shows="Interrupted")
        await pilot.press("enter")
        await until(pilot, holds=lambda: "Typed for an hour." in area(pilot))


async def test_text_that_an_editor_saved_before_it_failed_is_a_draft(
    service: RunningService, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    one = await begun(service, "Failed editor", TEXT, title="Cut short")
    script = tmp_path / "editor.sh"
    # as nano does when its terminal is gone
    script.write_text('#!/bin/sh\n(cat "$1"; echo "Typed for an hour.") > "$1.save"\nexit 3\n')
    script.chmod(0o755)
    monkeypatch.setenv("VISUAL", str(script))
    monkeypatch.setattr(PresscheckApp, "suspend", lambda _: nullcontext())
    async with running(app_on(service, tmp_path), (80, 24)) as pilot:
        await until(pilot, shows="Needs me")
        await pilot.app.go(Place.page(one.at["space_id"], one.page, one.at["change_request_id"]))
        await until(pilot, shows="A key lasts for ever.")
        await pilot.press("e")
        await until(pilot, shows="exit code 3: not saved")
        monkeypatch.setenv("VISUAL", "true")
        await open_drafts(pilot)
        await until(pilot, shows="Cut short")
        await pilot.press("enter")
        await until(pilot, shows="You have a draft of Cut short")
        await pilot.press("c")
        await until(pilot, shows="Cut short: +1 −0 lines")
        await pilot.press("d")
        await until(pilot, shows="+Typed for an hour.")
