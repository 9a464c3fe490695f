"""Threads of a change request: comments, replies, unsent writes, and new messages."""

from typing import Any

import pytest
from tests.engine.review_engine import IDS, ReviewEngine, comment, reply, request, set_comments

from presscheck.api.change_requests import Review
from presscheck.api.comments import (
    Comment,
    DeleteReply,
    Document,
    ListComments,
    PostComment,
    PostReply,
    PostSpaceComment,
    UpdateComment,
    UpdateSpaceComment,
)
from presscheck.api.operation import Operation, Page
from presscheck.api.users import User
from presscheck.documents.nodes.from_markdown import markdown_to_nodes
from presscheck.engine.inbox.views import row_details
from presscheck.engine.review import threads as review_threads
from presscheck.engine.review.model import ReviewModel
from presscheck.engine.review.pending_review import PendingReview
from presscheck.engine.review.threads import (
    LIVE,
    MAX_PAGES,
    Discussion,
    PendingChange,
    Thread,
    build_thread,
    locate_thread,
    markdown_of_body,
    pending_changes,
    sort_threads,
)
from presscheck.engine.shared_calls import live_replies, replies_to
from presscheck.engine.writes.pending_writes import OutboxEntry
from presscheck.store.outbox import Outbox

LIST = ListComments(**IDS)
EDIT = UpdateComment(**IDS, comment_id="1", body=Document(markdown="x"))


@pytest.fixture
def engine(outbox: Outbox) -> ReviewEngine:
    return ReviewEngine(outbox)


@pytest.fixture
def discussion(engine: ReviewEngine) -> Discussion:
    return Discussion(engine, "s", "c")


def row(number: int, call: Operation[Any] | None, state: str = "waiting", error: str | None = None) -> OutboxEntry:
    return OutboxEntry(number, call, "", state, error, 0.0)


def test_threads_are_computed_once_for_each_change(engine: ReviewEngine, monkeypatch: pytest.MonkeyPatch) -> None:
    built: list[str] = []
    build = review_threads.build_thread

    def counted(comment: Comment, *rest: Any) -> Thread:
        built.append(comment.id)
        return build(comment, *rest)

    monkeypatch.setattr(review_threads, "build_thread", counted)
    discussion = Discussion(engine, "s", "c")
    discussion.set_comments(None, (comment("1", "One"), comment("2", "Two")))
    for _ in range(10):
        assert [thread.id for thread in discussion.threads()] == ["1", "2"]
    assert len(built) == 2
    discussion.set_replies("1", (reply("3"),))
    assert [len(thread.replies) for thread in (*discussion.threads(), *discussion.threads())] == [1, 0, 1, 0]
    assert len(built) == 4
    engine.rows = (OutboxEntry(7, UpdateComment(**IDS, comment_id="2", resolved=True), "", "waiting", None, 0),)
    assert [bool(thread.pending_status) for thread in discussion.threads()] == [False, True]
    assert len(built) == 6


def test_a_pending_reply_is_shown_before_the_replies_are_loaded(engine: ReviewEngine) -> None:
    discussion = Discussion(engine, "s", "c")
    discussion.set_comments(None, (comment("1", "One"),))
    call = PostReply(**IDS, comment_id="1", body=Document(markdown="And two"), format="markdown")
    engine.rows = (OutboxEntry(7, call, "", "waiting", None, 0),)
    [message] = discussion.threads()[0].replies
    assert (message.author, message.text, message.pending and message.pending.row) == ("you", "And two", 7)


def test_only_writes_to_this_change_request_are_pending(engine: ReviewEngine) -> None:
    discussion = Discussion(engine, "s", "5")
    calls = [PostComment(**{**IDS, "change_request_id": name}, body=Document(markdown="x")) for name in "cd"]
    engine.rows = tuple(OutboxEntry(row, call, "", "collected", None, 0) for row, call in enumerate(calls))
    assert discussion.pending() == (), "its id is not known yet"
    discussion.set_request("c")
    assert [row.id for row in discussion.pending()] == [0]
    assert [row.id for row in PendingReview(engine, "c").entries()] == [0]


def test_comments_that_are_not_sent_are_not_open(engine: ReviewEngine) -> None:
    discussion = Discussion(engine, "s", "c")
    discussion.set_comments(
        None, (comment("1", "One"), comment("waiting:7", "Two"), comment("3", "x", status="resolved"))
    )
    assert discussion.open_comments() == 1


