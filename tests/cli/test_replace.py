"""`presscheck space replace` against the real service: hits, effects and exit codes."""

import json

import pytest
from tests.cli.shell import Shell


def text_of(shell: Shell, which: str, page: str) -> str:
    return shell.ok("space", "page", "cli", page, "--cr", which)


@pytest.mark.slow
def test_a_dry_run_prints_the_hits_and_the_command_replaces_them(shell: Shell) -> None:
    before = shell.ok("space", "page", "cli", "install")
    body = f"{before}\nA zebra, Zebra and `zebra`; zebras. [Stripes](zebra.md)\n"
    which = shell.ok("cr", "create", "cli", "--subject", "Animals").strip()
    shell.ok("cr", "edit", which, "--page", "install", "--body", body)
    line = body.count("\n", 0, body.index("A zebra")) + 1
    number = which.partition("#")[2]
    ran = shell.run("space", "replace", "cli", "zebra", "horse", "--cr", number, "--word", "--dry-run")
    left_out = "1 hit in targets of links left out: --in-links replaces them.\n"
    assert (ran.exit_code, ran.stderr) == (0, f"{left_out}1 hit on 1 page; nothing was sent.\n")
    assert ran.stdout == f"install:{line}: A [-zebra-]{{+horse+}}, Zebra and `zebra`; zebras. [Stripes](z\n"
    command = ("space", "replace", "cli", "(z)(ebra)", r"\2\1", "--cr", which, "--regex", "--ignore-case", "--in-code")
    found = shell.json(*command, "--dry-run")
    assert [hit["new"] for hit in found["pages"][0]["hits"]] == ["ebraz", "ebraZ", "ebraz", "ebraz"]
    assert [hit["kind"] for hit in found["pages"][0]["hits"]] == ["text", "text", "code", "text"]
    in_links = shell.json(*command, "--in-links", "--dry-run")
    assert [hit["kind"] for hit in in_links["pages"][0]["hits"]][-1] == "link target"
    assert text_of(shell, which, "install").count("zebra") == 4, "a dry run sends nothing"
    done = shell.run("space", "replace", "cli", "zebra", "horse", "--cr", which)
    assert (done.exit_code, done.stdout.strip()) == (0, which)
    assert done.stderr == f"{left_out}Replaced 2 hits on 1 page in #{number}.\n"
    assert "A horse, Zebra and `zebra`; horses. [Stripes](zebra.md)" in text_of(shell, which, "install")
    nothing = shell.run("space", "replace", "cli", "unicorn", "horse")
    assert (nothing.exit_code, nothing.stdout) == (0, "")
    assert nothing.stderr.startswith("No hits on ")


def test_a_new_change_request_gets_a_subject(shell: Shell) -> None:
    made = json.loads(shell.ok("space", "replace", "cli", "token", "key", "--json"))
    assert made["changeRequest"]["subject"] == 'Replace "token" by "key"'
    assert sum(len(page["hits"]) for page in made["pages"]) > 0
    which = shell.ok("space", "replace", "cli", "token", "pass", "--subject", "Passes").strip()
    assert shell.json("cr", "show", which)["changeRequest"]["subject"] == "Passes"


def test_what_is_not_possible_has_a_reason_and_an_exit_code(shell: Shell) -> None:
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
