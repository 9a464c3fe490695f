"""`presscheck openapi`: the OpenAPI specifications of an organization, and the breaking changes of a new version."""

from __future__ import annotations

import asyncio
from pathlib import Path

import click

from presscheck.api.openapi import (
    CreateOpenAPISpec,
    DeleteOpenAPISpec,
    GetLatestOpenAPISpecContent,
    GetLatestOpenAPISpecRawContent,
    GetLatestOpenAPISpecVersion,
    GetOpenAPISpec,
    GetOpenAPISpecVersion,
    GetOpenAPISpecVersionContent,
    ListOpenAPISpecs,
    ListOpenAPISpecVersions,
    PutOpenAPISpec,
    UpdateOpenAPISpec,
)
from presscheck.cli import lookup
from presscheck.cli.operations.command_factory import CommandSpec, group_of
from presscheck.cli.output import print_message
from presscheck.cli.session import Session, org_option, with_session
from presscheck.documents.terminal.openapi import description_in
from presscheck.errors import ChecksFailed
from presscheck.paths import places
from presscheck.text.phrases import count, now, since

COLUMNS = ("result", "place", "change", "operations")

specification_group = group_of(
    "openapi",
    "Manage OpenAPI specifications.\n\nSPEC is the slug of a specification.",
    CommandSpec("list", ListOpenAPISpecs, ("slug", "processingState", "visibility", "updatedAt")),
    CommandSpec("show", GetOpenAPISpec, help="Show an OpenAPI specification."),
    CommandSpec("create", CreateOpenAPISpec, done="Specification created."),
    CommandSpec("put", PutOpenAPISpec, done="Specification saved."),
    CommandSpec("edit", UpdateOpenAPISpec, done="Specification updated."),
    CommandSpec("versions", ListOpenAPISpecVersions, ("id", "createdAt", "url")),
    CommandSpec("version-at", GetOpenAPISpecVersion, help="Show a version of a specification."),
    CommandSpec("content-at", GetOpenAPISpecVersionContent, help="Print the content of a version."),
    CommandSpec("text", GetLatestOpenAPISpecRawContent, text="text", help="Print the text of the latest version."),
    CommandSpec("version", GetLatestOpenAPISpecVersion, help="Show the latest version of a specification."),
    CommandSpec("content", GetLatestOpenAPISpecContent, help="Print the latest content of a specification."),
    CommandSpec("delete", DeleteOpenAPISpec, done="Specification deleted.", confirm="Delete this specification"),
)


@specification_group.command("compare")
@click.argument("spec_slug", metavar="SPEC")
@click.option(
    "--file",
    "old",
    metavar="OLD",
    type=click.Path(path_type=Path),
    help="File with the older version, JSON or YAML.",
)
@org_option
@with_session
async def compare_versions(session: Session, spec_slug: str, old: Path | None, org: str | None) -> None:
    """Find breaking changes in the latest version.

    Compares it with the version in --file, or else with the previous version seen on this machine, in the app or by
    this command. A change is
    breaking if it can make a client of the older version fail. The exit code is 6 if a change is breaking.
    """
    # 20 ms together, only for this command
    from presscheck.engine.openapi.comparison import compare
    from presscheck.engine.openapi.description_file import read_description
    from presscheck.engine.openapi.versions import SeenVersions

    organization = (await lookup.organization(session, org)).id
    older = await asyncio.to_thread(read_description, old, "--file") if old else None
    call = GetLatestOpenAPISpecContent(organization_id=organization, spec_slug=spec_slug)
    latest = description_in((await session.read(call)).filesystem)
    if latest is None:
        raise ChecksFailed("The latest version is no OpenAPI description")
    with_what = name = str(old)
    seen = SeenVersions(places().openapi_versions(session.profile.name), organization, spec_slug)
    before = await asyncio.to_thread(seen.keep, latest)
    if older is None:
        if before is None:
            print_message("No other version was seen on this machine: the latest one is kept for the next comparison.")
            if session.json:
                session.show({"result": "unknown", "older": None, "changes": []})
            return
        older = await asyncio.to_thread(before.description)
        with_what, name = f"the version seen {since(before.seen_at, now())}", before.seen_at
    comparison = await asyncio.to_thread(compare, older, latest)
    if session.json:
        changes = [
            {
                "breaking": change.is_breaking,
                "place": change.place,
                "change": change.text,
                "operations": change.operations,
            }
            for change in comparison.changes
        ]
        session.show({"result": comparison.outcome, "older": name, "changes": changes})
    else:
        rows = [
            {
                "result": "breaking" if change.is_breaking else "compatible",
                "place": change.place,
                "change": change.text,
                "operations": ", ".join(change.operations[:3])
                + (f" and {len(change.operations) - 3} more" if len(change.operations) > 3 else ""),
            }
            for change in comparison.changes
        ]
        if rows:
            session.show(rows, COLUMNS)
        print_message(f"Compared with {with_what}: {comparison.summary}.")
    if comparison.is_cut:
        print_message(f"Only the first {len(comparison.changes):,} changes are listed.")
    if comparison.breaking:
        raise ChecksFailed(f"{count(comparison.breaking, 'breaking change')} in {spec_slug}")
