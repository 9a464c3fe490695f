"""The preview of a change request in the inbox."""

from datetime import UTC, datetime

import pytest

from presscheck.api.change_requests import ChangeRequest
from presscheck.engine.inbox.views import RowDetails
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
def test_reviewers_are_missing_only_once_reviews_and_requests_are_read(known: RowDetails, shown: str) -> None:
    lines = preview_lines(ChangeRequest(id="r5"), known, None, 100, 4, datetime(2026, 3, 14, tzinfo=UTC))
    assert shown in [plain(line).strip() for line in lines]
