"""Find and replace over a space: patterns run in a bounded time, and chosen hits become one change request."""

import asyncio
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any, cast

import pytest
from tests.engine.live_engine import running_engine
from tests.engine.rearrange import created_space, edited, merged, opened
from tests.running_service import RunningService
from tests.table import each_case

from presscheck.api.change_requests import ChangeRequest
from presscheck.api.comments import Document
from presscheck.api.content import (
    GetChangeRequestPage,
    GetChangeRequestRevision,
    GetPage,
    ListChangeRequestFiles,
    ListPages,
    RevisionPage,
)
from presscheck.api.content_changes import DeletePage, InsertFiles, InsertPage, NewFile, UpdatePage
from presscheck.documents.pages.replacement import Field, Match, PageText, Query, hits_of
from presscheck.documents.pages.tree import flatten
from presscheck.engine.engine import Engine
from presscheck.engine.replacement import application
from presscheck.engine.replacement.application import IncompleteApplication, apply_edits, edits_of
from presscheck.engine.replacement.file_search import FileQuery, free_name
from presscheck.engine.replacement.pattern_search import LONGEST_PATTERN, check_query, started, subject_of
from presscheck.engine.replacement.space_search import PageHits, Place, SpaceHits, search_again, search_space
from presscheck.errors import ChecksFailed, InvalidArgument

TEXT = "The old way.\n\nOld and `old`, [old](old.md).\n"


async def found(query: Query, text: str) -> list[Match]:
    """Return the matches of a query in a text."""
    async with started(query) as search:
        return await search.matches(text, "the text")


async def test_query_finds_matches_with_the_process() -> None:
    assert await found(Query("\U0001f680", "r"), "a\U0001f680\ud800") == [Match(1, 2, "r")]


@each_case(
    ("query", "field", "reason"),
    [
        (Query(""), "find", "required"),
        (Query("[", is_regex=True), "find", "unterminated character set at position 0"),
        (Query("a", "\\1", is_regex=True), "replacement", "invalid group reference 1"),
        (Query("x" * (LONGEST_PATTERN + 1)), "find", "at most 2,000 characters"),
        (Query("a", "x" * (LONGEST_PATTERN + 1)), "replacement", "at most 2,000 characters"),
    ],
)
async def test_an_invalid_query_names_its_field(query: Query, field: str, reason: str) -> None:
    error = await check_query(query)
    assert error
    assert (error.field, reason in error.reason) == (field, True), error.reason


@pytest.mark.slow
async def test_slow_pattern_is_stopped_and_does_not_block_other_tasks() -> None:
    ticks, before = 0, time.monotonic()

    async def tick() -> None:
        nonlocal ticks
        while True:
            await asyncio.sleep(0.02)
            ticks += 1

    clock = asyncio.create_task(tick())
    async with started(Query("(a+)+$", is_regex=True), seconds=1) as search:
        process = search._process
        with pytest.raises(InvalidArgument, match=r"find: takes more than 1 s on Page A: use a simpler"):
            await search.matches("a" * 60 + "!", "Page A")
    clock.cancel()
    assert ticks > 10
    assert time.monotonic() - before < 10
    assert process.returncode is not None, "the process has ended"


async def test_too_many_matches_and_too_much_memory_are_errors() -> None:
    with pytest.raises(InvalidArgument, match=r"more than 10,000 matches: search for a longer text"):
        await found(Query("a", "b"), "a" * 10_001)
    with pytest.raises(InvalidArgument, match="memory"):
        await found(Query("(a+)", r"\1" * 900, is_regex=True), "a" * 3_000_000)


@each_case(
    ("query", "subject"),
    [
        (Query("old", "new"), 'Replace "old" by "new"'),
        (Query("old\n  way", ""), 'Remove "old way"'),
        (Query("o" * 200, "new"), f'Replace "{"o" * 80}…" by "new"'),
        (Query("o" * 200, "n" * 200), f'Replace "{"o" * 41}…" by "{"n" * 41}…"'),
    ],
)
def test_the_subject_is_proposed(query: Query, subject: str) -> None:
    assert subject_of(query, 100) == subject
    assert len(subject) <= 100


async def filled(engine: Engine, **texts: str) -> tuple[str, dict[str, str]]:
    """Create a space with pages of these titles and texts. Returns its id and the ids of the pages by title."""
    space = await created_space(engine)
    inserts = [InsertPage(title=title, document=Document(markdown=text)) for title, text in texts.items()]
    await merged(engine, await opened(engine, space, *inserts))
    pages = (await engine.read(ListPages(space_id=space))).pages
    return space, {page.title: page.id for page in flatten(pages)}


