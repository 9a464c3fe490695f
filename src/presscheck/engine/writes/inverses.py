"""How sent writes are undone: for each operation its inverse, or the reason why it has none.

An inverse notes the values that a write replaces before it is sent. Before the inverse is sent, the present values are
compared with those that the write left: what others changed since is never overwritten.
"""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, Protocol, cast

from typing_extensions import override

from presscheck.api import (
    agent_instructions,
    change_requests,
    collections,
    comments,
    content,
    content_changes,
    conversations,
    imports,
    integrations,
    invites,
    openapi,
    organizations,
    permissions,
    saml,
    site_settings,
    site_structure,
    sites,
    spaces,
    teams,
    translations,
)
from presscheck.api.operation import Model, Operation
from presscheck.documents.pages.page_order import Move, PageOrder
from presscheck.documents.visitors.claim_schema import schema_claims, schema_text
from presscheck.engine.reads.listing_guard import ListingGuard
from presscheck.errors import NotFound, NotSupported
from presscheck.text.phrases import count

Call = Any
"""A call of the operation to which the inverse belongs."""
Json = dict[str, Any]
Read = Callable[[Operation[Any]], Awaitable[Any]]
"""Returns the response of the service to a read, not cached."""
ALL = 1000
"""The largest page size that the service supports."""
LONGEST = 60
"""Characters of a text that a sentence quotes."""
NO_FORMER = "the former value is not known"
NO_CHANGE = "it changed nothing"
NO_RESULT = "the service did not tell what it created"
WAS_ALONE = "nothing else was at its former place, and the service only places an item next to another one"
NO_INVERSE = "changes of this kind cannot be undone"


@dataclass(frozen=True)
class SentWrite:
    """A write that was sent.

    Attributes:
        call: the write.
        former: the values that it replaced; None if they are not known.
        result: what is known of its response; None if nothing.
        me: the id of the user who wrote it; empty if not known.
    """

    call: Call
    former: Json | None
    result: Json | None
    me: str = ""


@dataclass(frozen=True)
class Comparison:
    """The present values compared with those that a write left.

    Attributes:
        state: `unchanged`; `undone` (they are what they were before the write); `changed` (by others, or by a later
            write of the user).
        written: the values that the write left, as text.
        present: the present values, as text.
    """

    state: Literal["unchanged", "undone", "changed"]
    written: str = ""
    present: str = ""


class Inverse(Protocol):
    """How one operation is undone."""

    async def former(self, read: Read, call: Call, me: str) -> Json | None:
        """The values that a call will replace, to be noted before it is sent; None if none are needed.

        Raises:
            PresscheckError: they cannot be read.
        """
        ...

    def result(self, answer: Any) -> Json | None:
        """What has to be kept of the response."""
        ...

    def reason(self, sent: SentWrite) -> str | None:
        """Why this write cannot be undone; None if it can, as far as is known without a request."""
        ...

    def calls(self, sent: SentWrite) -> tuple[Operation[Any], ...]:
        """The writes that undo it; only without a `reason`."""
        ...

    def words(self, sent: SentWrite) -> str:
        """What these writes do, as a sentence."""
        ...

    async def compare(self, read: Read, sent: SentWrite) -> Comparison:
        """Compare the present values with those that the write left.

        Raises:
            PresscheckError: they cannot be read.
        """
        ...


class _Inverse:
    """An inverse that notes nothing, and keeps the id of what was created."""

    async def former(self, read: Read, call: Call, me: str) -> Json | None:
        return None

    def result(self, answer: Any) -> Json | None:
        identity = getattr(answer, "id", None)
        return {"id": identity} if isinstance(identity, str) else None


class _CreatedMessage(_Inverse):
    """A comment or reply is deleted, unless it was edited or answered since.

    Args:
        get: the operation that reads it.
        delete: the operation that deletes it.
        id_field: the field with its id.
    """

    def __init__(self, get: type[Operation[Any]], delete: type[Operation[Any]], id_field: str) -> None:
        self._get, self._delete, self._id_field = get, delete, id_field

    def reason(self, sent: SentWrite) -> str | None:
        return None if sent.result else NO_RESULT

    def calls(self, sent: SentWrite) -> tuple[Operation[Any], ...]:
        return (self._delete(**self._path(sent)),)

    def words(self, sent: SentWrite) -> str:
        return f"Deletes “{_short(_text_of(sent.call.body))}”"

    async def compare(self, read: Read, sent: SentWrite) -> Comparison:
        try:
            message = await read(self._get(**self._path(sent), format="markdown"))
        except NotFound:
            return Comparison("undone")
        written, present = _text_of(sent.call.body), _text_of(message.body)
        replies = getattr(message, "replies", 0)
        if replies:
            return Comparison("changed", written, f"{present}\n({count(replies, 'reply', 'replies')})")
        return Comparison("unchanged" if _same_text(written, present) else "changed", written, present)

    def _path(self, sent: SentWrite) -> Json:
        return {**_path_of(sent.call), self._id_field: (sent.result or {})["id"]}


class _EditedMessage(_Inverse):
    """A comment or reply gets its former text, state and reactions again.

    Args:
        get: the operation that reads it.
    """

    def __init__(self, get: type[Operation[Any]]) -> None:
        self._get = get

    @override
    async def former(self, read: Read, call: Call, me: str) -> Json | None:
        return self._values(call, await read(self._get(**_path_of(call), format="markdown")), me)

    def reason(self, sent: SentWrite) -> str | None:
        if sent.former is None or not _is_same_keys(sent.former, self._written(sent)):
            return NO_FORMER
        return None if self._changed(sent) else NO_CHANGE

    def calls(self, sent: SentWrite) -> tuple[Operation[Any], ...]:
        former, written = sent.former or {}, self._written(sent)
        changed = self._changed(sent)
        given: Json = {"resolved": former["resolved"]} if "resolved" in changed else {}
        if "text" in changed:
            given["body"] = comments.Document(markdown=former["text"])
        if "reactions" in changed:
            before, after = set(former["reactions"]), set(written["reactions"])
            given |= {"added_reactions": tuple(before - after)} if before - after else {}
            given |= {"removed_reactions": tuple(after - before)} if after - before else {}
        return (type(sent.call)(**_path_of(sent.call), **given),)

    def words(self, sent: SentWrite) -> str:
        former, changed = sent.former or {}, self._changed(sent)
        parts: list[str] = []
        if "resolved" in changed:
            parts.append("resolves the thread again" if former["resolved"] else "reopens the thread")
        if "text" in changed:
            parts.append(f"restores the text “{_short(former['text'])}”")
        if "reactions" in changed:
            is_removal = len(former["reactions"]) < len(self._written(sent)["reactions"])
            parts.append("removes your reaction" if is_removal else "adds your reaction again")
        return _sentence(parts)

    async def compare(self, read: Read, sent: SentWrite) -> Comparison:
        message = await read(self._get(**_path_of(sent.call), format="markdown"))
        return _compared(self._written(sent), sent.former or {}, self._values(sent.call, message, sent.me))

    def _values(self, call: Call, message: Any, me: str) -> Json:
        """The present values of what a call changes."""
        values: Json = {}
        if call.resolved is not None and hasattr(message, "status"):  # a reply has no state of its own
            values["resolved"] = message.status == "resolved"
        if call.body is not None:
            values["text"] = _text_of(message.body)
        codes = {*(call.added_reactions or ()), *(call.removed_reactions or ())}
        if codes:
            mine = (
                reaction.emoji for reaction in message.reactions if any(one.user.id == me for one in reaction.users)
            )
            values["reactions"] = sorted(codes & set(mine))
        return values

    def _written(self, sent: SentWrite) -> Json:
        call = sent.call
        values: Json = {} if call.resolved is None else {"resolved": call.resolved}
        if call.body is not None:
            values["text"] = _text_of(call.body)
        added, removed = set(call.added_reactions or ()), set(call.removed_reactions or ())
        if added or removed:
            values["reactions"] = sorted(added - removed)
        return values

    def _changed(self, sent: SentWrite) -> set[str]:
        written = self._written(sent)
        return {name for name, value in (sent.former or {}).items() if _differs(value, written.get(name))}


