"""Queued changes of the page tree, compared with the current tree when they are sent."""

import asyncio
from typing import Any

import pytest
from tests.engine.review_engine import ReviewEngine
from tests.table import each_case

from presscheck.api.change_requests import ChangeRequest, GetChangeRequest
from presscheck.api.comments import Document
from presscheck.api.content import ListChangeRequestPages, Pages, RevisionPage
from presscheck.api.content_changes import (
    ContentUpdate,
    DeletePage,
    EditChangeRequestContent,
    InsertPage,
    UpdatePage,
)
from presscheck.engine.writes.page_merge import MergedEdit, Read
from presscheck.engine.writes.tree_merge import added_page, find_added, merged_tree, must_queue, tree_base
from presscheck.errors import ChangedSince
from presscheck.store.outbox import Outbox, Row

PATH = {"space_id": "s", "change_request_id": "c"}
OTHER = InsertPage(title="N", document=Document(markdown="Other"))
"""A new page with the title of a page in the tree, but with another text."""


def tree(text: str) -> tuple[RevisionPage, ...]:
    """Parse a tree such as `a b(c d)`.

    An upper-case letter is the same page with another title and text. A `-` after a page excludes it from search
    indexes.
    """
    stack: list[list[RevisionPage]] = [[]]
    for letter in text.replace(" ", ""):
        if letter == "(":
            stack.append([])
        elif letter == ")":
            below = tuple(stack.pop())
            stack[-1][-1] = stack[-1][-1].model_copy(update={"pages": below})
        elif letter == "-":
            stack[-1][-1] = stack[-1][-1].model_copy(update={"no_index": True})
        else:
            stack[-1].append(RevisionPage(id=letter.lower(), title=letter, document_id=letter))
    return tuple(stack[0])


def queued(
    before: str, *changes: Any, state: str = "waiting", more: Any = None
) -> tuple[Row, EditChangeRequestContent]:
    """Return the row and the call of changes that were queued on the tree `before`.

    `more` is added to the base of the first change.
    """
    call = EditChangeRequestContent(**PATH, changes=changes)
    base = tree_base(tree(before), changes)
    base["tree"][0] |= more or {}
    return Row(1, call.stored_name(), call.given(), "", state, None, None, 0, 0, 0, base=base), call


def reader(now: str) -> Read:
    """Return a function that reads from a change request with the tree `now`."""

    async def read(read: Any) -> Any:
        if isinstance(read, ListChangeRequestPages):
            return Pages(pages=tree(now))
        if isinstance(read, GetChangeRequest):
            return ChangeRequest(id="c", number=1)
        return RevisionPage(id=read.page_id, markdown="# N\n\nText")

    return read


async def sent(before: str, now: str, *changes: Any, settle: float = 0, **more: Any) -> Any:
    """Merge changes that were queued on the tree `before` with the tree `now`.

    Returns:
        The changes to send, the id of an added page that was found, or an empty list if all changes are done already.
    """
    merged = await merged_tree(reader(now), *queued(before, *changes, **more), settle)
    if isinstance(merged, MergedEdit):
        return [change.model_dump(exclude_unset=True, exclude={"document"}) for change in merged.call.changes]
    assert isinstance(merged, ContentUpdate)
    return added_page(merged) or []


async def next_base(before: str, now: str, change: Any, **more: Any) -> dict[str, Any]:
    """Return the base of a change after its comparison with the tree `now`."""
    merged = await merged_tree(reader(now), *queued(before, change, **more), 0)
    assert isinstance(merged, MergedEdit)
    [entry] = merged.base["tree"]
    return entry


def moved(page: str, into: str | None, at: int) -> UpdatePage:
    return UpdatePage(page=page, into=into, at=at)


def added(into: str | None = None, at: int | None = None) -> InsertPage:
    return InsertPage(title="N", document=Document(markdown="Text"), into=into, at=at)


@each_case(
    ("before", "now", "change", "at"),
    [
        ("a b c", "a b c", moved("c", None, 1), 1),
        ("a b c", "x a b c", moved("c", None, 1), 2),
        ("a b c", "b c", moved("c", None, 1), 0),
        ("a b(c d)", "a b(c e d)", moved("a", "b", 2), 3),
        ("a b", "x a b", added(at=1), 2),
        ("a b", "a b x", added(), 2),
        ("a(b c)", "a(c)", added("a", 1), 0),
    ],
)
async def test_page_is_placed_after_the_nearest_remaining_page(before: str, now: str, change: Any, at: int) -> None:
    [found] = await sent(before, now, change)
    assert found["at"] == at


