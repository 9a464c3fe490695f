"""Every command that would write into a locked space reports the lock before the user types or chooses anything."""

from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest
from tests.running_service import RunningService
from tests.service_users import say, token_of
from tests.tui.app_driver import app_on, pick, running, shown, until
from tests.tui.change_request_factory import Begun, begun, edited
from tests.tui.drafts import open_drafts, type_draft
from tests.tui.space_content import PNG, file, opened

from presscheck.api.change_requests import (
    GetChangeRequest,
    MergeChangeRequest,
    PullChangeRequest,
    UpdateChangeRequest,
)
from presscheck.api.comments import Document, PostComment
from presscheck.api.content_changes import EditChangeRequestContent, UpdatePage
from presscheck.api.spaces import GetSpace, Space, SpacePermissions, UpdateSpace
from presscheck.tui.app import PresscheckApp
from presscheck.tui.places import Place
from presscheck.tui.screens.browse.edit_actions import EditActions
from presscheck.tui.screens.browse.revisions import RevisionListScreen
from presscheck.tui.screens.browse.screen import BrowseScreen
from presscheck.tui.screens.review.screen import ReviewScreen
from presscheck.tui.widgets.confirm_dialog import ConfirmDialog
from presscheck.tui.widgets.prompt_dialog import PromptDialog

TEXT = "A token lasts 30 days.\n\nA key lasts for ever.\n"
QUESTION = "Unlock Guides?"


async def with_everything(service: RunningService) -> tuple[Begun, Begun]:
    """Create a change request with a suggestion, a conflict and a file, and another one that the test archives."""
    one = await edited(service, "Tokens last", TEXT, TEXT.replace("30", "60"))
    suggestion = "> A key lasts\n\n```suggestion\nA key lasts a year.\n```"
    other = await edited(service, "Other words", TEXT, TEXT.replace("30", "90"), title="Other")
    await say(
        service,
        one.token,
        PostComment(**one.at, page=one.page, body=Document(markdown=suggestion)),
        EditChangeRequestContent(**one.at, changes=(file("plan.png", PNG),)),
    )
    clash = await begun(service, "Main moves", TEXT, title="Moved")
    change = UpdatePage(page=one.page, document=Document(markdown=TEXT.replace("30 days", "a week")))
    await say(
        service,
        one.token,
        EditChangeRequestContent(**clash.at, changes=(change,)),
        MergeChangeRequest(**clash.at),
        PullChangeRequest(**one.at),
    )
    return one, other


async def at_each_verb(pilot: Any, one: Begun, other: Begun, tmp_path: Path, refused: Any) -> None:
    """Press the keys of every command that writes into the space, and call `refused` for each.

    The change request `one` has a suggestion, a conflict and a file; `other` is archived and has a draft.
    """
    app = cast("PresscheckApp", pilot.app)
    space, request = one.at["space_id"], one.at["change_request_id"]
    # pages, in a change request and on main
    await app.go(Place.page(space, one.page, request))

    def is_at_page() -> bool:
        item = app.screen.item if isinstance(app.screen, BrowseScreen) else None
        is_page = item is not None and item.page is not None and item.page.id == one.page
        return is_page and item.space is not None and item.space.edit_mode == "locked"

    await until(pilot, shows="A key lasts for ever.", holds=is_at_page)
    for key in ("e", "a", "delete", "J", ". m", ". f"):
        await refused(*key.split())
    # revisions: a page, and the list
    await pilot.press("g", "h")
    await until(pilot, shows="~ Lasting", holds=lambda: isinstance(app.screen, RevisionListScreen))
    await pilot.press("j")
    await refused("Z")
    await pilot.press("q")
    # files
    await until(pilot, holds=lambda: isinstance(app.screen, BrowseScreen))
    await pilot.press("g", "l", "2")
    await until(pilot, shows="plan.png")
    await refused("a")
    await pilot.press("q")
    # a review: suggestions, a conflict, changes, the merge
    found = await app.engine.read(GetChangeRequest(**one.at))
    await app.go(Place.review(space, found.id))
    await until(pilot, shows="suggestion:", holds=lambda: isinstance(app.screen, ReviewScreen))
    await until(pilot, shows="Conflict: both sides changed this text")
    review: Any = app.screen
    await pilot.press("t")
    await until(pilot, holds=lambda: review.session.view.thread is not None)
    await refused("U")
    await refused("A")
    await refused("p", "o")
    await pilot.press("h")
    for key in ("e", "m"):
        await refused(*key.split())
    # the draft of an archived change request
    await open_drafts(pilot)
    await until(pilot, shows="Other words")
    await pilot.press("enter")
    await pick(pilot, "New change request with this text")
    await refused()


@pytest.mark.slow
@pytest.mark.usefixtures("at_once")
async def test_each_writing_command_offers_to_unlock_the_space(
    service: RunningService, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("VISUAL", raising=False)
    monkeypatch.delenv("EDITOR", raising=False)
    one, other = await with_everything(service)
    asked: list[tuple[str, ...]] = []

    async def unlock_is_offered(*keys: str) -> None:
        await pilot.press(*keys)
        await until(pilot, shows=QUESTION)
        assert sum(isinstance(screen, ConfirmDialog) for screen in pilot.app.screen_stack) == 1
        asked.append(keys)
        await pilot.press("n")
        await until(pilot, holds=lambda: QUESTION not in shown(pilot.app))

    async with running(app_on(service, tmp_path)) as pilot:
        await until(pilot, shows="Needs me")
        await type_draft(pilot, other, "Ask Mia.")
        await say(service, one.token, UpdateChangeRequest(**other.at, status="archived"))
        await pilot.app.engine.write(UpdateSpace(space_id="guides", edit_mode="locked")).landed()
        await at_each_verb(pilot, one, other, tmp_path, unlock_is_offered)
        sent = [entry.name for entry in pilot.app.engine.history()]
        assert sent == ["updateSpaceById"], "nothing was written"
        # after unlocking, the command continues
        await pilot.press("g", "i")
        await opened(pilot, "guides", one.at["change_request_id"])
        await pilot.press("2")
        await until(pilot, shows="plan.png")
        await pilot.press("a")
        await until(pilot, shows=QUESTION)
        await pilot.press("y")
        await until(pilot, shows="Upload a file", holds=lambda: isinstance(pilot.app.screen, PromptDialog))
        [space] = await say(service, service.token, GetSpace(space_id="guides"))
        assert space.edit_mode == "live"
    # users who may edit but not unlock see a message, and nothing opens
    await say(service, service.token, UpdateSpace(space_id="guides", edit_mode="locked"))
    async with running(app_on(service, tmp_path / "editor", token=token_of(service, "tomasz"))) as pilot:
        await until(pilot, shows="Needs me")
        await opened(pilot, "guides", one.at["change_request_id"])
        await pilot.press("2")
        await until(pilot, shows="plan.png")
        screen = pilot.app.screen
        await pilot.press("a")
        await until(pilot, shows="Guides is locked: ask somebody who administers it")
        assert pilot.app.screen is screen


def test_readers_of_a_space_see_which_level_they_need() -> None:
    engine = SimpleNamespace(status=SimpleNamespace(online=True, read_only=False), write_reason=lambda *_: None)
    reasons: list[str | None] = []
    for may_edit in (False, True):
        space = Space(id="s", title="Guides", permissions=SpacePermissions(view=True, edit=may_edit))
        session: Any = SimpleNamespace(item=SimpleNamespace(space=space), screen=SimpleNamespace(engine=engine))
        reasons.append(EditActions(session).reason_new_request())
    assert reasons == ["you need the level edit in Guides", None]
