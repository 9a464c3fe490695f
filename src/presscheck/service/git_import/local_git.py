"""Reads and writes Git repositories in the folder that the operator allows, with the `git` program.

Only objects and branches are read and written. No files are checked out, so filters, hooks and submodules of a
repository cannot run anything. Settings of the user and the system are ignored, and no protocol can reach the network.
"""

from __future__ import annotations

import os
import re
import subprocess
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple
from urllib.parse import unquote, urlsplit

from presscheck.config.inner_path import inner_path
from presscheck.documents.git_format.config import normalize_path

MOST_SECONDS = 60
"""Time limit of each run of Git."""
MOST_FILES = 20_000
LARGEST = 200 * 1024 * 1024
"""Maximum size of all files of a commit, in bytes."""
_REGULAR = ("100644", "100755")
_REF = re.compile(r"(?!-)[^\0-\x20~^:?*\[\\\x7f]+")
_SETTINGS = ("core.hooksPath=/dev/null", "core.fsmonitor=false", "protocol.allow=never", "protocol.file.allow=never")


class GitError(Exception):
    """A repository cannot be read or written; the message is the reason."""


class Blob(NamedTuple):
    """A regular file of a commit."""

    oid: str
    size: int


class Signature(NamedTuple):
    """The author of a commit, and the time in seconds."""

    name: str
    email: str
    seconds: int


