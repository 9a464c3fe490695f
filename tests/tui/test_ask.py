"""Questions of screens: confirmations that wait for a check, and pickers of several items."""

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from tests.tui.app_driver import until, write
from tests.tui.base_screen import Room, room
from tests.tui.widget_harness import app_with, shown
from textual.pilot import Pilot

from presscheck.errors import NotNow
from presscheck.text.styled_text import Span
from presscheck.tui.ui.ask import Checked, choose_several, confirm_checked
from presscheck.tui.widgets.picker import Choice


@pytest.fixture
async def pilot(tmp_path: Path) -> AsyncIterator[Pilot[int]]:
    async with app_with(Room, tmp_path).run_test(size=(100, 20)) as one:
        await until(one, holds=lambda: "row 0" in "\n".join(shown(one.app)))
        yield one


async def test_a_confirmation_waits_for_its_check(pilot: Pilot[int]) -> None:
    screen, results = room(pilot), asyncio.Queue[Checked | NotNow | None]()

    async def check() -> Checked | None:
        result = await results.get()
        if isinstance(result, NotNow):
            raise result
        return result

    async def ask() -> None:
        answer = await confirm_checked(screen, "Delete?", [(Span("Checking …"),)], "Delete", check)
        screen.did.append(f"deletes: {answer}")

    async def begin() -> None:
        screen.did.clear()
        screen.run(ask)
        await until(pilot, shows="checking …")

    await begin()
    await pilot.press("y")
    results.put_nowait(Checked([(Span("One page is lost."),)]))
    await until(pilot, shows="One page is lost.")
    assert screen.did == [], "it was not checked yet"
    await pilot.press("y")
    await until(pilot, holds=lambda: screen.did == ["deletes: True"])

    await begin()
    results.put_nowait(Checked([(Span("All pages are lost."),)], "Guides"))
    await until(pilot, shows="All pages are lost.")
    await write(pilot, "", "Guide", "enter")
    await until(pilot, holds=lambda: screen.did == ["deletes: False"])

    await begin()
    results.put_nowait(None)
    await until(pilot, holds=lambda: screen.did == ["deletes: False"])

    await begin()
    results.put_nowait(NotNow("offline: it cannot be checked"))
    await until(pilot, shows="offline: it cannot be checked", holds=lambda: screen.did == ["deletes: False"])


async def test_several_items_are_marked(pilot: Pilot[int]) -> None:
    screen, answers = room(pilot), list[tuple[str, ...] | None]()
    choices = [Choice(name, name) for name in ("ann", "bob", "cid")]

    async def ask() -> None:
        answers.append(await choose_several(screen, "Reviewers", choices, chosen=("bob",)))

    screen.run(ask)
    await until(pilot, shows="Reviewers")
    await pilot.press("tab", "enter")
    await until(pilot, holds=lambda: answers == [("ann", "bob")])
    screen.run(ask)
    await until(pilot, shows="Reviewers")
    await pilot.press("escape")
    await until(pilot, holds=lambda: answers[1:] == [None])
