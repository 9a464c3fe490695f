"""Calls on sites."""

from __future__ import annotations

from .organizations import roles
from .talk import Talk


async def sites(say: Talk, org: str, spaces: list[str]) -> None:
    """Build, publish, unpublish and delete a site."""
    site = await say("sites.CreateSite", organization_id=org, title="Lamps", spaces=spaces[:1])
    at = {"organization_id": org, "site_id": site.id}
    await say("sites.ListSites", organization_id=org)
    await say("sites.GetSite", **at)
    await say("sites.UpdateSite", **at, title="All lamps")
    added = await say("site_structure.AddSiteSpace", **at, space_id=spaces[1])
    await say("site_structure.ListSiteSpaces", **at)
    await say("site_structure.MoveSiteSpace", **at, site_space_id=added.id)
    copied = await say("site_structure.DuplicateSiteSpace", **at, site_space_id=added.id)
    await say("site_structure.DeleteSiteSpace", **at, site_space_id=copied.id)
    await say("site_structure.UpdateSiteSpace", **at, site_space_id=added.id, path="second")
    await say("site_structure.DeleteSiteSpace", **at, site_space_id=added.id)
    section = await say("site_structure.AddSection", **at, space_id=spaces[1], title="Second")
    third = await say("site_structure.AddSection", **at, space_id=spaces[2], title="Third")
    group = await say("site_structure.AddSectionGroup", **at, title="Group", sections=[third.id])
    for name in ("GetSiteStructure", "ListSections", "ListSectionGroups"):
        await say(f"site_structure.{name}", **at)
    await say("site_structure.UpdateSection", **at, site_section_id=section.id, title="The second")
    await say("site_structure.UpdateSectionGroup", **at, site_section_group_id=group.id, title="Groups")
    moved = {"type": "site-section", "id": section.id}
    after = {"after": {"type": "site-section-group", "id": group.id}}
    await say("site_structure.SortSiteStructure", **at, item=moved, position=after)
    await say("site_structure.MoveSiteSection", **at, site_section_id=section.id)
    await say("site_structure.MoveSiteSectionGroup", **at, site_section_group_id=group.id)
    await say("style_guides.CreateStyleGuide", **at)
    shop = await say("external_links.AddExternalLink", **at, title="Shop", url="https://example.org/")
    out = {**at, "site_external_link_id": shop.id}
    await say("external_links.UpdateExternalLink", **out, title="Store", parent=group.id)
    await say("external_links.DeleteExternalLink", **out)
    [*_, placed] = (await say("site_structure.ListSiteSpaces", **at)).items
    in_site = {**at, "site_space_id": placed.id}
    await say("site_settings.OverrideSiteSpaceCustomization", **in_site, settings={"title": "Own"})
    await say("site_settings.GetSiteSpaceCustomization", **in_site)
    await say("site_settings.DeleteSiteSpaceCustomization", **in_site)
    await say("site_structure.DeleteSectionGroup", **at, site_section_group_id=group.id)
    await say("site_structure.DeleteSection", **at, site_section_id=section.id)
    await say("sites.PublishSite", **at)
    await say("published_sites.GetPublishedSite", **at)
    url = (await say("sites.GetSite", **at)).urls.published
    await say("url_lookup.GetPublishedContent", url=url)
    await say("url_lookup.ResolvePublishedContent", url=url, visitor={"unsigned_claims": {"isBeta": True}})
    await say("published_sites.SearchSite", **at, query="step", scope={"mode": "all"})
    await say("site_events.AggregateSiteEvents", **at, range="last30Days", select=[{"column": "eventsCount"}])
    finding = (await say("site_findings.ListSiteFindings", **at)).items[0]
    await say("site_findings.GetSiteFindingStats", **at)
    for name in ("GetSiteFinding", "ListSiteFindingPages", "ListSiteFindingChangeRequests"):
        await say(f"site_findings.{name}", **at, site_finding_id=finding.id)
    await say("site_findings.UpdateSiteFinding", **at, site_finding_id=finding.id, status="done")
    await say("embeds.GetSpaceEmbed", space_id=spaces[0], url="https://example.org/a-lamp.html")
    await site_settings(say, at)
    team = await say("teams.CreateTeam", organization_id=org, title="Publishers")
    await roles(say, "Site", at, team.id)
    await say("sites.UnpublishSite", **at)
    await say("sites.DeleteSite", **at)


async def site_settings(say: Talk, at: dict[str, str]) -> None:
    link = await say("site_settings.CreateShareLink", **at, name="For us")
    await say("site_settings.ListShareLinks", **at)
    await say("site_settings.UpdateShareLink", **at, share_link_id=link.id, active=False)
    await say("site_settings.DeleteShareLink", **at, share_link_id=link.id)
    looks = await say("site_settings.GetCustomization", **at)
    await say("site_settings.UpdateCustomization", **at, settings=looks)
    schema = {"type": "object", "properties": {}, "additionalProperties": False}
    await say("site_settings.UpdateAdaptiveSchema", **at, json_schema=schema)
    await say("site_settings.GetAdaptiveSchema", **at)
    await say("site_settings.ListTemplateConditions", **at)
    await say("site_settings.GetPublishingAuth", **at)
    await say("site_settings.GetPreview", **at, claims="(isBeta:!t)")
    await say("site_settings.UpdatePublishingAuth", **at, backend="custom")
    await say("site_settings.RegeneratePublishingAuth", **at)
    out = {"kind": "external", "url": "https://example.org/"}
    redirect = await say("site_settings.CreateRedirect", **at, source="/old", destination=out)
    await say("site_settings.ListRedirects", **at)
    await say("site_settings.GetRedirectBySource", **at, source="/old/")
    await say("site_settings.UpdateRedirect", **at, site_redirect_id=redirect.id, source="/older")
    await say("site_settings.DeleteRedirect", **at, site_redirect_id=redirect.id)
    changes = [{"source": "/older", "destination": out}, {"source": "/gone", "destination": None}]
    changed = await say("site_settings.BulkUpsertRedirects", **at, redirects=changes)
    assert [result.status for result in changed.results] == ["created", "error"]
