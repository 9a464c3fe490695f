"""Parts of a review without the app: thread filter, merge forecast, drafts, disabled actions, positions of lines."""

from collections.abc import Awaitable, Callable, Mapping
from typing import Any

import pytest
from tests.engine.review_engine import IDS, ReviewEngine, comment, request, set_comments

from presscheck.api.change_requests import SubmitReview
from presscheck.api.comments import Document, PostComment, PostReply, UpdateComment
from presscheck.api.content_changes import SemanticChanges
from presscheck.api.spaces import Space
from presscheck.documents.diff.page_diff import compare
from presscheck.engine.review.changes import ChangedItem
from presscheck.engine.review.model import ReviewModel, ThreadFilter
from presscheck.engine.review.timeline import Event
from presscheck.engine.writes.pending_writes import OutboxEntry
from presscheck.errors import PresscheckError
from presscheck.store.outbox import Outbox
from presscheck.text.styled_text import plain
from presscheck.tui.comments.commands import ThreadCommands
from presscheck.tui.screens.review.comment_actions import CommentActions
from presscheck.tui.screens.review.drafts import ReviewDrafts
from presscheck.tui.screens.review.history import HistoryActions
from presscheck.tui.screens.review.merge_actions import MergeForecast
from presscheck.tui.screens.review.renderer import PageText, RenderedChange
from presscheck.tui.screens.review.session import ReviewSession

TOKENS = ChangedItem("tokens", "page", "Tokens", ("edited",))
FILE = ChangedItem("logo", "file", "logo.svg", ("added",))


class Screen:
    """Stand-in for the screen of a review. It collects the work that the review starts, for the test to await."""

    def __init__(self, engine: ReviewEngine) -> None:
        self.engine: Any = engine
        self.app_context: Any = None
        self.is_leaving = False
        self.work: list[Awaitable[Any]] = []

    def redraw(self) -> None:
        pass

    def notify(self, message: str) -> None:
        raise AssertionError(message)

    def run(self, work: Awaitable[Any] | Callable[[], Awaitable[Any]], **_: Any) -> None:
        self.work.append(work() if callable(work) else work)

    async def ask(self, question: Any) -> Any:
        raise AssertionError(question)


class Texts:
    """Stand-in for the page texts of a review, all loaded."""

    def __init__(self, **pages: PageText) -> None:
        self.pages = pages

    def loaded(self, item: ChangedItem) -> PageText:
        return self.pages.get(item.id, PageText())

    def document(self, item: ChangedItem) -> Mapping[str, Any] | None:
        return None


@pytest.fixture
def engine(outbox: Outbox) -> ReviewEngine:
    return ReviewEngine(outbox)


def review_on(engine: ReviewEngine) -> ReviewSession:
    """Create a review that has loaded nothing yet."""
    screen: Any = Screen(engine)
    return ReviewSession(screen, "s", "5", lambda: None)


@pytest.fixture
def session(engine: ReviewEngine) -> ReviewSession:
    session = review_on(engine)
    session.model.set_request(request())
    session.model.items = (TOKENS, FILE)
    return session


@pytest.fixture
def model(session: ReviewSession) -> ReviewModel:
    return session.model


def work(session: ReviewSession) -> list[Awaitable[Any]]:
    """Return the work that the review has started."""
    screen: Any = session.screen
    return screen.work


async def finish(session: ReviewSession) -> None:
    """Wait for the work that the review has started."""
    while work(session):
        await work(session).pop(0)


