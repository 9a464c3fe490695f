"""Names of files and folders that every file system and web host can store.

Names that some system cannot store, or that differ from another name only in case, get a hash of their path.
"""

from __future__ import annotations

import re
import unicodedata
from hashlib import blake2b

MAX_BYTES = 200
"""Maximum length of a name in bytes of UTF-8; file systems allow 255, and some tools append an extension."""
_UNSAFE = re.compile(r'[<>:"/\\|?*\x00-\x1f\x7f]+')
_RESERVED = re.compile(r"(?:con|prn|aux|nul|com\d|lpt\d)(?:\..*)?", re.IGNORECASE)
"""Names of devices on Windows."""
_EXTENSION = re.compile(r"\.[A-Za-z0-9]{1,10}$")
_KEPT = 40
"""Number of characters of an unsafe name that its safe form keeps."""


class SafeNames:
    """An allocator of file paths that stay different on a system that ignores case."""

    def __init__(self) -> None:
        self._folders = {"": ""}
        self._taken: set[str] = set()

    def folder(self, path: str) -> str:
        """Return the safe path of a folder. The same `path` always has the same result."""
        if path not in self._folders:
            self._folders[path] = self._free(path)
        return self._folders[path]

    def file(self, path: str) -> str:
        """Return a safe path for a new file. No earlier folder or file has this path."""
        return self._free(path)

    def _free(self, path: str) -> str:
        above, _, name = path.rpartition("/")
        folder = self.folder(above)
        top = f"{folder}/" if folder else ""
        free = top + (name if is_safe(name) else _safe(name, path))
        if _folded(free) in self._taken:
            free = top + _safe(name, path)
        self._taken.add(_folded(free))
        return free


def is_safe(name: str) -> bool:
    """Return whether every file system can store a name, and no web server treats it specially.

    Names that begin with a dot may configure a web server.
    """
    try:
        size = len(name.encode())
    except UnicodeEncodeError:
        return False
    return (
        0 < size <= MAX_BYTES
        and not name.startswith((".", " "))
        and not name.endswith((".", " "))
        and not _UNSAFE.search(name)
        and not _RESERVED.fullmatch(name)
    )


def _safe(name: str, path: str) -> str:
    extension = _EXTENSION.search(name)
    stem = name[: extension.start()] if extension else name
    stem = _UNSAFE.sub("-", stem.encode("ascii", "ignore").decode()).strip(". ")[:_KEPT].strip(". ") or "page"
    digest = blake2b(path.encode("utf-8", "surrogatepass"), digest_size=5).hexdigest()
    return f"{stem}-{digest}{extension[0] if extension else ''}"


def _folded(path: str) -> str:
    return unicodedata.normalize("NFKC", path).casefold()
