"""Sections of pages for search: their texts and anchors match the published page."""

from __future__ import annotations

import re
from collections import Counter
from html import unescape

import pytest
from tests.documents.documentation_content import html
from tests.generated_docs.documentation import Documentation
from tests.table import each_case

from presscheck.documents.markdown.page_sections import page_sections, plain_line, section_anchors

INLINE = re.compile(r"</?(?:a|abbr|b|code|del|em|i|ins|kbd|mark|s|span|strong|sub|sup|u)\b[^>]*>")
TEXT = """Start.

{% tabs %}
{% tab title="Linux" %}
Use the shell.

### Deep

More.
{% endtab %}
{% tab title="Start" %}
Other.
{% endtab %}
{% endtabs %}

After the tabs.

## Start

<details>
<summary>Why *so*?</summary>

Because.

</details>

> ## Quoted

```
## no heading
```
"""


def test_sections_have_the_anchors_of_headings_tabs_and_expandables() -> None:
    sections = page_sections(TEXT)
    rows = [
        (section.kind, section.title, anchor, section.text)
        for section, anchor in zip(sections, section_anchors(sections), strict=True)
    ]
    assert rows == [
        ("", "", "", "Start.\nAfter the tabs."),
        ("tab", "Linux", "linux", "Use the shell."),
        ("heading", "Deep", "deep", "More."),
        ("tab", "Start", "", "Other."),  # the heading has the anchor
        ("heading", "Start", "start", ""),
        ("expandable", "Why so?", "why-so", "Because."),
        ("heading", "Quoted", "quoted", "## no heading"),
    ]


@each_case(
    ("line", "text"),
    [
        ("**strong** and __strong__ and *a* _b_ ~~c~~", "strong and strong and a b c"),
        ("a_b and 2 * 3 and `a_*b*`", "a_b and 2 * 3 and a_*b*"),
        (r"escaped \*stars\_ and \[brackets\]", "escaped *stars_ and [brackets]"),
        ('[a *link*](https://example.org/a_(b) "t") and [more][ref]', "a link and more"),
        ("[![picture](a.png)](b.md) and ![](c.png)", "picture and "),
        ("array[0] and [^1] and <https://example.org>", "array[0] and  and https://example.org"),
        ('<b>bold</b> &amp; <span title="ab">c</span>', "bold & c"),
        ('{% embed url="x" caption="Shown" %}', "  Shown  "),
    ],
)
def test_lines_have_no_markup(line: str, text: str) -> None:
    assert plain_line(line).split() == text.split()


@pytest.mark.documentation("handbook", "varied", "manual")
def test_words_match_the_published_page(documentation: Documentation) -> None:
    foreign: Counter[str] = Counter()
    missing: Counter[str] = Counter()
    total = 0
    for page in documentation.sample(2):
        shown = re.sub(r"<a class=\"anchor\"[^>]*>#</a>|<[^>]* alt=\"([^\"]*)\"[^>]*>", r" \1 ", html(page.text))
        published = words(unescape(re.sub(r"<[^>]*>", " ", INLINE.sub("", shown))))
        searched = words("\n".join(f"{section.title}\n{section.text}" for section in page_sections(page.text)))
        foreign += searched - published
        missing += published - searched
        total += published.total()
    assert foreign.total() < total / 100, foreign.most_common(20)
    assert missing.total() < total / 50, missing.most_common(20)


@pytest.mark.documentation("handbook", "varied", "manual")
def test_anchors_match_the_published_page(documentation: Documentation) -> None:
    wrong: list[tuple[str, str]] = []
    total = 0
    for page in documentation.sample(2):
        ids = {unescape(name) for name in re.findall(r' (?:id|name)="([^"]*)"', html(page.text))}
        anchors = [anchor for anchor in section_anchors(page_sections(page.text)) if anchor]
        wrong += [(page.path, anchor) for anchor in anchors if anchor not in ids]
        total += len(anchors)
    assert len(wrong) <= total / 20, wrong[:20]


def words(text: str) -> Counter[str]:
    return Counter(re.findall(r"\w+", text))
