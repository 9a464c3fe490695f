"""URLs of files that differ only in their signature are the same file."""

from __future__ import annotations

from tests.table import each_case

from presscheck.documents.merge.revisions import merge_pages
from presscheck.documents.pages.file_urls import unsigned_url
from presscheck.documents.pages.tree import semantic_changes

FIRST = "https://example.org/files/ab/a.txt?expires=1&signature=aa"
LATER = "https://example.org/files/ab/a.txt?expires=2&signature=bb"
OTHER = "https://example.org/files/cd/a.txt?expires=2&signature=cc"


@each_case(
    ("url", "unsigned"),
    [
        (FIRST, "https://example.org/files/ab/a.txt"),
        ("https://example.org/a?alt=media&signature=x&expires=", "https://example.org/a?alt=media"),
        ("https://example.org/a?alt=media&token=1", "https://example.org/a?alt=media&token=1"),
        ("https://example.org/a?expires=1", "https://example.org/a?expires=1"),
        ("https://example.org/a", "https://example.org/a"),
        ("", ""),
    ],
)
def test_signature_is_removed(url: str, unsigned: str) -> None:
    assert unsigned_url(url) == unsigned


def side(url: str, name: str = "a.txt") -> dict[str, list[dict[str, str]]]:
    return {"files": [{"id": "f", "name": name, "downloadURL": url}]}


def test_another_signature_is_not_a_change() -> None:
    assert semantic_changes(side(FIRST), side(LATER)) == []
    [change] = semantic_changes(side(FIRST), side(OTHER))
    assert change["attributes"]["downloadURL"] == {"before": FIRST, "after": OTHER}


def test_another_signature_is_not_a_conflict() -> None:
    ours, theirs = side(LATER, "b.txt"), side(FIRST.replace("expires=1", "expires=3"))
    merged = merge_pages(side(FIRST), ours, theirs, str, str)
    assert merged.conflicts == [] and merged.files[0]["name"] == "b.txt"
    assert merge_pages(side(FIRST), side(OTHER), side(OTHER.replace("cd", "ef")), str, str).conflicts != []
