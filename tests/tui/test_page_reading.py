"""Reading pages in Browse: headings, links, remembered positions, blocks, and old revisions."""

import threading
from pathlib import Path
from typing import Any

import pytest
from tests.running_service import RunningService
from tests.service_users import page_of, somebody
from tests.stalling_proxy import holding_back
from tests.tui.app_driver import app_on, plain, running, shown, until
from tests.tui.keyboard import burst
from tests.tui.page_reading import reading, under_cursor, write_all

from presscheck.api.change_requests import UpdateChangeRequest
from presscheck.tui.places import Place
from presscheck.tui.screens.review.screen import ReviewScreen
from presscheck.tui.widgets.picker import Picker
from presscheck.tui.widgets.row_list import RowList

pytestmark = pytest.mark.service(shared=True, prepare=write_all)


@pytest.mark.slow
async def test_headings_and_links_are_followed_and_a_page_reopens_at_its_position(
    service: RunningService, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SSH_CONNECTION", "from elsewhere")
    async with running(app_on(service, tmp_path), (110, 40)) as pilot:
        await reading(pilot, "Afterwards", "Chapter 1")
        view = pilot.app.screen.page_view
        await pilot.press("#")
        await until(pilot, shows="Headings", holds=lambda: isinstance(pilot.app.screen, Picker))
        picker: Any = pilot.app.screen
        await pilot.press(*"part of 17")
        await until(pilot, holds=lambda: [choice.label.strip() for choice in picker.matches] == ["Part of 17"])
        await pilot.press("enter")
        await until(pilot, holds=lambda: "Part of 17" in under_cursor(pilot))
        assert view.cursor - view.top == view.size.height // 3
        await pilot.press("]")
        await until(pilot, holds=lambda: under_cursor(pilot) == "Chapter 18")
        place = view.cursor, view.top
        await pilot.press("{")
        await until(pilot, shows="A picture of it")
        assert (view.cursor, view.top) == (0, 0)

        async def follow(words: str) -> None:
            await pilot.press("f")
            await until(pilot, holds=lambda: view.is_labelled)
            target = next(
                span.link for line in view.document.lines for span in line if words in span.text and span.link
            )
            await pilot.press(next(label for label, link in view._labels.items() if link == target))

        await follow("nothing")
        await until(pilot, shows="not found in this space: gone/away.md")
        await follow("A picture of it")
        await until(pilot, shows="Address, copied")
        assert "/files/" in pilot.app.clipboard
        await pilot.press("escape", "}")
        await until(pilot, holds=lambda: under_cursor(pilot) == "Chapter 18" and (view.cursor, view.top) == place)
        await pilot.press("{")
        await until(pilot, shows="A picture of it")
        await follow("a fragment")
        await until(pilot, holds=lambda: pilot.app.screen.item.page.title == "Afterwards")
        await until(pilot, holds=lambda: under_cursor(pilot) == "Chapter 20")
        await pilot.press("H")
        await until(pilot, shows="only one")


@pytest.mark.slow
async def test_blocks_are_folded_scrolled_and_copied(service: RunningService, tmp_path: Path) -> None:
    async with running(app_on(service, tmp_path), (100, 60)) as pilot:
        await reading(pilot, "On call", "Page a team")
        screen = pilot.app.screen
        view = screen.page_view

        def drawn() -> str:
            return "\n".join(plain(line) for line in view.document.lines)

        def go(words: str) -> None:
            view.move_to(next(n for n, line in enumerate(view.document.lines) if words in plain(line)))

        assert "Install with" in shown(pilot.app)
        assert "archive" not in shown(pilot.app)
        go("[ macOS ]")
        await pilot.press("l")
        await until(pilot, shows="Install from the archive")
        assert view.has_focus, "the key went to the tabs"
        await pilot.press("h")
        await until(pilot, shows="Install with")
        assert "second number" not in shown(pilot.app)
        go("nobody answers")
        await pilot.press("enter")
        await until(pilot, shows="Call the second number")
        row = view.cursor - view.top
        await pilot.click(view, offset=(2, row))
        await until(pilot, holds=lambda: "second number" not in shown(pilot.app))

        go("team of south")
        before = shown(pilot.app)
        assert "room of south" not in before
        await pilot.press(*"l" * 12)
        await until(pilot, shows="room of south")
        await until(pilot, shows="team of south")  # the first column stays
        await pilot.press("%")
        await until(pilot, shows="lead of north")
        await until(pilot, shows="room of north")

        go("curl")
        await pilot.press("Y")
        await until(pilot, holds=lambda: pilot.app.clipboard.endswith("echo done\n"))
        assert pilot.app.clipboard.startswith("curl --request")
        await pilot.press("%")
        await until(pilot, holds=lambda: "↪" not in shown(pilot.app))
        assert '"to": 1' not in shown(pilot.app)
        await pilot.press("l", "l", "l", "l", "l", "l", "l", "l", "l", "l", "l", "l")
        await until(pilot, shows='"to": 1')

        go("rules of old")
        await until(pilot, shows="the rules of old ⚠")
        await until(pilot, shows="→ Afterwards")
        go("202 It rings")
        await until(pilot, shows="team string required")
        await pilot.press("_")
        await until(pilot, holds=lambda: "Call the second number" in drawn() and "Install from the archive" in drawn())
        await pilot.press("_")
        await until(pilot, holds=lambda: "Call the second number" not in drawn())
        await pilot.press("/")
        await until(pilot, holds=lambda: getattr(pilot.app.focused, "takes_text", False))
        await pilot.press(*"second number", "enter")
        await until(pilot, shows="Call the second number", holds=lambda: "second number" in under_cursor(pilot))


async def test_keys_after_f_never_run_commands(service: RunningService, tmp_path: Path) -> None:
    async with running(app_on(service, tmp_path)) as pilot:
        await reading(pilot, "Events come late", "A picture of it")
        screen = pilot.app.screen
        await pilot.press("escape")
        assert screen.tree_view.has_focus
        for key in ("escape", "m", "-", "e", "x", "a"):  # only the last key is a label; the others remove the labels
            burst(pilot, "f", key)
            await until(pilot, holds=lambda: not screen.page_view.is_labelled and "[a]" not in shown(pilot.app))
            assert pilot.app.screen is screen, f"{key} opened something"
        await until(pilot, shows="› On call")
        assert not pilot.app.notices.history


@pytest.mark.slow
async def test_an_old_revision_of_a_page_is_shown_and_brought_back(service: RunningService, tmp_path: Path) -> None:
    answered = threading.Event()
    answered.set()
    with holding_back(service, tmp_path, "GET /v1/spaces/runbook HTTP", until=answered) as address:
        async with running(app_on(service, tmp_path / "home", base_url=address)) as pilot:
            await until(pilot, shows="Needs me")
            await pilot.app.go(Place.page("runbook"))
            await until(pilot, shows="› Runbook")
            await pilot.press("g", "h")
            await until(pilot, shows="+ Afterwards")
            await until(pilot, holds=lambda: "older revisions" not in shown(pilot.app))
            revisions = pilot.app.screen
            rows = revisions.query_one(RowList)
            texts = ["".join(span.text for span in rows.row(number, 80)) for number in range(rows.count)]
            page = next(number for number, text in enumerate(texts) if "+ Afterwards" in text)
            rows.move_to(page)
            await pilot.press("enter")
            await until(pilot, shows="as it was", holds=lambda: pilot.app.screen is not revisions)
            await until(pilot, shows="Write down what happened")
            assert "Chapter 1" not in shown(pilot.app)
            await pilot.press("q")
            await until(pilot, holds=lambda: pilot.app.screen is revisions)
            # while the request for the lock of the space is running, the cursor moves, or the rows are reloaded
            for keys in ("k", "ctrl+r"):
                rows.move_to(page)
                answered.clear()
                await pilot.press("Z")
                await pilot.press(keys)
                await until(pilot, holds=lambda: rows.cursor != page or not revisions._rows)
                answered.set()
                await until(pilot, shows="Not opened, because you went on")
                await until(pilot, holds=lambda: rows.count == len(texts))
            rows.move_to(page)
            await pilot.press("Z")
            await until(pilot, shows="Bring back as of this revision")
            await pilot.press("p")
            await until(pilot, shows="Bring back Afterwards as of")
            await pilot.press("y")
            await until(pilot, shows="Bring back", holds=lambda: isinstance(pilot.app.screen, ReviewScreen))
            at = {"space_id": "runbook", "change_request_id": pilot.app.screen.session.model.request.id}
    async with somebody(service, "robin") as (robin,):
        page_then = await page_of(robin, at, "Afterwards")
        await robin.send(UpdateChangeRequest(**at, status="archived"))
    assert "Write down what happened" in (page_then.markdown or "")
