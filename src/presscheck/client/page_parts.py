"""Parsing of a page of a listing in parts, to save memory and time.

Parsed as a whole, the models and the JSON of 1,000 items take ten times the memory of their text, which the process
never returns, and parsing blocks other threads.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from typing import Any

from presscheck.api.operation import MAX_PAGE, Operation, Page
from presscheck.client.responses import read_answer, read_json, unusable

ITEMS_PER_PART = 100
_decode = json.JSONDecoder().raw_decode
_spaces = re.compile(r"[ \t\n\r]*")


@dataclass(frozen=True)
class PageParts:
    """A checked page, whose items are parsed in parts.

    Attributes:
        cursor: the cursor of the next page; None on the last page.
        total: the number of items of the whole listing, if the service sends it.
    """

    cursor: str | None
    total: int | None
    _text: str
    _spans: tuple[slice, ...]
    """The slices of the text with the items of each part; a single empty slice without items."""

    @property
    def parts(self) -> int:
        """The number of parts, at least 1."""
        return len(self._spans)

    def items(self, part: int) -> list[Any]:
        """Return the items of a part, by its number from 0, as JSON values."""
        return json.loads(f"[{self._text[self._spans[part]]}]")


def read_page_in_parts(call: Operation[Page[Any]], body: bytes) -> PageParts:
    """Check the response to a listing, and split its items into parts.

    Raises:
        MalformedAnswer: the response is not a page of the listing.
    """
    try:
        text = body.decode()
        fields, spans = _split_page(text)
        for span in spans:
            call.read_answer(f'{{"items":[{text[span]}]}}'.encode())
        page = call.read_answer(json.dumps(fields | {"items": []}).encode())
        return PageParts(page.next.page if page.next else None, page.total, text, spans)
    except (ValueError, RecursionError) as error:
        read_answer(call, body)  # raises an error with the position in the whole page
        read_json(call, body)
        raise unusable(call, str(error)) from None


def _split_page(text: str) -> tuple[dict[str, Any], tuple[slice, ...]]:
    """Return the fields of a page without its items, and the slices of the text with the items of each part.

    Raises:
        ValueError: the text is not the JSON of a page.
        RecursionError: the JSON is nested too deeply.
    """
    scanner, fields, spans = _Scanner(text), dict[str, Any](), None
    scanner.expect("{")
    while True:
        name = scanner.text()
        scanner.expect(":")
        if name == "items":
            spans = _split_list(scanner)
        else:
            fields[name] = scanner.value()
        if not scanner.take(","):
            break
    scanner.expect("}")
    if spans is None or scanner.at < len(text):
        raise ValueError("it is not a page")
    return fields, spans


def _split_list(scanner: _Scanner) -> tuple[slice, ...]:
    scanner.expect("[")
    if scanner.take("]"):
        return (slice(0, 0),)
    spans, count, start = list[slice](), 0, scanner.at
    while True:
        scanner.value()
        count, end = count + 1, scanner.at
        has_more = scanner.take(",")
        if count % ITEMS_PER_PART == 0 or not has_more:
            spans.append(slice(start, end))
            start = scanner.at
        if not has_more:
            break
    scanner.expect("]")
    if count > MAX_PAGE:
        raise ValueError("it has too many items")
    return tuple(spans)


class _Scanner:
    """A reader of JSON, value by value."""

    def __init__(self, text: str) -> None:
        self._text, self.at = text, 0
        self._go_to(0)

    def value(self) -> Any:
        value, end = _decode(self._text, self.at)
        self._go_to(end)
        return value

    def text(self) -> str:
        """Read a string, such as the name of a field.

        Raises:
            ValueError: the next token is different.
        """
        if self._text.startswith('"', self.at):
            return self.value()
        raise ValueError(f"a text is missing at character {self.at}")

    def take(self, sign: str) -> bool:
        """Skip a punctuation character if it is next. Return whether it was skipped."""
        is_next = self._text.startswith(sign, self.at)
        if is_next:
            self._go_to(self.at + 1)
        return is_next

    def expect(self, sign: str) -> None:
        """Skip a required punctuation character.

        Raises:
            ValueError: the next token is different.
        """
        if not self.take(sign):
            raise ValueError(f"{sign} is missing at character {self.at}")

    def _go_to(self, at: int) -> None:
        match = _spaces.match(self._text, at)
        self.at = match.end() if match else at
