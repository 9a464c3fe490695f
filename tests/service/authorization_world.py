"""The world of the authorization tests: a service in this process, callers with every role, and two places.

A place is a collection with a space and one item of every kind, together with a site, integrations and more. In the
open place, members have the level of their role. In the private place, only admins and teams with a grant have a level.
"""

from __future__ import annotations

import asyncio
import sqlite3
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from datetime import timedelta
from pathlib import Path
from typing import Any

import httpx
from sqlalchemy import event, inspect, text
from sqlalchemy.orm import Session
from tests.running_service import LOOPBACK
from tests.service.authorization_place import TEAM, PlaceBuilder
from tests.web_server import WebServer, web_server

from presscheck.api.operation import Operation
from presscheck.service.app import Adapter, build
from presscheck.service.db.engine import Database
from presscheck.service.db.ids import hash_token, moment_text, new_id, system_clock
from presscheck.service.db.signing import make_key
from presscheck.service.models.organizations import MemberRow, OrganizationRow, UserRow
from presscheck.service.models.teams import TeamMemberRow, TeamRow
from presscheck.service.permissions import LEVELS
from presscheck.service.server.api_tokens import ID_LENGTH, create_token, revoke_token

OPEN, PRIVATE = "open", "private"
PLACES = (OPEN, PRIVATE)


@dataclass(frozen=True)
class Caller:
    """A sender of requests: `role` in the organization, and the level that a team is `granted` in the private place."""

    name: str
    is_signed_in: bool = True
    is_member: bool = True
    is_disabled: bool = False
    role: str | None = None
    granted: str | None = None

    def level_in(self, place: str) -> str | None:
        """Return the level of the caller in a place, or None if the caller may not see the place."""
        if place == OPEN or self.role == "admin":
            return self.role
        return self.granted


STRANGERS = tuple(
    Caller(name, is_signed_in=False, is_member=False)
    for name in ("no token", "invalid token", "expired token", "revoked token")
)
OUTSIDER, GUEST = Caller("outsider", is_member=False), Caller("guest")
DISABLED = Caller("disabled admin", is_member=False, is_disabled=True)
"""A member with the admin role whose membership is disabled, which leaves no permissions."""
MEMBERS = tuple(Caller(role, role=role) for role in LEVELS)
GRANTED = tuple(Caller(f"guest granted {level}", granted=level) for level in LEVELS)
"""Guests of the organization whose team has a level in the private place."""
HOME_ADMIN = MEMBERS[-1]
_IN_BOTH = (*STRANGERS, OUTSIDER, DISABLED, GUEST, *MEMBERS)
CALLERS = {OPEN: _IN_BOTH, PRIVATE: (*_IN_BOTH, *GRANTED)}


class InProcessService:
    """The service, called without a socket. Its database can be restored to a saved state."""

    def __init__(self, directory: Path, database_url: str | None = None) -> None:
        self.directory = directory
        path = directory / "service.sqlite"
        self.database = Database(database_url or f"sqlite:///{path}")
        if not database_url:
            event.listen(self.database.engine, "connect", _without_waiting_for_the_disk)
            self.database.engine.dispose()
        allowed = replace(LOOPBACK, git_root=_repositories(directory / "git"))
        self._app = build(self.database, data_dir=directory, outside=allowed)
        self._transport = httpx.ASGITransport(app=self._app)
        self._state = PostgresqlState(self.database) if database_url else SqliteState(path)

    async def send(self, call: Operation[Any], token: str | None) -> httpx.Response:
        """Send a call with a token; None sends no authorization."""
        # a client would join URLs and look for cookies, which takes a tenth of the time of these tests
        request = httpx.Request(
            call.method(),
            "http://presscheck.test/v1" + call.wire_path(),
            params=call.wire_query(),
            json=call.wire_body(),
            headers={"authorization": f"Bearer {token}"} if token else {},
        )
        response = await self._transport.handle_async_request(request)
        await response.aread()
        return response

    def save(self) -> None:
        self._state.save()

    def restore(self) -> bool:
        """Restore the saved state of the database. Returns True if the database had changed."""
        return self._state.restore()

    def close(self) -> None:
        for route in self._app.routes:
            endpoint = getattr(route, "endpoint", None)
            if isinstance(endpoint, Adapter):
                endpoint.workers.outgoing.close()
        self._state.close()
        self.database.close()


