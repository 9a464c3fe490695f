"""Imports and exports of spaces from and to the Git repositories that the operator allows."""

from __future__ import annotations

from collections.abc import Generator, Sequence
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple

from presscheck.api.git_repositories import (
    ExportToGitRepository,
    ImportedRepository,
    ImportGitRepository,
    ImportProblem,
)
from presscheck.documents.git_format.config import CONFIG_FILE, RepositoryConfig, normalize_path, read_config
from presscheck.documents.git_format.files import decode_text, git_oid
from presscheck.documents.git_format.findings import Finding
from presscheck.documents.git_format.repository import Repository, read_repository
from presscheck.documents.git_format.writer import is_text_path, repository_texts
from presscheck.service.blobs.staged_files import StagedFiles
from presscheck.service.content.revision_content import MOST_CHARACTERS, RevisionContent, known_content
from presscheck.service.content.revisions import add_revision, text_size
from presscheck.service.db.ids import new_id
from presscheck.service.git_import.exporter import exported_repository, exported_revision
from presscheck.service.git_import.importer import stored_content, stored_files
from presscheck.service.git_import.local_git import GitError, LocalRepository, Signature
from presscheck.service.http.operations import ApiError, Context, Reading, handles
from presscheck.service.integrations.integrations import queue_content_events
from presscheck.service.models.spaces import SpaceRow
from presscheck.service.permissions import require_unlocked, space_for
from presscheck.service.review.merge_rules import may_bypass

NO_FOLDER = "This service has no folder of Git repositories. Start it with --git-root DIR."
LONGEST_MESSAGE = 10_000
MOST_PROBLEMS, LONGEST_NAME = 10, 120
"""Limits of the problems in the response to an import. They are sent in a header, and proxies refuse long headers."""
LONGEST_URL = 2_000


class Prepared(NamedTuple):
    """A repository that was read before the transaction, with its files in stored form."""

    repository: Repository
    files: list[dict[str, Any]]
    findings: list[Finding]


def with_repository(reading: Reading, call: ImportGitRepository) -> ImportGitRepository:
    """Read the repository, after checking that the caller may import it."""
    with reading() as context:
        space = _importable(context, call.space_id)
        root = _root(context, space)
        files = context.files
    if call.standalone:
        raise ApiError(400, "standalone: not supported; an import replaces the content of the space")
    prepared = call.model_copy()
    with _git_errors(), TemporaryDirectory(prefix="presscheck-git-") as directory:
        _check_out(LocalRepository.at(root, call.url), call.ref, _prefix(call), Path(directory))
        repository = read_repository(Path(directory))
        findings = list(repository.findings)
        prepared._prepared = Prepared(repository, stored_files(repository.files, files, findings), findings)
    return prepared


@handles(ImportGitRepository, beforehand=with_repository)
def import_git_repository(context: Context, call: ImportGitRepository) -> ImportedRepository:
    """Replace the live content by the content of a repository.

    Pages, files and reusable content keep their ids if their paths stay the same.
    """
    space = _importable(context, call.space_id)
    prepared: Prepared = call._prepared
    revision = known_content(context, space.revision_id)
    ids = {source: identity for (_, identity), source in exported_revision(context, revision).sources.items()}

    def id_of(source: str) -> str:
        return ids.get(source) or new_id()

    now = context.now()
    files = [file | {"id": id_of(file["git"]["path"])} for file in prepared.files]
    findings = list(prepared.findings)
    content = stored_content(context.session, prepared.repository, now, files, findings, id_of)
    space.revision_id = add_revision(
        context.session,
        space.id,
        content.tree,
        created_at=now,
        created_by=context.user.id,
        parents=[space.revision_id],
        files=content.files,
        reusable_contents=content.reusable_contents,
        variables=revision.variables,
    )
    space.updated_at = now
    tree = call.repo_tree_url or ""
    is_web = tree.startswith(("https://", "http://")) and len(tree) <= LONGEST_URL
    space.repository_url = f"{tree.rstrip('/')}/{_prefix(call)}" if is_web else None
    queue_content_events(context, space)
    return _imported(findings)


def _imported(findings: Sequence[Finding]) -> ImportedRepository:
    errors = [
        ImportProblem(file=finding.path[:LONGEST_NAME], line=finding.line, text=finding.message[:LONGEST_NAME])
        for finding in findings
        if finding.severity != "info"
    ]
    return ImportedRepository(problems=tuple(errors[:MOST_PROBLEMS]), more=max(0, len(errors) - MOST_PROBLEMS))


