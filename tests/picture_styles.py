"""Compares the colours of the pictures with those of a commit: `python -m tests.picture_styles [COMMIT]`.

A change of words may change pictures in their words only. A line with the same text must have the same style in every
cell; in a line with another text the styles must follow each other as before. The exit code is 1 if anything differs.
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
    """A character of the screen and what it looks like."""

    text: str
    style: str


def lines(svg: str) -> list[list[Cell]]:
    """The screen of a picture, from top to bottom; a wide character stands in its first cell."""
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
        top = max((one for one in tops if one < baseline), default=0.0)
        for at, character in enumerate(html.unescape(text).replace("\xa0", " ")):
            ground = grounds.get((first + at, top), "")
            rows.setdefault(baseline, {})[first + at] = Cell(character, f"{styles[name]} on {ground}")
    return [[cell for _, cell in sorted(rows[y].items())] for y in sorted(rows)]


def runs(line: list[Cell]) -> list[str]:
    """The styles of what is written in a line, each once for as long as it lasts; blanks have none."""
    return [style for style, _ in groupby(cell.style for cell in line if not cell.text.isspace())]


def differences(before: str, after: str) -> list[str]:
    """The lines of a picture whose colours changed, not only their words."""
    old, new = lines(before), lines(after)
    if len(old) != len(new):
        return [f"{len(old)} lines before, {len(new)} now"]
    found: list[str] = []
    for one, other in zip(old, new, strict=True):
        texts = ["".join(cell.text for cell in line).rstrip() for line in (one, other)]
        if one != other if texts[0] == texts[1] else runs(one) != runs(other):
            found += [f"- {texts[0]}", f"+ {texts[1]}"]
    return found


def git(*arguments: str) -> str:
    """What git prints."""
    return subprocess.run(["git", *arguments], cwd=ROOT, check=True, capture_output=True, text=True).stdout


def main(arguments: list[str]) -> int:
    """Compare every picture that changed; 0 if all of them changed in their words only."""
    commit = arguments[0] if arguments else "HEAD"
    changed = git("diff", "--name-status", "--find-renames", commit, "--", PICTURES).splitlines()
    different = 0
    for row in changed:
        status, *paths = row.split("\t")
        if status[0] not in "MR":
            sys.stdout.write(f"{'new' if status == 'A' else 'gone'}: {paths[0]}\n")
            continue
        found = differences(git("show", f"{commit}:{paths[0]}"), (ROOT / paths[-1]).read_text())
        different += bool(found)
        if found:
            sys.stdout.write("\n".join([paths[-1], *(f"  {line}" for line in found), ""]))
    sys.stdout.write(f"{len(changed)} pictures changed since {commit}, {different} in more than their words\n")
    return int(different > 0)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
