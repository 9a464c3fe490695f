"""Actions on spaces and collections in the tree: create, move, lock, duplicate, transfer, delete, restore, settings."""

from __future__ import annotations

from collections.abc import Awaitable, Mapping
from typing import TYPE_CHECKING, Any, Literal, get_args

from presscheck.api.collections import (
    CreateCollection,
    DeleteCollection,
    MoveCollection,
    TransferCollection,
    UpdateCollection,
)
from presscheck.api.languages import Language
from presscheck.api.organizations import ListOrganizations
from presscheck.api.roles import CollectionPointer, ContentPosition, MergeRulesChange, Neighbour, SpacePointer
from presscheck.api.spaces import (
    CreateSpace,
    DeleteSpace,
    DuplicateSpace,
    MoveSpace,
    RestoreSpace,
    TransferSpace,
    UpdateSpace,
)
from presscheck.store.drafts import DraftSlot
from presscheck.text.phrases import count
from presscheck.text.sanitize import sanitize
from presscheck.text.styled_text import Line, Span
from presscheck.tui.commands import key_for
from presscheck.tui.screens.access.levels import DEFAULT_LEVELS
from presscheck.tui.screens.admin.merge_rules import ask_merge_rules, own_rules, rules_in_words
from presscheck.tui.screens.browse.deleted_spaces import DeletedSpaces
from presscheck.tui.screens.emoji import emoji_code, emoji_problem, emoji_text
from presscheck.tui.screens.undo import undo_last_sent
from presscheck.tui.ui.ask import change_text, choose, confirm, prompt
from presscheck.tui.widgets.picker import Choice

if TYPE_CHECKING:
    from presscheck.api.collections import Collection
    from presscheck.api.operation import Operation
    from presscheck.api.sites import Site
    from presscheck.api.spaces import Space
    from presscheck.engine.writes.descriptions import Place
    from presscheck.tui.screens.browse.edit_actions import EditActions
    from presscheck.tui.screens.browse.page_tree import Item
    from presscheck.tui.screens.browse.session import ContentTree

NONE = "none"
"""The key of the choices "no access" and "not set"."""
TITLE, DESCRIPTION = 50, 100
"""Maximum number of characters in titles of spaces and collections, and in descriptions of collections."""
TOP = "top"
"""The key of the top level in a choice of collections."""
NOTHING_DELETED = "No space was deleted in the last seven days, as far as is known here."


class SpaceSettings:
    """The settings of spaces and collections: default level, language and merge rules.

    Args:
        session: the tree and the page pane.
    """

    def __init__(self, session: ContentTree) -> None:
        self._session, self._screen = session, session.screen

    async def change(self, item: Item) -> None:
        """Ask for a setting and its new value, and change it. The choices show the current values."""
        thing = item.space or item.collection
        if thing is None:
            return
        choices = [Choice("level", "Default level", sanitize(thing.default_level or "no access"))]
        if item.space:
            choices += [
                Choice("language", "Language", sanitize(item.space.language or "not set")),
                Choice("rules", "Merge rules", rules_in_words(item.space.merge_rules)),
            ]
        setting = await self._choose(f"Settings of {sanitize(item.title)}", choices)
        if setting == "level":
            await self._change_level(item, thing.default_level)
        elif setting == "language" and item.space:
            await self._change_language(item.space)
        elif setting == "rules" and item.space:
            await self._change_rules(item.space)

    async def _change_level(self, item: Item, present: str | None) -> None:
        choices = [Choice(level, level, meaning) for level, meaning in DEFAULT_LEVELS.items()]
        level = await self._choose(f"Default level of {sanitize(item.title)}", choices)
        value: Any = None if level == NONE else level
        if level is None or value == present:
            return
        if item.space:
            await self._screen.engine.write(UpdateSpace(space_id=item.space.id, default_level=value)).landed()
        elif item.collection:
            call = UpdateCollection(collection_id=item.collection.id, default_level=value)
            await self._screen.engine.write(call).landed()

    async def _change_language(self, space: Space) -> None:
        choices = [Choice(NONE, "not set"), *(Choice(code, code) for code in get_args(Language))]
        code = await self._choose(f"Language of {sanitize(space.title)}", choices)
        value: Any = None if code == NONE else code
        if code is not None and value != space.language:
            await self._screen.engine.write(UpdateSpace(space_id=space.id, language=value)).landed()

    async def _change_rules(self, space: Space) -> None:
        present = space.merge_rules
        choices = [
            Choice("inherit", "Those of the organization"),
            Choice("none", "No merge rules"),
            Choice("rules", "Rules of this space …", rules_in_words(present) if own_rules(present) else ""),
        ]
        kind = await self._choose(f"Merge rules of {sanitize(space.title)}", choices)
        rules: MergeRulesChange | None = None
        if kind in ("inherit", "none"):
            rules = MergeRulesChange(type="inherit" if kind == "inherit" else "none")
        elif kind == "rules":
            title = f"Merge rules of {sanitize(space.title)}"
            chosen = await ask_merge_rules(self._screen, title, present)
            if chosen is not None:
                rules = MergeRulesChange(type="rules", rules=chosen) if chosen else MergeRulesChange(type="none")
        if rules is not None:
            await self._screen.engine.write(UpdateSpace(space_id=space.id, merge_rules=rules)).landed()

    async def _choose(self, title: str, choices: list[Choice]) -> str | None:
        return await choose(self._screen, title, choices)


