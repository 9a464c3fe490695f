"""Command groups whose commands each send one operation: organizations, teams, members and others."""

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
from presscheck.cli.command_factory import CommandSpec, add


def _group(name: str, description: str, *specs: CommandSpec) -> click.Group:
    group = click.Group(name, help=description)
    add(group, *specs)
    return group


org = _group(
    "org",
    "Manage organizations.\n\nORG is the id or the title of an organization.",
    CommandSpec("list", organizations.ListOrganizations, ("id", "title", "type")),
    CommandSpec("show", organizations.GetOrganization, help="Show an organization."),
    CommandSpec("edit", organizations.UpdateOrganization, done="Organization updated."),
)
team = _group(
    "team",
    "Manage the teams of an organization.\n\nTEAM and USER are ids.",
    CommandSpec("list", teams.ListTeams, ("id", "title", "members")),
    CommandSpec("show", teams.GetTeam, help="Show a team."),
    CommandSpec("create", teams.CreateTeam, done="Team created."),
    CommandSpec("edit", teams.UpdateTeam, done="Team renamed."),
    CommandSpec("delete", teams.DeleteTeam, done="Team deleted.", confirm="Delete this team"),
    CommandSpec("members", teams.ListTeamMembers, ("organization.id", "organization.user.displayName", "team.role")),
    CommandSpec("add", teams.AddTeamMember, done="User added to the team."),
    CommandSpec(
        "remove", teams.RemoveTeamMember, done="User removed from the team.", confirm="Remove this user from the team"
    ),
)
member = _group(
    "member",
    "Manage the members of an organization.\n\nUSER is a user id.",
    CommandSpec("list", organizations.ListMembers, ("id", "user.displayName", "user.email", "role", "lastSeenAt")),
    CommandSpec("show", organizations.GetMember, help="Show a member of an organization."),
    CommandSpec("edit", organizations.UpdateMember, done="Role changed."),
    CommandSpec(
        "remove",
        organizations.RemoveMember,
        done="Member removed.",
        confirm="Remove this member from the organization",
    ),
)
collection = _group(
    "collection",
    "Manage collections of spaces.\n\nCOLLECTION is a collection id.",
    CommandSpec("list", collections.ListCollections, ("id", "title", "parent")),
    CommandSpec("show", collections.GetCollection, help="Show a collection."),
    CommandSpec("create", collections.CreateCollection, done="Collection created."),
    CommandSpec("edit", collections.UpdateCollection, done="Collection updated."),
    CommandSpec("spaces", collections.ListSpacesInCollection, ("id", "title", "visibility")),
    CommandSpec("move", collections.MoveCollection, done="Collection moved."),
    CommandSpec(
        "transfer",
        collections.TransferCollection,
        done="Collection transferred.",
        confirm="Transfer this collection to another organization",
    ),
    CommandSpec("delete", collections.DeleteCollection, done="Collection deleted.", confirm="Delete this collection"),
)
integration = _group(
    "integration",
    "Manage integrations and their installations.\n\nINTEGRATION is the name of an integration, INSTALLATION an id.",
    CommandSpec("list", integrations.ListIntegrations, ("name", "title", "visibility")),
    CommandSpec("show", integrations.GetIntegration, help="Show an integration."),
    CommandSpec("installations", integrations.ListIntegrationInstallations, ("id", "status", "target.organization")),
    CommandSpec("install", integrations.InstallIntegration, done="Integration installed."),
    CommandSpec(
        "uninstall",
        integrations.UninstallIntegration,
        done="Integration uninstalled.",
        confirm="Uninstall this integration",
    ),
    CommandSpec("spaces", integrations.ListIntegrationSpaces, ("space", "installation", "status")),
    CommandSpec("sites", integrations.ListIntegrationSites, ("site", "installation", "status")),
    CommandSpec("events", integrations.ListIntegrationEvents, ("id", "status", "payload.type", "createdAt")),
    CommandSpec("publish", integrations.PublishIntegration, done="Integration published."),
    CommandSpec(
        "unpublish",
        integrations.UnpublishIntegration,
        done="Integration deleted.",
        confirm="Delete this integration for all organizations",
    ),
)
specification = _group(
    "openapi",
    "Manage OpenAPI specifications.\n\nSPEC is the slug of a specification.",
    CommandSpec("list", openapi.ListOpenAPISpecs, ("slug", "processingState", "visibility", "updatedAt")),
    CommandSpec("show", openapi.GetOpenAPISpec, help="Show an OpenAPI specification."),
    CommandSpec("create", openapi.CreateOpenAPISpec, done="Specification created."),
    CommandSpec("put", openapi.PutOpenAPISpec, done="Specification saved."),
    CommandSpec("edit", openapi.UpdateOpenAPISpec, done="Specification updated."),
    CommandSpec("version", openapi.GetLatestOpenAPISpecVersion, help="Show the latest version of a specification."),
    CommandSpec("content", openapi.GetLatestOpenAPISpecContent, help="Print the latest content of a specification."),
    CommandSpec(
        "delete", openapi.DeleteOpenAPISpec, done="Specification deleted.", confirm="Delete this specification"
    ),
)
translation = _group(
    "translation",
    "Manage translations of spaces.\n\nTRANSLATION is a translation id.",
    CommandSpec("list", translations.ListTranslations, ("id", "language", "status", "source.space", "updatedAt")),
    CommandSpec("show", translations.GetTranslation, help="Show a translation."),
    CommandSpec("create", translations.CreateTranslation, done="Translation started."),
    CommandSpec("edit", translations.UpdateTranslation, done="Translation updated."),
    CommandSpec("run", translations.RunTranslation, done="Translation started."),
    CommandSpec(
        "delete", translations.DeleteTranslation, done="Translation deleted.", confirm="Delete this translation"
    ),
)
conversation = _group(
    "conversation",
    "Read visitor conversations and the issues found in them.\n\nCONVERSATION and ISSUE are ids.",
    CommandSpec("list", conversations.ListConversations, ("id", "subject", "source", "createdAt")),
    CommandSpec("show", conversations.GetConversation, help="Show a conversation with its messages."),
    CommandSpec("ingest", conversations.IngestConversations, done="Conversations imported."),
    CommandSpec("issues", conversations.ListConversationIssues, ("issue.id", "issue.title", "conversation.id")),
    CommandSpec("issue", conversations.GetConversationIssue, help="Show an issue found in conversations."),
    CommandSpec("clusters", conversations.ListIssuesClusters, ("id", "label", "stats.issues", "updatedAt")),
)
import_group = _group(
    "import",
    "Manage imports of websites and files.\n\nIMPORT is an import id.",
    CommandSpec("list", imports.ListImports, ("id", "status", "startedAt", "completedAt")),
    CommandSpec("show", imports.GetImport, help="Show an import."),
    CommandSpec("start", imports.StartImport, done="Import started."),
    CommandSpec("cancel", imports.CancelImport, done="Import cancelled.", confirm="Cancel this import"),
)
