"""Merges and updates of change requests, with conflicts."""

import asyncio
import re
from typing import Any

import pytest
from tests.service.factories import World, insert, rewrite

from presscheck import errors
from presscheck.api.change_requests import (
    ChangeRequest,
    GetChangeRequest,
    MergeChangeRequest,
    MergeResult,
    PullChangeRequest,
    SubmitReview,
    UpdateChangeRequest,
)
from presscheck.api.comments import Document
from presscheck.api.content import GetChangeRequestPage, GetCurrentRevision, GetPage, GetRevision
from presscheck.api.content_changes import GetRevisionChanges, InsertFiles, NewFile
from presscheck.api.spaces import UpdateSpace

LOCKED = r"\bThis space is locked\. Unlock it before you edit pages or merge\.(\W|$)"


def path_of(world: World, change_request: ChangeRequest) -> dict[str, str]:
    return {"space_id": world.space, "change_request_id": change_request.id}


async def merge(world: World, change_request: ChangeRequest, by: str = "admin") -> MergeResult:
    return await world.clients[by].send(MergeChangeRequest(**path_of(world, change_request)))


async def pull(world: World, change_request: ChangeRequest) -> MergeResult:
    return await world.admin.send(PullChangeRequest(**path_of(world, change_request)))


async def fetch(world: World, change_request: ChangeRequest) -> ChangeRequest:
    return await world.admin.send(GetChangeRequest(**path_of(world, change_request)))


async def live_text(world: World, page: str) -> str:
    return (await world.admin.send(GetPage(space_id=world.space, page_id=page, format="markdown"))).markdown or ""


async def test_a_merge_publishes_the_content_and_is_final(world: World) -> None:
    draft = await world.draft(by="edit")
    await world.edit(draft, insert("New"), rewrite("guide", "Other.\n"))
    answer = await merge(world, draft)
    assert answer.result == "merge"
    live = await world.admin.send(GetCurrentRevision(space_id=world.space))
    assert (live.id, live.type, [page.title for page in live.pages]) == (
        answer.revision,
        "merge",
        ["Start", "Guide", "Reference", "New"],
    )
    assert live.merged_from and live.merged_from.id == draft.id
    assert live.parents[0] == draft.revision_initial
    assert await live_text(world, "guide") == "# Guide\n\nOther.\n"
    merged = await fetch(world, draft)
    assert (merged.status, merged.revision_merged, merged.outdated) == ("merged", answer.revision, False)
    assert merged.merged_by and merged.merged_by.id == world.users["admin"]
    changes = await world.admin.send(GetRevisionChanges(space_id=world.space, revision_id=live.id))
    assert sorted(change.type for change in changes.changes) == ["page_created", "page_edited"]
    assert changes.merged_from and changes.merged_from.id == draft.id
    path = path_of(world, draft)
    for call in (
        MergeChangeRequest(**path),
        PullChangeRequest(**path),
        UpdateChangeRequest(**path, status="open"),
        UpdateChangeRequest(**path, subject="x"),
        SubmitReview(**path, status="approved", comment=Document(markdown="Late")),
    ):
        with pytest.raises(errors.Conflict, match="merged"):
            await world.admin.send(call)
    with pytest.raises(errors.Conflict, match="merged"):
        await world.edit(draft, insert("Late"))


async def test_a_locked_space_refuses_edits_and_merges(world: World) -> None:
    draft = await world.draft(by="edit")
    await world.edit(draft, rewrite("guide", "Other.\n"))
    locked = await world.admin.send(UpdateSpace(space_id=world.space, edit_mode="locked"))
    assert locked.permissions
    assert (locked.permissions.edit, locked.permissions.merge) == (False, False)
    with pytest.raises(errors.Forbidden, match=LOCKED):
        await world.edit(draft, rewrite("guide", "More.\n"))
    with pytest.raises(errors.Forbidden, match=LOCKED):
        await merge(world, draft)
    await world.admin.send(UpdateSpace(space_id=world.space, edit_mode="live"))
    await merge(world, draft)
    assert await live_text(world, "guide") == "# Guide\n\nOther.\n"


