"""A limit for the size of JSON, checked before parsing, which blocks other threads and holds all values in memory."""

from __future__ import annotations

import re

MOST_VALUES = 2_000_000
"""Maximum number of values in a request as counted by `has_more_values`; a page at its limits has 400,000."""
_TEXTS_AND_MARKS = re.compile(rb'"(?:[^"\\]++|\\.)*+"|[,\[{]++', re.DOTALL)


def has_more_values(body: bytes, most: int) -> bool:
    """Return whether JSON has more than `most` commas, opening brackets and opening braces outside of strings."""
    if sum(map(body.count, (b",", b"[", b"{"))) <= most:
        return False
    marks = 0
    for match in _TEXTS_AND_MARKS.finditer(body):
        marks += 0 if match[0].startswith(b'"') else len(match[0])
        if marks > most:
            return True
    return False
