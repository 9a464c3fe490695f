"""A client for offline mode: every request fails with a network error."""

from __future__ import annotations

from typing import Any

from presscheck.api.operation import Operation
from presscheck.client.request_priority import RequestContext
from presscheck.client.responses import Reply
from presscheck.errors import NetworkError


class OfflineClient:
    """A client that sends nothing."""

    async def fetch(self, call: Operation[Any], context: RequestContext | None = None) -> bytes:
        """Fail, because no requests are sent offline.

        Raises:
            NetworkError: always.
        """
        raise NetworkError("Offline mode (--offline)", request=str(call))

    async def download(self, call: Operation[Any], url: str, limit: int | None = None) -> bytes:
        """Fail, because no requests are sent offline.

        Raises:
            NetworkError: always.
        """
        raise NetworkError("Offline mode (--offline)", request=str(call))

    async def visit(self, call: Operation[Any], url: str) -> int:
        """Fail, because no requests are sent offline.

        Raises:
            NetworkError: always.
        """
        raise NetworkError("Offline mode (--offline)", request=str(call))

    async def read_page(self, call: Operation[Any], url: str) -> Reply:
        """Fail, because no requests are sent offline.

        Raises:
            NetworkError: always.
        """
        raise NetworkError("Offline mode (--offline)", request=str(call))

    async def aclose(self) -> None:
        """Do nothing: there are no connections."""
