"""The history of writes: what each did and where, and why it can or cannot be undone."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.engine.scripted_service import ScriptedService
from tests.engine.write_samples import ORGANIZATION, REQUEST, SITE, THREAD, page, pages, text

from presscheck.api import collections, comments, organizations, sites, spaces
from presscheck.api.change_requests import GetChangeRequest, MergeChangeRequest, UpdateChangeRequest
from presscheck.api.operation import Operation
from presscheck.client.responses import read_answer
from presscheck.engine.results import Result
from presscheck.engine.shared_calls import changed_page
from presscheck.engine.writes.delivery import UndoGuard
from presscheck.engine.writes.descriptions import Place
from presscheck.engine.writes.history import NOT_SENT, OTHER_USER, UNKNOWN_REQUEST, UNREADABLE, WriteHistory
from presscheck.errors import ChangedSince, PresscheckError
from presscheck.store.outbox import Outbox

RENAME, GET = UpdateChangeRequest(**REQUEST, subject="After"), GetChangeRequest(**REQUEST)
FORMER = {"subject": "Before"}


class History:
    """A write history with a real outbox, and with scripted cached responses."""

    def __init__(self, outbox: Outbox) -> None:
        self.outbox, self.service = outbox, ScriptedService()
        self.answers: dict[str, Any] = {}
        self.resources: dict[tuple[str, str], dict[str, Any]] = {}
        self.missing: set[type[Operation[Any]]] = set()
        self.me: str | None = "me"
        guard = UndoGuard(outbox, self.service.read, self._keep)
        self.history = WriteHistory(outbox, guard, self, self._missing_reason, lambda: self.me)

    async def _keep(self, *_: Any) -> None:
        raise AssertionError("nothing is sent")

    def _missing_reason(self, operation: type[Operation[Any]]) -> str | None:
        return "This service has no such call" if operation in self.missing else None

    def known(self, call: Operation[Any], /) -> Any:
        return self.answers.get(call.key())

    def resource(self, kind: str, identity: str) -> dict[str, Any]:
        return self.resources.get((kind, identity), {})

    def cache(self, call: Operation[Any], answer: bytes) -> None:
        self.answers[call.key()] = Result(read_answer(call, answer), "cached", 0.0)

    def sent(self, call: Operation[Any], former: Any = None, result: Any = None, author: str | None = "me") -> int:
        number = self.outbox.put(call.stored_name(), call.given(), "scope", 1.0, author=author)
        if former is not None:
            self.outbox.note_former(number, former)
        self.outbox.delivered(number, None, result=result)
        return number

    def reason(self, number: int) -> str | None:
        entry = self.history.entry(number)
        assert entry
        assert (entry.inverse == "") == (entry.reason is not None), "a sentence for what can be undone only"
        return entry.reason


@pytest.fixture
def at(tmp_path: Path) -> Iterator[History]:
    outbox = Outbox(tmp_path / "outbox.sqlite")
    yield History(outbox)
    outbox.close()


def test_an_entry_describes_the_write_and_its_undo(at: History) -> None:
    number = at.sent(RENAME, FORMER)
    unreadable = at.outbox.put("noSuchOperation", {}, "scope", 2.0, agent="Bot")
    at.outbox.drop(unreadable, error="Broken")
    newest, oldest = at.history.entries()
    assert (oldest.id, oldest.call, oldest.state, oldest.error) == (number, RENAME, "sent", None)
    assert (oldest.name, oldest.created_at, oldest.undoes) == (RENAME.stored_name(), 1.0, None)
    assert (oldest.description, oldest.inverse) == ("change subject to “After”", "Restores the subject “Before”")
    assert oldest.place == Place(space="api", request="5")
    assert oldest.ended_at > oldest.created_at
    assert (oldest.agent, newest.agent) == ("", "Bot")
    assert (newest.call, newest.reason, newest.inverse, newest.place) == (None, UNREADABLE, "", Place())
    assert (newest.description, newest.error, newest.state) == ("no such operation", "Broken", "refused")
    assert at.history.entry(number) == oldest
    assert at.history.entry(999) is None


def test_reasons_against_an_undo(at: History) -> None:
    assert at.reason(at.sent(RENAME, FORMER)) is None
    assert at.reason(at.sent(RENAME, FORMER, author=None)) is None
    other = at.sent(RENAME, FORMER, author="ada")
    assert at.reason(other) == OTHER_USER
    at.me = None
    assert at.reason(other) is None, "nobody knows who is signed in"
    at.me = "me"
    assert at.reason(at.sent(RENAME)) == "the former value is not known"
    merge = at.reason(at.sent(MergeChangeRequest(**REQUEST)))
    assert merge
    assert "revert" in merge or "undone" in merge
    unsent, refused = (at.outbox.put(RENAME.stored_name(), RENAME.given(), "scope", 1.0) for _ in range(2))
    at.outbox.drop(unsent)
    at.outbox.drop(refused, error="No")
    assert (at.reason(unsent), at.reason(refused)) == (NOT_SENT["unsent"], NOT_SENT["refused"])
    too_long = at.sent(RENAME, {"subject": "x" * 200})
    assert "subject: must have at most" in (at.reason(too_long) or ""), "this version does not accept the former value"
    at.missing = {UpdateChangeRequest}
    assert at.reason(at.sent(RENAME, FORMER)) == "This service has no such call"


def test_pending_undo_is_the_reason_against_another_undo(at: History) -> None:
    number, other = at.sent(RENAME, FORMER), at.sent(RENAME, FORMER)
    back = (RENAME.stored_name(), RENAME.given(), "scope", "waiting")
    [undo] = at.outbox.put_undo(number, [back], 2.0, "me")
    assert at.reason(number) == "its undo is in the outbox"
    assert {entry.id: entry.is_being_undone for entry in at.history.entries()} == {number: True, other: False}
    with pytest.raises(PresscheckError, match="Not undone: its undo is in the outbox"):
        at.history.calls(number)
    at.outbox.delivered(undo, None)
    assert at.reason(number) == NOT_SENT["undone"]
    entry = at.history.entry(undo)
    assert entry
    assert (entry.undoes, entry.is_being_undone) == (number, False)


async def test_an_undo_is_checked_before_it_is_sent(at: History) -> None:
    number = at.sent(RENAME, FORMER)
    [call] = at.history.calls(number)
    assert call == UpdateChangeRequest(**REQUEST, subject="Before")
    request = {"object": "change-request", "id": "5", "space": "api"}
    at.service.answer(GET, {**request, "subject": "After"})
    await at.history.check(number)
    at.service.answer(GET, {**request, "subject": "Other"})
    with pytest.raises(ChangedSince):
        await at.history.check(number)
    at.service.answer(GET, {**request, "subject": "Before"})
    with pytest.raises(PresscheckError, match="Not undone: it is already as it was before"):
        await at.history.check(number)
    unknown = at.sent(RENAME)
    for gone, reason in ((999, "the history does not have it"), (unknown, "the former value is not known")):
        with pytest.raises(PresscheckError, match=f"Not undone: {reason}"):
            await at.history.check(gone)
        with pytest.raises(PresscheckError, match=f"Not undone: {reason}"):
            at.history.calls(gone)


async def test_write_without_an_author_is_treated_as_a_write_of_the_user(at: History) -> None:
    react = comments.UpdateComment(**THREAD, added_reactions=("1f44d",))
    number = at.sent(react, {"reactions": []}, author=None)
    me = {"object": "user", "id": "me"}
    reaction = {"emoji": "1f44d", "count": 1, "users": [{"user": me}]}
    comment = {"object": "comment", "id": "c1", "postedBy": me, "reactions": [reaction]}
    at.service.answer(comments.GetComment(**THREAD, format="markdown"), comment)
    await at.history.check(number)
    [call] = at.history.calls(number)
    assert call == comments.UpdateComment(**THREAD, removed_reactions=("1f44d",))
    joined = at.sent(organizations.JoinOrganization(**ORGANIZATION), {"joined": False}, author=None)
    assert at.history.calls(joined) == (organizations.RemoveMember(**ORGANIZATION, user_id="me"),)


def test_places_have_cached_names(at: History) -> None:
    edit = pages(page(page="p1", title="New"))
    noted = {"revision": "r1", "places": {}, "orders": []}, {"revision": "r2", "pages": [None]}
    calls: list[tuple[Operation[Any], Any, Any]] = [
        (comments.PostComment(**REQUEST, body=text("Hi")), None, {"id": "c1"}),
        (edit, *noted),
        (sites.UpdateSite(**SITE, title="New"), {"title": "Old"}, None),
        (spaces.UpdateSpace(space_id="api", title="New"), {"title": "Old"}, None),
        (collections.CreateCollection(**ORGANIZATION, title="New"), None, {"id": "col"}),
    ]
    for call, former, result in calls:
        at.sent(call, former, result)

    def names() -> list[str]:
        return [entry.place_name for entry in reversed(at.history.entries())]

    assert names() == [UNKNOWN_REQUEST, UNKNOWN_REQUEST, "site site", "space api", "collection col"]
    at.resources = {
        ("change-request", "5"): {"number": 5, "subject": "Listed"},
        ("site", "site"): {"title": "Docs"},
        ("space", "api"): {"title": "API docs"},
        ("collection", "col"): {"title": "Guides"},
    }
    assert names() == ["#5 Listed", "#5 Listed", "Docs", "API docs", "Guides"]
    at.cache(GET, b'{"id": "5", "space": "api", "number": 5, "subject": "Read"}')
    at.cache(changed_page("api", "5", "p1"), b'{"id": "p1", "type": "document", "title": "Tokens"}')
    assert names()[:2] == ["#5 Read", "#5 Read › Tokens"]
    at.resources[("change-request", "5")] = {"number": 6}
    at.answers.clear()
    assert names()[0] == "#6 "
