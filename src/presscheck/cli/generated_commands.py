"""The families whose commands are calls and nothing more: organizations, teams, members and the like."""

from __future__ import annotations

import click

from presscheck.api import (
    collections,
    conversations,
    imports,
    integrations,
    openapi,
    organizations,
    teams,
    translations,
)
from presscheck.cli.command_factory import Verb, add


def _group(name: str, says: str, *verbs: Verb) -> click.Group:
    group = click.Group(name, help=says)
    add(group, *verbs)
    return group


org = _group(
    "org",
    "Organizations, each named by id or title.",
    Verb("list", organizations.ListOrganizations, ("id", "title", "type")),
    Verb("show", organizations.GetOrganization),
    Verb("edit", organizations.UpdateOrganization, done="Changed."),
)
team = _group(
    "team",
    "Teams of an organization.",
    Verb("list", teams.ListTeams, ("id", "title", "members")),
    Verb("show", teams.GetTeam),
    Verb("create", teams.CreateTeam, done="Created."),
    Verb("edit", teams.UpdateTeam, done="Changed."),
    Verb("delete", teams.DeleteTeam, done="Deleted.", asks="Delete this team"),
    Verb("members", teams.ListTeamMembers, ("organization.id", "organization.user.displayName", "team.role")),
    Verb("add", teams.AddTeamMember, done="Added.", help="Add a person to a team."),
    Verb("remove", teams.RemoveTeamMember, done="Removed.", asks="Remove this person from the team"),
)
member = _group(
    "member",
    "Members of an organization.",
    Verb("list", organizations.ListMembers, ("id", "user.displayName", "user.email", "role", "lastSeenAt")),
    Verb("show", organizations.GetMember),
    Verb("edit", organizations.UpdateMember, done="Changed."),
    Verb("remove", organizations.RemoveMember, done="Removed.", asks="Remove this person from the organization"),
)
collection = _group(
    "collection",
    "Collections of spaces.",
    Verb("list", collections.ListCollections, ("id", "title", "parent")),
    Verb("show", collections.GetCollection),
    Verb("create", collections.CreateCollection, done="Created."),
    Verb("edit", collections.UpdateCollection, done="Changed."),
    Verb("spaces", collections.ListSpacesInCollection, ("id", "title", "visibility")),
    Verb("move", collections.MoveCollection, done="Moved."),
    Verb("transfer", collections.TransferCollection, done="Transferred.", asks="Transfer it to another organization"),
    Verb("delete", collections.DeleteCollection, done="Deleted.", asks="Delete this collection"),
)
integration = _group(
    "integration",
    "Integrations and where they are installed.",
    Verb("list", integrations.ListIntegrations, ("name", "title", "visibility")),
    Verb("show", integrations.GetIntegration),
    Verb("installations", integrations.ListIntegrationInstallations, ("id", "status", "target.organization")),
    Verb("install", integrations.InstallIntegration, done="Installed."),
    Verb("uninstall", integrations.UninstallIntegration, done="Uninstalled.", asks="Uninstall it"),
    Verb("spaces", integrations.ListIntegrationSpaces, ("space", "installation", "status")),
    Verb("sites", integrations.ListIntegrationSites, ("site", "installation", "status")),
    Verb("events", integrations.ListIntegrationEvents, ("id", "status", "payload.type", "createdAt")),
    Verb("publish", integrations.PublishIntegration, done="Published."),
    Verb("unpublish", integrations.UnpublishIntegration, done="Unpublished.", asks="Unpublish this integration"),
)
specification = _group(
    "openapi",
    "OpenAPI specifications, each named by its slug.",
    Verb("list", openapi.ListOpenAPISpecs, ("slug", "processingState", "visibility", "updatedAt")),
    Verb("show", openapi.GetOpenAPISpec),
    Verb("create", openapi.CreateOpenAPISpec, done="Created."),
    Verb("put", openapi.PutOpenAPISpec, done="Put."),
    Verb("edit", openapi.UpdateOpenAPISpec, done="Changed."),
    Verb("version", openapi.GetLatestOpenAPISpecVersion),
    Verb("content", openapi.GetLatestOpenAPISpecContent),
    Verb("delete", openapi.DeleteOpenAPISpec, done="Deleted.", asks="Delete this specification"),
)
translation = _group(
    "translation",
    "Translations of spaces.",
    Verb("list", translations.ListTranslations, ("id", "language", "status", "source.space", "updatedAt")),
    Verb("show", translations.GetTranslation),
    Verb("create", translations.CreateTranslation, done="Created."),
    Verb("edit", translations.UpdateTranslation, done="Changed."),
    Verb("run", translations.RunTranslation, done="Begun."),
    Verb("delete", translations.DeleteTranslation, done="Deleted.", asks="Delete this translation"),
)
conversation = _group(
    "conversation",
    "Conversations with readers and the issues found in them.",
    Verb("list", conversations.ListConversations, ("id", "subject", "source", "createdAt")),
    Verb("show", conversations.GetConversation),
    Verb("ingest", conversations.IngestConversations, done="Imported."),
    Verb("issues", conversations.ListConversationIssues, ("issue.id", "issue.title", "conversation.id")),
    Verb("issue", conversations.GetConversationIssue),
    Verb("clusters", conversations.ListIssuesClusters, ("id", "label", "stats.issues", "updatedAt")),
)
running = _group(
    "import",
    "Imports of websites and files.",
    Verb("list", imports.ListImports, ("id", "status", "startedAt", "completedAt")),
    Verb("show", imports.GetImport),
    Verb("start", imports.StartImport, done="Begun."),
    Verb("cancel", imports.CancelImport, done="Cancelled.", asks="Cancel this import"),
)
