"""Findings in a folder in the formats of other programs: SARIF 2.1.0, JUnit, and GitHub annotations."""

from __future__ import annotations

import json
import os
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from typing import Any
from urllib.parse import quote
from xml.etree import ElementTree

import click

from presscheck import __version__
from presscheck.cli.output import print_json, print_message
from presscheck.documents.git_format.findings import RULES, Finding, Rule, Severity
from presscheck.errors import ChecksFailed
from presscheck.text.phrases import count
from presscheck.text.sanitize import sanitize

_SARIF_LEVELS: dict[Severity, str] = {"error": "error", "warning": "warning", "info": "note"}
_GITHUB_LEVELS: dict[Severity, str] = {"error": "error", "warning": "warning", "info": "notice"}


_WORDS: dict[Severity, str] = {"error": "error", "warning": "warning", "info": "note"}


def report_options(function: Callable[..., Any]) -> Callable[..., Any]:
    """Decorate a command: add the options for reports other than text and JSON."""
    function = click.option("--github", "report", flag_value="github", help="Print annotations for GitHub Actions.")(
        function
    )
    function = click.option("--junit", "report", flag_value="junit", help="Print a JUnit report.")(function)
    return click.option("--sarif", "report", flag_value="sarif", help="Print a SARIF log.")(function)


def print_report(report: str | None, title: str, findings: Sequence[Finding]) -> None:
    """Print findings as `json`, `sarif`, `junit` or `github`. None prints a line of text for each finding."""
    if report == "json":
        print_json([json_row(finding) for finding in findings])
    elif report == "sarif":
        click.echo(json.dumps(sarif(findings), indent=2))
    elif report == "junit":
        click.echo(junit(title, findings))
    else:
        for finding in findings:
            click.echo(github_line(finding) if report == "github" else text_line(finding))


def summarize(title: str, findings: Iterable[Finding]) -> None:
    """Print how many findings there are.

    Raises:
        ChecksFailed: there are errors; the message has the numbers.
    """
    counts = Counter(finding.severity for finding in findings)
    numbers = ", ".join(count(counts[severity], word) for severity, word in _WORDS.items() if counts[severity])
    if counts["error"]:
        raise ChecksFailed(f"{title}: {numbers}")
    print_message(f"No errors in {title}{f': {numbers}' if numbers else ''}.")


def text_line(finding: Finding) -> str:
    """Return a finding as a line of text. It begins with path, line and column, as editors expect."""
    place = f"{finding.path}:{finding.line}:{finding.column}"
    return sanitize(f"{place}: {finding.severity}: {finding.message} ({finding.rule})")


def json_row(finding: Finding) -> dict[str, Any]:
    """Return a finding as a JSON object; `fix` is null if there is no fix."""
    place = {"path": finding.path, "line": finding.line, "column": finding.column}
    kind = {"rule": finding.rule, "severity": finding.severity, "message": finding.message}
    return place | kind | {"fix": finding.fix and finding.fix._asdict()}


def sarif_log(rules: Iterable[tuple[str, str, str]], results: Sequence[dict[str, Any]]) -> dict[str, Any]:
    """Return a SARIF log with one run.

    Args:
        rules: name, description and level of each rule.
        results: the SARIF result objects of the run.
    """
    described = [
        {"id": name, "shortDescription": {"text": title}, "defaultConfiguration": {"level": level}}
        for name, title, level in rules
    ]
    driver = {"name": "presscheck", "version": __version__, "rules": described}
    return {
        "$schema": "https://json.schemastore.org/sarif-2.1.0.json",
        "version": "2.1.0",
        "runs": [{"tool": {"driver": driver}, "columnKind": "unicodeCodePoints", "results": results}],
    }


def _rules(findings: Iterable[Finding]) -> list[Rule]:
    """Return all rules, and then the rules of other programs that have findings."""
    others = {finding.rule: Rule(finding.rule, finding.rule, finding.severity) for finding in findings}
    return [*RULES.values(), *(rule for name, rule in sorted(others.items()) if name not in RULES)]


def sarif(findings: Sequence[Finding]) -> dict[str, Any]:
    """Return the findings as a SARIF log. Columns count characters."""
    rules = ((rule.name, rule.title, _SARIF_LEVELS[rule.severity]) for rule in _rules(findings))
    return sarif_log(rules, [_result(finding) for finding in findings])


def _result(finding: Finding) -> dict[str, Any]:
    file = {"uri": quote(os.fsencode(finding.path))}
    start = {"startLine": finding.line, "startColumn": finding.column}
    result: dict[str, Any] = {
        "ruleId": finding.rule,
        "level": _SARIF_LEVELS[finding.severity],
        "message": {"text": sanitize(finding.message)},
        "locations": [{"physicalLocation": {"artifactLocation": file, "region": start}}],
    }
    if finding.fix:
        region = start | {"endColumn": finding.column + len(finding.fix.old)}
        replacement = {"deletedRegion": region, "insertedContent": {"text": finding.fix.new}}
        result["fixes"] = [{"artifactChanges": [{"artifactLocation": file, "replacements": [replacement]}]}]
    return result


def junit(title: str, findings: Sequence[Finding]) -> str:
    """Return the rules as a JUnit test suite. The test of a rule fails if it has errors or warnings."""
    rules = _rules(findings)
    suite = ElementTree.Element("testsuite", name=sanitize(title), tests=str(len(rules)))
    failures = 0
    for rule in rules:
        case = ElementTree.SubElement(suite, "testcase", classname="presscheck.folder", name=rule.name)
        own = [finding for finding in findings if finding.rule == rule.name]
        text = "\n".join(
            sanitize(f"{finding.path}:{finding.line}:{finding.column}: {finding.message}") for finding in own
        )
        if any(finding.severity != "info" for finding in own):
            failures += 1
            ElementTree.SubElement(case, "failure", message=f"{len(own)} found").text = text
        elif own:
            ElementTree.SubElement(case, "system-out").text = text
    suite.set("failures", str(failures))
    return ElementTree.tostring(suite, encoding="unicode")


def github_line(finding: Finding) -> str:
    """Return a finding as a workflow command of GitHub, which shows the message at its line in the diff."""
    properties = {"file": finding.path, "line": finding.line, "col": finding.column, "title": finding.rule}
    written = ",".join(f"{name}={_escaped(str(value), ',:')}" for name, value in properties.items())
    return f"::{_GITHUB_LEVELS[finding.severity]} {written}::{_escaped(finding.message)}"


def _escaped(text: str, more: str = "") -> str:
    return "".join(f"%{ord(sign):02X}" if sign in f"%\r\n{more}" else sign for sign in sanitize(text))