class _Fields(_Inverse):
    """The fields of a thing get their former values again.

    Args:
        read_of: the read that returns the thing, or something that contains it.
        pick: finds the thing in the response; None if it is not there.
        required: the fields that cannot be removed once they have a value.
    """

    def __init__(
        self,
        read_of: Callable[[Call], Operation[Any]],
        pick: Callable[[Any, Call], Any] = lambda answer, _: answer,
        *,
        required: Sequence[str] = (),
    ) -> None:
        self._read_of, self._pick, self._required = read_of, pick, required

    @override
    async def former(self, read: Read, call: Call, me: str) -> Json | None:
        thing = self._pick(await read(self._read_of(call)), call)
        return None if thing is None else _fields_of(call, thing)

    def reason(self, sent: SentWrite) -> str | None:
        written = _given_fields(sent.call)
        if sent.former is None or not _is_same_keys(sent.former, written):
            return NO_FORMER
        kept = next((name for name in self._required if name in written and not sent.former[name]), None)
        if kept:
            return f"there was no {kept.replace('_', ' ')} before, and the service cannot remove one"
        return None if self._changed(sent) else NO_CHANGE

    def calls(self, sent: SentWrite) -> tuple[Operation[Any], ...]:
        former = sent.former or {}
        return (type(sent.call)(**_path_of(sent.call), **{name: former[name] for name in self._changed(sent)}),)

    def words(self, sent: SentWrite) -> str:
        former = sent.former or {}
        return _sentence([_restored(name, former[name]) for name in self._changed(sent)])

    async def compare(self, read: Read, sent: SentWrite) -> Comparison:
        thing = self._pick(await read(self._read_of(sent.call)), sent.call)
        if thing is None:
            return Comparison("changed", _value_text(_given_fields(sent.call)), "(deleted)")
        return _compared(_given_fields(sent.call), sent.former or {}, _fields_of(sent.call, thing))

    def _changed(self, sent: SentWrite) -> list[str]:
        written = _given_fields(sent.call)
        return [name for name, value in (sent.former or {}).items() if _differs(value, written.get(name))]


class _CreatedRequest(_Inverse):
    """A new change request is archived: the service cannot delete it."""

    def reason(self, sent: SentWrite) -> str | None:
        return None if sent.result else NO_RESULT

    def calls(self, sent: SentWrite) -> tuple[Operation[Any], ...]:
        return (change_requests.UpdateChangeRequest(**self._path(sent), status="archived"),)

    def words(self, sent: SentWrite) -> str:
        return f"Archives “{_short(sent.call.subject or '')}”; a change request cannot be deleted"

    async def compare(self, read: Read, sent: SentWrite) -> Comparison:
        request = await read(change_requests.GetChangeRequest(**self._path(sent)))
        if request.status == "archived":
            return Comparison("undone")
        return Comparison("changed" if request.status == "merged" else "unchanged", "open", request.status)

    def _path(self, sent: SentWrite) -> Json:
        return {**_path_of(sent.call), "change_request_id": (sent.result or {})["id"]}


class _AddedReviewers(_Inverse):
    """The reviewers who were not requested before are removed."""

    @override
    def result(self, answer: Any) -> Json | None:
        if answer is None or answer.users is None:
            return None
        return {"users": [item.user.id for item in answer.users if item.user]}

    @override
    async def former(self, read: Read, call: Call, me: str) -> Json | None:
        return {"users": sorted(await _requested(read, call))}

    def reason(self, sent: SentWrite) -> str | None:
        if sent.former is None:
            return NO_FORMER
        return None if self._new(sent) else NO_CHANGE

    def calls(self, sent: SentWrite) -> tuple[Operation[Any], ...]:
        path = _path_of(sent.call)
        return tuple(change_requests.RemoveRequestedReviewer(**path, user_id=user) for user in self._new(sent))

    def words(self, sent: SentWrite) -> str:
        return f"Removes {count(len(self._new(sent)), 'requested reviewer')}"

    async def compare(self, read: Read, sent: SentWrite) -> Comparison:
        new, requested = set(self._new(sent)), await _requested(read, sent.call)
        if not new & requested.keys():
            return Comparison("undone")
        state = "unchanged" if new <= requested.keys() else "changed"
        return Comparison(state, ", ".join(sorted(new)), ", ".join(sorted(requested)))

    def _new(self, sent: SentWrite) -> list[str]:
        # the service leaves out some, such as the author
        requested = (sent.result or {"users": sent.call.users})["users"]
        return [user for user in sent.call.users if user in requested and user not in (sent.former or {})["users"]]


class _RemovedReviewer(_Inverse):
    """The review is requested again."""

    @override
    async def former(self, read: Read, call: Call, me: str) -> Json | None:
        requested = await _requested(read, call)
        return {"users": sorted(requested), "name": requested.get(call.user_id, "")}

    def reason(self, sent: SentWrite) -> str | None:
        if sent.former is None:
            return NO_FORMER
        return None if sent.call.user_id in sent.former["users"] else NO_CHANGE

    def calls(self, sent: SentWrite) -> tuple[Operation[Any], ...]:
        path = {name: value for name, value in _path_of(sent.call).items() if name != "user_id"}
        return (change_requests.RequestReviewers(**path, users=(sent.call.user_id,)),)

    def words(self, sent: SentWrite) -> str:
        return f"Requests the review of {(sent.former or {})['name'] or 'the reviewer'} again"

    async def compare(self, read: Read, sent: SentWrite) -> Comparison:
        is_requested = sent.call.user_id in await _requested(read, sent.call)
        return Comparison("undone" if is_requested else "unchanged")


class _PageEdits(_Inverse):
    """Pages get their former content and places again; new pages are deleted.

    The revision before the edit is noted. The pages are compared by their content in the revision that the edit made.
    """

    @override
    async def former(self, read: Read, call: Call, me: str) -> Json | None:
        request = await read(change_requests.GetChangeRequest(**_path_of(call)))
        moved = [change.page for change in call.changes if _is_move(change)]
        pages = (await read(content.ListChangeRequestPages(**_path_of(call)))).pages if moved else ()
        places, order = _places(pages), PageOrder.of(pages)
        parents = {order.parent(page) for page in moved if page in order}
        parents |= {change.into for change in call.changes if _is_move(change) and "into" in change.model_fields_set}
        return {
            "revision": request.revision,
            "places": {page: [places[page].parent, places[page].index] for page in moved if page in places},
            "orders": [[parent, order.below(parent)] for parent in sorted(parents, key=str)] if moved else [],
        }

    @override
    def result(self, answer: Any) -> Json | None:
        if answer is None:
            return None
        return {"revision": answer.change_request.revision, "pages": [change.page_id for change in answer.changes]}

    def reason(self, sent: SentWrite) -> str | None:
        if sent.former is None:
            return NO_FORMER
        operations = [change.operation for change in sent.call.changes]
        if "insert_files" in operations:
            return "added files cannot be removed"
        if sent.result is None or ("insert_page" in operations and len(sent.result["pages"]) != len(operations)):
            return NO_RESULT
        return None if self.calls(sent) else NO_FORMER

    def calls(self, sent: SentWrite) -> tuple[Operation[Any], ...]:
        changes = tuple(self._changes(sent))
        return (content_changes.EditChangeRequestContent(**_path_of(sent.call), changes=changes),) if changes else ()

    def words(self, sent: SentWrite) -> str:
        inverse = [*self._changes(sent)]
        if inverse and all(map(_is_only_move, inverse)):
            pages = len({change.page for change in inverse})
            place = "to its former place" if pages == 1 else "to their former places"
            return _sentence([f"moves {'the page' if pages == 1 else count(pages, 'page')} back {place}"])
        deleted = sum(change.operation == "delete_page" for change in inverse)
        restored = len({change.page for change in inverse}) - deleted
        parts = [f"deletes {count(deleted, 'new page')}"] if deleted else []
        parts += [f"restores {count(restored, 'page')} as before the edit"] if restored else []
        return _sentence(parts)

    async def compare(self, read: Read, sent: SentWrite) -> Comparison:
        call, result = sent.call, sent.result or {}
        now = await read(content.GetChangeRequestRevision(**_path_of(call)))
        after = await read(content.GetRevision(space_id=call.space_id, revision_id=result["revision"]))
        touched = [*dict.fromkeys(change.page for change in self._changes(sent))]
        former = (sent.former or {})["revision"]
        pages, present = _signatures(after.pages, touched), _signatures(now.pages, touched)
        moved = [change.page for change in call.changes if _is_move(change)]
        is_left_alone = pages == present and _have_same_places(after.pages, now.pages, moved)
        if is_left_alone and former not in after.parents and after.parents:
            # somebody edited between the note and the edit: what was there before is not what was noted
            parent, noted = [
                await read(content.GetRevision(space_id=call.space_id, revision_id=revision))
                for revision in (after.parents[0], former)
            ]
            if _signatures(parent.pages, touched) != _signatures(noted.pages, touched) or not _have_same_places(
                parent.pages, noted.pages, moved
            ):
                return Comparison("changed", "(edited)", "(edited by others just before)")
        if is_left_alone:
            return Comparison("unchanged")
        before = await read(content.GetRevision(space_id=call.space_id, revision_id=former))
        if _signatures(before.pages, touched) == present and _have_same_places(before.pages, now.pages, moved):
            return Comparison("undone")
        if pages == present:
            return Comparison("changed", "(moved)", "(moved again)")
        different = next(page for page in touched if pages.get(page) != present.get(page))
        texts = [await self._text(read, sent, revision.id, different) for revision in (after, now)]
        return Comparison("changed", *texts)

    def _changes(self, sent: SentWrite) -> Iterator[Any]:
        """The changes that undo all changes of an edit, the last one first."""
        former, pages = sent.former or {}, cast("list[str | None]", (sent.result or {}).get("pages", []))
        revision, places = former["revision"], former["places"]
        changes: list[Any] = [*sent.call.changes]
        if former.get("orders") and all(map(_is_only_move, changes)):
            yield from _moves_back(former, changes)
            return
        if all(change.operation == "delete_page" for change in changes):
            # the first one first: each page comes back to the index that it had below its parent
            yield from (content_changes.RevertPage(page=change.page, revision=revision) for change in changes)
            return
        created = dict(enumerate(pages)) if len(pages) == len(changes) else {}
        reverted: set[str] = set()
        for at, change in reversed([*enumerate(changes)]):
            if change.operation == "insert_page":
                if page := created.get(at):
                    yield content_changes.DeletePage(page=page)
                continue
            if _is_edit(change) and change.page not in reverted:
                reverted.add(change.page)
                yield content_changes.RevertPage(page=change.page, revision=revision)
            if _is_move(change) and change.page in places:
                parent, index = places[change.page]
                yield content_changes.UpdatePage(page=change.page, into=parent, at=index)

    async def _text(self, read: Read, sent: SentWrite, revision: str, page: str) -> str:
        call = content.GetRevisionPage(
            space_id=sent.call.space_id, revision_id=revision, page_id=page, format="markdown"
        )
        try:
            found = await read(call)
        except NotFound:
            return "(deleted)"
        return f"{found.title}\n\n{found.markdown or ''}".strip()


