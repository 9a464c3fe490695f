"""The docs sites of the sample."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

from presscheck.api.site_structure import AddSection, AddSectionGroup, UpdateSection
from presscheck.api.sites import CreateSite, PublishSite
from presscheck.service.models.sites import SiteRow
from presscheck.service.sample.builder import Planting

LONG_AGO = timedelta(days=210)


def show_sites(planting: Planting) -> None:
    """Create the sites at intervals of a day, and publish those that are marked as published."""
    for number, described in enumerate(planting.workspace["sites"]):
        _show(planting, described, LONG_AGO - timedelta(days=number))


def _show(planting: Planting, described: dict[str, Any], past: timedelta) -> None:
    def does(call: Any) -> Any:
        return planting.does(planting.owner, past, call)

    looks = {"visibility": described["visibility"]} if "visibility" in described else {}
    site = does(CreateSite(organization_id=planting.organization, title=described["title"], **looks))
    planting.session.get_one(SiteRow, site.id).hostname = described.get("hostname")
    at = {"organization_id": planting.organization, "site_id": site.id}
    groups: dict[str, list[str]] = {}
    for entry in described["sections"]:
        section = does(AddSection(**at, space_id=entry["space"], title=entry["title"], icon=entry["icon"]))
        if "description" in entry:
            does(UpdateSection(**at, site_section_id=section.id, description=entry["description"]))
        if "group" in entry:
            groups.setdefault(entry["group"], []).append(section.id)
    for title, sections in groups.items():
        does(AddSectionGroup(**at, title=title, sections=tuple(sections)))
    if described.get("published"):
        does(PublishSite(**at))
