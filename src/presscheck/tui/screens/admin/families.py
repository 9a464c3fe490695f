"""The families of an organization: how the items of each family are listed, shown, added, changed and removed.

A new family only needs an entry here: columns, details and forms are generated from the declared API operations.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from presscheck.api.collections import Collection, CreateCollection, ListCollections
from presscheck.api.conversations import ListConversationIssues, ListConversations, ListIssuesClusters
from presscheck.api.imports import CancelImport, ListImports, StartImport
from presscheck.api.integrations import ListIntegrations, PublishIntegration
from presscheck.api.invites import CreateInvite, DeleteInvite, ListInvites, UpdateInvite
from presscheck.api.openapi import CreateOpenAPISpec, DeleteOpenAPISpec, ListOpenAPISpecs, UpdateOpenAPISpec
from presscheck.api.organizations import (
    JoinOrganization,
    ListMembers,
    ListOrganizations,
    Organization,
    OrganizationMember,
    RemoveMember,
    UpdateMember,
    UpdateOrganization,
)
from presscheck.api.saml import CreateSAMLProvider, DeleteSAMLProvider, ListSAMLProviders, UpdateSAMLProvider
from presscheck.api.sites import CreateSite, ListSites, Site
from presscheck.api.spaces import CreateSpace, ListSpaces, Space
from presscheck.api.teams import (
    AddTeamMember,
    CreateTeam,
    DeleteTeam,
    ListTeamMembers,
    ListTeams,
    RemoveTeamMember,
    UpdateTeam,
    UpdateTeamMembers,
)
from presscheck.api.translations import CreateTranslation, DeleteTranslation, ListTranslations, UpdateTranslation
from presscheck.tui.screens.access.screen import AccessScreen
from presscheck.tui.screens.admin.cluster_summary import cluster_lines
from presscheck.tui.screens.admin.details import PROVIDER_DETAILS
from presscheck.tui.screens.admin.facts import Column
from presscheck.tui.screens.admin.family import Family
from presscheck.tui.screens.admin.integration.screen import IntegrationScreen
from presscheck.tui.screens.admin.people import (
    INVITE_DETAILS,
    add_invite,
    add_team_members,
    invite_link,
    join_organization,
    losses_of_leaving,
    losses_of_members,
    losses_of_team_members,
    losses_of_teams,
)
from presscheck.tui.screens.admin.records.conversations import conversation_screen, issue_screen
from presscheck.tui.screens.admin.records.runs import import_screen, translation_screen
from presscheck.tui.screens.admin.specification.screen import SpecificationScreen
from presscheck.tui.screens.agent_instructions import InstructionsScreen

if TYPE_CHECKING:
    from presscheck.tui.ui.screen import BaseScreen


def _access(organization: Organization, thing: Collection | Space | Site | OrganizationMember) -> BaseScreen:
    return AccessScreen(organization, thing)


def _instructions(_: Organization, organization: Organization) -> BaseScreen:
    return InstructionsScreen(organization)


TEAM_MEMBERS = Family(
    "Members of a team",
    "member",
    ListTeamMembers,
    (
        Column("name", "organization.user.display_name"),
        Column("e-mail", "organization.user.email", keeps_end=True),
        Column("in the team", "team.role", 12),
        Column("role", "organization.role", 9),
    ),
    path="organization.id",
    field="user_id",
    add=UpdateTeamMembers,
    adds=add_team_members,
    edit=AddTeamMember,
    edits_several=True,
    remove=RemoveTeamMember,
    remove_verb="Remove",
    loses="What the team may read and edit, this person may not any more, unless another role allows it.",
    losses=losses_of_team_members,
    hint="{add} adds people, several at once.",
)
CLUSTER_ISSUES = Family(
    "Issues",
    "issue",
    ListConversationIssues,
    (
        Column("issue", "issue.title"),
        Column("conversation", "conversation.subject"),
        Column("found", "issue.created_at", 10, "date"),
    ),
    path="issue.id",
    screen=issue_screen,
)
FAMILIES = (
    Family(
        "Organizations",
        "organization",
        ListOrganizations,
        (
            Column("organization", "title"),
            Column("hostname", "hostname", 18, keeps_end=True),
            Column("plan", "plan", 10),
            Column("default role", "default_role", 12),
        ),
        field="organization_id",
        add=JoinOrganization,
        adds=join_organization,
        edit=UpdateOrganization,
        remove=RemoveMember,
        remove_verb="Leave",
        loses="You need an invite, or an e-mail address of one of its domains, to join again.",
        losses=losses_of_leaving,
        for_everybody=(JoinOrganization, RemoveMember),
        hint="{add} joins the organization of an e-mail domain.",
    ),
    Family(
        "Members",
        "member",
        ListMembers,
        (
            Column("name", "user.display_name"),
            Column("e-mail", "user.email", keeps_end=True),
            Column("role", "role", 9),
            Column("teams", "teams", 7, "number"),
            Column("spaces", "spaces", 8, "number"),
            Column("last seen", "last_seen_at", 11, "date"),
        ),
        field="user_id",
        edit=UpdateMember,
        remove=RemoveMember,
        remove_verb="Remove",
        loses="This person cannot read or edit anything of the organization any more, and leaves its teams.",
        losses=losses_of_members,
        edits_several=True,
        screen=_access,
        permission="list_members",
        hint="Invite links bring members.",
    ),
    Family(
        "Teams",
        "team",
        ListTeams,
        (
            Column("team", "title"),
            Column("members", "members", 9, "number"),
            Column("created", "created_at", 10, "date"),
        ),
        field="team_id",
        add=CreateTeam,
        edit=UpdateTeam,
        remove=DeleteTeam,
        loses="Its members lose what only the team may read and edit. It cannot be restored.",
        losses=losses_of_teams,
        parts=TEAM_MEMBERS,
        permission="list_teams",
        hint="{add} creates one.",
    ),
    Family(
        "Collections",
        "collection",
        ListCollections,
        (
            Column("collection", "title"),
            Column("default level", "default_level", 13),
            Column("about", "description", is_long=True),
        ),
        field="collection_id",
        screen=_access,
        hint="{go_browse} shows the organization: {add} creates one there.",
        made_elsewhere=CreateCollection,
        role="create",
    ),
    Family(
        "Spaces",
        "space",
        ListSpaces,
        (
            Column("space", "title"),
            Column("default level", "default_level", 13),
            Column("visibility", "visibility", 13),
            Column("updated", "updated_at", 10, "date"),
        ),
        field="space_id",
        screen=_access,
        hint="{go_browse} shows the organization: {add} creates one there.",
        made_elsewhere=CreateSpace,
        role="create",
    ),
    Family(
        "Sites",
        "site",
        ListSites,
        (
            Column("site", "title"),
            Column("visibility", "visibility", 13),
            Column("live", "published", 6, "flag"),
            Column("created", "created_at", 10, "date"),
        ),
        field="site_id",
        screen=_access,
        hint="{go_publish} manages sites: {add} creates one there.",
        made_elsewhere=CreateSite,
        role="create",
    ),
    Family(
        "Invite links",
        "invite link",
        ListInvites,
        (Column("link", "id", keeps_end=True), Column("role", "role", 9), Column("redundant", "redundant", 10, "flag")),
        field="invite_id",
        add=CreateInvite,
        adds=add_invite,
        link=invite_link,
        details=INVITE_DETAILS,
        edit=UpdateInvite,
        remove=DeleteInvite,
        remove_verb="Revoke",
        loses="Who has the link cannot join with it any more.",
        hint="{add} creates one: anyone who has it can join the organization.",
    ),
    Family(
        "AI instructions",
        "organization",
        ListOrganizations,
        (Column("instructions of", "title"), Column("hostname", "hostname", 18, keeps_end=True)),
        field="organization_id",
        screen=_instructions,
    ),
    Family(
        "SAML",
        "SAML provider",
        ListSAMLProviders,
        (
            Column("provider", "label"),
            Column("status", "status", 10),
            Column("certificate", "certificate", 19, "certificate"),
            Column("default role", "default_role", 12),
        ),
        field="saml_provider_id",
        add=CreateSAMLProvider,
        edit=UpdateSAMLProvider,
        remove=DeleteSAMLProvider,
        loses="Members cannot sign in with it any more.",
        hint="{add} adds a provider, such as Okta.",
        details=PROVIDER_DETAILS,
    ),
    Family(
        "Integrations",
        "integration",
        ListIntegrations,
        (
            Column("integration", "title"),
            Column("description", "description", is_long=True),
            Column("by", "owner.title", 18),
            Column("visibility", "visibility", 11),
            Column("verified", "verified", 9, "flag"),
        ),
        path="name",
        field="integration_name",
        add=PublishIntegration,
        hint="{add} publishes one; {edit_view} filters the catalog.",
        screen=IntegrationScreen,
    ),
    Family(
        "OpenAPI",
        "specification",
        ListOpenAPISpecs,
        (
            Column("specification", "slug", keeps_end=True),
            Column("state", "processing_state", 11),
            Column("visibility", "visibility", 11),
            Column("processed", "last_processed_at", 11, "date"),
        ),
        path="slug",
        field="spec_slug",
        add=CreateOpenAPISpec,
        edit=UpdateOpenAPISpec,
        remove=DeleteOpenAPISpec,
        loses="Pages that show its operations show an error instead.",
        role="create",
        hint="{add} adds one, by its address or as text.",
        screen=SpecificationScreen,
        state="processing_state",
        opens_new=True,
    ),
    Family(
        "Translations",
        "translation",
        ListTranslations,
        (
            Column("language", "language"),
            Column("status", "status", 11),
            Column("pages", "stats.total_pages", 7, "number"),
            Column("words", "stats.total_words", 9, "number"),
            Column("updated", "updated_at", 10, "date"),
        ),
        field="translation_id",
        add=CreateTranslation,
        edit=UpdateTranslation,
        remove=DeleteTranslation,
        loses="The translated space stays as it is; it is not updated any more.",
        role="create",
        hint="{add} translates a space.",
        screen=translation_screen,
        state="status",
    ),
    Family(
        "Conversations",
        "conversation",
        ListConversations,
        (Column("subject", "subject"), Column("source", "source", 14), Column("created", "created_at", 10, "date")),
        field="conversation_id",
        hint="{import_rows} imports some from a file of JSON.",
        screen=conversation_screen,
    ),
    Family(
        "Issues",
        "group of issues",
        ListIssuesClusters,
        (
            Column("subject", "label"),
            Column("issues", "stats.issues", 8, "number"),
            Column("by week", "weekly_pulse", 13, "pulse"),
            Column("open tasks", "stats.tasks_backlog", 12, "number"),
            Column("updated", "updated_at", 10, "date"),
        ),
        field="cluster",
        parts=CLUSTER_ISSUES,
        head=cluster_lines,
        hint="They are found in conversations.",
        plural="groups of issues",
    ),
    Family(
        "Imports",
        "import",
        ListImports,
        (
            Column("from", "source.url", is_long=True, keeps_end=True),
            Column("status", "status", 12),
            Column("started", "started_at", 10, "date"),
            Column("ended", "completed_at", 10, "date"),
        ),
        field="import_run_id",
        add=StartImport,
        remove=CancelImport,
        remove_verb="Cancel",
        loses="Pages that were imported already stay.",
        role="create",
        hint="{add} imports a website or files into a space.",
        screen=import_screen,
        state="status",
        opens_new=True,
    ),
)
"""All families, in the order of the sidebar."""
