"""Validation of specifications in a separate process, which fetches nothing and has limits."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from tests.web_server import web_server

from presscheck.service import openapi_validation
from presscheck.service.bounded_process import LimitExceeded, run_bounded
from presscheck.service.jobs import openapi_processor
from presscheck.service.jobs.queue import RetryLater

SPEC: dict[str, Any] = {"openapi": "3.1.0", "info": {"title": "Lamps", "version": "1"}, "paths": {}}
EVIL = {"type": "string", "pattern": "^(a+)+$", "default": "a" * 40 + "!"}
MARKER = "a-secret-of-this-machine"


def validated(specification: dict[str, Any], seconds: int = 60) -> dict[str, Any]:
    text = json.dumps(specification).encode()
    return json.loads(run_bounded(openapi_validation.__name__, stdin=text, seconds=seconds))


def with_schema(schema: dict[str, Any]) -> dict[str, Any]:
    return SPEC | {"components": {"schemas": {"A": {"type": "object", "properties": {"x": schema}}}}}


@pytest.mark.attack("references in specifications")
def test_references_out_of_the_document_are_refused(tmp_path: Path) -> None:
    file = tmp_path / "schema.json"
    file.write_text(json.dumps({"type": "integer", "const": MARKER}))
    with web_server({"/schema.json": json.dumps({"type": "integer", "const": MARKER})}) as server:
        for address in (f"{server.url}/schema.json", file.as_uri(), str(file), "schema.json", "//127.0.0.1/x"):
            for schema in (
                {"$ref": address, "default": "x"},
                {"$dynamicRef": address, "default": "x"},
                {"$id": address, "$ref": "#/properties/y", "default": "x"},
                {"allOf": [{"$ref": f"{address}#/const"}], "default": "x"},
            ):
                [message] = openapi_validation.outside_references(with_schema(schema))
                assert "points outside this document" in message, schema
            item = SPEC | {"paths": {"/x": {"$ref": address}}}
            [message] = openapi_validation.outside_references(item)
            assert "points outside this document" in message, address
            answer = json.dumps(validated(with_schema({"$ref": address, "default": "x"}) | {"paths": item["paths"]}))
            assert "points outside this document" in answer and MARKER not in answer, address
        assert server.asked == []


def test_local_references_and_properties_named_like_references_are_allowed() -> None:
    schema = {"$ref": "#/components/schemas/B"}
    names = {"type": "object", "properties": {"$ref": {"type": "string"}, "$id": {"type": "string"}}}
    specification = SPEC | {"components": {"schemas": {"A": schema, "B": names}}}
    assert json.loads(validated(specification)["content"]) == specification


@pytest.mark.attack("references in specifications")
def test_unchecked_reference_opens_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The kernel denies the process access to files and network, whatever its libraries try."""
    program = tmp_path / "unchecked.py"
    program.write_text(
        "from presscheck.service import openapi_validation as program\n"
        "program.outside_references = lambda specification: iter(())\n"
        "program.main()\n"
    )
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    with web_server({"/schema.json": json.dumps({"const": MARKER})}) as server:
        text = json.dumps(with_schema({"$ref": f"{server.url}/schema.json", "default": "x"})).encode()
        answer = run_bounded("unchecked", stdin=text, seconds=60).decode()
        assert '"code"' in answer and MARKER not in answer
        assert server.asked == []


@pytest.mark.slow
@pytest.mark.attack("patterns that backtrack")
def test_pattern_that_backtracks_is_stopped_and_retried(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(openapi_processor, "MOST_SECONDS", 1)
    with pytest.raises(RetryLater, match="could not validate the specification: not done after 2 seconds"):
        openapi_processor.validated(json.dumps(with_schema(EVIL)).encode())


@pytest.mark.slow
@pytest.mark.attack("endless jobs")
def test_process_ends_at_its_limit_of_processor_time_without_the_parent(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "hasty.py").write_text(
        "from presscheck.service import openapi_validation as program\nprogram.MOST_SECONDS = 1\nprogram.main()\n"
    )
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    references = {
        f"A{number}": {"allOf": [{"$ref": f"#/components/schemas/A{number + 1}"}] * 2} for number in range(24)
    }
    schemas: dict[str, Any] = references | {"A24": {"type": "object"}}
    exponential = SPEC | {"openapi": "3.0.3", "components": {"schemas": schemas}}
    assert len(json.dumps(exponential)) < 3000
    with pytest.raises(LimitExceeded, match="more memory or time needed"):
        run_bounded("hasty", stdin=json.dumps(exponential).encode(), seconds=60)


def test_process_may_end_before_it_has_read_its_input() -> None:
    """The module `this` reads nothing and prints some lines, which count as a question if there is an `answer`."""
    asked: list[bytes] = []

    def answer(question: bytes) -> bytes:
        asked.append(question)
        return much

    # a little more than the capacity of a pipe: the rest is still in the buffer when the process has ended
    much, poem = b"x" * 66_000, b"The Zen of Python"
    assert run_bounded("this", stdin=much, seconds=60).startswith(poem)
    run_bounded("this", stdin=much, seconds=60, answer=answer)
    assert asked[0].startswith(poem)
