"""Conflicts that an update wrote into a page: seen everywhere, resolved by a key, and never merged unseen."""

import re
from contextlib import nullcontext
from pathlib import Path
from typing import Any

import pytest
from tests.running_service import RunningService
from tests.service_users import At, edits, main_moves, page_of, somebody
from tests.tui.app_driver import app_on, open_review, running, shown, until

from presscheck.api.change_requests import GetChangeRequest, PullChangeRequest
from presscheck.client.client import Client
from presscheck.documents.merge.conflict_blocks import conflict_at
from presscheck.text.styled_text import plain
from presscheck.tui.places import Place
from presscheck.tui.screens.markdown_editor.area import MarkdownArea
from presscheck.tui.widgets.row_list import RowList

LIMITS: At = {"space_id": "api", "change_request_id": "4"}
OURS, THEIRS = "Ask us before a sale; we raise them for a week.", "Do not ask us."


pytestmark = pytest.mark.usefixtures("at_once")


async def conflict(client: Client) -> None:
    """Let main and the change request change the same words, and update it."""
    await main_moves(client, "api", "Limits", "</details>", f"</details>\n\n{THEIRS}")
    assert (await client.send(PullChangeRequest(**LIMITS))).result == "conflicts"


async def go_to_conflict(pilot: Any) -> None:
    await pilot.press("tab", "}")
    await until(pilot, shows="words · 2 of 2")
    await until(pilot, shows="Conflict: both sides changed this text")
    screen = pilot.app.screen
    await pilot.press("]", "]")
    assert conflict_at(screen.session.view.page.after, screen.session.view.text_line or 0)
    assert "<<<<<<<" not in shown(pilot.app)


@pytest.mark.slow
async def test_a_conflict_is_red_and_wants_the_number(service: RunningService, tmp_path: Path) -> None:
    async with running(app_on(service, tmp_path)) as pilot, somebody(service, "mia") as (mia,):
        await conflict(mia)
        await open_review(pilot, LIMITS)
        await until(pilot, shows="✗ no: unresolved conflicts in Limits")
        await until(pilot, holds=lambda: re.search("Limits +conflict", shown(pilot.app)) is not None)
        await pilot.press("W")
        await until(pilot, shows="✗ conflicts    unresolved conflicts in Limits")
        rows = pilot.app.screen.query_one(RowList)
        while "✗ Limits  conflict" not in plain(rows.row(rows.cursor, 200)):
            before = rows.cursor
            await pilot.press("j")
            assert rows.cursor > before
        await pilot.press("enter")
        await until(pilot, shows="words · 2 of 2")
        view = pilot.app.screen.session.view
        assert conflict_at(view.page.after, view.text_line), "enter goes to the conflict"
        await pilot.press("m")
        await until(pilot, shows="Unresolved conflicts, which readers would see:")
        await until(pilot, shows="type: 4")
        await pilot.press("y", "enter", "escape")
        assert (await mia.send(GetChangeRequest(**LIMITS))).status == "open", "yes alone is not enough"


async def test_a_key_takes_a_side(service: RunningService, tmp_path: Path) -> None:
    async with running(app_on(service, tmp_path)) as pilot, somebody(service, "mia") as (mia,):
        await conflict(mia)
        conflicting = (await page_of(mia, LIMITS, "Limits")).markdown
        for key, words in (("o", [OURS]), ("t", [THEIRS]), ("b", [OURS, THEIRS])):
            await open_review(pilot, LIMITS)
            await go_to_conflict(pilot)
            assert "p pick a side" in shown(pilot.app).splitlines()[-1]
            await pilot.press("p", key)
            await until(pilot, shows="no conflict is left on this page")
            await until(pilot, holds=lambda: "✗ no: unresolved" not in shown(pilot.app))
            text = (await page_of(mia, LIMITS, "Limits")).markdown
            assert [one for one in (OURS, THEIRS) if one in text] == words, key
            assert "<<<<<<<" not in text, key
            assert ">>>>>>>" not in text, key
            await pilot.press("m")
            await until(pilot, shows="Merge into the live content?")
            await until(pilot, holds=lambda: "Checking" not in shown(pilot.app))
            assert "type: 4" not in shown(pilot.app), key
            await edits(mia, LIMITS, "Limits", conflicting)
            await pilot.press("escape", "ctrl+r")
            await until(pilot, shows="✗ no: unresolved conflicts in Limits")
            await pilot.press("q")


