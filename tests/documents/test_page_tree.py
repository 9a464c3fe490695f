from __future__ import annotations

from typing import Any

import pytest
from tests.documents.content_samples import Editor
from tests.table import each_case

from presscheck.api.content_changes import SemanticChanges
from presscheck.documents.pages.tree import (
    Page,
    PageNotInTree,
    find,
    insert,
    move,
    remove,
    semantic_changes,
    slugify,
    unique_slug,
    walk,
    with_parents,
    with_slugs,
)

LAYOUT = {"width": "wide", "cover": True}


def page(page_id: str, *pages: Page, **details: Any) -> Page:
    return {
        "id": page_id,
        "type": "document",
        "title": page_id.title(),
        "slug": page_id,
        "pages": list(pages),
    } | details


TREE = [
    page("intro"),
    page("auth", page("tokens", page("rotate")), page("scopes"), type="group"),
    {"id": "blog", "type": "link", "title": "Blog", "target": {"kind": "url", "url": "https://example.com"}},
    page("errors"),
]


def shape(tree: list[Page]) -> list[Any]:
    return [[node["id"], shape(node["pages"])] if node.get("pages") else node["id"] for node in tree]


def with_page(tree: list[Page], page_id: str, **details: Any) -> list[Page]:
    changed = details if any(node["id"] == page_id for node in tree) else {}
    return [
        {**node, **(changed if node["id"] == page_id else {})}
        | ({"pages": with_page(node["pages"], page_id, **details)} if "pages" in node else {})
        for node in tree
    ]


def changes(after: list[Page], before: list[Page] = TREE) -> list[dict[str, Any]]:
    return semantic_changes({"pages": before}, {"pages": after})


def test_walk_yields_parents_positions_and_paths() -> None:
    assert [
        (place.page["id"], place.above and place.above["id"], place.position, place.path) for place in walk(TREE)
    ] == [
        ("intro", None, 0, "intro"),
        ("auth", None, 1, "auth"),
        ("tokens", "auth", 0, "auth/tokens"),
        ("rotate", "tokens", 0, "auth/tokens/rotate"),
        ("scopes", "auth", 1, "auth/scopes"),
        ("blog", None, 2, None),
        ("errors", None, 3, "errors"),
    ]


def test_pages_with_their_parents_come_in_the_same_order() -> None:
    assert [(place.page, place.above) for place in with_parents(TREE)] == [
        (place.page, place.above) for place in walk(TREE)
    ]


def test_pages_whose_slugs_stay_are_shared() -> None:
    tree: list[Page] = [
        {"id": "a", "type": "document", "slug": "a", "pages": []},
        {"id": "b", "type": "document", "slug": "a", "pages": []},
    ]
    again = with_slugs(tree)
    assert again[0] is tree[0]
    assert [page["slug"] for page in again] == ["a", "a-1"]
    assert tree[1]["slug"] == "a"


def test_insert_at_an_index_and_at_the_end() -> None:
    assert shape(insert(TREE, page("new"), "tokens", 0))[1] == ["auth", [["tokens", ["new", "rotate"]], "scopes"]]
    assert shape(insert(TREE, page("new"), None, 1))[:2] == ["intro", "new"]
    assert shape(insert(TREE, page("new"), "errors"))[-1] == ["errors", ["new"]]
    assert shape(insert(TREE, page("new")))[-1] == "new"


def test_remove_includes_subpages() -> None:
    assert shape(remove(TREE, "tokens")) == ["intro", ["auth", ["scopes"]], "blog", "errors"]


def test_move_keeps_subpages() -> None:
    assert shape(move(TREE, "tokens", None, 0)) == [
        ["tokens", ["rotate"]],
        "intro",
        ["auth", ["scopes"]],
        "blog",
        "errors",
    ]
    assert shape(move(TREE, "errors", None, 1))[1] == "errors"


@each_case(("page_id", "into"), [("tokens", "rotate"), ("tokens", "tokens"), ("x", None), ("tokens", "x")])
def test_move_into_itself_or_an_unknown_page_raises(page_id: str, into: str | None) -> None:
    with pytest.raises(PageNotInTree):
        move(TREE, page_id, into)


