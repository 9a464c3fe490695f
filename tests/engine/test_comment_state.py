"""Comments that are open, and comments that are the text of a review."""

from __future__ import annotations

from typing import Any

from tests.table import each_case

from presscheck.api.comments import Comment
from presscheck.engine.review.comment_state import NEW, is_open_comment, is_review_text


def comment(**more: Any) -> Comment:
    return Comment.model_validate(
        {"object": "comment", "id": "k1", "body": {"markdown": "Why?"}, "postedBy": {"id": "mia"}, **more}
    )


@each_case(
    ("given", "is_open", "is_review"),
    [
        ({}, True, False),
        ({"status": "resolved"}, False, False),
        ({"id": f"{NEW}7"}, False, False),
        ({"target": {"page": {"id": "p"}}}, True, False),
        ({"target": {"review": "r"}}, False, True),
        ({"target": {"review": "r", "page": {"id": "p"}}}, True, False),
    ],
)
def test_open_comments_are_sent_unresolved_and_not_the_text_of_a_review(
    given: dict[str, Any], *, is_open: bool, is_review: bool
) -> None:
    assert (is_open_comment(comment(**given)), is_review_text(comment(**given))) == (is_open, is_review)
