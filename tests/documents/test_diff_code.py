"""Code in diffs: syntax highlighting together with the marks of changes."""

from __future__ import annotations

from random import Random

import pytest
from tests.documents.diff_rows import drawn, page, told

from presscheck.documents.diff import painter
from presscheck.documents.diff.page_diff import Mode
from presscheck.documents.diff.painter import MAX_HIGHLIGHTED
from presscheck.text.styled_text import Line, plain, width
from presscheck.tui.theme import load

BEFORE = '''\
def read(name: str, limit: int = 30) -> str:
    """Read it.

    None of it is kept.
    """
    token = ask("workspace", 12)  # and return
    return token
'''


def fenced(code: str, language: str = "python") -> str:
    return f"Text.\n\n```{language}\n{code.rstrip()}\n```\n\nEnd."


def lines(before: str, after: str, language: str = "python", columns: int = 60, mode: Mode = "prose") -> list[Line]:
    """Return the diff lines of the code, without the lines around it."""
    shown = drawn(fenced(before, language), fenced(after, language), columns, mode=mode, context=None).lines
    return [line for line in shown if any("code" in span.style.split() for span in line)]


def style_of(found: list[Line], word: str, mark: str = "", side: int = 0) -> set[str]:
    """Return the words of a word's style, in the first line that contains it after the mark."""
    line = next(line for line in found if word in plain(line) and plain(line).startswith(mark))
    spans = [span for span in line if word in span.text]
    return {*spans[side].style.split()}


