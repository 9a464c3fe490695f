"""Snapshots of every screen, at two sizes and in two themes; `make snapshots` updates them."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.running_service import RunningService, running_service
from tests.tui.app_driver import app_on, noon, shown, until, write
from tests.tui.snapshot_setup import LOOK_NAMES, LOOKS, SIZES, Drive, at_noon, names, rested

from presscheck.api.comments import Document, PostComment

__all__ = ["at_noon"]


@pytest.fixture(scope="module")
def service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningService]:
    with running_service(tmp_path_factory.mktemp("s"), sample=True, clock=noon, on_a_path=True) as one:
        yield one


@pytest.fixture(scope="module")
def empty(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningService]:
    with running_service(tmp_path_factory.mktemp("s"), clock=noon, on_a_path=True) as one:
        yield one


async def inbox(pilot: Any, service: RunningService) -> None:
    await until(pilot, shows="✓ Jón   ✗ Ada   ◷ you")


async def inbox_marked(pilot: Any, service: RunningService) -> None:
    await inbox(pilot, service)
    await pilot.press("b", "j", "space", "space")
    await until(pilot, shows="2 marked")


async def narrowed(pilot: Any, service: RunningService) -> None:
    await inbox(pilot, service)
    await pilot.press("4")
    await until(pilot, shows="All open 10")
    await write(pilot, "F", "comments:>1 sort:comments", "enter")
    await until(pilot, shows="All open 5")
    await pilot.press("F")
    await until(pilot, shows="All open: filter")


async def own_view(pilot: Any, service: RunningService) -> None:
    await inbox(pilot, service)
    await write(pilot, "4 F", "comments:>0 sort:-number", "enter")
    await until(pilot, shows="comments:>0 sort:-number")
    await write(pilot, "M s", "In talks", "enter")
    await until(pilot, shows="view In talks saved")
    await pilot.press("j")


async def grouped(pilot: Any, service: RunningService) -> None:
    await own_view(pilot, service)
    await write(pilot, "M e", "", "tab", "tab", "tab", "space", "enter")
    await until(pilot, shows="view In talks changed")
    await until(pilot, holds=lambda: pilot.app.screen.model.heading(0) is not None)
    pilot.app.notices.clear()  # on a slow machine the next key removes the message, on a fast one it stays
    await pilot.press("j", "space", "V", "j", "V")
    await until(pilot, shows="marked")


async def view_sheet(pilot: Any, service: RunningService) -> None:
    await own_view(pilot, service)
    pilot.app.notices.clear()  # else it depends on who is quicker whether it is still told that it was saved
    await write(pilot, "k j M s", "in Talks")
    await until(pilot, shows="name is already used by another view")


async def receipts(pilot: Any, service: RunningService) -> None:
    await inbox(pilot, service)
    await pilot.press("2", "space")
    await until(pilot, shows="1 marked")
    await write(pilot, "A", "update", "enter")
    await until(pilot, shows="Update from main: 1 change request?")
    await pilot.press("y")
    await until(pilot, holds=lambda: "1 done" in shown(pilot.app) or "1 failed" in shown(pilot.app))


async def review(pilot: Any, service: RunningService) -> None:
    await inbox(pilot, service)
    await pilot.press("enter")
    # everything that the header shows: a dialog that opens now would keep it as it is
    await until(pilot, shows="API docs ›")
    await until(pilot, shows="Can merge?")


async def review_change(pilot: Any, service: RunningService) -> None:
    await review(pilot, service)
    await pilot.press("tab", "]")


async def review_split(pilot: Any, service: RunningService) -> None:
    await review(pilot, service)
    await pilot.press("tab", "d")
    await until(pilot, holds=lambda: "before on the left" in shown(pilot.app) or "split view needs" in shown(pilot.app))


async def review_thread(pilot: Any, service: RunningService) -> None:
    await review(pilot, service)
    screen = pilot.app.screen

    def are_placed() -> bool:
        threads = screen.threads.visible_on(screen.view.item)
        return len(screen.view.rendered.threads) == 2 and any(thread.line is not None for thread in threads)

    await until(pilot, holds=are_placed)
    await pilot.press("t")


async def review_conversation(pilot: Any, service: RunningService) -> None:
    await review(pilot, service)
    await pilot.press("g", "g")


async def merge_sheet(pilot: Any, service: RunningService) -> None:
    await review(pilot, service)
    await pilot.press("m")
    await until(pilot, shows="Merge into the live content?")


async def collision(pilot: Any, service: RunningService) -> None:
    await inbox(pilot, service)
    pilot.app.open_review("runbook", "2")
    await until(pilot, shows="conflicts with main in")
    await pilot.press("m")
    await until(pilot, shows="type: 2")


async def composer(pilot: Any, service: RunningService) -> None:
    await review(pilot, service)
    await write(pilot, "C", "One thing more")
    await until(pilot, shows="the draft is kept")


async def verdict_keys(pilot: Any, service: RunningService) -> None:
    await review(pilot, service)
    await pilot.press("v")
    await until(pilot, shows="request changes")


async def reviewers(pilot: Any, service: RunningService) -> None:
    await review(pilot, service)
    await pilot.press("R")
    await until(pilot, shows="Reviewers")


async def browse(pilot: Any, service: RunningService) -> None:
    await inbox(pilot, service)
    await pilot.press("g", "o")
    await until(pilot, shows="API docs")
    await pilot.press("j", "j", "l")
    await until(pilot, shows="Overview")
    await pilot.press("j", "j")
    await until(pilot, shows="A request without a token")


async def publish(pilot: Any, service: RunningService) -> None:
    await inbox(pilot, service)
    await pilot.press("g", "p")
    await until(pilot, shows="Inside Tallowick")


async def publish_sheet(pilot: Any, service: RunningService) -> None:
    await publish(pilot, service)
    await pilot.press("j", "P")
    await until(pilot, shows="Publish Inside Tallowick?")


async def outbox(pilot: Any, service: RunningService) -> None:
    await inbox(pilot, service)
    await pilot.press("g", "x")


async def outbox_waiting(pilot: Any, service: RunningService) -> None:
    await inbox(pilot, service)
    engine, path = pilot.app.engine, {"space_id": "guides", "change_request_id": "3"}
    engine.write(PostComment(space_id="guides", change_request_id="none", body=Document(markdown="To whom?")))
    await until(pilot, holds=lambda: engine.status.refused == 1)
    engine.write(PostComment(**path, body=Document(markdown="Kept for the verdict")), collect=True)
    engine.write(PostComment(**path, body=Document(markdown="A word that waits")), hold=3600)
    await pilot.press("g", "x")
    await until(pilot, shows="A word that waits")


async def review_collected(pilot: Any, service: RunningService) -> None:
    await review(pilot, service)
    await pilot.press("v", "b")
    pilot.app.notices.clear()  # else it depends on who is quicker whether it is still told that a review began
    await pilot.press("C")
    await until(pilot, shows="Comment on the change request")
    await pilot.press(*"One more thing", "ctrl+s", "g", "g")
    await until(pilot, shows="✎ 1")


async def history(pilot: Any, service: RunningService) -> None:
    await review(pilot, service)
    await pilot.press("g", "h")
    await until(pilot, shows="+ Sessions")


async def why(pilot: Any, service: RunningService) -> None:
    await inbox(pilot, service)
    pilot.app.open_review("runbook", "2")
    await until(pilot, shows="conflicts with main in")
    await pilot.press("W")
    await until(pilot, shows="anyone who can edit these pages")


async def merge_train(pilot: Any, service: RunningService) -> None:
    await inbox(pilot, service)
    await until(pilot, shows="Two carriers down at once")
    await write(pilot, "/", "two carriers", "enter")
    await write(pilot, "space A", "merge", "enter")
    await until(pilot, shows="Merge 1 change request, one after another?")
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
    await inbox(pilot, service)
    await until(pilot, holds=lambda: all(" 0/" in line for line in shown(pilot.app).splitlines()[3:10]))
    service.stop()
    await pilot.press("ctrl+r")
    await until(pilot, shows="offline")


async def offline_review(pilot: Any, service: RunningService) -> None:
    await review(pilot, service)
    screen = pilot.app.screen
    await until(pilot, holds=lambda: screen.model.space and screen.view.rendered.threads)
    await until(pilot, holds=lambda: all(screen.texts.words(item) for item in screen.model.items if item.has_text))
    service.stop()
    await pilot.press("ctrl+r")
    await until(pilot, shows="offline: as of just now")


SCREENS: list[Drive] = [
    *(
        inbox,
        inbox_marked,
        narrowed,
        own_view,
        grouped,
        view_sheet,
        receipts,
        review,
        review_change,
        review_split,
        review_thread,
        review_conversation,
        merge_sheet,
        collision,
        composer,
        verdict_keys,
    ),
    *(reviewers, browse, publish, publish_sheet, outbox, palette, keys, offline, offline_review),
    *(outbox_waiting, review_collected, history, why, merge_train, threads),
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


@pytest.mark.parametrize("size", SIZES, ids=names)
@pytest.mark.parametrize("place", ["inbox", "browse", "publish"])
def test_empty_screens(
    place: str, size: tuple[int, int], empty: RunningService, tmp_path: Path, snap_compare: Any
) -> None:
    async def drive(pilot: Any) -> None:
        await until(pilot, shows="No change request needs your review.")
        await pilot.press("g", {"inbox": "i", "browse": "o", "publish": "p"}[place])

    assert snap_compare(
        app_on(empty, tmp_path), terminal_size=size, run_before=lambda pilot: rested(pilot, drive(pilot))
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
