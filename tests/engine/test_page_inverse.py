"""Why an edit of pages cannot be undone."""

from __future__ import annotations

from tests.engine.write_samples import edited, page, pages, text

from presscheck.api.content_changes import InsertFiles, InsertPage, NewFile
from presscheck.engine.writes.inverse import SentWrite
from presscheck.engine.writes.page_inverse import PageEdits


def test_added_files_and_unknown_new_pages_stay() -> None:
    inverse, (former, result) = PageEdits(), edited(1)
    rename, new = pages(page(title="After")), pages(InsertPage(title="New", document=text("x")), page(title="After"))
    assert inverse.reason(SentWrite(rename, former, result)) is None
    assert inverse.reason(SentWrite(rename, None, result)) == "the former value is not known"
    files = pages(InsertFiles(files=(NewFile(name="a.png", url="https://a.example/a.png"),)))
    assert inverse.reason(SentWrite(files, former, result)) == "added files cannot be removed"
    assert inverse.reason(SentWrite(new, former, result)) == "the service did not tell what it created"
