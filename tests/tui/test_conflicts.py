"""Keys resolve conflicts that an update wrote into a page, unless another user has just changed the conflict."""

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from tests.running_service import RunningService
from tests.service_users import At, edits, main_moves, page_of, somebody
from tests.table import each_case
from tests.tui.app_driver import app_on, open_review, running, shown, until

from presscheck.api.change_requests import PullChangeRequest
from presscheck.client.client import Client
from presscheck.documents.merge.conflict_blocks import conflict_at
from presscheck.tui.screens.review import conflict_actions
from presscheck.tui.screens.review.conflict_actions import ConflictActions

LIMITS: At = {"space_id": "api", "change_request_id": "4"}
OURS, THEIRS = "Ask us before a sale; we raise them for a week.", "Do not ask us."


pytestmark = pytest.mark.usefixtures("at_once")


async def conflict(client: Client) -> None:
    """Change words on main that the change request changes too, and update the change request from main."""
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
async def test_keys_resolve_a_conflict_with_one_side_or_both(service: RunningService, tmp_path: Path) -> None:
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


BOTH = "Before.\n\n<<<<<<< #4\nOurs.\n=======\nTheirs.\n>>>>>>> main\n\nAfter.\n"


@each_case(
    ("now", "written"),
    [
        (BOTH, "Before.\n\nOurs.\n\nAfter.\n"),
        ("New.\n\n" + BOTH, "New.\n\nBefore.\n\nOurs.\n\nAfter.\n"),
        ("Before.\n\nWe agreed.\n\nAfter.\n", None),
        (BOTH.replace("Theirs.", "Theirs, again."), None),
    ],
)
async def test_a_conflict_that_somebody_changed_meanwhile_is_not_overwritten(
    now: str, written: str | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def is_locked(*_: Any) -> bool:
        return False

    async def read_page(_: str) -> Any:
        return SimpleNamespace(markdown=now)

    async def write_page(_: str, text: str) -> None:
        texts.append(text)

    monkeypatch.setattr(conflict_actions, "stays_locked", is_locked)
    texts, told = list[str](), list[str]()
    session: Any = SimpleNamespace(
        model=SimpleNamespace(space_id="api"),
        screen=SimpleNamespace(notify=told.append),
        view=SimpleNamespace(
            item=SimpleNamespace(id="p"), page=SimpleNamespace(after=BOTH), text_line=3, is_in_change=True
        ),
        read_page=read_page,
        write_page=write_page,
    )
    await ConflictActions(session).command_take_ours()
    assert texts == ([] if written is None else [written])
    assert ("not resolved: somebody just changed this text" in told) is (written is None)
