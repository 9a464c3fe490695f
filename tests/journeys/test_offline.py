"""Offline use after a sync: the real app and commands without a service."""

import sys
from collections.abc import Iterator
from typing import Any

import pexpect
import pytest
from tests.cli.shell import Shell, signed_in
from tests.running_service import RunningService, running_service
from tests.tui.app_driver import app_on, running, shown, until

from presscheck.api.change_requests import ListOrganizationChangeRequests
from presscheck.api.operation import Operation
from presscheck.api.spaces import ListSpaces
from presscheck.engine.engine import Engine
from presscheck.tui.places import Place
from presscheck.tui.screens.browse.screen import BrowseScreen
from presscheck.tui.screens.review.screen import ReviewScreen
from presscheck.tui.widgets.tree import Tree

EACH = 6
"""Every n-th open change request is opened."""
MERGED = ListOrganizationChangeRequests(organization_id="tallowick", status="merged")
"""Statuses of change requests of which only the rows are synced."""
PAGES = 1
"""The number of pages that are read in each space."""


@pytest.fixture(scope="module")
def service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningService]:
    """A service that was synced and then stopped."""
    directory = tmp_path_factory.mktemp("service")
    with running_service(directory, sample=True) as one:
        shell = signed_in(directory / "home", one)
        command = [sys.executable, "-m", "presscheck", "sync"]
        terminal = pexpect.spawn(command[0], command[1:], env=shell.environment, timeout=600, encoding="utf-8")
        terminal.expect(r"\r\d+ of \d+ changed parts? · \d+ requests? · \d+ s left *\r")
        terminal.expect(r"\r {50,}\r6 spaces, 14 change requests; \d+ parts changed, \d+ requests, \d+ s\r\n")
        terminal.expect(pexpect.EOF)
        assert shell.json("sync")["parts"] == 0
        one.stop()
        yield one


@pytest.fixture
def shell(service: RunningService) -> Shell:
    return signed_in(service.directory / "home", service)


@pytest.fixture
def missed(monkeypatch: pytest.MonkeyPatch) -> list[Operation]:
    """Requests of a screen that the store cannot answer."""
    found: list[Operation] = []
    known = Engine.known

    def known_and_noted(self: Engine, call: Operation, **given: Any) -> Any:
        answer = known(self, call, **given)
        if answer is None:
            found.append(call)
        return answer

    monkeypatch.setattr(Engine, "known", known_and_noted)
    return found


async def change_requests(pilot: Any) -> int:
    """Open all views and some open change requests; returns the number of change requests."""
    opened = 0
    for view in ("Mine", "Involved", "All open", "Drafts", "Merged"):
        await pilot.press("l")
        await pilot.pause()
        inbox = pilot.app.screen
        rows = inbox.session.model.total()
        assert rows, view
        for row in range(0, rows if view in ("All open", "Drafts") else 0, EACH):
            await pilot.press("g", "g", *["j"] * row, "enter")
            await until(pilot, holds=lambda: isinstance(pilot.app.screen, ReviewScreen))
            review = pilot.app.screen
            await until(pilot, holds=lambda review=review: bool(review.session.model.progress()))
            for item in review.session.model.items:
                if item.has_text:
                    await until(
                        pilot, holds=lambda it=item, review=review: bool(review.session.texts.page(it).difference)
                    )
            await until(pilot, holds=lambda review=review: review.session.model.forecast is not None)
            await pilot.press("q")
            await until(pilot, holds=lambda inbox=inbox: pilot.app.screen is inbox)
            opened += 1
    return opened


async def pages(pilot: Any) -> int:
    """Expand every space and read its first pages; returns the number of pages."""
    await pilot.press("g", "o")
    await until(pilot, shows="API docs")
    browse = pilot.app.screen
    assert isinstance(browse, BrowseScreen)
    tree, read = browse.query_one(Tree), 0
    for space in browse.engine.window(ListSpaces(organization_id="tallowick"), 0, 100).items:
        browse.go_to(Place.page(space.id, None))
        await until(pilot, holds=lambda space=space: browse.library.pages(space.id) is not None)
        for page in [one for one in browse.library.pages(space.id).pages if one.type == "document"][:PAGES]:
            browse.session.go_to(f"page {space.id} {page.id}")
            key = tree.key
            await until(pilot, holds=lambda key=key: browse.page_pane._shown[0] == key)
            assert "cannot be shown" not in shown(pilot.app)
            read += 1
    return read


@pytest.mark.slow
async def test_every_screen_is_complete_offline_after_a_sync(service: RunningService, missed: list[Operation]) -> None:
    app = app_on(service, service.directory / "home", offline=True)
    async with running(app, (120, 60)) as pilot:
        await until(pilot, shows="offline")
        await until(pilot, shows="Rewrite the auth guide")
        assert await change_requests(pilot) > 2
        assert await pages(pilot) > 4
        await pilot.press("g", "p")
        for title in ("Tallowick Docs", "Inside Tallowick"):
            await until(pilot, shows=title)
            await until(pilot, holds=lambda: bool((model := app.screen.session.pane.model) and model.items))
            await pilot.press("j")
        merged = {one.id for one in app.engine.window(MERGED, 0, 100).items}
    assert [str(call) for call in missed if getattr(call, "change_request_id", None) not in merged] == []


def test_commands_read_synced_content_offline(shell: Shell) -> None:
    assert "Rewrite the auth guide" in shell.ok("--offline", "inbox")
    assert "Can we link this from the quickstart?" in shell.ok("--offline", "cr", "show", "api#5")
    assert "90 days" in shell.ok("--offline", "cr", "diff", "api#5")
    assert shell.ok("--offline", "space", "pages", "cli")
    ran = shell.run("--offline", "sync")
    assert (ran.exit_code, ran.stdout) == (3, "")
    assert "--offline" in ran.stderr
