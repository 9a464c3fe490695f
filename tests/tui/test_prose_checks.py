"""Prose checks in a review: new findings in place, suggestions, and failures."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import pytest
from tests.running_service import RunningService
from tests.service_users import say
from tests.tui.app_driver import all_sent, review, shown, until
from tests.tui.change_request_factory import begun, edited, rewritten
from tests.tui.prose_programs import configure

from presscheck.api.comments import ListComments

pytestmark = [pytest.mark.service(shared=True), pytest.mark.usefixtures("at_once")]

BEFORE = "An old teh line.\n\nThe end.\n"
AFTER = "An old teh line.\n\nA new line with teh word.\n\nA flaw here.\n\nThe end.\n"
PROGRAM = """
import json, sys
for path in sys.argv[1:]:
    for number, line in enumerate(open(path), 1):
        row = {"path": path, "line": number}
        if "teh" in line:
            at = line.index("teh") + 1
            print(json.dumps({**row, "column": at, "message": "[b]typo\\x1b[2J", "text": "teh", "replacement": "the"}))
        if "flaw" in line:
            print(json.dumps({**row, "message": "no flaws please", "rule": "flaws", "severity": "error"}))
"""


def python(code: str) -> list[str]:
    return [sys.executable, "-c", code]


def line_below(pilot: Any, words: str) -> str:
    lines = shown(pilot.app).splitlines()
    return lines[next(number for number, line in enumerate(lines) if words in line) + 1]


@pytest.mark.slow
async def test_new_findings_are_at_their_lines_and_become_suggestions(service: RunningService, tmp_path: Path) -> None:
    configure(tmp_path, ("own", python(PROGRAM)))
    one = await edited(service, "Prose in place", BEFORE, AFTER, title="Prose in place page")
    async with review(service, tmp_path, "Prose in place") as pilot:
        await until(pilot, shows="A new line with teh word.")
        await pilot.press("full_stop", "W")
        await until(pilot, shows="2 prose findings")
        finding = "§ [b]typo␛[2J (own) · c suggests the change"
        await until(pilot, holds=lambda: finding in line_below(pilot, "A new line with teh word."))
        assert "§ no flaws please (own/flaws)" in line_below(pilot, "A flaw here.")
        assert "§" not in line_below(pilot, "An old teh line.")
        await pilot.press("t")
        await until(pilot, holds=lambda: "▌  § [b]typo" in shown(pilot.app))
        await pilot.press("c")
        await until(pilot, shows="```suggestion")
        await until(pilot, shows="A new line with the word.")
        await pilot.press("ctrl+s")
        await all_sent(pilot)
        await until(pilot, shows="┃ you now")
        await pilot.press("t")
        await until(pilot, holds=lambda: "▌  ┃" in shown(pilot.app))
        await pilot.press("t")
        await until(pilot, holds=lambda: "▌  § no flaws" in shown(pilot.app))
        await pilot.press("c")
        await until(pilot, shows="> A flaw here.")
        await pilot.press("escape")
        await until(pilot, shows="Can merge?")
        await rewritten(service, one, "A teh.\n")
        await pilot.press("ctrl+r")
        await until(pilot, shows="1 not checked", holds=lambda: "§" not in shown(pilot.app))
        [comments] = await say(service, one.token, ListComments(**one.at))
        [comment] = comments.items
        assert "```suggestion\nA new line with the word.\n```" in comment.body.markdown


async def test_failures_are_shown_and_the_other_checks_go_on(service: RunningService, tmp_path: Path) -> None:
    await begun(service, "Prose failed", AFTER, title="Prose failed page")
    async with review(service, tmp_path, "Prose failed") as pilot:
        await until(pilot, shows="A flaw here.")
        await pilot.press("full_stop", "W")
        await until(pilot, shows="no prose checks: add [[checks]]")
        configure(tmp_path, ("gone", ["no-such-program"]), ("own", python(PROGRAM)))
        await pilot.press("full_stop", "W")
        await until(pilot, shows="3 prose findings · 1 check failed")
        configure(tmp_path, ("own", []))
        await pilot.press("full_stop", "W")
        await pilot.press("exclamation_mark")
        await until(pilot, shows="config.toml:3: checks.1.")
        await until(pilot, shows="gone: no-such-program is not installed: install it")
