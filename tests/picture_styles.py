"""Compare the colours of the snapshots with those of a commit: `python -m tests.picture_styles [COMMIT]`.

Changes of texts should change nothing else in snapshots. A line with the same text must have the same style in every
cell; a line with a changed text must have the same sequence of styles. The exit code is 1 if anything differs.
"""

import html
import re
import subprocess
import sys
from itertools import groupby
from typing import NamedTuple

from tests.root import ROOT

PICTURES = "tests/tui/__snapshots__"
CELL = 12.2
"""The width of a cell in the pictures."""
RULE = re.compile(r"^\s*\.[\w-]+-(r\d+) \{ (.*?) \}", re.MULTILINE)
TEXT = re.compile(r'<text class="[\w-]+-(r\d+)" x="([\d.]+)" y="([\d.]+)"[^>]*>(.*?)</text>', re.DOTALL)
GROUND = re.compile(r'<rect fill="([^"]+)" x="([\d.]+)" y="([\d.]+)" width="([\d.]+)"')


class Cell(NamedTuple):
    """A character of the screen and its style."""

    text: str
    style: str


def lines(svg: str) -> list[list[Cell]]:
    """Return the lines of a snapshot, from top to bottom. A wide character is only in its first cell."""
    styles = dict(RULE.findall(svg))
    rows: dict[float, dict[int, Cell]] = {}
    grounds = {
        (round(float(x) / CELL) + at, float(y)): fill
        for fill, x, y, width in GROUND.findall(svg)
        for at in range(round(float(width) / CELL))
    }
    tops = sorted({y for _, y in grounds})
    for name, x, y, text in TEXT.findall(svg):
        first, baseline = round(float(x) / CELL), float(y)
        top = max((edge for edge in tops if edge < baseline), default=0.0)
        for at, character in enumerate(html.unescape(text).replace("\xa0", " ")):
            ground = grounds.get((first + at, top), "")
            rows.setdefault(baseline, {})[first + at] = Cell(character, f"{styles[name]} on {ground}")
    return [[cell for _, cell in sorted(rows[y].items())] for y in sorted(rows)]


def runs(line: list[Cell]) -> list[str]:
    """Return the sequence of styles in a line, without repetitions and without blanks."""
    return [style for style, _ in groupby(cell.style for cell in line if not cell.text.isspace())]


def differences(before: str, after: str) -> list[str]:
    """Return the lines of a snapshot whose colours changed, before and after, as in a diff."""
    old, new = lines(before), lines(after)
    if len(old) != len(new):
        return [f"{len(old)} lines before, {len(new)} now"]
    changes: list[str] = []
    for before_line, after_line in zip(old, new, strict=True):
        texts = ["".join(cell.text for cell in line).rstrip() for line in (before_line, after_line)]
        if before_line != after_line if texts[0] == texts[1] else runs(before_line) != runs(after_line):
            changes += [f"- {texts[0]}", f"+ {texts[1]}"]
    return changes


def git(*arguments: str) -> str:
    return subprocess.run(["git", *arguments], cwd=ROOT, check=True, capture_output=True, text=True).stdout


def main(arguments: list[str]) -> int:
    """Compare all changed snapshots. Returns the exit code."""
    commit = arguments[0] if arguments else "HEAD"
    changed = git("diff", "--name-status", "--find-renames", commit, "--", PICTURES).splitlines()
    different = 0
    for row in changed:
        status, *paths = row.split("\t")
        if status[0] not in "MR":
            sys.stdout.write(f"{'new' if status == 'A' else 'gone'}: {paths[0]}\n")
            continue
        changes = differences(git("show", f"{commit}:{paths[0]}"), (ROOT / paths[-1]).read_text())
        different += bool(changes)
        if changes:
            sys.stdout.write("\n".join([paths[-1], *(f"  {line}" for line in changes), ""]))
    sys.stdout.write(f"{len(changed)} pictures changed since {commit}, {different} in more than their words\n")
    return int(different > 0)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
