"""A program drafts comments for a review while the app is open; only a person sends them."""

import asyncio
import json
from pathlib import Path

import pytest
from tests.cli.shell import Shell, signed_in
from tests.running_service import RunningService
from tests.service_users import somebody, threads
from tests.tui.app_driver import all_sent, app_on, open_review, running, shown, until, write

from presscheck.api.change_requests import ListReviews

AUTH = {"space_id": "api", "change_request_id": "5"}


pytestmark = pytest.mark.usefixtures("at_once")


async def program(shell: Shell, *words: str) -> str:
    """Run a program beside the app."""
    ran = await asyncio.to_thread(shell.program, *words)
    assert ran.returncode == 0, ran.stderr
    return ran.stdout


@pytest.mark.slow
async def test_what_a_program_drafts_is_seen_at_once_and_sent_by_a_person(
    service: RunningService, tmp_path: Path
) -> None:
    shell = signed_in(tmp_path, service)
    async with running(app_on(service, tmp_path)) as pilot, somebody(service, "mia") as (mia,):
        await open_review(pilot, AUTH)
        before = await threads(mia, AUTH)
        await program(shell, "cr", "comment", "api#5", "--pending", "--body", "Is this true?")
        await until(pilot, shows="✎ 1 in your review")
        await pilot.press("g", "g")
        await until(pilot, shows="Is this true?")
        await program(shell, "cr", "review", "api#5", "--comment", "And that?", "--comment", "No use.")
        await until(pilot, shows="✎ 3 in your review")
        await program(shell, "outbox", "send")
        assert await threads(mia, AUTH) == before, "nobody else sees it"
        await write(pilot, "C", "My own.", "ctrl+s")
        await until(pilot, shows="✎ 4 in your review")
        await pilot.press("l", "/", *"Is this true", "enter", "e")
        await until(pilot, shows="Edit your comment")
        await pilot.press("backspace", *" and new?", "ctrl+s")
        await until(pilot, shows="Is this true and new?")
        await pilot.press("/", *["backspace"] * 12, *"No use", "enter", "-")
        await until(pilot, shows="Discard this pending comment?")
        await pilot.press("y")
        await until(pilot, shows="✎ 3 in your review")
        await until(pilot, shows="discarded “No use.”")
        assert await threads(mia, AUTH) == before
        await pilot.press("v", "a")
        await until(pilot, shows="Approve, with 3 comments")
        await program(shell, "cr", "comment", "api#5", "--pending", "--body", "Not read by anyone yet")
        await until(pilot, shows="✎ 4 in your review")
        await pilot.press("enter")
        await until(pilot, shows="✎ 1 in your review")
        await until(pilot, holds=lambda: len(pilot.app.engine.waiting()) == 1)
        assert (await threads(mia, AUTH)).keys() - before.keys() == {"Is this true and new?", "And that?", "My own."}
        await write(pilot, "v c", "", "ctrl+s")
        await all_sent(pilot)
        await until(pilot, holds=lambda: "in your review" not in shown(pilot.app))
        assert "Not read by anyone yet" in await threads(mia, AUTH)


@pytest.mark.slow
async def test_a_review_of_the_app_is_submitted_on_the_command_line(service: RunningService, tmp_path: Path) -> None:
    shell = signed_in(tmp_path, service)
    async with running(app_on(service, tmp_path)) as pilot, somebody(service, "mia") as (mia,):
        await open_review(pilot, AUTH)
        await pilot.press("v", "b")
        await until(pilot, shows="✎ 0 in your review")
        await write(pilot, "C", "From the app", "ctrl+s")
        await until(pilot, shows="✎ 1 in your review")
        asked = await asyncio.to_thread(shell.program, "cr", "review", "api#5", "--submit", "--approve")
        assert asked.returncode == 2
        assert "(approve) with 1 comment? Without a terminal, pass --yes to confirm" in asked.stderr
        assert "From the app" not in await threads(mia, AUTH)
        await program(shell, "cr", "review", "api#5", "--submit", "--approve", "--yes", "--body", "And so on")
        await until(pilot, holds=lambda: "in your review" not in shown(pilot.app))
        await all_sent(pilot)
        assert {"From the app", "And so on"} <= (await threads(mia, AUTH)).keys()
        verdicts = (await mia.send(ListReviews(**AUTH))).items
        assert "approved" in [one.status for one in verdicts if one.reviewer.id == "robin"]


def test_a_pending_review_on_the_command_line_alone(service: RunningService, tmp_path: Path) -> None:
    shell = signed_in(tmp_path, service)
    nothing = shell.run("cr", "review", "api#5", "--submit", "--yes")
    assert "your pending review of #5 has no comments" in nothing.stderr
    assert "choose --approve" in shell.run("cr", "review", "api#5").stderr
    assert "--page" in shell.run("cr", "review", "api#5", "--approve", "--page", "x").stderr
    assert "use --comment TEXT" in shell.run("cr", "review", "api#5", "--start", "--body", "x").stderr
    shell.ok("cr", "review", "api#5", "--start")
    ran = shell.run("cr", "review", "api#5", "--comment", "One", "--comment", "Two")
    assert ran.stdout.split() == ["1", "2"]
    assert "2 comments in your pending review of #5" in ran.stderr
    thread = shell.json("cr", "show", "guides#3")["comments"][0]["id"]
    held = json.loads(shell.ok("cr", "reply", "guides#3", thread, "--pending", "--body", "Elsewhere", "--json"))
    assert held == {"outbox": 3}
    assert "waiting:1 Robin Achterberg (held)" in shell.ok("cr", "show", "api#5")
    assert [row["state"] for row in shell.json("outbox", "list")] == ["collected"] * 3
    assert "3 comments held until you submit" in shell.run("outbox", "send").stderr
    only = shell.run("cr", "review", "api#5", "--approve")
    assert "Your pending review still holds 2 comments" in only.stderr
    sent = shell.run("cr", "review", "api#5", "--submit", "--yes")
    assert "Review submitted: 2 comments." in sent.stderr
    [row] = shell.json("outbox", "list")
    assert row["id"] == 3, "the review of another change request is still pending"
    texts = [one["body"]["markdown"].strip() for one in shell.json("cr", "show", "api#5")["comments"]]
    assert {"One", "Two"} <= set(texts)
