"""The review screen on the sample workspace."""

import re
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from tests.running_service import RunningService
from tests.service_users import edits, main_moves, page_of, somebody
from tests.tui.app_driver import app_on, open_review, review, running, shown, until, write

from presscheck.api.comments import Document, ListComments, PostComment
from presscheck.client.client import Client
from presscheck.engine.review.threads import Discussion
from presscheck.engine.shared_calls import comments_on
from presscheck.engine.writes.pending_writes import ME
from presscheck.store.outbox import Outbox
from presscheck.text.styled_text import plain
from presscheck.tui.screens.review.screen import ReviewScreen
from presscheck.tui.screens.review.view import ReviewView
from presscheck.tui.widgets.row_list import RowList

WIDE, NARROW = (120, 40), (80, 24)
AUTH = {"space_id": "api", "change_request_id": "5"}
OUTBOX_CHANGES = 4
"""How often the outbox changes while one comment is sent: it is taken, sent, and gone, and one more to spare."""


@pytest.mark.slow
async def test_it_shows_changes_and_threads(service: RunningService, tmp_path: Path) -> None:
    async with review(service, tmp_path, "Rewrite the auth guide") as pilot:
        await until(pilot, shows="✓1 ✗1 ◷1")
        await until(pilot, shows="expires after 90 days")
        await until(pilot, shows="This still says API key in two places.")
        await until(pilot, shows="Then say why it is meant.")
        text = shown(pilot.app)
        assert "with warnings: Ada requested changes" in text
        assert "edited +21 −1 words · 1 of 4" in text
        await pilot.press("k")
        await until(pilot, shows="Can we link this from the quickstart?")


@pytest.mark.slow
@pytest.mark.parametrize("size", [WIDE, NARROW], ids=["wide", "narrow"])
async def test_the_footer_follows_the_cursor(service: RunningService, tmp_path: Path, size: tuple[int, int]) -> None:
    async with review(service, tmp_path, "Rewrite the auth guide", size) as pilot:
        footer = lambda: shown(pilot.app).splitlines()[-1]  # noqa: E731
        await until(pilot, holds=lambda: len(pilot.app.screen.session.view.rendered.threads) == 2)
        assert "m merge" in footer()
        await pilot.press("t")
        await until(pilot, holds=lambda: "r reply" in footer() and "x resolve" in footer())
        await pilot.press("g", "g")
        await until(pilot, holds=lambda: "m merge" in footer() and "r reply" not in footer())


@pytest.mark.slow
async def test_narrow_puts_the_change_behind_enter(service: RunningService, tmp_path: Path) -> None:
    async with review(service, tmp_path, "Rewrite the auth guide", NARROW) as pilot:
        await until(pilot, shows="Conversation")
        assert "90 days" not in shown(pilot.app)
        await pilot.press("enter")
        await until(pilot, shows="90 days")
        await until(pilot, shows="A token belongs to one workspace project. It carries the rights")
        assert "Conversation" not in shown(pilot.app)
        assert all(len(line) <= 80 for line in shown(pilot.app).splitlines())


async def test_the_source_is_one_key_away(service: RunningService, tmp_path: Path) -> None:
    async with review(service, tmp_path, "Rewrite the auth guide") as pilot:
        await until(pilot, shows="expires after 90 days")
        await pilot.press("i")
        await until(pilot, shows="unchanged lines are shown")
        assert "{% hint" not in shown(pilot.app)
        await pilot.press("d", "d")
        await until(pilot, shows='{% hint style="warning" %}')
        assert "− A token belongs to one workspace" in shown(pilot.app)
        await pilot.press("d")
        await until(pilot, holds=lambda: "{% hint" not in shown(pilot.app))


