"""Imports and exports of a space from and to Git repositories in the folder that the operator allows."""

from __future__ import annotations

import subprocess
from collections.abc import AsyncIterator
from copy import deepcopy
from dataclasses import dataclass
from pathlib import Path

import httpx
import pytest
from tests.generated_docs.repositories import varied
from tests.running_service import RunningService

from presscheck.api.audit_events import ListAuditEvents
from presscheck.api.content import GetCurrentRevision, Revision
from presscheck.api.git_repositories import ExportToGitRepository, ImportGitRepository
from presscheck.api.organizations import ListOrganizations
from presscheck.api.site_settings import GetCustomization, UpdateCustomization
from presscheck.api.sites import CreateSite, PublishSite
from presscheck.api.spaces import CreateSpace, UpdateSpace
from presscheck.client.client import Client
from presscheck.documents.git_format.repository import read_repository
from presscheck.errors import PresscheckError
from presscheck.service.git_import.local_git import GitError, LocalRepository
from presscheck.service.jobs.queue import OutboundConfig

BOOK = {
    "SUMMARY.md": "# Table of contents\n\n* [Home](README.md)\n\n## Guides\n\n* [Start](guides/start.md)\n",
    "README.md": "---\nicon: lamp\n---\n\n# Home\n\nSee [Start](guides/start.md).\n",
    "guides/start.md": "Start\r\n=====\r\n\r\n![Sky](../.gitbook/assets/sky.svg)\r\n",
    ".gitbook/assets/sky.svg": '<svg xmlns="http://www.w3.org/2000/svg"/>',
    "src/lamp.py": "print('a lamp')\n",
    "LICENSE": "Free.\n",
}


def git(directory: Path, *arguments: str) -> str:
    identity = ("-c", "user.name=Ann", "-c", "user.email=ann@example.org")
    return subprocess.run(
        ["git", "-C", directory, *identity, *arguments], capture_output=True, text=True, check=True
    ).stdout.strip()


def commit_all(directory: Path, message: str = "All") -> None:
    git(directory, "add", "-A")
    git(directory, "commit", "-qm", message)


@dataclass(frozen=True)
class World:
    client: Client
    space: str
    root: Path

    async def import_from(self, url: str, ref: str = "main", **options: str) -> Revision:
        await self.client.send(ImportGitRepository(space_id=self.space, url=url, ref=ref, **options))
        return await self.client.send(GetCurrentRevision(space_id=self.space))

    async def export_to(self, url: str, ref: str = "main", *, force: bool = False) -> None:
        message = "From the space"
        await self.client.send(
            ExportToGitRepository(space_id=self.space, url=url, ref=ref, commit_message=message, force=force)
        )


@pytest.fixture
async def world(tmp_path: Path) -> AsyncIterator[World]:
    root = tmp_path / "git"
    work = root / "book"
    for name, text in BOOK.items():
        (work / name).parent.mkdir(parents=True, exist_ok=True)
        (work / name).write_bytes(text.encode())
    git(root, "init", "-q", "-b", "main", str(work))
    commit_all(work)
    git(root, "clone", "-q", "--bare", str(work), str(root / "book.git"))
    git(root, "init", "-q", "--bare", str(root / "empty.git"))
    service = RunningService(tmp_path, outside=OutboundConfig(git_root=root))
    service.start()
    async with Client(service.base_url, service.token) as client:
        organization = (await client.send(ListOrganizations())).items[0].id
        space = await client.send(CreateSpace(organization_id=organization, title="Lamps"))
        yield World(client, space.id, root)
    service.stop()


async def test_branch_is_imported_as_the_content_of_a_space(world: World) -> None:
    revision = await world.import_from((world.root / "book.git").as_uri())
    assert [page.title for page in revision.pages] == ["Home", "Guides"]
    assert [file.name for file in revision.files] == ["sky.svg"]
    again = await world.import_from("book", "main")
    assert again.id != revision.id and again.parents == (revision.id,)
    assert [page.id for page in again.pages][:1] == [page.id for page in revision.pages][:1]
    assert again.files[0].id == revision.files[0].id


