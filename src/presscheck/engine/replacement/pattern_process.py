"""The process that searches texts for a pattern.

A regular expression can take forever, and only a process can be stopped. The file runs by its path in an isolated
interpreter, so it cannot import the package. Standard input and output carry lines of JSON. The first line of input is
the query; the answer is an empty object, or an error with the field that it concerns. Each further line is a text; the
answer is the list of its matches, each as start, end and replacement.
"""

from __future__ import annotations

import contextlib
import json
import re
import resource
import sys
from typing import Any

MEMORY = 1 << 30
"""Maximum address space of the process in bytes."""
MOST_MATCHES = 10_000
"""Maximum number of matches in all texts."""
MOST_NEW = 16 << 20
"""Maximum number of characters of all replacements together."""
_GLOBAL_FLAGS = re.compile(r"\(\?[aiLmsux]++\)").match


class InvalidPattern(Exception):
    """The query is invalid; `field` is `find` or `replacement`."""

    def __init__(self, field: str, reason: str) -> None:
        super().__init__(reason)
        self.field = field


class Matcher:
    """A matcher for a query, with a limit of matches for all texts together.

    Args:
        query: the fields of `presscheck.documents.pages.replacement.Query`.

    Raises:
        InvalidPattern: the pattern or the replacement is invalid.
    """

    def __init__(self, query: dict[str, Any]) -> None:
        self._pattern = compile_pattern(query)
        self._replacement: str = query["replacement"]
        self._is_template = bool(query["is_regex"]) and "\\" in self._replacement
        self._left, self._left_new = MOST_MATCHES, MOST_NEW
        if self._is_template:
            try:
                self._pattern.sub(self._replacement, "")
            except (re.error, IndexError) as error:
                raise InvalidPattern("replacement", _reason(error)) from None

    def matches(self, text: str) -> list[tuple[int, int, str]]:
        """Return the matches in a text, each as start, end and replacement, without empty matches.

        Raises:
            InvalidPattern: there are too many matches, or the replacements are too long.
        """
        found: list[tuple[int, int, str]] = []
        for match in self._pattern.finditer(text):
            start, end = match.span()
            if start == end:
                continue
            new = match.expand(self._replacement) if self._is_template else self._replacement
            self._left, self._left_new = self._left - 1, self._left_new - len(new)
            if self._left < 0:
                raise InvalidPattern("find", f"more than {MOST_MATCHES:,} matches: search for a longer text")
            if self._left_new < 0:
                raise InvalidPattern("replacement", "all replacements together are too long")
            found.append((start, end, new))
        return found


def compile_pattern(query: dict[str, Any]) -> re.Pattern[str]:
    """Compile the pattern of a query; `^` and `$` match at each line.

    Raises:
        InvalidPattern: the pattern is not a valid regular expression.
    """
    source: str = query["find"] if query["is_regex"] else re.escape(query["find"])
    flags = re.MULTILINE if query["match_case"] else re.MULTILINE | re.IGNORECASE
    try:
        if query["whole_words"]:
            re.compile(source, flags)  # compiled alone first, so that positions in errors refer to the typed pattern
            given = _GLOBAL_FLAGS(source) if query["is_regex"] else None
            before = given[0] if given else ""
            source = rf"{before}(?<!\w)(?:{source[len(before) :]})(?!\w)"
        return re.compile(source, flags)
    except (re.error, OverflowError, RecursionError) as error:
        raise InvalidPattern("find", _reason(error)) from None


def _reason(error: Exception) -> str:
    return f"invalid: {error}" if str(error) else "invalid: too complex"


def main() -> None:
    """Answer each line of standard input until the input is closed."""
    with contextlib.suppress(ValueError, OSError):  # a stricter limit is set already, or the system lacks it
        resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    matcher: Matcher | None = None
    for line in sys.stdin.buffer:
        try:
            if matcher is None:
                matcher, answer = Matcher(json.loads(line)), {}
            else:
                answer = matcher.matches(json.loads(line))
        except InvalidPattern as error:
            answer = {"error": str(error), "field": error.field}
        except (MemoryError, RecursionError):
            answer = {"error": "invalid: it takes too much memory", "field": "find"}
        sys.stdout.buffer.write(json.dumps(answer).encode() + b"\n")
        sys.stdout.buffer.flush()


if __name__ == "__main__":
    main()
