"""The history of a change request, and the inputs of merge checks."""

from __future__ import annotations

from typing import Any

import pytest
from tests.engine.scripted_service import ScriptedService

from presscheck.api.change_requests import ChangeRequest, Contributor
from presscheck.api.content import GetRevision, Revision
from presscheck.api.content_changes import GetRevisionChanges
from presscheck.api.operation import Operation
from presscheck.api.organizations import GetOrganization
from presscheck.api.spaces import GetSpace
from presscheck.api.users import GetCurrentUser
from presscheck.client.responses import read_answer
from presscheck.engine.results import Result
from presscheck.engine.review import revision_history
from presscheck.engine.review.merge_inputs import read_merge_inputs
from presscheck.engine.review.revision_history import LIMIT, author_of, history, revisions
from presscheck.engine.shared_calls import changes_in, comments_on, reviewers_of, reviews_of
from presscheck.errors import Forbidden, NotFound

NONE: dict[str, Any] = {"items": []}


class Reader(ScriptedService):
    """A scripted service that caches its responses."""

    def __init__(self) -> None:
        super().__init__()
        self.cached: dict[str, Result[Any]] = {}

    def known(self, call: Operation[Any], /) -> Any:
        return self.cached.get(call.key())

    async def read(self, call: Operation[Any], **_: Any) -> Any:
        value = read_answer(call, await self.fetch(call))
        self.cached[call.key()] = Result(value, "cached", 0.0)
        return value

    def revision(self, identity: str, *parents: str) -> None:
        get, changes = calls(identity)
        self.answer(get, {"object": "revision", "id": identity, "parents": [*parents]})
        self.answer(changes, {"changes": [{"type": "page_edited", "page": {"id": identity, "title": "x"}}]})


def calls(identity: str) -> tuple[GetRevision, GetRevisionChanges]:
    return (
        GetRevision(space_id="s", revision_id=identity, computed=False),
        GetRevisionChanges(space_id="s", revision_id=identity, limit=LIMIT),
    )


def request(**more: Any) -> ChangeRequest:
    return ChangeRequest(id="c", space="s", revision="r3", revision_initial="r0", **more)


async def test_history_follows_first_parents_to_the_initial_revision() -> None:
    reader = Reader()
    reader.revision("r3", "r2", "main")
    reader.revision("r2", "r0")
    reader.revision("r0", "older")
    steps = [step async for step in history(reader, request())]
    assert [step.revision.id for step in steps] == ["r3", "r2"]
    assert [step.changes.changes[0].page.id for step in steps if step.changes.changes[0].page] == ["r3", "r2"]
    assert reader.sent == [*calls("r3"), *calls("r2")]
    assert [step async for step in history(reader, request())] == steps
    assert len(reader.sent) == 4, "revisions never change, so each is read once"


async def test_history_ends_at_the_first_revision_or_at_the_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    reader = Reader()
    reader.revision("b", "a")
    reader.revision("a")
    assert [step.revision.id async for step in revisions(reader, "s", "b")] == ["b", "a"]
    assert [step async for step in revisions(reader, "s", "")] == []
    reader.revision("r3", "r3")
    monkeypatch.setattr(revision_history, "LIMIT", 3)
    reader.cached.clear()
    for call in (GetRevisionChanges(space_id="s", revision_id="r3", limit=3),):
        reader.answer(call, {"changes": []})
    assert len([step async for step in history(reader, request())]) == 3
    with pytest.raises(NotFound):
        [step async for step in revisions(reader, "s", "gone")]


