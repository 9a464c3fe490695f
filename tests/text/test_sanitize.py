import random
import re
import time
from collections.abc import Callable, Iterator

import pyte
import pytest
from rich.cells import cell_len
from tests.hostile_strings import ACTS, HOSTILE
from tests.table import each_case

from presscheck.text.sanitize import (
    COLORED,
    JOINER,
    LINK_SCHEMES,
    NON_JOINER,
    display_url,
    is_safe_link,
    is_safe_url,
    readable,
    sanitize,
    show_joiners,
)

KEPT = [
    "plain words, 100 % of them",
    "Überblick — “quoted” … • ✓ ✗ ◷",
    "Привет, κόσμε",
    "日本語のテキスト、한국어",
    "हिन्दी में पाठ",
    "ภาษาไทย",
    "עברית العربية",
    "cafe\u0301",
    "می\u200cخواهم بنویسم، خانه\u200cها",
    "श्री क्\u200cष",
    "emoji 😀 🚀 ⚠",
    "[red]not markup[/red] [@click=app.quit]",
]


def test_corpus_is_large_and_has_no_duplicates() -> None:
    assert len(set(HOSTILE)) == len(HOSTILE) >= 300


def broken(holds: Callable[[str], bool]) -> list[str]:
    return [ascii(text) for text in HOSTILE if not holds(text)]


def test_output_has_no_control_characters() -> None:
    assert not broken(lambda text: not ACTS.search(sanitize(text, lines=True)))
    assert not broken(lambda text: "\n" not in sanitize(text))


def test_readable_text_keeps_its_tabs_and_lines() -> None:
    assert readable("one\ttwo\r\n\tthree \x1b[31mred") == f"one\ttwo\n\tthree {sanitize(chr(27) + '[31mred')}"
    assert not broken(lambda text: not ACTS.search(readable(text).replace("\t", "")))


def test_slices_of_the_output_are_safe() -> None:
    assert not broken(lambda text: not any(ACTS.search(sanitize(text[cut:])) for cut in range(min(len(text), 40))))


def test_sanitizing_is_idempotent() -> None:
    assert not broken(lambda text: sanitize(sanitize(text)) == sanitize(text))
    once = [sanitize(text, lines=True) for text in HOSTILE]
    assert [sanitize(text, lines=True) for text in once] == once


def test_terminal_keeps_columns_title_and_modes() -> None:
    def is_calm(text: str) -> bool:
        shown = sanitize(text)
        screen = pyte.Screen(cell_len(shown) + 10, 3)
        modes = set(screen.mode)
        stream = pyte.Stream(screen)
        # one at a time: pyte drops the text after a mark that has no combining class
        for character in shown:
            stream.feed(character)
        return (screen.title, screen.mode, screen.cursor.y, screen.cursor.x) == ("", modes, 0, cell_len(shown))

    assert not broken(is_calm)


def test_output_is_valid_utf8() -> None:
    assert "\n".join(sanitize(text, lines=True) for text in HOSTILE).encode()


def test_readable_text_is_not_hidden() -> None:
    def letters(text: str) -> list[str]:
        return [c for c in text if c.isascii() and c.isprintable() and c != " "]

    flags = re.compile("[\U0001f1e6-\U0001f1ff]")
    assert not broken(lambda text: letters(sanitize(text)) == letters(text) or bool(flags.search(text)))


def test_display_url_is_printable_and_safe() -> None:
    assert not broken(lambda text: not ACTS.search(display_url(text)) and " " not in display_url(text))
    assert [display_url(text) for text in HOSTILE if is_safe_url(text)] == [
        "https://xn--80ak6aa92e.com/login",
        "https://google.com.evil.example",
        "https://google.com@evil.example/",
    ]


@each_case("text", KEPT)
def test_ordinary_text_is_unchanged(text: str) -> None:
    assert sanitize(text) == text
    assert sanitize(text + "\n" + text, lines=True) == text + "\n" + text