class TestColours:
    def test_unchanged_lines_are_highlighted_as_in_a_page(self) -> None:
        found = lines(BEFORE, BEFORE.replace("30", "60"))
        assert style_of(found, "return", "      return") == {"code", "keyword"}
        assert style_of(found, '"workspace"') == {"code", "string"}
        assert style_of(found, "# and return") == {"code", "comment"}
        assert style_of(found, "12") == {"code", "number"}

    def test_multi_line_string_is_highlighted_on_each_line(self) -> None:
        found = lines(BEFORE, BEFORE.replace("30", "60"))
        for words in ("Read it.", "None of it is kept."):
            assert style_of(found, words) == {"code", "string"}, words
        after_it = next(line for line in found if "token =" in plain(line))
        assert {span.style for span in found[found.index(after_it) - 1] if '"""' in span.text} == {"code string"}

    def test_changed_word_is_marked_and_highlighted(self) -> None:
        found = lines(BEFORE, BEFORE.replace("30", "60"))
        assert [told(line) for line in found[1:3]] == [
            "− def read(name: str, limit: int = [-30-]) -> str:",
            "+ def read(name: str, limit: int = {+60+}) -> str:",
        ]
        for mark, gone in (("−", "30"), ("+", "60")):
            assert style_of(found, "def", mark) == {"code", "keyword"}
            assert "number" not in style_of(found, gone, mark)

    def test_added_line_is_marked_and_keeps_its_keywords(self) -> None:
        line = '    for one in range(3): print("again")  # and again\n'
        found = lines(BEFORE, BEFORE.replace("    return", f"{line}    return"))
        assert style_of(found, "for", "+") == {"code", "added", "keyword"}
        for words in ("range", '"again"', "# and again"):
            assert style_of(found, words, "+") == {"code", "added"}, words
        gone = lines(BEFORE.replace("    return", f"{line}    return"), BEFORE)
        assert style_of(gone, "for", "−") == {"code", "removed", "keyword"}
        assert style_of(gone, '"again"', "−") == {"code", "removed"}

    def test_new_page_is_highlighted_and_removed_page_is_not(self) -> None:
        came, went = drawn("", fenced(BEFORE)).lines, drawn(fenced(BEFORE), "").lines
        assert style_of(list(came), "def") == {"code", "keyword"}
        assert {word for line in went for span in line[1:] for word in span.style.split()} <= {"code", "quiet"}

    def test_recoloured_code_is_not_marked_as_changed(self) -> None:
        found = page(fenced("a = f(b) + 1\nc = 2"), fenced('a = "f(b) + 1\nc = 2'))
        assert '+ a = {+"+}f(b) + 1' in found
        assert "  c = 2" in found

    def test_each_side_has_its_own_colours(self) -> None:
        before, after = "x = 1\nreturn x\n", "/*\nx = 1\nreturn x\n*/\n"
        found = lines(before, after, "js", 80, mode="split")
        assert style_of(found, "return") == {"code", "keyword"}
        assert style_of(found, "return", side=1) == {"code", "comment"}

    def test_wide_characters_keep_their_columns(self) -> None:
        before, after = 'name = "日本語のテキスト" # 説明を読む\n' * 3, 'name = "中国語のテキスト" # 説明を読む\n' * 3
        for mode in ("prose", "split"):
            for columns in (17, 30, 61):
                shown = drawn(fenced(before), fenced(after), columns, mode=mode).lines
                assert all(width(line) <= columns for line in shown)
        joined = "".join(plain(line)[2:].rstrip() for line in lines(before, after, columns=17) if line[0].text == "+ ")
        assert joined.replace(" ", "") == after.replace(" ", "").replace("\n", "")

    def test_code_in_diff_language_is_not_highlighted(self) -> None:
        found = lines("+ came\n- went\nx", "+ came\n- went\ny", "diff")
        assert style_of(found, "+ came", "  +") == style_of(found, "- went", "  -") == {"code"}

    def test_code_in_a_list_in_a_quote_and_without_a_fence(self) -> None:
        before = "- One.\n\n  ```js\n  return 1\n  ```\n\n> ```js\n> return 2\n> ```\n\nText.\n\n    return 3\n\nOld."
        found = list(drawn(before, before.replace("Old", "New"), context=None).lines)
        assert style_of(found, "return", "    return 1") == {"code", "keyword"}
        assert style_of(found, "return", "  │ return 2") == {"code", "keyword"}
        assert style_of(found, "return 3") == {"code"}

    def test_code_beyond_the_limit_is_not_highlighted(self) -> None:
        much = "return 1\n" * (MAX_HIGHLIGHTED // 9 + 1)
        assert style_of(lines(much, f"{much}x"), "return") == {"code"}


def generated(random: Random) -> str:
    """Random lines that need not be valid code."""
    parts = (
        "return",
        "if",
        "name",
        "12",
        '"',
        "'",
        '"""',
        "/*",
        "*/",
        "// ",
        "# ",
        "<!--",
        "`",
        "日本",
        "\t",
        " ",
        "\x1b[1m",
    )
    return "\n".join("".join(random.choices(parts, k=random.randint(0, 12))) for _ in range(9))


@pytest.mark.slow
@pytest.mark.parametrize("mode", ["prose", "split"])
def test_highlighting_keeps_the_text(mode: Mode, monkeypatch: pytest.MonkeyPatch) -> None:
    random = Random(6)
    for language in ("python", "js", "html", "sql", "json", "diff"):
        before = generated(random)
        after = "\n".join(line if random.random() < 0.7 else line + " and" for line in before.split("\n"))
        shown = {}
        for most in (MAX_HIGHLIGHTED, 0):
            monkeypatch.setattr(painter, "MAX_HIGHLIGHTED", most)
            found = drawn(fenced(before, language), fenced(after, language), 61, mode=mode, context=None)
            shown[most] = [told(line) for line in found.lines], found.changes, found.anchors
        assert shown[MAX_HIGHLIGHTED] == shown[0], (language, before, after)


def test_highlighting_has_no_styles_of_changes() -> None:
    for theme in load().values():
        changed = {theme.style(f"code {kind}").color for kind in ("added", "removed")}
        looks = {theme.style(f"code {kind}").color for kind in ("string", "keyword", "number", "comment", "text")}
        assert not changed & looks, theme.name
