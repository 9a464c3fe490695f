"""A large workspace: 10,000 open change requests, and a space with a page of the largest size.

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
"""Changes that one call may have."""

CONFIGURATION = """\
[profiles.default]
base_url = "unix:{home}/service.sock"
token_file = "{home}/token"
"""


def chapter(number: int) -> str:
    """About 2 kB of a page with a little of everything."""
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
    """A documentation repository with one short and one large page."""
    directory.mkdir(parents=True, exist_ok=True)
    (directory / "SUMMARY.md").write_text("# Summary\n\n* [Large](README.md)\n* [Short](short.md)\n")
    chapters: list[str] = []
    while sum(map(len, chapters)) < PAGE:
        chapters.append(chapter(len(chapters) + 1))
    (directory / "README.md").write_text("# Large\n\n" + "\n\n".join(chapters) + "\n")
    (directory / "short.md").write_text(f"# Short\n\n{chapter(1)}\n")
    return directory


def texts(pages: int) -> list[tuple[str, str]]:
    """Pages before and after: a long one with sixty edits, then short ones with one each."""
    writer = Writer(pages)
    long = ""
    while len(long.split()) < 5_000:
        long += writer.page(10) + "\n"
    found = [(long, writer.edited(long, 60))]
    for number in range(1, pages):
        before = f"Text {number} of one workspace. {writer.words(99, 99)}."
        found.append((before, before.replace("workspace", "project", 1)))
    return found


def plant_members(session: Session, count: int, organization: str = ORGANIZATION) -> None:
    """So many members of an organization, with names, e-mail addresses and every role."""
    began = moment_text(system_clock())
    ids = [f"member-{number:06}" for number in range(1, count + 1)]
    session.execute(
        insert(UserRow),
        [
            {"id": each, "display_name": f"Person {each[-6:]}", "email": f"{each}@many.example", "created_at": began}
            for each in ids
        ],
    )
    session.execute(
        insert(MemberRow),
        [
            {"organization_id": organization, "user_id": each, "role": ROLES[at % len(ROLES)], "joined_at": began}
            for at, each in enumerate(ids)
        ],
    )


async def plant_request(base_url: str, token: str, pages: int) -> None:
    """A change request that edits so many pages, which another one brought in."""
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
    """Make it where it is missing, and serve it."""
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
            (home / "token").chmod(0o600)  # else the app refuses it
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
