"""What people say of documents, as lines: short texts that are shown again and again."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache

from presscheck.documents.rendering.glyphs import UNICODE
from presscheck.documents.rendering.layout import Layout
from presscheck.documents.spans import Line


@lru_cache(512)
def comment_lines(markdown: str, columns: int) -> Sequence[Line]:
    """A comment in lines; as it is written where nothing of it would be seen."""
    layout = Layout(UNICODE)
    return layout.lines(markdown.strip("\n"), columns) or layout.source(markdown, columns)