class _Publication(_Inverse):
    """A published site is unpublished, or the other way round.

    Args:
        publishes: whether the write publishes.
    """

    def __init__(self, *, publishes: bool) -> None:
        self._publishes = publishes

    @override
    async def former(self, read: Read, call: Call, me: str) -> Json | None:
        site = await read(sites.GetSite(**_path_of(call)))
        return {"published": site.published, "title": site.title}

    def reason(self, sent: SentWrite) -> str | None:
        if sent.former is None:
            return NO_FORMER
        return NO_CHANGE if sent.former["published"] == self._publishes else None

    def calls(self, sent: SentWrite) -> tuple[Operation[Any], ...]:
        inverse = sites.UnpublishSite if self._publishes else sites.PublishSite
        return (inverse(**_path_of(sent.call)),)

    def words(self, sent: SentWrite) -> str:
        title = _short((sent.former or {})["title"])
        return f"Unpublishes {title}: readers lose it at once" if self._publishes else f"Publishes {title} again"

    async def compare(self, read: Read, sent: SentWrite) -> Comparison:
        site = await read(sites.GetSite(**_path_of(sent.call)))
        return Comparison("unchanged" if site.published == self._publishes else "undone")


class _AddedSiteSpace(_Inverse):
    """A space that was added to a site is removed from it; the space itself stays."""

    @override
    def result(self, answer: Any) -> Json | None:
        return {"id": answer.id, "path": answer.path} if answer else None

    def reason(self, sent: SentWrite) -> str | None:
        return None if sent.result else NO_RESULT

    def calls(self, sent: SentWrite) -> tuple[Operation[Any], ...]:
        path, result = _path_of(sent.call), sent.result or {}
        return (site_structure.DeleteSiteSpace(**path, site_space_id=result["id"]),)

    def words(self, sent: SentWrite) -> str:
        return f"Removes the space with the path “{_short((sent.result or {})['path'])}” from the site"

    async def compare(self, read: Read, sent: SentWrite) -> Comparison:
        result = sent.result or {}
        item = _item((await read(_structure(sent.call))).structure, result["id"])
        if item is None:
            return Comparison("undone")
        is_same = item.path == result["path"]
        return Comparison("unchanged" if is_same else "changed", f"path {result['path']}", f"path {item.path}")


class _SiteValues(Model):
    """The fields of a site as an update of it gives them."""

    title: str
    visibility: str
    basename: str | None
    agents_context: str | None
    adaptive_content: sites.AdaptiveContent | None
    proxy: str | None


class _SiteDefaults(Model):
    """The default section and space of a site as an update of it gives them."""

    default_site_section: str | None
    default_site_space: str | None


def _site_or_structure(call: Call) -> Operation[Any]:
    """What has the fields that an update of a site gives: the site, or for its defaults the structure."""
    is_of_defaults = call.default_site_section is not None or call.default_site_space is not None
    return _structure(call) if is_of_defaults else sites.GetSite(**_path_of(call))


def _site_values(answer: Any, _: Call) -> _SiteValues | _SiteDefaults:
    if isinstance(answer, site_structure.SiteStructure):
        items = list(_every_item(answer.structure))
        section = _default_of(item for item in items if isinstance(item, site_structure.SiteSection))
        beside = section.site_spaces if section else answer.structure
        space = _default_of(item for item in beside if isinstance(item, site_structure.SiteSpace))
        return _SiteDefaults(
            default_site_section=section.id if section else None, default_site_space=space.id if space else None
        )
    site: sites.Site = answer
    return _SiteValues(
        title=site.title,
        visibility=site.visibility,
        basename=site.basename,
        agents_context=site.agents_context,
        adaptive_content=site.adaptive_content,
        proxy=site.proxy.origin if site.proxy else None,
    )


class _SectionValues(Model):
    """The fields of a section as an update of it gives them."""

    title: str
    path: str
    default_site_space: str | None
    condition: str | None
    icon: str | None
    description: str | None


def _section_values(answer: Any, call: Call) -> _SectionValues | None:
    section = _item(answer.structure, call.site_section_id)
    if not isinstance(section, site_structure.SiteSection):
        return None
    space = _default_of(section.site_spaces)
    return _SectionValues(
        title=section.title,
        path=section.path,
        default_site_space=space.id if space else None,
        condition=section.condition,
        icon=section.icon,
        description=section.description,
    )


class _AddedSection(_Inverse):
    """A new section is removed with its space, unless spaces that the site had before are in it."""

    @override
    async def former(self, read: Read, call: Call, me: str) -> Json | None:
        return {"spaces": _spaces_in((await read(_structure(call))).structure)}

    @override
    def result(self, answer: Any) -> Json | None:
        return {"id": answer.id, "title": answer.title, "spaces": _spaces_in(answer.site_spaces)} if answer else None

    def reason(self, sent: SentWrite) -> str | None:
        if not sent.result or sent.former is None:
            return NO_RESULT if not sent.result else NO_FORMER
        has_former = set(sent.former["spaces"]) & set(sent.result["spaces"])
        return "spaces that the site had before are in it, and would be removed with it" if has_former else None

    def calls(self, sent: SentWrite) -> tuple[Operation[Any], ...]:
        return (site_structure.DeleteSection(**_path_of(sent.call), site_section_id=(sent.result or {})["id"]),)

    def words(self, sent: SentWrite) -> str:
        return f"Removes the section “{_short((sent.result or {})['title'])}” with its space from the site"

    async def compare(self, read: Read, sent: SentWrite) -> Comparison:
        result = sent.result or {}
        section = _item((await read(_structure(sent.call))).structure, result["id"])
        if section is None:
            return Comparison("undone")
        written = {"title": result["title"], "spaces": result["spaces"]}
        present = {"title": section.title, "spaces": _spaces_in(section.site_spaces)}
        return Comparison("unchanged" if written == present else "changed", _value_text(written), _value_text(present))


class _AddedGroup(_Inverse):
    """A new group is deleted; its sections stay."""

    def reason(self, sent: SentWrite) -> str | None:
        return None if sent.result else NO_RESULT

    def calls(self, sent: SentWrite) -> tuple[Operation[Any], ...]:
        path = _path_of(sent.call)
        return (site_structure.DeleteSectionGroup(**path, site_section_group_id=(sent.result or {})["id"]),)

    def words(self, sent: SentWrite) -> str:
        return f"Removes the group “{_short(sent.call.title)}”; its sections stay, at its place"

    async def compare(self, read: Read, sent: SentWrite) -> Comparison:
        group = _item((await read(_structure(sent.call))).structure, (sent.result or {})["id"])
        if group is None:
            return Comparison("undone")
        is_same = group.title == sent.call.title
        return Comparison("unchanged" if is_same else "changed", sent.call.title, group.title)


