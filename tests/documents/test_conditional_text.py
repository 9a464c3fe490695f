"""What a visitor sees of a text with conditions, wherever they stand."""

from __future__ import annotations

import pytest

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


@pytest.mark.parametrize("text", SHOWN)
def test_what_a_condition_hides_is_not_shown(text: str) -> None:
    assert visible_text(text, lambda condition: condition == "true") == SHOWN[text]


def test_conditions_that_cannot_be_read_are_named_with_their_lines() -> None:
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
