"""Every API operation has a command, and the command sends its request: method, path, query and body."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any, cast
from urllib.parse import parse_qsl, urlsplit

import click
import pytest
from annotated_types import MaxLen
from tests.api.families import filled
from tests.cli.hostile_calls import line_of, spec_of
from tests.cli.hostile_service import HostileService, operation_at
from tests.cli.shell import Shell

from presscheck.api.operation import Operation, Page, Paged, every_operation
from presscheck.cli.main import command
from presscheck.cli.operations.api_commands import commands, verbs
from presscheck.cli.operations.command_factory import CommandSpec
from presscheck.cli.session import Session
from presscheck.engine.forms.field_help import PARTS
from presscheck.engine.reads.listing_guard import whole_listing

CONVERSATION = '[{"id":"x","parts":[{"role":"user","body":"x"}]}]'
LINES = {
    "EditChangeRequestContent": "cr edit x --page x --body x",
    "GetChangeRequest": "cr show x#1",
    "GetChangeRequestPage": "space page x x --cr x",
    "IngestConversations": f"conversation ingest --org x --conversations {CONVERSATION}",
    "ListChangeRequestPages": "space pages x --cr x",
    "ListChangeRequests": "cr list --space x",
    "RemoveRequestedReviewer": "cr reviewers x --remove x",
    "RequestReviewers": "cr reviewers x --add x",
    "GetPreview": "site preview x",
    "UpdateChangeRequest": "cr archive x",
}
"""Command lines for operations that need particular options."""
SOME = 1 if os.environ.get("PRESSCHECK_KINDS") else 10
"""Every tenth command runs; with `PRESSCHECK_KINDS`, all of them."""
AMBIGUOUS = {"SortSiteStructure"}
"""Needs a site whose items have different ids; `test_sites` in `test_commands` has one."""


@pytest.fixture(scope="module")
def service() -> Iterator[HostileService]:
    """A service with well-formed responses, in which all ids are `x`."""
    with HostileService("well-formed").running() as one:
        yield one


@pytest.fixture(scope="module")
def shell(tmp_path_factory: pytest.TempPathFactory, service: HostileService) -> Shell:
    return Shell(tmp_path_factory.mktemp("home"), {"PRESSCHECK_BASE_URL": service.base_url, "PRESSCHECK_TOKEN": "t"})


@pytest.fixture(scope="module")
def named() -> dict[str, click.Command]:
    return dict(commands(command))


def lines_for(operation: type[Operation[Any]], words: str, one: click.Command) -> list[str]:
    """Return the words of the command line for an operation."""
    line = LINES.get(operation.__name__)
    return line.split() if line else line_of(words, one)


def requests(service: HostileService, operation: type[Operation[Any]]) -> list[tuple[str, dict[str, str], Any]]:
    """Return path, query and body of each request for an operation."""
    found: list[tuple[str, dict[str, str], Any]] = []
    for asked, body in zip(service.asked, service.bodies, strict=True):
        method, _, address = asked.partition(" ")
        parts = urlsplit(address)
        if operation_at(method, parts.path.removeprefix("/v1")) is operation:
            found.append((parts.path.removeprefix("/v1"), dict(parse_qsl(parts.query)), body))
    return found


def expected(spec: CommandSpec) -> tuple[str, dict[str, str], Any]:
    """Return the request of a generated command with `x` for all arguments and the options from `filled`."""
    operation = spec.operation
    given = {name: getattr(filled(operation), name) for name in filled(operation).model_fields_set}
    texts = {"body": {"markdown": "x"}} if "body" in operation.model_fields and "body" not in given else {}
    call = operation(**{**texts, **given, **dict.fromkeys(operation.path_fields(), "x"), **spec.preset})
    query = {
        **dict(call.wire_query()),
        **({"limit": str(operation.max_page_size())} if issubclass(operation, Paged) else {}),
    }
    return call.wire_path(), query, call.wire_body()


def test_every_operation_has_a_command() -> None:
    found = verbs(command)
    assert [one.__name__ for one in every_operation() if one not in found] == []
    assert set(found) == set(every_operation())


@pytest.mark.slow
def test_each_command_sends_its_request(shell: Shell, service: HostileService, named: dict[str, click.Command]) -> None:
    problems: list[str] = []
    for operation, [words, *_] in [*verbs(command).items()][::SOME]:
        if operation.__name__ in AMBIGUOUS:
            continue
        service.asked.clear()
        service.bodies.clear()
        line = lines_for(operation, words, named[words])
        ran = shell.run(*line)
        sent = requests(service, operation)
        spec = spec_of(named[words])
        if ran.exit_code or not sent:
            problems.append(f"{line}: exit code {ran.exit_code}, {ran.stderr} {ran.exception!r} {service.asked}")
        elif spec and expected(spec) not in sent:
            problems.append(f"{line}: sent {sent}, not {expected(spec)}")
    assert not problems, "\n".join(problems)


def test_deletions_need_confirmation(shell: Shell, service: HostileService, named: dict[str, click.Command]) -> None:
    made = {
        words: one for words, one in named.items() if (spec := spec_of(one)) and spec.operation.method() == "DELETE"
    }
    assert len(made) > 15
    assert not [words for words, one in made.items() if not any(param.name == "yes" for param in one.params)]
    service.asked.clear()
    for words, one in [*made.items()][::8]:
        ran = shell.run(*(word for word in line_of(words, one) if word != "--yes"))
        assert (ran.exit_code, "pass --yes" in ran.stderr) == (2, True), (words, ran.stderr)
        assert shell.ok(*line_of(words, one), "--dry-run").startswith("DELETE http://"), words
    assert not [asked for asked in service.asked if asked.startswith("DELETE")]


def test_too_long_value_is_an_error_that_names_the_option(
    shell: Shell, service: HostileService, named: dict[str, click.Command]
) -> None:
    service.asked.clear()
    tried = 0
    for words, one in named.items():
        spec = spec_of(one)
        for name, info in spec.operation.model_fields.items() if spec else ():
            limit = next((rule.max_length for rule in info.metadata if isinstance(rule, MaxLen)), None)
            option: Any = next((option for option in one.params if option.name == name), None)
            if limit is None or limit > 2000 or option is None or option.metavar == "JSON" or option.multiple:
                continue
            value = "y" * (limit + 1)
            is_positional = isinstance(option, click.Argument)
            line = [value if is_positional and word == "x" else word for word in line_of(words, one)]
            ran = shell.run(*line, *(() if is_positional else (option.opts[0], value)))
            assert ran.exit_code == 2, (words, name, ran.stderr)
            assert option.opts[0].lstrip("-").upper() in ran.stderr.upper(), (words, name, ran.stderr)
            assert f"{limit:,} characters" in ran.stderr, ran.stderr
            assert ran.stderr.count("\n") == 1
            tried += 1
    assert tried > 25
    assert service.asked == []


def test_options_set_the_parts_of_an_object(shell: Shell, service: HostileService, tmp_path: Path) -> None:
    file = tmp_path / "api.yaml"
    file.write_text("openapi: 3.1.0\n")
    service.asked.clear()
    service.bodies.clear()
    shell.ok("openapi", "create", "--slug", "pets", "--source-text", f"@{file}")
    shell.ok("import", "start", "--source-url", "https://docs.example", "--target-space", "x")
    shell.ok("site", "redirects", "edit", "x", "x", "--destination-kind", "external",
             "--destination-url", "https://docs.example")  # fmt: skip
    assert [body for body in service.bodies if body] == [
        {"slug": "pets", "source": {"text": "openapi: 3.1.0\n"}},
        {"source": {"type": "website", "url": "https://docs.example"}, "target": {"space": "x"}},
        {"destination": {"kind": "external", "url": "https://docs.example"}},
    ]
    service.asked.clear()
    for options, reason in (
        (("--source-url", "u", "--source", "{}"), "--source-url: cannot be used together with --source"),
        (("--source-url", "u", "--source-files", "f"), "--source-url: cannot be used together with --source-files"),
        ((), "--source-url: is required: give --source-files or --source instead"),
        (("--source-url", "u" * 2049), "--source-url: must have at most 2,048 characters"),
    ):
        ran = shell.run("import", "start", "--target-space", "x", *options)
        assert (ran.exit_code, ran.stderr.startswith(f"presscheck: {reason}")) == (2, True), ran.stderr
    missing = shell.run("openapi", "create", "--slug", "pets", "--source-text", f"@{tmp_path / 'gone'}")
    assert missing.stderr == f"presscheck: --source-text: could not read {tmp_path / 'gone'} as UTF-8 text\n"
    assert service.asked == []


def test_every_part_has_an_option() -> None:
    options = {option.name for _, one in commands(command) for option in one.params}
    assert {f"{name}__{part}" for name, parts in PARTS.items() for part in parts} <= options


LISTINGS = [operation for operation in every_operation() if issubclass(operation, Paged)]


@pytest.mark.parametrize("operation", LISTINGS, ids=lambda operation: operation.__name__)
async def test_page_size_stays_within_the_limit_of_the_listing(
    operation: type[Operation[Any]], monkeypatch: pytest.MonkeyPatch
) -> None:
    sent: list[dict[str, Any]] = []

    async def read(call: Operation[Any]) -> Page[Any]:
        sent.append(call.given())
        return Page(items=())

    session = Session(cast("Any", None), cast("Any", None), json=False)
    monkeypatch.setattr(session, "read", read)
    for limit in (0, 150, 5000):
        assert [item async for item in session.every(filled(operation), limit)] == []
    assert await whole_listing(session, filled(operation)) == ()
    assert len(sent) == 4
    for given in sent:
        operation(**given)
