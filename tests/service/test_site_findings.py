"""Findings of sites, and the statuses that users set."""

from __future__ import annotations

import pytest
from tests.service.factories import World
from tests.service.web_pages import published, write

from presscheck.api.site_findings import (
    GetSiteFinding,
    GetSiteFindingStats,
    ListSiteFindingChangeRequests,
    ListSiteFindingPages,
    ListSiteFindings,
    SiteFinding,
    UpdateSiteFinding,
)
from presscheck.errors import Forbidden, NotFound

BROKEN = "See [the lamp](no-such-page.md).\n"


async def findings(world: World, at: dict[str, str], role: str = "admin", **given: object) -> list[SiteFinding]:
    return [*(await world.clients[role].send(ListSiteFindings(**at, **given))).items]  # pyrefly: ignore


async def broken_link(world: World, at: dict[str, str]) -> SiteFinding:
    [finding] = await findings(world, at, type=("broken-link",))
    return finding


async def test_broken_link_is_found_until_it_is_fixed(world: World) -> None:
    _, at = await published(world)
    assert await findings(world, at, type=("broken-link",)) == []
    await write(world, BROKEN)
    finding = await broken_link(world, at)
    assert (finding.severity, finding.status, finding.pages) == ("high", "open", 1)
    assert "no-such-page.md" in finding.title
    [place] = (await world.admin.send(ListSiteFindingPages(**at, site_finding_id=finding.id))).items
    assert (place.space_id, place.page.path) == (world.space, "start")
    requests = await world.admin.send(ListSiteFindingChangeRequests(**at, site_finding_id=finding.id))
    assert requests.items == ()
    await write(world, BROKEN + "\nOne more paragraph.\n")
    assert (await broken_link(world, at)).id == finding.id
    await write(world, "Light the lamp.\n")
    assert await findings(world, at, type=("broken-link",)) == []
    with pytest.raises(NotFound, match="inding not found"):
        await world.admin.send(GetSiteFinding(**at, site_finding_id=finding.id))


async def test_a_status_is_kept_and_filtered_and_counted(world: World) -> None:
    _, at = await published(world)
    await write(world, BROKEN)
    finding = await broken_link(world, at)
    changed = await world.admin.send(UpdateSiteFinding(**at, site_finding_id=finding.id, status="canceled"))
    assert changed.status == "canceled"
    assert changed.updated_at > finding.updated_at
    assert await world.admin.send(GetSiteFinding(**at, site_finding_id=finding.id)) == changed
    assert await findings(world, at, status="canceled") == [changed]
    assert finding.id not in [one.id for one in await findings(world, at, status="open")]
    stats = await world.admin.send(GetSiteFindingStats(**at))
    assert stats.total == len(await findings(world, at)) == sum(stats.statuses.values())
    assert stats.statuses["canceled"] == 1
    assert stats.severities["high"] == 1
    again = await world.admin.send(UpdateSiteFinding(**at, site_finding_id=finding.id, status="open"))
    assert again.status == "open"
    assert (await world.admin.send(GetSiteFindingStats(**at))).statuses["canceled"] == 0


async def test_findings_are_sorted_and_filtered(world: World) -> None:
    _, at = await published(world)
    await write(world, BROKEN)
    found = await findings(world, at, order_by="severity")
    assert found[0].severity == "high"
    assert [one.severity for one in found] == sorted(
        (one.severity for one in found), key=("high", "medium", "low").index
    )
    assert {one.severity for one in await findings(world, at, severity="low")} == {"low"}
    assert [one.updated_at for one in await findings(world, at)] == sorted(
        (one.updated_at for one in found), reverse=True
    )
    assert await findings(world, at, updated_after=max(one.updated_at for one in found)) == []
    assert await findings(world, at, topic="lamps") == []
    assert await findings(world, at, source=("questions",)) == []


async def test_readers_cannot_list_findings(world: World) -> None:
    _, at = await published(world)
    with pytest.raises(Forbidden, match="create"):
        await findings(world, at, "read")