class _DeletedGroup(_Inverse):
    """A deleted group of sections is added again to what it was in, at the position that the service chooses."""

    @override
    async def former(self, read: Read, call: Call, me: str) -> Json | None:
        items = (await read(_structure(call))).structure
        group = _item(items, call.site_section_group_id)
        if not isinstance(group, site_structure.SiteSectionGroup):
            return None
        above = (one for one in _every_item(items) if group in _children(one))
        return {
            "title": group.title,
            "icon": group.icon,
            "parent": next((one.id for one in above), None),
            "sections": [one.id for one in group.children if isinstance(one, site_structure.SiteSection)],
            "others": len([one for one in group.children if not isinstance(one, site_structure.SiteSection)]),
        }

    def reason(self, sent: SentWrite) -> str | None:
        if sent.former is None:
            return NO_FORMER
        return "a group with other groups or links in it cannot be restored" if sent.former["others"] else None

    def calls(self, sent: SentWrite) -> tuple[Operation[Any], ...]:
        call, former = sent.call, sent.former or {}
        given = {name: former[name] for name in ("icon", "parent") if former[name] is not None}
        path = {"organization_id": call.organization_id, "site_id": call.site_id}
        sections = tuple(former["sections"])
        return (site_structure.AddSectionGroup(**path, title=former["title"], sections=sections, **given),)

    def words(self, sent: SentWrite) -> str:
        former = sent.former or {}
        return f"Adds the group “{_short(former['title'])}” with its sections again; its position is not kept"

    async def compare(self, read: Read, sent: SentWrite) -> Comparison:
        former = sent.former or {}
        items = (await read(_structure(sent.call))).structure
        parent = _item(items, former["parent"]) if former["parent"] else None
        beside = items if former["parent"] is None else _children(parent) if parent else ()
        is_there = set(former["sections"]) <= {one.id for one in beside}
        return Comparison("unchanged" if is_there else "changed", "(its sections one level higher)", "(moved since)")


def _every_item(items: Iterable[Any]) -> Iterator[Any]:
    """All items of the structure of a site, depth first."""
    for item in items:
        yield item
        yield from _every_item(_children(item))


def _spaces_in(items: Iterable[Any]) -> list[str]:
    return [item.space.id for item in _every_item(items) if isinstance(item, site_structure.SiteSpace)]


def _default_of(items: Iterable[Any]) -> Any | None:
    return next((item for item in items if item.default), None)


class _CreatedRedirect(_Inverse):
    """A new redirect is deleted."""

    def reason(self, sent: SentWrite) -> str | None:
        return None if sent.result else NO_RESULT

    def calls(self, sent: SentWrite) -> tuple[Operation[Any], ...]:
        path, result = _path_of(sent.call), sent.result or {}
        return (site_settings.DeleteRedirect(**path, site_redirect_id=result["id"]),)

    def words(self, sent: SentWrite) -> str:
        return f"Deletes the redirect from {_short(sent.call.source)}"

    async def compare(self, read: Read, sent: SentWrite) -> Comparison:
        redirect = await _redirect(read, sent.call, (sent.result or {})["id"], sent.call.source)
        if redirect is None:
            return Comparison("undone")
        written = {"source": sent.call.source, "destination": _target_values(sent.call.destination)}
        return _compared_redirects(written, None, _redirect_values(redirect))


class _ChangedRedirect(_Inverse):
    """A redirect gets its former path and target again."""

    @override
    async def former(self, read: Read, call: Call, me: str) -> Json | None:
        redirect = await _redirect(read, call, call.site_redirect_id, call.source)
        return _redirect_values(redirect) if redirect else None

    def reason(self, sent: SentWrite) -> str | None:
        if sent.former is None:
            return NO_FORMER
        return NO_CHANGE if self._written(sent) == sent.former else None

    def calls(self, sent: SentWrite) -> tuple[Operation[Any], ...]:
        former = sent.former or {}
        return (site_settings.UpdateRedirect(**_path_of(sent.call), **former),)

    def words(self, sent: SentWrite) -> str:
        return f"Restores the redirect {_redirect_text(sent.former or {})}"

    async def compare(self, read: Read, sent: SentWrite) -> Comparison:
        redirect = await _redirect(read, sent.call, sent.call.site_redirect_id, sent.call.source)
        if redirect is None:
            return Comparison("changed", _redirect_text(self._written(sent)), "(deleted)")
        return _compared_redirects(self._written(sent), sent.former, _redirect_values(redirect))

    def _written(self, sent: SentWrite) -> Json:
        call, values = sent.call, dict(sent.former or {})
        values |= {"source": call.source} if call.source else {}
        return values | ({"destination": _target_values(call.destination)} if call.destination else {})


class _DeletedRedirect(_Inverse):
    """A deleted redirect is created again."""

    @override
    async def former(self, read: Read, call: Call, me: str) -> Json | None:
        redirect = await _redirect(read, call, call.site_redirect_id)
        return _redirect_values(redirect) if redirect else None

    def reason(self, sent: SentWrite) -> str | None:
        return NO_FORMER if sent.former is None else None

    def calls(self, sent: SentWrite) -> tuple[Operation[Any], ...]:
        call = sent.call
        path = {"organization_id": call.organization_id, "site_id": call.site_id}
        return (site_settings.CreateRedirect(**path, **(sent.former or {})),)

    def words(self, sent: SentWrite) -> str:
        return f"Adds the redirect {_redirect_text(sent.former or {})} again"

    async def compare(self, read: Read, sent: SentWrite) -> Comparison:
        former = sent.former or {}
        present = await _redirect(read, sent.call, "", former["source"])
        if present is None:
            return Comparison("unchanged")
        values = _redirect_values(present)
        return Comparison("undone" if values == former else "changed", "(deleted)", _redirect_text(values))


async def _redirect(read: Read, call: Call, identity: str, source: str | None = None) -> Any | None:
    """A redirect of a site by its id, or without one by its path; a known path saves reading all of them."""
    path = {"organization_id": call.organization_id, "site_id": call.site_id}
    listings = [site_settings.ListRedirects(**path, search=source, limit=ALL)] if source else []
    for listing in [*listings, site_settings.ListRedirects(**path, limit=ALL)] if identity else listings:
        at, guard = listing, ListingGuard(listing)
        while True:
            page = await read(at)
            for item in guard.new_items(page.items):
                if item.id == identity or (not identity and item.source == source):
                    return item
            if page.next is None or guard.problem(page.next.page):
                break
            at = listing.model_copy(update={"page": page.next.page})
    return None


def _redirect_values(redirect: Any) -> Json:
    return {"source": redirect.source, "destination": _target_values(redirect.destination)}


def _target_values(target: Any) -> Json:
    names = ("kind", "site_section_id", "site_space_id", "page_id", "url")
    return {name: value for name in names if (value := getattr(target, name)) is not None}


def _redirect_text(values: Json) -> str:
    target = values["destination"]
    where = " ".join(value for name, value in target.items() if name != "kind") if target else ""
    return f"{values['source']} → {target['kind'].removeprefix('site-')} {where}"


def _compared_redirects(written: Json, former: Json | None, present: Json) -> Comparison:
    texts = _redirect_text(written), _redirect_text(present)
    if present == written:
        return Comparison("unchanged", *texts)
    return Comparison("undone" if present == former else "changed", *texts)


class _CreatedShareLink(_Inverse):
    """A new share link is revoked."""

    def reason(self, sent: SentWrite) -> str | None:
        return None if sent.result else NO_RESULT

    def calls(self, sent: SentWrite) -> tuple[Operation[Any], ...]:
        path, result = _path_of(sent.call), sent.result or {}
        return (site_settings.DeleteShareLink(**path, share_link_id=result["id"]),)

    def words(self, sent: SentWrite) -> str:
        return f"Revokes the share link “{_short(sent.call.name)}”: its address no longer opens the site"

    async def compare(self, read: Read, sent: SentWrite) -> Comparison:
        link = _by_id((await read(_share_links(sent.call))).items, (sent.result or {})["id"])
        if link is None:
            return Comparison("undone")
        return Comparison("unchanged" if link.name == sent.call.name else "changed", sent.call.name, link.name or "")


def _share_links(call: Call) -> Operation[Any]:
    return site_settings.ListShareLinks(organization_id=call.organization_id, site_id=call.site_id, limit=ALL)


def _by_id(items: Sequence[Any], identity: str) -> Any | None:
    return next((item for item in items if item.id == identity), None)


class _ReplacedSchema(_Inverse):
    """The former visitor schema is written again."""

    @override
    async def former(self, read: Read, call: Call, me: str) -> Json | None:
        try:
            return {"json_schema": (await read(_schema_of(call))).json_schema}
        except NotFound:
            return {"json_schema": None}

    def reason(self, sent: SentWrite) -> str | None:
        if sent.former is None:
            return NO_FORMER
        if sent.former["json_schema"] is None:
            return "there was no visitor schema before, and the service cannot remove one: - deletes its claims"
        return NO_CHANGE if sent.former["json_schema"] == sent.call.json_schema else None

    def calls(self, sent: SentWrite) -> tuple[Operation[Any], ...]:
        return (site_settings.UpdateAdaptiveSchema(**_path_of(sent.call), **(sent.former or {})),)

    def words(self, sent: SentWrite) -> str:
        claims = len([*schema_claims((sent.former or {})["json_schema"])])
        return f"Restores the visitor schema with {count(claims, 'claim')}"

    async def compare(self, read: Read, sent: SentWrite) -> Comparison:
        present = (await read(_schema_of(sent.call))).json_schema
        texts = schema_text(sent.call.json_schema), schema_text(present or {})
        if present == sent.call.json_schema:
            return Comparison("unchanged", *texts)
        return Comparison("undone" if present == (sent.former or {})["json_schema"] else "changed", *texts)


