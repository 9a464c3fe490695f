"""Storage of uploaded files, on disk or in a bucket.

The name of a file is the SHA-256 hash of its bytes. So equal files are stored once, names are safe, and storing a file
again changes nothing.
"""

from __future__ import annotations

import hashlib
import os
import re
import secrets
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from anyio import CapacityLimiter
from typing_extensions import override

from presscheck.config.file_replacement import sync_directory
from presscheck.paths import private_opener

CHUNK = 256 * 1024
"""Number of bytes that are read from a file at a time."""
DISK = "disk"
"""The location of files in the data directory."""
MOST_THREADS = 16
"""Maximum number of threads per process that wait for a remote store; further requests for files queue."""

_CONTENT_ID = re.compile(r"[0-9a-f]{64}")


class FilesUnavailable(Exception):
    """The store does not respond or refuses access. The message has the location and the reason, but no secrets.

    Attributes:
        is_lasting: whether the operator must act before a retry can succeed, for example create the bucket.
    """

    def __init__(self, message: str, *, is_lasting: bool = False) -> None:
        super().__init__(message)
        self.is_lasting = is_lasting


@dataclass(frozen=True)
class Blob:
    """An open file, which must be read to the end or closed.

    Attributes:
        size: the number of bytes in `chunks`.
        chunks: an iterator over the bytes. It raises `FilesUnavailable` if they end before `size`.
        close: closes the file, even before its end is reached.
        span: first byte, last byte and size of the whole file, if only a part was opened.
    """

    size: int
    chunks: Iterator[bytes]
    close: Callable[[], None]
    span: tuple[int, int, int] | None = None


class BlobStore(ABC):
    """A store of files under the hashes of their bytes.

    Attributes:
        location: ``disk``, or the URL of a bucket.
        is_remote: whether methods block on another server.
        threads: limits how many threads block on the store at the same time.
    """

    location: str
    is_remote: bool

    def __init__(self) -> None:
        self.threads = CapacityLimiter(MOST_THREADS)

    @abstractmethod
    def put(self, content: bytes) -> str:
        """Store bytes durably and return their id.

        Raises:
            FilesUnavailable: the bytes are not stored.
        """

    @abstractmethod
    def open(self, content_id: str, byte_range: str | None = None) -> Blob | None:
        """Open a file.

        Args:
            content_id: the id of the file.
            byte_range: the part to open, as in the ``Range`` header, such as ``bytes=0-99``; a store may ignore it.

        Returns:
            The open file, or None if it does not exist.

        Raises:
            FilesUnavailable: the store failed; the file may exist.
            ValueError: the file has no byte in this range.
        """

    @abstractmethod
    def ids(self) -> Iterator[str]:
        """Yield the ids of all files in sorted order.

        Raises:
            FilesUnavailable: the store failed, so ids are missing.
        """

    @abstractmethod
    def remove(self, content_id: str) -> None:
        """Delete a file if it exists.

        Raises:
            FilesUnavailable: the store failed; the file may still exist.
        """

    @abstractmethod
    def check(self) -> None:
        """Check that the store can be used.

        Raises:
            FilesUnavailable: the store cannot be used.
        """

    def read(self, content_id: str) -> bytes | None:
        """Return the bytes of a file, or None if it does not exist.

        Raises:
            FilesUnavailable: the store failed.
        """
        blob = self.open(content_id)
        if blob is None:
            return None
        try:
            return b"".join(blob.chunks)
        finally:
            blob.close()


class DiskBlobStore(BlobStore):
    """A store of files in the data directory."""

    location = DISK
    is_remote = False

    def __init__(self, data: Path) -> None:
        super().__init__()
        self._directory = data / "files"

    @override
    def put(self, content: bytes) -> str:
        content_id = id_of(content)
        path = self._directory / content_id
        if not path.exists():
            unfinished = path.with_name(f".{content_id}.{secrets.token_hex(4)}")
            try:
                path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
                with open(unfinished, "xb", opener=private_opener) as file:
                    file.write(content)
                    file.flush()
                    os.fsync(file.fileno())
                unfinished.replace(path)
                sync_directory(path.parent)  # a row that refers to the file may survive on another disk
            except OSError as error:  # do not leave half a file on a full disk
                with suppress(OSError):
                    unfinished.unlink(missing_ok=True)
                raise FilesUnavailable(f"could not store a file in {self._directory}: {error.strerror}") from None
        return content_id

    def path(self, content_id: str) -> Path | None:
        """Return the path of a file, or None if it does not exist."""
        path = self._directory / content_id
        return path if is_content_id(content_id) and path.is_file() else None

    @override
    def open(self, content_id: str, byte_range: str | None = None) -> Blob | None:
        """Open a file; `byte_range` is ignored."""
        path = self.path(content_id)
        if path is None:
            return None
        file = path.open("rb")
        return Blob(os.fstat(file.fileno()).st_size, iter(lambda: file.read(CHUNK), b""), file.close)

    @override
    def ids(self) -> Iterator[str]:
        with suppress(FileNotFoundError):
            yield from sorted(path.name for path in self._directory.iterdir() if is_content_id(path.name))

    @override
    def remove(self, content_id: str) -> None:
        if is_content_id(content_id):
            (self._directory / content_id).unlink(missing_ok=True)

    @override
    def check(self) -> None:
        """Do nothing: the directory is created with the first file."""


def id_of(content: bytes) -> str:
    """Return the id of a file with these bytes."""
    return hashlib.sha256(content).hexdigest()


def is_content_id(text: str) -> bool:
    """Return whether a text has the format of a file id."""
    return _CONTENT_ID.fullmatch(text) is not None
