"""What administration lists: organizations, teams, invite links, SAML, specifications, imports and more."""

import asyncio
import socket
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from tests.running_service import RunningService
from tests.tui.operation_keys.driver import HERE, Cursor, Family, Pasted, Shows, Text, row
from tests.tui.operation_keys.places import administration, closed, form, yes

from presscheck.api.conversations import (
    IngestConversations,
    ListConversationIssues,
    ListConversations,
    ListIssuesClusters,
    NewConversation,
)
from presscheck.api.imports import CancelImport, ImportTarget, StartImport, WebsiteSource
from presscheck.api.integrations import ListIntegrations
from presscheck.api.invites import DeleteInvite
from presscheck.api.openapi import (
    CreateOpenAPISpec,
    DeleteOpenAPISpec,
    GetOpenAPISpec,
    ListOpenAPISpecs,
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
from presscheck.api.translations import CreateTranslation, DeleteTranslation, ListTranslations, UpdateTranslation
from presscheck.client.client import Client

ORGANIZATION = {"organization_id": "tallowick"}
QUESTION = {"role": "user", "body": "I cannot find how a label is printed twice. Where is that?"}


async def prepare(client: Client) -> None:
    """A conversation in which the service has found an issue."""
    talk = NewConversation.model_validate({"id": "talk", "subject": "Labels", "parts": [QUESTION]})
    await client.send(IngestConversations(**ORGANIZATION, conversations=(talk,)))
    async with asyncio.timeout(20):
        while not (await client.send(ListIssuesClusters(**ORGANIZATION))).items:  # noqa: ASYNC110  found by a job
            await asyncio.sleep(0.05)


@asynccontextmanager
async def running_import(service: RunningService, client: Client) -> AsyncIterator[None]:
    """An import that runs until it is canceled: its website accepts connections and never answers."""
    with socket.create_server(("127.0.0.1", 0)) as website:
        source = WebsiteSource(url=f"http://127.0.0.1:{website.getsockname()[1]}/")
        await client.send(StartImport(**ORGANIZATION, source=source, target=ImportTarget(space="runbook")))
        yield


FAMILY = Family(
    prepare=prepare,
    around=running_import,
    rows=(
        # first, while it runs: its website is given up after a while
        row(
            CancelImport,
            administration("Imports"),
            Cursor("127.0.0.1"),
            "-",
            *yes("Cancel "),
            closed(),
        ),
        row(
            StartImport,
            HERE,
            *("a", form(), Pasted('{"type": "website", "url": "http://127.0.0.1:9/"}'), "tab"),
            *(Pasted('{"space": "runbook"}'), "ctrl+s", closed()),
        ),
        row(ListTeams, administration("Teams")),
        row(
            CreateTeam,
            HERE,
            *("a", form(), Text("Writers"), "tab enter", Shows("Noor Haddad"), Text("Noor"), "tab enter", form()),
            *("ctrl+s", closed(), Shows("▌ Writers")),
        ),
        row((GetTeam, UpdateTeam), HERE, Cursor("Writers"), "E", form(), Text("Editors"), "ctrl+s", Shows("▌ Editors")),
        row(ListTeamMembers, HERE, "enter", Shows("Members of a team"), Cursor("Noor Haddad")),
        row(AddTeamMember, HERE, "E", form(), "left ctrl+s", Shows("owner")),
        row(RemoveTeamMember, HERE, "-", *yes("Remove Noor Haddad?"), Shows("No members yet")),
        row(DeleteTeam, administration("Teams"), Cursor("Editors"), "-", *yes("Delete Editors?")),
        row(
            DeleteInvite,
            administration("Invite links"),
            "a",
            form(),
            "right ctrl+s",
            closed(),
            Shows("▌ "),
            "-",
            *yes("Revoke "),
        ),
        row(ListSAMLProviders, administration("SAML")),
        row(CreateSAMLProvider, HERE, "a", form(), Text("Keys"), "ctrl+s", closed(), Shows("▌ Keys")),
        row((GetSAMLProvider, ListSSOLogins), HERE, "enter", Shows("none yet: it needs"), "q"),
        row(UpdateSAMLProvider, HERE, Cursor("Keys"), "E", form(), Text("Locks"), "ctrl+s", Shows("▌ Locks")),
        row(DeleteSAMLProvider, HERE, "-", *yes("Delete Locks?"), closed()),
        row(ListOpenAPISpecs, administration("OpenAPI")),
        row(
            CreateOpenAPISpec,
            HERE,
            *("a", form(), Text("parcels"), "tab", Pasted('{"text": "openapi: 3.1.0"}'), "ctrl+s"),
            *(closed(), Shows("▌ parcels")),
        ),
        row((GetOpenAPISpec, UpdateOpenAPISpec), HERE, "E", form(), "right ctrl+s", closed()),
        row(DeleteOpenAPISpec, HERE, "-", *yes("Delete parcels?"), closed()),
        row(ListTranslations, administration("Translations")),
        row(
            CreateTranslation,
            HERE,
            *("a", form(), Pasted('{"space": "runbook", "language": "en"}'), "tab right right right ctrl+s"),
            *(closed(), Shows("▌ de")),
        ),
        row(UpdateTranslation, HERE, "E", form(), "ctrl+s", closed()),
        row(DeleteTranslation, HERE, "-", *yes("Delete "), closed()),
        row(ListIntegrations, administration("Integrations")),
        row(ListConversations, administration("Conversations")),
        row(ListIssuesClusters, administration("Issues")),
        row(ListConversationIssues, HERE, "enter", Shows("› Issues")),
        row(
            (ListOrganizations, UpdateOrganization),
            administration("Organizations"),
            *("E", form(), Text("Tallowick Ltd"), "ctrl+s", closed()),
        ),
    ),
)
