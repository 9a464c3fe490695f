"""Markdown as HTML: cases that tests with a running service do not cover."""

from __future__ import annotations

import re
from collections.abc import Sequence
from time import thread_time
from typing import Any, ClassVar

import pytest
from tests.hostile_strings import HOSTILE

from presscheck.documents.markdown.anchors import page_anchors
from presscheck.service.web.html.components import DEEPEST, LARGEST, MOST_ELEMENTS
from presscheck.service.web.html.context import Component
from presscheck.service.web.html.page import Heading, Included, ResolvedLink, render_page_html
from presscheck.service.web.html.players import player_of


class Around:
    """An environment of a page in which all pages except `none.md` exist, and each text includes the next one twice."""

    components: ClassVar[dict[str, Sequence[Any]]] = {}

    def leads(self, target: str, source: str) -> ResolvedLink | None:
        return None if target == "none.md" else ResolvedLink(f"https://example.org/{source}/{target}")

    def included(self, target: str, source: str) -> Included | None:
        number = int(target)
        return Included(f"Text {number}. [at](home.md)\n\n" + f'{{% include "{number + 1}" %}}\n' * 2, f"part-{number}")

    def specification(self, name: str, source: str, *, is_file: bool) -> None:
        return None

    def model_url(self, reader: Any, name: str) -> None:
        return None

    def holds(self, condition: str) -> bool:
        return condition == "true"

    def component(self, integration: str, block: str, props: dict[str, Any]) -> Component | None:
        elements = self.components.get(f"{integration}/{block}")
        return Component({"type": "block", "children": elements}, {"words": props.get("content")}) if elements else None

    def variable(self, name: str) -> str | None:
        return "<2>" if name == "space.vars.version" else None


def html(markdown: str) -> str:
    return render_page_html(markdown, "home.md", Around()).html


def test_tabs_have_anchors_unless_a_heading_has_them() -> None:
    titles = ("Setup", "Run & go", "Run & go")
    tabs = "".join(f'{{% tab title="{title}" %}}\nText\n{{% endtab %}}\n' for title in titles)
    shown = html("{% tabs %}\n" + tabs + "{% endtabs %}\n\n## Setup\n")
    assert re.findall(r'<div class="tab"(?: id="([^"]*)")?>', shown) == ["", "run-and-go", ""]
    assert shown.count('id="setup"') == 1


def test_link_without_text_shows_the_name_of_its_target() -> None:
    for words in ("", " ", "<br>", "\\\n", "<span></span>", "&nbsp;"):
        assert re.search(r"<a [^>]*>a&amp;b\.md[^<]*<", html(f"[{words}](a&b.md)")), words
    assert '<a href="https://example.org/home.md/a.md" aria-label="a.md"><img ' in html("[![](a.png)](a.md)")
    for words in ("a", "`a`", "**a**", "![a](a.png)", '<img src="a.png" alt="a">', '<i class="fa-gear"></i>', "<br>a"):
        shown = html(f"[{words}](target.md)")
        assert "aria-label" not in shown and ">target.md" not in shown, words


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
        (
            "[x](a.md) <kbd>k</kbd>",
            '<p><a href="https://example.org/home.md/a.md" rel="noopener">x</a> <kbd>k</kbd></p>',
        ),
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


TUBE = "https://www.youtube-nocookie.com/embed/"


