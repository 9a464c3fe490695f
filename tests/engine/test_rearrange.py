"""Dropping, copying and moving changes of a change request: exactly or not at all."""

import os
import random
from collections.abc import Sequence
from typing import Any

import pytest
from tests.engine.rearrange import at, created_space, edited, merged, opened

from presscheck.api.change_requests import ChangeRequest, UpdateChangeRequest
from presscheck.api.comments import Document
from presscheck.api.content import (
    GetChangeRequestPage,
    GetChangeRequestRevision,
    GetCurrentRevision,
    Revision,
    RevisionPage,
)
from presscheck.api.content_changes import DeletePage, EditChangeRequestContent, InsertPage, UpdatePage
from presscheck.api.operation import Operation
from presscheck.documents.merge.hunks import Hunk, split_hunks
from presscheck.documents.pages.tree import flatten
from presscheck.engine.engine import Engine
from presscheck.engine.review.changes import changed_items
from presscheck.engine.review.rearrange import (
    Kind,
    Rearrangement,
    Selection,
    carry_out,
    describe,
    plan_rearrangement,
)
from presscheck.engine.shared_calls import changes_in
from presscheck.errors import ChecksFailed, PresscheckError

SEEDS = range(int(os.environ.get("PRESSCHECK_CASES", "2")))
"""Seeds of random edits; `make edits` uses 25."""
TEXT = "One line.\n\nAnother line.\n\nA third line.\n\nA fourth line.\n"


def document(text: str) -> Document:
    return Document(markdown=text)


async def filled_space(engine: Engine) -> tuple[str, dict[str, str]]:
    """Create a space with the pages A to E, and F below B. Returns its id and the ids of the pages by title."""
    space = await created_space(engine)
    inserts = [InsertPage(title=title, document=document(TEXT), ref=title) for title in "ABCDE"]
    await merged(
        engine, await opened(engine, space, *inserts, InsertPage(title="F", document=document(TEXT), into="B"))
    )
    live = await engine.read(GetCurrentRevision(space_id=space))
    return space, {page.title: page.id for page in flatten(live.pages)}


def rows(pages: Sequence[RevisionPage], depth: int = 0) -> list[tuple[Any, ...]]:
    """Return a row for each page of a tree, with everything that identifies its content."""
    return [
        row
        for page in pages
        for row in ((depth, page.id, page.title, page.description, page.document_id), *rows(page.pages, depth + 1))
    ]


async def state_of(engine: Engine, request: ChangeRequest) -> list[tuple[Any, ...]]:
    revision: Revision = await engine.read(GetChangeRequestRevision(**at(request)))
    return rows(revision.pages)


async def main_state(engine: Engine, space: str) -> list[tuple[Any, ...]]:
    return rows((await engine.read(GetCurrentRevision(space_id=space))).pages)


async def text_of(engine: Engine, request: ChangeRequest, page: str) -> str:
    answer = await engine.read(GetChangeRequestPage(**at(request), page_id=page, format="markdown"))
    return answer.markdown or ""


async def changed_pages(engine: Engine, request: ChangeRequest) -> tuple[str, ...]:
    changes = await engine.read(changes_in(request))
    return tuple(item.id for item in changed_items(changes.changes))


async def done(
    engine: Engine, kind: Kind, source: ChangeRequest, selection: Selection, target: ChangeRequest | None = None
) -> ChangeRequest | None:
    """Plan a rearrangement and carry it out."""
    plan = await plan_rearrangement(engine, kind, source, selection, target)
    return await carry_out(engine, plan, "Taken out")


async def hunks_of(engine: Engine, request: ChangeRequest, page: str, before: str) -> list[Hunk]:
    return split_hunks(before, await text_of(engine, request, page))


def every_kind(pages: dict[str, str]) -> tuple[Any, ...]:
    """Return an edit, a deletion with a subpage, a move, and a new page with a subpage."""
    return (
        UpdatePage(page=pages["A"], title="A new title", description="Long", document=document("All new.\n")),
        DeletePage(page=pages["B"]),
        UpdatePage(page=pages["D"], into=pages["C"]),
        InsertPage(title="G", document=document(TEXT), into=pages["E"], ref="g"),
        InsertPage(title="H", document=document("Below G.\n"), into="g"),
    )