@each_case(
    ("text", "shown"),
    [
        ("\x1b[31mred", "␛[31mred"),
        ("a\x07b\x00c\x7fd", "a␇b␀c␡d"),
        ("\x9b31m", "�31m"),
        ("a\tb", "a   b"),
        ("a\r\nb\nc", "a b c"),
        ("safe\rowned", "safe␍owned"),
        ("user\u202enimda", "usernimda"),
        ("\u0301x", "◌\u0301x"),
        ("a \u0301x", "a ◌\u0301x"),
        ("z" + "\u0301" * 9, "z" + "\u0301" * 4),
        ("👩\u200d💻", "👩💻"),
        ("👍🏽", "👍"),
        ("❤\ufe0f", "❤"),
        ("🇩🇪", "DE"),
        ("a\xa0b\u3000c", "a b  c"),
        ("pay\u200bpal", "paypal"),
        ("\udcff", "�"),
    ],
)
def test_replacements(text: str, shown: str) -> None:
    assert sanitize(text) == shown


def test_line_breaks_are_kept_if_lines_are_allowed() -> None:
    assert sanitize("a\r\nb\x0bc\u2028d", lines=True) == "a\nb\nc\nd"
    assert sanitize("a\n\u0301b", lines=True) == "a\n◌\u0301b"


