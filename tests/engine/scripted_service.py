"""A replacement for a client: it answers calls from a script and records them."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterable
from typing import Any

from presscheck.api.operation import Operation
from presscheck.client.responses import read_answer
from presscheck.errors import NotFound


class ScriptedService:
    """A client with scripted answers.

    An answer is JSON, the bytes of a body, or an error to raise. Several answers to one call are given in order, and
    the last one is repeated. A read without an answer raises NotFound; a write without one has an empty response.

    Args:
        answers: pairs of a call and an answer to it.
    """

    def __init__(self, answers: Iterable[tuple[Operation[Any], Any]] = ()) -> None:
        self.sent: list[Operation[Any]] = []
        self._answers: dict[str, list[Any]] = {}
        for call, answer in answers:
            self._answers.setdefault(call.key(), []).append(answer)

    def answer(self, call: Operation[Any], *answers: Any) -> None:
        """Replace the answers to a call."""
        self._answers[call.key()] = [*answers]

    def writes(self) -> list[Operation[Any]]:
        """Return the writes that were sent, in order."""
        return [call for call in self.sent if not call.is_read()]

    async def fetch(self, call: Operation[Any], *_: Any) -> bytes:
        """Record a call and return the body of the response."""
        self.sent.append(call)
        await asyncio.sleep(0)  # let other tasks run, as during a request over a network
        answers = self._answers.get(call.key())
        if not answers:
            if call.is_read():
                raise NotFound(f"{call.key()} is not there", request="", status=404)
            return b""
        answer = answers.pop(0) if len(answers) > 1 else answers[0]
        if isinstance(answer, Exception):
            raise answer
        return answer if isinstance(answer, bytes) else json.dumps(answer).encode()

    async def read(self, call: Operation[Any], **_: Any) -> Any:
        """Record a read and return the parsed response."""
        return read_answer(call, await self.fetch(call))

    async def aclose(self) -> None:
        """Do nothing: there is no connection to close."""
