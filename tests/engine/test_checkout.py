"""Checkouts with a real service: interrupted pushes and pulls, edits that cannot be sent, and random edits."""

from __future__ import annotations

import os
import random
from pathlib import Path
from typing import Any

import pytest
from tests.checkout_folder import Interrupted, Interruption, check_out, contents, edit, end, push_all
from tests.generated_docs.repositories import png
from tests.running_service import RunningService
from tests.service_users import somebody

from presscheck.api.change_requests import CreateChangeRequest
from presscheck.api.content import GetChangeRequestRevision, GetCurrentRevision, GetRevision
from presscheck.engine.checkout.content import SUMMARY, SpaceFiles
from presscheck.engine.checkout.folder import folder_changes
from presscheck.engine.checkout.pull import pull
from presscheck.engine.checkout.state import Checkout
from presscheck.engine.engine import Engine
from presscheck.engine.shared_calls import page_in
from presscheck.errors import ChecksFailed

pytestmark = pytest.mark.service(sample=True, shared=True)


async def test_checkout_does_not_store_pages_in_the_cache(engine: Engine, tmp_path: Path) -> None:
    folder = await check_out(engine, tmp_path / "guides")
    state = Checkout.find(folder).state
    pages = [page_in(state.space, state.revision, item.id) for item in state.items.values() if item.kind == "page"]
    assert pages and not any(engine.known(call) for call in pages)


@pytest.mark.parametrize("number", [1, 2, 3, 4])
async def test_push_that_ends_at_any_step_is_completed(engine: Engine, tmp_path: Path, number: int) -> None:
    folder = await check_out(engine, tmp_path / "guides")
    (folder / ".gitbook/assets").mkdir(parents=True)
    (folder / ".gitbook/assets/quay.png").write_bytes(png(20, 10))
    (folder / "new.md").write_text("# New\n\n![](.gitbook/assets/quay.png)\n")
    edit(folder / SUMMARY, "* [Quickstart]", "* [New](new.md)\n* [Quickstart]")
    edit(folder / "quickstart.md", "# Quickstart", "# Begin")
    with pytest.raises(Interrupted):
        await push_all(Interruption(engine, number, end), folder)
    await pull(engine, Checkout.find(folder))
    pushed = await push_all(engine, folder)
    assert pushed.request and not folder_changes(Checkout.find(folder))
    other = await check_out(engine, tmp_path / "other", pushed.request.number)
    assert contents(other) == contents(folder)
    assert (other / ".gitbook/assets/quay.png").read_bytes() == png(20, 10)
    assert "# Begin\n" in (other / "quickstart.md").read_text()
    assert "* [New](new.md)\n* [Begin](quickstart.md)" in (other / SUMMARY).read_text()


async def test_push_does_not_adopt_a_change_request_of_another_user(
    engine: Engine, service: RunningService, tmp_path: Path
) -> None:
    folder = await check_out(engine, tmp_path / "folder")
    edit(folder / "going-live.md", "#", "# Now:")
    checkout = Checkout.find(folder)
    checkout.state.creating = "Edits"
    checkout.save()
    async with somebody(service, "mia") as (mia,):
        theirs = await mia.send(CreateChangeRequest(space_id="guides", subject="Edits"))
    pushed = await push_all(engine, folder)
    assert pushed.request
    assert pushed.request.number != theirs.number


async def test_pull_that_ends_at_a_download_is_completed(engine: Engine, tmp_path: Path) -> None:
    folder = await check_out(engine, tmp_path / "guides")
    (folder / ".gitbook/assets").mkdir(parents=True)
    for number in range(3):
        (folder / f".gitbook/assets/{number}.png").write_bytes(png(20, 10 + number))
    pushed = await push_all(engine, folder)
    assert pushed.request and pushed.files == 3
    theirs = await check_out(engine, tmp_path / "theirs", pushed.request.number)
    (folder / ".gitbook/assets/3.png").write_bytes(png(50, 10))
    edit(folder / "going-live.md", "# Going live", "# Live")
    await push_all(engine, folder)
    with pytest.raises(Interrupted):
        await pull(Interruption(engine, 1, end), Checkout.find(theirs))  # type: ignore[arg-type]
    await pull(engine, Checkout.find(theirs))
    assert contents(theirs) == contents(folder)