@pytest.mark.slow
async def test_before_and_after_are_one_key_away_with_threads_on_the_right(
    service: RunningService, tmp_path: Path
) -> None:
    async with review(service, tmp_path, "Rewrite the auth guide") as pilot:
        await until(pilot, shows="expires after 90 days")
        await pilot.press("d")
        await until(pilot, shows="before on the left, after on the right")
        assert re.search(r"belongs to one workspace\. It +│ ~ A token belongs to one project", shown(pilot.app))
        await write(pilot, "tab ] c", "Side by side", "ctrl+s")
        await until(pilot, shows="Side by side")
        lines = shown(pilot.app).splitlines()
        at = next(number for number, line in enumerate(lines) if "Side by side" in line)
        assert re.search(r"│ ┃ you .*Side by side", lines[at])
        assert "90 days." in lines[at - 1], "it stands below the words that it is about"
        before = pilot.app.screen.query_one("#change").cursor
        await pilot.press("]")
        await until(pilot, holds=lambda: pilot.app.screen.query_one("#change").cursor > before)
        await until(pilot, shows="unchanged lines")
        await pilot.press("i")
        await until(pilot, shows="unchanged lines are shown")


@pytest.mark.slow
async def test_narrow_has_no_room_for_two_sides(service: RunningService, tmp_path: Path) -> None:
    async with review(service, tmp_path, "Rewrite the auth guide", NARROW) as pilot:
        await until(pilot, shows="Conversation")
        await pilot.press("enter", "d")
        await until(pilot, shows="split view needs 100 columns and the terminal has 80: showing prose")
        assert "too narrow for split view" in shown(pilot.app)
        assert "A token belongs to one workspace project. It carries the rights" in shown(pilot.app)


@pytest.mark.slow
async def test_the_change_can_take_the_whole_width(service: RunningService, tmp_path: Path) -> None:
    async with review(service, tmp_path, "Rewrite the auth guide") as pilot:
        await until(pilot, shows="Conversation")
        await pilot.press("=")
        await until(pilot, holds=lambda: "Conversation" not in shown(pilot.app))
        await until(pilot, shows="expires after 90")
        await pilot.press("h")
        await until(pilot, shows="Conversation")


@pytest.mark.slow
async def test_the_text_of_a_page_is_copied(service: RunningService, tmp_path: Path) -> None:
    async with review(service, tmp_path, "Rewrite the auth guide") as pilot:
        await until(pilot, shows="expires after 90 days")
        await pilot.press("Y")
        await until(pilot, shows="copied the Markdown of the page")
        assert "A token belongs to one project." in pilot.app.clipboard


@pytest.mark.slow
async def test_a_comment_reads_as_markdown(service: RunningService, tmp_path: Path) -> None:
    async with review(service, tmp_path, "Rewrite the auth guide") as pilot:
        await until(pilot, shows="Conversation")
        await write(pilot, "C", [*"It is **bold**", "enter", "enter", *"- and a list"], "ctrl+s", "g", "g")
        await until(pilot, shows="It is bold")
        await until(pilot, shows="• and a list")


@pytest.mark.slow
async def test_space_marks_a_page_as_viewed_and_goes_on(service: RunningService, tmp_path: Path) -> None:
    async with review(service, tmp_path, "Rewrite the auth guide") as pilot:
        await until(pilot, shows="1 of 4")
        await pilot.press("space")
        await until(pilot, shows="· 1 viewed")
        await until(pilot, shows="2 of 4")


@pytest.mark.slow
async def test_a_comment_is_pending_and_then_sent(service: RunningService, tmp_path: Path) -> None:
    async with review(service, tmp_path, "Rewrite the auth guide") as pilot:
        await until(pilot, shows="1 of 4")
        await write(pilot, "c", "Well[red] said", "ctrl+s")
        await until(pilot, shows="pending  Well[red] said")
        await until(pilot, holds=lambda: "now  Well[red] said" in shown(pilot.app))


@pytest.mark.slow
async def test_a_draft_is_restored_and_a_pending_comment_undone(service: RunningService, tmp_path: Path) -> None:
    async with review(service, tmp_path, "Rewrite the auth guide") as pilot:
        await until(pilot, shows="1 of 4")
        await write(pilot, "C", "Half", "escape", "C")
        await until(pilot, shows="Half")
        await pilot.press(*" done", "ctrl+s")
        await until(pilot, holds=lambda: len(pilot.app.engine.waiting()) == 1)
        await pilot.press("z")
        await until(pilot, holds=lambda: not pilot.app.engine.waiting())
        await pilot.press("C")
        await until(pilot, shows="Half done")


