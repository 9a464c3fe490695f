"""A merged change request is undone by a new one: exactly if nobody edited since, else without losing later edits."""

from __future__ import annotations

from typing import Any, cast

import pytest

from presscheck.api.change_requests import (
    ChangeRequest,
    CreateChangeRequest,
    GetChangeRequest,
    MergeChangeRequest,
    UpdateChangeRequest,
)
from presscheck.api.comments import Document
from presscheck.api.content import GetChangeRequestPage, GetPage, ListPages, RevisionPage
from presscheck.api.content_changes import DeletePage, EditChangeRequestContent, InsertPage, UpdatePage
from presscheck.api.organizations import ListOrganizations
from presscheck.api.spaces import CreateSpace
from presscheck.documents.merge.conflict_blocks import unresolved_conflicts
from presscheck.engine.engine import Engine
from presscheck.engine.review.page_edits import send_edits
from presscheck.engine.review.revert import Revert, create_revert, plan_revert
from presscheck.errors import PresscheckError

TEXT = "One line.\n\nAnother line.\n\nA third line.\n"


def document(text: str) -> Document:
    return Document(markdown=text)


async def created_space(engine: Engine) -> str:
    organization = (await engine.read(ListOrganizations())).items[0].id
    space = await engine.write(CreateSpace(organization_id=organization, title="Reverted")).landed()
    assert space
    return space.id


async def merged(engine: Engine, space: str, *changes: Any, subject: str = "A change") -> ChangeRequest:
    """Create a change request with these edits and merge it."""
    request = await engine.write(CreateChangeRequest(space_id=space, subject=subject)).landed()
    assert request
    at: dict[str, Any] = {"space_id": space, "change_request_id": request.id}
    if changes:
        await engine.write(EditChangeRequestContent(**at, changes=changes)).landed()
    await merge(engine, request)
    return await engine.read(GetChangeRequest(**at))


async def merge(engine: Engine, request: ChangeRequest) -> None:
    at: dict[str, Any] = {"space_id": request.space, "change_request_id": request.id}
    await engine.write(UpdateChangeRequest(**at, status="open")).landed()
    answer = await engine.write(MergeChangeRequest(**at)).landed()
    assert answer
    assert answer.result == "merge"


async def pages_of(engine: Engine, space: str) -> dict[str, RevisionPage]:
    """Return the pages on main by title."""
    found: dict[str, RevisionPage] = {}

    def collect(pages: tuple[RevisionPage, ...]) -> None:
        for page in pages:
            found[page.title] = page
            collect(page.pages)

    collect((await engine.read(ListPages(space_id=space))).pages)
    return found


async def state_of(engine: Engine, space: str) -> list[tuple[Any, ...]]:
    """Return everything that readers see of a space: tree, details, and the ids of texts."""

    def rows(pages: tuple[RevisionPage, ...], depth: int) -> list[tuple[Any, ...]]:
        return [
            row
            for page in pages
            for row in ((depth, page.id, page.title, page.description, page.document_id), *rows(page.pages, depth + 1))
        ]

    return rows((await engine.read(ListPages(space_id=space))).pages, 0)


async def text_of(engine: Engine, space: str, title: str) -> str:
    page = (await pages_of(engine, space))[title]
    return (await engine.read(GetPage(space_id=space, page_id=page.id, format="markdown"))).markdown or ""


async def filled_space(engine: Engine) -> tuple[str, dict[str, RevisionPage]]:
    """Create a space with the pages A to E, and F below B. Returns its id and its pages by title."""
    space = await created_space(engine)
    inserts = [InsertPage(title=title, document=document(TEXT), ref=title) for title in "ABCDE"]
    await merged(engine, space, *inserts, InsertPage(title="F", document=document(TEXT), into="B"))
    return space, await pages_of(engine, space)


async def reverted(engine: Engine, request: ChangeRequest) -> Revert:
    """Revert a change request and merge the revert. Returns the plan."""
    plan = await plan_revert(engine, request)
    await merge(engine, await create_revert(engine, request.space, plan))
    return plan


