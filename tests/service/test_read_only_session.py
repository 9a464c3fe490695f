"""A session that only reads returns what another session returns, as plain values, and writes nothing."""

from __future__ import annotations

import asyncio
import threading
import time
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import bindparam, func, select
from sqlalchemy.exc import DBAPIError, NoResultFound
from tests.service.counted_service import CountedService
from tests.service.factories import plant_world

from presscheck.service.db.engine import Database
from presscheck.service.db.ids import hash_token
from presscheck.service.db.prepared_statements import named_rows
from presscheck.service.models.content import RevisionRow
from presscheck.service.models.organizations import MemberRow, TokenRow, UserRow
from presscheck.service.models.spaces import SpaceRow
from presscheck.service.models.table import Table
from presscheck.service.sample import plant_many

_BY_IDS = select(UserRow).where(UserRow.id.in_(bindparam("ids", expanding=True))).order_by(UserRow.id)
_MEMBERS = select(MemberRow.user_id, MemberRow.disabled, func.count()).where(
    MemberRow.organization_id == bindparam("organization")
)
_BY_ROLE = (
    _MEMBERS.where(func.coalesce(MemberRow.role, "").in_(bindparam("roles", expanding=True)))
    .group_by(MemberRow.user_id, MemberRow.disabled)
    .order_by(MemberRow.user_id)
)


def test_rows_are_those_of_another_session(database_url: str) -> None:
    world = plant_world(database_url, "http://127.0.0.1:1")
    with closing(Database(database_url)) as database:
        database.write(lambda session: plant_many(session, 20))
        seen = 0
        with database.reading.begin() as session, database.snapshot() as snapshot:
            for mapper in Table.registry.mappers:
                entity: Any = mapper.class_
                key: Any = mapper.primary_key
                rows = session.scalars(select(entity).order_by(*key)).all()
                read = snapshot.scalars(select(entity).order_by(*key)).all()
                assert [*map(values_of, read)] == [*map(values_of, rows)], entity
                for row, plain in zip(rows, read, strict=True):
                    ident = tuple(getattr(row, str(column.key)) for column in key)
                    assert snapshot.get(entity, ident[0] if len(key) == 1 else ident) is plain  # read once
                    assert isinstance(plain, entity)
                seen += len(rows)
        assert seen > 50
        with database.snapshot() as snapshot:
            people = sorted(world.users.values())
            for number in (0, 1, 2, 3, 5):  # a list has the SQL of the next power of two
                found = snapshot.scalars(_BY_IDS, {"ids": people[:number]}).all()
                assert [row.id for row in found] == people[:number]
            counted = named_rows(
                snapshot.connection(), _BY_ROLE, {"organization": world.organization, "roles": ["admin", "edit", "no"]}
            )
            assert {(row.user_id, row.disabled, row[2]) for row in counted} == {
                (world.users["admin"], False, 1),
                (world.users["edit"], False, 1),
            }
            both = select(SpaceRow, RevisionRow).join(RevisionRow, RevisionRow.id == SpaceRow.revision_id)
            assert all(space.revision_id == revision.id for space, revision in snapshot.execute(both))
            assert snapshot.get(SpaceRow, "nowhere") is None
            with pytest.raises(NoResultFound, match="SpaceRow"):
                snapshot.get_one(SpaceRow, "nowhere")


def test_nothing_is_written_and_errors_of_the_driver_are_those_of_sqlalchemy(database_url: str) -> None:
    world = plant_world(database_url, "http://127.0.0.1:1")
    with closing(Database(database_url)) as database:
        with database.snapshot() as snapshot:
            space = snapshot.get_one(SpaceRow, world.space)
            with pytest.raises(TypeError, match=r"SpaceRow\.title"):
                space.title = "Other"
            with pytest.raises(TypeError, match="only reads"):
                snapshot.add(UserRow(id="u", display_name="U", created_at=""))
        assert space.title == "Manual"  # a plain value: it outlives its session
        for begun in (database.snapshot, database.writing.begin):
            with pytest.raises(DBAPIError, match="unheard_of"), begun() as session:
                named_rows(session.connection(), select(func.unheard_of()), {})


def test_short_reads_of_a_file_are_answered_in_the_event_loop(database_url: str, tmp_path: Path) -> None:
    world = plant_world(database_url, "http://127.0.0.1:1")
    with closing(Database(database_url)) as database:
        token = TokenRow(sha256=hash_token("brief"), user_id=world.users["admin"], created_at="", expires_at="9999")
        database.write(lambda session: session.add(token))  # answers to tokens that expire are not kept

    async def asked(service: CountedService) -> list[str]:
        """Which threads read the database, of reads of which the last but ten is slow."""
        threads: list[str] = []

        def note(*_statement: Any) -> None:
            is_loop = threading.current_thread() is threading.main_thread()
            threads.append("loop" if is_loop else "thread")
            if len(threads) == 60:
                time.sleep(0.1)  # as a query may that reads much

        service.note = note
        while len(threads) < 70:
            await service.send("GET", "/v1/user")
        return threads

    service = CountedService(tmp_path, database_url, "brief")
    with closing(service.database):
        threads = asyncio.run(asked(service))
    assert threads[0] == "thread" and threads[60] == "thread"
    assert ("loop" in threads[:60]) is not service.database.is_postgresql


def values_of(row: Any) -> list[Any]:
    """The values of a row, a truth value apart from a number."""
    values = [getattr(row, column.key) for column in row.__table__.columns]
    return [(type(value), value) for value in values]