@pytest.mark.parametrize(
    ("url", "player"),
    [
        ("https://www.youtube.com/watch?v=aqz-KE-bpKQ&t=90s", f"{TUBE}aqz-KE-bpKQ?start=90"),
        ("https://youtu.be/aqz-KE-bpKQ", f"{TUBE}aqz-KE-bpKQ"),
        ("https://m.youtube.com/shorts/aqz-KE-bpKQ?t=x", f"{TUBE}aqz-KE-bpKQ"),
        ("https://vimeo.com/76979871", "https://player.vimeo.com/video/76979871?dnt=1"),
        ("https://vimeo.com/76979871/0a1b2c3d4e", "https://player.vimeo.com/video/76979871?dnt=1&h=0a1b2c3d4e"),
        ("https://www.loom.com/share/0123456789abcdef0123?sid=1", "https://www.loom.com/embed/0123456789abcdef0123"),
        ("https://codepen.io/lamp/pen/yLKxxyz", "https://codepen.io/lamp/embed/yLKxxyz?default-tab=result"),
        ("https://codesandbox.io/s/new-lamp-2x", "https://codesandbox.io/embed/new-lamp-2x"),
        (
            "https://www.figma.com/design/aB3/Lamp?node-id=1-2",
            None,  # the key is too short
        ),
        (
            "https://www.figma.com/design/aB3x/Lamp?node-id=1&x='\"",
            "https://www.figma.com/embed?embed_host=share&url="
            "https%3A%2F%2Fwww.figma.com%2Fdesign%2FaB3x%2FLamp%3Fnode-id%3D1%26x%3D%27%22",
        ),
        (
            "https://open.spotify.com/episode/7makk4oTQel546B0PZlDM5",
            "https://open.spotify.com/embed/episode/7makk4oTQel546B0PZlDM5",
        ),
        ("https://www.youtube.com/watch?v=../../x", None),
        ("https://www.youtube.com/@lamps", None),
        ("https://youtube.com.example.org/watch?v=aqz-KE-bpKQ", None),
        ("https://example.org/watch?v=aqz-KE-bpKQ", None),
        ("javascript:alert(1)//youtube.com/watch?v=aqz-KE-bpKQ", None),
        ("https://[youtube.com/watch?v=aqz-KE-bpKQ", None),
    ],
)
def test_known_sites_have_a_player(url: str, player: str | None) -> None:
    found = player_of(url)
    assert (found.url if found else None) == player
    assert found is None or found.url.startswith(f"{found.origin}/")


def test_player_url_for_a_hostile_url_keeps_its_host() -> None:
    embedded = re.compile(r"https://www\.[a-z-]+\.com/embed[\w/?=&%.~-]*", re.ASCII)
    starts = ("https://youtu.be/", "https://www.youtube.com/watch?v=", "https://www.figma.com/file/aB3x4/")
    found = [(start + text, player_of(start + text)) for start in starts for text in HOSTILE]
    assert [url for url, player in found if player is not None and not embedded.fullmatch(player.url)] == []


def test_page_lists_the_hosts_of_its_players() -> None:
    text = '{% embed url="https://youtu.be/aqz-KE-bpKQ" %}\n\n{% embed url="https://example.org/film" %}\n'
    page = render_page_html(text, "home.md", Around())
    assert page.frames == ("https://www.youtube-nocookie.com",)
    assert (
        page.html.count("data-player") == 1 and f'<p class="box embed" data-player="{TUBE}aqz-KE-bpKQ"><a ' in page.html
    )


def test_source_of_a_diagram_without_a_title_has_a_label() -> None:
    assert '<span class="name">Source of a diagram</span>' in html("```mermaid\ngraph LR\n```\n")
    assert "Source of a diagram" not in html('{% code title="Flow" %}\n```mermaid\ngraph LR\n```\n{% endcode %}\n')


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
    begun = thread_time()
    assert html(text) is not None
    assert thread_time() - begun < 20


def test_anchors_of_headings_and_expandables_match_page_anchors() -> None:
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


def drawn(*elements: Any, block: str = '{% @lamp/block content="source" %}', monkeypatch: pytest.MonkeyPatch) -> str:
    monkeypatch.setattr(Around, "components", {"lamp/block": elements})
    return html(block)


