"""Snapshots of rare states: not loaded yet, incomplete, stale, and hard to lay out."""

from pathlib import Path
from typing import Any

import pytest
from tests.private_names import strips
from tests.running_service import RunningService
from tests.service_users import say, token_of
from tests.stalling_proxy import holding_back
from tests.tui.app_driver import app_on, inbox_loaded, noon, plain, running, until, write
from tests.tui.block_page import SPACE, TITLE, write_every_block
from tests.tui.change_request_factory import begun, edited, rewritten
from tests.tui.snapshot_setup import (
    LOOK_NAMES,
    LOOKS,
    WHOLE_LOOK_NAMES,
    WHOLE_LOOKS,
    at_noon,
    rested,
)

from presscheck.api.change_requests import SubmitReview
from presscheck.api.comments import Document, PostComment
from presscheck.api.content import ListPages
from presscheck.documents.pages.tree import flatten
from presscheck.tui.places import Place

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
"""For each kind: the subject, a word that changes, the text, and the title of the page."""
STALE = "How long tokens last"


async def planted(service: RunningService) -> None:
    """Create change requests that are hard to lay out, and a stale approval."""
    for subject, word, text, title in HARD.values():
        one = await edited(service, subject, text, text.replace(word, "19 時", 1), title=title[:128])
        await say(service, one.token, PostComment(**one.at, page=one.page, body=Document(markdown=text[:60])))
    one = await begun(service, STALE, "A token lasts 30 days.\n")
    await say(service, token_of(service, "jon"), SubmitReview(**one.at, status="approved"))
    await rewritten(service, one, "A token lasts 90 days.\n")


pytestmark = [
    pytest.mark.usefixtures("forecasts_at_once"),
    pytest.mark.service(shared=True, clock=noon, on_a_path=True, prepare=planted),
]


async def to(pilot: Any, subject: str) -> None:
    """Move the cursor to the row of a change request."""
    await inbox_loaded(pilot)
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
        await pilot.app.go(Place.review("guides", "3"))
        await until(pilot, shows="✓2")
        await pilot.press("tab" if held == "/content/page/" else "j")
        if held == "/changes":  # the cursor in the conversation depends on whether its threads were loaded first
            await pilot.press("l", "g", "g", "h")

    with holding_back(service, tmp_path, held) as address:
        app = app_on(service, tmp_path, theme=theme, base_url=address)
        assert snap_compare(app, terminal_size=size, run_before=lambda pilot: rested(pilot, drive(pilot), asks=True))


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


async def read_blocks(pilot: Any) -> None:
    """Open the page with all blocks."""
    await inbox_loaded(pilot)
    pages = (await pilot.app.engine.read(ListPages(space_id=SPACE))).pages
    await pilot.app.go(Place.page(SPACE, next(page.id for page in flatten(pages) if page.title == TITLE)))
    await until(pilot, shows="[ macOS ]", holds=lambda: pilot.app.screen.page_view.has_focus)
    view = pilot.app.screen.page_view
    await until(pilot, holds=lambda: view.document.done)
    await until(pilot, holds=lambda: any("Page a team" in plain(line) for line in view.document.lines))


@pytest.mark.parametrize(("size", "theme"), WHOLE_LOOKS, ids=WHOLE_LOOK_NAMES)
@pytest.mark.service(clock=noon, on_a_path=True, prepare=write_every_block)
def test_a_page_with_all_blocks(
    size: tuple[int, int], theme: str, service: RunningService, tmp_path: Path, snap_compare: Any
) -> None:
    async def drive(pilot: Any) -> None:
        await read_blocks(pilot)
        await pilot.press("=", *"jjjjjjjjj")
        view = pilot.app.screen.page_view
        await until(pilot, holds=lambda: view.document.done and view.count < view.size.height)

    app = app_on(service, tmp_path, theme=theme)
    assert snap_compare(app, terminal_size=size, run_before=lambda pilot: rested(pilot, drive(pilot)))


@pytest.mark.slow
@pytest.mark.service(clock=noon, on_a_path=True, prepare=write_every_block)
async def test_a_page_with_all_blocks_in_sixteen_colors(service: RunningService, tmp_path: Path) -> None:
    """The theme for terminals with sixteen colors uses no other color on any line of the page."""
    async with running(app_on(service, tmp_path, theme="ansi"), (80, 24)) as pilot:
        await read_blocks(pilot)
        await pilot.press("=")
        view = pilot.app.screen.page_view
        seen = set[str]()
        for _ in range(len(view.document.lines) // 10 + 1):
            for strip in strips(pilot.app):
                for segment in strip:
                    for color in (segment.style.color, segment.style.bgcolor) if segment.style else ():
                        if color and not color.is_default:
                            assert color.number is not None, f"{segment.text!r} has {color}"
                            assert color.number < 16, f"{segment.text!r} has {color}"
                            seen.add(color.name)
            await pilot.press("ctrl+d")
        assert len(seen) > 4


@looks
def test_administration(
    size: tuple[int, int], theme: str, service: RunningService, tmp_path: Path, snap_compare: Any
) -> None:
    async def drive(pilot: Any) -> None:
        await until(pilot, shows="Needs me")
        await pilot.press("g", "a")
        await until(pilot, shows="Tallowick › Administration › Organizations")
        await pilot.press("j")
        await until(pilot, shows="Robin Achterberg")
        await pilot.press("enter", "space", "space")
        await until(pilot, shows="2 marked rows")

    app = app_on(service, tmp_path, theme=theme)
    assert snap_compare(app, terminal_size=size, run_before=lambda pilot: rested(pilot, drive(pilot)))
