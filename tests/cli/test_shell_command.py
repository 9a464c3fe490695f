"""Operations printed as commands: they parse to the same operation and contain no secrets."""

import shlex
from itertools import cycle
from typing import Any, cast

import click
import pytest
from tests.api.families import NAMES, example, filled

from presscheck.api.operation import FAMILIES, Operation
from presscheck.api.shell_command import HIDDEN, shown_path, typed
from presscheck.cli.operations.api_commands import calls, operations
from presscheck.cli.operations.field_options import call_of
from presscheck.errors import InvalidArgument

TEXTS = ("-x", "a b'c\"$x\nd", "@file", '{"a": 1}')


def complete(operation: type[Operation[Any]], text: str) -> Operation[Any]:
    """Return an operation with as many fields set as possible; `text` is the value of free-text fields."""
    given = filled(operation).given()
    for name, info in operation.model_fields.items():
        value = example(info.annotation, tuple(info.metadata))
        for one in (text, value) if isinstance(value, str) else (value,):
            try:
                operation(**{**given, name: one})
            except InvalidArgument:
                continue
            given[name] = one
            break
    return operation(**given)


def read_back(line: str) -> Operation[Any]:
    program, api, name, *words = shlex.split(line)
    assert (program, api) == ("presscheck", "api")
    command = calls.get_command(click.Context(calls), name)
    assert command
    given = command.make_context(name, words).params
    operation = operations()[name]
    nulls = tuple(one.replace("-", "_") for one in given.get("null", ()))
    return call_of(operation, {key: value for key, value in given.items() if key in operation.model_fields}, nulls)


@pytest.mark.slow
def test_a_printed_command_parses_to_the_same_operation() -> None:
    said = 0
    for name, text in zip(NAMES, cycle(TEXTS), strict=False):
        call = complete(FAMILIES[name], text)
        line = typed(call)
        if HIDDEN in line:
            continue
        again = read_back(line)
        assert again.given() == call.given()
        said += 1
    assert said > 180


def test_a_printed_command_has_no_secrets() -> None:
    marker = "s3cret-marker"
    space = FAMILIES["spaces.GetSpace"](space_id="s1", share_key=marker)
    assert typed(space) == f"presscheck api get-space --space-id s1 --share-key {HIDDEN}"
    invite = FAMILIES["invites.GetInvite"](organization_id="o1", invite_id=marker)
    assert marker not in typed(invite)
    assert shown_path(invite, invite.wire_path()) == f"/orgs/o1/link-invites/{HIDDEN}"
    for url in (f"https://me:{marker}@example.org/a", f"https://example.org/a?x=1&access_token={marker}&y=2"):
        taken = filled(FAMILIES["imports.StartImport"]).given() | {"source": {"type": "website", "url": url}}
        line = typed(FAMILIES["imports.StartImport"](**taken))
        assert marker not in line
        assert "example.org/a" in line


def test_every_published_operation_id_is_a_command_name() -> None:
    context, group = click.Context(calls), cast("click.Group", calls)
    for name, operation in operations().items():
        command = group.get_command(context, operation.operation_id)
        assert command
        assert command.name == name
    pull, update = (group.get_command(context, name) for name in ("updateChangeRequest", "UpdateChangeRequest"))
    assert pull
    assert update
    assert (pull.name, update.name) == ("pull-change-request", "update-change-request")
