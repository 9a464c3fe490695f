"""`presscheck admin`: reports on an organization."""

from __future__ import annotations

import csv
import io
import json
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, cast

import click

from presscheck.api.collections import Collection
from presscheck.cli import lookup
from presscheck.cli.output import print_message
from presscheck.cli.session import Session, org_option, with_session
from presscheck.engine.access import Access, read_access
from presscheck.errors import InvalidArgument
from presscheck.text.phrases import count
from presscheck.text.sanitize import sanitize

Row = dict[str, str]
"""A row of the report: the access level of a person in a space or collection, and where it comes from."""
COLUMNS = ("person", "email", "kind", "place", "level", "path", "personId", "placeId")
CHANGE_COLUMNS = ("change", "person", "place", "before", "after", "path")
FORMULA = ("=", "+", "-", "@")
"""First characters of cells that a spreadsheet would run as formulas."""


def rows_of(access: Access) -> Iterator[Row]:
    """Yield a row for each person and each place that the person has access to."""
    for member in sorted(access.members, key=lambda member: member.user.display_name.casefold()):
        for place in (*access.collections.values(), *access.spaces):
            if grant := access.level(member, place):
                yield {
                    "person": member.user.display_name or member.id,
                    "email": member.user.email or "",
                    "kind": "collection" if isinstance(place, Collection) else "space",
                    "place": " › ".join(access.names(place)),
                    "level": grant.level,
                    "path": grant.path,
                    "personId": member.id,
                    "placeId": place.id,
                }


@click.group()
def admin() -> None:
    """Report on an organization."""


@admin.command()
@org_option
@click.option("--csv", "as_csv", is_flag=True, help="Print CSV.")
@click.option("--diff", "old", metavar="FILE", help="Print what changed since this report (JSON or CSV).")
@with_session
async def report(session: Session, org: str | None, *, as_csv: bool, old: str | None) -> None:
    """List who has which level where, and why.

    A path begins where the level is given, and goes down to the space or collection. Teams, default levels and roles
    in the organization are compared with what the service reports for each space.
    """
    before = _read(old) if old else None
    access = await read_access(session.all, await lookup.organization(session, org))
    rows, columns = list(rows_of(access)), COLUMNS
    if before is not None:
        rows, columns = list(differences(before, rows)), CHANGE_COLUMNS
        print_message(f"{count(len(rows), 'change')} since {old}.")
    if as_csv and not session.json:
        _print_csv(rows, columns)
    else:
        session.show(rows, columns)


def differences(before: Sequence[Row], after: Sequence[Row]) -> Iterator[Row]:
    """Yield the changes between two reports, in the order of people and places."""
    old, new = ({(row["personId"], row["placeId"]): row for row in rows} for rows in (before, after))
    for key in (*new, *(key for key in old if key not in new)):
        row, levels = new.get(key) or old[key], [rows[key]["level"] if key in rows else "" for rows in (old, new)]
        if levels[0] != levels[1]:
            change = "changed" if all(levels) else "added" if levels[1] else "removed"
            yield {**row, "change": change, "before": levels[0], "after": levels[1]}


def _print_csv(rows: Sequence[Row], columns: Sequence[str]) -> None:
    writer = csv.writer(sys.stdout, lineterminator="\n")
    writer.writerow(columns)
    for row in rows:
        cells = [sanitize(row[name]) for name in columns]
        writer.writerow([f"'{cell}" if cell.startswith(FORMULA) else cell for cell in cells])


def _read(file: str) -> list[Row]:
    """Read a report from a JSON or CSV file.

    Raises:
        InvalidArgument: the file cannot be read, or is no report.
    """
    try:
        text = Path(file).read_text("utf-8-sig")
        rows: Any = json.loads(text) if text.lstrip().startswith("[") else list(csv.DictReader(io.StringIO(text)))
        report = [{name: str(row[name]) for name in COLUMNS} for row in cast("list[dict[str, Any]]", rows)]
    except OSError as error:
        raise InvalidArgument("--diff", f"could not read {file}: {error.strerror}") from None
    except (KeyError, TypeError, ValueError):
        raise InvalidArgument("--diff", f"{file} is no report. Make one with `admin report --json`") from None
    return report
