"""Moving uploaded files between the data directory and a bucket, and backups of both."""

from __future__ import annotations

import asyncio
import random
import subprocess
import sys
import threading
import time
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest
from tests.postgresql import Cluster
from tests.running_service import RunningService, running_service
from tests.s3_server import BUCKET, S3Server, s3_server, use
from tests.service.factories import World, plant_world
from tests.service.s3_files import LARGE, LOCATION, get, upload, uploaded
from tests.service.serve_command import run

from presscheck import errors
from presscheck.service.blobs import s3_store
from presscheck.service.blobs.location import referenced_ids, shown_location
from presscheck.service.blobs.store import DiskBlobStore, id_of
from presscheck.service.db.engine import Database
from presscheck.service.server.file_move import move_files

pytestmark = pytest.mark.slow


@pytest.fixture
def bucket(monkeypatch: pytest.MonkeyPatch) -> Iterator[S3Server]:
    """A server with an empty bucket, configured for the service, with a short read timeout."""
    monkeypatch.setattr(s3_store, "READ_TIMEOUT", 0.4)
    with s3_server() as server:
        use(server, monkeypatch)
        yield server


def contents(count: int) -> list[bytes]:
    return [random.Random(number).randbytes(1000 + number) for number in range(count)]


def stored_on_disk(directory: Path, files: list[bytes]) -> list[str]:
    """Create an empty service with files in its data directory. Returns the ids of the files."""
    RunningService(directory)
    store = DiskBlobStore(directory)
    return sorted(store.put(content) for content in files)


def intact(bucket: S3Server) -> list[str]:
    """Compare the contents of all objects in the bucket with their names. Returns their ids."""
    client, found = bucket.client(), list[str]()
    for key in bucket.keys("docs/"):
        content = client.get_object(Bucket=BUCKET, Key=key)["Body"].read()
        assert key == f"docs/{id_of(content)}"
        found.append(id_of(content))
    return sorted(found)


def move(directory: Path, *options: str, to: str = LOCATION, database: str = "") -> Any:
    where = ("--data", str(directory), *(("--database", database) if database else ()))
    return run(*where, "files", "move", "--to", to, *options)


async def test_files_are_moved_and_verified_before_the_source_is_deleted(
    bucket: S3Server, database_url: str, tmp_path: Path
) -> None:
    with running_service(tmp_path, database_url=database_url) as running:
        world = plant_world(database_url, running.base_url)
        url = await uploaded(world, "lamp.bin", LARGE)
        ran = move(tmp_path, database=database_url)
        assert ran.exit_code == 0 and f"1 file verified at {LOCATION}, 1 of them copied now." in ran.stderr
        assert "were not deleted" in ran.stderr and DiskBlobStore(tmp_path).read(id_of(LARGE)) == LARGE
        assert (await get(url)).content == LARGE, "a process that was started before the move still reads"
        draft = await world.draft()
        with pytest.raises(errors.ServiceFailed, match="Nothing was saved"):
            await world.edit(draft, upload("late.txt", b"late"))
    running.files = LOCATION
    running.start()
    await world.edit(draft, upload("late.txt", b"late"))
    assert intact(bucket) == sorted([id_of(LARGE), id_of(b"late")])
    again = move(tmp_path, database=database_url)
    assert again.exit_code == 0 and "Nothing to move" in again.stderr
    deleted = move(tmp_path, "--delete-source", database=database_url)
    assert deleted.exit_code == 0 and "2 files deleted from disk" in deleted.stderr
    assert list(DiskBlobStore(tmp_path).ids()) == []
    assert (await get(url)).content == LARGE
    running.stop()
    back = move(tmp_path, "--delete-source", to="disk", database=database_url)
    assert back.exit_code == 0 and f"2 files deleted from {LOCATION}" in back.stderr, back.stderr
    assert bucket.keys() == [] and len(list(DiskBlobStore(tmp_path).ids())) == 2
    for client in world.clients.values():
        await client.aclose()


