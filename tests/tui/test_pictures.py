"""Snapshots of every screen, at two sizes and in two themes; `make snapshots` updates them."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from tests.profiles import write_settings
from tests.running_service import RunningService
from tests.service_users import page_of, somebody, token_of
from tests.tui.app_driver import app_on, noon, pick, plain, shown, until, write
from tests.tui.snapshot_setup import LOOK_NAMES, LOOKS, Drive, at_noon, names, rested

from presscheck.api.change_requests import PullChangeRequest
from presscheck.tui.external_programs import is_built_in
from presscheck.tui.places import Place
from presscheck.tui.screens.markdown_editor.area import MarkdownArea

__all__ = ["at_noon"]

pytestmark = [
    pytest.mark.usefixtures("forecasts_at_once"),
    pytest.mark.service(shared=True, clock=noon, on_a_path=True),
]


@pytest.fixture
def empty(shared_service: Callable[..., RunningService]) -> RunningService:
    return shared_service(clock=noon, on_a_path=True)


async def inbox(pilot: Any, service: RunningService) -> None:
    await until(pilot, shows="✓ Jón   ✗ Ada   ◷ you")


async def preview_side(pilot: Any, service: RunningService) -> None:
    await inbox(pilot, service)
    await pilot.press("|")
    await until(pilot, holds=lambda: pilot.app.notices.history or "│" in shown(pilot.app))
    await until(pilot, shows="3 open comments")


async def review(pilot: Any, service: RunningService) -> None:
    await inbox(pilot, service)
    await pilot.press("enter")
    # wait for the complete header: it is not redrawn below a dialog
    await until(pilot, shows="API docs ›")
    await until(pilot, shows="Can merge?")


async def review_split(pilot: Any, service: RunningService) -> None:
    await review(pilot, service)
    await pilot.press("tab", "d")
    await until(pilot, holds=lambda: "before on the left" in shown(pilot.app) or "split view needs" in shown(pilot.app))


async def review_all_pages(pilot: Any, service: RunningService) -> None:
    await review(pilot, service)
    screen = pilot.app.screen
    await until(
        pilot,
        holds=lambda: all(screen.session.texts.words(item) for item in screen.session.model.items if item.has_text),
    )
    await pilot.press("&", "tab", "}")
    await until(pilot, holds=lambda: screen.session.view.row == 2)


async def review_thread(pilot: Any, service: RunningService) -> None:
    await review(pilot, service)
    screen = pilot.app.screen

    def are_placed() -> bool:
        threads = screen.session.threads.visible_on(screen.session.view.item)
        return len(screen.session.view.rendered.threads) == 2 and any(thread.line is not None for thread in threads)

    await until(pilot, holds=are_placed)
    await pilot.press("t")


async def merge_sheet(pilot: Any, service: RunningService) -> None:
    await review(pilot, service)
    await pilot.press("m")
    await until(pilot, shows="Merge into the live content?")


async def collision(pilot: Any, service: RunningService) -> None:
    await inbox(pilot, service)
    await pilot.app.go(Place.review("runbook", "2"))
    await until(pilot, shows="conflicts with main in")
    await pilot.press("m")
    await until(pilot, shows="type: 2")


async def composer(pilot: Any, service: RunningService) -> None:
    await review(pilot, service)
    await write(pilot, "C", "One thing more")
    await until(pilot, shows="the draft is kept")


async def browse(pilot: Any, service: RunningService) -> None:
    await inbox(pilot, service)
    await pilot.press("g", "o")
    await until(pilot, shows="API docs")
    await pilot.press("j", "j", "l")
    await until(pilot, shows="Overview")
    await pilot.press("j", "j")
    await until(pilot, shows="A request without a token")


async def outline(pilot: Any, service: RunningService) -> None:
    """Open the headings of a page with a conflict and a folded section, as a pane or as a list."""
    await inbox(pilot, service)
    async with somebody(service, "noor") as (noor,):
        at = {"space_id": "runbook", "change_request_id": "2"}
        assert (await noor.send(PullChangeRequest(**at))).result == "conflicts"
        page = await page_of(noor, at, "A carrier is down")
    await pilot.app.go(Place.page("runbook", page.id, "2"))
    await until(pilot, shows="1 conflict · e edits there", holds=lambda: pilot.app.screen.page_view.has_focus)
    await pilot.press("]", "]", ",")
    await until(pilot, shows="What to tell people  · ")
    await until(pilot, holds=lambda: "· …" not in shown(pilot.app))
    pilot.app.notices.clear()
    await pilot.press("#")
    await until(pilot, shows="Two at once", holds=lambda: shown(pilot.app).count("What to tell people") == 2)


async def space_home(pilot: Any, service: RunningService) -> None:
    await inbox(pilot, service)
    await pilot.app.go(Place.page("cli"))
    await until(pilot, shows="continue in")

    def text() -> str:
        return "\n".join(plain(line) for line in pilot.app.screen.page_view.document.lines)

    await until(pilot, holds=lambda: "Recently changed pages" in text() and "loading" not in text())
    await pilot.press("tab", *"jjjjjj")


async def in_request(pilot: Any, service: RunningService) -> None:
    """Move the cursor to the page Tokens of a change request."""
    await inbox(pilot, service)
    await pilot.app.go(Place.page("api", None, "5"))
    await until(pilot, shows="editing #5")
    await until(pilot, shows="Authentication")
    pilot.app.notices.clear()  # on a slow machine the next key removes the message, on a fast one it stays
    await until(pilot, holds=lambda: pilot.app.screen.item.title == "API docs")
    await pilot.press("j", "j", "l", "j")
    await until(pilot, holds=lambda: pilot.app.screen.item.title == "Tokens")


async def page_editor(pilot: Any, service: RunningService) -> None:
    await in_request(pilot, service)
    await pilot.press(*([".", "e"] if not is_built_in(None) else ["e"]))
    await until(pilot, holds=lambda: isinstance(pilot.app.focused, MarkdownArea))
    await pilot.press("ctrl+end", "enter", "enter", "/", "h")
    await until(pilot, shows="Hint: warning")


async def publish(pilot: Any, service: RunningService) -> None:
    await inbox(pilot, service)
    await pilot.press("g", "p")
    await until(pilot, shows="Inside Tallowick")
    await until(pilot, shows="notes · W lists them")


async def publish_sheet(pilot: Any, service: RunningService) -> None:
    await publish(pilot, service)
    await pilot.press("j", "P")
    await until(pilot, shows="Publish Inside Tallowick?")
    await until(pilot, shows="y  n")


async def site_structure(pilot: Any, service: RunningService) -> None:
    await publish(pilot, service)
    await pilot.press("g", "u")
    await until(pilot, shows="1 group · 4 sections · 4 spaces")
    await pilot.press("j", "j")
    await until(pilot, shows="News  section")


async def site_customization(pilot: Any, service: RunningService) -> None:
    await publish(pilot, service)
    await pilot.press("g", "y")
    await until(pilot, shows="Primary color")
    await until(pilot, shows="dark")


async def site_checks(pilot: Any, service: RunningService) -> None:
    await publish(pilot, service)
    await until(pilot, shows="notes · W lists them")
    await pilot.press("W")
    await until(pilot, shows="no description")


async def outbox(pilot: Any, service: RunningService) -> None:
    await inbox(pilot, service)
    await pilot.press("g", "x")


async def history(pilot: Any, service: RunningService) -> None:
    await review(pilot, service)
    await pilot.press("g", "h")
    await until(pilot, shows="+ Sessions")


async def train_sheet(pilot: Any, service: RunningService) -> None:
    await inbox(pilot, service)
    await until(pilot, shows="Two carriers down at once")
    await write(pilot, "/", "two carriers", "enter")
    await pilot.press("space", "A")
    await pick(pilot, "Merge")
    await until(pilot, shows="Merge 1 change request, one after another?")
    await until(pilot, shows="To undo a merge")


async def merge_train(pilot: Any, service: RunningService) -> None:
    await train_sheet(pilot, service)
    await pilot.press("y")
    await until(pilot, shows="stopped here")


async def threads(pilot: Any, service: RunningService) -> None:
    await review(pilot, service)
    await pilot.press("g", "t")
    await until(pilot, shows="1 ● open")


async def palette(pilot: Any, service: RunningService) -> None:
    await inbox(pilot, service)
    await pilot.press(":")
    await until(pilot, shows="type to search")


async def keys(pilot: Any, service: RunningService) -> None:
    await inbox(pilot, service)
    await pilot.press("?")


async def offline(pilot: Any, service: RunningService) -> None:
    await rested(pilot, inbox(pilot, service))
    service.stop()
    await pilot.press("ctrl+r")
    await until(pilot, shows="offline")


SCREENS: list[Drive] = [
    inbox,
    preview_side,
    review,
    review_split,
    review_all_pages,
    review_thread,
    merge_sheet,
    collision,
    composer,
    browse,
    space_home,
    publish,
    publish_sheet,
    outbox,
    palette,
    keys,
    offline,
    history,
    merge_train,
    site_checks,
    site_structure,
    site_customization,
    page_editor,
]


@pytest.mark.parametrize(("size", "theme"), LOOKS, ids=LOOK_NAMES)
@pytest.mark.parametrize("drive", SCREENS, ids=names)
def test_it_looks_as_it_did(
    drive: Drive, size: tuple[int, int], theme: str, service: RunningService, tmp_path: Path, snap_compare: Any
) -> None:
    app = app_on(service, tmp_path, theme=theme)
    try:
        assert snap_compare(app, terminal_size=size, run_before=lambda pilot: rested(pilot, drive(pilot, service)))
    finally:
        service.stop()
        service.start()


@pytest.mark.service(clock=noon, on_a_path=True)  # not shared, because the conflict stays in the change request
@pytest.mark.parametrize(("size", "theme"), LOOKS, ids=LOOK_NAMES)
def test_headings_with_a_conflict(
    size: tuple[int, int], theme: str, service: RunningService, tmp_path: Path, snap_compare: Any
) -> None:
    app = app_on(service, tmp_path, theme=theme)
    assert snap_compare(app, terminal_size=size, run_before=lambda pilot: rested(pilot, outline(pilot, service)))


@pytest.mark.parametrize("drive", [preview_side, review_split], ids=names)
def test_a_wide_terminal(drive: Drive, service: RunningService, tmp_path: Path, snap_compare: Any) -> None:
    app = app_on(service, tmp_path, theme="ink")
    assert snap_compare(app, terminal_size=(200, 50), run_before=lambda pilot: rested(pilot, drive(pilot, service)))


@pytest.mark.parametrize("place", ["inbox", "browse", "publish"])
def test_empty_screens(place: str, empty: RunningService, tmp_path: Path, snap_compare: Any) -> None:
    async def drive(pilot: Any) -> None:
        await until(pilot, shows="Nothing to review. g o opens your spaces.")
        await pilot.press("g", {"inbox": "i", "browse": "o", "publish": "p"}[place])

    assert snap_compare(
        app_on(empty, tmp_path), terminal_size=(80, 24), run_before=lambda pilot: rested(pilot, drive(pilot))
    )


def test_an_invalid_token(service: RunningService, tmp_path: Path, snap_compare: Any) -> None:
    async def drive(pilot: Any) -> None:
        await until(pilot, shows="✗")

    app = app_on(service, tmp_path, token="wrong")
    assert snap_compare(app, terminal_size=(80, 24), run_before=lambda pilot: rested(pilot, drive(pilot)))


def test_a_read_only_profile(service: RunningService, tmp_path: Path, snap_compare: Any) -> None:
    async def drive(pilot: Any) -> None:
        await review(pilot, service)
        await pilot.press("c")

    app = app_on(service, tmp_path, read_only=True)
    assert snap_compare(app, terminal_size=(120, 40), run_before=lambda pilot: rested(pilot, drive(pilot)))


@pytest.mark.parametrize(("size", "theme"), LOOKS, ids=LOOK_NAMES)
def test_all_profiles(
    service: RunningService, tmp_path: Path, snap_compare: Any, size: tuple[int, int], theme: str
) -> None:
    token = tmp_path / "token"
    token.write_text(token_of(service, "jon"))
    token.chmod(0o600)
    client = f'base_url = "{service.base_url}"\ntoken_file = "{token}"'
    bare = 'base_url = "https://docs.example.org"'
    write_settings(tmp_path, ("work", "client", "bare"), work=service, client=client, bare=bare)

    async def drive(pilot: Any) -> None:
        await inbox(pilot, service)
        await pilot.press("g", "M")
        await until(pilot, shows="✗ bare: no token")
        await pilot.press("3")
        screen = pilot.app.screen
        await until(pilot, holds=lambda: {row.profile for row in screen.lists.tab.items} == {"work", "client"})
        await until(pilot, holds=lambda: "◷" not in shown(pilot.app))

    app = app_on(service, tmp_path, theme=theme, name="work")
    assert snap_compare(app, terminal_size=size, run_before=lambda pilot: rested(pilot, drive(pilot)))
