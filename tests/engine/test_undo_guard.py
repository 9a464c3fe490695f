"""The undo guard: it notes the values that a write replaces, and no undo overwrites a later change."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.engine.scripted_service import ScriptedService
from tests.engine.write_samples import REQUEST, THREAD, page, pages, text

from presscheck.api import comments
from presscheck.api.change_requests import GetChangeRequest, UpdateChangeRequest
from presscheck.api.operation import Operation
from presscheck.engine.writes.delivery import GONE, UndoGuard, sent_write
from presscheck.errors import ChangedSince, Forbidden, NetworkError, PresscheckError, TooManyRequests
from presscheck.store.outbox import Outbox, Row

RENAME = UpdateChangeRequest(**REQUEST, subject="After")
BACK = UpdateChangeRequest(**REQUEST, subject="Before")
GET = GetChangeRequest(**REQUEST)
FORMER = {"subject": "Before"}
DENIED = Forbidden("No", request="", status=403)


def present(subject: str, **more: Any) -> dict[str, Any]:
    return {"object": "change-request", "id": "5", "space": "api", "subject": subject, **more}


class Guarded:
    """A guard with a real outbox; `kept` are the writes before which it saved the state of a site."""

    def __init__(self, outbox: Outbox) -> None:
        self.outbox, self.service = outbox, ScriptedService()
        self.kept: list[tuple[Operation[Any], int]] = []
        self.guard = UndoGuard(outbox, self.service.read, self._keep)

    async def _keep(self, call: Operation[Any], number: int) -> None:
        self.kept.append((call, number))

    def row(self, call: Operation[Any], *, state: str = "waiting", now: float = 1.0) -> Row:
        number = self.outbox.put(call.stored_name(), call.given(), "scope", now)
        if state != "waiting":
            self.outbox.reschedule(number, 0, None, state=state)
        return self._row(number)

    def sent(self, call: Operation[Any], former: Any = None, result: Any = None, *, author: str | None = "me") -> int:
        """Record a write as sent. Returns its number."""
        number = self.outbox.put(call.stored_name(), call.given(), "scope", 1.0, author=author)
        if former is not None:
            self.outbox.note_former(number, former)
        self.outbox.delivered(number, None, result=result)
        return number

    def undoing(self, number: int, *calls: Operation[Any], now: float = 1.0) -> list[Row]:
        rows = [(call.stored_name(), call.given(), "scope", "waiting") for call in calls]
        return [self._row(row) for row in self.outbox.put_undo(number, rows, now, "me")]

    async def message(self, number: int) -> str:
        """Return why a write is not undone."""
        ended = self.outbox.ended(number)
        assert ended
        with pytest.raises(ChangedSince) as caught:
            await self.guard.compare(ended, "me")
        return caught.value.message

    def _row(self, number: int) -> Row:
        row = self.outbox.row(number)
        assert row
        return row


@pytest.fixture
def guarded(tmp_path: Path) -> Iterator[Guarded]:
    outbox = Outbox(tmp_path / "outbox.sqlite")
    yield Guarded(outbox)
    outbox.close()


async def test_former_values_are_noted_before_a_write_is_first_sent(guarded: Guarded) -> None:
    guarded.service.answer(GET, present("Before"))
    row = guarded.row(RENAME)
    assert await guarded.guard.prepare(row, RENAME, "me")
    assert guarded.outbox.row(row.id).former == FORMER  # type: ignore[union-attr]
    assert guarded.kept == [(RENAME, row.id)]
    # after an attempt of unknown delivery, the present values may be those of the write itself
    again = guarded.row(RENAME, state="sending")
    assert await guarded.guard.prepare(again, RENAME, "me")
    assert guarded.outbox.row(again.id).former is None  # type: ignore[union-attr]
    assert guarded.kept == [(RENAME, row.id)]
    assert guarded.service.sent == [GET]


@pytest.mark.parametrize(
    ("error", "is_raised"),
    [
        (NetworkError("Gone", request=""), True),
        (TooManyRequests("Wait", request="", status=429), True),
        (DENIED, False),
    ],
    ids=["network", "rate limit", "denied"],
)
async def test_denied_read_of_the_former_value_does_not_prevent_a_write(
    guarded: Guarded, error: PresscheckError, *, is_raised: bool
) -> None:
    guarded.service.answer(GET, error)
    row = guarded.row(RENAME)
    if is_raised:  # it is tried again later, and then it has its undo
        with pytest.raises(type(error)):
            await guarded.guard.prepare(row, RENAME, "me")
    else:
        assert await guarded.guard.prepare(row, RENAME, "me")
    assert guarded.outbox.row(row.id).former is None  # type: ignore[union-attr]


async def test_undo_is_sent_only_if_the_written_value_is_unchanged(guarded: Guarded) -> None:
    number = guarded.sent(RENAME, FORMER)
    [row] = guarded.undoing(number, BACK)
    guarded.service.answer(GET, present("After"))
    assert await guarded.guard.prepare(row, BACK, "me")
    guarded.service.answer(GET, present("Before"))
    assert not await guarded.guard.prepare(row, BACK, "me"), "it is as it was before"
    guarded.service.answer(GET, present("Another"))
    with pytest.raises(ChangedSince) as caught:
        await guarded.guard.prepare(row, BACK, "me")
    assert (caught.value.written, caught.value.present) == ("After", "Another")
    assert caught.value.message == "Not undone: changed by others since. You wrote “After”; now it is “Another”"
    assert guarded.kept == [(BACK, row.id)], "of what is not sent, nothing is kept"


async def test_parts_of_the_same_undo_are_not_later_changes(guarded: Guarded) -> None:
    number = guarded.sent(RENAME, FORMER)
    guarded.service.answer(GET, present("Half undone"))
    first, second = guarded.undoing(number, BACK, BACK, now=7.0)
    guarded.outbox.drop(first.id)
    with pytest.raises(ChangedSince):
        await guarded.guard.prepare(second, BACK, "me")  # the first part was not sent
    guarded.outbox.drop(second.id)
    first, second = guarded.undoing(number, BACK, BACK, now=8.0)
    guarded.outbox.delivered(first.id, None)
    assert await guarded.guard.prepare(second, BACK, "me")
    guarded.outbox.drop(second.id)
    [row] = guarded.undoing(number, BACK, now=9.0)
    with pytest.raises(ChangedSince):
        await guarded.guard.prepare(row, BACK, "me")  # the sent part belongs to another undo


async def test_write_that_is_gone_from_the_history_cannot_be_compared(
    guarded: Guarded, monkeypatch: pytest.MonkeyPatch
) -> None:
    unreadable = guarded.outbox.put("noSuchOperation", {}, "scope", 1.0)
    guarded.outbox.delivered(unreadable, None)
    assert await guarded.message(unreadable) == GONE
    without_inverse = guarded.sent(comments.DeleteComment(**THREAD))
    assert await guarded.message(without_inverse) == GONE
    number = guarded.sent(RENAME, FORMER)
    [row] = guarded.undoing(number, BACK)
    monkeypatch.setattr("presscheck.store.outbox.HISTORY_ROWS", 0)
    guarded.sent(RENAME)
    with pytest.raises(ChangedSince, match=GONE):
        await guarded.guard.prepare(row, BACK, "me")


LATER: dict[str, tuple[Callable[[Guarded], Any], str | None]] = {
    "the same field": (lambda guarded: guarded.sent(BACK), "change subject to “Before”"),
    "another field": (lambda guarded: guarded.sent(UpdateChangeRequest(**REQUEST, status="archived")), None),
    "of another user": (lambda guarded: guarded.sent(BACK, author="ada"), None),
    "without a known author": (lambda guarded: guarded.sent(BACK, author=None), "change subject to “Before”"),
    "elsewhere": (
        lambda guarded: guarded.sent(UpdateChangeRequest(space_id="api", change_request_id="6", subject="Before")),
        None,
    ),
    "not sent": (lambda guarded: guarded.outbox.drop(guarded.row(BACK).id), None),
}


@pytest.mark.parametrize("kind", LATER)
async def test_own_later_change_is_named(guarded: Guarded, kind: str) -> None:
    later, description = LATER[kind]
    guarded.sent(UpdateChangeRequest(**REQUEST, subject="Earlier"))
    number = guarded.sent(RENAME, FORMER)
    later(guarded)
    guarded.service.answer(GET, present("Other"))
    cause = f"you changed it again since ({description}): undo that first" if description else "changed by others since"
    assert await guarded.message(number) == f"Not undone: {cause}. You wrote “After”; now it is “Other”"


async def test_later_writes_to_what_a_write_created_are_own_changes(guarded: Guarded) -> None:
    post = comments.PostComment(**REQUEST, body=text("Hello"))
    number = guarded.sent(post, result={"id": "c1"})
    get = comments.GetComment(**THREAD, format="markdown")
    user = {"object": "user", "id": "me"}
    guarded.service.answer(get, {"object": "comment", "id": "c1", "postedBy": user, "body": {"markdown": "Bye"}})
    guarded.sent(comments.UpdateComment(**{**THREAD, "comment_id": "c2"}, body=text("Bye")))
    assert "changed by others" in await guarded.message(number)
    guarded.sent(comments.UpdateComment(**THREAD, body=text("Bye")))
    assert "you changed it again since (edit comment)" in await guarded.message(number)


async def test_only_later_edits_of_the_same_page_are_own_changes(guarded: Guarded) -> None:
    def edit(*ids: str) -> Operation[Any]:
        return pages(*(page(page=identity, title="New") for identity in ids))

    first = guarded.sent(
        edit("p1", "p2"), {"revision": "r1", "places": {}, "orders": []}, {"revision": "r2", "pages": []}
    )
    ended, guard = guarded.outbox.ended(first), guarded.guard
    assert ended
    sent = sent_write(ended, "me")
    assert sent
    guarded.sent(edit("p3"))
    assert guard._own_later_change(ended, sent) is None
    guarded.sent(edit("p3", "p2"))
    assert guard._own_later_change(ended, sent)


async def test_long_texts_are_quoted_in_part_on_one_line(guarded: Guarded) -> None:
    # the ellipsis replaces the space before the cut
    written, now = f"{'a' * 198} {'b' * 9}", f"{'c' * 100}\n\n{'d' * 99}"
    number = guarded.sent(comments.UpdateComment(**THREAD, body=text(written)), {"text": "Old"})
    user = {"object": "user", "id": "me"}
    answer = {"object": "comment", "id": "c1", "postedBy": user, "body": {"markdown": now}}
    guarded.service.answer(comments.GetComment(**THREAD, format="markdown"), answer)
    assert (await guarded.message(number)).endswith(f"You wrote “{'a' * 198}…”; now it is “{'c' * 100} {'d' * 99}”")


def test_author_of_a_write_defaults_to_the_signed_in_user(guarded: Guarded) -> None:
    authors = []
    for author in ("ada", None):
        ended = guarded.outbox.ended(guarded.sent(RENAME, FORMER, author=author))
        assert ended
        sent = sent_write(ended, "me")
        assert sent
        assert (sent.call, sent.former, sent.result) == (RENAME, FORMER, None)
        authors.append(sent.me)
    assert authors == ["ada", "me"]


async def test_only_reactions_of_the_author_are_compared(guarded: Guarded) -> None:
    react = comments.UpdateComment(**THREAD, added_reactions=("1f44d",))

    def reacted(*names: str) -> dict[str, Any]:
        users = [{"user": {"object": "user", "id": name}} for name in names]
        reactions = [{"emoji": "1f44d", "count": len(users), "users": users}]
        return {"object": "comment", "id": "c1", "postedBy": users[0]["user"], "reactions": reactions}

    get = comments.GetComment(**THREAD, format="markdown")
    guarded.service.answer(get, reacted("ada", "me"))
    row = guarded.row(react)
    assert await guarded.guard.prepare(row, react, "me")
    assert guarded.outbox.row(row.id).former == {"reactions": ["1f44d"]}  # type: ignore[union-attr]
    [undo] = guarded.undoing(guarded.sent(react, {"reactions": []}, author=None), react)
    assert await guarded.guard.prepare(undo, react, "me")
    guarded.service.answer(get, reacted("ada"))
    assert not await guarded.guard.prepare(undo, react, "me"), "the one of another user is not in the way"