async def test_other_change_requests_are_outdated_until_updated(world: World) -> None:
    first, second = await world.draft("a"), await world.draft("b")
    await world.edit(first, rewrite("start", "Welcome, all.\n"))
    await world.edit(second, rewrite("reference", "All of it, and more.\n"))
    await merge(world, first)
    assert (await fetch(world, second)).outdated
    answer = await pull(world, second)
    assert answer.result == "update"
    updated = await fetch(world, second)
    live = await world.admin.send(GetCurrentRevision(space_id=world.space))
    assert (updated.outdated, updated.revision, updated.revision_merged_ancestor) == (False, answer.revision, live.id)
    revision = await world.admin.send(GetRevision(space_id=world.space, revision_id=answer.revision))
    assert (revision.type, len(revision.parents)) == ("update", 2)
    assert (await pull(world, second)).revision == answer.revision
    assert (await merge(world, second)).result == "merge"
    assert "and more" in await live_text(world, "reference")
    assert "all" in await live_text(world, "start")


async def test_changes_to_different_parts_of_a_page_are_merged(world: World) -> None:
    first, second = await world.draft("a"), await world.draft("b")
    await world.edit(first, rewrite("guide", "First!\n\nSecond.\n\nThird.\n"))
    await world.edit(second, rewrite("guide", "First.\n\nSecond.\n\nThird!\n"), insert("New"))
    await merge(world, first)
    assert (await merge(world, second)).result == "merge"
    assert await live_text(world, "guide") == "# Guide\n\nFirst!\n\nSecond.\n\nThird!\n"


async def test_conflicts_are_reported_and_both_versions_are_kept(world: World) -> None:
    first, second = await world.draft("a"), await world.draft("b")
    await world.edit(first, rewrite("guide", "First.\n\nAlpha.\n\nThird.\n"))
    await world.edit(second, rewrite("guide", "First.\n\nOmega.\n\nThird.\n"))
    await merge(world, first)
    assert (await merge(world, second)).result == "conflicts"
    text = await live_text(world, "guide")
    assert "Alpha." in text and "Omega." in text
    assert (await fetch(world, second)).status == "merged"


async def test_an_update_reports_conflicts_and_keeps_the_live_content(world: World) -> None:
    first, second = await world.draft("a"), await world.draft("b")
    await world.edit(first, rewrite("guide", "Alpha.\n"))
    await world.edit(second, rewrite("guide", "Omega.\n"))
    await merge(world, first)
    assert (await pull(world, second)).result == "conflicts"
    page = GetChangeRequestPage(**path_of(world, second), page_id="guide", format="markdown")
    text = (await world.admin.send(page)).markdown or ""
    assert "Alpha." in text and "Omega." in text
    ours, theirs = (line for line in text.split("\n") if line[:7] in ("<<<<<<<", ">>>>>>>"))
    assert re.fullmatch(r"<<<<<<< #\d+, revision by [A-Z].*, \d{4}-\d\d-\d\d \d\d:\d\d \+0000", ours), ours
    assert re.fullmatch(r">>>>>>> main, revision by [A-Z].*, \d{4}-\d\d-\d\d \d\d:\d\d \+0000", theirs), theirs
    assert await live_text(world, "guide") == "# Guide\n\nAlpha.\n"


async def test_files_of_both_sides_are_kept(world: World) -> None:
    first, second = await world.draft("a"), await world.draft("b")
    for change_request, name in ((first, "a.txt"), (second, "b.txt")):
        file = NewFile(name=name, base64="YQ==", content_type="text/plain")
        await world.edit(change_request, InsertFiles(files=(file,)))
    await merge(world, first)
    await merge(world, second)
    live = await world.admin.send(GetCurrentRevision(space_id=world.space))
    assert sorted(file.name for file in live.files) == ["a.txt", "b.txt"]
    assert all(file.download_url for file in live.files)


