"""The inverse of each operation, or the reason why the operation has none.

An inverse records the values that a write replaces before the write is sent. Before the inverse is sent, the present
values are compared with the values that the write left, so that later changes by others are never overwritten.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from dataclasses import KW_ONLY, dataclass, field
from typing import Any, TypeVar, cast

from typing_extensions import override

from presscheck.api import (
    agent_instructions,
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
    imports,
    integrations,
    invites,
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
    teams,
    translations,
    url_lookup,
)
from presscheck.api.operation import ALL, Model, Operation
from presscheck.documents.visitors.claim_schema import schema_claims, schema_text
from presscheck.engine.publish.site_structure import all_items, children_of, site_spaces
from presscheck.engine.reads.listing_guard import all_items_of
from presscheck.engine.shared_calls import at
from presscheck.engine.writes.inverse import (
    NO_CHANGE,
    NO_FORMER,
    NO_RESULT,
    Call,
    Comparison,
    Inverse,
    Json,
    Read,
    SentWrite,
    compared,
    is_change,
    is_same_text,
    last_id,
    sentence,
    short,
    text_of,
    value_text,
    values_text,
)
from presscheck.engine.writes.page_inverse import PageEdits
from presscheck.errors import NotFound, NotSupported
from presscheck.text.phrases import count

T = TypeVar("T")
NO_INVERSE = "changes of this kind cannot be undone"
Find = Callable[[Read, Call, str], Awaitable[Any]]
"""Finds a resource by id, with the path fields of a call. Returns None or raises NotFound if it no longer exists."""


def _get(operation: type[Operation[Any]], **given: Any) -> Find:
    """Return a `Find` function that reads the resource with this operation."""
    return lambda read, call, identity: read(at(operation, call, **{operation.path_fields()[-1]: identity}, **given))


async def _structure(read: Read, call: Call) -> tuple[site_structure.StructureItem, ...]:
    return (await read(at(site_structure.GetSiteStructure, call))).structure


async def _structure_item(read: Read, call: Call, identity: str) -> Any:
    return _by_id(all_items(await _structure(read, call)), identity)


async def _share_link(read: Read, call: Call, identity: str) -> Any:
    return _by_id((await read(at(site_settings.ListShareLinks, call, limit=ALL))).items, identity)


async def _redirect(read: Read, call: Call, identity: str) -> Any:
    source = getattr(call, "source", None)
    # searching for a known path saves reading all redirects
    match = _by_id(await _redirects(read, call, search=source), identity) if source else None
    return match or _by_id(await _redirects(read, call), identity)


async def _redirects(read: Read, call: Call, **given: Any) -> tuple[Any, ...]:
    return await all_items_of(read, at(site_settings.ListRedirects, call, **given, limit=ALL))


def _by_id(items: Iterable[Any], identity: str) -> Any:
    return next((item for item in items if item.id == identity), None)


def _default_of(items: Iterable[Any]) -> str | None:
    return next((item.id for item in items if item.default), None)


@dataclass(frozen=True)
class _Created(Inverse):
    """The inverse of a creation: deletes the resource, unless it was changed or used since.

    Attributes:
        delete: the operation that deletes the resource; the id is the last field of its path.
        sentence: describes the deletion.
        find: finds the resource.
        comparison: compares the resource with the written values.
        kept: the fields of the response to record.
        given: further arguments of `delete`.
    """

    delete: type[Operation[Any]]
    sentence: Callable[[SentWrite], str]
    find: Find
    comparison: Callable[[SentWrite, Any], Comparison]
    _: KW_ONLY
    kept: tuple[str, ...] = ("id",)
    given: Json = field(default_factory=dict)

    @override
    def result(self, answer: Any) -> Json | None:
        has_id = getattr(answer, "id", None) is not None
        return {name: getattr(answer, name) for name in self.kept} if has_id else None

    @override
    def reason(self, sent: SentWrite) -> str | None:
        return None if set(self.kept) <= sent.response.keys() else NO_RESULT

    @override
    def calls(self, sent: SentWrite) -> tuple[Operation[Any], ...]:
        identity = {self.delete.path_fields()[-1]: sent.response["id"]}
        return (at(self.delete, sent.call, **identity, **self.given),)

    @override
    def words(self, sent: SentWrite) -> str:
        return self.sentence(sent)

    @override
    async def compare(self, read: Read, sent: SentWrite) -> Comparison:
        try:
            present = await self.find(read, sent.call, sent.response["id"])
        except NotFound:
            present = None
        return Comparison("undone") if present is None else self.comparison(sent, present)


def _new(written: str, present: str) -> Comparison:
    return _used(written, present, is_used=written != present)


def _used(written: str, present: str, *, is_used: bool) -> Comparison:
    return Comparison("changed" if is_used else "unchanged", written, present)


def _message(delete: type[Operation[Any]], get: type[Operation[Any]]) -> Inverse:
    """Return the inverse of a new comment or reply: deletes the message, unless it was edited or answered since."""

    def comparison(sent: SentWrite, message: Any) -> Comparison:
        written, present = text_of(sent.call.body), text_of(message.body)
        if replies := getattr(message, "replies", 0):
            return Comparison("changed", written, f"{present}\n({count(replies, 'reply', 'replies')})")
        return _used(written, present, is_used=not is_same_text(written, present))

    return _Created(
        delete,
        lambda sent: f"Deletes “{short(text_of(sent.call.body))}”",
        _get(get, format="markdown"),
        comparison,
    )


def _new_request(_: SentWrite, request: Any) -> Comparison:
    if request.status == "archived":
        return Comparison("undone")
    return _used("open", request.status, is_used=request.status == "merged")


def _new_space(sent: SentWrite, space: Any) -> Comparison:
    if space.deleted_at:
        return Comparison("undone")
    is_used = space.revision != sent.response["revision"] or space.change_requests > 0
    return _used("(new space)", "(changed in the meantime)", is_used=is_used)


_NEW_SPACE = _Created(
    spaces.DeleteSpace,
    lambda sent: f"Deletes the space “{short(sent.response['title'])}”; it can be restored for seven days",
    _get(spaces.GetSpace),
    _new_space,
    kept=("id", "title", "revision"),
)


async def _contents(read: Read, call: Call, collection: str) -> list[Any] | None:
    """Return the spaces and collections in a collection, or None if the collection no longer exists."""
    listing = at(collections.ListCollections, call, nested=True, limit=ALL)
    listed = (await read(listing)).items
    if _by_id(listed, collection) is None:
        return None
    inside = (await read(collections.ListSpacesInCollection(collection_id=collection, limit=ALL))).items
    return [*inside, *(item for item in listed if item.parent == collection)]


class _AddedSection(_Created):
    """The inverse of a new section: removes it with its space, unless it contains spaces that the site had before."""

    @override
    async def former(self, read: Read, call: Call, me: str) -> Json | None:
        return {"spaces": _spaces_in(await _structure(read, call))}

    @override
    def result(self, answer: Any) -> Json | None:
        return {"id": answer.id, "title": answer.title, "spaces": _spaces_in((answer,))} if answer else None

    @override
    def reason(self, sent: SentWrite) -> str | None:
        if not sent.result or sent.former is None:
            return NO_RESULT if not sent.result else NO_FORMER
        has_former = set(sent.former["spaces"]) & set(sent.result["spaces"])
        return "it contains spaces that the site had before, which would be removed with it" if has_former else None


def _new_section(sent: SentWrite, section: Any) -> Comparison:
    written = {"title": sent.response["title"], "spaces": sent.response["spaces"]}
    present = {"title": section.title, "spaces": _spaces_in((section,))}
    return compared(written, None, present, values_text)


def _spaces_in(items: Iterable[site_structure.StructureItem]) -> list[str]:
    return [item.space.id for item, _ in site_spaces(items)]


class _Restored(Inverse):
    """An inverse that writes the replaced values again."""

    @abstractmethod
    def written(self, sent: SentWrite) -> Json:
        """Return the values that the write has set, under the keys of `sent.former`."""

    def text(self, values: Json) -> str:
        return values_text(values)

    def obstacle(self, sent: SentWrite) -> str | None:
        """Return why the former values cannot be written again, or None if they can."""
        return None

    @override
    def reason(self, sent: SentWrite) -> str | None:
        if sent.former is None or sent.former.keys() != self.written(sent).keys():
            return NO_FORMER
        return self.obstacle(sent) or (None if self.changed(sent) else NO_CHANGE)

    @override
    def calls(self, sent: SentWrite) -> tuple[Operation[Any], ...]:
        return (at(type(sent.call), sent.call, **{name: sent.before[name] for name in self.changed(sent)}),)

    @override
    async def compare(self, read: Read, sent: SentWrite) -> Comparison:
        written, present = self.written(sent), await self.former(read, sent.call, sent.me)
        if present is None:
            return Comparison("changed", self.text(written), "(deleted)")
        return compared(written, sent.before, present, self.text)

    def changed(self, sent: SentWrite) -> list[str]:
        """Return the names of the values that the write changed."""
        written = self.written(sent)
        return [name for name, value in sent.before.items() if is_change(value, written.get(name))]


class _Fields(_Restored):
    """The inverse of an update: restores the former values of the fields.

    Args:
        find: finds the resource, whose fields must be named like the arguments of the call.
        required: the fields that cannot be removed once they have a value.
    """

    def __init__(self, find: Find, *, required: tuple[str, ...] = ()) -> None:
        self._find, self._required = find, required

    @override
    async def former(self, read: Read, call: Call, me: str) -> Json | None:
        resource = await self._find(read, call, last_id(call))
        if resource is None:
            return None
        values = resource.model_dump(mode="json", by_alias=False)
        return {name: values[name] for name in _given_fields(call) if name in values}

    @override
    def written(self, sent: SentWrite) -> Json:
        return _given_fields(sent.call)

    @override
    def obstacle(self, sent: SentWrite) -> str | None:
        missing = next((name for name in self._required if name in sent.before and not sent.before[name]), None)
        return missing and f"it had no {missing.replace('_', ' ')} before, and the service cannot remove it"

    @override
    def words(self, sent: SentWrite) -> str:
        return sentence([_restored(name, sent.before[name]) for name in self.changed(sent)])


def _given_fields(call: Call) -> Json:
    """Return the given arguments of a call that are not in its path, as JSON values."""
    return {name: value for name, value in call.given().items() if name not in call.path_fields()}


_STATUSES_RESTORED = {
    "archived": "archives it again",
    "draft": "makes it a draft again",
    "done": "marks it as done again",
    "canceled": "ignores it again",
}


_SWITCHES = {
    "active": "the share link",
    "adaptive_content": "adaptive content",
    "ai": "AI",
    "invite_links": "invite links",
    "sso": "single sign-on",
}
"""The nouns of fields that are on or off."""


def _restored(name: str, value: Any) -> str:
    """Describe the restoration of a field."""
    if name in _SWITCHES:
        return f"turns {_SWITCHES[name]} {value_text(name, value)} again"
    if name == "edit_mode":
        return "locks the space again" if value == "locked" else "unlocks the space"
    if name.startswith("default_site_"):
        return f"makes the former {name.replace('_site_', ' ')} the default again"
    if name == "status":
        return _STATUSES_RESTORED.get(value, "reopens it")
    text = short(value_text(name, value))
    label = name.replace("_", " ")
    return f"restores the {label} “{text}”" if text else f"removes the {label}"


class _EditedMessage(_Restored):
    """The inverse of an edit of a comment or reply: restores the former text, state and reactions.

    Args:
        get: the operation that reads the message.
    """

    def __init__(self, get: type[Operation[Any]]) -> None:
        self._get = get

    @override
    async def former(self, read: Read, call: Call, me: str) -> Json:
        message, values = await read(at(self._get, call, format="markdown")), Json()
        if hasattr(message, "status") and call.resolved is not None:  # a reply has no state of its own
            values["resolved"] = message.status == "resolved"
        if call.body is not None:
            values["text"] = text_of(message.body)
        if codes := {*(call.added_reactions or ()), *(call.removed_reactions or ())}:
            mine = {
                reaction.emoji
                for reaction in message.reactions
                if any(reactor.user.id == me for reactor in reaction.users)
            }
            values["reactions"] = sorted(codes & mine)
        return values

    @override
    def written(self, sent: SentWrite) -> Json:
        call = sent.call
        resolved = getattr(call, "resolved", None)
        values: Json = {} if resolved is None else {"resolved": resolved}
        if call.body is not None:
            values["text"] = text_of(call.body)
        added, removed = set(call.added_reactions or ()), set(call.removed_reactions or ())
        if added or removed:
            values["reactions"] = sorted(added - removed)
        return values

    @override
    def calls(self, sent: SentWrite) -> tuple[Operation[Any], ...]:
        former, changed = sent.before, self.changed(sent)
        given: Json = {"resolved": former["resolved"]} if "resolved" in changed else {}
        if "text" in changed:
            given["body"] = comments.Document(markdown=former["text"])
        if "reactions" in changed:
            before, after = set(former["reactions"]), set(self.written(sent)["reactions"])
            given |= {"added_reactions": tuple(before - after)} if before - after else {}
            given |= {"removed_reactions": tuple(after - before)} if after - before else {}
        return (at(type(sent.call), sent.call, **given),)

    @override
    def words(self, sent: SentWrite) -> str:
        former, changed = sent.before, self.changed(sent)
        parts: list[str] = []
        if "resolved" in changed:
            parts.append("resolves the thread again" if former["resolved"] else "reopens the thread")
        if "text" in changed:
            parts.append(f"restores the text “{short(former['text'])}”")
        if "reactions" in changed:
            is_removal = len(former["reactions"]) < len(self.written(sent)["reactions"])
            parts.append("removes your reaction" if is_removal else "adds your reaction again")
        return sentence(parts)


class _SiteValues(Model):
    """The fields of a site, named as in an update."""

    title: str
    visibility: str
    basename: str | None
    agents_context: str | None
    adaptive_content: sites.AdaptiveContent | None
    proxy: str | None


class _SiteDefaults(Model):
    """The default section and space of a site, named as in an update."""

    default_site_section: str | None
    default_site_space: str | None


class _SectionValues(Model):
    """The fields of a section, named as in an update."""

    title: str
    path: str
    default_site_space: str | None
    condition: str | None
    icon: str | None
    description: str | None


async def _site_values(read: Read, call: Call, _: str) -> _SiteValues | _SiteDefaults:
    if call.default_site_section is not None or call.default_site_space is not None:
        items = await _structure(read, call)
        sections = [item for item in all_items(items) if isinstance(item, site_structure.SiteSection)]
        section = next((item for item in sections if item.default), None)
        inside = (
            section.site_spaces if section else [item for item in items if isinstance(item, site_structure.SiteSpace)]
        )
        return _SiteDefaults(
            default_site_section=section.id if section else None, default_site_space=_default_of(inside)
        )
    site: sites.Site = await read(at(sites.GetSite, call))
    return _SiteValues(
        title=site.title,
        visibility=site.visibility,
        basename=site.basename,
        agents_context=site.agents_context,
        adaptive_content=site.adaptive_content,
        proxy=site.proxy.origin if site.proxy else None,
    )


async def _section_values(read: Read, call: Call, identity: str) -> _SectionValues | None:
    section = await _structure_item(read, call, identity)
    if not isinstance(section, site_structure.SiteSection):
        return None
    return _SectionValues(
        title=section.title,
        path=section.path,
        default_site_space=_default_of(section.site_spaces),
        condition=section.condition,
        icon=section.icon,
        description=section.description,
    )


async def _organization(read: Read, call: Call, _: str) -> organizations.Organization:
    organization = await read(at(organizations.GetOrganization, call))
    return organization.model_copy(update={"logo": organization.urls.logo})


class _ReplacedSchema(_Restored):
    """The inverse of a replaced visitor schema: restores the former schema."""

    @override
    async def former(self, read: Read, call: Call, me: str) -> Json:
        try:
            return {"json_schema": (await read(at(site_settings.GetAdaptiveSchema, call))).json_schema}
        except NotFound:
            return {"json_schema": None}

    @override
    def written(self, sent: SentWrite) -> Json:
        return _given_fields(sent.call)

    @override
    def text(self, values: Json) -> str:
        return schema_text(values["json_schema"] or {})

    @override
    def obstacle(self, sent: SentWrite) -> str | None:
        if sent.before["json_schema"] is None:
            return "the site had no visitor schema before, and the service cannot remove it: delete its claims instead"
        return None

    @override
    def words(self, sent: SentWrite) -> str:
        claims = len([*schema_claims(sent.before["json_schema"])])
        return f"Restores the visitor schema with {count(claims, 'claim')}"


class _ChangedRedirect(_Restored):
    """The inverse of a changed redirect: restores the former path and target of the redirect."""

    @override
    async def former(self, read: Read, call: Call, me: str) -> Json | None:
        redirect = await _redirect(read, call, call.site_redirect_id)
        return _redirect_values(redirect) if redirect else None

    @override
    def written(self, sent: SentWrite) -> Json:
        call, values = sent.call, dict(sent.before)
        values |= {"source": call.source} if call.source else {}
        return values | ({"destination": _target_values(call.destination)} if call.destination else {})

    @override
    def text(self, values: Json) -> str:
        return _redirect_text(values)

    @override
    def calls(self, sent: SentWrite) -> tuple[Operation[Any], ...]:
        return (at(site_settings.UpdateRedirect, sent.call, **sent.before),)

    @override
    def words(self, sent: SentWrite) -> str:
        return f"Restores the redirect {_redirect_text(sent.before)}"


class _DeletedRedirect(Inverse):
    """The inverse of a deleted redirect: creates the redirect again."""

    @override
    async def former(self, read: Read, call: Call, me: str) -> Json | None:
        redirect = await _redirect(read, call, call.site_redirect_id)
        return _redirect_values(redirect) if redirect else None

    @override
    def reason(self, sent: SentWrite) -> str | None:
        return NO_FORMER if sent.former is None else None

    @override
    def calls(self, sent: SentWrite) -> tuple[Operation[Any], ...]:
        return (at(site_settings.CreateRedirect, sent.call, **sent.before),)

    @override
    def words(self, sent: SentWrite) -> str:
        return f"Adds the redirect {_redirect_text(sent.before)} again"

    @override
    async def compare(self, read: Read, sent: SentWrite) -> Comparison:
        same_path = await _redirects(read, sent.call, search=sent.before["source"])
        present = next((_redirect_values(item) for item in same_path if item.source == sent.before["source"]), None)
        if present is None:
            return Comparison("unchanged")
        return Comparison("undone" if present == sent.former else "changed", "(deleted)", _redirect_text(present))


def _redirect_values(redirect: Any) -> Json:
    return {"source": redirect.source, "destination": _target_values(redirect.destination)}


def _target_values(target: Any) -> Json:
    names = ("kind", "site_section_id", "site_space_id", "page_id", "url")
    return {name: value for name in names if (value := getattr(target, name)) is not None}


def _redirect_text(values: Json) -> str:
    target = values["destination"]
    where = " ".join(value for name, value in target.items() if name != "kind") if target else ""
    return f"{values['source']} → {target['kind'].removeprefix('site-')} {where}"


@dataclass(frozen=True)
class _Grant(_Restored):
    """The inverse of giving, changing or removing a level or role: restores the former level or role.

    Attributes:
        listing: the listing of all holders; the last field of a call's path is the id of the holder.
        holder: returns the id and the level or role of an item of the listing.
        put: the operation that gives or changes a level or role.
        drop: the operation that removes it.
        name: a noun for descriptions.
    """

    listing: type[Operation[Any]]
    holder: Callable[[Any], tuple[str, str]]
    put: type[Operation[Any]]
    drop: type[Operation[Any]]
    name: str

    @override
    async def former(self, read: Read, call: Call, me: str) -> Json | None:
        items = await all_items_of(read, at(self.listing, call, limit=ALL))
        return {"value": dict(map(self.holder, items)).get(last_id(call))}

    @override
    def written(self, sent: SentWrite) -> Json:
        if isinstance(sent.call, self.drop):
            return {"value": None}
        # the service defaults to the role of a member
        return {"value": sent.call.role or ("member" if isinstance(sent.call, teams.AddTeamMember) else None)}

    @override
    def text(self, values: Json) -> str:
        return values["value"] or "none"

    @override
    def calls(self, sent: SentWrite) -> tuple[Operation[Any], ...]:
        role = sent.before["value"]
        return (at(self.drop, sent.call) if role is None else at(self.put, sent.call, role=role),)

    @override
    def words(self, sent: SentWrite) -> str:
        former = sent.before["value"]
        return f"Removes the {self.name} again" if former is None else f"Restores the {self.name} “{short(former)}”"


_TEAM_ROLE = _Grant(
    teams.ListTeamMembers,
    lambda item: (item.organization.id, item.team.role),
    teams.AddTeamMember,
    teams.RemoveTeamMember,
    "role in the team",
)
_TEAM_LEVEL = _Grant(
    permissions.ListCollectionTeamPermissions,
    lambda item: (item.team.id, item.permission),
    permissions.UpdateCollectionTeamPermission,
    permissions.RemoveCollectionTeamPermission,
    "level of the team",
)


_USER_LEVEL = _Grant(
    permissions.ListCollectionUserPermissions,
    lambda item: (item.user.id, item.permission),
    permissions.UpdateCollectionUserPermission,
    permissions.RemoveCollectionUserPermission,
    "level of the user",
)
_TEAM_LEVEL_IN_SITE = _Grant(
    permissions.ListSiteTeamPermissions,
    lambda item: (item.team.id, item.permission),
    permissions.UpdateSiteTeamPermission,
    permissions.RemoveSiteTeamPermission,
    "level of the team",
)
_USER_LEVEL_IN_SITE = _Grant(
    permissions.ListSiteUserPermissions,
    lambda item: (item.user.id, item.permission),
    permissions.UpdateSiteUserPermission,
    permissions.RemoveSiteUserPermission,
    "level of the user",
)
_INVITED = "change or remove the access of each invited person instead"
_UNLISTED_LEVEL = "the service does not report the former access level: change it again instead"


class _TeamMembers(Inverse):
    """The inverse of changed team members: removes added people, and restores the roles of earlier members."""

    @override
    async def former(self, read: Read, call: Call, me: str) -> Json | None:
        items = await all_items_of(read, at(teams.ListTeamMembers, call, limit=ALL))
        return {"roles": {item.organization.id: item.team.role for item in items}}

    @override
    def reason(self, sent: SentWrite) -> str | None:
        if sent.former is None:
            return NO_FORMER
        if any("@" in person for person in self._written(sent.call)):
            return "people were given by email address: change them in the list of team members instead"
        return None if self._changed(sent) else NO_CHANGE

    @override
    def calls(self, sent: SentWrite) -> tuple[Operation[Any], ...]:
        roles, changed = sent.before["roles"], self._changed(sent)
        given: Json = {"remove": [person for person in changed if person not in roles]}
        given["memberships"] = {person: {"role": roles[person]} for person in changed if person in roles}
        return (at(teams.UpdateTeamMembers, sent.call, **{name: value for name, value in given.items() if value}),)

    @override
    def words(self, sent: SentWrite) -> str:
        roles, changed = sent.before["roles"], self._changed(sent)
        added = [person for person in changed if person not in roles]
        parts = [f"removes {count(len(added), 'person', 'people')} from the team again"] if added else []
        if len(changed) > len(added):
            parts.append(f"restores {count(len(changed) - len(added), 'membership')}")
        return sentence(parts)

    @override
    async def compare(self, read: Read, sent: SentWrite) -> Comparison:
        roles, written = sent.before["roles"], self._written(sent.call)
        present = ((await self.former(read, sent.call, sent.me)) or {})["roles"]
        now = {person: present.get(person) for person in written}
        if now == {person: role or roles.get(person, "member") for person, role in written.items()}:
            return Comparison("unchanged", _roles_text(written), _roles_text(now))
        return compared(written, {person: roles.get(person) for person in written}, now, _roles_text)

    def _written(self, call: Call) -> Json:
        """Return the role of each named person after the write; None for removed people."""
        roles: Json = dict.fromkeys(call.add or (), "member")
        memberships: Mapping[str, teams.Membership] = call.memberships or {}
        roles |= {person: membership.role for person, membership in memberships.items()}
        return {**roles, **dict.fromkeys(call.remove or ())}

    def _changed(self, sent: SentWrite) -> list[str]:
        roles, call = sent.before["roles"], sent.call
        written = self._written(call)
        # adding people who are in the team already changes nothing
        ignored = {person for person in call.add or () if person in roles and person not in (call.memberships or {})}
        return [person for person, role in written.items() if person not in ignored and roles.get(person) != role]


def _roles_text(roles: Json) -> str:
    return "\n".join(f"{person}: {role or 'not in the team'}" for person, role in sorted(roles.items()))


class _AddedReviewers(Inverse):
    """The inverse of review requests: removes the reviewers who were not requested before."""

    @override
    def result(self, answer: Any) -> Json | None:
        if answer is None or answer.users is None:
            return None
        return {"users": [item.user.id for item in answer.users if item.user]}

    @override
    async def former(self, read: Read, call: Call, me: str) -> Json | None:
        return {"users": sorted(await _requested(read, call))}

    @override
    def reason(self, sent: SentWrite) -> str | None:
        if sent.former is None:
            return NO_FORMER
        return None if self._new(sent) else NO_CHANGE

    @override
    def calls(self, sent: SentWrite) -> tuple[Operation[Any], ...]:
        return tuple(at(change_requests.RemoveRequestedReviewer, sent.call, user_id=user) for user in self._new(sent))

    @override
    def words(self, sent: SentWrite) -> str:
        return f"Removes {count(len(self._new(sent)), 'requested reviewer')}"

    @override
    async def compare(self, read: Read, sent: SentWrite) -> Comparison:
        new, requested = set(self._new(sent)), await _requested(read, sent.call)
        if not new & requested.keys():
            return Comparison("undone")
        return _used(", ".join(sorted(new)), ", ".join(sorted(requested)), is_used=not new <= requested.keys())

    def _new(self, sent: SentWrite) -> list[str]:
        # the service ignores some users, such as the author
        requested = (sent.result or {"users": sent.call.users})["users"]
        return [user for user in sent.call.users if user in requested and user not in sent.before["users"]]


async def _requested(read: Read, call: Call) -> dict[str, str]:
    """Return the names of the requested reviewers by user id."""
    page = await read(at(change_requests.ListRequestedReviewers, call, limit=ALL))
    return {item.user.id: item.user.display_name for item in page.items if item.user}


@dataclass(frozen=True)
class _Switch(Inverse):
    """The inverse of a write that turns a state on or off.

    Attributes:
        note: returns the present state, with the values that the sentence needs.
        is_done: whether a state is the result of a call.
        back: returns the write that switches the state back; None if it is unknown.
        sentence: describes the write.
    """

    note: Callable[[Read, Call], Awaitable[Json]]
    is_done: Callable[[Call, Json], bool]
    back: Callable[[SentWrite], Operation[Any] | None]
    sentence: Callable[[SentWrite], str]

    @override
    async def former(self, read: Read, call: Call, me: str) -> Json:
        return await self.note(read, call)

    @override
    def reason(self, sent: SentWrite) -> str | None:
        if sent.former is None or self.back(sent) is None:
            return NO_FORMER
        return NO_CHANGE if self.is_done(sent.call, sent.former) else None

    @override
    def calls(self, sent: SentWrite) -> tuple[Operation[Any], ...]:
        back = self.back(sent)
        return (back,) if back else ()

    @override
    def words(self, sent: SentWrite) -> str:
        return self.sentence(sent)

    @override
    async def compare(self, read: Read, sent: SentWrite) -> Comparison:
        present = await self.note(read, sent.call)
        return Comparison("unchanged" if self.is_done(sent.call, present) else "undone")


async def _publication(read: Read, call: Call) -> Json:
    site = await read(at(sites.GetSite, call))
    return {"published": site.published, "title": site.title}


async def _review(read: Read, call: Call) -> Json:
    requested = await _requested(read, call)
    return {"users": sorted(requested), "name": requested.get(call.user_id, "")}


async def _membership(read: Read, call: Call) -> Json:
    mine = await all_items_of(read, organizations.ListOrganizations(limit=ALL))
    return {"joined": _by_id(mine, call.organization_id) is not None}


class _DeletedGroup(Inverse):
    """The inverse of a deleted section group: adds the group with its sections. The service chooses the position."""

    @override
    async def former(self, read: Read, call: Call, me: str) -> Json | None:
        items = all_items(await _structure(read, call))
        group = _by_id(items, call.site_section_group_id)
        if not isinstance(group, site_structure.SiteSectionGroup):
            return None
        sections = [item.id for item in group.children if isinstance(item, site_structure.SiteSection)]
        return {
            "title": group.title,
            "icon": group.icon,
            "parent": next((item.id for item in items if group in children_of(item)), None),
            "sections": sections,
            "others": len(group.children) - len(sections),
        }

    @override
    def reason(self, sent: SentWrite) -> str | None:
        if sent.former is None:
            return NO_FORMER
        return "a group with other groups or links in it cannot be restored" if sent.former["others"] else None

    @override
    def calls(self, sent: SentWrite) -> tuple[Operation[Any], ...]:
        former = sent.before
        given = {name: former[name] for name in ("icon", "parent") if former[name] is not None}
        sections = tuple(former["sections"])
        return (at(site_structure.AddSectionGroup, sent.call, title=former["title"], sections=sections, **given),)

    @override
    def words(self, sent: SentWrite) -> str:
        return f"Adds the group “{short(sent.before['title'])}” with its sections again; its position is not kept"

    @override
    async def compare(self, read: Read, sent: SentWrite) -> Comparison:
        beside, parent = await _structure(read, sent.call), sent.before["parent"]
        if parent is not None:
            group = _by_id(all_items(beside), parent)
            beside = children_of(group) if group else ()
        is_moved = not set(sent.before["sections"]) <= {item.id for item in beside}
        return _used("(its sections one level higher)", "(moved since)", is_used=is_moved)


class _MovedItem(Inverse):
    """The inverse of a move in a site: moves the item back to its former neighbor."""

    @override
    async def former(self, read: Read, call: Call, me: str) -> Json | None:
        top = await _structure(read, call)
        for siblings in (top, *map(children_of, all_items(top))):
            ids = [item.id for item in siblings]
            if call.item.id in ids:
                before, after = _neighbors(siblings, ids.index(call.item.id))
                return {"previous": _pointer(before), "next": _pointer(after)}
        return None

    @override
    def reason(self, sent: SentWrite) -> str | None:
        if sent.former is None:
            return NO_FORMER
        if sent.former["previous"] or sent.former["next"]:
            return None
        return "it was alone in its former place, and items can only be moved next to another item"

    @override
    def calls(self, sent: SentWrite) -> tuple[Operation[Any], ...]:
        former, call = sent.before, sent.call
        place = {"after": former["previous"]} if former["previous"] else {"before": former["next"]}
        position = site_structure.StructurePosition(**place)
        return (at(site_structure.SortSiteStructure, call, item=call.item, position=position),)

    @override
    def words(self, sent: SentWrite) -> str:
        return "Moves the item back to its former position"

    @override
    async def compare(self, read: Read, sent: SentWrite) -> Comparison:
        present = await self.former(read, sent.call, sent.me)
        if present is None:
            return Comparison("changed", "(moved)", "(deleted)")
        before, after = sent.call.position.before, sent.call.position.after
        if present["next"] == before.model_dump() if before else present["previous"] == after.model_dump():
            return Comparison("unchanged")
        is_back = sent.former is not None and present["previous"] == sent.former["previous"]
        return Comparison("undone" if is_back else "changed", "(moved)", "(moved again)")


def _pointer(item: Any) -> Json | None:
    return {"type": item.object, "id": item.id} if item else None


def _neighbors(items: Sequence[T], index: int) -> tuple[T | None, T | None]:
    """Return the items before and after an index; None at the start or the end."""
    return items[index - 1] if index else None, items[index + 1] if index + 1 < len(items) else None


@dataclass(frozen=True)
class _Moved(Inverse):
    """The inverse of a moved space or collection: moves it back to its former collection and neighbor.

    Attributes:
        name: `space` or `collection`.
        get: the operation that reads the item.
        siblings: returns the listing of all spaces or collections in an organization.
    """

    name: str
    get: type[Operation[Any]]
    siblings: Callable[[str], Operation[Any]]

    @override
    async def former(self, read: Read, call: Call, me: str) -> Json:
        item = await read(at(self.get, call))
        try:
            listed = (await read(self.siblings(item.organization))).items
        except NotSupported:
            listed = ()
        ids = [other.id for other in listed if other.parent == item.parent]
        before, after = _neighbors(ids, ids.index(last_id(call))) if last_id(call) in ids else (None, None)
        return {"parent": item.parent, "previous": before, "next": after}

    @override
    def reason(self, sent: SentWrite) -> str | None:
        former, call = sent.former, sent.call
        if former is None:
            return NO_FORMER
        if self._is_to_another(sent) or (call.position and (former.get("previous") or former.get("next"))):
            return None
        return NO_FORMER if call.position else NO_CHANGE

    @override
    def calls(self, sent: SentWrite) -> tuple[Operation[Any], ...]:
        former = sent.before
        previous, following = former.get("previous"), former.get("next")
        given: Json = {"parent": former["parent"]}
        if previous or following:
            side, identity = ("after", previous) if previous else ("before", following)
            given["position"] = {side: {"type": self.name, self.name: identity}}
        return (at(type(sent.call), sent.call, **given),)

    @override
    def words(self, sent: SentWrite) -> str:
        if not self._is_to_another(sent):
            return f"Moves the {self.name} back to its former position"
        target = "its former collection" if sent.before["parent"] else "the top level"
        return f"Moves the {self.name} back to {target}"

    @override
    async def compare(self, read: Read, sent: SentWrite) -> Comparison:
        former, call = sent.before, sent.call
        present = await self.former(read, call, sent.me)
        if self._is_to_another(sent):
            written, before, now = ({"parent": place["parent"]} for place in (call.model_dump(), former, present))
            return compared(written, before, now, values_text)
        if present["parent"] != former["parent"]:
            return Comparison("changed", "(moved)", "(in another collection)")
        before, after = call.position.before, call.position.after
        side, neighbor = ("next", before) if before else ("previous", after)
        if neighbor and present[side] == getattr(neighbor, self.name, None):
            return Comparison("unchanged")
        is_back = present["previous"] == former["previous"] and present["next"] == former["next"]
        return Comparison("undone" if is_back else "changed", "(moved)", "(moved again)")

    def _is_to_another(self, sent: SentWrite) -> bool:
        return "parent" in sent.call.model_fields_set and sent.before["parent"] != sent.call.parent


class _DeletedSpace(Inverse):
    """The inverse of a deleted space: restores the space. The service keeps deleted spaces for seven days."""

    @override
    def reason(self, sent: SentWrite) -> str | None:
        return None

    @override
    def calls(self, sent: SentWrite) -> tuple[Operation[Any], ...]:
        return (at(spaces.RestoreSpace, sent.call),)

    @override
    def words(self, sent: SentWrite) -> str:
        return "Restores the space; the service keeps it for seven days"

    @override
    async def compare(self, read: Read, sent: SentWrite) -> Comparison:
        try:
            space = await read(at(spaces.GetSpace, sent.call))
        except NotFound:
            return Comparison("unchanged")
        return Comparison("unchanged" if space.deleted_at else "undone")


INVERSES: dict[type[Operation[Any]], Inverse | str] = {
    comments.PostComment: _message(comments.DeleteComment, comments.GetComment),
    comments.PostReply: _message(comments.DeleteReply, comments.GetReply),
    comments.UpdateComment: _EditedMessage(comments.GetComment),
    comments.UpdateReply: _EditedMessage(comments.GetReply),
    comments.DeleteComment: "a deleted comment cannot be restored",
    comments.DeleteReply: "a deleted reply cannot be restored",
    comments.PostSpaceComment: _message(comments.DeleteSpaceComment, comments.GetSpaceComment),
    comments.PostSpaceReply: _message(comments.DeleteSpaceReply, comments.GetSpaceReply),
    comments.UpdateSpaceComment: _EditedMessage(comments.GetSpaceComment),
    comments.UpdateSpaceReply: _EditedMessage(comments.GetSpaceReply),
    comments.DeleteSpaceReply: "a deleted reply cannot be restored",
    comments.DeleteSpaceComment: "a deleted comment cannot be restored",
    change_requests.SubmitReview: "a review cannot be withdrawn: a new one replaces it",
    change_requests.RequestReviewers: _AddedReviewers(),
    change_requests.RemoveRequestedReviewer: _Switch(
        _review,
        lambda call, review: call.user_id not in review["users"],
        lambda sent: at(change_requests.RequestReviewers, sent.call, users=(sent.call.user_id,)),
        lambda sent: f"Requests the review of {sent.before['name'] or 'the reviewer'} again",
    ),
    change_requests.CreateChangeRequest: _Created(
        change_requests.UpdateChangeRequest,
        lambda sent: f"Archives “{short(sent.call.subject or '')}”; a change request cannot be deleted",
        _get(change_requests.GetChangeRequest),
        _new_request,
        given={"status": "archived"},
    ),
    change_requests.UpdateChangeRequest: _Fields(_get(change_requests.GetChangeRequest)),
    change_requests.MergeChangeRequest: "a merge cannot be undone: revert it with a new change request",
    change_requests.PullChangeRequest: "an update from main cannot be undone",
    content_changes.EditChangeRequestContent: PageEdits(),
    spaces.UpdateSpace: _Fields(_get(spaces.GetSpace)),
    spaces.MoveSpace: _Moved(
        "space", spaces.GetSpace, lambda organization: spaces.ListSpaces(organization_id=organization, limit=ALL)
    ),
    spaces.DeleteSpace: _DeletedSpace(),
    spaces.CreateSpace: _NEW_SPACE,
    spaces.DuplicateSpace: _NEW_SPACE,
    spaces.RestoreSpace: "delete the space in the tree instead",
    spaces.TransferSpace: "a transfer can only be undone in the other organization",
    collections.CreateCollection: _Created(
        collections.DeleteCollection,
        lambda sent: f"Deletes the collection “{short(sent.call.title or '')}”",
        _contents,
        lambda _, contents: _used("(empty collection)", "(no longer empty)", is_used=bool(contents)),
    ),
    collections.UpdateCollection: _Fields(_get(collections.GetCollection)),
    collections.MoveCollection: _Moved(
        "collection",
        collections.GetCollection,
        lambda organization: collections.ListCollections(organization_id=organization, nested=True, limit=ALL),
    ),
    collections.DeleteCollection: "a deleted collection cannot be restored; its content moved up one level",
    collections.TransferCollection: "a transfer can only be undone in the other organization",
    sites.CreateSite: "delete the site in the list of sites instead",
    sites.UpdateSite: _Fields(_site_values, required=("basename", "default_site_section", "default_site_space")),
    sites.DeleteSite: "a deleted site cannot be restored",
    sites.PublishSite: _Switch(
        _publication,
        lambda _, site: site["published"],
        lambda sent: at(sites.UnpublishSite, sent.call),
        lambda sent: f"Unpublishes {short(sent.before['title'])}: readers can no longer open it",
    ),
    sites.UnpublishSite: _Switch(
        _publication,
        lambda _, site: not site["published"],
        lambda sent: at(sites.PublishSite, sent.call),
        lambda sent: f"Publishes {short(sent.before['title'])} again",
    ),
    site_settings.CreateRedirect: _Created(
        site_settings.DeleteRedirect,
        lambda sent: f"Deletes the redirect from {short(sent.call.source)}",
        _redirect,
        lambda sent, redirect: compared(_redirect_values(sent.call), None, _redirect_values(redirect), _redirect_text),
    ),
    site_settings.UpdateRedirect: _ChangedRedirect(),
    site_settings.DeleteRedirect: _DeletedRedirect(),
    site_settings.CreateShareLink: _Created(
        site_settings.DeleteShareLink,
        lambda sent: f"Revokes the share link “{short(sent.call.name)}”: its address no longer opens the site",
        _share_link,
        lambda sent, link: _new(sent.call.name, link.name or ""),
    ),
    site_settings.UpdateShareLink: _Fields(_share_link, required=("name",)),
    site_settings.DeleteShareLink: "a revoked share link cannot be restored: create a new one",
    site_settings.UpdateAdaptiveSchema: _ReplacedSchema(),
    site_settings.UpdateCustomization: "restore it from the history of the site: presscheck site restore",
    site_settings.UpdatePublishingAuth: "change the visitor sign-in again instead",
    site_settings.RegeneratePublishingAuth: "the former key cannot be restored",
    site_structure.AddSiteSpace: _Created(
        site_structure.DeleteSiteSpace,
        lambda sent: f"Removes the space with the path “{short(sent.response['path'])}” from the site",
        _structure_item,
        lambda sent, item: _new(f"path {sent.response['path']}", f"path {item.path}"),
        kept=("id", "path"),
    ),
    site_structure.UpdateSiteSpace: _Fields(_structure_item),
    site_structure.DeleteSiteSpace: "the settings of a removed space are lost: add the space again",
    site_structure.AddSection: _AddedSection(
        site_structure.DeleteSection,
        lambda sent: f"Removes the section “{short(sent.response['title'])}” with its space from the site",
        _structure_item,
        _new_section,
    ),
    site_structure.UpdateSection: _Fields(_section_values, required=("default_site_space",)),
    site_structure.DeleteSection: "a removed section cannot be restored",
    site_structure.AddSectionGroup: _Created(
        site_structure.DeleteSectionGroup,
        lambda sent: f"Removes the group “{short(sent.call.title)}”; its sections take its place",
        _structure_item,
        lambda sent, group: _new(sent.call.title, group.title),
    ),
    site_structure.UpdateSectionGroup: _Fields(_structure_item),
    site_structure.DeleteSectionGroup: _DeletedGroup(),
    site_structure.SortSiteStructure: _MovedItem(),
    site_structure.MoveSiteSection: "move the section back instead",
    site_structure.MoveSiteSectionGroup: "move the section group back instead",
    site_structure.MoveSiteSpace: "move the space back instead",
    style_guides.CreateStyleGuide: "delete the style guide in the list of spaces instead",
    external_links.AddExternalLink: "remove the link instead: presscheck site external-links remove",
    external_links.UpdateExternalLink: "edit the link again instead",
    site_findings.UpdateSiteFinding: _Fields(_get(site_findings.GetSiteFinding)),
    external_links.DeleteExternalLink: "a removed link cannot be restored: add it again",
    site_settings.OverrideSiteSpaceCustomization: "customize the space again instead",
    site_settings.DeleteSiteSpaceCustomization: "the former customization of the space is lost",
    site_structure.DuplicateSiteSpace: "remove the copy from the site and delete its space instead",
    organizations.UpdateMember: _Fields(_get(organizations.GetMember)),
    organizations.RemoveMember: "a removed member's access cannot be restored: invite them again",
    organizations.UpdateOrganization: _Fields(_organization),
    organizations.JoinOrganization: _Switch(
        _membership,
        lambda _, membership: membership["joined"],
        lambda sent: at(organizations.RemoveMember, sent.call, user_id=sent.me) if sent.me else None,
        lambda _: "Leaves the organization again",
    ),
    agent_instructions.UpdateAgentInstructions: _Fields(_get(agent_instructions.GetAgentInstructions)),
    teams.CreateTeam: _Created(
        teams.DeleteTeam,
        lambda sent: f"Deletes the team “{short(sent.call.title)}”",
        _get(teams.GetTeam),
        lambda sent, team: _new(
            f"{sent.call.title}, {sent.response['members']} members", f"{team.title}, {team.members} members"
        ),
        kept=("id", "members"),
    ),
    teams.UpdateTeamMembers: _TeamMembers(),
    teams.UpdateTeam: _Fields(_get(teams.GetTeam)),
    teams.DeleteTeam: "a deleted team cannot be restored",
    teams.AddTeamMember: _TEAM_ROLE,
    teams.RemoveTeamMember: _TEAM_ROLE,
    permissions.UpdateCollectionTeamPermission: _TEAM_LEVEL,
    permissions.RemoveCollectionTeamPermission: _TEAM_LEVEL,
    permissions.UpdateCollectionUserPermission: _USER_LEVEL,
    permissions.RemoveCollectionUserPermission: _USER_LEVEL,
    permissions.UpdateSiteTeamPermission: _TEAM_LEVEL_IN_SITE,
    permissions.RemoveSiteTeamPermission: _TEAM_LEVEL_IN_SITE,
    permissions.UpdateSiteUserPermission: _USER_LEVEL_IN_SITE,
    permissions.RemoveSiteUserPermission: _USER_LEVEL_IN_SITE,
    permissions.UpdateSpaceTeamPermission: _UNLISTED_LEVEL,
    permissions.RemoveSpaceTeamPermission: _UNLISTED_LEVEL,
    permissions.UpdateSpaceUserPermission: _UNLISTED_LEVEL,
    permissions.RemoveSpaceUserPermission: _UNLISTED_LEVEL,
    permissions.InviteToCollection: _INVITED,
    permissions.InviteToSpace: _INVITED,
    permissions.InviteToSite: _INVITED,
    invites.CreateInvite: _Created(
        invites.DeleteInvite,
        lambda _: "Revokes the invite link: nobody can join with it any more",
        _get(invites.GetInvite),
        lambda *_: Comparison("unchanged"),
    ),
    invites.UpdateInvite: _Fields(_get(invites.GetInvite)),
    invites.InviteUsers: "remove the invited people in the list of members instead",
    invites.JoinWithInvite: "leave the organization in the list of members instead",
    invites.DeleteInvite: "a revoked invite link cannot be restored: create a new one",
    saml.CreateSAMLProvider: "delete the SAML provider in its list instead",
    saml.UpdateSAMLProvider: "edit the SAML provider again instead",
    saml.DeleteSAMLProvider: "a deleted SAML provider cannot be restored",
    openapi.CreateOpenAPISpec: "delete the specification in its list instead",
    openapi.UpdateOpenAPISpec: _Fields(_get(openapi.GetOpenAPISpec)),
    openapi.DeleteOpenAPISpec: "a deleted specification cannot be restored",
    translations.CreateTranslation: "delete the translation in its list instead",
    translations.UpdateTranslation: "edit the translation again instead",
    translations.DeleteTranslation: "a deleted translation cannot be restored",
    translations.RunTranslation: "a translation run cannot be undone",
    openapi.PutOpenAPISpec: "the former source of a specification is not stored: set it again",
    conversations.IngestConversations: "imported conversations cannot be removed",
    imports.StartImport: "cancel the import in its list, and delete its pages in the tree instead",
    imports.CancelImport: "a canceled import cannot continue: start a new one",
    integrations.PublishIntegration: "the former version of an integration is not stored: publish it again",
    integrations.UnpublishIntegration: "a deleted integration cannot be restored",
    integrations.InstallIntegration: "uninstall the integration in the list of its installations instead",
    integrations.UpdateInstallation: "change the settings of the installation again instead",
    integrations.UninstallIntegration: "the settings of an uninstalled integration are lost: install it again",
    content_installations.InstallInSpace: "uninstall the integration from the space instead",
    content_installations.UpdateSpaceInstallation: "change the settings in the space again instead",
    content_installations.UninstallFromSpace: "the settings in a space are lost: install the integration there again",
    content_installations.InstallInSite: "uninstall the integration from the site instead",
    content_installations.UpdateSiteInstallation: "change the settings in the site again instead",
    content_installations.UninstallFromSite: "the settings in a site are lost: install the integration there again",
    integrations.SetDevelopmentMode: "turn development mode off instead",
    integrations.DisableDevelopmentMode: "turn development mode on again instead",
    integrations.RenderIntegration: "only the integration knows the effect of its component",
    published_sites.SearchSite: "it changes nothing",
    site_events.AggregateSiteEvents: "it changes nothing",
    git_repositories.ImportGitRepository: "the former content is in the history of the space",
    git_repositories.ExportToGitRepository: "revert the commit in its Git repository instead",
    ask.AskOrganization: "it changes nothing",
    computed_content.GetComputedDocument: "it changes nothing",
    computed_content.GetComputedRevision: "it changes nothing",
    site_settings.BulkUpsertRedirects: "the former redirects are unknown: import a file with them",
    url_lookup.ResolvePublishedContent: "it changes nothing",
}
"""The inverse of each operation, or why the operation has none."""


def inverse_of(call: Call) -> Inverse | None:
    """Return the inverse of the operation of a call, or None if it has none."""
    inverse = INVERSES.get(cast("type[Operation[Any]]", type(call)))
    return None if isinstance(inverse, str) else inverse


def reason_against(sent: SentWrite) -> str | None:
    """Return why a sent write cannot be undone, or None if no reason is known without a request."""
    operation = cast("type[Operation[Any]]", type(sent.call))
    inverse = INVERSES.get(operation, NO_INVERSE)
    return inverse if isinstance(inverse, str) else inverse.reason(sent)
