"""The structure of a site by keys and mouse: each change is checked at the service, and undone."""

import threading
from pathlib import Path
from typing import Any

import pytest
from tests.running_service import RunningService
from tests.stalling_proxy import holding_back
from tests.tui.app_driver import app_on, pick, running, until
from textual import events
from textual.widgets import Input

from presscheck.api.site_structure import (
    AddSiteSpace,
    GetSiteStructure,
    SiteSpace,
    SortSiteStructure,
    StructureItemPointer,
    StructurePosition,
    UpdateSection,
    UpdateSiteSpace,
)
from presscheck.api.sites import CreateSite, ListSites, Site
from presscheck.api.spaces import CreateSpace
from presscheck.client.client import Client
from presscheck.engine.publish.site_structure import all_items, children_of, title_of
from presscheck.tui.places import Place
from presscheck.tui.screens.publish.screen import PublishScreen
from presscheck.tui.screens.sites.structure.screen import SiteStructureScreen

ORG = "tallowick"
START = "Guides(Guides) News(Release notes) Developers(API(API docs) Command line(Command line))"
SWAPPED = START.replace("Guides(Guides) News(Release notes)", "News(Release notes) Guides(Guides)")


async def sites(client: Client) -> dict[str, Site]:
    return {site.title: site for site in (await client.send(ListSites(organization_id=ORG))).items}


async def live_site(client: Client) -> Site:
    return next(site for site in (await sites(client)).values() if site.published)


async def items(client: Client, site: Site) -> dict[str, Any]:
    """Return the items of a site by kind and title, such as `section News`."""
    structure = await client.send(GetSiteStructure(organization_id=ORG, site_id=site.id))
    return {f"{item.object.rpartition('-')[2]} {title_of(item)}": item for item in all_items(structure.structure)}


async def outline(client: Client, site: Site) -> str:
    """Return the titles of the items in order, with the titles of their children in parentheses."""

    def of(nested: Any) -> str:
        inside = " ".join(map(of, children_of(nested)))
        return f"{title_of(nested)}({inside})" if inside else title_of(nested)

    structure = await client.send(GetSiteStructure(organization_id=ORG, site_id=site.id))
    return " ".join(map(of, structure.structure))


async def has(pilot: Any, client: Client, site: Site, expected: str) -> None:
    """Wait until the service has an outline and the screen shows it."""
    for _ in range(500):
        if await outline(client, site) == expected:
            break
        await pilot.pause(0.02)
    assert await outline(client, site) == expected
    await until(pilot, holds=lambda: shown_outline(pilot) == expected)


def shown_outline(pilot: Any) -> str:
    model = pilot.app.screen.session.model

    def of(key: str | None) -> str:
        inside = [(title_of(item), of(f"{item.object} {item.id}")) for item in model.below(key)]
        return " ".join(f"{title}({below})" if below else title for title, below in inside)

    return of(None)


async def opened(pilot: Any, site: Site, *, is_checked: bool = False) -> SiteStructureScreen:
    """Open the structure of a site. With `is_checked`, wait first until the checks have loaded the site."""
    await until(pilot, shows="live")
    await pilot.press("g", "p")
    await until(pilot, holds=lambda: isinstance(pilot.app.screen, PublishScreen))
    await until(pilot, shows=site.title)
    pilot.app.screen.go_to(Place.site(site.id))
    await until(pilot, holds=lambda: pilot.app.screen.current and pilot.app.screen.current.id == site.id)
    if is_checked:
        await until(pilot, holds=lambda: pilot.app.screen.checklist.content(site) is not None)
    await pilot.press("g", "u")
    await until(pilot, holds=lambda: isinstance(pilot.app.screen, SiteStructureScreen))
    return pilot.app.screen


async def to(pilot: Any, words: str) -> None:
    """Move the cursor to an item by its kind and title."""
    screen = pilot.app.screen

    def key() -> str | None:
        keys = {
            f"{one.object.rpartition('-')[2]} {title_of(one)}": key for key, one in screen.session.model.items.items()
        }
        return keys.get(words)

    await until(pilot, holds=lambda: key() is not None)
    screen.session.tree.move_to_key(key(), ancestors=screen.session.model.ancestors(key()))
    await until(pilot, holds=lambda: screen.session.item is not None and screen.session.tree.key == key())