@pytest.mark.engines
@pytest.mark.slow
async def test_concurrent_merges_are_serialized(world: World) -> None:
    drafts = [await world.draft(str(n)) for n in range(4)]
    for n, draft in enumerate(drafts):
        await world.edit(draft, insert(f"Page {n}"))
    answers = await asyncio.gather(*(merge(world, draft) for draft in drafts))
    assert {answer.result for answer in answers} == {"merge"}
    live = await world.admin.send(GetCurrentRevision(space_id=world.space))
    assert {page.title for page in live.pages} >= {f"Page {n}" for n in range(4)}
    chain: list[str] = []
    revision = live
    while revision.type == "merge":
        chain.append(revision.id)
        revision = await world.admin.send(GetRevision(space_id=world.space, revision_id=revision.parents[0]))
    assert sorted(chain) == sorted(answer.revision for answer in answers)


@pytest.mark.engines
async def test_a_change_request_is_merged_only_once(world: World) -> None:
    draft = await world.draft()
    await world.edit(draft, insert("New"))
    answers = await asyncio.gather(*(merge(world, draft) for _ in range(5)), return_exceptions=True)
    assert sum(isinstance(answer, MergeResult) for answer in answers) == 1
    assert sum(isinstance(answer, errors.Conflict) for answer in answers) == 4


async def test_merging_requires_the_edit_role(world: World) -> None:
    draft = await world.draft()
    with pytest.raises(errors.Forbidden, match="edit"):
        await merge(world, draft, by="review")
    await world.admin.send(UpdateChangeRequest(**path_of(world, draft), status="archived"))
    with pytest.raises(errors.Conflict, match="archived"):
        await merge(world, draft)


def rules(*given: Any) -> dict[str, Any]:
    return {"type": "rules", "rules": [{"rule": one} if isinstance(one, str) else one for one in given]}


async def review(world: World, change_request: ChangeRequest, by: str, status: str = "approved") -> None:
    await world.clients[by].send(SubmitReview(**path_of(world, change_request), status=status))


async def test_merge_with_an_unmet_rule_changes_nothing(world: World) -> None:
    draft = await world.draft()
    await world.edit(draft, insert("New"))
    before = await world.admin.fetch(GetCurrentRevision(space_id=world.space)), await fetch(world, draft)
    world.change(merge_rules=rules("require_at_least_one_approved_review"))
    with pytest.raises(errors.Conflict, match="approval"):
        await merge(world, draft)
    assert (await world.admin.fetch(GetCurrentRevision(space_id=world.space)), await fetch(world, draft)) == before


@pytest.mark.parametrize(
    ("rule", "words"),
    [
        ("require_change_request_description", "description"),
        ("require_agent_review", "agent"),
        ("custom", "does not support the merge rule"),
        ({"rule": "custom", "message": "Ask the desk first."}, "Ask the desk"),
        ({"rule": "require_one_of_specific_reviewers", "users": ["nobody"]}, "One of the required reviewers"),
    ],
)
async def test_unmet_merge_rules_are_reported(world: World, rule: Any, words: str) -> None:
    draft = await world.draft()
    world.change(merge_rules=rules(rule))
    with pytest.raises(errors.Conflict, match=words):
        await merge(world, draft)
    world.change(merge_rules=rules(rule, {"rule": "allow_bypass", "users": [world.users["create"]]}))
    with pytest.raises(errors.Conflict, match=words):
        await merge(world, draft)
    assert (await merge(world, draft, by="create")).result == "merge"


