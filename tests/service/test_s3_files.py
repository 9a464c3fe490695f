"""Uploaded files in an S3-compatible bucket: storage, downloads, and failures of the bucket."""

from __future__ import annotations

import asyncio
import re
import sys
import time
from collections.abc import AsyncIterator, Callable, Iterator
from pathlib import Path
from urllib.parse import urljoin

import httpx
import pytest
from sqlalchemy import func, select
from tests.running_service import LOOPBACK, RunningService, running_service
from tests.s3_server import BUCKET, SECRET, S3Server, s3_server, use
from tests.service.factories import World, plant_world, rewrite
from tests.service.jobs import until
from tests.service.pdf import images, png, space_pdf
from tests.service.pdf import read as read_pdf
from tests.service.s3_files import LARGE, LOCATION, get, upload, uploaded
from tests.service.serve_command import run
from tests.service.server import line, serving

from presscheck import errors
from presscheck.api.sites import CreateSite, PublishSite, Site
from presscheck.service.blobs import s3_store
from presscheck.service.blobs.s3_store import S3BlobStore
from presscheck.service.blobs.store import MOST_THREADS, FilesUnavailable, id_of
from presscheck.service.db.engine import Database
from presscheck.service.models.content import RevisionRow

OPENAPI = '{"openapi": "3.1.0", "info": {"title": "Lamps", "version": "1"}, "paths": {}}'


@pytest.fixture
def bucket(monkeypatch: pytest.MonkeyPatch) -> Iterator[S3Server]:
    """A server with an empty bucket, configured for the service, with a short read timeout."""
    monkeypatch.setattr(s3_store, "READ_TIMEOUT", 0.4)
    with s3_server() as server:
        use(server, monkeypatch)
        yield server


@pytest.fixture
def service_on_bucket(bucket: S3Server, tmp_path: Path) -> Iterator[RunningService]:
    with running_service(tmp_path, outside=LOOPBACK, files=LOCATION) as running:
        yield running


@pytest.fixture
async def bucket_world(service_on_bucket: RunningService) -> AsyncIterator[World]:
    planted = plant_world(service_on_bucket.database_url, service_on_bucket.base_url)
    yield planted
    for client in planted.clients.values():
        await client.aclose()


def revisions(world: World) -> int:
    database = Database(world.database_url)
    with database.snapshot() as session:
        count = session.scalar(select(func.count()).select_from(RevisionRow)) or 0
    database.close()
    return count


# the store


def test_files_are_stored_by_their_hash(bucket: S3Server) -> None:
    store = S3BlobStore(BUCKET, "docs")
    content_id = store.put(LARGE)
    assert store.put(LARGE) == content_id == id_of(LARGE)
    bucket.client().put_object(Bucket=BUCKET, Key="docs/readme.txt", Body=b"x")
    bucket.client().put_object(Bucket=BUCKET, Key=id_of(b"above the prefix"), Body=b"above the prefix")
    assert list(store.ids()) == [content_id] and store.read(content_id) == LARGE
    assert store.read(id_of(b"above the prefix")) is None and store.open("../docs/readme.txt") is None
    blob = store.open(content_id, "bytes=10-19")
    assert blob and blob.span == (10, 19, len(LARGE)) and b"".join(blob.chunks) == LARGE[10:20]
    with pytest.raises(ValueError, match="no byte in this range"):
        store.open(content_id, f"bytes={len(LARGE)}-")
    store.remove(content_id)
    store.remove(content_id)
    assert store.read(content_id) is None


