"""The events of a change request, in the order of time."""

from typing import Any

from tests.engine.review_engine import ReviewEngine, request
from tests.engine.review_samples import review
from tests.table import each_case

from presscheck.api.change_requests import Contributor, RequestedReviewer
from presscheck.api.content import Revision
from presscheck.api.content_changes import SemanticChanges
from presscheck.engine.review.model import ReviewModel
from presscheck.engine.review.revision_history import Step
from presscheck.engine.review.threads import Message, PendingChange, Thread
from presscheck.engine.review.timeline import Event, people_of, select_events, timeline
from presscheck.store.outbox import Outbox

MIA, ADA = {"id": "mia", "displayName": "Mia Okonkwo"}, {"id": "ada", "displayName": "Ada Lund"}


def step(identity: str, day: int, kind: str = "edits") -> Step:
    revision = Revision(id=identity, type=kind, created_at=f"2026-11-{day}T00:00:00Z")
    return Step(revision, SemanticChanges(changes=()))


def asked(user: dict[str, Any] | None, day: int, **more: Any) -> RequestedReviewer:
    given = {"createdAt": f"2026-11-{day}T00:00:00Z", "requestedBy": MIA, "user": user, **more}
    return RequestedReviewer.model_validate(given)


def thread(identity: str, day: int, author: str = "Ada", *replies: Message, **more: Any) -> Thread:
    return Thread(Message(identity, author, f"2026-11-{day}T00:00:00Z", identity), replies, **more)


def short(events: list[Event]) -> list[str]:
    return [f"{event.kind} {event.key}" for event in events]


def test_events_are_sorted_by_time_and_unsent_comments_are_last() -> None:
    one = request(createdBy=MIA, createdAt="2026-11-10T00:00:00Z", mergedBy=ADA, mergedAt="2026-11-19T00:00:00Z")
    unsent = Thread(Message("unsent", "you", "", "", pending=PendingChange(1, "waiting")))
    events = timeline(
        one,
        "ada",
        steps=[step("r1", 11), step("r2", 14)],
        reviews=[review(ADA, "approved", id="v1", createdAt="2026-11-13T00:00:00Z")],
        requested=[asked(ADA, 12)],
        threads=[unsent, thread("c1", 15)],
    )
    expected = ["opened opened", "edit r1", "request request you", "review v1", "edit r2", "comment c1"]
    assert short(events) == [*expected, "merged merged", "comment unsent"]
    assert people_of(events) == ["Mia", "you", "Ada"]


def test_edits_have_the_author_of_their_last_edit_if_it_is_known() -> None:
    mia = Contributor.model_validate({"user": MIA, "actionType": "edit", "updatedAt": "2026-11-11T00:00:00Z"})
    ada = Contributor.model_validate({"user": ADA, "actionType": "edit", "updatedAt": "2026-11-14T00:00:00Z"})
    steps = [step("r1", 11), step("r2", 14), step("u", 15, "update"), step("r3", 16)]
    events = timeline(request(), "ada", steps=steps, contributors=[mia, ada])
    assert [(event.steps[-1].revision.id, event.who) for event in events if event.steps] == [
        ("r2", "you"),
        ("u", ""),
        ("r3", ""),
    ]
    events = timeline(request(), "", steps=steps, contributors=[mia])
    assert [event.who for event in select_events(events, "by Mia") if event.steps] == ["Mia", "Mia"]


def test_edits_without_an_event_in_between_are_joined() -> None:
    steps = [step("r1", 11), step("r2", 12), step("r3", 14), step("u", 15, "update"), step("r4", 16), step("r5", 17)]
    events = timeline(request(), "", steps=steps, threads=[thread("c1", 13)])
    assert short(events) == ["edit r1", "comment c1", "edit r3", "edit u", "edit r4", "opened opened"]
    assert [[one.revision.id for one in event.steps] for event in events if event.steps] == [
        ["r1", "r2"],
        ["r3"],
        ["u"],
        ["r4", "r5"],
    ]
    assert events[0].at == "2026-11-12T00:00:00Z", "the time of the last edit"


def test_requests_of_a_person_are_joined() -> None:
    team = asked(None, 13, kind="team", team={"id": "docs"})
    events = timeline(request(), "", requested=[asked(ADA, 12), team, asked(ADA, 14, requestedBy=ADA)])
    assert [event.reviewers for event in events if event.reviewers] == [("Ada", "team docs"), ("Ada",)]


def test_the_text_of_a_review_belongs_to_its_review() -> None:
    text = {"id": "c1", "postedBy": ADA, "body": {"markdown": "No"}}
    one = review(ADA, "changes-requested", id="v1", createdAt="2026-11-13T00:00:00Z", comment=text)
    of_review, other = thread("c1", 13, is_review=True), thread("c2", 14)
    events = timeline(request(), "", reviews=[one], threads=[of_review, other])
    assert short(events) == ["review v1", "comment c2", "opened opened"]
    assert events[0].thread is of_review


@each_case(
    ("query", "expected"),
    [
        ("", ["edit r1", "review v1", "comment c1", "comment c2", "opened opened"]),
        ("comments", ["comment c1", "comment c2"]),
        ("reviews", ["review v1"]),
        ("edits", ["edit r1", "opened opened"]),
        ("by Ada", ["review v1", "comment c1", "comment c2"]),
        ("by Jón", ["comment c2"]),
    ],
)
def test_events_are_selected_by_kind_or_person(query: str, expected: list[str]) -> None:
    events = timeline(
        request(),
        "",
        steps=[step("r1", 11)],
        reviews=[review(ADA, "approved", id="v1", createdAt="2026-11-12T00:00:00Z")],
        threads=[thread("c1", 13), thread("c2", 14, "Ada", Message("a", "Jón", "", ""))],
    )
    assert short(select_events(events, query)) == expected


def test_without_a_change_request_there_are_no_events(outbox: Outbox) -> None:
    model = ReviewModel(ReviewEngine(outbox), "s", "c")
    assert model.events(()) == []
    model.set_request(request())
    assert short(model.events([thread("c1", 21)])) == ["opened opened", "comment c1"]