async def typed(pilot: Any, text: str, *then: str) -> None:
    """Replace the text of the focused input, then press keys."""
    await until(pilot, holds=lambda: isinstance(pilot.app.focused, Input))
    entry = pilot.app.focused
    await pilot.press("ctrl+u")
    if text:
        entry.post_message(events.Paste(text))
    await until(pilot, holds=lambda: entry.value == text)
    await pilot.press(*then)


async def undo(pilot: Any, words: str) -> None:
    """Undo the last change. Its question must contain these words."""
    await until(pilot, holds=lambda: isinstance(pilot.app.screen, SiteStructureScreen))
    await pilot.press("z")
    await until(pilot, shows=words)
    await pilot.press("y")
    await until(pilot, shows="undone: ")


def at(client_site: Site) -> dict[str, Any]:
    return {"organization_id": ORG, "site_id": client_site.id}


@pytest.mark.slow
async def test_items_are_added_changed_removed_and_restored(
    service: RunningService, client: Client, tmp_path: Path
) -> None:
    site = await live_site(client)
    await client.send(CreateSpace(organization_id=ORG, title="Partners"))
    async with running(app_on(service, tmp_path)) as pilot:
        screen = await opened(pilot, site)
        await to(pilot, "section News")
        await pilot.press("a")
        await pick(pilot, "Space")
        await until(pilot, shows="Add a space to News")
        offered = [choice.label for choice in pilot.app.screen.choices]
        assert sorted(offered) == ["Handbook", "Partners", "Runbook"], "only spaces that are not in the site"
        await pick(pilot, "Partners")
        await has(pilot, client, site, START.replace("Release notes", "Release notes Partners"))
        await until(pilot, holds=lambda: isinstance(pilot.app.screen.session.item, SiteSpace))
        assert pilot.app.screen.session.item.title == "Partners", "the cursor is on the new item"
        await undo(pilot, "Removes the space with the path “partners” from the site")
        await has(pilot, client, site, START)

        await to(pilot, "section News")
        await pilot.press("E")
        await pick(pilot, "Path")
        await until(pilot, shows="links to it break without")
        await typed(pilot, "api")
        await until(pilot, shows="it is the path of API")
        await typed(pilot, "latest-news", "enter")
        await until(pilot, shows="path changed: z undoes it")
        assert (await items(client, site))["section News"].path == "latest-news"
        await undo(pilot, "Restores the path “news”")
        await pilot.press(".", "*")
        await until(pilot, shows="who opens its site comes to News instead of Guides")
        await pilot.press("y")
        await until(pilot, holds=lambda: bool(getattr(screen.session.item, "default", None)))
        await until(pilot, shows="News is the default of the site")
        assert (await items(client, site))["section News"].default

        await to(pilot, "section Guides")
        await pilot.press("a")
        await pick(pilot, "Group")
        await typed(pilot, "To read", "enter")
        await until(pilot, shows="Sections of To read")
        await pilot.press("tab", "tab", "enter")
        developers, to_read = START[START.index("Dev") :], "To read(Guides(Guides) News(Release notes))"
        grouped = f"{developers} {to_read}"
        await has(pilot, client, site, grouped)
        await pilot.press("-")
        await until(pilot, shows="Visitors lose this heading of the navigation.")
        await pilot.press("y")
        await has(pilot, client, site, f"{developers} Guides(Guides) News(Release notes)")
        await undo(pilot, "Adds the group “To read” with its sections again")
        await has(pilot, client, site, grouped)
        await to(pilot, "section Guides")
        await pilot.press("delete")
        await until(pilot, shows="visitors lose 1 space: Guides")
        await pilot.press("y")
        await has(pilot, client, site, grouped.replace("Guides(Guides) ", ""))


async def test_a_section_is_added_to_a_site_without_spaces(
    service: RunningService, client: Client, tmp_path: Path
) -> None:
    site = await client.send(CreateSite(organization_id=ORG, title="Plain one"))
    async with running(app_on(service, tmp_path)) as pilot:
        await opened(pilot, site)
        await until(pilot, shows="This site has no spaces yet.")
        await pilot.press("a")
        await pick(pilot, "Section")
        await typed(pilot, "All", "enter")
        await until(pilot, shows="First space of All")
        await pick(pilot, "Guides")
        await has(pilot, client, site, "All(Guides)")