@dataclass(frozen=True)
class LocalRepository:
    """A Git repository. `directory` contains its objects and branches."""

    directory: Path
    is_bare: bool

    @classmethod
    def at(cls, root: Path, url: str) -> LocalRepository:
        """Find a repository by a path in the folder `root`, or by a ``file:`` URL.

        Raises:
            GitError: the repository does not exist, or is not in the folder.
        """
        path = _path_of(url)
        directory = inner_path(root, path)
        if directory is None or ".." in Path(path).parts:
            raise GitError("url: is not in the folder of Git repositories of this service")
        inner = directory / ".git"
        is_bare = not inner.is_dir() or inner.is_symlink()
        objects = directory if is_bare else inner
        if not (objects / "HEAD").is_file() or not (objects / "objects").is_dir():
            raise GitError("url: is not a Git repository in the folder of this service")
        return cls(objects, is_bare)

    def commit(self, ref: str) -> str:
        """Return the id of the commit that `ref` names: a branch, a tag or a commit id.

        Raises:
            GitError: the repository has no such commit.
        """
        commit = self.branch_tip(ref) or self._commit(f"refs/tags/{ref}")
        if commit is None and re.fullmatch(r"[0-9a-f]{40}|[0-9a-f]{64}", ref):
            commit = self._commit(ref)
        if commit is None:
            raise GitError(f"ref: this repository has no branch, tag or commit {ref}")
        return commit

    def branch_tip(self, ref: str) -> str | None:
        """Return the id of the newest commit of a branch, or None if there is no such branch."""
        return self._commit(f"refs/heads/{_branch(ref)}")

    def files(self, commit: str) -> dict[str, Blob]:
        """Return the regular files of a commit by path. Symbolic links, submodules and unusual paths are left out.

        Raises:
            GitError: the commit has too many files, or the files are too large.
        """
        listed = self._run("ls-tree", "-r", "-l", "-z", "--full-tree", commit)
        files: dict[str, Blob] = {}
        for line in listed.split(b"\0")[:-1]:
            head, _, name = line.partition(b"\t")
            mode, _, oid, size = head.decode().split()
            path = name.decode("utf-8", "replace")
            if mode in _REGULAR and normalize_path(path) == path and "\N{REPLACEMENT CHARACTER}" not in path:
                files[path] = Blob(oid, int(size))
        if len(files) > MOST_FILES or sum(blob.size for blob in files.values()) > LARGEST:
            raise GitError(f"ref: has more than {MOST_FILES:,} files or {LARGEST:,} bytes")
        return files

    def contents(self, files: Mapping[str, Blob]) -> dict[str, bytes]:
        """Return the bytes of files by path."""
        output = memoryview(
            self._run("cat-file", "--batch", stdin="".join(f"{blob.oid}\n" for blob in files.values()).encode())
        )
        contents: dict[str, bytes] = {}
        start = 0
        for path, blob in files.items():
            start += len(f"{blob.oid} blob {blob.size}\n")
            contents[path] = bytes(output[start : start + blob.size])
            start += blob.size + 1
        return contents

    def write(
        self,
        branch: str,
        parent: str | None,
        *,
        changed: Mapping[str, bytes],
        removed: set[str],
        author: Signature,
        message: str,
    ) -> None:
        """Commit changed and removed files to a branch.

        Raises:
            GitError: the branch is not at `parent` any more, or is checked out in a working tree.
        """
        name = _branch(branch)
        self._run("check-ref-format", f"refs/heads/{name}")
        if not self.is_bare and self._run("symbolic-ref", "-q", "HEAD").decode().strip() == f"refs/heads/{name}":
            raise GitError(f"ref: {name} is checked out in this repository; choose another branch or a bare repository")
        words = message.encode()
        stream = [
            f"commit refs/heads/{name}\n".encode(),
            f"committer {_name(author.name)} <{_name(author.email)}> {author.seconds} +0000\n".encode(),
            f"data {len(words)}\n".encode() + words + b"\n",
            f"from {parent}\n".encode() if parent else b"",
            *(f"D {_quoted(path)}\n".encode() for path in sorted(removed)),
        ]
        for path, content in changed.items():
            stream.append(f"M 100644 inline {_quoted(path)}\ndata {len(content)}\n".encode() + content + b"\n")
        self._run("fast-import", "--quiet", "--date-format=raw", stdin=b"".join(stream))

    def _commit(self, name: str) -> str | None:
        try:
            return self._run("rev-parse", "--verify", "--quiet", f"{name}^{{commit}}").decode().strip()
        except GitError:
            return None

    def _run(self, *arguments: str, stdin: bytes = b"") -> bytes:
        settings = [part for setting in _SETTINGS for part in ("-c", setting)]
        environment = {
            "PATH": os.environ.get("PATH", os.defpath),
            "LC_ALL": "C",
            "GIT_CONFIG_NOSYSTEM": "1",
            "GIT_CONFIG_GLOBAL": os.devnull,
            "GIT_ALLOW_PROTOCOL": "",
            "GIT_NO_LAZY_FETCH": "1",
            "GIT_NO_REPLACE_OBJECTS": "1",
            "GIT_TERMINAL_PROMPT": "0",
        }
        try:
            ran = subprocess.run(  # noqa: S603  # each argument comes from here or was checked
                ["git", *settings, f"--git-dir={self.directory}", *arguments],  # noqa: S607
                input=stdin,
                capture_output=True,
                env=environment,
                cwd=self.directory,
                timeout=MOST_SECONDS,
                check=False,
            )
        except subprocess.TimeoutExpired:
            raise GitError(f"Git was not done after {MOST_SECONDS} seconds") from None
        except OSError:
            raise GitError("Git is not installed where this service runs") from None
        if ran.returncode:
            lines = ran.stderr.decode("utf-8", "replace").strip().splitlines()
            reason = (lines or ["no reason given"])[0].replace(str(self.directory), self.directory.name)
            raise GitError(f"Git failed: {reason[:200]}")
        return ran.stdout


def _path_of(url: str) -> str:
    if not re.match(r"[a-zA-Z][a-zA-Z0-9+.-]*:|//", url):
        return url
    try:
        parts = urlsplit(url)
    except ValueError:
        parts = None
    if parts is None or parts.scheme != "file" or parts.netloc or parts.query or parts.fragment:
        raise GitError("url: must be a path or a URL such as file:///srv/git/docs.git")
    path = unquote(parts.path)
    if "\0" in path:
        raise GitError("url: must not contain NUL")
    return path


def _branch(ref: str) -> str:
    """Return the name of a branch or tag, without `refs/heads/`.

    Raises:
        GitError: the name is invalid.
    """
    name = ref.removeprefix("refs/heads/")
    if not _REF.fullmatch(name) or ".." in name or "@{" in name:
        raise GitError("ref: must be the name of a branch")
    return name


def _name(text: str) -> str:
    return " ".join(re.sub(r"[<>\0-\x1f\x7f]", " ", text).split()) or "unknown"


def _quoted(path: str) -> str:
    return '"' + path.replace("\\", "\\\\").replace('"', '\\"') + '"'
