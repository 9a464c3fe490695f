"""Storage of uploaded files, on disk or in a bucket. Files are named by the SHA-256 hash of their bytes.

So equal files are stored once, names are safe, and storing a file again changes nothing.
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

from presscheck.paths import private_opener

CHUNK = 256 * 1024
"""Bytes of a file that are read at once."""
DISK = "disk"
"""The location of files in the data directory."""
MOST_THREADS = 16
"""Most threads of a process that wait for a remote store; further requests for files wait for one of them."""

_CONTENT_ID = re.compile(r"[0-9a-f]{64}")


class FilesUnavailable(Exception):
    """The store does not respond or refuses access; the message has the location and the reason, and no secrets.

    Attributes:
        is_lasting: whether only the operator can change that, such as a bucket that does not exist.
    """

    def __init__(self, message: str, *, is_lasting: bool = False) -> None:
        super().__init__(message)
        self.is_lasting = is_lasting


@dataclass(frozen=True)
class Blob:
    """An open file; to be read once, or closed.

    Attributes:
        size: the number of bytes in `chunks`.
        chunks: the bytes; raises `FilesUnavailable` if they end too early.
        close: closes it, also before its end.
        span: the first and last byte and the size of the whole file, if only a part was opened.
    """

    size: int
    chunks: Iterator[bytes]
    close: Callable[[], None]
    span: tuple[int, int, int] | None = None


class BlobStore(ABC):
    """A place for files.

    Attributes:
        location: ``disk``, or the URL of a bucket.
        is_remote: whether its methods wait for another server.
        threads: limits the threads that wait for it at once.
    """

    location: str
    is_remote: bool

    def __init__(self) -> None:
        self.threads = CapacityLimiter(MOST_THREADS)

    @abstractmethod
    def put(self, content: bytes) -> str:
        """Stores bytes and returns their id; they are stored durably by then.

        Raises:
            FilesUnavailable: they are not stored.
        """

    @abstractmethod
    def open(self, content_id: str, byte_range: str | None = None) -> Blob | None:
        """Opens a file; None if it does not exist.

        Args:
            content_id: its id.
            byte_range: the part to open, as in the ``Range`` header, such as ``bytes=0-99``; a store may ignore it.

        Raises:
            FilesUnavailable: the store failed, so it is not known whether it exists.
            ValueError: the file has no byte in this range.
        """

    @abstractmethod
    def ids(self) -> Iterator[str]:
        """The ids of all files, in order.

        Raises:
            FilesUnavailable: the list is incomplete.
        """

    @abstractmethod
    def remove(self, content_id: str) -> None:
        """Deletes a file; a missing one is not an error.

        Raises:
            FilesUnavailable: it may still exist.
        """

    @abstractmethod
    def check(self) -> None:
        """Checks that the store can be used.

        Raises:
            FilesUnavailable: it cannot.
        """

    def read(self, content_id: str) -> bytes | None:
        """The bytes of a file; None if it does not exist.

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
    """Files in the data directory."""

    location = DISK
    is_remote = False

    def __init__(self, data: Path) -> None:
        super().__init__()
        self._directory = data / "files"

    def put(self, content: bytes) -> str:
        """Stores bytes and returns their id; they are on disk by then."""
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
            except OSError as error:  # a full disk has no room for what cannot be used
                with suppress(OSError):
                    unfinished.unlink(missing_ok=True)
                raise FilesUnavailable(f"could not store a file in {self._directory}: {error.strerror}") from None
        return content_id

    def path(self, content_id: str) -> Path | None:
        """The path of a file; None if it does not exist."""
        path = self._directory / content_id
        return path if is_content_id(content_id) and path.is_file() else None

    def open(self, content_id: str, byte_range: str | None = None) -> Blob | None:
        """Opens a file, always as a whole; None if it does not exist."""
        path = self.path(content_id)
        if path is None:
            return None
        file = path.open("rb")
        return Blob(os.fstat(file.fileno()).st_size, iter(lambda: file.read(CHUNK), b""), file.close)

    def ids(self) -> Iterator[str]:
        """The ids of all files, in order."""
        with suppress(FileNotFoundError):
            yield from sorted(path.name for path in self._directory.iterdir() if is_content_id(path.name))

    def remove(self, content_id: str) -> None:
        """Deletes a file."""
        if is_content_id(content_id):
            (self._directory / content_id).unlink(missing_ok=True)

    def check(self) -> None:
        """Nothing to check: the directory is created with the first file."""


def id_of(content: bytes) -> str:
    """The id of bytes."""
    return hashlib.sha256(content).hexdigest()


def is_content_id(text: str) -> bool:
    """Whether a text has the format of an id."""
    return _CONTENT_ID.fullmatch(text) is not None
