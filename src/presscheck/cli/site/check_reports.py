"""Findings about a site in the formats of other programs: SARIF 2.1.0 and JUnit."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Any
from xml.etree import ElementTree

from presscheck.cli.check_reports import sarif_log
from presscheck.documents.sites.checks import CHECKS, Finding, Severity
from presscheck.text.sanitize import sanitize

NOT_CHECKED = "not-checked"
"""The rule name for checks that could not run."""
_LEVELS: dict[Severity, str] = {"error": "error", "warning": "warning", "info": "note", "unknown": "none"}


def sarif(findings: Sequence[Finding]) -> dict[str, Any]:
    """Return the findings as a SARIF log. A check that could not run has the kind `open`."""
    rules = [(check.name, check.title, _LEVELS[check.severity]) for check in CHECKS]
    rules.append((NOT_CHECKED, "checks that could not be done", _LEVELS["unknown"]))
    rules += [(name, name, _LEVELS[severity]) for name, severity in _prose_rules(findings).items()]
    return sarif_log(rules, [_result(finding) for finding in findings])


def _prose_rules(findings: Sequence[Finding]) -> dict[str, Severity]:
    """Return the prose rules with findings, and the severity of the first finding of each."""
    own = {NOT_CHECKED, *(check.name for check in CHECKS)}
    return {finding.check: finding.severity for finding in reversed(findings) if finding.check not in own}


def _result(finding: Finding) -> dict[str, Any]:
    where = sanitize(finding.where)
    return {
        "ruleId": finding.check,
        "kind": "open" if finding.severity == "unknown" else "fail",
        "level": _LEVELS[finding.severity],
        "message": {"text": f"{where}: {sanitize(finding.message)}"},
        "locations": [{"logicalLocations": [{"fullyQualifiedName": where}]}],
        "properties": {
            "space": finding.space,
            "page": finding.page,
            "line": finding.line,
            "changeRequest": finding.request,
            "notChecked": list(finding.unchecked),
        },
    }


def junit(title: str, findings: Sequence[Finding], off: Collection[str] = ()) -> str:
    """Return the checks as a JUnit test suite. The test of a check fails if the check found errors or warnings.

    Args:
        title: the name of the suite.
        findings: the findings; a check that could not run is an error of its test.
        off: the names of disabled checks; their tests are skipped.
    """
    names = [*(check.name for check in CHECKS), *sorted(_prose_rules(findings))]
    suite = ElementTree.Element("testsuite", name=sanitize(title), tests=str(len(names)))
    failures = errors = skipped = 0
    for name in names:
        case = ElementTree.SubElement(suite, "testcase", classname="presscheck.site", name=name)
        own = [finding for finding in findings if finding.check == name or name in finding.unchecked]
        text = "\n".join(f"{sanitize(finding.where)}: {sanitize(finding.message)}" for finding in own)
        severities = {finding.severity for finding in own}
        if name in off:
            skipped += 1
            ElementTree.SubElement(case, "skipped", message="off")
        elif "unknown" in severities:
            errors += 1
            ElementTree.SubElement(case, "error", message="could not be checked").text = text
        elif severities & {"error", "warning"}:
            failures += 1
            ElementTree.SubElement(case, "failure", message=f"{len(own)} found").text = text
        elif own:
            ElementTree.SubElement(case, "system-out").text = text
    for key, number in (("failures", failures), ("errors", errors), ("skipped", skipped)):
        suite.set(key, str(number))
    return ElementTree.tostring(suite, encoding="unicode")
