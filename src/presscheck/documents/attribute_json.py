"""Parses the JSON in attributes of tags and tables, within a limit of nesting."""

from __future__ import annotations

import json
import re
from typing import Any

MAX_DEPTH = 100
"""The deepest nesting: a text that nests further would exceed the recursion limit of whoever walks its value."""

_MARK = re.compile(r'[]["{}]|\\.?', re.DOTALL)
"""What changes the depth, or begins or ends a string; an escaped character is skipped."""


def parse_json(text: str) -> Any:
    """Returns the value of a JSON text.

    Raises:
        ValueError: it is not JSON, or nested deeper than `MAX_DEPTH`. Python versions differ in how deep they parse.
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
