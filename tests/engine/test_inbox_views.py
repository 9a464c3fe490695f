"""Views of the inbox, details of their rows, and the preview of a row, all of them read from the cache."""

from __future__ import annotations

import asyncio
import json
import time
from array import array
from collections.abc import AsyncIterator, Callable, Mapping
from datetime import UTC, datetime, timedelta
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from tests.engine.review_samples import ADA, JON, ME, asked, request, review
from tests.table import each_case

from presscheck.api.change_requests import ListOrganizationChangeRequests
from presscheck.api.comments import Comment
from presscheck.api.content_changes import SemanticChanges
from presscheck.api.operation import Operation, Page
from presscheck.api.users import User
from presscheck.config.saved_views import SavedView
from presscheck.engine.inbox import views
from presscheck.engine.inbox.held_texts import HeldTexts
from presscheck.engine.inbox.preview import last_activity, read_preview
from presscheck.engine.inbox.views import (
    VIEWS,
    Group,
    RowDetails,
    all_views,
    arrange_rows,
    first_rows,
    is_older,
    listing_of,
    listings_of,
    missing_reviews,
    name_of,
    own_view,
    personal_listings,
    row_details,
    validate_view,
)
from presscheck.engine.results import Window
from presscheck.engine.shared_calls import changes_in, comments_on, reviewers_of, reviews_of
from presscheck.errors import InvalidArgument
from presscheck.store.cache import Cache
from presscheck.text import phrases

REQUEST = request(space="s")
NOW = datetime(2026, 11, 20, 12, 0, tzinfo=UTC)


def comment(identity: str, at: str, **more: Any) -> Comment:
    return Comment.model_validate({"id": identity, "postedBy": ADA, "postedAt": at, "body": {"markdown": "x"}, **more})


def changes(*kinds: str) -> SemanticChanges:
    found = [{"type": kind, "page": {"id": f"p{number}", "title": "x"}} for number, kind in enumerate(kinds)]
    found.append({"type": "file_created", "file": {"id": "f", "name": "f"}})
    return SemanticChanges.model_validate({"changes": found})


class Cached:
    """A cache of responses and of viewed pages."""

    def __init__(self, *answers: tuple[Operation[Any], Any], viewed: Mapping[str, str] | None = None) -> None:
        self.answers = {call.key(): answer for call, answer in answers}
        self.pages_viewed = dict(viewed or {})

    def known(self, call: Operation[Any], /) -> Any:
        answer = self.answers.get(call.key())
        return None if answer is None else SimpleNamespace(value=answer)

    def viewed(self, change_request: str) -> dict[str, str]:
        assert change_request == "c"
        return self.pages_viewed


