"""The numbers of drafts and of comments that pending reviews hold, by change request."""

from pathlib import Path

from presscheck.api.change_requests import CreateChangeRequest
from presscheck.api.comments import Document, PostComment, PostSpaceComment
from presscheck.engine.inbox.held_texts import HeldTexts, held_texts, held_words
from presscheck.engine.writes.pending_writes import OutboxEntry
from presscheck.store.outbox import Outbox


def entry(number: int, request: str, state: str) -> OutboxEntry:
    call = PostComment(space_id="api", change_request_id=request, body=Document(markdown="Why?"))
    return OutboxEntry(number, call, call.stored_name(), state, None, 0.0)


def test_only_comments_of_a_pending_review_are_held() -> None:
    entries = [entry(1, "c1", "collected"), entry(2, "c1", "waiting"), entry(3, "c2", "refused")]
    assert held_texts(entries, ()) == {"c1": (1, 0)}


def test_drafts_are_counted_once_with_the_comments_of_their_change_request(tmp_path: Path) -> None:
    outbox = Outbox(tmp_path / "outbox.sqlite")
    keys = (
        "review c1 page p1",
        "review c1 page p1 0a1b2c",
        "review c1 verdict approved",
        "review c1 edit p1",
        "review c1 base p1",  # the text before the edit is not a draft
        "review c2 reply x1",
        "live api whole",
        "visitor schema base of site s1",
    )
    for key in keys:
        outbox.save_draft(key, "Text.")
    held = held_texts([entry(1, "c1", "collected")], outbox.draft_keys())
    assert held == {"c1": (1, 4), "c2": (0, 1), "": (0, 1)}
    outbox.close()


def test_held_write_outside_of_change_requests_has_an_empty_key() -> None:
    call = PostSpaceComment(space_id="api", body=Document(markdown="Why?"))
    held = held_texts([OutboxEntry(1, call, call.stored_name(), "collected", None, 0.0)], ())
    assert held == {"": (1, 0)}


def test_edits_and_new_change_requests_of_agents_are_drafts() -> None:
    edit = OutboxEntry(1, None, "", "collected", None, 0.0, has_base=True, agent="Bot")
    call = CreateChangeRequest(space_id="api", subject="New")
    created = OutboxEntry(2, call, call.stored_name(), "collected", None, 0.0, agent="Bot")
    assert held_texts([edit, created], ()) == {"": (0, 2)}


def test_the_words_count_drafts_and_reviews() -> None:
    assert held_words({}) == ""
    assert held_words({"c1": HeldTexts(3, 1), "": HeldTexts(0, 1)}) == "2 drafts and 1 pending review"
    assert held_words({"c1": HeldTexts(3, 0), "c2": HeldTexts(1, 0)}) == "2 pending reviews"
    assert held_words({"c1": HeldTexts(0, 1)}) == "1 draft"
