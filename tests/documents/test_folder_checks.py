"""Checks of a folder: each rule with violating and valid texts, and the fixes."""

from __future__ import annotations

import shutil
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from tests.generated_docs.documentation import Documentation
from tests.privileges import without_root_rights
from tests.root import ROOT
from tests.table import each_case

from presscheck.documents.git_format.checks import check_folder
from presscheck.documents.git_format.files import MAX_TEXT, RepositoryFiles
from presscheck.documents.git_format.findings import Finding
from presscheck.documents.git_format.fixes import apply_fixes
from presscheck.documents.markdown.parser import parse

SUMMARY = "* [Start](a.md)\n* [Other](b.md)\n"
LINKED = {"SUMMARY.md": SUMMARY, "b.md": "# B\n\n## 1. Créate it\n\nText\n"}


def written(directory: Path, files: dict[str, str | bytes]) -> Path:
    for name, content in files.items():
        path = directory / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content.encode() if isinstance(content, str) else content)
    return directory


def found(directory: Path, text: str, **files: str) -> list[str]:
    """Check a page with this text and another page with headings. Returns line, column and rule of each finding."""
    named = {name.replace("_", "."): content for name, content in files.items()}
    findings = check_folder(written(directory, {**LINKED, **named, "a.md": text}))
    return [f"{finding.line}:{finding.column} {finding.rule}" for finding in findings if finding.path == "a.md"]


@each_case(
    ("text", "expected"),
    [
        ("# A\n\nSee [b](b.md) and [c](c.md).\n", ["3:23 broken-link"]),
        ("# A\n\n[b](b.md#id-1.-create-it) [b](b.md#create)\n", ["3:36 broken-anchor"]),
        ("# A\n\n## Part\n\n[here](#part) [gone](#whole)\n", ["5:23 broken-anchor"]),
        ('# A\n\n#### A part <a href="#other" id="part"></a>\n\n[here](#part)\n', []),
        ("# A\n\n![](x.png)\n", ["3:1 unnamed-image", "3:5 missing-file"]),
        ('# A\n\n<img src="y.png" alt="Y">\n', ["3:11 missing-file"]),
        ('# A\n\n<figure><img src="https://x.org/a.png" alt=""><figcaption><p>A map</p></figcaption></figure>\n', []),
        (
            '# A\n\n<figure><img src="https://x.org/a.png" alt=""><figcaption></figcaption></figure>\n',
            ["3:9 unnamed-image"],
        ),
        ('# A\n\n{% include ".gitbook/includes/x.md" %}\n', ["3:13 missing-snippet"]),
        ('# A\n\n{% hint style="info" %}\nText\n', ["3:1 unclosed-block"]),
        ('# A\n\n{% hint style="info" %}\nText\n{% endhint %}\n', []),
        ("# A\n\nText {% endtabs %}\n", ["3:6 unopened-block"]),
        ("# A\n\nText {% if visitor.claims.beta %}new{% endif %}\n", []),
        ('# A\n\n{% embed url="https://x.org" %}\n\n{% file src="https://x.org/a.zip" %}\n', []),
        ("# A\n\n```\n{% hint %}\n```\n\n    {% tabs %}\n\n`{% endhint %}`\n", []),
        ("# A\n\n<details>\n\nText\n", ["3:1 unclosed-block"]),
        ("# A\n\n```sh\nls\n", ["3:1 unclosed-block"]),
        ("# A\n\n* item\n\n  ```\n  ls\n\nText after the list\n", []),
        ("# A\n\n<<<<<<< ours\nx\n=======\ny\n>>>>>>> theirs\n", ["3:1 conflict-markers"]),
        ("<<<<<<< ours\n# A\n=======\n# B\n>>>>>>> theirs\n", ["1:1 conflict-markers"]),
        ("# A\n\n{% if visitor. %}x{% endif %}\n", ["3:1 unreadable-condition"]),
        ("---\ndescription: [\n---\n\n# A\n", ["2:1 front-matter"]),
        ("---\ndescription: x\n\n# A\n", ["1:1 front-matter"]),
        ("---\n\nA rule at the top\n", []),
        ("---\ncover: gone.png\n---\n\n# A\n", ["1:1 missing-file"]),
        ("# A\n\n" + "x\n" * 20_001, ["3:1 too-large"]),
    ],
)
def test_findings_in_a_page_have_their_place_and_rule(tmp_path: Path, text: str, expected: list[str]) -> None:
    assert found(tmp_path, text) == expected


