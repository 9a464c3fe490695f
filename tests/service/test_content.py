"""Pages, files and revisions over a socket."""

import base64
import os
import re
import stat
from datetime import UTC, datetime
from pathlib import Path

import httpx
import pytest
from tests.running_service import LOOPBACK, running_service
from tests.service.factories import World, insert, plant_world, rewrite
from tests.web_server import web_server

from presscheck import errors
from presscheck.api import content
from presscheck.api.change_requests import ChangeRequest, GetChangeRequest, UpdateChangeRequest
from presscheck.api.comments import Document
from presscheck.api.content import RevisionPage
from presscheck.api.content_changes import (
    DeletePage,
    EditChangeRequestContent,
    InsertFiles,
    NewFile,
    RevertPage,
    UpdatePage,
)
from presscheck.documents.pages.file_urls import unsigned_url
from presscheck.service.app import build
from presscheck.service.blobs.staged_files import StagedFiles
from presscheck.service.blobs.store import DiskBlobStore
from presscheck.service.content.file_urls import file_address
from presscheck.service.db.engine import Database
from presscheck.service.db.signing import make_key
from presscheck.service.http.operations import Context
from presscheck.service.models.organizations import UserRow


def outline(pages: tuple[RevisionPage, ...]) -> list[object]:
    return [(page.path, outline(page.pages)) if page.pages else page.path for page in pages]


async def pages_of(world: World, change_request: ChangeRequest) -> tuple[RevisionPage, ...]:
    call = content.ListChangeRequestPages(space_id=world.space, change_request_id=change_request.id)
    return (await world.admin.send(call)).pages


async def page_of(world: World, change_request: ChangeRequest, page: str) -> RevisionPage:
    return await world.admin.send(
        content.GetChangeRequestPage(
            space_id=world.space, change_request_id=change_request.id, page_id=page, format="markdown"
        )
    )


async def test_an_edit_adds_one_revision_and_keeps_older_ones(world: World) -> None:
    draft = await world.draft()
    before = content.GetRevision(space_id=world.space, revision_id=draft.revision)
    raw = await world.admin.fetch(before)
    edited = await world.edit(draft, insert("New"), rewrite("guide", "Other."), DeletePage(page="reference"))
    assert [change.object for change in edited.changes] == ["created_page", "updated_page", "deleted_page"]
    revision = await world.admin.send(
        content.GetChangeRequestRevision(space_id=world.space, change_request_id=draft.id)
    )
    assert (revision.id, revision.parents) == (edited.change_request.revision, (draft.revision,))
    assert outline(revision.pages) == ["start", "guide", "new"]
    assert await world.admin.fetch(before) == raw
    live = await world.admin.send(content.GetCurrentRevision(space_id=world.space))
    assert outline(live.pages) == ["start", "guide", "reference"]
    old = content.GetRevisionPage(space_id=world.space, revision_id=draft.revision, page_id="guide", format="markdown")
    assert (await world.admin.send(old)).markdown == "# Guide\n\nFirst.\n\nSecond.\n\nThird.\n"
    by_path = content.GetChangeRequestPageByPath(
        space_id=world.space, change_request_id=draft.id, page_path="guide", format="markdown"
    )
    assert (await world.admin.send(by_path)).markdown == "# Guide\n\nOther.\n"


async def test_edits_are_all_or_nothing(world: World) -> None:
    draft = await world.draft()
    with pytest.raises(errors.Refused, match="nowhere"):
        await world.edit(draft, insert("New"), rewrite("nowhere", "Text."))
    path = {"space_id": world.space, "change_request_id": draft.id}
    assert (await world.admin.send(GetChangeRequest(**path))).revision == draft.revision
    assert outline(await pages_of(world, draft)) == ["start", "guide", "reference"]


async def test_pages_are_inserted_below_existing_and_new_pages(world: World) -> None:
    draft = await world.draft()
    edited = await world.edit(
        draft,
        insert("Top", at=0, ref="top"),
        insert("Below", into="top", description="d", icon="bolt", hidden=True),
        insert("Below", into="top"),
        insert("Deeper", into="guide", slug="own-slug"),
    )
    assert [change.ref for change in edited.changes] == ["top", None, None, None]
    assert outline(await pages_of(world, draft)) == [
        ("top", ["top/below", "top/below-1"]),
        "start",
        ("guide", ["guide/own-slug"]),
        "reference",
    ]
    below = (await pages_of(world, draft))[0].pages[0]
    assert (below.description, below.icon, below.hidden) == ("d", "bolt", True)


