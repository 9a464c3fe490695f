"""A text typed into a prompt is a draft until it is written: after a cancel, a refusal, and when the app is killed."""

from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from tests.running_service import RunningService
from tests.stalling_proxy import holding_back
from tests.tui.app_driver import app_on, pick, running, until
from tests.tui.draft_places import drafted
from textual.widgets import Input

from presscheck.api.site_settings import GetPublishingAuth
from presscheck.api.sites import ListSites
from presscheck.api.spaces import GetSpace
from presscheck.client.client import Client
from presscheck.store.outbox import Outbox
from presscheck.tui.places import Place
from presscheck.tui.screens.browse.screen import BrowseScreen
from presscheck.tui.screens.publish.screen import PublishScreen
from presscheck.tui.screens.sites.access.screen import SiteAccessScreen

pytestmark = pytest.mark.service(shared=True)

ORG = "tallowick"
BODY = b'{"error": {"code": 400, "message": "Not today"}}'
REFUSED = b"HTTP/1.1 400 Bad Request\r\ncontent-length: %d\r\nconnection: close\r\n\r\n%s" % (len(BODY), BODY)


class Prompt(NamedTuple):
    """A prompt of the app.

    Attributes:
        label: the label of its draft in the outbox.
        open: goes to the place of the prompt, and shows the prompt.
        ask: shows the prompt after its draft was opened; does nothing if that shows it already.
        text: the text to type.
        confirm: answers the questions after the prompt.
        written: returns the text from the service.
    """

    label: str
    open: Callable[[Any], Awaitable[None]]
    ask: Callable[[Any], Awaitable[None]]
    text: str
    confirm: Callable[[Any], Awaitable[None]]
    written: Callable[[Client], Awaitable[str | None]]


async def nothing(pilot: Any) -> None:
    pass


async def show_sites(pilot: Any) -> None:
    await pilot.app.go(Place("publish"))
    await until(pilot, shows="● live", holds=lambda: isinstance(pilot.app.screen, PublishScreen))
    await pilot.press("a")


async def choose_spaces(pilot: Any) -> None:
    await until(pilot, shows="Spaces of the new site")
    await pilot.press(*"Runbook", "tab", "enter")


async def new_title(client: Client) -> str | None:
    titles = [site.title for site in (await client.send(ListSites(organization_id=ORG))).items]
    return next((title for title in titles if title == "Handbook of all"), None)


async def show_sign_in(pilot: Any) -> None:
    await pilot.app.go(Place("publish"))
    await until(pilot, shows="● live", holds=lambda: isinstance(pilot.app.screen, PublishScreen))
    await pilot.press("g", "v", "3")
    await change_address(pilot)


async def change_address(pilot: Any) -> None:
    await until(pilot, shows="Sign-in page", holds=lambda: isinstance(pilot.app.screen, SiteAccessScreen))
    access = pilot.app.screen
    assert access.lists.tab is access.sign_in
    access.sign_in.rows.move_to(1)
    await pilot.press("E")


async def sign_in_page(client: Client) -> str | None:
    site = next(site for site in (await client.send(ListSites(organization_id=ORG))).items if site.published)
    return (await client.send(GetPublishingAuth(organization_id=ORG, site_id=site.id))).fallback_url


async def show_emoji(pilot: Any) -> None:
    browse = await pilot.app.go(Place.item("space cli"))
    await until(pilot, holds=lambda: browse.item is not None and browse.item.key == "space cli")
    await pilot.press("E")
    await choose_emoji(pilot)


async def choose_emoji(pilot: Any) -> None:
    await pick(pilot, "Emoji")
    assert isinstance(pilot.app.screen_stack[-2], BrowseScreen)


async def emoji(client: Client) -> str | None:
    return (await client.send(GetSpace(space_id="cli"))).emoji


@pytest.mark.parametrize(
    "prompt",
    [
        Prompt("title of a new site", show_sites, nothing, "Handbook of all", choose_spaces, new_title),
        Prompt(
            "URL of visitor sign-in: Sign-in page · ",
            show_sign_in,
            change_address,
            "https://tallowick.example/sign-in",
            nothing,
            sign_in_page,
        ),
        Prompt("emoji of a space", show_emoji, choose_emoji, "1f680", nothing, emoji),
    ],
    ids=lambda prompt: prompt.label,
)
async def test_a_typed_text_is_a_draft_until_it_is_written(
    service: RunningService, client: Client, tmp_path: Path, prompt: Prompt
) -> None:
    def value() -> str | None:
        return pilot.app.focused.value if isinstance(pilot.app.focused, Input) else None

    with holding_back(service, tmp_path, "POST ", "PATCH ", "PUT ", answer=REFUSED) as address:
        async with running(app_on(service, tmp_path, base_url=address)) as pilot:
            await until(pilot, shows="Needs me")
            on_disk = Outbox(pilot.app.engine.outbox.open_texts.with_suffix(".sqlite"))

            def texts() -> list[str]:
                return [stored.text for stored in on_disk.drafts()]

            await prompt.open(pilot)
            await until(pilot, holds=lambda: value() is not None)
            pilot.app.focused.value = prompt.text
            await until(pilot, holds=lambda: texts() == [prompt.text])  # stored, so it survives a kill
            await pilot.press("escape")
            await prompt.open(pilot)
            await until(pilot, holds=lambda: value() == prompt.text)
            await pilot.press("enter")
            await prompt.confirm(pilot)
            await until(pilot, shows="Not today")
            assert texts() == [prompt.text]
    assert await prompt.written(client) != prompt.text

    with holding_back(service, tmp_path) as address:
        async with running(app_on(service, tmp_path, base_url=address)) as pilot:
            await until(pilot, shows="Needs me")
            await drafted(pilot, prompt.label)
            await prompt.ask(pilot)
            await until(pilot, holds=lambda: value() == prompt.text)
            await pilot.press("enter")
            await prompt.confirm(pilot)
            await until(pilot, holds=lambda: not texts())
            on_disk.close()
    assert await prompt.written(client) == prompt.text
