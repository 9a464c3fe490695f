"""Markdown as HTML: cases that the tests of running sites do not cover."""

from __future__ import annotations

import re
from time import process_time

import pytest
from tests.hostile_strings import HOSTILE

from presscheck.documents.markdown.anchors import page_anchors
from presscheck.service.web.html.page import Heading, Included, ResolvedLink, render_page_html


class Around:
    """A world in which every page is there but `none.md`, and each text includes the next."""

    def leads(self, target: str, source: str) -> ResolvedLink | None:
        return None if target == "none.md" else ResolvedLink(f"https://example.org/{source}/{target}")

    def included(self, target: str, source: str) -> Included | None:
        number = int(target)
        return Included(f"Text {number}. [at](home.md)\n\n" + f'{{% include "{number + 1}" %}}\n' * 2, f"part-{number}")

    def holds(self, condition: str) -> bool:
        return condition == "true"

    def variable(self, name: str) -> str | None:
        return "<2>" if name == "space.vars.version" else None


def html(markdown: str) -> str:
    return render_page_html(markdown, "home.md", Around()).html


def test_tabs_have_the_anchors_that_no_heading_has() -> None:
    titles = ("Setup", "Run & go", "Run & go")
    tabs = "".join(f'{{% tab title="{title}" %}}\nText\n{{% endtab %}}\n' for title in titles)
    shown = html("{% tabs %}\n" + tabs + "{% endtabs %}\n\n## Setup\n")
    assert re.findall(r'<label (?:id="([^"]*)" )?for', shown) == ["", "run-and-go", ""]
    assert shown.count('id="setup"') == 1


def test_headings_have_unique_anchors() -> None:
    found = render_page_html("# A *b*\n\n## A b\n\n## A b-1\n\n### A b\n\n#### Deep\n\n##\n", "home.md", Around())
    assert found.outline == (
        Heading(2, "A b", "a-b"),
        Heading(2, "A b", "a-b-1"),
        Heading(2, "A b-1", "a-b-1-1"),
        Heading(3, "A b", "a-b-2"),
    )
    assert '<h4 id="deep">' in found.html


def test_includes_are_limited() -> None:
    found = html('{% include "1" %}\n')
    assert "Text 5." in found
    assert "Text 6." not in found
    assert 'href="https://example.org/part-2/home.md"' in found, "links stand where their text does"


def test_unknown_tag_shows_its_content() -> None:
    assert html("{% sparkle %}\nIn.\n{% endsparkle %}\n") == "<p>In.</p>"
    assert html('{% sparkle a="<b>" %}\n') == '<p class="quiet">{% sparkle a=&quot;&lt;b&gt;&quot; %}</p>'
    assert html("{% if true %}\nYes.\n{% endif %}\n\n{% if other %}\nNo.\n{% endif %}\n") == "<p>Yes.</p>"


@pytest.mark.parametrize(
    ("written", "shown"),
    [
        ("[x](none.md)", '<p><span class="broken">x</span></p>'),
        ("![x](none.md) y", '<p><span class="broken">x</span> y</p>'),
        ('<a href="none.md">x</a>', '<p><a rel="noopener">x</a></p>'),
        ("<b>x</i></div>", "<p><b>x</b></p>"),
        (
            '<span style="position:fixed;color:red" class="over broken">x</span>',
            '<p><span style="color:red" class="broken">x</span></p>',
        ),
        ('<code class="expression">space.vars.version</code>', "<p>&lt;2&gt;</p>"),
        ('<code class="expression">space.vars.none</code>', '<p><code class="expression">space.vars.none</code></p>'),
        ("z<!-- x -->y", "<p>zy</p>"),
        ("a\\\nb", "<p>a<br>b</p>"),
        ("> [!TIP]\n> x", '<div class="hint hint-success" role="note" aria-label="Tip"><p>\nx</p></div>'),
        (
            '{% hint style="x y" %}\nz\n{% endhint %}',
            '<div class="hint hint-info" role="note" aria-label="Note"><p>z</p></div>',
        ),
    ],
)
def test_renders_markdown_as_html(written: str, shown: str) -> None:
    assert html(written) == shown


@pytest.mark.attack("Unicode and escape sequences")
def test_hostile_strings_open_no_tag() -> None:
    for text in HOSTILE:
        found = html(f"# {text}\n\n{text}\n\n`{text}`\n\n| {text} |\n|--|\n| {text} |\n")
        assert "<script" not in found.lower()


@pytest.mark.parametrize(
    "text",
    [
        "# a\n\n" * 20_000,
        ">" * 5000 + "x",
        "[" * 50_000,
        "$$ " * 50_000,
        "<a " * 50_000,
        "<table>" * 5000 + "\n</table>",
        "{% hint %}\n" * 5000,
        "<div>\n" * 3000 + "x" + "</div>\n" * 3000,
        "https://" * 20_000,
    ],
    ids=lambda text: repr(text[:10]),
)
def test_hostile_pages_are_fast(text: str) -> None:
    begun = process_time()
    assert html(text) is not None
    assert process_time() - begun < 20


def test_headings_and_expandables_have_the_anchors_that_links_name() -> None:
    page = (
        '## Größe & co.\n\n## 1. Go <a href="#go" id="go"></a>\n\n## Go <a id="go"></a>\n\n> ## Größe & co.\n\n'
        '<h2 align="center">2. <b>In</b> HTML</h2>\n\n<h3>Own<a href="#x/y" id="x/y"></a></h3>\n\n'
        "<details>\n\n<summary>Why <i>so</i>?</summary>\n\n### Inside\n\n</details>\n\n"
        "<details>\n\nText\n\n</details>\n\n##### Deep\n\n<h5>Deep</h5>\n"
    )
    found = render_page_html(page, "home.md", Around())
    names = [
        *("groesse-and-co", "go", "go-1", "groesse-and-co-1", "id-2.-in-html", "x/y", "why-so", "inside"),
        "details",
    ]
    assert re.findall(r'\sid="([^"]*)"', found.html) == names
    assert [*page_anchors(page).lines] == names
    assert [heading.fragment for heading in found.outline] == [
        *("groesse-and-co", "go", "go-1", "groesse-and-co-1", "inside")
    ]
    assert 'href="#groesse-and-co"' in found.html
    assert '<h2 id="go">1. Go <a class="anchor"' in found.html, "the id of the author is that of the heading"


@pytest.mark.parametrize("written", ["[a](#目次)", "[a](#%E7%9B%AE%E6%AC%A1)", '<a href="#目次">a</a>'])
def test_links_on_the_page_are_encoded_once(written: str) -> None:
    assert 'href="#%E7%9B%AE%E6%AC%A1"' in html(written)


def test_indented_code_in_html_is_code() -> None:
    shown = html('<div class="informalexample">\n\n    $ netsim list\n      ncs   running\n\n</div>\n')
    assert "<pre" in shown
    assert "$ netsim list\n  ncs   running" in re.sub("<[^>]*>", "", shown)