def merge_reader(one: ChangeRequest, **space: Any) -> Reader:
    reader = Reader()
    ada = {"object": "user", "id": "ada", "displayName": "Ada Lund"}
    jon = {"object": "user", "id": "jon", "displayName": "Jon Pike"}
    comment = {"object": "comment", "postedBy": ada}
    answers: list[tuple[Operation[Any], Any]] = [
        (GetCurrentUser(), ada),
        (reviewers_of(one), {"items": [{"kind": "user", "user": jon}]}),
        (reviews_of(one), {"items": [{"id": "r", "reviewer": ada, "status": "approved", "revision": "r3"}]}),
        (GetSpace(space_id="s"), {"object": "space", "id": "s", **space}),
        (changes_in(one), {"changes": []}),
        (
            comments_on(one),
            {
                "items": [
                    {**comment, "id": "1"},
                    {**comment, "id": "2", "status": "resolved"},
                    {**comment, "id": "3", "target": {"review": "r"}},
                    {**comment, "id": "4"},
                ]
            },
        ),
    ]
    for call, answer in answers:
        reader.answer(call, answer)
    return reader


async def test_the_inputs_of_the_merge_checks_are_read() -> None:
    one = request()
    own_rules = {"type": "rules", "rules": []}
    inputs = await read_merge_inputs(merge_reader(one, mergeRules=own_rules, organization="o"), one)
    assert (inputs.request, inputs.me, inputs.open_threads) == (one, "ada", 2)
    assert [(person.id, person.status, person.name) for person in inputs.reviewers or ()] == [
        ("jon", "asked", "Jon"),
        ("ada", "approved", "you"),
    ]
    assert inputs.space
    assert inputs.rules == inputs.space.merge_rules
    assert (inputs.conflicts, inputs.unresolved) == ((), ())


async def test_inherited_merge_rules_are_read_from_the_organization() -> None:
    one = request()
    inherit = {"type": "inherit"}
    reader = merge_reader(one, mergeRules=inherit, organization="o")
    rules = {"type": "rules", "rules": [{"rule": "require_author_to_merge"}]}
    reader.answer(GetOrganization(organization_id="o"), {"object": "organization", "id": "o", "mergeRules": rules})
    inputs = await read_merge_inputs(reader, one)
    assert inputs.rules
    assert [rule.rule for rule in inputs.rules.rules] == ["require_author_to_merge"]
    alone = await read_merge_inputs(merge_reader(one, mergeRules=inherit), one)
    assert alone.rules
    assert alone.rules.type == "inherit"
    assert (await read_merge_inputs(merge_reader(one), one)).rules is None


async def test_without_a_forecast_conflicts_are_unknown() -> None:
    one = request(outdated=True)
    reader = merge_reader(one)
    reader.answer(reviews_of(one), Forbidden("No", request="", status=403))
    with pytest.raises(Forbidden):
        await read_merge_inputs(reader, one)


def test_authors_come_from_merges_and_contributors() -> None:
    def person(name: str, at: str, action: str = "edit") -> Contributor:
        user = {"object": "user", "id": name, "displayName": name}
        return Contributor.model_validate({"user": user, "actionType": action, "createdAt": at, "updatedAt": at})

    noon, later = "2026-03-14T12:00:00.120Z", "2026-03-14T13:00:00Z"
    mia, noor, bo = person("mia", noon), person("noor", later), person("bo", noon, "comment")
    edit = Revision(id="r", type="edits", created_at="2026-03-14T12:00:00.300Z")

    def name(*contributors: Contributor, revision: Revision = edit) -> str | None:
        author = author_of(revision, contributors)
        return author and author.id

    assert (name(mia, bo), name(noor), name(mia, noor), name(bo), name()) == ("mia", "noor", "mia", None, None)
    assert name(mia, person("ivo", noon)) is None
    assert name(noor, mia, revision=edit.model_copy(update={"created_at": "2026-03-14T11:00:00Z"})) is None
    assert name(mia, revision=Revision(id="r", type="update")) is None
    user = {"object": "user", "id": "noor"}
    request = {"id": "c", "space": "s", "number": 1, "status": "merged"} | {"mergedBy": user}
    merge = Revision.model_validate({"id": "r", "type": "merge", "mergedFrom": request})
    assert name(mia, revision=merge) == "noor"