@pytest.mark.parametrize(("counted", "shown"), [(1, 1), (2, 1), (5, None)], ids=["threads", "both", "newer"])
def test_texts_of_reviews_that_a_service_counts_are_not_open_in_the_inbox(
    engine: ReviewEngine, counted: int, shown: int | None
) -> None:
    review = comment("1", "Good")
    review = review.model_copy(update={"target": review.target.model_copy(update={"review": "r"})})
    engine.comments = (review, comment("2", "Why?"), comment("3", "Done", status="resolved"))
    assert row_details(engine, request(comments=counted), "ida").open_comments == shown  # type: ignore[arg-type]
    model = ReviewModel(engine, "s", "5")
    model.set_request(request())
    set_comments(model, *engine.comments)
    assert model.open_threads() == 1, "the header says the same"


def test_messages_of_the_user_are_recognized_once_the_user_is_known(engine: ReviewEngine) -> None:
    engine.me = User(id="me", display_name="you")
    discussion = Discussion(engine, "s", "c")
    discussion.set_comments(None, (comment("1", "One"),))
    assert discussion.threads()[0].first.author == "Ada"
    engine.me = User(id="ada", display_name="Ada Lund")
    assert discussion.threads()[0].first.author == "you"


def test_messages_of_others_after_the_opening_are_new(engine: ReviewEngine, discussion: Discussion) -> None:
    def by(who: str, identity: str, at: str, **more: Any) -> Comment:
        return comment(identity, "x").model_copy(update={"posted_by": User(id=who), "posted_at": at, **more})

    assert not discussion.has_begun
    assert not discussion.is_known
    first = by("ada", "1", "2026-01-02")
    discussion.set_comments(None, (first,))
    discussion.begin_news("2026-01-01")  # the latest activity is newer than the given time
    assert (discussion.has_begun, discussion.is_known, discussion.new_threads()) == (True, True, 0)
    theirs, mine = by("jon", "2", "2026-01-03"), by("ida", "3", "2026-01-03")
    discussion.set_comments("p2", (theirs, mine))
    assert [thread.has_new for thread in discussion.threads()] == [False, True, False]
    assert (discussion.mark_read("2"), discussion.mark_read("2"), discussion.mark_read("3")) == (True, False, False)
    assert not discussion.mark_read("unknown")
    assert discussion.new_threads() == 0
    replier = {"user": {"id": "jon"}, "updatedAt": "2026-01-04"}
    answered = Comment.model_validate({**first.model_dump(by_alias=True), "replies": 1, "repliers": [replier]})
    discussion.set_comments(None, (answered,))
    assert discussion.new_threads() == 1, "its reply is not loaded yet"
    assert discussion.mark_read("1")
    assert discussion.new_threads() == 0
    discussion.begin_news("2026-01-09")
    discussion.set_comments("p2", (by("jon", "2", "2026-01-08"),))
    assert discussion.new_threads() == 0
    looked = discussion.latest_activity()
    assert looked == "2026-01-09", "not earlier than the opening, although the newest message is older"
    discussion.set_comments("p2", (by("jon", "2", "2026-01-10"), by("jon", "4", "2026-01-08")))
    discussion.begin_news("2026-01-11", looked)
    assert [thread.id for thread in discussion.threads() if thread.has_new] == ["2"]


def test_muted_threads_have_nothing_new(engine: ReviewEngine) -> None:
    states = {"": "followed", "1": "muted", "2": "followed"}
    discussion = Discussion(engine, "s", "c", lambda request, thread: states[thread] if request == "c" else "")
    discussion.begin_news("2026-01-01")
    discussion.set_comments(None, (comment("1", "One"), comment("2", "Two")))
    assert [(thread.has_new, thread.notifications) for thread in discussion.threads()] == [(False, "muted"), (True, "")]
    states["1"] = "followed"
    assert discussion.new_threads() == 1, "threads are built once for each change"
    discussion.notifications_changed()
    assert [(thread.has_new, thread.notifications) for thread in discussion.threads()] == [(True, ""), (True, "")]


