"""Anchors of headings, tabs and expandables: their names on the platform, and their lines."""

from __future__ import annotations

from time import thread_time

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.table import each_case

from presscheck.documents.markdown.anchors import (
    UNNAMED,
    AnchorNames,
    decode_fragment,
    encode_fragment,
    heading_anchor,
    page_anchors,
)
from presscheck.documents.markdown.links import Destination, LinkResolver
from presscheck.documents.nodes.references import format_reference, parse_reference
from presscheck.documents.terminal.page_lines import PageLines
from presscheck.text.styled_text import plain


@each_case(
    ("title", "anchor"),
    [
        ("1. Create the app", "id-1.-create-the-app"),
        ("What's new?", "whats-new"),
        ("Can’t connect through ‘a.sock’", "cant-connect-through-a.sock"),
        ("Version v2.1.0", "version-v2.1.0"),
        ("Tom & Ann", "tom-and-ann"),
        ("connection.close() -> None", "connection.close-greater-than-none"),
        ("<inject> Section", "less-than-inject-greater-than-section"),
        ("convert {start | stop}", "convert-start-or-stop"),
        ("5.3.2 + MyISAM", "id-5.3.2--myisam"),
        ("C++", "c"),
        ("confd_cs_choice/0", "confd_cs_choice-0"),
        ("Response (pre_save)", "response-pre_save"),
        (".maxctrl.cnf", ".maxctrl.cnf"),
        ("On the joiner node._", "on-the-joiner-node"),
        ("iOS — Swift", "ios-swift"),
        ("/api/v1/export", "api-v1-export"),
        ("Scopes*", "scopes"),
        ("5. Purge Cache By URI(s).", "id-5.-purge-cache-by-uri-s"),
        (
            "16812255: Removing the --random-password option which is supported only for MYSQL server versions 5.6",
            "id-16812255-removing-the-random-password-option-which-is-supported-only-for-mysql-server-versions-5.",
        ),
        ("Schlagwörter (größte)", "schlagwoerter-groesste"),
        ("Za\u0308hne", "zaehne"),
        ("Déjà vu, œuvre, señor, Łódź", "deja-vu-oeuvre-senor-lodz"),
        ("6. Quản lý API Keys", "id-6.-quan-ly-api-keys"),
        ("Đối với VPC", "doi-voi-vpc"),
        ("Настройка прокси с помощью публикации", "nastroika-proksi-s-pomoshyu-publikacii"),
        ("Οδηγός χρήσης", "odigos-xrisis"),
        ("مرحبا", "mrhba"),
        ("安装", "an-zhuang"),
        ("为网页密码库设置", "wei-wang-ye-mi-ma-ku-she-zhi"),
        ("群晖DSM", "qun-hui-dsm"),
        ("使用Handlebars语法", "shi-yong-handlebars-yu-fa"),
        ("インストール中にエラーが発生したとき", "insutruniergashitatoki"),
        ("チェック", "chekku"),
        ("キャンセル", "kyanseru"),
        ("ショップ・ジャワ", "shoppu-jawa"),
        ("ディスクとウェブ", "disukutowebu"),
        ("계정 저장", UNNAMED),
        ("새 IAM User 생성", "iam-user"),
        ("हिन्दी भाषा", UNNAMED),
        ("⚙️ Settings", "settings"),
        ("  A - b -- c  ", "a-b-c"),
        ("???", UNNAMED),
        ("", UNNAMED),
    ],
)
def test_heading_has_the_anchor_of_the_platform(title: str, anchor: str) -> None:
    assert heading_anchor(title) == anchor


PAGE = """\
---
description: A page
---

# Page

Text with <a id="spot"></a> a place.

## Setup

- ## In a list

## Setup

## Named <a href="#own" id="own"></a>

## Named again <a name="own"></a>

> ### Quoted `code` [link](a.md) ![alt](a.png) :rocket:

<h2 align="center">Centred &amp; <b>bold</b></h2>

##### Too deep

<h5>Too deep</h5>

{% tabs %}
{% tab title="One" %}
### In a tab

```sh
# no heading
```
{% endtab %}
{% endtabs %}

<details>

<summary>How <em>do</em> I?</summary>

#### Inside

</details>

[Words](#user-content-fn-1)[^1]

[^1]: A note.

Underlined
----------

    # code

`<a id="code"></a>`
"""


