"""Imports of repositories as spaces, and the result as a client sees it over a socket."""

from __future__ import annotations

import subprocess
from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path
from urllib.parse import quote

import httpx
import pytest
from sqlalchemy import select
from tests.generated_docs.documentation import Documentation
from tests.running_service import RunningService

from presscheck.api.content import GetCurrentRevision, GetPage, GetPageByPath, ListFiles, Revision, RevisionPage
from presscheck.api.organizations import ListOrganizations
from presscheck.api.spaces import ListSpaces, Space
from presscheck.client.client import Client
from presscheck.documents.markdown.links import Destination, LinkResolver, source_path
from presscheck.errors import ConfigurationError
from presscheck.service.blobs.store import DiskBlobStore
from presscheck.service.db.engine import Database
from presscheck.service.git_import.importer import import_repository
from presscheck.service.models.content import DocumentRow, RevisionRow
from presscheck.service.models.organizations import OrganizationRow
from presscheck.service.models.spaces import SpaceRow
from presscheck.service.server.bootstrap import ensure_owner, import_docs

NOW = datetime(2026, 5, 20, 9, 30, tzinfo=UTC)
PNG = b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR\0\0\x02\x80\0\0\x01\xe0\x08\x02\0\0\0"
FILES: dict[str, str | bytes] = {
    "SUMMARY.md": "# The Lamp Book\n\n* [Home](README.md)\n\n## Guides\n\n* [Start](guides/start.md)\n"
    "  * [Deep](guides/deep.md)\n* [First steps](guides/start.md#first)\n"
    "* [Web](https://example.org/)\n* [Paper](paper.pdf)\n",
    "README.md": "---\nicon: lamp\ncover: .gitbook/assets/sky.png\ncoverY: 12\n---\n\n"
    "# Home\n\nSee [Start](guides/start.md).\n",
    "guides/start.md": "# Start here\n\n![Sky](../.gitbook/assets/sky.png)\n\n"
    '{% include "../.gitbook/includes/note.md" %}\n',
    "guides/deep.md": "# Deep\n\n[gone](gone.md)\n",
    "hidden.md": "# Unlisted\n",
    "paper.pdf": b"%PDF",
    ".gitbook/assets/sky.png": PNG,
    ".gitbook/includes/note.md": "---\ntitle: A note\n---\nMind the step.\n",
}


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    for name, content in FILES.items():
        path = tmp_path / "lamps" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content.encode() if isinstance(content, str) else content)
    return tmp_path / "lamps"


def brought_in(directory: Path, *repositories: Path) -> list[str]:
    """Import repositories into a database. Returns the reported problems."""
    with (
        closing(Database(f"sqlite:///{directory / 'service.sqlite'}")) as database,
        database.writing.begin() as session,
    ):
        owner = ensure_owner(session, lambda: NOW, sample=False)
        session.flush()
        return import_docs(session, lambda: NOW, owner, DiskBlobStore(directory), repositories)


async def seen(client: Client) -> tuple[Space, Revision]:
    organization = (await client.send(ListOrganizations())).items[0]
    spaces = (await client.send(ListSpaces(organization_id=organization.id))).items
    assert len(spaces) == 1
    return spaces[0], await client.send(GetCurrentRevision(space_id=spaces[0].id))


def outline(pages: tuple[RevisionPage, ...]) -> list[tuple[str, str, str | None]]:
    return [line for page in pages for line in ((page.type, page.title, page.path), *outline(page.pages))]


@pytest.mark.attack("deep and huge pages")
def test_texts_that_are_too_large_for_a_page_are_left_out(tmp_path: Path, repository: Path) -> None:
    for name in ("guides/deep.md", ".gitbook/includes/note.md"):
        (repository / name).write_text("# Deep\n" + "a\n" * 20_001, "utf-8")
    problems = brought_in(tmp_path, repository)
    reason = (
        "too large: 20,001 lines, table cells, links and tags, at most 20,000 are allowed: imported without its text"
    )
    assert f"{repository}/guides/deep.md:1: {reason}" in problems
    with closing(Database(f"sqlite:///{tmp_path / 'service.sqlite'}")) as database, database.snapshot() as session:
        assert max(map(len, session.scalars(select(DocumentRow.markdown)))) < 1000


