"""Change requests are found by their number in the command palette."""

from types import SimpleNamespace
from typing import Any

from tests.table import each_case

from presscheck.api.change_requests import ChangeRequest
from presscheck.api.organizations import ListOrganizations, Organization
from presscheck.api.spaces import ListSpaces, Space
from presscheck.tui.places import Place
from presscheck.tui.screens import command_palette
from presscheck.tui.screens.command_targets import numbered_requests


@each_case(
    ("typed", "found"),
    [
        ("guides#3", ("guides", 3)),
        ("cr GUIDES #3", ("GUIDES", 3)),
        ("api docs#4", ("api docs", 4)),
        ("#4", ("", 4)),
        ("cr 42", ("", 42)),
        ("cr api 42", None),
        ("42", None),
        ("cr", None),
        ("c#", None),
        ("#1234567890", None),
    ],
)
def test_a_number_is_parsed_with_and_without_the_name_of_its_space(typed: str, found: tuple[str, int] | None) -> None:
    assert command_palette._space_and_number(typed) == found


def test_open_requests_come_before_closed_ones_and_requests_of_this_space_before_others() -> None:
    spaces = [
        Space(id="api", title="API docs"),
        Space(id="guides", title="Guides"),
        Space(id="old", title="Our guides"),
    ]
    requests = [
        ChangeRequest(id="a", number=4, space="api", subject="Limits", status="merged"),
        ChangeRequest(id="b", number=4, space="old", subject="Words"),
        ChangeRequest(id="c", number=4, space="guides", subject="Rename"),
        ChangeRequest(id="d", number=4, space="guides", subject="Drop", status="archived"),
        ChangeRequest(id="e", number=42, space="guides", subject="Another"),
    ]
    known = {ListOrganizations: SimpleNamespace(value=SimpleNamespace(items=[Organization(id="o", title="O")]))}

    def window(call: Any, _start: int, _count: int) -> Any:
        return SimpleNamespace(items=tuple(spaces if isinstance(call, ListSpaces) else requests))

    app: Any = SimpleNamespace(engine=SimpleNamespace(known=lambda call: known.get(type(call)), window=window))

    def found(space: str, here: str = "") -> list[str]:
        return [choice.key.removeprefix("cr ") for choice, _ in numbered_requests(app, space, 4, here=here)]

    assert found("", here="guides") == ["c", "b", "d", "a"]
    assert found("guides") == found("Guides") == ["c", "d"], "not those of a space whose title only contains it"
    assert found("our gui") == ["b"]
    assert found("docs") == ["a"]
    assert found("nowhere") == []
    [(choice, place)] = numbered_requests(app, "api docs", 4, here="")
    assert (choice.label, choice.note, place) == ("#4 Limits", "API docs · merged", Place.review("api", "a"))
