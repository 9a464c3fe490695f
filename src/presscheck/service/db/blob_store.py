"""File storage on disk. Files are named by their hash, so equal files are stored once and names are safe."""

from __future__ import annotations

import hashlib
import os
import re
import secrets
from pathlib import Path

_CONTENT_ID = re.compile(r"[0-9a-f]{64}")


def store_blob(data: Path, content: bytes) -> str:
    """Stores bytes in the data directory and returns their id; they are on disk by then."""
    content_id = hashlib.sha256(content).hexdigest()
    path = data / "files" / content_id
    if not path.exists():
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        unfinished = path.with_name(f".{content_id}.{secrets.token_hex(4)}")
        with unfinished.open("xb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        unfinished.replace(path)
    return content_id


def blob_path(data: Path, content_id: str) -> Path | None:
    """The path of the bytes with this id; None if it is not a valid id."""
    return data / "files" / content_id if _CONTENT_ID.fullmatch(content_id) else None
