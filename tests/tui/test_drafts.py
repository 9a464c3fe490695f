"""Drafts stay reachable: the list in the outbox, and what becomes of a draft when its place is gone."""

import os
import signal
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from pathlib import Path
from typing import Any

import pytest
from tests.running_service import RunningService
from tests.service_users import page_of, say, somebody
from tests.terminal import Terminal
from tests.tui.app_driver import app_on, pick, running, shown, until, write
from tests.tui.change_request_factory import begun, edited, rewritten
from tests.tui.drafts import go_to_page, open_drafts, type_draft
from textual import events
from textual.widgets import TextArea

from presscheck.api.change_requests import GetChangeRequest, MergeChangeRequest, UpdateChangeRequest
from presscheck.api.content_changes import DeletePage, EditChangeRequestContent
from presscheck.engine.drafts import BASE, PAGE
from presscheck.engine.review.pending_review import draft_key
from presscheck.store.outbox import Outbox
from presscheck.tui.app import PresscheckApp
from presscheck.tui.places import Place
from presscheck.tui.screens.markdown_editor.area import MarkdownArea
from presscheck.tui.screens.markdown_editor.screen import MarkdownEditor

pytestmark = pytest.mark.service(shared=True)

TEXT = "A token lasts 30 days.\n\nA key lasts for ever.\n"
HOSTILE = "Las\x1b[31mting \u202eevil"


