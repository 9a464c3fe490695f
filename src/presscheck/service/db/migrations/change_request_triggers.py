"""Triggers that maintain the participants of each change request, and the number of change requests per participant.

They update two tables, see `ChangeRequestPersonRow` and `ChangeRequestCountRow`, in the same transaction as any write
to change requests, including bulk inserts and deletions of spaces.
"""

from __future__ import annotations

from typing import NamedTuple

from sqlalchemy import Connection, text


class _Trigger(NamedTuple):
    """A trigger that runs for each row. Its statements are valid on both engines."""

    name: str
    event: str
    table: str
    statements: tuple[str, ...]
    when: str = ""


_REQUEST = "{row}.space_id, '', '', {row}.status"
_PERSON = "{row}.space_id, {row}.role, {row}.user_id, {row}.status"


def _one_more(key: str) -> str:
    return (
        "INSERT INTO change_request_counts (space_id, role, user_id, status, number) "  # noqa: S608
        f"VALUES ({key.format(row='NEW')}, 1) "
        "ON CONFLICT (space_id, role, user_id, status) DO UPDATE SET number = change_request_counts.number + 1"
    )


def _one_less(key: str) -> str:
    return (
        "UPDATE change_request_counts SET number = number - 1 "  # noqa: S608
        f"WHERE (space_id, role, user_id, status) = ({key.format(row='OLD')})"
    )


def _people(role: str, user: str, rows: str) -> str:
    """Return the SQL that adds participants.

    `rows` is the part of the query after FROM. It must have a WHERE clause: without one, SQLite reads ON CONFLICT as
    the ON clause of a join.
    """
    return (
        "INSERT INTO change_request_people "  # noqa: S608
        "(change_request_id, user_id, role, space_id, status, updated_at) "
        f"SELECT DISTINCT one.id, {user}, '{role}', one.space_id, one.status, one.updated_at FROM {rows} "
        "ON CONFLICT (change_request_id, user_id, role) DO NOTHING"
    )


_HAS_MOVED = "OLD.status <> NEW.status OR OLD.space_id <> NEW.space_id"
_SOURCES = (("reviewer", "requested_reviewers"), ("contributor", "contributors"))
_WITH_PART = "change_requests one JOIN {table} part ON part.change_request_id = one.id WHERE "
_TRIGGERS = (
    _Trigger(
        "change_request_added",
        "INSERT",
        "change_requests",
        (
            _one_more(_REQUEST),
            _people("author", "one.created_by", "change_requests one WHERE one.id = NEW.id"),
            *(  # reviewers and contributors that were added earlier in the transaction
                _people(
                    role,
                    "part.user_id",
                    _WITH_PART.format(table=table) + "one.id = NEW.id",
                )
                for role, table in _SOURCES
            ),
        ),
    ),
    _Trigger("change_request_removed", "DELETE", "change_requests", (_one_less(_REQUEST),)),
    _Trigger(
        "change_request_moved",
        "UPDATE OF status, space_id",
        "change_requests",
        (_one_less(_REQUEST), _one_more(_REQUEST)),
        _HAS_MOVED,
    ),
    _Trigger(
        "change_request_changed",
        "UPDATE OF status, space_id, updated_at",
        "change_requests",
        (
            "UPDATE change_request_people SET space_id = NEW.space_id, status = NEW.status, "
            "updated_at = NEW.updated_at WHERE change_request_id = NEW.id",
        ),
    ),
    _Trigger("change_request_person_added", "INSERT", "change_request_people", (_one_more(_PERSON),)),
    _Trigger("change_request_person_removed", "DELETE", "change_request_people", (_one_less(_PERSON),)),
    _Trigger(
        "change_request_person_moved",
        "UPDATE OF status, space_id",
        "change_request_people",
        (_one_less(_PERSON), _one_more(_PERSON)),
        _HAS_MOVED,
    ),
    *(
        _Trigger(
            f"{role}_added",
            "INSERT",
            table,
            (_people(role, "NEW.user_id", "change_requests one WHERE one.id = NEW.change_request_id"),),
        )
        for role, table in _SOURCES
    ),
    *(
        _Trigger(
            f"{role}_removed",
            "DELETE",
            table,
            (
                "DELETE FROM change_request_people WHERE change_request_id = OLD.change_request_id "  # noqa: S608
                f"AND user_id = OLD.user_id AND role = '{role}' AND NOT EXISTS (SELECT 1 FROM {table} other "
                "WHERE other.change_request_id = OLD.change_request_id AND other.user_id = OLD.user_id)",
            ),
        )
        for role, table in _SOURCES
    ),
)


def keep_change_requests(connection: Connection) -> None:
    """Fill the tables of participants and counts for the existing change requests, and create the triggers."""
    fill = (
        _people("author", "one.created_by", "change_requests one WHERE true"),
        *(
            _people(
                role,
                "part.user_id",
                _WITH_PART.format(table=table) + "true",
            )
            for role, table in _SOURCES
        ),
        "INSERT INTO change_request_counts (space_id, role, user_id, status, number) "
        "SELECT space_id, '', '', status, count(*) FROM change_requests GROUP BY space_id, status",
        "INSERT INTO change_request_counts (space_id, role, user_id, status, number) "
        "SELECT space_id, role, user_id, status, count(*) FROM change_request_people "
        "GROUP BY space_id, role, user_id, status",
    )
    create = _in_postgresql if connection.dialect.name == "postgresql" else _in_sqlite
    for statement in (*fill, *(part for trigger in _TRIGGERS for part in create(trigger))):
        connection.execute(text(statement))


def _in_sqlite(trigger: _Trigger) -> tuple[str, ...]:
    when = f" WHEN {trigger.when}" if trigger.when else ""
    body = "".join(f" {statement};" for statement in trigger.statements)
    return (
        f"CREATE TRIGGER {trigger.name} AFTER {trigger.event} ON {trigger.table} FOR EACH ROW{when} BEGIN{body} END",
    )


def _in_postgresql(trigger: _Trigger) -> tuple[str, ...]:
    when = f" WHEN ({trigger.when})" if trigger.when else ""
    body = "".join(f" {statement};" for statement in trigger.statements)
    return (
        f"CREATE FUNCTION {trigger.name}() RETURNS trigger LANGUAGE plpgsql AS "
        f"$body$ BEGIN{body} RETURN NULL; END $body$",
        f"CREATE TRIGGER {trigger.name} AFTER {trigger.event} ON {trigger.table} FOR EACH ROW{when} "
        f"EXECUTE FUNCTION {trigger.name}()",
    )
