"""Merges of fields and orders: changes of one side are taken; if both sides changed a field, ours wins."""

from typing import Any

from hypothesis import given
from hypothesis import strategies as st
from tests.table import each_case

from presscheck.documents.merge.revisions import is_edited, merge_fields, merge_order

BASE: dict[str, Any] = {"title": "A", "icon": "star", "size": 1, "updatedAt": "2026-01-01"}


@each_case(
    ("ours", "theirs", "fields", "conflicts"),
    [
        ({}, {}, {}, []),
        ({"title": "B"}, {}, {"title": "B"}, []),
        ({}, {"title": "B"}, {"title": "B"}, []),
        ({"title": "B"}, {"title": "B"}, {"title": "B"}, []),
        ({"title": "B"}, {"title": "C"}, {"title": "B"}, ["title"]),
        ({"icon": None}, {"title": "C"}, {"icon": None, "title": "C"}, []),
        ({"hidden": True}, {"emoji": "x"}, {"hidden": True, "emoji": "x"}, []),
        ({"hidden": True}, {"hidden": False}, {"hidden": True}, ["hidden"]),
        ({"updatedAt": "2026-02-01"}, {"updatedAt": "2026-03-01"}, {"updatedAt": "2026-03-01"}, []),
        ({"updatedAt": "2026-04-01"}, {"updatedAt": "2026-03-01"}, {"updatedAt": "2026-04-01"}, []),
        ({"path": "a"}, {"path": "b"}, {"path": "a"}, []),
        ({"layout": {"a": 1}}, {"layout": {"b": 2}}, {"layout": {"a": 1, "b": 2}}, []),
        ({"layout": {"a": 1}}, {"layout": {"a": 2}}, {"layout": {"a": 1}}, ["layout a"]),
        ({"variables": {}}, {}, {"variables": {}}, []),
        (
            {"title": "B", "layout": {"a": 1}},
            {"title": "C", "layout": {"a": 2}},
            {"title": "B", "layout": {"a": 1}},
            ["title", "layout a"],
        ),
        ({"variables": {"a": 1}}, {"variables": {"b": 2}}, {"variables": {"a": 1, "b": 2}}, []),
        ({}, {"variables": {"v": "1"}}, {"variables": {"v": "1"}}, []),
        ({"layout": None}, {"layout": {"b": 2}}, {"layout": None}, ["layout"]),
    ],
)
def test_changed_fields_are_merged(ours: Any, theirs: Any, fields: Any, conflicts: list[str]) -> None:
    merged = merge_fields(BASE, BASE | ours, BASE | theirs)
    assert merged == (BASE | fields, conflicts)


def test_removed_field_stays_removed_and_conflicts_with_a_change() -> None:
    less = {name: value for name, value in BASE.items() if name != "icon"}
    assert merge_fields(BASE, less, BASE) == (less, [])
    assert merge_fields(BASE, BASE, less) == (less, [])
    assert merge_fields(BASE, less, less) == (less, [])
    assert merge_fields(BASE, less, BASE | {"icon": "moon"}) == (less, ["icon"])
    assert merge_fields(BASE, BASE | {"icon": "moon"}, less) == (BASE | {"icon": "moon"}, ["icon"])


def test_later_time_is_taken() -> None:
    none = {name: value for name, value in BASE.items() if name != "updatedAt"}
    later = BASE | {"updatedAt": "2026-03-01"}
    assert merge_fields(BASE, none, later) == (later, [])
    assert merge_fields(BASE, later, none) == (later, [])


def test_emptied_nested_field_stays_empty_and_removed_one_is_removed() -> None:
    base = {"layout": {"a": 1}}
    assert merge_fields(base, {"layout": {}}, {"layout": {}}) == ({"layout": {}}, [])
    assert merge_fields(base, {}, {}) == ({}, [])
    assert merge_fields(base, {}, base) == ({}, [])


def test_fields_that_belong_together_come_from_one_side() -> None:
    units = [("size", "content")]
    base, ours, theirs = {"size": 1, "content": "x"}, {"size": 2, "content": "x"}, {"size": 1, "content": "y"}
    merged = merge_fields(base, ours, theirs, units=units)
    assert merged.fields == {"size": 2, "content": "x"}
    assert merged.conflicts == ["size", "content"]
    assert merge_fields(base, base, theirs, units=units) == (theirs, [])


