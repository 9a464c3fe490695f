"""Command groups whose commands each send one operation: organizations, teams, members and others."""

from __future__ import annotations

from presscheck.api import (
    agent_instructions,
    ask,
    audit_events,
    collections,
    content_installations,
    conversations,
    imports,
    integrations,
    invites,
    organizations,
    permissions,
    style_guides,
    system,
    teams,
    translations,
    url_lookup,
    users,
)
from presscheck.cli.operations.command_factory import CommandSpec, build_command, group_of

org = group_of(
    "org",
    "Manage organizations.\n\nORG is the id or the title of an organization.",
    CommandSpec("list", organizations.ListOrganizations, ("id", "title", "type")),
    CommandSpec("show", organizations.GetOrganization, help="Show an organization."),
    CommandSpec("edit", organizations.UpdateOrganization, done="Organization updated."),
    CommandSpec(
        "search",
        organizations.SearchOrganization,
        positional=("query",),
        help="Search all content of an organization.\n\nQUERY has at most 512 characters.",
    ),
    CommandSpec(
        "ask",
        ask.AskOrganization,
        positional=("query",),
        help="Ask a question about the content of an organization.\n\nQUERY is the question.",
    ),
    CommandSpec(
        "integrations",
        content_installations.ListOrganizationIntegrations,
        ("name", "title", "visibility"),
    ),
    CommandSpec(
        "installations",
        content_installations.ListOrganizationInstallations,
        ("integration.name", "installation.id", "installation.status"),
    ),
    CommandSpec(
        "installed",
        content_installations.ListOrganizationIntegrationsStatus,
        ("integration.name", "integration.title", "status"),
        help="List what is installed, with its status.",
    ),
    CommandSpec(
        "integration-status",
        content_installations.GetOrganizationIntegrationStatus,
        help="Show the status of an integration in an organization.",
    ),
    CommandSpec(
        "for-domain",
        organizations.GetOrganizationsForEmailDomain,
        ("id", "title"),
        items="organizations",
    ),
    CommandSpec(
        "join",
        organizations.JoinOrganization,
        done="Joined.",
        positional=("organization_id",),
        ids=("organization_id",),
        help="Join an organization by your verified email domain.\n\nORGANIZATION is an id: see `org for-domain`.",
    ),
)
org.add_command(
    group_of(
        "instructions",
        "Manage the instructions of an organization to AI agents.",
        CommandSpec("show", agent_instructions.GetAgentInstructions, help="Show the instructions."),
        CommandSpec("set", agent_instructions.UpdateAgentInstructions, done="Instructions saved."),
    )
)
org.add_command(
    group_of(
        "style-guides",
        "List the style guides of an organization.\n\n`presscheck site create-style-guide` creates one for a site.",
        CommandSpec(
            "list", style_guides.ListStyleGuides, ("space.id", "space.title", "sites.0.title"), items="styleguides"
        ),
        CommandSpec("templates", style_guides.ListStyleGuideTemplates, ("id", "title", "subtitle"), items="templates"),
    )
)
org.add_command(
    group_of(
        "audit",
        "Show who changed what in an organization. Only its admins may.",
        CommandSpec(
            "list", audit_events.ListAuditEvents, ("occurredAt", "actor.label", "action", "target.type", "target.id")
        ),
        CommandSpec("show", audit_events.GetAuditEvent, help="Show an event, with the ids and settings of the change."),
        CommandSpec("actions", audit_events.ListAuditEventActions, ("id", "label"), items="items"),
    )
)
invite = group_of(
    "invite",
    "Invite people, and manage invite links.\n\nINVITE is an id.",
    CommandSpec("list", invites.ListInvites, ("id", "role", "redundant")),
    CommandSpec("show", invites.GetInvite, help="Show an invite link."),
    CommandSpec("create", invites.CreateInvite, done="Invite link created."),
    CommandSpec("edit", invites.UpdateInvite, done="Invite link updated."),
    CommandSpec("delete", invites.DeleteInvite, done="Invite link deleted.", confirm="Delete this invite link"),
    CommandSpec("people", invites.InviteUsers, done="Invited."),
    CommandSpec("join", invites.JoinWithInvite, done="Joined."),
)
user = group_of(
    "user",
    "Show users.\n\nUSER is a user id. `presscheck whoami` shows the signed-in user.",
    CommandSpec("show", users.GetUser, help="Show a user."),
)
lookup = build_command(
    CommandSpec(
        "lookup",
        url_lookup.GetContentByUrl,
        positional=("url",),
        help="Show which space, page and change a URL leads to.",
    )
)
service = build_command(CommandSpec("service", system.GetApiInformation, help="Show the version of the service."))
team = group_of(
    "team",
    "Manage the teams of an organization.\n\nTEAM is an id or a title, USER an id, a name or an email address.",
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
    CommandSpec("edit-members", teams.UpdateTeamMembers, done="Members updated."),
)
USER_COLUMNS = ("user.id", "user.displayName", "user.email", "permission")
member = group_of(
    "member",
    "Manage the members of an organization.\n\nUSER is an id, a name or an email address.",
    CommandSpec("list", organizations.ListMembers, ("id", "user.displayName", "user.email", "role", "lastSeenAt")),
    CommandSpec("show", organizations.GetMember, help="Show a member of an organization."),
    CommandSpec("edit", organizations.UpdateMember, done="Role changed."),
    CommandSpec("spaces", permissions.ListSpacesOfMember, ("space.id", "space.title", "permission")),
    CommandSpec("teams", teams.ListTeamsOfMember, ("team.id", "team.title", "member.role")),
    CommandSpec("ping", organizations.UpdateLastSeen, done="Recorded."),
    CommandSpec(
        "remove",
        organizations.RemoveMember,
        done="Member removed.",
        confirm="Remove this member from the organization",
    ),
)
collection = group_of(
    "collection",
    "Manage collections of spaces.\n\nCOLLECTION is the id or the title of a collection.",
    CommandSpec("list", collections.ListCollections, ("id", "title", "parent")),
    CommandSpec("show", collections.GetCollection, help="Show a collection."),
    CommandSpec("create", collections.CreateCollection, done="Collection created."),
    CommandSpec("edit", collections.UpdateCollection, done="Collection updated."),
    CommandSpec("spaces", collections.ListSpacesInCollection, ("id", "title", "visibility")),
    CommandSpec("invite", permissions.InviteToCollection, done="Role given."),
    CommandSpec("access", permissions.ListCollectionPermissions, USER_COLUMNS),
    CommandSpec("move", collections.MoveCollection, done="Collection moved."),
    CommandSpec(
        "transfer",
        collections.TransferCollection,
        done="Collection transferred.",
        confirm="Transfer this collection to another organization",
    ),
    CommandSpec("delete", collections.DeleteCollection, done="Collection deleted.", confirm="Delete this collection"),
)
collection.add_command(
    group_of(
        "teams",
        "Manage the access of teams to a collection.\n\nTEAM is the id or the title of a team.",
        CommandSpec("list", permissions.ListCollectionTeamPermissions, ("team.id", "team.title", "permission")),
        CommandSpec("set", permissions.UpdateCollectionTeamPermission, done="Role changed."),
        CommandSpec(
            "remove",
            permissions.RemoveCollectionTeamPermission,
            done="Access removed.",
            confirm="Remove the access of this team",
        ),
    )
)
collection.add_command(
    group_of(
        "users",
        "Manage the roles of users in a collection.\n\nUSER is an id, a name or an email address.",
        CommandSpec("list", permissions.ListCollectionUserPermissions, USER_COLUMNS),
        CommandSpec("set", permissions.UpdateCollectionUserPermission, done="Role changed."),
        CommandSpec(
            "remove",
            permissions.RemoveCollectionUserPermission,
            done="Role removed.",
            confirm="Remove the role of this user",
        ),
    )
)
integration = group_of(
    "integration",
    "Manage integrations and their installations.\n\nINTEGRATION is the name of an integration, INSTALLATION an id.",
    CommandSpec("list", integrations.ListIntegrations, ("name", "title", "visibility")),
    CommandSpec("show", integrations.GetIntegration, help="Show an integration."),
    CommandSpec("installations", integrations.ListIntegrationInstallations, ("id", "status", "target.organization")),
    CommandSpec("installation", integrations.GetInstallation, help="Show an installation of an integration."),
    CommandSpec("configure", integrations.UpdateInstallation, done="Installation updated."),
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
    CommandSpec("event", integrations.GetIntegrationEvent, help="Show an event of an integration with its trace."),
    CommandSpec("render", integrations.RenderIntegration, done="Rendered.", is_shown=True),
    CommandSpec("render-get", integrations.RenderIntegrationWithGet),
    CommandSpec("publish", integrations.PublishIntegration, done="Integration published."),
    CommandSpec(
        "unpublish",
        integrations.UnpublishIntegration,
        done="Integration deleted.",
        confirm="Delete this integration for all organizations",
    ),
)
integration.add_command(
    group_of(
        "tunnel",
        "Manage where the events of an integration in development go.",
        CommandSpec("set", integrations.SetDevelopmentMode, done="Events are sent to the tunnel."),
        CommandSpec(
            "remove",
            integrations.DisableDevelopmentMode,
            done="Events are no longer sent to the tunnel.",
            confirm="Stop sending events to the tunnel",
        ),
    )
)
integration.add_command(
    group_of(
        "space",
        "Manage an installation in selected spaces.",
        CommandSpec("list", content_installations.ListInstallationSpaces, ("space", "status")),
        CommandSpec("show", content_installations.GetSpaceInstallation, help="Show the settings in a space."),
        CommandSpec("install", content_installations.InstallInSpace, done="Integration installed in the space."),
        CommandSpec("configure", content_installations.UpdateSpaceInstallation, done="Settings updated."),
        CommandSpec(
            "uninstall",
            content_installations.UninstallFromSpace,
            done="Integration uninstalled from the space.",
            confirm="Uninstall this integration from the space",
        ),
    )
)
integration.add_command(
    group_of(
        "site",
        "Manage an installation in selected sites.",
        CommandSpec("list", content_installations.ListInstallationSites, ("site", "status")),
        CommandSpec("show", content_installations.GetSiteInstallation, help="Show the settings in a site."),
        CommandSpec("install", content_installations.InstallInSite, done="Integration installed in the site."),
        CommandSpec("configure", content_installations.UpdateSiteInstallation, done="Settings updated."),
        CommandSpec(
            "uninstall",
            content_installations.UninstallFromSite,
            done="Integration uninstalled from the site.",
            confirm="Uninstall this integration from the site",
        ),
    )
)
translation = group_of(
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
conversation = group_of(
    "conversation",
    "Read visitor conversations and the issues found in them.\n\nCONVERSATION and ISSUE are ids.",
    CommandSpec("list", conversations.ListConversations, ("id", "subject", "source", "createdAt")),
    CommandSpec("show", conversations.GetConversation, help="Show a conversation with its messages."),
    CommandSpec("issues", conversations.ListConversationIssues, ("issue.id", "issue.title", "conversation.id")),
    CommandSpec("issue", conversations.GetConversationIssue, help="Show an issue found in conversations."),
    CommandSpec("clusters", conversations.ListIssuesClusters, ("id", "label", "stats.issues", "updatedAt")),
)
import_group = group_of(
    "import",
    "Manage imports of websites and files.\n\nIMPORT is an import id.",
    CommandSpec("list", imports.ListImports, ("id", "status", "startedAt", "completedAt")),
    CommandSpec("show", imports.GetImport, help="Show an import."),
    CommandSpec("start", imports.StartImport, done="Import started."),
    CommandSpec("cancel", imports.CancelImport, done="Import cancelled.", confirm="Cancel this import"),
)