def test_pages_of_comments_are_read_once_and_again_together(discussion: Discussion) -> None:
    answer = Page.model_validate({"items": [], "next": {"page": "p2"}})
    second = discussion.next_comments(LIST, answer)
    assert second == LIST.model_copy(update={"page": "p2"})
    assert discussion.next_comments(LIST, Page(items=())) is None
    assert discussion.next_comments(LIST, None) is None
    discussion.set_comments(None, ())
    discussion.set_comments("p2", ())
    assert discussion.next_comments(LIST, answer) is None, "the service repeats it"
    assert [*discussion.pages_of(LIST)] == [LIST, second]
    assert second
    assert [*discussion.pages_of(second)] == [second]
    for number in range(MAX_PAGES):
        discussion.set_comments(f"more {number}", ())
    assert discussion.next_comments(LIST, Page.model_validate({"items": [], "next": {"page": "new"}})) is None


def test_replies_are_read_again_when_their_number_differs(discussion: Discussion) -> None:
    counted = [comment(identity, "x").model_copy(update={"replies": 2}) for identity in ("1", "2", "3")]
    discussion.set_comments(None, counted)
    discussion.set_replies("1", (reply("a"), reply("b")))
    discussion.set_replies("2", (reply("a"), reply("waiting:7")))
    discussion.set_replies("of another page", (reply("a"),))
    assert discussion.outdated_replies() == ["2"], "one that is not sent is not counted by the service"


def test_the_live_content_has_a_discussion_too(engine: ReviewEngine) -> None:
    discussion = Discussion(engine, "s", LIVE)
    assert discussion.list_replies("1") == live_replies("s", "1")
    assert Discussion(engine, "s", "c").list_replies("1") == replies_to("s", "c", "1")
    here = PostSpaceComment(space_id="s", body=Document(markdown="x"))
    elsewhere = PostSpaceComment(space_id="other", body=Document(markdown="x"))
    engine.rows = (row(1, here), row(2, elsewhere), row(3, EDIT), row(4, None))
    assert [entry.id for entry in discussion.pending()] == [1]
    assert Discussion(engine, "s", "c").unsent_messages() == frozenset()
    engine.rows = (row(5, PostComment(**IDS, body=Document(markdown="x"))), row(6, EDIT))
    assert Discussion(engine, "s", "c").unsent_messages() == {"waiting:5"}


def test_unsent_writes_change_their_threads(engine: ReviewEngine, discussion: Discussion) -> None:
    discussion.set_comments(None, (comment("1", "One").model_copy(update={"replies": 2}), comment("2", "Two")))
    delete = DeleteReply(**IDS, comment_id="1", comment_reply_id="a")
    assert discussion.threads()[0].reply_count == 2
    engine.rows = (row(1, delete),)
    assert [thread.reply_count for thread in discussion.threads()] == [1, 0]
    engine.rows = (row(1, delete), row(2, delete), row(3, delete))
    assert discussion.threads()[0].reply_count == 0
    changes = pending_changes(
        [
            row(4, EDIT, "parked", "No"),
            row(5, UpdateSpaceComment(space_id="s", comment_id="9", resolved=True), "sending"),
            row(6, PostReply(**IDS, comment_id="1", body=Document(markdown="x")), "collected"),
            row(7, delete),
        ]
    )
    assert changes == {
        "1": PendingChange(4, "refused", "No"),
        "9": PendingChange(5, "sending"),
        "waiting:6": PendingChange(6, "collected"),
    }


def test_thread_has_the_details_from_the_service() -> None:
    first = Comment.model_validate(
        {
            **comment("1", "> A key\n\nWhich?", page="tokens").model_dump(by_alias=True),
            "editedAt": "2026-11-20",
            "replies": 5,
            "resolvedBy": {"id": "ida", "displayName": "Ida Ray"},
            "reactions": [
                {"emoji": "1f44d", "count": 2, "users": [{"user": {"id": "ida"}}]},
                {"emoji": "1f468-200d-1f4bb", "count": 1},
                {"emoji": "\x1b[31m", "count": 1},
                {"emoji": "abc-1f44d", "count": 1},
            ],
            "permissions": {"edit": True, "delete": False, "reply": False},
        }
    )
    late, early = (
        reply(name).model_copy(update={"posted_at": at}) for name, at in (("l", "2026-11-22"), ("e", "2026-11-21"))
    )
    thread = build_thread(first, (late, early), {}, "ida")
    assert [message.id for message in thread.messages] == ["1", "e", "l"]
    assert (thread.reply_count, thread.page, thread.about, thread.resolved_by) == (5, "tokens", "A key", "you")
    assert (thread.first.edited, thread.replies[0].edited, thread.first.author) == (True, False, "Ada")
    emoji = [text for text, _ in thread.first.reactions]
    assert (emoji[0], emoji[3]) == ("👍", "abc-1f44d")
    assert "\x1b" not in emoji[2]
    assert thread.first.own_reactions == {"1f44d"}
    assert (thread.may_resolve, thread.first.may_delete, thread.may_answer, thread.has_new) == (
        True,
        False,
        False,
        False,
    )
    assert markdown_of_body(Document()) == ""
    assert markdown_of_body(Document(document=markdown_to_nodes("Some *words*"))).strip() == "Some words"


