"""Snapshots of rare states: not loaded yet, incomplete, stale, and hard to lay out."""

import asyncio
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.running_service import RunningService, running_service
from tests.service_users import say, token_of
from tests.stalling_proxy import holding_back
from tests.tui.app_driver import app_on, noon, until, write
from tests.tui.change_request_factory import begun, edited, rewritten
from tests.tui.snapshot_setup import LOOK_NAMES, LOOKS, at_noon, rested

from presscheck.api.change_requests import SubmitReview
from presscheck.api.comments import Document, PostComment

__all__ = ["at_noon"]

looks = pytest.mark.parametrize(("size", "theme"), LOOKS, ids=LOOK_NAMES)
LONG = "Say in every place where we say “workspace” that it is a project now, also in the older"
WIDE = """# 営業時間

営業時間は毎日 **9 時から 18 時まで** です。祝日は休みます。

| 曜日 | 開店 | 閉店 |
| --- | --- | --- |
| 月曜日 | 9:00 | 18:00 |
| 土曜日 | 10:00 | 17:00 |

👩‍🔧 Repairs take a day. 한국어도 됩니다.
"""
RIGHT_TO_LEFT = """# שעות הפתיחה

החנות פתוחה כל יום מ־9 עד 18, וסגורה ב־Shabbat.

- مفتوح من الأحد إلى الخميس
- مغلق يوم الجمعة

Call *before* you come.
"""


HARD = {
    "long": (LONG, "Workspace", "Workspace " * 40 + "\n", "A_very_long_name_without_any_blanks_in_it_" * 3),
    "wide": ("営業時間を新しくする", "18 時", WIDE, "営業時間と休日のお知らせ（全店舗）"),
    "right-to-left": ("שעות פתיחה חדשות בכל הסניפים", "18", RIGHT_TO_LEFT, "שעות הפתיחה"),
}
"""Subject, a word that changes, the text, the title of the page."""
STALE = "How long tokens last"


async def planted(service: RunningService) -> None:
    """Create change requests that are hard to lay out, and a stale approval."""
    for subject, word, text, title in HARD.values():
        one = await edited(service, subject, text, text.replace(word, "19 時", 1), title=title[:128])
        await say(service, one.token, PostComment(**one.at, page=one.page, body=Document(markdown=text[:60])))
    one = await begun(service, STALE, "A token lasts 30 days.\n")
    await say(service, token_of(service, "jon"), SubmitReview(**one.at, status="approved"))
    await rewritten(service, one, "A token lasts 90 days.\n")


@pytest.fixture(scope="module")
def service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningService]:
    with running_service(tmp_path_factory.mktemp("s"), sample=True, clock=noon, on_a_path=True) as one:
        asyncio.run(planted(one))
        yield one


async def to(pilot: Any, subject: str) -> None:
    """Go to the row of a change request."""
    await until(pilot, shows="Needs me 7")
    await pilot.press("4")
    await until(pilot, shows=subject[:8])
    await write(pilot, "/", subject[:8], "enter")


@looks
def test_an_inbox_that_is_not_loaded_yet(
    size: tuple[int, int], theme: str, service: RunningService, tmp_path: Path, snap_compare: Any
) -> None:
    async def drive(pilot: Any) -> None:
        await until(pilot, shows="Needs me")

    with holding_back(service, tmp_path, "change-requests") as address:
        app = app_on(service, tmp_path, theme=theme, base_url=address)
        assert snap_compare(app, terminal_size=size, run_before=lambda pilot: rested(pilot, drive(pilot), asks=True))


@looks
@pytest.mark.parametrize("held", ["/changes", "/content/page/"], ids=["changes", "texts"])
def test_a_review_that_is_not_loaded_yet(
    held: str, size: tuple[int, int], theme: str, service: RunningService, tmp_path: Path, snap_compare: Any
) -> None:
    async def drive(pilot: Any) -> None:
        await until(pilot, shows="Fix typos in quickstart")
        pilot.app.open_review("guides", "3")
        await until(pilot, shows="✓2")
        await pilot.press("tab" if held == "/content/page/" else "j")

    with holding_back(service, tmp_path, held) as address:
        app = app_on(service, tmp_path, theme=theme, base_url=address)
        assert snap_compare(app, terminal_size=size, run_before=lambda pilot: rested(pilot, drive(pilot), asks=True))


@looks
def test_an_incomplete_change_request(
    size: tuple[int, int],
    theme: str,
    service: RunningService,
    tmp_path: Path,
    snap_compare: Any,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    async def drive(pilot: Any) -> None:
        await until(pilot, shows="Rewrite the auth guide")
        pilot.app.open_review("api", "5")
        await until(pilot, shows="2/4 changes incomplete")
        await pilot.press("v", "a")
        await until(pilot, shows="only 2 of 4 changes are loaded")

    monkeypatch.setattr("presscheck.engine.review.model.ALL", 2)
    with holding_back(service, tmp_path, "changes?limit=6") as address:
        app = app_on(service, tmp_path, theme=theme, base_url=address)
        assert snap_compare(app, terminal_size=size, run_before=lambda pilot: rested(pilot, drive(pilot), asks=True))


@looks
def test_an_approval_of_an_older_revision(
    size: tuple[int, int], theme: str, service: RunningService, tmp_path: Path, snap_compare: Any
) -> None:
    async def drive(pilot: Any) -> None:
        await to(pilot, STALE)
        await pilot.press("enter")
        await until(pilot, shows="✓1 stale")
        await pilot.press("g", "g", "tab")
        await until(pilot, shows="approved an older revision")
        await until(pilot, shows="changed since: Lasting")

    app = app_on(service, tmp_path, theme=theme)
    assert snap_compare(app, terminal_size=size, run_before=lambda pilot: rested(pilot, drive(pilot)))


@looks
@pytest.mark.parametrize("kind", HARD)
def test_what_is_hard_to_lay_out(
    kind: str,
    size: tuple[int, int],
    theme: str,
    service: RunningService,
    tmp_path: Path,
    snap_compare: Any,
) -> None:
    async def drive(pilot: Any) -> None:
        await to(pilot, HARD[kind][0])
        await pilot.press("enter")
        await until(pilot, shows="Can merge?")
        await until(pilot, shows="┃1")
        await pilot.press("tab")

    app = app_on(service, tmp_path, theme=theme)
    assert snap_compare(app, terminal_size=size, run_before=lambda pilot: rested(pilot, drive(pilot)))


@looks
def test_rows_that_are_hard_to_lay_out(
    size: tuple[int, int], theme: str, service: RunningService, tmp_path: Path, snap_compare: Any
) -> None:
    app = app_on(service, tmp_path, theme=theme)
    assert snap_compare(app, terminal_size=size, run_before=lambda pilot: rested(pilot, to(pilot, HARD["long"][0])))
