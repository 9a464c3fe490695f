"""The lines of a review: header, reviewers, merge requirements and threads."""

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import Any

import pytest
from tests.engine.review_samples import ADA, JON, ME, asked, request, review, rules, space
from tests.hostile_strings import ACTS, HOSTILE

from presscheck.api.comments import Comment, CommentReply, Document, PostComment, PostReply, UpdateComment
from presscheck.api.operation import Operation
from presscheck.documents.nodes.comment_targets import document_text
from presscheck.documents.nodes.from_markdown import markdown_to_nodes
from presscheck.documents.pages.comment_text import split_quote
from presscheck.engine.review.changes import ChangedItem, WordCount
from presscheck.engine.review.merge_readiness import MergeCheck, MergeInputs, checks, merge_readiness, reviewers
from presscheck.engine.review.model import Progress
from presscheck.engine.review.threads import (
    PendingChange,
    Thread,
    build_thread,
    locate_thread,
    pending_changes,
)
from presscheck.engine.writes.pending_writes import OutboxEntry
from presscheck.text.sanitize import sanitize
from presscheck.text.styled_text import Line, Span, plain, width
from presscheck.tui.commands import Keymap, use_keymap
from presscheck.tui.screens.review.renderer import (
    by_line,
    check_line,
    conversation_line,
    fix_line,
    item_line,
    merge_line,
    state_line,
    thread_lines,
)

NOW = datetime(2026, 11, 20, 12, 0, tzinfo=UTC)


def typeset(markdown: str, columns: int, block: str = "") -> Sequence[Line]:
    return [(Span(line),) for line in sanitize(markdown, lines=True).split("\n")]


def test_check_lines_and_who_can_fix_them() -> None:
    found = list(checks(MergeInputs(request(), "me", (), space(merge=False), open_threads=2)))
    assert [plain(check_line(one)).rstrip() for one in found] == [
        " ✗ permission   you do not have permission to merge in this space",
        " ? rules        the service decides: the merge rules are not loaded yet",
        " ✓ reviews      nobody requested changes",
        " ⚠ comments     2 open comments",
        " ✓ main         up to date with main",
    ]
    assert plain(fix_line(found[0])) == "                can be fixed by an admin of the space"


def test_who_can_fix_a_requirement_names_the_keys_of_the_user() -> None:
    main = MergeCheck("care", "main", "main has new changes", "you: update from main")
    conflicts = MergeCheck("blocked", "conflicts", "1 conflict", "anyone who can edit these pages")
    assert plain(fix_line(main)).strip() == "can be fixed by you: update from main (u)"
    assert plain(fix_line(conflicts)).endswith("edit these pages: p o or p t takes a side")
    use_keymap(Keymap({"pull": ("U",)}))
    try:
        assert plain(fix_line(main)).endswith("update from main (U)")
    finally:
        use_keymap(Keymap())


# the header


BY_MIA = request(createdBy={"id": "mia", "displayName": "Mia Okonkwo"})
PEOPLE = reviewers(BY_MIA, asked(ME), [review(ADA, "approved"), review(JON, "changes-requested")], "me")


def test_the_state_line_shows_counts() -> None:
    line = state_line(request(outdated=True), PEOPLE, Progress(37, 37, 29), 4, 120)
    assert plain(line) == "open ✓1 ✗1 ◷1   37 changes · 29 viewed   4 open comments   ↓ main has new changes"


def test_an_approval_of_the_author_is_not_counted() -> None:
    people = reviewers(request(), (), [review(ADA, "approved"), review(JON, "approved")], "me")
    assert plain(state_line(request(), people, None, 0, 80)).startswith("open ✓1 ✓ by the author")


def test_the_least_important_parts_are_omitted() -> None:
    line = state_line(request(outdated=True), PEOPLE, Progress(37, 37, 29), 4, 50)
    assert plain(line) == "open ✓1 ✗1 ◷1   37 changes · 29 viewed"
    assert width(state_line(request(), PEOPLE, None, 4, 9)) <= 9


def test_incomplete_changes_are_reported() -> None:
    line = state_line(request(), None, Progress(1000, 1450, 0), 0, 80)
    assert plain(line) == "open   changes: 1,000 of 1,450 loaded"
    assert plain(state_line(request(), None, None, 0, 80)) == "open   changes not known yet"
    assert plain(state_line(request(status="draft"), None, Progress(0, 0, 0), 0, 80)) == "draft   no changes yet"
    merged = request(status="merged")
    assert plain(state_line(merged, None, Progress(0, 0, 0), 0, 80)) == "merged   no changes", "nor will there be any"


def test_the_by_line_shows_who_and_when() -> None:
    assert plain(by_line(request(), "me", NOW)) == "by Ada · created 2 h ago"
    merged = request(status="merged", mergedAt="2026-11-19T12:00:00Z", mergedBy=ME)
    assert plain(by_line(merged, "me", NOW)) == "merged by you 1 d ago"


def test_the_merge_line_shows_warnings() -> None:
    doubtful = merge_readiness(MergeInputs(request(), "me", (), space(), rules(), open_threads=1))
    assert plain(merge_line(doubtful)) == "Can merge? ⚠ with warnings: 1 open comment"


# the list


def test_a_page_in_the_list() -> None:
    one = ChangedItem("p", "page", "Tokens", ("edited",))
    line = item_line(one, 30, viewed=True, words=WordCount(30, 10), open_threads=2)
    assert plain(line) == "☑ Tokens           +30 −10 ┃2 "
    news = plain(item_line(one, 30, viewed=False, words=WordCount(30, 1_000_000), open_threads=2, has_new=True))
    assert news == "  Tokens    +30 −1,000,000 ◆2 "
    assert plain(item_line(one, 12, viewed=False)) == "  Tokens    "
    long = ChangedItem("p", "page", "Tokens of the API", ("edited",))
    assert plain(item_line(long, 31, viewed=False, words=WordCount(7, 0))) == "  Tokens of the API      +7    "
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
    assert shown(thread(comment(status="resolved"), pending=unsent))[0].startswith("┃ ○ resolved ◷ pending")


def test_resolved_threads_are_folded_until_opened() -> None:
    one = thread(comment(status="resolved", resolvedBy=JON, replies=1), [reply()])
    assert shown(one) == ["┃ ○ resolved Ada 3 h  Please fix"]
    assert shown(one, unfolded=True)[0] == "┃ Ada 3 h              ○ resolved by Jon · 1 reply"


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
    assert shown(gone)[0] == "┃ Ada 3 h                               ↻ outdated"
    resolved = thread(comment("> No such words\n\nHm?", target=ON_PAGE, status="resolved"))
    assert locate_thread(resolved, AFTER, None).state == "resolved"
    assert locate_thread(thread(comment("On the page", target=ON_PAGE)), AFTER, None).state == "open"


def test_a_comment_on_a_table_cell_shows_the_text_of_the_cell() -> None:
    nodes = markdown_to_nodes(AFTER)
    table = nodes["nodes"][2]
    [record], column = table["data"]["records"], table["data"]["view"]["columns"][1]
    cell = {"record": record, "definition": column}
    on_cell = locate_thread(thread(comment("Why?", target={**ON_PAGE, "tableCell": cell})), AFTER, nodes)
    assert shown(on_cell) == ["┃ Ada 3 h  Why?                       on “90 days”"]


def test_reactions_are_converted_from_code_points_to_emoji() -> None:
    one = thread(comment("x", reactions=[{"emoji": "1f44d", "count": 2}, {"emoji": "tada", "count": 1}]))
    assert shown(one)[0].endswith("👍 2 tada 1")


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
