"""Reading pages in Browse: headings, reading order, the place where a page was left, the whole width, links."""

import threading
from pathlib import Path
from typing import Any

import pytest
from tests.running_service import RunningService
from tests.service_users import main_moves, page_of, somebody
from tests.stalling_proxy import holding_back
from tests.tui.app_driver import app_on, plain, running, shown, until
from tests.tui.keyboard import burst
from tests.tui.page_reading import reading, under_cursor, write_all

from presscheck.api.change_requests import CreateChangeRequest, UpdateChangeRequest
from presscheck.api.comments import Document
from presscheck.api.content import GetChangeRequestPage, ListPages
from presscheck.api.content_changes import EditChangeRequestContent, UpdatePage
from presscheck.documents.pages.tree import flatten
from presscheck.tui.places import Place
from presscheck.tui.screens.review.screen import ReviewScreen
from presscheck.tui.widgets.picker import Picker
from presscheck.tui.widgets.row_list import RowList

pytestmark = pytest.mark.service(shared=True, prepare=write_all)


@pytest.mark.slow
async def test_the_headings_of_a_page_are_listed_and_gone_to(service: RunningService, tmp_path: Path) -> None:
    async with running(app_on(service, tmp_path), (110, 40)) as pilot:
        await reading(pilot, "Afterwards", "Chapter 1")
        view = pilot.app.screen.page_view
        await pilot.press("#")
        await until(pilot, shows="Headings", holds=lambda: isinstance(pilot.app.screen, Picker))
        picker: Any = pilot.app.screen
        assert [choice.label for choice in picker.matches[:4]] == [
            "Afterwards",
            "  Chapter 1",
            "    Part of 1",
            "  Chapter 2",
        ]
        await pilot.press(*"part of 17")
        await until(pilot, holds=lambda: [choice.label.strip() for choice in picker.matches] == ["Part of 17"])
        await pilot.press("enter")
        await until(pilot, holds=lambda: "Part of 17" in under_cursor(pilot))
        assert view.cursor - view.top == view.size.height // 3
        await pilot.press("j", "#")
        await until(pilot, holds=lambda: isinstance(pilot.app.screen, Picker) and bool(pilot.app.screen.matches))
        again: Any = pilot.app.screen
        await until(pilot, holds=lambda: again.matches[again.query_one("RowList").cursor].label.endswith("Part of 17"))
        await pilot.press("escape", "]")
        await until(pilot, holds=lambda: under_cursor(pilot) == "Chapter 18")
        await pilot.press("[", "[")
        await until(pilot, holds=lambda: under_cursor(pilot) == "Chapter 17")
        await pilot.press("G", "]")
        await until(pilot, shows="no further heading")


@pytest.mark.slow
async def test_pages_are_read_in_the_order_of_the_tree(service: RunningService, tmp_path: Path) -> None:
    async with running(app_on(service, tmp_path)) as pilot:
        await until(pilot, shows="Needs me")
        pages = (await pilot.app.engine.read(ListPages(space_id="api"))).pages
        order = [page.title for page in flatten(pages) if page.type == "document"]
        kinds = {page.type for page in flatten(pages)}
        assert kinds > {"document"}, "a group and a link, which are skipped"
        await pilot.app.go(Place.page("api"))
        await until(pilot, shows="› API docs", holds=lambda: pilot.app.screen.library.pages("api") is not None)
        for title in order:
            await pilot.press("}")
            await until(pilot, holds=lambda title=title: pilot.app.screen.item.page.title == title)
        assert pilot.app.screen.tree_view.has_focus, "the focus stays in the tree"
        await pilot.press("}")
        await until(pilot, shows="this is the last page")
        await pilot.press("{")
        await until(pilot, holds=lambda: pilot.app.screen.item.page.title == order[-2])


