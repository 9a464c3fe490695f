"""Whether a change request can be merged, why not, and who can fix it."""

from dataclasses import replace

from tests.engine.review_samples import ADA, JON, ME, asked, request, review, rules, space
from tests.table import each_case

from presscheck.api.change_requests import RequestedReviewer, Review
from presscheck.api.roles import MergeRules
from presscheck.engine.review.merge_readiness import MergeInputs, checks, join_names, merge_readiness, reviewers


def test_the_newest_review_counts_and_requested_reviewers_come_first() -> None:
    found = reviewers(
        request(),
        asked(JON, ME),
        [
            review(ADA, "changes-requested", createdAt="2"),
            review(ADA, "approved", createdAt="3"),
            review(ME, "approved"),
        ],
        "me",
    )
    assert [(one.name, one.status, one.asked) for one in found] == [
        ("Jon", "asked", True),
        ("you", "approved", True),
        ("Ada", "approved", False),
    ]


def test_a_replaced_review_is_silent_and_an_older_revision_is_reported() -> None:
    found = reviewers(
        request(), [], [review(ADA, "approved", outdated=True), review(JON, "approved", revision="r1")], "me"
    )
    assert [(one.name, one.stale) for one in found] == [("Jon", True)]


def test_a_team_can_be_a_reviewer() -> None:
    one = RequestedReviewer.model_validate({"kind": "team", "team": {"id": "docs"}})
    assert [who.name for who in reviewers(request(), [one], [], "me")] == ["team docs"]


# readiness


def test_merged_and_archived_requests_cannot_be_merged() -> None:
    assert merge_readiness(MergeInputs(request(status="merged"), "me")).reasons == ("it is merged",)
    assert merge_readiness(MergeInputs(request(status="archived"), "me")).certainty == "no"


def test_without_permission_a_request_cannot_be_merged() -> None:
    assert merge_readiness(MergeInputs(request(), "me", space=space(merge=False))).reasons == (
        "you do not have permission to merge in this space",
    )


def test_lock_is_reported_instead_of_the_missing_permission() -> None:
    locked = space(merge=False).model_copy(update={"title": "Guides", "edit_mode": "locked"})
    assert merge_readiness(MergeInputs(request(), "me", space=locked)).reasons == ("Guides is locked",)


def test_warnings_do_not_prevent_a_merge() -> None:
    people = reviewers(request(), [], [review(ADA, "changes-requested")], "me")
    found = merge_readiness(MergeInputs(request(outdated=True), "me", people, space(), rules(), open_threads=4))
    assert found.certainty == "care"
    assert found.reasons == ("Ada requested changes", "4 open comments", "main has new changes")


def test_without_known_rules_readiness_is_unknown() -> None:
    assert merge_readiness(MergeInputs(request(), "me")).certainty == "unknown"
    assert merge_readiness(MergeInputs(request(), "me", (), space(), rules("custom"))).certainty == "unknown"
    assert merge_readiness(MergeInputs(request(), "me", (), space(), MergeRules(type="none"))).certainty == "yes"


@each_case(
    ("rule", "why"),
    [
        (rules("require_up_to_date_change_request"), "an update from main is required (merge rule)"),
        (rules("require_change_request_subject"), "a subject is required (merge rule)"),
        (rules("require_change_request_description"), "a description is required (merge rule)"),
        (rules("require_author_to_merge"), "only Ada can merge it (merge rule)"),
        (rules("require_at_least_one_approved_review"), "an approval is required (merge rule)"),
        (rules("require_all_reviews_approved"), "Jon requested changes"),
        (rules("require_specific_reviewers", users=["jon"]), "approval by Jon is required (merge rule)"),
        (
            rules("require_one_of_specific_reviewers", users=["x"]),
            "approval by a specific reviewer is required (merge rule)",
        ),
    ],
)
def test_a_broken_rule_prevents_the_merge(rule: MergeRules, why: str) -> None:
    one = request(outdated=True, subject=" ")
    people = reviewers(one, [], [review(JON, "changes-requested")], "me")
    found = merge_readiness(MergeInputs(one, "me", people, space(), rule))
    assert (found.certainty, found.reasons) == ("no", (why,))


