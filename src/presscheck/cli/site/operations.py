"""Commands for parts and settings of sites, such as sections, share links and sign-in. Each sends one operation."""

from __future__ import annotations

import click

from presscheck.api.content_installations import ListSiteIntegrations, ListSiteIntegrationScripts
from presscheck.api.external_links import AddExternalLink, DeleteExternalLink, UpdateExternalLink
from presscheck.api.permissions import (
    InviteToSite,
    ListSitePermissions,
    ListSiteTeamPermissions,
    ListSiteUserPermissions,
    RemoveSiteTeamPermission,
    RemoveSiteUserPermission,
    UpdateSiteTeamPermission,
    UpdateSiteUserPermission,
)
from presscheck.api.published_sites import GetPublishedSite, SearchSite
from presscheck.api.site_events import AggregateSiteEvents
from presscheck.api.site_findings import (
    GetSiteFinding,
    GetSiteFindingStats,
    ListSiteFindingChangeRequests,
    ListSiteFindingPages,
    ListSiteFindings,
    UpdateSiteFinding,
)
from presscheck.api.site_settings import (
    CreateShareLink,
    DeleteShareLink,
    DeleteSiteSpaceCustomization,
    GetPublishingAuth,
    GetRedirectBySource,
    GetSiteSpaceCustomization,
    ListShareLinks,
    ListTemplateConditions,
    OverrideSiteSpaceCustomization,
    RegeneratePublishingAuth,
    ShareLink,
    UpdatePublishingAuth,
    UpdateShareLink,
)
from presscheck.api.site_structure import (
    AddSection,
    AddSectionGroup,
    DeleteSection,
    DeleteSectionGroup,
    DeleteSiteSpace,
    DuplicateSiteSpace,
    ListSectionGroups,
    ListSections,
    ListSiteSpaces,
    MoveSiteSection,
    MoveSiteSectionGroup,
    MoveSiteSpace,
    UpdateSection,
    UpdateSectionGroup,
    UpdateSiteSpace,
)
from presscheck.api.style_guides import CreateStyleGuide
from presscheck.api.url_lookup import GetPublishedContent, ResolvePublishedContent
from presscheck.cli.operations.command_factory import CommandSpec, add, group_of
from presscheck.engine.publish.shown_addresses import without_key

USER_COLUMNS = ("user.id", "user.displayName", "user.email", "permission")


def _without_key(link: ShareLink) -> ShareLink:
    """Remove the key from the URL of a share link."""
    shown = link.urls.model_copy(update={"published": without_key(link.urls.published) or None})
    return link.model_copy(update={"urls": shown})


