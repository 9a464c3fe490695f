"""Snapshots of rare states: not loaded yet, incomplete, stale, and hard to lay out."""

import asyncio
import base64
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy.orm import Session
from tests.private_names import strips
from tests.running_service import RunningService
from tests.service_users import say, token_of
from tests.stalling_proxy import holding_back
from tests.tui.app_driver import all_sent, app_on, inbox_loaded, noon, plain, running, shown, until, write
from tests.tui.block_page import SPACE, TITLE, write_every_block
from tests.tui.change_request_factory import begun, edited, rewritten
from tests.tui.snapshot_setup import (
    LOOK_NAMES,
    LOOKS,
    SIZES,
    WHOLE_LOOK_NAMES,
    WHOLE_LOOKS,
    at_noon,
    names,
    rested,
)

from presscheck.api.change_requests import SubmitReview, UpdateChangeRequest
from presscheck.api.comments import Document, PostComment
from presscheck.api.content import ListPages
from presscheck.api.content_changes import EditChangeRequestContent, InsertFiles, NewFile
from presscheck.api.spaces import DeleteSpace, RestoreSpace, UpdateSpace
from presscheck.documents.pages.tree import flatten
from presscheck.service.db.engine import Database
from presscheck.service.models.spaces import SpaceRow
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


pytestmark = [
    pytest.mark.usefixtures("forecasts_at_once"),
    pytest.mark.service(shared=True, clock=noon, on_a_path=True, prepare=planted),
]


async def to(pilot: Any, subject: str) -> None:
    """Go to the row of a change request."""
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
        if held == "/changes":  # the cursor in the conversation depends on whether its threads came before this key
            await pilot.press("l", "g", "g", "h")

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
        await pilot.app.go(Place.review("api", "5"))
        await until(pilot, shows="changes: 2 of 4 loaded")
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
@pytest.mark.parametrize("size", SIZES, ids=names)
@pytest.mark.service(clock=noon, on_a_path=True, prepare=write_every_block)
async def test_a_page_with_all_blocks_in_sixteen_colors(
    size: tuple[int, int], service: RunningService, tmp_path: Path
) -> None:
    """The theme of a terminal of sixteen colors uses no other, on any line of the page."""
    async with running(app_on(service, tmp_path, theme="ansi"), size) as pilot:
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
@pytest.mark.service(clock=noon, on_a_path=True)
def test_the_history_of_changes(
    size: tuple[int, int], theme: str, service: RunningService, tmp_path: Path, snap_compare: Any
) -> None:
    async def drive(pilot: Any) -> None:
        await inbox_loaded(pilot)
        engine, path = pilot.app.engine, {"space_id": "guides", "change_request_id": "3"}
        engine.write(PostComment(**path, body=Document(markdown="To whom?")), hold=3600)
        engine.unsend(engine.waiting()[0].id)
        engine.write(PostComment(**path, body=Document(markdown="Sent, and there")))
        await all_sent(pilot)
        engine.write(SubmitReview(**path, status="approved"))
        await all_sent(pilot)
        engine.write(UpdateChangeRequest(**path, subject="Fix all typos"))
        await all_sent(pilot)
        await pilot.press("g", "x", "tab")
        await until(pilot, shows="History 4")
        await pilot.press("z")
        await until(pilot, shows="Undo: ")
        await pilot.press("y")
        await until(pilot, shows="undone: ")
        await until(pilot, shows="History 5")

    app = app_on(service, tmp_path, theme=theme)
    assert snap_compare(app, terminal_size=size, run_before=lambda pilot: rested(pilot, drive(pilot)))


@looks
@pytest.mark.service(clock=noon, on_a_path=True)
def test_the_drafts(
    size: tuple[int, int], theme: str, service: RunningService, tmp_path: Path, snap_compare: Any
) -> None:
    async def drive(pilot: Any) -> None:
        await inbox_loaded(pilot)
        outbox = pilot.app.engine.outbox
        typos = {"space": "guides", "space_title": "Guides", "subject": "Fix typos in quickstart", "number": "3"}
        lost = {"space": "guides", "space_title": "Guides", "subject": LONG, "number": "2", "page": HARD["wide"][3]}
        outbox.save_draft("inbox comment", "Please look at this before Friday.")
        outbox.save_draft("review 3 page p1", "> Run it once.\n\nTwice?", {**typos, "page": "Quickstart"})
        outbox.save_draft("review 3 verdict changes-requested", "The last step is missing.", typos)
        outbox.save_draft("review nowhere edit p2", WIDE, lost)
        outbox.save_draft("review nowhere base p2", "# Before", lost)
        await pilot.press("g", "x", "3")
        await until(pilot, shows="Drafts 4")
        await until(pilot, shows="change request deleted")
        await pilot.press("j")

    app = app_on(service, tmp_path, theme=theme)
    assert snap_compare(app, terminal_size=size, run_before=lambda pilot: rested(pilot, drive(pilot)))


@pytest.fixture(scope="module")
def content(shared_service: Callable[..., RunningService]) -> tuple[RunningService, str]:
    """A service, and the id of a change request that has files, and links in every state."""
    text = (
        "See [the shops](shops.md), [the map](/map.png) and [the web](https://example.org/).\n\n![The bar](/bar.jpg)\n"
    )
    one = shared_service(sample=True, clock=noon, on_a_path=True)
    made = asyncio.run(begun(one, "Where the shops are", text))
    files = InsertFiles(
        files=tuple(
            NewFile(name=name, base64=base64.b64encode(bytes(size)).decode(), content_type=kind)
            for name, size, kind in (
                ("map.png", 48_200, "image/png"),
                ("counter (old) 営業.jpg", 912_000, "image/jpeg"),
                ("prices.pdf", 640, "application/pdf"),
            )
        )
    )
    asyncio.run(say(one, made.token, EditChangeRequestContent(**made.at, changes=(files,))))
    return one, made.at["change_request_id"]


