from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any

from tests.documents.content_samples import Editor, Revision
from tests.table import each_case

from presscheck.documents.merge.revisions import Conflict, MergedTree, documents_to_merge, merge_pages
from presscheck.documents.pages.tree import Page, find, insert, move, remove, walk, with_slugs

SEEDS = range(6 * int(os.environ.get("PRESSCHECK_CASES", "5")))
"""Number of random trees; `make edits` uses 150."""


def merged(editor: Editor, base: Revision, ours: Revision, theirs: Revision) -> MergedTree:
    needed = set(documents_to_merge(base, ours, theirs))

    def read(document: str) -> str:
        assert document in needed, "the service reads the needed texts beforehand"
        return editor.library.read(document)

    return merge_pages(base, ours, theirs, read, editor.library.write)


def revision_of(tree: MergedTree) -> Revision:
    return {
        "pages": tree.pages,
        "files": tree.files,
        "reusableContents": tree.reusable_contents,
        "variables": tree.variables,
    }


def ids(revision: Revision) -> set[str]:
    return {place.page["id"] for place in walk(revision["pages"])}


def says(page: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in page.items() if name not in ("pages", "slug", "updatedAt")}


class TestRandomTrees:
    @each_case("seed", SEEDS)
    def test_changes_of_one_side_are_taken_unchanged(self, seed: int) -> None:
        editor = Editor(seed)
        base = editor.revision(20)
        side = editor.edited(base, "o", 12)
        for ours, theirs in ((side, base), (base, side), (side, side)):
            tree = merged(editor, base, ours, theirs)
            assert revision_of(tree) == side
            assert tree.conflicts == []

    @each_case("seed", SEEDS)
    def test_no_page_of_either_side_is_dropped(self, seed: int) -> None:
        editor = Editor(seed)
        base = editor.revision(20)
        ours, theirs = editor.edited(base, "o", 12), editor.edited(base, "t", 12)
        result = revision_of(merged(editor, base, ours, theirs))
        assert len(ids(result)) == sum(1 for _ in walk(result["pages"]))
        for dropped in (ids(base) | ids(ours) | ids(theirs)) - ids(result):
            sides = [find(side["pages"], dropped) for side in (ours, theirs)]
            was = find(base["pages"], dropped)
            assert was
            assert None in sides
            assert all(place is None or says(place.page) == says(was.page) for place in sides)

    @each_case("seed", SEEDS)
    def test_edits_of_one_side_are_in_the_result(self, seed: int) -> None:
        editor = Editor(seed)
        base = editor.revision(20)
        ours, theirs = editor.edited(base, "o", 12), editor.edited(base, "t", 12)
        result = revision_of(merged(editor, base, ours, theirs))
        for side, other in ((ours, theirs), (theirs, ours)):
            for place in walk(side["pages"]):
                page_id = place.page["id"]
                was, there = find(base["pages"], page_id), find(other["pages"], page_id)
                is_edited = was is None or says(was.page) != says(place.page)
                if is_edited and (there is None or (was and says(was.page) == says(there.page))):
                    now = find(result["pages"], page_id)
                    assert now and says(now.page) == says(place.page)

    @each_case("seed", SEEDS)
    def test_slugs_stay_unique_and_live_pages_keep_theirs(self, seed: int) -> None:
        editor = Editor(seed)
        base = editor.revision(20)
        ours, theirs = editor.edited(base, "o", 12), editor.edited(base, "t", 12)
        result = revision_of(merged(editor, base, ours, theirs))
        assert with_slugs(result["pages"]) == result["pages"]

    @each_case("seed", SEEDS)
    def test_merging_again_changes_nothing(self, seed: int) -> None:
        editor = Editor(seed)
        base = editor.revision(20)
        ours, theirs = editor.edited(base, "o", 6), editor.edited(base, "t", 6)
        first = merged(editor, base, ours, theirs)
        again = merged(editor, theirs, revision_of(first), theirs)
        assert again == first._replace(conflicts=[])


def page(page_id: str, *pages: Page, **details: Any) -> Page:
    return {"id": page_id, "type": "document", "title": page_id, "slug": page_id, "pages": list(pages)} | details


TREE = [page("intro"), page("auth", page("tokens"), page("scopes")), page("errors")]