async def test_dropping_every_change_restores_main(engine: Engine) -> None:
    space, pages = await filled_space(engine)
    request = await opened(engine, space, *every_kind(pages))
    assert await state_of(engine, request) != await main_state(engine, space)
    await done(engine, "drop", request, Selection(await changed_pages(engine, request)))
    assert await state_of(engine, request) == await main_state(engine, space)
    assert await changed_pages(engine, request) == ()


async def test_copying_every_change_to_a_new_request_gives_the_same_content(engine: Engine) -> None:
    space, pages = await filled_space(engine)
    request = await opened(engine, space, *every_kind(pages))
    before = await state_of(engine, request)
    target = await done(engine, "copy", request, Selection(await changed_pages(engine, request)))
    assert target
    assert (target.number, target.subject) == (request.number + 1, "Taken out")
    assert await state_of(engine, target) == before == await state_of(engine, request)
    with pytest.raises(ChecksFailed, match=f"#{target.number} already has these changes"):
        await done(engine, "copy", request, Selection(await changed_pages(engine, request)), target)


async def test_a_hunk_is_merged_with_other_edits_of_its_page(engine: Engine) -> None:
    space, pages = await filled_space(engine)
    text = TEXT.replace("One", "1").replace("third", "3rd")
    request = await opened(engine, space, UpdatePage(page=pages["A"], document=document(text)))
    target = await opened(
        engine, space, UpdatePage(page=pages["A"], document=document(TEXT.replace("fourth line", "last one")))
    )
    hunks = await hunks_of(engine, request, pages["A"], f"# A\n\n{TEXT}")
    await done(engine, "move", request, Selection((pages["A"],), hunks[1]), target)
    assert await text_of(engine, target, pages["A"]) == (
        f"# A\n\n{TEXT.replace('third', '3rd').replace('fourth line', 'last one')}"
    )
    assert await text_of(engine, request, pages["A"]) == f"# A\n\n{TEXT.replace('One', '1')}"


@pytest.mark.slow
async def test_impossible_rearrangement_is_explained_and_nothing_is_sent(engine: Engine) -> None:
    space, pages = await filled_space(engine)
    ours, theirs = (TEXT.replace("Another", word) for word in ("Some other", "A different"))
    conflict = "<<<<<<< change request\nours\n=======\ntheirs\n>>>>>>> live\n"
    request = await opened(
        engine,
        space,
        UpdatePage(page=pages["A"], document=document(ours)),
        UpdatePage(page=pages["C"], document=document("Fine.\n")),
        UpdatePage(page=pages["D"], document=document(f"{TEXT}\n{conflict}")),
    )
    target = await opened(engine, space, UpdatePage(page=pages["A"], document=document(f"First of all.\n\n{theirs}")))
    states = [await state_of(engine, each) for each in (request, target)]
    [hunk] = await hunks_of(engine, request, pages["A"], f"# A\n\n{TEXT}")
    for kind, selection in (("copy", Selection((pages["A"], pages["C"]))), ("move", Selection((pages["A"],), hunk))):
        with pytest.raises(ChecksFailed, match=rf"A: #{target.number} has other changes at the same place, line 7"):
            await done(engine, kind, request, selection, target)
    with pytest.raises(ChecksFailed, match=rf"D: unresolved conflict in #{request.number}, lines 11 to 15"):
        await plan_rearrangement(engine, "drop", request, Selection((pages["D"],)))
    with pytest.raises(PresscheckError, match="B is not changed in #"):
        await plan_rearrangement(engine, "drop", request, Selection((pages["B"],)))
    assert [await state_of(engine, each) for each in (request, target)] == states
    await engine.write(UpdateChangeRequest(**at(target), status="archived")).landed()
    with pytest.raises(PresscheckError, match=rf"#{target.number} is archived"):
        await plan_rearrangement(engine, "copy", request, Selection((pages["C"],)), target)


