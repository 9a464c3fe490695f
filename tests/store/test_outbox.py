"""The outbox file: migration, full disk, several instances."""

import resource
import signal
import sqlite3
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.table import each_case

from presscheck.errors import StoreError
from presscheck.store import outbox as outbox_module
from presscheck.store.outbox import HISTORY_SECONDS, Outbox

FIRST_SCHEMA = """
CREATE TABLE writes (
    id INTEGER PRIMARY KEY AUTOINCREMENT, name TEXT NOT NULL, version INTEGER NOT NULL, given TEXT NOT NULL,
    scope TEXT NOT NULL, state TEXT NOT NULL, error TEXT, noted TEXT, created_at REAL NOT NULL,
    attempts INTEGER NOT NULL DEFAULT 0, not_before REAL NOT NULL DEFAULT 0
);
CREATE TABLE drafts (key TEXT PRIMARY KEY, text TEXT NOT NULL);
CREATE TABLE viewed (change_request TEXT, page TEXT, revision TEXT NOT NULL, PRIMARY KEY (change_request, page));
CREATE TABLE marks (key TEXT PRIMARY KEY, value TEXT NOT NULL);
INSERT INTO writes VALUES (7, 'comments.PostComment', 1, '{"body": {"markdown": "Typed before"}}', 's', 'sending',
    'Nobody knows', '["c1"]', 1.0, 1, 2.0);
INSERT INTO drafts VALUES ('d', 'half a sen');
PRAGMA user_version = 1
"""


def test_older_outbox_is_migrated(tmp_path: Path) -> None:
    older = sqlite3.connect(tmp_path / "outbox.sqlite")
    older.executescript(FIRST_SCHEMA)
    older.close()
    outbox = Outbox(tmp_path / "outbox.sqlite")
    assert outbox.notice is None
    [row] = outbox.rows()
    assert (row.id, row.given, row.state, row.existing_ids) == (
        7,
        {"body": {"markdown": "Typed before"}},
        "sending",
        ("c1",),
    )
    assert (row.author, row.sent_at) == (None, None)
    assert outbox.draft("d") == "half a sen"
    assert outbox.sending(7, 3.0)
    outbox.close()


@each_case("cause", ["database", "file"])
def test_full_disk_raises_and_changes_nothing(tmp_path: Path, cause: str) -> None:
    outbox = Outbox(tmp_path / "outbox.sqlite")
    first = outbox.put("a.B", {"text": "before"}, "s", 1.0)
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    handler = signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    try:
        if cause == "database":
            [pages] = outbox._db.execute("PRAGMA page_count").fetchone()
            outbox._db.execute(f"PRAGMA max_page_count = {pages}")
        else:
            resource.setrlimit(resource.RLIMIT_FSIZE, (0, before[1]))
        with pytest.raises(StoreError, match="disk is full" if cause == "database" else "Could not save your text"):
            for _ in range(100):
                outbox.put("a.B", {"text": "x" * 4000}, "s", 1.0)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
        signal.signal(signal.SIGXFSZ, handler)
        outbox._db.execute("PRAGMA max_page_count = 1000000")
    assert outbox.rows()[0].given == {"text": "before"}
    assert outbox.put("a.B", {"text": "after"}, "s", 2.0)
    outbox.delivered(first, "id")
    assert outbox.rows()[-1].given == {"text": "after"}
    outbox.close()


FAILURES: dict[str, tuple[Callable[[Outbox], object], str]] = {
    "a draft is saved": (lambda outbox: outbox.save_draft("a", "Typed"), "Could not save your text: "),
    "a write is added": (lambda outbox: outbox.put("a.B", {"text": "Typed"}, "s", 1.0), "Could not save your text: "),
    "a draft is read": (lambda outbox: outbox.draft("a"), "Could not read the outbox: "),
    "the drafts are read": (Outbox.drafts, "Could not read the outbox: "),
    "the writes are read": (Outbox.rows, "Could not read the outbox: "),
    "the history is read": (Outbox.history, "Could not read the outbox: "),
    "a choice is read": (lambda outbox: outbox.recall("a"), "Could not read the outbox: "),
    "a choice is stored": (lambda outbox: outbox.remember("a", "1"), "Could not write the outbox: "),
    "choices are swapped": (lambda outbox: outbox.swap("a", None, {"a": "1"}), "Could not read the outbox: "),
    "a write is sent": (lambda outbox: outbox.sending(1, 2.0), "Could not write the outbox: "),
}
"""What is done with a file without its tables, and the beginning of the message."""


