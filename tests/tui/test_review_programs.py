"""Review programs in the app: their comments as drafts, cancellation, and failures."""

from __future__ import annotations

import json
import os
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
    """Write the programs, given as Python code, and a settings file that names them."""
    file = tmp_path / "config" / "config.toml"
    file.parent.mkdir(exist_ok=True)
    lines = ["[review_programs]"]
    for name, code in programs.items():
        (tmp_path / f"{name}.py").write_text(code)
        lines.append(f"{name} = {json.dumps(shlex.join([sys.executable, f'{tmp_path / name}.py']))}")
    file.write_text("\n".join(lines))


@pytest.mark.slow
async def test_comments_of_a_program_are_drafts_at_once(service: RunningService, tmp_path: Path) -> None:
    configure(tmp_path, own=COMMENTS)
    one = await begun(service, "With a program", TEXT, title="Program page")
    async with review(service, tmp_path, "With a program") as pilot:
        await until(pilot, shows="A second line.")
        await pilot.press("full_stop", "V")
        await until(pilot, shows="1 in your review")
        await until(pilot, shows="Why ␛[2J second?")
        await until(pilot, shows="own: 1 comment held in your review, 1 rejected (comment 2 (gone␛[2J)")
        [comments] = await say(service, one.token, ListComments(**one.at))
        assert comments.items == (), "nothing is sent"
        await pilot.press("full_stop", "V")
        await until(pilot, shows="own: 0 comments held in your review, 1 held already")
        slow = f"{READ}open('new', 'w').write(str(os.getpid())); os.replace('new', 'begun'); time.sleep(600)"
        configure(tmp_path, slow=f"import os; os.chdir({str(tmp_path)!r}); {slow}")
        await pilot.press("full_stop", "V")
        await until(pilot, shows="▸ slow: reviewing …", holds=(tmp_path / "begun").exists)
        number = int((tmp_path / "begun").read_text())
        await pilot.press("escape")
        await until(pilot, shows="review canceled: nothing was drafted", holds=lambda: has_ended(number))


def has_ended(number: int) -> bool:
    """Return True if the process has ended."""
    try:
        os.kill(number, 0)
    except ProcessLookupError:
        return True
    return False


async def test_a_failing_program_and_missing_programs_show_messages(service: RunningService, tmp_path: Path) -> None:
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
