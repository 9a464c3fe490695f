"""Every operation can be created, stored and restored, and has a docstring and a response type."""

import json
import pkgutil
from importlib import import_module
from typing import Any

from tests.api.families import OPERATIONS, filled
from tests.table import each_row

import presscheck.api
from presscheck.api.git_repositories import ImportGitRepository
from presscheck.api.operation import Argument, Operation, answer_reader, revive


@each_row(sorted(OPERATIONS.items()))
def test_an_operation_builds_and_survives_the_store(cls: type[Operation[Any]]) -> None:
    call: Operation[Any] = filled(cls)
    assert call.key().startswith(f"{cls.operation_id} {{")
    assert call.wire_path().startswith("/")
    assert "{" not in call.wire_path()
    again = revive(cls.stored_name(), json.loads(json.dumps(call.given())))
    assert again == call
    assert again.key() == call.key()
    assert again.wire_body() == call.wire_body()


@each_row(sorted(OPERATIONS.items()))
def test_an_operation_has_a_docstring_and_a_response_type(cls: type[Operation[Any]]) -> None:
    assert (cls.__doc__ or "").strip().endswith("."), "a sentence"
    assert "Answer" not in repr(cls.answer), "the type of the answer is known at run time"
    assert cls.success in (200, 201, 204)
    # the problems of an import are in a header
    assert (cls.success == 204) == (cls.answer is None or cls is ImportGitRepository)
    if cls.answer is not None:
        assert answer_reader(cls).core_schema


def test_every_public_class_is_documented() -> None:
    missing = [
        f"{module.name}.{name}"
        for module in pkgutil.iter_modules(presscheck.api.__path__)
        for name, thing in vars(import_module(f"presscheck.api.{module.name}")).items()
        if isinstance(thing, type)
        and thing.__module__ == f"presscheck.api.{module.name}"
        and "[" not in name
        and not thing.__doc__
    ]
    assert missing == []


def test_arguments_are_written_strictly() -> None:
    arguments = [cls for cls in Argument.__subclasses__() if cls is not Operation]
    assert arguments
    for cls in [*arguments, *OPERATIONS.values()]:
        assert cls.model_config.get("extra") == "forbid", cls
        assert cls.model_config.get("frozen") is True, cls