class TestRows:
    """Tests of the details that a row shows besides the change request."""

    def test_uncached_details_are_unknown(self) -> None:
        assert row_details(Cached(), REQUEST, "me") == RowDetails()
        empty = Cached(
            (reviews_of(REQUEST), Page(items=())),
            (reviewers_of(REQUEST), Page(items=())),
            (changes_in(REQUEST), SemanticChanges()),
            (comments_on(REQUEST), Page(items=())),
        )
        assert row_details(empty, REQUEST, "me") == RowDetails(
            approved=(), refused=(), asked=(), changes=(0, 0, 0, 0), pages=0, open_comments=0
        )

    def test_newest_review_of_each_person_counts(self) -> None:
        reviews = [
            review(ADA, "changes-requested", createdAt="1"),
            review(ADA, "approved", createdAt="2"),
            review(JON, "approved", revision="r1", createdAt="3"),
            review(ME, "changes-requested", revision="r1", createdAt="4"),
        ]
        waiting = asked(ADA, JON, ME, {"id": "new", "displayName": "Nell Roe"})
        again = [
            one.model_copy(update={"created_at": at}) for one, at in zip(waiting, ("2", "3a", "4a", None), strict=True)
        ]
        cached = Cached(
            (reviews_of(REQUEST), Page(items=tuple(reviews))), (reviewers_of(REQUEST), Page(items=tuple(again)))
        )
        by_jon = REQUEST.model_copy(update={"created_by": User.model_validate(JON)})
        assert row_details(cached, by_jon, "me").approved == ("Ada",)
        assert row_details(cached, by_jon, "me").stale == (), "the approval of the author does not count"
        without_author = REQUEST.model_copy(update={"created_by": None})
        details = row_details(cached, without_author, "me")
        assert (details.approved, details.stale, details.refused) == (("Ada",), ("Jon",), ("you",))
        assert details.asked == ("Jon", "you", "Nell"), "asked again since their review"
        assert (details.own, details.is_own_stale, details.is_asked) == ("changes-requested", True, True)
        others = row_details(cached, REQUEST, "ada")
        assert (others.own, others.is_own_stale, others.is_asked) == ("approved", False, False)
        assert row_details(cached, REQUEST, "nobody").own == ""

    def test_changed_pages_are_counted_by_kind_and_by_viewed_version(self) -> None:
        answer = changes("page_created", "page_edited", "page_edited", "page_moved", "page_deleted", "page_deleted")
        cached = Cached((changes_in(REQUEST), answer), viewed={"p0": "r2", "p1": "r1", "gone": "r2"})
        details = row_details(cached, REQUEST, "me")
        assert (details.changes, details.pages, details.viewed) == ((1, 2, 1, 2), 6, 1)
        attributes = {"document": {"before": "t0", "after": "t1"}}
        edit = {"type": "page_edited", "page": {"id": "p", "title": "x"}, "attributes": attributes}
        answer = SemanticChanges.model_validate({"changes": [edit]})
        for version, number in (("t1", 1), ("r2", 1), ("t0", 0)):
            cached = Cached((changes_in(REQUEST), answer), viewed={"p": version})
            assert row_details(cached, REQUEST, "me").viewed == number
        listed = row_details(Cached((changes_in(REQUEST), changes("page_listed"))), REQUEST, "me")
        assert (listed.changes, listed.pages) == (None, None), "which of all pages changed is not known"

    def test_the_latest_comment_and_how_many_are_open(self) -> None:
        found = (comment("1", "2026-01-02"), comment("2", "2026-01-03", status="resolved"), comment("3", "2026-01-01"))
        cached = Cached((comments_on(REQUEST), Page(items=found)))
        details = row_details(cached, request(space="s", comments=2), "me")
        assert details.latest
        assert (details.latest.id, details.open_comments) == ("2", 2)
        assert row_details(cached, request(space="s", comments=3), "me").open_comments is None

    def test_people_are_shown_with_their_first_names(self) -> None:
        assert (name_of("a", "Ada Lund", "me"), name_of("me", "Ida Ray", "me"), name_of("a", "", "me")) == (
            "Ada",
            "you",
            "",
        )
        assert name_of("a", " Ada", "me") == " Ada", "a name that begins with a space has no first name"


class TestPreview:
    """Tests of the preview of a change request."""

    def test_uncached_details_are_unknown(self) -> None:
        preview = read_preview(Cached(), REQUEST)
        assert (preview.description, preview.items, preview.threads, preview.viewed) == ("", None, None, {})

    def test_changed_items_and_open_threads_the_latest_first(self) -> None:
        replier = {"user": JON, "updatedAt": "2026-01-05"}
        threads = (
            comment("old", "2026-01-01", repliers=[replier, {"user": ADA}]),
            comment("new", "2026-01-04"),
            comment("resolved", "2026-01-09", status="resolved"),
            comment("older", "2026-01-03"),
        )
        described = {"object": "document", "nodes": [{"object": "block", "nodes": [_text("Why")]}]}
        cached = Cached(
            (changes_in(REQUEST), changes("page_edited")),
            (comments_on(REQUEST), Page(items=threads)),
            viewed={"p0": "r2"},
        )
        preview = read_preview(cached, request(space="s", description=described))
        assert preview.threads
        assert [thread.id for thread in preview.threads] == ["old", "new", "older"]
        assert last_activity(threads[0]) == "2026-01-05"
        assert [item.noun for item in preview.items or ()] == ["page", "file"]
        assert (preview.description, preview.viewed) == ("Why", {"p0": "r2"})
        assert read_preview(Cached((changes_in(REQUEST), changes("page_listed"))), REQUEST).items is None