@each_case("name", FAILURES)
def test_a_message_says_that_a_text_was_not_saved_only_if_there_is_one(tmp_path: Path, name: str) -> None:
    do, message = FAILURES[name]
    outbox = Outbox(tmp_path / f"{name}.sqlite")
    for table in ("writes", "drafts", "history", "marks"):
        outbox._db.execute(f"DROP TABLE {table}")
    with pytest.raises(StoreError, match=f"^{message}no such table"):
        do(outbox)
    outbox.close()


def test_change_by_another_instance_is_reported_once(tmp_path: Path) -> None:
    here, there = (Outbox(tmp_path / "outbox.sqlite") for _ in range(2))
    here.put("a.B", {}, "s", 1.0)
    assert not here.changed_elsewhere(), "an instance's own writes are not reported"
    assert there.changed_elsewhere()
    assert not there.changed_elsewhere()
    here.close()
    there.close()


def test_undone_write_cannot_be_sent(tmp_path: Path) -> None:
    here, there = (Outbox(tmp_path / "outbox.sqlite") for _ in range(2))
    first, second = (here.put("a.B", {}, "s", 1.0) for _ in range(2))
    assert there.drop(first, unless_sending=True)
    assert not here.sending(first, time.time())
    assert here.sending(second, time.time())
    assert not there.drop(second, unless_sending=True)
    here.close()
    there.close()


def test_pending_and_failed_writes_can_be_rewritten(tmp_path: Path) -> None:
    outbox = Outbox(tmp_path / "outbox.sqlite")
    first, second, third = (outbox.put("a.B", {"text": text}, "s", 1.0) for text in ("one", "two", "three"))
    outbox.refuse(first, "not so")
    assert outbox.sending(third, 2.0)
    assert outbox.rewrite(first, {"text": "ein"})
    assert outbox.rewrite(second, {"text": "zwei"})
    assert not outbox.rewrite(third, {"text": "drei"}), "it is being sent"
    assert [(row.given["text"], row.state, row.error) for row in outbox.rows()] == [
        ("ein", "waiting", None),
        ("zwei", "waiting", None),
        ("three", "sending", None),
    ]
    outbox.close()


def test_collected_writes_stay_until_they_are_released(tmp_path: Path) -> None:
    outbox = Outbox(tmp_path / "outbox.sqlite")
    first, second = (outbox.put("a.B", {"text": text}, "s", 1.0, state="collected") for text in ("one", "two"))
    assert not outbox.sending(first, 2.0), "its pending review is not submitted"
    assert outbox.rewrite(first, {"text": "ein"})
    assert [row.state for row in outbox.rows()] == ["collected", "collected"]
    outbox.release((first, second), 3.0)
    assert [(row.given["text"], row.state, row.not_before) for row in outbox.rows()] == [
        ("ein", "waiting", 3.0),
        ("two", "waiting", 3.0),
    ]
    outbox.close()


def put_comment(outbox: Outbox, text: str, now: float = 1.0) -> int:
    return outbox.put("comments.PostComment", {"body": {"markdown": text}}, "s", now)


def test_second_schema_is_migrated_to_have_a_history(tmp_path: Path) -> None:
    outbox = Outbox(tmp_path / "outbox.sqlite")
    number = put_comment(outbox, "Typed before")
    outbox.save_draft("a", "draft")
    outbox.close()
    with sqlite3.connect(tmp_path / "outbox.sqlite") as database:
        database.execute("DROP TABLE history")
        database.execute("ALTER TABLE writes DROP COLUMN former")
        database.execute("ALTER TABLE writes DROP COLUMN undoes")
        database.execute("ALTER TABLE writes DROP COLUMN base")
        database.execute("ALTER TABLE writes DROP COLUMN agent")
        database.execute("ALTER TABLE writes DROP COLUMN target")
        database.execute("ALTER TABLE drafts DROP COLUMN changed_at")
        database.execute("ALTER TABLE drafts DROP COLUMN about")
        database.execute("PRAGMA user_version = 2")
    database.close()
    outbox = Outbox(tmp_path / "outbox.sqlite")
    assert (outbox.notice, outbox.draft("a"), outbox.history()) == (None, "draft", ())
    [draft] = outbox.drafts()
    assert (draft.key, draft.text, draft.changed_at, draft.about) == ("a", "draft", None, {})
    outbox.save_draft("a", "longer", {"space": "s"})
    outbox.save_draft("a", "longer still")
    outbox.move_drafts({"a": "b", "missing": "c"}, {"space": "t"})
    [draft] = outbox.drafts()
    assert (draft.key, draft.text, draft.about) == ("b", "longer still", {"space": "t"})
    assert draft.changed_at
    [row] = outbox.rows()
    assert (row.id, row.former, row.undoes, row.base, row.agent) == (number, None, None, None, None)
    outbox.note_former(number, {"text": "before"})
    outbox.delivered(number, "c1", result={"id": "c1"}, now=2.0)
    [ended] = outbox.history()
    assert (ended.id, ended.state, ended.given) == (number, "sent", {"body": {"markdown": "Typed before"}})
    assert (ended.former, ended.result, ended.created_at, ended.ended_at) == (
        {"text": "before"},
        {"id": "c1"},
        1.0,
        2.0,
    )
    outbox.close()