@pytest.fixture(autouse=True)
def no_editor(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("VISUAL", raising=False)
    monkeypatch.delenv("EDITOR", raising=False)


def area(pilot: Any) -> str:
    return pilot.app.focused.text if isinstance(pilot.app.focused, MarkdownArea) else ""


@contextmanager
def another_instance(pilot: Any) -> Iterator[Outbox]:
    """The outbox of the app, opened as another instance of the app opens it."""
    other = Outbox(pilot.app.engine.outbox.open_texts.with_suffix(".sqlite"))
    yield other
    other.close()


@pytest.mark.slow
async def test_a_draft_is_listed_continued_copied_and_discarded(service: RunningService, tmp_path: Path) -> None:
    one = await begun(service, "Longer \x1b[1mtokens", TEXT, title=HOSTILE)
    async with running(app_on(service, tmp_path)) as pilot:
        await until(pilot, shows="Needs me")
        await open_drafts(pilot)
        await until(pilot, shows="No drafts.")
        await type_draft(pilot, one, "Ask Mia.")
        await open_drafts(pilot)
        await until(pilot, shows="Drafts 1")
        await until(pilot, shows="15 words")
        assert "Longer" in shown(pilot.app)
        assert "Guides" in shown(pilot.app)
        assert "\x1b" not in shown(pilot.app)
        assert "\u202e" not in shown(pilot.app)
        await pilot.press("Y")
        await until(pilot, shows="copied")
        assert "Ask Mia." in pilot.app.clipboard
        await pilot.press("enter")
        await until(pilot, shows="not the page as it is: alt+d discards it", holds=lambda: "Ask Mia." in area(pilot))
        pilot.app.post_message(events.Key("alt+d", "d"))  # as a terminal sends it: with the letter
        await until(pilot, shows="lines are not in the page.")
        await pilot.press("y")
        await until(pilot, holds=lambda: area(pilot).endswith("A key lasts for ever.\n"))
        await until(pilot, shows="no changes")
        await pilot.press("ctrl+z")
        await until(pilot, holds=lambda: "Ask Mia." in area(pilot))
        await until(pilot, shows="draft saved")
        await pilot.press("escape")
        await until(pilot, shows="Drafts 1")
        await pilot.press("-")
        await until(pilot, shows="in no other place, will be lost:")
        await until(pilot, shows="A token lasts 30 days.")
        await pilot.press("n")
        await until(pilot, shows="Drafts 1")
        await pilot.press("-")
        await until(pilot, shows="will be lost:")
        await pilot.press("y")
        await until(pilot, shows="No drafts.")
        assert not pilot.app.engine.outbox.drafts()


@pytest.mark.slow
async def test_a_draft_of_a_merged_request_goes_to_a_new_one(service: RunningService, tmp_path: Path) -> None:
    one = await edited(service, "Tokens last longer", TEXT, TEXT.replace("30 days", "60 days"))
    async with running(app_on(service, tmp_path), (80, 24)) as pilot:
        await until(pilot, shows="Needs me")
        await type_draft(pilot, one, "Ask Mia.")
        await open_drafts(pilot)
        await until(pilot, shows="Tokens last longer")
        await rewritten(service, one, TEXT.replace("30 days", "90 days"))
        await say(service, one.token, MergeChangeRequest(**one.at))
        await pilot.press("enter")
        await until(pilot, shows="change request merged")
        await pick(pilot, "Copy the text")
        await until(pilot, holds=lambda: "60 days" in pilot.app.clipboard)
        await until(pilot, shows="· change request merged")
        await pilot.press("enter")
        await pick(pilot, "New change request with this text")
        await until(pilot, shows="New change request in Guides: subject")
        await pilot.press("enter")
        await until(pilot, holds=lambda: "Ask Mia." in area(pilot))
        assert "90 days" in area(pilot), "merged with what main has now"
        await pilot.press("ctrl+s")
        await until(pilot, shows="Save to the change request?")
        await pilot.press("y")
        await until(pilot, shows="No drafts.")
        path = pilot.app.engine.history()[0].call
        async with somebody(service, "mia") as (mia,):
            at = {"space_id": path.space_id, "change_request_id": path.change_request_id}
            assert at != one.at
            assert "Ask Mia." in (await page_of(mia, at, "Lasting")).markdown


@pytest.mark.slow
async def test_a_draft_of_a_deleted_page_goes_to_a_new_page(service: RunningService, tmp_path: Path) -> None:
    one = await begun(service, "Gone page", TEXT, title="Short lived")
    async with running(app_on(service, tmp_path)) as pilot:
        await until(pilot, shows="Needs me")
        await type_draft(pilot, one, "Ask Mia.")
        await say(service, one.token, EditChangeRequestContent(**one.at, changes=(DeletePage(page=one.page),)))
        await open_drafts(pilot)
        await until(pilot, shows="· page deleted")
        await pilot.press("enter")
        await pick(pilot, "Put it into a new page")
        await until(pilot, shows="Title of the new page")
        await pilot.press("escape")
        await until(pilot, shows="Drafts 1")
        # somebody archives the change request before the page is there: the text goes to a new change request
        await say(service, one.token, UpdateChangeRequest(**one.at, status="archived"))
        await pilot.press("enter")
        await until(pilot, shows="change request archived")
        await pick(pilot, "New change request with this text")
        await until(pilot, shows="New change request in Guides: subject")
        await pilot.press("enter")
        await until(pilot, shows="Title of the new page")
        await pilot.press("enter")
        await until(pilot, shows="Ask Mia.", holds=lambda: pilot.app.current_mode == "browse")
        assert "Gone page" in shown(pilot.app), "the new change request"
        await until(pilot, holds=lambda: not pilot.app.engine.outbox.drafts())


@pytest.mark.slow
async def test_comments_are_continued_in_the_review_and_read_offline(service: RunningService, tmp_path: Path) -> None:
    one = await begun(service, "Talked about", TEXT, title="Discussed")
    async with running(app_on(service, tmp_path)) as pilot:
        await until(pilot, shows="Needs me")
        await pilot.app.go(Place.review(one.at["space_id"], one.at["change_request_id"]))
        await until(pilot, shows="Can merge?")
        await until(pilot, shows="Discussed")
        for key, typed in (("C", "Whole idea"), ("v r", "Too short")):
            await pilot.press(*key.split())
            await until(pilot, holds=lambda: isinstance(pilot.app.focused, TextArea))
            await pilot.press(*typed, "escape")
            await until(pilot, holds=lambda: not isinstance(pilot.app.focused, TextArea))
        await open_drafts(pilot)
        await until(pilot, shows="comment on the change request")
        await until(pilot, shows="request for changes")
        await pilot.press("j", "enter")  # the older one
        await until(pilot, shows="Whole idea", holds=lambda: isinstance(pilot.app.focused, TextArea))
        await pilot.press("end", "!", "escape")
        await until(pilot, holds=lambda: not isinstance(pilot.app.focused, TextArea))
    for profile in ({"offline": True}, {"read_only": True}):
        async with running(app_on(service, tmp_path, **profile), (80, 24)) as pilot:
            await until(pilot, shows="Needs me")
            await open_drafts(pilot)
            await until(pilot, shows="Talked about")
            await pilot.press("g", "g", "enter")
            await until(pilot, shows="offline: Y" if "offline" in profile else "read-only: Y")
            await until(pilot, shows="Whole idea!")
            await pilot.press("q", "y")
            await until(pilot, holds=lambda: pilot.app.clipboard == "Whole idea!")


@pytest.mark.slow
async def test_a_comment_that_another_instance_continued_stays_a_draft_when_this_one_is_sent(
    service: RunningService, tmp_path: Path
) -> None:
    one = await begun(service, "Written twice", TEXT, title="Open twice")
    key = draft_key(one.at["change_request_id"], "whole")
    async with running(app_on(service, tmp_path)) as pilot:
        await until(pilot, shows="Needs me")
        await pilot.app.go(Place.review(one.at["space_id"], one.at["change_request_id"]))
        await until(pilot, shows="Can merge?")
        await until(pilot, shows="Open twice")
        with another_instance(pilot) as other:
            await write(pilot, "C", "Too short")
            await until(pilot, holds=lambda: other.draft(key) == "Too short")
            other.save_draft(key, "Too short, I think")
            await pilot.press("ctrl+s")
            await until(pilot, holds=lambda: not isinstance(pilot.app.focused, TextArea))
            assert other.draft(key) == "Too short, I think"
            await pilot.press("C")
            await until(pilot, shows="Too short, I think")
            await pilot.press("ctrl+s")
            await until(pilot, holds=lambda: not other.draft(key))
            await write(pilot, "C", "N")
            await until(pilot, holds=lambda: other.draft(key) == "N")
            other.save_draft(key, "Now it is longer")
            await pilot.press("backspace", "escape")
            await until(pilot, holds=lambda: not isinstance(pilot.app.focused, TextArea))
            assert other.draft(key) == "Now it is longer"


@pytest.mark.slow
async def test_a_page_that_another_instance_continued_stays_a_draft_when_this_one_is_sent(
    service: RunningService, tmp_path: Path
) -> None:
    one = await begun(service, "Edited twice", TEXT, title="Open twice")
    edit, base = (draft_key(one.at["change_request_id"], f"{name} {one.page}") for name in (PAGE, BASE))
    async with running(app_on(service, tmp_path)) as pilot:
        await until(pilot, shows="Needs me")
        await go_to_page(pilot, one)
        await pilot.press("e")
        await until(pilot, holds=lambda: isinstance(pilot.app.focused, MarkdownArea))
        with another_instance(pilot) as other:
            await pilot.press("ctrl+end", *"Ask Mia.")
            await until(pilot, holds=lambda: other.draft(edit).endswith("Ask Mia."))
            before, longer = other.draft(base), f"{other.draft(edit)}\n\nOr ask Jon, who knows all about it.\n"
            other.save_draft(edit, longer)
            await pilot.press("ctrl+s")
            await until(pilot, shows="Save to the change request?")
            await pilot.press("y")
            await until(pilot, shows="saved to the change request")
            assert (other.draft(edit), other.draft(base)) == (longer, before)
            await pilot.press("e")
            await until(pilot, holds=lambda: "Or ask Jon" in area(pilot))
            other.forget_draft(edit, longer, base)  # the other one sends it
            await pilot.press("ctrl+end", *"At last.")
            await until(pilot, holds=lambda: other.draft(edit).endswith("At last."))
            assert "Ask Mia." in other.draft(base), "without it, this text would undo the other one"
            other.save_draft(edit, longer)
            await pilot.press("alt+d")
            await until(pilot, shows="lines are not in the page.")
            await pilot.press("y")
            await until(pilot, holds=lambda: not other.drafts())


@pytest.mark.slow
async def test_the_own_editor_asks_about_a_draft(
    service: RunningService, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    one = await begun(service, "Own editor", TEXT, title="Edited outside")
    monkeypatch.setattr(PresscheckApp, "suspend", lambda _: nullcontext())
    async with running(app_on(service, tmp_path)) as pilot:
        await until(pilot, shows="Needs me")
        await type_draft(pilot, one, "Ask Mia.")
        monkeypatch.setenv("VISUAL", "true")
        await pilot.press("e")
        await until(pilot, shows="You have a draft of Edited outside, saved just now")
        await pilot.press("c")
        await until(pilot, shows="Save to the change request?")
        await pilot.press("n")
        await until(pilot, shows="not saved; e opens your draft")
        await pilot.press("e")
        await pick(pilot, "Discard the draft")
        await until(pilot, shows="lines are not in the page.")
        await pilot.press("y")
        await until(pilot, shows="no changes")
        assert not isinstance(pilot.app.screen, MarkdownEditor)
        assert not pilot.app.engine.outbox.drafts()


@pytest.mark.slow
async def test_what_was_open_in_an_editor_when_the_app_was_killed_is_a_draft(
    service: RunningService, tmp_path: Path
) -> None:
    """In a real terminal: the app is killed while the editor runs; the next start stores what it had written."""
    one = await begun(service, "Killed", TEXT, title="Interrupted")
    [request] = await say(service, one.token, GetChangeRequest(**one.at))
    script, started = tmp_path / "editor.sh", tmp_path / "started"
    script.write_text(f'#!/bin/sh\nprintf "Typed for an hour.\\n" >> "$1"\necho $$ > {started}\nexec sleep 60\n')
    script.chmod(0o755)
    env = {
        "PRESSCHECK_HOME": str(tmp_path),
        "PRESSCHECK_BASE_URL": service.base_url,
        "PRESSCHECK_TOKEN": service.token,
        "VISUAL": str(script),
    }
    terminal = Terminal([sys.executable, "-m", "presscheck", "open", f"guides#{request.number}"], env=env)
    try:
        terminal.wait("A key lasts for ever.")
        terminal.press("g", "e")
        terminal.wait("e edit")
        terminal.press("e")
        limit = time.monotonic() + 20
        while not (started.exists() and started.read_text().strip()):
            terminal.read()
            assert time.monotonic() < limit, terminal.text
    finally:
        terminal.close()  # kills the app, not the editor
        if started.exists():
            os.kill(int(started.read_text()), signal.SIGKILL)
    async with running(app_on(service, tmp_path)) as pilot:
        await until(pilot, shows="a text is a draft that was open in your editor when presscheck ended: g x 3")
        await open_drafts(pilot)
        await until(pilot, shows="Interrupted")
        await pilot.press("enter")
        await until(pilot, holds=lambda: "Typed for an hour." in area(pilot))


async def test_what_an_editor_wrote_before_it_failed_is_a_draft(
    service: RunningService, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    one = await begun(service, "Failed editor", TEXT, title="Cut short")
    script = tmp_path / "editor.sh"
    # as nano does when its terminal is gone
    script.write_text('#!/bin/sh\n(cat "$1"; echo "Typed for an hour.") > "$1.save"\nexit 3\n')
    script.chmod(0o755)
    monkeypatch.setenv("VISUAL", str(script))
    monkeypatch.setattr(PresscheckApp, "suspend", lambda _: nullcontext())
    async with running(app_on(service, tmp_path), (80, 24)) as pilot:
        await until(pilot, shows="Needs me")
        await pilot.app.go(Place.page(one.at["space_id"], one.page, one.at["change_request_id"]))
        await until(pilot, shows="A key lasts for ever.")
        await pilot.press("e")
        await until(pilot, shows="exit code 3: not saved")
        monkeypatch.setenv("VISUAL", "true")
        await open_drafts(pilot)
        await until(pilot, shows="Cut short")
        await pilot.press("enter")
        await until(pilot, shows="You have a draft of Cut short")
        await pilot.press("c")
        await until(pilot, shows="Cut short: +1 −0 lines")
        await pilot.press("d")
        await until(pilot, shows="+Typed for an hour.")