class SqliteState:
    """The saved state of an SQLite database."""

    def __init__(self, path: Path) -> None:
        self._live = sqlite3.connect(path, isolation_level=None)
        self._saved = sqlite3.connect(":memory:")
        self._version = 0

    def save(self) -> None:
        self._live.backup(self._saved)
        self._version = self._data_version()

    def restore(self) -> bool:
        if self._data_version() == self._version:
            return False
        self._saved.backup(self._live)
        self._version = self._data_version()
        return True

    def close(self) -> None:
        self._live.close()
        self._saved.close()

    def _data_version(self) -> int:
        return self._live.execute("PRAGMA data_version").fetchone()[0]


class PostgresqlState:
    """The saved state of a PostgreSQL database; triggers record the tables that changed since."""

    def __init__(self, database: Database) -> None:
        self._connection = database.engine.connect().execution_options(isolation_level="AUTOCOMMIT")

    def save(self) -> None:
        self._run("CREATE SCHEMA saved", "CREATE TABLE saved.changed (name text)")
        self._run(
            "CREATE FUNCTION saved.note() RETURNS trigger LANGUAGE plpgsql AS "
            "'BEGIN INSERT INTO saved.changed VALUES (TG_TABLE_NAME); RETURN NULL; END'"
        )
        for table in inspect(self._connection).get_table_names():
            self._run(f'CREATE TABLE saved."{table}" AS TABLE public."{table}"')
            self._run(
                f'CREATE TRIGGER note AFTER INSERT OR UPDATE OR DELETE ON public."{table}" '
                "FOR EACH ROW EXECUTE FUNCTION saved.note()"
            )
        self._run("SET session_replication_role = replica")  # restore without triggers and foreign keys

    def restore(self) -> bool:
        changed = self._connection.execute(text("SELECT DISTINCT name FROM saved.changed")).scalars().all()
        for table in changed:
            columns = ", ".join(
                f'"{column["name"]}"'
                for column in inspect(self._connection).get_columns(table)
                if not column.get("computed")
            )
            self._run(f'DELETE FROM public."{table}"')
            self._run(f'INSERT INTO public."{table}" ({columns}) SELECT {columns} FROM saved."{table}"')
        if changed:
            self._run("DELETE FROM saved.changed")
        return bool(changed)

    def close(self) -> None:
        self._connection.close()

    def _run(self, *statements: str) -> None:
        for statement in statements:
            self._connection.execute(text(statement))


class World:
    """All callers with their tokens and user ids, and the ids of the items in each place."""

    def __init__(self, service: InProcessService, website: WebServer) -> None:
        self.service = service
        self.website = website
        self.tokens: dict[str, str | None] = {}
        self.users: dict[str, str] = {}
        self.ids: dict[str, dict[str, Any]] = {}

    def id(self, name: str, caller: Caller, place: str) -> Any:
        """Return the id of an item of a place. Names that start with ``own_`` are items of the caller."""
        known = self.ids[place]
        return known[f"{name} of {self.users[caller.name]}"] if name.startswith("own_") else known[name]

    def outgoing_requests(self) -> int:
        """Return the number of requests to the website since the last call, and reset it."""
        count = len(self.website.asked) + len(self.website.posted)
        self.website.asked.clear()
        self.website.posted.clear()
        return count


@contextmanager
def authorization_world(directory: Path, database_url: str | None = None) -> Iterator[World]:
    """Build the world on a new database."""
    service = InProcessService(directory, database_url)
    try:
        with web_server({"/a.txt": "a"}) as website:
            world = World(service, website)
            _build(world)
            service.save()
            yield world
    finally:
        service.close()


def _repositories(folder: Path) -> Path:
    """Create a bare repository with one commit. Returns its parent folder."""
    repository = folder / "lamps.git"
    subprocess.run(["git", "init", "-q", "--bare", repository], check=True)
    commit = b"commit refs/heads/main\ncommitter Ann <ann@example.org> 0 +0000\ndata 3\nAll\n"
    file = b"M 100644 inline README.md\ndata 7\n# Home\n\n"
    subprocess.run(["git", "-C", repository, "fast-import", "--quiet"], input=commit + file, check=True)
    return folder