share_links = group_of(
    "share-links",
    "Manage the share links of a site.\n\nLINK is the id or the name of a share link.",
    CommandSpec(
        "list",
        ListShareLinks,
        ("id", "name", "active", "urls.published", "createdAt"),
        shown=_without_key,
        help="List the share links of a site.\n\nThe key in an address is printed with --json only.",
    ),
    CommandSpec("create", CreateShareLink, done="Share link created."),
    CommandSpec("edit", UpdateShareLink, done="Share link updated."),
    CommandSpec("delete", DeleteShareLink, done="Share link deleted.", confirm="Delete this share link"),
)
sections = group_of(
    "sections",
    "Manage the sections of a site.\n\nSECTION is the id, the title or the path of a section.",
    CommandSpec("list", ListSections, ("id", "title", "path", "default", "sectionGroup")),
    CommandSpec("add", AddSection, done="Section added."),
    CommandSpec("edit", UpdateSection, done="Section updated."),
    CommandSpec("move", MoveSiteSection, done="Section moved."),
    CommandSpec("remove", DeleteSection, done="Section removed.", confirm="Remove this section and its spaces"),
)
groups = group_of(
    "groups",
    "Manage the section groups of a site.\n\nGROUP is the id or the title of a group.",
    CommandSpec("list", ListSectionGroups, ("id", "title", "sectionGroup")),
    CommandSpec("create", AddSectionGroup, done="Section group created."),
    CommandSpec("edit", UpdateSectionGroup, done="Section group updated."),
    CommandSpec("move", MoveSiteSectionGroup, done="Section group moved."),
    CommandSpec("delete", DeleteSectionGroup, done="Section group deleted.", confirm="Delete this section group"),
)
external_links = group_of(
    "external-links",
    "Manage the links among the sections of a site.\n\nLINK is the id of a link, which `site published` shows.",
    CommandSpec("add", AddExternalLink, done="Link added."),
    CommandSpec("edit", UpdateExternalLink, done="Link updated."),
    CommandSpec("remove", DeleteExternalLink, done="Link removed.", confirm="Remove this link"),
)
findings = group_of(
    "findings",
    "Manage the problems that the service found in a site.\n\n`presscheck site check` finds the problems itself, and"
    " works with services that find none.",
    CommandSpec("list", ListSiteFindings, ("id", "severity", "status", "type", "title")),
    CommandSpec("show", GetSiteFinding),
    CommandSpec("edit", UpdateSiteFinding, done="Status changed."),
    CommandSpec("pages", ListSiteFindingPages, ("spaceId", "page.id", "page.title", "page.path")),
    CommandSpec("change-requests", ListSiteFindingChangeRequests, ("number", "subject", "status")),
    CommandSpec("stats", GetSiteFindingStats),
)
spaces = group_of(
    "spaces",
    "Manage the spaces of a site.\n\nSPACE is the id or the title of a space. `presscheck site add` adds one.",
    CommandSpec("list", ListSiteSpaces, ("id", "title", "path", "default", "section", "space.id")),
    CommandSpec("edit", UpdateSiteSpace, done="Space updated.", help="Change the path, condition or space."),
    CommandSpec("move", MoveSiteSpace, done="Space moved."),
    CommandSpec("duplicate", DuplicateSiteSpace, done="Space copied."),
    CommandSpec("customization", GetSiteSpaceCustomization, help="Show the customization of a space in a site."),
    CommandSpec("customize", OverrideSiteSpaceCustomization, done="Customization changed."),
    CommandSpec(
        "reset-customization",
        DeleteSiteSpaceCustomization,
        done="The space has the customization of its site.",
        confirm="Remove the own customization of this space",
    ),
    CommandSpec("remove", DeleteSiteSpace, done="Space removed.", confirm="Remove this space from the site"),
)
teams = group_of(
    "teams",
    "Manage the roles of teams in a site.\n\nTEAM is the id or the title of a team.",
    CommandSpec("list", ListSiteTeamPermissions, ("team.id", "team.title", "permission")),
    CommandSpec("set", UpdateSiteTeamPermission, done="Role changed."),
    CommandSpec("remove", RemoveSiteTeamPermission, done="Role removed.", confirm="Remove the role of this team"),
)
users = group_of(
    "users",
    "Manage the roles of users in a site.\n\nUSER is an id, a name or an email address.",
    CommandSpec("list", ListSiteUserPermissions, USER_COLUMNS),
    CommandSpec("set", UpdateSiteUserPermission, done="Role changed."),
    CommandSpec("remove", RemoveSiteUserPermission, done="Role removed.", confirm="Remove the role of this user"),
)
auth = group_of(
    "auth",
    "Manage how the visitors of a site sign in.",
    CommandSpec(
        "show",
        GetPublishingAuth,
        help="Show the visitor authentication of a site.\n\nThe signing key is printed with --json only.",
    ),
    CommandSpec("edit", UpdatePublishingAuth, done="Visitor authentication updated."),
    CommandSpec(
        "regenerate",
        RegeneratePublishingAuth,
        done="New key created: `site auth show --json` prints it.",
        confirm="Make tokens that were signed with the old key invalid",
    ),
)


def add_to_sites(group: click.Group) -> None:
    """Add the commands for the parts and settings of sites to `presscheck site`."""
    add(
        group,
        CommandSpec("published", GetPublishedSite, help="Show a site as its visitors see it."),
        CommandSpec(
            "at-url",
            ResolvePublishedContent,
            positional=("url",),
            done="Found.",
            is_shown=True,
            help="Show which site and space a URL leads to.",
        ),
        CommandSpec(
            "search",
            SearchSite,
            ("title", "pages.0.title", "pages.0.path"),
            positional=("query",),
            help="Search a site as its visitors do.\n\nQUERY has at most 512 characters.",
        ),
        CommandSpec(
            "events",
            AggregateSiteEvents,
            positional=("range",),
            done="Events listed.",
            is_shown=True,
            help="List or count the events on the pages of a site.\n\nRANGE is lastYear, last3Months, last30Days,"
            " last7Days, last24Hours, or JSON with the times from and to. The local service stores only feedback.",
        ),
        CommandSpec(
            "redirect-of",
            GetRedirectBySource,
            positional=("source",),
            help="Show where a path of a site redirects to.",
        ),
        CommandSpec(
            "for-visitor",
            GetPublishedContent,
            positional=("url",),
            help="Show what a URL shows a signed-in visitor.",
        ),
        CommandSpec("integrations", ListSiteIntegrations, ("name", "title", "visibility")),
        CommandSpec(
            "integration-scripts", ListSiteIntegrationScripts, help="Show the scripts of integrations in a site."
        ),
        CommandSpec("create-style-guide", CreateStyleGuide, done="Style guide created."),
        CommandSpec("conditions", ListTemplateConditions, ("condition", "description")),
        CommandSpec("invite", InviteToSite, done="Role given."),
        CommandSpec("access", ListSitePermissions, (*USER_COLUMNS, "origin.type")),
    )
    for part in (share_links, sections, groups, external_links, findings, spaces, auth, teams, users):
        group.add_command(part)
