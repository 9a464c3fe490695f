"""Reading a change: unchanged lines are folded and unfolded; the web address."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.running_service import RunningService, running_service
from tests.tui.app_driver import review, shown, until
from tests.tui.change_request_factory import edited

SUBJECT = "One word of many"
BEFORE = "".join(f"Sentence number {number} stands here.\n\n" for number in range(30))
AFTER = BEFORE.replace("number 15 stands", "number 15 is")


@pytest.fixture
def service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningService]:
    with running_service(tmp_path_factory.mktemp("service"), sample=True) as one:
        yield one


async def test_a_fold_is_opened_in_place_and_closed_with_the_others(service: RunningService, tmp_path: Path) -> None:
    await edited(service, SUBJECT, BEFORE, AFTER)
    async with review(service, tmp_path, SUBJECT) as pilot:
        await until(pilot, shows="Sentence number 3 ")
        await pilot.press("i", "tab")
        await until(pilot, holds=lambda: shown(pilot.app).count("unchanged blocks") == 2)
        await pilot.press("G", "enter")
        await until(pilot, shows="Sentence number 28")
        assert shown(pilot.app).count("unchanged blocks") == 1
        assert "Sentence number 3 " not in shown(pilot.app)
        await pilot.press("i", "i")
        await until(pilot, holds=lambda: shown(pilot.app).count("unchanged blocks") == 2)
        await pilot.press("d", "d")
        await until(pilot, shows="source: the Markdown of the page")
        await until(pilot, holds=lambda: shown(pilot.app).count("unchanged lines") == 2)
        await pilot.press("g", "g", "j", "j", "enter")
        await until(pilot, shows="Sentence number 3 ")


async def test_the_address_is_copied_without_a_browser(
    service: RunningService, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SSH_CONNECTION", "a b c d")
    async with review(service, tmp_path, "Fix typos in quickstart") as pilot:
        await until(pilot, shows="Can merge?")
        await pilot.press("o")
        await until(pilot, shows="copied: ")
        assert pilot.app.clipboard == pilot.app.screen.model.request.urls.app
