"""Reusable content and OpenAPI operations in pages: nested, recursive, missing, offline, and in old revisions."""

from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from tests.running_service import RunningService
from tests.tui.app_driver import app_on, down_to, pick, running, shown, until

from presscheck.engine.connection import Entry
from presscheck.service.blobs.store import DiskBlobStore
from presscheck.service.db.engine import Database
from presscheck.service.db.ids import system_clock
from presscheck.service.server.bootstrap import ensure_owner, import_docs

PAGES = {
    "SUMMARY.md": (
        "# Contents\n\n* [Home](README.md)\n* [Start](guides/start.md)\n* [Later](later.md)\n* [Calls](calls.md)\n"
    ),
    "README.md": "# Home\n\nWelcome.\n",
    "guides/start.md": (
        '# Start\n\n{% include "../.gitbook/includes/note.md" %}\n\nBetween.\n\n'
        '{% include "../.gitbook/includes/outer.md" %}\n\n{% include "../.gitbook/includes/gone.md" %}\n'
    ),
    "later.md": '# Later\n\n{% include ".gitbook/includes/late.md" %}\n',
    ".gitbook/includes/note.md": "---\ntitle: A note\n---\nMind the step. See [Later](../../later.md).\n",
    ".gitbook/includes/outer.md": (
        '---\ntitle: Outer\n---\nWords outside.\n\n{% include "note.md" %}\n\n{% include "outer.md" %}\n'
    ),
    ".gitbook/includes/late.md": "---\ntitle: Late words\n---\nRead last. ![Plan](../assets/plan.png)\n\n"
    f"{'One after another. ' * 9}Here it ends.\n\n[nowhere](nowhere.md)\n",
    "calls.md": '# Calls\n\n{% openapi src=".gitbook/assets/shop.yaml" path="/orders/{id}" method="get" %}\n',
    ".gitbook/assets/shop.yaml": (
        "openapi: 3.0.0\npaths:\n  /orders/{id}:\n    get:\n      summary: One order\n"
        "      parameters: [{name: id, in: path, required: true, schema: {$ref: '#/components/schemas/Id'}}]\n"
        "      responses: {'200': {description: The order}}\ncomponents: {schemas: {Id: {type: string}}}\n"
    ),
    ".gitbook/assets/plan.png": "no picture",
}


@pytest.fixture
def service(tmp_path: Path) -> Iterator[RunningService]:
    """Start a service that has a space with these pages."""
    repository, home = tmp_path / "book", tmp_path / "service"
    home.mkdir()
    for name, text in PAGES.items():
        (repository / name).parent.mkdir(parents=True, exist_ok=True)
        (repository / name).write_text(text)
    one = RunningService(home)
    with closing(Database(one.database_url)) as database, database.writing.begin() as session:
        owner = ensure_owner(session, system_clock, sample=False)
        session.flush()
        import_docs(session, system_clock, owner, DiskBlobStore(home), (repository,))
    one.start()
    yield one
    one.stop()


def sent_by(pilot: Any) -> list[Entry]:
    """Return the requests that the app sent to the service."""
    return [entry for entry in pilot.app.engine._activity._entries if not entry.from_cache]


async def reading(pilot: Any, title: str, status: str = "live") -> None:
    """Open the page of the space with a title."""
    await until(pilot, shows=status)
    await pilot.press("g", "o")
    await until(pilot, holds=lambda: getattr(pilot.app.screen, "item", None) is not None)
    if pilot.app.screen.item.kind == "space":
        await pilot.press("l")
    await until(pilot, shows="Later")
    await pilot.press("g", "g")
    while pilot.app.screen.item.title != title:
        await pilot.press("j")
    await until(pilot, shows=f"› {title}")