@pytest.mark.slow
async def test_a_conflict_that_somebody_resolved_meanwhile_stays_as_they_left_it(
    service: RunningService, tmp_path: Path
) -> None:
    async with running(app_on(service, tmp_path)) as pilot, somebody(service, "mia") as (mia,):
        await conflict(mia)
        await open_review(pilot, LIMITS)
        await go_to_conflict(pilot)
        text = (await page_of(mia, LIMITS, "Limits")).markdown
        start, end = text.index("<<<<<<<"), text.index("\n", text.index(">>>>>>>"))
        await edits(mia, LIMITS, "Limits", text[:start] + "We agreed." + text[end:])
        await pilot.press("p", "o")
        await until(pilot, shows="not resolved: somebody just changed this text")
        assert "We agreed." in (await page_of(mia, LIMITS, "Limits")).markdown


@pytest.mark.slow
async def test_without_a_conflict_the_keys_are_disabled(service: RunningService, tmp_path: Path) -> None:
    async with running(app_on(service, tmp_path)) as pilot:
        await open_review(pilot, LIMITS)
        await pilot.press("p", "o")
        await until(pilot, shows="no conflict on this page")


@pytest.mark.slow
async def test_the_inbox_says_conflict(service: RunningService, tmp_path: Path) -> None:
    async with somebody(service, "mia") as (mia,):
        await conflict(mia)
    async with running(app_on(service, tmp_path), (200, 50)) as pilot:
        await until(pilot, shows="Needs me")
        line = lambda: next((one for one in shown(pilot.app).split("\n") if "Limits per workspace" in one), "")  # noqa: E731
        await until(pilot, holds=lambda: "conflict" in line())


@pytest.mark.slow
async def test_browse_shows_conflicts_and_edits_there(
    service: RunningService, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("VISUAL", raising=False)
    monkeypatch.delenv("EDITOR", raising=False)
    async with running(app_on(service, tmp_path)) as pilot, somebody(service, "mia") as (mia,):
        await conflict(mia)
        page = await page_of(mia, LIMITS, "Limits")
        await until(pilot, shows="Needs me")
        await pilot.app.go(Place.page("api", page.id, "4"))
        await until(pilot, shows="⚠ 1 conflict · e edits there")
        view = pilot.app.screen.page_view
        await until(pilot, holds=lambda: view.has_focus)
        while not plain(view.document.lines[view.cursor]).startswith("▍ Conflict 1 of 1"):
            before = view.cursor
            await pilot.press("]")
            assert view.cursor > before, "it is one of the headings"
        await until(pilot, shows="Conflict 1 of 1: both sides changed this text")
        text = shown(pilot.app)
        assert re.search(r"▍ #4, revision by [A-Z]\w+ [A-Z]\w+, 20", text), "not `yours`: others read it, too"
        assert "▍ main, revision by Mia Okonkwo, 20" in text
        assert OURS in text
        assert THEIRS in text
        assert "<<<<<<<" not in text
        await pilot.press("e")
        await until(pilot, holds=lambda: isinstance(pilot.app.focused, MarkdownArea))
        area = pilot.app.focused
        row = area.cursor_location[0]
        assert row > 0
        assert area.document.lines[row].startswith("<<<<<<< #4, revision by ")
        await until(pilot, shows="<<<<<<< #4, revision by")
        await pilot.press("escape")
        await until(pilot, holds=lambda: pilot.app.screen.__class__.__name__ == "BrowseScreen")
        # an editor of the user's own gets the line, if it is known to take one
        program = tmp_path / "nano"
        program.write_text('#!/bin/sh\necho "$@" > "$(dirname "$0")/arguments"\n')
        program.chmod(0o755)
        monkeypatch.setenv("EDITOR", str(program))
        monkeypatch.setattr(pilot.app, "suspend", nullcontext)
        await pilot.press("e")
        await until(pilot, holds=(tmp_path / "arguments").exists)
        assert (tmp_path / "arguments").read_text().startswith(f"+{row + 1} ")
