"""`presscheck cr check` and `site check` against the real service: new findings in changed pages."""

from __future__ import annotations

import json
import sys
from xml.etree import ElementTree

import pytest
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


def test_new_findings_in_changed_pages(shell: Shell) -> None:
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


def test_without_checks_in_the_settings_one_must_be_named(shell: Shell) -> None:
    ran = shell.run("cr", "check", "api#5")
    assert ran.exit_code == 2
    assert "has no checks: add [[checks]], or name a program" in ran.stderr


@pytest.mark.slow
def test_a_site_has_new_findings_in_the_pages_that_changed_since_it_was_published(shell: Shell) -> None:
    site = "Tallowick Docs"
    with_check(shell, "info")

    def words() -> list[tuple[str, str, str]]:
        found = shell.json("site", "check", site, "--with", "all")
        return [(row["where"], row["message"], row["severity"]) for row in found if row["kind"] == "words"]

    shell.ok("site", "check", site)
    assert words() == [], "the first check has noted what is published"
    name = shell.ok("cr", "create", "cli", "--subject", "Words").strip()
    shell.ok("cr", "edit", name, "--status", "open")
    shell.ok("cr", "edit", name, "--page", "install", "--body", "# Install\n\nA flawless banana.\n")
    shell.ok("cr", "merge", name, "--yes")
    new = [
        ("Command line: Install", "line 3: not flawless", "info"),
        ("Command line: Install", "line 3: not banana", "info"),
    ]
    assert words() == new
    [run] = json.loads(shell.ok("site", "check", site, "--with", "words", "--sarif"))["runs"]
    assert len([one for one in run["results"] if one["ruleId"] == "words"]) == 2
    assert "words" in {rule["id"] for rule in run["tool"]["driver"]["rules"]}
    suite = ElementTree.fromstring(shell.ok("site", "check", site, "--with", "words", "--junit"))
    case = next(case for case in suite if case.get("name") == "words")
    assert (case.findtext("system-out") or "").count("line 3: not ") == 2
    assert int(suite.get("tests", 0)) == len(suite)
    with_check(shell, "error")
    ran = shell.run("site", "check", site, "--with", "words")
    assert (ran.exit_code, "2 errors" in ran.stderr) == (6, True)


def test_a_site_that_was_never_published_is_checked_as_a_whole(shell: Shell) -> None:
    with_check(shell, "info")
    site = shell.ok("site", "create", "--title", "Draft", "--spaces", "Command line").strip()
    ran = shell.run("site", "check", site, "--with", "words", "--json")
    assert "The published version is unknown" in ran.stderr
    assert ("Command line: Install", "words") in {(row["where"], row["kind"]) for row in json.loads(ran.stdout)}
    ran = shell.run("site", "check", site, "--with", "nothing")
    assert (ran.exit_code, "unknown check nothing" in ran.stderr) == (2, True)
