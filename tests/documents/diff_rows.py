"""Renders comparisons of two texts as readable lines."""

import re
from typing import Any

from presscheck.documents.diff.page_diff import DifferenceLines, compare, difference_lines
from presscheck.text.styled_text import Line


def drawn(before: str, after: str, columns: int = 60, **manner: Any) -> DifferenceLines:
    return difference_lines(compare(before, after), columns, **manner)


def told(line: Line) -> str:
    """Return the text of a line, with removed words as `[-removed-]` and added words as `{+added+}`."""
    found = ""
    for span in line:
        words = span.style.split()
        gone, come = {"removed", "strike"} <= {*words}, {"added", "underline"} <= {*words}
        found += f"[-{span.text}-]" if gone else f"{{+{span.text}+}}" if come else span.text
    return re.sub(r"-\]( *)\[-|\+\}( *)\{\+", r"\1\2", found).rstrip()


def page(before: str, after: str, columns: int = 60, **manner: Any) -> list[str]:
    return [told(line) for line in drawn(before, after, columns, **manner).lines]
