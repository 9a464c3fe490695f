"""Files with former names of operations are read and sent under the current names."""

from __future__ import annotations

import json
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest
from tests.engine.engine import begun, comment
from tests.engine.live_engine import engine_on
from tests.running_service import RunningService

from presscheck.api.former_operation_names import FORMER_NAMES
from presscheck.api.operation import BY_STORED_NAME, every_operation, operation_called
from presscheck.engine.search.index_entries import read_source
from presscheck.errors import PresscheckError
from presscheck.store.cache import Cache

pytestmark = pytest.mark.service(sample=False)

PAGE = {"object": "page", "id": "p1", "type": "document", "title": "Limits", "markdown": "# Limits\n\nSixty requests."}


async def test_new_entry_has_the_published_name(service: RunningService, tmp_path: Path) -> None:
    engine = engine_on(service, tmp_path / "home")
    await engine.start()
    change_request = await begun(engine)
    engine.write(comment(change_request, "Held"), hold=60)
    assert [row.name for row in engine.outbox.rows()] == ["postCommentInChangeRequest"]
    await engine.close()


def older_cache(file: Path) -> None:
    """Write a cache file of schema version 2: keys with former names, and an older search index."""
    cache = Cache(file)
    assert cache.search.waiting() == 0
    cache.close()
    with closing(sqlite3.connect(file, isolation_level=None)) as database:
        database.execute("UPDATE search_mark SET version = 2")
        database.execute("PRAGMA user_version = 2")
        database.execute("ALTER TABLE answers DROP COLUMN more")
        arguments = json.dumps({"page_id": "p1", "space_id": "s1", "format": "markdown"}, sort_keys=True)
        arguments = arguments.replace(", ", ",").replace(": ", ":")
        for key, answer in (
            (f"content.GetPage {arguments}", PAGE),
            ('spaces.GetSpace {"space_id":"s1"}', {"object": "space", "id": "s1", "title": "Guide"}),
            ("spaces.GetSpaces {}", {"not": "a name of ours"}),
            ("inbox still", {"text": "kept by a screen"}),
        ):
            database.execute("INSERT INTO answers (key, at, json) VALUES (?, 5.0, ?)", (key, json.dumps(answer)))


def test_cache_with_former_names_is_migrated(tmp_path: Path) -> None:
    file = tmp_path / "cache.sqlite"
    older_cache(file)
    cache = Cache(file)
    assert cache.notice is None
    get_page, get_space = operation_called("content.GetPage"), operation_called("getSpaceById")
    page = cache.answer(get_page(space_id="s1", page_id="p1", format="markdown").key())
    assert page
    assert (json.loads(page.json), page.at) == (PAGE, 5.0)
    space = cache.answer(get_space(space_id="s1").key())
    assert space
    assert json.loads(space.json)["title"] == "Guide"
    assert cache.answer("spaces.GetSpaces {}")
    assert cache.answer("inbox still")
    assert cache.answer('spaces.GetSpace {"space_id":"s1"}') is None
    cache.close()


def test_cache_with_former_names_is_searched(tmp_path: Path) -> None:
    file = tmp_path / "cache.sqlite"
    older_cache(file)
    cache = Cache(file)
    assert cache.search.waiting() == 1
    while cache.search.fill(read_source):
        pass
    assert [entry.id for entry in cache.search.find('"sixty"', 5)] == ["p1"]
    cache.close()


def test_every_former_name_has_an_operation() -> None:
    every_operation()
    assert set(FORMER_NAMES.values()) <= set(BY_STORED_NAME)
    assert len(set(FORMER_NAMES.values())) == len(FORMER_NAMES)


def test_unknown_name_is_an_error() -> None:
    with pytest.raises(PresscheckError, match=r"comments\.Shout"):
        operation_called("comments.Shout")
