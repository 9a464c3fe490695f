"""The input of programs that review a change request, and the drafts that are made of their comments."""

from __future__ import annotations

import asyncio
import json
import sys
from itertools import pairwise
from pathlib import Path
from time import monotonic
from typing import Any

import pytest
from tests.engine.engine import begun, comment

from presscheck.api.change_requests import ChangeRequest, MergeChangeRequest, UpdateChangeRequest
from presscheck.api.comments import Document
from presscheck.api.content_changes import EditChangeRequestContent, InsertPage, UpdatePage
from presscheck.engine.engine import Engine
from presscheck.engine.review import agent_drafts, program_input
from presscheck.engine.review.agent_drafts import free_drafts, require_room
from presscheck.engine.review.owners import read_changes
from presscheck.engine.review.page_texts import page_texts
from presscheck.engine.review.pending_review import PendingReview
from presscheck.engine.review.program_input import program_input as read_input
from presscheck.engine.review.program_review import exportable, exported_review, import_review, review_with_program
from presscheck.engine.review.review_file import MOST_COMMENTS
from presscheck.errors import InvalidArgument, PresscheckError

TEXT = "First line.\n\nSecond line.\n"
SHOWN = f"# One\n\n{TEXT}"


async def with_pages(engine: Engine, *titles: str) -> ChangeRequest:
    """Create a change request with new pages."""
    request = await begun(engine)
    changes = tuple(InsertPage(title=title, document=Document(markdown=TEXT)) for title in titles)
    await engine.write(
        EditChangeRequestContent(space_id=request.space, change_request_id=request.id, changes=changes)
    ).landed()
    return request


def printing(tmp_path: Path, *comments: Any) -> list[str]:
    file = tmp_path / "program.py"
    file.write_text(f"import sys; sys.stdin.read(); print({json.dumps(json.dumps(comments))})")
    return [sys.executable, str(file)]


async def test_a_page_has_its_texts_on_both_sides(engine: Engine) -> None:
    request = await with_pages(engine, "One")
    [change] = (await read_changes(engine, request)).changes
    assert await page_texts(engine, request, change) == (None, SHOWN)
    [page] = (await read_input(engine, request)).document["pages"]
    assert (page["kinds"], page["before"], page["after"]) == (("added",), None, SHOWN)
    assert page["difference"] == [{"old_line": 1, "removed": [], "new_line": 1, "added": SHOWN.splitlines()}]


async def test_a_program_does_not_see_drafts(engine: Engine) -> None:
    request = await with_pages(engine, "One")
    await engine.write(comment(request, "Sent")).landed()
    PendingReview(engine, request.id).hold(comment(request, "Mine"))
    given = await read_input(engine, request)
    assert [thread["text"] for thread in given.document["threads"]] == ["Sent"]


async def test_omitted_texts_are_named_with_the_reason(engine: Engine, monkeypatch: pytest.MonkeyPatch) -> None:
    request = await with_pages(engine, "One", "Two", "Three")
    await engine.write(comment(request, "Hidden\u200b words")).landed()
    await engine.write(comment(request, "Another")).landed()
    monkeypatch.setattr(program_input, "MOST_PAGES", 2)
    monkeypatch.setattr(program_input, "LONGEST_INPUT", 40)
    monkeypatch.setattr(program_input, "MOST_THREADS", 1)
    given = await read_input(engine, request)
    one, two = given.document["pages"]
    assert (one["after"], two["after"], two["difference"]) == (SHOWN, None, [])
    assert [*given.texts] == [one["id"]]
    assert [(row["what"], row["reason"]) for row in given.document["left_out"]] == [
        ("page", "only 2 pages fit"),
        ("text", "the text is too long"),
        ("threads", "only the first 1 threads fit"),
    ]
    assert [thread["text"] for thread in given.document["threads"]] == ["Hidden words"]


async def test_comment_on_a_line_that_changed_during_the_review_is_rejected(engine: Engine, tmp_path: Path) -> None:
    request = await with_pages(engine, "One")
    page = (await read_input(engine, request)).document["pages"][0]["id"]
    text = "# One\n\nNew.\n\n" + TEXT.replace("Second", "Other")
    change = UpdatePage(page=page, document=Document(markdown=text))
    edit = EditChangeRequestContent(space_id=request.space, change_request_id=request.id, changes=(change,))
    go = tmp_path / "go"
    comments = [{"page": page, "line": 3, "text": "a"}, {"page": page, "line": 5, "text": "b"}]
    program = tmp_path / "program.py"
    program.write_text(
        "import os, sys, time\nsys.stdin.read()\n"
        f"while not os.path.exists({str(go)!r}): time.sleep(0.02)\nprint({json.dumps(json.dumps(comments))})"
    )
    is_running, steps = asyncio.Event(), list[str]()

    def progress(step: str) -> None:
        steps.append(step)
        if "reviewing" in step:
            is_running.set()

    command = [sys.executable, str(program)]
    reviewing = asyncio.ensure_future(review_with_program(engine, request, command, "Bot", progress=progress))
    await is_running.wait()
    await engine.write(edit).landed()
    go.touch()
    drafted = await reviewing
    assert [rejected.reason for rejected in drafted.rejected] == ["line: the page was changed in the meantime"]
    [entry] = PendingReview(engine, request.id).entries()
    assert (entry.agent, entry.call.body.markdown) == ("Bot", "> First line.\n\na")  # type: ignore[union-attr]
    assert steps == ["Bot: reading the change …", "Bot: reviewing …", "Bot: checking the comments …"]