async def test_keys_of_front_matter_without_a_field_are_named_and_stay_in_the_folder(
    engine: Engine, tmp_path: Path
) -> None:
    folder = await check_out(engine, tmp_path / "guides")
    page = folder / "going-live.md"
    page.write_text(f"---\ndescription: Soon\nauthor: Kim\ntags: [a, b]\n---\n\n{page.read_text()}")
    pushed = await push_all(engine, folder)
    assert pushed.request
    assert pushed.notes == [
        "going-live.md: a page has no field for `author` and `tags`; only this folder keeps this part of front matter"
    ]
    assert not folder_changes(Checkout.find(folder))
    other = await check_out(engine, tmp_path / "other", pushed.request.number)
    edit(other / "going-live.md", "# Going live\n", "# Going live\n\nTheirs.\n")
    await push_all(engine, other)
    assert (await pull(engine, Checkout.find(folder))).merged == ["going-live.md"]
    assert "author: Kim\ntags: [a, b]\n" in page.read_text()
    assert "Theirs." in page.read_text()


async def test_front_matter_that_is_not_yaml_is_not_sent(engine: Engine, tmp_path: Path) -> None:
    folder = await check_out(engine, tmp_path / "guides")
    page = folder / "going-live.md"
    page.write_text(f"---\ndescription: Soon: live\n---\n\n{page.read_text()}")
    with pytest.raises(ChecksFailed, match=r"going-live\.md:2: the front matter is not YAML"):
        await push_all(engine, folder)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(int(os.environ.get("PRESSCHECK_CASES", "1"))))
async def test_random_edits_arrive_and_other_files_stay_unchanged(engine: Engine, tmp_path: Path, seed: int) -> None:
    chance = random.Random(seed)
    folder = await check_out(engine, tmp_path / "guides")
    before = contents(folder)
    touched = {SUMMARY}
    for number in range(20):
        touched |= random_edit(chance, folder, number)
    await push_all(engine, folder)
    other = await require_same_content(engine, folder, tmp_path / "other")
    for path in {*before} - touched:
        assert (other / path).read_bytes() == before[path], path


async def require_same_content(engine: Engine, folder: Path, other: Path) -> Path:
    """Check that a new checkout of the folder's change request has the same content. Returns the new folder."""
    checkout = Checkout.find(folder)
    await check_out(engine, other, checkout.state.number)
    paths = {item.id: path for path, item in Checkout.find(other).state.items.items()}
    for path, item in checkout.state.items.items():
        mine, theirs = (
            (folder / path).read_text("utf-8", "replace"),
            (other / paths[item.id]).read_text("utf-8", "replace"),
        )
        assert words(theirs) == words(mine), path
    assert len(checkout.state.items) == len({*paths} - {*checkout.state.removed})
    assert words((other / SUMMARY).read_text()) == words((folder / SUMMARY).read_text())
    return other


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(int(os.environ.get("PRESSCHECK_CASES", "1"))))
async def test_second_change_request_has_the_random_edits_of_the_first_one_too(
    engine: Engine, tmp_path: Path, seed: int
) -> None:
    chance = random.Random(seed)
    folder = await check_out(engine, tmp_path / "guides")
    for number in range(20):
        if number % 10 == 0 and number:
            first = (await push_all(engine, folder)).request
        random_edit(chance, folder, number)
    files = contents(folder)
    second = await push_all(engine, folder, is_new=True)
    assert first and second.request and second.request.number > first.number and second.notes == []
    del files[SUMMARY]
    assert contents(folder).items() >= files.items()
    assert not folder_changes(Checkout.find(folder))
    await require_same_content(engine, folder, tmp_path / "other")


def words(text: str) -> list[str]:
    """Split a page into words, without the targets of links, because they depend on file names."""
    return [word for word in text.replace("](", " ](").split() if not word.startswith("](")]