class SpaceActions:
    """The commands on spaces and collections.

    Args:
        session: the tree and the page pane.
        pages: adds pages to spaces.
    """

    def __init__(self, session: ContentTree, pages: EditActions) -> None:
        self._session, self._screen = session, session.screen
        self._pages = pages
        self._settings = SpaceSettings(session)

    # reasons

    def _offline(self) -> str | None:
        return self._screen.engine.write_reason()

    def _item_reason(self) -> str | None:
        return self._offline() or (
            None if self._session.item else f"there is nothing yet: {key_for('add')} creates a space"
        )

    def _admin_reason(self) -> str | None:
        item = self._session.item
        return self._item_reason() or (lacks_admin(item) if item else None)

    def _space_reason(self) -> str | None:
        item = self._session.item
        return self._offline() or (None if item and item.kind == "space" else "go to a space first")

    def reason_add(self) -> str | None:
        """Return why nothing can be created: writes are disabled, or the organization is not loaded yet."""
        return self._offline() or (None if self._session.organization_id else "not loaded yet")

    reason_rename = _admin_reason
    reason_delete = _admin_reason

    def reason_move_down(self) -> str | None:
        """Return why the item cannot be moved. Moving requires the level create in the collection of the item."""
        item = self._session.item
        parent = self._session.library.item(item.parent) if item else None
        return self._item_reason() or (lacks_create(parent) if parent else None)

    reason_move_up = reason_move_down
    reason_move_change = _item_reason

    def reason_copy_change(self) -> str | None:
        """Return why the space cannot be duplicated. Duplicating requires the level create in its collection."""
        item = self._session.item
        parent = self._session.library.item(item.parent) if item else None
        if item and item.kind == "collection":
            return "only spaces can be duplicated, not collections"
        return self._space_reason() or (lacks_create(parent) if parent else None)

    def reason_lock(self) -> str | None:
        """Return why the space can be neither locked nor unlocked."""
        return self._space_reason() or self._admin_reason()

    def reason_settings(self) -> str | None:
        """Return why no setting can be changed.

        Writes are disabled, there is no space or collection, or the user lacks the level admin.
        """
        item = self._session.item
        if item and item.kind not in ("space", "collection"):
            return "go to a space or a collection first"
        return self._admin_reason()

    def reason_transfer(self) -> str | None:
        """Return why the item cannot be transferred."""
        item = self._session.item
        operation = TransferSpace if item and item.kind == "space" else TransferCollection
        return self._screen.engine.missing_reason(operation) or self.reason_settings()

    reason_go_deleted = _offline

    def reason_go_permissions(self) -> str | None:
        """Return why no permissions can be shown: no space, collection or site is under the cursor."""
        return None if self._place else "go to a space, a collection or a site first"

    @property
    def _place(self) -> Space | Collection | Site | None:
        """The collection, site or space under the cursor; for a page, its space."""
        item = self._session.item
        return (item.collection or item.site or item.space) if item else None

    async def command_go_permissions(self) -> None:
        """Show who has which level in the space, collection or site, and the reason for each level."""
        place = self._place
        organizations = (await self._screen.engine.read(ListOrganizations())).items
        organization = next((each for each in organizations if each.id == self._session.organization_id), None)
        if place and organization:
            self._screen.app_context.open_permissions(organization, place)

    # create

    def command_add(self) -> Awaitable[None]:
        """Choose between a new page, space or collection, and create it."""
        return self._add(self._session.item)

    async def _add(self, item: Item | None) -> None:
        library = self._session.library
        inside = item if item and item.kind == "collection" else library.item(item.parent) if item else None
        place = f"in {sanitize(inside.title)}" if inside else "at the top level"
        missing = self._screen.engine.missing_reason(CreateSpace)
        reasons = {"space": missing or lacks_create(inside), "collection": lacks_create(inside), "top space": missing}
        choices = [Choice("space", f"Space {place}"), Choice("collection", f"Collection {place}")]
        if item and item.kind == "space":
            choices.insert(0, Choice("page", f"Page in {sanitize(item.title)}"))
            reasons["page"] = self._pages.reason_add()
        elif inside:
            choices += [
                Choice("top space", "Space at the top level"),
                Choice("top collection", "Collection at the top level"),
            ]
        chosen = await self._choose("Create", choices, reasons)
        if chosen == "page":
            if work := self._pages.command_add():
                await work
        elif chosen:
            await self._create(chosen.split()[-1], None if chosen.startswith(TOP) else inside)

    async def _create(self, kind: str, inside: Item | None) -> None:
        parent = inside.collection.id if inside and inside.collection else None
        draft = DraftSlot(self._screen.engine.outbox, f"new {kind} {parent or TOP}")
        title = await prompt(self._screen, f"Title of the new {kind}", draft, max_length=TITLE)
        if title is None:
            return
        given: dict[str, Any] = {"organization_id": self._session.organization_id, "title": title}
        given |= {"parent": parent} if parent else {}
        engine = self._screen.engine
        made = await (
            engine.write(CreateSpace(**given)).landed()
            if kind == "space"
            else engine.write(CreateCollection(**given)).landed()
        )
        draft.discard()
        if made is not None:
            self._session.go_to(f"{kind} {made.id}")

    def command_copy_change(self) -> Awaitable[None] | None:
        """Duplicate the space, and move the cursor to the copy."""
        item = self._session.item
        return self._duplicate(item.space.id) if item and item.space else None

    async def _duplicate(self, space_id: str) -> None:
        copy = await self._screen.engine.write(DuplicateSpace(space_id=space_id)).landed()
        if copy is not None:
            self._session.go_to(f"space {copy.id}")
            self._screen.notify(f"{sanitize(copy.title)} created: {key_for('unsend')} deletes it again")

    # title, emoji, description

    def command_rename(self) -> Awaitable[None] | None:
        """Choose a detail and change it: the title, the emoji of a space, or the description of a collection."""
        item = self._session.item
        return self._rename(item) if item else None

    async def _rename(self, item: Item) -> None:
        choices = [Choice("title", "Title", sanitize(item.title))]
        if item.space:
            choices.append(Choice("emoji", "Emoji", emoji_text(item.space.emoji) or "none"))
        elif item.collection:
            choices.append(Choice("description", "Description", sanitize(item.collection.description or "") or "none"))
        field = await self._choose(f"Change {sanitize(item.title)}", choices)
        if field == "emoji" and item.space:
            await self._change_emoji(item.space.id, emoji_text(item.space.emoji))
        elif field:
            await self._change_text(item, field)

    async def _change_text(self, item: Item, field: str) -> None:
        """Ask for a title, or for the description of a collection, and change it."""
        is_title = field == "title"
        text = item.title if is_title else (item.collection.description or "") if item.collection else ""
        draft = DraftSlot(self._screen.engine.outbox, f"{field} {item.key}", text)
        at_least, at_most = (1, TITLE) if is_title else (0, DESCRIPTION)
        question = f"{field.capitalize()} of {sanitize(item.title)}"

        async def write(new: str) -> None:
            await self._write(_update(item, **{field: new}))

        await change_text(self._screen, question, draft, write, min_length=at_least, max_length=at_most)

    async def _change_emoji(self, space_id: str, present: str) -> None:
        hint = "one emoji, or its code such as 1f4d6; empty: none"
        draft = DraftSlot(self._screen.engine.outbox, f"emoji space {space_id}", present)

        async def write(emoji: str) -> None:
            await self._write(UpdateSpace(space_id=space_id, emoji=emoji_code(emoji)))

        await change_text(
            self._screen, "Emoji", draft, write, min_length=0, max_length=TITLE, validate=emoji_problem, hint=hint
        )

    # moving

    def command_move_down(self) -> Awaitable[None] | None:
        """Move the item below its next sibling."""
        return self._move_by(self._session.item, 1)

    def command_move_up(self) -> Awaitable[None] | None:
        """Move the item above its previous sibling."""
        return self._move_by(self._session.item, -1)

    def _move_by(self, item: Item | None, by: Literal[1, -1]) -> Awaitable[None] | None:
        """Move an item among its siblings. The move is shown at once, and reverted if the service refuses it."""
        if item is None:
            return None
        siblings = self._session.library.siblings(item)
        at = [other.key for other in siblings].index(item.key) + by
        if not 0 <= at < len(siblings):
            edge = "last" if by > 0 else "first"
            self._screen.notify(
                f"this is the {edge} {item.kind} here; {key_for('move_change')} moves it to another collection"
            )
            return None
        neighbor = siblings[at]
        pointer = _pointer(neighbor)
        position = ContentPosition(after=pointer) if by > 0 else ContentPosition(before=pointer)
        self._session.library.swap(item.key, neighbor.key)
        self._screen.redraw()
        self._session.moves += 1
        return self._send_move(item, _move(item, position=position))

    async def _send_move(self, item: Item, call: Operation[Any]) -> None:
        has_landed = False
        try:
            await self._screen.engine.write(call).landed()
            has_landed = True
        finally:
            self._session.moves -= 1
            if has_landed:
                self._session.unsettled.add(item.kind)
            elif not self._session.moves:
                self._session.unsettled.discard(item.kind)
                self._session.reload_spaces()

    def command_move_change(self) -> Awaitable[None] | None:
        """Choose a collection or the top level, and move the item into it."""
        item = self._session.item
        return self._move_to(item) if item else None

    async def _move_to(self, item: Item) -> None:
        library = self._session.library
        choices = [Choice(TOP, "Top level")]
        reasons: dict[str, str | None] = {item.parent or TOP: "it is here"}
        for target in library.all_collections():
            ancestors = library.ancestors(target.key)
            if item.key in (target.key, *ancestors):
                continue  # not into itself
            titles = [library.item(key) for key in (*ancestors, target.key)]
            label = " › ".join(sanitize(part.title) for part in titles if part)
            choices.append(Choice(target.key, label))
            reasons.setdefault(target.key, lacks_create(target))
        key = await self._choose(f"Move {sanitize(item.title)} to", choices, reasons)
        target = library.item(key)
        if key:
            await self._write(_move(item, parent=target.collection.id if target and target.collection else None))
            if target:  # so that the moved item is visible under the cursor
                self._session.tree_view.expanded.update((*library.ancestors(target.key), target.key))

    # lock, settings, transfer

    def command_lock(self) -> Awaitable[None] | None:
        """Lock or unlock the space."""
        item = self._session.item
        return self._lock(item) if item and item.space else None

    async def _lock(self, item: Item) -> None:
        is_locked = item.space is not None and item.space.edit_mode == "locked"
        await self._write(_update(item, edit_mode="live" if is_locked else "locked"))
        self._screen.notify(
            f"{sanitize(item.title)} {'unlocked' if is_locked else 'locked'}: {key_for('unsend')} undoes it"
        )

    def command_settings(self) -> Awaitable[None] | None:
        """Choose and change a setting of the space or collection."""
        item = self._session.item
        return self._settings.change(item) if item else None

    def command_transfer(self) -> Awaitable[None] | None:
        """Transfer the item to another organization after the user has typed its title."""
        item = self._session.item
        return self._transfer(item) if item else None

    async def _transfer(self, item: Item) -> None:
        organizations = (await self._screen.engine.read(ListOrganizations())).items
        others = [each for each in organizations if each.id != self._session.organization_id]
        title = sanitize(item.title)
        if not others:
            self._screen.notify(f"you are in no other organization that {title} could go to")
            return
        choices = [Choice(other.id, sanitize(other.title)) for other in others]
        target = await self._choose(f"Transfer {title} to", choices)
        name = next((sanitize(one.title) for one in others if one.id == target), "")
        if target is None:
            return
        lines: list[Line] = [
            (Span(f"It leaves this organization and goes to the top level of {name}."),),
            (Span("Only an admin there can transfer it back.", "waiting"),),
        ]
        question = f"Transfer {title} to {name}?"
        if await confirm(self._screen, question, lines, "Transfer", type_to_confirm=title):
            call: Operation[Any] = (
                TransferSpace(space_id=item.space.id, organization=target)
                if item.space
                else TransferCollection(collection_id=_id(item), organization=target)
            )
            await self._write(call)
            self._screen.notify(f"{title} is now in {name}")

    # delete, restore, undo

    def command_delete(self) -> Awaitable[None] | None:
        """Delete the item after the user has typed its title."""
        item = self._session.item
        return self._delete(item) if item else None

    async def _delete(self, item: Item) -> None:
        title = sanitize(item.title)
        lines = _space_losses(item) if item.space else self._collection_losses(item)
        question = f"Delete the {item.kind} {title}?"
        if not await confirm(self._screen, question, lines, "Delete", type_to_confirm=title):
            return
        if item.space is None:
            await self._write(DeleteCollection(collection_id=_id(item)))
            return
        DeletedSpaces(self._screen.engine).remember(self._session.organization_id, [item.space])
        await self._write(DeleteSpace(space_id=item.space.id))
        self._screen.notify(f"{title} deleted: {key_for('go_deleted')} restores it for seven days")

    def _collection_losses(self, item: Item) -> list[Line]:
        inside = self._session.library.inside(item)
        numbers = [(noun, sum(other.kind == noun for other in inside)) for noun in ("space", "collection")]
        parts = " and ".join(count(number, noun) for noun, number in numbers if number)
        first = f"Its content moves up one level: {parts}." if parts else "It is empty."
        return [(Span(first),), (Span("A deleted collection cannot be restored.", "waiting"),)]

    async def command_go_deleted(self) -> None:
        """List the deleted spaces with the time left, and restore the chosen one."""
        engine, organization = self._screen.engine, self._session.organization_id
        self._screen.notify("looking for deleted spaces …")
        deleted = await DeletedSpaces(engine).restorable(organization)
        choices = [Choice(space.id, sanitize(space.title) or "(no title)", space.time_left()) for space in deleted]
        title = "Restore a deleted space"
        chosen = await choose(self._screen, title, choices, ranked=True, empty_text=NOTHING_DELETED)
        if chosen:
            space = await engine.write(RestoreSpace(space_id=chosen)).landed()
            self._session.go_to(f"space {chosen}")
            self._screen.notify(f"{sanitize(space.title) if space else 'the space'} restored")

    def undo_last_sent(self) -> Awaitable[None]:
        """Offer to undo the last sent change of spaces and collections, or of the space under the cursor."""
        item = self._session.item
        space = item.space.id if item and item.space else None

        def is_here(place: Place) -> bool:
            is_of_tree = place.space and not (place.request or place.comment or place.page or place.site)
            return bool(place.collection or is_of_tree) or (space is not None and place.space == space)

        return undo_last_sent(self._screen, is_here)

    # dialogs

    async def _choose(
        self, title: str, choices: list[Choice], reasons: Mapping[str, str | None] | None = None
    ) -> str | None:
        """Ask for a row of a menu, and return its key; None if canceled.

        Rows with a reason in `reasons` are disabled: they are gray and show the reason.
        """
        against = {key: reason for key, reason in (reasons or {}).items() if reason}
        rows = [
            Choice(row.key, row.label, against[row.key], (Span(row.label, "quiet"),)) if row.key in against else row
            for row in choices
        ]
        chosen = await choose(self._screen, title, rows)
        if chosen and chosen in against:
            self._screen.notify(against[chosen])
            return None
        return chosen

    async def _write(self, call: Operation[Any]) -> None:
        await self._screen.engine.write(call).landed()


