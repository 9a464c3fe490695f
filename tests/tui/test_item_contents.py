"""Contents of collections, page groups and the group of sites: a line for each item, with a link to it."""

from pathlib import Path
from typing import Any

import pytest
from tests.running_service import RunningService
from tests.tui.app_driver import app_on, running, until

from presscheck.api.collections import Collection
from presscheck.api.content import Pages, RevisionPage
from presscheck.api.sites import Site, SiteUrls
from presscheck.api.spaces import Space
from presscheck.text.styled_text import plain, width
from presscheck.tui.screens.browse.item_contents import Contents
from presscheck.tui.screens.browse.page_tree import SITES, Item, Library
from presscheck.tui.screens.browse.screen import BrowseScreen

pytestmark = pytest.mark.service(shared=True)


def text(pilot: Any) -> str:
    """Return the text of the pane beside the tree."""
    document = pilot.app.screen.page_view.document
    return "\n".join(plain(line) for line in document.lines) if document else ""


async def browsing(pilot: Any) -> BrowseScreen:
    await until(pilot, shows="Needs me")
    await pilot.press("g", "o")
    await until(pilot, shows="Inside Tallowick")
    screen = pilot.app.screen
    assert isinstance(screen, BrowseScreen)
    return screen


@pytest.mark.slow
async def test_a_collection_lists_its_items_with_links_to_them(service: RunningService, tmp_path: Path) -> None:
    async with running(app_on(service, tmp_path)) as pilot:
        screen = await browsing(pilot)
        await until(pilot, holds=lambda: text(pilot).startswith("Product\n"))
        lines = text(pilot).split("\n")
        assert lines[2:4] == ["What customers read", "4 spaces · 8 open change requests"]
        assert "  ▤ Developers       2 spaces · 6 open change requests" in lines
        assert any("🧭 Guides" in line and "2 open change requests" in line for line in lines)
        # a key opens a space of the collection, and another one goes back
        await pilot.press("tab")
        await until(pilot, holds=lambda: screen.page_view.has_focus)
        row = next(number for number, line in enumerate(lines) if "Release notes" in line)
        await pilot.press(*"j" * row)
        await until(pilot, holds=lambda: screen.page_view.cursor == row)
        await pilot.press("enter")
        await until(pilot, holds=lambda: screen.item is not None and screen.item.title == "Release notes")
        await pilot.press("H")
        await until(pilot, holds=lambda: text(pilot).startswith("Product\n"))
        # a click opens a nested collection
        row = next(number for number, line in enumerate(text(pilot).split("\n")) if "Developers" in line)
        view = screen.page_view
        await pilot.click(view, offset=(6, row - view.top))
        await until(pilot, holds=lambda: text(pilot).startswith("Developers\n"))
        assert "🔑 API docs" in text(pilot)


@pytest.mark.parametrize("columns", [1, 12, 40, 160])
def test_hostile_titles_are_plain_text_and_fit_the_width(columns: int) -> None:
    bad = "\x1b]0;x\x07[red]\u202eevil\n[@click=app.quit]x[/] 田中" * 3
    library = Library()
    space = Space(id="s", title=bad, parent="c", change_requests_open=3)
    library.set_spaces(
        [Collection(id="c", title=bad, description=bad), Collection(id="d", title=bad, parent="c")], [space]
    )
    library.set_sites([Site(id="w", title=bad, hostname=bad, visibility=bad, published=True)])
    page = RevisionPage(id="p", title=bad, type="document", description=bad)
    link = RevisionPage(id="l", title=bad, type="link", href=bad)
    group = RevisionPage(id="g", title=bad, type="group", pages=(page, link))
    library.set_pages("s", Pages(pages=(group,)))
    for item in (library.item("collection c"), library.item(SITES), library.item("page s g")):
        assert isinstance(item, Item)
        contents = Contents(library, item, columns)
        assert all(width(line) <= columns for line in contents.lines)
        shown = "".join(plain(line) for line in contents.lines)
        assert not any(character in shown for character in "\x1b\x07\u202e\n")
        links = {span.link for line in contents.lines for span in line if span.link}
        assert links <= {other.key for other in library.inside(item)}
        assert columns < 12 or links


def test_an_empty_collection_has_a_hint_below_its_description() -> None:
    library = Library()
    library.set_spaces([Collection(id="c", title="C", description="For *developers*")], [])
    item = library.item("collection c")
    assert item
    lines = [plain(line) for line in Contents(library, item, 80).lines]
    assert lines[2:4] == ["For *developers*", "nothing in it yet"]


def test_the_share_key_of_a_site_is_not_shown() -> None:
    library = Library()
    library.set_spaces([], [])
    urls = SiteUrls(published="https://docs.example/abcdefgh12345678/")
    library.set_sites([Site(id="w", title="Inside", visibility="share-link", published=True, urls=urls)])
    item = library.item(SITES)
    assert item
    lines = [plain(line) for line in Contents(library, item, 160).lines]
    assert "https://docs.example/…/" in lines[-1]
    assert not any("abcdefgh12345678" in line for line in lines)


def test_groups_of_pages_and_sites_list_their_items() -> None:
    library = Library()
    library.set_spaces([], [Space(id="s", title="Guides")])
    urls = SiteUrls(published="https://docs.example/")
    library.set_sites(
        [
            Site(id="w", title="Docs", visibility="public", published=True, urls=urls),
            Site(id="x", title="Inside", visibility="share-link"),
        ]
    )
    pages = tuple(RevisionPage(id=title, title=title, type="document") for title in ("Sending", "Receiving events"))
    library.set_pages("s", Pages(pages=(RevisionPage(id="g", title="Connect", type="group", pages=pages),)))
    sites, group = (library.item(key) for key in (SITES, "page s g"))
    assert sites and group
    lines = [plain(line) for line in Contents(library, sites, 160).lines]
    assert (lines[0], lines[2]) == ("Sites", "2 sites · 1 live")
    assert any("Docs" in line and "live · public · https://docs.example/" in line for line in lines)
    lines = [plain(line) for line in Contents(library, group, 80).lines]
    assert (lines[0], lines[2]) == ("Connect", "2 pages")
    assert any("Receiving events" in line for line in lines)
