"""The model of a review: the calls that it sends, their order, and its state after their responses."""

from typing import Any

import pytest
from tests.engine.review_engine import ReviewEngine, comment, request, set_comments
from tests.engine.review_samples import ADA, JON, asked, review

from presscheck.api.content import ListChangeRequestPages, RevisionPage
from presscheck.api.content_changes import SemanticChanges
from presscheck.api.operation import ALL, Page
from presscheck.api.organizations import GetOrganization, Organization
from presscheck.api.roles import MergeRules
from presscheck.api.spaces import GetSpace, Space
from presscheck.engine.review.merge_forecast import Forecast, UnresolvedPage
from presscheck.engine.review.merge_readiness import MergeReadiness
from presscheck.engine.review.model import Progress, ReviewModel
from presscheck.engine.shared_calls import changes_in, comments_on, replies_to, reviewers_of, reviews_of
from presscheck.store.outbox import Outbox

REQUEST = request()
TREE = ListChangeRequestPages(space_id="s", change_request_id="c")
SPACE = GetSpace(space_id="s")


@pytest.fixture
def engine(outbox: Outbox) -> ReviewEngine:
    return ReviewEngine(outbox)


@pytest.fixture
def model(engine: ReviewEngine) -> ReviewModel:
    model = ReviewModel(engine, "s", "5", lambda request, thread: "muted" if (request, thread) == ("c", "") else "")
    model.set_request(REQUEST)
    return model


def change(page: str, kind: str = "page_edited", document: str = "") -> dict[str, Any]:
    attributes = {"document": {"before": "old", "after": document}} if document else None
    return {"type": kind, "page": {"id": page, "title": page.title(), "type": "document"}, "attributes": attributes}


def changes(*pages: str, more: int | None = None, document: str = "") -> SemanticChanges:
    return SemanticChanges.model_validate(
        {"changes": [change(page, document=document) for page in pages], "more": more}
    )


def tree(*pages: str) -> Any:
    found = [RevisionPage.model_validate({"id": page, "title": page, "type": "document"}) for page in pages]
    return type("Tree", (), {"pages": found})


def names(model: ReviewModel) -> list[str]:
    return [item.id for item in model.items]


def test_calls_are_shared_with_other_screens_and_sorted_by_importance(engine: ReviewEngine) -> None:
    model = ReviewModel(engine, "s", "5")
    assert [*model.calls()] == []
    assert (model.first_call().change_request_id, model.path["change_request_id"]) == ("5", "5")
    assert (model.notifications, model.base, model.reviewers(), model.progress()) == ("", None, None, None)
    assert (model.merge_inputs(), model.readiness(), [*model.people()]) == (None, MergeReadiness("unknown"), [None])
    model.set_request(None)
    assert model.request is None
    model.set_request(REQUEST)
    calls = [
        changes_in(REQUEST),
        reviews_of(REQUEST),
        reviewers_of(REQUEST),
        comments_on(REQUEST),
        TREE,
        SPACE,
    ]
    assert [*model.calls()] == calls
    assert model.first_call().change_request_id == "5", "its cached response has the name that it was opened by"
    model.take(SPACE, Space(id="s", organization="o"))
    model.take(changes_in(REQUEST), changes("a", more=7))
    organization = GetOrganization(organization_id="o")
    assert [*model.calls()] == [changes_in(REQUEST, 1 + 7 + ALL), *calls[1:], organization]


def test_truncated_response_does_not_replace_the_complete_one(model: ReviewModel) -> None:
    model.take(changes_in(REQUEST), changes("a", more=2))
    assert model.progress() == Progress(1, 3, 0)
    assert model.progress().missing == "only 1 of 3 changes are loaded"  # type: ignore[union-attr]
    longer = changes_in(REQUEST, 3 + ALL)
    model.take(longer, changes("a", "b", "c"))
    model.take(changes_in(REQUEST), changes("a", more=2))
    assert names(model) == ["a", "b", "c"]
    assert model.progress().missing == ""  # type: ignore[union-attr]
    model.take(changes_in(REQUEST), changes("a", "b"))
    assert names(model) == ["a", "b"], "there are fewer now"
    model.take(changes_in(REQUEST), changes("d", "e", "f", more=1))
    assert names(model) == ["d", "e", "f"]
    model.take(changes_in(REQUEST), None)
    assert names(model) == ["d", "e", "f"]


def test_items_are_in_the_order_of_the_page_tree(model: ReviewModel) -> None:
    model.take(TREE, tree("a", "b", "c"))
    assert (model.items, model.progress()) == ((), None)
    model.take(changes_in(REQUEST), changes("c", "a"))
    assert names(model) == ["a", "c"]
    model.take(TREE, tree("c", "a"))
    assert names(model) == ["c", "a"]


