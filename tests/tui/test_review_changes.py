"""The changed items of a review: kinds, order, sizes and summaries."""

from typing import Any

import pytest
from tests.hostile_strings import ACTS, HOSTILE

from presscheck.api.content import Pages
from presscheck.api.content_changes import SemanticChanges
from presscheck.engine.review.changes import (
    ChangedItem,
    WordCount,
    change_sizes,
    changed_items,
    in_reading_order,
    is_viewed,
    kinds_text,
    summarize_changes,
)


def items_of(*changes: dict[str, Any]) -> tuple[ChangedItem, ...]:
    return changed_items(SemanticChanges.model_validate({"changes": changes}).changes)


def page(name: str, kind: str = "edited", **more: Any) -> dict[str, Any]:
    return {"type": f"page_{kind}", "page": {"id": name, "type": "document", "title": name.title()}, **more}


EDIT = {"attributes": {"document": {"before": "d1", "after": "d2"}}}


def test_all_changes_of_a_page_are_one_item() -> None:
    (tokens,) = items_of(
        page("tokens", "moved", parent={"after": {"id": "auth", "type": "document", "title": "Auth"}}),
        page("tokens", attributes={"document": {"before": "d1", "after": "d2"}, "title": {"before": "Keys"}}),
    )
    assert tokens.kinds == ("edited", "moved", "renamed")
    assert kinds_text(tokens) == "edited, moved, renamed"
    assert tokens.details == ("moved from the top level to Auth", "title: “Keys” → nothing")
    assert tokens.text == "d2"


def test_a_move_among_siblings_names_the_parent_once() -> None:
    parent = {"id": "auth", "type": "document", "title": "Auth"}
    (moved,) = items_of(page("tokens", "moved", parent={"before": parent, "after": parent}))
    assert moved.details == ("moved within Auth",)


def test_other_changes_are_details() -> None:
    (cover,) = items_of(page("a", attributes={"cover": {"before": {"y": 1}, "after": None}, "emoji": {"after": "x"}}))
    assert cover.kinds == ("details",)
    assert cover.details == ("cover changed", "emoji: nothing → “x”")


def test_files_content_tags_and_variables_are_items() -> None:
    found = items_of(
        {"type": "file_created", "file": {"id": "f", "name": "a.png", "contentType": "image/png", "downloadURL": "x"}},
        {"type": "reusable_content_edited", "reusableContent": {"id": "r", "title": "Note"}, **EDIT},
        {"type": "tag_deleted", "tag": {"slug": "t", "label": "T"}},
        {"type": "variables_edited", "variables": {"v": {"before": "1", "after": "2"}}},
        {"type": "something_new"},
    )
    assert [(one.noun, one.kinds) for one in found] == [
        ("file", ("added",)),
        ("content", ("edited",)),
        ("tag", ("deleted",)),
        ("variables", ("edited",)),
    ]
    assert found[3].details == ("v: “1” → “2”",)
    assert not any(one.has_text for one in found)


def test_order_is_pages_in_reading_order_then_deleted_pages_then_other_items() -> None:
    tree = Pages.model_validate({"pages": [{"id": "a", "pages": [{"id": "b"}]}, {"id": "c"}]}).pages
    found = items_of(page("gone", "deleted"), {"type": "tag_created", "tag": {"slug": "t"}}, page("c"), page("b"))
    assert [one.id for one in in_reading_order(found, tree)] == ["b", "c", "gone", "t"]


@pytest.mark.parametrize(
    ("kind", "words", "shown"),
    [
        ("created", None, ("new",)),
        ("created", WordCount(1088, 0), ("new +1,088",)),
        ("edited", None, ("edited",)),
        ("edited", WordCount(30, 10), ("+30 −10",)),
        ("edited", WordCount(3, 0), ("+3",)),
        ("edited", WordCount(0, 10), ("−10",)),
        ("edited", WordCount(0, 0), ("edited",)),
        ("moved", None, ("moved",)),
        ("deleted", WordCount(0, 9), ("deleted",)),
    ],
)
def test_the_size_of_a_change(kind: str, words: WordCount | None, shown: tuple[str, ...]) -> None:
    (one,) = items_of(page("a", kind, **(EDIT if kind == "edited" else {})))
    assert change_sizes(one, words) == shown


@pytest.mark.parametrize(("words", "phrase"), [((0, 0), ""), ((0, 1), "−1 word"), ((1, 1), "+1 −1 words")])
def test_counted_words_have_their_noun(words: tuple[int, int], phrase: str) -> None:
    assert WordCount(*words).phrase == phrase


def test_a_move_names_the_parent_before() -> None:
    parent = {"before": {"id": "g", "title": "Guides"}, "after": {"id": "r", "title": "Reference"}}
    (moved,) = items_of(page("a", "moved", parent=parent))
    assert change_sizes(moved, None) == ("moved from Guides", "moved")
    (both,) = items_of(page("a", **EDIT), page("a", "moved", parent=parent))
    assert change_sizes(both, WordCount(3, 1)) == ("+3 −1 · moved from Guides", "+3 −1 · moved", "+3 −1")
    (within,) = items_of(page("a", "moved", parent={"before": parent["after"], "after": parent["after"]}))
    assert change_sizes(within, None) == ("moved",)


def test_a_count_names_the_noun_once() -> None:
    found = items_of(page("a", "created"), page("b", "created"), page("c", **EDIT), page("d", "moved"))
    assert summarize_changes(found) == "2 pages added, 1 edited, 1 moved"
    assert summarize_changes(found[2:]) == "1 page edited, 1 moved"
    assert summarize_changes(()) == ""


def test_a_viewed_mark_is_valid_until_the_text_changes() -> None:
    (one,) = items_of(page("a", **EDIT))
    assert is_viewed(one, {"a": "d2"}, "r9")
    assert is_viewed(one, {"a": "r9"}, "r9")
    assert not is_viewed(one, {"a": "d1"}, "r9")
    assert not is_viewed(one, {}, "r9")


@pytest.mark.parametrize("text", HOSTILE[::7])
def test_untrusted_text_is_never_passed_unfiltered(text: str) -> None:
    found = items_of(
        page(text, attributes={text: {"before": text, "after": text}}),
        page(text, "moved", parent={"before": {"id": "x", "title": text}}),
        {"type": "file_created", "file": {"id": text, "name": text}},
    )
    for one in found:
        assert not any(ACTS.search(shown) for shown in (one.title, *one.details))
