"""The app on a service that answers nonsense: it shows what it received, and what is wrong, and stays usable."""

from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest
from tests.cli.hostile_service import HostileService
from tests.tui.app_driver import app_on, running, shown, until, until_all

from presscheck.api.collections import Collection
from presscheck.api.content import Pages
from presscheck.api.spaces import Space
from presscheck.tui.screens.browse.page_tree import Library


@pytest.fixture
def service(request: pytest.FixtureRequest) -> Iterator[Any]:
    with HostileService(request.param).running() as hostile:
        yield SimpleNamespace(base_url=hostile.base_url, token="token")


@pytest.mark.slow
@pytest.mark.parametrize("service", ["a repeated cursor"], indirect=True)
async def test_lists_that_repeat_are_shown_as_incomplete(service: Any, tmp_path: Path) -> None:
    async with running(app_on(cast("Any", service), tmp_path)) as pilot:
        await until(pilot, shows="The list is incomplete: the service repeats a page")
        await until_all(pilot, "Needs me 1+", "Mine 1+")
        await pilot.press("g", "o")
        await until(pilot, shows="▾ ▤ x")
        await until(pilot, shows="The list is incomplete: the service repeats a page")
        assert "Loading" not in shown(pilot.app)


@pytest.mark.slow
@pytest.mark.parametrize("service", ["things inside themselves, in the year 1"], indirect=True)
async def test_a_collection_and_a_page_inside_themselves(service: Any, tmp_path: Path) -> None:
    async with running(app_on(cast("Any", service), tmp_path)) as pilot:
        await until(pilot, shows="Needs me")
        await pilot.press("g", "o")
        await until(pilot, shows="▸ ▣ x")
        await pilot.press("j", "enter")
        await until(pilot, shows="x  hidden")
        await pilot.press("j", "enter")
        await until(pilot, shows="xx › x › x")


def test_collections_that_contain_each_other_are_at_the_top() -> None:
    library, parents = Library(), {"a": "b", "b": "a", "c": "c", "d": "a", "e": None}
    collections = [Collection(id=name, title=name, parent=parent) for name, parent in parents.items()]
    page = {"id": "p", "type": "document", "title": "Page"}
    space = Space.model_validate({"id": "s", "title": "Space", "parent": "d"})
    library.set_spaces(collections, [space, space])
    library.set_pages("s", Pages.model_validate({"pages": [{**page, "pages": [{**page, "pages": [page]}]}]}))
    assert [node.key for node in library.nodes(None)] == ["collection a", "collection c", "collection e"]
    assert library.ancestors("page s p") == ["collection a", "collection d", "space s"]
    assert [node.key for node in library.nodes("collection d")] == ["space s"]
    assert library.nodes("page s p") == []
