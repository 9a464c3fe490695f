"""The filter language of the inbox: parsing, errors, and filtering of cached rows."""

import json
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

import pytest
from tests.table import each_case

from presscheck.api.change_requests import ListRequestedReviewers, ListReviews
from presscheck.config.saved_views import migrate_sort, without_sort
from presscheck.config.settings_schema import SORTS
from presscheck.engine.inbox.query_language import FIELDS, ORDERS, asks_of, completions, is_local, parse
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
        ("sort:comments", [1, 4, 2, 3]),
        ("sort:-comments", [3, 2, 4, 1]),
        ("sort:-updated", [4, 1, 2, 3]),
        ("sort:updated", [3, 2, 1, 4]),
        ("sort:author", [1, 2, 3, 4]),
        ("space:api sort:-number", [3, 1]),
        ("limits'; DROP TABLE items; --'", []),
    ],
)
def test_filters_and_sort_orders(cache: Cache, text: str, numbers: list[int]) -> None:
    query = parse(text, SPACES, NOW)
    places = cache.matching("listing", query.conditions, query.order)
    assert [REQUESTS[place][0] for place in places] == numbers


def _review(cache: Cache, request: str, revision: str, at: str, **more: object) -> None:
    """Store the only review of a change request, by Robin."""
    review = {"object": "change-request-review", "id": request, "reviewer": {"id": "robin"}, "status": "approved"}
    call = ListReviews(space_id="api", change_request_id=request, format="markdown", limit=1000)
    items = [{**review, "revision": revision, "createdAt": at, **more}]
    cache.keep(call.key(), json.dumps({"items": items}).encode(), 1000)


@each_case(
    ("asked", "revision", "more", "sent", "is_done"),
    [
        ("", "r1", {}, {}, True),
        ("2026-05-02", "r1", {}, {}, True),
        ("2026-05-04", "r1", {}, {}, False),  # requested again
        ("", "r0", {}, {}, False),  # the content changed
        ("", "", {}, {}, True),  # the service does not send the revision
        ("", "r1", {"outdated": True}, {}, False),  # replaced by a newer review
        ("", "r1", {"reviewer": {"id": "mia"}}, {}, False),
        ("", "r0", {}, {"c1": 2000.0}, True),  # sent after the reviews were stored
        ("", "r0", {}, {"c1": 500.0}, False),
        ("", "r0", {}, {"c2": 2000.0}, False),
    ],
)
def test_waiting_filter_finds_requests_of_the_author_or_of_the_user(
    tmp_path: Path, asked: str, revision: str, more: dict[str, object], sent: dict[str, float], *, is_done: bool
) -> None:
    cache = Cache(tmp_path / "cache.sqlite")
    row = {"object": "change-request", "id": "c1", "space": "api", "revision": "r1", "createdBy": {"id": "mia"}}
    cache.keep("listing", json.dumps({"items": [row]}).encode(), 0)
    _review(cache, "c1", revision, "2026-05-03", **more)
    if asked:
        reviewers = ListRequestedReviewers(space_id="api", change_request_id="c1", limit=1000)
        cache.keep(reviewers.key(), json.dumps({"items": [{"user": {"id": "robin"}, "createdAt": asked}]}).encode(), 0)
    found: list[bool] = []
    for text in ("waiting:author", "waiting:me"):
        conditions = parse(text, {}, NOW).for_user("robin", (), sent)
        rows = cache.matching("listing", conditions)
        assert cache.first_matching("listing", conditions, 1) == rows
        assert cache.first_matching("listing", conditions, 0).tolist() == []
        found.append(bool(rows))
    assert found == [is_done, not is_done]
    of_mia = parse("waiting:author", {}, NOW).for_user("mia", (), {"c1": 2000.0})
    assert cache.matching("listing", of_mia).tolist() == []
    assert cache.matching("listing", parse("waiting:author", {}, NOW).for_user("", (), {})), "of an unknown user: all"
    cache.close()


def test_involved_filter_finds_listed_and_reviewed_change_requests(tmp_path: Path) -> None:
    cache = Cache(tmp_path / "cache.sqlite")
    rows = [{"object": "change-request", "id": f"c{number}", "space": "api", "revision": "r1"} for number in range(4)]
    cache.keep("listing", json.dumps({"items": rows}).encode(), 0)
    cache.keep("mine", json.dumps({"items": rows[:1]}).encode(), 0)
    cache.keep("other", json.dumps({"items": rows[3:]}).encode(), 0)
    _review(cache, "c1", "r0", "2026-05-03", outdated=True)
    conditions = parse("involved:me", {}, NOW).for_user("robin", ("mine",), {"c2": 2000.0})
    assert cache.matching("listing", conditions).tolist() == [0, 1, 2]
    cache.close()


@each_case(
    ("text", "positions"),
    [
        ("is:muted", [0, 3]),
        ("is:followed", [1, 2]),
        ("waiting:me", [1, 2]),
        ("waiting:me is:muted", [0, 3]),
        ("involved:me", [1, 2]),
        ("involved:me is:muted", [0]),
        ("", [0, 1, 2, 3]),
    ],
)
def test_muted_and_followed_change_requests_are_filtered(tmp_path: Path, text: str, positions: list[int]) -> None:
    cache = Cache(tmp_path / "cache.sqlite")
    rows = [
        {"object": "change-request", "id": f"c{number}", "space": space, "revision": "r1"}
        for number, space in enumerate(("api", "api", "cli", "docs"))
    ]
    cache.keep("listing", json.dumps({"items": rows}).encode(), 0)
    cache.keep("mine", json.dumps({"items": rows[:2]}).encode(), 0)
    states = {"requests": {"c1": "followed"}, "spaces": {"api": "muted", "docs": "muted", "cli": "followed"}}
    conditions = parse(text, {}, NOW).for_user("robin", ("mine",), {}, states)
    assert cache.matching("listing", conditions).tolist() == positions
    assert cache.first_matching("listing", conditions, 9) == cache.matching("listing", conditions)
    nothing = parse(text, {}, NOW).for_user("robin", ("mine",), {}, {})
    assert bool(cache.matching("listing", nothing)) == ("is:" not in text)
    cache.close()


