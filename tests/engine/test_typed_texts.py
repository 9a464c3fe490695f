"""Typed texts in writes: which field has one, and the same write with another text."""

import pytest
from tests.engine.write_samples import REQUEST, THREAD, page, pages, text
from tests.table import each_case

from presscheck.api.change_requests import MergeChangeRequest, SubmitReview, UpdateChangeRequest
from presscheck.api.comments import PostReply
from presscheck.api.content_changes import InsertPage
from presscheck.api.operation import Operation
from presscheck.engine.writes.typed_texts import first_changed_line, typed_text_in, with_text
from presscheck.errors import InvalidArgument


@each_case(
    ("call", "found"),
    [
        (PostReply(**THREAD, body=text("Hello")), ("body", "Hello")),
        (SubmitReview(**REQUEST, status="approved", comment=text("Fine")), ("comment", "Fine")),
        (UpdateChangeRequest(**REQUEST, subject="Title"), ("subject", "Title")),
        (pages(page(document=text("Old"), title="Page")), ("changes", "Old")),
        (pages(InsertPage(title="Page", document=text("Old"), into="p1", at=0)), ("changes", "Old")),
    ],
)
def test_a_text_is_replaced(call: Operation[object], found: tuple[str, str]) -> None:
    assert typed_text_in(call) == found
    changed = with_text(call, found[0], "Other")
    assert typed_text_in(changed) == (found[0], "Other")
    assert with_text(changed, *found) == call, "nothing else changes"


def test_writes_without_a_text() -> None:
    approval = SubmitReview(**REQUEST, status="approved")
    assert [typed_text_in(call) for call in (None, approval, MergeChangeRequest(**REQUEST))] == [None] * 3


def test_a_text_that_is_too_long_is_an_error() -> None:
    with pytest.raises(InvalidArgument):
        with_text(UpdateChangeRequest(**REQUEST, subject="Title"), "subject", "x" * 101)


@each_case(
    ("before", "after", "line"),
    [
        ("# A\n\nOne\n\nTwo\n", "# A\n\nOne\n\nThree\n", "Three"),
        ("# A\n\nOne\n", "# A\n\nNew\n\nOne", "New"),
        ("# A\n\nOne\n\nTwo\n", "# A\n\nTwo\n", "− One"),
        ("One\nOne\n", "One\n", "− One"),
        ("One\nTwo\nThree\n", "Two\nThree\n", "− One"),
        ("One\n", "One\nOne\n", "One"),
        ("", "  New\n", "New"),
        ("Old\n", "", "− Old"),
        ("One\n", "One", ""),
        ("One\n\n\nTwo", "One\n\nTwo", ""),
        (f"{'Same ' * 20}old.\n", f"{'Same ' * 20}new.\n", "… Same Same Same Same new."),
        ("x" * 50, "x" * 51, f"… {'x' * 51}"),
    ],
)
def test_the_first_changed_line(before: str, after: str, line: str) -> None:
    assert first_changed_line(before, after) == line
