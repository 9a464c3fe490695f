"""`presscheck check`: reports, exit codes, Git revisions, and missing or empty folders."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from urllib.parse import unquote
from xml.etree import ElementTree

import jsonschema
import pytest
from tests.cli.shell import Shell
from tests.needs import require
from tests.root import ROOT

from presscheck.cli.changed_files import changed_files
from presscheck.cli.check_reports import github_line, sarif
from presscheck.documents.git_format.findings import RULES, Finding
from presscheck.errors import InvalidArgument

FILES = {
    "SUMMARY.md": "* [Start](README.md)\n* [Ünusual](a%20ü.md)\n",
    "README.md": "# Start\n\n[gone](gone.md) ![](https://example.org/a.png)\n\n[top](a%20ü.md#Part)\n",
    "a ü.md": "# Ünusual\n\n## Part\n",
    "b.md": "# B\n",
}


@pytest.fixture
def shell(tmp_path: Path) -> Shell:
    """A shell without a sign-in."""
    return Shell(tmp_path / "home")


@pytest.fixture
def docs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    directory = tmp_path / "docs"
    directory.mkdir()
    for name, text in FILES.items():
        (directory / name).write_text(text)
    monkeypatch.chdir(tmp_path)
    return directory


def git(directory: Path, *words: str) -> None:
    own = ["-c", "user.name=Ana", "-c", "user.email=ana@example.org", "-c", "commit.gpgsign=false"]
    subprocess.run([str(require("git")), "-C", str(directory), *own, *words], check=True, capture_output=True)


def committed(directory: Path) -> None:
    git(directory, "init", "-q", "-b", "main")
    git(directory, "add", ".")
    git(directory, "commit", "-q", "-m", "First")


def test_text_report_has_a_line_for_each_finding_and_errors_set_the_exit_code(shell: Shell, docs: Path) -> None:
    ran = shell.run("check", "docs")
    assert ran.stdout.splitlines() == [
        "docs/README.md:3:8: error: gone.md: target not found (broken-link)",
        "docs/README.md:3:17: warning: image without alternative text (unnamed-image)",
        "docs/README.md:5:16: error: a%20ü.md#Part: a ü.md has no heading “Part” (broken-anchor)",
        "docs/b.md:1:1: info: is not listed in SUMMARY.md: imported as a hidden page (unlisted-page)",
    ]
    assert (ran.exit_code, ran.stderr) == (6, "presscheck: docs: 2 errors, 1 warning, 1 note\n")


def test_warnings_and_notes_pass(shell: Shell, docs: Path) -> None:
    ran = shell.run("check", "docs", "--no-rule", "broken-link", "--no-rule", "broken-anchor")
    assert (ran.exit_code, ran.stderr) == (0, "No errors in docs: 1 warning, 1 note.\n")
    ran = shell.run("check", "docs", "--rule", "missing-file")
    assert (ran.exit_code, ran.stdout, ran.stderr) == (0, "", "No errors in docs.\n")


def test_unknown_rules_are_named_with_the_known_ones(shell: Shell, docs: Path) -> None:
    ran = shell.run("check", "docs", "--no-rule", "all")
    assert ran.exit_code == 2
    assert "--no-rule: unknown rule all; known: broken-link, broken-anchor" in ran.stderr


def test_working_directory_is_the_default_folder(shell: Shell, docs: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(docs)
    assert shell.run("check", "--rule", "broken-link").stdout.startswith("README.md:3:8: error")
    (docs / "inner").mkdir()
    monkeypatch.chdir(docs / "inner")
    assert shell.run("check", str(docs), "--rule", "broken-link").stdout.startswith(f"{docs}/README.md:3:8")


def test_json_has_the_fix(shell: Shell, docs: Path) -> None:
    rows = json.loads(shell.run("check", "docs", "--json").stdout)
    assert [row["rule"] for row in rows] == ["broken-link", "unnamed-image", "broken-anchor", "unlisted-page"]
    assert rows[2] == {
        "path": "docs/README.md",
        "line": 5,
        "column": 16,
        "rule": "broken-anchor",
        "severity": "error",
        "message": "a%20ü.md#Part: a ü.md has no heading “Part”",
        "fix": {"old": "Part", "new": "part"},
    }


def test_sarif_is_valid_and_its_fix_replaces_the_right_columns(shell: Shell, docs: Path) -> None:
    log = json.loads(shell.run("check", "docs", "--sarif").stdout)
    jsonschema.validate(log, json.loads((ROOT / "tests/cli/sarif/sarif-schema-2.1.0.json").read_text("utf-8")))
    (run,) = log["runs"]
    assert [rule["id"] for rule in run["tool"]["driver"]["rules"]] == [*RULES]
    fixed = next(result for result in run["results"] if "fixes" in result)
    change = fixed["fixes"][0]["artifactChanges"][0]
    region, text = change["replacements"][0]["deletedRegion"], change["replacements"][0]["insertedContent"]["text"]
    line = Path(unquote(change["artifactLocation"]["uri"])).read_text().splitlines()[region["startLine"] - 1]
    start, end = region["startColumn"] - 1, region["endColumn"] - 1
    assert line[:start] + text + line[end:] == "[top](a%20ü.md#part)"


def test_paths_that_are_not_utf8_have_a_valid_uri() -> None:
    (result,) = sarif([Finding("a\udcff b.md", 1, "x", "not-utf-8")])["runs"][0]["results"]
    assert result["locations"][0]["physicalLocation"]["artifactLocation"]["uri"] == "a%FF%20b.md"


def test_junit_fails_the_rules_with_errors_and_warnings(shell: Shell, docs: Path) -> None:
    suite = ElementTree.fromstring(shell.run("check", "docs", "--junit").stdout)
    failed = {case.get("name") for case in suite if case.find("failure") is not None}
    assert failed == {"broken-link", "unnamed-image", "broken-anchor"}
    assert (suite.get("tests"), suite.get("failures"), len(suite)) == (str(len(RULES)), "3", len(RULES))
    assert suite.findtext("testcase[@name='broken-link']/failure") == "docs/README.md:3:8: gone.md: target not found"


def test_github_report_consists_of_annotations(shell: Shell, docs: Path) -> None:
    lines = shell.run("check", "docs", "--github").stdout.splitlines()
    assert lines[0] == "::error file=docs/README.md,line=3,col=8,title=broken-link::gone.md: target not found"
    assert [line.split(" ")[0] for line in lines] == ["::error", "::warning", "::error", "::notice"]
    hostile = Finding("a,b:c%.md", 1, "50%\n::error::x", "broken-link")
    escaped = "::error file=a%2Cb%3Ac%25.md,line=1,col=1,title=broken-link::50%25"
    assert github_line(hostile).startswith(escaped)
    assert "\n" not in github_line(hostile)


def test_fix_reports_the_remaining_findings(shell: Shell, docs: Path) -> None:
    ran = shell.run("check", "docs", "--fix")
    assert ran.stderr.splitlines() == ["1 finding fixed.", "presscheck: docs: 1 error, 1 warning, 1 note"]
    assert (docs / "README.md").read_text() == FILES["README.md"].replace("#Part", "#part")
    assert shell.run("check", "docs", "--fix").stderr.startswith("0 findings fixed.\n")


def test_changed_since_reports_only_findings_about_changed_files(shell: Shell, docs: Path, tmp_path: Path) -> None:
    committed(tmp_path)
    ran = shell.run("check", "docs", "--changed-since", "main")
    assert (ran.exit_code, ran.stdout) == (0, "")
    (docs / "new.md").write_text("# New\n\n[gone](x.md)\n")
    assert shell.run("check", "docs", "--changed-since", "main").stdout.splitlines() == [
        "docs/new.md:1:1: info: is not listed in SUMMARY.md: imported as a hidden page (unlisted-page)",
        "docs/new.md:3:8: error: x.md: target not found (broken-link)",
    ]
    git(tmp_path, "mv", "docs/a ü.md", "docs/moved.md")
    lines = shell.run("check", "docs", "--changed-since", "HEAD").stdout.splitlines()
    broken = [line for line in lines if "a%20ü" in line or "a ü" in line]
    assert [line.partition(": ")[0] for line in broken] == ["docs/README.md:5:7", "docs/SUMMARY.md:2:1"]


def test_changes_begin_at_the_merge_base(docs: Path, tmp_path: Path) -> None:
    committed(tmp_path)
    git(tmp_path, "switch", "-q", "-c", "mine")
    (docs / "mine.md").write_text("x")
    (tmp_path / "outside.md").write_text("x")
    git(tmp_path, "add", ".")
    git(tmp_path, "commit", "-q", "-m", "Mine")
    git(tmp_path, "switch", "-q", "main")
    (docs / "b.md").write_text("theirs")
    git(tmp_path, "commit", "-q", "-a", "-m", "Theirs")
    git(tmp_path, "switch", "-q", "mine")
    assert changed_files(docs, "main") == {"mine.md"}


@pytest.mark.parametrize("revision", ["--output=x", "-h", "gone", "", "a\0b"])
def test_invalid_revisions_are_rejected(docs: Path, tmp_path: Path, revision: str) -> None:
    committed(tmp_path)
    with pytest.raises(InvalidArgument, match="--changed-since"):
        changed_files(docs, revision)
    assert not (tmp_path / "x").exists()


def test_changed_since_needs_a_git_repository(shell: Shell, docs: Path) -> None:
    ran = shell.run("check", "docs", "--changed-since", "main")
    assert ran.exit_code == 2
    assert "not a git repository" in ran.stderr


def test_missing_folder_is_an_error_and_empty_folder_a_note(shell: Shell, docs: Path) -> None:
    assert shell.run("check", "gone").exit_code == 2
    (docs / "empty").mkdir()
    assert shell.run("check", "docs/empty").stdout == (
        "docs/empty/SUMMARY.md:1:1: info: is missing: pages are ordered by folder (no-summary)\n"
    )


@pytest.mark.slow
def test_check_imports_neither_service_nor_app(docs: Path) -> None:
    code = "import sys; sys.argv[1:] = ['check', 'docs', '--json']\nfrom presscheck.cli.main import command\n"
    code += "try: command()\nexcept SystemExit: pass\n"
    code += "print(*sys.modules, sep='\\n', file=sys.stderr)"
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60)
    loaded = {*ran.stderr.splitlines()}
    assert "presscheck.documents.git_format.checks" in loaded
    others = ("presscheck.service", "presscheck.tui", "presscheck.store", "presscheck.engine", "textual", "httpx")
    assert not [name for name in loaded if name.startswith(others)]


FIND_TEH = """
import json, sys
for path in sys.argv[1:]:
    for number, line in enumerate(open(path), 1):
        if "teh" in line:
            row = {"path": path, "line": number, "column": line.index("teh") + 1, "message": "a typo", "rule": "teh"}
            print(json.dumps({**row, "severity": "error", "text": "teh", "replacement": "the"}))
