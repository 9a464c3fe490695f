"""The history of a site by keys: list, comparison with now, comparison of two rows, and restored parts."""

from pathlib import Path
from typing import Any

import pytest
from tests.running_service import RunningService
from tests.tui.app_driver import app_on, pick, running, until

from presscheck.api.site_settings import (
    CreateRedirect,
    GetCustomization,
    ListRedirects,
    RedirectDestination,
    UpdateCustomization,
)
from presscheck.api.site_structure import GetSiteStructure, SiteSection, UpdateSection
from presscheck.api.sites import ListSites, PublishSite, UnpublishSite
from presscheck.client.client import Client
from presscheck.engine.site_config.comparison import Difference, Field
from presscheck.text.styled_text import plain
from presscheck.tui.screens.publish.screen import PublishScreen
from presscheck.tui.screens.sites.differences import difference_lines
from presscheck.tui.screens.sites.history.rows import HistoryList
from presscheck.tui.screens.sites.history.screen import SiteHistoryScreen

ORG = "tallowick"


async def history_open(pilot: Any, state: str = "live") -> SiteHistoryScreen:
    await until(pilot, shows=state)
    await pilot.press("g", "p")
    await until(pilot, shows="● live", holds=lambda: isinstance(pilot.app.screen, PublishScreen))
    await pilot.press("g", "h")
    await until(pilot, holds=lambda: isinstance(pilot.app.screen, SiteHistoryScreen))
    screen: SiteHistoryScreen = pilot.app.screen
    await until(pilot, holds=lambda: bool(screen.list.items))
    return screen


async def go_to(pilot: Any, screen: SiteHistoryScreen, what: str) -> None:
    """Move the cursor to the newest row of a kind."""
    await until(pilot, holds=lambda: any(row.what == what for row in screen.list.items))
    at = next(at for at, row in enumerate(screen.list.items) if row.what == what)
    await pilot.press("g", "g", *("j" * at))
    await until(pilot, holds=lambda: screen.list.current is screen.list.items[at])


@pytest.mark.slow
async def test_changes_are_listed_compared_and_restored(service: RunningService, tmp_path: Path) -> None:
    async with Client(service.base_url, service.token) as client:
        sites = (await client.send(ListSites(organization_id=ORG))).items
        at = {"organization_id": ORG, "site_id": next(site.id for site in sites if site.published)}
        before = await client.send(GetCustomization(**at))
        structure = (await client.send(GetSiteStructure(**at))).structure
        section = next(item for item in structure if isinstance(item, SiteSection))

        async def sources() -> set[str]:
            return {one.source for one in (await client.send(ListRedirects(**at, limit=1000))).items}

        former = await sources()
        async with running(app_on(service, tmp_path), (120, 40)) as pilot:
            screen = await history_open(pilot)
            await until(pilot, shows="created")
            await until(pilot, shows="merged")  # merges into the spaces of the site, from the service

            # every write of the app is recorded; consecutive writes of single items share a snapshot
            engine = pilot.app.engine
            styling = {**before["styling"], "corners": "circular"}
            await engine.write(UpdateCustomization(**at, settings={**before, "styling": styling})).landed()
            for name in ("one", "two", "three"):
                target = RedirectDestination(kind="external", url=f"https://example.org/{name}")
                await engine.write(CreateRedirect(**at, source=f"/was-{name}", destination=target)).landed()
            await engine.write(UpdateSection(**at, site_section_id=section.id, title="Another title")).landed()
            await engine.write(UnpublishSite(**at)).landed()
            await engine.write(PublishSite(**at)).landed()
            await pilot.press("ctrl+r")
            await until(pilot, shows="add redirect from /was-one and 2 more changes")
            own = [row for row in screen.list.items if row.source == "this machine" and row.kind != "seen live"]
            assert [row.what for row in own][:5] == [
                "published",
                "unpublished",
                "structure changed",
                "redirects changed",
                "customization changed",
            ]
            assert [len(row.snapshot.parts) if row.snapshot else 0 for row in own][:5] == [3, 0, 1, 1, 1]
            assert own[0].who == own[2].who == engine.me.display_name

            # enter compares a row with now, A compares two marked rows
            await go_to(pilot, screen, "structure changed")
            await pilot.press("enter")
            await until(pilot, shows=f"{section.title} → Another title")
            await until(pilot, shows="Changes since 20")
            await pilot.press("escape")
            await go_to(pilot, screen, "published")
            await until(pilot, shows="snapshot of what was published: ")
            await pilot.press("space")
            await go_to(pilot, screen, "customization changed")
            await pilot.press("space", "A")
            await until(pilot, shows="styling.corners: rounded → circular")
            await pilot.press("escape", "escape")
            await go_to(pilot, screen, "unpublished")
            await pilot.press("enter")
            await until(pilot, shows="no snapshot: only changes from this machine have one")

            # a part is restored after its plan was shown, unless another user changed it meanwhile
            await go_to(pilot, screen, "redirects changed")
            await pilot.press(".", "b")
            await until(pilot, shows="3 differences from now")
            await pilot.press("enter")
            await pick(pilot, "As it was: also remove 3 additions made since")
            await until(pilot, shows="delete the redirect /was-two")
            target = RedirectDestination(kind="external", url="https://example.org/theirs")
            await client.send(CreateRedirect(**at, source="/theirs", destination=target))
            await pilot.press("y")
            await until(pilot, shows="Somebody else changed 1 field of the redirects")
            assert await sources() == {*former, "/was-one", "/was-two", "/was-three", "/theirs"}
            await pilot.press("escape")
            await pilot.press(".", "b")
            await until(pilot, shows="4 differences from now")
            await pilot.press("enter")
            await pick(pilot, "As it was: also remove 4 additions made since")
            await until(pilot, shows="delete the redirect /theirs")
            await pilot.press("y")
            await until(pilot, shows="restored: . b on the first row")
            assert await sources() == former

            # the replaced values are a snapshot, too
            await until(pilot, shows="restore of redirects from")
            await pilot.press("g", "g")
            await pilot.press(".", "b")
            await pick(pilot, "redirects")
            await until(pilot, shows="add the redirect /theirs")
            await pilot.press("y")
            await until(pilot, holds=lambda: sum("restore of" in row.detail for row in screen.list.items) == 2)
            await until(pilot, shows="restored: . b on the first row")
            assert "/theirs" in await sources()
        kept = [file.read_text() for file in (tmp_path / "state").rglob("*.snapshot")]
        assert len(kept) == 6
        assert not [text for text in kept if service.token in text]


def test_differences_of_lists_are_shown_as_text() -> None:
    order = Difference(Field("structure", "", "order"), "changed", ["Guides", "\x1b[31mAPI"], ["API", "Guides"])
    links = Difference(Field("customization", "", "links"), "changed", [], [{"title": "Home", "to": {"url": "/"}}])
    lines = [plain(line) for line in difference_lines([order, links])]
    assert lines[:4] == [" structure", " ~ order:", "     before: Guides, ␛[31mAPI", "     after: API, Guides"]
    assert lines[-2:] == ["     before: none", "     after: title: Home, to: url: /"]


def test_columns_have_a_gap() -> None:
    rows: Any = HistoryList
    history = rows(None)
    for width in (60, 79, 80, 120):
        history.heading(width)
        assert all(column.gap for column in history.columns[:-1]), width