def joined(ours: Callable[[list[Page]], list[Page]], theirs: Callable[[list[Page]], list[Page]]) -> MergedTree:
    texts = {"old": "One two three.\n", "here": "One four three.\n", "there": "One five three.\n"}
    sides = ({"pages": ours(TREE)}, {"pages": theirs(TREE)})
    return merge_pages({"pages": TREE}, *sides, texts.__getitem__, lambda text: text)


def shape(tree: list[Page]) -> list[Any]:
    return [[one["id"], shape(one["pages"])] if one.get("pages") else one["id"] for one in tree]


def with_page(page_id: str, **details: Any) -> Callable[[list[Page]], list[Page]]:
    def change(tree: list[Page]) -> list[Page]:
        return [
            {**one, **(details if one["id"] == page_id else {}), "pages": change(one.get("pages", []))} for one in tree
        ]

    return change


def kinds(tree: MergedTree) -> list[tuple[str, str]]:
    return [(conflict.page_id, conflict.kind) for conflict in tree.conflicts]


def test_deleted_in_request_but_edited_live_is_kept() -> None:
    result = joined(lambda tree: remove(tree, "auth"), with_page("tokens", title="Keys"))
    assert shape(result.pages) == ["intro", "errors", "tokens"]
    assert kinds(result) == [("tokens", "deleted"), ("tokens", "moved")]
    assert "Deleted in the change request" in result.conflicts[0].reason
    assert "moved up" in result.conflicts[1].reason


def test_deleted_live_but_edited_in_request_is_kept() -> None:
    result = joined(with_page("errors", description="All of them"), lambda tree: remove(tree, "errors"))
    assert shape(result.pages) == shape(TREE)
    assert [conflict.reason for conflict in result.conflicts] == [
        "Deleted live and edited in the change request: kept."
    ]


def test_page_added_below_a_deleted_one_moves_up() -> None:
    result = joined(lambda tree: insert(tree, page("new"), "auth", 1), lambda tree: remove(tree, "auth"))
    assert shape(result.pages) == ["intro", "errors", "new"]
    assert kinds(result) == [("new", "moved")]


def test_page_added_below_one_that_became_a_link_moves_up() -> None:
    to_link = with_page("errors", type="link")
    result = joined(lambda tree: insert(tree, page("new"), "errors", 0), to_link)
    assert shape(result.pages) == [*shape(TREE), "new"]
    assert kinds(result) == [("new", "moved")]
    assert result.conflicts[0].reason == "Its parent page is a link now (errors): it moved up."


def test_page_on_one_side_loses_its_path() -> None:
    for ours, theirs in ((True, False), (False, True)):
        result = joined(
            *(lambda tree, has=has: insert(tree, page("new", path="x/new")) if has else tree for has in (ours, theirs))
        )
        assert shape(result.pages)[-1] == "new"
        assert "path" not in result.pages[-1]


def test_different_paths_are_not_a_conflict() -> None:
    result = joined(with_page("auth", title="Ours", path="a"), with_page("auth", path="b"))
    assert kinds(result) == []
    assert (result.pages[1]["title"], "path" in result.pages[1]) == ("Ours", False)


def test_page_moved_out_of_a_deleted_one_is_kept() -> None:
    result = joined(lambda tree: remove(tree, "auth"), lambda tree: move(tree, "tokens", "intro"))
    assert shape(result.pages) == [["intro", ["tokens"]], "errors"]
    assert kinds(result) == [("tokens", "deleted")]


def test_both_sides_moved_a_page() -> None:
    result = joined(lambda tree: move(tree, "tokens", "intro"), lambda tree: move(tree, "tokens", "errors"))
    assert shape(result.pages) == [["intro", ["tokens"]], ["auth", ["scopes"]], "errors"]
    assert kinds(result) == [("tokens", "moved")]


def test_both_sides_moved_a_page_to_the_same_place() -> None:
    result = joined(lambda tree: move(tree, "tokens", "intro"), lambda tree: move(tree, "tokens", "intro"))
    assert shape(result.pages) == [["intro", ["tokens"]], ["auth", ["scopes"]], "errors"]
    assert result.conflicts == []


def test_each_side_moved_one_page_below_the_other() -> None:
    result = joined(lambda tree: move(tree, "intro", "errors"), lambda tree: move(tree, "errors", "intro"))
    assert shape(result.pages) == [["auth", ["tokens", "scopes"]], ["errors", ["intro"]]]
    assert kinds(result) == [("errors", "moved")]