def test_named_elements_have_anchors_and_lines() -> None:
    lines = PAGE.split("\n")
    anchors = page_anchors(PAGE, "Page")
    assert anchors.is_complete
    assert {name: lines[number].strip() for name, number in anchors.lines.items() if name != "code"} == {
        "spot": 'Text with <a id="spot"></a> a place.',
        "setup": "## Setup",
        "in-a-list": "- ## In a list",
        "setup-1": "## Setup",
        "own": '## Named <a href="#own" id="own"></a>',
        "own-1": '## Named again <a name="own"></a>',
        "quoted-code-link": "> ### Quoted `code` [link](a.md) ![alt](a.png) :rocket:",
        "centred-and-bold": '<h2 align="center">Centred &amp; <b>bold</b></h2>',
        "one": '{% tab title="One" %}',
        "in-a-tab": "### In a tab",
        "how-do-i": "<details>",
        "inside": "#### Inside",
        "user-content-fn-1": "[^1]: A note.",
        "underlined": "Underlined",
    }
    assert anchors.lines["setup"] < anchors.lines["setup-1"]
    assert "page" in page_anchors(PAGE).lines, "without the title it is a heading as any other"
    assert page_anchors("# Page\n\n## Page\n", "Page").lines == {"page": 2}


def test_heading_takes_precedence_over_a_tab_with_the_same_anchor() -> None:
    page = '{% tabs %}\n{% tab title="Setup" %}\nText\n{% endtab %}\n{% endtabs %}\n\n## Setup\n'
    assert page_anchors(page).lines == {"setup": 6}


def test_included_text_has_anchors_at_the_line_of_its_tag() -> None:
    texts = {"a.md": "## In it\n\ntext\n\n## In it\n", "b.md": '{% include "b.md" %}\n\n## Again'}
    anchors = page_anchors('Text\n\n{% include "a.md" %}\n\n## In it\n', included=texts.get)
    assert (anchors.lines, anchors.is_complete) == ({"in-it": 2, "in-it-1": 2, "in-it-2": 4}, True)
    assert not page_anchors('{% include "b.md" %}', included=texts.get).is_complete, "it includes itself"


@each_case(
    "block",
    [
        '{% include "unknown.md" %}',
        '{% openapi src="a.json" path="/pets" method="get" %}\n[a.json](a.json)\n{% endopenapi %}',
        '{% swagger method="get" path="/pets" %}\n{% endswagger %}',
        '{% @figma/embed url="https://example.org" %}',
    ],
)
def test_anchors_are_incomplete_if_a_block_may_include_headings(block: str) -> None:
    anchors = page_anchors(f"## Pets\n\n{block}\n")
    assert (anchors.lines, anchors.is_complete) == ({"pets": 0}, False)


def test_anchor_of_a_heading_is_the_same_from_its_markdown() -> None:
    names = AnchorNames()
    headings = ("1. Create", "A *b* [c](d.md)", "1. Create", 'Named <a id="x"></a>')
    assert [names.markdown(2, heading) for heading in headings] == ["id-1.-create", "a-b-c", "id-1.-create-1", "x"]
    assert [names.markdown(5, heading) for heading in headings] == ["", "", "", ""]


@given(st.text(max_size=20))
def test_fragment_is_decoded_to_its_anchor(anchor: str) -> None:
    fragment = encode_fragment(anchor)
    assert fragment.isascii()
    assert decode_fragment(fragment) == anchor
    assert format_reference(parse_reference(f"/~/pages/p1#{fragment}")) == f"/~/pages/p1#{fragment}"


@each_case("written", ["other.md#目次", "other.md#%E7%9B%AE%E6%AC%A1"])
def test_spellings_of_a_link_lead_to_the_same_anchor(written: str) -> None:
    places = LinkResolver({"other.md": "p2"})
    assert places.resolve(written, "README.md") == Destination("page", "p2", "目次")


def test_app_finds_the_line_of_each_anchor() -> None:
    page = PageLines(PAGE, 60, title="Page")
    shown: dict[str, str] = {}
    for name in page_anchors(PAGE, "Page").lines:
        number = page.find_anchor(name)
        assert number is not None
        line = page.line_of_source(number)
        assert line is not None
        shown[name] = plain(page.lines[line]).strip()
    assert shown["setup"] == shown["setup-1"] == "Setup"
    assert [shown[name] for name in ("own", "own-1", "in-a-tab", "underlined")] == [
        "Named",
        "Named again",
        "In a tab",
        "Underlined",
    ]
    assert page.find_anchor("gone") is None


@pytest.mark.slow
@each_case(
    "text",
    [
        *("<h2>" * 5_000, "<h2>\n" * 5_000, '<a id="' * 5_000, "# <h1 " * 4_000, "<details>" * 600),
        *("# a&\n" * 2_000, "<table>" + '<td id="x">\n' * 5_000),
    ],
)
def test_anchors_take_linear_time(text: str) -> None:
    start = thread_time()
    page_anchors(text)
    assert thread_time() - start < 2
