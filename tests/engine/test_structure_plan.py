"""The plan for a structure, which is not sent: its calls, their order, and changes that are impossible."""

from dataclasses import replace
from typing import Any

from tests.table import each_case

from presscheck.api.site_structure import UpdateSection
from presscheck.engine.site_config.document import Entry
from presscheck.engine.site_config.steps import ItemId, Plan, Step
from presscheck.engine.site_config.structure_plan import StructurePlanner

PATH = {"organization_id": "o", "site_id": "s"}
Item = Entry


def space(name: str, **more: Any) -> Item:
    """Return a space, whose id is its name and whose title is the name in capitals."""
    flags = frozenset(flag for flag in ("default",) if more.pop(flag, False))
    return Entry("space", name.upper(), more, flags, space=name)


def section(name: str, *spaces: Item, title: str = "", **more: Any) -> Item:
    """Return a section, whose path is its name; its title is the name as well by default."""
    flags = frozenset(flag for flag in ("default",) if more.pop(flag, False))
    return Entry("section", title or name, {"path": name, **more}, flags, entries=spaces)


def group(name: str, *items: Item, **more: Any) -> Item:
    return Entry("group", name, more, entries=items)


def in_site(*items: Item) -> tuple[Item, ...]:
    """Add keys to items, as in a site; the ids are the ids of spaces, or titles."""
    kinds = {"space": "site-space", "section": "site-section", "group": "site-section-group"}
    return tuple(
        replace(one, entries=in_site(*one.entries), key=f"{kinds[one.kind]} {one.space or one.title}") for one in items
    )


def in_file(*items: Item, at: tuple[str | int, ...] = ("structure",)) -> tuple[Item, ...]:
    """Add places to items, as in a file."""
    inside = {"group": "items", "section": "spaces", "space": ""}
    return tuple(
        replace(one, entries=in_file(*one.entries, at=(*at, number, inside[one.kind])), place=(*at, number))
        for number, one in enumerate(items)
    )


def planned(site: tuple[Item, ...], file: tuple[Item, ...], *, prune: bool = False) -> StructurePlanner:
    planner = StructurePlanner(PATH, in_site(*site), in_file(*file), prune)
    planner.plan()
    return planner


def texts(site: tuple[Item, ...], file: tuple[Item, ...], *, prune: bool = False) -> list[str]:
    """Return the texts of the steps. Checks that each call can be built with the ids of items created before."""
    planner = planned(site, file, prune=prune)
    assert not planner.problems, planner.problems
    keys: dict[str, str] = {}
    for step in planner.steps:
        call = step.call(keys)
        assert type(call) is step.operation
        assert "new " not in str(call.wire_body()), "an item that no step before created"
        for name in (step.creates, *(step.adds_space or ())[1:]):
            keys[name] = f"made {name.replace(' ', '-')}"
    return [step.text for step in planner.steps]


def refused(site: tuple[Item, ...], file: tuple[Item, ...], *, prune: bool = False) -> list[str]:
    return [str(problem) for problem in planned(site, file, prune=prune).problems]


A, B, C, D = (space(name) for name in "abcd")
SPACES = (A, B, C)
ONE, TWO = section("one", A, B), section("two", C)


def test_equal_structures_need_no_steps() -> None:
    both = (group("G", ONE, icon="book"), section("two", space("c", default=True), default=True))
    assert texts(both, both, prune=True) == []
    assert texts((ONE, TWO), (section("one", A), section("two")), prune=False) == [], "what the file lacks stays"


@each_case(
    ("order", "steps"),
    [
        ("abc", []),
        ("bca", ["move the space A after the space C"]),
        ("cab", ["move the space C before the space A"]),
        ("acb", ["move the space C after the space A"]),
        ("cba", ["move the space B after the space C", "move the space A after the space B"]),
    ],
)
def test_an_order_takes_as_few_moves_as_possible(order: str, steps: list[str]) -> None:
    file = tuple(space(name) for name in order)
    found = texts(SPACES, file)
    assert len(found) == len(steps)
    if len(steps) == 1:
        assert found == steps


def test_the_call_of_a_move_names_both_items() -> None:
    [step] = planned(SPACES, (B, C, A)).steps
    assert step.call({}).wire_body() == {
        "item": {"type": "site-space", "id": "a"},
        "position": {"after": {"type": "site-space", "id": "c"}},
    }
    assert (step.item, step.expects) == ("site-space a", {"in": ""})


def test_item_moves_to_its_place_in_one_step() -> None:
    site = (section("one", A, B), section("two", C, D))
    step = "move the space A into the section two"
    assert texts(site, (section("one", B), section("two", C, D, A))) == [f"{step} after the space D"]
    assert texts(site, (section("one", B), section("two", C, A, D))) == [f"{step} after the space C"]
    assert texts(site, (section("one", B), section("two", A, C, D))) == [f"{step} before the space C"]


def test_the_first_section_takes_all_spaces_and_a_new_space_goes_into_the_next() -> None:
    file = (section("one", A, B, icon="book", condition="visitor.claims.x"), section("two", D, C), group("G"))
    assert texts((A, B, C), file) == [
        "add the section one with the space A: it takes all spaces of the site",
        "section one: condition visitor.claims.x",
        "add the section two with the space D",
        "add the group G",
        "move the space C into the section two after the space D",
        "section one: path one",
        "section two: path two",
    ]


