"""The plan of a sync, the parts that are already in the cache, and the progress."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from presscheck.api.change_requests import ChangeRequest, GetChangeRequest
from presscheck.api.content import (
    GetChangeRequestRevision,
    GetCurrentRevision,
    GetRevision,
    ListChangeRequestPages,
    ListPages,
)
from presscheck.api.operation import Operation
from presscheck.api.organizations import GetOrganization, ListMembers
from presscheck.api.site_structure import GetSiteStructure
from presscheck.api.spaces import GetSpace, ListSpaces, Space
from presscheck.engine.inbox.views import listings_of
from presscheck.engine.mirror import progress as mirror_progress
from presscheck.engine.mirror.cache_state import begin, changed_parts, complete, find_missing, first_seen, keep
from presscheck.engine.mirror.plan import (
    MirrorRequest,
    MirrorUnit,
    listings,
    parts_of_request,
    parts_of_space,
    same_as_organization,
    same_as_request,
    same_as_space,
    short_listings,
    unfinished,
)
from presscheck.engine.mirror.progress import DEFAULT_REQUESTS, ProgressCounter
from presscheck.engine.shared_calls import (
    ALL,
    changed_page,
    changes_in,
    comments_on,
    live_page,
    page_in,
    replies_to,
    reviewers_of,
    reviews_of,
)
from presscheck.errors import MalformedAnswer
from presscheck.store.cache import Cache

REQUEST = ChangeRequest(
    id="c", number=5, space="s", revision="r2", revision_initial="m1", updated_at="2026", comments=3, outdated=True
)
ROW = ChangeRequest(id="c", space="s")
PATH = {"space_id": "s", "change_request_id": "c"}
SPACE = MirrorUnit("space", "s", "m2")


def unit(kind: str, **more: Any) -> MirrorUnit:
    return MirrorUnit(kind, "s", "v", request="c", revision="r2", base="m1", **more)


def nothing(_: Operation[Any]) -> None:
    return None


def follow_ups(request: MirrorRequest, answer: Any, known: Any = nothing) -> list[MirrorRequest]:
    assert request.follow_ups
    return [*request.follow_ups(answer, known)]


class TestPlan:
    """Tests of the calls, and of the calls that follow from responses."""

    def test_listings_are_the_same_as_on_the_screens(self) -> None:
        found = [*listings("o", "ida")]
        assert found[0] == ListSpaces(organization_id="o")
        assert tuple(found[2:]) == listings_of("o", "ida")
        assert len({listing.key() for listing in found}) == len(found)
        assert {(listing.status, listing.creator) for listing in unfinished("o", "ida")} == {  # type: ignore[attr-defined]
            ("open", None),
            ("draft", None),
        }

    def test_members_and_the_structure_of_each_site_are_fetched_each_time(self) -> None:
        members, sites = short_listings("o", 5.0)
        assert (members.call, members.since, sites.since) == (ListMembers(organization_id="o", limit=ALL), 5.0, 5.0)
        [first, _] = follow_ups(sites, {"items": [{"id": "a"}, {"id": "b"}]})
        assert (first.call, first.since) == (GetSiteStructure(organization_id="o", site_id="a"), 5.0)

    def test_rows_are_stored_as_responses_of_other_calls(self) -> None:
        assert same_as_organization("o") == (GetOrganization(organization_id="o").key(), "organization", "o")
        assert [*same_as_space(Space(id="s"))] == [(GetSpace(space_id="s").key(), "space", "s")]
        calls = [GetChangeRequest(space_id="s", change_request_id=name).key() for name in ("c", "5")]
        assert [*same_as_request(REQUEST)] == [(key, "change-request", "c") for key in calls]

    def test_a_part_changes_with_its_row(self) -> None:
        [space] = parts_of_space(Space(id="s", revision="m2"))
        assert (space, space.name) == (SPACE, "mirrored space s")
        content, talk, forecast = parts_of_request(REQUEST, {"s": "m2"})
        assert [part.kind for part in (content, talk, forecast)] == ["content", "talk", "forecast"]
        assert [part.version for part in (content, talk, forecast)] == ["m1 r2", "2026 3", "m1 r2 m2"]
        assert (talk.name, talk.base, talk.revision) == ("mirrored talk s c", "m1", "r2")
        updated = REQUEST.model_copy(update={"revision_merged_ancestor": "m9"})
        assert next(parts_of_request(updated, {})).version == "m9 r2"
        for other, live in (
            (REQUEST, {"other": "m2"}),
            (REQUEST.model_copy(update={"outdated": False}), {"s": "m2"}),
            (REQUEST.model_copy(update={"revision_initial": ""}), {"s": "m2"}),
        ):
            assert [part.kind for part in parts_of_request(other, live)] == ["content", "talk"]

    def test_space_consists_of_its_tree_and_the_texts_of_its_pages(self) -> None:
        [request] = SPACE.requests(7.0)
        assert (request.call, request.since) == (GetCurrentRevision(space_id="s"), 7.0)
        inner = {"id": "b", "type": "document"}
        pages = [{"id": "a", "type": "document", "pages": [inner]}, {"id": "l", "type": "link"}]
        assert request.contains
        assert [*request.contains({"pages": pages})] == [(ListPages(space_id="s"), {"pages": pages})]
        found = follow_ups(request, {"pages": pages})
        assert [one.call for one in found] == [live_page("s", "a"), live_page("s", "b")]
        assert [(one.since, one.page) for one in found] == [(7.0, pages[0]), (7.0, inner)]
        assert follow_ups(request, {}) == []

    def test_the_content_is_the_changed_pages_before_and_after(self) -> None:
        [request] = unit("content").requests(7.0)
        assert request.call == GetChangeRequestRevision(**PATH)
        assert request.contains
        assert [*request.contains({})] == [(ListChangeRequestPages(**PATH), {"pages": []})]
        [changes] = follow_ups(request, {"pages": [{"id": "a", "documentId": "d"}]})
        assert changes.call == changes_in(ROW)

        def change(kind: str, identity: str, page_type: str = "document") -> dict[str, Any]:
            return {"type": kind, "page": {"id": identity, "type": page_type}}

        listed = [
            change("page_edited", "a"),
            change("page_moved", "a"),
            change("page_created", "b"),
            change("page_deleted", "d"),
            change("page_listed", "e", "computed"),
            change("page_edited", "link", "link"),
            {"type": "file_created", "file": {"id": "f"}},
        ]
        found = follow_ups(changes, {"changes": listed})
        assert [one.call for one in found] == [
            page_in("s", "m1", "a"),
            changed_page("s", "c", "a"),
            changed_page("s", "c", "b"),
            page_in("s", "m1", "d"),
            changed_page("s", "c", "e"),
        ]
        assert [one.since for one in found] == [0.0, 7.0, 7.0, 0.0, 7.0], "a revision never changes"
        assert [one.page for one in found][:3] == [None, {"id": "a", "documentId": "d"}, None]
        [without_base] = MirrorUnit("content", "s", "v", request="c").requests(7.0)
        [changes_alone] = follow_ups(without_base, {})
        assert [one.call for one in follow_ups(changes_alone, {"changes": listed[:1]})] == [changed_page("s", "c", "a")]

    def test_all_changes_are_requested_once_if_some_are_left_out(self) -> None:
        [request] = unit("content").requests(7.0)
        [changes] = follow_ups(request, {})
        listed = [{"type": "page_created", "page": {"id": "a", "type": "document"}}]
        [longer] = follow_ups(changes, {"changes": listed, "more": 20})
        assert (longer.call, longer.since) == (changes_in(ROW, 21 + ALL), 7.0)
        assert [one.call for one in follow_ups(longer, {"changes": listed, "more": 9})] == [changed_page("s", "c", "a")]

    def test_discussion_consists_of_reviews_and_comments_with_replies(self) -> None:
        reviews, reviewers, comments = unit("talk").requests(7.0)
        assert [one.call for one in (reviews, reviewers, comments)] == [
            reviews_of(ROW),
            reviewers_of(ROW),
            comments_on(ROW),
        ]
        [replies] = follow_ups(comments, {"items": [{"id": "1", "replies": 0}, {"id": "2", "replies": 1}, {"id": "3"}]})
        assert (replies.call, replies.since) == (replies_to("s", "c", "2"), 7.0)

    def test_a_forecast_needs_the_pages_that_both_sides_changed(self) -> None:
        [request] = unit("forecast").requests(7.0)
        assert (request.call, request.since) == (GetRevision(space_id="s", revision_id="m1"), 0.0)

        def side(identity: str, document: str) -> dict[str, Any]:
            return {"id": identity, "pages": [{"id": "p", "documentId": document}]}

        sides = {
            GetChangeRequestRevision(**PATH).key(): side("r2", "ours"),
            GetCurrentRevision(space_id="s").key(): side("m2", "theirs"),
        }
        found = follow_ups(request, side("m1", "base"), lambda call: sides.get(call.key()))
        assert [one.call for one in found] == [page_in("s", revision, "p") for revision in ("m1", "r2", "m2")]
        assert follow_ups(request, side("m1", "base")) == []

    def test_an_old_response_is_current_if_it_agrees_with_the_page_tree(self) -> None:
        page = {"id": "a", "title": "A", "documentId": "d", "pages": [{"id": "b"}]}
        call = live_page("s", "a")
        assert MirrorRequest(call, page=page).is_met_by({**page, "pages": [], "markdown": "x"})
        assert not MirrorRequest(call, page=page).is_met_by({**page, "title": "B"})
        assert not MirrorRequest(call).is_met_by(page)
        assert not MirrorRequest(call, page={"id": "a"}).is_met_by({"id": "a"}), "the tree does not tell"
        assert MirrorRequest(call, page={"id": "a", "updatedAt": "1"}).is_met_by({"id": "a", "updatedAt": "1"})


class TestCache:
    """Tests of which parts and responses are in the cache."""

    @pytest.fixture
    def cache(self, tmp_path: Path) -> Iterator[Cache]:
        opened = Cache(tmp_path / "cache.sqlite")
        yield opened
        opened.close()

    def test_a_part_is_changed_until_it_is_complete_in_its_version(self, cache: Cache) -> None:
        before = time.time()
        assert changed_parts(cache, [SPACE, unit("talk")]) == [SPACE, unit("talk")]
        seen = first_seen(cache, SPACE)
        assert before <= seen <= time.time()
        assert changed_parts(cache, [SPACE]) == [SPACE]
        assert first_seen(cache, SPACE) == seen, "its version was first seen then"
        complete(cache, SPACE, seen)
        assert changed_parts(cache, [SPACE, unit("talk")]) == [unit("talk")]
        assert first_seen(cache, SPACE) == seen
        newer = MirrorUnit("space", "s", "m3")
        assert changed_parts(cache, [newer]) == [newer]
        assert first_seen(cache, newer) > seen
        assert first_seen(cache, unit("content")) >= before

    def test_a_response_is_missing_if_it_may_be_older_than_its_part(self, cache: Cache) -> None:
        calls = [live_page("s", name) for name in "abcd"]
        page = {"id": "c", "documentId": "d"}
        for call, at in zip(calls, (10.0, 9.0, 9.0), strict=False):
            cache.keep(call.key(), json.dumps(page).encode(), at)

        def more(_: Any, known: Any) -> list[MirrorRequest]:
            assert known(calls[1]) == page
            return [MirrorRequest(calls[3])] if known(calls[3]) is None else []

        requests = [
            MirrorRequest(calls[0], 10.0, follow_ups=more),
            MirrorRequest(calls[1], 10.0, follow_ups=more),
            MirrorRequest(calls[2], 10.0, page),
            MirrorRequest(calls[3], 0.0),
        ]
        assert find_missing(cache, requests) == [requests[1], requests[3], MirrorRequest(calls[3])]

    def test_an_unusable_response_is_fetched_again(self, cache: Cache) -> None:
        call = GetCurrentRevision(space_id="s")
        cache.keep(call.key(), b'{"pages": [{"type": "document"}]}', 10.0)
        [request] = SPACE.requests(1.0)
        assert find_missing(cache, [request]) == [request]
        assert [one.call for one in begin(cache, SPACE)[1]] == [call]

    def test_response_is_stored_with_the_responses_that_it_contains(self, cache: Cache) -> None:
        [request] = SPACE.requests(1.0)
        body = json.dumps({"object": "revision", "id": "m2", "pages": [{"id": "a", "type": "document"}]}).encode()
        following, changed = keep(cache, request, body)
        assert [one.call for one in following] == [live_page("s", "a")]
        assert changed == {request.call.key(), ListPages(space_id="s").key()}
        tree = cache.answer(ListPages(space_id="s").key())
        assert tree
        assert json.loads(tree.json) == {"pages": [{"id": "a", "type": "document"}]}
        assert keep(cache, request, body)[1] == set(), "nothing has changed"
        for malformed in (b"[", b'{"pages": [{"type": "document"}]}', b'{"pages": [7]}'):
            with pytest.raises(MalformedAnswer):
                keep(
                    cache,
                    MirrorRequest(live_page("s", "x"), contains=request.contains, follow_ups=request.follow_ups),
                    malformed,
                )
        assert cache.answer(live_page("s", "x").key()) is None

        def broken(_: Any) -> Any:
            raise KeyError

        with pytest.raises(MalformedAnswer, match="Unexpected response"):
            keep(cache, MirrorRequest(live_page("s", "x"), contains=broken), b"{}")


class TestProgress:
    """Tests of the counts and of the remaining time."""

    def test_counts(self) -> None:
        counter = ProgressCounter()
        counter.count(spaces=2, failed=1)
        counter.count(spaces=1, refused=3)
        counter.waits(2.5)
        progress = counter.progress()
        assert (progress.spaces, progress.failed, progress.refused, progress.waits) == (3, 1, 3, 2.5)
        counter.waits(0)
        assert counter.progress().waits == 0
        assert counter.progress().left is None

    def test_remaining_time_is_estimated_from_completed_parts(self, monkeypatch: pytest.MonkeyPatch) -> None:
        now = 100.0
        monkeypatch.setattr(mirror_progress.time, "monotonic", lambda: now)
        counter = ProgressCounter()
        counter.count(requests=50)  # the listings, before the parts are known
        counter.begin(["space", "talk", "talk", "content"])
        assert (counter.progress().parts, counter.progress().left) == (4, None)
        before = counter.begin_part("talk")
        counter.queued(3)
        counter.count(requests=1)
        counter.queued(-1)
        now = 102.0  # 2 seconds a request
        assert counter.progress().left == 2 * (2 + 3 * DEFAULT_REQUESTS)
        counter.count(requests=2)
        counter.queued(-2)
        counter.end_part("talk", before)
        now = 106.0
        assert counter.progress().done == 1
        assert counter.progress().left == 2 * (3 + 2 * DEFAULT_REQUESTS), "another talk takes as many as the first"
        before = counter.begin_part("talk")
        counter.count(requests=1)
        counter.end_part("talk", before)
        now = 108.0
        assert counter.progress().left == 2 * 2 * DEFAULT_REQUESTS
        counter.begin(["talk"])
        counter.count(requests=1)
        now = 110.0
        assert counter.progress().left == 2 * (2 + 2 * DEFAULT_REQUESTS), "the mean of both"