def ignore(_: str) -> None: ...


def summary(hits: SpaceHits) -> dict[str, list[tuple[str, str]]]:
    return {page.page.title: [(hit.kind, hit.old) for hit in page.hits] for page in hits.pages}


async def apply_all(engine: Engine, hits: SpaceHits, place: Place, request: Any = None) -> Any:
    chosen = {page.page.id: page.hits for page in hits.pages}
    return await apply_edits(engine, place, request, edits_of(hits.pages, chosen), "Rename")


async def text_of(engine: Engine, request: Any, page: str) -> tuple[str, str]:
    call = GetChangeRequestPage(space_id=request.space, change_request_id=request.id, page_id=page, format="markdown")
    read = await engine.read(call)
    return read.title, read.markdown or ""


@pytest.mark.slow
async def test_chosen_hits_become_one_change_request_in_one_write(service: RunningService, tmp_path: Path) -> None:
    async with running_engine(service, tmp_path) as engine:
        space, ids = await filled(
            engine, A=TEXT, **{"An old page": "Text, `old`.", "`Code` B": "no, old"}, C="Nothing."
        )
        place = Place(space)
        reports: list[str] = []
        hits = await search_space(engine, place, Query("old", "new"), reports.append)
        assert summary(hits) == {
            "A": [("text", "old"), ("text", "old"), ("link target", "old")],
            "An old page": [("title", "old")],
            "`Code` B": [("text", "old")],
        }
        assert (hits.searched, hits.count, hits.unread, hits.is_offline) == (4, 5, (), False)
        assert reports[0] == "Reading 4 pages …"
        first, *others = hits.pages
        chosen = {first.page.id: first.hits[1:2], **{page.page.id: page.hits for page in others}}
        applied = await apply_edits(engine, place, None, edits_of(hits.pages, chosen), "Rename")
        request = applied.request
        assert request
        assert (request.subject, applied.edited) == ("Rename", frozenset())
        assert await text_of(engine, request, ids["A"]) == ("A", f"# A\n\n{TEXT}".replace("[old]", "[new]"))
        assert await text_of(engine, request, ids["An old page"]) == ("An new page", "# An new page\n\nText, `old`.\n")
        assert await text_of(engine, request, ids["`Code` B"]) == ("`Code` B", "# `Code` B\n\nno, new\n")
        revision = await engine.read(GetChangeRequestRevision(space_id=space, change_request_id=request.id))
        assert revision.parents == (request.revision_initial,), "one write makes one revision"
        live = await engine.read(GetPage(space_id=space, page_id=ids["A"], format="markdown"))
        assert live.markdown == f"# A\n\n{TEXT}", "main stays as it is"
        again = await search_space(engine, Place(space, request.id), Query("old", "new"), ignore)
        assert summary(again) == {"A": [("text", "old"), ("link target", "old")]}, (
            "the change request is searched, not main"
        )
        more = await apply_all(engine, again, Place(space, request.id), request)
        assert more.request == request
        assert (await text_of(engine, request, ids["A"]))[1].count("old") == 1, "only in code"


@pytest.mark.slow
async def test_a_page_edited_in_the_meantime_is_searched_again(service: RunningService, tmp_path: Path) -> None:
    async with running_engine(service, tmp_path) as engine:
        space, ids = await filled(engine, A=TEXT, B=TEXT, C=TEXT)
        place = Place(space)
        hits = await search_space(engine, place, Query("way", "path"), ignore)
        text = Document(markdown="# A\n\nNo way, this way.\n")
        await merged(engine, await opened(engine, space, UpdatePage(page=ids["A"], document=text)))
        await merged(engine, await opened(engine, space, DeletePage(page=ids["C"])))
        applied = await apply_all(engine, hits, place)
        assert applied.edited == {ids["A"], ids["C"]}
        assert applied.request is None, "nothing was created"
        again = await search_again(engine, place, hits, applied.edited)
        assert summary(again) == {"A": [("text", "way")] * 2, "B": [("text", "way")]}
        assert [page.is_edited for page in again.pages] == [True, False]
        done = await apply_all(engine, again, place)
        assert done.edited == frozenset()
        assert (await text_of(engine, done.request, ids["A"]))[1] == "# A\n\nNo path, this path.\n"
        request = done.request
        await edited(engine, request, UpdatePage(page=ids["B"], document=Document(markdown="# B\n\nNew.\n")))
        stale = await apply_all(engine, again, Place(space, request.id), request)
        assert stale.edited == {ids["A"], ids["B"]}
        assert (await text_of(engine, request, ids["B"]))[1] == "# B\n\nNew.\n", "an edit of others stays"


