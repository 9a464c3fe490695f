"""The search for pages, change requests and comments: from the store at once, then from the service."""

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from tests.running_service import RunningService
from tests.table import each_case
from tests.tui.app_driver import app_on, running, until

from presscheck.api.change_requests import ChangeRequest
from presscheck.api.organizations import ListOrganizations, Organization
from presscheck.api.spaces import ListSpaces, Space
from presscheck.tui.places import Place
from presscheck.tui.screens import command_palette
from presscheck.tui.screens.browse.screen import BrowseScreen
from presscheck.tui.screens.command_targets import numbered_requests
from presscheck.tui.widgets.picker import Choice, Picker


async def look_for(pilot: Any, text: str, finds: str) -> list[Choice]:
    """Type a text and wait for a result; returns all results."""
    await pilot.press("ctrl+k")
    await until(pilot, shows="type to search")
    await pilot.press(*text)
    await until(pilot, shows=finds)
    assert isinstance(pilot.app.screen, Picker)
    return pilot.app.screen.matches


@pytest.mark.slow
async def test_a_page_that_only_the_service_has_is_found_and_then_cached(
    service: RunningService, tmp_path: Path
) -> None:
    async with running(app_on(service, tmp_path)) as pilot:
        await until(pilot, shows="live")
        [choice] = await look_for(pilot, "cursor", "fifty items and a cursor")
        assert (choice.label, choice.note) == ("Lists and pages", "API docs")
        await pilot.press("enter")
        await until(pilot, holds=lambda: isinstance(pilot.app.screen, BrowseScreen))
        await until(pilot, shows="A cursor is valid for a day")
        service.stop()
        await pilot.press("g", "i")
        found = await look_for(pilot, "fifty cur", "fifty items and a cursor")
        assert found[0].label == "Lists and pages"
        assert found[0].line
        assert [span.text for span in found[0].line if span.style == "strong"] == ["fifty", "cur"]
        await pilot.press("enter")
        await until(pilot, shows="A cursor is valid for a day")


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
def test_a_number_stands_with_or_without_its_space(typed: str, found: tuple[str, int] | None) -> None:
    assert command_palette._space_and_number(typed) == found


def test_requests_with_a_number_are_open_before_closed_and_in_this_space_before_others() -> None:
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