@pytest.mark.slow
async def test_pages_show_included_texts_and_operations_of_files(service: RunningService, tmp_path: Path) -> None:
    async with running(app_on(service, tmp_path)) as pilot:
        await reading(pilot, "Start")
        await until(pilot, shows="It includes itself: its text is shown once.")
        # once in the page and once in the other content; texts are drawn as they arrive
        await until(pilot, holds=lambda: shown(pilot.app).count("Mind the step.") == 2)
        page = shown(pilot.app)
        assert page.count("Words outside.") == 1
        assert page.index("A note") < page.index("Mind the step") < page.index("Between.") < page.index("Outer")
        assert "This space has no such reusable content." in page
        sent = [entry.path for entry in sent_by(pilot) if "/documents/" in entry.path]
        assert len(sent) == len(set(sent)) == 2, "each text is asked for once"
        await pilot.press("f")
        await until(pilot, shows="[a]Later")
        await pilot.press("a")
        await until(pilot, shows="› Later")
        await until(pilot, shows="Read last.")
        pilot.app.screen.tree_view.focus()
        await reading(pilot, "Calls")
        await until(pilot, shows="▾ GET /orders/{id}")
        await until(pilot, shows="id string required")
    service.stop()
    async with running(app_on(service, tmp_path)) as pilot:
        await reading(pilot, "Start", "offline")
        await until(pilot, shows="Words outside.")
        await reading(pilot, "Calls", "offline")
        await until(pilot, shows="200 The order")


@pytest.mark.slow
async def test_reusable_content_is_listed_with_its_text_and_its_pages(
    service: RunningService, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SSH_CONNECTION", "elsewhere")  # addresses are copied
    async with running(app_on(service, tmp_path)) as pilot:
        await reading(pilot, "Start")
        await pilot.press("g", "l", "3")
        await until(pilot, shows="Late words")
        await until(pilot, shows="1 page")
        await down_to(pilot, "A note")
        await pilot.press("e")
        await until(pilot, shows="the API cannot edit reusable content: o opens the space in the app")
        await pilot.press("o")
        await until(pilot, shows="copied: http")
        assert pilot.app.clipboard == pilot.app.screen.session.space.urls.app
        await pilot.press("2", ".", "f")
        await until(pilot, shows="Replace plan.png by a local file")
        pilot.app.focused.value = str(tmp_path / "book" / ".gitbook" / "assets" / "plan.png")
        await pilot.press("enter")
        await until(pilot, shows="1 place not changed")
        await until(pilot, shows="Late words   reusable content: edit it in the app")
        await pilot.press("ctrl+s")
        await until(pilot, shows="no hit is chosen")
        await pilot.press("q", "3", "enter")
        await pick(pilot, "Read")
        await until(pilot, shows="Mind the step.")
        await pilot.press("q", "g", "g")
        await down_to(pilot, "Late words")
        await pilot.resize_terminal(80, 24)
        await pilot.press("enter")
        await pick(pilot, "Read")
        await until(pilot, shows="Late words   reusable content")
        await until(pilot, shows="Here it ends.")
        await until(pilot, shows="nowhere ⚠")
        assert "…" not in shown(pilot.app), "the text is wrapped in the width of the terminal"
        await pilot.press("q", "enter")
        await pick(pilot, "Details")
        await until(pilot, shows="Pages with it: Later")
        assert "…" not in shown(pilot.app)
        await pilot.press("q", "g", "g")
        await down_to(pilot, "A note")
        await pilot.press("enter")
        await pick(pilot, "Where used")
        await pick(pilot, "Start")
        await until(pilot, shows="› Start")
        await until(pilot, shows="Between.")


async def test_an_old_page_shows_the_reusable_content_of_its_revision(service: RunningService, tmp_path: Path) -> None:
    async with running(app_on(service, tmp_path), (100, 50)) as pilot:
        await reading(pilot, "Start")
        await pilot.press("g", "h")
        await until(pilot, shows="+ Start")
        await down_to(pilot, "+ Start")
        await pilot.press("enter")
        await until(pilot, shows="as it was")
        await until(pilot, holds=lambda: shown(pilot.app).count("Mind the step.") == 2)
        await until(pilot, shows="Words outside.")
        await until(pilot, shows="The space had no such reusable content then.")
