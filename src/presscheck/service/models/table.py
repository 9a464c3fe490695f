"""The base of all tables, and column types that several tables share.

Times are ISO 8601 text in UTC with a fixed length, so that they sort as text. Ids sort by creation time.
"""

from __future__ import annotations

from typing import Any

from sqlalchemy import JSON, ForeignKey, String
from sqlalchemy.orm import DeclarativeBase

TEXT = String().with_variant(String(collation="C"), "postgresql")
LEVEL = TEXT.evaluates_none()  # None means no access: otherwise SQLAlchemy would insert the default for it

KEPT = {"is_kept": True}
"""The `info` of tables that only database triggers write. Exports omit these tables."""


class Table(DeclarativeBase):
    """Base of all tables: text with binary collation, JSON for objects and arrays, SQL NULL for None."""

    type_annotation_map = {  # noqa: RUF012  # SQLAlchemy reads it as a class attribute
        str: TEXT,
        dict[str, Any]: JSON(none_as_null=True),
        list[dict[str, Any]]: JSON(none_as_null=True),
        list[str]: JSON(none_as_null=True),
    }


def refers(column: str, ondelete: str | None = None) -> ForeignKey:
    """Return a deferred foreign key, which is checked on commit, so that rows can be added in any order."""
    return ForeignKey(column, ondelete=ondelete, deferrable=True, initially="DEFERRED")