def test_conditions_come_first_defaults_last_and_only_changed_texts_are_set() -> None:
    site = (section("one", space("a", path="p"), title="One"), section("two", C, title="Two", icon="book"))
    file = (
        section("one", space("a", path="p", condition="x", default=True), D, title="Uno", description="d"),
        section("two", C, title="Two", default=True),
    )
    assert texts(site, file) == [
        "space A: condition x",
        "add the space D to the section One",
        "section One: title One \u2192 Uno, description d",
        "make the space A the default of the section One",
        "make the section Two the default of the site",
    ]
    assert "section Two: no icon" in texts(site, file, prune=True)
    assert texts(SPACES, (space("a"), space("b", default=True), C)) == ["make the space B the default of the site"]


def test_step_has_a_label_and_expected_values() -> None:
    planner = planned((section("one", A, icon="book"),), (section("one", A, icon="gear"),))
    [step] = planner.steps
    assert (step.part, step.item, step.expects, step.leaves) == (
        "structure",
        "site-section one",
        {"icon": "book"},
        {"icon": "gear"},
    )
    assert step.call({}).given() == {**PATH, "site_section_id": "one", "icon": "gear"}


def test_swapped_paths_need_a_temporary_path_and_a_taken_path_is_refused() -> None:
    site = (section("one", A, title="A"), section("two", B, title="B"))
    assert texts(site, (section("two", A, title="A"), section("one", B, title="B"))) == [
        "section B: path two \u2192 one-2",
        "section A: path one \u2192 two",
        "section B: path one-2 \u2192 one",
    ]
    assert texts(site, (section("two", A, title="A"), section("three", B, title="B"))) == [
        "section B: path two \u2192 three",
        "section A: path one \u2192 two",
    ], "the one that frees a path goes first"
    spaces = (space("a", path="p"), space("b", path="q"))
    assert refused(spaces, (space("a", path="q"),)) == [
        "structure[0].path: q is the path of another item that stays in the site"
    ]
    assert texts(spaces, (space("a", path="q"),), prune=True) == [
        "remove the space B from the site",
        "space A: path p \u2192 q",
    ]


def test_pruning_removes_spaces_then_sections_then_groups_from_the_inside() -> None:
    site = (group("G", group("H", section("one", A, B))), section("two", C, D))
    assert texts(site, (section("two", C),), prune=True) == [
        "remove the space D from the site",
        "remove the section one with the space A, the space B from the site",
        "remove the group H",
        "remove the group G",
    ]
    steps = planned(site, (section("two", C),), prune=True).steps
    assert steps[1].expects == {
        "in": "site-section-group H",
        "content": frozenset(("site-space a", "site-space b")),
    }
    # the content of a removed group moves one level up
    assert texts((group("G", section("one", A)), TWO), (section("one", A), TWO), prune=True) == [
        "move the section one to the top level before the group G",
        "remove the group G",
        "section one: path one",
    ]


def test_groups_are_added_with_their_sections_outer_groups_first() -> None:
    file = (group("G", group("H", TWO, icon="gear"), ONE),)
    planner = planned((ONE, TWO), file)
    keys = {step.creates: "site-section-group made" for step in planner.steps if step.creates}
    assert [step.text for step in planner.steps] == [
        "add the group G",
        "add the group H in the group G",
        "move the group H before the section one",
    ]
    assert [step.call(keys).wire_body() for step in planner.steps][:2] == [
        {"title": "G", "sections": ["one"]},
        {"title": "H", "icon": "gear", "sections": ["two"], "parent": "made"},
    ]


def test_unsupported_changes_are_problems_and_pruning_adds_a_space_again() -> None:
    assert refused((ONE,), (A, B)) == [
        "structure[0]: the site has sections, and the service cannot remove them all: use sections"
    ]
    assert refused((ONE,), (ONE, section("new"))) == ["structure[1].spaces: a new section needs a space"]
    into_new = (section("one", A), section("two", B))
    assert [told.split(":")[:2] for told in refused((ONE,), into_new)] == [
        ["structure[1].spaces", " the service cannot move a space into a new section"]
    ]
    assert texts((ONE,), into_new, prune=True) == [
        "remove the space B from where it is, to add it to the section two",
        "add the section two with the space B",
        "section two: path two",
    ]
    empty = (section("one", A, B), section("two"))
    assert "cannot be moved into the section two" in refused(empty, (section("one", A), section("two", B)))[0]
    assert texts(empty, (section("one", A), section("two", B)), prune=True) == [
        "remove the space B from where it is, to add it to the section two",
        "add the space B to the section two",
    ]


@each_case(
    ("changed", "problem"),
    [
        (section("One!", A, title="one"), "structure[0].path: small letters only"),
        (section("a--b", A, title="one"), "structure[0].path: small letters, digits, _ and single - or ."),
        (section("one", A, icon="fa book"), "structure[0].icon: small letters, digits and - only"),
        (section("one", A, title="x" * 200), "structure[0].section: "),
    ],
)
def test_only_texts_that_change_are_checked(changed: Item, problem: str) -> None:
    assert [told.startswith(problem) for told in refused((section("one", A),), (changed,))] == [True]
    assert texts((changed,), (changed,)) == []


def test_ids_come_from_keys_and_created_items() -> None:
    step = Step("structure", "", UpdateSection, {**PATH, "site_section_id": ItemId("new 1"), "title": "new 1"})
    assert step.call({"new 1": "site-section made"}).given() == {**PATH, "site_section_id": "made", "title": "new 1"}
    steps = planned(SPACES, (B, C, A)).steps
    other = Step("redirects", "", steps[0].operation, steps[0].given)
    assert Plan((*steps, other)).steps_of("structure") == steps
