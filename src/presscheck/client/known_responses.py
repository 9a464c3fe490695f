"""The last responses to reads that had an `ETag`: a repeated read is answered with 304 if nothing has changed."""

from __future__ import annotations

from collections import OrderedDict
from typing import NamedTuple

from presscheck.client.responses import Reply

MAX_SIZE = 8 << 20
"""The maximum size of all bodies that are kept, in bytes."""
MAX_BODY = 1 << 20
"""The maximum size of one body that is kept, in bytes."""
MAX_ETAG = 200
"""The maximum length of an `ETag`."""
NOT_MODIFIED = 304


class Known(NamedTuple):
    """A response, and its `ETag`."""

    etag: str
    reply: Reply


class KnownResponses:
    """The responses of one client by URL; the least recently used ones are dropped first.

    Args:
        max_size: the maximum size of all bodies, in bytes.
    """

    def __init__(self, max_size: int = MAX_SIZE) -> None:
        self._max_size, self._size = max_size, 0
        self._replies: OrderedDict[str, Known] = OrderedDict()

    def get(self, url: str) -> Known | None:
        """The last response to a GET request of this URL; None if it had no `ETag`, or was dropped."""
        return self._replies.get(url)

    def resolve(self, url: str, reply: Reply, known: Known | None = None) -> Reply:
        """The response with its body: for a 304 that of the known response, whose `ETag` was sent.

        Another request may have replaced or dropped it meanwhile. A new response with an `ETag` is kept.
        """
        if reply.status == NOT_MODIFIED and known is not None:
            if self._replies.get(url) is known:
                self._replies.move_to_end(url)
            return known.reply
        if reply.status < NOT_MODIFIED:
            self._keep(url, reply)
        return reply

    def _keep(self, url: str, reply: Reply) -> None:
        before = self._replies.pop(url, None)
        self._size -= len(before.reply.body) if before else 0
        etag = reply.headers.get("etag", "")
        if reply.status != 200 or not etag or len(etag) > MAX_ETAG or len(reply.body) > MAX_BODY:
            return
        self._replies[url] = Known(etag, reply)
        self._size += len(reply.body)
        while self._size > self._max_size:
            _, oldest = self._replies.popitem(last=False)
            self._size -= len(oldest.reply.body)
