"""The sanitizer for the HTML of authors: the tags, attributes, styles and URLs that it keeps, and nothing else."""

import re
import weakref

import pytest

from presscheck.service.web.html.sanitizer import clean_html

EMPTY = frozenset(("br", "col", "hr", "img", "source", "wbr"))
_TAGS = (
    "a abbr b bdi bdo blockquote br caption cite code col colgroup dd del details dfn div dl dt em figcaption figure "
    "h1 h2 h3 h4 h5 h6 hr i img ins kbd li mark ol p picture pre q rp rt ruby s samp section small source span strike "
    "strong sub summary sup table tbody td tfoot th thead time tr tt u ul var wbr"
)
TAGS = _TAGS.split()
WITHIN = {
    "caption": "table", "colgroup": "table", "tbody": "table", "tfoot": "table", "thead": "table",
    "col": "table><colgroup", "tr": "table><tbody", "td": "table><tbody><tr", "th": "table><tbody><tr",
}  # fmt: skip
"""Tags that an HTML parser keeps only inside other tags, with those outer tags."""
ATTRIBUTES = {
    "p": 'id="a.b-c:1" title="t" lang="de" dir="rtl" class="broken"',
    "a": 'href="x" target="_blank"',
    "img": 'src="x" alt="a" width="1" height="2" data-size="line"',
    "source": 'srcset="x" media="print"',
    "td": 'colspan="2" rowspan="3" align="left"',
    "th": 'colspan="2" rowspan="3" align="left" scope="col"',
    "col": 'span="2" width="9"',
    "ol": 'start="3" type="a" reversed="reversed"',
    "li": 'value="4"',
    "details": 'open="open"',
    "time": 'datetime="2026-01-01"',
}


def follow(tag: str, address: str) -> str | None:
    return None if address == "none" else f"https://docs.example/{tag}/{address}"


def unchanged(tag: str, address: str) -> str:
    return address


def clean(html: str) -> str:
    return clean_html(html, follow)


def attributes(html: str, tag: str) -> dict[str, str]:
    match = re.search(rf"<{tag}\b([^>]*)>", html)
    assert match, html
    return dict(re.findall(r'([\w-]+)="([^"]*)"', match[1]))


@pytest.mark.parametrize("tag", TAGS)
def test_text_tag_is_kept(tag: str) -> None:
    outer = WITHIN.get(tag)
    attributes = ' src="x"' if tag == "img" else ""
    written = f"<{tag}{attributes}>" if tag in EMPTY else f"<{tag}>x</{tag}>"
    assert f"<{tag}" in clean(f"<{outer}>{written}" if outer else written)


@pytest.mark.parametrize(("tag", "written"), ATTRIBUTES.items())
def test_only_allowed_attributes_of_a_tag_are_kept(tag: str, written: str) -> None:
    outer = WITHIN.get(tag)
    html = f'<{tag} {written} onclick="x" nonsense="y">x'
    kept = attributes(clean(f"<{outer}>{html}" if outer else html), tag)
    expected = dict(re.findall(r'([\w-]+)="([^"]*)"', written))
    for name in ("href", "src", "srcset"):
        if name in expected:
            expected[name] = f"https://docs.example/{tag}/x"
    assert kept == expected | ({"rel": "noopener"} if tag == "a" else {})


@pytest.mark.parametrize("tag", ["script", "style", "template", "noscript", "iframe", "object", "svg", "math", "title"])
def test_elements_without_text_are_removed_with_their_content(tag: str) -> None:
    assert clean(f"a<{tag}>inside</{tag}>b") == "ab"


@pytest.mark.parametrize("tag", ["form", "input", "embed", "frame", "link", "meta", "base", "button", "marquee"])
def test_other_tags_are_removed_and_text_is_kept(tag: str) -> None:
    assert clean(f"<{tag}>") == ""
    assert "inside" in clean(f"<b>inside</b><{tag}>")


