"""Pushing a folder that follows a change request to a new one: all edits are sent, and main keeps its content."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from tests.checkout_folder import Interrupted, Interruption, check_out, contents, edit, end, push_all
from tests.generated_docs.repositories import png

from presscheck.api.change_requests import (
    ChangeRequest,
    ListChangeRequests,
    MergeChangeRequest,
    PullChangeRequest,
)
from presscheck.api.content import GetChangeRequestRevision, RevisionPage
from presscheck.api.operation import ALL
from presscheck.documents.pages.tree import flatten
from presscheck.engine.checkout.content import SUMMARY
from presscheck.engine.checkout.folder import folder_changes
from presscheck.engine.checkout.pull import pull
from presscheck.engine.checkout.state import Checkout
from presscheck.engine.engine import Engine
from presscheck.errors import ChangedSince

pytestmark = pytest.mark.service(sample=True)


async def followed(engine: Engine, folder: Path) -> ChangeRequest:
    """Check out, edit in many ways, and push. Return the change request that the folder follows."""
    await check_out(engine, folder)
    edit(folder / "going-live.md", "# Going live\n", "# Live\n\nFirst.\n")
    (folder / ".gitbook/assets").mkdir(parents=True)
    (folder / ".gitbook/assets/quay.png").write_bytes(png(20, 10))
    (folder / "new.md").write_text("# New\n\n![](.gitbook/assets/quay.png), [returns](ship/returns.md)\n")
    edit(folder / SUMMARY, "* [Quickstart]", "* [New](new.md)\n* [Quickstart]")
    (folder / "ship/pickup.md").rename(folder / "ship/collection.md")
    edit(folder / SUMMARY, "ship/pickup.md", "ship/collection.md")
    (folder / "ship/customs.md").unlink()
    edit(folder / SUMMARY, "* [Customs](ship/customs.md)\n", "")
    pushed = await push_all(engine, folder)
    assert pushed.request and not pushed.notes
    return pushed.request


def in_new_checkout(files: dict[str, bytes]) -> dict[str, bytes]:
    """Return the files of a folder as a new checkout names them: imported pages have their former paths."""
    old, new = "ship/collection.md", "ship/pickup.md"
    return {path.replace(old, new): text.replace(old.encode(), new.encode()) for path, text in files.items()}


async def pages_of(engine: Engine, number: int) -> dict[str, RevisionPage]:
    call = GetChangeRequestRevision(space_id="guides", change_request_id=str(number))
    return {page.id: page for page in flatten((await engine.read(call)).pages)}


async def requests(engine: Engine) -> list[int]:
    call = ListChangeRequests(space_id="guides", status="draft", limit=ALL)
    return [request.number for request in (await engine.read(call)).items]


@pytest.mark.parametrize("second", ["going-live.md", "quickstart.md", "ship/collection.md", "new.md"])
async def test_new_change_request_has_the_edits_of_the_followed_one(
    engine: Engine, tmp_path: Path, second: str
) -> None:
    folder = tmp_path / "guides"
    first = await followed(engine, folder)
    theirs = await check_out(engine, tmp_path / "first", first.number)
    (folder / second).write_text((folder / second).read_text() + "\nSecond.\n")
    files = contents(folder)
    pushed = await push_all(engine, folder, is_new=True)
    assert pushed.request and pushed.request.number > first.number
    assert pushed.notes == []
    assert contents(folder) == files
    assert Checkout.find(folder).state.number == pushed.request.number
    assert not folder_changes(Checkout.find(folder))
    other = await check_out(engine, tmp_path / "other", pushed.request.number)
    assert contents(other) == in_new_checkout(files)
    one, two = [await pages_of(engine, number) for number in (first.number, pushed.request.number)]
    assert len({*one} - {*two}) == 1, "only the new page has another id"
    assert [page.slug for page in two.values() if page.id in one] == [
        page.slug for page in one.values() if page.id in two
    ]
    before = contents(theirs)
    await pull(engine, Checkout.find(theirs))
    assert contents(theirs) == before, "the first change request stays as it is"


@pytest.mark.parametrize("number", [1, 2, 3])
async def test_push_that_ends_early_goes_on_in_the_new_change_request(
    engine: Engine, tmp_path: Path, number: int
) -> None:
    folder = tmp_path / "guides"
    first = await followed(engine, folder)
    edit(folder / "quickstart.md", "# Quickstart", "# Begin")
    files = contents(folder)
    with pytest.raises(Interrupted):
        await push_all(Interruption(engine, number, end), folder, is_new=True)
    pushed = await push_all(engine, folder)
    assert pushed.request and pushed.request.number == first.number + 1
    other = await check_out(engine, tmp_path / "other", pushed.request.number)
    del files[SUMMARY]  # its titles have changed
    assert contents(other).items() >= in_new_checkout(files).items()


async def test_newer_content_of_main_is_required_before_a_change_request_is_created(
    engine: Engine, tmp_path: Path
) -> None:
    folder, other = tmp_path / "guides", tmp_path / "other"
    first = await followed(engine, folder)
    await check_out(engine, other)
    edit(other / "ship/insurance.md", "# Insurance", "# Insured")
    merged = (await push_all(engine, other)).request
    assert merged
    await engine.write(MergeChangeRequest(space_id="guides", change_request_id=merged.id)).landed()
    edit(folder / "quickstart.md", "# Quickstart", "# Begin")
    before, state = await requests(engine), Checkout.find(folder).state
    with pytest.raises(ChangedSince) as refused:
        await push_all(engine, folder, is_new=True)
    assert refused.value.message == (
        f"main has newer content than #{first.number}: run presscheck cr update guides#{first.number}, pull, and push"
        " again"
    )
    assert (await requests(engine), Checkout.find(folder).state) == (before, state)
    await engine.write(PullChangeRequest(space_id="guides", change_request_id=first.id)).landed()
    await pull(engine, Checkout.find(folder))
    pushed = await push_all(engine, folder, is_new=True)
    assert pushed.request and pushed.request.number > merged.number
    last: dict[str, Any] = contents(await check_out(engine, tmp_path / "last", pushed.request.number))
    assert last == in_new_checkout(contents(folder))
    assert b"# Insured" in last["ship/insurance.md"] and b"# Begin" in last["quickstart.md"]
