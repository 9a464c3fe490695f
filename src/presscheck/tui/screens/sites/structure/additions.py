"""Additions to a site: a space, a section with its first space, or a group of sections."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from presscheck.api.site_structure import (
    AddSection,
    AddSectionGroup,
    AddSiteSpace,
    SiteSection,
    SiteSectionGroup,
    StructureItem,
)
from presscheck.documents.sites.content import key_of
from presscheck.engine.publish.site_structure import title_of
from presscheck.errors import ChecksFailed
from presscheck.store.drafts import DraftSlot
from presscheck.text.phrases import count
from presscheck.text.sanitize import sanitize
from presscheck.text.styled_text import Line, Span
from presscheck.tui.commands import key_for, with_keys
from presscheck.tui.screens.sites.space_choices import space_choices
from presscheck.tui.screens.sites.structure.item_details import GROUP_TITLE, SECTION_TITLE
from presscheck.tui.screens.sites.writes import send
from presscheck.tui.ui.ask import choose, choose_several, prompt
from presscheck.tui.widgets.picker import Choice

if TYPE_CHECKING:
    from presscheck.api.operation import Operation
    from presscheck.tui.screens.sites.structure.model import SiteTree
    from presscheck.tui.screens.sites.structure.session import StructureSession

OPERATIONS: dict[str, type[Operation[Any]]] = {"space": AddSiteSpace, "section": AddSection, "group": AddSectionGroup}
ALL_USED = "every space of the organization is in this site already"
NO_SECTIONS = "a group needs a section: {add} adds one first"


class Additions:
    """The command that adds an item to the structure.

    Args:
        session: the structure of the site.
    """

    def __init__(self, session: StructureSession) -> None:
        self._session = session

    def reason_add(self) -> str | None:
        """Return why nothing can be added: the structure cannot be changed now."""
        return self._session.reason(AddSiteSpace)

    async def command_add(self) -> None:
        """Choose the kind of the new item (space, section or group), and add the item."""
        model, item = self._session.model, self._session.item
        section, group = model.section_of(item), self._group(model, item)
        into = f"to the section {title_of(section)}" if section else "" if not model.sections else "to a section"
        choices = [
            Choice("space", "Space", into, letter="p"),
            Choice("section", "Section", "with its first space", letter="s"),
            Choice("group", "Group of sections", f"in {title_of(group)}" if group else "at the top level", letter="g"),
        ]
        question = f"Add to {sanitize(model.site.title)}"
        chosen = await choose(self._session.screen, question, choices)
        if not chosen:
            return
        reason = self._session.reason(OPERATIONS[chosen], shows_more=chosen != "group")
        if chosen == "group" and not model.sections:
            reason = reason or with_keys(NO_SECTIONS)
        if reason:
            self._session.screen.notify(reason)
        elif chosen == "space":
            await self._add_space(model, section)
        elif chosen == "section":
            await self._add_section(model)
        else:
            await self._add_group(model, group)

    @staticmethod
    def _group(model: SiteTree, item: StructureItem | None) -> SiteSectionGroup | None:
        """Return the item if it is a group, else the innermost group that contains it; None without both."""
        keys = (*model.ancestors(key_of(item)), key_of(item)) if item else ()
        groups = [group for key in keys if isinstance(group := model.items.get(key), SiteSectionGroup)]
        return groups[-1] if groups else None

    async def _add_space(self, model: SiteTree, section: SiteSection | None) -> None:
        """Choose an unused space, and add it to the site or, if the site has sections, to a section."""
        choices = await self._unused(model)
        if not choices:
            self._session.screen.notify(ALL_USED)
            return
        if section is None and model.sections:
            sections = self._sections(model)
            asked = await choose(self._session.screen, "Section of the new space", sections, ranked=True)
            section = next((one for one in model.sections if asked == key_of(one)), None)
            if section is None:
                return
        where = title_of(section) if section else sanitize(model.site.title)
        chosen = await choose(self._session.screen, f"Add a space to {where}", choices, ranked=True)
        if not chosen:
            return
        given = {"section_id": (await self._session.present(model, section, "added")).id} if section else {}
        await self._send(model, AddSiteSpace(**model.path, space_id=chosen, **given), "the space")

    async def _add_section(self, model: SiteTree) -> None:
        takes_spaces = self._takes_spaces(model)
        notes: tuple[Line, ...] = ()
        if takes_spaces:
            spaces = count(len(model.site_spaces), "space")
            notes = ((Span(f"This is the first section: it gets the {spaces} of the site.", "waiting"),),)
        draft = self._draft_of("section", model)
        title = await self._ask_title("Title of the new section", draft, SECTION_TITLE, notes)
        if title is None:
            return
        present_spaces = [
            Choice(one.space.id, title_of(one), "in this site already") for one in model.site_spaces if takes_spaces
        ]
        choices = [*present_spaces, *await self._unused(model)]
        if not choices:
            self._session.screen.notify(ALL_USED)
            return
        chosen = await choose(self._session.screen, f"First space of {sanitize(title)}", choices, ranked=True)
        if not chosen:
            return
        await self._session.read_again(model)
        if self._takes_spaces(model) != takes_spaces:
            raise ChecksFailed("Not added: somebody else changed the sections of the site. Look, and add it again")
        if await self._send(model, AddSection(**model.path, space_id=chosen, title=title), "the section"):
            draft.discard()

    @staticmethod
    def _takes_spaces(model: SiteTree) -> bool:
        """Return whether a new section would be the first, and contain all spaces that the site has already."""
        return bool(model.site_spaces) and not model.sections

    async def _add_group(self, model: SiteTree, group: SiteSectionGroup | None) -> None:
        """Add a group with a title and sections that the user chooses.

        A group needs sections from the start: the service cannot add sections to an empty group later.
        """
        draft = self._draft_of("group", model)
        title = await self._ask_title("Title of the new group", draft, GROUP_TITLE)
        if title is None:
            return
        parents = {key_of(one): model.order.parent(key_of(one)) for one in model.sections}
        question = f"Sections of {sanitize(title)}"
        chosen = await choose_several(self._session.screen, question, self._sections(model))
        if not chosen:
            return
        await self._session.read_again(model)
        keys = [key for key in model.order.every() if key in chosen]
        is_same = all(key in model.order and model.order.parent(key) == parents[key] for key in chosen)
        if not is_same or (group and key_of(group) not in model.items):
            raise ChecksFailed("Not added: somebody else moved or removed these sections. Look, and add it again")
        given: dict[str, Any] = {"sections": tuple(model.items[key].id for key in keys)}
        given |= {"parent": group.id} if group else {}
        if await self._send(model, AddSectionGroup(**model.path, title=title, **given), "the group"):
            draft.discard()

    async def _send(self, model: SiteTree, call: Operation[Any], what: str) -> bool:
        """Add an item, and select it. Returns False if the write is still pending."""
        answer: StructureItem | None = await send(self._session.screen, call)
        if answer is None:
            return False
        await self._session.read_again(model)
        if self._session.model is model:
            self._session.tree.move_to_key(key_of(answer), ancestors=model.ancestors(key_of(answer)))
        self._session.screen.notify(f"added {what} {title_of(answer)}: {key_for('unsend')} undoes it")
        return True

    async def _unused(self, model: SiteTree) -> list[Choice]:
        used = {one.space.id for one in model.site_spaces}
        return await space_choices(self._session.screen.engine, model.organization_id, used)

    @staticmethod
    def _sections(model: SiteTree) -> list[Choice]:
        above = {one.id: [title_of(model.items[key]) for key in model.ancestors(key_of(one))] for one in model.sections}
        return [Choice(key_of(one), title_of(one), " › ".join(above[one.id])) for one in model.sections]

    def _draft_of(self, kind: str, model: SiteTree) -> DraftSlot:
        return DraftSlot(self._session.screen.engine.outbox, f"title of a new {kind} in site {model.site.id}")

    async def _ask_title(
        self, question: str, draft: DraftSlot, lengths: tuple[int, int], notes: tuple[Line, ...] = ()
    ) -> str | None:
        """Ask for a title. The input is a draft until the item is added."""
        least, most = lengths
        screen = self._session.screen
        return await prompt(screen, question, draft, min_length=least, max_length=most, notes=lambda _: notes)