@looks
@pytest.mark.parametrize("tab", ["links", "files"])
def test_links_and_files(
    tab: str, size: tuple[int, int], theme: str, content: tuple[RunningService, str], tmp_path: Path, snap_compare: Any
) -> None:
    service, request = content

    async def drive(pilot: Any) -> None:
        await until(pilot, shows="Needs me")
        await pilot.app.go(Place.review("guides", request))
        await until(pilot, shows="Can merge?")
        await pilot.press("g", "l")
        await until(pilot, shows="Where the shops are › Guides")
        screen = pilot.app.screen
        await until(pilot, shows="2 broken", holds=lambda: screen.session.is_loaded and not screen.session.progress)
        await pilot.press({"links": "1", "files": "2"}[tab])
        await until(pilot, shows="name" if tab == "files" else "shops.md")

    app = app_on(service, tmp_path, theme=theme)
    assert snap_compare(app, terminal_size=size, run_before=lambda pilot: rested(pilot, drive(pilot)))


def tended(service: RunningService) -> None:
    """Lock and publish spaces, one with a long title, and one without an emoji."""
    database = Database(service.database_url)

    def publish(session: Session) -> None:
        for space, visibility in (("api", "public"), ("notes", "share-link")):
            session.get_one(SpaceRow, space).visibility = visibility

    try:
        database.write(publish)
    finally:
        database.close()
    title = "Guides for everybody who sends their first parcel"
    plain = UpdateSpace(space_id="handbook", emoji=None)
    locks = [UpdateSpace(space_id="guides", title=title, edit_mode="locked")]
    asyncio.run(say(service, service.token, plain, UpdateSpace(space_id="notes", edit_mode="locked"), *locks))


@pytest.fixture
def facts(shared_service: Callable[..., RunningService]) -> RunningService:
    return shared_service(sample=True, clock=noon, on_a_path=True, prepare=tended)


@looks
def test_the_facts_of_spaces(
    size: tuple[int, int], theme: str, facts: RunningService, tmp_path: Path, snap_compare: Any
) -> None:
    async def drive(pilot: Any) -> None:
        await inbox_loaded(pilot)
        await pilot.press("g", "o")
        await until(pilot, shows="■")
        await pilot.press("j", "j")
        await until(pilot, shows="API docs   public · ")

    app = app_on(facts, tmp_path, theme=theme)
    assert snap_compare(app, terminal_size=size, run_before=lambda pilot: rested(pilot, drive(pilot)))


@looks
def test_the_deleted_spaces(
    size: tuple[int, int], theme: str, facts: RunningService, tmp_path: Path, snap_compare: Any
) -> None:
    async def drive(pilot: Any) -> None:
        await inbox_loaded(pilot)
        await pilot.press("g", "o")
        await until(pilot, shows="Command line")
        await say(facts, facts.token, DeleteSpace(space_id="cli"))
        await pilot.press("ctrl+r")
        await until(pilot, holds=lambda: "Command line" not in shown(pilot.app))
        pilot.app.notices.clear()
        await pilot.press("g", "d")
        await until(pilot, shows="7 days left")

    app = app_on(facts, tmp_path, theme=theme)
    try:
        assert snap_compare(app, terminal_size=size, run_before=lambda pilot: rested(pilot, drive(pilot)))
    finally:
        asyncio.run(say(facts, facts.token, RestoreSpace(space_id="cli")))


@looks
def test_permissions(
    size: tuple[int, int], theme: str, service: RunningService, tmp_path: Path, snap_compare: Any
) -> None:
    async def drive(pilot: Any) -> None:
        await until(pilot, shows="Needs me")
        await pilot.press("g", "o")
        await until(pilot, shows="API docs")
        await until(pilot, holds=lambda: pilot.app.screen.item is not None)
        await pilot.press("g", "g", "g", "w")
        await until(pilot, shows="8 of 8 members have access")
        await until(pilot, shows="Robin Achterberg")

    app = app_on(service, tmp_path, theme=theme)
    assert snap_compare(app, terminal_size=size, run_before=lambda pilot: rested(pilot, drive(pilot)))


@looks
@pytest.mark.parametrize("state", ["members", "form"])
def test_administration(
    state: str, size: tuple[int, int], theme: str, service: RunningService, tmp_path: Path, snap_compare: Any
) -> None:
    async def drive(pilot: Any) -> None:
        await until(pilot, shows="Needs me")
        await pilot.press("g", "a")
        await until(pilot, shows="Tallowick › Administration › Organizations")
        await pilot.press("j")
        await until(pilot, shows="Robin Achterberg")
        await pilot.press("enter", "space", "space")
        await until(pilot, shows="2 marked rows")
        if state == "form":
            await pilot.press("escape", "h", "k", "enter", "E")
            await until(pilot, shows="2 to 255 characters")
            await pilot.press("space", *"(former)")
            await until(pilot, shows="Tallowick (former)")

    app = app_on(service, tmp_path, theme=theme)
    assert snap_compare(app, terminal_size=size, run_before=lambda pilot: rested(pilot, drive(pilot)))
