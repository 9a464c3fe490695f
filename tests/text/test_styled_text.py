import pytest

from presscheck.text.styled_text import Line, Span, cut, pad, plain, width

FAMILY = "\U0001f468\u200d\U0001f469\u200d\U0001f467"


def line(*texts: str) -> Line:
    return tuple(Span(text, "strong") for text in texts)


@pytest.mark.parametrize(
    ("text", "cells"),
    [("abc", 3), ("日本", 4), ("e\u0301", 1), ("😀", 2), (FAMILY, 2), ("\u2764\ufe0f", 2), ("", 0)],
)
def test_width_is_counted_in_cells(text: str, cells: int) -> None:
    assert width(line(text)) == cells


def test_a_line_that_fits_is_returned_as_it_is() -> None:
    whole = line("abc", "def")
    assert cut(whole, 6) is whole
    assert pad(whole, 6) is whole


def test_what_is_cut_ends_in_an_ellipsis_of_the_same_style() -> None:
    assert cut(line("abc", "def"), 5) == (Span("abc", "strong"), Span("d…", "strong"))
    assert cut(line("abc", "def"), 4) == (Span("abc", "strong"), Span("…", "strong"))


def test_the_link_survives_a_cut() -> None:
    assert cut((Span("abcdef", "link", "https://a.b"),), 3)[0].link == "https://a.b"


@pytest.mark.parametrize("columns", range(12))
@pytest.mark.parametrize("text", ["日本語テキスト", "a日b本c語d", FAMILY * 4, "e\u0301" * 20, "❤\ufe0f" * 8])
def test_nothing_is_ever_wider_than_asked(text: str, columns: int) -> None:
    assert width(cut(line(text, text), columns)) <= columns
    assert width(pad(line(text, text), columns)) == columns
    assert width(cut(line(text, text), columns, "...")) <= columns


def test_padding_takes_a_style() -> None:
    assert pad(line("ab"), 4, "code") == (Span("ab", "strong"), Span("  ", "code"))


def test_plain_gives_the_words() -> None:
    assert plain(line("ab", "cd")) == "abcd"
