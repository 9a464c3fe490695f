"""`presscheck cr check` and `site check` against the real service: new findings in changed pages."""

from __future__ import annotations

import json
import sys

from tests.cli.shell import Shell

FIND_WORDS = """
import json, re, sys
for path in sys.argv[1:]:
    for number, line in enumerate(open(path), 1):
        for match in re.finditer("flawless|banana|Install", line):
            row = {"path": path, "line": number, "column": match.start() + 1, "message": "not " + match[0]}
            print(json.dumps(row))
"""


def with_check(shell: Shell, severity: str = "warning") -> None:
    command = [sys.executable, "-c", FIND_WORDS]
    table = f'[[checks]]\nname = "words"\ncommand = {json.dumps(command)}\nseverity = "{severity}"\n'
    shell.config.write_text(table)


def test_cr_check_reports_new_findings_in_changed_pages(shell: Shell) -> None:
    with_check(shell)
    name = shell.ok("cr", "create", "cli", "--subject", "Words").strip()
    shell.ok("cr", "edit", name, "--page", "install", "--body", "# Install\n\nA flawless banana.\n")
    found = shell.json("cr", "check", name)
    assert [(row["path"], row["message"]) for row in found] == [
        ("install.md", "not flawless"),
        ("install.md", "not banana"),
    ]
    ran = shell.run("cr", "check", name)
    assert (ran.exit_code, ran.stderr.splitlines()[-1]) == (0, f"No errors in {name}: 2 warnings.")
    with_check(shell, "error")
    ran = shell.run("cr", "check", name, "--github")
    assert (ran.exit_code, ran.stdout.count("::error file=")) == (6, 2)


def test_cr_check_without_configured_checks_is_an_error(shell: Shell) -> None:
    ran = shell.run("cr", "check", "api#5")
    assert ran.exit_code == 2
    assert "has no checks: add [[checks]], or name a program" in ran.stderr


def test_a_site_that_was_never_published_is_checked_as_a_whole(shell: Shell) -> None:
    with_check(shell, "info")
    site = shell.ok("site", "create", "--title", "Draft", "--spaces", "Command line").strip()
    ran = shell.run("site", "check", site, "--with", "words", "--json")
    assert "The published version is unknown" in ran.stderr
    assert ("Command line: Install", "words") in {(row["where"], row["kind"]) for row in json.loads(ran.stdout)}
    ran = shell.run("site", "check", site, "--with", "nothing")
    assert (ran.exit_code, "unknown check nothing" in ran.stderr) == (2, True)