def test_findings_outside_of_pages(tmp_path: Path) -> None:
    files = {
        ".gitbook.yaml": "root: ./docs/\nredirects:\n  old: gone.md\n  a: [\n",
        "docs/SUMMARY.md": "* [A](a.md)\n* [Again](a.md)\n* [Gone](gone.md)\n<<<<<<< x\n=======\n>>>>>>> y\n",
        "docs/a.md": b"# A\n\nCaf\xe9\n",
        "docs/b.md": "# B\n",
        "docs/large.md": b"x" * (MAX_TEXT + 1),
    }
    directory = written(tmp_path, files)
    (directory / "docs" / "out.md").symlink_to("/etc/hostname")
    assert (".gitbook.yaml", 5, "config") in {
        (finding.path, finding.line, finding.rule) for finding in check_folder(directory)
    }
    (directory / ".gitbook.yaml").write_text("root: ./docs/\nredirects:\n  old: gone.md\n")
    assert {(finding.path, finding.line, finding.rule) for finding in check_folder(directory)} == {
        (".gitbook.yaml", 3, "redirect"),
        ("docs/SUMMARY.md", 2, "repeated-page"),
        ("docs/SUMMARY.md", 3, "missing-page"),
        ("docs/SUMMARY.md", 4, "conflict-markers"),
        ("docs/a.md", 3, "not-utf-8"),
        ("docs/b.md", 1, "unlisted-page"),
        ("docs/large.md", 1, "too-large"),
        ("docs/large.md", 1, "unlisted-page"),
        ("docs/out.md", 1, "symbolic-link"),
    }


def test_files_without_permission_are_findings(tmp_path: Path) -> None:
    directory = written(tmp_path, {**LINKED, "a.md": "# A\n", "closed/c.md": "# C\n"})
    (directory / "a.md").chmod(0)
    (directory / "closed").chmod(0o400)
    try:
        with without_root_rights():
            findings = check_folder(directory)
    finally:
        (directory / "closed").chmod(0o700)
    assert [(finding.path, finding.rule) for finding in findings if finding.severity == "error"] == [
        ("a.md", "unreadable"),
        ("closed/c.md", "unreadable"),
    ]


def test_fixes_change_only_wrong_words_and_need_one_run(tmp_path: Path) -> None:
    before = (
        "\ufeff[one](Deep/b.MD#1-Create-It) é [two](./Deep/b.MD) ![x](assets/A%20B.png)\r\n"
        "[three](deep/b.md#1-create-it) [four](deep/b.md#create) [five](gone.md)\r\n"
    )
    files: dict[str, str | bytes] = {
        "SUMMARY.md": "* [A](a.md)\n* [B](deep/b.md)\n",
        "a.md": before,
        "deep/b.md": LINKED["b.md"],
        "assets/a b.png": b"",
        ".gitbook.yaml": "root\u200b: ./\n",
    }
    directory = written(tmp_path, files)
    (directory / "a.md").chmod(0o640)
    assert apply_fixes(directory, check_folder(directory)) == 5
    fixes = {"Deep/b.MD": "deep/b.md", "A%20B": "a%20b", "#1-create": "#id-1.-create"}
    after = before
    for old, new in fixes.items():
        after = after.replace(old, new)
    assert (directory / "a.md").read_bytes().decode() == after
    assert (directory / "a.md").stat().st_mode & 0o777 == 0o640
    assert apply_fixes(directory, check_folder(directory)) == 1, "the anchor of a link whose path was wrong"
    assert apply_fixes(directory, check_folder(directory)) == 0
    assert [finding.rule for finding in check_folder(directory) if finding.severity == "error"] == [
        "broken-anchor",
        "broken-link",
    ]


