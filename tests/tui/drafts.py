"""Steps that open pages and drafts."""

from typing import Any, cast

from tests.tui.app_driver import until
from tests.tui.change_request_factory import Begun

from presscheck.tui.app import PresscheckApp
from presscheck.tui.places import Place
from presscheck.tui.screens.markdown_editor.area import MarkdownArea
from presscheck.tui.screens.outbox.screen import OutboxScreen


async def go_to_page(pilot: Any, one: Begun) -> None:
    await cast("PresscheckApp", pilot.app).go(Place.page(one.at["space_id"], one.page, one.at["change_request_id"]))
    await until(pilot, shows="A key lasts for ever.")


async def type_draft(pilot: Any, one: Begun, typed: str) -> None:
    """Type a text at the end of a page of a change request, and leave the editor: the page is kept as a draft."""
    await go_to_page(pilot, one)
    await pilot.press("e")
    await until(pilot, holds=lambda: isinstance(pilot.app.focused, MarkdownArea))
    await pilot.press("ctrl+end", *typed, "escape")
    await until(pilot, shows="your text is kept as a draft")


async def open_drafts(pilot: Any) -> None:
    await pilot.press("g", "x")
    await until(pilot, holds=lambda: isinstance(pilot.app.screen, OutboxScreen))
    await pilot.press("3")
    await until(pilot, holds=lambda: pilot.app.screen.lists.tab is pilot.app.screen.drafts)
