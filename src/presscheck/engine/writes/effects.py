"""The effects of each write: changed reads, whether it can be queued, and how unknown delivery is reconciled.

A write without an entry gets defaults from its route: it makes the reads at, below and next to its path stale, it is
not queued, and it is repeated only if its method is idempotent.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from typing import Any, Literal
from urllib.parse import quote

from presscheck.api import (
    ask,
    change_requests,
    collections,
    comments,
    computed_content,
    content_changes,
    content_installations,
    conversations,
    external_links,
    git_repositories,
    integrations,
    permissions,
    published_sites,
    site_events,
    site_findings,
    site_settings,
    site_structure,
    sites,
    spaces,
    style_guides,
    url_lookup,
)
from presscheck.api.operation import ALL, Operation
from presscheck.engine.reads.subscriptions import beneath
from presscheck.engine.shared_calls import at
from presscheck.engine.writes.folder_push import PushFolder

Reconcile = Literal["repeat", "look", "state", "ask"]
Call = Any
"""A call of the operation that the effects belong to."""


@dataclass(frozen=True)
class Effects:
    """The effects of a kind of write.

    Attributes:
        queued: whether the write can wait in the outbox; otherwise it is sent immediately, or rejected while offline.
        reconcile: the action after unknown delivery: `repeat` the write, `look` for the new item in a listing, read the
            `state` of the resource, or `ask` the user.
        stale: returns patterns of the request paths whose responses the write changes.
        listings: for `look`: returns the listings that would contain the new item, from the call and the author's id.
        is_result: for `look`: whether an item is the result of the call by the author with this id. An empty id matches
            any author: only items that did not exist before are compared.
        state: for `state`: the read, and whether its response shows that the write was done.
        is_unique: for `look`: whether the service allows only one matching item. No earlier item can then be mistaken
            for the result, so the listings are not read before the write is sent.
    """

    queued: bool
    reconcile: Reconcile
    stale: Callable[[Call], tuple[str, ...]]
    listings: Callable[[Call, str], tuple[Operation[Any], ...]] | None = None
    is_result: Callable[[Any, Call, str], bool] | None = None
    state: tuple[Callable[[Call], Operation[Any]], Callable[[Any], bool]] | None = field(default=None)
    is_unique: bool = False

    @property
    def looks_before(self) -> bool:
        """Whether the ids of existing items are recorded before the write is sent."""
        return self.reconcile == "look" and not self.is_unique

    def scope(self, call: Call) -> str:
        """Return the scope of a call. Writes of a scope are sent in order, different scopes in parallel."""
        parts = call.wire_path().split("/")
        is_within = "change-requests" in parts or parts[3:4] == ["sites"]
        return "/".join(parts[:5] if is_within else parts[:3])


def effects_of(call: Operation[Any]) -> Effects:
    """Return the effects of a write."""
    return EFFECTS.get(type(call)) or _default_effects(call)


def may_wait(operation: type[Operation[Any]]) -> bool:
    """Return whether a write can be queued in the outbox while offline."""
    return operation in EFFECTS and EFFECTS[operation].queued


def _default_effects(call: Operation[Any]) -> Effects:
    repeatable = call.method() in ("PUT", "DELETE", "PATCH")
    return Effects(queued=False, reconcile="repeat" if repeatable else "ask", stale=_around)


def _around(call: Call) -> tuple[str, ...]:
    path = call.wire_path()
    return (*beneath(path), *beneath(path.rpartition("/")[0]), "/orgs/*")


def _request(call: Call) -> tuple[str, ...]:
    """Return patterns for the change request, everything below it, and the listings that show it."""
    return (*beneath(_path_of_request(call)), *_listings_of_requests(call))


def _discussion(call: Call) -> tuple[str, ...]:
    """Return patterns for the change request, its comments, reviews and people, and the listings that show it.

    The content is left out.
    """
    request = _path_of_request(call)
    parts = [pattern for name in ("comments", "reviews") for pattern in beneath(f"{request}/{name}")]
    people = [f"{request}/{name}" for name in ("requested-reviewers", "commenters", "contributors")]
    return (request, *parts, *people, *_listings_of_requests(call))


def _comments(call: Call) -> tuple[str, ...]:
    """Return patterns for the change request with its comments and their authors, and for the listings that show it."""
    request, space = _path_of_request(call), _path_of_space(call)
    people = [f"{request}/{name}" for name in ("commenters", "contributors")]
    return (request, *beneath(f"{request}/comments"), *people, f"{space}/change-requests", "/orgs/*/change-requests")


def _live_comments(call: Call) -> tuple[str, ...]:
    return (*beneath(f"{_path_of_space(call)}/comments"), f"{_path_of_space(call)}/commenters")


def _listings_of_requests(call: Call) -> tuple[str, ...]:
    space = _path_of_space(call)
    return f"{space}/change-requests", space, "/orgs/*/change-requests"


def _space(call: Call) -> tuple[str, ...]:
    return (*beneath(_path_of_space(call)), "/orgs/*")


def _space_itself(call: Call) -> tuple[str, ...]:
    """Return patterns for a deleted space and its organization. Everything below the space would only return errors."""
    return (_path_of_space(call), "/orgs/*")


def _collection(call: Call) -> tuple[str, ...]:
    return (*beneath(f"/collections/{quote(call.collection_id, safe='')}"), "/orgs/*")


def _organization(call: Call) -> tuple[str, ...]:
    return beneath(f"/orgs/{quote(call.organization_id, safe='')}")


def _site(call: Call) -> tuple[str, ...]:
    return beneath(f"/orgs/{quote(call.organization_id, safe='')}/sites")


def _redirects(call: Call) -> tuple[str, ...]:
    return beneath(f"{_path_of_site(call)}/redirects")


def _share_links(call: Call) -> tuple[str, ...]:
    return beneath(f"{_path_of_site(call)}/share-links")


def _findings(call: Call) -> tuple[str, ...]:
    path = _path_of_site(call)
    return (*beneath(f"{path}/findings"), f"{path}/stats/findings")


def _adaptive_schema(call: Call) -> tuple[str, ...]:
    return beneath(f"{_path_of_site(call)}/adaptive-schema")


def _integration(call: Call) -> tuple[str, ...]:
    """Return patterns for the integration with its installations, spaces, sites and events, and for the catalog."""
    return ("/integrations", *beneath(f"/integrations/{quote(call.integration_name, safe='')}"))


def _nothing(_call: Call) -> tuple[str, ...]:
    return ()


def _integration_events(call: Call) -> tuple[str, ...]:
    return beneath(f"/integrations/{quote(call.integration_name, safe='')}/events")


def _path_of_site(call: Call) -> str:
    return f"/orgs/{quote(call.organization_id, safe='')}/sites/{quote(call.site_id, safe='')}"


def _path_of_request(call: Call) -> str:
    return f"{_path_of_space(call)}/change-requests/{quote(call.change_request_id, safe='')}"


def _path_of_space(call: Call) -> str:
    return f"/spaces/{quote(call.space_id, safe='')}"


def _created_by(call: Call, author: str) -> tuple[Operation[Any], ...]:
    """Return the listings of an author's drafts and open change requests: the service chooses the initial state."""
    creator = {"creator": author} if author else {}
    listing = partial(at, change_requests.ListChangeRequests, call, limit=ALL, **creator)
    return listing(status="draft"), listing(status="open")


