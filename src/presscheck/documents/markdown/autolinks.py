"""Bare URLs in text, as GitHub Flavored Markdown reads them (section 6.9, extended autolinks)."""

from __future__ import annotations

import re
from collections.abc import Iterator

_URL = re.compile(r"https?://(?=[^\W_])(?:[^\s<{\[\]\\]++|\{(?!%)|\[[^\s<\[\]\\]*+\])+", re.IGNORECASE)
_STARTS = re.compile(r"(?<![^\W_])(?<![<\[])https?://(?=[^\W_])", re.IGNORECASE)
_ENTITY = re.compile(r"&[a-zA-Z0-9]+;\Z")
_TRAILING = frozenset("?!.,:*_~'\"`")


def autolink_end(text: str, start: int) -> int:
    """Return the end of the bare URL that begins at `start`, or `start` if none begins there.

    The URL extends to the next blank, `<`, `{%`, backslash or single square bracket. Punctuation at its end belongs to
    the sentence, and so does a closing parenthesis that the URL did not open.
    """
    match = _URL.match(text, start)
    if not match:
        return start
    url = match[0]
    end = len(url)
    unopened = url.count(")") - url.count("(")
    while True:
        last = url[end - 1]
        if last in _TRAILING:
            end -= 1
        elif last == ")" and unopened > 0:
            unopened -= 1
            end -= 1
        elif last == ";" and (entity := _ENTITY.search(url, max(0, end - 40), end)):
            end = entity.start()
        else:
            return start + end


def autolinks(text: str) -> Iterator[tuple[int, int]]:
    """Yield the start and end of each bare URL in plain text without links."""
    after = 0
    for match in _STARTS.finditer(text):
        if match.start() >= after and (end := autolink_end(text, match.start())) > match.start():
            yield match.start(), end
            after = end
