"""Applies fixes to the files of a folder. A fix that does not match its file any more is left out."""

from __future__ import annotations

import stat
from collections.abc import Iterable
from pathlib import Path

from presscheck.config.file_replacement import replace_file
from presscheck.documents.git_format.findings import Finding

_MARK = "\ufeff"


def apply_fixes(directory: Path, findings: Iterable[Finding]) -> int:
    """Apply the fixes of findings to the files of a directory. Return the number of applied fixes.

    Each file is replaced atomically.

    Raises:
        OSError: a file cannot be read or written.
    """
    by_path: dict[str, list[Finding]] = {}
    for finding in findings:
        if finding.fix:
            by_path.setdefault(finding.path, []).append(finding)
    fixes = 0
    for path, own in by_path.items():
        location = directory / path
        try:
            text = location.read_bytes().decode()
        except UnicodeDecodeError:
            continue  # the replacements would be written as text
        lines = text.split("\n")
        number = sum(_apply(lines, finding) for finding in sorted(own, key=lambda one: one.place, reverse=True))
        if number:
            replace_file(location, "\n".join(lines), stat.S_IMODE(location.stat().st_mode))
            fixes += number
    return fixes


def _apply(lines: list[str], finding: Finding) -> bool:
    """Apply a fix to the lines of its file; later fixes on the same line come first."""
    at = finding.line - 1
    if finding.fix is None or at >= len(lines):
        return False
    line, (old, new) = lines[at], finding.fix
    start = finding.column - 1 + (at == 0 and line.startswith(_MARK))
    if not line.startswith(old, start):
        return False
    lines[at] = line[:start] + new + line[start + len(old) :]
    return True