def _leads_to(target: site_settings.RedirectTarget, wanted: site_settings.RedirectDestination) -> bool:
    """Return whether the target of a redirect has all requested values."""
    return all(getattr(target, name) == value for name, value in wanted.model_dump(exclude_none=True).items())


def _letters(body: Any) -> str:
    """Return the letters and digits of a text for comparison, because the service may reformat the Markdown."""
    return "".join(filter(str.isalnum, (body.markdown if body else None) or ""))


def _same_text(item: Any, call: Call, author: str) -> bool:
    return author in ("", item.posted_by.id) and _letters(item.body) == _letters(call.body)


def _same_verdict(item: Any, call: Call, author: str) -> bool:
    text = _letters(item.comment.body if item.comment else None)
    return author in ("", item.reviewer.id) and item.status == call.status and text == _letters(call.comment)


def _same_subject(item: Any, call: Call, author: str) -> bool:
    return author in ("", item.created_by and item.created_by.id) and item.subject == (call.subject or "")


def _repeatable(stale: Callable[[Call], tuple[str, ...]] = _discussion, *, queued: bool = True) -> Effects:
    return Effects(queued=queued, reconcile="repeat", stale=stale)


def _looked_for(
    stale: Callable[[Call], tuple[str, ...]],
    listing: type[Operation[Any]],
    is_result: Callable[[Any, Call, str], bool],
    **given: Any,
) -> Effects:
    """Return the effects of a queued write whose result is looked for in a listing."""
    return Effects(True, "look", stale, lambda call, _: (at(listing, call, **given, limit=ALL),), is_result)


