"""Comments on live pages, from Browse: every action by keys, and checked at the service."""

from pathlib import Path
from typing import Any

import pytest
from tests.hostile_strings import ACTS
from tests.running_service import RunningService
from tests.service_users import somebody
from tests.tui.app_driver import all_sent, app_on, running, shown, until, write

from presscheck.api.comments import (
    Document,
    GetSpaceComment,
    ListSpaceComments,
    ListSpaceReplies,
    PostSpaceComment,
    PostSpaceReply,
)
from presscheck.api.content import GetPage, ListPages
from presscheck.client.client import Client
from presscheck.documents.pages.tree import flatten
from presscheck.tui.comments import drafts
from presscheck.tui.places import Place
from presscheck.tui.screens.page_comments import PageCommentsScreen

SPACE = "api"
HOSTILE = "\x1b]0;title\x07 [b]x[/b] \u202egpj.exe"


async def page_id(client: Client, title: str) -> str:
    pages = flatten((await client.send(ListPages(space_id=SPACE))).pages)
    return next(page.id for page in pages if page.title == title)


async def comments(client: Client) -> dict[str, Any]:
    """Return the comments of the space from the service, by the last line of their text."""
    found = (await client.send(ListSpaceComments(space_id=SPACE, format="markdown", limit=1000))).items
    return {(one.body.markdown or "").strip().split("\n")[-1]: one for one in found}


async def browse(pilot: Any, page: str) -> None:
    """Open a page in Browse and wait until it has the focus."""
    await until(pilot, shows="Needs me")
    await pilot.app.go(Place.page(SPACE, page))
    await until(pilot, shows="Three things to know")
    await until(pilot, holds=lambda: pilot.app.screen.page_view.has_focus)


def is_list(pilot: Any) -> bool:
    return isinstance(pilot.app.screen, PageCommentsScreen)


@pytest.mark.slow
async def test_a_line_is_commented_and_its_thread_is_answered_resolved_and_deleted(
    service: RunningService, client: Client, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(drafts, "HOLD", 0.0)
    page = await page_id(client, "Overview")
    limits = await page_id(client, "Limits")
    async with somebody(service, "mia") as (mia,):
        body = Document(markdown=f"> Answers are JSON; moments are in UTC.\n\nSince when? {HOSTILE}")
        hers = await mia.send(PostSpaceComment(space_id=SPACE, page=page, body=body))
        await mia.send(PostSpaceReply(space_id=SPACE, comment_id=hers.id, body=Document(markdown="Since May?")))
        gone = Document(markdown="> A text that was never there\n\nIs this right?")
        await mia.send(PostSpaceComment(space_id=SPACE, page=page, body=gone))
        await mia.send(PostSpaceComment(space_id=SPACE, page=limits, body=Document(markdown="On limits")))
    async with running(app_on(service, tmp_path / "home")) as pilot:
        await browse(pilot, page)
        assert "c comment" in shown(pilot.app).splitlines()[-1]
        view = pilot.app.screen.page_view
        while "Every request carries" not in view.source_at_cursor()[1]:
            await pilot.press("j")
        await write(pilot, "c", "Which token?", "ctrl+s")
        await until(pilot, shows="comment added: g t lists")
        await all_sent(pilot)
        mine = (await comments(client))["Which token?"]
        assert (mine.body.markdown or "").startswith("> ")
        assert "Every request carries a token." in (mine.body.markdown or "")
        document = (await client.send(GetPage(space_id=SPACE, page_id=page, format="document"))).document
        assert mine.target.page.id == page
        assert f"'{mine.target.node.id}'" in str(document), "the block is named, too"

        await pilot.press("g", "t")
        await until(pilot, shows="● open 2", holds=lambda: is_list(pilot))
        await until(pilot, shows="↻ outdated 1")
        await until(pilot, shows="Which token?")
        assert "On limits" not in shown(pilot.app)
        assert not ACTS.search(shown(pilot.app).replace("\n", " "))
        await pilot.press("&")
        await until(pilot, shows="On limits")
        await pilot.press("&", "g", "g")
        # in page order: outdated threads first, then the token, then the moments
        while pilot.app.screen.thread.id != hers.id:
            await pilot.press("j")
        await until(pilot, shows="Since May?")
        await write(pilot, "r", "Since ever.", "ctrl+s")
        await all_sent(pilot)
        await until(pilot, shows="Since ever.")
        replies = (await client.send(ListSpaceReplies(space_id=SPACE, comment_id=hers.id, format="markdown"))).items
        assert [(one.body.markdown or "").strip() for one in replies] == ["Since May?", "Since ever."]
        await pilot.press("x")
        await until(pilot, shows="○ resolved 1")
        await all_sent(pilot)
        assert (await client.send(GetSpaceComment(space_id=SPACE, comment_id=hers.id))).status == "resolved"
        await pilot.press("z")
        await until(pilot, shows="Undo: resolve thread?")
        await pilot.press("y")
        await until(pilot, shows="○ resolved 0")
        while pilot.app.screen.thread.id != mine.id:
            await pilot.press("k")
        await pilot.press("delete")
        await until(pilot, shows="Delete your comment?")
        await pilot.press("y")
        await until(pilot, shows="● open 1")
        await all_sent(pilot)
        assert "Which token?" not in await comments(client)


@pytest.mark.slow
async def test_a_typed_comment_is_kept_as_a_draft_and_is_pending_offline(
    service: RunningService, client: Client, tmp_path: Path
) -> None:
    page = await page_id(client, "Overview")
    async with running(app_on(service, tmp_path / "home")) as pilot:
        await browse(pilot, page)
        await write(pilot, "C", "A draft of mine", "escape")
        await pilot.press("g", "t")
        await until(pilot, shows="No comments on this page yet.")
        await pilot.press("q", "g", "x", "3")
        await until(pilot, shows="comment on Overview")
        await pilot.press("enter")
        await until(pilot, shows="Comment on Overview")
        await until(pilot, shows="A draft of mine")
        await pilot.press(*" again", "ctrl+s")
        await until(pilot, shows="not sent", holds=lambda: is_list(pilot))
        await pilot.press("z")
        await until(pilot, shows="undone; its text is a draft again")
        assert not [one for one in (await comments(client)).values() if one.target.page.id == page]

        service.stop()
        await pilot.press("ctrl+r")
        await until(pilot, shows="offline")
        await write(pilot, "c", "", "ctrl+s")
        await until(pilot, shows="not sent")
        await write(pilot, "e", " and", "ctrl+s")
        await until(pilot, shows="again and")
        await write(pilot, "r", " again", "ctrl+s")
        await until(pilot, shows="again and again")
        await pilot.press("x")
        await until(pilot, shows="that comment is not sent yet")
        service.start()
        await pilot.press("ctrl+r")
        await all_sent(pilot)
        assert "A draft of mine again and again" in await comments(client)
        await pilot.press("g", "x", "2", "enter")
        await until(pilot, shows="again and again", holds=lambda: is_list(pilot))


async def test_a_comment_written_offline_shows_that_it_is_in_the_outbox(
    service: RunningService, client: Client, tmp_path: Path
) -> None:
    async with running(app_on(service, tmp_path)) as pilot:
        await browse(pilot, await page_id(client, "Overview"))
        service.stop()
        await pilot.press("ctrl+r")
        await until(pilot, shows="offline")
        await write(pilot, "C", "Later", "ctrl+s")
        await until(pilot, shows="you are offline: the comment waits in the outbox")