def test_one_side_reordered_and_the_other_added_siblings() -> None:
    result = joined(lambda tree: move(tree, "errors", None, 0), lambda tree: insert(tree, page("new"), None, 1))
    assert shape(result.pages) == ["errors", "intro", "new", ["auth", ["tokens", "scopes"]]]
    assert result.conflicts == []


def test_both_sides_added_at_the_same_place() -> None:
    result = joined(lambda tree: insert(tree, page("ours")), lambda tree: insert(tree, page("theirs")))
    assert shape(result.pages) == [*shape(TREE), "ours", "theirs"]
    assert result.conflicts == []


def test_live_page_keeps_its_slug_against_a_new_one() -> None:
    result = joined(
        lambda tree: insert(tree, page("ours", slug="new")), lambda tree: insert(tree, page("theirs", slug="new"))
    )
    assert [merged_page["slug"] for merged_page in result.pages[-2:]] == ["new-1", "new"]
    assert result.conflicts == []


def test_conflict_in_one_field_and_merge_of_others() -> None:
    result = joined(
        with_page("intro", title="Start", emoji="1f680", layout={"width": "wide", "cover": True}),
        with_page("intro", title="Begin", hidden=True, layout={"outline": False, "cover": True}),
    )
    intro = result.pages[0]
    assert intro["title"] == "Start"
    assert intro["hidden"] is True
    assert intro["layout"] == {"width": "wide", "cover": True, "outline": False}
    assert [conflict.reason for conflict in result.conflicts] == [
        "Both sides changed its title: the change request wins."
    ]


def test_conflict_in_a_text() -> None:
    base = with_page("intro", documentId="old")(TREE)
    texts = {"old": "One two three.\n", "here": "One four three.\n", "there": "One five three.\n"}
    result = merge_pages(
        {"pages": base},
        {"pages": with_page("intro", documentId="here")(TREE)},
        {"pages": with_page("intro", documentId="there")(TREE)},
        texts.__getitem__,
        lambda text: text,
    )
    assert "four" in result.pages[0]["documentId"]
    assert "five" in result.pages[0]["documentId"]
    assert result.conflicts == [Conflict("intro", "intro", "text", "1 conflict: both versions are in the page.")]


def test_texts_are_read_only_where_both_sides_changed_them() -> None:
    def side(page: str | None, note: str) -> Revision:
        return {"pages": with_page("intro", documentId=page)(TREE), "reusableContents": [{"id": "r", "document": note}]}

    base = side("old", "note")
    assert set(documents_to_merge(base, side("here", "mine"), side("there", "theirs"))) == {
        *("old", "here", "there"),
        *("note", "mine", "theirs"),
    }
    assert set(documents_to_merge(base, side(None, "note"), side("there", "note"))) == {"old", "there"}
    for ours, theirs in ((base, side("x", "y")), (side("x", "y"), base), (side("x", "y"), side("x", "y"))):
        assert not list(documents_to_merge(base, ours, theirs))
    assert not list(documents_to_merge(base, {}, side("x", "y"))), "a page of one side alone needs no merge"


A = {"id": "a", "contentType": "image/png"}


def test_files_and_variables_and_reusable_content() -> None:
    base: Revision = {
        "files": [A | {"name": "a.png", "size": 1, "content": "x"}, {"id": "b", "name": "b.png", "size": 1}],
        "reusableContents": [{"id": "r", "title": "Note", "document": "old"}],
        "variables": {"version": "1", "name": "x"},
    }
    ours: Revision = {
        "files": [A | {"name": "logo.png", "size": 2, "content": "y"}],
        "reusableContents": [{"id": "r", "title": "Notes", "document": "old"}],
        "variables": {"version": "2", "name": "x"},
    }
    theirs: Revision = {
        "files": [
            {"id": "a", "name": "a.png", "contentType": "image/webp", "size": 3, "content": "z"}
            | {"dimensions": {"width": 1, "height": 1}},
            {"id": "b", "name": "b.png", "size": 9},
            {"id": "c", "name": "c.png", "size": 1},
        ],
        "reusableContents": [{"id": "r", "title": "Note", "document": "new"}],
        "variables": {"version": "3", "more": 1},
    }
    result = merge_pages(base, ours, theirs, str, str)
    assert result.files == [*ours["files"], *theirs["files"][1:]], "what depends on the bytes is of one side"
    assert result.reusable_contents == [{"id": "r", "title": "Notes", "document": "new"}]
    assert result.variables == {"version": "2", "more": 1}
    assert kinds(result) == [("a", "file"), ("b", "file"), ("version", "variables")]


