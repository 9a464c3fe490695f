"""Filters for the rows of a cached listing, as SQL; user input is only passed as parameters."""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import dataclass

ROWS = """
SELECT items.position, coalesce(items.json, resources.json) FROM items
LEFT JOIN resources ON resources.object = items.object AND resources.id = items.id
WHERE items.answer = ? AND items.generation = ? AND items.position IN (SELECT value FROM json_each(?))
"""
"""The rows at some positions of a listing."""


@dataclass(frozen=True)
class Condition:
    """A condition on the JSON of a row.

    Attributes:
        path: a JSON path; for `asked`, the cache key of the list of requested reviewers, with the placeholders
            ``{space}`` and ``{id}``.
        relation: `is`, `in`, `contains` (the value in lower case), `less`, `more` or `asked`.
        value: the value to compare with.
    """

    path: str
    relation: str
    value: str | int | tuple[str, ...]


RELATIONS = {
    "is": "json_extract(thing, ?) = ?",
    "in": "json_extract(thing, ?) IN (SELECT value FROM json_each(?))",
    "contains": "instr(lower(json_extract(thing, ?)), ?) > 0",
    "asked": """EXISTS (
        SELECT 1 FROM answers AS asked JOIN items AS who
        ON who.answer = asked.number AND who.generation = asked.generation
        WHERE asked.key =
            replace(replace(?, '{space}', json_extract(thing, '$.space')), '{id}', json_extract(thing, '$.id'))
        AND instr(lower(json_extract(who.json, '$.user.displayName')), ?) > 0
    )""",
    "less": "json_extract(thing, ?) < ?",
    "more": "json_extract(thing, ?) > ?",
}
"""The SQL of each relation, with parameters for the path and the value."""


def matching(conditions: Iterable[Condition], order: tuple[str, bool] | None) -> tuple[str, list[str | int]]:
    """The statement for positions and space ids, and its parameters after the number and generation of the listing."""
    clauses, values = ["answer = ?", "generation = ?"], list[str | int]()
    for one in conditions:
        clauses.append(RELATIONS[one.relation])
        values += [one.path, json.dumps(one.value) if isinstance(one.value, tuple) else one.value]
    by = "position"
    if order:
        by = f"json_extract(thing, ?) COLLATE NOCASE {'DESC' if order[1] else 'ASC'}, position"
        values.append(order[0])
    return (
        "SELECT position, json_extract(thing, '$.space') FROM"  # noqa: S608
        " (SELECT items.*, coalesce(items.json, resources.json) AS thing FROM items"
        " LEFT JOIN resources ON resources.object = items.object AND resources.id = items.id)"
        f" WHERE {' AND '.join(clauses)} ORDER BY {by}",
        values,
    )