@pytest.mark.slow
async def test_repository_is_imported_as_a_space(tmp_path: Path, repository: Path) -> None:
    problems = brought_in(tmp_path, repository)
    assert problems == [
        f"{repository}/guides/deep.md:3: gone.md: target not found",
        f"{repository}/hidden.md:1: is not listed in SUMMARY.md: imported as a hidden page",
    ]
    service = RunningService(tmp_path)
    service.start()
    client = Client(service.base_url, service.token)
    try:
        space, revision = await seen(client)
        assert space.title == "The Lamp Book"
        assert outline(revision.pages) == [
            ("document", "Home", "readme"),
            ("group", "Guides", "guides"),
            ("document", "Start here", "guides/start"),
            ("document", "Deep", "guides/start/deep"),
            ("link", "First steps", None),
            ("link", "Web", None),
            ("link", "Paper", None),
            ("document", "Unlisted", "hidden"),
        ]
        home, group, hidden = revision.pages
        start, first, web, paper = group.pages
        assert (hidden.hidden, home.icon, start.link_title) == (True, "lamp", "Start")
        files = {file.name: file for file in (await client.send(ListFiles(space_id=space.id))).items}
        sky = files["sky.png"]
        assert home.cover and home.cover.ref
        assert (home.cover.ref.file, home.cover.y_pos) == (sky.id, 12)
        assert first.target and web.target and paper.target
        assert (first.target.kind, first.target.page, first.target.anchor) == ("anchor", start.id, "first")
        assert (web.target.url, web.href) == ("https://example.org/", "https://example.org/")
        assert (paper.target.kind, paper.target.file) == ("file", files["paper.pdf"].id)
        assert sky.dimensions and sky.git
        assert (sky.content_type, sky.size, sky.dimensions.width, sky.dimensions.height) == ("image/png", 29, 640, 480)
        async with httpx.AsyncClient() as downloads:
            assert (await downloads.get(sky.download_url)).content == PNG
        assert [snippet.title for snippet in revision.reusable_contents] == ["A note"]
        page = await client.send(GetPage(space_id=space.id, page_id=start.id, format="markdown"))
        assert page.markdown == "# Start here\n\n" + str(FILES["guides/start.md"]).partition("\n\n")[2]
        by_path = GetPageByPath(space_id=space.id, page_path="guides/start/deep", format="markdown")
        assert (await client.send(by_path)).markdown == "# Deep\n\n[gone](gone.md)\n"
        places = LinkResolver.of(revision.pages, revision.files, revision.reusable_contents)
        assert places.resolve("../.gitbook/assets/sky.png", source_path(start)) == Destination("file", sky.id)
        assert places.resolve("guides/start.md", source_path(home)) == Destination("page", start.id)
        note = places.resolve("../.gitbook/includes/note.md", source_path(start))
        assert note == Destination("snippet", revision.reusable_contents[0].id)
    finally:
        await client.aclose()
        service.stop()


def test_pages_have_their_git_object_ids(tmp_path: Path, repository: Path) -> None:
    named = subprocess.run(["git", "hash-object", repository / "hidden.md"], capture_output=True, text=True, check=True)
    database = Database(f"sqlite:///{tmp_path / 'service.sqlite'}")
    with database.writing.begin() as session:
        owner = ensure_owner(session, lambda: NOW, sample=False)
        session.flush()
        organization = session.scalars(select(OrganizationRow)).one()
        import_repository(session, organization, owner, repository, store=DiskBlobStore(tmp_path), clock=lambda: NOW)
        page = session.scalars(select(RevisionRow)).one().tree[-1]
    database.close()
    assert page["git"] == {"oid": named.stdout.strip(), "path": "hidden.md"}
    assert page["createdAt"] == "2026-05-20T09:30:00.000Z"


def test_a_repository_is_imported_only_once(tmp_path: Path, repository: Path) -> None:
    assert brought_in(tmp_path, repository)
    assert brought_in(tmp_path, repository) == []
    database = Database(f"sqlite:///{tmp_path / 'service.sqlite'}")
    with database.snapshot() as session:
        assert len(session.scalars(select(SpaceRow)).all()) == 1
    database.close()


def test_a_missing_directory_is_an_error_and_creates_nothing(tmp_path: Path) -> None:
    with pytest.raises(ConfigurationError, match="gone"):
        brought_in(tmp_path, tmp_path / "gone")


def test_empty_directories_become_empty_spaces_and_problems_name_the_directory(tmp_path: Path) -> None:
    empty = [tmp_path / "one", tmp_path / "two"]
    for directory in empty:
        directory.mkdir()
    assert brought_in(tmp_path, *empty) == [
        f"{directory}/SUMMARY.md:1: is missing: pages are ordered by folder" for directory in empty
    ]


@pytest.mark.slow
@pytest.mark.documentation
async def test_documentation_is_imported_completely(tmp_path: Path, documentation: Documentation) -> None:
    directory = documentation.directory
    brought_in(tmp_path, directory)
    service = RunningService(tmp_path)
    service.start()
    client = Client(service.base_url, service.token)
    try:
        space, revision = await seen(client)
        texts = {page.path for page in documentation.pages if not page.path.startswith(".gitbook/")}
        places = LinkResolver.of(revision.pages, revision.files)
        ids = {text: places.resolve("/" + quote(text), "") for text in texts}
        assert {place.kind for place in ids.values()} == {"page"}
        assert len({place.id for place in ids.values()}) == len(texts)
        # short pages may consist of only a title
        long = sorted(text for text in texts if (directory / text).stat().st_size > 1000)
        for text in long[:: max(1, len(long) // 4)]:
            page = await client.send(GetPage(space_id=space.id, page_id=ids[text].id, format="markdown"))
            body = (page.markdown or "").partition("\n\n")[2]
            assert len(body) > 100
            assert body in (directory / text).read_bytes().decode("utf-8-sig").replace("\r\n", "\n")
        assert len((await client.send(ListFiles(space_id=space.id, limit=1000))).items) == len(revision.files)
        assert len(revision.files) >= 20
    finally:
        await client.aclose()
        service.stop()
