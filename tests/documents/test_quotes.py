"""Quotes of comments, and the search for the quoted lines in a page."""

from presscheck.documents.pages.comment_text import (
    MAX_QUOTE,
    deleted_words,
    find_quoted_line,
    find_quoted_range,
    quote,
    quote_cell,
    quote_deleted,
    quote_range,
    range_start,
    split_quote,
    strip_markup,
)

BLOCKS = [(3, "# Tokens"), (7, 'See [a token](https://x.example/a "t") **belongs** to one.'), (9, "It belongs to one.")]


def test_quote_finds_its_source() -> None:
    assert find_quoted_line(quote("It belongs to one."), BLOCKS) == 9
    assert find_quoted_line("See a token belongs", BLOCKS) == 7
    assert find_quoted_line("belongs to one", BLOCKS) == 7
    assert find_quoted_line("nowhere at all", BLOCKS) is None


def test_quote_without_words_finds_nothing() -> None:
    assert quote(" *** ") == ""
    assert find_quoted_line("", BLOCKS) is None
    assert find_quoted_line("a", BLOCKS) is None


def test_long_quote_is_cut_between_words() -> None:
    long = quote("word " * 40)
    assert long.endswith("word …\n\n")
    assert len(long) < MAX_QUOTE + 8
    assert quote("漢" * 80).startswith("> " + "漢" * MAX_QUOTE)
    assert find_quoted_line(quote("漢" * 80), [(0, "漢" * 80)]) == 0


def test_quote_of_a_multi_line_paragraph() -> None:
    lines = ["A token belongs to", "one project, and to", "nobody else."]
    assert find_quoted_line("A token belongs to one project", enumerate(lines)) == 0
    headed = ["# A token belongs", "", *lines]
    assert find_quoted_line("A token belongs to one project", enumerate(headed)) == 2, "not its heading"
    assert find_quoted_line("A token", enumerate(headed)) == 0


def test_cell_quote_has_the_start_of_its_row() -> None:
    rows = [
        (1, "A token lasts 90 days."),
        (2, "| Kind | Lasts |"),
        (3, "| Keys | 90 days |"),
        (4, "| **Tokens** | 90 days |"),
    ]
    assert split_quote(quote_cell(["**Tokens**", "90 days"], 1)) == ("**Tokens** › 90 days", "")
    assert find_quoted_line("**Tokens** › 90 days", rows) == 4
    assert find_quoted_line("Keys ›", rows) == 3
    assert find_quoted_line("Tokens › 30 days", rows) is None
    rows += [(5, "| | **90 days** | never |"), (6, "| ✓ | 9 | 90 days |")]
    assert split_quote(quote_cell(["", "90 days"], 1)) == ("› 90 days", "")
    assert find_quoted_line("› 90 days", rows) == 5, "a row with a title is another one"
    assert find_quoted_line("› never", rows) == 5
    assert find_quoted_line("›", rows) is None
    assert quote_cell(["", "✓"], 1) == quote_cell(["✓", "90 days"], 0) == "", "there are no words to find again"


def test_quote_of_a_deleted_text_is_struck() -> None:
    words = split_quote(quote_deleted("A **token** lasts"))[0]
    assert words == "~~A **token** lasts~~"
    assert deleted_words(words) == "A **token** lasts"
    assert deleted_words(split_quote(quote("A token lasts"))[0]) == ""
    assert deleted_words("~~~~") == ""
    assert quote_deleted("---") == ""
    long = split_quote(quote_deleted("word " * 30))[0]
    assert find_quoted_line(deleted_words(long), [(3, "word " * 30)]) == 3


def test_quote_of_several_lines_is_found_at_its_last_line() -> None:
    lines = [
        "Ask before you make more.",
        "",
        "A token lasts a day.",
        "",
        "A key stays.",
        "",
        "Ask before you make more.",
    ]
    about = split_quote(quote_range(lines[2], lines[6]))[0]
    assert about == "A token lasts a day. … Ask before you make more."
    assert find_quoted_line(about, enumerate(lines)) == 6
    assert find_quoted_range(about, [*enumerate(lines)]) == (2, 6)
    assert range_start(about) == "A token lasts a day."
    assert find_quoted_line(about, enumerate(lines[:6])) is None, "its last line is gone"
    assert find_quoted_range(about, [*enumerate(lines[4:])]) is None, "its first line is gone"


def test_range_quotes_shorten_long_lines_and_need_words() -> None:
    about = split_quote(quote_range("word " * 40, "other " * 40))[0]
    assert about == "word word word word word word … other other other other other …"
    assert find_quoted_line(about, [(0, "word " * 40), (1, "other " * 40)]) == 1
    assert quote_range("***", "words") == quote_range("words", "***") == ""


def test_line_with_an_ellipsis_is_not_a_range() -> None:
    lines = [(0, "Wait … then go on"), (1, "then go home")]
    assert find_quoted_line("Wait … then go", lines) == 0
    paragraph = [(0, "Wait a moment … then"), (1, "go on and on")]
    assert find_quoted_line("Wait a moment … then go on and", paragraph) == 0, "a paragraph of several lines"


def test_markup_is_not_part_of_a_quote() -> None:
    assert strip_markup("## A title") == "A title"
    assert strip_markup("- an item") == "an item"
    assert strip_markup("| a | b |") == "a | b"
    assert strip_markup('<td align="left"><b>a</b> b</td>') == "a b"
    assert strip_markup("a List<String> in code") == "a List<String> in code"