async def test_the_heading_is_the_title_and_front_matter_overrides_fields(world: World) -> None:
    draft = await world.draft()
    text = "---\ndescription: from the text\nhidden: true\n---\n\n# A new title\n\nText.\n"
    await world.edit(draft, rewrite("guide", text, description="from the call", emoji="1f600"))
    page = await page_of(world, draft, "guide")
    assert (page.title, page.description, page.hidden, page.emoji) == ("A new title", "from the text", True, "1f600")
    assert page.markdown == "# A new title\n\nText.\n"
    assert page.slug == "guide"
    await world.edit(draft, UpdatePage(page="guide", emoji="", title="Third"))
    page = await page_of(world, draft, "guide")
    assert (page.title, page.emoji, page.markdown) == ("Third", None, "# Third\n\nText.\n")


async def test_pages_move(world: World) -> None:
    draft = await world.draft()
    await world.edit(draft, UpdatePage(page="reference", into="start"), UpdatePage(page="guide", at=0))
    assert outline(await pages_of(world, draft)) == ["guide", ("start", ["start/reference"])]
    for into in ("reference", "start"):
        with pytest.raises(errors.Refused, match="moved into itself"):
            await world.edit(draft, UpdatePage(page="start", into=into))
    await world.edit(draft, UpdatePage(page="reference", into=None, at=1))
    assert outline(await pages_of(world, draft)) == ["guide", "reference", "start"]


async def test_deleting_a_page_deletes_subpages_and_reverting_restores_them(world: World) -> None:
    draft = await world.draft()
    await world.edit(draft, UpdatePage(page="reference", into="start"))
    moved = (await world.admin.send(GetChangeRequest(space_id=world.space, change_request_id=draft.id))).revision
    await world.edit(draft, DeletePage(page="start"), rewrite("guide", "Other."))
    assert outline(await pages_of(world, draft)) == ["guide"]
    await world.edit(draft, RevertPage(page="start", revision=moved), RevertPage(page="guide"))
    assert outline(await pages_of(world, draft)) == [("start", ["start/reference"]), "guide"]
    assert (await page_of(world, draft, "guide")).markdown == "# Guide\n\nFirst.\n\nSecond.\n\nThird.\n"
    await world.edit(draft, insert("New", ref="n"), RevertPage(page="n"))
    assert outline(await pages_of(world, draft)) == [("start", ["start/reference"]), "guide"]


async def test_without_compat_false_only_the_change_request_is_returned(world: World) -> None:
    draft = await world.draft()
    call = EditChangeRequestContent(space_id=world.space, change_request_id=draft.id, changes=(insert("New"),))
    answer = await world.admin.send(call)
    assert (answer.change_request.id, answer.changes) == (draft.id, ())


async def test_invalid_edits_are_refused(world: World) -> None:
    draft = await world.draft()
    wrong = (
        (insert("New", into="none"), "none"),
        (insert("New", slug="a/b"), "slug"),
        (rewrite("guide", "---\n: [\n---\n"), "front matter"),
        (
            UpdatePage(page="guide", document=Document(document={"object": "document"})),
            r"document\.nodes: is not a list",
        ),
        (RevertPage(page="guide", block=("b",)), "block"),
        (RevertPage(page="guide", revision="none"), "revision"),
        (RevertPage(page="none"), "none"),
        (InsertFiles(files=(NewFile(name="a", base64="%"),)), "base64"),
        (InsertFiles(files=(NewFile(name="a", url="http://169.254.169.254/"),)), "private network"),
        (InsertFiles(files=(NewFile(name="a", url="file:///etc/passwd"),)), "not an http or https URL"),
        (InsertFiles(files=(NewFile(name="a"),)), "needs either url or base64"),
    )
    for change, words in wrong:
        with pytest.raises(errors.Refused, match=words):
            await world.edit(draft, change)
    with pytest.raises(errors.Forbidden, match="edit"):
        await world.edit(draft, insert("New"), by="review")
    path = {"space_id": world.space, "change_request_id": draft.id}
    await world.admin.send(UpdateChangeRequest(**path, status="archived"))
    with pytest.raises(errors.Conflict, match="archived"):
        await world.edit(draft, insert("New"))


