"""Requests generated from the OpenAPI description: each response matches its schema and is never a server error.

Both engines get the same requests and must return the same statuses. By default some operations get one valid and one
invalid request, the same in every run. With `PRESSCHECK_CASES` all operations get that many; `make fuzz` sends many.
"""

from __future__ import annotations

import os
import random
from collections import defaultdict
from collections.abc import Iterator
from contextlib import ExitStack
from typing import Any

import pytest
import requests
import schemathesis
from hypothesis import HealthCheck, Phase, given, seed, settings
from schemathesis import Case, GenerationMode
from schemathesis.checks import not_a_server_error
from schemathesis.core.failures import FailureGroup
from schemathesis.specs.openapi.checks import (
    content_type_conformance,
    response_schema_conformance,
    status_code_conformance,
)
from tests.needs import all_required
from tests.postgresql import Cluster, programs
from tests.running_service import RunningService, running_service
from tests.service.factories import plant_world
from tests.service.populated_service import Known, furnish

from presscheck.api.operation import Operation
from presscheck.service.handlers import all_handlers
from presscheck.service.http.openapi import operation_id

CASES = int(os.environ.get("PRESSCHECK_CASES", "1"))
IN_A_WORLD = 10
"""Requests per operation before the data is created again, because deletions leave little to test."""
ROUNDS = -(-CASES // IN_A_WORLD)
SHARE, PARTS = (1, 4) if "PRESSCHECK_CASES" in os.environ else (8, 1)
"""Every `SHARE`-th operation is called; the operations are split among `PARTS` tests."""
CHECKS = [not_a_server_error, content_type_conformance, response_schema_conformance, status_code_conformance]
ANSWERED = {operation_id(operation): operation for operation in all_handlers()}
FAMILIES = sorted({one.family for one in ANSWERED.values()})
ENDING = {"MergeChangeRequest", "UpdateChangeRequest", "UpdateSpace", "TransferSpace", "TransferCollection"}
"""Operations that come last, like deletions, because they remove the data of others."""
ASKS_OTHERS = {
    "getComputedDocument",
    "getComputedRevision",
    "renderIntegrationUIWithGet",
    "renderIntegrationUIWithPost",
}
"""Operations that may respond with a 502 for another server or for a script."""
STANDS_FOR = {
    "author": "userId", "contributor": "userId", "creator": "userId", "member": "userId", "owner": "userId",
    "parent": "collectionId", "requestedReviewer": "userId", "site-space": "siteSpaceId", "section": "siteSectionId",
}  # fmt: skip


@pytest.fixture(scope="module")
def engines(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[list[RunningService]]:
    """Services that no other test uses, as their data is destroyed; on SQLite, and on PostgreSQL if it is installed."""
    urls: list[str | None] = [None]
    if programs() or all_required():
        cluster: Cluster = request.getfixturevalue("postgresql")
        urls.append(cluster.new_database())
    with ExitStack() as stack:
        yield [
            stack.enter_context(running_service(tmp_path_factory.mktemp("made_up"), database_url=url)) for url in urls
        ]


@pytest.fixture(scope="module")
def schema(engines: list[RunningService]) -> Any:
    """The OpenAPI description from the service."""
    loaded = schemathesis.openapi.from_url(f"{engines[0].base_url}/openapi.json")
    loaded.config.generation.update(with_security_parameters=False)
    return loaded


@pytest.mark.slow
@pytest.mark.timeout(60 + 60 * CASES)
@pytest.mark.parametrize("part", range(PARTS))
@pytest.mark.parametrize("number", range(ROUNDS))
def test_responses_to_generated_requests_match_the_description(
    engines: list[RunningService], schema: Any, part: int, number: int
) -> None:
    families = FAMILIES[part::PARTS]
    names = [name for name, operation in ANSWERED.items() if operation.family in families]
    chosen = sorted(names, key=lambda name: place(ANSWERED[name]))[::SHARE]
    described = [operation.ok() for operation in schema.include(operation_id=chosen).get_all_operations()]
    found = {one.definition.raw["operationId"]: one for one in described}
    saying = Saying([Hearer(engine) for engine in engines], number)
    for name in chosen:
        saying.every_case(name, found[name], GenerationMode.POSITIVE)
        if found[name].query or found[name].body:  # a path may contain any text
            saying.every_case(name, found[name], GenerationMode.NEGATIVE)
    for hearer in saying.hearers:
        hearer.session.close()
    assert not saying.faults, "\n\n".join(saying.faults)
    done = [name for name, statuses in saying.statuses.items() if statuses & {200, 201, 204}]
    assert len(done) > len(chosen) / 2, "most valid requests must succeed"


def place(operation: type[Operation[Any]]) -> tuple[int, int, str]:
    """Return a sort key: reads, writes, then deletions, which are sorted with children before their parents."""
    is_last = operation.method() == "DELETE" or operation.__name__ in ENDING
    depth = len(operation.path_fields()) if is_last else 0
    return 2 * is_last + (not operation.is_read()), -depth, operation.__name__


class Hearer:
    """A service with its own world."""

    def __init__(self, service: RunningService) -> None:
        world = plant_world(service.database_url, service.base_url)
        self.base_url = service.base_url
        self.known: Known = furnish(world)
        self.session = requests.Session()
        self.session.headers["authorization"] = f"Bearer {world.tokens['admin']}"


class Saying:
    """Sends generated requests, mostly for existing items, to each service and records faults of the responses."""

    def __init__(self, hearers: list[Hearer], number: int) -> None:
        self.hearers = hearers
        self.number = number
        self.faults: list[str] = []
        self.statuses: defaultdict[str, set[int]] = defaultdict(set)

    def every_case(self, name: str, operation: Any, mode: GenerationMode) -> None:
        seeds = random.Random(f"{name} {mode.value} {self.number}")

        @seed(self.number)
        @settings(
            max_examples=min(CASES, IN_A_WORLD),
            database=None,
            deadline=None,
            phases=(Phase.generate,),
            suppress_health_check=list(HealthCheck),
        )
        @given(operation.as_strategy(generation_mode=mode))
        def say(case: Case) -> None:
            made_up = dict(case.path_parameters), case.query, case.body
            chosen = seeds.random()
            answers = [self._say(name, case, made_up, hearer, random.Random(chosen)) for hearer in self.hearers]
            if len(set(answers)) > 1:
                self.faults.append(f"{name}: the engines differ: {answers}, {self._told(case)}")

        say()

    def _say(self, name: str, case: Case, made_up: tuple[Any, ...], hearer: Hearer, chance: random.Random) -> int:
        in_space = case.operation.path.startswith("/v1/spaces/{spaceId}/comments")
        meant = Meaning(hearer.known, chance)
        path, query, body = made_up
        for part in path:
            known = hearer.known[("space-" if in_space and part != "spaceId" else "") + part]
            case.path_parameters[part] = known if chance.random() < 0.9 else path[part]
        case.query = meant(query)
        case.body = meant(body)
        response = case.call(base_url=hearer.base_url, session=hearer.session)
        self.statuses[name].add(response.status_code)
        if response.status_code == 502 and name in ASKS_OTHERS:
            return 502
        try:
            case.validate_response(response, checks=CHECKS)
        except FailureGroup as failures:
            told = [f"{type(exception).__name__}: {exception}" for exception in failures.exceptions]
            answer = f"{response.status_code} {response.content[:400]!r}"
            self.faults.append("\n".join([f"{name}: {self._told(case)}", answer, *told]))
        return response.status_code

    def _told(self, case: Case) -> str:
        return f"{case.method} {case.formatted_path} {case.query} {case.body!r}"[:1000]


class Meaning:
    """A callable that returns a value with most ids replaced by ids of existing items."""

    def __init__(self, known: Known, chance: random.Random) -> None:
        self.known = known
        self.chance = chance

    def __call__(self, value: Any, name: str = "") -> Any:
        if isinstance(value, dict):
            return {key: self(one, str(key)) for key, one in value.items()}
        if isinstance(value, list):
            return [self(one, name) for one in value]
        single = name.removesuffix("Id").removesuffix("s")
        known = self.known.get(STANDS_FOR.get(single, f"{single}Id"))
        return known if isinstance(value, str) and known and self.chance.random() < 0.8 else value
