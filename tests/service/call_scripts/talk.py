"""A client that sends operations by name and compares their responses with the API description."""

from __future__ import annotations

import json
from typing import Any

from tests.contract.description import DOCUMENTED, NEWEST, Described, operations
from tests.contract.operations import wire_route
from tests.service.api_schemas import faults

from presscheck.api.operation import FAMILIES, Operation, every_operation
from presscheck.client.client import Client


class Talk:
    """An admin client, and the URL of a website that the service may reach.

    `answered` are the operations that got a response, `faults` are deviations of responses from the description.
    """

    def __init__(self, client: Client, owner: str, member: str, elsewhere: str, website: str) -> None:
        self.client, self.owner, self.member, self.elsewhere = client, owner, member, elsewhere
        self.website = website
        self.answered: set[type[Operation[Any]]] = set()
        self.faults: set[str] = set()

    async def __call__(self, name: str, /, **given: Any) -> Any:
        every_operation()
        call = FAMILIES[name](**given)
        body = await self.client.fetch(call)
        self.answered.add(type(call))
        if type(call).answer is None:
            assert body == b""
            return None
        if type(call).success != 204:  # with 204 the result is in a header, and the description has no body
            self._compare(call, json.loads(body))
        return call.read_answer(body)

    def _compare(self, call: Operation[Any], answer: Any) -> None:
        releases = operations()[wire_route(type(call))]
        release = DOCUMENTED if DOCUMENTED in releases else NEWEST
        schema = releases[release]["responses"][str(type(call).success)]
        self.faults.update(f"{type(call).__name__}{fault}" for fault in faults(Described(schema, release), answer, ""))
