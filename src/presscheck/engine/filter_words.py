"""The words of a filter: plain words, and values after a name and a colon, such as ``author:me``."""

from __future__ import annotations

import shlex

from presscheck.errors import InvalidArgument


def filter_words(text: str, field: str) -> list[tuple[str, str, str]]:
    """Split a filter into words, and each word into a name, a colon and a value.

    For a plain word, the name is the word, and the colon and the value are empty.

    Args:
        text: the filter as typed; quotes keep blanks in a word.
        field: the name of the filtered list in error messages.

    Raises:
        InvalidArgument: a closing quote is missing.
    """
    try:
        return [word.partition(":") for word in shlex.split(text)]
    except ValueError:
        raise InvalidArgument(field, "missing closing quote") from None
