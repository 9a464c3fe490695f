"""The files of one request: a remote store is only used outside of the transactions of the database.

A transaction that waits for a bucket would hold up others. So a handler that stores a file in a remote store runs
twice: the first transaction is rolled back, then the file is uploaded, and the second transaction finds it there.
"""

from __future__ import annotations

from sqlalchemy.orm import Session

from presscheck.service.db.blob_store import BlobStore, id_of
from presscheck.service.db.file_location import require_location


class FilesRequired(Exception):
    """A handler needs a remote store; it runs again where it may wait for it."""


class StagedFiles:
    """Files that handlers store and read.

    Args:
        store: the store.

    Attributes:
        may_wait: whether this thread may wait for a remote store.
    """

    def __init__(self, store: BlobStore, *, may_wait: bool = False) -> None:
        self.may_wait = may_wait
        self._store = store
        self._pending: dict[str, bytes] = {}
        self._uploaded: set[str] = set()
        self._is_used = False

    def put(self, content: bytes) -> str:
        """Stores bytes, or collects them for `upload`, and returns their id."""
        self._is_used = True
        if not self._store.is_remote:
            return self._store.put(content)
        content_id = id_of(content)
        if content_id not in self._uploaded:
            self._pending[content_id] = content
        return content_id

    def read(self, content_id: str) -> bytes | None:
        """The bytes of a file; None if it does not exist.

        Raises:
            FilesRequired: this thread may not wait for the store.
            FilesUnavailable: the store failed.
        """
        if self._store.is_remote and not self.may_wait:
            raise FilesRequired
        return self._store.read(content_id)

    def upload(self) -> None:
        """Uploads what was collected; to be called outside of a transaction.

        Raises:
            FilesRequired: this thread may not wait for the store.
            FilesUnavailable: the store failed.
        """
        if self._pending and not self.may_wait:
            raise FilesRequired
        for content_id, content in list(self._pending.items()):
            self._store.put(content)
            self._uploaded.add(content_id)
            del self._pending[content_id]

    def require_stored(self, session: Session) -> None:
        """Checks at the end of a transaction that what it refers to is stored, and where later readers look.

        Raises:
            FilesRequired: files have to be uploaded first.
            FilesUnavailable: the files were moved to another location since this process started.
        """
        if self._pending:
            raise FilesRequired
        if self._is_used:
            require_location(session, self._store.location)
