"""Shortcuts of a profile: bookmarked and recently opened spaces, collections, pages and sites.

Shortcuts are stored next to the outbox, so they survive restarts and are never evicted. Each has the title of its
target at the time when it was stored, so that it can be listed offline and after the target is gone.
"""

from __future__ import annotations

import json
from contextlib import suppress
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any, Literal, cast

from presscheck.errors import StoreError
from presscheck.text.sanitize import sanitize

if TYPE_CHECKING:
    from presscheck.store.outbox import Outbox

BOOKMARKS, RECENT = "shortcuts bookmarked", "shortcuts recent"
"""The storage keys. Bookmarked change requests have keys with another prefix."""
MOST_BOOKMARKS, MOST_RECENT = 100, 15
"""Maximum number of shortcuts of each list."""
Change = Literal["added", "removed", "full"]


@dataclass(frozen=True)
class Shortcut:
    """A shortcut.

    Attributes:
        target: the kind and the ids of the target, such as `page SPACE PAGE`.
        title: the title when the shortcut was stored; untrusted text.
        where: the title of the space or collection around the target; empty at the top level.
        organization: the id of the organization.
    """

    target: str
    title: str
    where: str = ""
    organization: str = ""

    @property
    def kind(self) -> str:
        """The kind of the target: `collection`, `space`, `page` or `site`."""
        return self.target.partition(" ")[0]

    @property
    def ids(self) -> tuple[str, ...]:
        """The ids of the target; for a page, the id of its space and its own id."""
        return tuple(self.target.split(" ")[1:])


class Shortcuts:
    """The bookmarks in the order in which they were added, and the recent places, newest first.

    Another instance may change the lists at any time, so each change reads the stored list first.

    Args:
        outbox: the file that stores the lists.
    """

    def __init__(self, outbox: Outbox) -> None:
        self._outbox = outbox
        self._targets: frozenset[str] | None = None

    def bookmarks(self, organization: str) -> tuple[Shortcut, ...]:
        """Return the bookmarks in an organization, oldest first."""
        stored = self._read(BOOKMARKS)
        self._targets = frozenset(shortcut.target for shortcut in stored)
        return tuple(shortcut for shortcut in stored if shortcut.organization == organization)

    def recent(self, organization: str) -> tuple[Shortcut, ...]:
        """Return the recently opened places in an organization, newest first."""
        return tuple(shortcut for shortcut in self._read(RECENT) if shortcut.organization == organization)

    def is_bookmarked(self, target: str) -> bool:
        """Return whether a target is bookmarked."""
        if self._targets is None:
            self.bookmarks("")
        return target in (self._targets or ())

    def toggle_bookmark(self, shortcut: Shortcut) -> Change:
        """Add a bookmark, or remove the bookmark of the same target. Returns `full` if no bookmark can be added."""
        stored = self._read(BOOKMARKS)
        others = [other for other in stored if other.target != shortcut.target]
        if len(others) == len(stored) >= MOST_BOOKMARKS:
            return "full"
        is_new = len(others) == len(stored)
        self._write(BOOKMARKS, [*others, shortcut] if is_new else others)
        return "added" if is_new else "removed"

    def opened(self, shortcut: Shortcut) -> None:
        """Put a place at the top of the recent places."""
        stored = self._read(RECENT)
        if stored[:1] != [shortcut]:
            others = [other for other in stored if other.target != shortcut.target]
            with suppress(StoreError):  # on a full disk, the place opens anyway
                self._write(RECENT, [shortcut, *others][:MOST_RECENT])

    def move_bookmark(self, shortcut: Shortcut, by: int) -> None:
        """Move a bookmark down (1) or up (-1) among the bookmarks of its organization."""
        stored = self._read(BOOKMARKS)
        places = [at for at, other in enumerate(stored) if other.organization == shortcut.organization]
        at = next((at for at, place in enumerate(places) if stored[place].target == shortcut.target), None)
        if at is not None and 0 <= at + by < len(places):
            place, neighbor = places[at], places[at + by]
            stored[place], stored[neighbor] = stored[neighbor], stored[place]
            self._write(BOOKMARKS, stored)

    def remove(self, target: str, *, is_bookmark: bool) -> None:
        """Remove a bookmark, or a recent place."""
        key = BOOKMARKS if is_bookmark else RECENT
        self._write(key, [other for other in self._read(key) if other.target != target])

    def forget(self, target: str) -> None:
        """Remove a target from both lists."""
        for is_bookmark in (True, False):
            self.remove(target, is_bookmark=is_bookmark)

    def _read(self, key: str) -> list[Shortcut]:
        """Read a stored list. Invalid rows are left out."""
        try:
            stored: Any = json.loads(self._outbox.recall(key) or "[]")
        except ValueError:
            return []
        rows = cast("list[Any]", stored) if isinstance(stored, list) else []
        return [shortcut for row in rows if (shortcut := _shortcut(row))]

    def _write(self, key: str, shortcuts: list[Shortcut]) -> None:
        rows = [asdict(shortcut) for shortcut in shortcuts]
        self._outbox.remember(key, json.dumps(rows, ensure_ascii=False) if rows else None)
        if key == BOOKMARKS:
            self._targets = frozenset(shortcut.target for shortcut in shortcuts)


def _shortcut(row: Any) -> Shortcut | None:
    if not isinstance(row, dict):
        return None
    fields = cast("dict[str, Any]", row)
    texts = [str(fields.get(name, "")) for name in ("target", "title", "where", "organization")]
    return Shortcut(*texts) if " " in texts[0] else None


def change_text(shortcut: Shortcut, change: Change) -> str:
    """Describe the change of a bookmark in a sentence."""
    if change == "full":
        return f"there are {MOST_BOOKMARKS} bookmarks: remove one first"
    title = sanitize(shortcut.title) or "(no title)"
    if change == "added":
        return f"bookmarked {title}: see the top of the organization (g o)"
    return f"removed the bookmark of {title}"