def test_held_texts_select_their_change_requests(tmp_path: Path) -> None:
    cache = Cache(tmp_path / "cache.sqlite")
    rows = [
        {"object": "change-request", "id": f"c{number}", "space": "api", "subject": "Limits"} for number in range(4)
    ]
    cache.keep("listing", json.dumps({"items": rows}).encode(), 0)
    for text, held, positions in (
        ("is:pending", ("c3", "c1", ""), [1, 3]),
        ("is:pending limits", ("c1",), [1]),
        ("is:pending", (), []),
        ("limits", ("c1",), [0, 1, 2, 3]),
    ):
        conditions = parse(text, {}, NOW).for_user("", (), {}, {}, held)
        assert cache.matching("listing", conditions).tolist() == positions
        assert cache.first_matching("listing", conditions, 9).tolist() == positions
    cache.close()


def test_settings_of_a_request_take_precedence_over_those_of_its_space(tmp_path: Path) -> None:
    cache = Cache(tmp_path / "cache.sqlite")
    rows = [{"object": "change-request", "id": identity, "space": "api"} for identity in ('c"1', "c'2", "c3")]
    cache.keep("listing", json.dumps({"items": rows}).encode(), 0)
    states = {"requests": {'c"1': "neither", "c'2": "followed"}, "spaces": {"api": "muted"}}
    for text, positions in (("is:muted", [2]), ("is:followed", [1])):
        conditions = parse(text, {}, NOW).for_user("", (), {}, states)
        assert cache.matching("listing", conditions).tolist() == positions
    cache.close()


@each_case(
    ("text", "says"),
    [
        ("is:red", "is: muted, followed or pending"),
        ("colour:red", "colour: unknown filter; available: space, author"),
        ("status:unheard", "status: one of draft, open"),
        ("outdated:maybe", "outdated: yes or no"),
        ("comments:many", "comments: a number"),
        ("updated:yesterday", "updated: an age, such as <2w"),
        ("reviewer:", "reviewer: me, or part of a name"),
        ("involved:mia", "involved: only me"),
        ("waiting:mia", "waiting: me or author"),
        ("sort:colour", "sort: one of updated, created"),
        ('space:"api', "view: missing closing quote"),
    ],
)
def test_an_invalid_filter_names_the_allowed_values(text: str, says: str) -> None:
    with pytest.raises(InvalidArgument) as caught:
        parse(text, SPACES, NOW)
    assert caught.value.message.startswith(says)


def test_uncached_listing_has_no_rows(cache: Cache) -> None:
    assert cache.matching("another", ()).tolist() == []
    assert cache.matching_by_space("another", ()) == {}


def test_filters_of_the_service_become_request_parameters() -> None:
    assert asks_of("limits space:api") == ()
    assert dict(asks_of("reviewer:me author:me status:draft")) == {
        "requested_reviewer": "me", "creator": "me", "status": "draft"
    }  # fmt: skip
    assert dict(asks_of("waiting:me")) == {"requested_reviewer": "me"}
    assert asks_of("involved:me waiting:author") == (), "the store has to answer"
    assert asks_of("colour:red status:draft") == (), "what is not understood asks nothing"
    assert parse("author:me reviewer:me", SPACES, NOW).conditions == ()


def test_a_view_is_filtered_in_the_store_only_if_the_service_cannot() -> None:
    assert not is_local("author:me")
    assert not is_local("sort:colour")
    assert is_local("waiting:me")
    assert is_local("sort:number")


def test_the_sort_order_is_split_from_the_filter() -> None:
    assert without_sort('space:"command line" sort:-number limits') == ('space:"command line" limits', "-number")
    assert without_sort("sort:author sort:number") == ("", "number")
    assert without_sort("resort:x") == ("resort:x", "")


def test_filter_of_version_0_1_0_keeps_its_sort_order() -> None:
    assert migrate_sort("space:api sort:comments limits") == "space:api sort:-comments limits"
    assert migrate_sort("sort:-updated sort:created") == "sort:updated sort:-created"
    assert migrate_sort("sort:-number sort: resort:comments") == "sort:-number sort: resort:comments"


def test_settings_have_the_same_sort_orders() -> None:
    assert tuple(ORDERS) == SORTS


@each_case(
    ("text", "shown"),
    [
        ("", []),
        ("limits ", []),
        ("up", ["updated:"]),
        ("limits s", ["space:", "status:", "sort:"]),
        ("space:a", ["space:API"]),
        ("space:D", ["space:docs"]),
        ("author:", ["author:me", "author:Mia", "author:Okonkwo"]),
        ("reviewer:m", ["reviewer:me", "reviewer:Mia"]),
        ("is:p", ["is:pending"]),
        ("unknown:", []),
    ],
)
def test_last_word_is_completed(text: str, shown: list[str]) -> None:
    assert completions(text, SPACES.values(), ["Mia Okonkwo"]) == shown


def test_all_proposed_values_are_valid() -> None:
    values = [value for name in [*FIELDS, "sort"] for value in completions(f"{name}:", SPACES.values(), ["Mia"])]
    assert {value.partition(":")[0] for value in values} == {*FIELDS, "sort"}
    for value in values:
        parse(value, SPACES, NOW)