@pytest.mark.slow
async def test_an_edit_after_the_confirmation_is_not_lost(engine: Engine) -> None:
    space, pages = await filled_space(engine)
    text = TEXT.replace("One", "1").replace("third", "3rd")
    request = await opened(engine, space, UpdatePage(page=pages["A"], document=document(text)))
    target = await opened(engine, space)
    hunks = await hunks_of(engine, request, pages["A"], f"# A\n\n{TEXT}")
    page, part = Selection((pages["A"],)), Selection((pages["A"],), hunks[0])
    plans = [
        await plan_rearrangement(engine, kind, request, selection, target if kind != "drop" else None)
        for kind, selection in (("drop", part), ("copy", page), ("move", part))
    ]
    assert describe(plans[0]) == ("A: goes back to main's text at line 3 (1 line added, 1 removed)",)
    await edited(engine, request, UpdatePage(page=pages["A"], document=document(f"{text}\nBy somebody.\n")))
    states = [await state_of(engine, each) for each in (request, target)]
    for plan in plans:
        with pytest.raises(ChecksFailed, match="Nothing was changed: somebody just edited A"):
            await carry_out(engine, plan)
    assert [await state_of(engine, each) for each in (request, target)] == states
    await done(engine, "drop", request, part)
    assert await text_of(engine, request, pages["A"]) == (f"# A\n\n{TEXT.replace('third', '3rd')}\nBy somebody.\n"), (
        "the same hunk in the new text"
    )


async def test_a_hunk_that_somebody_changed_is_refused(engine: Engine) -> None:
    space, pages = await filled_space(engine)
    request = await opened(engine, space, UpdatePage(page=pages["A"], document=document(TEXT.replace("One", "1"))))
    hunks = await hunks_of(engine, request, pages["A"], f"# A\n\n{TEXT}")
    await edited(engine, request, UpdatePage(page=pages["A"], document=document(TEXT.replace("One", "First"))))
    with pytest.raises(ChecksFailed, match="A: somebody just changed this text"):
        await plan_rearrangement(engine, "drop", request, Selection((pages["A"],), hunks[0]))


class ArchivingEngine:
    """An engine that archives the change request, as another user might, before reads that follow an edit of pages."""

    def __init__(self, engine: Engine, request: ChangeRequest) -> None:
        self.engine, self.request = engine, request

    async def read(self, call: Operation[Any], **given: Any) -> Any:
        if self.edits:
            await self.engine.write(UpdateChangeRequest(**at(self.request), status="archived")).landed()
        return await self.engine.read(call, **given)

    edits = 0

    def write(self, call: Operation[Any]) -> Any:
        self.edits += isinstance(call, EditChangeRequestContent)
        return self.engine.write(call)


async def test_partly_failed_move_loses_nothing_and_is_explained(engine: Engine) -> None:
    space, pages = await filled_space(engine)
    request = await opened(engine, space, UpdatePage(page=pages["A"], document=document("New.\n")))
    plan = await plan_rearrangement(engine, "move", request, Selection((pages["A"],)))
    target = request.number + 1
    message = f"Copied to #{target}, but not removed from #{request.number}: #{request.number} is archived"
    with pytest.raises(ChecksFailed, match=message):
        await carry_out(ArchivingEngine(engine, request), plan, "Moved")
    assert "New." in await text_of(engine, request, pages["A"])
    listed = at(request) | {"change_request_id": str(target)}
    copied = await engine.read(GetChangeRequestPage(**listed, page_id=pages["A"], format="markdown"))
    assert "New." in (copied.markdown or "")


async def test_pages_that_must_be_chosen_together_are_named(engine: Engine) -> None:
    space, pages = await filled_space(engine)
    request = await opened(engine, space, *every_kind(pages))
    target = await opened(engine, space, UpdatePage(page=pages["B"], document=document("Still needed.\n")))
    ids = {page.title: page.id for page in flatten((await engine.read(GetChangeRequestRevision(**at(request)))).pages)}

    async def refused(kind: Kind, *titles: str, to: ChangeRequest | None = None) -> str:
        selected = Selection(tuple(ids.get(title) or pages[title] for title in titles))
        with pytest.raises(ChecksFailed) as caught:
            await plan_rearrangement(engine, kind, request, selected, to)
        return caught.value.message

    assert await refused("drop", "F") == "F: it is below B, which is deleted too: choose both"
    assert await refused("drop", "G") == "G: H is below it: choose both"
    assert await refused("copy", "H") == "H: it is below G, which is not in main: choose both"
    assert await refused("copy", "B", to=target) == f"B: it is edited in #{target.number}"
    assert await refused("copy", "B") == "B: F is below it in main: choose both"


