"""The manual and the Markdown files at the root contain no banned words."""

from __future__ import annotations

from pathlib import Path

from tests.docs.manual_pages import FILES
from tests.root import ROOT
from tests.rules.words import IN_TEXT, Text, findings
from tests.table import each_case


def paragraphs_of(file: Path) -> tuple[Text, ...]:
    """Return the paragraphs of a file, each joined into one line so that phrases across lines are found."""
    found, start = list[Text](), 0
    lines = file.read_text("utf-8").split("\n")
    for number, line in enumerate((*lines, ""), 1):
        if not line.strip():
            found.append(Text(start + 1, " ".join(lines[start : number - 1])))
            start = number
    return tuple(found)


@each_case("file", FILES)
def test_files_contain_no_banned_words(file: Path) -> None:
    lines = findings(file.relative_to(ROOT), paragraphs_of(file), IN_TEXT)
    assert not lines, "\n".join(lines)


def test_a_phrase_over_two_lines_is_found(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text("# Title\n\nFirst line is\nnot known\nhere.\n")
    assert findings(page, paragraphs_of(page), IN_TEXT) == [f"{page}:3: 'is not known here': write 'is invalid'"]
