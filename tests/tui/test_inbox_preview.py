"""The preview of a change request in the inbox."""

from datetime import UTC, datetime

import pytest

from presscheck.api.change_requests import ChangeRequest
from presscheck.api.comments import Comment
from presscheck.engine.inbox.preview import Preview
from presscheck.engine.inbox.views import RowDetails
from presscheck.engine.review.changes import ChangedItem
from presscheck.text.styled_text import plain
from presscheck.tui.screens.inbox.preview_renderer import preview_lines


@pytest.mark.parametrize(
    ("known", "shown"),
    [
        (RowDetails(), "Reviewers  …"),
        (RowDetails(approved=(), refused=()), "Reviewers  …"),
        (RowDetails(asked=()), "Reviewers  …"),
        (RowDetails(approved=("Jón",), refused=()), "Reviewers  ✓ Jón   …"),
        (RowDetails(approved=(), refused=(), asked=()), "Reviewers  none requested"),
        (RowDetails(approved=(), refused=(), asked=("Ada",)), "Reviewers  ◷ Ada"),
    ],
)
def test_none_requested_is_shown_only_once_reviews_and_requests_are_loaded(known: RowDetails, shown: str) -> None:
    lines = preview_lines(ChangeRequest(id="r5"), known, None, 100, 4, datetime(2026, 3, 14, tzinfo=UTC))
    assert shown in [plain(line).strip() for line in lines]


def preview(contents: Preview, columns: int = 100) -> list[str]:
    lines = preview_lines(
        ChangeRequest(id="r5"), RowDetails(), contents, columns, 30, datetime(2026, 3, 14, tzinfo=UTC)
    )
    return [plain(line) for line in lines]


def test_markdown_of_comments_and_description_is_rendered() -> None:
    comment = Comment.model_validate(
        {
            "id": "t",
            "postedBy": {"id": "ada", "displayName": "Ada"},
            "postedAt": "2026-03-13T09:00:00Z",
            "body": {"markdown": "See **bold**, [the page](https://example.com) and `code`"},
        }
    )
    text = "\n".join(preview(Preview("A *new* `limit`", (), {}, (comment,))))
    assert "See bold, the page and code" in text
    assert "A new limit" in text


@pytest.mark.parametrize("columns", [30, 60, 100, 140])
def test_blanks_separate_a_long_title_from_its_kind_of_change(columns: int) -> None:
    item = ChangedItem("p", "page", "A_very_long_name_of_a_page_" * 6, ("edited",))
    [row] = [line for line in preview(Preview("", (item,), {}, ()), columns) if "A_very" in line]
    assert "…  edited" in row


def test_kinds_of_change_are_aligned_in_one_column() -> None:
    kinds = ("edited",), ("edited", "renamed"), ("added",)
    items = tuple(ChangedItem(str(number), "page", f"Page {number * 'x'}", kind) for number, kind in enumerate(kinds))
    for columns in (30, 100):
        rows = [line for line in preview(Preview("", items, {}, ()), columns) if "Page " in line]
        assert len({row.index(kind[0]) for row, kind in zip(rows, kinds, strict=True)}) == 1
