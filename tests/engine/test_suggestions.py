"""Suggestions of threads, applied to the text of a page as one edit."""

from typing import Any

from presscheck.documents.diff.suggestion_targets import find_target
from presscheck.engine.review.suggestions import (
    ALREADY_APPLIED,
    GONE,
    apply_suggestions,
    is_applied,
    newest_suggestion,
    problem,
)
from presscheck.engine.review.threads import Message, PendingChange, Thread

TEXT = "A token lasts.\n\nA key stays.\n\nAsk before you make more.\n"
TABLE = "Before.\n\n| Kind | Lasts |\n|---|---|\n| Token | 90 days |\n| Key | forever |\n"


def thread(number: int, about: str, words: str, author: str = "Ada", **more: Any) -> Thread:
    text = f"> {about}\n\n```suggestion\n{words}\n```"
    return Thread(Message(str(number), author, "", text), about=about, **more)


def test_equal_suggestions_are_applied_once_and_missing_text_is_named() -> None:
    same = [thread(1, "A key stays", "A key goes."), thread(2, "A key stays", "A key goes.", "Jon")]
    result = apply_suggestions(TEXT, [*same, thread(3, "Nothing of this", "x"), thread(4, "A token lasts", "")])
    assert result.markdown == "\nA key goes.\n\nAsk before you make more.\n"
    assert [one.id for one in result.applied] == ["1", "2", "4"]
    assert [(one.id, why) for one, why in result.skipped] == [("3", "the text that it is about is gone")]


def test_conflicting_suggestions_are_skipped() -> None:
    threads = [
        thread(1, "Ask before", "Do not ask."),
        thread(2, "A token lasts", "A token lasts a day."),
        thread(3, "Ask before", "Ask twice.", "Jon"),
        thread(4, "Ask before", "Ask.", "Mia"),
    ]
    result = apply_suggestions(TEXT, threads)
    assert result.markdown == "A token lasts a day.\n\nA key stays.\n\nAsk before you make more.\n"
    assert [one.id for one in result.applied] == ["2"]
    why = "conflict: {} suggested another text for the same block"
    assert [(one.id, text) for one, text in result.skipped] == [
        ("1", why.format("Jon and Mia")),
        ("3", why.format("Ada and Mia")),
        ("4", why.format("Ada and Jon")),
    ]


def test_suggestion_that_is_already_applied_is_skipped() -> None:
    threads = [thread(1, "A key stays", "A key stays."), thread(2, "A token lasts", "A token ends.")]
    result = apply_suggestions(TEXT, threads)
    assert result.skipped == ((threads[0], ALREADY_APPLIED),)
    assert result.applied == (threads[1],)
    assert result.markdown.startswith("A token ends.\n\nA key stays.\n")


def test_cells_are_replaced_and_their_table_is_not() -> None:
    days, keys = thread(1, "Token › 90 days", "30 days"), thread(2, "Key › forever", "a year")
    result = apply_suggestions(TABLE, [keys, days])
    assert result.markdown == TABLE.replace("90 days", "30 days").replace("forever", "a year")
    assert result.applied == (keys, days), "in the order of the threads"
    assert apply_suggestions(TABLE, [thread(1, "Token › 90 days", "90 days")]).skipped[0][1] == ALREADY_APPLIED
    [(_, why)] = apply_suggestions(TABLE, [thread(1, "Token › 90 days", "# A title\n\nand more")]).skipped
    assert why not in (GONE, ALREADY_APPLIED)
    target = find_target("Token › 90 days", TABLE)
    assert target
    assert is_applied(target, " 90 days\n")
    assert not is_applied(target, "30 days")
    assert problem(None, "x") == GONE
    assert problem(target, "30 days") is None


def test_a_table_and_its_cell_cannot_both_be_replaced() -> None:
    threads = [thread(1, "| Token | 90 days |", "No table."), thread(2, "Token › 90 days", "30 days", "Jon")]
    result = apply_suggestions(TABLE, threads)
    assert (result.markdown, result.applied) == (TABLE, ())
    assert [why for _, why in result.skipped] == [
        "conflict: Jon suggested another text for the same block",
        "conflict: Ada suggested another text for the same cell or its table",
    ]


def test_the_newest_sent_suggestion_counts() -> None:
    def says(number: int, words: str, **more: Any) -> Message:
        return Message(str(number), "Ada", "", f"```suggestion\n{words}\n```" if words else "No words", **more)

    pending = PendingChange(7, "waiting")
    first = Thread(says(1, "one"), (says(2, "two"), says(3, ""), says(4, "unsent", pending=pending)))
    suggestion = newest_suggestion(first)
    assert suggestion
    assert suggestion.words == "two"
    assert newest_suggestion(Thread(says(1, ""))) is None
    assert apply_suggestions(TEXT, [Thread(says(1, ""), about="A key stays")]).skipped[0][1] == GONE
