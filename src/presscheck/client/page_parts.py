"""A page of a listing, taken apart: its fields, and its items in parts that are parsed one at a time.

As a whole, the models and the JSON of 1,000 items take ten times as much memory as their text, which the process keeps
from then on, and other threads stand still while they are parsed.
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
    """A page that was checked.

    Attributes:
        cursor: that of the next page; None on the last one.
        total: the number of items of the whole listing, if the service tells it.
    """

    cursor: str | None
    total: int | None
    _text: str
    _spans: tuple[slice, ...]
    """Where the items of each part are in the text; one empty part if there are none."""

    @property
    def parts(self) -> int:
        """The number of parts, at least 1."""
        return len(self._spans)

    def items(self, part: int) -> list[Any]:
        """The items of a part, by its number, as JSON values."""
        return json.loads(f"[{self._text[self._spans[part]]}]")


def read_page_in_parts(call: Operation[Page[Any]], body: bytes) -> PageParts:
    """Check the response to a listing.

    Raises:
        MalformedAnswer: it is not a page of this listing.
    """
    try:
        text = body.decode()
        fields, spans = _split_page(text)
        for span in spans:
            call.read_answer(f'{{"items":[{text[span]}]}}'.encode())
        page = call.read_answer(json.dumps(fields | {"items": []}).encode())
        return PageParts(page.next.page if page.next else None, page.total, text, spans)
    except (ValueError, RecursionError) as error:
        read_answer(call, body)  # says where in the whole page the mistake is
        read_json(call, body)
        raise unusable(call, str(error)) from None


def _split_page(text: str) -> tuple[dict[str, Any], tuple[slice, ...]]:
    """The fields of a page except its items, and where each part of these is; one empty part if there are none.

    Raises:
        ValueError: it is not the JSON of a page.
        RecursionError: it is nested too deeply.
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
    """Reads JSON from a position on, value by value."""

    def __init__(self, text: str) -> None:
        self._text, self.at = text, 0
        self._go_to(0)

    def value(self) -> Any:
        """Read a value."""
        value, end = _decode(self._text, self.at)
        self._go_to(end)
        return value

    def text(self) -> str:
        """Read a text, such as the name of a field.

        Raises:
            ValueError: something else is next.
        """
        if self._text.startswith('"', self.at):
            return self.value()
        raise ValueError(f"a text is missing at character {self.at}")

    def take(self, sign: str) -> bool:
        """Read a sign if it is the next one; whether it is."""
        is_next = self._text.startswith(sign, self.at)
        if is_next:
            self._go_to(self.at + 1)
        return is_next

    def expect(self, sign: str) -> None:
        """Read a sign.

        Raises:
            ValueError: something else is next.
        """
        if not self.take(sign):
            raise ValueError(f"{sign} is missing at character {self.at}")

    def _go_to(self, at: int) -> None:
        found = _spaces.match(self._text, at)
        self.at = found.end() if found else at
