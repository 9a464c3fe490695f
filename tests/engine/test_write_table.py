"""The table of all writes in `writes.txt`: what each does in words, what it makes stale, and how it is undone.

`PRESSCHECK_UPDATE_GOLDEN=1` rewrites the table: review the difference.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from typing import Any

from tests.engine.write_samples import EXTERNAL, ORGANIZATION, REQUEST, SAMPLES, SITE, THREAD, text
from tests.root import ROOT
from tests.table import each_case

from presscheck.api import change_requests, comments, organizations, site_settings, sites, spaces
from presscheck.api.operation import Operation, every_operation
from presscheck.engine.writes.descriptions import Place, describe, place_of
from presscheck.engine.writes.effects import EFFECTS, effects_of, may_wait
from presscheck.engine.writes.inverse import SentWrite
from presscheck.engine.writes.inverses import INVERSES, inverse_of, reason_against

TABLE = ROOT / "tests" / "engine" / "writes.txt"
WRITES = sorted((one for one in every_operation() if not one.is_read()), key=lambda one: one.stored_name())
ODD = "a b/é"
"""An id whose characters must be quoted in a path."""


def shown(call: Operation[Any]) -> str:
    given = ", ".join(f"{name}={value!r}" for name, value in sorted(call.given().items()))
    return f"{type(call).__name__}({given})"


def place(call: Operation[Any], result: dict[str, Any] | None) -> str:
    found = place_of(call, result)
    return " ".join(f"{name}={value}" for name, value in vars(found).items() if value is not None)


def of_each_operation() -> Iterator[str]:
    """Yield the lines of the table that depend only on the operation and its path."""
    yield "# Every write: whether it can wait, what is done if its delivery is unknown, and what it makes stale"
    for operation in WRITES:
        call = operation.model_construct(**dict.fromkeys(operation.path_fields(), ODD))
        effects = effects_of(call)
        yield f"\n{operation.stored_name()}: {'waits' if may_wait(operation) else 'is sent now'}, {effects.reconcile}"
        assert isinstance(effects.queued, bool)
        assert effects.queued is may_wait(operation)
        assert (effects.reconcile == "look") is bool(effects.listings) is bool(effects.is_result)
        assert (effects.reconcile == "state") is bool(effects.state)
        yield f"  scope {effects.scope(call)}"
        yield f"  stale {' '.join(effects.stale(call))}"
        if effects.state:
            yield f"  state {shown(effects.state[0](call))}"
        if isinstance(reason := INVERSES.get(operation), str):
            yield f"  not undone: {reason}"


def of_each_sample() -> Iterator[str]:
    """Yield the lines of the table that depend on the arguments of a write."""
    yield "\n# Sample writes: the words for them, the place, and what undoes them"
    for call, former, result in SAMPLES:
        yield f"\n{shown(call)}"
        yield f"  former {former}, result {result}"
        yield f"  {describe(call)} ({place(call, result)})"
        effects = EFFECTS.get(type(call))
        for author in ("ada", "") if effects and effects.listings else ():
            assert effects
            assert effects.listings
            yield f"  looked for, by {author or 'anybody'}: {' '.join(map(shown, effects.listings(call, author)))}"
        sent = SentWrite(call, former, result, "me")
        inverse, reason = inverse_of(call), reason_against(sent)
        if reason:
            yield f"  not undone: {reason}"
        elif inverse:
            yield f"  undone: {inverse.words(sent)}"
            yield from (f"    {shown(undo)}" for undo in inverse.calls(sent))


def test_table_of_writes_is_up_to_date() -> None:
    table = "\n".join((*of_each_operation(), *of_each_sample())) + "\n"
    if os.environ.get("PRESSCHECK_UPDATE_GOLDEN"):
        TABLE.write_text(table, "utf-8")
    assert table == TABLE.read_text("utf-8")
    undone = [line for line in table.splitlines() if line.startswith("  undone: ")]
    assert [line for line in undone if "True" in line or "False" in line] == []


def test_joining_cannot_be_undone_without_a_known_user() -> None:
    joined = organizations.JoinOrganization(**ORGANIZATION)
    assert reason_against(SentWrite(joined, {"joined": False}, None)) == "the former value is not known"
    assert reason_against(SentWrite(joined, {"joined": False}, None, "me")) is None


def test_empty_place_has_no_ids() -> None:
    assert set(vars(Place()).values()) == {None}


def test_every_write_with_an_inverse_has_a_sample() -> None:
    sampled = {type(call) for call, _, _ in SAMPLES}
    missing = {one.__name__ for one, inverse in INVERSES.items() if not isinstance(inverse, str)} - {
        one.__name__ for one in sampled
    }
    assert missing == set()


def person(identity: str) -> dict[str, Any]:
    return {"object": "user", "id": identity}


def comment(author: str, markdown: str | None) -> comments.Comment:
    return comments.Comment.model_validate({"id": "c", "postedBy": person(author), "body": {"markdown": markdown}})


def review(author: str, status: str, markdown: str | None = None) -> change_requests.Review:
    said = comment(author, markdown) if markdown else None
    values = {"id": "r", "reviewer": person(author), "status": status, "comment": said}
    return change_requests.Review.model_validate(values)


def request(author: str | None, subject: str) -> change_requests.ChangeRequest:
    by = {"createdBy": person(author)} if author else {}
    return change_requests.ChangeRequest.model_validate({"id": "5", "subject": subject, **by})


POST = comments.PostComment(**REQUEST, body=text("Hello *you*, 2!"))
APPROVE = change_requests.SubmitReview(**REQUEST, status="approved", comment=text("Fine."))
SILENT = change_requests.SubmitReview(**REQUEST, status="approved")
CREATE = change_requests.CreateChangeRequest(space_id="api", subject="S")
REDIRECT = site_settings.CreateRedirect(
    **SITE, source="/a", destination=site_settings.RedirectDestination(kind="external", url="https://a.example/x")
)
LINK = site_settings.CreateShareLink(**SITE, name="Press")
UNNAMED = change_requests.CreateChangeRequest(space_id="api")


@each_case(
    ("call", "item", "author", "is_result"),
    [
        (POST, comment("ada", "Hello _you_ 2"), "ada", True),
        (POST, comment("ada", "Hello _you_ 2"), "", True),
        (POST, comment("ada", "Hello _you_ 2"), "bo", False),
        (POST, comment("ada", "Hello you 3"), "ada", False),
        (POST, comment("ada", None), "ada", False),
        (comments.PostReply(**THREAD, body=text("")), comment("ada", None), "ada", True),
        (APPROVE, review("ada", "approved", "*Fine*"), "ada", True),
        (APPROVE, review("ada", "approved", "*Fine*"), "", True),
        (APPROVE, review("ada", "approved", "Bad"), "ada", False),
        (APPROVE, review("ada", "changes-requested", "Fine."), "ada", False),
        (APPROVE, review("ada", "approved"), "ada", False),
        (APPROVE, review("ada", "approved", "Fine."), "bo", False),
        (SILENT, review("ada", "approved"), "ada", True),
        (CREATE, request("ada", "S"), "ada", True),
        (CREATE, request("ada", "S"), "bo", False),
        (CREATE, request("ada", "T"), "ada", False),
        (CREATE, request(None, "S"), "", True),
        (CREATE, request(None, "S"), "ada", False),
        (UNNAMED, request("ada", ""), "ada", True),
        (
            REDIRECT,
            site_settings.Redirect.model_validate({"id": "r", "source": "/a", "destination": EXTERNAL}),
            "",
            True,
        ),
        (
            REDIRECT,
            site_settings.Redirect.model_validate({"id": "r", "source": "/b", "destination": EXTERNAL}),
            "",
            False,
        ),
        (LINK, site_settings.ShareLink(id="l", name="Press"), "", True),
        (LINK, site_settings.ShareLink(id="l", name="Other"), "", False),
    ],
)
def test_result_of_a_write_of_unknown_delivery_is_recognized(
    call: Operation[Any], item: Any, author: str, is_result: bool
) -> None:
    decides = effects_of(call).is_result
    assert decides
    assert bool(decides(item, call, author)) == is_result


def test_state_shows_whether_a_write_was_done() -> None:
    def is_done(operation: type[Operation[Any]], resource: Any) -> bool:
        state = EFFECTS[operation].state
        assert state
        return bool(state[1](resource))

    for status, is_merged in (("merged", True), ("open", False)):
        merged = request("ada", "S").model_copy(update={"status": status})
        assert is_done(change_requests.MergeChangeRequest, merged) is is_merged
    for outdated in (True, False):
        pulled = request("ada", "S").model_copy(update={"outdated": outdated})
        assert is_done(change_requests.PullChangeRequest, pulled) is not outdated
        site = sites.Site.model_validate({"id": "s", "published": outdated})
        assert is_done(sites.PublishSite, site) is outdated
        assert is_done(sites.UnpublishSite, site) is not outdated
        space = spaces.Space.model_validate({"id": "s", "deletedAt": "2026-01-01" if outdated else None})
        assert is_done(spaces.RestoreSpace, space) is not outdated
