"""What a visitor sees of a text with conditions, wherever they stand."""

from __future__ import annotations

import pytest

from presscheck.documents.visitors.conditional_text import visible_text

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