def _schema_of(call: Call) -> Operation[Any]:
    return site_settings.GetAdaptiveSchema(organization_id=call.organization_id, site_id=call.site_id)


class _MovedItem(_Inverse):
    """An item of a site goes back to its former neighbor."""

    @override
    async def former(self, read: Read, call: Call, me: str) -> Json | None:
        return _neighbors((await read(_structure(call))).structure, call.item.id)

    def reason(self, sent: SentWrite) -> str | None:
        if sent.former is None:
            return NO_FORMER
        is_alone = not (sent.former["previous"] or sent.former["next"])
        return (
            "nothing else was at its former place, and the service only moves an item next to another"
            if is_alone
            else None
        )

    def calls(self, sent: SentWrite) -> tuple[Operation[Any], ...]:
        former = sent.former or {}
        place = {"after": former["previous"]} if former["previous"] else {"before": former["next"]}
        call = sent.call
        return (type(call)(**_path_of(call), item=call.item, position=site_structure.StructurePosition(**place)),)

    def words(self, sent: SentWrite) -> str:
        return "Moves the item back to its former position"

    async def compare(self, read: Read, sent: SentWrite) -> Comparison:
        present = _neighbors((await read(_structure(sent.call))).structure, sent.call.item.id)
        if present is None:
            return Comparison("changed", "(moved)", "(deleted)")
        before, after = sent.call.position.before, sent.call.position.after
        is_there = present["next"] == before.model_dump() if before else present["previous"] == after.model_dump()
        if is_there:
            return Comparison("unchanged")
        is_back = sent.former is not None and present["previous"] == sent.former["previous"]
        return Comparison("undone" if is_back else "changed", "(moved)", "(moved again)")


class _DeletedSpace(_Inverse):
    """A deleted space is restored; the service keeps it for seven days."""

    def reason(self, sent: SentWrite) -> str | None:
        return None

    def calls(self, sent: SentWrite) -> tuple[Operation[Any], ...]:
        return (spaces.RestoreSpace(**_path_of(sent.call)),)

    def words(self, sent: SentWrite) -> str:
        return "Restores the space; the service keeps it for seven days"

    async def compare(self, read: Read, sent: SentWrite) -> Comparison:
        try:
            space = await read(spaces.GetSpace(**_path_of(sent.call)))
        except NotFound:
            return Comparison("unchanged")
        return Comparison("unchanged" if space.deleted_at else "undone")


@dataclass(frozen=True)
class _Kind:
    """What spaces and collections do differently.

    Args:
        name: the word for one.
        field: the field with its id.
        get: the read of one.
        move: the move of one.
        siblings: the listing of all in an organization.
    """

    name: str
    field: str
    get: type[Operation[Any]]
    move: type[Operation[Any]]
    siblings: Callable[[str], Operation[Any]]

    async def place(self, read: Read, call: Call) -> Json:
        """The collection that the item of a call is in, and its neighbors there, as far as a listing has them."""
        identity = getattr(call, self.field)
        item = await read(self.get(**_path_of(call)))
        try:
            listed = (await read(self.siblings(item.organization))).items
        except NotSupported:
            listed = ()
        ids = [other.id for other in listed if other.parent == item.parent]
        at = ids.index(identity) if identity in ids else None
        previous = ids[at - 1] if at else None
        following = ids[at + 1] if at is not None and at + 1 < len(ids) else None
        return {"parent": item.parent, "previous": previous, "next": following}

    def neighbor(self, identity: Any) -> Json:
        """An item as a neighbor in a position."""
        return {"type": self.name, self.name: identity}


_SPACE = _Kind(
    "space",
    "space_id",
    spaces.GetSpace,
    spaces.MoveSpace,
    lambda organization: spaces.ListSpaces(organization_id=organization, limit=ALL),
)
_COLLECTION = _Kind(
    "collection",
    "collection_id",
    collections.GetCollection,
    collections.MoveCollection,
    lambda organization: collections.ListCollections(organization_id=organization, nested=True, limit=ALL),
)


class _Moved(_Inverse):
    """A space or collection goes back to the collection that it was in, next to its former neighbor.

    Args:
        kind: which of them.
    """

    def __init__(self, kind: _Kind) -> None:
        self._kind = kind

    @override
    async def former(self, read: Read, call: Call, me: str) -> Json | None:
        return await self._kind.place(read, call)

    def reason(self, sent: SentWrite) -> str | None:
        former, call = sent.former, sent.call
        if former is None:
            return NO_FORMER
        if call.position is not None:
            return None if former.get("previous") or former.get("next") or self._is_to_another(sent) else NO_FORMER
        return None if self._is_to_another(sent) else NO_CHANGE

    def calls(self, sent: SentWrite) -> tuple[Operation[Any], ...]:
        former, kind = sent.former or {}, self._kind
        previous, following = former.get("previous"), former.get("next")
        given: Json = {"parent": former["parent"]}
        if previous or following:
            side, identity = ("after", previous) if previous else ("before", following)
            given["position"] = {side: kind.neighbor(identity)}
        return (kind.move(**_path_of(sent.call), **given),)

    def words(self, sent: SentWrite) -> str:
        if not self._is_to_another(sent):
            return f"Moves the {self._kind.name} back to its former position"
        target = "its former collection" if (sent.former or {})["parent"] else "the top level"
        return f"Moves the {self._kind.name} back to {target}"

    async def compare(self, read: Read, sent: SentWrite) -> Comparison:
        former, call = sent.former or {}, sent.call
        present = await self._kind.place(read, call)
        if self._is_to_another(sent):
            written = {"parent": call.parent}
            return _compared(written, {"parent": former["parent"]}, {"parent": present["parent"]})
        if present["parent"] != former["parent"]:
            return Comparison("changed", "(moved)", "(in another collection)")
        before, after = call.position.before, call.position.after
        side, neighbor = ("next", before) if before else ("previous", after)
        if neighbor and present[side] == getattr(neighbor, self._kind.name, None):
            return Comparison("unchanged")
        is_back = present["previous"] == former["previous"] and present["next"] == former["next"]
        return Comparison("undone" if is_back else "changed", "(moved)", "(moved again)")

    def _is_to_another(self, sent: SentWrite) -> bool:
        """Whether it went to another collection."""
        return "parent" in sent.call.model_fields_set and (sent.former or {})["parent"] != sent.call.parent


class _CreatedSpace(_Inverse):
    """A new space or a copy is deleted, unless somebody worked in it since."""

    @override
    def result(self, answer: Any) -> Json | None:
        return {"id": answer.id, "title": answer.title, "revision": answer.revision} if answer else None

    def reason(self, sent: SentWrite) -> str | None:
        return None if sent.result and "revision" in sent.result else NO_RESULT

    def calls(self, sent: SentWrite) -> tuple[Operation[Any], ...]:
        return (spaces.DeleteSpace(space_id=(sent.result or {})["id"]),)

    def words(self, sent: SentWrite) -> str:
        return f"Deletes the space “{_short((sent.result or {})['title'])}”; it can be restored for seven days"

    async def compare(self, read: Read, sent: SentWrite) -> Comparison:
        result = sent.result or {}
        try:
            space = await read(spaces.GetSpace(space_id=result["id"]))
        except NotFound:
            return Comparison("undone")
        if space.deleted_at:
            return Comparison("undone")
        is_used = space.revision != result["revision"] or space.change_requests > 0
        return Comparison("changed" if is_used else "unchanged", "(new space)", "(changed in the meantime)")


class _CreatedCollection(_Inverse):
    """A new collection is deleted, unless something is in it."""

    def reason(self, sent: SentWrite) -> str | None:
        return None if sent.result else NO_RESULT

    def calls(self, sent: SentWrite) -> tuple[Operation[Any], ...]:
        return (collections.DeleteCollection(collection_id=(sent.result or {})["id"]),)

    def words(self, sent: SentWrite) -> str:
        return f"Deletes the collection “{_short(sent.call.title or '')}”"

    async def compare(self, read: Read, sent: SentWrite) -> Comparison:
        identity = (sent.result or {})["id"]
        listing = collections.ListCollections(organization_id=sent.call.organization_id, nested=True, limit=ALL)
        listed = (await read(listing)).items
        if identity not in [item.id for item in listed]:
            return Comparison("undone")
        inside = (await read(collections.ListSpacesInCollection(collection_id=identity, limit=ALL))).items
        is_used = bool(inside) or any(item.parent == identity for item in listed)
        return Comparison("changed" if is_used else "unchanged", "(empty collection)", "(not empty any more)")


