"""Parses JSON in attributes of tags and tables, with limited nesting."""

from __future__ import annotations

import json
import re
from typing import Any

MAX_DEPTH = 100
"""Maximum nesting depth; deeper values would exceed the recursion limit of functions that walk them."""

_MARK = re.compile(r'[]["{}]|\\.?', re.DOTALL)
"""Matches brackets, which change the depth, quotes, and escaped characters, which are skipped."""


def parse_json(text: str) -> Any:
    """Return the value of a JSON text.

    Raises:
        ValueError: the text is not JSON, or nested deeper than `MAX_DEPTH`. Python's own limit depends on its version.
    """
    if text.count("[") + text.count("{") > MAX_DEPTH and _is_too_deep(text):
        raise ValueError("nested too deep")
    return json.loads(text)


def _is_too_deep(text: str) -> bool:
    depth, is_string = 0, False
    for mark in _MARK.findall(text):
        if mark == '"':
            is_string = not is_string
        elif not is_string and mark[0] != "\\":
            depth += 1 if mark in "[{" else -1
            if depth > MAX_DEPTH:
                return True
    return False
