"""Serves a large workspace: 10,000 open change requests, and a space with a page of the maximum size.

Usage: python -m benchmarks.workspace HOME [--requests N] [--pages N] [--members N]. Serves the workspace until it is
stopped, and writes a configuration, so that `PRESSCHECK_HOME=HOME presscheck` opens it. With `--pages`, another change
request edits N pages: the first at sixty places of 5,000 words, each other page at one place. With `--members`, the
organization has N more members.
"""

import argparse
import asyncio
from pathlib import Path
from typing import Any

from sqlalchemy import insert
from sqlalchemy.orm import Session
from tests.documents.page_samples import Writer
from tests.running_service import running_service

from presscheck.api.change_requests import CreateChangeRequest, MergeChangeRequest, UpdateChangeRequest
from presscheck.api.comments import Document
from presscheck.api.content_changes import EditChangeRequestContent, InsertPage, UpdatePage
from presscheck.client.client import Client
from presscheck.service.db.engine import Database
from presscheck.service.db.ids import moment_text, system_clock
from presscheck.service.models.organizations import MemberRow, UserRow
from presscheck.service.sample import plant_many
from presscheck.service.server.server import ServeOptions, serve

PAGE = 320_000
"""Characters of the large page, which has nearly as many lines, cells, links and tags as the service allows."""
SPACE, ORGANIZATION = "many-space", "many"
ROLES = ("read", "comment", "edit", "create", None)
AT_ONCE = 50
"""Maximum number of changes in an operation."""

CONFIGURATION = """\
[profiles.default]
base_url = "unix:{home}/service.sock"
token_file = "{home}/token"
"""


def chapter(number: int) -> str:
    """Return about 2 kB of Markdown with common kinds of blocks."""
    sentence = f"Sentence {number} of a page that goes on, with a [link](short.md), `code` and **weight**. "
    return "\n\n".join(
        (
            f"## Chapter {number}",
            sentence * 6,
            "\n".join(f"{item}. Step {item} of chapter {number}" for item in range(1, 6)),
            "| Field | Type | What it is |\n| --- | --- | --- |\n" + "| `name` | string | how it is shown |\n" * 5,
            f'```python\ndef chapter_{number}() -> str:\n    return "{number}"\n```',
            f'{{% hint style="info" %}}\n{sentence * 3}\n{{% endhint %}}',
        )
    )


def write_documents(directory: Path) -> Path:
    """Write a documentation repository with a short and a large page."""
    directory.mkdir(parents=True, exist_ok=True)
    (directory / "SUMMARY.md").write_text("# Summary\n\n* [Large](README.md)\n* [Short](short.md)\n")
    chapters: list[str] = []
    while sum(map(len, chapters)) < PAGE:
        chapters.append(chapter(len(chapters) + 1))
    (directory / "README.md").write_text("# Large\n\n" + "\n\n".join(chapters) + "\n")
    (directory / "short.md").write_text(f"# Short\n\n{chapter(1)}\n")
    return directory


def texts(pages: int) -> list[tuple[str, str]]:
    """Return texts before and after an edit: a long one with sixty edits, then short ones with one edit each."""
    writer = Writer(pages)
    long = ""
    while len(long.split()) < 5_000:
        long += writer.page(10) + "\n"
    pairs = [(long, writer.edited(long, 60))]
    for number in range(1, pages):
        before = f"Text {number} of one workspace. {writer.words(99, 99)}."
        pairs.append((before, before.replace("workspace", "project", 1)))
    return pairs


def plant_members(session: Session, count: int, organization: str = ORGANIZATION) -> None:
    """Add `count` members with names, e-mail addresses and various roles to an organization."""
    joined_at = moment_text(system_clock())
    ids = [f"member-{number:06}" for number in range(1, count + 1)]
    session.execute(
        insert(UserRow),
        [
            {
                "id": user_id,
                "display_name": f"Person {user_id[-6:]}",
                "email": f"{user_id}@many.example",
                "created_at": joined_at,
            }
            for user_id in ids
        ],
    )
    session.execute(
        insert(MemberRow),
        [
            {
                "organization_id": organization,
                "user_id": user_id,
                "role": ROLES[index % len(ROLES)],
                "joined_at": joined_at,
            }
            for index, user_id in enumerate(ids)
        ],
    )


async def plant_request(base_url: str, token: str, pages: int) -> None:
    """Create a change request that edits `pages` pages, which an earlier change request added."""
    async with Client(base_url, token) as client:

        async def edited(subject: str, changes: list[Any]) -> tuple[str, list[str]]:
            made = await client.send(CreateChangeRequest(space_id=SPACE, subject=subject))
            ids: list[str] = []
            for first in range(0, len(changes), AT_ONCE):
                part = tuple(changes[first : first + AT_ONCE])
                edit = EditChangeRequestContent(space_id=SPACE, change_request_id=made.id, changes=part, compat=False)
                ids += [str(one.page_id) for one in (await client.send(edit)).changes]
            return made.id, ids

        sides = texts(pages)
        new = [
            InsertPage(title=f"Changed page {number}", document=Document(markdown=before))
            for number, (before, _) in enumerate(sides)
        ]
        first, ids = await edited(f"Bring in {pages} pages", new)
        await client.send(MergeChangeRequest(space_id=SPACE, change_request_id=first))
        changes = [
            UpdatePage(page=page, document=Document(markdown=after))
            for page, (_, after) in zip(ids, sides, strict=True)
        ]
        second, _ = await edited(f"Edit {pages} pages", changes)
        await client.send(UpdateChangeRequest(space_id=SPACE, change_request_id=second, status="open"))


def main() -> None:
    """Create the workspace if it does not exist, and serve it."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("home", type=Path)
    parser.add_argument("--requests", type=int, default=10_000)
    parser.add_argument("--pages", type=int, default=0)
    parser.add_argument("--members", type=int, default=0)
    chosen = parser.parse_args()
    home: Path = chosen.home.absolute()
    (home / "config").mkdir(parents=True, exist_ok=True)
    (home / "config" / "config.toml").write_text(CONFIGURATION.format(home=home))
    database = f"sqlite:///{home / 'service.sqlite'}"
    if not (home / "service.sqlite").exists():
        made = Database(database)
        with made.writing.begin() as session:
            plant_many(session, chosen.requests, system_clock)
            if chosen.members:
                plant_members(session, chosen.members)
        made.close()
        if chosen.pages:
            with running_service(home) as service:
                asyncio.run(plant_request(service.base_url, service.token, chosen.pages))
            (home / "token").chmod(0o600)  # the app refuses token files that others can read
    options = ServeOptions(
        database=database,
        data=home,
        uds=home / "service.sock",
        token_file=home / "token",
        docs=(write_documents(home / "docs"),),
    )
    serve(options)


if __name__ == "__main__":
    main()
