"""Atomic replacement of files: a file is never partly written, even if the process is killed."""

from __future__ import annotations

import os
from pathlib import Path


def replace_file(file: Path, text: str, mode: int) -> None:
    """Replace the text of a file, or create it.

    Args:
        file: the file, not a link to it.
        text: the new text.
        mode: the permissions.

    Raises:
        OSError: the file cannot be written.
    """
    new = file.with_name(f".{file.name}.{os.getpid()}.new")
    new.unlink(missing_ok=True)
    try:
        with os.fdopen(os.open(new, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as opened:
            opened.write(text.encode())
            opened.flush()
            os.fchmod(opened.fileno(), mode)
            os.fsync(opened.fileno())
        new.replace(file)
    finally:
        new.unlink(missing_ok=True)
