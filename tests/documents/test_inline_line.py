"""Inline Markdown rendered in one line."""

from tests.table import each_case

from presscheck.documents.terminal.inline_line import inline_line
from presscheck.text.styled_text import Span, plain


@each_case(
    ("markdown", "shown"),
    [
        ("plain words, issue # 4 #", "plain words, issue # 4 #"),
        ("**bold**, _slanted_ and ~~gone~~", "bold, slanted and gone"),
        ("see [the page](https://example.com) and `code`", "see the page and code"),
        ("# no heading, *but* words #", "# no heading, but words #"),
        ("- no `list`", "- no list"),
        ("```python x = 1", "```python x = 1"),
        ("```python x = 1```", "python x = 1"),
        ("--- **", "--- **"),
        ("a \x1b[31m*b*", "a ␛[31mb"),
    ],
)
def test_inline_markup_is_rendered_and_block_markup_stays(markdown: str, shown: str) -> None:
    assert plain(inline_line(markdown)) == shown


def test_rendered_words_have_styles_but_no_links() -> None:
    assert inline_line("**a** [b](https://example.com)") == (Span("a", "strong"), Span(" "), Span("b", "link"))
