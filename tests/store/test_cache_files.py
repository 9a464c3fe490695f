"""Problems with cache files raise no errors: they are reported to the user in one line."""

import json
import os
import shutil
import sqlite3
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

import pytest

from presscheck.errors import StoreError
from presscheck.store import cache as cache_module
from presscheck.store import cache_files, sqlite_files
from presscheck.store.cache import VERSION, Cache
from presscheck.store.outbox import Outbox

FIRST_SCHEMA = """
CREATE TABLE resources (object TEXT, id TEXT, json TEXT NOT NULL, PRIMARY KEY (object, id));
CREATE TABLE answers (
    number INTEGER PRIMARY KEY, key TEXT UNIQUE NOT NULL, at REAL NOT NULL, object TEXT, id TEXT, json TEXT,
    total INTEGER, complete INTEGER NOT NULL DEFAULT 1, generation INTEGER NOT NULL DEFAULT 0
);
CREATE TABLE items (
    answer INTEGER, generation INTEGER, position INTEGER, object TEXT, id TEXT, json TEXT,
    PRIMARY KEY (answer, generation, position)
) WITHOUT ROWID;
INSERT INTO answers (key, at, json) VALUES ('k', 7.0, '{"a":1}');
PRAGMA user_version = 1
"""
NOBODY = 65534


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "cache.sqlite"


def fill(cache: Cache, count: int = 200) -> None:
    for number in range(count):
        cache.keep(f"k{number}", json.dumps({"n": number, "text": "x" * 10_000}).encode(), float(number))


def known_keys(cache: Cache, count: int = 200) -> int:
    return sum(cache.answer(f"k{index}") is not None for index in range(count))


def test_older_schema_is_migrated(path: Path) -> None:
    older = sqlite3.connect(path)
    older.executescript(FIRST_SCHEMA)
    older.close()
    cache = Cache(path)
    assert cache.notice is None
    migrated = cache.answer("k")
    assert migrated
    assert (migrated.json, migrated.at) == ('{"a":1}', 7.0)
    assert cache._writer.execute("PRAGMA user_version").fetchone()[0] == VERSION
    assert cache._writer.execute("SELECT used FROM answers").fetchone()[0] == 7.0
    Cache(path.with_name("fresh.sqlite")).close()
    fresh = sqlite3.connect(path.with_name("fresh.sqlite"))
    names = "SELECT name FROM sqlite_master ORDER BY name"
    assert cache._writer.execute(names).fetchall() == fresh.execute(names).fetchall()
    fresh.close()
    cache.close()


def test_opening_an_existing_cache_writes_nothing(path: Path) -> None:
    first = Cache(path)
    fill(first, 3)
    first.close()
    second = Cache(path)
    assert path.with_name(f"{path.name}-wal").stat().st_size == 0, "a write would delay the start"
    assert known_keys(second, 3) == 3
    second.close()


def test_only_the_last_file_moved_aside_is_kept(path: Path) -> None:
    path.with_name("cache.sqlite.aside-20200101-000000").write_text("older")
    path.with_name("other.sqlite.aside-20200101-000000").write_text("another's")
    path.write_bytes(b"no database at all" * 99)
    Cache(path).close()
    names = sorted(file.name.partition(".aside-")[0] for file in path.parent.glob("*.aside-*"))
    assert names == ["cache.sqlite", "other.sqlite"]
    assert not path.with_name("cache.sqlite.aside-20200101-000000").exists()


