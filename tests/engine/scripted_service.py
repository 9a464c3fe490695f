"""A service in this process: it answers each call as told, notes what it is sent, and fails where it is told to."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterable
from typing import Any

from presscheck.api.operation import Operation
from presscheck.client.responses import read_answer
from presscheck.errors import NotFound


class ScriptedService:
    """What a client sends goes here instead.

    An answer is JSON, the bytes of a body, or an error. Several answers to one call are given one after the other, the
    last one again and again. A read without an answer is not found; a write without one has an empty response.

    Args:
        answers: the answers, by the calls that they belong to.
    """

    def __init__(self, answers: Iterable[tuple[Operation[Any], Any]] = ()) -> None:
        self.sent: list[Operation[Any]] = []
        self._answers: dict[str, list[Any]] = {}
        for call, answer in answers:
            self._answers.setdefault(call.key(), []).append(answer)

    def answer(self, call: Operation[Any], *answers: Any) -> None:
        """Answer a call in another way from now on."""
        self._answers[call.key()] = [*answers]

    def writes(self) -> list[Operation[Any]]:
        """The writes that were sent, in order."""
        return [call for call in self.sent if not call.is_read()]

    async def fetch(self, call: Operation[Any], *_: Any) -> bytes:
        """The body of the response."""
        self.sent.append(call)
        await asyncio.sleep(0)  # as over a network, others have their turn meanwhile
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
        """The response to a read."""
        return read_answer(call, await self.fetch(call))

    async def aclose(self) -> None:
        """There is no connection to close."""
