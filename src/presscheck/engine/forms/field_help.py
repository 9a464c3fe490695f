"""Help texts and limits of operation fields, used for options of commands and fields of forms."""

from __future__ import annotations

import re
from typing import Any, get_origin

from pydantic.fields import FieldInfo

from presscheck.api.operation import Operation
from presscheck.api.shell_command import members_of
from presscheck.text.phrases import count

_BY_ID = re.compile(r"^Ids? of (?:the |an? )?|, by id or email$| \(an id\)$| \(ids\)$| by user id$")
"""Parts of a description that apply only to ids."""
_LIMITS = {
    "ge": "at least {}",
    "gt": "more than {}",
    "le": "at most {}",
    "lt": "less than {}",
    "pattern": "must match {}",
}

DESCRIPTIONS: dict[str, str] = {
    "action": "Action to run",
    "active": "Whether the link works",
    "adaptive_content": "Settings of adaptive content",
    "add": "Users to add, by id or email",
    "actor": "Only changes by this user or integration (an id)",
    "added_reactions": "Emoji codes of reactions to add",
    "agent_task_id": "Id of the agent task that the change request belongs to",
    "agents_context": "Whether AI agents can use the site as context",
    "ai": "Whether AI features are enabled",
    "all": "Send the events of all installations",
    "audit_event_id": "Id of the event",
    "authors": "Only comments by these users (ids)",
    "backend": "How visitors sign in",
    "basename": "Name in the URL of the site",
    "block_domain": "Only integrations with a block for this domain",
    "blocks": "Blocks of the integration",
    "body": "Text",
    "cached_metadata": "Accept metadata that is kept from an earlier read",
    "categories": "Categories in the list of integrations",
    "category": "Only integrations of this category",
    "certificate": "Certificate of the provider, PEM",
    "change_request": "Only imports into this change request (an id)",
    "change_request_id": "Id or number of the change request",
    "changes": "Changes, applied in order",
    "claims": "Attributes of the visitor",
    "cluster": "Only issues of this cluster (an id)",
    "collection": "Id of a collection",
    "collection_id": "Id of the collection",
    "comment": "Text of the review",
    "comment_id": "Id of the comment",
    "comment_reply_id": "Id of the reply",
    "compat": "false returns the result of each change",
    "component_id": "Id of the component",
    "computed": "Include computed content",
    "computed_source": "Source of computed content",
    "condition": "Condition on the attributes of visitors",
    "configuration": "Settings of the installation",
    "configurations": "Schema of the settings",
    "content_security_policy": "Content security policy of the components",
    "content_sources": "Content sources of the integration",
    "context": "Where the component is shown",
    "contributor": "Only those with this contributor (a user id)",
    "conversation": "Only issues of this conversation (an id)",
    "conversation_id": "Id of the conversation",
    "conversations": "A conversation to import, or an array of them",
    "conversations_issues_cluster": "Only those for this cluster of issues (an id)",
    "creator": "Only those created by this user (an id)",
    "default": "Only those that are a default, or only those that are not",
    "default_content": "What new members see first",
    "default_level": "Access level of all members of the organization",
    "default_role": "Role of new members",
    "default_site_section": "Id of the section that opens first",
    "default_site_space": "Id of the space that opens first",
    "default_team": "Id of the team that new members join",
    "commit_message": "Message of the commit",
    "force": "Import even if nothing changed",
    "git_info": "Provider of the repository, and its URL there",
    "ref": "Branch, tag or commit",
    "repo_cache_id": "Id of the provider's cache",
    "repo_commit_url": "URL of the commit at the provider",
    "repo_project_directory": "Folder of the content in the repository",
    "repo_tree_url": "URL of the files at the provider",
    "standalone": "Leave the state of the space alone",
    "details": "Include details of the answer",
    "previous_queries": "Earlier questions of the conversation",
    "dereferenced": "Put reusable content in the place of what includes it",
    "description": "Description",
    "destination": "Where the redirect leads",
    "document_schema": "Version of the vocabulary of nodes",
    "draft": "Keep it hidden from visitors",
    "edit_mode": "live: anyone with access edits; locked: change requests only",
    "email_domain": "Email domain",
    "email_domains": "Email domains whose users can join",
    "emails": "Email addresses",
    "emoji": "Emoji code",
    "empty": "Create the space without a first page",
    "entity_id": "Entity id of the provider",
    "evaluated": "Evaluate expressions in the page",
    "event_id": "Id of the event",
    "extended": "Return complete objects",
    "external_id": "Only those with this external id",
    "external_ids": "External ids",
    "external_links": "Links in the description of the integration",
    "fallback_url": "URL for visitors who are not signed in",
    "file_id": "Id of the file",
    "format": "Format of text in the answer",
    "format_markdown_refs": "Links in Markdown: relative paths, or stable ids",
    "hostname": "Custom hostname",
    "icon": "Icon",
    "import_run_id": "Id of the import",
    "installation_id": "Id of the installation",
    "instructions": "Instructions as a tree of nodes",
    "integration_name": "Name of the integration",
    "invite_id": "Id of the invite",
    "invite_links": "Whether members can create invite links",
    "issue_id": "Id of the issue",
    "item": "Item to move: its type and id",
    "json_schema": "JSON schema of the attributes of visitors",
    "label": "Label on the sign-in page",
    "language": "Language of the content",
    "level": "Access level",
    "limit": "Maximum number of results",
    "logo": "URL of the logo",
    "localized_description": "Description by language",
    "localized_title": "Title by language",
    "logout_url": "URL that signs a visitor out",
    "members": "Members by user id",
    "memberships": "Roles by user id",
    "merge_rules": "Rules that a change request must meet before a merge",
    "metadata": "Include the metadata of the Git provider",
    "mode": "Which spaces are searched",
    "name": "Name",
    "nested": "Include collections inside other collections",
    "node": "Comment on this node of the page (an id)",
    "only": "Export only the page given by --page",
    "order": "Sort order",
    "order_by": "Field to sort by",
    "organization": "Id of the organization",
    "organization_id": "Id of the organization",
    "outdated": "Only reviews that a newer one replaced, or only those that none did",
    "owner": "Only those that this user can manage (an id)",
    "page": "Cursor of the next page of results",
    "page_id": "Id of the page",
    "page_path": "Path of the page, such as guides/start",
    "parent": "Id of the collection to put it in",
    "path": "Path in the URL",
    "position": "Place before or after another item",
    "preview_images": "Preview images, base64",
    "props": "Properties of the component",
    "proxy": "Host and path of a reverse proxy",
    "published": "Only sites that are published, or only those that are not",
    "query": "Search terms",
    "redirects": "Redirects to create, replace or delete",
    "redirect_on_error": "Where the visitor must sign in, return that address for an invalid token too",
    "remove": "Users to remove, by id or email",
    "removed_reactions": "Emoji codes of reactions to remove",
    "request": "Request as JSON, compressed by LZ-string",
    "requested_reviewer": "Only those with this requested reviewer (a user id)",
    "resolved": "true resolves the thread, false reopens it",
    "reusable_content_id": "Id of the reusable content",
    "document_id": "Id of the document of a page or of reusable content",
    "review_id": "Id of the review",
    "revision_id": "Id of the revision",
    "role": "Role",
    "runtime": "Version of the integration runtime",
    "saml_provider_id": "Id of the SAML provider",
    "scope": "Only integrations with this scope",
    "scopes": "Permissions that the integration requires",
    "script": "Source code of the integration",
    "search": "Only those whose name contains this text",
    "secrets": "Secrets of the integration",
    "section_id": "Id of the section to add it to",
    "sections": "Ids of the sections in the group",
    "settings": "All settings of the customization",
    "share_key": "Key of a share link",
    "share_link_id": "Id of the share link",
    "site": "Only imports into this site (an id)",
    "since": "Only from this time on, such as 2026-05-20T09:30:00Z",
    "site_id": "Id of the site",
    "site_redirect_id": "Id of the redirect",
    "site_external_link_id": "Id of the external link",
    "site_section_group_id": "Id of the section group",
    "site_section_id": "Id of the section",
    "site_selection": "Install in all sites, or in selected ones",
    "site_space": "Id of the space of the site to preview",
    "site_space_ids": "Ids of spaces in the site",
    "site_space_id": "Id of the space in the site (not of the space itself)",
    "slug": "Slug: the name in URLs",
    "sort": "Field to sort by",
    "source": "Source",
    "space": "Id of the space",
    "space_id": "Id of the space",
    "space_selection": "Install in all spaces, or in selected ones",
    "spaces": "Ids of the spaces",
    "spec_slug": "Slug of the OpenAPI specification",
    "sso": "Whether members must sign in by SSO",
    "sso_url": "Sign-in URL of the provider",
    "state": "State of the component",
    "status": "Status",
    "subject": "Subject",
    "summary": "Long description",
    "table_cell": "Comment on this cell of a table",
    "target": "Target",
    "target_page": "Only comments on this page (an id)",
    "team_id": "Id of the team",
    "teams": "Teams by id",
    "team": "Only members of the team with this id",
    "template": "Template to copy",
    "timestamp": "When the import was triggered",
    "title": "Title",
    "translation_id": "Id of the translation",
    "tunnel_url": "URL of the tunnel",
    "type": "Type of site",
    "unmasked": "Include settings that the plan does not show",
    "until": "Only until this time, such as 2026-05-20T09:30:00Z",
    "url": "URL in the web app",
    "user_id": "Id of the user",
    "users": "Users by id",
    "version_id": "Id of the version",
    "visibility": "Visibility",
    "visitor": "Who reads the site",
    "visitor_auth_token": "Signed token of the visitor",
    "group_by": "Columns whose values form groups",
    "range": "lastYear, last3Months, last30Days, last7Days, last24Hours, or from and to",
    "seed": "Version of the result, for caches",
    "select": "Columns, such as eventsCount",
    "where": "Filters: a column with values",
}
"""Help texts by field name, without limits and without a period at the end."""

