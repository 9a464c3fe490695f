"""Every link and anchor in the manual and in the files at the root has a target; SUMMARY.md lists every page once."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path
from urllib.parse import unquote, urlsplit

from tests.docs.manual_pages import AT_ROOT, FILES, PAGES, blocks_of, inlines_of, name_of
from tests.manual import DOCS, SUMMARY
from tests.table import each_case

SCHEMES = ("https", "mailto")
LOWEST = 3
"""Deepest level of headings that links may target; site generators list no deeper headings."""


def slug(heading: str) -> str:
    """Return the anchor of a heading, as GitHub and Python-Markdown create it for plain words."""
    return re.sub(r"\s", "-", re.sub(r"[^\w\s-]", "", heading.strip().lower()))


def anchors_of(file: Path) -> list[str]:
    """Return the anchors of the headings of a file that links may target."""
    blocks = blocks_of(file)
    return [
        slug(text.content.replace("`", ""))
        for heading, text in pairwise(blocks)
        if heading.type == "heading_open" and int(heading.tag[1]) <= LOWEST
    ]


def targets_of(file: Path) -> Iterator[str]:
    """Yield the targets of the links and images of a file, as written."""
    for token in inlines_of(file):
        target = token.attrs.get("href") or token.attrs.get("src")
        if target is not None:
            yield str(target)


def problem(file: Path, target: str) -> str | None:
    """Check a link of a file. Returns the error, or None if the target exists or is on the web."""
    parts = urlsplit(target)
    if parts.scheme or parts.netloc:
        return None if parts.scheme in SCHEMES else f"{target}: not an address of the web"
    path = (file.parent / unquote(parts.path)).resolve() if parts.path else file
    if not path.is_file():
        return f"{target}: the file does not exist"
    if file in PAGES and not path.is_relative_to(DOCS):
        return f"{target}: not in the manual, so its site does not have it"
    if parts.fragment and (path.suffix != ".md" or parts.fragment not in anchors_of(path)):
        return f"{target}: no heading with this anchor"
    return None


@each_case("file", FILES)
def test_every_link_has_a_target(file: Path) -> None:
    problems = [found for target in targets_of(file) if (found := problem(file, target))]
    assert not problems, "\n".join(problems)


@each_case("file", FILES)
def test_anchors_are_unique(file: Path) -> None:
    counts = Counter(anchors_of(file))
    assert not [anchor for anchor, number in counts.items() if number > 1]


@each_case(
    ("target", "reason"),
    [
        ("gone.md", "the file does not exist"),
        ("keys.md#gone", "no heading"),
        ("#gone", "no heading"),
        ("../README.md", "not in the manual"),
        ("ftp://example.org", "not an address"),
        ("guide", "the file does not exist"),
    ],
)
def test_broken_link_is_reported(target: str, reason: str) -> None:
    assert reason in (problem(DOCS / "README.md", target) or "")


def test_working_links_are_accepted() -> None:
    assert problem(DOCS / "README.md", "guide/offline.md#the-outbox") is None
    assert problem(DOCS / "guide" / "offline.md", "#the-outbox") is None
    assert problem(AT_ROOT[0], "docs/keys.md") is None
    assert sum(1 for file in FILES for _ in targets_of(file)) > 100


def test_summary_lists_every_page_once() -> None:
    listed = Counter((SUMMARY.parent / target).resolve() for target in targets_of(SUMMARY))
    assert set(listed) == {page for page in PAGES if page != SUMMARY}
    assert set(listed.values()) == {1}


def test_summary_is_a_single_list() -> None:
    """Site generators expect a single list whose items are links, optionally with a nested list."""
    kinds = [block.type for block in blocks_of(SUMMARY) if block.level == 0]
    assert kinds == ["heading_open", "heading_close", "bullet_list_open", "bullet_list_close"]
    for block in blocks_of(SUMMARY):
        if block.type == "inline" and block.level > 1:
            assert [token.type for token in block.children or ()] == ["link_open", "text", "link_close"], block.content


def test_each_page_starts_with_its_only_title() -> None:
    for page in PAGES:
        tags = [block.tag for block in blocks_of(page) if block.type == "heading_open"]
        assert tags[0] == "h1" and tags.count("h1") == 1, name_of(page)


def test_list_indentation_works_in_every_generator() -> None:
    """Python-Markdown needs a blank line before a list, and four spaces before the items of a nested list."""
    for page in PAGES:
        lines = page.read_text("utf-8").split("\n")
        for block in blocks_of(page):
            if block.type in ("bullet_list_open", "ordered_list_open") and block.map:
                at = block.map[0]
                above = lines[at - 1].strip() if at else ""
                indent = len(lines[at]) - len(lines[at].lstrip())
                if block.level == 0:
                    assert above == "", f"{name_of(page)}:{at + 1}: no blank line before a list"
                else:
                    assert indent % 4 == 0 and indent, f"{name_of(page)}:{at + 1}: a list in a list needs four spaces"