@each_case("unit", ["\x1bP", "e\u0301", "\u200d😀", "日本"])
def test_long_hostile_text_takes_linear_time(unit: str) -> None:
    small, large = (unit * (n // len(unit)) for n in (1000, 50_000))
    sanitize(small)
    began = time.thread_time()
    sanitize(large)
    assert time.thread_time() - began < 1


@each_case(
    ("url", "shown"),
    [
        ("https://docs.example/a?b=c#d", "https://docs.example/a?b=c#d"),
        ("https://\u0430\u0440\u0440\u04cf\u0435.com/x", "https://xn--80ak6aa92e.com/x"),
        ("https://me@b\u00fccher.example:8080/b\u00fccher", "https://me@xn--bcher-kva.example:8080/bücher"),
        ("https://b\u00fccher\u3002example", "https://xn--bcher-kva.example"),
        ("mailto:ada@b\u00fccher.example", "mailto:ada@xn--bcher-kva.example"),
        ("https://a.example/x\u202ey z", "https://a.example/x%E2%80%AEy%20z"),
        ("guide/тест.md", "guide/тест.md"),
        ("https://a.example/\udcff", "https://a.example/%3F"),
    ],
)
def test_display_url_shows_the_real_host(url: str, shown: str) -> None:
    assert display_url(url) == shown


@each_case(
    "url",
    [
        *("https://a.example", "HTTP://a.example/ü?q=1#x", "http://[::1]:80/"),
        *("mailto:ada@a.example?subject=x", "mailto:a@b.example?subject=%252541"),
    ],
)
def test_web_and_mail_are_safe(url: str) -> None:
    assert is_safe_url(url)


@each_case(
    "url",
    [
        *(
            "",
            "#top",
            "guide.md",
            "/etc/passwd",
            "//a.example",
            "javascript:alert(1)",
            "file:///etc/passwd",
            "ftp://a.b/",
        ),
        *("https://", "https:a.example", "https://a.example/\n", "https://a b.example", "https://good\\@evil.example"),
        *(
            "https://a.example:99999",
            "http://[::1",
            "mailto:",
            "mailto:a@b.example?attach=/etc/passwd",
            *(
                f"mailto:a@b.example{hidden}"
                for hidden in (
                    "?att%61ch=x",
                    "?%61%74%74%61%63%68=x",
                    "?at%2574ach=x",
                    "?att%25%36%31ch=x",
                    "?a=%26attachment=x",
                    "%3Fattach=x",
                    "?subject=x&ATT%41CH=x",
                    "#att%61ch=x",
                    "?at%25252574ach=x",
                    "?subject=%25252541",
                    "?%EF%BB%BFatt%61ch=x",
                    "?att%E2%80%8Bach=x",
                )
            ),
            " https://a.b",
        ),
        *("https://a\u200b.example", "https://a.example/\u202e", "-https://a.example", "data:text/html,x", "ssh://a"),
    ],
)
def test_other_schemes_are_not_safe(url: str) -> None:
    assert not is_safe_url(url)
    assert not is_safe_link(url) or url == "ftp://a.b/"


@each_case("scheme", sorted(LINK_SCHEMES - {"http", "https", "mailto"}))
def test_links_to_other_programs_are_safe_links_but_not_safe_urls(scheme: str) -> None:
    assert is_safe_link(f"{scheme}:+15550100")
    assert not is_safe_link(f"{scheme}:")
    assert not is_safe_link(f"{scheme}:a\u202eb")
    assert not is_safe_url(f"{scheme}:+15550100")


@each_case(
    ("first", "last"),
    [
        *((code, code) for code in (0x034F, 0x115F, 0x1160, 0x17B4, 0x17B5, 0x2065, 0x3164, 0xFFA0)),
        *((0x180B, 0x180F), (0xFE00, 0xFE0F), (0x1F3FB, 0x1F3FF), (0xFFF0, 0xFFF8), (0xE0000, 0xE0FFF)),
    ],
)
def test_invisible_characters_are_dropped(first: int, last: int) -> None:
    assert [sanitize(f"a{chr(code)}b") for code in (first, last)] == ["ab", "ab"]


@each_case(
    "code",
    [
        0x034E,
        0x0350,
        0x115E,
        0x2066 + 0x10,
        0x180A,
        0x1810,
        0xFDFF,
        0xFE10,
        0x1F3FA,
        0x1F400,
        0x1F1E5,
        0x1F200,
        0xFDCF,
        0xFDF0,
    ],
)
def test_neighbors_of_dropped_characters_are_kept(code: int) -> None:
    assert sanitize(f"a{chr(code)}b") == f"a{chr(code)}b"


@each_case(
    ("code", "shown"),
    [
        *((code, chr(0x2400 + code)) for code in (0, 1, 8, 14, 26, 27, 31)),
        *((code, "�") for code in (0x80, 0x9F, 0xD800, 0xDFFF, 0xE000, 0xF8FF, 0xFDD0, 0xFDEF)),
        *((code, "�") for code in (0xFFFE, 0xFFFF, 0x1FFFE, 0x1FFFF, 0x10FFFE, 0x10FFFF)),
        *((0x1F1E6 + number, letter) for number, letter in ((0, "A"), (1, "B"), (25, "Z"))),
        *((code, "") for code in (0xAD, 0x200B, 0x200E, 0x2066, 0xFEFF, 0xE0041)),
        *((code, " ") for code in (0xA0, 0x1680, 0x2002, 0x202F, 0x2800)),
        *((0x20, " "), (0x7E, "~"), (0x7F, "␡"), (0x3000, "  "), (0xFFFD, "�"), (0x10FFFD, "�")),
    ],
)
def test_each_kind_of_character(code: int, shown: str) -> None:
    assert sanitize(f"a{chr(code)}b") == f"a{shown}b"


def test_marks_are_limited_for_each_letter() -> None:
    mark = "\u0301"
    assert sanitize(f"a{mark * 5}b{mark * 3}") == f"a{mark * 4}b{mark * 3}"
    assert sanitize(f" {mark * 5}x{mark}") == f" ◌{mark * 4}x{mark}"
    assert sanitize(f"{mark * 6}x") == f"◌{mark * 4}x"
    assert sanitize(f"\t{mark}") == f"    ◌{mark}"
    assert sanitize("ab\tc\td") == "ab  c   d"
    assert sanitize("a\tb\n\tc", lines=True) == "a   b\n    c"


@pytest.fixture(name="joining_terminal")
def fixture_joining_terminal() -> Iterator[None]:
    show_joiners(NON_JOINER + JOINER + COLORED)
    yield
    show_joiners(NON_JOINER)


@pytest.mark.usefixtures("joining_terminal")
@each_case(
    "text",
    [
        *("👩\u200d👩\u200d👧\u200d👦", "👩\u200d💻", "🧑\u200d🤝\u200d🧑", "👨\u200d❤\u200d💋\u200d👨", "🤷\u200d♀"),
        *("🐕\u200d🦺", "🏴\u200d☠", "two 👩\u200d🚀👩\u200d🚀 of them"),
    ],
)
def test_joined_emoji_are_kept_if_the_terminal_joins_them(text: str) -> None:
    show_joiners(NON_JOINER + JOINER + COLORED)
    assert sanitize(text) == text
    assert cell_len(sanitize(text)) == cell_len(text.replace("\u200d🚀", "").split("\u200d")[0])
    show_joiners(NON_JOINER)
    assert sanitize(text) == text.replace("\u200d", "")


@pytest.mark.usefixtures("joining_terminal")
@each_case(
    ("text", "shown"),
    [
        ("👩🏽\u200d💻", "👩\u200d💻"),
        ("👩\u200d👦\u200d", "👩\u200d👦"),
        ("❤\u200d🔥", "❤🔥"),
        ("❤\ufe0f\u200d❌", "❤❌"),
        ("❤\ufe0f 🔥", "❤ 🔥"),
        ("👩\ufe0f\u200d💻", "👩\u200d💻"),
        ("👨\u200d❤\ufe0f\u200d👨", "👨\u200d❤\u200d👨"),
        ("✅\u200d❌", "✅❌"),
        ("👩\u200d💻\u200d❌", "👩\u200d💻❌"),
        ("👩\u200d\u200d💻", "👩💻"),
        ("👩\u200c\u200d💻", "👩💻"),
        ("👩" + "\u200d👦" * 9, "👩" + "\u200d👦" * 3 + "👦" * 6),
        ("pay\u200dpal", "paypal"),
        ("क\u094d\u200dয", "क\u094dয"),
        ("क\u094d\u200dx", "क\u094dx"),
        ("क\u094d\u200d", "क\u094d"),
        ("क\u200dष", "कष"),
        ("\u200d😀", "😀"),
        ("\u200d" * 100 + "x", "x"),
    ],
)
def test_joiners_elsewhere_are_dropped(text: str, shown: str) -> None:
    assert sanitize(text) == shown


CONJUNCTS = [
    ("ශ\u0dca\u200dර\u0dd3", 2),
    ("ක\u0dca\u200dෂ\u0dca\u200dය", 3),
    ("ක\u200d\u0dcaෂ", 2),
    ("क\u094d\u200dष", 2),
    ("র\u200d\u09cdয", 2),
    ("ರ\u200d\u0ccdಕ", 2),
    ("അവന\u0d4d\u200d", 3),
    ("അവന\u0d4d\u200d x", 5),
]


@pytest.mark.usefixtures("joining_terminal")
@each_case(("text", "cells"), CONJUNCTS)
def test_joiners_between_letters_are_kept_and_each_letter_has_a_cell(text: str, cells: int) -> None:
    show_joiners(NON_JOINER + JOINER + COLORED)
    shown = sanitize(text)
    assert shown == text.replace(JOINER, 2 * JOINER)
    assert sanitize(shown) == shown
    assert cell_len(shown) == cells == cell_len(text.replace(JOINER, ""))
    show_joiners(NON_JOINER)
    assert sanitize(text) == text.replace(JOINER, "")


@pytest.mark.usefixtures("joining_terminal")
@each_case("text", ["❤\ufe0f\u200d🔥", "🏳\ufe0f\u200d🌈", "🕵\ufe0f\u200d♂", "⛓\ufe0f\u200d💥", "👁\ufe0f\u200d🗨"])
def test_sequences_with_a_narrow_first_emoji_keep_their_selector(text: str) -> None:
    show_joiners(NON_JOINER + JOINER + COLORED)
    assert sanitize(f"a{text}\ufe0fb") == f"a{text}b"
    assert cell_len(sanitize(text)) == 2
    show_joiners(NON_JOINER + JOINER)
    assert sanitize(text) == text[0] + text[-1]


@each_case(
    ("text", "shown"),
    [
        ("pay\u200cpal", "paypal"),
        ("می\u200c", "می"),
        ("می\u200cx", "میx"),
        ("\u200cمی", "می"),
        ("آ\u200cن", "آن"),
        ("می\u200c\u200cخ", "میخ"),
        ("\u0628\u064e\u200c\u0647", "\u0628\u064e\u200c\u0647"),
        ("क्\u200cx", "क्x"),
        ("क्\u200cয", "क्য"),
        ("क\u200cष", "कष"),
        ("क्\u200c\u093e", "क्\u093e"),
        ("일\u200c본", "일본"),
    ],
)
def test_non_joiners_are_kept_only_where_they_change_letters(text: str, shown: str) -> None:
    assert sanitize(text) == shown


def test_non_joiners_are_dropped_if_the_terminal_gives_them_a_cell() -> None:
    show_joiners("")
    try:
        assert sanitize("می\u200cخواهم") == "میخواهم"
    finally:
        show_joiners(NON_JOINER)


@pytest.mark.usefixtures("joining_terminal")
def test_sanitizing_is_idempotent_with_joined_emoji() -> None:
    assert not broken(lambda text: sanitize(sanitize(text)) == sanitize(text))
    words = ["👩", "💻", "👦", "❤", JOINER, NON_JOINER, "ب", "ا", "क", "\u094d", "x", " ", "\u0301", "\ufe0f"]
    chance = random.Random(1)
    texts = ["".join(chance.choices(words, k=9)) for _ in range(5000)]
    assert [sanitize(sanitize(text)) for text in texts] == [sanitize(text) for text in texts]