async def test_import_reports_its_problems(world: World) -> None:
    work = world.root / "book"
    summary = "".join(f"* [Ä {number}](missing-{number}.md)\n" for number in range(30))
    (work / "SUMMARY.md").write_text("# Table of contents\n\n* [Start](guides/start.md)\n" + summary)
    commit_all(work)
    imported = await world.client.send(ImportGitRepository(space_id=world.space, url="book", ref="main"))
    assert len(imported.problems) == 10 and imported.more == 20
    assert imported.problems[0].file == "SUMMARY.md" and imported.problems[0].line == 4
    assert (await world.client.send(GetCurrentRevision(space_id=world.space))).pages


async def test_imported_pages_have_edit_links_to_their_files(world: World) -> None:
    tree = {"repo_tree_url": "https://github.com/acme/lamps/tree/main/"}
    await world.import_from("book", repo_project_directory="guides", **tree)
    organization = (await world.client.send(ListOrganizations())).items[0].id
    site = await world.client.send(CreateSite(organization_id=organization, title="Lamps", spaces=(world.space,)))
    at = {"organization_id": organization, "site_id": site.id}
    looks = deepcopy(await world.client.send(GetCustomization(**at)))
    await world.client.send(UpdateCustomization(**at, settings=looks | {"git": {"showEditLink": True}}))
    url = (await world.client.send(PublishSite(**at))).urls.published
    async with httpx.AsyncClient(follow_redirects=True) as browser:
        page = (await browser.get(f"{url}start")).text
        assert '<a href="https://github.com/acme/lamps/edit/main/guides/start.md">Edit this page</a>' in page
        for other in ({"repo_tree_url": "javascript:alert(1)//"}, {}):
            await world.import_from("book", repo_project_directory="guides", **other)
            assert "Edit this page" not in (await browser.get(f"{url}start")).text


async def test_an_export_without_edits_commits_nothing_and_keeps_other_files(world: World) -> None:
    bare = world.root / "book.git"
    await world.import_from("book.git")
    git(bare, "branch", "before")
    await world.export_to("book.git")
    assert git(bare, "diff", "--name-only", "before", "main") == ".gitbook.yaml"
    assert git(bare, "log", "-1", "--format=%an %cn %s", "main").endswith("From the space")
    tip = git(bare, "rev-parse", "main")
    await world.export_to("book.git")
    assert git(bare, "rev-parse", "main") == tip
    await world.export_to("book.git", force=True)
    assert git(bare, "rev-parse", "main^") == tip


async def test_an_export_is_in_the_audit_log(world: World) -> None:
    await world.export_to("book.git")
    [organization] = (await world.client.send(ListOrganizations())).items
    [event, *_] = (await world.client.send(ListAuditEvents(organization_id=organization.id))).items
    assert (event.action, event.target.id) == ("exportToGitRepository", world.space)


async def test_removed_pages_are_removed_from_the_branch(world: World) -> None:
    await world.import_from("book.git")
    work = world.root / "book"
    (work / "later.md").write_text("# Later\n")
    (work / "src" / "notes.txt").write_text("Notes\n")
    commit_all(work)
    git(work, "push", "-q", str(world.root / "book.git"), "main")
    await world.export_to("book.git")
    files = git(world.root / "book.git", "ls-tree", "-r", "--name-only", "main").splitlines()
    assert files == sorted([*BOOK, ".gitbook.yaml", "src/notes.txt"])


async def test_generated_repository_survives_import_and_export(world: World, tmp_path: Path) -> None:
    work = varied(1, 30).write(world.root / "varied")
    git(world.root, "init", "-q", "-b", "main", str(work))
    commit_all(work)
    await world.import_from("varied")
    await world.export_to("empty.git", "docs/new")
    git(world.root, "clone", "-q", "-b", "docs/new", str(world.root / "empty.git"), str(tmp_path / "back"))
    before, after = read_repository(work), read_repository(tmp_path / "back")

    def outline(pages: object) -> list[tuple[str, str, str, str]]:
        return [
            (page.title, page.slug, page.body, page.target)
            for page in pages.walk()  # type: ignore[attr-defined]
        ]

    assert outline(after) == outline(before)
    assert {file.source for file in after.files} == {file.source for file in before.files}
    assert after.redirects == before.redirects


