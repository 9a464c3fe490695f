"""`prose_words`: the words of a page's prose with their positions."""

from hypothesis import given
from hypothesis import strategies as st
from tests.table import each_case

from presscheck.documents.markdown.prose_words import WordPlace, prose_words

PAGE = """# Recieve a `parsell`

The wether isn’t fine, see [teh page](somewher/pag.md) and https://exmple.org/foo.

```python
wrogn code
```
**Boldd** and _emphasiss_ words, wether or not. {% hint style="inffo" %} <b title="attribut">
"""


def test_words_have_their_places() -> None:
    words = prose_words(PAGE)
    lines = PAGE.split("\n")
    assert words["wether"] == [WordPlace(2, 4), WordPlace(7, 33)]
    for word, places in words.items():
        for line, column in places:
            assert lines[line][column:].startswith(word)
    expected = "Recieve The wether isn’t fine see teh page and Boldd emphasiss words or not"
    assert list(words) == expected.split()


@each_case(
    "text",
    [
        "snake_case", "camelCase", "API", "file.md", "x", "30days", "a1b", "/usr/lib/thing", "you@exmple.org",
        "$$tokn$$", "`tokn`", "<!-- tokn -->", "&nbspp;", "C:\\Tokn", "www.exmple.org",
        '<img src="tokn.png" alt="tokn">', "![](tokn.png)", "{% tokn %}", "~~~\ntokn\n~~~",
    ],
)  # fmt: skip
def test_other_text_than_prose_has_no_words(text: str) -> None:
    assert prose_words(text) == {}


@given(st.text(alphabet="ab '’_`*[]()<>{%}\n.-/1", max_size=200))
def test_positions_contain_their_words(text: str) -> None:
    lines = text.split("\n")
    for word, places in prose_words(text).items():
        assert all(lines[line][column : column + len(word)] == word for line, column in places)
