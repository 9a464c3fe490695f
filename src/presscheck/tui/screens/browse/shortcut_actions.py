"""Shortcuts at the top of the tree: bookmarks and recently opened items, which are stored."""

from __future__ import annotations

from typing import TYPE_CHECKING

from presscheck.engine.shortcuts import Shortcut, change_text
from presscheck.text.sanitize import sanitize
from presscheck.tui.commands import key_for, with_keys
from presscheck.tui.places import Place
from presscheck.tui.screens.browse.page_tree import BOOKMARKED, OPENED
from presscheck.tui.screens.browse.space_home import rest

if TYPE_CHECKING:
    from presscheck.tui.screens.browse.page_tree import Item, Library
    from presscheck.tui.screens.browse.session import ContentTree

GROUP_HINTS = {
    BOOKMARKED: "Bookmarks stay between starts. {bookmark} on a space, a collection, a page or a site "
    "adds or removes one.",
    OPENED: "What you opened last, also before this start. {open} expands and collapses.",
}


class ShortcutActions:
    """The commands that add and remove bookmarks, and open the targets of shortcuts.

    Args:
        session: the tree and the page pane.
    """

    def __init__(self, session: ContentTree) -> None:
        self._session, self._screen = session, session.screen
        self.rows = ShortcutRows(session)

    def reason_bookmark(self) -> str | None:
        """Return why nothing can be bookmarked: there is no item, or only a heading of shortcuts or sites."""
        return (
            None
            if self._session.shortcut_to(self._session.item)
            else "go to a space, a collection, a page or a site first"
        )

    def command_bookmark(self) -> None:
        """Toggle the bookmark of the item under the cursor. A shortcut to a deleted item is removed."""
        item, shortcuts = self._session.item, self._screen.engine.shortcuts
        shortcut = self._session.shortcut_to(item)
        if item is None or shortcut is None:
            return
        if item.shortcut and self._session.library.is_gone(item.shortcut):
            shortcuts.forget(shortcut.target)
            message = "removed: it was gone"
        else:
            message = change_text(shortcut, shortcuts.toggle_bookmark(shortcut))
        if self._session.library.item(BOOKMARKED) is None:
            self._session.tree_view.expanded.add(BOOKMARKED)
        self._session.read_shortcuts()
        self._screen.redraw()
        self._screen.notify(message)

    def open(self, shortcut: Shortcut) -> None:
        """Go to the target of a shortcut."""
        if self._session.library.is_gone(shortcut):
            self._screen.notify(f"{sanitize(shortcut.title)} is gone: {key_for('bookmark')} removes it from the list")
        elif shortcut.kind == "site":
            app = self._screen.app_context
            self._screen.run(lambda: app.go(Place.site(shortcut.ids[0])))
        elif shortcut.kind == "collection":
            self._session.go_to(shortcut.target)
        else:
            space, *page = shortcut.ids
            self._session.open_page(space, page[0] if page else None)

    def rested(self, shortcut: Shortcut) -> None:
        """Load the pages of a space when the cursor rests on a shortcut to one of the pages."""
        library = self._session.library
        is_page = shortcut.kind == "page" and library.item(f"space {shortcut.ids[0]}")
        if not is_page or library.pages(shortcut.ids[0]) is not None:
            return

        async def load() -> None:
            await rest()
            self._session.load_pages(shortcut.ids[0])

        self._screen.run(load, group="shortcut rest", exclusive=True)


class ShortcutRows:
    """The commands on the row of a shortcut, as opposed to its target.

    Args:
        session: the tree and the page pane.
    """

    def __init__(self, session: ContentTree) -> None:
        self._session, self._screen = session, session.screen

    @property
    def shortcut(self) -> Shortcut | None:
        """The shortcut under the cursor; None on other items."""
        item = self._session.library.item(self._session.tree_view.key)
        return item.shortcut if item else None

    def reason_delete(self) -> str | None:
        """Return None: a shortcut can always be removed; its target stays."""
        return None

    def command_delete(self) -> None:
        """Remove the shortcut from its list."""
        shortcut = self.shortcut
        if shortcut:
            self._screen.engine.shortcuts.remove(shortcut.target, is_bookmark=self._is_bookmark)
            self._show(f"removed {sanitize(shortcut.title)} from the list only")

    def reason_move_down(self) -> str | None:
        """Return why the shortcut cannot be moved: recent items are sorted by time."""
        return None if self._is_bookmark else "the newest is first here: only bookmarks can be moved"

    reason_move_up = reason_move_down

    def command_move_down(self) -> None:
        """Move the bookmark below the next bookmark."""
        self._move(1)

    def command_move_up(self) -> None:
        """Move the bookmark above the previous bookmark."""
        self._move(-1)

    def _move(self, by: int) -> None:
        shortcut = self.shortcut
        if shortcut:
            self._screen.engine.shortcuts.move_bookmark(shortcut, by)
            self._show("")

    @property
    def _is_bookmark(self) -> bool:
        return (self._session.tree_view.key or "").startswith(f"{BOOKMARKED} ")

    def _show(self, message: str) -> None:
        self._session.read_shortcuts()
        self._screen.redraw()
        if message:
            self._screen.notify(message)


def shortcut_text(library: Library, item: Item) -> str:
    """Return the text of the page pane for a group of shortcuts, or for a shortcut with a missing target."""
    shortcut = item.shortcut
    if shortcut is None:
        return with_keys(GROUP_HINTS[item.key])
    if library.is_gone(shortcut):
        elsewhere = ", or is only in a change request" if shortcut.kind == "page" else ""
        reason = f"it was deleted, is no longer visible to you{elsewhere}"
        return f"This {shortcut.kind} is gone: {reason}. {key_for('bookmark')} removes it from the list."
    where = f" in {sanitize(shortcut.where)}" if shortcut.where else ""
    return f"A {shortcut.kind}{where}. {key_for('open')} opens it."
