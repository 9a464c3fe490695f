"""Compression in the format of LZ-string: known values of its JavaScript library, round trips and limits."""

import json
import random

import pytest

from presscheck.documents.lz_string import Unreadable, compressed, decompressed

KNOWN = {
    "a": "IZA",
    "aaaaaaaaaa": "IY1o",
    '{"componentId": "lamp", "props": {"n": 1}}': "N4Igxg9gtgDhB2BTeAXAkgExALgAQgBsBDWEAGnxgCcIYBnHXUeRgRgF92g",
}
KNOWN_UNICODE = {"漢字 and é, twice: 漢字 and é": "kT2nVtAECGB2AmYJcBowBcDuBLAxgUwFxiiSwJA"}


def test_known_values() -> None:
    for text, packed in KNOWN.items():
        assert compressed(text) == packed
    for text, packed in (KNOWN | KNOWN_UNICODE).items():
        assert decompressed(packed, 100) == text


def test_compression_round_trip() -> None:
    pick = random.Random(5)
    samples = ["", "a", "aaaa", "abab" * 50, json.dumps({"componentId": "lamp", "props": {}, "context": {"a": "ä€"}})]
    samples += ["".join(pick.choices('{"abcdef:,1}', k=length)) for length in (3, 17, 400, 5000)]
    for text in samples:
        assert decompressed(compressed(text), len(text)) == text
    with pytest.raises(ValueError, match="only ASCII"):
        compressed("ä")


def test_uncompressed_text_is_refused() -> None:
    for text in ("", "!", "é", "A", "AAAA", "IZ", "N4Igxg9gtgDhB2BTeAXAkgExALgAQgBs", "________"):
        with pytest.raises(Unreadable, match="not compressed"):
            decompressed(text, 100)


def test_unpacking_stops_at_the_limit() -> None:
    packed = compressed("a" * 1_000_000)
    assert len(packed) < 3000
    with pytest.raises(Unreadable, match="longer than 1000 characters"):
        decompressed(packed, 1000)
