"""Drafts of agents appear at once with the name of the agent; a user sends, edits or discards them."""

import asyncio
from pathlib import Path

import pytest
from tests.cli.shell import Shell, signed_in
from tests.running_service import RunningService
from tests.tui.app_driver import all_sent, app_on, open_review, running, until

from presscheck.tui.screens.outbox import unsent_list

AUTH = {"space_id": "api", "change_request_id": "5"}
pytestmark = pytest.mark.usefixtures("at_once")


async def draft(shell: Shell, agent: str, verb: str, **arguments: str) -> None:
    """Run an agent command in another process while the app runs."""
    words = ("agent", verb, *(f"{name}={value}" for name, value in arguments.items()))
    ran = await asyncio.to_thread(shell.program, *words, "--allow", "draft", "--name", agent)
    assert ran.returncode == 0, ran.stderr


@pytest.mark.slow
async def test_an_edit_by_an_agent_is_shown_as_a_difference_and_must_be_read_before_it_is_sent(
    service: RunningService, tmp_path: Path
) -> None:
    shell = signed_in(tmp_path, service)
    replacements = '[{"old": "within a second", "new": "at once"}]'
    async with running(app_on(service, tmp_path)) as pilot:
        await open_review(pilot, AUTH)
        await draft(shell, "Bot", "edit_page", change_request="api#5", page="Tokens", replacements=replacements)
        await pilot.press("g", "x")
        await until(pilot, shows="Bot: edit page  Tokens: … › Tokens**. It stops at once.")
        await pilot.press("enter")
        await until(pilot, shows="where    #5 Rewrite the auth guide › Tokens")
        await until(pilot, shows="at once")
        await until(pilot, shows="within a second")
        again = '[{"old": "at once", "new": "sometime"}]'
        await draft(shell, "Bot", "edit_page", change_request="api#5", page="Tokens", replacements=again)
        await pilot.press("escape")
        [row] = await asyncio.to_thread(shell.json, "outbox", "list")
        await until(pilot, holds=lambda: [entry.id for entry in pilot.app.screen.unsent.items] == [row["id"]])
        await pilot.press("s")
        await until(pilot, shows="sometime")
        await until(pilot, shows="not sent yet: read it, then s sends it")  # the draft has changed since it was read
        await pilot.press("escape", "s")
        await all_sent(pilot)
    page = await asyncio.to_thread(shell.ok, "page", "view", "api", "Tokens", "--cr", "api#5")
    assert "It stops sometime" in page


async def test_a_confirmation_counts_the_drafts_it_does_not_list(
    service: RunningService, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(unsent_list, "MOST_SHOWN", 1)
    shell = signed_in(tmp_path, service)
    for text in ("First", "Second", "Third"):
        words = ("agent", "draft_comment", "change_request=api#5", f"text={text}", "--allow", "draft", "--name", "Bot")
        await asyncio.to_thread(shell.ok, *words)  # the command has its own event loop
    async with running(app_on(service, tmp_path)) as pilot:
        await until(pilot, shows="live")
        await pilot.press("g", "x")
        await until(pilot, shows="Third")
        await pilot.press("A")
        await until(pilot, shows="Send 3 drafts of Bot")
        await pilot.press("enter")
        await until(pilot, shows="and 2 more")
