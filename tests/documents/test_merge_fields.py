"""The merge of fields and of orders: what one side changed is taken, and where both changed a field, ours wins."""

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
def test_fields_that_changed(ours: Any, theirs: Any, fields: Any, conflicts: list[str]) -> None:
    merged = merge_fields(BASE, BASE | ours, BASE | theirs)
    assert merged == (BASE | fields, conflicts)


def test_a_field_that_one_side_removed_is_removed_unless_the_other_changed_it() -> None:
    less = {name: value for name, value in BASE.items() if name != "icon"}
    assert merge_fields(BASE, less, BASE) == (less, [])
    assert merge_fields(BASE, BASE, less) == (less, [])
    assert merge_fields(BASE, less, less) == (less, [])
    assert merge_fields(BASE, less, BASE | {"icon": "moon"}) == (less, ["icon"])
    assert merge_fields(BASE, BASE | {"icon": "moon"}, less) == (BASE | {"icon": "moon"}, ["icon"])


def test_the_later_time_is_taken_and_none_is_the_earliest() -> None:
    none = {name: value for name, value in BASE.items() if name != "updatedAt"}
    later = BASE | {"updatedAt": "2026-03-01"}
    assert merge_fields(BASE, none, later) == (later, [])
    assert merge_fields(BASE, later, none) == (later, [])


def test_a_nested_field_that_both_sides_emptied_stays_empty_or_goes() -> None:
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
def test_derived_fields_are_no_edit(name: str) -> None:
    assert not is_edited(BASE, BASE | {name: "other"})
    assert merge_fields({name: 1}, {name: 2}, {name: 3}).conflicts == []


def test_every_other_field_is_an_edit() -> None:
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
def test_orders(base: str, ours: str, theirs: str, members: str, order: str) -> None:
    assert "".join(merge_order(base, ours, theirs, members)) == order


NAMES = "abcdefgh"


@st.composite
def orders(draw: st.DrawFn) -> tuple[list[str], list[str], list[str]]:
    """An order, and what each side made of it: items moved, added and removed."""
    base = draw(st.lists(st.sampled_from(NAMES), unique=True))
    sides = [
        draw(st.lists(st.sampled_from([*base, *new]), unique=True)) if base or new else [] for new in ("vw", "xyz")
    ]
    if draw(st.booleans()):  # one item somewhere else, as people move pages
        sides[0] = _moved_one(draw, base)
    if draw(st.booleans()):
        sides[1] = _moved_one(draw, base)
    return base, sides[0], sides[1]


def _moved_one(draw: st.DrawFn, base: list[str]) -> list[str]:
    moved = draw(st.sampled_from(base)) if base else ""
    rest = [one for one in base if one != moved]
    at = draw(st.integers(0, len(rest)))
    return [*rest[:at], *moved, *rest[at:]]


@given(orders())
def test_an_order_keeps_what_one_side_made_of_it(sides: tuple[list[str], list[str], list[str]]) -> None:
    base, ours, theirs = sides
    members = {*ours, *theirs}
    order = merge_order(base, ours, theirs, members)
    assert sorted(order) == sorted(members)
    assert merge_order(base, base, theirs, theirs) == theirs
    assert merge_order(base, ours, base, ours) == ours
    if not _reordered(base, ours):
        assert [one for one in order if one in theirs] == theirs
    if not _reordered(base, theirs):
        assert [one for one in order if one in ours] == ours


def _reordered(base: list[str], side: list[str]) -> bool:
    return [one for one in side if one in base] != [one for one in base if one in side]


@given(st.permutations(NAMES), st.integers(1, 6), st.data())
def test_moves_of_both_sides_in_different_places_are_kept(base: list[str], middle: int, data: st.DataObject) -> None:
    """Each side reorders its part, between which an item stays: the result has both, whoever is ours."""
    head, tail = base[:middle], base[middle + 1 :]
    ours = [*data.draw(st.permutations(head)), *base[middle:]]
    theirs = [*base[: middle + 1], *data.draw(st.permutations(tail))]
    wanted = [*ours[: middle + 1], *theirs[middle + 1 :]]
    assert merge_order(base, ours, theirs, base) == wanted
    assert merge_order(base, theirs, ours, base) == wanted
