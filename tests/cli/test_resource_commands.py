"""Generated commands: their columns, and their effects on a real service."""

import types
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Annotated, Any, Union, get_args, get_origin

import click
import pytest
from pydantic import BaseModel
from tests.cli.shell import Shell, signed_in
from tests.running_service import RunningService

from presscheck.cli.main import command
from presscheck.cli.operations.command_factory import COMMAND_SPECS, CommandSpec


def load(group: click.Group) -> None:
    context = click.Context(group)
    for name in group.list_commands(context):
        inner = group.get_command(context, name)
        if isinstance(inner, click.Group):
            load(inner)


def listings() -> list[CommandSpec]:
    """Load all commands. Returns the specs of those that print columns."""
    load(command)
    return [spec for spec in COMMAND_SPECS if spec.columns]


@pytest.fixture(scope="module")
def shell(shared_service: Callable[..., RunningService], tmp_path_factory: pytest.TempPathFactory) -> Shell:
    return signed_in(tmp_path_factory.mktemp("home"), shared_service(sample=True))


def models(annotation: Any) -> Iterator[type[BaseModel]]:
    """Yield the models in the type of a response."""
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        yield annotation
    elif get_origin(annotation) in (Union, types.UnionType, tuple, Annotated):
        for inner in get_args(annotation):
            yield from models(inner)


def has(annotation: Any, names: list[str]) -> bool:
    if not names:
        return True
    if any(one is Any or get_origin(one) is dict for one in (annotation, *get_args(annotation))):
        return True  # free-form data of the service
    if names[0].isdecimal():  # an item of a list
        return has(annotation, names[1:])
    fields = [
        info.annotation
        for model in models(annotation)
        for name, info in model.model_fields.items()
        if (info.alias or name) == names[0]
    ]
    return any(has(one, names[1:]) for one in fields)


@pytest.mark.parametrize("spec", listings(), ids=lambda spec: spec.operation.__name__)
def test_each_column_is_a_field_of_the_response(spec: CommandSpec) -> None:
    [answer] = models(spec.operation.answer)
    items = answer.model_fields[spec.items].annotation if spec.items in answer.model_fields else answer
    missing = [column for column in spec.columns if not has(items, column.split("."))]
    assert missing == []


def test_organization_is_edited_and_shown(shell: Shell) -> None:
    shell.ok("org", "edit", "--title", "Tallowick & Co.")
    assert shell.json("org", "show")["title"] == "Tallowick & Co."
    assert shell.ok("org", "list") == "tallowick\tTallowick & Co.\tbusiness\n"


@pytest.mark.slow
def test_names_are_accepted_instead_of_ids(shell: Shell) -> None:
    team = shell.ok("team", "create", "--title", "Reviewers", "--members", "mia@tallowick.example").strip()
    shell.ok("team", "edit-members", "Reviewers", "--add", "noor haddad", "--remove", "Mia Okonkwo")
    members = shell.ok("team", "members", "reviewers")
    assert ("Mia Okonkwo" in members, members.count("\n")) == (False, 1)
    shell.ok("collection", "teams", "set", "Internal", "Reviewers", "--role", "edit")
    assert shell.ok("collection", "teams", "list", "internal") == f"{team}\tReviewers\tedit\n"
    unknown = shell.run("collection", "teams", "set", "internal", "Writer", "--role", "edit")
    assert unknown.exit_code == 2
    assert unknown.stderr.startswith("presscheck: TEAM: Writer not found. Available: ")
    assert shell.ok("team", "delete", "Reviewers", "--dry-run").endswith(f"/v1/orgs/tallowick/teams/{team}\n")
    assert shell.run("team", "delete", "Reviewers").exit_code == 2, "nobody said yes"
    shell.ok("team", "delete", "Reviewers", "--yes")
    assert shell.ok("team", "list") == ""


def test_audit_events_are_listed_with_any_limit(shell: Shell) -> None:
    team = shell.ok("team", "create", "--title", "Recorded").strip()
    for limit in ((), ("--limit", "0"), ("--limit", "150")):
        assert team in str(shell.json("org", "audit", "list", *limit))


def test_private_keys_are_printed_only_as_json_and_names_are_sanitized(shell: Shell) -> None:
    site = shell.json("site", "list")[0]["id"]
    shell.ok("site", "share-links", "create", site, "--name", "For \x1b[31mus")
    assert "\x1b" not in shell.ok("site", "share-links", "list", site)
    shown = shell.ok("site", "auth", "show", site)
    assert ("backend: custom" in shown, "privateKey" in shown) == (True, False)
    assert shell.json("site", "auth", "show", site)["privateKey"]


def test_table_of_redirects_is_imported_as_lists_and_exported(
    shell: Shell, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("presscheck.engine.publish.redirects.AT_ONCE", 2)
    monkeypatch.setattr("presscheck.engine.publish.redirects.MOST_IN_LIST", 3)
    site = shell.ok("site", "create", "--title", "Moved", "--spaces", "API docs").strip()
    shell.ok("site", "redirects", "add", site, "/gone", "https://docs.example/gone")
    table = tmp_path / "moved.csv"
    rows = [{"source": f"/{number}", "destination": f"https://docs.example/{number}"} for number in range(4)]
    table.write_text("".join(f"{row['source']},{row['destination']}\n" for row in rows))
    ran = shell.run("site", "redirects", "import", site, str(table), "--replace", "--yes")
    assert (ran.exit_code, ran.stderr.splitlines()[-1]) == (0, "5 sent.")
    assert shell.json("site", "redirects", "export", site) == rows
    sent = [row["change"] for row in shell.json("outbox", "history")]
    assert sent[:2] == ["change 2 redirects", "change 3 redirects"]


@pytest.mark.service(release="0.202.0")
def test_an_unsupported_operation_is_an_error_in_one_line(service: RunningService, tmp_path: Path) -> None:
    ran = signed_in(tmp_path / "home", service).run("conversation", "list")
    assert (ran.exit_code, ran.stdout) == (7, "")
    assert ran.stderr.startswith("presscheck: This service does not support that")
    assert ran.stderr.count("\n") == 1
