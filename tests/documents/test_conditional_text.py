"""Conditional text: what visitors see, wherever the conditions are."""

from __future__ import annotations

from tests.table import each_case

from presscheck.documents.git_format.repository import path_slug
from presscheck.documents.pages.tree import title_slug
from presscheck.documents.visitors.condition_tags import condition_of, visible_words
from presscheck.documents.visitors.conditional_text import condition_mistakes, visible_text

SHOWN = {
    "Hi {% if x %}secret{% endif %} you": "Hi  you",
    "Hi {% if true %}all{% endif %} you": "Hi all you",
    "| a | b |\n|-|-|\n| {% IF x %}secret{% EndIf %} | {%if true%}ok{%endif%} |\n": "| a | b |\n|-|-|\n|  | ok |\n",
    "> {%- if x -%}\n> secret\n> {%- endif -%}\n\nend": "> \n\nend",
    "a{% if\r\nx %}secret{% endif %}b": "ab",
    "<p>` {% if x %}secret{% endif %} `</p>": "<p>`  `</p>",
    "- a ` b\n- {% if x %}secret{% endif %} `": "- a ` b\n-  `",
    '{% tab title="{% if x %}secret{% endif %}" %}': '{% tab title="" %}',
    "{% if true %}a{% if x %}secret{% endif %}b{% endif %}c": "abc",
    "{% if x %}secret{% if true %}secret{% endif %}secret{% endif %}c": "c",
    "{% if true %}a{% else %}secret{% endif %}c": "ac",
    "a{% if %}secret{% endif %}c": "ac",
    "a{% if x %}secret": "a",
    "a{% if true %}secret{% if true %}secret{% endif %}": "a",
    "a{% if true secret": "a",
    "a{% if true {% if true %}secret{% endif %}secret": "a",
    "{% if x %}\n```\n{% endif %}\n```\nsecret": "",
    "`{% if x %}`{% if x %}secret{% endif %}": "`{% if x %}`",
    "- ```\n  {% if x %}code{% endif %}\n  ```\n  {% if x %}secret{% endif %}": (
        "- ```\n  {% if x %}code{% endif %}\n  ```\n  "
    ),
    "- ```\n  code\n\n{% if x %}secret{% endif %}": "- ```\n  code\n\n",
    "{% hint %}\n```\n{% if x %}code{% endif %}\n```\n{% endhint %}": (
        "{% hint %}\n```\n{% if x %}code{% endif %}\n```\n{% endhint %}"
    ),
    "a{% endif %}b": "ab",
    "{% iframe %}": "{% iframe %}",
}


@each_case("text", SHOWN)
def test_text_with_a_false_condition_is_hidden(text: str) -> None:
    assert visible_text(text, lambda condition: condition == "true") == SHOWN[text]


UNDECIDED = {
    "a{% IF ? %}b{% if x %}secret{% endif %}{% if true %}c{% endif %}{% EndIf %}d": "a{% IF ? %}bc{% EndIf %}d",
    "a{% if ? %}b{% else %}secret{% endif %}d": "a{% if ? %}b{% endif %}d",
    "a{% if x %}secret{% if ? %}secret{% endif %}{% endif %}d": "ad",
    "a{% if ? %}secret": "a",
}


@each_case("text", UNDECIDED)
def test_undecided_condition_is_kept_with_its_text(text: str) -> None:
    assert visible_text(text, {"?": None, "true": True, "x": False}.__getitem__) == UNDECIDED[text]


def test_conditions_apply_in_plain_text_that_looks_like_code() -> None:
    for words in ("    {% if x %}secret{% endif %}a", "`{% if x %}secret{% endif %}`a", "a{% if x %}secret"):
        assert visible_words(words, lambda _: False).strip(" `") == "a"


def test_spellings_of_a_condition_are_read() -> None:
    for tag in ("{% if a b %}", "{%- IF a b -%}", "{%\nif a b%}"):
        assert condition_of(tag) == "a b"
    for tag in ("{% endif %}", "{% else %}", "{% elif a %}", "{% iframe a %}", "{% if a", "x{% if a %}", "{% if a %}x"):
        assert condition_of(tag) is None


def test_slug_omits_conditional_parts_of_the_title() -> None:
    assert title_slug('Open {% if visitor.claims.plan == "pro" %}secret{% endif %} words') == "open-words"
    assert title_slug('Open {% if visitor.claims.plan != "pro" %}and free{% endif %}') == "open-and-free"


def test_invalid_conditions_are_reported_with_their_lines() -> None:
    for text, lines in (
        ("{% if visitor.claims.a %}x{% endif %}\n`{% if %}`\n", []),
        ("a\n{% if %}x{% endif %}", [2]),
        ("a\r\n\r\n{% if == %}x{% endif %}", [3]),
        ("{% if visitor.claims.a %}\n{% if visitor.claims.b %}x{% endif %}", [1]),
        ("a\n{% if visitor.claims.a", [2]),
        ("{% if visitor.claims.a %}a\n{% else %}b{% endif %}", [2]),
        ("a\n{% endif %}", [2]),
    ):
        assert [mistake.line for mistake in condition_mistakes(text)] == lines, text


def test_slug_of_an_imported_page_omits_conditional_parts() -> None:
    assert path_slug("Open {% if visitor.claims.plan %}secret{% endif %} words") == "open-words"
