"""The filter language of the inbox: parsing, errors, and filtering of cached rows."""

import json
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

import pytest

from presscheck.api.change_requests import ListRequestedReviewers
from presscheck.config.settings_schema import SORTS
from presscheck.engine.inbox.query_language import ORDERS, asks_of, parse, without_order
from presscheck.errors import InvalidArgument
from presscheck.store.cache import Cache

NOW = datetime(2026, 5, 20, 12, tzinfo=UTC)
SPACES = {"api": "API docs", "guides": "Guides", "cli": "Command line"}
REQUESTS = [
    (1, "api", "Limits per workspace", "Mia Okonkwo", "2026-05-20T10:00:00.000Z", 0, False),
    (2, "guides", "Fix typos", "Noor Haddad", "2026-05-18T10:00:00.000Z", 3, False),
    (3, "api", "Rewrite limits", "Noor Haddad", "2026-04-01T10:00:00.000Z", 7, True),
    (4, "cli", "Install on Windows", "田中 健司", "2026-05-20T11:00:00.000Z", 1, False),
]


@pytest.fixture
def cache(tmp_path: Path) -> Iterator[Cache]:
    made = Cache(tmp_path / "cache.sqlite")
    items = [
        {
            "object": "change-request", "id": f"c{number}", "number": number, "space": space, "subject": subject,
            "createdBy": {"displayName": author}, "updatedAt": updated, "comments": comments, "outdated": outdated,
            "status": "open",
        }
        for number, space, subject, author, updated, comments, outdated in REQUESTS
    ]  # fmt: skip
    asked = {"space_id": "api", "change_request_id": "c3"}
    made.keep(
        ListRequestedReviewers(**asked, limit=1000).key(),
        b'{"items": [{"object": "change-request-requested-reviewer", "user": {"displayName": "Ada Lovelace"}}]}',
        0,
    )
    made.keep("listing", json.dumps({"items": items}).encode(), 0)
    yield made
    made.close()


@pytest.mark.parametrize(
    ("text", "numbers"),
    [
        ("", [1, 2, 3, 4]),
        ("space:api", [1, 3]),
        ("space:docs", [1, 3]),
        ('space:"command line"', [4]),
        ("space:none", []),
        ("author:noor", [2, 3]),
        ("author:田中", [4]),
        ("outdated:yes", [3]),
        ("outdated:no space:api", [1]),
        ("comments:0", [1]),
        ("comments:>2", [2, 3]),
        ("comments:<2", [1, 4]),
        ("updated:<3d", [1, 2, 4]),
        ("updated:>2w", [3]),
        ("status:merged", []),
        ("reviewer:ada", [3]),
        ("reviewer:mia", []),
        ("LIMITS", [1, 3]),
        ("limits rewrite", [3]),
        ("sort:comments", [3, 2, 4, 1]),
        ("sort:-comments", [1, 4, 2, 3]),
        ("sort:updated", [4, 1, 2, 3]),
        ("sort:author", [1, 2, 3, 4]),
        ("space:api sort:-number", [3, 1]),
        ("limits'; DROP TABLE items; --'", []),
    ],
)
def test_filters_and_sort_orders(cache: Cache, text: str, numbers: list[int]) -> None:
    query = parse(text, SPACES, NOW)
    places = cache.matching("listing", query.conditions, query.order)
    assert [REQUESTS[place][0] for place, _ in places] == numbers


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("colour:red", "colour: unknown filter; available: space, author"),
        ("status:unheard", "status: one of draft, open"),
        ("outdated:maybe", "outdated: yes or no"),
        ("comments:many", "comments: a number"),
        ("updated:yesterday", "updated: an age, such as <2w"),
        ("reviewer:", "reviewer: me, or part of a name"),
        ("involved:mia", "involved: only me"),
        ("sort:colour", "sort: one of updated, created"),
        ('space:"api', "view: missing closing quote"),
    ],
)
def test_an_invalid_filter_names_the_allowed_values(text: str, says: str) -> None:
    with pytest.raises(InvalidArgument) as caught:
        parse(text, SPACES, NOW)
    assert caught.value.message.startswith(says)


def test_a_listing_that_is_not_cached_has_no_rows(cache: Cache) -> None:
    assert cache.matching("another", ()) == []


def test_filters_of_the_service_become_request_parameters() -> None:
    assert asks_of("limits space:api") == ()
    assert dict(asks_of("reviewer:me author:me involved:me status:draft")) == {
        "requested_reviewer": "me", "creator": "me", "contributor": "me", "status": "draft"
    }  # fmt: skip
    assert asks_of("colour:red status:draft") == (), "what is not understood asks nothing"
    assert parse("author:me reviewer:me", SPACES, NOW).conditions == ()


def test_the_sort_order_is_split_from_the_filter() -> None:
    assert without_order('space:"command line" sort:-number limits') == ('space:"command line" limits', "-number")
    assert without_order("sort:author sort:number") == ("", "number")
    assert without_order("resort:x") == ("resort:x", "")


def test_settings_have_the_same_sort_orders() -> None:
    assert tuple(ORDERS) == SORTS