def test_conflict_names_the_fields_that_both_sides_changed() -> None:
    details = ("emoji", "slug", "noIndex", "hidden", "title")
    ours, theirs = ({name: f"{name} {side}" for name in details} for side in ("here", "there"))
    result = joined(with_page("intro", **ours), with_page("intro", **theirs))
    assert result.conflicts == [
        Conflict(
            "intro",
            "title here",
            "details",
            "Both sides changed its title, address, emoji, visibility: the change request wins.",
        )
    ]
    moved = joined(lambda tree: move(tree, "tokens", "intro"), lambda tree: move(tree, "tokens", "errors"))
    assert moved.conflicts == [
        Conflict("tokens", "tokens", "moved", "Both sides moved it: the change request's position wins.")
    ]
    tied = joined(lambda tree: move(tree, "intro", "errors"), lambda tree: move(tree, "errors", "intro"))
    reason = "Each side moved one page below the other: the change request's position wins."
    assert tied.conflicts == [Conflict("errors", "errors", "moved", reason)]
    gone = joined(lambda tree: insert(tree, page("new"), "auth", 1), lambda tree: remove(tree, "auth"))
    assert gone.conflicts == [Conflict("new", "new", "moved", "Its parent page was deleted (auth): it moved up.")]
    kept = joined(lambda tree: remove(tree, "errors"), with_page("errors", title="All"))
    assert kept.conflicts == [
        Conflict("errors", "All", "deleted", "Deleted in the change request and edited live: kept.")
    ]


def test_conflicts_name_files_reusable_content_and_variables() -> None:
    base: Revision = {
        "files": [{"id": "a", "name": "a.png", "size": 1}, {"id": "b", "name": "b.png", "size": 1}],
        "reusableContents": [{"id": "r", "title": "Note", "document": "One two.\n"}],
        "variables": {"v": "1"},
    }
    ours: Revision = {
        "files": [{"id": "a", "name": "c.png", "size": 1}],
        "reusableContents": [{"id": "r", "title": "Note", "document": "One three.\n"}],
        "variables": {"v": "2"},
    }
    theirs: Revision = {
        "files": [{"id": "a", "name": "d.png", "size": 1}, {"id": "b", "name": "b.png", "size": 2}],
        "reusableContents": [{"id": "r", "title": "Note", "document": "One four.\n"}],
        "variables": {"v": "3"},
    }
    result = merge_pages(base, ours, theirs, str, str)
    assert result.conflicts == [
        Conflict("a", "c.png", "file", "Both sides changed its name."),
        Conflict("b", "b.png", "file", "Deleted in the change request and edited live: kept."),
        Conflict("r", "Note", "reusable_content", "Both sides changed its text."),
        Conflict("v", "v", "variables", "Both sides changed its value."),
    ]
    assert "three" in result.reusable_contents[0]["document"]
    assert "four" in result.reusable_contents[0]["document"]
    alone = merge_pages(base, {**base, "files": base["files"][1:]}, base, str, str)
    assert (alone.files, alone.conflicts) == (base["files"][1:], [])
    assert merge_pages(base, {**base, "variables": {}}, base, str, str).variables is None


def test_text_is_emptied_or_added_by_one_side() -> None:
    texts = {"old": "One.\n", "new": "Two.\n"}

    def merged_document(base: str | None, ours: str | None, theirs: str | None) -> str | None:
        trees = [{"pages": with_page("intro", documentId=side)(TREE)} for side in (base, ours, theirs)]
        result = merge_pages(trees[0], trees[1], trees[2], texts.__getitem__, lambda text: f"written {text}")
        assert result.conflicts == []
        return result.pages[0].get("documentId")

    assert merged_document("old", "new", "old") == "new"
    assert merged_document("old", "old", "new") == "new"
    assert merged_document("old", "new", "new") == "new"
    assert merged_document(None, "new", None) == "new"
    assert merged_document("old", None, "old") is None


def test_merges_two_thousand_pages_fast() -> None:
    pages = [page(f"s{n}", *[page(f"s{n}p{m}") for m in range(50)]) for n in range(40)]
    ours = move(pages, "s7p3", "s8", 4)
    theirs = insert(pages, page("new"), "s8", 5)
    result = merge_pages({"pages": pages}, {"pages": ours}, {"pages": theirs}, str, str)
    below = [one["id"] for one in result.pages[8]["pages"]]
    assert below[3:8] == ["s8p3", "s7p3", "s8p4", "new", "s8p5"]