def test_texts_of_reviews_have_their_status_and_are_not_open(engine: ReviewEngine, discussion: Discussion) -> None:
    text = comment("1", "Good")
    text = text.model_copy(update={"target": text.target.model_copy(update={"review": "r"})})
    on_page = comment("2", "Here", page="tokens")
    on_page = on_page.model_copy(update={"target": on_page.target.model_copy(update={"review": "r"})})
    resolved = comment("3", "Done", status="resolved")
    discussion.set_comments(None, (text, on_page, resolved))
    discussion.set_reviews((Review(id="r", reviewer=User(id="ada"), status="approved"),))
    threads = discussion.threads()
    assert [thread.state for thread in threads] == ["review", "open", "resolved"]
    assert [thread.verdict for thread in threads] == ["approved", "approved", ""]
    assert [thread.is_open for thread in threads] == [False, True, False]
    assert discussion.open_comments() == 1
    assert discussion.thread("2") == threads[1]
    assert discussion.thread("4") is None
    assert {user.id for user in discussion.people() if user} == {"ada"}


AFTER = "# Tokens\n\nA token belongs to you.\n\n| Kind | Lasts |\n|---|---|\n| Tokens | 90 days |\n"


def test_a_comment_on_a_block_or_a_cell_is_placed_by_its_ids() -> None:
    def on(**target: Any) -> Thread:
        first = comment("1", "Who?", page="p")
        fields = {**first.model_dump(by_alias=True), "target": {"page": {"id": "p"}, **target}}
        return build_thread(Comment.model_validate(fields), (), {}, "me")

    nodes = markdown_to_nodes(AFTER)
    paragraph, table = nodes["nodes"][1:3]
    on_block = on(node={"id": paragraph["key"]})
    assert on_block.needs_nodes
    assert locate_thread(on_block, AFTER, None) == on_block, "its nodes are not known yet"
    located = locate_thread(on_block, AFTER, nodes)
    assert (located.line, located.about, located.about_cell) == (2, "A token belongs to you.", "")
    [record], column = table["data"]["records"], table["data"]["view"]["columns"][1]
    on_cell = locate_thread(on(tableCell={"record": record, "definition": column}), AFTER, nodes)
    assert (on_cell.line, on_cell.about_cell, on_cell.needs_nodes) == (6, "90 days", False)
    moved_away = locate_thread(on_block, "Other words.\n", markdown_to_nodes("Other words.\n"))
    assert (moved_away.line, moved_away.state) == (None, "outdated")
    assert locate_thread(on(), AFTER, None) == on(), "one on the whole page has no line"


def test_a_suggestion_has_the_text_that_it_replaces() -> None:
    fence = "```"
    words = f"> A token belongs\n\n{fence}suggestion\nA key belongs to you.\n{fence}"
    thread = locate_thread(build_thread(comment("1", words, page="p"), (), {}, "me"), AFTER, None)
    assert (thread.line, thread.suggested_for) == (2, "A token belongs to you.")
    plain = locate_thread(build_thread(comment("1", "> A token belongs\n\nWhy?", page="p"), (), {}, "me"), AFTER, None)
    assert (plain.line, plain.suggested_for) == (2, None)


def test_pending_comments_come_last() -> None:
    def at(moment: str, identity: str = "t", pending: dict[str, PendingChange] | None = None) -> Thread:
        first = comment(identity, "x").model_copy(update={"posted_at": moment})
        return build_thread(first, (), pending or {}, "me")

    old, new = at("2"), at("1")
    late = at("0", "waiting:7", {"waiting:7": PendingChange(7, "waiting")})
    assert sort_threads([late, old, new]) == [new, old, late]
    assert not late.is_open