def test_listing_reads_several_responses(bucket: S3Server, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MOTO_S3_DEFAULT_MAX_KEYS", "2")
    store = S3BlobStore(BUCKET, "")
    ids = sorted(store.put(str(number).encode()) for number in range(5))
    before = len(bucket.requests)
    assert list(store.ids()) == ids and len(bucket.requests) == before + 3


def reason_of(*calls: Callable[[], object]) -> tuple[str, bool]:
    """Return the reason with which all of the calls fail, and True if the failure is lasting."""
    reasons: set[tuple[str, bool]] = set()
    for call in calls:
        with pytest.raises(FilesUnavailable) as raised:
            call()
        reasons.add((str(raised.value).partition(": ")[2], raised.value.is_lasting))
    [reason] = reasons
    return reason


@pytest.mark.slow
def test_failures_of_a_bucket_have_a_plain_reason(bucket: S3Server, monkeypatch: pytest.MonkeyPatch) -> None:
    def calls(store: S3BlobStore) -> list[Callable[[], object]]:
        file = id_of(b"lamp")
        return [lambda: store.put(b"lamp"), lambda: store.open(file), store.check, lambda: list(store.ids())]

    store = S3BlobStore(BUCKET, "docs")
    assert reason_of(*calls(S3BlobStore("missing", "docs"))) == ("the bucket does not exist", True)
    bucket.fault = "refuse"
    assert reason_of(*calls(store)) == ("access denied", True)
    bucket.fault = "hang"
    assert reason_of(lambda: store.put(b"lamp")) == ("no response (ReadTimeoutError)", False)
    bucket.stop()
    assert reason_of(store.check) == ("no response (EndpointConnectionError)", False)
    bucket.start()
    monkeypatch.delenv("AWS_ACCESS_KEY_ID")
    assert reason_of(S3BlobStore(BUCKET, "docs").check) == ("no AWS credentials found", True)


@pytest.mark.slow
def test_incomplete_uploads_and_downloads_are_errors(bucket: S3Server) -> None:
    store = S3BlobStore(BUCKET, "docs")
    bucket.fault = "cut upload"
    with pytest.raises(FilesUnavailable, match="no response"):
        store.put(LARGE)
    assert bucket.keys() == []
    bucket.fault = ""
    content_id = store.put(LARGE)
    bucket.fault = "cut download"
    with pytest.raises(FilesUnavailable):
        store.read(content_id)


# the service


@pytest.mark.slow
async def test_files_are_uploaded_and_downloaded(bucket: S3Server, bucket_world: World, tmp_path: Path) -> None:
    url = await uploaded(bucket_world, "lamp.bin", LARGE)
    assert bucket.keys() == [f"docs/{id_of(LARGE)}"] and not (tmp_path / "files").exists()
    whole = await get(url)
    assert (whole.status_code, whole.content) == (200, LARGE)
    assert (
        whole.headers["content-security-policy"] == "sandbox" and "attachment" in whole.headers["content-disposition"]
    )
    async with httpx.AsyncClient() as web:
        head = await web.head(url)
    assert (head.status_code, head.content, head.headers["content-length"]) == (200, b"", str(len(LARGE)))
    part = await get(url, range="bytes=100-199")
    assert (part.status_code, part.content) == (206, LARGE[100:200])
    assert part.headers["content-range"] == f"bytes 100-199/{len(LARGE)}"
    assert (await get(url, range="bytes=100-199", if_range='"other"')).status_code == 200
    assert (await get(url, range=f"bytes={len(LARGE)}-")).status_code == 416
    assert (await get(url, range="bytes=0-1,5-6")).status_code == 200, "several ranges are sent as the whole file"
    assert (await get(url.replace("signature=", "signature=0"))).status_code == 404
    bucket.client().delete_object(Bucket=BUCKET, Key=f"docs/{id_of(LARGE)}")
    assert (await get(url)).status_code == 404


async def file_of_page(url: str) -> str:
    """Return the URL of the only file on a published page."""
    [address] = re.findall(r'src="([^"]*~files[^"]*)"', (await get(url)).text)
    return urljoin(url, address)


@pytest.mark.slow
async def test_failed_upload_saves_nothing_and_can_be_repeated(bucket: S3Server, bucket_world: World) -> None:
    draft = await bucket_world.draft()
    before = revisions(bucket_world)
    with pytest.raises(errors.Forbidden):
        await bucket_world.edit(draft, upload("a.txt", b"lamp"), by="read")
    with pytest.raises(errors.Refused):
        await bucket_world.edit(draft, upload("a.txt", b"lamp"), rewrite("missing", "x"))
    assert bucket.keys() == []
    bucket.fault_method = "PUT"
    for fault in ("refuse", "cut upload"):
        bucket.fault = fault
        with pytest.raises(errors.ServiceFailed) as raised:
            await bucket_world.edit(draft, upload("lamp.bin", LARGE))
        assert raised.value.status == 503
        assert "The file storage does not respond or refuses access. Nothing was saved; try again later" in str(
            raised.value
        )
        assert revisions(bucket_world) == before
        bucket.fault = ""
        assert bucket.keys() == []
    answer = await bucket_world.edit(draft, upload("lamp.bin", LARGE))
    assert answer.inserted_files and (await get(answer.inserted_files[0].download_url)).content == LARGE


@pytest.mark.slow
async def test_sites_and_pdfs_respond_with_503_until_the_bucket_works_again(
    bucket: S3Server, bucket_world: World
) -> None:
    world = bucket_world
    text = "# Start\n\n![Sky](sky.png)\n"
    url = await uploaded(world, "sky.png", png(), rewrite("start", text), content_type="image/png")
    made = await world.admin.send(CreateSite(organization_id=world.organization, title="Docs", spaces=(world.space,)))
    site = await world.admin.send(PublishSite(organization_id=world.organization, site_id=made.id))
    assert isinstance(site, Site) and site.urls.published
    address = await file_of_page(site.urls.published)
    bucket.fault = "refuse"
    answer = await get(url)
    assert (answer.status_code, answer.json()["error"]["code"]) == (503, 503)
    page = await get(address)
    assert (page.status_code, page.headers["content-type"]) == (503, "text/html; charset=utf-8")
    pdf = await get(await space_pdf(world))
    assert pdf.status_code == 503, "a PDF without its images would be kept"
    bucket.fault = ""
    assert (await get(address)).content == png()
    assert images(await read_pdf(await space_pdf(world))) == [(40, 30)]


async def test_incomplete_download_is_an_error_for_the_client(bucket: S3Server, bucket_world: World) -> None:
    url = await uploaded(bucket_world, "lamp.bin", LARGE)
    bucket.fault = "cut download"
    with pytest.raises(httpx.RemoteProtocolError):
        await get(url)


@pytest.mark.slow
async def test_service_responds_while_the_bucket_hangs(bucket: S3Server, bucket_world: World) -> None:
    url = await uploaded(bucket_world, "lamp.bin", b"lamp")
    bucket.fault, bucket.most_at_once = "hang", 0
    waiting = [asyncio.create_task(get(url)) for _ in range(40)]
    await until(lambda: asyncio.sleep(0, bucket.most_at_once), lambda count: count >= MOST_THREADS)
    started = time.monotonic()
    draft = await bucket_world.draft()
    await bucket_world.edit(draft, rewrite("start", "# Start\n\nNo file is needed.\n"))
    took = time.monotonic() - started
    assert not all(task.done() for task in waiting)
    assert bucket.most_at_once <= MOST_THREADS * s3_store.ATTEMPTS, "some requests end only after their timeout"
    bucket.fault = ""
    answers = await asyncio.gather(*waiting)
    assert {answer.status_code for answer in answers} <= {200, 503}
    await until(lambda: get(url), lambda answer: answer.status_code == 200)
    assert took < 10


# the command


@pytest.mark.slow
def test_unusable_location_is_refused_and_not_saved(
    bucket: S3Server, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for location, words in (
        ("s3://missing/docs", "s3://missing/docs: the bucket does not exist"),
        (f"s3://user:{SECRET}@{BUCKET}/x", "must be disk or a URL such as s3://bucket/prefix"),
        (f"s3://{BUCKET}/../x", "must be disk or a URL such as s3://bucket/prefix"),
    ):
        ran = run("--data", str(tmp_path), "--port", "0", "--files", location)
        assert (ran.exit_code, ran.stdout) == (2, "")
        assert words in ran.stderr and len(ran.stderr.splitlines()) == 1 and SECRET not in ran.stderr
    with monkeypatch.context() as patched:
        patched.setenv("AWS_PROFILE", "missing")
        ran = run("--data", str(tmp_path), "--port", "0", "--files", LOCATION)
    assert ran.exit_code == 2 and len(ran.stderr.splitlines()) == 1
    assert f"{LOCATION}: the AWS settings are invalid: The config profile (missing) could not be found" in ran.stderr
    ran = run("--data", str(tmp_path), "export", str(tmp_path / "all.zip"))
    assert ran.exit_code == 0, ran.stderr


def test_missing_library_is_reported_in_one_line(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delitem(sys.modules, "presscheck.service.blobs.s3_store", raising=False)
    monkeypatch.setitem(sys.modules, "boto3", None)
    monkeypatch.setitem(sys.modules, "boto3.session", None)
    ran = run("--data", str(tmp_path), "--port", "0", "--files", LOCATION)
    assert (ran.exit_code, ran.stderr) == (
        2,
        "presscheck: files in a bucket need the extra s3 (boto3 is not installed): pip install 'presscheck[s3]'\n",
    )


@pytest.mark.slow
def test_location_of_files_is_saved_in_the_database(bucket: S3Server, tmp_path: Path) -> None:
    options = ("--port", "0", "--log-requests")
    with serving(tmp_path, *options, "--files", LOCATION) as process:
        first = line(process)
        token = line(process).removeprefix("token: ")
        headers = {"authorization": f"Bearer {token}"}
        spec = spec_url(first, headers)
        assert httpx.put(spec, headers=headers, json={"source": {"text": OPENAPI}}, timeout=30).status_code == 200
        until = time.monotonic() + 60
        while httpx.get(f"{spec}{CONTENT}", headers=headers, timeout=30).status_code == 404:
            assert time.monotonic() < until
            time.sleep(0.1)
    assert len(bucket.keys("docs/")) >= 1
    refused = run("--data", str(tmp_path), "--port", "0", "--files", "disk")
    assert refused.exit_code == 2 and f"are in {LOCATION}: leave out --files, or move them" in refused.stderr
    with serving(tmp_path, *options) as process:
        address = line(process)
        content = f"{spec_url(address, headers)}{CONTENT}"
        answer = httpx.get(content, headers=headers, timeout=30)
        assert answer.json()["filesystem"]["openapi.json"]["info"]["title"] == "Lamps"
        bucket.fault = "refuse"
        assert httpx.get(content, headers=headers, timeout=30).status_code == 503
        process.terminate()
        _, log = process.communicate(timeout=20)
    assert f"{LOCATION}: access denied" in log and SECRET not in log and token not in log


CONTENT = "/versions/latest/content"


def spec_url(address: str, headers: dict[str, str]) -> str:
    organization = httpx.get(f"{address}/v1/orgs", headers=headers, timeout=30).json()["items"][0]["id"]
    return f"{address}/v1/orgs/{organization}/openapi/lamps"
