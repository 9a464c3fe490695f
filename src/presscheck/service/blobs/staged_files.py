"""The files that a call stores and reads; they are stored before its transaction commits."""

from __future__ import annotations

from sqlalchemy.orm import Session

from presscheck.service.blobs.location import require_location
from presscheck.service.blobs.store import BlobStore, id_of


class FilesRequired(Exception):
    """A handler needs a remote store, so it must run again in a thread that may wait for the store."""


class StagedFiles:
    """Files that handlers store and read.

    With a remote store, the first attempt of a transaction only collects the bytes. They are uploaded before the
    transaction is repeated.

    Args:
        store: the store.
        may_wait: whether the current thread may wait for a remote store.

    Attributes:
        was_read: whether a handler has read a file.
    """

    def __init__(self, store: BlobStore, *, may_wait: bool = False) -> None:
        self.may_wait = may_wait
        self.was_read = False
        self._store = store
        self._pending: dict[str, bytes] = {}
        self._uploaded: set[str] = set()
        self._is_used = False

    def put(self, content: bytes) -> str:
        """Store bytes, or collect them for `upload`, and return their id."""
        self._is_used = True
        if not self._store.is_remote:
            return self._store.put(content)
        content_id = id_of(content)
        if content_id not in self._uploaded:
            self._pending[content_id] = content
        return content_id

    def read(self, content_id: str) -> bytes | None:
        """Return the bytes of a file, or None if it does not exist.

        Raises:
            FilesRequired: the current thread may not wait for the store.
            FilesUnavailable: the store failed.
        """
        self.was_read = True
        if self._store.is_remote and not self.may_wait:
            raise FilesRequired
        return self._store.read(content_id)

    def upload(self) -> None:
        """Upload the collected files. Must be called outside of a transaction.

        Raises:
            FilesRequired: the current thread may not wait for the store.
            FilesUnavailable: the store failed.
        """
        if self._pending and not self.may_wait:
            raise FilesRequired
        for content_id, content in list(self._pending.items()):
            self._store.put(content)
            self._uploaded.add(content_id)
            del self._pending[content_id]

    def require_stored(self, session: Session) -> None:
        """Check at the end of a transaction that its files are stored in the current location.

        Raises:
            FilesRequired: files have to be uploaded first.
            FilesUnavailable: the files were moved to another location since this process started.
        """
        if self._pending:
            raise FilesRequired
        if self._is_used:
            require_location(session, self._store.location)
