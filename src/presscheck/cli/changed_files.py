"""The files of a folder that changed since a revision, from Git."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Iterable
from pathlib import Path

from presscheck.errors import InvalidArgument

MOST_SECONDS = 60
"""Time limit of each run of Git."""
OPTION = "--changed-since"
_SETTINGS = ("-c", "core.fsmonitor=false", "-c", "core.hooksPath=/dev/null")


def changed_files(directory: Path, revision: str) -> set[str]:
    """Return the paths of the files in a directory that changed since a revision, relative to the directory.

    The changes begin at the merge base of the revision and HEAD. They include deleted, uncommitted and new files.

    Raises:
        InvalidArgument: the revision does not exist, the directory is not in a Git repository, or Git failed.
    """
    base = _base(directory, revision)
    names = ("diff", "--name-only", "-z", "--no-renames", "--no-ext-diff", "--relative", base, "--")
    new = ("ls-files", "--others", "--exclude-standard", "-z")
    outputs = [_git(directory, *arguments) for arguments in (names, new)]
    return {os.fsdecode(path) for output in outputs for path in (output or b"").split(b"\0") if path}


def old_texts(directory: Path, revision: str, paths: Iterable[str]) -> dict[str, str]:
    """Return the texts of files at the merge base of a revision and HEAD, by path. New files are left out.

    Args:
        directory: a directory in a Git repository.
        revision: the revision, as for `changed_files`.
        paths: the paths of the files, relative to the directory.

    Raises:
        InvalidArgument: as for `changed_files`.
    """
    base = _base(directory, revision)
    names = [path for path in paths if "\n" not in path]  # the input of Git has a name per line
    output = _git(directory, "cat-file", "--batch", stdin="".join(f"{base}:./{path}\n" for path in names)) or b""
    texts: dict[str, str] = {}
    start = 0
    for path in names:
        end = output.index(b"\n", start)
        head = output[start:end].split(b" ")
        start = end + 1
        if head[-1].isdigit():
            size = int(head[-1])
            texts[path] = output[start : start + size].decode("utf-8", "replace")
            start += size + 1
    return texts


def _base(directory: Path, revision: str) -> str:
    """Return the commit at which the changes since a revision begin: the merge base of the revision and HEAD."""
    if revision.startswith("-") or "\0" in revision:
        raise InvalidArgument(OPTION, f"must be a revision, not {revision!r}")
    commit = _git(directory, "rev-parse", "--verify", "--quiet", f"{revision}^{{commit}}")
    if not commit:
        raise InvalidArgument(OPTION, f"this repository has no revision {revision}")
    tip = commit.decode().strip()
    # a shallow clone may lack the merge base
    return (_git(directory, "merge-base", tip, "HEAD") or b"").decode().strip() or tip


def _git(directory: Path, *arguments: str, stdin: str = "") -> bytes | None:
    """Run Git in a directory. Return its output; None if it reports no match, such as a revision that does not exist.

    Raises:
        InvalidArgument: Git is not installed, failed, or took longer than `MOST_SECONDS`.
    """
    # Git sets these for hooks, and they would override the directory
    environment = {name: value for name, value in os.environ.items() if name not in ("GIT_DIR", "GIT_WORK_TREE")}
    environment |= {"GIT_NO_LAZY_FETCH": "1", "GIT_OPTIONAL_LOCKS": "0", "GIT_TERMINAL_PROMPT": "0", "LC_ALL": "C"}
    try:
        ran = subprocess.run(  # noqa: S603  # the revision does not begin like an option
            ["git", *_SETTINGS, *arguments],  # noqa: S607
            cwd=directory,
            input=os.fsencode(stdin),
            capture_output=True,
            env=environment,
            timeout=MOST_SECONDS,
            check=False,
        )
    except subprocess.TimeoutExpired:
        raise InvalidArgument(OPTION, f"Git was not done after {MOST_SECONDS} seconds") from None
    except OSError:
        raise InvalidArgument(OPTION, "needs Git, which is not installed") from None
    if ran.returncode == 128:
        raise InvalidArgument(OPTION, f"Git failed: {_reason(ran.stderr)}")
    return None if ran.returncode else ran.stdout


def _reason(stderr: bytes) -> str:
    lines = stderr.decode("utf-8", "replace").strip().splitlines()
    return lines[0].removeprefix("fatal: ")[:200] if lines else "no reason given"