async def test_unselected_subpages_are_left_out(engine: Engine) -> None:
    space, pages = await filled_space(engine)
    request = await opened(engine, space, *every_kind(pages))
    tree = (await engine.read(GetChangeRequestRevision(**at(request)))).pages
    ids = {page.title: page.id for page in flatten(tree)}
    target = await done(engine, "copy", request, Selection((ids["G"],)))
    assert target
    assert await changed_pages(engine, target) == (ids["G"],)
    await done(engine, "drop", request, Selection((pages["B"],)))
    assert pages["F"] in await changed_pages(engine, request), "F is still deleted"
    assert pages["B"] not in await changed_pages(engine, request)


class RandomEdits:
    """Random edits of a space, determined by a seed."""

    def __init__(self, seed: int, pages: dict[str, str]) -> None:
        self.random, self.pages = random.Random(seed), dict(pages)

    def text(self) -> str:
        """Return the text of the pages with some lines changed, removed, added or moved."""
        lines = TEXT.strip().split("\n\n")
        for _ in range(self.random.randint(1, 4)):
            number = self.random.randrange(len(lines) + 1)
            kind = self.random.choice(("add", "change", "remove", "move"))
            if kind == "add" or number == len(lines) or len(lines) < 2:
                lines.insert(number, f"Line {self.random.randrange(10_000)} with words of its own.")
            elif kind == "change":
                lines[number] = lines[number].replace("line", self.random.choice(("row", "sentence", "paragraph")))
            elif kind == "remove":
                del lines[number]
            else:
                lines.insert(self.random.randrange(len(lines)), lines.pop(number))
        return "\n\n".join(lines) + "\n"

    def changes(self) -> list[Any]:
        """Return edits that do not contradict each other."""
        titles = sorted(self.pages)
        self.random.shuffle(titles)
        changes: list[Any] = []
        for title in titles[:4]:
            page = self.pages[title]
            kind = self.random.choice(("edit", "edit", "move", "details", "delete", "insert"))
            if kind == "edit":
                changes.append(UpdatePage(page=page, document=document(self.text())))
            elif kind == "details":
                changes.append(UpdatePage(page=page, description=self.text()[:30], title=f"{title} renamed"))
            elif kind == "move":
                changes.append(UpdatePage(page=page, into=None, at=self.random.randrange(4)))
            elif kind == "insert":
                changes.append(InsertPage(title=f"{title} below", document=document(self.text()), into=page))
            elif title == "F":
                changes.append(DeletePage(page=page))
        return changes or [UpdatePage(page=self.pages["A"], title="Renamed")]


@pytest.mark.parametrize("seed", SEEDS)
async def test_any_change_request_is_moved_exactly(engine: Engine, seed: int) -> None:
    space, pages = await filled_space(engine)
    request = await opened(engine, space, *RandomEdits(seed, pages).changes())
    before, main = await state_of(engine, request), await main_state(engine, space)
    selection = Selection(await changed_pages(engine, request))
    target = await done(engine, "move", request, selection)
    assert target
    assert (await state_of(engine, target), await state_of(engine, request)) == (before, main)


@pytest.mark.parametrize("seed", SEEDS)
async def test_moving_all_hunks_swaps_the_texts_of_both_pages(engine: Engine, seed: int) -> None:
    space, pages = await filled_space(engine)
    edits, page = RandomEdits(seed, pages), pages["A"]
    request = await opened(engine, space, UpdatePage(page=page, document=document(edits.text())))
    target = await opened(engine, space, subject="Empty")
    main, text = f"# A\n\n{TEXT}", await text_of(engine, request, page)
    while hunks := split_hunks(main, await text_of(engine, request, page)):
        hunk = edits.random.choice(hunks)
        plan: Rearrangement = await plan_rearrangement(engine, "move", request, Selection((page,), hunk), target)
        await carry_out(engine, plan)
    assert await text_of(engine, request, page) == main
    assert await text_of(engine, target, page) == text
