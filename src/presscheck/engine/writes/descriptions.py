"""Descriptions of writes: the action in a few words, and the place that the write changes."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import PurePath
from typing import Any

from presscheck.api import (
    agent_instructions,
    ask,
    change_requests,
    collections,
    comments,
    computed_content,
    content_changes,
    external_links,
    git_repositories,
    invites,
    organizations,
    permissions,
    site_findings,
    site_settings,
    site_structure,
    sites,
    spaces,
    style_guides,
    teams,
)
from presscheck.api.operation import Operation
from presscheck.engine.writes.folder_push import PushFolder
from presscheck.engine.writes.target_names import short
from presscheck.text.phrases import count

_words_of_name = re.compile(r"OpenAPI|[A-Z]+(?![a-z])|[A-Z]?[^A-Z]+").findall
_noun = re.compile(
    r"(?:change [^“]* of |[^“]*?)\b(?:page|section|group|space|link|redirect|member|user|team|reviewer)\b"
).match
"""Matches a description up to the noun after which the names of what it changes follow."""
STATUS = {"archived": "archive", "open": "reopen", "draft": "convert to draft"}
DETAILS = {"no_index": "search indexing", "no_robots_index": "robots indexing"}
NOUNS = {"site-space": "space", "site-section": "section", "site-section-group": "group"}
"""The nouns of the items of a site."""
PAGE_EDITS = {"insert_page": "add page", "delete_page": "delete page", "revert_page": "restore page"}


@dataclass(frozen=True)
class Place:
    """The ids of the resources that a write changes; None for a kind of resource that the write does not name.

    Attributes:
        page: a page of the change request, or of the live content.
    """

    space: str | None = None
    request: str | None = None
    comment: str | None = None
    page: str | None = None
    organization: str | None = None
    site: str | None = None
    collection: str | None = None


def describe(call: Operation[Any], target: str = "") -> str:
    """Describe a write in a few words: `resolve thread`, `add comment`, `delete page “Tokens”`.

    Args:
        call: the write.
        target: the names of what the write changes, as stored with it; see `target_names`.
    """
    in_words = _DESCRIPTIONS.get(type(call))
    words = (in_words(call) if in_words else "") or describe_name(type(call).__name__)
    if not target:
        return words
    noun = _noun(words)
    return f"{words[: noun.end()]} {target}{words[noun.end() :]}" if noun else f"{words}: {target}"


def describe_name(name: str) -> str:
    """Return the name of an operation as words: `delete comment` for DeleteComment."""
    words: list[str] = _words_of_name(name.rpartition(".")[2].replace("OpenAPISpec", "OpenAPISpecification"))
    return " ".join(word if word == "OpenAPI" or word.isupper() else word.lower() for word in words)


def place_of(call: Operation[Any], result: dict[str, Any] | None = None) -> Place:
    """Return the place that a write changes. `result` has the id of the created resource."""
    given: Any = call
    created = (result or {}).get("id")
    space, request = getattr(call, "space_id", None), getattr(call, "change_request_id", None)
    if isinstance(call, change_requests.CreateChangeRequest):
        request = created
    posts = comments.PostComment | comments.PostSpaceComment
    comment = created if isinstance(call, posts) else getattr(call, "comment_id", None)
    page = getattr(call, "page", None)
    if isinstance(call, content_changes.EditChangeRequestContent):
        pages = (result or {}).get("pages") or [None]
        page = next((change.page for change in given.changes if hasattr(change, "page")), pages[0])
    if isinstance(call, spaces.CreateSpace):
        space = created
    collection = created if isinstance(call, collections.CreateCollection) else getattr(call, "collection_id", None)
    organization, site = getattr(call, "organization_id", None), getattr(call, "site_id", None)
    return Place(space, request, comment, page, organization, site, collection)


def _update_of_message(call: Any) -> str:
    noun = "reply" if isinstance(call, comments.UpdateReply | comments.UpdateSpaceReply) else "comment"
    if call.body is not None:
        return f"edit {noun}"
    if (resolved := getattr(call, "resolved", None)) is not None:
        return "resolve thread" if resolved else "reopen thread"
    return "add reaction" if call.added_reactions else "remove reaction" if call.removed_reactions else ""


def _update_of_request(call: Any) -> str:
    fields = call.model_fields_set - set(call.path_fields())
    if fields == {"status"}:
        return f"{STATUS.get(call.status, 'change status of')} change request"
    if fields == {"subject"}:
        return f"change subject to “{short(call.subject or '')}”"
    return f"edit {' and '.join(sorted(fields))}" if fields else ""


def _edit_of_pages(call: Any) -> str:
    changes = call.changes
    if len(changes) > 1:
        verbs = {_verb(change) for change in changes}
        verb = verbs.pop() if len(verbs) == 1 else "edit"
        pages = len({getattr(change, "page", number) for number, change in enumerate(changes)})
        return f"{verb} {pages} pages" if pages > 1 else f"{verb} page"
    [change] = changes
    if change.operation != "update_page":
        title = getattr(change, "title", None)
        name = PAGE_EDITS.get(change.operation, "add files")
        return f"{name} “{short(title)}”" if title else name
    fields = _details(change)
    if fields == {"title"}:
        return f"rename page to “{short(change.title or '')}”"
    if len(fields) == 1 and not fields & {"document", "hidden", "into", "at"}:
        return f"change {_label(*fields)} of page"
    return f"{_verb(change)} page"


def _label(name: str) -> str:
    return DETAILS.get(name, name)


def _details(change: Any) -> set[str]:
    return change.model_fields_set - {"operation", "page"}


def _verb(change: Any) -> str:
    if change.operation != "update_page":
        return {"insert_page": "add", "delete_page": "delete"}.get(change.operation, "edit")
    fields = _details(change)
    if fields == {"hidden"}:
        return "hide" if change.hidden else "show"
    return "move" if fields and fields <= {"into", "at"} else "edit"


def _update_of_space(call: Any) -> str:
    fields = call.model_fields_set - set(call.path_fields())
    if fields == {"edit_mode"}:
        return "lock space" if call.edit_mode == "locked" else "unlock space"
    return _update_of("space", call, fields)


def _update_of(noun: str, call: Any, fields: set[str]) -> str:
    """Describe an update of the given fields of a resource; empty if no field is given."""
    if fields == {"title"}:
        return f"rename {noun} to “{short(call.title or '')}”"
    names = " and ".join(sorted(field.replace("_", " ") for field in fields))
    return f"change {names} of {noun}" if names else ""


def _update_in_site(noun: str) -> Callable[[Any], str]:
    return lambda call: _update_of(noun, call, call.model_fields_set - set(call.path_fields()))


def _move_in_site(call: Any) -> str:
    return f"move {NOUNS.get(call.item.type, 'link')} of the site"


def _update_of_share_link(call: Any) -> str:
    if call.active is not None:
        return "turn share link on" if call.active else "turn share link off"
    return f"rename share link to “{short(call.name or '')}”"


def _move_of(noun: str) -> Callable[[Any], str]:
    return lambda call: f"move {noun}" if "parent" in call.model_fields_set else f"change position of {noun}"


def _create(noun: str) -> Callable[[Any], str]:
    return lambda call: f"create {noun} “{short(call.title)}”" if call.title else ""


_DESCRIPTIONS: dict[type[Operation[Any]], Callable[[Any], str]] = {
    comments.UpdateComment: _update_of_message,
    comments.UpdateReply: _update_of_message,
    comments.PostComment: lambda _: "add comment",
    comments.PostReply: lambda _: "add reply",
    comments.PostSpaceComment: lambda _: "add comment",
    comments.PostSpaceReply: lambda _: "add reply",
    comments.UpdateSpaceComment: _update_of_message,
    comments.DeleteSpaceComment: lambda _: "delete comment",
    comments.UpdateSpaceReply: _update_of_message,
    comments.DeleteSpaceReply: lambda _: "delete reply",
    change_requests.SubmitReview: lambda call: "approve" if call.status == "approved" else "request changes",
    PushFolder: lambda call: f"push {count(call.files, 'file')} of {PurePath(call.directory).name}",
    change_requests.PullChangeRequest: lambda _: "update from main",
    change_requests.UpdateChangeRequest: _update_of_request,
    content_changes.EditChangeRequestContent: _edit_of_pages,
    spaces.UpdateSpace: _update_of_space,
    spaces.CreateSpace: _create("space"),
    spaces.MoveSpace: _move_of("space"),
    collections.UpdateCollection: lambda call: _update_of(
        "collection", call, call.model_fields_set - {"collection_id"}
    ),
    collections.CreateCollection: _create("collection"),
    sites.UpdateSite: lambda call: _update_of("site", call, call.model_fields_set - set(call.path_fields())),
    sites.CreateSite: _create("site"),
    site_structure.AddSiteSpace: lambda _: "add space to the site",
    site_structure.AddSection: lambda call: f"add section “{short(call.title)}”" if call.title else "",
    site_structure.AddSectionGroup: lambda call: f"add group “{short(call.title)}”",
    site_structure.UpdateSiteSpace: _update_in_site("space in the site"),
    site_structure.UpdateSection: _update_in_site("section"),
    site_structure.UpdateSectionGroup: _update_in_site("group"),
    site_structure.DeleteSiteSpace: lambda _: "remove space from the site",
    site_structure.DeleteSection: lambda _: "remove section",
    site_structure.DeleteSectionGroup: lambda _: "remove group",
    site_structure.SortSiteStructure: _move_in_site,
    site_settings.CreateRedirect: lambda call: f"add redirect from {short(call.source)}",
    site_settings.UpdateRedirect: lambda call: f"change redirect from {short(call.source)}" if call.source else "",
    site_settings.BulkUpsertRedirects: lambda call: f"change {count(len(call.redirects), 'redirect')}",
    git_repositories.ImportGitRepository: lambda call: f"import {short(call.url)}",
    git_repositories.ExportToGitRepository: lambda call: f"export to {short(call.url)}",
    ask.AskOrganization: lambda _: "ask a question",
    computed_content.GetComputedDocument: lambda _: "compute a document",
    computed_content.GetComputedRevision: lambda _: "compute pages",
    style_guides.CreateStyleGuide: lambda _: "create style guide",
    external_links.AddExternalLink: lambda call: f"add link “{short(call.title)}”",
    external_links.UpdateExternalLink: _update_in_site("link"),
    site_findings.UpdateSiteFinding: lambda call: (
        f"mark finding as {'ignored' if call.status == 'canceled' else call.status}"
    ),
    external_links.DeleteExternalLink: lambda _: "remove link",
    site_settings.OverrideSiteSpaceCustomization: lambda _: "customize space in the site",
    site_settings.DeleteSiteSpaceCustomization: lambda _: "reset customization of space in the site",
    site_settings.CreateShareLink: lambda call: f"create share link “{short(call.name)}”",
    site_settings.UpdateShareLink: _update_of_share_link,
    site_settings.DeleteShareLink: lambda _: "revoke share link",
    site_settings.UpdateAdaptiveSchema: lambda _: "change visitor schema",
    site_settings.RegeneratePublishingAuth: lambda _: "rotate key of visitors",
    collections.MoveCollection: _move_of("collection"),
    agent_instructions.UpdateAgentInstructions: lambda _: "change AI instructions",
    organizations.JoinOrganization: lambda _: "join organization",
    invites.JoinWithInvite: lambda _: "join organization",
    invites.InviteUsers: lambda call: f"invite {count(len(call.emails), 'person', 'people')}",
    organizations.UpdateMember: lambda call: f"give member the role {call.role or 'guest'}",
    organizations.UpdateOrganization: lambda call: _update_of(
        "organization", call, call.model_fields_set - {"organization_id"}
    ),
    permissions.UpdateCollectionTeamPermission: lambda call: f"give team the level {call.role or 'guest'}",
    permissions.RemoveCollectionTeamPermission: lambda _: "remove level of team",
    permissions.UpdateCollectionUserPermission: lambda call: f"give user the level {call.role or 'guest'}",
    permissions.RemoveCollectionUserPermission: lambda _: "remove level of user",
    permissions.InviteToCollection: lambda call: f"give the level {call.role or 'guest'}",
    permissions.UpdateSpaceTeamPermission: lambda call: f"give team the level {call.role or 'guest'}",
    permissions.RemoveSpaceTeamPermission: lambda _: "remove level of team",
    permissions.UpdateSpaceUserPermission: lambda call: f"give user the level {call.role or 'guest'}",
    permissions.RemoveSpaceUserPermission: lambda _: "remove level of user",
    permissions.InviteToSpace: lambda call: f"give the level {call.role or 'guest'}",
    permissions.UpdateSiteTeamPermission: lambda call: f"give team the level {call.role or 'guest'}",
    permissions.RemoveSiteTeamPermission: lambda _: "remove level of team",
    permissions.UpdateSiteUserPermission: lambda call: f"give user the level {call.role or 'guest'}",
    permissions.RemoveSiteUserPermission: lambda _: "remove level of user",
    permissions.InviteToSite: lambda call: f"give the level {call.role or 'guest'}",
    teams.CreateTeam: _create("team"),
    teams.UpdateTeam: lambda call: f"rename team to “{short(call.title)}”",
    teams.AddTeamMember: lambda call: f"give member the role {call.role or 'member'} in the team",
    teams.RemoveTeamMember: lambda _: "remove member of team",
    teams.UpdateTeamMembers: lambda _: "change members of team",
}
"""Descriptions of operations whose names are not clear enough."""
