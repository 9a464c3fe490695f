"""Edits by other users during a push, after a killed push and during an open conflict are not lost."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from tests.checkout_folder import Interrupted, Interruption, check_out, edit, end, push_all
from tests.running_service import RunningService

from presscheck.api.comments import Document
from presscheck.api.content_changes import DeletePage, EditChangeRequestContent, UpdatePage
from presscheck.client.client import Client
from presscheck.engine.checkout.content import SUMMARY
from presscheck.engine.checkout.folder import folder_changes
from presscheck.engine.checkout.pull import pull
from presscheck.engine.checkout.state import Checkout
from presscheck.engine.engine import Engine
from presscheck.errors import ChangedSince, ChecksFailed

pytestmark = pytest.mark.service(sample=True, shared=True)

NEW = "# New\n\nFirst line.\n\nMiddle.\n\nLast line.\n"


async def send(service: RunningService, folder: Path, *changes: Any) -> None:
    """Edit the change request that a folder follows with another client."""
    state = Checkout.find(folder).state
    async with Client(service.base_url, service.token) as other:
        path = {"space_id": state.space, "change_request_id": state.request or ""}
        await other.send(EditChangeRequestContent(**path, changes=changes))


def text_of(folder: Path, path: str, text: str) -> UpdatePage:
    return UpdatePage(page=Checkout.find(folder).state.items[path].id, document=Document(markdown=text))


def sender(service: RunningService, folder: Path, change: UpdatePage) -> Callable[[], None]:
    """Return a function that sends an edit with `send` and waits until it has arrived."""

    def edit_meanwhile() -> None:
        thread = threading.Thread(target=lambda: asyncio.run(send(service, folder, change)))
        thread.start()
        thread.join()

    return edit_meanwhile


async def followed(engine: Engine, folder: Path) -> Path:
    """Check out, and make the folder follow a new change request."""
    await check_out(engine, folder)
    edit(folder / "ship/insurance.md", "# Insurance", "# Insured")
    await push_all(engine, folder)
    return folder


async def served(engine: Engine, folder: Path, path: str) -> str:
    """Return the text of a page in the change request that a folder follows."""
    state = Checkout.find(folder).state
    other = await check_out(engine, folder.with_name(f"other {folder.name}"), state.number)
    paths = {item.id: path for path, item in Checkout.find(other).state.items.items()}
    return (other / paths[state.items[path].id]).read_text()


def add_page(folder: Path, path: str = "new.md") -> None:
    (folder / path).write_text(NEW)
    edit(folder / SUMMARY, "* [Quickstart]", f"* [New]({path})\n* [Quickstart]")


async def page_without_final_text(engine: Engine, folder: Path) -> Path:
    """Push a new page from a folder; the push is interrupted before it sends the final text."""
    await followed(engine, folder)
    add_page(folder)
    edit(folder / "quickstart.md", "# Quickstart", "# Begin")
    with pytest.raises(Interrupted):
        await push_all(Interruption(engine, 2, end), folder)
    state = Checkout.find(folder).state
    assert state.items["new.md"].oid == ""
    return folder


async def test_page_of_a_killed_push_is_merged_with_edits_of_others(
    engine: Engine, service: RunningService, tmp_path: Path
) -> None:
    folder = await page_without_final_text(engine, tmp_path / "guides")
    edit(folder / "new.md", "First line.", "My first line.")
    await send(service, folder, text_of(folder, "new.md", NEW.replace("Last line", "Their last line")))
    assert (await pull(engine, Checkout.find(folder))).merged == ["new.md"]
    await push_all(engine, folder)
    text = await served(engine, folder, "new.md")
    assert "My first line." in text and "Their last line" in text


async def test_page_of_a_killed_push_has_a_conflict_where_others_edited_the_same_line(
    engine: Engine, service: RunningService, tmp_path: Path
) -> None:
    folder = await page_without_final_text(engine, tmp_path / "guides")
    edit(folder / "new.md", "Middle.", "My middle.")
    await send(service, folder, text_of(folder, "new.md", NEW.replace("Middle.", "Their middle.")))
    assert (await pull(engine, Checkout.find(folder))).conflicts == ["new.md"]
    with pytest.raises(ChecksFailed, match="conflicts"):
        await push_all(engine, folder)
    text = (folder / "new.md").read_text()
    assert "My middle." in text and "Their middle." in text


async def test_page_of_a_killed_push_without_edits_of_others_stays_unchanged(
    engine: Engine, service: RunningService, tmp_path: Path
) -> None:
    folder = await page_without_final_text(engine, tmp_path / "guides")
    edit(folder / "new.md", "Middle.", "My middle.")
    mine = (folder / "new.md").read_text()
    await send(service, folder, text_of(folder, "ship/customs.md", "# Customs\n\nTheirs.\n"))
    pulled = await pull(engine, Checkout.find(folder))
    assert (pulled.written, pulled.merged, pulled.conflicts) == (["ship/customs.md"], [], [])
    assert (folder / "new.md").read_text() == mine
    await push_all(engine, folder)
    assert "My middle." in await served(engine, folder, "new.md")


async def test_page_of_a_killed_push_that_others_deleted_stays_in_the_folder(
    engine: Engine, service: RunningService, tmp_path: Path
) -> None:
    folder = await page_without_final_text(engine, tmp_path / "guides")
    await send(service, folder, DeletePage(page=Checkout.find(folder).state.items["new.md"].id))
    assert (await pull(engine, Checkout.find(folder))).kept == ["new.md"]
    assert (folder / "new.md").read_text() == NEW


async def test_page_with_details_that_cannot_be_sent_stays_if_others_delete_it(
    engine: Engine, service: RunningService, tmp_path: Path
) -> None:
    folder = await followed(engine, tmp_path / "guides")
    edit(folder / "going-live.md", "---\nicon", "---\nauthor: Kim\nicon")
    await push_all(engine, folder)
    await send(service, folder, DeletePage(page=Checkout.find(folder).state.items["going-live.md"].id))
    assert (await pull(engine, Checkout.find(folder))).kept == ["going-live.md"]
    assert "author: Kim\n" in (folder / "going-live.md").read_text()


async def test_edit_of_others_of_a_page_that_is_being_sent_is_kept(
    engine: Engine, service: RunningService, tmp_path: Path
) -> None:
    folder = await followed(engine, tmp_path / "guides")
    theirs = (folder / "quickstart.md").read_text() + "\nTheirs at the end.\n"
    meanwhile = sender(service, folder, text_of(folder, "quickstart.md", theirs))
    edit(folder / "quickstart.md", "# Quickstart", "# Mine")
    edit(folder / "ship/customs.md", "# Customs", "# Borders")
    with pytest.raises(ChangedSince, match="Quickstart"):
        await push_all(Interruption(engine, 1, meanwhile), folder)
    assert (await pull(engine, Checkout.find(folder))).merged == ["quickstart.md"]
    merged = (folder / "quickstart.md").read_text()
    assert "# Mine\n" in merged and "Theirs at the end." in merged
    await push_all(engine, folder)
    assert await served(engine, folder, "quickstart.md") == merged
    assert "# Borders\n" in (tmp_path / "other guides/ship/customs.md").read_text()


async def test_edit_of_others_of_a_page_that_is_not_being_sent_is_pulled_before_the_next_push(
    engine: Engine, service: RunningService, tmp_path: Path
) -> None:
    folder = await followed(engine, tmp_path / "guides")
    theirs = (folder / "ship/customs.md").read_text() + "\nTheirs at the end.\n"
    meanwhile = sender(service, folder, text_of(folder, "ship/customs.md", theirs))
    edit(folder / "quickstart.md", "# Quickstart", "# Mine")
    with pytest.raises(ChangedSince, match="pull, and push again"):
        await push_all(Interruption(engine, 1, meanwhile), folder)
    edit(folder / "ship/customs.md", "# Customs", "# Borders")
    assert (await pull(engine, Checkout.find(folder))).merged == ["ship/customs.md"]
    await push_all(engine, folder)
    text = await served(engine, folder, "ship/customs.md")
    assert "# Borders\n" in text and "Theirs at the end." in text
    assert "# Mine\n" in (tmp_path / "other guides/quickstart.md").read_text()


@pytest.mark.parametrize("number", [1, 2])
async def test_edit_of_others_at_any_step_of_a_push_with_a_new_page_is_kept(
    engine: Engine, service: RunningService, tmp_path: Path, number: int
) -> None:
    folder = await followed(engine, tmp_path / "guides")
    theirs = (folder / "quickstart.md").read_text() + "\nTheirs at the end.\n"
    meanwhile = sender(service, folder, text_of(folder, "quickstart.md", theirs))
    add_page(folder, "ship/odd.md")
    edit(folder / "quickstart.md", "# Quickstart", "# Mine")
    with pytest.raises(ChangedSince, match="pull, and push again"):
        await push_all(Interruption(engine, number, meanwhile), folder)
    pulled = await pull(engine, Checkout.find(folder))
    assert not pulled.conflicts
    await push_all(engine, folder)
    text = await served(engine, folder, "quickstart.md")
    assert "# Mine\n" in text and "Theirs at the end." in text
    assert (tmp_path / "other guides" / SUMMARY).read_text().count("[New]") == 1
    assert not folder_changes(Checkout.find(folder))


async def test_second_edit_of_others_is_not_lost_while_a_conflict_is_open(
    engine: Engine, service: RunningService, tmp_path: Path
) -> None:
    folder = await followed(engine, tmp_path / "guides")
    text = (folder / "quickstart.md").read_text() + "\nMiddle.\n"
    await send(service, folder, text_of(folder, "quickstart.md", text.replace("# Quickstart", "# Theirs")))
    edit(folder / "quickstart.md", "# Quickstart", "# Mine")
    assert (await pull(engine, Checkout.find(folder))).conflicts == ["quickstart.md"]
    with_conflict = (folder / "quickstart.md").read_text()
    second = text.replace("# Quickstart", "# Theirs").replace("Middle.", "Theirs at the end.")
    await send(service, folder, text_of(folder, "quickstart.md", second))
    with pytest.raises(ChecksFailed, match=r"quickstart\.md"):
        await pull(engine, Checkout.find(folder))
    assert (folder / "quickstart.md").read_text() == with_conflict
    (folder / "quickstart.md").write_text(text.replace("# Quickstart", "# Both"))
    with pytest.raises(ChangedSince, match="pull first"):
        await push_all(engine, folder)
    assert (await pull(engine, Checkout.find(folder))).merged == ["quickstart.md"]
    await push_all(engine, folder)
    text = await served(engine, folder, "quickstart.md")
    assert "# Both\n" in text and "Theirs at the end." in text
