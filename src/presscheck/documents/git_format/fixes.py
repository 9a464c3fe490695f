"""Applies fixes to the files of a folder. A fix is skipped if its file has changed since the check."""

from __future__ import annotations

import stat
from collections.abc import Iterable
from pathlib import Path

from presscheck.config.file_replacement import replace_file
from presscheck.documents.git_format.findings import Finding

_MARK = "\ufeff"


def apply_fixes(directory: Path, findings: Iterable[Finding]) -> int:
    """Apply the fixes of findings to the files in a directory. Return the number of applied fixes.

    Each file is replaced atomically. A file that is not UTF-8 is skipped.

    Raises:
        OSError: a file cannot be read or written.
    """
    by_path: dict[str, list[Finding]] = {}
    for finding in findings:
        if finding.fix:
            by_path.setdefault(finding.path, []).append(finding)
    fixes = 0
    for path, file_findings in by_path.items():
        location = directory / path
        try:
            text = location.read_bytes().decode()
        except UnicodeDecodeError:
            continue  # the replacements would be written as text
        lines = text.split("\n")
        number = sum(
            _apply(lines, finding) for finding in sorted(file_findings, key=lambda item: item.place, reverse=True)
        )
        if number:
            replace_file(location, "\n".join(lines), stat.S_IMODE(location.stat().st_mode))
            fixes += number
    return fixes


def _apply(lines: list[str], finding: Finding) -> bool:
    """Apply the fix of a finding to the lines of its file. Return False if the line does not have the text to replace.

    Fixes on the same line must be applied from right to left, so that the columns of the others stay valid.
    """
    at = finding.line - 1
    if finding.fix is None or at >= len(lines):
        return False
    line, (old, new) = lines[at], finding.fix
    start = finding.column - 1 + (at == 0 and line.startswith(_MARK))
    if not line.startswith(old, start):
        return False
    lines[at] = line[:start] + new + line[start + len(old) :]
    return True