def test_killed_move_is_continued_by_the_next_one(bucket: S3Server, tmp_path: Path) -> None:
    ids = stored_on_disk(tmp_path, contents(20))
    command = [sys.executable, "-m", "presscheck", "serve", "--data", str(tmp_path), "files", "move", "--to", LOCATION]
    bucket.fault, bucket.fault_method, bucket.spared = "hang", "PUT", 5
    process = subprocess.Popen([*command, "--delete-source"], stderr=subprocess.DEVNULL)
    until = time.monotonic() + 60
    while (not bucket.hanging or len(bucket.keys()) < 5) and time.monotonic() < until:
        time.sleep(0.005)
    process.kill()
    process.wait()
    bucket.fault = ""
    assert len(intact(bucket)) == 5, "killed in the middle of an upload"
    while bucket.hanging:
        time.sleep(0.005)
    assert list(DiskBlobStore(tmp_path).ids()) == ids, "nothing is deleted before all is verified"
    before = bucket.requests[:]
    ran = move(tmp_path)
    assert ran.exit_code == 0 and "20 files verified" in ran.stderr
    assert intact(bucket) == ids
    puts = [request for request in bucket.requests[len(before) :] if request.startswith("PUT")]
    assert len(puts) == 15, "files that were copied before are not copied again"


def test_a_failed_move_changes_nothing(bucket: S3Server, tmp_path: Path) -> None:
    ids = stored_on_disk(tmp_path, contents(3))
    for fault, method, reason in (
        ("refuse", "GET", "access denied"),
        ("cut upload", "PUT", "no response"),
        ("hang", "PUT", "no response"),
    ):
        case = (fault, method)
        copied = bucket.keys()
        for key in copied:
            bucket.client().delete_object(Bucket=BUCKET, Key=key)
        bucket.fault, bucket.fault_method = fault, method
        ran = move(tmp_path, "--delete-source")
        bucket.fault = ""
        assert ran.exit_code == 2 and reason in ran.stderr and "no file is lost" in ran.stderr, case
        assert len(ran.stderr.splitlines()) == 1, case
        assert list(DiskBlobStore(tmp_path).ids()) == ids, case
    assert run("--data", str(tmp_path), "export", str(tmp_path / "all.zip")).exit_code == 0
    assert move(tmp_path).exit_code == 0 and intact(bucket) == ids


def test_a_damaged_file_stops_the_move_and_a_damaged_copy_is_replaced(bucket: S3Server, tmp_path: Path) -> None:
    [content_id] = stored_on_disk(tmp_path, [b"lamp"])
    (tmp_path / "files" / content_id).write_bytes(b"dark")
    ran = move(tmp_path, "--delete-source")
    assert ran.exit_code == 2 and f"do not match their names: {content_id}" in ran.stderr
    assert bucket.keys() == [] and (tmp_path / "files" / content_id).exists()
    (tmp_path / "files" / content_id).write_bytes(b"lamp")
    bucket.client().put_object(Bucket=BUCKET, Key=f"docs/{content_id}", Body=b"half")
    assert move(tmp_path).exit_code == 0 and intact(bucket) == [content_id]


def test_no_upload_is_lost_while_files_are_moved(bucket: S3Server, postgresql: Cluster, tmp_path: Path) -> None:
    """Clients upload without a pause while the files are moved, until the service refuses uploads."""
    database_url = postgresql.new_database()
    with running_service(tmp_path, database_url=database_url) as running:
        world = plant_world(database_url, running.base_url)
        acknowledged = list[str]()
        refusals = list[int]()

        def write(writer: int) -> None:
            headers = {"authorization": f"Bearer {world.tokens['admin']}"}
            with httpx.Client(
                base_url=f"{running.base_url}/v1/spaces/{world.space}", headers=headers, timeout=60
            ) as web:
                draft = web.post("/change-requests", json={}).json()["id"]
                for number in range(1000):
                    content = f"{writer} {number}".encode()
                    change = upload("a.txt", content).model_dump(mode="json", by_alias=True, exclude_none=True)
                    sent = web.post(f"/change-requests/{draft}/content", json={"changes": [change]})
                    if sent.status_code != 200:
                        refusals.append(sent.status_code)
                        return
                    acknowledged.append(id_of(content))

        writers = [threading.Thread(target=write, args=(number,)) for number in range(3)]
        for writer in writers:
            writer.start()
        while len(acknowledged) < 10:
            time.sleep(0.01)
        database = Database(database_url)
        move_files(database, tmp_path, LOCATION)
        for writer in writers:
            writer.join()
        assert refusals == [503, 503, 503]
        with database.snapshot() as session:
            referenced = set(referenced_ids(session))
        database.close()
        assert referenced == set(acknowledged) <= set(intact_keys(bucket))
    asyncio.run(closed(world))