SPECIAL: dict[tuple[str, str], str] = {
    ("AddSectionGroup", "parent"): "Id of the group to put it in",
    ("AddSiteSpace", "space_id"): "Id of the space to add",
    ("CreateRedirect", "source"): "Path to redirect, which starts with /",
    ("GetChangeRequestPDF", "page"): "Id of the page to start from",
    ("GetSpacePDF", "page"): "Id of the page to start from",
    ("ListAuditEvents", "action"): "Only changes by this operation: see `org audit actions`",
    ("ListAuditEvents", "target"): "Only changes of this item (an id)",
    ("ListChangeRequests", "status"): "Only those with this status",
    ("ListConversations", "source"): "Only conversations from this source",
    ("ListComments", "status"): "Only comments with this status",
    ("ListSpaceComments", "status"): "Only comments with this status",
    ("ListIntegrations", "blocks"): "Only integrations with blocks",
    ("ListPageLinks", "status"): "Only links with this status",
    ("ListSpaceLinks", "status"): "Only links with this status",
    ("ListIntegrations", "content_sources"): "Only integrations with content sources",
    ("UpdateRedirect", "source"): "Path to redirect, which starts with /",
    ("ListImports", "space"): "Only imports into this space (an id)",
    ("ListImports", "status"): "Only imports with this status",
    ("AddTeamMember", "role"): "Role in the team",
    ("ListMembers", "role"): "Only members with this role",
    ("InviteUsers", "sso"): "Invite them to sign in with single sign-on",
    ("InviteToCollection", "users"): "Members by id or email address",
    ("InviteToSpace", "users"): "Members by id or email address",
    ("InviteToSite", "users"): "Members by id or email address",
    ("ListCollectionPermissions", "role"): "Only users with this role",
    ("ListSpacePermissions", "role"): "Only users with this role",
    ("ListSitePermissions", "role"): "Only members with this role",
    ("ListIssuesClusters", "status"): "Only clusters with this status",
    ("ListIntegrations", "target"): "Only integrations for this target",
    ("ListOrganizationIntegrations", "blocks"): "Only integrations with blocks",
    ("ListOrganizationIntegrations", "content_sources"): "Only integrations with content sources",
    ("ListOrganizationIntegrations", "owner"): "Only integrations of this organization (an id)",
    ("ListOrganizationIntegrations", "target"): "Only integrations for this target",
    ("ListOrganizationIntegrationsStatus", "target"): "Installed in the organization, in a space or in a site",
    ("ListOrganizationIntegrationsStatus", "space"): "Id of the space",
    ("ListOrganizationIntegrationsStatus", "site"): "Id of the site",
    ("InstallInSpace", "space"): "Id of the space",
    ("ListIntegrations", "owner"): "Only integrations of this organization (an id)",
    ("ListOrganizationChangeRequests", "status"): "Only those with this status",
    ("ListSites", "space"): "Only sites with this space (an id)",
    ("ListSites", "title"): "Only sites whose title contains this text",
    ("ListSites", "type"): "Only sites of these types",
    ("ListTeams", "title"): "Only teams whose title contains this text",
    ("ListTeamsOfMember", "title"): "Only teams whose title contains this text",
    ("MoveCollection", "parent"): "Id of the collection to move it into",
    ("MoveSpace", "parent"): "Id of the collection to move it into",
    ("PostComment", "page"): "Comment on this page (an id)",
    ("PostSpaceComment", "page"): "Comment on this page (an id)",
    ("PutOpenAPISpec", "source"): "Where the specification comes from: a URL or text",
    ("CreateOpenAPISpec", "source"): "Where the specification comes from: a URL or text",
    ("StartImport", "source"): "What to import",
    ("StartImport", "target"): "Where to import it: a space, a change request or a site",
    ("SubmitReview", "status"): "approved or changes-requested",
    ("UpdateChangeRequest", "status"): "New status",
    ("UpdateSpace", "icon"): "URL of an icon",
    ("CreateTranslation", "source"): "Space to translate",
    ("GetRedirectBySource", "source"): "Path that may be redirected, which starts with /",
    ("AskOrganization", "query"): "Question",
    ("GetComputedDocument", "source"): "Source of the content: type and props",
    ("GetComputedRevision", "source"): "Source of the content: type and props",
    ("AddExternalLink", "url"): "Where the link leads",
    ("UpdateExternalLink", "url"): "Where the link leads",
    ("AddExternalLink", "parent"): "Section group",
    ("AddExternalLink", "draft"): "Hide the link from visitors",
    ("UpdateExternalLink", "parent"): "Section group",
    ("UpdateExternalLink", "draft"): "Hide the link from visitors",
    ("OverrideSiteSpaceCustomization", "settings"): "Values that differ from the site",
    ("ImportGitRepository", "url"): "Path or URL of the repository",
    ("ExportToGitRepository", "url"): "Path or URL of the repository",
    ("ExportToGitRepository", "ref"): "Branch",
    ("ExportToGitRepository", "force"): "Commit even if nothing changed",
    ("ExportToGitRepository", "timestamp"): "When the export was triggered",
    ("SearchSite", "scope"): "Which spaces are searched",
    ("AggregateSiteEvents", "order"): "Column to sort by, and the direction",
    ("AggregateSiteEvents", "limit"): "Maximum number of rows",
}
"""Help texts of fields that have a different meaning in one operation, by operation and field."""