async def test_files_are_uploaded_and_downloaded(world: World) -> None:
    draft = await world.draft()
    picture = b"\x89PNG\r\n\x1a\n" + bytes(100)
    file = NewFile(name="../a b.png", base64=base64.b64encode(picture).decode(), content_type="image/png")
    answer = await world.edit(draft, InsertFiles(files=(file, file)))
    assert answer.inserted_files and len(answer.inserted_files) == 2
    made = answer.inserted_files[0]
    assert (made.name, made.size, made.content_type) == ("../a b.png", len(picture), "image/png")
    async with httpx.AsyncClient() as http:
        fetched = await http.get(made.download_url)
        missing = await http.get(f"{world.base_url}/files/{'0' * 64}/x")
        unsigned = await http.get(made.download_url.partition("?")[0])
        forged = await http.get(made.download_url[:-4] + "0000")
        longer = await http.get(re.sub(r"expires=\d", "expires=9", made.download_url))
        outside = await http.get(f"{world.base_url}/files/..%2fservice.sqlite/x")
    assert (fetched.content, fetched.headers["x-content-type-options"]) == (picture, "nosniff")
    assert (missing.status_code, outside.status_code) == (404, 404)
    assert [answer.status_code for answer in (unsigned, forged, longer)] == [404, 404, 404]
    path = {"space_id": world.space, "change_request_id": draft.id}
    listing = content.ListChangeRequestFiles(**path, limit=1)
    assert [one.id async for one in world.admin.every(listing)] == [file.id for file in answer.inserted_files]
    assert await world.admin.send(content.GetChangeRequestFile(**path, file_id=made.id)) == made
    assert (await world.admin.send(content.ListFiles(space_id=world.space))).items == ()
    of_revision = content.ListRevisionFiles(space_id=world.space, revision_id=answer.change_request.revision)
    assert (await world.admin.send(of_revision)).count == 2
    for call in (
        content.GetFile(space_id=world.space, file_id=made.id),
        content.GetReusableContent(space_id=world.space, reusable_content_id="none"),
        content.GetChangeRequestReusableContent(**path, reusable_content_id="none"),
    ):
        with pytest.raises(errors.NotFound):
            await world.admin.send(call)


def test_stored_file_and_its_folder_are_synced_to_disk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    synced: list[tuple[bool, int]] = []

    def note(descriptor: int) -> None:
        status = os.fstat(descriptor)
        synced.append((stat.S_ISDIR(status.st_mode), status.st_ino))

    monkeypatch.setattr(os, "fsync", note)
    files = DiskBlobStore(tmp_path)
    path = files.path(files.put(b"lamp"))
    assert path is not None
    assert synced == [(False, path.stat().st_ino), (True, path.parent.stat().st_ino)]


async def test_the_url_of_a_file_expires(tmp_path: Path) -> None:
    moment = [datetime(2026, 5, 20, 9, 59, tzinfo=UTC)]
    database = Database(f"sqlite:///{tmp_path / 'service.sqlite'}")
    with database.writing.begin() as session:
        make_key(session)
    files = DiskBlobStore(tmp_path)
    content = files.put(b"lamp")
    app = build(database, data_dir=tmp_path, clock=lambda: moment[0])
    with database.snapshot() as session:
        nobody = UserRow(id="", display_name="", created_at="")
        context = Context(session, nobody, "http://test", lambda: moment[0], StagedFiles(files))
        addresses = []
        for minute in (59, 0):
            moment[0] = datetime(2026, 5, 20, 9 if minute else 10, minute, tzinfo=UTC)
            addresses.append(file_address(context, content, "a.txt"))
    assert addresses[0] != addresses[1] and unsigned_url(addresses[0]) == unsigned_url(addresses[1])
    async with httpx.AsyncClient(transport=httpx.ASGITransport(app)) as http:
        moment[0] = datetime(2026, 5, 20, 10, 59, tzinfo=UTC)
        assert [(await http.get(address)).status_code for address in addresses] == [200, 200]
        moment[0] = datetime(2026, 5, 20, 11, 0, tzinfo=UTC)
        old, new = [await http.get(address) for address in addresses]
        assert (old.status_code, new.text) == (410, "lamp")
    database.close()


@pytest.mark.attack("forbidden outgoing addresses")
async def test_files_are_uploaded_by_url(tmp_path: Path, own_database: str | None) -> None:
    pages = {"/a.txt": "Lamp.\n", "/far": "-> http://10.0.0.1/", "/large": "x" * 1_000_001}
    with (
        web_server(pages, "text/plain") as site,
        running_service(tmp_path, outside=LOOPBACK, database_url=own_database) as running,
    ):
        world = plant_world(running.database_url, running.base_url)
        draft = await world.draft()

        def from_there(path: str) -> InsertFiles:
            return InsertFiles(files=(NewFile(name="a.txt", url=site.url + path),))

        with pytest.raises(errors.Forbidden):
            await world.edit(draft, from_there("/a.txt"), by="review")
        assert site.asked == [], "a user who may not edit must not cause a request"
        for path, words in (("/none", "responded with 404"), ("/far", "private network"), ("/large", "1000000 bytes")):
            with pytest.raises(errors.ServiceError, match=words):
                await world.edit(draft, from_there(path))
        answer = await world.edit(draft, from_there("/a.txt"))
        assert answer.inserted_files
        made = answer.inserted_files[0]
        assert (made.name, made.size, made.content_type) == ("a.txt", 6, "text/plain")
        async with httpx.AsyncClient() as http:
            assert (await http.get(made.download_url)).text == "Lamp.\n"
        for client in world.clients.values():
            await client.aclose()