def test_a_review_is_required() -> None:
    one = MergeInputs(request(), "me", (), space(), rules("require_at_least_one_review"))
    assert merge_readiness(one).reasons == ("a review is required (merge rule)",)


def test_only_named_users_may_bypass_the_rules() -> None:
    rule = rules("require_at_least_one_review", "allow_bypass", users=["me"])
    assert merge_readiness(MergeInputs(request(), "me", (), space(), rule)).certainty == "yes"
    assert merge_readiness(MergeInputs(request(), "jon", (), space(admin=True), rule)).certainty == "no"


@each_case(
    ("given", "why"),
    [
        ([review(JON, "approved", revision="r1")], "an approval of the newest revision is required (merge rule)"),
        ([review(ADA, "approved")], "an approval by somebody other than the author is required (merge rule)"),
        ([review(JON, "changes-requested", revision="r1")], "an approval is required (merge rule)"),
    ],
)
def test_approvals_of_older_revisions_and_of_the_author_do_not_count(given: list[Review], why: str) -> None:
    people = reviewers(request(), [], given, "me")
    one = MergeInputs(request(), "me", people, space(), rules("require_at_least_one_approved_review"))
    found = merge_readiness(one)
    assert (found.certainty, found.reasons) == ("no", (why,))
    both = reviewers(request(), [], [*given, review(ME, "approved")], "me")
    assert merge_readiness(replace(one, reviewers=both)).certainty in ("yes", "care")


def test_outdated_and_own_approvals_do_not_count_but_requested_changes_block() -> None:
    rule = rules("require_at_least_one_review", "require_all_reviews_approved")
    for given in (review(ADA, "approved"), review(JON, "approved", revision="r1")):
        people = reviewers(request(), [], [given], "me")
        found = merge_readiness(MergeInputs(request(), "me", people, space(), rule))
        assert found.reasons == ("a review is required (merge rule)",)
    people = reviewers(request(), [], [review(JON, "changes-requested", revision="r1")], "me")
    assert merge_readiness(MergeInputs(request(), "me", people, space(), rule)).reasons == ("Jon requested changes",)


def test_each_merge_requirement_names_who_can_fix_it() -> None:
    people = reviewers(request(), [], [review(ADA, "approved", revision="r0"), review(JON, "changes-requested")], "me")
    rule = rules("require_specific_reviewers", "custom", users=["jon"])
    found = checks(
        MergeInputs(
            request(outdated=True),
            "me",
            people,
            space(),
            rule,
            open_threads=1,
            conflicts=("Wick",),
            unresolved=("Oil", "Lamp"),
        )
    )
    assert [(one.certainty, one.subject, one.fixed_by) for one in found] == [
        ("yes", "permission", ""),
        ("no", "reviews", "these reviewers"),
        ("unknown", "rule", ""),
        ("care", "reviews", "a new review by Jon"),
        ("care", "reviews", "a new approval by Ada"),
        ("care", "comments", "anyone who can resolve them"),
        ("blocked", "conflicts", "anyone who can edit these pages"),
        ("blocked", "main", "anyone who can edit these pages, after an update from main"),
    ]
    nothing_known = {one.subject: one for one in checks(MergeInputs(request(), "me"))}
    assert {one.certainty for name, one in nothing_known.items() if name not in ("comments", "main")} == {"unknown"}
    assert all("the service decides" in one.message for one in nothing_known.values() if one.certainty == "unknown")


def test_names_in_a_sentence() -> None:
    assert [join_names("abcd"[:n]) for n in range(5)] == ["", "a", "a and b", "a, b and c", "a, b and 2 more"]
