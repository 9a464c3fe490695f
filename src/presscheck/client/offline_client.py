"""No service at all, for a person who wants to be offline: every request ends as if the network were gone."""

from __future__ import annotations

from typing import Any

from presscheck.api.operation import Operation
from presscheck.client.request_context import RequestContext
from presscheck.errors import NetworkError


class Unplugged:
    """What stands in a client's place; nothing leaves this machine."""

    async def fetch(self, call: Operation[Any], errand: RequestContext | None = None) -> bytes:
        """Nothing is asked.

        Raises:
            NetworkError: always.
        """
        raise NetworkError("Offline mode (--offline)", request=str(call))

    async def aclose(self) -> None:
        """There is no connection to close."""
