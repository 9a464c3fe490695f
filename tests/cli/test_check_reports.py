"""Reports of site checks: in no format does a check that could not run count as passed."""

from xml.etree import ElementTree

from presscheck.cli.site.check_reports import junit, sarif
from presscheck.documents.sites.checks import CHECKS, Finding

UNREAD = Finding(
    "not-checked",
    "unknown",
    "Docs",
    "not checked: broken links, empty pages (no permission)",
    unchecked=("broken-link", "empty-page"),
)
BROKEN = Finding("broken-link", "error", "Docs: Start", "broken link: gone.md", "s1", "p1")
NOTE = Finding("long-title", "info", "Docs: Start", "title of 71 characters: search engines show 70", "s1", "p1")


def test_junit_reports_checks_that_could_not_run_as_errors_and_disabled_ones_as_skipped() -> None:
    suite = ElementTree.fromstring(junit("Docs", [BROKEN, UNREAD, NOTE], off=("hostname",)))
    of = {case.get("name"): [one.tag for one in case] for case in suite}
    assert [name for name in of if name] == [check.name for check in CHECKS]
    assert {name: tags for name, tags in of.items() if tags} == {
        "broken-link": ["error"],
        "empty-page": ["error"],
        "hostname": ["skipped"],
        "long-title": ["system-out"],
    }
    assert [suite.get(name) for name in ("tests", "failures", "errors", "skipped")] == [str(len(CHECKS)), "0", "2", "1"]
    text = suite.findtext("testcase[@name='broken-link']/error") or ""
    assert text.split("\n") == ["Docs: Start: broken link: gone.md", f"Docs: {UNREAD.message}"]


def test_sarif_reports_checks_that_could_not_run_as_open() -> None:
    result = sarif([UNREAD])["runs"][0]["results"][0]
    assert (result["kind"], result["level"]) == ("open", "none")
    assert result["properties"]["notChecked"] == ["broken-link", "empty-page"]
