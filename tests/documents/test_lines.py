"""Pages as terminal lines: within the width, and without control characters."""

from itertools import cycle

from tests.hostile_strings import HOSTILE
from tests.table import each_case

from presscheck.documents.terminal.controls import Controls
from presscheck.documents.terminal.page_lines import PageLines, outline, render_page
from presscheck.text.styled_text import plain, width

PAGE = """# Tokens

A token belongs to **one** [project](../project.md).

{% hint style="warning" %}
Shown once.
{% endhint %}

## Rotating

1. New one first.
2. Then the old one.

| Scope | Reads |
|---|---|
| `a` | x |
"""


def text(markdown: str, columns: int = 60, **more: object) -> str:
    return "\n".join(plain(line).rstrip() for line in render_page(markdown, columns, **more))


def test_page_is_shown_without_markup() -> None:
    shown = text(PAGE)
    assert "A token belongs to one project." in shown
    assert "Shown once." in shown
    assert "Warning" in shown
    assert not {"**", "{%", "](", "|---"} & {mark for mark in ("**", "{%", "](", "|---") if mark in shown}


def test_title_is_shown_once() -> None:
    assert text(PAGE, title="Tokens").count("Tokens") == 1
    assert text("Body", title="Tokens").startswith("Tokens")


def test_headings_and_links_have_their_lines() -> None:
    page = PageLines(PAGE, 60)
    page.at_least(1000)
    assert [(heading.level, heading.text) for heading in page.headings] == [(1, "Tokens"), (2, "Rotating")]
    assert plain(page.lines[page.headings[1].line]).strip() == "Rotating"
    assert [(link.label, link.target) for link in page.links] == [("project", "../project.md")]
    assert [heading.text for heading in outline(PAGE)] == ["Tokens", "Rotating"]


def test_line_of_the_markdown_is_found() -> None:
    markdown = (
        "---\ndescription: x\n---\n\n# First\n\nOne.\n\n<<<<<<< change request\nOurs\n=======\nTheirs\n>>>>>>> live\n\n"
        "- An item\n  ![](a.png)\n- Another\n- Another\n\n```\nsame\nsame\n```\n"
    )
    lines = markdown.split("\n")
    page = PageLines(markdown, 60, title="A page", controls=Controls())

    def found(written: str, *, last: bool = False) -> str:
        at = len(lines) - 1 - lines[::-1].index(written) if last else lines.index(written)
        line = page.line_of_source(at)
        assert line is not None
        return plain(page.lines[line]).strip()

    assert found("# First") == "First"
    assert "onflict" in found("<<<<<<< change request")
    assert found("Theirs") == "▍ Theirs"
    assert found("  ![](a.png)") == "• An item ▣ a.png", "a picture without words is at the words before it"
    first, second = (page.line_of_source(at) for at, line in enumerate(lines) if line == "- Another")
    assert first is not None
    assert second == first + 1
    assert found("same", last=True) == "same"
    page.fold_all(is_folded=True)
    assert found("One.") == "One.", "what is folded is opened"
    assert page.line_of_source(len(lines) + 5) is None
    assert PageLines("", 60).line_of_source(0) is None


def test_definition_far_below_resolves_links_above() -> None:
    page = PageLines("See [the guide][g].\n\n" + "More.\n\n" * 500 + "[g]: https://fernway.example/guide\n", 60)
    page.at_least(3)
    assert page.links[0].target == "https://fernway.example/guide"
    assert not page.done


def test_items_of_html_keep_their_marks() -> None:
    text = "<ol><li><p>one</p></li><li>two<ul><li>deep</ul></li></ol>\n\n<figure><img src='a.png'></figure>"
    assert [plain(line) for line in render_page(text, 40)][:3] == ["1. one", "2. two", "  • deep"]


def test_blocks_of_html_in_a_cell_are_on_separate_lines() -> None:
    lines = text("| a | b |\n|---|---|\n| <p>one</p><ul><li>two</li><li>three</li></ul> four | x |").split("\n")
    assert [line.split()[0] for line in lines[2:]] == ["one", "two", "three", "four"]


def test_hostile_text_stays_text() -> None:
    for hostile, columns in zip(HOSTILE[::9], cycle((12, 40, 100)), strict=False):
        for line in render_page(f"# {hostile}\n\n{hostile}\n\n- {hostile}\n\n`{hostile}`", columns, title=hostile):
            assert width(line) <= columns
            assert not [char for char in plain(line) if ord(char) < 32 or 127 <= ord(char) < 160]


IN_HTML = '<div class="informalexample">\n\n    $ netsim list\n      ncs   running\n        \n\n</div>'


@each_case(
    ("markdown", "lines"),
    [
        (IN_HTML, ["  $ netsim list", "    ncs   running"]),
        (
            IN_HTML.replace("    $", "      $").replace("      ncs", "        ncs"),
            ["    $ netsim list", "      ncs   running"],
        ),
        ("\n".join(f"> {line}" for line in IN_HTML.split("\n")), ["│   $ netsim list", "│     ncs   running"]),
        (IN_HTML.replace("div", "details"), ["    $ netsim list", "      ncs   running"]),
    ],
)
def test_indented_code_in_html_is_code(markdown: str, lines: list[str]) -> None:
    shown = text(markdown).split("\n")
    assert [line for line in shown if "ncs" in line or "$" in line] == lines


def test_indented_text_in_html_without_a_blank_line_flows() -> None:
    assert "one two" in text("<div>\n    one\n    two\n</div>")
    assert "one two" in text('{% hint style="info" %}\n\n    one\n    two\n\n{% endhint %}')
