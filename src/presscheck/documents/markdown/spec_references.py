"""Finds the OpenAPI specifications that blocks of a text refer to."""

from __future__ import annotations

import re
from typing import NamedTuple

from presscheck.documents.markdown.code_ranges import without_code

_TAG = re.compile(r"\{%\s*openapi(?:-operation|-webhook|-schemas)?(?=\s)((?:[^%]|%(?!\}))*)%\}", re.IGNORECASE)
_NAMED = re.compile(r"""\b(spec|src)\s*=\s*(?:"([^"]*)"|'([^']*)')""")


class SpecReference(NamedTuple):
    """A specification in a block: a slug or an address; `line` counts from 1."""

    name: str
    line: int

    @property
    def is_address(self) -> bool:
        """Whether the name is an address instead of the slug of a specification of the organization."""
        return "/" in self.name or ":" in self.name


def find_specs(markdown: str) -> tuple[SpecReference, ...]:
    """Return the specifications that OpenAPI blocks of a text refer to, in order, except in code and comments."""
    # rules out most texts within a microsecond
    if "{" not in markdown or "{%" not in markdown or "openapi" not in markdown:
        return ()
    text = without_code(markdown)
    return tuple(
        SpecReference(match[2] or match[3] or "", text.count("\n", 0, tag.start()) + 1)
        for tag in _TAG.finditer(text)
        if (match := _NAMED.search(tag[1]))
    )