class _Grant(_Inverse):
    """A level or role that was given, changed or removed is what it was before.

    Args:
        listing: the listing of those who have one.
        value: what somebody in it has.
        identity: the id of somebody in it.
        field: the field of the call with that id.
        put: gives or changes one.
        drop: removes one.
        name: what it is called.
    """

    def __init__(
        self,
        listing: Callable[[Call], Operation[Any]],
        value: Callable[[Any], str],
        identity: Callable[[Any], str],
        field: str,
        put: type[Operation[Any]],
        drop: type[Operation[Any]],
        name: str,
    ) -> None:
        self._listing, self._value, self._identity, self._field = listing, value, identity, field
        self._put, self._drop, self._name = put, drop, name

    @override
    async def former(self, read: Read, call: Call, me: str) -> Json | None:
        return {"value": await self._present(read, call)}

    def reason(self, sent: SentWrite) -> str | None:
        if sent.former is None:
            return NO_FORMER
        return NO_CHANGE if sent.former["value"] == self._written(sent.call) else None

    def calls(self, sent: SentWrite) -> tuple[Operation[Any], ...]:
        former, path = (sent.former or {})["value"], _path_of(sent.call)
        return (self._drop(**path) if former is None else self._put(**path, role=former),)

    def words(self, sent: SentWrite) -> str:
        former = (sent.former or {})["value"]
        return f"Removes the {self._name} again" if former is None else f"Restores the {self._name} “{_short(former)}”"

    async def compare(self, read: Read, sent: SentWrite) -> Comparison:
        former, written = (sent.former or {})["value"], self._written(sent.call)
        present = await self._present(read, sent.call)
        texts = written or "none", present or "none"
        if present == written:
            return Comparison("unchanged", *texts)
        return Comparison("undone" if present == former else "changed", *texts)

    async def _present(self, read: Read, call: Call) -> str | None:
        people = await _items(read, self._listing(call))
        return next((self._value(one) for one in people if self._identity(one) == getattr(call, self._field)), None)

    def _written(self, call: Call) -> str | None:
        """What the call leaves; without a role it gives that of a member."""
        if isinstance(call, self._drop):
            return None
        return call.role or ("member" if isinstance(call, teams.AddTeamMember) else None)


class _TeamMembers(_Inverse):
    """The people who were added to a team are removed, and those who were in it get their former role."""

    @override
    async def former(self, read: Read, call: Call, me: str) -> Json | None:
        return {"roles": await self._roles(read, call)}

    def reason(self, sent: SentWrite) -> str | None:
        if sent.former is None:
            return NO_FORMER
        if any("@" in named for named in self._named(sent.call)):
            return "people were named by e-mail address: they are changed in the table of the team"
        return None if self._changed(sent) else NO_CHANGE

    def calls(self, sent: SentWrite) -> tuple[Operation[Any], ...]:
        roles, changed = (sent.former or {})["roles"], self._changed(sent)
        given: Json = {"remove": [one for one in changed if one not in roles]}
        given["memberships"] = {one: {"role": roles[one]} for one in changed if one in roles}
        return (
            teams.UpdateTeamMembers(**_path_of(sent.call), **{name: value for name, value in given.items() if value}),
        )

    def words(self, sent: SentWrite) -> str:
        roles, changed = (sent.former or {})["roles"], self._changed(sent)
        added = [one for one in changed if one not in roles]
        parts = [f"removes {count(len(added), 'person', 'people')} from the team again"] if added else []
        if len(changed) > len(added):
            parts.append(f"restores {count(len(changed) - len(added), 'membership')}")
        return _sentence(parts)

    async def compare(self, read: Read, sent: SentWrite) -> Comparison:
        roles, written = (sent.former or {})["roles"], self._written(sent.call)
        present = await self._roles(read, sent.call)
        now = {one: present.get(one) for one in written}
        texts = _roles_text(written), _roles_text(now)
        if now == {one: role or roles.get(one, "member") for one, role in written.items()} or now == written:
            return Comparison("unchanged", *texts)
        return Comparison("undone" if now == {one: roles.get(one) for one in written} else "changed", *texts)

    async def _roles(self, read: Read, call: Call) -> Json:
        listing = teams.ListTeamMembers(organization_id=call.organization_id, team_id=call.team_id, limit=ALL)
        return {one.organization.id: one.team.role for one in await _items(read, listing)}

    def _named(self, call: Call) -> list[str]:
        return [*(call.add or ()), *(call.memberships or {}), *(call.remove or ())]

    def _written(self, call: Call) -> Json:
        """The role that each named person has afterwards; None without one."""
        roles: Json = dict.fromkeys(call.add or (), "member")
        memberships: Mapping[str, teams.Membership] = call.memberships or {}
        roles |= {one: membership.role for one, membership in memberships.items()}
        return {**roles, **dict.fromkeys(call.remove or ())}

    def _changed(self, sent: SentWrite) -> list[str]:
        roles, call = (sent.former or {})["roles"], sent.call
        given: Mapping[str, teams.Membership] = call.memberships or {}
        kept = {one for one in call.add or () if one in roles and one not in given}  # adding them changes nothing
        return [one for one, role in self._written(sent.call).items() if one not in kept and roles.get(one) != role]


def _roles_text(roles: Json) -> str:
    return "\n".join(f"{one}: {role or 'not in the team'}" for one, role in sorted(roles.items()))


class _CreatedTeam(_Inverse):
    """A new team is deleted, unless it got members or another name since."""

    @override
    def result(self, answer: Any) -> Json | None:
        return {"id": answer.id, "members": answer.members} if answer else None

    def reason(self, sent: SentWrite) -> str | None:
        return None if sent.result and "members" in sent.result else NO_RESULT

    def calls(self, sent: SentWrite) -> tuple[Operation[Any], ...]:
        return (teams.DeleteTeam(**_path_of(sent.call), team_id=(sent.result or {})["id"]),)

    def words(self, sent: SentWrite) -> str:
        return f"Deletes the team “{_short(sent.call.title)}”"

    async def compare(self, read: Read, sent: SentWrite) -> Comparison:
        result = sent.result or {}
        try:
            team = await read(teams.GetTeam(**_path_of(sent.call), team_id=result["id"]))
        except NotFound:
            return Comparison("undone")
        is_same = (team.title, team.members) == (sent.call.title, result["members"])
        texts = (f"{sent.call.title}, {result['members']} members", f"{team.title}, {team.members} members")
        return Comparison("unchanged" if is_same else "changed", *texts)


class _CreatedInvite(_Inverse):
    """A new invite link is revoked."""

    def reason(self, sent: SentWrite) -> str | None:
        return None if sent.result else NO_RESULT

    def calls(self, sent: SentWrite) -> tuple[Operation[Any], ...]:
        return (invites.DeleteInvite(**_path_of(sent.call), invite_id=(sent.result or {})["id"]),)

    def words(self, sent: SentWrite) -> str:
        return "Revokes the invite link: who has it cannot join with it any more"

    async def compare(self, read: Read, sent: SentWrite) -> Comparison:
        try:
            await read(invites.GetInvite(**_path_of(sent.call), invite_id=(sent.result or {})["id"]))
        except NotFound:
            return Comparison("undone")
        return Comparison("unchanged")


class _Joined(_Inverse):
    """Who joined an organization leaves it again."""

    @override
    async def former(self, read: Read, call: Call, me: str) -> Json | None:
        return {"joined": await self._is_member(read, call)}

    def reason(self, sent: SentWrite) -> str | None:
        if sent.former is None or not sent.me:
            return NO_FORMER
        return NO_CHANGE if sent.former["joined"] else None

    def calls(self, sent: SentWrite) -> tuple[Operation[Any], ...]:
        return (organizations.RemoveMember(**_path_of(sent.call), user_id=sent.me),)

    def words(self, sent: SentWrite) -> str:
        return "Leaves the organization again"

    async def compare(self, read: Read, sent: SentWrite) -> Comparison:
        return Comparison("unchanged" if await self._is_member(read, sent.call) else "undone")

    async def _is_member(self, read: Read, call: Call) -> bool:
        mine = await _items(read, organizations.ListOrganizations(limit=ALL))
        return any(one.id == call.organization_id for one in mine)


async def _items(read: Read, listing: Operation[Any]) -> list[Any]:
    """All items of a listing."""
    guard, found, call = ListingGuard(listing), list[Any](), listing
    while True:
        page = await read(call)
        found += guard.new_items(page.items)
        if page.next is None:
            return found
        if problem := guard.problem(page.next.page):
            raise problem
        call = call.model_copy(update={"page": page.next.page})


def _with_logo(organization: Any, _: Call) -> Any:
    """An organization with the URL of its logo where a change has it."""
    return organization.model_copy(update={"logo": organization.urls.logo})