def random_edit(chance: random.Random, folder: Path, number: int) -> set[str]:
    """Edit, add, move or delete a random page, or add a picture. Returns the changed paths."""
    summary = folder / SUMMARY
    lines = summary.read_text().splitlines()
    entries = [at for at, line in enumerate(lines) if line.startswith("* [")]
    line = chance.choice(entries)
    path = lines[line].partition("](")[2].removesuffix(")")
    kind = chance.choice(["text", "text", "add", "move", "delete", "picture"])
    if kind == "text":
        (folder / path).write_text((folder / path).read_text() + f"\nSentence {number} with [a link]({number}.md).\n")
    elif kind == "add":
        path = f"added/{number}.md"
        (folder / "added").mkdir(exist_ok=True)
        (folder / path).write_text(f"---\ndescription: About {number}\n---\n\n# Added {number}\n\nText\n")
        lines.insert(line, f"* [Added {number}]({path})")
    elif kind == "move":
        entry = lines.pop(line)
        lines.insert(chance.choice([at for at, text in enumerate(lines) if text.startswith("* [")]), entry)
    elif kind == "delete" and len(entries) > 6:
        (folder / path).unlink()
        del lines[line]
    else:
        picture = folder / f".gitbook/assets/{number}.png"
        picture.parent.mkdir(parents=True, exist_ok=True)
        picture.write_bytes(png(10 + number, 10))
        (folder / path).write_text((folder / path).read_text() + f"\n![](/.gitbook/assets/{number}.png)\n")
    summary.write_text("\n".join(lines) + "\n")
    return {path}


async def test_files_of_a_revision_have_fingerprints(engine: Engine) -> None:
    revision = await engine.read(GetCurrentRevision(space_id="guides"))
    files = SpaceFiles.of("guides", revision, {})
    keys = [*files.exported.sources]
    assert all(files.fingerprint(key) is not None for key in keys)
    assert files.fingerprint(("page", "missing")) is None
    edited = revision.model_copy(update={"pages": (revision.pages[0].model_copy(update={"title": "Other"}),)})
    key = ("page", revision.pages[0].id)
    assert SpaceFiles.of("guides", edited, {}).fingerprint(key) != files.fingerprint(key)
    assert list(files.general_files()) == [".gitbook.yaml", SUMMARY]


async def test_edit_that_cannot_be_sent_creates_no_change_request(engine: Engine, tmp_path: Path) -> None:
    folder = await check_out(engine, tmp_path / "guides")
    page = folder / "going-live.md"
    edit(page, "---\nicon", "---\nauthor: Kim\nicon")
    pushed = await push_all(engine, folder)
    assert pushed.request is None
    assert pushed.notes == [
        "going-live.md: a page has no field for `author`; only this folder keeps this part of front matter"
    ]
    state = Checkout.find(folder).state
    assert (state.request, state.creating) == (None, None)
    assert not folder_changes(Checkout.find(folder))
    edit(page, "# Going live\n", "# Live\n")
    pushed = await push_all(engine, folder)
    assert pushed.request and pushed.pages == 1


async def test_rename_of_a_push_that_ends_before_its_text_is_sent_by_the_next_one(
    engine: Engine, tmp_path: Path
) -> None:
    folder = await check_out(engine, tmp_path / "guides")
    (folder / "going-live.md").rename(folder / "live.md")
    edit(folder / SUMMARY, "going-live.md", "live.md")
    (folder / "new.md").write_text("# New\n")
    edit(folder / SUMMARY, "* [Quickstart]", "* [New](new.md)\n* [Quickstart]")
    with pytest.raises(Interrupted):
        await push_all(Interruption(engine, 3, end), folder)
    pushed = await push_all(engine, folder)
    assert pushed.request
    path = {"space_id": "guides", "change_request_id": pushed.request.id}
    revision = await engine.read(GetChangeRequestRevision(**path))
    assert [page.slug for page in revision.pages if page.title == "Going live"] == ["live"]


async def test_new_page_with_an_unusual_path_is_added_once_by_a_push_that_ends_early(
    engine: Engine, tmp_path: Path
) -> None:
    folder = await check_out(engine, tmp_path / "guides")
    (folder / "ship/new.md").write_text("# New\n")
    edit(folder / SUMMARY, "* [Quickstart]", "* [New](ship/new.md)\n* [Quickstart]")

    class EndAfterAddition(Interruption):
        """An engine that ends before it reads the revision with the new page."""

        async def read(self, call: Any, **options: Any) -> Any:
            if isinstance(call, GetRevision) and Checkout.find(folder).state.items.get("ship/new.md"):
                end()
            return await engine.read(call, **options)

    with pytest.raises(Interrupted):
        await push_all(EndAfterAddition(engine, 0, end), folder)
    assert not (await pull(engine, Checkout.find(folder))).conflicts
    await push_all(engine, folder)
    place = Checkout.find(folder).state
    other = await check_out(engine, tmp_path / "other", place.number)
    assert (other / SUMMARY).read_text().count("[New]") == 1
    assert not folder_changes(Checkout.find(folder))
