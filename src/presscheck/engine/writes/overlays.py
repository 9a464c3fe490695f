"""The effects of unsent writes on the responses of reads.

A changed or added item has the extra fields `waiting` (the outbox row), `refused` (the error, if the write failed) and
`held` (whether it belongs to a pending review). An item that an agent wrote has the field `agent`, too. Held edits of
pages are not applied: a page shows them after a person has accepted them.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Sequence
from datetime import UTC, datetime
from typing import Any

from presscheck.api import (
    change_requests,
    comments,
    content,
    content_changes,
    site_findings,
    site_settings,
    site_structure,
    sites,
)
from presscheck.api.comments import Comment, CommentReply, Reaction, ReactionUser
from presscheck.api.operation import Operation
from presscheck.api.users import User
from presscheck.documents.pages.page_order import PageOrder, built_tree
from presscheck.documents.pages.replacement import PageText, title_range
from presscheck.documents.pages.tree import flatten
from presscheck.engine.writes.page_merge import page_edit

Entry = Any
"""An entry of the outbox: `pending_writes.OutboxEntry`."""
Overlay = Callable[[Any, Any, Entry, User], Any]
"""A function of a response, its read, a pending write and the user. Returns the response with the write applied."""


def with_writes(read: Operation[Any], answer: Any, pending: Iterable[Entry], me: User) -> Any:
    """Return the response of a read with all pending writes applied, oldest first. `me` is their author."""
    for entry in pending:
        call: Operation[Any] | None = entry.call
        if entry.state == "collected" and entry.has_base:
            continue
        overlay = OVERLAYS.get((type(read), type(call)))
        if overlay and call is not None and _is_same_resource(read, call):
            answer = overlay(answer, read, entry, me)
    return answer


def _is_same_resource(read: Operation[Any], write: Operation[Any]) -> bool:
    shared = set(read.path_fields()) & set(write.path_fields())
    return all(getattr(read, name) == getattr(write, name) for name in shared)


def _marks(entry: Entry) -> dict[str, Any]:
    marks = {
        "waiting": entry.id,
        "refused": entry.error if _is_refused(entry) else None,
        "held": entry.state == "collected",
    }
    return {**marks, "agent": entry.agent} if entry.agent else marks


def _is_refused(entry: Entry) -> bool:
    return entry.state in ("refused", "parked")


def _created_at(entry: Entry) -> str:
    return datetime.fromtimestamp(entry.created_at, UTC).isoformat()


def _with_items(answer: Any, items: tuple[Any, ...]) -> Any:
    """Return a page of a listing with these items, and with its counts adjusted where the service reported them."""
    more = len(items) - len(answer.items)
    numbers = {"count": answer.count, "total": answer.total}
    known = {name: number + more for name, number in numbers.items() if number is not None}
    return answer.model_copy(update={"items": items, **known})


def _message(entry: Entry, me: User) -> dict[str, Any]:
    """Return the fields that new comments and new replies have in common."""
    call: Any = entry.call
    return {
        "id": f"waiting:{entry.id}",
        "postedBy": me,
        "postedAt": _created_at(entry),
        "body": call.body.model_dump(by_alias=True, exclude_unset=True),
        **_marks(entry),
    }


def _comment(answer: Any, read: Any, entry: Entry, me: User) -> Any:
    call: Any = entry.call
    target: dict[str, Any] = {"space": call.space_id}
    if isinstance(call, comments.PostComment):
        target["changeRequest"] = call.change_request_id
    if call.page:
        target["page"] = {"id": call.page}
    if call.node:
        target["node"] = {"id": call.node}
    if call.table_cell:
        target["tableCell"] = call.table_cell.model_dump()
    new = Comment.model_validate({"object": "comment", "status": "open", "target": target, **_message(entry, me)})
    items = (*answer.items, new) if getattr(read, "order", None) == "asc" else (new, *answer.items)
    return _with_items(answer, items)


def _reply(answer: Any, read: Any, entry: Entry, me: User) -> Any:
    new = CommentReply.model_validate({"object": "comment-reply", **_message(entry, me)})
    return _with_items(answer, (*answer.items, new))


def _changed(id_field: str) -> Overlay:
    """Return the overlay for an edited comment or reply, whose id is in the field `id_field` of the write."""

    def overlay(answer: Any, read: Any, entry: Entry, me: User) -> Any:
        changed = getattr(entry.call, id_field)
        items = tuple(_edited(item, entry, me) if item.id == changed else item for item in answer.items)
        return answer.model_copy(update={"items": items})

    return overlay


def _edited(message: Comment | CommentReply, entry: Entry, me: User) -> Any:
    """Return a comment or reply with its new text and reactions.

    A comment also gets its new state. The state in an update of a reply belongs to the comment of the thread.
    """
    call: Any = entry.call
    update: dict[str, Any] = _marks(entry)
    if isinstance(message, Comment) and call.resolved is not None:
        update["status"] = "resolved" if call.resolved else "open"
    if call.body is not None:
        update["body"] = call.body
    added, removed = call.added_reactions or (), call.removed_reactions or ()
    if added or removed:
        update["reactions"] = _with_reactions(message.reactions, added, removed, me)
    return message.model_copy(update=update)


def _with_reactions(
    before: Sequence[Reaction], added: Collection[str], removed: Collection[str], me: User
) -> tuple[Reaction, ...]:
    others = {reaction.emoji: [user for user in reaction.users if user.user.id != me.id] for reaction in before}
    mine = {reaction.emoji for reaction in before if len(others[reaction.emoji]) < len(reaction.users)}
    mine = mine - set(removed) | set(added)
    users = {
        emoji: (*others.get(emoji, ()), *((ReactionUser(user=me),) if emoji in mine else ()))
        for emoji in dict.fromkeys((*others, *added))
    }
    return tuple(Reaction(emoji=emoji, count=len(by), users=by) for emoji, by in users.items() if by)


def _without(id_field: str) -> Overlay:
    """Return the overlay for a deletion from a listing.

    `id_field` is the field of the write with the id of the item.
    """

    def overlay(answer: Any, read: Any, entry: Entry, me: User) -> Any:
        deleted = getattr(entry.call, id_field)
        return _with_items(answer, tuple(item for item in answer.items if item.id != deleted))

    return overlay


def _review(answer: Any, read: Any, entry: Entry, me: User) -> Any:
    call: Any = entry.call
    if _is_refused(entry):  # not submitted; its text is in the outbox
        return answer
    new = change_requests.Review.model_validate(
        {
            "object": "change-request-review",
            "id": f"waiting:{entry.id}",
            "reviewer": me,
            "status": call.status,
            "createdAt": _created_at(entry),
            "updatedAt": _created_at(entry),
            **_marks(entry),
        }
    )
    replaced = tuple(
        item.model_copy(update={"outdated": True}) if item.reviewer.id == me.id else item for item in answer.items
    )
    return _with_items(answer, (*replaced, new))


def _changed_request(answer: Any, read: Any, entry: Entry, me: User) -> Any:
    call: Any = entry.call
    names = () if _is_refused(entry) else ("subject", "status", "description")  # a refused update changed nothing
    update = {name: value for name, value in call.given().items() if name in names}
    return answer.model_copy(update={**update, **_marks(entry)})


def _changed_site(answer: Any, read: Any, entry: Entry, me: User) -> Any:
    call: Any = entry.call
    names = () if _is_refused(entry) else ("title", "visibility", "basename", "agents_context")
    update = {name: value for name, value in call.given().items() if name in names}
    if "proxy" in call.model_fields_set and not _is_refused(entry):
        update["proxy"] = sites.SiteProxy(origin=call.proxy) if call.proxy else None
    if call.adaptive_content and not _is_refused(entry):
        update["adaptive_content"] = sites.AdaptiveContent(enabled=call.adaptive_content.enabled)
    return answer.model_copy(update={**update, **_marks(entry)})


def _changed_sites(answer: Any, read: Any, entry: Entry, me: User) -> Any:
    call: Any = entry.call
    items = tuple(_changed_site(item, read, entry, me) if item.id == call.site_id else item for item in answer.items)
    return answer.model_copy(update={"items": items})


def _changed_defaults(answer: Any, read: Any, entry: Entry, me: User) -> Any:
    """Return the structure of a site with the default section and space of a pending write.

    A failed write does not change the structure.
    """
    call: Any = entry.call
    section, space = call.default_site_section, call.default_site_space
    if _is_refused(entry) or (section is None and space is None):
        return answer

    def item_of(item: Any, *, is_open: bool) -> Any:
        update: dict[str, Any] = {}
        if isinstance(item, site_structure.SiteSpace):
            update = {"default": item.id == space} if space is not None and is_open else {}
        elif isinstance(item, site_structure.SiteSection):
            is_default = item.id == section if section is not None else bool(item.default)
            inside = tuple(item_of(space, is_open=is_default) for space in item.site_spaces)
            update = {"default": is_default, "site_spaces": inside}
        elif isinstance(item, site_structure.SiteSectionGroup):
            update = {"children": tuple(item_of(child, is_open=False) for child in item.children)}
        return item.model_copy(update=update) if update else item

    return answer.model_copy(update={"structure": tuple(item_of(item, is_open=True) for item in answer.structure)})


def _new_redirect(answer: Any, read: Any, entry: Entry, me: User) -> Any:
    call: Any = entry.call
    if read.search and read.search.lower() not in call.source.lower():
        return answer
    new = {
        "id": f"waiting:{entry.id}",
        "source": call.source,
        "destination": call.destination.model_dump(by_alias=True, exclude_unset=True),
    }
    return _with_items(answer, (*answer.items, site_settings.Redirect.model_validate({**new, **_marks(entry)})))


def _changed_redirect(answer: Any, read: Any, entry: Entry, me: User) -> Any:
    call: Any = entry.call
    update = _marks(entry)
    if not _is_refused(entry):
        update |= {"source": call.source} if call.source else {}
        if call.destination:
            update["destination"] = site_settings.RedirectTarget.model_validate(
                call.destination.model_dump(by_alias=True, exclude_unset=True)
            )
    items = tuple(item.model_copy(update=update) if item.id == call.site_redirect_id else item for item in answer.items)
    return answer.model_copy(update={"items": items})


def _new_share_link(answer: Any, read: Any, entry: Entry, me: User) -> Any:
    call: Any = entry.call
    new = {"id": f"waiting:{entry.id}", "name": call.name, "active": True, **_marks(entry)}
    return _with_items(answer, (*answer.items, site_settings.ShareLink.model_validate(new)))


def _changed_fields(id_field: str, *names: str) -> Overlay:
    """Return the overlay of a write that changes fields of the listed item with the id in `id_field`."""

    def overlay(answer: Any, read: Any, entry: Entry, me: User) -> Any:
        call: Any = entry.call
        written = {} if _is_refused(entry) else call.given()
        update = {name: value for name, value in written.items() if name in names} | _marks(entry)
        changed = getattr(call, id_field)
        items = tuple(item.model_copy(update=update) if item.id == changed else item for item in answer.items)
        return answer.model_copy(update={"items": items})

    return overlay


def _changed_page(answer: Any, read: Any, entry: Entry, me: User) -> Any:
    """Return a page with the new title of a pending write, and with the marks and the text of a pending edit.

    A failed write only leaves its marks.
    """
    edit = page_edit(entry.call)
    if edit and edit.page == read.page_id:
        answer = answer.model_copy(update=_marks(entry))
        if not _is_refused(entry) and edit.document and read.format == "markdown":
            answer = answer.model_copy(update={"markdown": edit.document.markdown, "title": edit.title or answer.title})
        return answer
    titles = () if _is_refused(entry) else (title for page, title in _new_titles(entry.call) if page == read.page_id)
    for title in titles:
        text = PageText(answer.title, markdown=answer.markdown)
        if heading := title_range(text):  # the service repeats the title as the first heading
            markdown = answer.markdown[: heading[0]] + title + answer.markdown[heading[1] :]
            answer = answer.model_copy(update={"markdown": markdown})
        answer = answer.model_copy(update={"title": title})
    return answer


def _new_titles(call: Any) -> list[tuple[str, str]]:
    """Return the pages that a write of the page tree renames, with their new titles."""
    updates = (change for change in call.changes if change.operation == "update_page")
    return [(update.page, update.title) for update in updates if update.title]


def _edited_request(answer: Any, read: Any, entry: Entry, me: User) -> Any:
    """Return a change request that differs after an edit of a page, so that its subscribers read the page again.

    If the text of the page is edited, the change request has the marks of the edit, too.
    """
    if edit := page_edit(entry.call):
        text = edit.document.markdown if edit.document else None
        return answer.model_copy(update={**_marks(entry), "edited": hash(text)})
    titles = _new_titles(entry.call)
    return answer.model_copy(update={"edited": hash((*titles,))}) if titles else answer


def _changed_tree(answer: Any, read: Any, entry: Entry, me: User) -> Any:
    """Apply the changes of a pending write to a page tree. A failed write has no effect."""
    if _is_refused(entry):
        return answer
    order, by_id = PageOrder.of(answer.pages), {page.id: page for page in flatten(answer.pages)}
    for change in entry.call.changes:
        if change.operation == "insert_page":
            new = f"waiting:{entry.id}"
            by_id[new] = _new_page(entry).model_copy(update={"markdown": None})
            if change.into is None or change.into in order:
                order.insert(new, change.into, change.at)
        elif getattr(change, "page", "") not in order:
            continue
        elif change.operation == "delete_page":
            order.remove(change.page)
        elif change.operation == "update_page":
            details = change.model_fields_set - {"operation", "page", "into", "at", "document"}
            update = {name: getattr(change, name) for name in details}
            by_id[change.page] = by_id[change.page].model_copy(update=update)
            into = change.into
            is_possible = into is None or (into in order and not order.is_within(into, change.page))
            if is_possible and change.model_fields_set & {"into", "at"}:
                order.insert(change.page, into, change.at)
    return answer.model_copy(update={"pages": built_tree(order, by_id)})


def new_page(read: Operation[Any], entry: Entry) -> content.RevisionPage | None:
    """Return the response to a read of a page that a pending write adds; None if the write adds no page."""
    is_added = isinstance(read, content.GetChangeRequestPage) and isinstance(
        entry.call, content_changes.EditChangeRequestContent
    )
    return _new_page(entry) if is_added and entry.call.changes[0].operation == "insert_page" else None


def _new_page(entry: Entry) -> content.RevisionPage:
    """Return the page that a pending write adds."""
    [change] = entry.call.changes
    others = {"operation", "document", "into", "at", "ref"}
    details = change.model_dump(by_alias=True, exclude_unset=True, exclude=others)
    new = {"id": f"waiting:{entry.id}", "markdown": change.document.markdown, **details, **_marks(entry)}
    return content.RevisionPage.model_validate(new)


OVERLAYS: dict[tuple[type[Operation[Any]], type[Any]], Overlay] = {
    (comments.ListComments, comments.PostComment): _comment,
    (comments.ListComments, comments.UpdateComment): _changed("comment_id"),
    (comments.ListComments, comments.DeleteComment): _without("comment_id"),
    (comments.ListReplies, comments.PostReply): _reply,
    (comments.ListReplies, comments.UpdateReply): _changed("comment_reply_id"),
    (comments.ListReplies, comments.DeleteReply): _without("comment_reply_id"),
    (comments.ListSpaceComments, comments.PostSpaceComment): _comment,
    (comments.ListSpaceComments, comments.UpdateSpaceComment): _changed("comment_id"),
    (comments.ListSpaceComments, comments.DeleteSpaceComment): _without("comment_id"),
    (comments.ListSpaceReplies, comments.PostSpaceReply): _reply,
    (comments.ListSpaceReplies, comments.UpdateSpaceReply): _changed("comment_reply_id"),
    (comments.ListSpaceReplies, comments.DeleteSpaceReply): _without("comment_reply_id"),
    (change_requests.ListReviews, change_requests.SubmitReview): _review,
    (change_requests.GetChangeRequest, change_requests.UpdateChangeRequest): _changed_request,
    (change_requests.GetChangeRequest, content_changes.EditChangeRequestContent): _edited_request,
    (content.ListChangeRequestPages, content_changes.EditChangeRequestContent): _changed_tree,
    (content.GetChangeRequestPage, content_changes.EditChangeRequestContent): _changed_page,
    (sites.GetSite, sites.UpdateSite): _changed_site,
    (sites.ListSites, sites.UpdateSite): _changed_sites,
    (site_structure.GetSiteStructure, sites.UpdateSite): _changed_defaults,
    (site_settings.ListRedirects, site_settings.CreateRedirect): _new_redirect,
    (site_settings.ListRedirects, site_settings.UpdateRedirect): _changed_redirect,
    (site_settings.ListRedirects, site_settings.DeleteRedirect): _without("site_redirect_id"),
    (site_settings.ListShareLinks, site_settings.CreateShareLink): _new_share_link,
    (site_settings.ListShareLinks, site_settings.UpdateShareLink): _changed_fields("share_link_id", "name", "active"),
    (site_settings.ListShareLinks, site_settings.DeleteShareLink): _without("share_link_id"),
    (site_findings.ListSiteFindings, site_findings.UpdateSiteFinding): _changed_fields("site_finding_id", "status"),
}
"""The overlay of each pair of a read and a write that changes its response."""