PARTS: dict[str, dict[str, str]] = {
    "destination": {
        "kind": "What the redirect leads to",
        "url": "URL that the redirect leads to",
        "page_id": "Id of the page that the redirect leads to",
        "site_section_id": "Section that the redirect leads to",
        "site_space_id": "Space of the site that the redirect leads to",
    },
    "source": {
        "url": "URL of the source",
        "text": "Text of the source, or @FILE for a file with it",
        "files": "Files to import",
        "space": "Space to translate",
        "language": "Language of the space to translate",
    },
    "target": {
        "space": "Space to import into",
        "change_request": "Change request to import into",
        "page": "Page to import below",
    },
}
"""Help texts of the parts of object fields, by field and part. Each part has its own option, such as `--source-url`."""
FROM_FILES = frozenset(("certificate", "script"))
"""Text fields whose value `@FILE` is replaced by the text of the file."""


def description(operation: type[Operation[object]], field: str) -> str:
    """Return the help text of an operation's field, without limits and period."""
    return SPECIAL.get((operation.__name__, field)) or DESCRIPTIONS[field]


def named_description(operation: type[Operation[object]], field: str) -> str:
    """Return the help text of a field that accepts a name instead of an id."""
    text = _BY_ID.sub("", description(operation, field))
    return text[0].upper() + text[1:]


def limits(info: FieldInfo, *, is_repeatable: bool) -> list[str]:
    """Describe the limits of a field.

    Args:
        info: the field.
        is_repeatable: whether each value is given separately, so that length limits count values.
    """
    found: list[str] = []
    noun = "value" if is_repeatable else "item" if _has_items(info.annotation) else "character"
    for rule in info.metadata:
        for name, template in _LIMITS.items():
            limit = getattr(rule, name, None)
            if limit is not None and name == "pattern" and info.description:
                found.append(info.description)
            elif limit is not None:
                found.append(template.format(limit))
    least, most = (
        next((limit for rule in info.metadata if (limit := getattr(rule, name, None)) is not None), None)
        for name in ("min_length", "max_length")
    )
    if least and most:
        found.append(f"{least:,} to {count(most, noun)}")
    elif least or most:
        found.append(f"at least {count(least, noun)}" if least else f"at most {count(most or 0, noun)}")
    return found


def _has_items(annotation: Any) -> bool:
    return any(get_origin(member) is tuple for member in members_of(annotation))
