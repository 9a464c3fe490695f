"""Calls on external content: specifications, translations, conversations, imports, integrations."""

from __future__ import annotations

import asyncio
from typing import Any

from tests.service.integration_scripts import LISTENER

from presscheck.documents.lz_string import compressed

from .talk import Talk

SPEC = '{"openapi": "3.0.3", "info": {"title": "Lamps", "version": "1"}, "paths": {}}'


async def until(say: Talk, name: str, is_reached: Any, /, **given: Any) -> Any:
    """Repeat a call until `is_reached` returns True for its response. Returns the response."""
    for _ in range(400):
        found = await say(name, **given)
        if is_reached(found):
            return found
        await asyncio.sleep(0.02)
    raise AssertionError(f"{name}: {found}")


async def outside(say: Talk, org: str, space: str) -> None:
    """Make all calls on external content."""
    await specifications(say, org)
    await translations(say, org, space)
    await conversations(say, org)
    await imports(say, org, space)
    await integrations(say, org)
    await repositories(say, space)


async def specifications(say: Talk, org: str) -> None:
    at = {"organization_id": org}
    await say("openapi.CreateOpenAPISpec", **at, slug="lamps", source={"text": SPEC})
    here = {**at, "spec_slug": "lamps"}
    done = await until(say, "openapi.GetOpenAPISpec", lambda one: one.processing_state == "complete", **here)
    assert (done.last_process_error_code, done.urls.published) == (None, None)
    await say("openapi.ListOpenAPISpecs", **at)
    shown = await say("openapi.UpdateOpenAPISpec", **here, visibility="public")
    assert shown.urls.published
    await say("openapi.GetLatestOpenAPISpecVersion", **here)
    [version] = (await say("openapi.ListOpenAPISpecVersions", **here)).items
    await say("openapi.GetOpenAPISpecVersion", **here, version_id=version.id)
    await say("openapi.GetOpenAPISpecVersionContent", **here, version_id=version.id)
    assert '"Lamps"' in (await say("openapi.GetLatestOpenAPISpecRawContent", **here)).text
    content = await say("openapi.GetLatestOpenAPISpecContent", **here)
    assert content.filesystem["openapi.json"]["info"]["title"] == "Lamps"
    await say("openapi.PutOpenAPISpec", **here, source={"text": SPEC})
    await say("openapi.DeleteOpenAPISpec", **here)


async def translations(say: Talk, org: str, space: str) -> None:
    at = {"organization_id": org}
    source = {"space": space, "language": "en"}
    begun = await say("translations.CreateTranslation", **at, source=source, language="de")
    here = {**at, "translation_id": begun.id}
    done = await until(say, "translations.GetTranslation", lambda one: one.status == "completed", **here)
    assert done.result and done.stats.latest_pages and done.stats.model_extra == {"copiedOnly": True}
    await say("translations.ListTranslations", **at)
    nodes = {"object": "document", "data": {}, "nodes": []}
    await say("translations.UpdateTranslation", **here, instructions=nodes)
    await say("translations.RunTranslation", **here)
    await say("translations.DeleteTranslation", **here)


async def conversations(say: Talk, org: str) -> None:
    at = {"organization_id": org}
    said = [{"role": "user", "body": "I cannot find how a lamp is filled with oil. Where is that?"}]
    await say("conversations.IngestConversations", **at, conversations=[{"id": "c1", "parts": said}])
    found = await until(say, "conversations.ListConversationIssues", lambda page: page.items, **at)
    await say("conversations.GetConversationIssue", **at, issue_id=found.items[0].issue.id)
    await say("conversations.ListConversations", **at)
    await say("conversations.GetConversation", **at, conversation_id="c1")
    clusters = await say("conversations.ListIssuesClusters", **at)
    assert clusters.items[0].stats.issues == 1


async def imports(say: Talk, org: str, space: str) -> None:
    """Complete an import, and cancel another during its slow first page."""
    at = {"organization_id": org}
    website = {"type": "website", "url": f"{say.website}/"}
    run = await say("imports.StartImport", **at, source=website, target={"space": space})
    here = {**at, "import_run_id": run.id}
    done = await until(say, "imports.GetImport", lambda one: one.status == "completed", **here)
    assert [page.source_url for page in done.pages] == [f"{say.website}/", f"{say.website}/oil/"]
    await say("imports.ListImports", **at, space=space)
    run = await say("imports.StartImport", **at, source=website, target={"space": space})
    await say("imports.CancelImport", **at, import_run_id=run.id)