def _without_waiting_for_the_disk(connection: Any, _record: Any) -> None:
    connection.execute("PRAGMA synchronous=OFF").close()


def _build(world: World) -> None:
    service = world.service
    with service.database.writing.begin() as session:
        make_key(session)
        ids = _people(world, session)
    with asyncio.Runner() as runner:

        def make(call: Operation[Any]) -> Any:
            response = runner.run(service.send(call, world.tokens["owner"]))
            assert response.is_success, (call, response.text)
            return call.read_answer(response.content)

        builder = PlaceBuilder(service.database, service.directory, make, ids, world.users, world.website.url)
        shared = builder.shared()
        world.ids = {place: builder.place(shared, is_private=place == PRIVATE) for place in PLACES}


def _people(world: World, session: Session) -> dict[str, str]:
    """Add organizations, users with tokens, and teams. Returns the ids of all but the callers."""
    now = moment_text(system_clock())
    domains = {"home": ["example.org"], "elsewhere": [], "third": [], "joinable": ["example.org", "outside.example"]}
    organizations = {
        name: OrganizationRow(id=new_id(), title=name.title(), email_domains=allowed, created_at=now)
        for name, allowed in domains.items()
    }
    session.add_all(organizations.values())
    home = organizations["home"].id
    ids = {f"{name}_id": row.id for name, row in organizations.items()}

    def add_user(name: str, role: str | None, *, is_member: bool = True) -> str:
        domain = "example.org" if is_member else "outside.example"
        user_id = world.users[name] = new_id()
        email = f"{name.replace(' ', '-')}@{domain}"
        session.add(UserRow(id=user_id, display_name=name.title(), email=email, created_at=now))
        if is_member:
            session.add(MemberRow(organization_id=home, user_id=user_id, role=role, joined_at=now))
        session.flush()
        world.tokens[name] = create_token(session, system_clock, user_id, None, None)
        return user_id

    def add_team(title: str, members: list[str], role: str = "member") -> str:
        team = TeamRow(id=new_id(), organization_id=home, title=title, created_at=now)
        session.add_all((team, *(TeamMemberRow(team_id=team.id, user_id=user, role=role) for user in members)))
        return team.id

    owner = add_user("owner", "admin")
    ids["member_id"] = add_user("member", "comment")
    ids["newcomer_id"] = add_user("newcomer", "comment")
    callers = [add_user(caller.name, caller.role, is_member=caller.is_member) for caller in _signed_in()]
    session.add(
        MemberRow(organization_id=home, user_id=world.users[DISABLED.name], role="admin", disabled=True, joined_at=now)
    )
    for caller in STRANGERS:
        world.users[caller.name] = owner
    for name in ("elsewhere", "third"):
        for user in [owner, *callers] if name == "elsewhere" else [owner]:
            session.add(MemberRow(organization_id=ids[f"{name}_id"], user_id=user, role="admin", joined_at=now))
    ids["team_id"] = add_team("Writers", [ids["member_id"]])
    everyone = [owner, *(world.users[caller.name] for caller in _signed_in() if caller is not OUTSIDER)]
    ids["members_team_id"] = add_team("Members", everyone)
    ids["owners_team_id"] = add_team("Owners", everyone, "owner")
    ids["granted_team_id"] = add_team(TEAM, [ids["member_id"]])
    for level in LEVELS:
        ids[f"team_with_{level}"] = add_team(f"With {level}", [world.users[f"guest granted {level}"]])
    _add_invalid_tokens(world, session)
    return ids


def _signed_in() -> tuple[Caller, ...]:
    return (OUTSIDER, DISABLED, GUEST, *MEMBERS, *GRANTED)


def _add_invalid_tokens(world: World, session: Session) -> None:
    """Add the tokens of callers that are not signed in; the expired and the revoked token belong to an admin."""
    admin = world.users["admin"]
    session.flush()
    expired = create_token(session, lambda: system_clock() - timedelta(days=2), admin, None, 1)
    revoked = create_token(session, system_clock, admin, None, None)
    session.flush()
    revoke_token(session, hash_token(revoked)[:ID_LENGTH])
    world.tokens |= {"no token": None, "invalid token": "invalid", "expired token": expired, "revoked token": revoked}
