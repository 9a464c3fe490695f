"""Every operation with the callers that may use it, and the arguments of a valid call.

The table is independent of the handlers on purpose: if a handler loses a check, the two differ.
Arguments of the path default to the ids of the place (see `authorization_place`); all others are in the row.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from tests.service.authorization_place import (
    COMPONENT,
    EXTERNAL,
    INTEGRATION,
    NODES,
    OPENAPI,
    PACKED_COMPONENT,
)
from tests.service.authorization_world import PRIVATE, Caller

from presscheck.api import (
    agent_instructions,
    ask,
    audit_events,
    change_requests,
    collections,
    comments,
    computed_content,
    content,
    content_changes,
    content_installations,
    conversations,
    embeds,
    external_links,
    git_repositories,
    imports,
    integrations,
    invites,
    links,
    openapi,
    organizations,
    permissions,
    published_sites,
    saml,
    site_events,
    site_findings,
    site_settings,
    site_structure,
    sites,
    spaces,
    style_guides,
    system,
    teams,
    translations,
    url_lookup,
    users,
)
from presscheck.api.operation import Operation
from presscheck.service.permissions import reaches

ALLOWED = "allowed"
"""The call succeeds, and a write changes something."""
NO_EFFECT = "allowed without effect"
"""The call succeeds but changes nothing: an item that the caller may not see counts as deleted already."""
Outcome = str | int
"""ALLOWED, NO_EFFECT, or the status code of a refusal."""
Policy = Callable[[Caller, str], Outcome]
"""Returns the outcome for a signed-in caller in a place. All other callers get 401 for every call."""


@dataclass(frozen=True)
class Id:
    """Placeholder in an argument for an id of the place."""

    name: str


@dataclass(frozen=True)
class Case:
    """One call of an operation.

    Args:
        operation: the operation.
        policy: who may call it.
        label: distinguishes this call from other calls of the operation.
        lists: the name of an id; the response contains the id only for callers that `listed` accepts.
        listed: returns True if the item is listed for a caller.
        error: status and message for callers that the policy admits, if the service always responds with an error.
        arguments: the arguments; arguments of the path default to the ids of the place.
    """

    operation: type[Operation[Any]]
    policy: Policy
    label: str = ""
    lists: str | None = None
    listed: Callable[[Caller, str], bool] | None = None
    error: tuple[int, str] | None = None
    arguments: dict[str, Any] = field(default_factory=dict[str, Any])

    def __str__(self) -> str:
        return self.operation.__name__ + (f"-{self.label.replace(' ', '-')}" if self.label else "")


def case(
    operation: type[Operation[Any]],
    policy: Policy,
    label: str = "",
    /,
    *,
    lists: str | None = None,
    listed: Callable[[Caller, str], bool] | None = None,
    error: tuple[int, str] | None = None,
    **arguments: Any,
) -> Case:
    return Case(operation, policy, label, lists, listed, error, arguments)


def each(policy: Policy, *operations: type[Operation[Any]], **arguments: Any) -> list[Case]:
    """Return a case for each operation, with the same policy and arguments."""
    return [Case(operation, policy, arguments=arguments) for operation in operations]


# policies


def anyone(_caller: Caller, _place: str) -> Outcome:
    """Everyone who is signed in."""
    return ALLOWED


def member(caller: Caller, _place: str) -> Outcome:
    """Every member of the organization, guests included; for others it does not exist."""
    return ALLOWED if caller.is_member else 404


def role(required: str) -> Policy:
    """Members whose role in the organization includes the required role."""

    def policy(caller: Caller, place: str) -> Outcome:
        if not caller.is_member:
            return 404
        return ALLOWED if reaches(caller.role, required) else 403

    return policy


def level(required: str) -> Policy:
    """Members whose level in the place includes the required level; without a level it does not exist."""

    def policy(caller: Caller, place: str) -> Outcome:
        own = caller.level_in(place)
        if own is None:
            return 404
        return ALLOWED if reaches(own, required) else 403

    return policy


def both(*policies: Policy) -> Policy:
    """Callers that all of the policies admit; otherwise the outcome is the first refusal."""

    def policy(caller: Caller, place: str) -> Outcome:
        outcomes = [each_policy(caller, place) for each_policy in policies]
        return next((outcome for outcome in outcomes if outcome != ALLOWED), ALLOWED)

    return policy


def instead(policy: Policy, usual: Outcome, other: Outcome) -> Policy:
    """The policy with the outcome `usual` replaced by `other`."""

    def changed(caller: Caller, place: str) -> Outcome:
        outcome = policy(caller, place)
        return other if outcome == usual else outcome

    return changed


def always(outcome: Outcome) -> Policy:
    """The same outcome for everyone who is signed in."""
    return lambda _caller, _place: outcome


def sees_integration(caller: Caller, place: str) -> Outcome:
    """Everyone for a public integration; members of its organization for a private one."""
    return ALLOWED if place != PRIVATE or caller.is_member else 404


def owns_integration(caller: Caller, place: str) -> Outcome:
    """Admins of the organization that owns the integration."""
    if sees_integration(caller, place) == 404:
        return 404
    return ALLOWED if caller.role == "admin" else 403


def sees_site(caller: Caller, place: str) -> bool:
    """Return True if the caller sees the site of the place: with a role in the open place, with `create` elsewhere."""
    return caller.role is not None and (place != PRIVATE or reaches(caller.role, "create"))


def resolves_site(caller: Caller, place: str) -> Outcome:
    """Members with a role who see the place; for others its URL is not found."""
    return ALLOWED if caller.role is not None and sees_place(caller, place) else 404


def has_role(caller: Caller, _place: str) -> bool:
    return caller.role is not None


def site(required: str) -> Policy:
    """Members whose role includes the required role; for those who do not see the site it does not exist."""

    def policy(caller: Caller, place: str) -> Outcome:
        if not caller.is_member or (caller.role and not sees_site(caller, place)):
            return 404
        return ALLOWED if reaches(caller.role, required) else 403

    return policy


def deletes_site(caller: Caller, place: str) -> Outcome:
    """Admins; a site that a member does not see counts as deleted already."""
    is_hidden = caller.role is not None and not sees_site(caller, place)
    return NO_EFFECT if is_hidden else SITE_ADMIN(caller, place)


def reads_site(caller: Caller, place: str) -> Outcome:
    """Members who see the site; guests only a public one."""
    return ALLOWED if sees_site(caller, place) or (caller.is_member and place != PRIVATE) else 404


def sees_teams(caller: Caller, place: str) -> Outcome:
    """Members with a role; guests only as admins of the place."""
    return ALLOWED if caller.role or caller.level_in(place) == "admin" else 403


def joins_again(caller: Caller, _place: str) -> Outcome:
    """Members keep their role; others need an email address in a domain of the organization."""
    if caller.is_disabled:
        return 403
    return NO_EFFECT if caller.is_member else 404


def joins_with_invite(caller: Caller, _place: str) -> Outcome:
    """Everyone who has the link; members keep the role that they have."""
    if caller.is_disabled:
        return 403
    return NO_EFFECT if caller.role else ALLOWED


def sees_place(caller: Caller, place: str) -> bool:
    return caller.level_in(place) is not None


REPOSITORY = {"url": "lamps.git", "ref": "main"}
READ, COMMENT, REVIEW, EDIT, CREATE, ADMIN = (
    level(name) for name in ("read", "comment", "review", "edit", "create", "admin")
)
HOME_READ, HOME_EDIT, HOME_CREATE, HOME_ADMIN = (role(name) for name in ("read", "edit", "create", "admin"))

SITE_READ, SITE_CREATE, SITE_ADMIN = (site(name) for name in ("read", "create", "admin"))

SEES_ALL_SPACES = instead(READ, 404, 403)
"""For calls on a site that would show all of its spaces."""
ADDS_TO_PUBLISHED = both(SITE_CREATE, READ, HOME_ADMIN)
"""Publishing a space with a site that is published."""

TEXT = {"markdown": "Other"}
PAGE = {"operation": "insert_page", "document": {"markdown": "# New\n"}}
REMOTE_FILE = {"operation": "insert_files", "files": [{"name": "a.txt", "url": Id("file_url")}]}
SPACE_COMMENT = {"comment_id": Id("space_comment_id")}
SPACE_REPLY = {**SPACE_COMMENT, "comment_reply_id": Id("space_reply_id")}
OWN_COMMENT, OWN_SPACE_COMMENT = {"comment_id": Id("own_comment_id")}, {"comment_id": Id("own_space_comment_id")}
OWN_REPLY = {"comment_reply_id": Id("own_reply_id")}
OWN_SPACE_REPLY = {**SPACE_COMMENT, "comment_reply_id": Id("own_space_reply_id")}
DRAFT = {"site_id": Id("draft_site_id")}
SHARED = {"site_id": Id("shared_site_id"), "share_key": Id("share_key")}
OTHER_INTEGRATION = {"integration_name": Id("other_integration_name")}
INSTALLED_ELSEWHERE = {**OTHER_INTEGRATION, "installation_id": Id("elsewhere_installation_id")}
INSTALLED_BY_OTHERS = {**OTHER_INTEGRATION, "installation_id": Id("third_installation_id")}
SELECTING = {
    "integration_name": Id("selecting_integration_name"),
    "installation_id": Id("selecting_installation_id"),
}
SPACE_INVITE, COLLECTION_INVITE = {"invite_id": Id("space_invite_id")}, {"invite_id": Id("collection_invite_id")}
OWNERS_TEAM, MEMBERS_TEAM = {"team_id": Id("owners_team_id")}, {"team_id": Id("members_team_id")}
ACROSS = "across organizations"
ELSEWHERE = {"organization_id": Id("elsewhere_organization_id")}
ELSEWHERE_SITE = {**ELSEWHERE, "site_id": Id("elsewhere_site_id")}
WEBSITE = {"type": "website", "url": Id("website")}
SPEC = {"text": OPENAPI}
INSTRUCTIONS = {**NODES, "nodes": [{"object": "block", "type": "paragraph", "nodes": []}]}
CLAIM = {"type": "boolean", "description": "Whether the visitor tests new features"}
SCHEMA = {"type": "object", "properties": {"isBeta": CLAIM}, "additionalProperties": False}

CASES: list[Case] = [
    # agent instructions
    case(agent_instructions.GetAgentInstructions, HOME_READ),
    case(agent_instructions.UpdateAgentInstructions, HOME_ADMIN, instructions=INSTRUCTIONS),
    # audit events
    *each(HOME_ADMIN, audit_events.ListAuditEvents, audit_events.GetAuditEvent, audit_events.ListAuditEventActions),
    # change requests
    *each(
        READ,
        change_requests.GetChangeRequest,
        change_requests.GetChangeRequestPDF,
        change_requests.GetReview,
        change_requests.ListChangeRequests,
        change_requests.ListCommenters,
        change_requests.ListContributors,
        change_requests.ListRequestedReviewers,
        change_requests.ListReviews,
    ),
    case(change_requests.ListOrganizationChangeRequests, member, lists="change_request_id", listed=sees_place),
    case(change_requests.CreateChangeRequest, EDIT, subject="New"),
    case(change_requests.UpdateChangeRequest, EDIT, subject="Other"),
    case(change_requests.UpdateChangeRequest, EDIT, "archive", status="archived"),
    case(change_requests.MergeChangeRequest, EDIT),
    case(change_requests.PullChangeRequest, EDIT),
    case(change_requests.RequestReviewers, EDIT, users=(Id("newcomer_id"),)),
    case(change_requests.RemoveRequestedReviewer, EDIT, user_id=Id("member_id")),
    case(change_requests.SubmitReview, REVIEW, status="approved", comment=TEXT),
    # collections
    case(collections.ListCollections, member, lists="collection_id", listed=sees_place),
    case(collections.GetCollection, READ),
    case(collections.ListSpacesInCollection, READ, lists="space_id", listed=sees_place),
    case(collections.CreateCollection, HOME_CREATE, title="New"),
    case(collections.CreateCollection, CREATE, "in a collection", title="New", parent=Id("collection_id")),
    case(collections.UpdateCollection, ADMIN, title="Other"),
    case(collections.DeleteCollection, instead(ADMIN, 404, NO_EFFECT)),
    case(collections.MoveCollection, both(CREATE, HOME_CREATE), "to the top level", parent=None),
    case(
        collections.MoveCollection,
        CREATE,
        "within the place",
        collection_id=Id("nested_collection_id"),
        parent=Id("second_nested_collection_id"),
    ),
    case(collections.MoveCollection, ADMIN, "where others have access", parent=Id("workshop_id")),
    case(
        collections.MoveCollection,
        both(CREATE, HOME_ADMIN),
        "into the place",
        collection_id=Id("workshop_collection_id"),
        parent=Id("collection_id"),
    ),
    case(
        collections.TransferCollection,
        ADMIN,
        "to another organization",
        collection_id=Id("spare_collection_id"),
        organization=Id("elsewhere_id"),
    ),
    case(
        collections.TransferCollection,
        HOME_CREATE,
        "into the organization",
        collection_id=Id("elsewhere_collection_id"),
        organization=Id("home_id"),
    ),
    # comments
    *each(
        READ,
        comments.ListComments,
        comments.ListSpaceComments,
        comments.GetComment,
        comments.ListReplies,
        comments.GetReply,
    ),
    case(comments.GetSpaceComment, READ, **SPACE_COMMENT),
    case(comments.ListSpaceReplies, READ, **SPACE_COMMENT),
    case(comments.PostComment, COMMENT, body=TEXT),
    case(comments.PostSpaceComment, COMMENT, body=TEXT),
    case(comments.PostReply, COMMENT, body=TEXT),
    case(comments.PostSpaceReply, COMMENT, body=TEXT, **SPACE_COMMENT),
    case(comments.UpdateComment, COMMENT, "react", added_reactions=("1f44d",)),
    case(comments.UpdateComment, COMMENT, "edit own", body=TEXT, **OWN_COMMENT),
    case(comments.UpdateComment, COMMENT, "resolve own", resolved=True, **OWN_COMMENT),
    case(comments.UpdateComment, ADMIN, "edit of another", body=TEXT),
    case(comments.UpdateComment, ADMIN, "resolve of another", resolved=True),
    case(comments.UpdateSpaceComment, COMMENT, "react", added_reactions=("1f44d",), **SPACE_COMMENT),
    case(comments.UpdateSpaceComment, COMMENT, "edit own", body=TEXT, **OWN_SPACE_COMMENT),
    case(comments.UpdateSpaceComment, COMMENT, "resolve own", resolved=True, **OWN_SPACE_COMMENT),
    case(comments.UpdateSpaceComment, ADMIN, "edit of another", body=TEXT, **SPACE_COMMENT),
    case(comments.UpdateSpaceComment, ADMIN, "resolve of another", resolved=True, **SPACE_COMMENT),
    case(comments.UpdateReply, COMMENT, "react", added_reactions=("1f44d",)),
    case(comments.UpdateReply, COMMENT, "edit own", body=TEXT, **OWN_REPLY),
    case(comments.UpdateReply, ADMIN, "edit of another", body=TEXT),
    case(comments.UpdateReply, ADMIN, "resolve the thread of another", resolved=True, **OWN_REPLY),
    case(comments.DeleteComment, COMMENT, "own", **OWN_COMMENT),
    case(comments.DeleteComment, ADMIN, "of another"),
    case(comments.DeleteSpaceComment, COMMENT, "own", **OWN_SPACE_COMMENT),
    case(comments.DeleteSpaceComment, ADMIN, "of another", **SPACE_COMMENT),
    case(comments.DeleteReply, COMMENT, "own", **OWN_REPLY),
    case(comments.DeleteReply, ADMIN, "of another"),
    case(comments.GetSpaceReply, READ, **SPACE_REPLY),
    case(comments.UpdateSpaceReply, COMMENT, "react", added_reactions=("1f44d",), **SPACE_REPLY),
    case(comments.UpdateSpaceReply, COMMENT, "edit own", body=TEXT, **OWN_SPACE_REPLY),
    case(comments.UpdateSpaceReply, ADMIN, "edit of another", body=TEXT, **SPACE_REPLY),
    case(comments.DeleteSpaceReply, COMMENT, "own", **OWN_SPACE_REPLY),
    case(comments.DeleteSpaceReply, ADMIN, "of another", **SPACE_REPLY),
    case(comments.ListSpaceCommenters, READ),
    # content
    *each(
        READ,
        content.GetChangeRequestFile,
        content.GetChangeRequestPage,
        content.GetChangeRequestPageByPath,
        content.GetChangeRequestReusableContent,
        content.GetChangeRequestRevision,
        content.GetCurrentRevision,
        content.GetDocument,
        content.GetFile,
        content.GetRevisionFile,
        content.GetRevisionReusableContent,
        content.GetPage,
        content.GetPageByPath,
        content.GetReusableContent,
        content.GetRevision,
        content.GetRevisionPage,
        content.GetRevisionPageByPath,
        content.GetRevisionPageDocument,
        content.GetRevisionReusableContentDocument,
        content.ListChangeRequestPageMetaLinks,
        content.ListPageMetaLinks,
        content.ListRevisionPageMetaLinks,
        content.ListChangeRequestFiles,
        content.ListChangeRequestPages,
        content.ListFiles,
        content.ListPages,
        content.ListRevisionFiles,
        content.ListRevisionPages,
        content_changes.GetChangeRequestChanges,
        content_changes.GetRevisionChanges,
    ),
    case(content_changes.EditChangeRequestContent, EDIT, changes=(PAGE,)),
    case(content_changes.EditChangeRequestContent, EDIT, "file by URL", changes=(REMOTE_FILE,)),
    # conversations
    *each(
        HOME_READ,
        conversations.GetConversation,
        conversations.GetConversationIssue,
        conversations.ListConversationIssues,
        conversations.ListConversations,
        conversations.ListIssuesClusters,
    ),
    case(
        conversations.IngestConversations,
        HOME_EDIT,
        conversations=({"id": "new", "parts": ({"role": "user", "body": "How?"},)},),
    ),
    # imports
    case(imports.StartImport, EDIT, source=WEBSITE, target={"space": Id("space_id")}),
    case(
        imports.StartImport,
        EDIT,
        "into a change request",
        source=WEBSITE,
        target={"space": Id("space_id"), "change_request": Id("change_request_id")},
    ),
    case(imports.CancelImport, EDIT),
    case(imports.GetImport, READ),
    case(imports.ListImports, member, lists="import_run_id", listed=sees_place),
    # integrations
    case(
        integrations.ListIntegrations,
        anyone,
        lists="integration_name",
        listed=lambda caller, place: sees_integration(caller, place) == ALLOWED,
    ),
    case(integrations.GetIntegration, sees_integration),
    case(
        integrations.PublishIntegration,
        HOME_ADMIN,
        "new",
        integration_name=Id("new_integration_name"),
        organization=Id("home_id"),
        **INTEGRATION,
    ),
    case(integrations.PublishIntegration, HOME_ADMIN, "new version", organization=Id("home_id"), **INTEGRATION),
    case(
        integrations.PublishIntegration,
        always(403),
        "name of another organization",
        organization=Id("elsewhere_id"),
        **INTEGRATION,
    ),
    *each(
        owns_integration,
        integrations.ListIntegrationEvents,
        integrations.GetIntegrationEvent,
        integrations.ListIntegrationInstallations,
        integrations.ListIntegrationSites,
        integrations.ListIntegrationSpaces,
        integrations.DisableDevelopmentMode,
    ),
    case(integrations.ListIntegrationSpaces, owns_integration, "whole", extended=True, **OTHER_INTEGRATION),
    case(integrations.ListIntegrationSites, owns_integration, "whole", extended=True, **OTHER_INTEGRATION),
    case(integrations.UnpublishIntegration, instead(owns_integration, 404, NO_EFFECT)),
    case(integrations.SetDevelopmentMode, owns_integration, tunnel_url="https://example.org/tunnel"),
    case(integrations.InstallIntegration, HOME_ADMIN, organization=Id("home_id"), **OTHER_INTEGRATION),
    case(integrations.InstallIntegration, sees_integration, "in another organization", organization=Id("elsewhere_id")),
    case(integrations.GetInstallation, both(sees_integration, HOME_ADMIN)),
    case(integrations.GetInstallation, sees_integration, "in another organization", **INSTALLED_ELSEWHERE),
    case(integrations.GetInstallation, instead(owns_integration, 403, 404), "by an owner", **INSTALLED_BY_OTHERS),
    case(integrations.UpdateInstallation, both(sees_integration, HOME_ADMIN), configuration={"bright": True}),
    case(
        integrations.UpdateInstallation,
        sees_integration,
        "in another organization",
        configuration={"bright": True},
        **INSTALLED_ELSEWHERE,
    ),
    case(
        integrations.UpdateInstallation,
        instead(owns_integration, 403, 404),
        "by an owner",
        configuration={"bright": True},
        **INSTALLED_BY_OTHERS,
    ),
    case(integrations.UninstallIntegration, both(sees_integration, HOME_ADMIN)),
    case(integrations.UninstallIntegration, sees_integration, "in another organization", **INSTALLED_ELSEWHERE),
    case(integrations.UninstallIntegration, instead(owns_integration, 403, 404), "by an owner", **INSTALLED_BY_OTHERS),
    *each(
        both(sees_integration, HOME_ADMIN),
        content_installations.ListInstallationSpaces,
        content_installations.ListInstallationSites,
        content_installations.GetSpaceInstallation,
        content_installations.GetSiteInstallation,
    ),
    case(
        content_installations.InstallInSpace,
        both(sees_integration, HOME_ADMIN),
        space=Id("space_id"),
        extended=True,
        **SELECTING,
    ),
    case(
        content_installations.InstallInSite,
        both(sees_integration, HOME_ADMIN),
        site_id=Id("site_id"),
        extended=True,
        **SELECTING,
    ),
    *each(
        both(sees_integration, HOME_ADMIN),
        content_installations.UpdateSpaceInstallation,
        content_installations.UpdateSiteInstallation,
        configuration={"bright": True},
    ),
    case(
        content_installations.UninstallFromSpace,
        both(sees_integration, HOME_ADMIN),
        space_id=Id("second_space_id"),
        **SELECTING,
    ),
    case(
        content_installations.UninstallFromSite,
        both(sees_integration, HOME_ADMIN),
        site_id=Id("draft_site_id"),
        **SELECTING,
    ),
    case(content_installations.ListOrganizationInstallations, HOME_ADMIN),
    case(content_installations.ListOrganizationIntegrations, HOME_READ),
    case(content_installations.ListOrganizationIntegrationsStatus, HOME_READ),
    case(
        content_installations.ListOrganizationIntegrationsStatus,
        both(HOME_READ, READ),
        "in a space",
        target="space",
        space=Id("space_id"),
    ),
    case(
        content_installations.ListOrganizationIntegrationsStatus,
        SITE_READ,
        "in a site",
        target="site",
        site=Id("site_id"),
    ),
    case(content_installations.GetOrganizationIntegrationStatus, HOME_READ),
    case(content_installations.ListSpaceIntegrations, READ),
    case(content_installations.ListSpaceIntegrationBlocks, READ),
    case(content_installations.ListSiteIntegrations, SITE_READ),
    case(content_installations.ListSiteIntegrationScripts, SITE_READ),
    case(integrations.RenderIntegration, sees_integration, "tunnel of the owners", **COMPONENT),
    case(integrations.RenderIntegration, sees_integration, "tunnel for all", **COMPONENT, **OTHER_INTEGRATION),
    case(
        integrations.RenderIntegrationWithGet,
        sees_integration,
        "tunnel of the owners",
        request=PACKED_COMPONENT,
    ),
    case(
        integrations.RenderIntegrationWithGet,
        sees_integration,
        "tunnel for all",
        request=PACKED_COMPONENT,
        **OTHER_INTEGRATION,
    ),
    # invites
    case(invites.ListInvites, HOME_ADMIN),
    case(invites.CreateInvite, HOME_ADMIN, "to the organization", role="admin"),
    case(invites.CreateInvite, ADMIN, "to a space", space=Id("space_id"), level="admin"),
    case(invites.CreateInvite, ADMIN, "to a collection", collection=Id("collection_id"), level="admin"),
    case(invites.GetInvite, HOME_ADMIN, "to the organization"),
    case(invites.GetInvite, ADMIN, "to a space", **SPACE_INVITE),
    case(invites.GetInvite, ADMIN, "to a collection", **COLLECTION_INVITE),
    case(invites.UpdateInvite, HOME_ADMIN, "to the organization", role="admin"),
    case(invites.UpdateInvite, ADMIN, "to a space", level="admin", **SPACE_INVITE),
    case(invites.UpdateInvite, ADMIN, "to a collection", level="admin", **COLLECTION_INVITE),
    case(invites.DeleteInvite, HOME_ADMIN, "to the organization"),
    case(invites.InviteUsers, HOME_ADMIN, emails=("new@example.org",)),
    case(invites.JoinWithInvite, joins_with_invite),
    case(invites.DeleteInvite, ADMIN, "to a space", **SPACE_INVITE),
    case(invites.DeleteInvite, ADMIN, "to a collection", **COLLECTION_INVITE),
    # links
    *each(
        READ,
        links.ListChangeRequestFileBacklinks,
        links.ListChangeRequestPageBacklinks,
        links.ListChangeRequestPageLinks,
        links.ListPageBacklinks,
        links.ListPageLinks,
        links.ListSpaceLinks,
    ),
    # OpenAPI specifications
    *each(
        HOME_READ,
        openapi.GetOpenAPISpec,
        openapi.GetLatestOpenAPISpecContent,
        openapi.GetLatestOpenAPISpecRawContent,
        openapi.GetLatestOpenAPISpecVersion,
        openapi.GetOpenAPISpecVersion,
        openapi.GetOpenAPISpecVersionContent,
        openapi.ListOpenAPISpecVersions,
        openapi.ListOpenAPISpecs,
    ),
    case(openapi.CreateOpenAPISpec, HOME_CREATE, slug="new", source=SPEC),
    case(openapi.PutOpenAPISpec, HOME_CREATE, source=SPEC),
    case(openapi.PutOpenAPISpec, HOME_CREATE, "new", spec_slug="new", source=SPEC),
    case(openapi.UpdateOpenAPISpec, HOME_CREATE, visibility="private"),
    case(openapi.UpdateOpenAPISpec, HOME_ADMIN, "public", visibility="public"),
    case(openapi.DeleteOpenAPISpec, HOME_CREATE),
    # organizations
    case(organizations.ListOrganizations, anyone, lists="home_id", listed=lambda caller, _: caller.is_member),
    case(organizations.GetOrganization, member),
    case(organizations.UpdateOrganization, HOME_ADMIN, title="Other"),
    case(organizations.ListMembers, HOME_READ),
    case(organizations.GetMember, HOME_READ, user_id=Id("member_id")),
    case(organizations.GetMember, member, "oneself", user_id=Id("own_user_id")),
    case(organizations.UpdateLastSeen, member),
    case(organizations.UpdateMember, HOME_ADMIN, user_id=Id("member_id"), role="admin"),
    case(organizations.UpdateMember, HOME_ADMIN, "oneself", user_id=Id("own_user_id"), role=None),
    case(organizations.RemoveMember, HOME_ADMIN, "another", user_id=Id("member_id")),
    case(organizations.RemoveMember, member, "oneself", user_id=Id("own_user_id")),
    case(organizations.JoinOrganization, joins_again, "without an allowed email domain"),
    case(organizations.JoinOrganization, anyone, "by email domain", organization_id=Id("joinable_id")),
    case(
        organizations.GetOrganizationsForEmailDomain,
        anyone,
        email_domain="example.org",
        lists="home_id",
        listed=lambda caller, _: caller.is_member,
    ),
    case(ask.AskOrganization, member, query="guide", lists="space_id", listed=sees_place),
    case(organizations.SearchOrganization, member, query="guide", lists="space_id", listed=sees_place),
    # permissions
    case(permissions.ListCollectionTeamPermissions, both(READ, sees_teams)),
    case(permissions.ListSpaceTeamPermissions, both(READ, sees_teams)),
    case(permissions.ListSpaceUserPermissions, both(READ, HOME_READ)),
    case(permissions.ListSpacesOfMember, HOME_READ, user_id=Id("member_id")),
    case(
        permissions.ListSpacesOfMember,
        member,
        "oneself",
        user_id=Id("own_user_id"),
        lists="space_id",
        listed=sees_place,
    ),
    case(permissions.UpdateCollectionTeamPermission, ADMIN, role="edit"),
    case(permissions.RemoveCollectionTeamPermission, ADMIN, team_id=Id("granted_team_id")),
    *each(
        both(READ, sees_teams),
        permissions.ListCollectionPermissions,
        permissions.ListCollectionUserPermissions,
        permissions.ListSpacePermissions,
    ),
    *each(
        ADMIN,
        permissions.UpdateCollectionUserPermission,
        permissions.UpdateSpaceUserPermission,
        user_id=Id("member_id"),
        role="admin",
    ),
    *each(
        ADMIN,
        permissions.RemoveCollectionUserPermission,
        permissions.RemoveSpaceUserPermission,
        user_id=Id("newcomer_id"),
    ),
    case(permissions.UpdateSpaceTeamPermission, ADMIN, role="admin"),
    case(permissions.RemoveSpaceTeamPermission, ADMIN, team_id=Id("granted_team_id")),
    *each(
        ADMIN,
        permissions.InviteToCollection,
        permissions.InviteToSpace,
        users=(Id("member_id"),),
        teams=(Id("team_id"),),
        role="admin",
    ),
    *each(
        SITE_READ,
        permissions.ListSitePermissions,
        permissions.ListSiteTeamPermissions,
        permissions.ListSiteUserPermissions,
    ),
    case(permissions.InviteToSite, SITE_ADMIN, users=(Id("member_id"),), teams=(Id("team_id"),), role="admin"),
    case(permissions.UpdateSiteTeamPermission, SITE_ADMIN, role="admin"),
    case(permissions.UpdateSiteUserPermission, SITE_ADMIN, user_id=Id("member_id"), role="admin"),
    case(permissions.RemoveSiteTeamPermission, SITE_ADMIN, team_id=Id("granted_team_id")),
    case(permissions.RemoveSiteUserPermission, SITE_ADMIN, user_id=Id("newcomer_id")),
    # SAML
    case(saml.ListSAMLProviders, HOME_ADMIN),
    case(saml.GetSAMLProvider, HOME_ADMIN),
    case(saml.CreateSAMLProvider, HOME_ADMIN, label="New"),
    case(saml.UpdateSAMLProvider, HOME_ADMIN, label="Other"),
    case(saml.DeleteSAMLProvider, HOME_ADMIN),
    case(saml.ListSSOLogins, member),
    # site settings
    case(site_settings.GetCustomization, SITE_READ),
    case(site_settings.UpdateCustomization, SITE_CREATE, settings=Id("customization")),
    case(site_settings.GetAdaptiveSchema, SITE_CREATE),
    case(site_settings.UpdateAdaptiveSchema, SITE_CREATE, json_schema=SCHEMA),
    case(site_settings.ListTemplateConditions, SITE_READ),
    case(site_settings.GetPublishingAuth, SITE_ADMIN),
    case(site_settings.UpdatePublishingAuth, SITE_ADMIN, backend="custom", fallback_url="https://example.org/"),
    case(site_settings.RegeneratePublishingAuth, SITE_ADMIN),
    case(site_settings.GetPreview, both(SITE_READ, SEES_ALL_SPACES)),
    case(site_settings.ListRedirects, SITE_READ),
    case(site_settings.CreateRedirect, SITE_CREATE, source="/new", destination=EXTERNAL),
    case(site_settings.UpdateRedirect, SITE_CREATE, source="/older"),
    case(site_settings.DeleteRedirect, SITE_CREATE),
    case(
        site_settings.BulkUpsertRedirects,
        SITE_CREATE,
        redirects=({"source": "/newer", "destination": EXTERNAL},),
    ),
    case(site_settings.ListShareLinks, both(SITE_CREATE, SEES_ALL_SPACES)),
    case(site_settings.CreateShareLink, both(SITE_CREATE, SEES_ALL_SPACES), name="New", **DRAFT),
    case(site_settings.CreateShareLink, both(SITE_ADMIN, SEES_ALL_SPACES), "published", name="New"),
    case(site_settings.UpdateShareLink, both(SITE_CREATE, SEES_ALL_SPACES), active=False),
    case(site_settings.DeleteShareLink, SITE_CREATE),
    # site structure
    case(site_structure.GetSiteStructure, SITE_READ, lists="space_id", listed=sees_place),
    case(site_structure.ListSections, SITE_READ, lists="space_id", listed=sees_place),
    case(site_structure.ListSectionGroups, SITE_READ, lists="fourth_space_id", listed=sees_place),
    case(site_structure.ListSections, SITE_READ, "titles", lists="site_section_id", listed=sees_site),
    case(site_structure.ListSectionGroups, SITE_READ, "titles", lists="site_section_group_id", listed=sees_site),
    case(site_structure.ListSiteSpaces, SITE_READ, lists="space_id", listed=sees_place),
    case(
        site_structure.MoveSiteSection,
        SITE_CREATE,
        position={"before": {"type": "site-section", "site_section": Id("second_site_section_id")}},
    ),
    case(site_structure.MoveSiteSectionGroup, SITE_CREATE),
    case(
        site_structure.MoveSiteSpace,
        both(SITE_CREATE, READ),
        site_id=Id("draft_site_id"),
        site_space_id=Id("draft_site_space_id"),
        position={"after": {"type": "site-space", "site_space": Id("second_draft_site_space_id")}},
    ),
    *each(
        SITE_CREATE,
        site_findings.ListSiteFindings,
        site_findings.GetSiteFindingStats,
        site_findings.GetSiteFinding,
        site_findings.ListSiteFindingPages,
        site_findings.ListSiteFindingChangeRequests,
    ),
    case(site_findings.UpdateSiteFinding, SITE_CREATE, status="done"),
    *each(HOME_READ, style_guides.ListStyleGuides, style_guides.ListStyleGuideTemplates),
    case(style_guides.CreateStyleGuide, both(SITE_CREATE, HOME_CREATE), template="plain"),
    case(external_links.AddExternalLink, SITE_CREATE, title="New", url="https://example.org/"),
    case(external_links.UpdateExternalLink, SITE_CREATE, title="Other"),
    case(external_links.DeleteExternalLink, SITE_CREATE),
    case(site_settings.GetSiteSpaceCustomization, both(SITE_READ, READ)),
    case(site_settings.OverrideSiteSpaceCustomization, SITE_CREATE, settings={"title": "Other"}),
    case(site_settings.DeleteSiteSpaceCustomization, SITE_CREATE),
    case(site_structure.DuplicateSiteSpace, both(SITE_CREATE, CREATE, HOME_ADMIN)),
    case(
        site_structure.SortSiteStructure,
        SITE_CREATE,
        item={"type": "site-section", "id": Id("site_section_id")},
        position={"after": {"type": "site-section-group", "id": Id("site_section_group_id")}},
    ),
    case(site_structure.AddSiteSpace, both(SITE_CREATE, READ), space_id=Id("spare_space_id"), **DRAFT),
    case(site_structure.AddSiteSpace, ADDS_TO_PUBLISHED, "published", space_id=Id("spare_space_id")),
    case(site_structure.UpdateSiteSpace, both(SITE_CREATE, READ), path="other"),
    case(site_structure.UpdateSiteSpace, ADDS_TO_PUBLISHED, "another space", space_id=Id("spare_space_id")),
    case(site_structure.DeleteSiteSpace, SITE_CREATE),
    case(site_structure.AddSection, both(SITE_CREATE, READ), space_id=Id("spare_space_id"), title="New", **DRAFT),
    case(site_structure.AddSection, ADDS_TO_PUBLISHED, "published", space_id=Id("spare_space_id"), title="New"),
    case(site_structure.UpdateSection, SITE_CREATE, title="Other"),
    case(site_structure.DeleteSection, SITE_CREATE),
    case(site_structure.AddSectionGroup, SITE_CREATE, title="New"),
    case(site_structure.UpdateSectionGroup, SITE_CREATE, title="Other"),
    case(site_structure.DeleteSectionGroup, SITE_CREATE),
    # sites
    case(sites.ListSites, HOME_READ, lists="site_id", listed=sees_site),
    case(sites.ListSites, HOME_READ, "of a space", space=Id("space_id"), lists="draft_site_id", listed=sees_site),
    case(sites.ListSites, HOME_READ, "public", lists="public_site_id", listed=has_role),
    case(sites.GetSite, SITE_READ),
    case(sites.GetSite, SITE_READ, "share links", site_id=Id("shared_site_id")),
    case(sites.GetSite, HOME_READ, "public", site_id=Id("public_site_id")),
    case(published_sites.GetPublishedSite, reads_site),
    case(published_sites.GetPublishedSite, anyone, "with a share key", **SHARED),
    case(published_sites.SearchSite, reads_site, query="lamp"),
    case(site_events.AggregateSiteEvents, SITE_CREATE, range="lastYear"),
    case(site_settings.GetRedirectBySource, reads_site, source="/old"),
    case(
        site_settings.GetRedirectBySource,
        anyone,
        "with a share key",
        source="/old",
        error=(404, "Redirect not found"),
        **SHARED,
    ),
    *(
        case(
            computed,
            both(READ, sees_integration),
            source=Id("content_source"),
            seed="1",
            space_id=Id("second_space_id"),
        )
        for computed in (computed_content.GetComputedDocument, computed_content.GetComputedRevision)
    ),
    case(embeds.GetSpaceEmbed, READ, url="https://example.org/a-lamp"),
    case(sites.CreateSite, HOME_CREATE, title="New"),
    case(sites.CreateSite, both(HOME_CREATE, READ), "with spaces", title="New", spaces=(Id("spare_space_id"),)),
    case(sites.UpdateSite, SITE_CREATE, title="Other"),
    case(sites.UpdateSite, SITE_CREATE, "visibility", visibility="unlisted", **DRAFT),
    case(sites.UpdateSite, SITE_ADMIN, "visibility when published", visibility="unlisted"),
    case(sites.PublishSite, SITE_ADMIN, **DRAFT),
    case(sites.UnpublishSite, SITE_ADMIN),
    case(sites.DeleteSite, deletes_site),
    # spaces
    case(spaces.ListSpaces, member, lists="space_id", listed=sees_place),
    case(spaces.GetSpace, READ),
    case(spaces.GetSpace, instead(ADMIN, 403, 404), "deleted", space_id=Id("deleted_space_id")),
    case(spaces.GetSpace, anyone, "with a share key", share_key=Id("share_key")),
    case(spaces.SearchSpace, READ, query="guide"),
    case(spaces.CreateSpace, HOME_CREATE, title="New"),
    case(spaces.CreateSpace, CREATE, "in a collection", title="New", parent=Id("collection_id")),
    case(spaces.UpdateSpace, ADMIN, title="Other"),
    case(spaces.DuplicateSpace, CREATE),
    case(spaces.DeleteSpace, instead(ADMIN, 404, NO_EFFECT)),
    case(spaces.RestoreSpace, instead(ADMIN, 403, 404), space_id=Id("deleted_space_id")),
    case(spaces.MoveSpace, both(ADMIN, HOME_CREATE), "to the top level", parent=None),
    case(spaces.MoveSpace, CREATE, "within the place", parent=Id("nested_collection_id")),
    case(spaces.MoveSpace, ADMIN, "where others have access", parent=Id("workshop_id")),
    case(
        spaces.MoveSpace,
        both(CREATE, HOME_ADMIN),
        "into the place",
        space_id=Id("workshop_space_id"),
        parent=Id("collection_id"),
    ),
    case(
        spaces.TransferSpace,
        ADMIN,
        "to another organization",
        space_id=Id("spare_space_id"),
        organization=Id("elsewhere_id"),
    ),
    case(
        spaces.TransferSpace,
        HOME_CREATE,
        "into the organization",
        space_id=Id("elsewhere_space_id"),
        organization=Id("home_id"),
    ),
    # teams
    case(teams.ListTeams, HOME_READ),
    case(teams.GetTeam, HOME_READ),
    case(teams.ListTeamsOfMember, HOME_READ, user_id=Id("member_id")),
    case(teams.ListTeamMembers, HOME_READ),
    case(teams.CreateTeam, HOME_ADMIN, title="New", members=(Id("member_id"),)),
    case(teams.UpdateTeam, HOME_ADMIN, title="Other"),
    case(teams.UpdateTeam, HOME_ADMIN, "by its owner", title="Other", **OWNERS_TEAM),
    case(teams.DeleteTeam, HOME_ADMIN),
    case(teams.DeleteTeam, HOME_ADMIN, "by its owner", **OWNERS_TEAM),
    case(teams.AddTeamMember, HOME_ADMIN, user_id=Id("newcomer_id")),
    case(teams.AddTeamMember, HOME_ADMIN, "oneself", user_id=Id("own_user_id")),
    case(teams.AddTeamMember, member, "by an owner of the team", user_id=Id("member_id"), **OWNERS_TEAM),
    case(teams.AddTeamMember, HOME_ADMIN, "by a member of the team", user_id=Id("member_id"), **MEMBERS_TEAM),
    case(teams.UpdateTeamMembers, HOME_ADMIN, add=(Id("newcomer_id"),)),
    case(teams.UpdateTeamMembers, member, "by an owner of the team", add=(Id("member_id"),), **OWNERS_TEAM),
    case(teams.UpdateTeamMembers, HOME_ADMIN, "by a member of the team", add=(Id("member_id"),), **MEMBERS_TEAM),
    case(teams.RemoveTeamMember, HOME_ADMIN, user_id=Id("member_id")),
    case(teams.RemoveTeamMember, member, "by an owner of the team", user_id=Id("owner_id"), **OWNERS_TEAM),
    case(teams.RemoveTeamMember, HOME_ADMIN, "by a member of the team", user_id=Id("owner_id"), **MEMBERS_TEAM),
    case(teams.RemoveTeamMember, member, "oneself", user_id=Id("own_user_id"), **MEMBERS_TEAM),
    # translations
    case(translations.ListTranslations, HOME_READ, lists="translation_id", listed=sees_place),
    case(translations.GetTranslation, both(HOME_READ, READ)),
    case(
        translations.CreateTranslation,
        both(HOME_CREATE, READ),
        source={"space": Id("space_id"), "language": "en"},
        language="fr",
    ),
    case(translations.UpdateTranslation, both(HOME_CREATE, READ), instructions=INSTRUCTIONS),
    case(translations.RunTranslation, both(HOME_CREATE, READ)),
    case(translations.DeleteTranslation, both(HOME_CREATE, instead(READ, 404, NO_EFFECT))),
    # URLs
    case(url_lookup.GetPublishedContent, resolves_site, url=Id("public_site_url")),
    case(url_lookup.ResolvePublishedContent, resolves_site, url=Id("public_site_url")),
    case(url_lookup.GetContentByUrl, READ, "space", url=Id("space_url")),
    case(url_lookup.GetContentByUrl, READ, "change request", url=Id("change_request_url")),
    case(url_lookup.GetContentByUrl, READ, "collection", url=Id("collection_url")),
    case(git_repositories.ImportGitRepository, EDIT, **REPOSITORY),
    case(git_repositories.ExportToGitRepository, EDIT, **REPOSITORY, commit_message="Export"),
    case(spaces.GetSpaceGitInfo, READ, error=(404, "This space has no Git sync.")),
    case(spaces.GetSpacePDF, READ),
    # users
    case(users.GetCurrentUser, anyone),
    case(system.GetApiInformation, anyone),
    case(users.GetUser, member, user_id=Id("member_id")),
    # items of two organizations in one call: the callers are admins of the other organization
    case(change_requests.RequestReviewers, instead(EDIT, ALLOWED, 400), ACROSS, users=(Id("outsider_id"),)),
    case(collections.CreateCollection, instead(CREATE, ALLOWED, 409), ACROSS, **ELSEWHERE, parent=Id("collection_id")),
    case(
        collections.MoveCollection,
        instead(CREATE, ALLOWED, 409),
        ACROSS,
        collection_id=Id("elsewhere_collection_id"),
        parent=Id("collection_id"),
    ),
    case(
        content_installations.InstallInSpace,
        instead(both(sees_integration, HOME_ADMIN), ALLOWED, 404),
        ACROSS,
        space=Id("elsewhere_space_id"),
        **SELECTING,
    ),
    case(
        content_installations.InstallInSite,
        instead(both(sees_integration, HOME_ADMIN), ALLOWED, 404),
        ACROSS,
        site_id=Id("elsewhere_site_id"),
        **SELECTING,
    ),
    case(
        content_installations.InstallInSpace,
        always(404),
        f"{ACROSS} by an owner",
        space=Id("elsewhere_space_id"),
        **INSTALLED_BY_OTHERS,
    ),
    case(
        imports.StartImport,
        instead(EDIT, ALLOWED, 404),
        ACROSS,
        **ELSEWHERE,
        source=WEBSITE,
        target={"space": Id("space_id")},
    ),
    case(invites.CreateInvite, instead(ADMIN, ALLOWED, 404), ACROSS, **ELSEWHERE, space=Id("space_id"), level="read"),
    case(
        invites.CreateInvite,
        instead(ADMIN, ALLOWED, 404),
        f"{ACROSS} collection",
        **ELSEWHERE,
        collection=Id("collection_id"),
        level="read",
    ),
    case(organizations.UpdateOrganization, always(400), ACROSS, **ELSEWHERE, default_content={"site": Id("site_id")}),
    case(saml.CreateSAMLProvider, always(400), ACROSS, **ELSEWHERE, label="New", default_team=Id("team_id")),
    case(
        site_structure.AddSiteSpace,
        instead(READ, ALLOWED, 409),
        ACROSS,
        **ELSEWHERE_SITE,
        space_id=Id("spare_space_id"),
    ),
    case(
        site_structure.AddSection, instead(READ, ALLOWED, 409), ACROSS, **ELSEWHERE_SITE, space_id=Id("spare_space_id")
    ),
    case(
        site_structure.UpdateSiteSpace,
        instead(READ, ALLOWED, 409),
        ACROSS,
        **ELSEWHERE_SITE,
        site_space_id=Id("elsewhere_site_space_id"),
        space_id=Id("spare_space_id"),
    ),
    case(sites.CreateSite, instead(READ, ALLOWED, 409), ACROSS, **ELSEWHERE, spaces=(Id("spare_space_id"),)),
    case(spaces.CreateSpace, instead(CREATE, ALLOWED, 409), ACROSS, **ELSEWHERE, parent=Id("collection_id")),
    case(
        spaces.MoveSpace,
        instead(CREATE, ALLOWED, 409),
        ACROSS,
        space_id=Id("elsewhere_space_id"),
        parent=Id("collection_id"),
    ),
    case(spaces.TransferSpace, instead(ADMIN, ALLOWED, 412), f"{ACROSS} of a site", organization=Id("elsewhere_id")),
    case(teams.CreateTeam, always(404), ACROSS, **ELSEWHERE, title="New", members=(Id("newcomer_id"),)),
    case(
        teams.UpdateTeamMembers,
        always(404),
        ACROSS,
        **ELSEWHERE,
        team_id=Id("elsewhere_team_id"),
        add=(Id("newcomer_id"),),
    ),
    case(
        translations.CreateTranslation,
        instead(READ, ALLOWED, 400),
        ACROSS,
        **ELSEWHERE,
        source={"space": Id("space_id"), "language": "en"},
        language="fr",
    ),
]
