"""Shortcuts at the top of the tree: bookmarks, and what was opened last; kept between starts."""

from __future__ import annotations

from typing import TYPE_CHECKING

from presscheck.engine.shortcuts import Shortcut, change_text
from presscheck.text.sanitize import sanitize
from presscheck.tui.screens.browse.page_tree import BOOKMARKED, OPENED, SITES
from presscheck.tui.screens.browse.space_home import rest

if TYPE_CHECKING:
    from collections.abc import Callable

    from presscheck.tui.screens.browse.context import BrowseContext
    from presscheck.tui.screens.browse.page_tree import Item

GROUP_HINTS = {
    BOOKMARKED: "Bookmarks stay between starts. b on a space, a collection, a page or a site adds or removes one.",
    OPENED: "What you opened last, also before this start. enter expands and collapses.",
}


class ShortcutActions:
    """Adds and removes bookmarks, notes what is opened, and opens what a shortcut leads to.

    Args:
        screen: the browse screen.
        open_place: opens a space, or a page of it, by their ids.
        load_pages: loads the pages of a space.
    """

    def __init__(
        self,
        screen: BrowseContext,
        open_place: Callable[[str, str | None], None],
        load_pages: Callable[[str], None],
    ) -> None:
        self._screen, self._open_place, self._load_pages = screen, open_place, load_pages
        self.rows = ShortcutRows(screen, self.read)

    @property
    def is_here(self) -> bool:
        """Whether the row under the cursor is a shortcut."""
        return self.rows.shortcut is not None

    def read(self) -> bool:
        """Read the shortcuts from the store into the tree; returns whether they are others."""
        organization, engine = self._screen.organization_id, self._screen.engine
        if not organization:
            return False
        bookmarks, recent = engine.shortcuts.bookmarks(organization), engine.shortcuts.recent(organization)
        return self._screen.library.set_shortcuts(bookmarks, recent)

    def opened(self, item: Item | None) -> None:
        """Note that a page or a space was opened.

        The list follows when the tree is shown again, or while it is folded: rows that move under a reader's hands
        would be worse than a list that is a little late.
        """
        shortcut = self._shortcut(item)
        if shortcut is None or item is None or item.shortcut:
            return
        self._screen.engine.shortcuts.opened(shortcut)
        library, tree = self._screen.library, self._screen.tree_view
        if library.item(OPENED) and OPENED not in tree.expanded and self.read():
            tree.show()

    def reason_bookmark(self) -> str | None:
        """Disabled on nothing that can be bookmarked."""
        return None if self._shortcut(self._screen.item) else "go to a space, a collection, a page or a site first"

    def command_bookmark(self) -> None:
        """Bookmark what is under the cursor, or remove its bookmark; a shortcut to what is gone is removed."""
        item, shortcuts = self._screen.item, self._screen.engine.shortcuts
        shortcut = self._shortcut(item)
        if item is None or shortcut is None:
            return
        if item.shortcut and self._screen.library.is_gone(item.shortcut):
            shortcuts.forget(shortcut.target)
            message = "removed: it was gone"
        else:
            message = change_text(shortcut, shortcuts.toggle_bookmark(shortcut))
        if self._screen.library.item(BOOKMARKED) is None:
            self._screen.tree_view.expanded.add(BOOKMARKED)
        self.read()
        self._screen.redraw()
        self._screen.notify(message)

    def open(self, shortcut: Shortcut) -> None:
        """Go to what a shortcut leads to."""
        if self._screen.library.is_gone(shortcut):
            self._screen.notify(f"{sanitize(shortcut.title)} is gone: b removes it from the list")
        elif shortcut.kind == "site":
            app = self._screen.app_context
            self._screen.run(lambda: app.open_site(shortcut.ids[0]))
        elif shortcut.kind == "collection":
            self._screen.go_to(shortcut.target)
        else:
            space, *page = shortcut.ids
            self._open_place(space, page[0] if page else None)

    def rested(self, shortcut: Shortcut) -> None:
        """Load the pages of a space while the cursor rests on a shortcut to one of them."""
        library = self._screen.library
        is_page = shortcut.kind == "page" and library.item(f"space {shortcut.ids[0]}")
        if not is_page or library.pages(shortcut.ids[0]) is not None:
            return

        async def load() -> None:
            await rest()
            self._load_pages(shortcut.ids[0])

        self._screen.run(load, group="shortcut rest", exclusive=True)

    def text(self, item: Item) -> str:
        """What is shown instead of a page on a group of shortcuts, or on one whose target is not loaded or gone."""
        shortcut = item.shortcut
        if shortcut is None:
            return GROUP_HINTS[item.key]
        if self._screen.library.is_gone(shortcut):
            elsewhere = ", or is only in a change request" if shortcut.kind == "page" else ""
            reason = f"it was deleted, is no longer visible to you{elsewhere}"
            return f"This {shortcut.kind} is gone: {reason}. b removes it from the list."
        where = f" in {sanitize(shortcut.where)}" if shortcut.where else ""
        return f"A {shortcut.kind}{where}. enter opens it."

    def _shortcut(self, item: Item | None) -> Shortcut | None:
        """A shortcut to an item; None if there can be none."""
        if item is None or item.shortcut or item.kind == "shortcuts":
            return item.shortcut if item else None
        parent = self._screen.library.item(item.parent)
        if item.kind == SITES:
            return None
        is_in_other = parent is not None and parent.key != SITES
        where = item.space.title if item.page and item.space else parent.title if parent and is_in_other else ""
        return Shortcut(item.key, item.title, where, self._screen.organization_id)


class ShortcutRows:
    """Handles the commands that are about the row of a shortcut itself, not about what it leads to.

    Args:
        screen: the browse screen.
        read: reads the shortcuts from the store into the tree.
    """

    def __init__(self, screen: BrowseContext, read: Callable[[], bool]) -> None:
        self._screen, self._read = screen, read

    @property
    def shortcut(self) -> Shortcut | None:
        """The shortcut of the row under the cursor."""
        item = self._screen.library.item(self._screen.tree_view.key)
        return item.shortcut if item else None

    def reason_delete(self) -> str | None:
        """Always enabled: what the shortcut leads to stays."""
        return None

    def command_delete(self) -> None:
        """Remove the shortcut from its list."""
        shortcut = self.shortcut
        if shortcut:
            self._screen.engine.shortcuts.remove(shortcut.target, is_bookmark=self._is_bookmark)
            self._show(f"removed {sanitize(shortcut.title)} from the list only")

    def reason_move_down(self) -> str | None:
        """Disabled among the recent ones, which have their order from the time."""
        return None if self._is_bookmark else "the newest is first here: only bookmarks can be moved"

    reason_move_up = reason_move_down

    def command_move_down(self) -> None:
        """Move the bookmark below the next one."""
        self._move(1)

    def command_move_up(self) -> None:
        """Move the bookmark above the one before it."""
        self._move(-1)

    def _move(self, by: int) -> None:
        shortcut = self.shortcut
        if shortcut:
            self._screen.engine.shortcuts.move_bookmark(shortcut, by)
            self._show("")

    @property
    def _is_bookmark(self) -> bool:
        return (self._screen.tree_view.key or "").startswith(f"{BOOKMARKED} ")

    def _show(self, message: str) -> None:
        self._read()
        self._screen.redraw()
        if message:
            self._screen.notify(message)
