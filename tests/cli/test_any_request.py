"""`presscheck api GET PATH` and the other methods, against the real service."""

import json
from pathlib import Path

import pytest
from tests.cli.shell import Shell


def test_get_request_accepts_fields_or_a_query(shell: Shell) -> None:
    assert json.loads(shell.ok("api", "GET", "/orgs"))["items"][0]["id"] == "tallowick"
    some = json.loads(shell.ok("api", "get", "orgs/tallowick/members", "-F", "limit=2"))
    assert (len(some["items"]), some["total"]) == (2, 8)
    assert some == json.loads(shell.ok("api", "GET", "/orgs/tallowick/members?limit=2"))


def test_paginate_joins_all_pages_into_one_list(shell: Shell) -> None:
    members = json.loads(shell.ok("api", "GET", "/orgs/tallowick/members", "-f", "limit=3", "--paginate"))
    assert len({member["id"] for member in members}) == len(members) == 8
    ran = shell.run("api", "GET", "/orgs/tallowick", "--paginate")
    assert (ran.exit_code, "does not return a list" in ran.stderr) == (2, True)


def test_fields_or_input_become_the_body_of_a_write(shell: Shell, tmp_path: Path) -> None:
    path = "/spaces/cli/change-requests"
    created = json.loads(shell.ok("api", "POST", path, "-f", "subject=12"))
    assert created["subject"] == "12"
    file = tmp_path / "body.json"
    file.write_text('{"subject": "From a file"}')
    one = f"{path}/{created['id']}"
    assert json.loads(shell.ok("api", "PATCH", one, "--input", str(file)))["subject"] == "From a file"
    shown = shell.ok("api", "PATCH", one, "-F", "draft=true", "-F", f"note=@{file}", "-F", "n=3", "--dry-run")
    assert shown.startswith("PATCH http")
    assert json.loads(shown.partition("\n")[2]) == {"draft": True, "note": file.read_text(), "n": 3}
    typed = shell.ok("api", "PATCH", one, "--input", "-", "-f", "a=b c", "--dry-run", typed='{"subject": "Typed"}')
    assert typed.splitlines()[0].endswith(f"{one}?a=b+c")


@pytest.mark.parametrize(
    ("words", "code", "message"),
    [
        (("GET", "/nowhere"), 1, "(GET /nowhere)"),
        (("GET", "https://example.org/"), 2, "PATH: must be a path below the URL of the service"),
        (("GET", "/spaces/../orgs"), 2, "PATH: must be a path below the URL of the service"),
        (("GET", "/orgs", "-f", "limit"), 2, "-f: limit: write KEY=VALUE"),
        (("GET", "/orgs", "-F", "limit=@/nowhere"), 2, "could not read /nowhere"),
        (("POST", "/orgs", "--paginate"), 2, "--paginate: is for GET"),
        (("DELETE", "/spaces/api"), 2, "pass --yes to confirm"),
        (("POST", "/orgs", "--input", "-"), 2, "--input: is not valid JSON"),
    ],
)
def test_invalid_request_is_a_one_line_error(shell: Shell, words: tuple[str, ...], code: int, message: str) -> None:
    ran = shell.run("api", *words, typed="")
    assert (ran.exit_code, ran.stdout) == (code, "")
    assert message in ran.stderr
    assert ran.stderr.count("\n") == 1


def test_requests_fail_offline_and_writes_fail_with_a_read_only_profile(shell: Shell) -> None:
    assert shell.run("--offline", "api", "GET", "/orgs").exit_code == 3
    shell.config.write_text("[profiles.default]\nread_only = true\n")
    shell.config.chmod(0o600)
    assert shell.run("api", "POST", "/spaces/cli/change-requests", "-f", "subject=No").exit_code == 2
    shell.ok("api", "GET", "/orgs")


def test_short_commands_for_pages_and_reviews(shell: Shell) -> None:
    assert shell.ok("page", "list", "api") == shell.ok("space", "pages", "api")
    assert shell.ok("page", "view", "api", "limits") == shell.ok("space", "page", "api", "limits")
    assert shell.ok("cr", "view", "api#5") == shell.ok("cr", "show", "api#5")
    shell.ok("page", "edit", "guides#3", "quickstart", "--body", "# Quickstart\n\nShort.")
    assert "Short." in shell.ok("page", "view", "guides", "quickstart", "--cr", "guides#3")
    assert shell.run("cr", "approve", "guides#4", "--body", "Good").stderr == "Approved.\n"
    assert "approved" in {one["status"] for one in shell.json("cr", "show", "guides#4")["reviews"]}
