"""`DraftSlot`: when a typed text counts as a draft, and drafts shared by two instances."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from presscheck.errors import StoreError
from presscheck.store.drafts import DraftSlot
from presscheck.store.outbox import Outbox


@pytest.fixture
def outbox(tmp_path: Path) -> Iterator[Outbox]:
    outbox = Outbox(tmp_path / "outbox")
    yield outbox
    outbox.close()


def test_unchanged_initial_text_is_not_stored(outbox: Outbox) -> None:
    draft = DraftSlot(outbox, "title", "Tokens")
    assert draft.text == "Tokens"
    draft.save("Tokens and keys")
    assert DraftSlot(outbox, "title", "Tokens").text == "Tokens and keys"
    draft.save("Tokens")
    assert not outbox.drafts()


def test_discard_keeps_a_text_that_another_instance_stored(outbox: Outbox) -> None:
    first, second = DraftSlot(outbox, "reply"), DraftSlot(outbox, "reply")
    first.save("mine")
    second.save("theirs")
    first.discard()
    assert outbox.draft("reply") == "theirs"
    second.discard()
    assert not outbox.drafts()


def test_companion_text_is_stored_and_deleted_with_the_draft(outbox: Outbox) -> None:
    draft = DraftSlot(outbox, "schema", "{}", beside={"schema base": "{}"})
    draft.save("{ }")
    assert outbox.draft("schema base") == "{}"
    draft.discard()
    assert not outbox.drafts()


def test_draft_details_can_depend_on_the_text(outbox: Outbox) -> None:
    draft = DraftSlot(outbox, "reply", about=lambda text: {"size": str(len(text))})
    draft.save("four")
    assert draft.about == {"size": "4"}
    assert [stored.about for stored in outbox.drafts()] == [{"size": "4"}]


def test_a_draft_and_the_text_beside_it_are_stored_together_or_not_at_all(outbox: Outbox) -> None:
    """A merge of a text with another base than its own would revert the edits of others."""
    DraftSlot(outbox, "page", beside={"base": "before"}).save("mine")
    outbox._db.execute(
        "CREATE TRIGGER full BEFORE INSERT ON drafts WHEN new.key = 'page' BEGIN SELECT RAISE(ABORT, 'full'); END"
    )
    with pytest.raises(StoreError, match="Could not save your text: full"):
        DraftSlot(outbox, "page", beside={"base": "before, and their edit"}).save("mine, and their edit")
    assert (outbox.draft("base"), outbox.draft("page")) == ("before", "mine")
