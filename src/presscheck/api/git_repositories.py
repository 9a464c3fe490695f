"""Import and export of a space from and to a Git repository."""

from typing import Any, Literal

from pydantic import Field, PrivateAttr

from presscheck.api.operation import Argument, InSpace, Model, Operation


class GitInfo(Argument):
    """The provider of a repository, and its URL there."""

    provider: Literal["github", "gitlab"] | None = None
    url: str | None = None


class WithRepository(InSpace):
    """The fields of a repository. The fields about its provider are hints.

    The local service ignores the hints, except `repo_tree_url` at an import: links on published pages edit the files
    there.
    """

    url: str
    ref: str
    repo_cache_id: str | None = Field(default=None, alias="repoCacheID")
    repo_tree_url: str | None = Field(default=None, alias="repoTreeURL")
    repo_commit_url: str | None = Field(default=None, alias="repoCommitURL")
    repo_project_directory: str | None = None
    timestamp: str | None = None
    force: bool | None = None
    standalone: bool | None = None
    git_info: GitInfo | None = None


class ImportProblem(Model):
    """A part of a file that could not be imported."""

    file: str
    line: int = 1
    text: str = ""


class ImportedRepository(Model):
    """The problems of an import; all else was imported. `more` is the number of problems that are not listed."""

    problems: tuple[ImportProblem, ...] = ()
    more: int = 0


class ImportGitRepository(WithRepository, Operation[ImportedRepository]):
    """Replace the content of a space by a Git repository.

    `url` is the address or path of the repository, `ref` a branch, a tag or a commit. The local service reads only
    repositories in the folder that it was started with, and always imports, as with `force`.
    """

    operation_id = "importGitRepository"
    route = "POST /spaces/{space_id}/git/import"
    success = 204
    feature = "Git import and export"
    release = "0.202.0"

    _prepared: Any = PrivateAttr(default=None)


class ExportToGitRepository(WithRepository, Operation[None]):
    """Commit the content of a space to a Git repository.

    `url` is the address or path of the repository, `ref` a branch. The local service writes only to repositories in the
    folder that it was started with. If nothing changed, it commits only with `force`.
    """

    operation_id = "exportToGitRepository"
    route = "POST /spaces/{space_id}/git/export"
    success = 204
    feature = "Git import and export"
    release = "0.202.0"

    commit_message: str
