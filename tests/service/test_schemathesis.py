"""Calls made up from the service's own description: each is answered, within its schema, and none makes it fail.

`PRESSCHECK_CASES` is how many are made up for each operation, once of those that fit the description and once of those
that do not; they are the same in every run.
"""

from __future__ import annotations

import os
import random
from collections.abc import Iterator
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
from tests.running_service import RunningService, running_service
from tests.service.conftest import new_database
from tests.service.furnished import Known, furnish
from tests.service.world import plant_world

from presscheck.api.operation import Operation
from presscheck.service.handlers import all_handlers

CASES = int(os.environ.get("PRESSCHECK_CASES", "2"))
CHECKS = [not_a_server_error, content_type_conformance, response_schema_conformance, status_code_conformance]
ANSWERED = {one.__name__: one for one in all_handlers()}
FAMILIES = sorted({one.family for one in ANSWERED.values()})
ENDING = {"MergeChangeRequest", "UpdateChangeRequest", "UpdateSpace", "TransferSpace", "TransferCollection"}
"""What leaves the others nothing to do comes last, as deleting does."""
ASKS_OTHERS = {"RenderIntegration", "RenderIntegrationWithGet"}
"""A 502 of these tells of somebody else."""
STANDS_FOR = {
    "author": "userId", "contributor": "userId", "creator": "userId", "member": "userId", "owner": "userId",
    "parent": "collectionId", "requestedReviewer": "userId", "site-space": "siteSpaceId", "section": "siteSectionId",
}  # fmt: skip


@pytest.fixture(scope="module", params=["sqlite", "postgresql"])
def alone(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningService]:
    """A service that no other test sees the ruins of."""
    with running_service(tmp_path_factory.mktemp("made_up"), database_url=new_database(request)) as running:
        yield running


@pytest.fixture(scope="module")
def schema(alone: RunningService) -> Any:
    """The description, as it is served."""
    loaded = schemathesis.openapi.from_url(f"{alone.base_url}/openapi.json")
    loaded.config.generation.update(with_security_parameters=False)
    return loaded


@pytest.mark.timeout(60 + 60 * CASES)
@pytest.mark.parametrize("family", FAMILIES)
def test_whatever_is_sent_is_answered_as_it_is_described(alone: RunningService, schema: Any, family: str) -> None:
    world = plant_world(alone.database_url, alone.base_url)
    said = Saying(alone.base_url, world.tokens["admin"], furnish(world))
    described = [one.ok() for one in schema.include(tag=family).get_all_operations()]
    named = {one.definition.raw["operationId"]: one for one in described}
    found = {name: one for name, one in named.items() if name in ANSWERED}  # of the others there is a 501 to say
    assert found
    for name in sorted(found, key=lambda name: place(ANSWERED[name])):
        said.every_case(name, found[name], GenerationMode.POSITIVE)
        if found[name].query or found[name].body:  # any text may stand in a path
            said.every_case(name, found[name], GenerationMode.NEGATIVE)
    said.session.close()
    assert not said.faults, "\n\n".join(said.faults)
    assert said.statuses & {200, 201, 204} or family == "urls"  # no made-up address is of this service


def place(operation: type[Operation[Any]]) -> tuple[int, str]:
    """Reads, then writes, then what ends a thing."""
    is_last = operation.method() == "DELETE" or operation.__name__ in ENDING
    return 2 * is_last + (not operation.is_read()), operation.__name__


class Saying:
    """Says cases, mostly of things that are there, and keeps what was wrong with the answers."""

    def __init__(self, base_url: str, token: str, known: Known) -> None:
        self.base_url, self.known = base_url, known
        self.session = requests.Session()
        self.session.headers["authorization"] = f"Bearer {token}"
        self.faults: list[str] = []
        self.statuses: set[int] = set()

    def every_case(self, name: str, operation: Any, mode: GenerationMode) -> None:
        chance = random.Random(f"{name} {mode.value}")

        @seed(2026)
        @settings(
            max_examples=CASES,
            derandomize=True,
            database=None,
            deadline=None,
            phases=(Phase.generate,),
            suppress_health_check=list(HealthCheck),
        )
        @given(operation.as_strategy(generation_mode=mode))
        def say(case: Case) -> None:
            self._say(name, case, chance)

        say()

    def _say(self, name: str, case: Case, chance: random.Random) -> None:
        in_space = case.operation.path.startswith("/v1/spaces/{spaceId}/comments")
        for part in case.path_parameters:
            if chance.random() < 0.9:
                case.path_parameters[part] = self.known[("space-" if in_space and part != "spaceId" else "") + part]
        case.query = self._meant(case.query, "", chance)
        case.body = self._meant(case.body, "", chance)
        response = case.call(base_url=self.base_url, session=self.session)
        self.statuses.add(response.status_code)
        if response.status_code == 502 and name in ASKS_OTHERS:
            return
        try:
            case.validate_response(response, checks=CHECKS)
        except FailureGroup as failures:
            sent = f"{name}: {case.method} {case.formatted_path} {case.query} {case.body!r}"[:1000]
            told = [f"{type(one).__name__}: {one}" for one in failures.exceptions]
            self.faults.append("\n".join([sent, f"{response.status_code} {response.content[:400]!r}", *told]))

    def _meant(self, value: Any, name: str, chance: random.Random) -> Any:
        """The same value, where texts that name a thing mostly name one that is there."""
        if isinstance(value, dict):
            return {key: self._meant(one, str(key), chance) for key, one in value.items()}
        if isinstance(value, list):
            return [self._meant(one, name, chance) for one in value]
        single = name.removesuffix("Id").removesuffix("s")
        known = self.known.get(STANDS_FOR.get(single, f"{single}Id"))
        return known if isinstance(value, str) and known and chance.random() < 0.8 else value
