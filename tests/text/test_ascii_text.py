"""Texts in ASCII, for terminals without UTF-8."""

from __future__ import annotations

from rich.cells import cell_len
from tests.hostile_strings import HOSTILE
from tests.table import each_case

from presscheck.config.profile import has_utf8
from presscheck.text.ascii_text import SIGNS, ascii_cells, ascii_words
from presscheck.text.sanitize import sanitize
from presscheck.tui.ui import signs


@each_case(
    ("environment", "expected"),
    [
        ({"LANG": "de_DE.UTF-8"}, True),
        ({"LANG": "en_US.utf8"}, True),
        ({"LANG": "C", "LC_CTYPE": "C.UTF-8"}, False),  # Python sets LC_CTYPE in the C locale (PEP 538)
        ({"LC_CTYPE": "C.UTF-8"}, True),
        ({"LANG": "POSIX"}, False),
        ({"LC_ALL": "C", "LANG": "en_US.UTF-8"}, False),
        ({"LANG": "C", "LC_CTYPE": "en_US.UTF-8"}, True),
        ({"LANG": "de_DE.ISO-8859-1"}, False),
        ({}, True),
    ],
)
def test_utf8_is_detected_from_the_locale(environment: dict[str, str], expected: bool) -> None:
    assert has_utf8(environment) is expected


def test_each_sign_has_a_distinct_ascii_character() -> None:
    assert {sign for sign in signs.SIGNS if not sign.isascii()} == SIGNS.keys()
    shown = [*SIGNS.values(), *(sign for sign in signs.SIGNS if sign.isascii())]
    assert len({*shown}) == len(shown)
    assert "".join(shown).isascii()


@each_case(
    ("text", "expected"),
    [
        ("Jón", "Jon"),
        ("田中 ok", "???? ok"),
        ("Settings › Tokens …", "Settings > Tokens ."),
        ("👍🏽!", "??!"),
        ("e\u0301", "e"),
        ("✓ Ada", "Y Ada"),
    ],
)
def test_ascii_cells_keep_the_width(text: str, expected: str) -> None:
    assert ascii_cells(text) == expected
    assert len(expected) == cell_len(text)


def test_superscripts_fractions_and_ligatures_become_question_marks() -> None:
    assert ascii_cells("10² m, ½ l, 3 €, ﬁn™ Ångström") == "10? m, ? l, 3 ?, ?n? Angstrom"


def test_ascii_cells_keep_the_width_of_hostile_text() -> None:
    for text in map(sanitize, HOSTILE):
        shown = ascii_cells(text)
        assert shown.isascii(), text
        assert len(shown) == cell_len(text), text


def test_ascii_words_escape_letters() -> None:
    assert ascii_words("“Jón” → …") == r'"J\xf3n" -> ...'