def _text(words: str) -> dict[str, Any]:
    return {"object": "text", "leaves": [{"object": "leaf", "text": words}]}


class TestViews:
    """Tests of the tabs and their listings."""

    def test_a_saved_view_is_a_tab_before_the_last_one(self) -> None:
        saved = SavedView("Docs", "space:api author:me", "-number", "space")
        view = own_view(saved)
        assert (view.id, view.title, view.query) == ("Docs", "Docs", "space:api author:me sort:-number")
        assert (view.hides, view.is_grouped, view.words) == (True, True, view.query)
        plain = own_view(SavedView("All", "space:api"))
        assert (plain.query, plain.hides, plain.is_grouped) == ("space:api", False, False)
        assert own_view(SavedView("Sorted", "", "number")).query == "sort:number"
        assert all_views([saved]) == (*VIEWS[:-1], view, VIEWS[-1]), "before the last, so that its digit stays the same"
        by_id = {view.id: view for view in VIEWS}
        assert (by_id["merged"].words, by_id["needs-me"].words) == ("status:merged", "waiting:me")
        assert not by_id["mine"].is_grouped

    @each_case(
        ("view", "field"),
        [
            (SavedView("needs-me"), "name"),
            (SavedView("NEEDS ME"), "name"),
            (SavedView("Docs", "colour:red"), "query"),
            (SavedView("Docs", "space:api"), None),
        ],
    )
    def test_saved_view_needs_a_unique_name_and_a_valid_filter(self, view: SavedView, field: str | None) -> None:
        problem = validate_view(view)
        assert (problem[0] if problem else None) == field

    def test_listings_use_the_filters_of_the_service(self) -> None:
        by_id = {view.id: view for view in VIEWS}
        listing = ListOrganizationChangeRequests(organization_id="o", status="open")
        mine = listing.model_copy(update={"creator": "ida"})
        assert listing_of(by_id["mine"], "", "o", "ida") == mine
        assert listing_of(by_id["mine"], "", "o", "") == listing, "who is signed in is not known"
        assert listing_of(by_id["all-open"], "author:me", "o", "ida") == mine
        assert listing_of(by_id["drafts"], "", "o", "ida").status == "draft"
        merged = listing_of(by_id["all-open"], "status:merged author:me", "o", "")
        assert (merged.status, merged.creator) == ("merged", None)
        requested, created, contributed = personal_listings("o", "ida")
        assert (requested.requested_reviewer, created, contributed.contributor) == ("ida", mine, "ida")
        assert personal_listings("o", "") == (listing,)
        found = listings_of("o", "ida")
        assert len({one.key() for one in found}) == len(found)
        assert {requested.key(), mine.key(), contributed.key(), listing.key()} < {one.key() for one in found}


class Rows:
    """A minimal engine with a cache, and without settings, reviews or held texts of the user."""

    def __init__(self, cache: Cache) -> None:
        self.cache = cache
        self.notification_settings: Any = SimpleNamespace(by_id=dict)

    def own_reviews(self) -> Mapping[str, float]:
        return {}

    def held_texts(self) -> Mapping[str, HeldTexts]:
        return {}

    async def in_store(self, work: Callable[[Cache], Any]) -> Any:
        await asyncio.sleep(0)
        return work(self.cache)

    def first_matching(self, listing: Any, conditions: Any, first: int, /) -> array[int]:
        return self.cache.first_matching(listing.key(), conditions, first)