@pytest.mark.parametrize(
    ("written", "kept"),
    [
        ('<p class="over button outside">x</p>', '<p class="button outside">x</p>'),
        ('<p class="over">x</p>', "<p>x</p>"),
        (
            '<p style="color:red;background-color:blue;text-align:center;position:fixed">x</p>',
            '<p style="color:red;background-color:blue;text-align:center">x</p>',
        ),
        (f'<p id="{"a" * 200}">x</p>', f'<p id="{"a" * 200}">x</p>'),
        (f'<p id="{"a" * 201}">x</p>', "<p>x</p>"),
        ('<p id="a b">x</p>', "<p>x</p>"),
        ('<a href="none" target="_top">x</a>', '<a rel="noopener">x</a>'),
        ('<img src="none" alt="a">', '<span class="broken">a</span>'),
        ('<source srcset="a.png 2x, b.png">', '<source srcset="https://docs.example/source/a.png">'),
        ('<source srcset="  " media="print">', '<source media="print">'),
    ],
)
def test_values_of_attributes(written: str, kept: str) -> None:
    assert clean(written) == kept


@pytest.mark.parametrize(
    "name", ["broken", "button", "expression", "footnote-mark", "formula", "outside", "primary", "secondary"]
)
def test_classes_that_authors_may_use_are_kept(name: str) -> None:
    assert clean(f'<b class="{name}">x</b>') == f'<b class="{name}">x</b>'


def test_icons_are_drawn_as_characters() -> None:
    button = '<a href="https://a.example/" class="button primary" data-icon="check">Go</a>'
    assert (
        clean_html(button, unchanged) == '<a href="https://a.example/" class="button primary" rel="noopener">✓ Go</a>'
    )
    assert clean_html('a <i class="fa-rocket" style="color:red">:rocket:</i> <i>b</i>', unchanged) == "a 🚀 <i>b</i>"
    assert clean_html('<i class="fa-no-such">:x:</i><i class="fa-<b>">c', unchanged) == "[no-such]<i>c</i>"


@pytest.mark.parametrize(
    ("address", "stays"),
    [
        ("https://a.example/", True),
        ("http://a.example/", True),
        ("mailto:a@b.example", True),
        ("javascript:alert(1)", False),
        ("data:text/html,x", False),
        ("file:///etc/passwd", False),
        ("ftp://a.example/", True),
        ("tel:123", True),
        ("ssh://a.example/", False),
    ],
)
def test_links_keep_only_allowed_schemes(address: str, stays: bool) -> None:
    kept = clean_html(f'<a href="{address}">x</a>', unchanged)
    assert kept == (f'<a href="{address}" rel="noopener">x</a>' if stays else '<a rel="noopener">x</a>')


@pytest.mark.parametrize(
    ("html", "mended"),
    [
        ('<a href="#own" id="own"></a>', '<span id="own"></span>'),
        ('<a href="x"><br></a>', "<br>"),
        ('<img src="none" alt="A &lt;b&gt; map">', '<span class="broken">A &lt;b&gt; map</span>'),
        ('<img src="none">', '<span class="broken">missing image</span>'),
        (
            '<picture><source media="(prefers-color-scheme: dark)" srcset="d.png">'
            '<img src="l.png" alt="Map"></picture>',
            '<img class="if-light" src="https://docs.example/img/l.png" alt="Map">'
            '<img class="if-dark" src="https://docs.example/source/d.png" alt="Map">',
        ),
    ],
)
def test_elements_that_readers_cannot_use_are_replaced(html: str, mended: str) -> None:
    assert clean(html) == mended


@pytest.mark.attack("scripts in content")
def test_brackets_in_attributes_are_escaped_before_tags_are_replaced() -> None:
    hostile = "></a><img src=x onerror=alert(1)>"
    for html in (f'<a title="{hostile}">x</a>', f'<img alt="{hostile}">', f'<picture title="{hostile}"></picture>'):
        assert "<img src=x" not in clean(html) and clean(html).count("<") <= 2, html


def test_link_resolver_is_freed_after_use() -> None:
    def resolve(_tag: str, address: str) -> str:
        return address

    clean_html('<a href="x">y</a>', resolve)
    kept = weakref.ref(resolve)
    del resolve
    assert kept() is None
