"""Pushes and pulls that are killed at each write and each file: nothing is lost and nothing is sent twice."""

from __future__ import annotations

import asyncio
import json
import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from tests.checkout_folder import check_out, contents, edit, push_all
from tests.crash.killed_client import engine_of
from tests.engine.live_engine import engine_on, until
from tests.generated_docs.repositories import png
from tests.root import ROOT
from tests.running_service import RunningService

from presscheck.api.change_requests import ChangeRequest, ListChangeRequests
from presscheck.api.content import GetChangeRequestRevision
from presscheck.client.client import Client
from presscheck.documents.pages.tree import flatten
from presscheck.engine.checkout.content import SUMMARY
from presscheck.engine.checkout.folder import folder_changes
from presscheck.engine.checkout.pull import pull
from presscheck.engine.checkout.push import push
from presscheck.engine.checkout.queued_push import content_id, waiting_push
from presscheck.engine.checkout.state import Checkout
from presscheck.engine.engine import Engine
from presscheck.engine.writes.folder_push import PushFolder
from presscheck.errors import ChangedSince

pytestmark = [pytest.mark.slow, pytest.mark.timeout(600), pytest.mark.service(sample=True, shared=True)]

STRIDE = 1 if "PRESSCHECK_CASES" in os.environ else 9
"""The distance between the steps that are tried: alternately before and after an action. `make crash` tries all steps.

`test_push_that_ends_at_any_step_is_completed` ends at every write within one process.
"""
PATIENCE = 0.1
"""Seconds after which requests of the killed engine can no longer arrive."""
MINE = {"quickstart.md": "\nMine at the end.\n", "ship/returns.md": "\nMine, too.\n"}
"""Texts that are appended to files of the folder before a pull, by path."""


def edit_everything(folder: Path) -> None:
    """Add a page with a picture, edit and rename a page, delete one, and edit a text."""
    (folder / ".gitbook/assets").mkdir(parents=True)
    (folder / ".gitbook/assets/quay.png").write_bytes(png(20, 10))
    (folder / "new.md").write_text("# New\n\n![](.gitbook/assets/quay.png)\n\n[Back](quickstart.md)\n")
    edit(folder / SUMMARY, "* [Quickstart]", "* [New](new.md)\n* [Quickstart]")
    edit(folder / "quickstart.md", "# Quickstart", "# Begin")
    (folder / "ship/insurance.md").unlink()
    edit(folder / SUMMARY, "* [Insurance](ship/insurance.md)\n", "")
    (folder / "going-live.md").write_text((folder / "going-live.md").read_text() + "\nAt the end.\n")


def edit_own(folder: Path) -> None:
    for path, text in MINE.items():
        (folder / path).write_text((folder / path).read_text() + text)


class Steps:
    """Kills this process at a step: each write, download and replaced file has one before and one after it."""

    def __init__(self, number: int) -> None:
        self._left = number
        fetch, download, replace = Client.fetch, Client.download, Path.replace

        async def fetched(client: Any, call: Any, *more: Any) -> bytes:
            if call.is_read():
                return await fetch(client, call, *more)
            return await self._around(fetch, client, call, *more)

        async def downloaded(client: Any, *given: Any) -> bytes:
            return await self._around(download, client, *given)

        def replaced(file: Path, target: Path) -> Path:
            self._step()
            result = replace(file, target)
            self._step()
            return result

        Client.fetch, Client.download, Path.replace = fetched, downloaded, replaced  # type: ignore[method-assign]

    async def _around(self, method: Any, *given: Any) -> bytes:
        self._step()
        body = await method(*given)
        self._step()
        return body

    def _step(self) -> None:
        self._left -= 1
        if not self._left:
            os.kill(os.getpid(), signal.SIGKILL)


async def work(job: dict[str, Any], folder: Path, number: int) -> None:
    """Push or pull a folder; the process is killed at step `number` unless it ends before."""
    engine = engine_of({**job, "home": str(folder.with_name(f"home {number}"))})
    await engine.start()
    checkout, subject = Checkout.find(folder), f"{job['task']} {number}"
    changes = folder_changes(checkout)
    Steps(number)
    if job["task"] == "pull":
        await pull(engine, checkout)
    elif job["task"] == "push":
        await push(engine, checkout, changes, subject)
    else:
        content = content_id(changes)
        call = PushFolder(space_id="guides", directory=str(folder), subject=subject, content=content, files=5)
        await engine.write(call).landed()
    await engine.close()


def be_killed_at_each_step() -> None:
    """Push or pull copies of the folder in forked processes, each of which is killed at a later step.

    Ends when a process is not killed, and prints the number of its step.
    """
    job = json.loads(sys.argv[1])
    for number in range(1, 100, STRIDE):
        folder = Path(job["folder"]).with_name(f"folder {number}")
        shutil.copytree(job["folder"], folder)
        (edit_own if job["task"] == "pull" else edit_everything)(folder)
        child = os.fork()
        if not child:
            asyncio.run(work(job, folder, number))
            os._exit(0)
        status = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
        assert status in (0, -signal.SIGKILL)
        if status == 0:
            sys.stdout.write(str(number))
            return


