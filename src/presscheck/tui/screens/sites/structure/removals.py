"""Removals from a site. The confirmation lists everything that visitors lose."""

from __future__ import annotations

from collections.abc import Awaitable
from typing import TYPE_CHECKING, Any, cast

from presscheck.api.site_structure import (
    DeleteSection,
    DeleteSectionGroup,
    DeleteSiteSpace,
    SiteSection,
    SiteSectionGroup,
    SiteSpace,
    StructureItem,
)
from presscheck.documents.sites.content import key_of
from presscheck.engine.publish.shown_addresses import shown_address
from presscheck.engine.publish.site_structure import all_items, children_of, kind_of, title_of
from presscheck.errors import ChecksFailed
from presscheck.text.phrases import count
from presscheck.text.sanitize import sanitize
from presscheck.text.styled_text import Line, Span
from presscheck.tui.commands import key_for, with_keys
from presscheck.tui.screens.sites.structure.item_details import OTHER_KIND
from presscheck.tui.screens.sites.structure.session import NO_ITEM
from presscheck.tui.screens.sites.writes import send
from presscheck.tui.ui.ask import confirm

if TYPE_CHECKING:
    from presscheck.api.operation import Operation
    from presscheck.tui.screens.sites.structure.model import SiteTree
    from presscheck.tui.screens.sites.structure.session import StructureSession

OPERATIONS: dict[str, type[Operation[Any]]] = {
    "site-space": DeleteSiteSpace,
    "site-section": DeleteSection,
    "site-section-group": DeleteSectionGroup,
}
NAMED = 4
"""Maximum number of items in the confirmation."""


class Removals:
    """The command that removes the item under the cursor.

    Args:
        session: the structure of the site.
    """

    def __init__(self, session: StructureSession) -> None:
        self._session = session

    def reason_delete(self) -> str | None:
        """Return why the item cannot be removed: there is none, or the change is not allowed for items of its kind."""
        item = self._session.item
        if item is None:
            return self._session.reason(DeleteSiteSpace) or with_keys(NO_ITEM)
        operation = OPERATIONS.get(item.object)
        return self._session.reason(operation) if operation else OTHER_KIND

    def command_delete(self) -> Awaitable[None] | None:
        """Remove the item from the site, after a confirmation."""
        item = self._session.item
        return self._remove(item) if item else None

    async def _remove(self, item: StructureItem) -> None:
        model = self._session.model
        now = await self._session.present(model, item, "removed")
        question = f"Remove the {kind_of(now)} {title_of(now)}?"
        if not await confirm(self._session.screen, question, lines_before(model, now), "Remove"):
            return
        if _content(await self._session.present(model, now, "removed")) != _content(now):
            raise ChecksFailed(f"Not removed: somebody else changed what is in {title_of(now)}. Look, and try again")
        undo = f": {key_for('unsend')} undoes it" if isinstance(now, SiteSectionGroup) else ""
        await send(self._session.screen, _call(model, now))
        self._session.screen.notify(f"removed the {kind_of(now)} {title_of(now)}{undo}")


def lines_before(model: SiteTree, item: StructureItem) -> list[Line]:
    """Return the lines of the confirmation: what visitors lose, and which items stay."""
    if isinstance(item, SiteSectionGroup):
        inside = [title_of(child) for child in children_of(item)]
        stay = f"{_named(inside)} stay, one level higher." if inside else "Nothing is in it."
        return [(Span("Visitors lose this heading of the navigation."),), (Span(stay),)]
    spaces = [one for one in (item, *all_items(children_of(item))) if isinstance(one, SiteSpace)]
    lines: list[Line] = []
    if model.site.published:
        lines.append((Span(f"The site is live: visitors lose {_lost(item, spaces)}.", "waiting"),))
        address = getattr(item, "urls", None) and cast("SiteSpace", item).urls.published
        if address:
            lines.append((Span(sanitize(shown_address(model.site, address)), "link"), Span(" is not found any more.")))
    else:
        lines.append((Span(f"Visitors will not get {_lost(item, spaces)}: the site is a draft now."),))
    if getattr(item, "default", None):
        lines.append((Span(f"It is the default: {_next_default(model, item)}.", "waiting"),))
    lines.append((Span(f"The {'space itself stays' if len(spaces) == 1 else 'spaces stay'}, with all pages."),))
    lines.append((Span(f"Path and condition here are lost: {key_for('unsend')} cannot restore them.", "waiting"),))
    return lines


def _lost(item: StructureItem, spaces: list[SiteSpace]) -> str:
    if isinstance(item, SiteSpace):
        return f"the pages of {title_of(item)}"
    return f"{count(len(spaces), 'space')}{': ' if spaces else ''}{_named([title_of(one) for one in spaces])}"


def _named(titles: list[str]) -> str:
    more = len(titles) - NAMED
    return ", ".join(titles[:NAMED]) + (f" and {count(more, 'more', 'more')}" if more > 0 else "")


def _next_default(model: SiteTree, item: StructureItem) -> str:
    beside = model.sections if isinstance(item, SiteSection) else model.siblings(item)
    if any(other.id != item.id for other in beside):
        return "another one becomes it, and its address changes"
    return "the site has nothing to open then" if isinstance(item, SiteSection) else "nothing else is in it then"


def _content(item: StructureItem) -> list[str]:
    """Return the facts that the confirmation depends on: whether the item is the default, and all keys inside it."""
    return [str(getattr(item, "default", None)), *(key_of(one) for one in all_items(children_of(item)))]


def _call(model: SiteTree, item: StructureItem) -> Operation[Any]:
    if isinstance(item, SiteSpace):
        return DeleteSiteSpace(**model.path, site_space_id=item.id)
    if isinstance(item, SiteSection):
        return DeleteSection(**model.path, site_section_id=item.id)
    return DeleteSectionGroup(**model.path, site_section_group_id=item.id)
