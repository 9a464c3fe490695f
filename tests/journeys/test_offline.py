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
"""Every sixth change request of the open views is opened."""
MERGED = ListOrganizationChangeRequests(organization_id="tallowick", status="merged")
"""The listing of change requests that sync only as rows, without their contents."""
PAGES = 1
"""Number of pages read in each space."""


@pytest.fixture(scope="module")
def service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningService]:
    """A stopped service whose content was synced to `home` in its directory."""
    directory = tmp_path_factory.mktemp("service")
    with running_service(directory, sample=True) as running_sample:
        shell = signed_in(directory / "home", running_sample)
        command = [sys.executable, "-m", "presscheck", "sync"]
        terminal = pexpect.spawn(command[0], command[1:], env=shell.environment, timeout=600, encoding="utf-8")
        terminal.expect(r"\r\d+ of \d+ changed parts? · \d+ requests? · \d+ s left *\r")
        terminal.expect(r"\r {50,}\r6 spaces, 14 change requests; \d+ parts changed, \d+ requests, \d+ s\r\n")
        terminal.expect(pexpect.EOF)
        assert shell.json("sync")["parts"] == 0
        running_sample.stop()
        yield running_sample


@pytest.fixture
def shell(service: RunningService) -> Shell:
    return signed_in(service.directory / "home", service)


@pytest.fixture
def missed(monkeypatch: pytest.MonkeyPatch) -> list[Operation]:
    """Collect the operations that screens look up in the cache without success."""
    operations: list[Operation] = []
    lookup = Engine.known

    def record_misses(self: Engine, call: Operation, **options: Any) -> Any:
        cached = lookup(self, call, **options)
        if cached is None:
            operations.append(call)
        return cached

    monkeypatch.setattr(Engine, "known", record_misses)
    return operations


async def change_requests(pilot: Any) -> int:
    """Open all views and some of their change requests. Returns the number of opened change requests."""
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
    """Expand every space and read its first pages. Returns the number of pages."""
    await pilot.press("g", "o")
    await until(pilot, shows="API docs")
    browse = pilot.app.screen
    assert isinstance(browse, BrowseScreen)
    tree, count = browse.query_one(Tree), 0
    for space in browse.engine.window(ListSpaces(organization_id="tallowick"), 0, 100).items:
        browse.go_to(Place.page(space.id, None))
        await until(pilot, holds=lambda space=space: browse.library.pages(space.id) is not None)
        for page in [item for item in browse.library.pages(space.id).pages if item.type == "document"][:PAGES]:
            browse.session.go_to(f"page {space.id} {page.id}")
            key = tree.key
            await until(pilot, holds=lambda key=key: browse.page_pane._shown[0] == key)
            assert "cannot be shown" not in shown(pilot.app)
            count += 1
    return count


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
        merged = {request.id for request in app.engine.window(MERGED, 0, 100).items}
    assert [str(call) for call in missed if getattr(call, "change_request_id", None) not in merged] == []


def test_commands_read_synced_content_offline(shell: Shell) -> None:
    assert "Rewrite the auth guide" in shell.ok("--offline", "inbox")
    assert "Can we link this from the quickstart?" in shell.ok("--offline", "cr", "show", "api#5")
    assert "90 days" in shell.ok("--offline", "cr", "diff", "api#5")
    assert shell.ok("--offline", "space", "pages", "cli")
    result = shell.run("--offline", "sync")
    assert (result.exit_code, result.stdout) == (3, "")
    assert "--offline" in result.stderr
