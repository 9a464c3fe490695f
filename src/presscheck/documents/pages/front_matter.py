"""Front matter: lines of YAML between two fences (`---`) at the start of a page; `...` also closes it.

YAML is parsed in `documents.yaml_mapping`, which must not be loaded for the first screen.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import NamedTuple

OPENING = "---"
"""The line that begins front matter."""
_CLOSING = frozenset(("---", "..."))
_description = re.compile(r"^description:[ \t]*(?:[>|][-+]?[ \t]*)?((?:.*\n)(?:[ \t]+.*\n|\n)*)", re.MULTILINE)


class FrontMatter(NamedTuple):
    """The YAML between the fences, and the offset of the body."""

    yaml: str
    end: int


def front_matter_size(lines: Sequence[str]) -> int:
    """Return the number of lines of front matter including fences, or 0."""
    if not lines or lines[0].rstrip() != OPENING:
        return 0
    return next((number + 1 for number, line in enumerate(lines[1:], 1) if line.rstrip() in _CLOSING), 0)


def find_front_matter(text: str) -> FrontMatter | None:
    """Return the front matter of a page, or None."""
    if not text.startswith(OPENING):
        return None
    lines = text.split("\n")
    size = front_matter_size(lines)
    if not size:
        return None
    end = sum(len(line) + 1 for line in lines[:size])
    return FrontMatter("\n".join(lines[1 : size - 1]), min(end, len(text)))


def split_front_matter(text: str) -> tuple[str, str]:
    """Return the front matter with its fences, or an empty string, and the body."""
    front = find_front_matter(text)
    return (text[: front.end].removesuffix("\n"), text[front.end :]) if front else ("", text)


def read_description(front: str) -> str:
    """Return the description in front matter, or an empty string.

    A pattern finds the description, because loading a YAML parser would delay the first screen.
    """
    match = _description.search(front)
    text = " ".join(match[1].split()) if match else ""
    if len(text) > 1 and text[0] == text[-1] and text[0] in "'\"":
        text = text[1:-1].replace("''", "'").replace('\\"', '"')
    return text
