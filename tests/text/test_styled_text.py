from tests.table import each_case

from presscheck.text.styled_text import Line, Span, cut, cut_middle, join_fitting, pad, plain, split_cells, width, wrap

FAMILY = "\U0001f468\u200d\U0001f469\u200d\U0001f467"


def line(*texts: str) -> Line:
    return tuple(Span(text, "strong") for text in texts)


@each_case(
    ("text", "cells"),
    [("abc", 3), ("日本", 4), ("e\u0301", 1), ("😀", 2), (FAMILY, 2), ("\u2764\ufe0f", 2), ("", 0)],
)
def test_width_is_counted_in_cells(text: str, cells: int) -> None:
    assert width(line(text)) == cells


def test_fitting_line_is_unchanged() -> None:
    whole = line("abc", "def")
    assert cut(whole, 6) is whole
    assert pad(whole, 6) is whole


def test_cut_adds_an_ellipsis_in_the_same_style() -> None:
    assert cut(line("abc", "def"), 5) == (Span("abc", "strong"), Span("d…", "strong"))
    assert cut(line("abc", "def"), 4) == (Span("abc", "strong"), Span("…", "strong"))


def test_cut_in_the_middle_keeps_both_ends() -> None:
    assert cut_middle("ada.lovelace@acme.example", 20) == "ada.lovel…me.example"
    assert cut_middle("ada@acme.example", 16) == "ada@acme.example"


def test_cut_keeps_the_link() -> None:
    assert cut((Span("abcdef", "link", "https://a.b"),), 3)[0].link == "https://a.b"


@each_case("columns", range(12))
@each_case("text", ["日本語テキスト", "a日b本c語d", FAMILY * 4, "e\u0301" * 20, "❤\ufe0f" * 8])
def test_cut_never_exceeds_the_width(text: str, columns: int) -> None:
    assert width(cut(line(text, text), columns)) <= columns
    assert width(pad(line(text, text), columns)) == columns
    assert width(cut(line(text, text), columns, "...")) <= columns
    assert width(line(cut_middle(text, columns))) <= columns


def test_joined_emoji_are_not_split() -> None:
    assert split_cells(f"a{FAMILY}b", 3) == (f"a{FAMILY}", "b")
    assert split_cells(f"a{FAMILY}b", 2) == ("a", f"{FAMILY}b")
    assert [plain(one) for one in wrap([Span(FAMILY * 3)], 4)] == [FAMILY * 2, FAMILY]


def test_pad_takes_a_style() -> None:
    assert pad(line("ab"), 4, "code") == (Span("ab", "strong"), Span("  ", "code"))


def test_plain_returns_the_text() -> None:
    assert plain(line("ab", "cd")) == "abcd"


@each_case(
    ("text", "lines"),
    [
        ("one two", ["one two"]),
        ("one two three", ["one two", "three"]),
        ("  one   two  ", ["one two"]),
        ("one\n  two", ["one", "two"]),
        ("one\n\ntwo", ["one", "", "two"]),
        ("incomprehensible", ["incompre", "hensible"]),
        ("a 日本語テキスト", ["a 日本語", "テキスト"]),
    ],
)
def test_wrapped_lines_have_no_blanks_at_their_ends(text: str, lines: list[str]) -> None:
    assert [plain(one) for one in wrap([Span(text)], 8)] == lines


@each_case(
    ("text", "lines"),
    [
        ("  a   b", ["  a   b"]),
        ("-    one   two", ["-    one", "two"]),
        ("          one", [" " * 8, "  one"]),
        ("  one\n  two", ["  one", "  two"]),
    ],
)
def test_wrapped_source_keeps_its_blanks_except_where_a_line_is_broken(text: str, lines: list[str]) -> None:
    assert [plain(one) for one in wrap([Span(text)], 8, keeps_blanks=True)] == lines


def test_blanks_of_several_runs_are_kept() -> None:
    [line] = wrap([Span(character) for character in "  a   b"], 8, keeps_blanks=True)
    assert line == (Span("  a   b"),)


def test_wrapped_runs_keep_their_styles() -> None:
    runs = [Span("plain ", ""), Span("code", "code"), Span(" and", ""), Span(" "), Span("link", "link", "https://a.b")]
    [line] = wrap(runs, 40)
    assert line == (Span("plain "), Span("code", "code"), Span(" and "), Span("link", "link", "https://a.b"))


def test_texts_that_do_not_fit_are_counted() -> None:
    texts = ("Tokens", "Errors", "Scopes", "Sessions")
    assert join_fitting(texts, 40) == "Tokens, Errors, Scopes, Sessions"
    assert join_fitting(texts, 24) == "Tokens and 3 more"
    assert join_fitting(texts, 25) == "Tokens, Errors and 2 more"
    assert width((Span(join_fitting(("Troubleshooting", "x"), 12)),)) <= 12
    assert join_fitting((), 9) == ""