async def test_content_can_be_in_a_folder_of_the_repository(world: World) -> None:
    work = world.root / "book"
    git(work, "mv", "guides", "README.md", "src")
    commit_all(work)
    revision = await world.import_from("book", repo_project_directory="src")
    assert [page.title for page in revision.pages] == ["Home", "guides"]


async def test_urls_outside_the_folder_and_invalid_branches_are_refused(world: World) -> None:
    outside = world.root.parent / "outside"
    git(world.root, "clone", "-q", "--bare", str(world.root / "book"), str(outside))
    (world.root / "leads-out").symlink_to(outside)
    (world.root / "loop").symlink_to("loop")
    for url, message in (
        ("https://example.org/book.git", "must be a path"),
        ("ext::sh -c id", "must be a path"),
        ("file://host/book.git", "must be a path"),
        ("book.git/../../outside", "not in the folder"),
        ("/etc", "not in the folder"),
        ("leads-out", "not in the folder"),
        ("loop", "not in the folder"),
        ("x" * 300, "not in the folder"),
        ("file:///etc", "not in the folder"),
        ("none", "not a Git repository"),
        ("--upload-pack=id", "not a Git repository"),
    ):
        for send in (world.import_from, world.export_to):
            with pytest.raises(PresscheckError) as refused:
                await send(url)
            assert message in str(refused.value), (url, send)
    for ref in ("none", "--all", "a..b", "main^", "main:README.md", "", "a b"):
        with pytest.raises(PresscheckError) as refused:
            await world.import_from("book.git", ref)
        assert "ref" in str(refused.value), ref


async def test_export_to_a_checked_out_branch_is_refused(world: World) -> None:
    await world.import_from("book")
    with pytest.raises(PresscheckError, match="checked out"):
        await world.export_to("book")
    await world.export_to("book", "other")
    assert git(world.root / "book", "status", "--porcelain") == ""


async def test_symbolic_links_are_not_followed_and_hooks_do_not_run(world: World) -> None:
    work, bare = world.root / "book", world.root / "book.git"
    (work / "secret.md").symlink_to("/etc/hostname")
    (work / ".gitattributes").write_text("*.md filter=evil\n")
    commit_all(work)
    git(work, "push", "-q", str(bare), "main")
    evil = f"touch {world.root}/ran; cat"
    for name in ("filter.evil.smudge", "filter.evil.clean", "core.fsmonitor"):
        git(bare, "config", name, evil)
    hook = bare / "hooks" / "reference-transaction"
    hook.write_text(f"#!/bin/sh\ntouch {world.root}/ran\n")
    hook.chmod(0o755)
    revision = await world.import_from("book.git")
    assert "secret" not in str(revision.pages)
    await world.export_to("book.git")
    assert not (world.root / "ran").exists()
    assert "secret.md" in git(bare, "ls-tree", "-r", "--name-only", "main"), "only regular files are replaced"


async def test_merge_rules_apply_to_imports(world: World) -> None:
    rules = {"type": "rules", "rules": [{"rule": "require_at_least_one_review"}]}
    await world.client.send(UpdateSpace(space_id=world.space, merge_rules=rules))
    with pytest.raises(PresscheckError, match="merge rules"):
        await world.import_from("book.git")


async def test_imports_need_the_option_git_root(tmp_path: Path) -> None:
    service = RunningService(tmp_path, sample=True)
    service.start()
    async with Client(service.base_url, service.token) as client:
        organization = (await client.send(ListOrganizations())).items[0].id
        space = await client.send(CreateSpace(organization_id=organization, title="Lamps"))
        with pytest.raises(PresscheckError, match="--git-root"):
            await client.send(ImportGitRepository(space_id=space.id, url="book.git", ref="main"))
    service.stop()


def test_repositories_that_are_too_large_are_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    git(tmp_path, "init", "-q", "-b", "main", str(tmp_path / "book"))
    (tmp_path / "book" / "README.md").write_text("# Home\n")
    commit_all(tmp_path / "book")
    repository = LocalRepository.at(tmp_path, "book")
    commit = repository.commit("main")
    assert [*repository.files(commit)] == ["README.md"]
    monkeypatch.setattr("presscheck.service.git_import.local_git.LARGEST", 3)
    with pytest.raises(GitError, match="more than"):
        repository.files(commit)
