"""`presscheck inbox --watch` as a program of its own, while somebody else works through another client."""

import json
import queue
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import IO

import pytest
from tests.cli.running import Shell, signed_in
from tests.desk.test_event_log import GUIDE, LIMITS, say, token_of
from tests.running_service import RunningService, running_service

from presscheck.api.change_requests import MergeChangeRequest, SubmitReview
from presscheck.api.comments import Document, PostComment


@pytest.fixture(scope="module")
def service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningService]:
    with running_service(tmp_path_factory.mktemp("service"), sample=True) as one:
        yield one


class Watch:
    """The program, with its lines as they come."""

    def __init__(self, shell: Shell, *words: str) -> None:
        self.ran = subprocess.Popen(
            [sys.executable, "-m", "presscheck", "inbox", "--watch", "--interval", "1", *words],
            env=shell.environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        self.readers: list[threading.Thread] = []
        self.out, self.err = (self._lines(stream) for stream in (self.ran.stdout, self.ran.stderr))

    def _lines(self, stream: IO[str] | None) -> "queue.Queue[str]":
        assert stream
        found: queue.Queue[str] = queue.Queue()

        def read() -> None:
            with stream:
                for line in stream:
                    found.put(line.rstrip("\n"))

        self.readers.append(threading.Thread(target=read))
        self.readers[-1].start()
        return found

    def end(self, by: signal.Signals) -> int:
        self.ran.send_signal(by)
        return self.ran.wait(30)

    def close(self) -> None:
        self.ran.kill()
        self.ran.wait()
        for reader in self.readers:
            reader.join()


async def test_it_prints_what_others_do_until_it_is_ended(service: RunningService, tmp_path: Path) -> None:
    shell, mia = signed_in(tmp_path / "home", service), token_of(service, "mia")
    watch = Watch(shell)
    try:
        assert watch.err.get(timeout=60) == "Watching what concerns you, every 1 s; ctrl+c ends it."
        await say(service, mia, PostComment(**GUIDE, body=Document(markdown="Hm")))
        at, *line = watch.out.get(timeout=60).split("\t")
        assert at.startswith("20")
        assert line == ["reply", "Mia Okonkwo", "api#5", "Rewrite the auth guide"]
        service.stop()
        assert watch.err.get(timeout=60) == "No connection: looking again, ever more rarely."
        service.start()
        assert watch.err.get(timeout=60) == "Back again."
        assert watch.end(signal.SIGTERM) == 143
    finally:
        watch.close()
    assert watch.out.empty()
    again = Watch(shell, "--json")
    try:
        assert again.err.get(timeout=60).startswith("Watching")
        await say(service, mia, SubmitReview(**LIMITS, status="approved"), MergeChangeRequest(**LIMITS))
        first, second = (json.loads(again.out.get(timeout=60)) for _ in range(2))
        assert (first["event"], second["event"]) == ("approved", "merged"), "a restart prints nothing twice"
        assert first["by"] == {"id": "mia", "displayName": "Mia Okonkwo"}
        assert first["changeRequest"]["number"] == 4
        assert (first["site"], first["text"]) == (None, "Mia approved 4 Limits per workspace")
        assert again.end(signal.SIGINT) == 130
    finally:
        again.close()
    assert again.err.empty(), "no traceback"


def test_what_does_not_go_together_is_said(service: RunningService, tmp_path: Path) -> None:
    shell = signed_in(tmp_path / "home", service)
    for words, says in ((("--interval", "5"), "--watch only"), (("--watch", "--view", "mine"), "leave it out")):
        ran = shell.run("inbox", *words)
        assert (ran.exit_code, says in ran.stderr) == (2, True)
    shell.env["PRESSCHECK_TOKEN"] = "nobody's"
    ran = shell.run("inbox", "--watch")
    assert ran.exit_code == 4, ran.stderr
