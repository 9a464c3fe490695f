"""Every operation, called by all callers in an open and a private place: the outcome is the one in the table."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import pytest
from tests.service.authorization_cases import ACROSS, ALLOWED, CASES, NO_EFFECT, Case, Id
from tests.service.authorization_place import FOR_ADMINS, FOR_THIRD, IN_PRIVATE_PLACE, IN_PRIVATE_SITE, TEAM
from tests.service.authorization_world import (
    CALLERS,
    HOME_ADMIN,
    OPEN,
    OUTSIDER,
    PRIVATE,
    Caller,
    World,
    authorization_world,
)
from tests.service.engines import NAMES, new_database

from presscheck.api.computed_content import GetComputedDocument, GetComputedRevision
from presscheck.api.integrations import RenderIntegration, RenderIntegrationWithGet
from presscheck.api.openapi import PutOpenAPISpec
from presscheck.api.operation import Operation, every_operation
from presscheck.service.http.operations import READ_ONLY_OPERATIONS
from presscheck.service.permissions import reaches

PRIVATE_IDS = ("space_id", "spare_space_id", "collection_id", "change_request_id", "comment_id", "import_run_id")
"""Ids of the private place that may not be in responses to callers who do not see it."""
CREATES_WHAT_IS_MISSING = {PutOpenAPISpec}
_FIRST_CASES = {case.operation: case for case in reversed(CASES)}
NESTED = [
    case
    for operation, case in _FIRST_CASES.items()
    if len(operation.path_fields()) > 1 and operation not in CREATES_WHAT_IS_MISSING
]
"""One case of each operation whose path names an item inside another item."""
RECORDED = {GetComputedDocument, GetComputedRevision, RenderIntegration, RenderIntegrationWithGet}
"""Read-only operations that are recorded as events of an integration, which changes the database."""
EVERYONE = [(place, caller) for place, callers in CALLERS.items() for caller in callers]


@pytest.fixture(scope="session", params=NAMES)
def authorization(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[World]:
    """The world of these tests; its database is restored after each call."""
    with authorization_world(tmp_path_factory.mktemp("authorization"), new_database(request)) as world:
        yield world


@pytest.mark.attack("authorization matrix")
@pytest.mark.parametrize("case", CASES, ids=str)
async def test_callers_at_a_limit_get_the_declared_outcome(authorization: World, case: Case) -> None:
    """Call as the last callers that are refused and the first that are admitted, where faults are most likely."""
    await _expect_declared(authorization, case, _at_limits(case))


@pytest.mark.slow
@pytest.mark.attack("authorization matrix")
async def test_other_callers_get_the_declared_outcome(authorization: World) -> None:
    """Each case is called by one caller that is not at a limit of the case; the callers take turns."""
    failures = [
        f"{case}, {caller.name}, {place} place: {deviation}"
        for number, case in enumerate(CASES)
        for place, caller in [_elsewhere(case, number)]
        for deviation in await _deviations(authorization, case, caller, place)
    ]
    assert not failures, "\n".join(failures)


def _elsewhere(case: Case, number: int) -> tuple[str, Caller]:
    near = _at_limits(case)
    others = [one for one in EVERYONE if one not in near]
    return others[number % len(others)]


async def _expect_declared(world: World, case: Case, callers: list[tuple[str, Caller]]) -> None:
    deviations = [
        f"{caller.name}, {place} place: {deviation}"
        for place, caller in callers
        for deviation in await _deviations(world, case, caller, place)
    ]
    assert not deviations, "\n".join(deviations)


def _at_limits(case: Case) -> list[tuple[str, Caller]]:
    """Return the callers whose neighbor, in the order of rights, has another outcome."""
    found: list[tuple[str, Caller]] = []
    for place, callers in CALLERS.items():
        outcomes = [_outcome(case, caller, place) for caller in callers]
        for number, caller in enumerate(callers):
            if set(outcomes[max(number - 1, 0) : number + 2]) != {outcomes[number]}:
                found.append((place, caller))
    return found


def _outcome(case: Case, caller: Caller, place: str) -> tuple[int | str, bool]:
    """Return the declared outcome, and True if the case declares that its item is listed."""
    outcome = case.policy(caller, place) if caller.is_signed_in else 401
    return outcome, bool(case.listed and outcome == ALLOWED and case.listed(caller, place))


@pytest.mark.attack("other organizations")
@pytest.mark.parametrize("case", NESTED, ids=lambda case: case.operation.__name__)
async def test_item_is_only_found_in_its_container(authorization: World, case: Case) -> None:
    """A path with an organization, space or site of the caller and an item of another organization is not found."""
    names = case.operation.path_fields()
    deviations: list[str] = []
    for number in range(1, len(names)):
        foreign = {name: Id(f"elsewhere_{name}") for name in names[:number]}
        for caller in (OUTSIDER, HOME_ADMIN):
            call = _call(authorization, replace(case, arguments=case.arguments | foreign), caller, PRIVATE)
            response = await authorization.service.send(call, authorization.tokens[caller.name])
            has_changed = authorization.service.restore()
            is_deleted_already = case.operation.method() == "DELETE" and response.status_code == 204
            if has_changed or not (response.status_code == 404 or is_deleted_already):
                deviations.append(f"{caller.name}, {call}: {response.status_code} {response.text[:200]}")
    assert not deviations, "\n".join(deviations)


def test_every_operation_is_declared() -> None:
    assert {case.operation for case in CASES} == set(every_operation())


def test_names_of_cases_are_unique() -> None:
    names = [str(case) for case in CASES]
    assert len(set(names)) == len(names)


def test_most_cases_admit_some_callers() -> None:
    """A case that refuses all callers that are signed in proves less; the few exceptions are listed here."""
    outcomes = {
        str(case): {case.policy(caller, place) for place, caller in EVERYONE if caller.is_signed_in}
        for case in CASES
        if not case.label.startswith(ACROSS)
    }
    assert {name for name, found in outcomes.items() if ALLOWED not in found} == {
        "JoinOrganization-without-an-allowed-email-domain",
        "PublishIntegration-name-of-another-organization",
    }


async def _deviations(world: World, case: Case, caller: Caller, place: str) -> list[str]:
    """Send a call and undo its effects. Returns deviations of the response and the effects from the declared ones."""
    call = _call(world, case, caller, place)
    response = await world.service.send(call, world.tokens[caller.name])
    has_changed, requests = world.service.restore(), world.outgoing_requests()
    outcome = case.policy(caller, place) if caller.is_signed_in else 401
    is_admitted = outcome in (ALLOWED, NO_EFFECT)
    status, message = (case.error or (case.operation.success, "")) if is_admitted else (outcome, "")
    if response.status_code != status or message not in response.text:
        return [f"{response.status_code} instead of {status} {message}: {response.text[:200]}"]
    if case.error and not is_admitted and case.error[1] in response.text:
        return ["it gets the answer for others"]
    deviations: list[str] = []
    if has_changed != (outcome == ALLOWED and _is_write(case.operation)):
        deviations.append("it changed something" if has_changed else "it changed nothing")
    if requests and not is_admitted:
        deviations.append(f"it made {requests} outgoing requests")
    if leaked := {word for word in _hidden(world, case, caller) if word in response.text and word not in call.key()}:
        deviations.append(f"it shows {leaked}, which the caller may not see: {response.text[:300]}")
    if case.lists and case.listed and is_admitted:
        is_listed = str(world.id(case.lists, caller, place)) in response.text
        if is_listed != case.listed(caller, place):
            deviations.append(f"{case.lists} is {'listed' if is_listed else 'not listed'}")
    return deviations


def _call(world: World, case: Case, caller: Caller, place: str) -> Operation[Any]:
    arguments = {name: Id(name) for name in case.operation.path_fields()} | case.arguments

    def filled(value: Any) -> Any:
        if isinstance(value, Id):
            return world.id(value.name, caller, place)
        if isinstance(value, dict):
            return {name: filled(inner) for name, inner in value.items()}
        return tuple(filled(inner) for inner in value) if isinstance(value, tuple | list) else value

    return case.operation(**{name: filled(value) for name, value in arguments.items()})


def _is_write(operation: type[Operation[Any]]) -> bool:
    return operation in RECORDED or (not operation.is_read() and operation not in READ_ONLY_OPERATIONS)


def _hidden(world: World, case: Case, caller: Caller) -> set[str]:
    """Return words and ids that no response to the caller may contain."""
    hidden = {FOR_THIRD}
    if not caller.is_member:
        hidden.add(world.ids[OPEN]["member_id"])  # also named in the merge rules of the organization
    if caller.role != "admin":
        hidden.add(FOR_ADMINS)
    if not caller.role and caller.level_in(PRIVATE) != "admin":
        hidden.add(TEAM)
    if not reaches(caller.role, "create") and "share_key" not in case.arguments:
        hidden.add(IN_PRIVATE_SITE)
    if caller.level_in(PRIVATE) is None and "share_key" not in case.arguments:  # a share key opens the place
        hidden |= {IN_PRIVATE_PLACE, *(world.ids[PRIVATE][name] for name in PRIVATE_IDS)}
    return hidden