def test_comparison_with_a_review_shows_newer_changes_and_counts_all(model: ReviewModel) -> None:
    model.set_request(request(revisionMergedAncestor="m2", revisionInitial="m1"))
    assert model.base == "m2"
    model.set_request(request(revisionInitial="m1"))
    assert model.base == "m1"
    model.take(changes_in(REQUEST), changes("a", "b", "c"))
    own = review({"id": "ida"}, "approved", revision="r1")
    model.take(reviews_of(REQUEST), Page(items=(review(ADA, "approved"), own)))
    assert model.own_review() == own
    model.compare_since(own)
    assert (names(model), model.progress(), model.base) == (["a", "b", "c"], None, "r1")
    model.set_comparison("r1", "r2", changes("c"))
    assert (names(model), model.progress()) == (["c"], Progress(1, 1, 0))
    assert model.changes_since("r1") == changes("c")
    assert model.changes_since("r0") is None
    assert model.whole_progress() == Progress(3, 3, 0)
    assert len(model.all_items) == len(model.unviewed()) == 3
    model.set_request(request(revision="r3"))
    assert model.progress() is None, "the newest revision is another one now"
    model.compare_since(None)
    assert names(model) == ["a", "b", "c"]


def test_pages_are_marked_as_viewed_in_their_version(model: ReviewModel, engine: ReviewEngine) -> None:
    model.take(changes_in(REQUEST), changes("a", document="t1"))
    model.take(
        changes_in(REQUEST), SemanticChanges.model_validate({"changes": [change("a", document="t1"), change("b")]})
    )
    first, second = model.items
    model.mark_viewed(first, viewed=True)
    model.mark_viewed(second, viewed=True)
    assert engine.viewed("c") == {"a": first.text or "r2", "b": "r2"}
    assert model.whole_progress() == Progress(2, 2, 2)
    model.set_request(request(revision="r3"))
    assert [model.is_viewed(item) for item in model.items] == [first.text is not None, False]
    model.mark_viewed(first, viewed=False)
    assert not model.is_viewed(first)
    assert engine.viewed("c") == {"b": "r2"}


def test_people_are_reviewers_and_authors_of_comments(model: ReviewModel) -> None:
    model.take(reviewers_of(REQUEST), Page(items=tuple(asked(JON))))
    assert [reviewer.id for reviewer in model.reviewers() or ()] == ["jon"]
    model.take(reviews_of(REQUEST), Page(items=(review(ADA, "approved"),)))
    assert [(reviewer.id, reviewer.status) for reviewer in model.reviewers() or ()] == [
        ("jon", "asked"),
        ("ada", "approved"),
    ]
    set_comments(model, comment("1", "One"))
    assert [user.id for user in model.people() if user] == ["jon", "ada", "ada"]
    model.take(replies_to("s", "c", "1"), Page(items=()))
    assert (model.me, model.notifications, model.open_threads()) == ("ida", "muted", 1)


def test_merge_rules_are_inherited_from_the_organization(model: ReviewModel) -> None:
    own, inherited = (MergeRules.model_validate({"type": kind}) for kind in ("rules", "inherit"))
    of_all = MergeRules.model_validate({"type": "rules", "rules": [{"rule": "require_author_to_merge"}]})
    assert model.rules() is None
    model.take(SPACE, Space(id="s", organization="o", merge_rules=own))
    assert model.rules() == own
    model.take(SPACE, Space(id="s", organization="o", merge_rules=inherited))
    assert model.rules() is None, "those of the organization are not known yet"
    model.take(GetOrganization(organization_id="o"), Organization(id="o", title="O", merge_rules=of_all))
    assert model.rules() == of_all


def test_unresolved_conflicts_come_from_texts_and_the_forecast(model: ReviewModel) -> None:
    model.take(changes_in(REQUEST), changes("a", "b"))
    inputs = model.merge_inputs()
    assert inputs
    assert (inputs.conflicts, inputs.unresolved) == (None, ())
    model.forecast = Forecast(unresolved=(UnresolvedPage("b", "Beta"), UnresolvedPage("x", "Not shown")))
    model.texts_with_conflicts = {"a": True}
    assert model.unresolved == {"a": "A", "b": "Beta", "x": "Not shown"}
    model.texts_with_conflicts["b"] = False
    assert model.unresolved == {"a": "A", "x": "Not shown"}, "the loaded text is newer than the forecast"
    inputs = model.merge_inputs()
    assert inputs
    assert (inputs.conflicts, inputs.unresolved, inputs.me, inputs.request) == ((), ("A", "Not shown"), "ida", REQUEST)
    assert model.readiness().certainty != "yes"


@pytest.mark.parametrize(
    ("status", "reason"), [("open", None), ("merged", "it is merged"), ("archived", "it is archived")]
)
def test_merged_or_archived_request_has_a_closed_reason(model: ReviewModel, status: str, reason: str | None) -> None:
    model.set_request(request(status=status))
    assert model.closed_reason() == reason
