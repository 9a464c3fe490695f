"""Markdown samples, one for each kind of block."""

from __future__ import annotations

from tests.documents.node_samples import BLOCKS, INLINES, MARKS

SAMPLES = {
    **BLOCKS,
    **{f"inline: {name}": text for name, text in INLINES.items()},
    **{f"mark: {name}": text for name, text in MARKS.items()},
}
