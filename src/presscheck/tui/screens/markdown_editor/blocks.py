"""The blocks that the editor can insert, in the platform's Markdown."""

from __future__ import annotations

from typing import NamedTuple

CURSOR = "‸"
"""Marks the position of the cursor, and of the selected text, in a block."""
_HINT = '{{% hint style="{}" %}}\n‸\n{{% endhint %}}'


class BlockTemplate(NamedTuple):
    """A block: its search name, its label, and its Markdown with a cursor mark."""

    name: str
    label: str
    text: str


BLOCKS = (
    BlockTemplate("hint", "Hint: note", _HINT.format("info")),
    BlockTemplate("warning", "Hint: warning", _HINT.format("warning")),
    BlockTemplate("danger", "Hint: danger", _HINT.format("danger")),
    BlockTemplate("success", "Hint: success", _HINT.format("success")),
    BlockTemplate(
        "tabs",
        "Tabs",
        '{% tabs %}\n{% tab title="First" %}\n‸\n{% endtab %}\n\n'
        '{% tab title="Second" %}\n\n{% endtab %}\n{% endtabs %}',
    ),
    BlockTemplate(
        "stepper",
        "Stepper",
        "{% stepper %}\n{% step %}\n### First step\n\n‸\n{% endstep %}\n\n"
        "{% step %}\n### Second step\n\n{% endstep %}\n{% endstepper %}",
    ),
    BlockTemplate(
        "columns",
        "Columns",
        "{% columns %}\n{% column %}\n‸\n{% endcolumn %}\n\n{% column %}\n\n{% endcolumn %}\n{% endcolumns %}",
    ),
    BlockTemplate(
        "cards",
        "Cards",
        '<table data-view="cards"><thead><tr><th></th><th></th>'
        '<th data-hidden data-card-target data-type="content-ref"></th></tr></thead><tbody>'
        "<tr><td><strong>‸</strong></td><td>Text of the card</td><td></td></tr></tbody></table>",
    ),
    BlockTemplate("code", "Code", "```\n‸\n```"),
    BlockTemplate("table", "Table", "| ‸ | Column |\n| --- | --- |\n|  |  |"),
    BlockTemplate("math", "Math", "$$\n‸\n$$"),
    BlockTemplate("expandable", "Expandable", "<details>\n\n<summary>‸</summary>\n\nText\n\n</details>"),
    BlockTemplate("quote", "Quote", "> ‸"),
    BlockTemplate("tasks", "Task list", "- [ ] ‸"),
    BlockTemplate("embed", "Embed an address", '{% embed url="‸" %}'),
    BlockTemplate("download", "File to download", '{% file src="‸" %}'),
    BlockTemplate("divider", "Divider", "---\n\n‸"),
)
"""The blocks in menu order."""