"""


@pytest.fixture
def prose(shell: Shell, docs: Path) -> Path:
    """A folder with a typo, and a shell with a check that finds it."""
    command = [sys.executable, "-c", FIND_TEH]
    shell.config.write_text(f'[[checks]]\nname = "own"\ncommand = {json.dumps(command)}\n')
    (docs / "b.md").write_text("# B\n\nteh old\n")
    return docs


PROSE_ONLY = ("--with", "own", "--rule", "own")


def test_prose_checks_run_only_if_they_are_named(shell: Shell, prose: Path) -> None:
    assert "own/teh" not in shell.run("check", "docs").stdout
    ran = shell.run("check", "docs", "--with", "own")
    assert "docs/b.md:1:1: info: is not listed" in ran.stdout
    assert "docs/b.md:3:1: error: a typo (own/teh)" in ran.stdout.splitlines()
    for names in (PROSE_ONLY, ("--with", "all", "--rule", "own/teh")):
        ran = shell.run("check", str(prose), *names)
        assert (ran.exit_code, ran.stdout) == (6, "docs/b.md:3:1: error: a typo (own/teh)\n")
    ran = shell.run("check", "docs", *PROSE_ONLY, "--no-rule", "own/teh")
    assert (ran.exit_code, ran.stdout) == (0, "")


def test_prose_checks_report_only_new_findings_since_a_revision(shell: Shell, prose: Path) -> None:
    committed(prose)
    (prose / "b.md").write_text("# B\n\nbefore\n\nteh old\n\nteh new\n")
    (prose / "c ü.md").write_text("teh\n")
    ran = shell.run("check", "docs", *PROSE_ONLY, "--changed-since", "HEAD")
    assert ran.stdout.splitlines() == [
        "docs/b.md:7:1: error: a typo (own/teh)",
        "docs/c ü.md:1:1: error: a typo (own/teh)",
    ]


def test_prose_findings_are_in_every_report(shell: Shell, prose: Path) -> None:
    [row] = json.loads(shell.run("check", "docs", *PROSE_ONLY, "--json").stdout)
    assert (row["rule"], row["severity"], row["fix"]) == ("own/teh", "error", {"old": "teh", "new": "the"})
    log = json.loads(shell.run("check", "docs", *PROSE_ONLY, "--sarif").stdout)
    assert log["runs"][0]["tool"]["driver"]["rules"][-1]["id"] == "own/teh"
    assert log["runs"][0]["results"][0]["fixes"]
    suite = ElementTree.fromstring(shell.run("check", "docs", *PROSE_ONLY, "--junit").stdout)
    assert (suite.get("failures"), suite.get("tests")) == ("1", str(len(RULES) + 1))
    ran = shell.run("check", "docs", *PROSE_ONLY, "--github")
    assert ran.stdout == "::error file=docs/b.md,line=3,col=1,title=own/teh::a typo\n"


def test_fix_does_not_change_prose(shell: Shell, prose: Path) -> None:
    shell.run("check", "docs", "--with", "own", "--fix")
    assert (prose / "b.md").read_text() == "# B\n\nteh old\n"


def test_prose_check_that_cannot_run_is_a_one_line_error(shell: Shell, docs: Path) -> None:
    ran = shell.run("check", "docs", "--with", "all")
    assert (ran.exit_code, ran.stderr) == (
        2,
        f"presscheck: --with: {shell.config} has no checks: add [[checks]], or name a program\n",
    )
    ran = shell.run("check", "docs", "--with", "other")
    assert "--with: unknown check other; known: typos, markdownlint-cli2, vale, all" in ran.stderr
    shell.config.write_text('[[checks]]\nname = "own"\ncommand = "no-such-program"\n')
    ran = shell.run("check", "docs", "--with", "own")
    assert (ran.exit_code, ran.stderr) == (1, "presscheck: own: no-such-program is not installed: install it\n")
    shell.config.write_text('[[checks]]\nname = "own"\n')
    ran = shell.run("check", "docs", "--with", "own")
    assert (ran.exit_code, ran.stderr.partition(": checks.1 ")[2]) == (
        2,
        'has no command: add it, such as command = "vale --output JSON"\n',
    )
