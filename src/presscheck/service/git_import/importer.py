"""Import of a documentation repository as a space: one revision with its pages, files and reusable content."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

from sqlalchemy.orm import Session

from presscheck.documents.git_format.files import MAX_FILE, git_oid
from presscheck.documents.git_format.repository import Finding, Repository, SourceFile, SourcePage, read_repository
from presscheck.documents.markdown.anchors import decode_fragment
from presscheck.documents.markdown.page_size import size_problem
from presscheck.documents.pages.tree import Page
from presscheck.errors import ConfigurationError
from presscheck.service.blobs.staged_files import StagedFiles
from presscheck.service.blobs.store import BlobStore
from presscheck.service.content.revisions import FORMER_PATHS, add_documents, add_revision, new_page
from presscheck.service.db.ids import Clock, moment_text, new_id, system_clock
from presscheck.service.models.organizations import OrganizationRow, UserRow
from presscheck.service.models.spaces import SpaceRow
from presscheck.service.spaces.sort_order import last_position

LONGEST_TITLE = 50


class Content(NamedTuple):
    """The stored content of a revision."""

    tree: list[Page]
    files: list[dict[str, Any]]
    reusable_contents: list[dict[str, Any]]


def import_repository(
    session: Session,
    organization: OrganizationRow,
    owner: UserRow,
    path: Path,
    *,
    store: BlobStore,
    clock: Clock = system_clock,
) -> list[Finding]:
    """Import a repository as a new space, last in the organization, and return the problems by file and line.

    Raises:
        ConfigurationError: the directory does not exist.
    """
    if not path.is_dir():
        raise ConfigurationError(f"{path}: directory not found")
    repository = read_repository(path)
    problems = list(repository.findings)
    now = moment_text(clock())
    files = stored_files(repository.files, store, problems)
    content = stored_content(session, repository, now, files, problems)
    space = _space(organization, owner, repository.title, now)
    space.position = last_position(session, organization.id, None)
    space.revision_id = add_revision(
        session,
        space.id,
        content.tree,
        created_at=now,
        created_by=owner.id,
        files=content.files,
        reusable_contents=content.reusable_contents,
    )
    session.add(space)
    session.flush()
    return problems


def _space(organization: OrganizationRow, owner: UserRow, title: str, now: str) -> SpaceRow:
    return SpaceRow(
        id=new_id(),
        organization_id=organization.id,
        title=title[:LONGEST_TITLE],
        created_by=owner.id,
        created_at=now,
        updated_at=now,
    )


def stored_content(
    session: Session,
    repository: Repository,
    now: str,
    files: list[dict[str, Any]],
    problems: list[Finding],
    id_of: Callable[[str], str] = lambda _: new_id(),
) -> Content:
    """Store the content of a repository. Oversized texts are skipped and reported.

    Args:
        session: the transaction.
        repository: the parsed repository.
        now: the creation time of the pages.
        files: the files of the repository, see `stored_files`.
        problems: problems are appended to this list.
        id_of: returns the id of a page or reusable content, given its source path, or for pages without a source path a
            text with kind, title and target.
    """
    texts = [_limited(snippet.source, snippet.body, problems) for snippet in repository.snippets]
    snippets = [
        {
            "id": id_of(snippet.source),
            "title": snippet.title,
            "document": document,
            "git": {"oid": snippet.oid, "path": snippet.source},
        }
        for snippet, document in zip(repository.snippets, add_documents(session, texts), strict=True)
    ]
    bodies = {page.source: _limited(page.source, page.body, problems) for page in repository.walk() if page.body}
    documents = dict(zip(bodies, add_documents(session, bodies.values()), strict=True))
    pages = {page.source: id_of(page.source) for page in repository.walk() if page.source}
    former_paths: dict[str, dict[str, str]] = {}
    for former, destination in repository.redirects.items():
        former_paths.setdefault(destination.id, {})[former] = destination.anchor
    builder = _PageBuilder(
        documents, pages, {file["git"]["path"]: file["id"] for file in files}, former_paths, id_of, now
    )
    return Content([builder.page(page) for page in repository.pages], files, snippets)


def _limited(source: str, text: str, problems: list[Finding]) -> str:
    """Return `text` unless it is too large for a page. In that case, add a problem and return an empty string."""
    problem = size_problem(text)
    if problem is None:
        return text
    problems.append(Finding(source, 1, f"{problem}: imported without its text", "too-large"))
    return ""


class _PageBuilder(NamedTuple):
    """A builder of stored pages.

    `documents`, `pages` and `files` are ids by source path; `former_paths` are redirects as in `FORMER_PATHS`, by the
    source path of their destination.
    """

    documents: dict[str, str]
    pages: dict[str, str]
    files: dict[str, str]
    former_paths: dict[str, dict[str, str]]
    id_of: Callable[[str], str]
    now: str

    def page(self, page: SourcePage) -> Page:
        """Build the stored form of a page with its subpages."""
        return new_page(
            page.title,
            slug=page.slug,
            kind=page.kind,
            document=self.documents.get(page.source),
            pages=[self.page(child) for child in page.pages],
            created_at=self.now,
            page_id=self.pages.get(page.source) or self.id_of(f"{page.kind} {page.title} {page.target}"),
            linkTitle=page.link_title,
            git={"oid": page.oid, "path": page.source} if page.source else None,
            **{FORMER_PATHS: self.former_paths.get(page.source)},
            **page.details,
            **self._cover(page),
            **self._target(page),
        )

    def _target(self, page: SourcePage) -> dict[str, Any]:
        if page.kind != "link":
            return {}
        source, _, fragment = page.target.partition("#")
        anchor = decode_fragment(fragment)
        if source in self.pages:
            place = {"page": self.pages[source]}
            return {"target": {"kind": "anchor", "anchor": anchor} | place if anchor else {"kind": "page"} | place}
        if source in self.files:
            return {"target": {"kind": "file", "file": self.files[source]}}
        return {"target": {"kind": "url", "url": page.target}, "href": page.target}

    def _cover(self, page: SourcePage) -> dict[str, Any]:
        if page.cover is None:
            return {}
        cover: dict[str, Any] = {"yPos": page.cover.y_pos}
        if page.cover.height is not None:
            cover["height"] = page.cover.height
        for name, picture in (("ref", page.cover.picture), ("refDark", page.cover.picture_dark)):
            if picture in self.files:
                cover[name] = {"kind": "file", "file": self.files[picture]}
            elif picture and "://" in picture:
                cover[name] = {"kind": "url", "url": picture}
        return {"cover": cover} if "ref" in cover else {}


def stored_files(
    files: tuple[SourceFile, ...],
    store: BlobStore | StagedFiles,
    problems: list[Finding],
    id_of: Callable[[str], str] = lambda _: new_id(),
) -> list[dict[str, Any]]:
    """Store the bytes of files and return them in stored form. Unreadable files are skipped and reported.

    `id_of` returns the id of a file, given its source path.
    """
    stored: list[dict[str, Any]] = []
    for file in files:
        if file.size > MAX_FILE:
            problems.append(Finding(file.source, 1, f"too large ({file.size} bytes): skipped", "too-large"))
            continue
        try:
            content = file.read()
        except OSError as error:
            problems.append(Finding(file.source, 1, f"could not be read: {error.strerror}", "unreadable"))
            continue
        stored.append(
            {
                "id": id_of(file.source),
                "name": file.name,
                "contentType": file.content_type,
                "size": len(content),
                "content": store.put(content),
                "git": {"oid": git_oid(content), "path": file.source},
            }
        )
        if file.dimensions:
            stored[-1]["dimensions"] = {"width": file.dimensions[0], "height": file.dimensions[1]}
    return stored
