"""The list of pages that use an item, in one space or several, to go to one of the pages."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from presscheck.text.phrases import count
from presscheck.text.sanitize import sanitize
from presscheck.tui.ui.ask import choose
from presscheck.tui.widgets.picker import Choice

if TYPE_CHECKING:
    from collections.abc import Sequence

    from presscheck.api.content import RevisionPage
    from presscheck.engine.search.backlinks import OtherUses
    from presscheck.tui.ui.screen import BaseScreen

NOT_SEARCHED = " not searched"
"""The key of the row that lists spaces that were not searched."""


class PageUse(NamedTuple):
    """A chosen page: the id of its space, empty for the current space, and the id of the page."""

    space: str
    page: str


async def choose_use(
    screen: BaseScreen, name: str, uses: OtherUses, here: Sequence[RevisionPage] = (), *, unread: int = 0
) -> PageUse | None:
    """Ask for a page from the pages that use an item. If there are none, show a message.

    Args:
        screen: the screen that shows the dialog.
        name: the used item, as display text.
        uses: the pages of other spaces, and the spaces and pages that were not searched.
        here: the pages of the current space.
        unread: the number of pages of the current space that are not cached.

    Returns:
        The chosen page, or None.
    """
    unread += uses.unread
    note = f" · {count(unread, 'page')} not in the cache" if unread else ""
    spaces = ", ".join(sanitize(space.title) or "(no title)" for space in uses.not_searched)
    not_searched = f"not searched, because not in the cache: {spaces}" if spaces else ""
    if not here and not uses.pages:
        is_searched = not unread and not uses.not_searched
        nobody = "no page uses it" if is_searched else "no page that was searched uses it"
        screen.notify(f"{nobody}{note}{' · ' if spaces else ''}{not_searched}")
        return None
    choices = [Choice(page.id, sanitize(page.title) or "(no title)", sanitize(page.path or "")) for page in here]
    choices += [
        Choice(f"{space.id} {page.id}", sanitize(page.title) or "(no title)", f"in {sanitize(space.title)}")
        for space, page in uses.pages
    ]
    rest = [Choice(NOT_SEARCHED, f"{count(len(uses.not_searched), 'space')} not searched", spaces)] if spaces else []
    chosen = await choose(screen, f"Pages with {name}{note}", [*choices, *rest])
    if chosen is None:
        return None
    if chosen == NOT_SEARCHED:
        screen.notify(not_searched)
        return None
    space, _, page = chosen.rpartition(" ")
    return PageUse(space, page)
