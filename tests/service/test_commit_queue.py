"""Writers of one place share a commit, and none of them loses by what another does."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import closing
from typing import Any

import pytest
from sqlalchemy import event, select
from sqlalchemy.exc import IntegrityError
from sqlalchemy.orm import Session

from presscheck.service.db import commit_queue
from presscheck.service.db.engine import Database
from presscheck.service.models.organizations import TokenRow, UserRow

NOW = "2026-05-20T09:30:00.000Z"
PLACE = "space"


def add(name: str) -> Callable[[Session], str]:
    """Adds a user, and returns who was there before."""

    def work(session: Session) -> str:
        before = ",".join(session.scalars(select(UserRow.id).order_by(UserRow.id)))
        session.add(UserRow(id=name, display_name=name, created_at=NOW))
        session.flush()
        return before

    return work


def fail(session: Session) -> None:
    add("failed")(session)
    raise LookupError("not found")


def add_for_nobody(session: Session) -> None:
    """Adds what the database refuses at the commit."""
    session.add(TokenRow(sha256="token", user_id="nobody", created_at=NOW))


def together(database: Database, *works: Callable[[Session], Any]) -> list[Future[Any]]:
    """Runs writes at one place; the first is still at work when all others wait."""
    queue = database.queue_of(PLACE)
    assert queue

    all_wait = threading.Event()

    def first(session: Session) -> Any:
        assert all_wait.wait(60)
        return works[0](session)

    with ThreadPoolExecutor(len(works)) as pool:
        futures = [pool.submit(database.write, first, PLACE)]
        for number, work in enumerate(works[1:], 1):
            while not queue.is_busy:
                time.sleep(0.001)
            futures.append(pool.submit(database.write, work, PLACE))
            while queue.waiting < number:
                time.sleep(0.001)
        all_wait.set()
    return futures


@pytest.mark.parametrize("is_refused", [False, True], ids=["all_fit", "one_is_refused"])
def test_those_who_waited_share_a_commit(database_url: str, monkeypatch: pytest.MonkeyPatch, is_refused: bool) -> None:
    monkeypatch.setattr(commit_queue, "LONGEST_OPEN", 60)
    commits: list[Any] = []
    with closing(Database(database_url)) as database:
        event.listen(database.engine, "commit", commits.append)
        works = [add("a"), fail, add("b"), *([add_for_nobody] if is_refused else []), add("c")]
        one, failed, two, *refused, three = together(database, *works)
        assert (one.result(), two.result(), three.result()) == ("", "a", "a,b")
        assert isinstance(failed.exception(), LookupError)
        assert [type(each.exception()) for each in refused] == [IntegrityError] * is_refused
        assert is_refused or len(commits) == 1
        assert database.retries == 0
        with database.reading.begin() as session:
            assert [*session.scalars(select(UserRow.id).order_by(UserRow.id))] == ["a", "b", "c"]


def test_the_failure_of_the_first_leaves_the_others(database_url: str) -> None:
    with closing(Database(database_url)) as database:
        first, *others = together(database, fail, add("a"), fail, add("b"))
        assert isinstance(first.exception(), LookupError)
        assert [type(each.exception()) for each in others] == [type(None), LookupError, type(None)]
        assert database.write(add("c"), PLACE) == "a,b"
