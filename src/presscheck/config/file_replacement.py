"""Atomic replacement of files: a file is never partly written, even if the process is killed."""

from __future__ import annotations

import os
import re
from contextlib import suppress
from pathlib import Path

_is_unfinished = re.compile(r"\..+\.\d+\.new").fullmatch


def is_unfinished(name: str) -> bool:
    """Return whether a file with this name is left from a `replace_file` that was killed."""
    return _is_unfinished(name) is not None


def replace_file(file: Path, content: str | bytes, mode: int, *, is_lasting: bool = True) -> None:
    """Replace the content of a file, or create it.

    Args:
        file: the file, not a link to it.
        content: the new content.
        mode: the permissions.
        is_lasting: whether to wait until the content survives a power failure.

    Raises:
        OSError: the file cannot be written.
    """
    new = file.with_name(f".{file.name}.{os.getpid()}.new")
    try:
        with os.fdopen(_open_new(new), "wb") as opened:
            opened.write(content.encode() if isinstance(content, str) else content)
            opened.flush()
            os.fchmod(opened.fileno(), mode)
            if is_lasting:
                os.fsync(opened.fileno())
        new.replace(file)
        if is_lasting:
            sync_directory(file.parent)
    except BaseException:
        new.unlink(missing_ok=True)
        raise


def sync_directory(directory: Path) -> None:
    """Wait until new and renamed files of a directory survive a power failure, on file systems that support it."""
    with suppress(OSError):
        descriptor = os.open(directory, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)


def _open_new(file: Path) -> int:
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL
    try:
        return os.open(file, flags, 0o600)
    except FileExistsError:  # left from a process with the same id
        file.unlink()
        return os.open(file, flags, 0o600)