def to_repository(reading: Reading, call: ExportToGitRepository) -> ExportToGitRepository:
    """Commit the live content to the repository, after checking that the caller may export it."""
    if len(call.commit_message) > LONGEST_MESSAGE:
        raise ApiError(400, f"commitMessage: must have at most {LONGEST_MESSAGE:,} characters")
    with reading() as context:
        space = space_for(context, call.space_id, "edit")
        root = _root(context, space)
        revision = known_content(context, space.revision_id)
        if text_size(context.session, _documents(revision)) > MOST_CHARACTERS:
            raise ApiError(413, "This space is too large for an export to Git.")
        exported = exported_revision(context, revision)
        content = exported_repository(context, revision, exported)
        files = {exported.sources["file", file["id"]]: file for file in revision.files}
        user = context.user
        author = Signature(user.display_name, user.email or f"{user.id}@localhost", int(context.clock().timestamp()))
    with _git_errors():
        _commit(LocalRepository.at(root, call.url), call, author, content, files, context.files)
    return call


@handles(ExportToGitRepository, beforehand=to_repository)
def export_to_git_repository(_context: Context, _call: ExportToGitRepository) -> None:
    """Respond to an export, which `to_repository` has already committed."""


def _importable(context: Context, space_id: str) -> SpaceRow:
    space = space_for(context, space_id, "edit")
    require_unlocked(space)
    if not may_bypass(context, space):
        raise ApiError(409, "The merge rules of this space do not allow imports, which nobody reviews.")
    return space


def _root(context: Context, space: SpaceRow) -> Path:
    """Return the folder of the repositories, if the current thread may wait for Git.

    Raises:
        ApiError: 400, the operator allows no repositories.
        OutgoingRequired: the current thread may not wait.
    """
    if context.git_root is None:
        raise ApiError(400, NO_FOLDER)
    context.outgoing_requests(space.organization_id)
    return context.git_root


@contextmanager
def _git_errors() -> Generator[None]:
    try:
        yield
    except GitError as error:
        raise ApiError(400, str(error)) from None


def _prefix(call: ImportGitRepository | ExportToGitRepository) -> str:
    directory = normalize_path(call.repo_project_directory or "")
    if directory is None or any(name.casefold() == ".git" for name in directory.split("/")):
        raise ApiError(400, "repoProjectDirectory: must be a path in the repository")
    return f"{directory}/" if directory else ""


def _check_out(git: LocalRepository, ref: str, prefix: str, directory: Path) -> None:
    """Write the files of a commit whose paths start with `prefix` into a directory, without the prefix."""
    blobs = {
        path.removeprefix(prefix): blob for path, blob in git.files(git.commit(ref)).items() if path.startswith(prefix)
    }
    if sum(blob.size for path, blob in blobs.items() if is_text_path(path)) > MOST_CHARACTERS:
        raise GitError(f"ref: its pages have more than {MOST_CHARACTERS:,} bytes")
    for path, content in git.contents(blobs).items():
        location = directory / path
        location.parent.mkdir(parents=True, exist_ok=True)
        location.write_bytes(content)


def _commit(
    git: LocalRepository,
    call: ExportToGitRepository,
    author: Signature,
    content: Repository,
    stored: dict[str, dict[str, Any]],
    files: StagedFiles,
) -> None:
    """Commit the differences between the content and the branch.

    Files of the branch that are neither pages nor part of the Git format stay.
    """
    prefix = _prefix(call)
    parent = git.branch_tip(call.ref)
    blobs = {
        path.removeprefix(prefix): blob
        for path, blob in (git.files(parent) if parent else {}).items()
        if path.startswith(prefix)
    }
    former = git.contents({path: blob for path, blob in blobs.items() if path == CONFIG_FILE or is_text_path(path)})
    config = RepositoryConfig()
    if CONFIG_FILE in former:
        config = read_config(decode_text(CONFIG_FILE, former[CONFIG_FILE]).text)[0]
    root = f"{config.root}/" if config.root else ""
    texts = repository_texts(content, config, former)
    changed = {path: text for path, text in texts.items() if path not in blobs or git_oid(text) != blobs[path].oid}
    for source, file in stored.items():
        path = root + source
        if path not in blobs or not file.get("git") or file["git"]["oid"] != blobs[path].oid:
            contents = files.read(file["content"])
            if contents is not None and (path not in blobs or git_oid(contents) != blobs[path].oid):
                changed[path] = contents
    current = {*texts, *(root + source for source in stored)}
    removed = {path for path in blobs if path not in current and path.startswith(root) and _is_managed(path, root)}
    if changed or removed or parent is None or call.force:
        git.write(
            call.ref,
            parent,
            changed={prefix + path: content for path, content in changed.items()},
            removed={prefix + path for path in removed},
            author=author,
            message=call.commit_message,
        )


def _is_managed(path: str, root: str) -> bool:
    source = path.removeprefix(root)
    return is_text_path(source) or source.startswith(".gitbook/")


def _documents(revision: RevisionContent) -> list[str]:
    documents = [place.page.get("documentId") for place in revision.pages.values()]
    return [document for document in documents if document]
