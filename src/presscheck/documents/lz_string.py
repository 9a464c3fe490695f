"""LZ-string compression for URLs, which encodes requests that render a component by GET.

The format is LZ78 with codes of growing length: 0 is followed by a new character of 8 bits, 1 by one of 16 bits, 2 ends
the text, and codes from 3 on are words that occurred before. Bits are packed into characters of 6 bits, the first bit
highest.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import islice

ALPHABET = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+-$"
NEW_CHARACTER, END, FIRST_CODE = 0, 2, 3


class _CodeSize:
    """The number of bits of the next code, which grows when all codes of the current size are used."""

    def __init__(self) -> None:
        self.bits = 2
        self._codes_left = 2

    def count_code(self) -> None:
        self._codes_left -= 1
        if self._codes_left == 0:
            self._codes_left = 1 << self.bits
            self.bits += 1


def compressed(text: str) -> str:
    """Compress an ASCII text, such as JSON with escapes, for the query of a URL.

    Raises:
        ValueError: the text has other characters.
    """
    if not text.isascii():
        raise ValueError("only ASCII can be compressed")
    bits: list[int] = []
    size = _CodeSize()
    codes: dict[str, int] = {}
    unwritten: set[str] = set()
    """Characters that have a code but were not written on their own yet."""

    def write(value: int, count: int) -> None:
        bits.extend(value >> place & 1 for place in range(count))

    def write_word(word: str) -> None:
        if word in unwritten:
            unwritten.discard(word)
            write(NEW_CHARACTER, size.bits)
            write(ord(word), 8)
            size.count_code()
        else:
            write(codes[word], size.bits)
        size.count_code()

    word = ""
    for character in text:
        if character not in codes:
            codes[character] = FIRST_CODE + len(codes)
            unwritten.add(character)
        if word + character in codes:
            word += character
        else:
            write_word(word)
            codes[word + character] = FIRST_CODE + len(codes)
            word = character
    if word:
        write_word(word)
    write(END, size.bits)
    padded = [*bits, *[0] * (6 - len(bits) % 6)]  # at least one extra bit, because readers look beyond the end
    return "".join(ALPHABET[int("".join(map(str, padded[start : start + 6])), 2)] for start in range(0, len(padded), 6))


class Unreadable(ValueError):
    """The text is not compressed, or exceeds the limit when it is decompressed."""


def decompressed(text: str, longest: int) -> str:
    """Decompress a text.

    Args:
        text: the compressed text, with the alphabet of URLs.
        longest: maximum number of characters of the result.

    Raises:
        Unreadable: the text is invalid, or the result would be longer.
    """
    read = _reader(text)
    size = _CodeSize()
    words: list[str] = ["", "", ""]
    parts: list[str] = []
    length, previous = 0, ""
    while (code := read(size.bits)) != END:
        if code < END:
            words.append(chr(read(8 if code == NEW_CHARACTER else 16)))
            code = len(words) - 1
            size.count_code()
        if code > len(words) or (code == len(words) and not previous):
            raise Unreadable("not compressed")
        word = words[code] if code < len(words) else previous + previous[0]
        parts.append(word)
        length += len(word)
        if length > longest:
            raise Unreadable(f"longer than {longest} characters")
        if previous:
            words.append(previous + word[0])
        size.count_code()
        previous = word
    # characters beyond 16 bits are stored as two surrogates
    return "".join(parts).encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")


def _reader(text: str) -> Callable[[int], int]:
    """Return a function that reads the next number of `count` bits from a text, lowest bit first.

    Raises:
        Unreadable: the text, or a number that is read, is not compressed text.
    """
    try:
        numbers = [ALPHABET.index(character) for character in text.replace(" ", "+")]
    except ValueError:
        raise Unreadable("not compressed") from None
    bits = (number >> place & 1 for number in numbers for place in range(5, -1, -1))

    def read(count: int) -> int:
        read_bits = [*islice(bits, count)]
        if len(read_bits) < count:
            raise Unreadable("not compressed")
        return sum(bit << place for place, bit in enumerate(read_bits))

    return read