async def test_equal_comments_of_two_agents_are_separate_drafts(engine: Engine, tmp_path: Path) -> None:
    request = await with_pages(engine, "One")
    command = printing(tmp_path, {"text": "Why?"})
    for name in ("First", "Second", "First"):
        drafted = await review_with_program(engine, request, command, name)
    assert (drafted.numbers, drafted.known) == ((), 1)
    entries = PendingReview(engine, request.id).entries()
    assert [entry.agent for entry in entries] == ["First", "Second"]
    assert exportable(entries, "Second") == [entries[1]]
    document = exported_review(request, entries, {}, "Ida")
    assert [row["author"] for row in document["comments"]] == ["First", "Second"]
    for entry in entries:
        engine.drop(entry.id)
    text = json.dumps(document).replace("First", "Ida")
    for row, name in (("true", "Ida"), ("false", "")):
        again = await import_review(engine, request, text.replace("true", row, 1), "Ida")
        assert len(again.numbers) == 2 if row == "true" else 1
        assert name in [entry.agent for entry in PendingReview(engine, request.id).entries()]


async def test_agents_have_a_limited_number_of_drafts(
    engine: Engine, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    request = await with_pages(engine, "One")
    monkeypatch.setattr(agent_drafts, "MOST_DRAFTS", 2)
    assert free_drafts(engine) == 2
    command = printing(tmp_path, *({"text": f"Comment {number}"} for number in range(3)))
    drafted = await review_with_program(engine, request, command, "Bot")
    assert len(drafted.numbers) == 2
    assert [(row.place, row.reason[:22]) for row in drafted.rejected] == [("comment 3", "agents have 2 drafts: ")]
    with pytest.raises(InvalidArgument, match="agents have 2 drafts"):
        require_room(engine)


async def test_merged_change_request_and_comments_on_another_one_are_refused(engine: Engine, tmp_path: Path) -> None:
    request = await with_pages(engine, "One")
    other = json.dumps({"change_request": {"id": "another"}, "comments": [{"text": "x"}]})
    with pytest.raises(InvalidArgument, match="of another change request"):
        await import_review(engine, request, other, "Ida")
    with pytest.raises(PresscheckError, match="is not installed"):
        await review_with_program(engine, request, ["/nowhere/at-all"], "Bot")
    path = {"space_id": request.space, "change_request_id": request.id}
    await engine.write(UpdateChangeRequest(**path, status="open")).landed()
    await engine.write(MergeChangeRequest(**path)).landed()
    merged = request.model_copy(update={"status": "merged"})
    with pytest.raises(InvalidArgument, match="it is merged"):
        await review_with_program(engine, merged, printing(tmp_path), "Bot")
    with pytest.raises(InvalidArgument, match="it is merged"):
        await import_review(engine, merged, "[]", "Ida")


async def test_reading_and_checking_many_comments_does_not_block(engine: Engine) -> None:
    request = await with_pages(engine, "One")
    text = "\n\n".join(f"Line {number} has words." for number in range(2_000))
    page = (await read_input(engine, request)).document["pages"][0]["id"]
    change = UpdatePage(page=page, document=Document(markdown=text))
    await engine.write(
        EditChangeRequestContent(space_id=request.space, change_request_id=request.id, changes=(change,))
    ).landed()
    rows = [{"page": page, "line": number, "text": "x"} for number in range(3_801, 3_841, 2)]
    moments: list[float] = []

    async def tick() -> None:
        while True:
            moments.append(monotonic())
            await asyncio.sleep(0.01)

    def assert_no_block() -> None:
        """Check the longest pause of the event loop relative to the whole time, because the machine may be busy."""
        longest = max(after - before for before, after in pairwise((*moments, monotonic())))
        assert longest < (monotonic() - moments[0]) / 2
        moments[:] = [monotonic()]

    ticking = asyncio.create_task(tick())
    await asyncio.sleep(0)
    drafted = await import_review(engine, request, "1\n" * 200_000, "me")
    assert_no_block()
    assert len(drafted.rejected) == MOST_COMMENTS + 1
    drafted = await import_review(engine, request, json.dumps(rows), "me")
    assert_no_block()
    assert len(drafted.numbers) == len(rows)
    ticking.cancel()
