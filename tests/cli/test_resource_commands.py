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
from tests.saml_files import certificate

from presscheck.cli.main import command
from presscheck.cli.operations.command_factory import COMMAND_SPECS, CommandSpec


def load(group: click.Group) -> None:
    context = click.Context(group)
    for name in group.list_commands(context):
        inner = group.get_command(context, name)
        if isinstance(inner, click.Group):
            load(inner)


def listings() -> list[CommandSpec]:
    """The specs of all commands that print columns; loads every command first."""
    load(command)
    return [spec for spec in COMMAND_SPECS if spec.columns]


@pytest.fixture(scope="module")
def shell(shared_service: Callable[..., RunningService], tmp_path_factory: pytest.TempPathFactory) -> Shell:
    return signed_in(tmp_path_factory.mktemp("home"), shared_service(sample=True))


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
def test_a_column_is_a_field_of_the_response(spec: CommandSpec) -> None:
    [answer] = models(spec.operation.answer)
    items = answer.model_fields[spec.items].annotation if spec.items in answer.model_fields else answer
    missing = [column for column in spec.columns if not has(items, column.split("."))]
    assert missing == []


@pytest.mark.slow
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
    assert shell.run("team", "show", team).exit_code == 2, "not among the teams"


@pytest.mark.slow
def test_members(shell: Shell) -> None:
    assert "ada\tAda Moreau\tada@tallowick.example\treview\t" in shell.ok("member", "list").splitlines()
    shell.ok("member", "edit", "ada", "--role", "edit")
    assert shell.json("member", "show", "ada")["role"] == "edit"
    shell.ok("member", "edit", "ada", "--null", "role")
    assert shell.json("member", "show", "ada")["role"] is None
    shell.ok("member", "remove", "ada", "--yes")
    assert shell.run("member", "show", "ada").exit_code == 2, "not among the members"


@pytest.mark.slow
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


@pytest.mark.slow
def test_names_in_place_of_ids(shell: Shell) -> None:
    team = shell.ok("team", "create", "--title", "Reviewers", "--members", "mia@tallowick.example").strip()
    shell.ok("team", "edit-members", "Reviewers", "--add", "noor haddad", "--remove", "Mia Okonkwo")
    members = shell.ok("team", "members", "reviewers")
    assert "Mia Okonkwo" not in members
    assert members.count("\n") == 1
    shell.ok("collection", "teams", "set", "Internal", "Reviewers", "--role", "edit")
    assert shell.ok("collection", "teams", "list", "internal") == f"{team}\tReviewers\tedit\n"
    shell.ok("collection", "teams", "remove", "internal", "Reviewers", "--yes")
    unknown = shell.run("collection", "teams", "set", "internal", "Writer", "--role", "edit")
    assert unknown.exit_code == 2
    assert unknown.stderr.startswith("presscheck: TEAM: Writer not found. Available: ")
    wrong = shell.run("saml", "create", "--label", "Keys", "--default-team", "Writer")
    assert wrong.stderr.startswith("presscheck: --default-team: Writer not found. Available: ")
    dry = shell.ok("team", "delete", "Reviewers", "--dry-run")
    assert dry.endswith(f"/v1/orgs/tallowick/teams/{team}\n")
    shell.ok("team", "delete", "Reviewers", "--yes")


@pytest.mark.slow
def test_sign_in_and_invites(shell: Shell, tmp_path: Path) -> None:
    (tmp_path / "certificate.pem").write_text(certificate())
    made = shell.ok("saml", "create", "--label", "Keys", "--certificate", f"@{tmp_path / 'certificate.pem'}").strip()
    assert shell.json("saml", "show", "keys")["certificate"]["pem"] == (tmp_path / "certificate.pem").read_text()
    shell.ok("saml", "edit", "Keys", "--entity-id", "urn:tallowick", "--default-role", "read")
    assert shell.ok("saml", "list").startswith(f"{made}\tKeys\tpending\tread\t")
    assert isinstance(shell.json("saml", "logins"), list | dict)
    shell.ok("saml", "delete", "Keys", "--yes")
    assert shell.ok("saml", "list") == ""
    invite = shell.ok("invite", "create", "--role", "comment").strip()
    shell.ok("invite", "edit", invite, "--role", "read")
    assert shell.json("invite", "show", invite)["role"] == "read"
    assert f"{invite}\tread\tno\n" in shell.ok("invite", "list")
    shell.ok("invite", "delete", invite, "--yes")
    assert invite not in shell.ok("invite", "list")