class TestThreadFilter:
    def filter(self, model: ReviewModel, engine: ReviewEngine) -> ThreadFilter:
        after = "A token\n\nA key\n"
        set_comments(
            model,
            comment("1", "> A key\n\nWhich?", page="tokens"),
            comment("2", "> Gone\n\nHm", page="tokens"),
            comment("3", "On a page that does not change", page="errors"),
            comment("4", "On all", status="resolved"),
        )
        texts = Texts(tokens=PageText(compare("A token\n", after), after))
        return ThreadFilter(model, texts, engine.outbox)

    def test_threads_by_item_with_their_lines(self, model: ReviewModel, engine: ReviewEngine) -> None:
        threads = self.filter(model, engine)
        found = [(thread.id, thread.line, thread.state) for thread in threads.threads_on(TOKENS)]
        assert found == [("1", 2, "open"), ("2", None, "outdated")]
        assert [thread.id for thread in threads.threads_on(None)] == ["3", "4"]
        assert threads.threads_on(FILE) == []
        assert (threads.open_count(None), threads.open_count(TOKENS), threads.open_count(FILE)) == (1, 2, 0)
        assert threads.rows_with_threads() == [0, 1]

    def test_lines_are_found_once_for_each_change(self, model: ReviewModel, engine: ReviewEngine) -> None:
        threads = self.filter(model, engine)
        first = threads.threads_on(TOKENS)
        assert threads.threads_on(TOKENS) is first
        set_comments(model, comment("1", "> A token\n\nWhich?", page="tokens"))
        assert [thread.line for thread in threads.threads_on(TOKENS)] == [0]

    def test_hidden_states_are_remembered(self, model: ReviewModel, engine: ReviewEngine) -> None:
        threads = self.filter(model, engine)
        threads.set_visible("resolved", visible=False)
        threads.set_visible("outdated", visible=False)
        assert [thread.id for thread in (*threads.visible_on(None), *threads.visible_on(TOKENS))] == ["3", "1"]
        other = self.filter(model, engine)
        assert other.visible == {"open", "review"}
        threads.set_visible("outdated", visible=True)
        assert other.visible == {"open", "review"}
        other.reload()
        assert other.visible == {"open", "outdated", "review"}


class TestMergeForecast:
    def text(self, forecast: MergeForecast) -> list[str]:
        return [plain(line) for line in forecast.lines()]

    async def test_an_up_to_date_request_is_checked_only_before_a_merge(
        self, session: ReviewSession, engine: ReviewEngine
    ) -> None:
        session.model.space = Space.model_validate({"id": "s", "title": "API", "revision": "m1"})
        forecast = MergeForecast(session)
        assert forecast.is_ready(reads_all=False)
        assert not forecast.is_ready(reads_all=True)
        engine.answers = [SemanticChanges.model_validate({"changes": []})]
        forecast.require(reads_all=True)
        assert self.text(forecast) == ["Checking for conflicts …"]
        await finish(session)
        assert forecast.is_ready(reads_all=True)
        assert self.text(forecast) == []

    async def test_main_is_read_if_a_dialog_waits_and_an_error_ends_the_wait(
        self, session: ReviewSession, engine: ReviewEngine
    ) -> None:
        session.model.set_request(request(outdated=True))
        forecast = MergeForecast(session)
        forecast.update()
        assert not work(session), "main is not known"
        assert not forecast.is_ready(reads_all=False)
        assert self.text(forecast) == ["Checking for conflicts …"]
        engine.answers = [PresscheckError("No such space")]
        called: list[bool] = []
        with forecast.listening(lambda: called.append(forecast.is_ready(reads_all=False))):
            forecast.require(reads_all=False)
            await finish(session)
        assert called == [True]
        assert self.text(forecast) == ["Could not check for conflicts: No such space"]

    async def test_it_is_computed_once_and_again_after_an_error(
        self, session: ReviewSession, engine: ReviewEngine
    ) -> None:
        session.model.space = Space.model_validate({"id": "s", "title": "API", "revision": "m1"})
        session.model.set_request(request(outdated=True, revisionInitial="r1"))
        forecast = MergeForecast(session)
        forecast.update()
        forecast.update()
        assert len(work(session)) == 1
        engine.answers = [PresscheckError("offline")]
        await finish(session)
        assert forecast.is_ready(reads_all=False)
        forecast.update()
        assert len(work(session)) == 1, "again after an error"
        assert not forecast.is_ready(reads_all=False)
        engine.answers = [PresscheckError("offline")]
        await finish(session)

    async def test_a_merged_request_is_not_checked(self, session: ReviewSession, engine: ReviewEngine) -> None:
        session.model.space = Space.model_validate({"id": "s", "title": "API", "revision": "m1"})
        session.model.set_request(request(status="merged", outdated=True))
        MergeForecast(session).update()
        assert not work(session)