async def test_page_is_placed_after_a_page_that_moves_with_it() -> None:
    both = await sent("a b c d", "x a b c d", moved("d", None, 1), moved("c", None, 2))
    assert [change["at"] for change in both] == [2, 3]


async def test_changes_that_are_already_done_are_not_sent() -> None:
    assert await sent("a b c", "c a b", moved("c", None, 0)) == []
    assert await sent("a b", "b", DeletePage(page="a")) == []
    assert await sent("a", "A", UpdatePage(page="a", title="A")) == []
    [left] = await sent("a b", "b", DeletePage(page="a"), moved("b", None, 0), UpdatePage(page="b", title="x"))
    assert left["title"] == "x"


@each_case(
    ("before", "now", "change", "reason"),
    [
        ("a b c", "a c b", moved("c", None, 0), "somebody else moved it"),
        ("a b c", "a b(c)", moved("c", None, 0), "somebody else moved it"),
        ("a b", "a", moved("b", None, 0), "somebody else deleted the page"),
        ("a b c", "a c", moved("c", "b", 0), "was moved or deleted"),
        ("a b c", "c(b) a", moved("c", "b", 0), "was moved or deleted"),
        ("a b", "b", added("a"), "the page to add it in was deleted"),
        ("a b", "A b", DeletePage(page="a"), "Not deleted: somebody else edited it"),
        ("a b", "a(x) b", DeletePage(page="a"), "added a page below it"),
        ("a b", "A b", UpdatePage(page="a", title="z"), "somebody else changed the title"),
        ("a b", "a- b", UpdatePage(page="a", no_index=False), "somebody else changed the no index"),
    ],
)
async def test_changes_by_others_are_not_overwritten(before: str, now: str, change: Any, reason: str) -> None:
    with pytest.raises(ChangedSince, match=reason):
        await sent(before, now, change)


async def test_an_added_page_whose_response_was_lost_is_found() -> None:
    more = {"existing": ["a"]}
    assert await sent("a", "a N", added(), state="sending", more=more) == "n"
    [again] = await sent("a", "a", added(), state="sending", more=more)
    assert again["at"] == 1
    [beside] = await sent("a N", "a N", added(), state="sending", more={"existing": ["a", "n"]})
    assert beside["at"] == 2, "a page that had this title before is another one"
    with pytest.raises(ChangedSince, match="perhaps this one"):
        await sent("a", "a N", OTHER, state="sending", more=more)
    assert len(await sent("a", "a N", OTHER, more=more)) == 1, "the user chose to send it again"


async def test_added_page_that_exists_is_found_without_a_pause() -> None:
    arrived = sent("a", "a N", added(), state="sending", more={"existing": ["a"]}, settle=3600)
    search = asyncio.create_task(arrived)
    for _ in range(5):
        await asyncio.sleep(0)
    assert search.done() and search.result() == "n"


@each_case(
    ("now", "change", "page"),
    [
        ("a N", added(), "n"),
        ("a N", OTHER, "n"),
        ("a", added(), None),
        ("N", UpdatePage(page="a", title="N"), None),
    ],
)
async def test_added_page_is_found_by_its_title(now: str, change: Any, page: str | None) -> None:
    assert await find_added(reader(now), *queued("a", change, more={"existing": ["a"]})) == page


async def test_base_keeps_the_pages_that_existed_before_a_page_was_first_sent() -> None:
    assert await next_base("a", "a b", added()) == {"before": ["a"], "existing": ["a", "b"]}
    again = await next_base("a", "a b N", OTHER, more={"existing": ["a", "b"]})
    assert again == {"before": ["a"], "existing": ["a", "b"]}
    assert await next_base("a", "a b", UpdatePage(page="a", title="z")) == {"details": {"title": "a"}}


def test_change_is_queued_behind_waiting_changes_of_its_change_request(outbox: Outbox) -> None:
    engine = ReviewEngine(outbox)
    assert not must_queue(engine, PATH)
    row, _ = queued("a", added())
    outbox.put(row.name, row.given, "", 1.0, base=row.base)
    assert must_queue(engine, PATH)
    assert not must_queue(engine, {**PATH, "change_request_id": "other"})
    engine.status.online = False
    assert must_queue(engine, {**PATH, "change_request_id": "other"})
