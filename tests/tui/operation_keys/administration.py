"""Administration: organizations, teams, invite links, SAML, specifications, imports and more."""

import asyncio
import socket
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from tests.running_service import RunningService
from tests.tui.operation_keys.driver import HERE, Cursor, Family, Pick, Shows, Text, row
from tests.tui.operation_keys.places import administration, closed, form, yes

from presscheck.api.conversations import (
    IngestConversations,
    ListConversations,
    ListIssuesClusters,
    NewConversation,
)
from presscheck.api.imports import CancelImport, ImportTarget, ListImports, StartImport, WebsiteSource
from presscheck.api.invites import CreateInvite, DeleteInvite, ListInvites
from presscheck.api.openapi import (
    CreateOpenAPISpec,
    DeleteOpenAPISpec,
    ListOpenAPISpecs,
    SpecSource,
    UpdateOpenAPISpec,
)
from presscheck.api.organizations import ListOrganizations, UpdateOrganization
from presscheck.api.saml import (
    CreateSAMLProvider,
    DeleteSAMLProvider,
    GetSAMLProvider,
    ListSAMLProviders,
    ListSSOLogins,
    UpdateSAMLProvider,
)
from presscheck.api.teams import (
    AddTeamMember,
    CreateTeam,
    DeleteTeam,
    GetTeam,
    ListTeamMembers,
    ListTeams,
    RemoveTeamMember,
    UpdateTeam,
)
from presscheck.api.translations import (
    CreateTranslation,
    DeleteTranslation,
    ListTranslations,
    SourceToTranslate,
    UpdateTranslation,
)
from presscheck.client.client import Client

ORGANIZATION = {"organization_id": "tallowick"}
QUESTION = {"role": "user", "body": "I cannot find how a label is printed twice. Where is that?"}


async def prepare(client: Client) -> None:
    """Create a specification and a translation, and a conversation in which the service finds an issue."""
    spec = SpecSource(text="openapi: 3.1.0")
    await client.send(CreateOpenAPISpec(**ORGANIZATION, slug="parcels", source=spec))
    source = SourceToTranslate(space="runbook", language="en")
    await client.send(CreateTranslation(**ORGANIZATION, source=source, language="de"))
    talk = NewConversation.model_validate({"id": "talk", "subject": "Labels", "parts": [QUESTION]})
    await client.send(IngestConversations(**ORGANIZATION, conversations=(talk,)))
    async with asyncio.timeout(20):
        while not (await client.send(ListIssuesClusters(**ORGANIZATION))).items:  # noqa: ASYNC110  found by a job
            await asyncio.sleep(0.05)


@asynccontextmanager
async def running_import(service: RunningService, client: Client) -> AsyncIterator[None]:
    """Start an import that runs until it is canceled: its website accepts connections and never answers."""
    with socket.create_server(("127.0.0.1", 0)) as website:
        source = WebsiteSource(url=f"http://127.0.0.1:{website.getsockname()[1]}/")
        await client.send(StartImport(**ORGANIZATION, source=source, target=ImportTarget(space="runbook")))
        yield


FAMILY = Family(
    prepare=prepare,
    around=running_import,
    rows=(
        # first, before the service gives up on the website
        row(
            (ListImports, CancelImport),
            administration("Imports"),
            Cursor("127.0.0.1"),
            "-",
            *yes("Cancel "),
            closed(),
        ),
        row(ListTeams, administration("Teams")),
        row(
            CreateTeam,
            HERE,
            *("a", form(), Text("Writers"), "tab enter", Shows("Noor Haddad"), Text("Noor"), "tab enter", form()),
            *("ctrl+s", closed(), Shows("▌ Writers")),
        ),
        row(
            (GetTeam, UpdateTeam),
            HERE,
            Cursor("Writers"),
            "E",
            form(),
            Text("Editors"),
            "ctrl+s",
            closed(),
            Shows("▌ Editors"),
        ),
        row(ListTeamMembers, HERE, "enter", Shows("Members of a team"), Cursor("Noor Haddad")),
        row(AddTeamMember, HERE, "E", form(), "left ctrl+s", closed(), Shows("owner")),
        row(RemoveTeamMember, HERE, "-", *yes("Remove Noor Haddad?"), Shows("No members yet")),
        row(DeleteTeam, administration("Teams"), Cursor("Editors"), "-", *yes("Delete Editors?")),
        row(
            (ListInvites, CreateInvite, DeleteInvite),
            administration("Invite links"),
            "a",
            Shows("Invite to"),
            "enter",
            Shows("as"),
            Pick("read"),
            closed(),
            Shows("▌ "),
            "-",
            *yes("Revoke "),
        ),
        row(ListSAMLProviders, administration("SAML")),
        row(CreateSAMLProvider, HERE, "a", form(), Text("Keys"), "ctrl+s", closed(), Shows("▌ Keys")),
        row((GetSAMLProvider, ListSSOLogins), HERE, "enter", Shows("none yet: it needs"), "q"),
        row(UpdateSAMLProvider, HERE, Cursor("Keys"), "E", form(), Text("Locks"), "ctrl+s", closed(), Shows("▌ Locks")),
        row(DeleteSAMLProvider, HERE, "-", *yes("Delete Locks?"), closed()),
        row(ListOpenAPISpecs, administration("OpenAPI")),
        row(UpdateOpenAPISpec, HERE, Cursor("parcels"), "E", form(), "right ctrl+s", closed()),
        row(DeleteOpenAPISpec, HERE, "-", *yes("Delete parcels?"), closed()),
        row(ListTranslations, administration("Translations")),
        row(UpdateTranslation, HERE, Cursor("de"), "E", form(), Text("Say du."), "ctrl+s", closed()),
        row(DeleteTranslation, HERE, "-", *yes("Delete "), closed()),
        row(ListConversations, administration("Conversations")),
        row(ListIssuesClusters, administration("Issues")),
        row(
            (ListOrganizations, UpdateOrganization),
            administration("Organizations"),
            *("E", form(), Text("Tallowick Ltd"), "ctrl+s", closed()),
        ),
    ),
)