_TEAM_ROLE = _Grant(
    lambda call: teams.ListTeamMembers(organization_id=call.organization_id, team_id=call.team_id, limit=ALL),
    lambda one: one.team.role,
    lambda one: one.organization.id,
    "user_id",
    teams.AddTeamMember,
    teams.RemoveTeamMember,
    "role in the team",
)
_TEAM_LEVEL = _Grant(
    lambda call: permissions.ListCollectionTeamPermissions(collection_id=call.collection_id, limit=ALL),
    lambda one: one.permission,
    lambda one: one.team.id,
    "team_id",
    permissions.UpdateCollectionTeamPermission,
    permissions.RemoveCollectionTeamPermission,
    "level of the team",
)


def _get_request(call: Call) -> Operation[Any]:
    return change_requests.GetChangeRequest(space_id=call.space_id, change_request_id=call.change_request_id)


def _structure(call: Call) -> Operation[Any]:
    return site_structure.GetSiteStructure(organization_id=call.organization_id, site_id=call.site_id)


def _in_structure(id_field: str) -> Callable[[Any, Call], Any]:
    return lambda answer, call: _item(answer.structure, getattr(call, id_field))


INVERSES: dict[type[Operation[Any]], Inverse | str] = {
    comments.PostComment: _CreatedMessage(comments.GetComment, comments.DeleteComment, "comment_id"),
    comments.PostReply: _CreatedMessage(comments.GetReply, comments.DeleteReply, "comment_reply_id"),
    comments.UpdateComment: _EditedMessage(comments.GetComment),
    comments.UpdateReply: _EditedMessage(comments.GetReply),
    comments.DeleteComment: "a deleted comment cannot be restored",
    comments.DeleteReply: "a deleted reply cannot be restored",
    comments.PostSpaceComment: _CreatedMessage(comments.GetSpaceComment, comments.DeleteSpaceComment, "comment_id"),
    comments.PostSpaceReply: "the service cannot delete a reply outside change requests",
    comments.UpdateSpaceComment: _EditedMessage(comments.GetSpaceComment),
    comments.DeleteSpaceComment: "a deleted comment cannot be restored",
    change_requests.SubmitReview: "a review cannot be withdrawn: a new one replaces it",
    change_requests.RequestReviewers: _AddedReviewers(),
    change_requests.RemoveRequestedReviewer: _RemovedReviewer(),
    change_requests.CreateChangeRequest: _CreatedRequest(),
    change_requests.UpdateChangeRequest: _Fields(_get_request),
    change_requests.MergeChangeRequest: "a merge cannot be undone: Z in the change request reverts it in a new one",
    change_requests.PullChangeRequest: "an update from main cannot be undone",
    content_changes.EditChangeRequestContent: _PageEdits(),
    spaces.UpdateSpace: _Fields(lambda call: spaces.GetSpace(space_id=call.space_id)),
    spaces.MoveSpace: _Moved(_SPACE),
    spaces.DeleteSpace: _DeletedSpace(),
    spaces.CreateSpace: _CreatedSpace(),
    spaces.DuplicateSpace: _CreatedSpace(),
    spaces.RestoreSpace: "a restored space is deleted in the tree, with its title typed",
    spaces.TransferSpace: "a transfer cannot be undone from here, only in the other organization",
    collections.CreateCollection: _CreatedCollection(),
    collections.UpdateCollection: _Fields(
        lambda call: collections.GetCollection(collection_id=call.collection_id),
    ),
    collections.MoveCollection: _Moved(_COLLECTION),
    collections.DeleteCollection: "a deleted collection cannot be restored; what was in it is one level higher",
    collections.TransferCollection: "a transfer cannot be undone from here, only in the other organization",
    sites.CreateSite: "a site is deleted among the sites, with its title typed",
    sites.UpdateSite: _Fields(
        _site_or_structure, _site_values, required=("basename", "default_site_section", "default_site_space")
    ),
    sites.DeleteSite: "a deleted site cannot be restored",
    sites.PublishSite: _Publication(publishes=True),
    sites.UnpublishSite: _Publication(publishes=False),
    site_settings.CreateRedirect: _CreatedRedirect(),
    site_settings.UpdateRedirect: _ChangedRedirect(),
    site_settings.DeleteRedirect: _DeletedRedirect(),
    site_settings.CreateShareLink: _CreatedShareLink(),
    site_settings.UpdateShareLink: _Fields(
        _share_links, lambda answer, call: _by_id(answer.items, call.share_link_id), required=("name",)
    ),
    site_settings.DeleteShareLink: "a revoked share link cannot be restored: create a new one",
    site_settings.UpdateAdaptiveSchema: _ReplacedSchema(),
    site_settings.UpdateCustomization: "the former look is in the history of the site: presscheck site restore",
    site_settings.UpdatePublishingAuth: "the sign-in of visitors is changed again in its tab, with E",
    site_settings.RegeneratePublishingAuth: "the former key cannot be restored",
    site_structure.AddSiteSpace: _AddedSiteSpace(),
    site_structure.UpdateSiteSpace: _Fields(_structure, _in_structure("site_space_id")),
    site_structure.DeleteSiteSpace: "the settings of a removed space are lost: add the space again",
    site_structure.AddSection: _AddedSection(),
    site_structure.UpdateSection: _Fields(_structure, _section_values, required=("default_site_space",)),
    site_structure.DeleteSection: "a removed section cannot be restored",
    site_structure.AddSectionGroup: _AddedGroup(),
    site_structure.UpdateSectionGroup: _Fields(_structure, _in_structure("site_section_group_id")),
    site_structure.DeleteSectionGroup: _DeletedGroup(),
    site_structure.SortSiteStructure: _MovedItem(),
    organizations.UpdateMember: _Fields(
        lambda call: organizations.GetMember(organization_id=call.organization_id, user_id=call.user_id)
    ),
    organizations.RemoveMember: "a removed member is invited again: what they had is lost",
    organizations.UpdateOrganization: _Fields(
        lambda call: organizations.GetOrganization(organization_id=call.organization_id), _with_logo
    ),
    organizations.JoinOrganization: _Joined(),
    agent_instructions.UpdateAgentInstructions: _Fields(
        lambda call: agent_instructions.GetAgentInstructions(organization_id=call.organization_id)
    ),
    teams.CreateTeam: _CreatedTeam(),
    teams.UpdateTeamMembers: _TeamMembers(),
    teams.UpdateTeam: _Fields(lambda call: teams.GetTeam(organization_id=call.organization_id, team_id=call.team_id)),
    teams.DeleteTeam: "a deleted team cannot be restored",
    teams.AddTeamMember: _TEAM_ROLE,
    teams.RemoveTeamMember: _TEAM_ROLE,
    permissions.UpdateCollectionTeamPermission: _TEAM_LEVEL,
    permissions.RemoveCollectionTeamPermission: _TEAM_LEVEL,
    invites.CreateInvite: _CreatedInvite(),
    invites.UpdateInvite: _Fields(
        lambda call: invites.GetInvite(organization_id=call.organization_id, invite_id=call.invite_id)
    ),
    invites.DeleteInvite: "a revoked invite link cannot be restored: create a new one",
    saml.CreateSAMLProvider: "a SAML provider is deleted among the providers",
    saml.UpdateSAMLProvider: "a SAML provider is changed again in its form",
    saml.DeleteSAMLProvider: "a deleted SAML provider cannot be restored",
    openapi.CreateOpenAPISpec: "a specification is deleted among the specifications",
    openapi.UpdateOpenAPISpec: _Fields(
        lambda call: openapi.GetOpenAPISpec(organization_id=call.organization_id, spec_slug=call.spec_slug)
    ),
    openapi.DeleteOpenAPISpec: "a deleted specification cannot be restored",
    translations.CreateTranslation: "a translation is deleted among the translations",
    translations.UpdateTranslation: "a translation is changed again in its form",
    translations.DeleteTranslation: "a deleted translation cannot be restored",
    translations.RunTranslation: "a run of a translation cannot be undone",
    openapi.PutOpenAPISpec: "the former source of a specification is not kept: e gives it again",
    conversations.IngestConversations: "imported conversations cannot be removed",
    imports.StartImport: "an import is canceled among the imports; its pages are deleted in the tree",
    imports.CancelImport: "a canceled import is started again",
    integrations.PublishIntegration: "the former version of an integration cannot be published from here",
    integrations.UnpublishIntegration: "a deleted integration cannot be restored",
    integrations.InstallIntegration: "an integration is uninstalled among its installations, with its title typed",
    integrations.UpdateInstallation: "the settings of an installation are changed again in their form, with E",
    integrations.UninstallIntegration: "the settings of an uninstalled integration are lost: install it again",
    integrations.SetDevelopmentMode: "development mode is turned off with its key",
    integrations.DisableDevelopmentMode: "development mode is turned on again with its key",
    integrations.RenderIntegration: "what a component did is known to its integration only",
}
"""The inverse of each operation, or why it has none."""


def inverse_of(call: Call) -> Inverse | None:
    """The inverse of the operation of a call; None if it has none."""
    inverse = INVERSES.get(cast("type[Operation[Any]]", type(call)))
    return None if isinstance(inverse, str) else inverse