def test_fields_can_be_left_out() -> None:
    assert merge_fields(BASE, BASE, BASE | {"title": "B"}, omitted=("title", "size")).fields == {
        "icon": "star", "updatedAt": "2026-01-01",
    }  # fmt: skip


@each_case("name", ["createdAt", "updatedAt", "git", "urls", "path", "pages"])
def test_derived_fields_do_not_count_as_edits(name: str) -> None:
    assert not is_edited(BASE, BASE | {name: "other"})
    assert merge_fields({name: 1}, {name: 2}, {name: 3}).conflicts == []


def test_all_other_fields_count_as_edits() -> None:
    assert not is_edited(BASE, BASE)
    assert is_edited(BASE, BASE | {"title": "B"})
    assert is_edited(BASE | {"more": None}, BASE)
    assert is_edited(BASE, BASE | {"more": None})


@each_case(
    ("base", "ours", "theirs", "members", "order"),
    [
        ("abc", "abc", "abc", "abc", "abc"),
        ("", "", "", "z", "z"),
        ("a", "a", "a", "az", "az"),
        ("abcd", "bcda", "bacd", "abcd", "bcda"),
        ("abcd", "bacd", "dabc", "abcd", "bdac"),
        ("abcd", "bacd", "abdc", "abcd", "badc"),
        ("abcd", "abdc", "bacd", "abcd", "badc"),
        ("abc", "cab", "abc", "abc", "cab"),
        ("abc", "abc", "cab", "abc", "cab"),
        ("abc", "axbc", "abyc", "abcxy", "axbyc"),
        ("abc", "abxc", "abyc", "abcxy", "abxyc"),
        ("abc", "ac", "abc", "ac", "ac"),
        ("abc", "cba", "bca", "abc", "cba"),
        ("abc", "abc", "abc", "ab", "ab"),
        ("", "ab", "cd", "abcd", "abcd"),
        ("ab", "ab", "ba", "abz", "baz"),
        ("abc", "abc", "cba", "abcz", "cbaz"),
    ],
)
def test_orders_are_merged(base: str, ours: str, theirs: str, members: str, order: str) -> None:
    assert "".join(merge_order(base, ours, theirs, members)) == order


NAMES = "abcdefgh"


@st.composite
def orders(draw: st.DrawFn) -> tuple[list[str], list[str], list[str]]:
    """Draw an order and two edits of it, with items moved, added and removed."""
    base = draw(st.lists(st.sampled_from(NAMES), unique=True))
    sides = [
        draw(st.lists(st.sampled_from([*base, *new]), unique=True)) if base or new else [] for new in ("vw", "xyz")
    ]
    if draw(st.booleans()):  # move a single item, as users move pages
        sides[0] = _moved_one(draw, base)
    if draw(st.booleans()):
        sides[1] = _moved_one(draw, base)
    return base, sides[0], sides[1]


def _moved_one(draw: st.DrawFn, base: list[str]) -> list[str]:
    moved = draw(st.sampled_from(base)) if base else ""
    rest = [item for item in base if item != moved]
    at = draw(st.integers(0, len(rest)))
    return [*rest[:at], *moved, *rest[at:]]


@given(orders())
def test_order_keeps_the_changes_of_one_side(sides: tuple[list[str], list[str], list[str]]) -> None:
    base, ours, theirs = sides
    members = {*ours, *theirs}
    order = merge_order(base, ours, theirs, members)
    assert sorted(order) == sorted(members)
    assert merge_order(base, base, theirs, theirs) == theirs
    assert merge_order(base, ours, base, ours) == ours
    if not _reordered(base, ours):
        assert [item for item in order if item in theirs] == theirs
    if not _reordered(base, theirs):
        assert [item for item in order if item in ours] == ours


def _reordered(base: list[str], side: list[str]) -> bool:
    return [item for item in side if item in base] != [item for item in base if item in side]


@given(st.permutations(NAMES), st.integers(1, 6), st.data())
def test_moves_of_both_sides_in_different_places_are_kept(base: list[str], middle: int, data: st.DataObject) -> None:
    """Each side reorders one part around a fixed item. The result has both reorderings, whichever side is ours."""
    head, tail = base[:middle], base[middle + 1 :]
    ours = [*data.draw(st.permutations(head)), *base[middle:]]
    theirs = [*base[: middle + 1], *data.draw(st.permutations(tail))]
    expected = [*ours[: middle + 1], *theirs[middle + 1 :]]
    assert merge_order(base, ours, theirs, base) == expected
    assert merge_order(base, theirs, ours, base) == expected
