"""Two versions of a page with all kinds of blocks, and random pages and edits, reproducible by seed."""

from __future__ import annotations

import random

BEFORE = """# Tokens

A token belongs to one workspace. It carries the rights of the
member who made it.

{% hint style="info" %}
Tokens are shown **once**.
{% endhint %}

## Scopes

| Field | Type | What it is |
| --- | --- | --- |
| `name` | text | The name of the token, as people see it |
| `scope` | text | What it may do |
| `old` | number | Not used |

1. Open the settings.
2. Choose *Tokens*.
   - nested one
   - nested two
3. Press [New token](new.md).

{% code title="a.toml" %}
```toml
[auth]
token = "abc"
retries = 3

[other]
a = 1
b = 2
c = 3
d = 4
e = 5
f = 6
```
{% endcode %}

{% tabs %}
{% tab title="Unix" %}
Run `make`.

Then wait.

Then look.

Then go on.
{% endtab %}
{% tab title="Windows" %}
Run `nmake` in the shell that you opened before.
{% endtab %}
{% endtabs %}

<table data-view="cards"><tbody><tr><td>One</td><td>The first card</td></tr><tr><td>Two</td><td>The second card</td></tr></tbody></table>

Old tokens keep working for an hour. See [Scopes](scopes.md).

> A quotation that stays.
"""  # noqa: E501

AFTER = (
    BEFORE.replace("one workspace", "one project")
    .replace("made it.", "made it, and expires after 90 days.")
    .replace('style="info"', 'style="warning"')
    .replace("## Scopes", "## Scopes and rights")
    .replace("`name` | text", "`name` | string")
    .replace("| `old` | number | Not used |", "| `expires` | date | When it stops working |")
    .replace("*Tokens*", "_Tokens_")
    .replace("3. Press [New token](new.md).", "3. Press [New token](tokens/new.md).\n4. Copy it.")
    .replace('"abc"', '"def"')
    .replace("`nmake`", "`nmake /all`")
    .replace("second card", "other card")
    .replace("(scopes.md)", "(rights.md)")
)

_WORDS = "token scope workspace project member rights session error retry limit page guide quickstart install agent"
WORDS = _WORDS.split()


class Writer:
    """Generates pages and edits them."""

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)

    def words(self, least: int = 3, most: int = 12) -> str:
        return " ".join(self.random.choices(WORDS, k=self.random.randint(least, most)))

    def block(self) -> str:
        choice = self.random.randrange(10)
        if choice == 0:
            return f"## {self.words(1, 4)}"
        if choice == 1:
            return "\n".join(f"{'  ' * (n % 2)}- {self.words()}" for n in range(self.random.randint(1, 5)))
        if choice == 2:
            return "\n".join(f"{n + 1}. {self.words()}" for n in range(self.random.randint(1, 4)))
        if choice == 3:
            return "```py\n" + "\n".join(self.words(0, 4) for _ in range(self.random.randint(0, 6))) + "\n```"
        if choice == 4:
            rows = "".join(f"| {self.words(1, 3)} | {self.words()} |\n" for _ in range(self.random.randint(0, 4)))
            return f"| one | two |\n| --- | :-: |\n{rows}".rstrip()
        if choice == 5:
            return f'{{% hint style="info" %}}\n{self.block()}\n\n{self.words()}\n{{% endhint %}}'
        if choice == 6:
            return f"<details>\n<summary>{self.words(1, 3)}</summary>\n\n{self.words()}\n\n</details>"
        return " ".join(f"{self.words(4, 15).capitalize()}." for _ in range(self.random.randint(1, 4)))

    def page(self, blocks: int = 20) -> str:
        return "\n\n".join(self.block() for _ in range(blocks)) + "\n"

    def edited(self, page: str, edits: int = 8) -> str:
        lines = page.split("\n")
        for _ in range(edits):
            at = self.random.randrange(len(lines))
            words = lines[at].split(" ")
            choice = self.random.random()
            if choice < 0.6:
                place = self.random.randrange(len(words))
                words[place : place + self.random.randint(0, 2)] = self.words(1, 2).split()[: self.random.randint(0, 2)]
                lines[at] = " ".join(words)
            elif choice < 0.75:
                lines[at : at + 2] = []
            elif choice < 0.9:
                lines[at:at] = ["", self.block(), ""]
            else:
                line = lines.pop(at)
                place = self.random.randrange(len(lines) + 1)
                lines[place:place] = ["", line, ""]
            lines = lines or [""]
        return "\n".join(lines)
