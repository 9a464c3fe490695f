"""Completion of people after an `@` in the composers of comments: keys, mouse, bursts of keys, failed loads."""

import asyncio
from collections.abc import Awaitable, Callable, Iterator, Sequence
from pathlib import Path
from typing import Any, cast

import pytest
from tests.running_service import RunningService
from tests.tui.app_driver import app_on, inbox_loaded, open_review, running, shown, until
from tests.tui.dialogs import answers, asked
from tests.tui.keyboard import burst, seen
from tests.tui.mouse import click_text
from textual.widgets import TextArea

from presscheck.api.comments import Document, PostComment
from presscheck.api.users import User
from presscheck.errors import Forbidden
from presscheck.store.drafts import DraftSlot
from presscheck.store.outbox import Outbox
from presscheck.tui.app import PresscheckApp
from presscheck.tui.widgets.completion import GLANCE
from presscheck.tui.widgets.composer import Composer

NAMES = ("Mia Okonkwo", "Miro Ek", "Tomasz W")
AT = {"space_id": "guides", "change_request_id": "3"}


async def people() -> Sequence[User]:
    return [User(id=name, display_name=name) for name in NAMES]


@pytest.fixture
def outbox(tmp_path: Path) -> Iterator[Outbox]:
    outbox = Outbox(tmp_path / "outbox")
    yield outbox
    outbox.close()


def composer(outbox: Outbox, load: Callable[[], Awaitable[Sequence[User]]] = people, draft: str = "") -> Composer:
    return Composer("Reply", DraftSlot(outbox, "reply", draft), people=load)


def text(pilot: Any) -> str:
    return pilot.app.screen.query_one(TextArea).text


async def test_enter_inserts_a_name_only_after_an_arrow_key(outbox: Outbox) -> None:
    async with asked(composer(outbox)) as pilot:
        await pilot.press(*"Hello @mi")
        await seen(pilot, "▌Mia Okonkwo  ")
        await pilot.press("enter", *"so")
        await until(pilot, holds=lambda: text(pilot).endswith("so"))
        assert text(pilot) == "Hello @mi\nso"
        await pilot.press("enter", *"@tom")
        await seen(pilot, "▌Tomasz W")
        await until(pilot, shows="  tab")
        await pilot.press("down")
        await until(pilot, shows="  enter")
        await asyncio.sleep(GLANCE)
        await pilot.press("enter")
        assert text(pilot) == "Hello @mi\nso\n@Tomasz W "


async def test_enter_after_a_complete_name_is_a_line_break(outbox: Outbox) -> None:
    async with asked(composer(outbox)) as pilot:
        await pilot.press(*"@mia")
        await seen(pilot, "▌Mia Okonkwo")
        await pilot.press("tab")
        await asyncio.sleep(0.1)
        await pilot.press("enter", *"so")
        assert text(pilot) == "@Mia Okonkwo \nso"


async def test_a_burst_of_keys_inserts_no_name(outbox: Outbox) -> None:
    async with asked(composer(outbox)) as pilot:
        await pilot.press(*"@")
        await seen(pilot, "▌Mia Okonkwo")
        burst(pilot, *"tom", "enter", *"@mi and more", "enter", *"@mi", "ctrl+s")
        await until(pilot, holds=lambda: bool(answers(pilot)))
        assert answers(pilot) == ["@tom\n@mi and more\n@mi"]


async def test_escape_closes_the_list_and_then_the_composer(outbox: Outbox) -> None:
    async with asked(composer(outbox)) as pilot:
        await pilot.press(*"@mi")
        await seen(pilot, "▌Mia Okonkwo")
        await pilot.press("escape", "a")
        assert "▌" not in "".join(shown(pilot.app))
        await pilot.press("enter")
        assert text(pilot) == "@mia\n"
        await pilot.press("escape")
        assert answers(pilot) == [None]
        assert outbox.draft("reply") == "@mia\n"


async def test_a_click_inserts_the_name(outbox: Outbox) -> None:
    async with asked(composer(outbox)) as pilot:
        await pilot.press(*"@mi")
        await click_text(pilot, "Miro Ek")
        await until(pilot, holds=lambda: text(pilot) == "@Miro Ek ")
        await pilot.press("x")
        assert text(pilot) == "@Miro Ek x"


async def test_a_failed_load_shows_the_error_and_keys_still_type(outbox: Outbox) -> None:
    async def fails() -> Sequence[User]:
        raise Forbidden("you may not list people", request="GET /people", status=403)

    async with asked(composer(outbox, fails)) as pilot:
        await pilot.press("@")
        await until(pilot, shows="you may not list people")
        await pilot.press(*"mi", "enter", "x")
        assert text(pilot) == "@mi\nx"


async def test_no_names_are_proposed_within_a_word_or_after_cursor_moves(outbox: Outbox) -> None:
    async with asked(composer(outbox, draft="Hello @mi")) as pilot:
        await pilot.press("left", "right", "enter", *"mail@mi")
        await pilot.pause(0.1)
        assert "▌" not in "".join(shown(pilot.app))
        assert text(pilot) == "Hello @mi\nmail@mi"


@pytest.mark.service
@pytest.mark.slow
async def test_every_composer_of_comments_proposes_people(service: RunningService, tmp_path: Path) -> None:
    async with running(app_on(service, tmp_path)) as pilot:
        app = cast("PresscheckApp", pilot.app)

        async def proposes(*keys: str) -> None:
            await pilot.press(*keys)
            await until(pilot, holds=lambda: isinstance(app.focused, TextArea))
            await pilot.press("ctrl+end", "space", *"@mia")
            await seen(pilot, "▌Mia Okonkwo")
            await pilot.press("tab", "x")
            assert text(pilot).endswith(" @Mia Okonkwo x")
            await pilot.press("escape")
            await until(pilot, holds=lambda: not isinstance(app.screen, Composer))

        await inbox_loaded(pilot)
        await pilot.press("space")
        await proposes("A", *"comment", "enter")
        await open_review(pilot, AT)
        await proposes("C")
        service.stop()
        try:
            app.engine.refresh()
            await until(pilot, shows="offline")
            app.engine.write(PostComment(**AT, body=Document(markdown="Held")))
            await pilot.press("g", "x")
            await until(pilot, shows="Held")
            await proposes("e")  # from the cache
        finally:
            service.start()
