"""Reading in the browse screen: headings, reading order, zoom, and the remembered position of each page.

In a wide terminal, the outline next to the page lists its headings.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from functools import partial
from typing import TYPE_CHECKING

from presscheck.documents.pages.tree import flatten
from presscheck.documents.terminal.controls import Controls
from presscheck.text.sanitize import sanitize
from presscheck.tui.commands import key_for
from presscheck.tui.screens.browse.page_tree import READABLE, page_key
from presscheck.tui.ui.ask import choose
from presscheck.tui.widgets.picker import Choice

if TYPE_CHECKING:
    from presscheck.tui.screens.browse.session import ContentTree
    from presscheck.tui.widgets.page_view import PageLayout, PageView, Position

WIDE = 120
"""Minimum width of the terminal, in cells, for the outline."""
SHOWN = "browse outline"
"""The storage key of the setting that shows the outline."""
LEAST_TEXT = 40
"""Minimum cells of the page next to an outline whose width is a setting."""
REMEMBERED = 200
"""Maximum number of pages whose position and folded sections are remembered."""


class OutlinePane:
    """The outline, and the actions on it: show, hide, and go to a heading.

    Args:
        session: the tree and the page pane.
    """

    def __init__(self, session: ContentTree) -> None:
        self._session, self._screen = session, session.screen
        self.is_zoomed = False
        """Whether the page has the whole width."""
        self._is_on: bool | None = None

    @property
    def has_room(self) -> bool:
        """Whether the terminal is wide enough for the outline and the page is not zoomed."""
        return self._screen.size.width >= WIDE and not self.is_zoomed

    @property
    def is_shown(self) -> bool:
        """Whether the outline is switched on and has room. The switch is stored."""
        if self._is_on is None:
            self._is_on = self._screen.engine.outbox.recall(SHOWN) == "yes"
        return self._is_on and self.has_room

    def toggle(self) -> None:
        """Show and focus the outline, or hide it. The choice is stored."""
        self._is_on = not self.is_shown
        self._screen.engine.outbox.remember(SHOWN, "yes" if self._is_on else None)
        self.arrange()
        self._screen.set_focus(self._session.outline if self._is_on else self._session.page_view)

    def arrange(self) -> None:
        """Show the outline if it is switched on and has room."""
        outline, is_shown = self._session.outline, self.is_shown
        if outline.has_focus and not is_shown:
            self._screen.set_focus(self._session.page_view)  # at once: a hidden pane would lose the focus
        self._set_width()
        outline.display = is_shown
        self._session.page_view.on_drawn = outline.follow if is_shown else None
        outline.follow()

    def _set_width(self) -> None:
        """Use the width from the settings if it leaves room for the page; otherwise the width from the style sheet."""
        columns = self._screen.app_context.profile.outline_width
        if columns is None:
            return
        styles, room = self._session.outline.styles, self._screen.size.width - self._session.tree_view.outer_size.width
        if columns <= room - LEAST_TEXT:
            styles.width = styles.min_width = styles.max_width = columns
        else:
            for rule in ("width", "min_width", "max_width"):
                styles.clear_rule(rule)

    def open(self) -> None:
        """Go to the heading under the cursor of the outline, and focus the page."""
        view = self._session.page_view
        view.go_to_heading(self._session.outline.cursor, opens=True)
        self._screen.set_focus(view)


class PageNavigation:
    """The position in each page, and the commands that move within and between pages.

    Args:
        session: the tree and the page pane.
    """

    def __init__(self, session: ContentTree) -> None:
        self._session, self._screen = session, session.screen
        self.outline = OutlinePane(session)
        self.is_zoomed = False
        self._key = ""
        self._positions: dict[str, Position] = {}
        self._jump: tuple[str, Callable[[], Awaitable[None]]] | None = None
        """The key of a page that is not shown yet, and a function that goes to a position on it."""
        self._controls: dict[str, Controls] = {}

    def show(self, key: str, make: Callable[[int], PageLayout]) -> None:
        """Show a page. The current page keeps its scroll position; another page opens at its last position.

        Args:
            key: the key of the page in the tree.
            make: lays out the page for a number of columns.
        """
        view = self._session.page_view
        if key == self._key:
            view.show(make, line=None)
        else:
            self._remember(view)
            self._key = key
            view.show(make, position=self._positions.get(key))
        if key and self._jump and self._jump[0] == key:
            jump, self._jump = self._jump[1], None
            self._screen.run(jump(), group="anchor", exclusive=True)

    def show_again(self, key: str, make: Callable[[int], PageLayout]) -> None:
        """Show the current page again after pictures or titles have loaded; the text being read keeps its position."""
        if key == self._key:
            self._session.page_view.show_again(make)
        else:
            self.show(key, make)

    def go_to_quote(self, key: str, words: str) -> None:
        """Go to the line that contains a quote once the page with this key is shown."""
        self._go_to(key, partial(self._go_to_quote, words))

    def go_to_line(self, key: str, line: int) -> None:
        """Go to a line of the Markdown, counted from 1, once the page with this key is shown."""
        self._go_to(key, partial(self._go_to_line, line))

    def _go_to(self, key: str, jump: Callable[[], Awaitable[None]]) -> None:
        if key == self._key:
            self._screen.run(jump(), group="anchor", exclusive=True)
        else:
            self._jump = (key, jump)

    async def _go_to_quote(self, words: str) -> None:
        if not await self._session.page_view.go_to_quote(words):
            self._screen.notify(f"the text is not on this page any more: {sanitize(words)}")

    async def _go_to_line(self, line: int) -> None:
        if not await self._session.page_view.go_to_source(line - 1):
            self._screen.notify(f"this page has no line {line:,} any more")

    def _remember(self, view: PageView) -> None:
        position = view.position
        if self._key and position:
            self._positions.pop(self._key, None)
            self._positions[self._key] = position
            if len(self._positions) > REMEMBERED:
                self._positions.pop(next(iter(self._positions)))

    def columns(self, columns: int) -> int:
        """Return the width of text in a pane with this number of columns."""
        return columns if self.is_zoomed else min(columns, self._screen.app_context.profile.text_width)

    def go_to_anchor(self, key: str, anchor: str) -> None:
        """Go to the line of an anchor once the page with this key is shown."""
        self._go_to(key, partial(self._go_to_anchor, anchor))

    async def _go_to_anchor(self, anchor: str) -> None:
        if not await self._session.page_view.go_to_anchor(anchor):
            self._screen.notify(f"no heading or anchor “{sanitize(anchor)}” on this page")

    def reason_outline(self) -> str | None:
        """Return why the outline cannot be shown: there is no page, or the page has no headings."""
        document = self._session.page_view.document
        return None if document and (document.headings or not document.done) else "no headings here"

    async def command_outline(self) -> None:
        """Show or hide the outline. If there is no room for it, choose a heading from a list."""
        if self.outline.has_room:
            self.outline.toggle()
            return
        view = self._session.page_view
        headings = await view.all_headings()
        if not headings:
            self._screen.notify("no headings here")
            return
        levels = min(heading.level for heading in headings)
        choices = [
            Choice(str(number), f"{'  ' * (heading.level - levels)}{heading.text}")
            for number, heading in enumerate(headings)
        ]
        at = max(0, view.heading_at_cursor)
        choice = await choose(self._screen, "Headings", choices, current=str(at))
        if choice:
            view.go_to_heading(int(choice), opens=True)
            view.focus()

    def command_next_change(self) -> None:
        """Go to the next heading of the page."""
        self._go_to_heading(1)

    def command_previous_change(self) -> None:
        """Go to the previous heading of the page."""
        self._go_to_heading(-1)

    def reason_next_page(self) -> str | None:
        """Return why no next or previous page can be opened: there is no space here, or its pages are not loaded."""
        item = self._session.item
        if item is None or item.space is None:
            return "go to a space or a page first"
        return None if self._session.library.pages(item.space.id) else "the pages of this space are not loaded yet"

    reason_previous_page = reason_next_page

    def command_next_page(self) -> None:
        """Go to the next page of the tree, in reading order."""
        self._turn(1)

    def command_previous_page(self) -> None:
        """Go to the previous page of the tree, in reading order."""
        self._turn(-1)

    def command_zoom(self) -> None:
        """Hide the tree, so that the page has the whole width, or show the tree again."""
        self.is_zoomed = not self.is_zoomed
        if self.is_zoomed:
            self._screen.set_focus(self._session.page_view)  # at once: a hidden tree would lose the focus
        self._screen.query_one("#browse").set_class(self.is_zoomed, "zoomed")
        self.outline.is_zoomed = self.is_zoomed
        self.outline.arrange()

    def controls(self, key: str) -> Controls:
        """Return the folding state of a page, which is remembered for the last `REMEMBERED` pages."""
        controls = self._controls.pop(key, None) or Controls()
        self._controls[key] = controls
        if len(self._controls) > REMEMBERED:
            self._controls.pop(next(iter(self._controls)))
        return controls

    def reason_fold_section(self) -> str | None:
        """Return why no section can be folded: no page is shown."""
        return None if self._session.page_view.folds_sections else "no page here"

    def command_fold_section(self) -> None:
        """Fold or unfold the section at the cursor."""
        if not self._session.page_view.toggle_section():
            self._screen.notify(f"no section here: {key_for('next_change')} goes to the next heading")

    reason_fold_sections = reason_fold_section

    def command_fold_sections(self) -> None:
        """Fold or unfold all sections of the page."""
        is_folded = self._session.page_view.toggle_sections()
        self._screen.notify("all sections are folded" if is_folded else "all sections are open")

    def reason_open_all(self) -> str | None:
        """Return why nothing can be opened or wrapped: no page is shown."""
        return None if self._session.page_view.controls else "no page here"

    def command_open_all(self) -> None:
        """Open or close all tabs, expandables and wide tables of the page."""
        view = self._session.page_view
        controls = view.controls
        if controls:
            view.show_all(shows_all=not controls.shows_all)
            if controls.shows_all:
                view.unfold_sections()
            self._screen.notify("everything on this page is open" if controls.shows_all else "folded again")

    reason_wrap = reason_open_all

    def command_wrap(self) -> None:
        """Toggle wrapping of the code or wide table under the cursor."""
        controls = self._session.page_view.controls
        if controls and controls.shows_all:
            self._screen.notify("everything on this page is open: fold it first")
        elif not self._session.page_view.toggle_wrap():
            self._screen.notify("no code or wide table under the cursor")

    def open_links(self) -> None:
        """Follow the link in the line under the cursor. If the line has several links, label the visible links."""
        view = self._session.page_view
        targets = view.cursor_targets
        if len(targets) == 1:
            view.post_message(view.LinkChosen(view, targets[0]))
        elif targets:
            view.label_links()

    def _go_to_heading(self, by: int) -> None:
        if not self._session.page_view.next_heading(by):
            self._screen.notify("no further heading" if by > 0 else "no heading above")

    def _turn(self, by: int) -> None:
        item = self._session.item
        pages = self._session.library.pages(item.space.id) if item and item.space else None
        if item is None or item.space is None or pages is None:
            return
        order = list(flatten(pages.pages))
        at = next((number for number, page in enumerate(order) if item.page and page.id == item.page.id), -1)
        candidates = order[at + 1 :] if by > 0 else order[: max(0, at)][::-1]
        page = next((page for page in candidates if page.type in READABLE), None)
        if page is None:
            self._screen.notify("this is the last page" if by > 0 else "this is the first page")
            return
        key = page_key(item.space.id, page.id)
        tree = self._session.tree_view  # the focus stays in the page or in the tree
        tree.move_to_key(key, ancestors=self._session.library.ancestors(key))