@pytest.mark.slow
async def test_changes_of_others_are_shown_and_not_overwritten(
    service: RunningService, client: Client, tmp_path: Path
) -> None:
    site = await live_site(client)
    now = await items(client, site)

    def pointer(words: str) -> StructureItemPointer:
        return StructureItemPointer(type=now[words].object, id=now[words].id)

    async with running(app_on(service, tmp_path)) as pilot:
        await opened(pilot, site, is_checked=True)
        await to(pilot, "section Guides")
        place = StructurePosition(after=pointer("section News"))
        await client.send(SortSiteStructure(**at(site), item=pointer("section Guides"), position=place))
        await pilot.press("J")
        await until(pilot, shows="Not moved: somebody else changed the order here just now")
        await has(pilot, client, site, SWAPPED)

        await pilot.press("E")
        await pick(pilot, "Title")
        await typed(pilot, "Mine")
        await client.send(UpdateSection(**at(site), site_section_id=now["section Guides"].id, title="Theirs"))
        await pilot.press("enter")
        await until(pilot, shows="Not changed: somebody else made it “Theirs”")
        await until(pilot, shows="▾ Theirs")
        assert "section Theirs" in await items(client, site)
        await pilot.press("E")
        await pick(pilot, "Title")
        await until(pilot, holds=lambda: isinstance(pilot.app.focused, Input) and pilot.app.focused.value == "Mine")
        await pilot.press("escape")

        await pilot.press("-")
        await until(pilot, shows="Remove the section Theirs?")
        await client.send(AddSiteSpace(**at(site), space_id="runbook", section_id=now["section Guides"].id))
        await pilot.press("y")
        await until(pilot, shows="Not removed: somebody else changed what is in Theirs")
        await until(pilot, shows="Runbook")

        taken = now["space Release notes"]
        await to(pilot, "space Release notes")
        await client.send(UpdateSiteSpace(**at(site), site_space_id=taken.id, path="later"))
        await pilot.press("ctrl+r")
        await until(pilot, shows="/later")


@pytest.mark.slow
async def test_consecutive_moves_are_sent_together_and_undone(
    service: RunningService, client: Client, tmp_path: Path
) -> None:
    site = await live_site(client)
    answered, asked = threading.Event(), list[str]()
    with holding_back(service, tmp_path, "/structure/sort", until=answered, asked=asked) as address:
        async with running(app_on(service, tmp_path, base_url=address)) as pilot:
            await opened(pilot, site)
            await to(pilot, "section Guides")
            await pilot.press("J")
            await until(pilot, holds=lambda: any("/structure/sort" in path for path in asked))
            await pilot.press("J", "K", "J")
            last = "News(Release notes) Developers(API(API docs) Command line(Command line)) Guides(Guides)"
            await until(pilot, holds=lambda: shown_outline(pilot) == last)
            assert await outline(client, site) == START
            answered.set()
            await has(pilot, client, site, last)
            await until(pilot, holds=lambda: not pilot.app.screen.session.model.moves)
            calls = [entry.call for entry in pilot.app.engine.history()]
            assert len(calls) == 2, "the first move, and the last of those made while it was sent"
            assert pilot.app.screen.session.item.title == "Guides", "the cursor stays on the item"

            await pilot.press(".", "m")
            await until(pilot, shows="Move Guides to")
            await pilot.press("enter")
            inside = "News(Release notes) Developers(API(API docs) Command line(Command line) Guides(Guides))"
            await has(pilot, client, site, inside)
            await undo(pilot, "Moves the item back to its former position")
            await has(pilot, client, site, last)
            await to(pilot, "space Release notes")
            await pilot.press(".", "m")
            await until(pilot, shows="Move Release notes to")
            await pilot.press(*"API", "enter")
            await until(pilot, shows="the address of the space changes")
            await pilot.press("y")
            moved = "News Developers(API(API docs Release notes) Command line(Command line)) Guides(Guides)"
            await has(pilot, client, site, moved)
