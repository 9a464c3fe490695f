"""Reading a change: unchanged lines are folded and unfolded; the web address."""

import re
import time
from pathlib import Path
from typing import Any

import pytest
from tests.running_service import RunningService
from tests.service_users import say
from tests.tui.app_driver import review, shown, until
from tests.tui.change_request_factory import begun, edited
from textual import events

from presscheck.api.comments import Document, PostComment, PostReply
from presscheck.api.content_changes import EditChangeRequestContent, InsertPage
from presscheck.tui.screens.review import screen, view

pytestmark = pytest.mark.slow

SUBJECT = "One word of many"
BEFORE = "".join(f"Sentence number {number} stands here.\n\n" for number in range(30))
AFTER = BEFORE.replace("number 15 stands", "number 15 is")


async def test_a_fold_is_opened_in_place_and_closed_with_the_others(service: RunningService, tmp_path: Path) -> None:
    await edited(service, SUBJECT, BEFORE, AFTER)
    async with review(service, tmp_path, SUBJECT) as pilot:
        await until(pilot, holds=lambda: "unchanged lines" in shown(pilot.app))
        await pilot.press("tab")
        folded = [line.split("│")[-1].strip() for line in shown(pilot.app).splitlines() if "unchanged" in line]
        assert [line[line.index("…") :] for line in folded] == [
            "… 13 unchanged lines · Lasting",
            "… 11 unchanged lines",
        ]
        for near in (12, 13, 14, 16, 17, 18):
            assert f"Sentence number {near} " in shown(pilot.app), "three lines stay on either side"
        await pilot.press("G", "enter")
        await until(pilot, shows="Sentence number 20")
        await pilot.press("G")
        await until(pilot, shows="Sentence number 28")
        assert shown(pilot.app).count("unchanged lines") <= 1
        assert "Sentence number 3 " not in shown(pilot.app)
        await pilot.press("i")
        await until(pilot, shows="unchanged lines are shown")
        await pilot.press("g", "g")
        await until(pilot, shows="Sentence number 3 ")
        await pilot.press("i")
        await until(pilot, holds=lambda: len(re.findall("… \\d+ unchanged", shown(pilot.app))) == 2)
        await pilot.press("d", "d")
        await until(pilot, shows="source: the Markdown of the page")
        await until(pilot, holds=lambda: len(re.findall("… \\d+ unchanged", shown(pilot.app))) == 2)
        await pilot.press("g", "g", "j", "j", "enter")
        await until(pilot, shows="Sentence number 3 ")


async def test_the_address_is_copied_without_a_browser(
    service: RunningService, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SSH_CONNECTION", "a b c d")
    async with review(service, tmp_path, "Fix typos in quickstart") as pilot:
        await until(pilot, shows="Can merge?")
        await pilot.press("o")
        await until(pilot, shows="copied: ")
        assert pilot.app.clipboard == pilot.app.screen.session.model.request.urls.app


@pytest.mark.parametrize("seconds", [0.0, 1.1], ids=["fast", "slow"])
async def test_pages_that_are_passed_by_are_not_drawn(
    service: RunningService, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, seconds: float
) -> None:
    mia, at, _ = await begun(service, SUBJECT, "The first page.", title="Page 0")
    pages = tuple(InsertPage(title=f"Page {n}", document=Document(markdown=f"Text {n}.\n")) for n in range(1, 25))
    await say(service, mia, EditChangeRequestContent(**at, changes=pages, compat=False))
    monkeypatch.setattr(view, "PASSING", 1.0)
    drawn: list[str] = []
    async with review(service, tmp_path, SUBJECT) as pilot:
        await until(pilot, shows="The first page.")
        original = pilot.app.screen.session.view._render

        def render(item: Any, *more: Any) -> Any:
            drawn.append(item.title)
            time.sleep(seconds if len(drawn) < 3 else 0)  # the keys that are pressed meanwhile wait in the queue
            return original(item, *more)

        monkeypatch.setattr(pilot.app.screen.session.view, "_render", render)
        await pilot.press("tab")
        for _ in range(20):
            pilot.app.post_message(events.Key("right_curly_bracket", "}"))
        await until(pilot, shows="Text 20.")
        assert set(drawn) <= {"Page 0", "Page 1", "Page 20"}
        await pilot.press("}", "}", "}", "]")
        assert pilot.app.screen.session.view.item.title == "Page 23", "the change of the page that is selected"
        assert "Page 23" in drawn
        assert "Page 22" not in drawn


async def test_pages_that_are_passed_by_in_one_scroll_are_not_drawn(
    service: RunningService, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    mia, at, _ = await begun(service, SUBJECT, "The first page.", title="Page 0")
    pages = tuple(InsertPage(title=f"Page {n}", document=Document(markdown=f"Text {n}.\n")) for n in range(1, 25))
    await say(service, mia, EditChangeRequestContent(**at, changes=pages, compat=False))
    monkeypatch.setattr(view, "PASSING", 1.0)
    drawn: list[str] = []
    async with review(service, tmp_path, SUBJECT) as pilot:
        await until(pilot, shows="The first page.")
        shown_view = pilot.app.screen.session.view
        original = shown_view._render

        def render(item: Any, *more: Any) -> Any:
            drawn.append(item.title)
            return original(item, *more)

        monkeypatch.setattr(shown_view, "_render", render)
        await pilot.press("tab", "&")
        await until(pilot, shows="Text 2.")
        await pilot.press(*["}"] * 20)
        assert shown_view.item.title == "Page 20", "the selected page, before it is drawn"
        await until(pilot, shows="Text 20.")
        assert "Page 20" in drawn
        assert not {f"Page {number}" for number in range(10, 16)} & set(drawn)
        await pilot.press("{", "{", "]")
        assert shown_view.item.title == "Page 18", "a key for the lines of a page ends passing by"


async def test_replies_that_arrive_shortly_after_each_other_are_drawn_together(
    service: RunningService, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    mia, at, page = await begun(service, SUBJECT, "The first page.", title="Page 0")
    threads = await say(service, mia, *[PostComment(**at, page=page, body=Document(markdown="Why?"))] * 30)
    replies = [PostReply(**at, comment_id=thread.id, body=Document(markdown="Because.")) for thread in threads]
    await say(service, mia, *replies)
    monkeypatch.setattr(screen, "PAUSES", 1000)
    drawn: list[None] = []
    original = screen.ReviewScreen.draw
    monkeypatch.setattr(screen.ReviewScreen, "draw", lambda self: (drawn.append(None), original(self)))
    async with review(service, tmp_path, SUBJECT) as pilot:
        model = pilot.app.screen.session.model
        await until(pilot, holds=lambda: sum(len(one.replies) for one in model.discussion.threads()) == len(replies))
        await until(pilot, shows="Because.")
        assert len(drawn) < len(replies)


async def test_the_cursor_stays_on_its_thread_in_other_layouts(service: RunningService, tmp_path: Path) -> None:
    async with review(service, tmp_path, "Rewrite the auth guide", (160, 40)) as pilot:
        session: Any = pilot.app.screen.session
        await until(pilot, shows="This still says API key")
        await pilot.press("tab", "t")
        await until(pilot, holds=lambda: session.view.is_on_thread)
        thread = session.view.thread.id
        for layout in ("split", "source", "prose"):
            await pilot.press("d")
            await until(pilot, holds=lambda layout=layout: session.view.mode == layout)
            assert session.view.is_on_thread
            assert session.view.thread.id == thread
