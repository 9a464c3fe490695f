"""Published states of sites that are stored on this machine."""

from dataclasses import replace

import pytest

from presscheck.documents.sites.content import PublishedState
from presscheck.engine.publish.published_state import KEY, PublishedStates
from presscheck.errors import StoreError
from presscheck.store.outbox import Outbox

SEEN = PublishedState(at=2.0, is_own=False, visibility="public")
PUBLISHED = replace(SEEN, at=1.0, is_own=True)


def test_a_check_that_ends_after_a_publish_does_not_replace_its_state(outbox: Outbox) -> None:
    states = PublishedStates(outbox)
    states.note("site", PUBLISHED)
    states.note_if_new("site", SEEN)
    assert states.of("site") == PUBLISHED


@pytest.mark.parametrize("stored", [None, "", "{}", '{"of": "a newer version"}', "no JSON"])
def test_first_state_is_noted(outbox: Outbox, stored: str | None) -> None:
    outbox.remember(f"{KEY}site", stored)
    states = PublishedStates(outbox)
    assert states.of("site") is None
    states.note_if_new("site", SEEN)
    assert states.of("site") == SEEN
    states.note_if_new("site", replace(SEEN, at=3.0))
    assert states.of("site") == SEEN, "the time since which differences are shown does not move"


def test_full_disk_does_not_fail_a_check_that_notes_a_state(outbox: Outbox) -> None:
    outbox._db.execute("PRAGMA query_only = 1")
    PublishedStates(outbox).note_if_new("site", SEEN)
    with pytest.raises(StoreError):
        PublishedStates(outbox).note("site", PUBLISHED)