async def killed_folders(service: RunningService, folder: Path, task: str) -> list[Path]:
    """Push or pull copies of a folder, and kill each process at a later step; the last one is not killed.

    Returns:
        The copies, whose names contain the numbers of the steps.
    """
    job = {"base_url": service.base_url, "token": service.token, "folder": str(folder), "task": task}
    program = "from tests.engine.test_checkout_kills import be_killed_at_each_step as main; main()"
    command = [sys.executable, "-c", program, json.dumps(job)]
    ran = await asyncio.to_thread(subprocess.run, command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert ran.returncode == 0, ran.stderr
    return [folder.with_name(f"folder {number}") for number in range(1, int(ran.stdout) + 1, STRIDE)]


async def complete_push(engine: Engine, folder: Path, subject: str) -> None:
    """Push all edits; pull first if the push requires it."""
    checkout = Checkout.find(folder)
    try:
        await push(engine, checkout, folder_changes(checkout), subject)
    except ChangedSince as error:
        assert "pull first" in str(error)
        pulled = await pull(engine, Checkout.find(folder))
        assert not pulled.conflicts, "what the killed push sent is no edit of others"
        await push_all(engine, folder)


async def requests_called(engine: Engine, subject: str) -> list[ChangeRequest]:
    listings = [ListChangeRequests(space_id="guides", status=status, limit=1000) for status in ("draft", "open")]
    return [one for listing in listings for one in (await engine.read(listing)).items if one.subject == subject]


async def check_pushed(engine: Engine, folder: Path, subject: str) -> None:
    """Check that all edits arrived once, in one change request, whose checkout has the same files as the folder."""
    [request] = await requests_called(engine, subject)
    revision = await engine.read(GetChangeRequestRevision(space_id="guides", change_request_id=request.id))
    titles = [page.title for page in flatten(revision.pages)]
    assert (titles.count("New"), titles.count("Begin"), titles.count("Insurance")) == (1, 1, 0)
    assert [file.name for file in revision.files] == ["quay.png"]
    other = await check_out(engine, folder.with_name(f"other {folder.name}"), request.number)
    assert contents(other) == contents(folder)
    assert (folder / "going-live.md").read_text().endswith("\nAt the end.\n")
    assert not folder_changes(Checkout.find(folder))


async def test_push_that_is_killed_at_any_step_is_completed(
    engine: Engine, service: RunningService, tmp_path: Path
) -> None:
    folders = await killed_folders(service, await check_out(engine, tmp_path / "pristine"), "push")
    for folder in folders:
        number = folder.name.split()[1]
        await complete_push(engine, folder, f"push {number}")
        await check_pushed(engine, folder, f"push {number}")
    assert len(folders) * STRIDE > 10


async def test_queued_push_that_is_killed_at_any_step_is_completed(
    engine: Engine, service: RunningService, tmp_path: Path
) -> None:
    folders = await killed_folders(service, await check_out(engine, tmp_path / "pristine"), "queued")
    for folder in folders:
        number = folder.name.split()[1]
        again = engine_on(service, tmp_path / f"home {number}")
        again._write_queue.reconciler.timeout = PATIENCE
        await again.start()
        await until(is_settled(again, folder))
        await complete_push(again, folder, f"queued {number}")
        await again.close()
        await check_pushed(engine, folder, f"queued {number}")
    assert len(folders) * STRIDE > 10


def is_settled(engine: Engine, folder: Path) -> Callable[[], bool]:
    def settled() -> bool:
        row = waiting_push(engine.outbox, folder)
        return row is None or row.state == "refused"

    return settled


async def test_pull_that_is_killed_at_any_step_is_completed(
    engine: Engine, service: RunningService, tmp_path: Path
) -> None:
    theirs = await check_out(engine, tmp_path / "theirs")
    edit(theirs / "ship/customs.md", "# Customs", "# Borders")
    pushed = await push_all(engine, theirs)
    assert pushed.request
    pristine = await check_out(engine, tmp_path / "pristine", pushed.request.number)
    edit_everything(theirs)
    await push_all(engine, theirs)
    folders = await killed_folders(service, pristine, "pull")
    for folder in folders:
        pulled = await pull(engine, Checkout.find(folder))
        assert not pulled.conflicts
        assert contents(folder) == {path: text + MINE.get(path, "").encode() for path, text in contents(theirs).items()}
        assert {*folder_changes(Checkout.find(folder)).modified} == {*MINE}
    assert len(folders) * STRIDE > 10
