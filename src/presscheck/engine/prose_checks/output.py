"""Reads the findings in the output of programs.

The output is untrusted: it may be garbage, and it may quote the texts of other users. Lines and columns are limited to
the text of the page, messages become display text, and findings in other files are left out.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, cast
from urllib.parse import unquote, urlsplit

from presscheck.config.prose_checks import OutputFormat, ProseCheck
from presscheck.documents.git_format.findings import Finding, Fix, Severity
from presscheck.errors import PresscheckError
from presscheck.text.sanitize import sanitize

LONGEST_MESSAGE = 300
"""Maximum number of characters of a message."""
LONGEST_RULE = 80
"""Maximum number of characters of the name of a rule."""
MOST_CORRECTIONS = 5
"""Maximum number of corrections in a message."""
Unit = Literal["characters", "utf-16", "bytes"]
"""The unit in which a program counts columns."""

_SEVERITIES: dict[str, Severity] = {
    "error": "error",
    "fatal": "error",
    "warning": "warning",
    "note": "info",
    "info": "info",
    "none": "info",
    "notice": "info",
    "suggestion": "info",
}
_markdownlint_line = re.compile(
    r"(?P<path>.+?):(?P<line>\d+)(?::(?P<column>\d+))?\s(?:(?P<severity>error|warning)\s)?(?P<rule>MD\d+\S*)\s(?P<message>.*)"
).fullmatch
_END = 1 << 30
"""The end column of a SARIF region that has none: beyond the end of any line."""
_not_rule = re.compile(r"[^\w./:-]+")
_unsafe = re.compile(r"[\0-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069\ud800-\udfff]").search
"""Finds characters that control terminals or the direction of text, and surrogates, which UTF-8 cannot encode."""


@dataclass(frozen=True)
class _Row:
    """A finding as a program reports it; `old` is the text that `new` replaces, None for the whole line."""

    path: object
    line: object
    message: str
    rule: object = ""
    column: object = 1
    severity: object = ""
    old: object = None
    new: object = None
    unit: Unit = "characters"
    length: int | None = None
    """The length of the replaced text, counted in `unit`; set only if the program does not report `old`."""


def read_findings(
    check: ProseCheck, output: str, errors: str, texts: Mapping[str, str], source_of: Callable[[str], str | None]
) -> list[Finding]:
    """Return the findings in the output of a program, sorted by their place.

    Args:
        check: the check, which names the format.
        output: the standard output.
        errors: the standard error.
        texts: the texts of the pages by source path.
        source_of: returns the source path of a file that the program names; None for other files.

    Raises:
        PresscheckError: the output does not have the format.
    """
    rows = _READERS[check.format](f"{output}\n{errors}" if check.format == "markdownlint" else output)
    lines: dict[str, list[str]] = {}
    findings: set[Finding] = set()
    try:
        for row in rows:
            source = source_of(row.path) if isinstance(row.path, str) else None
            if source in texts:
                if source not in lines:
                    lines[source] = texts[source].replace("\r\n", "\n").split("\n")
                findings.add(_finding(check, row, source, lines[source]))
    except (ValueError, RecursionError, AttributeError, TypeError, KeyError):
        raise PresscheckError(f"{check.name}: its output is not {check.format}: {_start(output)}") from None
    return sorted(findings, key=lambda finding: finding.place)


def _start(output: str) -> str:
    return sanitize(output.strip()[:80]) or "it is empty"


def _finding(check: ProseCheck, row: _Row, source: str, lines: Sequence[str]) -> Finding:
    line = min(max(1, _number(row.line)), len(lines))
    text = lines[line - 1]
    column = min(max(0, _column(text, _number(row.column) - 1, row.unit)), len(text))
    old = row.old
    if row.length is not None:
        end = _column(text, _number(row.column) - 1 + row.length, row.unit)
        old = text[column:end]
    elif old is None:
        old, column = text, 0 if row.new is not None else column
    fix = None
    if isinstance(row.new, str) and isinstance(old, str) and not _unsafe(row.new):
        new = row.new.rstrip("\n") if row.old is None and row.length is None else row.new
        if old and not text.startswith(old, column) and text.count(old) == 1:
            column = text.index(old)  # some programs count columns without the markup before them
        fix = Fix(old, new) if text.startswith(old, column) and old != new else None
    rule = _not_rule.sub("-", str(row.rule)).strip("-")[:LONGEST_RULE]
    severity = check.severity or _SEVERITIES.get(str(row.severity).casefold(), "warning")
    message = sanitize(" ".join(row.message.split()))[:LONGEST_MESSAGE] or "no message"
    name = f"{check.name}/{rule}" if rule else check.name
    return Finding(source, line, message, name, column + 1, fix=fix, own_severity=severity)


def _number(value: object) -> int:
    """Return a line or column; 1 for a value that is not a number."""
    if isinstance(value, str) and value.isascii() and value.isdigit() and len(value) < 10:
        return int(value)
    return value if isinstance(value, int) else 1


def _column(text: str, offset: int, unit: Unit) -> int:
    """Convert an offset from another unit to characters."""
    if unit == "characters" or offset <= 0:
        return offset
    encoding = "utf-16-le" if unit == "utf-16" else "utf-8"
    size = offset * 2 if unit == "utf-16" else offset
    return len(text.encode(encoding, "surrogatepass")[:size].decode(encoding, "ignore"))


def _objects(output: str) -> Iterator[dict[str, Any]]:
    """Yield the objects of a JSON array, or of lines with JSON."""
    text = output.strip()
    if not text:
        return
    try:
        parsed: Any = json.loads(text)
    except ValueError:
        parsed = [json.loads(line) for line in text.splitlines() if line.strip()]
    for value in cast("list[Any]", parsed if isinstance(parsed, list) else [parsed]):
        if not isinstance(value, dict):
            raise TypeError
        yield cast("dict[str, Any]", value)


def _json(output: str) -> Iterator[_Row]:
    for row in _objects(output):
        message = str(row["message"])
        old = row.get("text")
        yield _Row(
            row.get("path", row.get("file")),
            row.get("line", 1),
            message,
            row.get("rule") or "",
            row.get("column", 1),
            row.get("severity", ""),
            old,
            row.get("replacement"),
        )


def _typos(output: str) -> Iterator[_Row]:
    for row in _objects(output):
        if row.get("type") != "typo":
            continue
        corrections = [str(word) for word in row["corrections"]]
        words = " or ".join(f"“{word}”" for word in corrections[:MOST_CORRECTIONS])
        message = f"“{row['typo']}” should be {words}" if words else f"“{row['typo']}” is not allowed"
        new = corrections[0] if corrections else None
        column = _number(row.get("byte_offset")) + 1
        yield _Row(row["path"], row.get("line_num"), message, "typo", column, "error", row["typo"], new, "bytes")


def _markdownlint(output: str) -> Iterator[_Row]:
    for line in output.splitlines():
        if match := _markdownlint_line(line):
            severity = match["severity"] or "error"
            yield _Row(match["path"], match["line"], match["message"], match["rule"], match["column"] or 1, severity)


def _vale(output: str) -> Iterator[_Row]:
    files = json.loads(output) if output.strip() else {}
    for path, alerts in files.items():
        for alert in alerts:
            action = alert.get("Action") or {}
            words = action.get("Params") or []
            new = words[0] if words and action.get("Name") == "replace" else None
            new = "" if action.get("Name") == "remove" else new
            span = alert.get("Span") or [1]
            yield _Row(
                path,
                alert.get("Line"),
                str(alert["Message"]),
                alert.get("Check", ""),
                span[0],
                alert.get("Severity", ""),
                alert.get("Match", ""),
                new,
            )


def _sarif(output: str) -> Iterator[_Row]:
    for log in _objects(output):
        for run in log["runs"]:
            unit: Unit = "characters" if run.get("columnKind") == "unicodeCodePoints" else "utf-16"
            for result in run.get("results") or ():
                yield _result(result, unit)


def _result(result: dict[str, Any], unit: Unit) -> _Row:
    locations = result.get("locations") or [{}]
    place = locations[0].get("physicalLocation") or {}
    path = _path_of_uri(str((place.get("artifactLocation") or {}).get("uri", "")))
    region = place.get("region") or {}
    line, column = region.get("startLine", 1), region.get("startColumn", 1)
    rule = result.get("ruleId") or (result.get("rule") or {}).get("id", "")
    message = result["message"].get("text") or result["message"].get("markdown") or ""
    row = _Row(path, line, str(message), rule, column, result.get("level", "warning"), unit=unit)
    for fix in result.get("fixes") or ():
        for change in fix["artifactChanges"]:
            for replacement in change["replacements"]:
                deleted = replacement["deletedRegion"]
                first, last = deleted.get("startLine"), deleted.get("endLine", deleted.get("startLine"))
                if first == last == line and _path_of_uri(str(change["artifactLocation"]["uri"])) == path:
                    start = _number(deleted.get("startColumn", 1))
                    length = max(0, _number(deleted.get("endColumn", _END)) - start)
                    new = (replacement.get("insertedContent") or {}).get("text", "")
                    return _Row(path, line, row.message, rule, start, row.severity, None, new, unit, length)
    return row


def _path_of_uri(uri: str) -> str:
    return unquote(urlsplit(uri).path if uri.startswith("file:") else uri)


_READERS: dict[OutputFormat, Callable[[str], Iterator[_Row]]] = {
    "json": _json,
    "sarif": _sarif,
    "typos": _typos,
    "markdownlint": _markdownlint,
    "vale": _vale,
}