@pytest.mark.slow
@pytest.mark.usefixtures("at_once")
async def test_a_thread_gets_a_reply_and_is_resolved(service: RunningService, tmp_path: Path) -> None:
    async with review(service, tmp_path, "Rename workspaces to projects") as pilot:
        await until(pilot, shows="1 of 12")  # the first page is selected
        await until(pilot, shows="Wait until it ships?")
        await write(pilot, "r", "", "ctrl+s")
        await until(pilot, shows="nothing to send: write a text first")
        pilot.app.focused.text = "Yes.\n\nI asked.\n\nIt ships today"
        await pilot.resize_terminal(120, 13)
        await pilot.press("ctrl+s")
        await until(pilot, holds=lambda: "the draft is kept" not in shown(pilot.app))
        await until(pilot, shows="It ships today")  # it ends below the view, which scrolls
        assert "Quickstart   edited" not in shown(pilot.app)
        await pilot.resize_terminal(120, 40)
        await pilot.press("x")
        await until(pilot, shows="○ resolved")
        await until(pilot, holds=lambda: not pilot.app.engine.waiting())
        await until(pilot, shows="○ resolved Jón")


@pytest.mark.slow
@pytest.mark.usefixtures("at_once")
async def test_approve_and_merge(service: RunningService, tmp_path: Path) -> None:
    async with review(service, tmp_path, "Fix typos in quickstart") as pilot:
        await until(pilot, shows="✓2 ◷1")
        await write(pilot, "v a", "", "enter")
        await until(pilot, shows="✓3")
        await until(pilot, holds=lambda: not pilot.app.engine.waiting())
        await pilot.press("m")
        await until(pilot, shows="Merge into the live content?")
        await until(pilot, shows="Goes live at once on Tallowick Docs.")
        await pilot.press("enter")
        await until(pilot, holds=lambda: isinstance(pilot.app.screen, ReviewScreen))
        assert "merged by" not in shown(pilot.app)
        await pilot.press("m")
        await until(pilot, shows="Merge into the live content?")
        await until(pilot, shows="space viewed")  # space marks no row here, but the page as viewed
        await pilot.press("y")
        await until(pilot, shows="merged by you")
        await until(pilot, holds=lambda: "Z revert" in shown(pilot.app).splitlines()[-1])


@pytest.mark.slow
async def test_offline_a_comment_is_pending_and_a_merge_is_disabled(service: RunningService, tmp_path: Path) -> None:
    async with review(service, tmp_path, "Fix typos in quickstart") as pilot:
        await until(pilot, shows="✓2 ◷1")
        service.stop()
        await pilot.press("ctrl+r")
        await until(pilot, shows="offline")
        await pilot.press("m")
        await until(pilot, shows="a merge cannot be queued")
        await write(pilot, "C", "Later", "ctrl+s")
        await pilot.press("{")
        await until(pilot, shows="pending  Later")
        assert "offline: as of" in shown(pilot.app), "the age of what is shown, also after a write that waits"
        service.start()
        await pilot.press("ctrl+r")
        await until(pilot, holds=lambda: not pilot.app.engine.waiting())
        assert "offline: as of" not in shown(pilot.app)
        await until(pilot, shows="now  Later")
        path = pilot.app.screen.session.model.path
        kept = await pilot.app.engine.read(ListComments(**path, format="markdown"))
        assert [(one.body.markdown or "").strip() for one in kept.items].count("Later") == 1


@pytest.mark.slow
async def test_enter_in_the_inbox_opens_it_and_escape_goes_back(service: RunningService, tmp_path: Path) -> None:
    async with running(app_on(service, tmp_path), WIDE) as pilot:
        await until(pilot, shows="Rewrite the auth guide")
        await pilot.press("enter")
        await until(pilot, shows="Can merge? ⚠ with warnings")
        await until(pilot, shows="4 changes")
        await pilot.press("escape")
        await until(pilot, shows="Needs me")


@pytest.mark.slow
@pytest.mark.usefixtures("at_once")
async def test_a_reviewer_is_requested(service: RunningService, tmp_path: Path) -> None:
    async with review(service, tmp_path, "Fix typos in quickstart") as pilot:
        await until(pilot, shows="✓2 ◷1")
        await pilot.press("R")
        await until(pilot, shows="Reviewers")
        await until(pilot, shows="Mia Okonkwo")
        assert "Noor Haddad" not in shown(pilot.app), "nobody reviews what they wrote"
        await pilot.press(*"tomasz", "tab", "enter")
        await until(pilot, shows="✓2 ◷2")