def intact_keys(bucket: S3Server) -> list[str]:
    pages: Any = bucket.client().get_paginator("list_objects_v2").paginate(Bucket=BUCKET, Prefix="docs/")
    return [item["Key"].removeprefix("docs/") for page in pages for item in page.get("Contents", ())]


async def closed(world: World) -> None:
    for client in world.clients.values():
        await client.aclose()


async def test_export_contains_the_files_and_import_stores_them(bucket: S3Server, tmp_path: Path) -> None:
    here, there = tmp_path / "here", tmp_path / "there"
    here.mkdir()
    with running_service(here) as running:
        world = plant_world(running.database_url, running.base_url)
        url = await uploaded(world, "lamp.bin", LARGE)
        await closed(world)
    ran = run("--data", str(here), "export", str(tmp_path / "all.zip"))
    assert ran.exit_code == 0 and " and 1 file exported" in ran.stderr and len(ran.stderr.splitlines()) == 1
    with zipfile.ZipFile(tmp_path / "all.zip") as archive:
        assert archive.read(f"files/{id_of(LARGE)}") == LARGE
    ran = run("--data", str(there), "--files", LOCATION, "import", str(tmp_path / "all.zip"))
    assert ran.exit_code == 0, ran.stderr
    other = RunningService.__new__(RunningService)
    database_url = f"sqlite:///{there / 'service.sqlite'}"
    other.__dict__.update(running.__dict__, database_url=database_url, directory=there, files=LOCATION)
    other.start()
    assert (await get(url)).content == LARGE
    other.stop()
    wrong = run("--data", str(there), "--files", "disk", "export", str(tmp_path / "again.zip"))
    assert wrong.exit_code == 2 and f"of this database are {shown_location(LOCATION)}" in wrong.stderr


async def test_an_export_names_missing_files_and_fails_without_the_bucket(bucket: S3Server, tmp_path: Path) -> None:
    with running_service(tmp_path, files=LOCATION) as running:
        world = plant_world(running.database_url, running.base_url)
        await uploaded(world, "lamp.bin", LARGE)
        await closed(world)
    file = tmp_path / "all.zip"
    bucket.fault = "refuse"
    ran = run("--data", str(tmp_path), "export", str(file))
    assert ran.exit_code == 2 and f"could not write {file}: {LOCATION}: " in ran.stderr
    assert len(ran.stderr.splitlines()) == 1 and not list(tmp_path.glob("*all.zip*"))
    bucket.fault = ""
    bucket.client().delete_object(Bucket=BUCKET, Key=f"docs/{id_of(LARGE)}")
    ran = run("--data", str(tmp_path), "export", str(file))
    assert ran.exit_code == 0 and ran.stderr.splitlines()[1].endswith(
        f"not exported, because missing in {LOCATION}: 1 file such as {id_of(LARGE)}"
    )


async def test_a_bucket_is_not_used_for_a_database_with_files_on_disk(bucket: S3Server, tmp_path: Path) -> None:
    """This includes databases without a saved location; an empty database may use a bucket at once."""
    with running_service(tmp_path) as running:
        world = plant_world(running.database_url, running.base_url)
        await uploaded(world, "lamp.bin", LARGE)
        await closed(world)
    ran = run("--data", str(tmp_path), "--port", "0", "--files", LOCATION)
    assert ran.exit_code == 2 and f"`presscheck serve files move --to {LOCATION}`" in ran.stderr
    assert "are in disk" not in ran.stderr and bucket.keys() == []
    file = tmp_path / "all.zip"
    assert run("--data", str(tmp_path), "export", str(file)).exit_code == 0
    empty = run("--data", str(tmp_path / "empty"), "--files", LOCATION, "import", str(file))
    assert empty.exit_code == 0, empty.stderr
    assert bucket.keys() == [f"docs/{id_of(LARGE)}"]