def _by_state(
    stale: Callable[[Call], tuple[str, ...]], read: type[Operation[Any]], is_done: Callable[[Any], bool]
) -> Effects:
    """Return the effects of a write that is sent immediately, and whose result is in the state of the resource."""
    return Effects(False, "state", stale, state=(partial(at, read), is_done))


EFFECTS: dict[type[Operation[Any]], Effects] = {
    comments.PostComment: _looked_for(_comments, comments.ListComments, _same_text, format="markdown", order="desc"),
    comments.PostReply: _looked_for(_comments, comments.ListReplies, _same_text, format="markdown"),
    comments.UpdateComment: _repeatable(_comments),
    comments.UpdateReply: _repeatable(_comments),
    comments.DeleteComment: _repeatable(_comments),
    comments.DeleteReply: _repeatable(_comments),
    comments.PostSpaceComment: _looked_for(
        _live_comments, comments.ListSpaceComments, _same_text, format="markdown", order="desc"
    ),
    comments.PostSpaceReply: _looked_for(_live_comments, comments.ListSpaceReplies, _same_text, format="markdown"),
    comments.UpdateSpaceComment: _repeatable(_live_comments),
    comments.DeleteSpaceComment: _repeatable(_live_comments),
    comments.UpdateSpaceReply: _repeatable(_live_comments),
    comments.DeleteSpaceReply: _repeatable(_live_comments),
    change_requests.SubmitReview: _looked_for(
        _discussion, change_requests.ListReviews, _same_verdict, format="markdown"
    ),
    change_requests.RequestReviewers: _repeatable(),
    change_requests.RemoveRequestedReviewer: _repeatable(),
    change_requests.UpdateChangeRequest: _repeatable(_request),
    change_requests.CreateChangeRequest: Effects(
        queued=False,
        reconcile="look",
        stale=lambda call: (_path_of_space(call), f"{_path_of_space(call)}/change-requests", "/orgs/*"),
        listings=_created_by,
        is_result=_same_subject,
    ),
    change_requests.MergeChangeRequest: _by_state(
        _space, change_requests.GetChangeRequest, lambda request: request.status == "merged"
    ),
    change_requests.PullChangeRequest: _by_state(
        _request, change_requests.GetChangeRequest, lambda request: not request.outdated
    ),
    content_changes.EditChangeRequestContent: Effects(queued=False, reconcile="ask", stale=_request),
    PushFolder: _repeatable(_space),
    spaces.CreateSpace: Effects(queued=False, reconcile="ask", stale=_organization),
    git_repositories.ImportGitRepository: Effects(queued=False, reconcile="ask", stale=_space),
    spaces.UpdateSpace: _repeatable(_space, queued=False),
    spaces.MoveSpace: _repeatable(_space, queued=False),
    spaces.DeleteSpace: _repeatable(_space_itself, queued=False),
    spaces.RestoreSpace: _by_state(_space, spaces.GetSpace, lambda space: space.deleted_at is None),
    spaces.DuplicateSpace: Effects(queued=False, reconcile="ask", stale=_space),
    spaces.TransferSpace: Effects(queued=False, reconcile="ask", stale=_space),
    collections.CreateCollection: Effects(queued=False, reconcile="ask", stale=_organization),
    collections.UpdateCollection: _repeatable(_collection, queued=False),
    collections.MoveCollection: _repeatable(_collection, queued=False),
    collections.DeleteCollection: _repeatable(_collection, queued=False),
    collections.TransferCollection: Effects(queued=False, reconcile="ask", stale=_collection),
    # conversations have ids: sending the same ones again changes nothing
    conversations.IngestConversations: _repeatable(_organization, queued=False),
    permissions.InviteToCollection: _repeatable(_collection, queued=False),
    permissions.UpdateCollectionUserPermission: _repeatable(_collection, queued=False),
    permissions.RemoveCollectionUserPermission: _repeatable(_collection, queued=False),
    permissions.InviteToSpace: _repeatable(_space, queued=False),
    permissions.UpdateSpaceTeamPermission: _repeatable(_space, queued=False),
    permissions.RemoveSpaceTeamPermission: _repeatable(_space, queued=False),
    permissions.UpdateSpaceUserPermission: _repeatable(_space, queued=False),
    permissions.RemoveSpaceUserPermission: _repeatable(_space, queued=False),
    permissions.InviteToSite: _repeatable(_site, queued=False),
    permissions.UpdateSiteTeamPermission: _repeatable(_site, queued=False),
    permissions.RemoveSiteTeamPermission: _repeatable(_site, queued=False),
    permissions.UpdateSiteUserPermission: _repeatable(_site, queued=False),
    permissions.RemoveSiteUserPermission: _repeatable(_site, queued=False),
    sites.UpdateSite: _repeatable(_site),
    site_structure.MoveSiteSection: _repeatable(_site, queued=False),
    site_structure.MoveSiteSectionGroup: _repeatable(_site, queued=False),
    site_structure.MoveSiteSpace: _repeatable(_site, queued=False),
    style_guides.CreateStyleGuide: Effects(queued=False, reconcile="ask", stale=_organization),
    external_links.AddExternalLink: Effects(queued=False, reconcile="ask", stale=_site),
    external_links.UpdateExternalLink: _repeatable(_site, queued=False),
    site_findings.UpdateSiteFinding: _repeatable(_findings),
    external_links.DeleteExternalLink: _repeatable(_site, queued=False),
    site_settings.OverrideSiteSpaceCustomization: _repeatable(_site, queued=False),
    site_settings.DeleteSiteSpaceCustomization: _repeatable(_site, queued=False),
    site_structure.DuplicateSiteSpace: Effects(queued=False, reconcile="ask", stale=_organization),
    site_settings.CreateRedirect: Effects(
        queued=True,
        reconcile="look",
        stale=_redirects,
        listings=lambda call, _: (at(site_settings.ListRedirects, call, search=call.source, limit=ALL),),
        is_result=lambda item, call, _: item.source == call.source and _leads_to(item.destination, call.destination),
        is_unique=True,
    ),
    site_settings.UpdateRedirect: _repeatable(_redirects),
    site_settings.DeleteRedirect: _repeatable(_redirects),
    site_settings.BulkUpsertRedirects: _repeatable(_redirects, queued=False),
    site_settings.CreateShareLink: _looked_for(
        _share_links, site_settings.ListShareLinks, lambda item, call, _: item.name == call.name
    ),
    site_settings.UpdateShareLink: _repeatable(_share_links),
    site_settings.DeleteShareLink: _repeatable(_share_links),
    # not queued: it replaces the whole schema, and would silently overwrite a change by another user
    site_settings.UpdateAdaptiveSchema: _repeatable(_adaptive_schema, queued=False),
    sites.PublishSite: _by_state(_site, sites.GetSite, lambda site: site.published),
    sites.UnpublishSite: _by_state(_site, sites.GetSite, lambda site: not site.published),
    integrations.PublishIntegration: Effects(queued=False, reconcile="ask", stale=_integration),
    integrations.UnpublishIntegration: _repeatable(_integration, queued=False),
    integrations.InstallIntegration: Effects(queued=False, reconcile="ask", stale=_integration),
    integrations.UpdateInstallation: _repeatable(_integration, queued=False),
    integrations.UninstallIntegration: _repeatable(_integration, queued=False),
    content_installations.InstallInSpace: Effects(queued=False, reconcile="ask", stale=_integration),
    content_installations.UpdateSpaceInstallation: _repeatable(_integration, queued=False),
    content_installations.UninstallFromSpace: _repeatable(_integration, queued=False),
    content_installations.InstallInSite: Effects(queued=False, reconcile="ask", stale=_integration),
    content_installations.UpdateSiteInstallation: _repeatable(_integration, queued=False),
    content_installations.UninstallFromSite: _repeatable(_integration, queued=False),
    integrations.SetDevelopmentMode: _repeatable(_integration, queued=False),
    integrations.DisableDevelopmentMode: _repeatable(_integration, queued=False),
    # a component may have any effect, so it is never rendered twice for one key
    integrations.RenderIntegration: Effects(queued=False, reconcile="ask", stale=_integration_events),
    # these operations only read, in spite of their method
    published_sites.SearchSite: _repeatable(_nothing, queued=False),
    site_events.AggregateSiteEvents: _repeatable(_nothing, queued=False),
    ask.AskOrganization: _repeatable(_nothing, queued=False),
    computed_content.GetComputedDocument: _repeatable(_nothing, queued=False),
    computed_content.GetComputedRevision: _repeatable(_nothing, queued=False),
    url_lookup.ResolvePublishedContent: _repeatable(_nothing, queued=False),
}
"""The effects of the operations for which the defaults are wrong."""