@pytest.mark.slow
async def test_on_a_full_disk_the_composer_stays_open_with_its_text(service: RunningService, tmp_path: Path) -> None:
    async with review(service, tmp_path, "Rewrite the auth guide") as pilot:
        await until(pilot, shows="1 of 4")
        file = pilot.app.engine.outbox._db
        await pilot.press("C")
        await until(pilot, shows="the draft is kept")
        [pages] = file.execute("PRAGMA page_count").fetchone()
        file.execute(f"PRAGMA max_page_count = {pages}")
        pilot.app.screen.query_one("TextArea").text = "Typed with care. " * 1000
        await pilot.press("ctrl+s")
        await until(pilot, shows="the disk is full")
        assert "Typed with care." in shown(pilot.app)
        assert pilot.app.engine.waiting() == ()
        file.execute("PRAGMA max_page_count = 1000000")
        await pilot.press("ctrl+s")
        await until(pilot, holds=lambda: "the draft is kept" not in shown(pilot.app))
        assert len(pilot.app.engine.waiting()) == 1


@pytest.mark.slow
async def test_merge_requirements_are_listed(service: RunningService, tmp_path: Path) -> None:
    async with review(service, tmp_path, "Rewrite the auth guide") as pilot, somebody(service, "mia") as (mia,):
        await until(pilot, shows="with warnings: Ada requested changes")
        await pilot.press("W")
        await until(pilot, shows="Merge requirements")
        await until(pilot, shows="✓ permission   you can merge in this space")
        await until(pilot, shows="can be fixed by a new review by Ada")
        tokens = (await page_of(mia, AUTH, "Tokens")).markdown
        await edits(mia, AUTH, "Tokens", f"{tokens}\n\nTo be continued.")
        await pilot.press("ctrl+r")
        await until(pilot, shows="Jón approved an older revision")
        lines = [line.strip() for line in shown(pilot.app).splitlines()]
        assert lines.count("✗ Ada  requested changes in an older revision") == 1
        assert lines.count("✓ Jón  approved an older revision") == 1
        assert lines.index("✓ Jón  approved an older revision") > lines.index("◷ you  review requested")
        await pilot.press("q")
        await until(pilot, shows="Conversation")


@pytest.mark.slow
async def test_a_merge_requirement_leads_to_the_comment_and_to_the_reviewer(
    service: RunningService, tmp_path: Path
) -> None:
    async with review(service, tmp_path, "Rewrite the auth guide") as pilot:
        await until(pilot, shows="with warnings: Ada requested changes")
        screen = pilot.app.screen
        await until(pilot, holds=lambda: screen.session.model.discussion.is_known)
        await pilot.press("W")
        await until(pilot, shows="✗ Ada  requested changes")
        await pilot.press("enter")
        await until(pilot, holds=lambda: pilot.app.screen is screen and screen.session.view.item is None)
        assert screen.session.view.rendered.reviewers["ada"] == screen.session.view.line
        await pilot.press("W")
        await until(pilot, shows="An hour is short")
        rows = pilot.app.screen.query_one(RowList)
        while "An hour is short" not in plain(rows.row(rows.cursor, 200)):
            before = rows.cursor
            await pilot.press("j")
            assert rows.cursor > before
        await pilot.press("enter")
        await until(pilot, holds=lambda: pilot.app.screen is screen and screen.session.view.is_on_thread)
        assert "An hour is short" in screen.session.view.thread.first.text
        await pilot.press("W", "G", "enter")
        await until(pilot, shows="nothing to open here")


@pytest.mark.slow
async def test_a_merge_requirement_can_be_met_by_an_update_from_main(service: RunningService, tmp_path: Path) -> None:
    async with running(app_on(service, tmp_path)) as pilot, somebody(service, "mia") as (mia,):
        await main_moves(mia, "api", "Limits", "</details>", "</details>\n\nAsk us.")
        await open_review(pilot, {"space_id": "api", "change_request_id": "5"})
        await until(pilot, shows="main has new changes")
        await pilot.press("W")
        await until(pilot, shows="✓ main         main has new changes, no conflicts")
        await pilot.press("G", "enter")
        await until(pilot, shows="Update from main?")