def reason_against(sent: SentWrite) -> str | None:
    """Why a sent write cannot be undone; None if it can, as far as is known without a request."""
    operation = cast("type[Operation[Any]]", type(sent.call))
    inverse = INVERSES.get(operation, NO_INVERSE)
    return inverse if isinstance(inverse, str) else inverse.reason(sent)


def _path_of(call: Call) -> Json:
    return {name: getattr(call, name) for name in call.path_fields()}


def _given_fields(call: Call) -> Json:
    """The given arguments of a call that are not in its path, as JSON values."""
    return {name: value for name, value in call.given().items() if name not in call.path_fields()}


def _fields_of(call: Call, thing: Any) -> Json:
    """The present values of the given arguments of a call; without those that the thing does not have."""
    values = thing.model_dump(mode="json", by_alias=False)
    return {name: values[name] for name in _given_fields(call) if name in values}


def _is_same_keys(former: Json, written: Json) -> bool:
    return former.keys() == written.keys()


def _compared(written: Json, former: Json, present: Json) -> Comparison:
    texts = _value_text(written), _value_text(present)
    if all(_is_same(name, value, present.get(name)) for name, value in written.items()):
        return Comparison("unchanged", *texts)
    is_back = all(_is_same(name, value, present.get(name)) for name, value in former.items())
    return Comparison("undone" if is_back else "changed", *texts)


def _differs(former: Any, written: Any) -> bool:
    """Whether a write changed a value, without knowing how the service stored it."""
    one, other = (value.strip() if isinstance(value, str) else value for value in (former, written))
    return (one or None) != (other or None)


def _is_same(name: str, one: Any, other: Any) -> bool:
    """Whether two values of a field are the same; services add spaces, and store no value as an empty text."""
    if isinstance(one, dict) or isinstance(other, dict):
        return _value_of(name, one) == _value_of(name, other)
    if isinstance(one, str) or isinstance(other, str):
        return _same_text(one or "", other or "") if name == "text" else (one or "").strip() == (other or "").strip()
    return one == other


def _value_text(values: Json) -> str:
    if len(values) == 1:
        [(name, value)] = values.items()
        return _value_of(name, value)
    return "\n".join(f"{name.replace('_', ' ')}: {_value_of(name, value)}" for name, value in values.items())


def _value_of(name: str, value: Any) -> str:
    """A value as text; a node tree as Markdown."""
    if name == "resolved":
        return "resolved" if value else "open"
    if name == "adaptive_content":
        return "on" if value == {"enabled": True} else "off"
    if name == "merge_rules" and isinstance(value, dict):
        return _rules_text(cast("Json", value))
    if isinstance(value, dict):
        # 3 ms, only for a description
        from presscheck.documents.nodes.to_markdown import nodes_to_markdown
        from presscheck.documents.nodes.validation import InvalidNode

        node = cast("Json", value)
        try:
            return nodes_to_markdown(node).strip()
        except InvalidNode:
            return json.dumps(node, sort_keys=True, ensure_ascii=False)
    if isinstance(value, list):
        return ", ".join(map(str, cast("list[Any]", value))) or "none"
    return "" if value is None else str(value)


def _rules_text(value: Json) -> str:
    """Merge rules as text: those of the organization, none, or their names with what they are about."""
    if value.get("type") != "rules" or not value.get("rules"):
        return "those of the organization" if value.get("type") == "inherit" else "none"
    rules = [
        " ".join(part for part in (rule["rule"], *(rule.get("users") or ()), rule.get("expression") or "") if part)
        for rule in value["rules"]
    ]
    return ", ".join(sorted(rules)).replace("_", " ")


def _restored(name: str, value: Any) -> str:
    """What restoring a field does, in words."""
    if name == "adaptive_content":
        return f"turns adaptive content {_value_of(name, value)} again"
    if name == "edit_mode":
        return "locks the space again" if value == "locked" else "unlocks the space"
    if name.startswith("default_site_"):
        return f"makes the former {name.replace('_site_', ' ')} the default again"
    if name == "status":
        return {"archived": "archives it again", "draft": "makes it a draft again"}.get(value, "reopens it")
    text = _short(_value_of(name, value))
    label = name.replace("_", " ")
    return f"restores the {label} “{text}”" if text else f"removes the {label}"


def _sentence(parts: Sequence[str]) -> str:
    text = ", ".join(parts)
    return text[:1].upper() + text[1:]


def _text_of(body: Any) -> str:
    return ((body.markdown if body else None) or "").strip()


def _same_text(one: str, other: str) -> bool:
    """Whether two Markdown texts are the same, apart from how the service writes Markdown."""
    # 2 ms, only to compare texts
    from presscheck.documents.nodes.from_markdown import markdown_to_nodes
    from presscheck.documents.nodes.to_markdown import nodes_to_markdown

    if one.split() == other.split():
        return True
    first, second = (nodes_to_markdown(markdown_to_nodes(text)).split() for text in (one, other))
    return first == second


def _short(text: str) -> str:
    flat = " ".join(text.split())
    return flat if len(flat) <= LONGEST else f"{flat[: LONGEST - 1].rstrip()}…"


async def _requested(read: Read, call: Call) -> dict[str, str]:
    """The names of the requested reviewers, by their ids."""
    path = {"space_id": call.space_id, "change_request_id": call.change_request_id}
    page = await read(change_requests.ListRequestedReviewers(**path, limit=ALL))
    return {item.user.id: item.user.display_name for item in page.items if item.user}


@dataclass(frozen=True)
class _Place:
    """A page in a tree of pages."""

    page: content.RevisionPage
    parent: str | None
    index: int


def _places(pages: Sequence[content.RevisionPage], parent: str | None = None) -> dict[str, _Place]:
    found: dict[str, _Place] = {}
    for index, page in enumerate(pages):
        found[page.id] = _Place(page, parent, index)
        found |= _places(page.pages, page.id)
    return found


_NOT_CONTENT = frozenset(("pages", "created_at", "updated_at", "path", "git", "urls", "markdown", "document"))
"""Fields of a page that say nothing of its content."""


def _signatures(pages: Sequence[content.RevisionPage], touched: Iterable[str]) -> Mapping[str, Any]:
    """Content, parent and subpages of each touched page that exists."""
    places = _places(pages)
    return {
        page: (
            places[page].page.model_dump(mode="json", exclude=set(_NOT_CONTENT)),
            places[page].parent,
            [child.id for child in places[page].page.pages],
        )
        for page in touched
        if page in places
    }


def _is_move(change: Any) -> bool:
    return change.operation == "update_page" and bool(change.model_fields_set & {"into", "at"})


def _is_only_move(change: Any) -> bool:
    return _is_move(change) and not _is_edit(change)


def _moves_back(former: Json, changes: Sequence[Any]) -> Iterator[content_changes.UpdatePage]:
    """The moves that bring pages back to their former places, worked out on the order that the changes left."""
    before: dict[str | None, list[str]] = dict(former["orders"])
    order = PageOrder(before)
    for change in changes:
        if change.page in order:
            parent = change.into if "into" in change.model_fields_set else order.parent(change.page)
            order.insert(change.page, parent, change.at)
    places: dict[str, tuple[str | None, int]] = former["places"]
    for page, (parent, index) in sorted(places.items(), key=lambda place: place[1][1]):
        after = before[parent][index - 1] if index else None
        at = order.move(Move(page, parent, after))
        yield content_changes.UpdatePage(page=page, into=parent, at=at)


def _have_same_places(
    one: Sequence[content.RevisionPage], other: Sequence[content.RevisionPage], pages: Sequence[str]
) -> bool:
    """Whether pages that were moved have the same places in two trees."""
    first, second = PageOrder.of(one), PageOrder.of(other)
    return all(first.has_same_place(page, second) for page in pages)


def _is_edit(change: Any) -> bool:
    """Whether a change of an existing page is about its content, not only about its place."""
    return change.operation != "update_page" or bool(change.model_fields_set - {"operation", "page", "into", "at"})


def _children(item: Any) -> tuple[Any, ...]:
    return (*getattr(item, "children", ()), *getattr(item, "site_spaces", ()))


def _item(items: Sequence[Any], identity: str) -> Any | None:
    """An item of the structure of a site, at any depth."""
    for item in items:
        if item.id == identity:
            return item
        if (inside := _item(_children(item), identity)) is not None:
            return inside
    return None


def _neighbors(items: Sequence[Any], identity: str) -> Json | None:
    """The siblings before and after an item, as pointers; None if it is not there."""
    ids = [item.id for item in items]
    if identity in ids:
        at = ids.index(identity)
        around = {"previous": items[at - 1] if at else None, "next": items[at + 1] if at + 1 < len(items) else None}
        return {name: {"type": item.object, "id": item.id} if item else None for name, item in around.items()}
    inside = (_neighbors(_children(item), identity) for item in items)
    return next((found for found in inside if found), None)