async def integrations(say: Talk, org: str) -> None:
    at = {"integration_name": "lamp-post"}
    details = {"title": "Lamp post", "description": "Lights", "scopes": ["space:content:read"], "script": LISTENER}
    details["content_sources"] = [{"id": "pages", "title": "Pages", "configuration": {"componentId": "pages"}}]
    await say("integrations.PublishIntegration", **at, **details, organization=org, external_links=[])
    await say("integrations.ListIntegrations")
    await say("integrations.GetIntegration", **at)
    installed = await say("integrations.InstallIntegration", **at, organization=org)
    here = {**at, "installation_id": installed.id}
    await say("integrations.GetInstallation", **here)
    await say("integrations.UpdateInstallation", **here, configuration={"bright": True}, external_ids=["x"])
    await say("integrations.ListIntegrationInstallations", **at, external_id="x")
    for name in ("ListIntegrationSpaces", "ListIntegrationSites"):
        await say(f"integrations.{name}", **at, extended=True)
        await say(f"integrations.{name}", **at)
    await installations(say, org, here)
    events = await until(say, "integrations.ListIntegrationEvents", lambda page: len(page.items) > 1, **at)
    traced = await say("integrations.GetIntegrationEvent", **at, event_id=events.items[0].id)
    assert (traced.event.status, traced.trace.logs[-1].message) == ("success", "Response: 200, text/plain: OK")
    await rendering(say, at)
    [space, *_] = (await say("spaces.ListSpaces", organization_id=org)).items
    given = {"space_id": space.id, "source": {"type": "integration:lamp-post:pages", "props": {}}, "seed": "1"}
    await say("integrations.UpdateInstallation", **here, space_selection="all")
    await say("computed_content.GetComputedDocument", **given, document_schema="current")
    await say("computed_content.GetComputedRevision", **given)
    await say("integrations.UninstallIntegration", **here)
    await say("integrations.UnpublishIntegration", **at)


async def installations(say: Talk, org: str, here: dict[str, str]) -> None:
    """Install an integration in a selected space and a selected site."""
    await say("integrations.UpdateInstallation", **here, space_selection="selected", site_selection="selected")
    spaces = await say("spaces.ListSpaces", organization_id=org)
    space = {"space_id": spaces.items[0].id}
    site = {"site_id": (await say("sites.CreateSite", organization_id=org, title="Post", spaces=[])).id}
    await say("content_installations.InstallInSpace", **here, space=space["space_id"], extended=True)
    await say("content_installations.InstallInSite", **here, **site)
    for name, place in (("Space", space), ("Site", site)):
        await say(f"content_installations.Get{name}Installation", **here, **place, extended=True)
        await say(f"content_installations.Update{name}Installation", **here, **place, configuration={"bright": True})
        await say(f"content_installations.ListInstallation{name}s", **here)
    await say("content_installations.ListOrganizationIntegrations", organization_id=org)
    await say("content_installations.ListOrganizationInstallations", organization_id=org)
    await say("content_installations.ListOrganizationIntegrationsStatus", organization_id=org)
    named = {"organization_id": org, "integration_name": here["integration_name"]}
    await say("content_installations.GetOrganizationIntegrationStatus", **named)
    await say("content_installations.ListSpaceIntegrations", **space)
    await say("content_installations.ListSpaceIntegrationBlocks", **space)
    await say("content_installations.ListSiteIntegrations", organization_id=org, **site)
    await say("content_installations.ListSiteIntegrationScripts", organization_id=org, **site)
    await say("content_installations.UninstallFromSpace", **here, **space)
    await say("content_installations.UninstallFromSite", **here, **site)


async def rendering(say: Talk, at: dict[str, str]) -> None:
    """Render a component without and with a development tunnel."""
    drawn = {"component_id": "lamp", "props": {}, "context": {"theme": "dark", "type": "configuration_account"}}
    for _ in range(2):
        shown = await say("integrations.RenderIntegration", **at, **drawn)
        assert shown.element["type"] == "block"
        await say("integrations.SetDevelopmentMode", **at, tunnel_url=say.website)
    packed = compressed('{"componentId": "lamp", "props": {}, "context": {}}')
    await say("integrations.RenderIntegrationWithGet", **at, request=packed)
    await say("integrations.DisableDevelopmentMode", **at)


async def repositories(say: Talk, space: str) -> None:
    """Export a space to a Git repository, and import it again."""
    at = {"space_id": space, "url": "lamps.git", "ref": "main"}
    await say("git_repositories.ExportToGitRepository", **at, commit_message="Lamps")
    await say("git_repositories.ImportGitRepository", **at)