def test_arguments_are_not_changed() -> None:
    editor = Editor(3)
    tree = editor.revision(30)["pages"]
    before = repr(tree)
    some = next(place.page["id"] for place in walk(tree) if place.page.get("pages"))
    for changed in (insert(tree, page("new"), some), remove(tree, some), move(tree, some)):
        assert changed is not tree
    assert repr(tree) == before


def test_slugs() -> None:
    assert slugify("What’s new in 2.0?") == "what-s-new-in-2-0"
    assert slugify("Über uns") == "über-uns"
    assert slugify("???") == "page"
    assert len(slugify("word " * 60)) <= 100
    assert unique_slug("a", {"a", "a-1"}) == "a-2"


def test_slugs_are_unique_and_settled_pages_keep_theirs() -> None:
    tree = [page("a", slug="x"), page("b", slug="x", pages=[page("c", slug="x")]), page("d", slug="")]
    assert [node["slug"] for node in with_slugs(tree)] == ["x", "x-1", "d"]
    assert [node["slug"] for node in with_slugs(tree, ["b"])] == ["x-1", "x", "d"]
    assert [place.path for place in walk(with_slugs(tree))] == ["x", "x-1", "x-1/x", "d"]


def test_no_changes_between_equal_trees() -> None:
    assert changes(TREE) == []
    assert changes(with_page(TREE, "intro", updatedAt="2026-01-01", hidden=False)) == []


def test_page_created() -> None:
    assert changes(insert(TREE, page("new"), "auth", 1)) == [
        {"type": "page_created", "page": {"id": "new", "type": "document", "title": "New", "path": "auth/new"}}
    ]


def test_deleted_pages_are_reported_one_by_one() -> None:
    assert changes(remove(TREE, "tokens")) == [
        {
            "type": "page_deleted",
            "page": {"id": "tokens", "type": "document", "title": "Tokens", "path": "auth/tokens"},
        },
        {
            "type": "page_deleted",
            "page": {"id": "rotate", "type": "document", "title": "Rotate", "path": "auth/tokens/rotate"},
        },
    ]


def test_page_edited() -> None:
    after = with_page(TREE, "intro", title="Start", documentId="d2", layout=LAYOUT, emoji="1f680", icon="star")
    assert changes(after, with_page(TREE, "intro", documentId="d1")) == [
        {
            "type": "page_edited",
            "page": {"id": "intro", "type": "document", "title": "Start", "path": "intro"},
            "attributes": {
                "title": {"before": "Intro", "after": "Start"},
                "document": {"before": "d1", "after": "d2"},
                "emoji": {"after": "1f680"},
                "layout": {"after": LAYOUT},
                "icon": {"after": "star"},
            },
        }
    ]


def test_link_edited() -> None:
    target = {"kind": "url", "url": "https://example.org"}
    assert changes(with_page(TREE, "blog", target=target)) == [
        {
            "type": "page_edited",
            "page": {"id": "blog", "type": "link", "title": "Blog"},
            "attributes": {"target": {"before": {"kind": "url", "url": "https://example.com"}, "after": target}},
        }
    ]


def test_moved_page_names_both_parents() -> None:
    [moved] = changes(move(TREE, "scopes", None, 0))
    above = {"id": "auth", "type": "group", "title": "Auth", "path": "auth"}
    assert moved == {
        "type": "page_moved",
        "page": {"id": "scopes", "type": "document", "title": "Scopes", "path": "scopes"},
        "parent": {"before": above},
    }


def test_subpages_of_a_moved_page_did_not_move() -> None:
    assert [change["page"]["id"] for change in changes(move(TREE, "tokens", "errors"))] == ["tokens"]


def test_reordering_reports_the_fewest_pages() -> None:
    [moved] = changes(move(TREE, "errors", None, 0))
    assert (moved["type"], moved["page"]["id"], moved["parent"]) == ("page_moved", "errors", {})


def test_added_and_deleted_siblings_are_no_moves() -> None:
    after = insert(remove(TREE, "intro"), page("new"), None, 0)
    assert [change["type"] for change in changes(after)] == ["page_created", "page_deleted"]


def test_edited_and_moved_are_two_changes() -> None:
    after = with_page(move(TREE, "scopes", "errors"), "scopes", title="Rights")
    assert [(change["type"], change["page"]["id"]) for change in changes(after)] == [
        ("page_edited", "scopes"),
        ("page_moved", "scopes"),
    ]