@pytest.mark.slow
async def test_the_history_shows_contributors_and_changes_of_revisions(service: RunningService, tmp_path: Path) -> None:
    async with review(service, tmp_path, "Rewrite the auth guide") as pilot:
        await until(pilot, shows="with warnings: Ada requested changes")
        await pilot.press("g", "h")
        await until(pilot, shows="History of #5 Rewrite the auth guide")
        await until(pilot, shows="Contributors")
        await until(pilot, shows="+ Sessions")
        await until(pilot, shows="~ Tokens  text")
        await until(pilot, shows="✓ Jón approved 2 h ago")
        said = shown(pilot.app)
        places = [
            said.index(words) for words in ("✓ Jón approved", "requested a review from", "+ Sessions", "opened it")
        ]
        assert places == sorted(places), "newest first"
        assert re.search(r"Ada +commented", said)
        assert re.search(r"Mia +edited", said)


@pytest.mark.slow
@pytest.mark.usefixtures("at_once")
async def test_a_comment_computes_the_threads_once_for_each_change(
    service: RunningService, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    counts = Counter[str]()

    def count(owner: type[Any], name: str) -> None:
        method = getattr(owner, name)

        def counted(owner: object, *given: Any) -> Any:
            counts[name] += given != (ME,)  # the engine asks for the user with each answer
            return method(owner, *given)

        monkeypatch.setattr(owner, name, counted)

    async with review(service, tmp_path, "Rewrite the auth guide") as pilot:
        await until(pilot, shows="with warnings: Ada requested changes")
        await until(pilot, shows="Then say why it is meant.")
        await write(pilot, "C", "Well said")
        await until(pilot, shows="Well said")
        count(Discussion, "set_comments")
        count(Discussion, "set_replies")
        count(Discussion, "threads")
        count(Discussion, "_build")
        count(Outbox, "recall")
        await pilot.press("ctrl+s")
        await until(pilot, holds=lambda: not pilot.app.engine.waiting())
        await pilot.press("g", "t")
        await until(pilot, shows="now   conversation")
        inputs = counts["set_comments"] + counts["set_replies"]
        assert counts["threads"] > counts["_build"]
        assert counts["_build"] <= inputs + OUTBOX_CHANGES
        recalled = 2 + OUTBOX_CHANGES
        assert counts["recall"] <= recalled, "which threads are shown, and whether a review was started"


@pytest.mark.slow
async def test_a_hidden_review_is_drawn_when_it_is_shown_again(
    service: RunningService, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    drawn: list[ReviewView] = []
    draw_header = ReviewView.draw_header

    def noted(view: ReviewView, *given: Any) -> None:
        drawn.append(view)
        draw_header(view, *given)

    async with (
        review(service, tmp_path, "Rewrite the auth guide") as pilot,
        Client(service.base_url, service.token) as other,
    ):
        await until(pilot, shows="with warnings: Ada requested changes")
        await until(pilot, shows="3 open comments")
        screen = pilot.app.screen

        async def comment(text: str) -> None:
            await other.send(PostComment(**screen.session.model.path, body=Document(markdown=text)))
            pilot.app.engine.refresh()

        def is_known(text: str) -> bool:
            stored = pilot.app.engine.known(comments_on(screen.session.model.request))
            return any(comment.body.markdown == text for comment in stored.value.items)

        await pilot.press("g", "x")
        await until(pilot, shows="Everything was sent.")
        monkeypatch.setattr(ReviewView, "draw_header", noted)
        await comment("Behind the outbox")
        await pilot.app.engine.poll(comments_on(screen.session.model.request))  # as the inbox does after 20 seconds
        await until(pilot, holds=lambda: is_known("Behind the outbox"))
        await pilot.pause(0.1)
        assert not drawn
        await pilot.press("escape")
        await until(pilot, shows="4 open comments")
        await pilot.press("g", "t")
        await until(pilot, shows="● open 4")
        drawn.clear()
        await comment("Behind the list of threads")
        await until(pilot, shows="Behind the list of threads")
        assert not drawn
        await pilot.press("escape")
        await until(pilot, shows="5 open comments")
        assert drawn