class TestArrangedRows:
    """Tests of filters, sort orders and groups of rows."""

    LISTING = ListOrganizationChangeRequests(organization_id="o", status="open")
    SPACES: Mapping[str, str] = {"a": "Zebra", "b": "apple"}

    @pytest.fixture
    async def rows(self, tmp_path: Path) -> AsyncIterator[Rows]:
        cache = Cache(tmp_path / "cache.sqlite")
        items = [
            json.loads(request(id=f"c{number}", number=number, space=space).model_dump_json(by_alias=True))
            for number, space in ((1, "a"), (2, "b"), (3, "c"), (4, "a"))
        ]
        cache.keep_page(self.LISTING.key(), items, 0, time.time(), total=4, last=True, has_more=False)
        yield Rows(cache)
        cache.close()

    async def arranged(self, rows: Rows, text: str, group: str = "") -> list[tuple[str | None, list[int]]]:
        view = own_view(SavedView("Docs", group=group))
        groups = await arrange_rows(rows, view, self.LISTING, text, self.SPACES, NOW, "me")
        return [(group.title, list(group.places)) for group in groups]

    async def test_rows_are_filtered_and_sorted(self, rows: Rows) -> None:
        assert await self.arranged(rows, "sort:-number") == [(None, [3, 2, 1, 0])]
        assert await self.arranged(rows, "space:zebra sort:number") == [(None, [0, 3])]
        with pytest.raises(InvalidArgument):
            await self.arranged(rows, "colour:red")

    async def test_rows_are_grouped_by_space_in_the_order_of_titles(self, rows: Rows) -> None:
        assert await self.arranged(rows, "sort:-number", "space") == [
            ("apple", [1]),
            ("c", [2]),
            ("Zebra", [3, 0]),
        ]

    async def test_first_rows_are_filtered(self, rows: Rows) -> None:
        [group] = first_rows(rows, self.LISTING, "space:zebra", self.SPACES, NOW, "me", 3)
        assert group == Group(None, array("q", [0])), "of the first three"
        with pytest.raises(InvalidArgument):
            first_rows(rows, self.LISTING, "colour:red", self.SPACES, NOW, "me", 3)


class TestOwnReviews:
    """Tests of which reviews are read to find out what the user has reviewed."""

    def windows(self, ages: Mapping[str, float | None]) -> Any:
        opened = ListOrganizationChangeRequests(organization_id="o", status="open")
        requested, *_ = personal_listings("o", "ida")
        rows = {requested.key(): ("1", "2"), opened.key(): ("2", "3")}

        def window(listing: Operation[Any], start: int, count: int) -> Window[Any]:
            if listing.key() in rows:
                assert (start, count) == (0, views.MAX_REVIEWS)
                items = tuple(
                    request(id=name, space="s", updatedAt="2026-11-20T11:00:00Z") for name in rows[listing.key()]
                )
                return Window(items, 0, len(items), 0.0, complete=True)
            return Window((), 0, 0, ages.get(listing.key()), complete=True)

        return SimpleNamespace(window=window)

    def test_reviews_older_than_the_last_update_are_read(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(phrases, "now", lambda: NOW)
        monkeypatch.setattr(views, "now", lambda: NOW)
        one, two, three = (request(id=name, space="s") for name in "123")
        ages = {
            reviews_of(one).key(): 3599.0,
            reviewers_of(one).key(): 3601.0,
            reviews_of(two).key(): 3600.0,
            reviews_of(three).key(): 9999.0,
        }
        assert [*missing_reviews(self.windows(ages), "o", "ida")] == [
            reviewers_of(one),
            reviewers_of(two),
            reviews_of(three),
        ]
        assert [*missing_reviews(self.windows({}), "o", "ida")] == [
            reviews_of(one),
            reviewers_of(one),
            reviews_of(two),
            reviewers_of(two),
            reviews_of(three),
        ]
        assert [*missing_reviews(self.windows({}), "o", "")] == []
        assert not is_older(1e9, request(updatedAt="")), "nobody knows when it was updated"
        assert is_older(61, request(updatedAt=(NOW - timedelta(minutes=1)).isoformat()))