async def test_merge_rules_on_subject_author_and_updates(world: World) -> None:
    old, nameless = await world.draft("Old", by="edit"), await world.draft("")
    await world.edit(nameless, insert("New"))
    asked = ("require_change_request_subject", "require_author_to_merge", "require_up_to_date_change_request")
    world.change(merge_rules=rules(*asked))
    with pytest.raises(errors.Conflict, match="subject"):
        await merge(world, nameless)
    await world.admin.send(UpdateChangeRequest(**path_of(world, nameless), subject="Named"))
    await merge(world, nameless)
    with pytest.raises(errors.Conflict, match="author") as refused:
        await merge(world, old)
    assert "updated" in refused.value.message
    await pull(world, old)
    assert (await merge(world, old, by="edit")).result == "merge"


async def test_a_space_inherits_the_merge_rules_of_its_organization(world: World) -> None:
    draft = await world.draft()
    world.change_organization(merge_rules=rules("require_at_least_one_review"))
    for own in (None, {"type": "inherit"}):
        world.change(merge_rules=own)
        with pytest.raises(errors.Conflict, match="A review is required"):
            await merge(world, draft)
    world.change(merge_rules={"type": "none"})
    assert (await merge(world, draft)).result == "merge"


async def test_the_approval_of_the_author_does_not_count(world: World) -> None:
    draft = await world.draft(by="edit")
    world.change(merge_rules=rules("require_at_least_one_approved_review", "require_at_least_one_review"))
    await review(world, draft, "edit")
    with pytest.raises(errors.Conflict, match="other than the author") as refused:
        await merge(world, draft)
    assert "A review is required" in refused.value.message
    named = {"rule": "require_specific_reviewers", "users": [world.users["edit"]]}
    world.change(merge_rules=rules(named))
    with pytest.raises(errors.Conflict, match="1 more required reviewer"):
        await merge(world, draft)
    world.change(merge_rules=rules("require_at_least_one_approved_review", "require_at_least_one_review"))
    await review(world, draft, "review")
    assert (await merge(world, draft)).result == "merge"


async def test_request_for_changes_blocks_merges_of_all_later_revisions(world: World) -> None:
    draft = await world.draft(by="edit")
    world.change(merge_rules=rules("require_all_reviews_approved", "require_at_least_one_review"))
    await review(world, draft, "review", "changes-requested")
    await world.edit(draft, insert("New"), by="edit")
    with pytest.raises(errors.Conflict, match="All reviews") as refused:
        await merge(world, draft)
    assert "A review is required" not in refused.value.message
    await review(world, draft, "review")
    assert (await merge(world, draft)).result == "merge"


async def test_an_update_without_conflicts_keeps_approvals(world: World) -> None:
    world.change(merge_rules=rules("require_at_least_one_approved_review", "require_up_to_date_change_request"))
    drafts = [await world.draft(title) for title in ("a", "b", "c")]
    for draft, page in zip(drafts, ("start", "guide", "guide"), strict=True):
        await world.edit(draft, rewrite(page, f"{draft.subject}: other.\n"))
        await review(world, draft, "review")
    first, clean, conflicting = drafts
    await merge(world, first)
    assert (await pull(world, clean)).result == "update"
    await merge(world, clean)
    assert (await pull(world, conflicting)).result == "conflicts"
    with pytest.raises(errors.Conflict, match="approval of the newest revision"):
        await merge(world, conflicting)


async def test_edit_after_an_update_invalidates_approvals(world: World) -> None:
    world.change(merge_rules=rules("require_at_least_one_approved_review"))
    first, second = await world.draft("a"), await world.draft("b")
    await world.edit(first, insert("A"))
    await world.edit(second, insert("B"))
    await review(world, first, "review")
    await merge(world, first)
    await review(world, second, "review")
    await pull(world, second)
    await world.edit(second, insert("C"))
    with pytest.raises(errors.Conflict, match="approval of the newest revision"):
        await merge(world, second)
    await pull(world, second)
    with pytest.raises(errors.Conflict, match="approval of the newest revision"):
        await merge(world, second)
