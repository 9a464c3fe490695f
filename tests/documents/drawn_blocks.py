"""Reads the Markdown samples of all kinds of blocks."""

from __future__ import annotations

from tests.documents.node_samples import BLOCKS, INLINES, MARKS

SAMPLES = {
    **BLOCKS,
    **{f"inline: {name}": text for name, text in INLINES.items()},
    **{f"mark: {name}": text for name, text in MARKS.items()},
}
