"""Merging a queued edit of a page with the current page when it is sent, without a network."""

from pathlib import Path
from typing import Any

import pytest
from tests.engine.scripted_service import ScriptedService
from tests.engine.write_samples import REQUEST, text

from presscheck.api.change_requests import GetChangeRequest, ListContributors
from presscheck.api.content import GetRevision
from presscheck.api.content_changes import EditChangeRequestContent, GetRevisionChanges, UpdatePage
from presscheck.engine.review.revision_history import LIMIT
from presscheck.engine.shared_calls import changed_page, page_in
from presscheck.engine.writes.page_merge import MergedEdit, merged_edit, page_base
from presscheck.engine.writes.queued_edits import edits_of_page
from presscheck.errors import ChangedSince
from presscheck.store.outbox import Outbox, Row

PAGE = changed_page("api", "5", "p1")
BASE = "one\n\ntwo\n\nthree\n"


def edit(markdown: str, title: str | None = None) -> EditChangeRequestContent:
    renamed: dict[str, Any] = {"title": title} if title else {}
    return EditChangeRequestContent(**REQUEST, changes=(UpdatePage(page="p1", document=text(markdown), **renamed),))


def row(call: EditChangeRequestContent, state: str = "waiting", revision: str | None = None) -> Row:
    former = {"revision": revision} if revision else None
    base = page_base("Page", BASE)
    return Row(1, call.stored_name(), call.given(), "s", state, None, None, 1.0, 0, 0.0, former=former, base=base)


def page(markdown: str, title: str = "Page") -> dict[str, Any]:
    return {"id": "p1", "type": "document", "title": title, "markdown": markdown}


async def merged(
    call: EditChangeRequestContent, *answers: tuple[Any, Any], state: str = "waiting", revision: str | None = None
) -> MergedEdit | None:
    return await merged_edit(ScriptedService(answers).read, row(call, state, revision), call)


def text_of(found: MergedEdit | None) -> tuple[str | None, str | None]:
    assert found
    [change] = found.call.changes
    return change.document.markdown, change.title


async def test_edit_of_an_unchanged_page_is_sent_unchanged() -> None:
    call = edit("ONE\n\ntwo\n\nthree")
    found = await merged(call, (PAGE, page(BASE.rstrip())))
    assert found and found.call is call


async def test_edits_in_different_places_are_merged() -> None:
    found = await merged(edit("ONE\n\ntwo\n\nthree"), (PAGE, page("one\n\ntwo\n\nTHREE")))
    assert text_of(found) == ("ONE\n\ntwo\n\nTHREE\n", None)
    assert found and found.base == page_base("Page", "one\n\ntwo\n\nTHREE")


async def test_nothing_is_left_to_send_if_others_made_the_same_edit() -> None:
    assert await merged(edit("ONE\n\ntwo\n\nthree"), (PAGE, page("ONE\n\ntwo\n\nthree"))) is None


def edits(name: str, second: int) -> dict[str, Any]:
    user = {"object": "user", "id": name.lower(), "displayName": name}
    return {"actionType": "edit", "user": user, "updatedAt": f"2026-03-14T12:00:{second:02}.500Z"}


def revision(number: int, page_id: str, attribute: str = "document") -> list[tuple[Any, Any]]:
    """Return the answers for a revision that edited a page; `number` is also the second of its time."""
    name = f"r{number}"
    change = {"type": "page_edited", "page": {"id": page_id}, "attributes": {attribute: {}}}
    created_at = f"2026-03-14T12:00:{number:02}.100Z"
    return [
        (
            GetRevision(space_id="api", revision_id=name, computed=False),
            {"id": name, "parents": [f"r{number - 1}"], "createdAt": created_at},
        ),
        (GetRevisionChanges(space_id="api", revision_id=name, limit=LIMIT), {"changes": [change]}),
    ]


@pytest.mark.parametrize(
    ("people", "revisions", "name"),
    [
        pytest.param([edits("Mia", 2)], [revision(2, "p1")], "Mia", id="only editor"),
        pytest.param(
            [edits("Bo", 3), edits("Mia", 2)], [revision(3, "p2"), revision(2, "p1")], "Mia", id="later edit elsewhere"
        ),
        pytest.param(
            [edits("Bo", 3), edits("Mia", 2)], [revision(3, "p1", "icon"), revision(2, "p1")], "Mia", id="later icon"
        ),
        pytest.param(
            [edits("Mia", 3), edits("Bo", 1)], [revision(3, "p2"), revision(2, "p1")], "Mia", id="nobody else after"
        ),
        pytest.param(
            [edits("Mia", 4), edits("Bo", 3)],
            [revision(4, "p2"), revision(3, "p2"), revision(2, "p1")],
            "somebody else",
            id="two possible editors",
        ),
        pytest.param([edits("Mia", 2)], [], "somebody else", id="no revisions"),
    ],
)
async def test_edits_of_the_same_lines_are_a_conflict_that_names_the_last_editor_of_the_page(
    people: list[Any], revisions: list[list[tuple[Any, Any]]], name: str
) -> None:
    request = {"id": "5", "space": "api", "number": 5, "status": "open", "revision": f"r{len(revisions) + 1}"}
    answers = [
        (PAGE, page("theirs\n\ntwo")),
        (ListContributors(**REQUEST), {"items": people}),
        (GetChangeRequest(**REQUEST), request),
        *(answer for answers in revisions for answer in answers),
    ]
    with pytest.raises(ChangedSince, match=f"Conflict: {name} edited the same lines"):
        await merged(edit("ours\n\ntwo"), *answers)
    with pytest.raises(ChangedSince, match="Conflict: somebody else edited"):
        await merged(edit("ours\n\ntwo"), (PAGE, page("theirs\n\ntwo")))


