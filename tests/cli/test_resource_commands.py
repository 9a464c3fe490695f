"""Generated commands: their columns, and their effects on a real service."""

import types
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, Any, Union, get_args, get_origin

import click
import pytest
from pydantic import BaseModel
from tests.cli.shell import Shell, signed_in
from tests.running_service import running_service

from presscheck.cli.command_factory import COMMAND_SPECS, CommandSpec
from presscheck.cli.main import command


def listings() -> list[CommandSpec]:
    """The specs of all commands that print columns; loads every group first."""
    context = click.Context(command)
    for name in command.list_commands(context):
        command.get_command(context, name)
    return [spec for spec in COMMAND_SPECS if spec.columns]


@pytest.fixture(scope="module")
def shell(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Shell]:
    directory: Path = tmp_path_factory.mktemp("families")
    (directory / "service").mkdir()
    with running_service(directory / "service", sample=True) as running:
        yield signed_in(directory / "home", running)


def models(annotation: Any) -> Iterator[type[BaseModel]]:
    """The models in the type of a response."""
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        yield annotation
    elif get_origin(annotation) in (Union, types.UnionType, tuple, Annotated):
        for inner in get_args(annotation):
            yield from models(inner)


def has(annotation: Any, names: list[str]) -> bool:
    if not names:
        return True
    if any(one is Any or get_origin(one) is dict for one in (annotation, *get_args(annotation))):
        return True  # the service's own words
    fields = [
        info.annotation
        for model in models(annotation)
        for name, info in model.model_fields.items()
        if (info.alias or name) == names[0]
    ]
    return any(has(one, names[1:]) for one in fields)


@pytest.mark.parametrize("spec", listings(), ids=lambda spec: spec.operation.__name__)
def test_a_column_is_a_field_of_the_response(spec: CommandSpec) -> None:
    [answer] = models(spec.operation.answer)
    items = answer.model_fields["items"].annotation if "items" in answer.model_fields else answer
    missing = [column for column in spec.columns if not has(items, column.split("."))]
    assert missing == []


def test_a_team(shell: Shell) -> None:
    team = shell.ok("team", "create", "--title", "Writers", "--members", "ada").strip()
    assert shell.ok("team", "list") == f"{team}\tWriters\t1\n"
    shell.ok("team", "add", team, "mia", "--role", "owner")
    rows = sorted(shell.ok("team", "members", team).splitlines())
    assert rows == ["ada\tAda Moreau\tmember", "mia\tMia Okonkwo\towner"]
    shell.ok("team", "remove", team, "ada", "--yes")
    shell.ok("team", "edit", team, "--title", "Editors")
    shown = shell.json("team", "show", team)
    assert (shown["title"], shown["members"]) == ("Editors", 1)
    assert shell.run("team", "delete", team).exit_code == 2, "nobody said yes"
    shell.ok("team", "delete", team, "--yes")
    assert shell.ok("team", "list") == ""
    assert shell.run("team", "show", team).exit_code == 1


def test_members(shell: Shell) -> None:
    assert "ada\tAda Moreau\tada@tallowick.example\treview\t" in shell.ok("member", "list").splitlines()
    shell.ok("member", "edit", "ada", "--role", "edit")
    assert shell.json("member", "show", "ada")["role"] == "edit"
    shell.ok("member", "edit", "ada", "--null", "role")
    assert shell.json("member", "show", "ada")["role"] is None
    shell.ok("member", "remove", "ada", "--yes")
    assert shell.run("member", "show", "ada").exit_code == 1


def test_collections(shell: Shell) -> None:
    made = shell.ok("collection", "create", "--title", "Attic").strip()
    shell.ok("collection", "edit", made, "--description", "Old things")
    shell.ok("collection", "move", made, "--parent", "internal")
    found = shell.json("collection", "show", made)
    assert (found["description"], found["parent"]) == ("Old things", "internal")
    shell.ok("space", "move", "notes", "--parent", made)
    assert shell.ok("collection", "spaces", made).startswith("notes\tRelease notes\t")
    shell.ok("collection", "delete", made, "--yes")
    assert shell.json("space", "show", "notes")["parent"] == "internal"


def test_an_organization(shell: Shell) -> None:
    shell.ok("org", "edit", "--title", "Tallowick & Co.")
    assert shell.json("org", "show")["title"] == "Tallowick & Co."
    assert shell.ok("org", "list") == "tallowick\tTallowick & Co.\tbusiness\n"


def test_an_unsupported_operation_is_an_error_in_one_line(tmp_path: Path) -> None:
    (tmp_path / "service").mkdir()
    with running_service(tmp_path / "service", sample=True, release="0.202.0") as running:
        ran = signed_in(tmp_path / "home", running).run("conversation", "list")
    assert (ran.exit_code, ran.stdout) == (7, "")
    assert ran.stderr.startswith("presscheck: This service does not support that")
    assert ran.stderr.count("\n") == 1
