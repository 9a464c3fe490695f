"""`presscheck preview` shows a folder as a published site, which follows changes of the files; in a real browser."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest
from click.testing import CliRunner, Result
from tests.running_service import RunningService
from tests.service.browser import Browser

from presscheck.cli.main import command
from presscheck.service.blobs.store import DiskBlobStore, FilesUnavailable
from presscheck.service.db.engine import Database
from presscheck.service.server import preview as preview_module
from presscheck.service.server.preview import PreviewedFolder
from presscheck.service.server.server import opened
from presscheck.service.web.live_pages import LivePages

SUMMARY = "* [Start](README.md)\n* [Next](next.md)\n"


@pytest.fixture
def docs(tmp_path: Path) -> Path:
    directory = tmp_path / "docs"
    directory.mkdir()
    (directory / "SUMMARY.md").write_text(SUMMARY)
    (directory / "README.md").write_text("# Start\n\nBefore. [Next](next.md)\n")
    (directory / "next.md").write_text("# Next\n\nText\n")
    return directory


class Preview:
    """A running `presscheck preview`: its process and the URL of its site."""

    def __init__(self, docs: Path, temporary: Path) -> None:
        temporary.mkdir()
        self.process = subprocess.Popen(
            [sys.executable, "-m", "presscheck", "preview", str(docs), "--port", "0"],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            env={**os.environ, "TMPDIR": str(temporary), "PRESSCHECK_HOME": str(temporary / "home")},
        )
        assert self.process.stdout
        self.url = self.process.stdout.readline().strip()

    def end(self, number: int) -> tuple[int, str]:
        """Send a signal. Returns the exit code and the rest of stderr."""
        self.process.send_signal(number)
        errors = self.process.communicate(timeout=30)[1]
        return self.process.returncode, errors


@pytest.fixture
def preview(docs: Path, tmp_path: Path) -> Iterator[Preview]:
    running = Preview(docs, tmp_path / "temporary")
    yield running
    if running.process.poll() is None:
        running.end(signal.SIGTERM)


@pytest.mark.slow
def test_open_page_follows_its_folder_and_no_files_remain_at_the_end(
    docs: Path, preview: Preview, chromium: Browser, tmp_path: Path
) -> None:
    """The preview keeps its pages while the folder is missing, and its end does not wait for open pages."""
    port = str(httpx.URL(preview.url).port)
    taken = run_preview(str(docs), "--port", port)
    reason = f"presscheck: could not listen on 127.0.0.1:{port}: Address already in use\n"
    assert (taken.exit_code, taken.stderr) == (2, reason)

    chromium.open(preview.url)
    assert chromium.value("document.querySelector('h1').textContent.trim()") == "Start"
    chromium.value("window.isFirst = true")
    time.sleep(1)
    assert chromium.value("window.isFirst"), "a page is not loaded again without a change"
    (docs / "README.md").write_text("# Start\n\nAfter.\n")
    chromium.wait("document.body?.textContent.includes('After.')")
    (docs / "new.md").write_text("# A new page\n")
    (docs / "SUMMARY.md").write_text(f"{SUMMARY}* [A new page](new.md)\n")
    chromium.wait("document.querySelector('.pages')?.textContent.includes('A new page')")

    assert preview.process.stderr
    docs.rename(docs.with_name("moved"))
    assert "the pages are those of before" in preview.process.stderr.readline()
    assert "After." in httpx.get(preview.url).text
    docs.with_name("moved").rename(docs)
    (docs / "README.md").write_text("# Start\n\nBack.\n")
    chromium.wait("document.body?.textContent.includes('Back.')")
    began = time.monotonic()
    assert preview.end(signal.SIGINT) == (0, ""), "the absence is told once"
    assert time.monotonic() - began < 4, "shorter than the patience of the server"
    assert [*(tmp_path / "temporary").glob("presscheck-preview-*")] == []
    assert not (tmp_path / "temporary" / "home").exists()


def run_preview(*words: str) -> Result:
    return CliRunner().invoke(command, ["preview", *words])


def test_missing_folder_is_an_error_without_traceback(tmp_path: Path) -> None:
    gone = run_preview(str(tmp_path / "gone"))
    assert gone.exit_code == 2 and "Traceback" not in gone.stderr


def test_service_without_preview_has_no_live_events(service: RunningService) -> None:
    assert httpx.get(f"{service.base_url}/~live").status_code == 404


def test_update_reads_only_changed_files(docs: Path, tmp_path: Path) -> None:
    (docs / "next.md").write_text("# Next\n\n![A](a.png) ![B](b.png)\n")
    for name in ("a.png", "b.png"):
        (docs / name).write_bytes(b"\x89PNG " + name.encode())
    database: Database = opened(f"sqlite:///{tmp_path / 'service.sqlite'}")
    try:
        folder = PreviewedFolder(docs, database, DiskBlobStore(tmp_path), "http://127.0.0.1")
        folder.publish()
        assert folder.update() is None
        stored, texts = dict(folder._stored), dict(folder._texts)
        (docs / "a.png").write_bytes(b"\x89PNG another")
        (docs / "README.md").write_text("# Start\n\nNew text\n")
        revision = folder.update()
        assert revision == folder.revision
        assert folder._stored["b.png"] is not None and folder._stored["b.png"][1] is stored["b.png"][1]
        assert folder._stored["a.png"][1][0]["id"] == stored["a.png"][1][0]["id"], "links to it stay"
        assert folder._stored["a.png"][1][0]["content"] != stored["a.png"][1][0]["content"]
        assert folder._texts["next.md"][1] is texts["next.md"][1]
        assert folder._texts["README.md"][1] is not texts["README.md"][1]
    finally:
        database.close()


def test_failed_update_is_retried(
    docs: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    database, files = opened(f"sqlite:///{tmp_path / 'service.sqlite'}"), DiskBlobStore(tmp_path)
    failures: list[Exception] = [FilesUnavailable("could not store a file: No space left on device"), KeyError()]
    put, ended = files.put, threading.Event()

    def put_later(content: bytes) -> str:
        if failures:
            raise failures.pop(0)
        return put(content)

    monkeypatch.setattr(preview_module, "PAUSE", 0.01)
    try:
        folder = PreviewedFolder(docs, database, files, "http://127.0.0.1")
        folder.publish()
        live = LivePages(folder.revision)
        monkeypatch.setattr(files, "put", put_later)
        (docs / "a.png").write_bytes(b"\x89PNG")
        (docs / "README.md").write_text("# Start\n\n![](a.png)\n")
        watcher = threading.Thread(target=preview_module._watch, args=(folder, live, ended), daemon=True)
        before = live.revision
        watcher.start()
        deadline = time.monotonic() + 10
        while live.revision == before and time.monotonic() < deadline:
            time.sleep(0.01)
        ended.set()
        watcher.join()
        assert live.revision == folder.revision != before
        errors = capsys.readouterr().err.splitlines()
        assert errors[0] == (
            "presscheck: the pages are those of before: could not store a file: No space left on device"
        )
        assert len(errors) == 2
    finally:
        database.close()
