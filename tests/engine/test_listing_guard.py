"""Whole listings: repeated items are dropped, and endless listings are cut off."""

from __future__ import annotations

from typing import Any

import pytest
from tests.engine.scripted_service import ScriptedService

from presscheck.api.operation import ALL
from presscheck.api.spaces import ListSpaces, Space
from presscheck.engine.reads import listing_guard
from presscheck.engine.reads.listing_guard import ListingGuard, whole_listing
from presscheck.errors import IncompleteList

LISTING = ListSpaces(organization_id="o")


def item(identity: str, **more: Any) -> dict[str, Any]:
    return {"object": "space", "id": identity, **more}


def reason(guard: ListingGuard, cursor: str | None, items: list[Any] | None = None) -> str:
    """Return why a listing is cut off after a page, or an empty text."""
    if items is not None:
        guard.new_items(items)
    problem = guard.problem(cursor)
    if problem is None:
        return ""
    assert problem.request == str(LISTING)
    return problem.message.removeprefix("The list is incomplete: ")


def test_items_of_earlier_pages_are_dropped() -> None:
    guard = ListingGuard(LISTING)
    first, changed = item("a"), item("a", title="New")
    assert guard.new_items([first, changed, item("b"), {**item("a"), "object": "site"}]) == [
        first,
        item("b"),
        {**item("a"), "object": "site"},
    ]
    assert guard.new_items([changed, item("c"), Space(id="b"), Space(id="d")]) == [item("c"), Space(id="d")]


def test_items_without_an_id_are_compared_by_content() -> None:
    guard = ListingGuard(LISTING)
    named, numbered = {"name": "x"}, {"object": "space", "id": 1}
    assert guard.new_items([named, {"name": "x"}, "text", numbered]) == [named, named, "text", numbered], (
        "within one page, equal items may be meant"
    )
    assert guard.new_items([{"name": "x"}, {"id": 1, "object": "space"}, "text", "other"]) == ["other"]


def test_page_may_arrive_in_parts() -> None:
    guard, named = ListingGuard(LISTING), {"name": "x"}
    assert guard.new_items([item("a"), named], ends_page=False) == [item("a"), named]
    assert guard.new_items([item("a"), named, item("b")]) == [named, item("b")], "on one page, equal items may be meant"
    assert reason(guard, "p2") == ""
    assert guard.new_items([named, item("c")], ends_page=False) == [item("c")]
    assert reason(guard, "p3", [item("b")]) == "", "the page has a new item before its last part"
    assert guard.new_items([named], ends_page=False) == []
    assert reason(guard, "p4", [item("b")]) == "the service repeats a page"
    assert reason(guard, "p5", []) == "", "an empty page repeats nothing"


def test_a_listing_that_repeats_is_cut_off() -> None:
    guard = ListingGuard(LISTING)
    assert reason(guard, "p2", [item("a")]) == ""
    assert reason(guard, None, [item("a")]) == "", "it ends anyway"
    assert reason(guard, "p3", [item("a")]) == "the service repeats a page"
    assert reason(guard, "p4", [item("b")]) == ""
    assert reason(guard, "p4", [item("c")]) == "the service repeats a page", "its cursor is the one before"
    assert reason(guard, "p5", []) == ""


def test_a_listing_that_does_not_end_is_cut_off(monkeypatch: pytest.MonkeyPatch) -> None:
    guard = ListingGuard(LISTING)
    for number in range(9):
        assert reason(guard, f"{number}", []) == ""
    assert reason(guard, "9", [item("a")]) == ""
    for number in range(9):
        assert reason(guard, f"again {number}", []) == ""
    assert reason(guard, "last", []) == "the service returned 10 empty pages"
    monkeypatch.setattr(listing_guard, "MAX_ITEMS", 3)
    guard = ListingGuard(LISTING)
    assert reason(guard, "2", [item("a"), item("b")]) == ""
    assert reason(guard, "3", [item("b"), item("c")]) == "only the first 3 items were loaded"
    monkeypatch.setattr(listing_guard, "MAX_PAGES", 2)
    guard = ListingGuard(LISTING)
    assert reason(guard, "2", [item("a")]) == ""
    assert reason(guard, "3", [item("b")]) == "only the first 2 pages were loaded"
    guard = ListingGuard(LISTING)
    guard._started -= listing_guard.MAX_SECONDS - 60
    assert reason(guard, "2", [item("a")]) == ""
    guard = ListingGuard(LISTING)
    guard._started -= listing_guard.MAX_SECONDS + 1
    assert reason(guard, "2", [item("a")]) == "loading it took longer than 10 minutes"
    assert reason(guard, None) == ""


async def test_a_whole_listing_is_read_page_by_page() -> None:
    first = LISTING.model_copy(update={"limit": ALL})
    second = first.model_copy(update={"page": "p2"})
    service = ScriptedService([(first, {"items": [item("a")], "next": {"page": "p2"}})])
    service.answer(second, {"items": [item("a"), item("b")]})
    assert [space.id for space in await whole_listing(service, LISTING)] == ["a", "b"]
    assert service.sent == [first, second]
    service.answer(second, {"items": [item("b")], "next": {"page": "p2"}})
    with pytest.raises(IncompleteList, match="the service repeats a page"):
        await whole_listing(service, LISTING)