@pytest.mark.slow
def test_comments_on_live_content(shell: Shell) -> None:
    made = shell.ok("space", "comments", "add", "guides", "--body", "Is *this* still true?").strip()
    shell.ok("space", "comments", "reply", "guides", made, "--body", "No.")
    assert shell.ok("space", "comments", "replies", "guides", made).endswith("\tNo.\n")
    shell.ok("space", "comments", "edit", "guides", made, "--resolved", "true")
    rows = shell.ok("space", "comments", "list", "guides", "--status", "resolved")
    assert f"{made}\tRobin Achterberg\tresolved\t1\tIs *this* still true?\n" in rows
    shell.ok("space", "comments", "delete", "guides", made, "--yes")
    assert shell.ok("space", "comments", "list", "guides", "--status", "all").count(made) == 0


@pytest.mark.slow
def test_content(shell: Shell) -> None:
    text = shell.ok("space", "page", "guides", "quickstart")
    assert shell.ok("space", "page-at", "guides", "quickstart") == text
    for name in ("authentication/tokens", "Tokens", shell.json("cr", "page", "api#5", "Tokens")["id"]):
        assert shell.ok("cr", "page", "api#5", name).startswith("# Tokens"), name
    revision = shell.json("space", "content", "guides")["id"]
    pages = [line.split("\t") for line in shell.ok("space", "revision", "pages", "guides", revision).splitlines()]
    [title] = [row[2] for row in pages if row[3] == "quickstart"]
    assert shell.ok("space", "revision", "page", "guides", revision, title) == text
    assert shell.run("space", "revision", "page", "guides", revision, "nowhere").stderr.startswith(
        "presscheck: PAGE: nowhere not found. Available: "
    )


@pytest.mark.slow
def test_parts_of_a_site(shell: Shell) -> None:
    site = shell.ok("site", "create", "--title", "Redirected", "--spaces", "API docs").strip()
    shell.ok("site", "redirects", "add", "Redirected", "/old", "https://docs.example/")
    shell.ok("site", "redirects", "edit", "Redirected", "/old", "--source", "/older")
    assert "\t/older\thttps://docs.example/\t" in shell.ok("site", "redirects", "list", "Redirected")
    shell.ok("site", "redirects", "delete", "Redirected", "/older", "--yes")
    assert shell.ok("site", "redirects", "list", site) == ""
    shell.ok("site", "share-links", "create", site, "--name", "For \x1b[31mus")
    listed = shell.ok("site", "share-links", "list", site)
    assert "\x1b" not in listed
    shell.ok("site", "share-links", "delete", site, listed.split("\t")[1], "--yes")
    shown = shell.ok("site", "auth", "show", site)
    assert "backend: custom" in shown
    assert "privateKey" not in shown
    assert shell.json("site", "auth", "show", site)["privateKey"]
    assert shell.ok("site", "spaces", "list", site).split("\t")[5] == "api\n"
    shell.ok("site", "delete", site, "--yes")


@pytest.mark.service(release="0.202.0")
def test_an_unsupported_operation_is_an_error_in_one_line(service: RunningService, tmp_path: Path) -> None:
    ran = signed_in(tmp_path / "home", service).run("conversation", "list")
    assert (ran.exit_code, ran.stdout) == (7, "")
    assert ran.stderr.startswith("presscheck: This service does not support that")
    assert ran.stderr.count("\n") == 1


@pytest.mark.slow
def test_long_table_of_redirects_is_imported_as_lists_and_exported(shell: Shell, tmp_path: Path) -> None:
    site = shell.ok("site", "create", "--title", "Moved", "--spaces", "API docs").strip()
    shell.ok("site", "redirects", "add", site, "/gone", "https://docs.example/gone")
    shell.ok("site", "redirects", "add", site, "/0", "https://docs.example/old")
    table = tmp_path / "moved.csv"
    rows = [{"source": f"/{number}", "destination": f"https://docs.example/{number}"} for number in range(501)]
    table.write_text("".join(f"{row['source']},{row['destination']}\n" for row in rows))
    ran = shell.run("site", "redirects", "import", site, str(table), "--replace", "--yes")
    assert (ran.exit_code, ran.stderr.splitlines()[-1]) == (0, "502 sent.")
    exported = shell.json("site", "redirects", "export", site)
    assert exported == sorted(rows, key=lambda row: row["source"])
    sent = [row["change"] for row in shell.json("outbox", "history")]
    assert sent[:2] == ["change 2 redirects", "change 500 redirects"]
    copy = tmp_path / "copy.csv"
    shell.ok("site", "redirects", "export", site, "--output", str(copy))
    again = shell.run("site", "redirects", "import", site, str(copy), "--yes")
    assert again.stderr.splitlines()[-1] == "0 new, 0 changed, 501 unchanged."
