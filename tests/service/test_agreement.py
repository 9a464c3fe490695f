"""Two processes with one PostgreSQL database and one bucket act as one service.

They have separate data directories. A write to one process is visible in the other as soon as it is acknowledged.

The test makes 100 calls times `PRESSCHECK_CASES`; `make agree` makes 10,000.
"""

from __future__ import annotations

import logging
import os
import threading
import time
from collections import Counter
from contextlib import ExitStack
from pathlib import Path

import pytest
from tests.postgresql import Cluster
from tests.s3_server import BUCKET, s3_server, use
from tests.service.factories import plant_world
from tests.service.mixed_calls import MixedClient, differences, pages_for, subject_of
from tests.service.server import line, serving

CALLS = 100 * int(os.environ.get("PRESSCHECK_CASES", "1"))
EVERY = 1 if "PRESSCHECK_CASES" in os.environ else 4
"""One of this many reads is compared at the end."""
CLIENTS = 4
SEED = 2026


@pytest.mark.slow
@pytest.mark.timeout(300 + CALLS // 4)
def test_processes_with_one_database_and_bucket_agree(
    postgresql: Cluster, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    url = postgresql.new_database()
    calls: Counter[str] = Counter()
    failures: list[BaseException] = []

    def work(client: MixedClient) -> None:
        try:
            while (calls.total() < CALLS or "file" not in calls) and not failures:
                client.turn()
        except BaseException as error:
            failures.append(error)
        finally:
            client.close()

    with ExitStack() as stack:
        bucket = stack.enter_context(s3_server())
        use(bucket, monkeypatch)
        world = plant_world(url, "http://127.0.0.1:1", pages_for(CLIENTS))
        options = ("--port", "0", "--database", url, "--files", f"s3://{BUCKET}/docs")
        homes = [tmp_path / "a", tmp_path / "b"]
        addresses = [line(stack.enter_context(serving(home, *options))) for home in homes]
        subject = subject_of(world, addresses[0])
        clients = [
            MixedClient(addresses, subject, number, SEED, lambda kind, _: calls.update([kind]))
            for number in range(CLIENTS)
        ]
        before = time.monotonic()
        threads = [threading.Thread(target=work, args=(client,)) for client in clients]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        took = time.monotonic() - before
        if failures:
            raise failures[0]
        logging.getLogger(__name__).warning("%d calls in %.0f s: %s", calls.total(), took, dict(calls))
        compared = subject._replace(reads=subject.reads[::EVERY])
        assert list(differences(addresses, compared)) == []
        assert {"read", "write", "published page", "file"} <= set(calls)
        assert len(bucket.keys("docs/")) > calls["file"], "each upload is an object, and the specification"
    assert not list(tmp_path.rglob("files")), "nothing is stored in a home"