@pytest.mark.parametrize("damage", ["truncated", "overwritten"])
def test_damaged_open_cache_is_moved_aside_and_replaced(path: Path, damage: str) -> None:
    cache = Cache(path)
    fill(cache)
    cache.close()
    size = path.stat().st_size
    with path.open("r+b") as file:
        if damage == "truncated":
            file.truncate(size // 2)
        else:
            file.seek(size // 4)
            file.write(os.urandom(size // 2))
    cache = Cache(path)
    assert known_keys(cache) < 200
    assert cache.keep("new", b'{"a":1}', 1.0)
    assert "a new one was created" in (cache.notice or "")
    assert cache.answer("new")
    cache.close()
    assert [*path.parent.glob("*.aside-*")]
    again = Cache(path)
    assert again.notice is None
    assert again.answer("new")
    again.close()


def test_file_damaged_while_it_is_opened_falls_back_to_memory(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    cache = Cache(path)
    fill(cache, 3)
    cache.close()

    def open_and_damage(*arguments: Any, **options: Any) -> Any:
        opened = sqlite_files.open_file(*arguments, **options)
        with path.open("r+b") as file:
            file.write(b"x" * 100)
        return opened

    monkeypatch.setattr(cache_module, "open_file", open_and_damage)
    cache = Cache(path)
    assert "in memory only" in (cache.notice or "")
    assert cache.keep("new", b'{"a":1}', 1.0)
    assert cache.answer("new")
    cache.close()


def test_only_the_first_of_two_instances_replaces_a_damaged_file(path: Path) -> None:
    first = Cache(path)
    fill(first)
    second = Cache(path)
    first._is_damaged = second._is_damaged = True
    first.keep("first", b"1", 1.0)
    second.keep("second", b"2", 1.0)
    assert first.answer("second")
    assert second.answer("first")
    first.close()
    second.close()


def test_locked_cache_falls_back_to_memory(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sqlite_files, "BUSY_TIMEOUT", 0.05)
    cache = Cache(path)
    fill(cache, 3)
    other = sqlite3.connect(path, isolation_level=None)
    other.execute("BEGIN IMMEDIATE")
    assert cache.keep("new", b'{"a":1}', 1.0)
    assert "this session caches in memory only" in (cache.notice or "")
    assert cache.keep_page("list", [{"n": 1}], 0, 1.0, total=1, last=True)
    assert (known_keys(cache, 3), cache.window("list", 0, 9).total) == (3, 1)
    assert cache.answer("new")
    other.execute("ROLLBACK")
    other.close()
    cache.close()


def test_cache_locked_at_the_start_is_no_error(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sqlite_files, "BUSY_TIMEOUT", 0.05)
    other = sqlite3.connect(path, isolation_level=None)
    other.execute("CREATE TABLE t (x)")
    other.execute("BEGIN EXCLUSIVE")
    cache = Cache(path)
    assert "in memory" in (cache.notice or "")
    assert cache.keep("k", b'{"a":1}', 1.0)
    cache.close()
    other.close()


FULL = """
import resource, signal, sys
from pathlib import Path
sys.path.insert(0, {tests!r})
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
from presscheck.store.cache import Cache
from test_cache_files import fill, known_keys
cache = Cache(Path({path!r}))
fill(cache, 20)
assert cache.notice is None, cache.notice
resource.setrlimit(resource.RLIMIT_FSIZE, (400_000, 400_000))
fill(cache)
assert "in memory only" in cache.notice, cache.notice
cache.notice = None
assert known_keys(cache) == 200, known_keys(cache)
assert cache.keep_page("list", [{{"n": 1}}], 0, 1.0, total=1, last=True)
assert cache.notice is None, "reported only once"
cache.evict(())
cache.close()
"""


def test_full_disk_is_reported_once_and_nothing_is_lost(path: Path) -> None:
    code = FULL.format(path=str(path), tests=str(Path(__file__).parent))
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert result.returncode == 0, result.stderr
    cache = Cache(path)
    assert cache.notice is None
    assert known_keys(cache) >= 20, "earlier responses are still stored"
    cache.close()


OTHER = """
import sys
from pathlib import Path
from presscheck.store.cache import Cache
from presscheck.store.outbox import Outbox
path = Path(sys.argv[1])
if path.name == "outbox.sqlite":
    outbox = Outbox(path)
    outbox.remember("other", "x")
    found = outbox.recall("own")
    outbox.close()
else:
    cache = Cache(path)
    cache.keep("other", b'{"a":1}', 1.0)
    found = cache.answer("own")
    cache.close()
print(found is not None)
"""


def opens_in_another_process(path: Path) -> bool:
    """Open the file in another process, write to it and close it. Returns True if it contained this process's entry."""
    result = subprocess.run([sys.executable, "-c", OTHER, str(path)], capture_output=True, text=True, check=True)
    return result.stdout == "True\n"


def test_closing_one_instance_keeps_the_log_of_the_others(path: Path) -> None:
    # closing a descriptor of a SQLite file drops all POSIX locks of the process on it; the next instance that ends then
    # takes itself for the last one and deletes the log that the first instance still writes to
    with closing(Cache(path)) as cache:
        log = path.with_name(path.name + "-wal")
        for round_ in range(3):
            cache.keep("own", json.dumps({"round": round_}).encode(), float(round_))
            number = log.stat().st_ino
            assert opens_in_another_process(path)
            assert log.exists()
            assert log.stat().st_ino == number
            assert cache.answer("other")


def test_second_outbox_in_one_process_keeps_the_locks_of_the_first(tmp_path: Path) -> None:
    path = tmp_path / "outbox.sqlite"
    with closing(Outbox(path)) as outbox:
        outbox.remember("own", "typed")
        Outbox(path).close()
        assert opens_in_another_process(path)
        assert path.with_name("outbox.sqlite-wal").exists()
        assert outbox.recall("other") == "x"


@contextmanager
def read_only_home() -> Iterator[Path]:
    """Create a read-only directory with a cache, and give up root's rights while it is in use."""
    home = Path(tempfile.mkdtemp())
    is_root = os.geteuid() == 0
    try:
        home.chmod(0o755)
        (home / "cache").mkdir(mode=0o755)
        cache = Cache(home / "cache" / "cache.sqlite")
        fill(cache, 3)
        cache.close()
        (home / "cache" / "cache.sqlite").chmod(0o444)
        (home / "cache").chmod(0o555)
        home.chmod(0o555)
        if is_root:
            os.seteuid(NOBODY)
        yield home
    finally:
        if is_root:
            os.seteuid(0)
        for directory in (home, home / "cache"):
            directory.chmod(0o755)
        shutil.rmtree(home)


def test_read_only_cache_is_read_and_new_responses_stay_in_memory() -> None:
    with read_only_home() as home:
        cache = Cache(home / "cache" / "cache.sqlite")
        assert "in memory only" in (cache.notice or "")
        assert known_keys(cache, 3) == 3
        assert cache.keep("new", b'{"a":1}', 1.0)
        assert cache.answer("new")
        cache.close()
        missing = Cache(home / "other" / "cache.sqlite")
        assert "in memory only" in (missing.notice or "")
        assert missing.keep("new", b'{"a":1}', 1.0)
        missing.close()


def test_all_caches_are_listed_and_cleared_while_one_is_open(path: Path) -> None:
    cache = Cache(path)
    fill(cache, 50)
    cache.keep("thing", b'{"object":"thing","id":"t"}', 1.0)
    path.with_name("old.sqlite.aside-20200101-000000").write_bytes(b"x" * 5000)
    path.with_name("ill.sqlite").write_bytes(b"no database" * 999)
    caches = {file.path.name: file for file in cache_files.caches_in(path.parent)}
    assert (caches["cache.sqlite"].answers, caches["cache.sqlite"].things) == (51, 1)
    assert caches["ill.sqlite"].answers is None
    assert caches["old.sqlite.aside-20200101-000000"].bytes == 5000
    assert cache_files.clear(path.parent) > 400_000
    assert [file.path.name for file in cache_files.caches_in(path.parent)] == ["cache.sqlite"]
    assert known_keys(cache, 50) == 0
    assert cache.keep("k1", b'{"a":1}', 1.0)
    assert cache.answer("k1")
    cache.close()


def test_locked_cache_is_not_cleared(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cache_files, "BUSY_TIMEOUT", 0.05)
    Cache(path).close()
    other = sqlite3.connect(path, isolation_level=None)
    other.execute("BEGIN IMMEDIATE")
    with pytest.raises(StoreError, match="in use"):
        cache_files.clear(path.parent)
    other.close()