def test_sent_draft_is_deleted_unless_another_instance_changed_it(tmp_path: Path) -> None:
    here, there = (Outbox(tmp_path / "outbox.sqlite") for _ in range(2))
    here.save_draft("base", "page")
    here.save_draft("edit", "short")
    there.save_draft("edit", "short, and then longer")
    here.forget_draft("edit", "short", "base")
    here.forget_draft("edit", "", "base")
    here.forget_draft("missing", "short", "base")
    assert (here.draft("edit"), here.draft("base")) == ("short, and then longer", "page")
    there.forget_draft("edit", "short, and then longer", "base")
    assert here.drafts() == ()
    here.close()
    there.close()


def test_ended_writes_move_to_the_history(tmp_path: Path) -> None:
    outbox = Outbox(tmp_path / "outbox.sqlite")
    numbers = [put_comment(outbox, text) for text in ("sent", "discarded", "failed", "failed at once")]
    outbox.refuse(numbers[2], "not allowed")
    outbox.delivered(numbers[0], None, now=10.0)
    assert outbox.drop(numbers[1], now=11.0)
    assert outbox.drop(numbers[2], now=12.0)
    assert outbox.drop(numbers[3], error="offline", now=13.0)
    assert not outbox.drop(numbers[3])
    assert outbox.rows() == ()
    assert [(row.id, row.state, row.error) for row in outbox.history()] == [
        (numbers[3], "refused", "offline"),
        (numbers[2], "refused", "not allowed"),
        (numbers[1], "unsent", None),
        (numbers[0], "sent", None),
    ]
    outbox.close()


def test_drafts_of_an_added_page_move_to_its_id_unless_taken(tmp_path: Path) -> None:
    outbox = Outbox(tmp_path / "state.sqlite")
    row = outbox.put("addPage", {}, "/s", 1.0)
    outbox.save_draft(f"title waiting:{row}", "Typed offline")
    outbox.save_draft(f"text waiting:{row}", "Typed offline too")
    outbox.save_draft("text new", "Typed since")
    outbox.delivered(row, "new")
    assert outbox.rows() == ()
    keys = ("title new", f"text waiting:{row}", "text new")
    assert [outbox.draft(key) for key in keys] == ["Typed offline", "Typed offline too", "Typed since"]


@each_case("page", ["waiting:", "waiting:²", "waiting:" + "9" * 30, "waiting:1", "page"])
def test_added_page_returns_other_ids_unchanged(tmp_path: Path, page: str) -> None:
    assert Outbox(tmp_path / "state.sqlite").added_page(page) == page


def test_history_is_bounded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(outbox_module, "HISTORY_ROWS", 5)
    outbox = Outbox(tmp_path / "outbox.sqlite")
    for at in range(8):
        outbox.delivered(put_comment(outbox, str(at)), None, now=100.0 + at)
    assert [row.given["body"]["markdown"] for row in outbox.history()] == list("76543")
    outbox.delivered(put_comment(outbox, "later"), None, now=107.5 + HISTORY_SECONDS)
    assert [row.given["body"]["markdown"] for row in outbox.history()] == ["later"]
    outbox.close()


