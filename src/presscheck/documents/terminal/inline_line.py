"""Renders inline Markdown, such as the words of a comment, in a single terminal line."""

from __future__ import annotations

import re
from functools import lru_cache

from presscheck.text.sanitize import sanitize
from presscheck.text.styled_text import Line, Span

_has_markup = re.compile(r"[*_`[<&~$\\]|:\w+:|\{[%{]").search
"""Matches in texts that need the Markdown parser."""


@lru_cache(512)
def inline_line(words: str) -> Line:
    """Render inline Markdown without line ends, and without the targets of its links."""
    if not _has_markup(words):
        return (Span(sanitize(words)),)
    # importing takes 32 ms because of markdown-it, which the first screen does not need
    from presscheck.documents.terminal.blocks import BlockRenderer
    from presscheck.documents.terminal.symbols import UNICODE

    # unlike in a paragraph, no word at the start of a heading begins another kind of block
    _, runs = BlockRenderer(UNICODE).heading_runs(f"# {words} #")
    return tuple(run._replace(link=None) for run in runs)