@pytest.mark.slow
async def test_a_page_opens_where_it_was_left(service: RunningService, tmp_path: Path) -> None:
    async with running(app_on(service, tmp_path)) as pilot:
        await reading(pilot, "Afterwards", "Chapter 1")
        view = pilot.app.screen.page_view
        await pilot.press("]", "]", "]", "]", "]", "]", "]", "]", "j", "j")
        await until(pilot, shows="Chapter 5")
        place = view.cursor, view.top
        assert place[1] > 0
        await pilot.press("{")
        await until(pilot, shows="A picture of it")
        assert (view.cursor, view.top) == (0, 0)
        await pilot.press("}")
        await until(pilot, shows="Chapter 5")
        assert (view.cursor, view.top) == place
        await pilot.press("escape", "k")
        await until(pilot, shows="A picture of it")
        await pilot.press("f")
        await until(pilot, shows="[a]the rules")
        await pilot.press("a")
        await until(pilot, shows="› On call")
        await pilot.press("H")
        await until(pilot, shows="A picture of it")
        await pilot.press("}")
        await until(pilot, holds=lambda: (view.cursor, view.top) == place)


@pytest.mark.slow
async def test_the_page_gets_the_whole_width_and_stays_at_its_text(service: RunningService, tmp_path: Path) -> None:
    async with running(app_on(service, tmp_path, text_width=40)) as pilot:
        await reading(pilot, "Afterwards", "Chapter 1")
        view, tree = pilot.app.screen.page_view, pilot.app.screen.tree_view
        await pilot.press(*"]" * 15)
        await until(pilot, holds=lambda: under_cursor(pilot) == "Chapter 8")
        narrow = view.columns
        assert view.document.width == 40 < narrow, "as the settings say"
        await pilot.press("=")
        await until(pilot, holds=lambda: view.columns > narrow + 20 and not tree.display)
        assert under_cursor(pilot) == "Chapter 8"
        await until(pilot, holds=lambda: view.document.width == view.columns)
        await pilot.press("h", "l")
        await until(pilot, holds=lambda: view.has_focus)
        await pilot.press("=")
        await until(pilot, holds=lambda: view.columns == narrow and tree.display)
        assert under_cursor(pilot) == "Chapter 8"
        await pilot.press("l")
        assert view.has_focus, "l in the last pane stays there"
        await pilot.press("=", "escape")
        await until(pilot, holds=lambda: tree.has_focus and tree.display and view.columns == narrow)


@pytest.mark.slow
async def test_text_is_found_in_the_page(service: RunningService, tmp_path: Path) -> None:
    async with running(app_on(service, tmp_path)) as pilot:
        await reading(pilot, "Afterwards", "Chapter 1")
        await pilot.press("/")
        await until(pilot, holds=lambda: getattr(pilot.app.focused, "takes_text", False))
        await pilot.press(*"end of 2")
        await until(pilot, shows="11 matches")
        await pilot.press("enter")
        await until(pilot, shows="1 of 11")
        assert "[b]end of 2" in under_cursor(pilot)
        await pilot.press("n")
        await until(pilot, shows="2 of 11")
        assert "[b]end of 20" in under_cursor(pilot)


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
        assert "team of south" in shown(pilot.app), "the first column stays"
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


async def test_labels_are_never_commands(service: RunningService, tmp_path: Path) -> None:
    async with running(app_on(service, tmp_path)) as pilot:
        await reading(pilot, "Events come late", "A picture of it")
        screen = pilot.app.screen
        await pilot.press("escape")
        assert screen.tree_view.has_focus
        for key in ("escape", "m", "-", "e", "x", "a"):  # the last one is a label: the others remove the labels
            burst(pilot, "f", key)
            await until(pilot, holds=lambda: not screen.page_view.is_labelled and "[a]" not in shown(pilot.app))
            assert pilot.app.screen is screen, f"{key} opened something"
        await until(pilot, shows="› On call")
        assert not pilot.app.notices.history


