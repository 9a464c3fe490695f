"""Says calls by their stored names, and keeps which were answered."""

from __future__ import annotations

from typing import Any

from presscheck.api.operation import Operation, answer_reader, revive
from presscheck.client.client import Client


class Talk:
    """Says calls by their stored names, and keeps which were answered."""

    def __init__(self, client: Client, owner: str, member: str, elsewhere: str) -> None:
        self.client, self.owner, self.member, self.elsewhere = client, owner, member, elsewhere
        self.answered: set[type[Operation[Any]]] = set()

    async def __call__(self, name: str, **given: Any) -> Any:
        call = revive(name, given)
        answer = await self.client.send(call)
        if type(call).answer is None:
            assert answer is None
        else:
            answer_reader(type(call)).validate_python(answer, strict=False)
        self.answered.add(type(call))
        return answer
