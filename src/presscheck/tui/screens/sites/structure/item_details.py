"""Changes of an item of a site: title, path, icon, condition, and which item is the default."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, Any, NamedTuple

from presscheck.api.site_structure import (
    SiteSection,
    SiteSectionGroup,
    SiteSpace,
    StructureItem,
    UpdateSection,
    UpdateSectionGroup,
    UpdateSiteSpace,
)
from presscheck.api.sites import UpdateSite
from presscheck.documents.sites.content import key_of
from presscheck.documents.visitors.conditions import problem_of
from presscheck.engine.publish.shown_addresses import shown_address
from presscheck.engine.publish.site_structure import icon_problem, kind_of, path_problem, title_of
from presscheck.errors import ChecksFailed
from presscheck.store.drafts import DraftSlot
from presscheck.text.sanitize import sanitize
from presscheck.text.styled_text import Line, Span, wrap
from presscheck.tui.commands import key_for, with_keys
from presscheck.tui.screens.sites.structure.session import NO_ITEM
from presscheck.tui.screens.sites.writes import send
from presscheck.tui.ui.ask import change_text, choose, confirm
from presscheck.tui.widgets.picker import Choice

if TYPE_CHECKING:
    from presscheck.api.operation import Operation
    from presscheck.api.sites import Site
    from presscheck.tui.screens.sites.structure.model import SiteTree
    from presscheck.tui.screens.sites.structure.session import StructureSession

UPDATES: dict[str, type[Operation[Any]]] = {
    "site-section": UpdateSection,
    "site-section-group": UpdateSectionGroup,
    "site-space": UpdateSiteSpace,
}
"""Operations that change an item, by item kind."""
OTHER_KIND = "this kind of item can only be changed in the browser"
SECTION_TITLE, GROUP_TITLE, PATH, ICON, CONDITION = (2, 128), (1, 100), (1, 100), (0, 50), (0, 1024)
"""Minimum and maximum numbers of characters."""
PATH_RULES = "Small letters, digits and _, with a single - or . between them; at most 100 characters."


class Detail(NamedTuple):
    """A detail of an item, entered as a line of text: field, label, letter in the menu, lengths, and hint."""

    name: str
    label: str
    letter: str
    lengths: tuple[int, int]
    hint: str = ""


def details_of(item: StructureItem) -> list[Detail]:
    """Return the details of an item that can be changed here. The title of a space belongs to the space itself."""
    condition = Detail("condition", "Condition", "c", CONDITION, 'visitor.claims.plan == "pro"; empty: everybody')
    if isinstance(item, SiteSpace):
        return [Detail("path", "Path", "p", PATH), condition]
    icon = Detail("icon", "Icon", "i", ICON, "a name of Font Awesome, such as book-open; empty: none")
    if isinstance(item, SiteSection):
        return [Detail("title", "Title", "t", SECTION_TITLE), Detail("path", "Path", "p", PATH), icon, condition]
    return [Detail("title", "Title", "t", GROUP_TITLE), icon] if isinstance(item, SiteSectionGroup) else []


class ItemDetails:
    """The commands that change an item.

    Args:
        session: the structure of the site.
    """

    def __init__(self, session: StructureSession) -> None:
        self._session = session

    def reason_rename(self) -> str | None:
        """Return why the item cannot be changed: there is none, or the change is not allowed for items of its kind."""
        item = self._session.item
        if item is None:
            return self._session.reason(UpdateSection) or with_keys(NO_ITEM)
        operation = UPDATES.get(item.object)
        return self._session.reason(operation) if operation else OTHER_KIND

    def command_rename(self) -> Awaitable[None] | None:
        """Change a detail of the item."""
        item = self._session.item
        return self._change(item) if item else None

    def reason_make_default(self) -> str | None:
        """Return why the item cannot become the default: there is none, or the change is not allowed now.

        Groups cannot become the default, nor can an item that already is the default.
        """
        item = self._session.item
        if item is None:
            return self._session.reason(UpdateSite) or with_keys(NO_ITEM)
        if not isinstance(item, SiteSpace | SiteSection):
            return f"a {kind_of(item)} cannot be the default: sections and spaces can"
        if item.default:
            return f"this {kind_of(item)} is the default already"
        return self._session.reason(UpdateSection if self._section_above(item) else UpdateSite)

    def command_make_default(self) -> Awaitable[None] | None:
        """Make the section the default of the site, or the space the default of its section or site."""
        item = self._session.item
        return self._make_default(item) if isinstance(item, SiteSpace | SiteSection) else None

    def _section_above(self, item: StructureItem) -> SiteSection | None:
        """Return the section that contains a space; None for other items."""
        return self._session.model.section_of(item) if isinstance(item, SiteSpace) else None

    async def _change(self, item: StructureItem) -> None:
        details = details_of(item)
        choices = [
            Choice(one.name, one.label, sanitize(getattr(item, one.name) or "") or "none", letter=one.letter)
            for one in details
        ]
        if isinstance(item, SiteSpace):
            choices.insert(0, Choice("title", "Title", title_of(item), letter="t"))
        if isinstance(item, SiteSpace | SiteSection):
            choices.append(Choice("default", "Make default", "it is the default" if item.default else "", letter="d"))
        title = title_of(item)
        chosen = await choose(self._session.screen, f"Change {title}", choices)
        detail = next((one for one in details if chosen == one.name), None)
        if detail:
            await self._ask(item, detail)
        elif chosen == "title":
            self._session.screen.notify(
                f"{key_for('rename')} on the space in Browse changes it ({key_for('go_browse')}): "
                "it has the title of its space"
            )
        elif chosen == "default" and isinstance(item, SiteSpace | SiteSection):
            if item.default:
                self._session.screen.notify(f"this {kind_of(item)} is the default already")
            else:
                await self._make_default(item)

    async def _ask(self, item: StructureItem, detail: Detail) -> None:
        """Ask for the new text of a detail, and send it unless somebody else has changed the field.

        Unsent input is a draft.
        """
        model, before = self._session.model, getattr(item, detail.name) or ""
        key = f"{detail.name} of {key_of(item)} in site {model.site.id}"
        draft = DraftSlot(self._session.screen.engine.outbox, key, before)

        async def write(text: str) -> None:
            now = getattr(await self._session.present(model, item, "changed"), detail.name) or ""
            if now != before:
                raise ChecksFailed(f"Not changed: somebody else made it “{sanitize(now)}”. Look, and change it again")
            await self._update(model, item, {detail.name: text or None})
            self._session.screen.notify(f"{detail.name} changed: {key_for('unsend')} undoes it")

        await change_text(
            self._session.screen,
            f"{detail.label} of {title_of(item)}",
            draft,
            write,
            min_length=detail.lengths[0],
            max_length=detail.lengths[1],
            validate=self._validator(item, detail),
            hint=detail.hint,
            notes=lambda columns: path_notes(item, columns, model.site) if detail.name == "path" else (),
        )

    def _validator(self, item: StructureItem, detail: Detail) -> Callable[[str], str | None] | None:
        if detail.name == "icon":
            return icon_problem
        if detail.name == "condition":
            return lambda text: sanitize(problem_of(text)) or None
        if detail.name != "path":
            return None
        model = self._session.model
        beside = model.sections if isinstance(item, SiteSection) else model.siblings(item)
        taken = {
            other.path: title_of(other)
            for other in beside
            if isinstance(other, SiteSpace | SiteSection) and other.id != item.id
        }
        return lambda text: path_problem(text, taken)

    async def _update(self, model: SiteTree, item: StructureItem, given: dict[str, Any]) -> None:
        path = model.path
        if isinstance(item, SiteSpace):
            await send(self._session.screen, UpdateSiteSpace(**path, site_space_id=item.id, **given))
        elif isinstance(item, SiteSection):
            await send(self._session.screen, UpdateSection(**path, site_section_id=item.id, **given))
        elif isinstance(item, SiteSectionGroup):
            await send(self._session.screen, UpdateSectionGroup(**path, site_section_group_id=item.id, **given))

    async def _make_default(self, item: SiteSpace | SiteSection) -> None:
        """Make an item the default. On a live site, ask first, because addresses change."""
        model = self._session.model
        now = await self._session.present(model, item, "changed")
        whole = "section" if self._section_above(now) else "site"
        former = _default_beside(model, now)
        if model.site.published:
            if not await self._confirm_default(now, former, whole):
                return
            present_default = _default_beside(model, await self._session.present(model, now, "changed"))
            if (present_default and present_default.id) != (former and former.id):
                raise ChecksFailed(
                    f"Not changed: somebody else changed the default of the {whole}. Look, and try again"
                )
        if await send(self._session.screen, self._call(model, now)):
            self._session.screen.notify(f"{title_of(now)} is the default of the {whole}: {key_for('unsend')} undoes it")

    @staticmethod
    def _call(model: SiteTree, item: SiteSpace | SiteSection) -> Operation[Any]:
        if isinstance(item, SiteSection):
            return UpdateSite(**model.path, default_site_section=item.id)
        if section := model.section_of(item):
            return UpdateSection(**model.path, site_section_id=section.id, default_site_space=item.id)
        return UpdateSite(**model.path, default_site_space=item.id)

    async def _confirm_default(self, item: StructureItem, former: StructureItem | None, whole: str) -> bool:
        instead = f" instead of {title_of(former)}" if former else ""
        lines: list[Line] = [
            (Span(f"The site is live: who opens its {whole} comes to {title_of(item)}{instead}."),),
            (Span("The addresses of both change: that of the default is without its path.", "waiting"),),
        ]
        question = f"Make {title_of(item)} the default?"
        return await confirm(self._session.screen, question, lines, "Change")


def _default_beside(model: SiteTree, item: SiteSpace | SiteSection) -> StructureItem | None:
    """Return the default section of the site for a section, or the default sibling for a space, or None."""
    beside = model.sections if isinstance(item, SiteSection) else model.siblings(item)
    return next((other for other in beside if getattr(other, "default", None)), None)


def path_notes(item: StructureItem, columns: int, site: Site) -> list[Line]:
    """Return the rules of paths, and the effect of a new path on visitors."""
    runs: list[Line] = [(Span(PATH_RULES, "quiet"),)]
    if isinstance(item, SiteSpace | SiteSection):
        if item.default:
            runs.append((Span("It is the default: its path is used only once another one is.", "quiet"),))
        elif item.urls.published:
            address = sanitize(shown_address(site, item.urls.published))
            runs.append(
                (Span(f"Live at {address}: links to it break without a redirect ({key_for('go_access')}).", "waiting"),)
            )
    return [row for run in runs for row in wrap(run, columns)]
