"""Commands that pages, spaces, collections and sites have: what is under the cursor decides which part runs them."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from presscheck.tui.screens.browse.session import ContentTree
    from presscheck.tui.screens.browse.shortcut_actions import ShortcutActions

OF_SHORTCUTS = ("delete", "move_down", "move_up")
"""Those that on a row of a shortcut are about the shortcut, not about what it leads to."""
SHARED = ("add", "rename", "delete", "move_down", "move_up", "copy_change", "move_change")
"""The commands that both parts may have."""


class ItemCommands:
    """Has `command_<name>` and `reason_<name>` of the shared commands; each calls that of one of both parts.

    Args:
        session: has what is under the cursor.
        shortcuts: knows whether the row under the cursor is a shortcut, and then handles the commands about it.
        spaces: handles the commands on spaces and collections, and those in an empty tree.
        sites: handles the commands on sites, as far as it has them.
        pages: handle the commands on everything else, as far as they have them.
    """

    def __init__(
        self, session: ContentTree, shortcuts: ShortcutActions, spaces: object, sites: object, *pages: object
    ) -> None:
        self._session, self._shortcuts, self._spaces, self._sites, self._pages = (
            session,
            shortcuts,
            spaces,
            sites,
            pages,
        )
        for name in SHARED:
            setattr(self, f"command_{name}", partial(self._call, f"command_{name}", None))
            setattr(
                self, f"reason_{name}", partial(self._call, f"reason_{name}", "go to a space or a collection first")
            )

    def _call(self, method: str, missing: Any) -> Any:
        item = self._session.item
        kind = item.kind if item else "space"
        owners = (
            (self._spaces,)
            if kind in ("space", "collection")
            else (self._sites,)
            if kind in ("site", "sites")
            else self._pages
        )
        if self._shortcuts.is_here and method.partition("_")[2] in OF_SHORTCUTS:
            return getattr(self._shortcuts.rows, method)()
        owner = next((owner for owner in owners if hasattr(owner, method)), None)
        if owner is not None:
            return getattr(owner, method)()
        command = method.replace("reason_", "command_")
        return None if any(hasattr(owner, command) for owner in owners) else missing
