"""Undoing edits of pages: why some cannot be undone, and the order of moved pages."""

from __future__ import annotations

from tests.engine.write_samples import edited, page, pages, text

from presscheck.api.content_changes import InsertFiles, InsertPage, NewFile
from presscheck.documents.pages.page_order import PageOrder
from presscheck.engine.writes.inverse import SentWrite
from presscheck.engine.writes.page_inverse import PageEdits


def test_added_files_and_unknown_new_pages_cannot_be_undone() -> None:
    inverse, (former, result) = PageEdits(), edited(1)
    rename, new = pages(page(title="After")), pages(InsertPage(title="New", document=text("x")), page(title="After"))
    assert inverse.reason(SentWrite(rename, former, result)) is None
    assert inverse.reason(SentWrite(rename, None, result)) == "the former value is not known"
    files = pages(InsertFiles(files=(NewFile(name="a.png", url="https://a.example/a.png"),)))
    assert inverse.reason(SentWrite(files, former, result)) == "added files cannot be removed"
    assert inverse.reason(SentWrite(new, former, result)) == "the service did not tell what it created"


def test_undo_moves_a_page_back_together_with_a_sibling_that_left() -> None:
    edit = pages(page(page="z", at=0), page(page="y", into=None, at=0))
    former, result = edited(2, y=["a", 1], z=["a", 2])
    former["orders"] = [["a", ["x", "y", "z"]], [None, ["a"]]]
    [undo] = PageEdits().calls(SentWrite(edit, former, result))
    order = PageOrder({None: ["y", "a"], "a": ["z", "x"]})
    for change in undo.given()["changes"]:
        order.insert(change["page"], change["into"], change["at"])
    assert (order.below(None), order.below("a")) == (["a"], ["x", "y", "z"])
