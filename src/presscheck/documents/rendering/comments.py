"""What people say of documents, as lines: short texts that are shown again and again."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache

from presscheck.documents.terminal.blocks import BlockRenderer
from presscheck.documents.terminal.symbols import UNICODE
from presscheck.text.styled_text import Line


@lru_cache(512)
def comment_lines(markdown: str, columns: int) -> Sequence[Line]:
    """A comment in lines; as it is written where nothing of it would be seen."""
    layout = BlockRenderer(UNICODE)
    return layout.lines(markdown.strip("\n"), columns) or layout.source(markdown, columns)
