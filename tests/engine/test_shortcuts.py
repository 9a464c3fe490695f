"""Bookmarks and recent places of a profile, also while another instance changes them."""

import pytest

from presscheck.engine.shortcuts import (
    BOOKMARKS,
    MOST_RECENT,
    RECENT,
    Shortcut,
    Shortcuts,
    change_text,
)
from presscheck.store.outbox import Outbox


def to(name: str, organization: str = "o") -> Shortcut:
    return Shortcut(f"space {name}", name.title(), "Guides", organization)


def names(shortcuts: tuple[Shortcut, ...]) -> list[str]:
    return [shortcut.ids[-1] for shortcut in shortcuts]


def test_a_target_has_a_kind_and_ids() -> None:
    page = Shortcut("page s p", "Tokens")
    assert (page.kind, page.ids, page.where, page.organization) == ("page", ("s", "p"), "", "")


def test_bookmarks_stay_in_the_order_in_which_they_were_added(outbox: Outbox) -> None:
    shortcuts = Shortcuts(outbox)
    assert not shortcuts.is_bookmarked("space a")
    assert [shortcuts.toggle_bookmark(to(name)) for name in "abc"] == ["added"] * 3
    shortcuts.toggle_bookmark(to("x", "other"))
    assert shortcuts.is_bookmarked("space a")
    assert Shortcuts(outbox).is_bookmarked("space x")
    assert shortcuts.bookmarks("o") == (to("a"), to("b"), to("c"))
    assert shortcuts.toggle_bookmark(Shortcut("space b", "Another title", "", "o")) == "removed"
    assert (names(shortcuts.bookmarks("o")), shortcuts.is_bookmarked("space b")) == (["a", "c"], False)
    Shortcuts(outbox).toggle_bookmark(to("d"))
    assert names(shortcuts.bookmarks("o")) == ["a", "c", "d"], "another instance added it"
    assert shortcuts.is_bookmarked("space d")


def test_number_of_bookmarks_is_limited(outbox: Outbox, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("presscheck.engine.shortcuts.MOST_BOOKMARKS", 3)
    shortcuts = Shortcuts(outbox)
    changes = [shortcuts.toggle_bookmark(to(f"{number}")) for number in range(4)]
    assert changes == [*["added"] * 3, "full"]
    assert shortcuts.toggle_bookmark(to("0")) == "removed"
    assert shortcuts.toggle_bookmark(to("new")) == "added"


def test_bookmarks_move_within_their_organization(outbox: Outbox) -> None:
    shortcuts = Shortcuts(outbox)
    for name, organization in (("a", "o"), ("x", "other"), ("b", "o"), ("c", "o")):
        shortcuts.toggle_bookmark(to(name, organization))
    shortcuts.move_bookmark(to("c"), -1)
    assert names(shortcuts.bookmarks("o")) == ["a", "c", "b"]
    shortcuts.move_bookmark(to("a"), 1)
    assert names(shortcuts.bookmarks("o")) == ["c", "a", "b"]
    for name, by in (("c", -1), ("b", 1), ("gone", 1)):
        shortcuts.move_bookmark(to(name), by)
    assert names(shortcuts.bookmarks("o")) == ["c", "a", "b"], "there is no place beyond the ends"
    assert names(shortcuts.bookmarks("other")) == ["x"]


def test_recent_places_are_unique_and_newest_first(outbox: Outbox) -> None:
    shortcuts = Shortcuts(outbox)
    for name in ("a", "b", "a"):
        shortcuts.opened(to(name))
    assert names(shortcuts.recent("o")) == ["a", "b"]
    renamed = Shortcut("space a", "New title", "", "o")
    shortcuts.opened(renamed)
    assert shortcuts.recent("o") == (renamed, to("b"))
    for number in range(MOST_RECENT):
        shortcuts.opened(to(f"{number}"))
    assert names(shortcuts.recent("o")) == [f"{number}" for number in reversed(range(MOST_RECENT))]
    assert shortcuts.recent("other") == ()


def test_a_target_is_removed_from_one_list_or_forgotten(outbox: Outbox) -> None:
    shortcuts = Shortcuts(outbox)
    for name in "ab":
        shortcuts.toggle_bookmark(to(name))
        shortcuts.opened(to(name))
    shortcuts.remove("space a", is_bookmark=True)
    assert (names(shortcuts.bookmarks("o")), names(shortcuts.recent("o"))) == (["b"], ["b", "a"])
    shortcuts.remove("space b", is_bookmark=False)
    assert (names(shortcuts.bookmarks("o")), names(shortcuts.recent("o"))) == (["b"], ["a"])
    shortcuts.forget("space b")
    shortcuts.forget("space a")
    assert (outbox.recall(BOOKMARKS), outbox.recall(RECENT)) == (None, None)


def test_unreadable_entries_are_left_out(outbox: Outbox) -> None:
    shortcuts = Shortcuts(outbox)
    for stored in ("[", '{"target": "space a"}', '[1, {"target": "nothing"}, {}, null]'):
        outbox.remember(RECENT, stored)
        assert shortcuts.recent("") == ()
    outbox.remember(RECENT, '[3, {"target": "space a", "title": 7}]')
    assert shortcuts.recent("") == (Shortcut("space a", "7"),)


def test_message_after_a_change_of_bookmarks() -> None:
    assert change_text(to("a"), "added") == "bookmarked A: see the top of the organization (g o)"
    assert change_text(Shortcut("space a", ""), "removed") == "removed the bookmark of (no title)"
    assert change_text(to("a"), "full") == "there are 100 bookmarks: remove one first"
    assert "\x1b" not in change_text(Shortcut("space a", "\x1b[31m"), "added")