def old_page(number: int, new: str) -> PageHits:
    """Return the hits that replace the title and the text of a page, both “Old”, by `new`."""
    text = PageText("Old", "", "Old")
    matches: dict[Field, list[Match]] = {"title": [Match(0, 3, new)], "markdown": [Match(0, 3, new)]}
    return PageHits(RevisionPage(id=f"p{number}", title="Old"), text, hits_of(text, matches, in_code=False))


@each_case(("new", "problem"), [("", "be empty"), ("x" * 257, "be too long"), ("a\nb", "have two lines")])
def test_titles_stay_valid(new: str, problem: str) -> None:
    page = old_page(1, new)
    with pytest.raises(ChecksFailed, match=f"Nothing was changed: the title of Old would {problem}"):
        edits_of([page], {"p1": page.hits})


async def test_many_pages_are_sent_in_several_writes(monkeypatch: pytest.MonkeyPatch) -> None:
    sent: list[int] = []

    async def none_edited(*_: Any) -> frozenset[str]:
        return frozenset()

    async def send(_: Any, request: ChangeRequest, changes: Sequence[Any]) -> None:
        if sent:
            raise ChecksFailed(f"#{request.number} is archived")
        sent.append(len(changes))

    monkeypatch.setattr(application, "edited_pages", none_edited)
    monkeypatch.setattr(application, "send_edits", send)
    pages, request = [old_page(number, "New") for number in range(80)], ChangeRequest(id="c", number=7, space="s")
    edits = edits_of(pages, {page.page.id: page.hits for page in pages})
    with pytest.raises(IncompleteApplication, match=r"^#7 is not complete, 50 of 80 pages changed: #7 is archived"):
        await apply_edits(cast("Engine", None), Place("s", "c"), request, edits)
    assert sent == [50]


async def test_a_file_is_uploaded_once_and_only_with_its_edits(
    service: RunningService, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with running_engine(service, tmp_path) as engine:
        space = await created_space(engine)
        old, new = (NewFile(name="plan.pdf", base64=text, content_type="application/pdf") for text in ("YQ==", "YWI="))
        text = '[a](x/../plan.pdf#page=3) ![b](/plan.pdf "B") {% file src="/plan.pdf" %} [c](/plan.pdf.md) `/plan.pdf`'
        request = await opened(
            engine, space, InsertFiles(files=(old,)), InsertPage(title="A", document=Document(markdown=text))
        )
        place, path = Place(space, request.id), {"space_id": space, "change_request_id": request.id}

        async def names() -> list[str]:
            return [file.name for file in (await engine.read(ListChangeRequestFiles(**path))).items]

        [file] = (await engine.read(ListChangeRequestFiles(**path))).items
        query = FileQuery(file, new.model_copy(update={"name": free_name(new.name, [file])}))
        hits = await search_space(engine, place, query, ignore)
        [page] = hits.pages
        assert [(hit.old, hit.new) for hit in page.hits] == [
            ("x/../plan.pdf", "/plan-2.pdf"),
            ("/plan.pdf", "/plan-2.pdf"),
            ("/plan.pdf", "/plan-2.pdf"),
        ]

        async def apply(found: SpaceHits) -> Any:
            edits = edits_of(found.pages, {one.page.id: one.hits for one in found.pages})
            return await apply_edits(engine, place, request, edits, file=query)

        title = UpdatePage(page=page.page.id, document=Document(markdown=f"{text} Edited."))
        await edited(engine, request, title)
        assert (await apply(hits)).edited == {page.page.id}
        assert await names() == ["plan.pdf"], "nothing is uploaded if the pages were edited"

        async def refused(*_: Any) -> None:
            raise ChecksFailed("refused")

        hits = await search_space(engine, place, query, ignore)
        with monkeypatch.context() as patch, pytest.raises(ChecksFailed, match="refused"):
            patch.setattr(application, "send_edits", refused)
            await apply(hits)
        await apply(await search_space(engine, place, query, ignore))
        assert await names() == ["plan.pdf", "plan-2.pdf"], "the second attempt uses the file of the first one"
        _, written = await text_of(engine, request, page.page.id)
        assert '[a](/plan-2.pdf#page=3) ![b](/plan-2.pdf "B") {% file src="/plan-2.pdf" %} [c](/plan.pdf.md)' in written
        assert "`/plan.pdf` Edited." in written
