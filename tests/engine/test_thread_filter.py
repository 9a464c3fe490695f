"""The filter language of lists of threads."""

import pytest
from tests.table import each_case

from presscheck.api.users import User
from presscheck.engine.filter_words import filter_words
from presscheck.engine.review.thread_filter import parse_thread_filter
from presscheck.engine.review.threads import Message, PendingChange, Thread
from presscheck.errors import InvalidArgument

ME = User(id="r1", display_name="Robin Achterberg")


def message(identity: str, author: str, text: str) -> Message:
    return Message(identity, author, "2026-01-01", text)


THREADS = {
    "limits": (Thread(message("1", "Ada", "The limits are wrong, @Robin Achterberg"), has_new=True), "Tokens"),
    "fine": (
        Thread(message("2", "Ada", "Fine"), resolved=True, notifications="muted", repliers=("Luz",)),
        "conversation",
    ),
    "answered": (
        Thread(message("3", "you", "Limits of keys?"), (message("4", "Jón", "All keys"),), 1, is_outdated=True),
        "Keys and tokens",
    ),
    "held": (
        Thread(
            Message("5", "you", "", "Held", pending=PendingChange(1, "collected", agent="Style Bot")),
            notifications="followed",
        ),
        "Keys",
    ),
}


@each_case(
    ("text", "expected"),
    [
        ("", set(THREADS)),
        ("author:ada", {"limits", "fine"}),
        ("author:JÓ", {"answered"}),
        ("author:luz", {"fine"}),
        ("author:me", {"answered", "held"}),
        ("author:style", {"held"}),
        ("mentions:me", {"limits"}),
        ("is:new", {"limits"}),
        ("is:open", {"limits"}),
        ("is:unresolved", {"limits", "answered"}),
        ("is:resolved", {"fine"}),
        ("is:outdated", {"answered"}),
        ("is:pending", {"held"}),
        ("is:muted", {"fine"}),
        ("is:followed", {"held"}),
        ("page:tokens", {"limits", "answered"}),
        ('page:"keys and"', {"answered"}),
        ("LIMITS", {"limits", "answered"}),
        ("limits author:ada", {"limits"}),
        ("all", {"answered"}),
    ],
)
def test_every_part_of_a_filter_must_match(text: str, expected: set[str]) -> None:
    matches = parse_thread_filter(text, ME)
    assert {name for name, (thread, page) in THREADS.items() if matches(thread, page)} == expected


@each_case(
    ("text", "message"),
    [
        ("by:ada", "by: unknown filter; available: author, mentions, is, page"),
        ("author:", "author: me, or part of a first name"),
        ("mentions:ada", "mentions: only me is supported"),
        ("is:odd", "is: one of new, open, unresolved, resolved, outdated, pending, muted, followed"),
        ('page:"keys', "threads: missing closing quote"),
    ],
)
def test_an_unknown_filter_names_the_allowed_ones(text: str, message: str) -> None:
    with pytest.raises(InvalidArgument) as caught:
        parse_thread_filter(text, ME)
    assert caught.value.message == message


def test_quotes_keep_blanks_in_a_word() -> None:
    assert filter_words('page:"keys and" "of all"', "threads") == [("page", ":", "keys and"), ("of all", "", "")]