def test_page_with_another_type_is_another_page() -> None:
    after = with_page(TREE, "errors", type="group")
    assert [change["type"] for change in changes(after)] == ["page_created", "page_deleted"]


def test_files_reusable_content_and_variables() -> None:
    before = {
        "files": [
            {"id": "a", "name": "a.png", "contentType": "image/png", "downloadURL": "/a", "size": 1},
            {"id": "b", "name": "b.png", "contentType": "image/png", "downloadURL": "/b", "size": 1},
        ],
        "reusableContents": [{"id": "r", "title": "Note", "document": "d1"}, {"id": "s", "title": "Old"}],
        "variables": {"version": "1", "gone": True, "same": 1},
    }
    after = {
        "files": [
            {"id": "a", "name": "a.png", "contentType": "image/png", "downloadURL": "/a2", "size": 0},
            {"id": "c", "name": "c.pdf", "contentType": "application/pdf", "downloadURL": "/c", "size": 3},
        ],
        "reusableContents": [{"id": "r", "title": "Note", "document": "d2"}, {"id": "t", "title": "New"}],
        "variables": {"version": "2", "new": 5, "same": 1},
    }
    result = semantic_changes(before, after)
    assert result == [
        {
            "type": "file_edited",
            "file": {"id": "a", "name": "a.png", "contentType": "image/png", "downloadURL": "/a2"},
            "attributes": {"downloadURL": {"before": "/a", "after": "/a2"}, "size": {"before": 1, "after": 0}},
        },
        {
            "type": "file_created",
            "file": {"id": "c", "name": "c.pdf", "contentType": "application/pdf", "downloadURL": "/c"},
        },
        {"type": "file_deleted", "file": {"id": "b", "name": "b.png", "contentType": "image/png", "downloadURL": "/b"}},
        {
            "type": "reusable_content_edited",
            "reusableContent": {"id": "r", "title": "Note", "document": "d2"},
            "attributes": {"document": {"before": "d1", "after": "d2"}},
        },
        {"type": "reusable_content_created", "reusableContent": {"id": "t", "title": "New"}},
        {"type": "reusable_content_deleted", "reusableContent": {"id": "s", "title": "Old"}},
        {
            "type": "variables_edited",
            "variables": {"version": {"before": "1", "after": "2"}, "new": {"after": 5}, "gone": {"before": True}},
        },
    ]
    read = SemanticChanges.model_validate({"changes": result})
    assert [change.type for change in read.changes] == [change["type"] for change in result]


@each_case("seed", range(60))
def test_random_edits_are_all_reported_in_tree_order(seed: int) -> None:
    editor = Editor(seed)
    before = editor.revision(25)
    after = editor.edited(before, "o", 10)
    told = semantic_changes(before, after)
    assert told == semantic_changes(before, after)
    old, new = ({place.page["id"]: place for place in walk(side["pages"])} for side in (before, after))
    by_type = {kind: {change["page"]["id"] for change in told if change["type"] == f"page_{kind}"} for kind in _KINDS}
    assert by_type["created"] == new.keys() - old.keys()
    assert by_type["deleted"] == old.keys() - new.keys()
    both = old.keys() & new.keys()
    assert {page_id for page_id in both if _above(old[page_id]) != _above(new[page_id])} <= by_type["moved"]
    assert by_type["edited"] == {page_id for page_id in both if _said(old[page_id]) != _said(new[page_id])}
    order = [change["page"]["id"] for change in told if "page" in change and change["type"] != "page_deleted"]
    assert order == sorted(order, key=[*new].index)


_KINDS = ("created", "edited", "moved", "deleted")


def _above(place: Any) -> str | None:
    return place.above["id"] if place.above else None


def _said(place: Any) -> dict[str, Any]:
    return {name: value for name, value in place.page.items() if name not in ("pages", "updatedAt")}


def test_many_siblings_are_compared() -> None:
    before = [page(f"p{n}") for n in range(500)]
    moved = changes(before[1:] + before[:1], before)
    assert [change["page"]["id"] for change in moved] == ["p0"]
    assert len(changes(before[::-1], before)) == 499


def test_find() -> None:
    place = find(TREE, "rotate")
    assert place is not None
    assert place.path == "auth/tokens/rotate"
    assert find(TREE, "x") is None