async def test_titles_are_merged() -> None:
    found = await merged(edit(BASE, "Ours"), (PAGE, page("ONE\n\ntwo\n\nthree")))
    assert text_of(found) == ("ONE\n\ntwo\n\nthree\n", "Ours")
    assert await merged(edit(BASE, "Theirs"), (PAGE, page(BASE, "Theirs"))) is None
    with pytest.raises(ChangedSince):
        await merged(edit(BASE, "Ours"), (PAGE, page(BASE, "Theirs")))


async def test_an_edit_of_unknown_delivery_is_recognized_although_the_service_reformats_it() -> None:
    call, now = edit("* ONE\n\ntwo\n\nthree"), (PAGE, page("- ONE\n\ntwo\n\nthree"))
    assert await merged(call, now, state="sending", revision="r1") is None
    with pytest.raises(ChangedSince):
        await merged(call, now)


async def test_edit_of_unknown_delivery_is_recognized_in_an_earlier_revision() -> None:
    call = edit("* ONE\n\ntwo\n\nthree")
    request = {"id": "5", "space": "api", "number": 5, "status": "open", "revision": "r3"}
    answers = (
        (PAGE, page("- ONE MORE\n\ntwo\n\nthree")),
        (GetChangeRequest(**REQUEST), request),
        (page_in("api", "r3", "p1"), page("- ONE MORE\n\ntwo\n\nthree")),
        (GetRevision(space_id="api", revision_id="r3"), {"id": "r3", "parents": ["r2"]}),
        (page_in("api", "r2", "p1"), page("- ONE\n\ntwo\n\nthree")),
    )
    assert await merged(call, *answers, state="sending", revision="r1") is None
    with pytest.raises(ChangedSince):
        await merged(call, *answers, state="sending", revision="r3")


def test_the_pending_edits_of_a_page(tmp_path: Path) -> None:
    outbox = Outbox(tmp_path / "outbox.sqlite")
    call = edit("ours")
    elsewhere = EditChangeRequestContent(**REQUEST, changes=(UpdatePage(page="p2", document=text("x")),))
    for one, base in ((call, page_base("Page", BASE)), (elsewhere, page_base("Page", BASE)), (call, None)):
        outbox.put(one.stored_name(), one.given(), "s", 1.0, base=base)
    assert [(found.id, change) for found, change in edits_of_page(outbox, "5", "p1")] == [(1, call.changes[0])]
    assert edits_of_page(outbox, "6", "p1") == []
    outbox.close()


def test_edit_is_replaced_only_if_it_has_not_changed_since_it_was_read(tmp_path: Path) -> None:
    outbox, base = Outbox(tmp_path / "outbox.sqlite"), page_base("Page", BASE)
    number = outbox.put("edit", {"text": "first"}, "s", 1.0, base=base)
    [read] = outbox.rows()
    assert not outbox.rewrite(number, {"text": "without its base"})
    assert outbox.rebase(read, {"text": "second"}, base)
    assert not outbox.rebase(read, {"text": "third"}, base)
    outbox.refuse(number, "No")
    [read] = outbox.rows()
    assert outbox.rebase(read, {"text": "fourth"}, base)
    [read] = outbox.rows()
    assert (read.given, read.state, read.error, read.base) == ({"text": "fourth"}, "waiting", None, base)
    outbox.close()


def test_edits_become_a_draft_unless_one_is_being_sent(tmp_path: Path) -> None:
    outbox, texts = Outbox(tmp_path / "outbox.sqlite"), {"page": "typed", "base": "before"}
    number = outbox.put("edit", {"text": "typed"}, "s", 1.0, base=page_base("Page", BASE))
    outbox.sending(number, 1.0)
    assert not outbox.move_to_drafts([number], texts, {"page": "Page"})
    assert outbox.drafts() == ()
    outbox.refuse(number, "Conflict")
    assert outbox.move_to_drafts([number], texts, {"page": "Page"})
    assert (outbox.draft("page"), outbox.draft("base"), outbox.rows()) == ("typed", "before", ())
    [ended] = outbox.history()
    assert (ended.given, ended.error) == ({"text": "typed"}, "Conflict")
    outbox.close()