def test_components_are_drawn_with_their_elements(monkeypatch: pytest.MonkeyPatch) -> None:
    link = {"type": "link", "target": {"url": "https://a.example"}, "children": ["an ", "address"]}
    url = {"host": "img.example", "pathname": "/p", "query": {"text": {"$state": "words"}}}
    shown = drawn(
        {"type": "vstack", "children": [{"type": "text", "style": "bold", "children": ["bold ", link]}]},
        {"type": "hstack", "children": [{"type": "markdown", "content": "## Title\n\n*slanted*"}, {"type": "divider"}]},
        {"type": "codeblock", "content": {"$state": "words"}, "syntax": "text"},
        {"type": "image", "source": {"url": url}, "aspectRatio": 1},
        {"type": "hint", "children": [{"type": "text", "children": "mind"}]},
        {
            "type": "card",
            "title": "Card",
            "hint": "more",
            "children": [{"type": "button", "label": "no", "onPress": {}}],
        },
        {"type": "button", "label": "Open", "onPress": {"action": "@ui.url.open", "url": "https://b.example"}},
        {"type": "textinput", "state": "words"},
        monkeypatch=monkeypatch,
    )
    assert (
        '<p><strong>bold <a href="https://example.org/home.md/https://a.example">an address</a></strong></p>' in shown
    )
    assert "<em>slanted</em>" in shown and "<hr>" in shown and ">source</code>" in shown
    assert '<img src="https://example.org/home.md/https://img.example/p?text=source"' in shown
    assert '<div class="hint info" role="note"><p>mind</p></div>' in shown
    assert "<p><strong>Card</strong></p>" in shown and '<p class="quiet">more</p>' in shown
    assert ">Open</a>" in shown and ">no<" not in shown and "input" not in shown
    outline = render_page_html("# A\n\n{% @lamp/block %}", "home.md", Around()).outline
    assert [heading.title for heading in outline] == ["A"], "headings of a component are not in the outline"


def test_code_has_a_caption_only_if_it_has_a_title() -> None:
    assert "figcaption" not in html("```sh\nls\n```")
    assert '<figcaption><span class="name">A &amp; B</span><span class="language">sh</span></figcaption>' in html(
        '{% code title="A & B" %}\n```sh\nls\n```\n{% endcode %}'
    )


def test_block_that_cannot_be_rendered_shows_its_source(monkeypatch: pytest.MonkeyPatch) -> None:
    block = '{% @lamp/block content="a <b>" %}'
    source = drawn({"type": "textinput"}, block=block, monkeypatch=monkeypatch)
    assert '<span class="name">lamp</span><span class="language">block</span>' in source
    assert "a &lt;b&gt;</code>" in source
    frame = {"type": "webframe", "source": {"url": "https://a.example"}}
    assert drawn(frame, block=block, monkeypatch=monkeypatch) == source
    assert html('{% @lamp/other content="a <b>" %}') == source.replace("block", "other")
    assert "{% @lamp/other a=&quot;1&quot; %}" in html('{% @lamp/other a="1" %}')


@pytest.mark.attack("scripts in content")
def test_hostile_components_are_rendered_as_text(monkeypatch: pytest.MonkeyPatch) -> None:
    script = "<script>alert(1)</script><img src=x onerror=alert(1)>"
    deep: dict[str, Any] = {"type": "text", "children": "end"}
    for _ in range(DEEPEST + 5):
        deep = {"type": "vstack", "children": [deep]}
    for element in (
        {"type": "text", "children": script},
        {"type": "text", "style": script, "children": [script, {"type": script}]},
        {"type": "markdown", "content": script},
        {"type": "codeblock", "content": script, "syntax": script},
        {"type": "card", "title": script, "hint": [{"type": "text", "children": script}]},
        {"type": "link", "target": {"url": '"><script>'}, "children": script},
        {"type": "image", "source": {"url": '"><script>'}, "aspectRatio": script},
        {"type": "webframe", "source": {"url": "javascript:alert(1)"}},
        {"type": script, "children": script},
        {"type": "html", "children": script},
        {"type": "vstack", "children": {"a": script}},
        {"type": "markdown", "content": '{% include "1" %}\n\n{% @lamp/block content="again" %}'},
        deep,
        {"type": "vstack", "children": [{"type": "divider"}] * (MOST_ELEMENTS + 1)},
        {"type": "text", "children": "x" * LARGEST},
        script,
        None,
    ):
        shown = drawn(element, monkeypatch=monkeypatch)
        marks = re.sub(r"&[a-z]+;[^<]*", "", shown)
        assert not re.search(r"<script|<img src=x|<iframe|javascript:|onerror", marks), (element, shown[:500])
        assert "Text 1." not in shown, "a component includes nothing"
        assert len(shown) < LARGEST
