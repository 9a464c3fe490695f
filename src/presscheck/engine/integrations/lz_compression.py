"""Compression of the requests that render a component by GET, in the format of LZ-string for URLs.

The format is LZ78 with codes that grow: 0 is followed by a new character of 8 bits, 2 ends the text, and each code from
3 on is a word that was there before. Bits are packed into characters of 6 bits, the first bit highest.
"""

from __future__ import annotations

ALPHABET = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+-$"
NEW_CHARACTER, END, FIRST_CODE = 0, 2, 3


class _Bits:
    """The bits that are written, and how many the next code has."""

    def __init__(self) -> None:
        self.bits: list[int] = []
        self.code_size = 2
        self._codes_left = 2
        """Codes until they get longer."""

    def write(self, value: int, count: int) -> None:
        self.bits += [value >> place & 1 for place in range(count)]

    def count_code(self) -> None:
        self._codes_left -= 1
        if self._codes_left == 0:
            self._codes_left = 1 << self.code_size
            self.code_size += 1


def compressed(text: str) -> str:
    """Compress an ASCII text, such as JSON with escapes, for the query of a URL.

    Raises:
        ValueError: the text has other characters.
    """
    if not text.isascii():
        raise ValueError("only ASCII can be compressed")
    bits = _Bits()
    codes: dict[str, int] = {}
    unwritten: set[str] = set()
    """Characters that have a code, and were not written themselves."""

    def write(word: str) -> None:
        if word in unwritten:
            unwritten.discard(word)
            bits.write(NEW_CHARACTER, bits.code_size)
            bits.write(ord(word), 8)
            bits.count_code()
        else:
            bits.write(codes[word], bits.code_size)
        bits.count_code()

    word = ""
    for character in text:
        if character not in codes:
            codes[character] = FIRST_CODE + len(codes)
            unwritten.add(character)
        if word + character in codes:
            word += character
        else:
            write(word)
            codes[word + character] = FIRST_CODE + len(codes)
            word = character
    if word:
        write(word)
    bits.write(END, bits.code_size)
    padded = [*bits.bits, *[0] * (6 - len(bits.bits) % 6)]  # at least one: readers look beyond the end
    return "".join(ALPHABET[int("".join(map(str, padded[start : start + 6])), 2)] for start in range(0, len(padded), 6))
