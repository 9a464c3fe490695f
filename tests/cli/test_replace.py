"""`presscheck space replace` against the real service: hits, effects and exit codes."""

import json

from tests.cli.shell import Shell


def test_a_new_change_request_gets_a_subject(shell: Shell) -> None:
    made = json.loads(shell.ok("space", "replace", "cli", "token", "key", "--json"))
    assert made["changeRequest"]["subject"] == 'Replace "token" by "key"'
    assert sum(len(page["hits"]) for page in made["pages"]) > 0
    which = shell.ok("space", "replace", "cli", "token", "pass", "--subject", "Passes").strip()
    assert shell.json("cr", "show", which)["changeRequest"]["subject"] == "Passes"


def test_errors_have_a_reason_and_an_exit_code(shell: Shell) -> None:
    wrong = shell.run("space", "replace", "cli", "(", "x", "--regex")
    assert (wrong.exit_code, wrong.stderr) == (
        2,
        "presscheck: FIND: invalid: missing ), unterminated subpattern at position 0\n",
    )
    wrong = shell.run("space", "replace", "cli", "a", r"\1", "--regex")
    assert (wrong.exit_code, "REPLACEMENT: invalid: invalid group reference 1" in wrong.stderr) == (2, True)
    assert shell.run("space", "replace", "cli", "a", "b", "--subject", " ").exit_code == 2
    assert shell.run("space", "replace", "cli", "a", "b", "--subject", "S", "--cr", "1").exit_code == 2
    other = shell.ok("cr", "create", "api", "--subject", "Elsewhere").strip()
    elsewhere = shell.run("space", "replace", "cli", "a", "b", "--cr", other)
    assert (elsewhere.exit_code, "is not in" in elsewhere.stderr) == (2, True)
    number = len(shell.json("cr", "list", "--space", "cli", "--status", "draft"))
    shell.config.write_text("[profiles.default]\nread_only = true\n")
    refused = shell.run("space", "replace", "cli", "token", "key")
    assert (refused.exit_code, "read-only" in refused.stderr) == (2, True)
    assert "[-token-]" in shell.ok("space", "replace", "cli", "token", "key", "--dry-run")
    shell.config.unlink()
    offline = shell.run("--offline", "space", "replace", "cli", "token", "key")
    assert (offline.exit_code, "You are offline, and edits cannot be queued" in offline.stderr) == (3, True)
    assert "Offline: searched the pages in the cache." in offline.stderr
    assert len(shell.json("cr", "list", "--space", "cli", "--status", "draft")) == number


def test_pages_that_are_not_in_the_cache_are_named(shell: Shell) -> None:
    shell.ok("space", "pages", "cli")
    shell.ok("space", "page", "cli", "install")
    ran = shell.run("--offline", "space", "replace", "cli", "token", "key", "--dry-run")
    assert ran.exit_code == 1, "the list is incomplete"
    assert "not searched: " in ran.stderr
    assert "(not in the cache)" in ran.stderr
    assert "routes" in ran.stderr


def test_options_select_where_and_how_to_search(shell: Shell) -> None:
    words = ("space", "replace", "cli", "(A)", "b", "--regex", "--ignore-case", "--dry-run")
    hits = [hit for page in shell.json(*words, "--in-code", "--in-links")["pages"] for hit in page["hits"]]
    assert {hit["kind"] for hit in hits} == {"text", "title", "code", "link target"}