class TestDrafts:
    def test_each_write_has_the_name_of_its_draft(self, session: ReviewSession, engine: ReviewEngine) -> None:
        drafts, body = session.drafts, Document(markdown="x")
        calls = {
            "reply 1": PostReply(**IDS, comment_id="1", body=body, format="markdown"),
            "message 1": UpdateComment(**IDS, comment_id="1", body=body),
            "verdict approved": SubmitReview(**IDS, status="approved"),
            "page tokens": PostComment(**IDS, page="tokens", body=body),
            "whole": PostComment(**IDS, body=body),
        }
        assert {name: drafts.name_of_call(call) for name, call in calls.items()} == {name: name for name in calls}

    def test_a_started_review_continues_after_a_restart(self, session: ReviewSession, engine: ReviewEngine) -> None:
        drafts = session.drafts
        assert not drafts.review.is_started
        drafts.review.start()
        assert drafts.review.is_started
        assert ReviewDrafts(session.model, session.screen).review.is_started
        drafts.review.end()
        assert not ReviewDrafts(session.model, session.screen).review.is_started
        held = PostComment(**IDS, body=Document(markdown="x"))
        engine.rows = (OutboxEntry(7, held, "", "collected", None, 0),)
        assert ReviewDrafts(session.model, session.screen).review.is_started, "a program held a comment"

    def test_disabled_writes_have_a_reason(self, engine: ReviewEngine) -> None:
        session = review_on(engine)
        drafts = session.drafts
        assert drafts.disabled_reason() == "the change request is not loaded yet"
        session.model.set_request(request())
        assert drafts.disabled_reason() is None
        engine.status.read_only = True
        assert drafts.disabled_reason() == "this profile is read-only"


def test_an_unsent_review_is_not_reported_as_missing(session: ReviewSession, engine: ReviewEngine) -> None:
    history = HistoryActions(session)
    session.model.reviews = ()
    assert history.reason_since_review() == "you have not reviewed it yet"
    engine.rows = (OutboxEntry(7, SubmitReview(**IDS, status="approved"), "", "waiting", None, 0),)
    assert history.reason_since_review() == "your review is not sent yet"


class TestCommentActions:
    def test_disabled_comment_actions_have_a_reason(self, session: ReviewSession, engine: ReviewEngine) -> None:
        comments = ThreadCommands(CommentActions(session).threads, lambda: (session.view.thread, session.view.message))
        assert comments.reason_reply() == "no thread here: t goes to the next one"
        set_comments(session.model, comment("1", "One"))
        assert comments.reason_reply() is None
        assert comments.reason_delete() == "you can only delete your own comments"
        engine.rows = (OutboxEntry(7, PostComment(**IDS, body=Document(markdown="Two")), "", "waiting", None, 0),)
        set_comments(session.model, comment("waiting:7", "Two"))
        assert comments.reason_reply() is None, "it is edited"
        assert comments.reason_react() == "that comment is not sent yet"
        sending = PostComment(**IDS, body=Document(markdown="Two"))
        engine.rows = (OutboxEntry(7, sending, "", "sending", None, 0),)
        set_comments(session.model, comment("waiting:7", "Two"))
        assert comments.reason_reply() == "that comment is not sent yet"


class TestRenderedChange:
    CHANGE = RenderedChange(thread_of={3: "t", 4: "t", 6: "u"}, anchors={1: 10, 2: 10, 5: 12})

    def test_a_line_is_restored_from_its_position(self) -> None:
        for line in range(1, 8):
            assert self.CHANGE.line_at_position(*self.CHANGE.position_of(line)) == line
        assert self.CHANGE.position_of(4) == ("t", 1)
        assert self.CHANGE.position_of(0) == (None, 0)
        assert self.CHANGE.line_at_position("t", 9) == 4, "the thread is shorter now"

    def test_a_position_on_an_event_is_restored_below_new_events(self) -> None:
        before = RenderedChange(events={2: Event("merged", "m", ""), 3: Event("edit", "r", "")}, thread_of={5: "t"})
        after = RenderedChange(events={2: Event("opened", "o", ""), 5: Event("edit", "r", "")}, thread_of={8: "t"})
        assert [after.line_at_position(*before.position_of(line)) for line in (2, 3, 4, 5)] == [None, 5, 6, 8]

    def test_lines_of_threads_and_of_the_text(self) -> None:
        assert self.CHANGE.threads == [3, 6]
        assert self.CHANGE.first_line_of_thread("u") == 6
        assert self.CHANGE.anchor_at(4) == 10
        assert [self.CHANGE.line_of(anchor) for anchor in (None, 10, 11, 13)] == [0, 1, 5, 0]
