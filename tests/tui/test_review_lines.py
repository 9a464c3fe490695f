"""The lines of a review: header, reviewers, merge requirements and threads."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

import pytest
from tests.hostile_strings import ACTS, HOSTILE

from presscheck.api.change_requests import ChangeRequest, RequestedReviewer, Review
from presscheck.api.comments import Comment, CommentReply, Document, PostComment, PostReply, UpdateComment
from presscheck.api.operation import Operation
from presscheck.api.roles import MergeRules
from presscheck.api.spaces import Space
from presscheck.documents.nodes.comment_targets import document_text
from presscheck.documents.nodes.from_markdown import markdown_to_nodes
from presscheck.documents.pages.quotes import split_quote
from presscheck.engine.review.changes import ChangedItem, WordCount
from presscheck.engine.review.merge_readiness import MergeInputs, checks, join_names, merge_readiness, reviewers
from presscheck.engine.review.model import Progress
from presscheck.engine.review.threads import (
    PendingChange,
    Thread,
    build_thread,
    locate_thread,
    pending_changes,
    sort_threads,
)
from presscheck.engine.writes.pending_writes import OutboxEntry
from presscheck.text.sanitize import sanitize
from presscheck.text.styled_text import Line, Span, plain, width
from presscheck.tui.screens.review.header_renderer import (
    by_line,
    check_line,
    conversation_line,
    fix_line,
    item_line,
    merge_line,
    state_line,
)
from presscheck.tui.screens.review.thread_renderer import thread_lines

NOW = datetime(2026, 11, 20, 12, 0, tzinfo=UTC)
ME = {"id": "me", "displayName": "Ida Ray"}
ADA = {"id": "ada", "displayName": "Ada Lund"}
JON = {"id": "jon", "displayName": "Jon Pike"}


def typeset(markdown: str, columns: int, block: str = "") -> Sequence[Line]:
    return [(Span(line),) for line in sanitize(markdown, lines=True).split("\n")]


def request(**more: Any) -> ChangeRequest:
    given = {"id": "c", "number": 42, "subject": "Rewrite", "createdBy": ADA, "createdAt": "2026-11-20T10:00:00Z"}
    return ChangeRequest.model_validate({**given, "revision": "r2", **more})


def asked(*users: dict[str, Any]) -> list[RequestedReviewer]:
    return [RequestedReviewer.model_validate({"kind": "user", "user": user}) for user in users]


def review(user: dict[str, Any], status: str, **more: Any) -> Review:
    given = {"id": f"{user['id']}-{status}", "reviewer": user, "status": status, "revision": "r2", "createdAt": "1"}
    return Review.model_validate({**given, **more})


def space(**permissions: bool) -> Space:
    return Space.model_validate({"id": "s", "permissions": {"merge": True, **permissions}})


def rules(*names: str, **more: Any) -> MergeRules:
    return MergeRules.model_validate({"type": "rules", "rules": [{"rule": name, **more} for name in names]})


# who said what


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


# can it merge


def test_merged_and_archived_requests_cannot_be_merged() -> None:
    assert merge_readiness(MergeInputs(request(status="merged"), "me")).reasons == ("it is merged",)
    assert merge_readiness(MergeInputs(request(status="archived"), "me")).certainty == "no"


def test_without_permission_it_cannot() -> None:
    assert merge_readiness(MergeInputs(request(), "me", space=space(merge=False))).reasons == (
        "you do not have permission to merge in this space",
    )


def test_warnings_do_not_prevent_a_merge() -> None:
    people = reviewers(request(), [], [review(ADA, "changes-requested")], "me")
    found = merge_readiness(MergeInputs(request(outdated=True), "me", people, space(), rules(), open_threads=4))
    assert found.certainty == "care"
    assert found.reasons == ("Ada requested changes", "4 open comments", "main has new changes")


def test_unknown_facts_are_left_to_the_service() -> None:
    assert merge_readiness(MergeInputs(request(), "me")).certainty == "unknown"
    assert merge_readiness(MergeInputs(request(), "me", (), space(), rules("custom"))).certainty == "unknown"
    assert merge_readiness(MergeInputs(request(), "me", (), space(), MergeRules(type="none"))).certainty == "yes"


@pytest.mark.parametrize(
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


def test_those_who_are_named_may_bypass_the_rules() -> None:
    rule = rules("require_at_least_one_review", "allow_bypass", users=["me"])
    assert merge_readiness(MergeInputs(request(), "me", (), space(), rule)).certainty == "yes"
    assert merge_readiness(MergeInputs(request(), "jon", (), space(admin=True), rule)).certainty == "no"


@pytest.mark.parametrize(
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


def test_a_review_by_the_author_or_of_an_older_revision_is_none_but_a_request_for_changes_blocks() -> None:
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
        ("blocked", "conflicts", "anyone who can edit these pages: p o or p t takes a side"),
        ("blocked", "main", "anyone who can edit these pages, after an update from main (u)"),
    ]
    nothing_known = {one.subject: one for one in checks(MergeInputs(request(), "me"))}
    assert {one.certainty for name, one in nothing_known.items() if name not in ("comments", "main")} == {"unknown"}
    assert all("the service decides" in one.message for one in nothing_known.values() if one.certainty == "unknown")


def test_the_lines_of_the_checks() -> None:
    found = list(checks(MergeInputs(request(), "me", (), space(merge=False), open_threads=2)))
    assert [plain(check_line(one)).rstrip() for one in found] == [
        " ✗ permission   you do not have permission to merge in this space",
        " ? rules        the service decides: the merge rules are not loaded yet",
        " ✓ reviews      nobody requested changes",
        " ⚠ comments     2 open comments",
        " ✓ main         up to date with main",
    ]
    assert plain(fix_line(found[0])) == "                can be fixed by an admin of the space"


def test_names_in_a_sentence() -> None:
    assert [join_names("abcd"[:n]) for n in range(5)] == ["", "a", "a and b", "a, b and c", "a, b and 2 more"]


# the header


PEOPLE = reviewers(request(), asked(ME), [review(ADA, "approved"), review(JON, "changes-requested")], "me")


def test_the_state_line_shows_counts() -> None:
    line = state_line(request(outdated=True), PEOPLE, Progress(37, 37, 29), 4, 120)
    assert plain(line) == "open ✓1 ✗1 ◷1   37 changes · 29 viewed   4 open comments   ◷ main has new changes"


def test_the_least_important_parts_are_omitted() -> None:
    line = state_line(request(outdated=True), PEOPLE, Progress(37, 37, 29), 4, 50)
    assert plain(line) == "open ✓1 ✗1 ◷1   37 changes · 29 viewed"
    assert width(state_line(request(), PEOPLE, None, 4, 9)) <= 9


def test_incomplete_changes_are_reported() -> None:
    line = state_line(request(), None, Progress(1000, 1450, 0), 0, 80)
    assert plain(line) == "open   changes: 1,000 of 1,450 loaded"
    assert plain(state_line(request(), None, None, 0, 80)) == "open   changes not known yet"
    assert plain(state_line(request(status="draft"), None, Progress(0, 0, 0), 0, 80)) == "draft   no changes yet"


def test_who_and_when() -> None:
    assert plain(by_line(request(), "me", NOW)) == "by Ada · 2 h ago"
    merged = request(status="merged", mergedAt="2026-11-19T12:00:00Z", mergedBy=ME)
    assert plain(by_line(merged, "me", NOW)) == "merged by you 1 d ago"


def test_disabled_reasons() -> None:
    doubtful = merge_readiness(MergeInputs(request(), "me", (), space(), rules(), open_threads=1))
    assert plain(merge_line(doubtful, 80)) == "Can merge? ⚠ with warnings: 1 open comment"
    assert plain(merge_line(doubtful, 30)) == "Can merge? ⚠ with warnings: 1…"


# the list


def test_a_page_in_the_list() -> None:
    one = ChangedItem("p", "page", "Tokens", ("edited",))
    assert (
        plain(item_line(one, 30, viewed=True, words=WordCount(30, 10), open_threads=2))
        == "✓ Tokens     +30 −10 words ┃2 "
    )
    news = plain(item_line(one, 30, viewed=False, words=WordCount(30, 1_000_000), open_threads=2, has_new=True))
    assert news == "  Tokens    +30 −1,000,000 ●2 "
    assert plain(item_line(one, 12, viewed=False)) == "  Tokens    "
    assert width(item_line(ChangedItem("p", "file", "漢" * 40, ("added",)), 30, viewed=False)) == 30
    assert width(conversation_line(30, 120)) == 30


# threads

ON_PAGE = {"page": {"id": "p"}}
AFTER = "# Tokens\n\nA token belongs to you.\n\n| Kind | Lasts |\n|---|---|\n| Tokens | 90 days |\n"


def comment(text: str = "Please **fix**", **more: Any) -> Comment:
    given = {"id": "t", "postedBy": ADA, "postedAt": "2026-11-20T09:00:00Z", "body": {"markdown": text}}
    return Comment.model_validate({**given, **more})


def thread(
    first: Comment, replies: Sequence[CommentReply] = (), pending: Mapping[str, PendingChange] | None = None
) -> Thread:
    return build_thread(first, replies, pending or {}, "me")


def reply(text: str = "Done", **more: Any) -> CommentReply:
    given = {"id": "a", "postedBy": ME, "postedAt": "2026-11-20T11:00:00Z", "body": {"markdown": text}}
    return CommentReply.model_validate({**given, **more})


def shown(one: Thread, columns: int = 50, **options: Any) -> list[str]:
    lines = [line for _, line in thread_lines(one, columns, NOW, typeset, **options)]
    assert all(width(line) <= columns for line in lines)
    return [plain(line).rstrip() for line in lines]


def test_a_thread_with_its_answer() -> None:
    one = thread(comment(replies=1), [reply()])
    assert shown(one) == ["┃ Ada 3 h  Please **fix**                  1 reply", "┃   you 1 h  Done"]


def test_a_long_text_is_below_the_name() -> None:
    one = thread(comment("One\nTwo"))
    assert shown(one) == ["┃ Ada 3 h", "┃ One", "┃ Two"]


def test_replies_that_are_not_loaded_are_counted() -> None:
    assert shown(thread(comment(replies=3)))[1] == "┃   3 replies not loaded yet"


def row(call: Operation[Any], state: str = "waiting", error: str | None = None) -> OutboxEntry:
    return OutboxEntry(7, call, call.stored_name(), state, error, 0.0)


IDS = {"space_id": "s", "change_request_id": "c"}
TEXT = Document(markdown="Done")


def test_pending_and_failed_writes_are_labelled() -> None:
    answer = PostReply(**IDS, comment_id="t", body=TEXT)
    waiting = thread(comment(), [reply(id="waiting:7")], pending_changes([row(answer)]))
    assert shown(waiting)[1] == "┃   you ◷ pending  Done"
    refused = pending_changes([row(answer, "refused", "not\x1b allowed")])
    assert shown(thread(comment(), [reply(id="waiting:7")], refused))[1:] == [
        "┃   you ✗ failed  Done",
        "┃   ✗ not␛ allowed",
    ]
    new = thread(comment(id="waiting:7"), pending=pending_changes([row(PostComment(**IDS, body=TEXT), "sending")]))
    assert shown(new) == ["┃ Ada ◷ sending  Please **fix**"]


def test_a_pending_resolve_is_shown_on_the_thread() -> None:
    unsent = pending_changes([row(UpdateComment(**IDS, comment_id="t", resolved=True))])
    assert shown(thread(comment(status="resolved"), pending=unsent))[0].startswith("┃ ✓ resolved ◷ pending")


def test_resolved_threads_are_folded_until_opened() -> None:
    one = thread(comment(status="resolved", resolvedBy=JON, replies=1), [reply()])
    assert shown(one) == ["┃ ✓ resolved Ada 3 h  Please **fix**"]
    assert shown(one, unfolded=True)[0] == "┃ Ada 3 h                ✓ resolved by Jon 1 reply"


def test_the_quote_is_omitted_below_the_quoted_text() -> None:
    one = thread(comment("> A token\n> belongs\n\nTo whom?", target=ON_PAGE))
    assert one.about == "A token belongs"
    placed = locate_thread(one, AFTER, None)
    assert (placed.line, placed.state) == (2, "open")
    assert shown(placed) == ["┃ Ada 3 h  To whom?"]
    assert shown(one)[1] == "┃ > A token"
    assert split_quote("No quote") == ("", "No quote")


def test_a_thread_on_deleted_text_is_outdated() -> None:
    one = thread(comment("> No such words\n\nHm?", target=ON_PAGE))
    gone = locate_thread(one, AFTER, None)
    assert (gone.line, gone.state) == (None, "outdated")
    assert shown(gone)[0] == "┃ Ada 3 h                               ◌ outdated"
    resolved = thread(comment("> No such words\n\nHm?", target=ON_PAGE, status="resolved"))
    assert locate_thread(resolved, AFTER, None).state == "resolved"
    assert locate_thread(thread(comment("On the page", target=ON_PAGE)), AFTER, None).state == "open"


def test_a_comment_on_a_block_or_a_cell_is_placed_by_its_ids() -> None:
    nodes = markdown_to_nodes(AFTER)
    paragraph, table = nodes["nodes"][1:3]
    on_block = thread(comment("Who?", target={**ON_PAGE, "node": {"id": paragraph["key"]}}))
    assert on_block.needs_nodes
    assert locate_thread(on_block, AFTER, None) == on_block, "its nodes are not known yet"
    assert (locate_thread(on_block, AFTER, nodes).line, locate_thread(on_block, AFTER, nodes).about) == (
        2,
        "A token belongs to you.",
    )
    [record], column = table["data"]["records"], table["data"]["view"]["columns"][1]
    cell = {"record": record, "definition": column}
    on_cell = locate_thread(thread(comment("Why?", target={**ON_PAGE, "tableCell": cell})), AFTER, nodes)
    assert on_cell.line == 6
    assert shown(on_cell) == ["┃ Ada 3 h  Why?                       on “90 days”"]
    moved_away = locate_thread(on_block, "Other words.\n", markdown_to_nodes("Other words.\n"))
    assert (moved_away.line, moved_away.state) == (None, "outdated")


def test_reactions_are_emoji_by_their_code_points() -> None:
    one = thread(comment("x", reactions=[{"emoji": "1f44d", "count": 2}, {"emoji": "tada", "count": 1}]))
    assert shown(one)[0].endswith("👍 2 tada 1")


def test_pending_comments_come_last() -> None:
    old, new = thread(comment(postedAt="2")), thread(comment(postedAt="1"))
    late = thread(comment(id="waiting:7", postedAt="0"), pending={"waiting:7": PendingChange(7, "waiting")})
    assert sort_threads([late, old, new]) == [new, old, late]


def test_a_tree_of_nodes_is_read_as_paragraphs() -> None:
    def text(words: str) -> dict[str, Any]:
        return {"object": "text", "leaves": [{"object": "leaf", "text": words}]}

    link = {"object": "inline", "nodes": [text("there")]}
    items = [{"object": "block", "nodes": [{"object": "block", "nodes": [text(words)]}]} for words in ("a", "b")]
    tree = {"nodes": [{"object": "block", "nodes": [text("See "), link]}, {"object": "block", "nodes": items}]}
    assert document_text({"object": "document", **tree}) == "See there\n\na\n\nb"
    assert shown(thread(comment(body={"document": tree})))[1:] == [
        "┃ See there",
        "┃",
        "┃ a",
        "┃",
        "┃ b",
    ]
    assert shown(thread(comment(body={}))) == ["┃ Ada 3 h"]


@pytest.mark.parametrize("text", HOSTILE[::5])
def test_untrusted_text_never_acts(text: str) -> None:
    stranger = {"id": text, "displayName": text}
    one = thread(
        comment(text, postedBy=stranger, replies=1, reactions=[{"emoji": text, "count": 1}]),
        [reply(text, postedBy=stranger, id="waiting:7")],
        {"waiting:7": PendingChange(7, "refused", text)},
    )
    line = state_line(request(status=text), reviewers(request(), asked(stranger), [], "me"), None, 0, 300)
    lines = [*shown(one, 300), *shown(thread(comment(text, status="resolved")), 300), plain(line)]
    who = plain(by_line(request(createdBy=stranger), "me", NOW))
    assert not any(ACTS.search(words) for words in (*lines, who))
