"""Find and replace in the text of a page: hits and changes."""

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from presscheck.documents.markdown.code_ranges import code_ranges, without_code
from presscheck.documents.pages.replacement import (
    Hit,
    Match,
    PageText,
    apply_hits,
    hits_of,
    searched_fields,
    surroundings,
    title_range,
)

PAGE = """\
---
description: The old name
---

# The old page

An old word, `old` code and [an old link](old.md).

```old
old code
```

    old, too

<pre>old</pre> <!-- old `comment -->
"""


def matches_of(page: PageText, find: str, new: str) -> dict[Any, list[Match]]:
    """Return all positions of a text in the fields of a page."""
    found: dict[Any, list[Match]] = {}
    for field, text in searched_fields(page).items():
        at = -1
        while (at := text.find(find, at + 1)) >= 0:
            if not found.get(field) or at >= found[field][-1].end:
                found.setdefault(field, []).append(Match(at, at + len(find), new))
    return found


def hits_in(page: PageText, find: str, new: str, *, in_code: bool = False) -> tuple[Hit, ...]:
    return hits_of(page, matches_of(page, find, new), in_code=in_code)


def test_hits_have_their_fields_and_lines() -> None:
    page = PageText("The old page", "The old name", PAGE)
    assert [(hit.kind, hit.line) for hit in hits_in(page, "old", "new")] == [
        ("title", 1),
        ("front matter", 2),
        ("text", 7),
        ("text", 7),
        ("link target", 7),
        ("text", 15),
    ]
    inside = [hit.line for hit in hits_in(page, "old", "new", in_code=True) if hit.kind == "code"]
    assert inside == [7, 9, 10, 13, 15]
    assert hits_in(page, "old", "old") == (), "nothing would change"
    assert hits_of(page, {"markdown": [Match(40, 40, "x")]}, in_code=True) == (), "an empty match"
    [first, *_] = [hit for hit in hits_in(page, "old", "new") if hit.kind == "text"]
    assert surroundings(page, first) == ("An ", " word, `old` code and [an old link](old.md).")
    assert surroundings(page, first, 3) == ("An ", " wo")


def test_title_is_one_hit_and_changes_its_heading() -> None:
    page = PageText("The old page", "The old name", PAGE)
    [title] = [hit for hit in hits_in(page, "old", "new") if hit.kind == "title"]
    after = apply_hits(page, [title])
    assert after.title == "The new page"
    assert after.markdown == PAGE.replace("# The old page", "# The new page")
    escaped = PageText("a_b old", "", "# a\\_b old\n\nold")
    assert title_range(escaped) == (2, 10)
    changed = apply_hits(escaped, hits_in(escaped, "old", "new"))
    assert changed == PageText("a_b new", "", "# a_b new\n\nnew")
    other = PageText("Old title", "", "# Another heading, old\n")
    assert title_range(other) is None
    assert [hit.kind for hit in hits_in(other, "old", "new")] == ["text"]


def test_description_outside_front_matter_is_searched() -> None:
    page = PageText("Title", "An old description", "# Title\n\nText.")
    [hit] = hits_in(page, "old", "new")
    assert apply_hits(page, [hit]) == PageText("Title", "An new description", "# Title\n\nText.")
    group = PageText("An old group", "", None)
    assert apply_hits(group, hits_in(group, "old", "new")) == PageText("An new group", "", None)


def test_code_is_found_in_every_form() -> None:
    for text, code in (
        ("a `b` c", ["b"]),
        ("a ``b ` b`` c", ["b ` b"]),
        ("~~~\nb\n~~~\nc", ["~~~\nb\n~~~"]),
        ("```\nnever closed", ["```\nnever closed"]),
        ("a\n\n    b\n\nc", ["    b"]),
        ("- a\n  ```\n  b\n  ```\n", ["  ```\n  b\n  ```"]),
        ("<code>b</code> c <CODE>d</CODE>", ["b", "d"]),
        ("<!-- `a -->b` c", []),
        ("a `b\n\nc` d", []),
        ("a\r\n\r\n    b\r\n", ["    b"]),
    ):
        assert [text[start:end] for start, end in code_ranges(text)] == code, text
        assert len(without_code(text)) == len(text)


TEXTS = st.text(alphabet="ab `~\n#-<>\\[]()old\r", max_size=60)
PAGES = st.builds(PageText, st.text(alphabet="ab old", max_size=8), st.text(alphabet="ab old", max_size=8), TEXTS)
REPEATED = st.builds(
    lambda title, text: PageText(title, "", f"# {title}\n\n{text}"), st.text(alphabet="abo", min_size=1), TEXTS
)
FINDS = st.text(alphabet="ab old`\n", min_size=1, max_size=3)


@given(PAGES | REPEATED)
def test_applying_no_hit_changes_nothing(page: PageText) -> None:
    assert apply_hits(page, []) == page


@pytest.mark.slow
@settings(max_examples=40)
@given(PAGES | REPEATED, FINDS, st.text(alphabet="xyz", max_size=4), st.booleans(), st.data())
def test_only_chosen_hits_change(page: PageText, find: str, new: str, in_code: bool, data: st.DataObject) -> None:
    hits = hits_in(page, find, new, in_code=in_code)
    chosen = [hit for hit in hits if data.draw(st.booleans())]
    after = apply_hits(page, chosen)
    for field in ("title", "description", "markdown"):
        text, changed = getattr(page, field), getattr(after, field)
        edits = [(hit.start, hit.end, hit.new) for hit in chosen if hit.field == field]
        repeated = title_range(page) if field == "markdown" else None
        if repeated and after.title != page.title:
            edits.append((*repeated, after.title))
        at = seen = 0
        for start, end, words in sorted(edits):
            assert changed[seen : seen + start - at] == text[at:start], "what is between the hits stays"
            seen += start - at
            assert changed[seen : seen + len(words)] == words
            at, seen = end, seen + len(words)
        assert changed[seen:] == text[at:]
    if not in_code:
        ranges = code_ranges(page.markdown or "")
        in_text = [hit for hit in hits if hit.field == "markdown" and hit.kind == "text"]
        assert not [hit for hit in in_text for start, end in ranges if hit.start < end and hit.end > start]
