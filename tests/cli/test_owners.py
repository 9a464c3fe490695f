"""`presscheck cr owners` against the real service: users, teams, errors in the file."""

import json
from pathlib import Path

from tests.cli.shell import Shell


def owners_file(shell: Shell, text: str) -> Path:
    file = shell.config.parent / "owners"
    file.write_text(text)
    return file


def test_owners_of_changed_pages_with_their_reviews(shell: Shell) -> None:
    owners_file(
        shell, "* mia\n/api/authentication/ ada@TALLOWICK.example 'Nobody'\n/API\\ docs/*/scopes \"Jón Stefánsson\"\n"
    )
    rows = [line.split("\t") for line in shell.ok("cr", "owners", "api#5").splitlines()]
    assert rows == [
        ["Ada Moreau", "2", "4", "changes-requested", "ada"],
        ["'Nobody'", "2", "4", "", ""],
        ["Jón Stefánsson", "1", "4", "approved", "jon"],
        ["Mia Okonkwo", "1", "4", "author", "mia"],
    ]


def test_a_team_owns_pages(shell: Shell) -> None:
    shell.ok("team", "create", "--title", "Tech Writers", "--members", "noor", "--members", "ada")
    file = owners_file(shell, 'reference/ "@tallowick/tech writers"\n')
    found = shell.json("cr", "owners", "api#5")
    assert found["file"] == str(file)
    [owner] = found["owners"]
    assert (owner["owner"], owner["team"], owner["pages"], owner["of"]) == ("Tech Writers", "Tech Writers", 1, 4)
    assert {user["id"] for user in owner["users"]} >= {"noor", "ada"}
    assert owner["review"] == "changes-requested", "a member reviewed"
    pages = {page["path"]: (page["owners"], page["line"]) for page in found["pages"]}
    assert pages["reference/errors"] == (["tallowick/tech writers"], 1)
    assert pages["authentication/tokens"] == ([], None)


def test_without_owners_nothing_is_printed(shell: Shell) -> None:
    ran = shell.run("cr", "owners", "api#5")
    assert (ran.exit_code, ran.stdout) == (0, "")
    assert ran.stderr == f"No owners in {shell.config.parent / 'owners'}.\n"


def test_wrong_lines_are_skipped_and_reported(shell: Shell) -> None:
    file = owners_file(shell, "* ada\n!x mia\n\x1b]0;evil\x07 mia\n")
    ran = shell.run("cr", "owners", "api#5")
    assert (ran.exit_code, ran.stdout.split("\t")[0]) == (0, "Ada Moreau")
    assert ran.stderr.startswith(f"Line skipped: {file}:2: a pattern cannot be negated")
    assert f"Line skipped: {file}:3: has control characters" in ran.stderr
    assert "\x1b" not in ran.output
    checked = shell.run("config", "check")
    assert (checked.exit_code, checked.stdout.count(str(file))) == (6, 2)
    assert [error["line"] for error in json.loads(shell.run("config", "check", "--json").stdout)] == [2, 3]


def test_settings_can_name_another_owners_file(shell: Shell, tmp_path: Path) -> None:
    shell.config.write_text(f"[profiles.default]\nowners = '{tmp_path / 'repository' / 'OWNERS'}'\n")
    missing = shell.run("cr", "owners", "api#5")
    assert (missing.exit_code, missing.stdout) == (2, "")
    assert f"{tmp_path / 'repository' / 'OWNERS'}: not found: create it" in missing.stderr
    (tmp_path / "repository").mkdir()
    (tmp_path / "repository" / "OWNERS").write_text("* kenji")
    assert shell.ok("cr", "owners", "api#5").split("\t")[4] == "kenji\n"
