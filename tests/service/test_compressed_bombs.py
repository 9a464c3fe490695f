"""Small inputs that are large when decompressed: they are refused or need limited memory."""

from __future__ import annotations

import base64
import gzip
import json
import threading
import time
import zipfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import httpx
import pytest
from tests.running_service import LOOPBACK, RunningService, running_service
from tests.service.factories import World, plant_world, rewrite
from tests.service.jobs import processed
from tests.service.pdf import draft_pdf, images, png, png_chunk, read
from tests.service.serve_command import run

from presscheck.api.content_changes import InsertFiles, NewFile
from presscheck.api.openapi import SpecSource
from presscheck.documents.lz_string import compressed
from presscheck.service.handlers import installations

MOST_GROWTH = 400 * 1024 * 1024
"""Maximum growth of the memory of the service while it creates a PDF, in bytes."""


@contextmanager
def responding(body: bytes, **headers: str) -> Iterator[str]:
    """Run a website that responds with this body and these headers. Yields its URL."""

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.send_response(200)
            for name, value in headers.items():
                self.send_header(name.replace("_", "-"), value)
            self.send_header("content-length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_: Any) -> None:
            """Log nothing."""

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02})
        thread.start()
        yield f"http://127.0.0.1:{server.server_port}/"
        server.shutdown()
        thread.join()


def headers_of(world: World) -> dict[str, str]:
    return {"authorization": f"Bearer {world.tokens['admin']}"}


@pytest.mark.attack("compressed bombs")
def test_compressed_request_is_not_decompressed(world: World) -> None:
    body = gzip.compress(b'{"title": "a"}')
    headers = headers_of(world) | {"content-encoding": "gzip", "content-type": "application/json"}
    response = httpx.post(f"{world.base_url}/v1/orgs/{world.organization}/spaces", content=body, headers=headers)
    assert response.status_code == 400 and "JSON" in response.text


@pytest.mark.slow
@pytest.mark.attack("compressed bombs")
async def test_compressed_response_of_another_server_is_not_decompressed(
    tmp_path: Path, own_database: str | None
) -> None:
    body = gzip.compress(b'{"openapi": "3.0.0", "info": {"title": "T", "version": "1"}, "paths": {}}')
    with (
        responding(body, content_encoding="gzip", content_type="application/json") as address,
        running_service(tmp_path, outside=LOOPBACK, database_url=own_database) as running,
    ):
        world = plant_world(running.database_url, running.base_url)
        found = await processed(world, SpecSource(url=address))
        assert found.last_process_error_code == "PARSE_ERROR"
        for client in world.clients.values():
            await client.aclose()


@pytest.mark.attack("compressed bombs")
async def test_decompressed_component_has_a_size_limit(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    packed = compressed(json.dumps({"componentId": "a" * 1000, "props": {}, "context": {}}))
    monkeypatch.setattr(installations, "LONGEST_UNPACKED", 1000)
    name = f"lamp-{world.organization}"
    details = {"title": "Lamp", "description": "", "scopes": [], "script": "0", "organization": world.organization}
    async with httpx.AsyncClient(base_url=f"{world.base_url}/v1/integrations", headers=headers_of(world)) as http:
        assert (await http.post(f"/{name}", json=details)).is_success
        response = await http.get(f"/{name}/render", params={"request": packed})
    assert (response.status_code, response.json()["error"]["message"][:8]) == (400, "request:"), response.text


def image_bomb(side: int) -> bytes:
    """Return a square PNG of one color with one bit for each pixel; decoded, each pixel needs a byte."""
    packer = zlib.compressobj(9)
    row = bytes(1 + side // 8)
    rows = b"".join([*(packer.compress(row) for _ in range(side)), packer.flush()])
    head = side.to_bytes(4, "big") * 2 + bytes((1, 0, 0, 0, 0))
    return b"\x89PNG\r\n\x1a\n" + png_chunk(b"IHDR", head) + png_chunk(b"IDAT", rows) + png_chunk(b"IEND", b"")


def picture_in_svg(picture: bytes) -> bytes:
    data = base64.b64encode(picture).decode()
    return (
        '<svg xmlns="http://www.w3.org/2000/svg" width="10" height="10">'
        f'<image width="10" height="10" href="data:image/png;base64,{data}"/></svg>'
    ).encode()


def nested_svg(levels: int) -> bytes:
    groups = "".join(f'<g id="a{one}">' + f'<use href="#a{one - 1}"/>' * 10 + "</g>" for one in range(1, levels))
    return (
        '<svg xmlns="http://www.w3.org/2000/svg" width="9" height="9"><defs><g id="a0"><rect width="1" height="1"/></g>'
        f'{groups}</defs><use href="#a{levels - 1}"/></svg>'
    ).encode()


@pytest.mark.slow
@pytest.mark.attack("compressed bombs")
async def test_image_bombs_are_replaced_in_a_pdf(world: World) -> None:
    bombs = {"picture.svg": picture_in_svg(image_bomb(42_000)), "nested.svg": nested_svg(9)}
    assert max(map(len, bombs.values())) < 1_000_000, "small enough to be uploaded"
    files = tuple(
        NewFile(name=name, base64=base64.b64encode(content).decode(), content_type="image/png")
        for name, content in (bombs | {"sky.png": png()}).items()
    )
    draft = await world.draft()
    text = "# Start\n\n![P](picture.svg)\n\n![N](nested.svg)\n\n![S](sky.png)\n"
    await world.edit(draft, InsertFiles(files=files), rewrite("start", text))
    url = await draft_pdf(world, draft)
    with Peak() as peak:
        shown = images(await read(url))
    assert (40, 30) in shown and not [size for size in shown if size[0] > 10_000]
    assert peak.growth < MOST_GROWTH, f"the service grew by {peak.growth >> 20} MB"


class Peak:
    """A context that measures the maximum memory growth of this process, which runs the service."""

    def __enter__(self) -> Peak:
        self._before, self._most, self._ending = resident(), 0, threading.Event()
        self._thread = threading.Thread(target=self._watch)
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._ending.set()
        self._thread.join()
        self.growth = self._most - self._before

    def _watch(self) -> None:
        while not self._ending.is_set():
            self._most = max(self._most, resident())
            time.sleep(0.005)


def resident() -> int:
    """Return the resident memory of this process in bytes, or 0 on systems without /proc."""
    try:
        return int(Path("/proc/self/statm").read_text().split()[1]) * 4096
    except OSError:
        return 0


@pytest.mark.attack("path traversal")
@pytest.mark.parametrize("name", ["files/../../evil", "files//etc/evil", "files/" + "0" * 64])
def test_import_refuses_files_with_names_that_do_not_match(tmp_path: Path, name: str) -> None:
    source, target = tmp_path / "source", tmp_path / "target"
    source.mkdir()
    RunningService(source, sample=True)
    file = tmp_path / "all.zip"
    assert run("--data", str(source), "export", str(file)).exit_code == 0
    with zipfile.ZipFile(file, "a") as archive:
        archive.writestr(name, b"evil")
    ran = run("--data", str(target), "import", str(file))
    assert ran.exit_code == 2 and "does not match its checksum" in ran.stderr
    assert not list(tmp_path.rglob("evil")) and not Path("/etc/evil").exists()