def _id(item: Item) -> str:
    return item.key.partition(" ")[2]


def _update(item: Item, **given: Any) -> Operation[Any]:
    if item.space:
        return UpdateSpace(space_id=item.space.id, **given)
    return UpdateCollection(collection_id=_id(item), **given)


def _move(item: Item, **given: Any) -> Operation[Any]:
    if item.space:
        return MoveSpace(space_id=item.space.id, **given)
    return MoveCollection(collection_id=_id(item), **given)


def _pointer(item: Item) -> Neighbour:
    return SpacePointer(space=item.space.id) if item.space else CollectionPointer(collection=_id(item))


def lacks_admin(item: Item) -> str | None:
    """Return why the user cannot administer a space or collection; None if the user can, or if that is unknown."""
    thing = item.space or item.collection
    permissions = thing.permissions if thing else None
    lacks = permissions is not None and "admin" in permissions.model_fields_set and not permissions.admin
    return f"you need the level admin in this {item.kind}" if lacks else None


def lacks_create(inside: Item | None) -> str | None:
    """Return why the user cannot create items in a collection; None if the user can, or if that is unknown."""
    permissions = inside.collection.permissions if inside and inside.collection else None
    lacks = permissions is not None and "create" in permissions.model_fields_set and not permissions.create
    return f"you need the level create in {sanitize(inside.title)}" if lacks and inside else None


def _space_losses(item: Item) -> list[Line]:
    space = item.space
    lines: list[Line] = []
    if space and space.visibility not in ("private", "in-collection"):
        lines.append((Span("It is published: readers lose it at once.", "waiting"),))
    if space and space.change_requests_open:
        number = count(space.change_requests_open, "open change request")
        lines.append((Span(f"It has {number}.", "waiting"),))
    return [*lines, (Span(f"It can be restored for seven days: {key_for('go_deleted')} lists deleted spaces."),)]
