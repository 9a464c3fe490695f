"""The status of the connection, the log of requests, and the people in an organization."""

from __future__ import annotations

import asyncio
import time
from typing import Any

import pytest
from tests.engine.scripted_service import ScriptedService

from presscheck.api.operation import ALL, Operation
from presscheck.api.organizations import ListMembers
from presscheck.api.spaces import GetSpace
from presscheck.api.users import GetCurrentUser, User
from presscheck.client.request_priority import Priority, RequestRecord
from presscheck.engine import connection
from presscheck.engine.connection import MAX_COMMAND_LENGTH, Activity, ConnectionState, Entry, Status
from presscheck.engine.members import people_in, user_id
from presscheck.engine.writes.pending_writes import OutboxEntry
from presscheck.errors import Forbidden, NotFound, NotSupported, ServiceFailed

SPACE = GetSpace(space_id="s")


class TestStatus:
    """Tests of the connection status and its listeners."""

    def test_unsent_writes_are_counted_after_each_change(self) -> None:
        rows: list[OutboxEntry] = []
        connection = ConnectionState(lambda: tuple(rows), read_only=True)
        assert connection.status == Status(read_only=True)
        for state in ("waiting", "sending", "collected", "refused", "parked", "waiting"):
            rows.append(OutboxEntry(len(rows), None, "", state, None, 0.0))
        assert connection.status.waiting == 0, "it is not counted for each look"
        connection.notify()
        assert (connection.status.waiting, connection.status.refused) == (3, 2)

    def test_listeners_are_notified_until_they_stop(self) -> None:
        connection = ConnectionState(tuple, read_only=False)
        told: list[Status] = []
        stop = connection.listen(told.append)
        others: list[Status] = []

        def once(status: Status) -> None:
            others.append(status)
            stop()

        stop_other = connection.listen(once)
        connection.listen(others.append)
        connection.set_running("Syncing")
        assert [status.running for status in told] == ["Syncing"]
        assert len(others) == 2, "nobody is passed over when one stops"
        stop_other()
        connection.set_running(None)
        assert (len(told), len(others), others[-1].running) == (1, 3, None)

    def test_offline_since_is_the_time_of_the_first_notice(self) -> None:
        connection = ConnectionState(tuple, read_only=False)
        told: list[Status] = []
        connection.listen(told.append)
        before = time.time()
        connection.set_online(online=False)
        since = connection.status.offline_since
        assert since
        assert before <= since <= time.time()
        connection.set_online(online=False)
        assert (connection.status.offline_since, connection.status.online) == (since, False)
        connection.set_online(online=True)
        assert (connection.status.offline_since, connection.status.online) == (None, True)
        assert len(told) == 3


def record(path: str, call: Operation[Any] | None = None, **more: Any) -> RequestRecord:
    return RequestRecord("GET", path, 200, 12.5, 300, call, **more)


