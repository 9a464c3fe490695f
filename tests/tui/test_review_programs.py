"""Programs that review in the app: drafts at once, progress, cancellation, and the choice of a program."""

from __future__ import annotations

import json
import shlex
import sys
from pathlib import Path

import pytest
from tests.running_service import RunningService
from tests.service_users import say
from tests.tui.app_driver import review, shown, until
from tests.tui.change_request_factory import begun

from presscheck.api.comments import ListComments

pytestmark = [pytest.mark.service(shared=True), pytest.mark.usefixtures("at_once")]

TEXT = "A first line.\n\nA second line.\n"
READ = "import json, os, sys, time; change = json.load(sys.stdin); page = change['pages'][0]\n"
COMMENTS = READ + (
    "line = page['after'].split('\\n').index('A second line.') + 1\n"
    "print(json.dumps([{'page': page['id'], 'line': line, 'text': 'Why \\x1b[2J second?'},"
    " {'page': 'gone\\x1b[2J', 'text': 'x'}]))"
)


def configure(tmp_path: Path, **programs: str) -> None:
    """Write the settings file with programs, each the code of a Python program."""
    file = tmp_path / "config" / "config.toml"
    file.parent.mkdir(exist_ok=True)
    lines = ["[review_programs]"]
    for name, code in programs.items():
        (tmp_path / f"{name}.py").write_text(code)
        lines.append(f"{name} = {json.dumps(shlex.join([sys.executable, f'{tmp_path / name}.py']))}")
    file.write_text("\n".join(lines))


async def test_comments_of_a_program_are_drafts_at_once(service: RunningService, tmp_path: Path) -> None:
    configure(tmp_path, own=COMMENTS)
    one = await begun(service, "With a program", TEXT, title="Program page")
    async with review(service, tmp_path, "With a program") as pilot:
        await until(pilot, shows="A second line.")
        await pilot.press("full_stop", "V")
        await until(pilot, shows="1 in your review")
        await until(pilot, shows="Why ␛[2J second?")
        assert "own: 1 comment held in your review, 1 rejected (comment 2 (gone␛[2J)" in shown(pilot.app)
        [comments] = await say(service, one.token, ListComments(**one.at))
        assert comments.items == (), "nothing is sent"
        await pilot.press("full_stop", "V")
        await until(pilot, shows="own: 0 comments held in your review, 1 held already")


@pytest.mark.parametrize("keys", [("escape",), ("full_stop", "V")], ids=["esc", "again"])
async def test_a_running_program_is_canceled(service: RunningService, tmp_path: Path, keys: tuple[str, ...]) -> None:
    begun_file, alive = tmp_path / "begun", tmp_path / "alive"
    slow = f"{READ}open({str(begun_file)!r}, 'w'); time.sleep(3); open({str(alive)!r}, 'w')"
    configure(tmp_path, quick=COMMENTS, slow=slow)
    subject = f"Canceled by {keys[-1]}"
    await begun(service, subject, TEXT, title=f"{subject} page")
    async with review(service, tmp_path, subject, (80, 24)) as pilot:
        await until(pilot, shows="1 change")
        await pilot.press("full_stop", "V")
        await until(pilot, shows="Review with")
        await pilot.press("enter")
        await until(pilot, shows="1 in your review")
        await pilot.press("full_stop", "V")
        await until(pilot, shows="Review with")
        await pilot.press("down", "enter")
        await until(pilot, shows="▸ slow: reviewing …", holds=begun_file.exists)
        await pilot.press(*keys)
        await until(pilot, shows="review canceled: nothing was drafted")
        assert "reviewing" not in shown(pilot.app)
        assert "1 change" in shown(pilot.app), "the review stays open"
        await pilot.pause(3.5)
    assert not alive.exists()


async def test_a_program_that_fails_and_no_programs(service: RunningService, tmp_path: Path) -> None:
    configure(tmp_path, bad="import sys; print('{}'); sys.exit('no model')")
    await begun(service, "Failing program", TEXT, title="Failing page")
    async with review(service, tmp_path, "Failing program") as pilot:
        await until(pilot, shows="1 change")
        await pilot.press("full_stop", "V")
        await until(pilot, shows="bad: failed with exit code 1: no model")
        assert "▸" not in shown(pilot.app)
        configure(tmp_path)
        await pilot.press("full_stop", "V")
        await until(pilot, shows="no programs: name one in [review_programs] of config.toml")