def test_two_similar_targets_are_not_fixed(tmp_path: Path) -> None:
    files: dict[str, str | bytes] = {**LINKED, "x/P.md": "# P", "x/p.MD": "# P", "c.md": "# C\n\n## A-b\n\n## Ab\n"}
    directory = written(tmp_path, {**files, "a.md": "# A\n\n[x](X/p.md) [c](c.md#a_b)\n"})
    assert [finding.fix for finding in check_folder(directory) if finding.rule in ("broken-link", "broken-anchor")] == [
        None,
        None,
    ]


def test_fix_that_does_not_match_its_file_is_skipped(tmp_path: Path) -> None:
    directory = written(tmp_path, {**LINKED, "a.md": "# A\n\n[b](B.md)\n"})
    findings = check_folder(directory)
    (directory / "a.md").write_text("# A\n\nNew: [b](B.md)\n")
    assert apply_fixes(directory, findings) == 0
    (directory / "a.md").write_text("")
    assert apply_fixes(directory, findings) == 0


def test_manual_and_sample_have_no_errors() -> None:
    sample = ROOT / "src" / "presscheck" / "service" / "sample" / "pages"
    for directory in (ROOT / "docs", *sample.iterdir()):
        assert [finding for finding in check_folder(directory) if finding.severity != "info"] == [], directory


@pytest.fixture(scope="module")
def findings(documentation: Documentation) -> list[Finding]:
    return check_folder(documentation.directory)


def test_broken_links_of_generated_repositories_are_the_only_ones(
    documentation: Documentation, findings: list[Finding]
) -> None:
    if documentation.generated:
        broken = {(finding.path, finding.line) for finding in findings if finding.rule == "broken-link"}
        assert broken == {(path, line) for path, line, _ in documentation.generated.broken()}
        expected = {"broken-link", "broken-anchor", "unnamed-image"}
        if documentation.name.startswith("varied"):
            expected |= {"unclosed-block", "unopened-block", "unlisted-page", "repeated-page", "missing-page"}
        assert {finding.rule for finding in findings} <= expected


def test_fixes_leave_all_other_bytes_alone(
    documentation: Documentation, findings: list[Finding], tmp_path: Path
) -> None:
    copy = shutil.copytree(documentation.directory, tmp_path / "copy")
    fixes = [finding for finding in findings if finding.fix]
    assert apply_fixes(copy, findings) == len(fixes)
    for location in documentation.directory.rglob("*"):
        own = [finding.fix for finding in fixes if finding.fix and documentation.directory / finding.path == location]
        if location.is_file():
            before, after = location.read_bytes(), (copy / location.relative_to(documentation.directory)).read_bytes()
            sizes = [len(fix.new.encode()) - len(fix.old.encode()) for fix in own]
            assert len(after) - len(before) == sum(sizes)
            assert (before == after) == (not own)
    assert not [finding for finding in check_folder(copy) if finding.fix]


@pytest.mark.documentation("tree", "manual")
def test_check_takes_at_most_one_and_a_half_times_the_time_of_parsing(documentation: Documentation) -> None:
    def parse_all() -> None:
        files = RepositoryFiles(documentation.directory)
        for source in files.texts():
            parse(files.text(source).text, {})

    def seconds(work: Callable[[], object]) -> float:
        began = time.process_time()
        work()
        return time.process_time() - began

    ratios: list[float] = []
    while not ratios or (ratios[-1] > 1.5 and len(ratios) < 3):
        ratios.append(seconds(lambda: check_folder(documentation.directory)) / seconds(parse_all))
    assert ratios[-1] <= 1.5, ratios