async def test_every_kind_of_change_is_undone(engine: Engine) -> None:
    space, pages = await filled_space(engine)
    before = await state_of(engine, space)
    request = await merged(
        engine,
        space,
        UpdatePage(page=pages["A"].id, title="A new title", description="Long", document=document("All new.\n")),
        DeletePage(page=pages["B"].id),
        UpdatePage(page=pages["D"].id, into=pages["C"].id),
        InsertPage(title="G", document=document(TEXT), into=pages["E"].id),
        subject="Move things",
    )
    assert await state_of(engine, space) != before
    plan = await reverted(engine, request)
    assert plan.subject == 'Revert "Move things"'
    assert (plan.conflicts, plan.kept) == ((), ())
    assert await state_of(engine, space) == before


async def test_later_edits_of_other_lines_and_pages_are_kept(engine: Engine) -> None:
    space, pages = await filled_space(engine)
    request = await merged(
        engine, space, UpdatePage(page=pages["A"].id, document=document(TEXT.replace("One line", "A wrong line")))
    )
    text = await text_of(engine, space, "A")
    await merged(
        engine,
        space,
        UpdatePage(page=pages["A"].id, document=document(text.replace("A third", "A better third"))),
        UpdatePage(page=pages["C"].id, document=document("Later.\n")),
    )
    plan = await reverted(engine, request)
    assert plan.conflicts == ()
    assert "One line.\n\nAnother line.\n\nA better third line." in await text_of(engine, space, "A")
    assert "Later." in await text_of(engine, space, "C")


async def test_a_later_edit_of_the_same_words_is_a_conflict_with_both_versions(engine: Engine) -> None:
    space, pages = await filled_space(engine)
    wrong, right = (
        UpdatePage(page=pages["A"].id, document=document(TEXT.replace("One line", line)))
        for line in ("A wrong line", "The right words")
    )
    request = await merged(engine, space, wrong)
    await merged(engine, space, right)
    plan = await plan_revert(engine, request)
    assert plan.conflicts == ("A",)
    created = await create_revert(engine, space, plan)
    call = GetChangeRequestPage(space_id=space, change_request_id=created.id, page_id=pages["A"].id, format="markdown")
    conflicts = unresolved_conflicts((await engine.read(call)).markdown or "")
    assert [(block.ours, block.theirs) for block in conflicts] == [(("The right words.",), ("One line.",))], (
        "both versions, and the desk does not merge them unseen"
    )


async def test_changes_that_cannot_be_undone_are_named(engine: Engine) -> None:
    space, pages = await filled_space(engine)
    request = await merged(
        engine,
        space,
        InsertPage(title="New", document=document(TEXT)),
        UpdatePage(page=pages["C"].id, title="Renamed"),
        UpdatePage(page=pages["D"].id, into=pages["E"].id),
        UpdatePage(page=pages["A"].id, description="Said"),
    )
    now = await pages_of(engine, space)
    await merged(
        engine,
        space,
        UpdatePage(page=now["New"].id, document=document("Somebody needs this now.\n")),
        DeletePage(page=pages["C"].id),
        UpdatePage(page=pages["D"].id, into=pages["B"].id),
    )
    plan = await reverted(engine, request)
    assert plan.kept == ("C was deleted since", "D was moved since", "New stays: New was changed since")
    assert "Somebody needs this now." in await text_of(engine, space, "New")
    assert (await pages_of(engine, space))["A"].description is None


async def test_change_request_that_is_not_merged_or_already_reverted_is_refused(engine: Engine) -> None:
    space, pages = await filled_space(engine)
    draft = await engine.write(CreateChangeRequest(space_id=space, subject="Draft")).landed()
    assert draft
    with pytest.raises(PresscheckError, match="is not merged"):
        await plan_revert(engine, draft)
    request = await merged(engine, space, UpdatePage(page=pages["A"].id, title="Z"))
    await reverted(engine, request)
    with pytest.raises(PresscheckError, match="Nothing of #"):
        await plan_revert(engine, request)


async def test_many_changes_are_sent_in_several_edits() -> None:
    sent: list[int] = []

    class Writes:
        def write(self, call: EditChangeRequestContent) -> Writes:
            sent.append(len(call.changes))
            return self

        async def landed(self) -> None:
            return None

    changes = [DeletePage(page=f"p{number}") for number in range(120)]
    await send_edits(cast("Engine", Writes()), ChangeRequest(id="c", space="s"), changes)
    assert sent == [50, 50, 20]