def test_write_is_undone_once_and_marked_when_all_parts_are_sent(tmp_path: Path) -> None:
    here, there = (Outbox(tmp_path / "outbox.sqlite") for _ in range(2))
    number = put_comment(here, "sent")
    parts = [("comments.DeleteComment", {"n": part}, "s", "waiting") for part in range(2)]
    assert here.put_undo(number, parts, 2.0, "me") == []  # only sent writes can be undone
    here.delivered(number, "c1", now=2.0)
    first, second = here.put_undo(number, parts, 3.0, "me")
    assert there.put_undo(number, parts, 3.0, "me") == []
    assert [row.undoes for row in there.rows()] == [number, number]
    here.delivered(first, None, now=4.0)
    assert [row.state for row in there.history()] == ["sent", "sent"]
    here.delivered(second, None, now=5.0)
    states = {row.id: row.state for row in there.history()}
    assert states == {number: "undone", first: "sent", second: "sent"}
    assert there.put_undo(number, parts, 6.0, "me") == []
    here.close()
    there.close()


def test_swap_fails_after_another_instance_changed_the_value(tmp_path: Path) -> None:
    outbox, other = Outbox(tmp_path / "outbox.sqlite"), Outbox(tmp_path / "outbox.sqlite")
    outbox.remember("gone", "1")
    assert outbox.swap("version", None, {"version": "1", "snapshot": "a", "gone": None})
    assert not other.swap("version", None, {"version": "1", "snapshot": "b"})
    assert (other.recall("version"), other.recall("snapshot"), other.recall("gone")) == ("1", "a", None)
    assert other.swap("version", "1", {"version": "2", "snapshot": "b"})
    assert outbox.recall("snapshot") == "b"
    outbox.close()
    other.close()


class TestOrder:
    """The order of writes: which writes wait for others, and how a write overtakes a failed one."""

    @pytest.fixture
    def outbox(self, tmp_path: Path) -> Iterator[Outbox]:
        opened = Outbox(tmp_path / "outbox.sqlite")
        yield opened
        opened.close()

    def put(self, outbox: Outbox, state: str = "waiting", scope: str = "s", **options: Any) -> int:
        number = outbox.put("a.B", {"comment_id": options.pop("comment", "c")}, scope, 1.0, **options)
        if state != "waiting":
            outbox.reschedule(number, 0.0, None, state=state)
        return number

    def test_writes_wait_for_the_oldest_write_of_their_scope(self, outbox: Outbox) -> None:
        self.put(outbox, "collected")
        self.put(outbox, "now")
        failed, elsewhere = self.put(outbox, "refused"), self.put(outbox, scope="other")
        behind, parked = self.put(outbox), self.put(outbox, "parked", scope="other")
        assert {number: row.id for number, row in outbox.ahead().items()} == {behind: failed, parked: elsewhere}
        assert {number: row.id for number, row in outbox.held_up().items()} == {behind: failed}
        outbox.drop(failed)
        outbox.drop(elsewhere)
        assert outbox.held_up() == {}

    def test_failed_write_of_another_user_blocks_nothing(self, outbox: Outbox) -> None:
        ada = self.put(outbox, "refused", author="ada")
        assert outbox.ahead() == {}
        own, unknown = self.put(outbox, author="me"), self.put(outbox)
        later, last = self.put(outbox, author="me"), self.put(outbox, author="ada")
        ahead = {number: row.id for number, row in outbox.ahead().items()}
        assert ahead == {unknown: ada, later: own, last: ada}, "a write without an author may be of the same user"

    def test_send_now_overtakes_failed_writes_and_later_writes_follow(self, outbox: Outbox) -> None:
        failed = self.put(outbox, "refused")
        reply = self.put(outbox, comment=f"waiting:{failed}")
        first = self.put(outbox)
        answer = self.put(outbox, comment=f"waiting:{reply}")
        later, other = self.put(outbox), self.put(outbox, "refused", scope="other")
        outbox.reschedule(first, 9e9, "Later")
        for number in (reply, answer):
            assert not outbox.send_now(number), "it needs the id that the failed write would return"
        assert {*outbox.held_up()} == {reply, first, answer, later}
        assert outbox.send_now(first)
        ahead = {number: row.id for number, row in outbox.ahead().items()}
        assert ahead == {reply: failed, answer: failed, later: first}
        assert len({row.scope for row in outbox.rows()}) == 3
        row = outbox.row(first)
        assert row
        assert (row.not_before, row.error, row.state) == (0, None, "waiting")
        assert [row.state for row in outbox.rows() if row.id in (failed, other)] == ["refused", "refused"]
        assert outbox.send_now(999), "a write that is gone was sent already"
