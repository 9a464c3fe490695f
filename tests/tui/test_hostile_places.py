"""Untrusted text on every screen: it never acts on the terminal and is never read as markup."""

from pathlib import Path
from typing import Any

import pytest
from tests.hostile_strings import ACTS, HOSTILE
from tests.running_service import RunningService
from tests.tui.app_driver import app_on, running, shown, until

from presscheck.api.change_requests import CreateChangeRequest, UpdateChangeRequest
from presscheck.api.comments import Document, PostComment
from presscheck.api.content_changes import EditChangeRequestContent, InsertPage
from presscheck.api.organizations import ListOrganizations
from presscheck.api.sites import CreateSite
from presscheck.api.spaces import CreateSpace
from presscheck.client.client import Client

pytestmark = pytest.mark.service(sample=False)

BAD = [text for text in HOSTILE if text.strip() and "\x00" not in text and len(text) < 60]
MARKUP = "[b]bold[/b] :smile: {x}"


async def filled(service: RunningService, texts: list[str]) -> None:
    """Fill a workspace with spaces, change requests, pages, comments and sites that have these texts."""
    client = Client(service.base_url, service.token)
    [organization] = (await client.send(ListOrganizations())).items
    for number, text in enumerate(texts):
        title = f"{number} {text}"[:50]
        space = await client.send(CreateSpace(organization_id=organization.id, title=title))
        request = await client.send(CreateChangeRequest(space_id=space.id, subject=title))
        path = {"space_id": space.id, "change_request_id": request.id}
        page = InsertPage(title=title, document=Document(markdown=f"# {text}\n\n{text}\n\n`{text}`\n\n- {text}\n"))
        await client.send(EditChangeRequestContent(**path, changes=(page,)))
        await client.send(PostComment(**path, body=Document(markdown=text)))
        await client.send(UpdateChangeRequest(**path, status="open"))
        await client.send(CreateSite(organization_id=organization.id, title=title, spaces=(space.id,)))
    await client.aclose()


def clean(pilot: Any) -> str:
    text = shown(pilot.app)
    assert not ACTS.search(text.replace("\n", "")), text
    return text


@pytest.mark.slow
async def test_untrusted_text_never_acts_on_a_screen(service: RunningService, tmp_path: Path) -> None:
    texts = [MARKUP, *BAD[::20][:3]]
    await filled(service, texts)
    async with running(app_on(service, tmp_path / "home"), (120, 40)) as pilot:
        await until(pilot, shows="All open")
        await pilot.press("4")
        await until(pilot, shows=MARKUP)
        clean(pilot)
        for _ in texts:
            await pilot.press("enter")
            await until(pilot, shows="Can merge?")
            await until(pilot, shows="1 change")
            clean(pilot)
            await pilot.press("d", "g", "g")
            clean(pilot)
            await pilot.press("m")
            await until(pilot, shows="Merge into the live content?")
            clean(pilot)
            await pilot.press("n", "escape", "j")
            clean(pilot)
        await pilot.press("g", "o")
        await until(pilot, shows="enter shows its pages")
        await until(pilot, shows=MARKUP)
        for _ in texts:
            clean(pilot)
            await pilot.press("j")
        await pilot.press("g", "p")
        await until(pilot, shows="○ draft")
        for _ in texts:
            await until(pilot, shows="P publishes it")
            clean(pilot)
            await pilot.press("j")
        await pilot.press("ctrl+k")
        await until(pilot, shows="type to search")
        clean(pilot)
