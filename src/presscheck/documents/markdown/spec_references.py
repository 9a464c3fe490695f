"""Finds the OpenAPI specifications that the blocks of a text name."""

from __future__ import annotations

import re
from typing import NamedTuple

from presscheck.documents.markdown.code_ranges import without_code

_TAG = re.compile(r"\{%\s*openapi(?:-operation|-webhook|-schemas)?(?=\s)((?:[^%]|%(?!\}))*)%\}", re.IGNORECASE)
_NAMED = re.compile(r"""\b(spec|src)\s*=\s*(?:"([^"]*)"|'([^']*)')""")


class SpecReference(NamedTuple):
    """A specification as a block names it: a slug, or an address; `line` counts from 1."""

    name: str
    line: int

    @property
    def is_address(self) -> bool:
        """Whether it is an address, and not the slug of a specification of the organization."""
        return "/" in self.name or ":" in self.name


def find_specs(markdown: str) -> tuple[SpecReference, ...]:
    """The specifications that the OpenAPI blocks of a text name, in order, except in code and comments."""
    # most texts have no block: this takes a microsecond
    if "{" not in markdown or "{%" not in markdown or "openapi" not in markdown:
        return ()
    text = without_code(markdown)
    return tuple(
        SpecReference(named[2] or named[3] or "", text.count("\n", 0, tag.start()) + 1)
        for tag in _TAG.finditer(text)
        if (named := _NAMED.search(tag[1]))
    )