@pytest.mark.slow
async def test_labels_stay_when_more_is_loaded(service: RunningService, tmp_path: Path) -> None:
    async with running(app_on(service, tmp_path)) as pilot:
        await reading(pilot, "Events come late", "A picture of it")
        await pilot.press("f")
        await until(pilot, shows="[a]the rules")
        async with somebody(service, "robin") as (robin,):
            await main_moves(
                robin, "runbook", "Events come late", "See [the rules]", "Another beginning: see [the rules]"
            )
        pilot.app.engine.refresh()
        await until(pilot, shows="Another beginning")
        await until(pilot, shows="[a]the rules")
        await pilot.press("a")
        await until(pilot, shows="› On call")


@pytest.mark.slow
async def test_links_lead_to_headings_files_and_what_is_missing_is_named(
    service: RunningService, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SSH_CONNECTION", "from elsewhere")
    async with running(app_on(service, tmp_path)) as pilot:
        await reading(pilot, "Events come late", "A picture of it")
        view = pilot.app.screen.page_view

        async def follow(words: str) -> None:
            await pilot.press("f")
            await until(pilot, holds=lambda: view.is_labelled)
            target = next(
                span.link for line in view.document.lines for span in line if words in span.text and span.link
            )
            await pilot.press(next(label for label, link in view._labels.items() if link == target))

        await until(pilot, shows="Ask @Mia Okonkwo.")
        await follow("@Mia")
        await until(pilot, shows="@Mia Okonkwo", holds=lambda: "Mia" in shown(pilot.app).split("\n")[-1])
        await follow("nothing")
        await until(pilot, shows="not found in this space: gone/away.md")
        await follow("A picture of it")
        await until(pilot, shows="Address, copied")
        picture = pilot.app.clipboard
        assert "/files/" in picture
        await pilot.press("escape")
        await follow("list.csv")
        await until(pilot, holds=lambda: "/files/" in pilot.app.clipboard and pilot.app.clipboard != picture)
        await pilot.press("escape")
        await follow("a fragment")
        await until(pilot, holds=lambda: pilot.app.screen.item.page.title == "Afterwards")
        await until(pilot, holds=lambda: under_cursor(pilot) == "Chapter 20")
        await pilot.press("H")
        await until(pilot, shows="only one")
        number = next(
            number for number, line in enumerate(view.document.lines) if any("only one" in span.text for span in line)
        )
        await pilot.press("g", "g", *"j" * number, "enter")
        await until(pilot, shows="› On call")


@pytest.mark.slow
async def test_revisions_are_listed_and_pages_read_as_they_were(service: RunningService, tmp_path: Path) -> None:
    async with running(app_on(service, tmp_path)) as pilot:
        await until(pilot, shows="Needs me")
        await pilot.app.go(Place.page("runbook"))
        await until(pilot, shows="› Runbook")
        await pilot.press("g", "h")
        await until(pilot, shows="Revisions of Runbook")
        await until(pilot, shows="+ Afterwards")
        await until(pilot, holds=lambda: "older revisions" not in shown(pilot.app))
        assert "merged" in shown(pilot.app)
        assert "Long pages" in shown(pilot.app)
        revisions = pilot.app.screen

        async def read(change: str) -> None:
            rows = revisions.query_one(RowList)
            texts = ["".join(span.text for span in rows.row(number, 80)) for number in range(rows.count)]
            number = next(number for number, text in enumerate(texts) if change in text)
            while rows.cursor != number:
                await pilot.press("j" if rows.cursor < number else "k")
            await pilot.press("enter")

        await read("~ Afterwards")
        await until(pilot, shows="as it was", holds=lambda: pilot.app.screen is not revisions)
        await until(pilot, shows="Chapter 1")
        await pilot.press("q")
        await until(pilot, holds=lambda: pilot.app.screen is revisions)
        await read("+ Afterwards")
        await until(pilot, shows="as it was", holds=lambda: pilot.app.screen is not revisions)
        await until(pilot, shows="Write down what happened")
        assert "Chapter 1" not in shown(pilot.app)
        # it comes back in a change request; of the newest revision there is nothing to bring back
        await pilot.press("Z")
        await until(pilot, shows="Bring back Afterwards as of")
        await pilot.press("escape", "q")
        await until(pilot, holds=lambda: pilot.app.screen is revisions)
        await pilot.press("Z")
        await until(pilot, shows="All pages of Runbook")
        await pilot.press("a")
        await until(pilot, shows="Bring back all pages of Runbook as of")
        await pilot.press("y")
        await until(pilot, shows='Bring back "Runbook"', holds=lambda: isinstance(pilot.app.screen, ReviewScreen))
        at = {"space_id": "runbook", "change_request_id": pilot.app.screen.session.model.request.id}
        async with somebody(service, "robin") as (robin,):
            page = await page_of(robin, at, "Afterwards")
            text = await robin.send(GetChangeRequestPage(**at, page_id=page.id, format="markdown"))
            await robin.send(UpdateChangeRequest(**at, status="archived"))
        assert "Write down what happened" in (text.markdown or "")


@pytest.mark.slow
async def test_the_revision_under_the_cursor_at_the_key_is_brought_back(
    service: RunningService, tmp_path: Path
) -> None:
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
            # the request that tells whether the space is locked lasts, while the cursor moves, and the rows are gone
            for keys in ("k", "ctrl+r"):
                while rows.cursor != page:
                    await pilot.press("j" if rows.cursor < page else "k")
                answered.clear()
                await pilot.press("Z")
                await pilot.press(keys)
                await until(pilot, holds=lambda: rows.cursor != page or not revisions._rows)
                answered.set()
                await until(pilot, shows="Bring back as of this revision")
                await pilot.press("p")
                await until(pilot, shows="Bring back Afterwards as of")
                await pilot.press("escape")
                await until(pilot, holds=lambda: pilot.app.screen is revisions)
                await until(pilot, holds=lambda: rows.count == len(texts))


@pytest.mark.slow
async def test_in_a_change_request_its_own_revisions_are_listed(service: RunningService, tmp_path: Path) -> None:
    async with somebody(service, "robin") as (robin,):
        made = await robin.send(CreateChangeRequest(space_id="runbook", subject="Calmer"))
        at = {"space_id": "runbook", "change_request_id": made.id}
        page = await page_of(robin, at, "On call")
        for text in ("First words.", "Second words."):
            change = UpdatePage(page=page.id, document=Document(markdown=text))
            await robin.send(EditChangeRequestContent(**at, changes=(change,)))
    async with running(app_on(service, tmp_path)) as pilot:
        await until(pilot, shows="Needs me")
        await pilot.app.go(Place.page("runbook", None, made.id))
        await until(pilot, shows="editing #")
        await pilot.press("g", "h")
        await until(pilot, shows=f"Revisions of #{made.number} Calmer › Runbook")
        await until(pilot, shows="it began here: enter lists the revisions of main")
        revisions = pilot.app.screen
        assert shown(pilot.app).count("~ On call") == 2
        assert "Long pages" not in shown(pilot.app), "that was merged into main"
        while revisions.query_one(RowList).cursor != 3:  # the second row of a page
            await pilot.press("j")
        await pilot.press("enter")
        await until(pilot, shows="First words.")
        await pilot.press("Z")
        await until(pilot, shows="Later edits of the page in this change request are replaced.")
        await pilot.press("y")
        await until(pilot, shows=f"brought back On call in #{made.number}")
        await pilot.press("q", "ctrl+r")
        await until(pilot, holds=lambda: shown(pilot.app).count("~ On call") == 3)
        await until(pilot, shows="it began here")
        await pilot.press("G", "Z")
        await until(pilot, shows="go to a revision first")
        await pilot.press("enter")
        await until(pilot, shows="Long pages", holds=lambda: pilot.app.screen is not revisions)
        await until(pilot, shows="Revisions of Runbook")
    async with somebody(service, "robin") as (robin,):
        text = await robin.send(GetChangeRequestPage(**at, page_id=page.id, format="markdown"))
        await robin.send(UpdateChangeRequest(**at, status="archived"))
    assert "First words." in (text.markdown or "")
