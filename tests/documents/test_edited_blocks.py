"""Blocks of an edited text: only blocks near the edit are parsed again."""

import random

from tests.table import each_case

from presscheck.documents.markdown.block_splitter import SplitText, split_blocks

LINES = (
    "text",
    "",
    "",
    "# Heading",
    "- item",
    "  - inner",
    "1. one",
    "```",
    "~~~",
    "> quote",
    "> ```",
    "{% hint %}",
    "{% endhint %}",
    "{% a",
    "%}",
    "<div>",
    "</div>",
    "<!--",
    "-->",
    "| a | b |",
    "|---|---|",
    "    code",
    "[^1]: note",
    "---",
    "===",
    "<details>",
    "</details>",
    "<pre>",
    "...",
)
CALM = ("text", "", "", "# Heading", "- item")


@each_case("seed", range(150))
def test_incremental_split_equals_a_complete_split(seed: int) -> None:
    chance = random.Random(seed)
    lines = [chance.choice(LINES if chance.random() < 0.25 else CALM) for _ in range(chance.randint(0, 220))]
    if chance.random() < 0.3:
        lines.insert(0, "---")
    split = SplitText("\n".join(lines))
    for _ in range(12):
        at = chance.randint(0, len(lines))
        removed, added = chance.choice([(1, 1), (0, 1), (0, 3), (2, 0), (4, 1)])
        lines[at : at + removed] = [chance.choice(LINES) for _ in range(added)]
        text = "\n".join(lines)
        split = SplitText(text, split)
        assert split.blocks == split_blocks(text)


def test_most_blocks_are_reused() -> None:
    lines = [line for number in range(1500) for line in (f"Line {number} <b>bold</b>.", "", "# Heading")]
    before = SplitText("\n".join(lines))
    lines[2250] += " more"
    after = SplitText("\n".join(lines), before)
    reused = {id(block) for block in before.blocks}
    assert len(after.blocks) == len(before.blocks) > 2000
    assert sum(id(block) not in reused for block in after.blocks) < 40