class TestActivity:
    """Tests of the log of requests and cache reads."""

    async def entries(self, activity: Activity) -> tuple[Entry, ...]:
        watching = activity.watch()
        found = await anext(watching)
        await watching.aclose()  # type: ignore[attr-defined]
        return found

    async def test_requests_and_cache_reads_are_listed_the_newest_first(self) -> None:
        activity = Activity()
        activity.record_request(record("/v1/spaces/s", SPACE, priority=Priority.PREFETCH))
        activity.record_request(record("/v1/other"))
        activity.record_cached(SPACE, time.perf_counter() - 0.5, 42, Priority.VISIBLE)
        cached, other, request = await self.entries(activity)
        assert (request.number, other.number, cached.number) == (1, 2, 3)
        assert (request.path, request.status, request.milliseconds, request.bytes) == ("/spaces/s", 200, 12.5, 300)
        assert (request.method, request.from_cache, request.priority) == ("GET", False, Priority.PREFETCH)
        assert (other.path, other.again, other.call) == ("/other", "", None)
        assert (cached.path, cached.status, cached.from_cache, cached.bytes) == ("/spaces/s", None, True, 42)
        assert cached.milliseconds >= 500
        assert cached.priority is Priority.VISIBLE
        assert cached.again == request.again
        assert cached.again.startswith("presscheck api ")

    async def test_a_command_line_that_is_too_long_is_not_shown(self, monkeypatch: pytest.MonkeyPatch) -> None:
        activity = Activity()
        long = GetSpace(space_id="s" * MAX_COMMAND_LENGTH)
        activity.record_request(record("/v1/x", long))
        activity.record_request(record("/v1/x", SPACE))
        short, too_long = await self.entries(activity)
        assert too_long.again == ""
        monkeypatch.setattr(connection, "MAX_COMMAND_LENGTH", len(short.again))
        activity.record_request(record("/v1/x", SPACE))
        assert (await self.entries(activity))[0].again == short.again

    async def test_watchers_get_each_change_and_the_log_is_bounded(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(connection, "MAX_ENTRIES", 2)
        activity = Activity()
        watching = activity.watch()
        assert await anext(watching) == ()
        for number in range(3):
            activity.record_request(record(f"/v1/{number}"))
        found = await asyncio.wait_for(anext(watching), 20)
        assert [entry.path for entry in found] == ["/2", "/1"]
        following = asyncio.create_task(anext(watching))  # type: ignore[arg-type]
        await asyncio.sleep(0)
        assert not following.done(), "nothing has happened since"
        activity.record_request(record("/v1/3"))
        assert (await following)[0].number == 4
        await watching.aclose()  # type: ignore[attr-defined]
        assert activity._listeners == set()


ADA, JON, NELL = (User(id=name, display_name=name.title()) for name in ("ada", "jon", "nell"))
MEMBERS = ListMembers(organization_id="o", limit=ALL)


class People(ScriptedService):
    """A service that may have no list of members."""

    missing: str | None = None

    def missing_reason(self, operation: type[Operation[Any]]) -> str | None:
        assert operation is ListMembers
        return self.missing

    async def people(self, organization: str) -> list[User]:
        assert organization == "o"
        return [NELL, ADA]


class TestMembers:
    """Tests of the list of people and of the signed-in user."""

    def service(self) -> People:
        def member(user: User, role: str | None) -> dict[str, Any]:
            return {"object": "member", "id": user.id, "role": role, "user": user.model_dump(by_alias=True)}

        return People([(MEMBERS, {"items": [member(ADA, "admin"), member(JON, None)]})])

    async def test_members_have_their_role(self) -> None:
        found = await people_in(self.service(), "o", [NELL])
        assert [(person.user.id, person.role) for person in found] == [("ada", "admin"), ("jon", "guest")]

    async def test_forbidden_list_of_members_is_replaced_by_known_users(self) -> None:
        service = People([(MEMBERS, Forbidden("No", request="", status=403))])
        found = await people_in(service, "o", [JON, None, ADA, JON])
        assert [(person.user.id, person.role) for person in found] == [("jon", ""), ("ada", "")]
        service.answer(MEMBERS, NotFound("No", request="", status=404))
        with pytest.raises(NotFound):
            await people_in(service, "o", [])

    async def test_without_a_list_of_members_known_users_and_other_people_are_added(self) -> None:
        service = self.service()
        service.missing = "This service has no list of members"
        found = await people_in(service, "o", [None, JON, User(id="known")])
        assert [(person.user.id, person.role) for person in found] == [
            ("ada", "admin"),
            ("jon", "guest"),
            ("known", ""),
            ("nell", ""),
        ]

    async def test_the_signed_in_user_may_be_unknown(self) -> None:
        service = People([(GetCurrentUser(), ADA.model_dump(by_alias=True))])
        assert await user_id(service) == "ada"
        service.answer(GetCurrentUser(), NotSupported("No", request="", status=404))
        assert await user_id(service) == ""
        service.answer(GetCurrentUser(), ServiceFailed("No", request="", status=500))
        with pytest.raises(ServiceFailed):
            await user_id(service)
