"""Finds the OpenAPI specifications that blocks of a text refer to."""

from __future__ import annotations

import re
from typing import NamedTuple

from presscheck.documents.markdown.code_ranges import without_code

_TAG = re.compile(r"\{%\s*openapi(?:-operation|-webhook|-schemas)?(?=\s)((?:[^%]|%(?!\}))*)%\}", re.IGNORECASE)
_HAS_SCHEME = re.compile(r"[a-zA-Z][a-zA-Z0-9+.-]*:|//").match
_NAMED = re.compile(r"""\b(spec|src)\s*=\s*(?:"([^"]*)"|'([^']*)')""")


class SpecReference(NamedTuple):
    """A specification in a block: a slug, the path of a file of the space, or a URL; `line` counts from 1."""

    name: str
    line: int
    is_file: bool = False
    """Whether the name is a path or a URL instead of the slug of a specification of the organization."""

    @property
    def is_url(self) -> bool:
        """Whether the specification is on the web, unlike a file of the space."""
        return self.is_file and _HAS_SCHEME(self.name) is not None


def find_specs(markdown: str) -> tuple[SpecReference, ...]:
    """Return the specifications that OpenAPI blocks of a text refer to, in order, except in code and comments."""
    # rules out most texts within a microsecond
    if "{" not in markdown or "{%" not in markdown or "openapi" not in markdown:
        return ()
    text = without_code(markdown)
    return tuple(
        SpecReference(match[2] or match[3] or "", text.count("\n", 0, tag.start()) + 1, match[1] == "src")
        for tag in _TAG.finditer(text)
        if (match := _NAMED.search(tag[1]))
    )
