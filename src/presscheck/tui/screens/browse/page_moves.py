"""Moves of pages in the browse screen: shown at once, sent in order, and dropped if they are refused."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from presscheck.api.content import ListChangeRequestPages, Pages
from presscheck.api.content_changes import EditChangeRequestContent, UpdatePage
from presscheck.documents.pages.page_order import Move, PageOrder
from presscheck.engine.review.page_edits import MOST_CHANGES
from presscheck.errors import ChecksFailed, PresscheckError

if TYPE_CHECKING:
    from presscheck.tui.screens.browse.context import BrowseContext

Where = tuple[str, str]
"""The ids of a space and of the change request that it is edited in."""
MOVED_SINCE = "Not moved: somebody else changed the order here just now. Look, and move again"


@dataclass
class _Burst:
    """Moves of one change request that follow each other.

    Attributes:
        expected: the order that the first move started from, with the moves that were sent.
        waiting: the moves that are not sent.
        sending: the moves that are being sent.
    """

    expected: PageOrder
    waiting: list[Move] = field(default_factory=list[Move])
    sending: list[Move] = field(default_factory=list[Move])

    def next_write(self, where: Where, now: PageOrder) -> EditChangeRequestContent:
        """The write of the moves that are next, on the order that the service has; of one page the last move is enough.

        Raises:
            ChecksFailed: somebody else moved one of the pages, or removed what it goes next to.
        """
        following = [*(move.page for move in self.waiting[1:]), None]
        moves = [move for move, next_page in zip(self.waiting, following, strict=True) if move.page != next_page]
        self.sending, self.waiting = moves[:MOST_CHANGES], moves[MOST_CHANGES:]
        if any(move.page not in now or not now.has_same_place(move.page, self.expected) for move in self.sending):
            raise ChecksFailed(MOVED_SINCE)
        changes: list[UpdatePage] = []
        for move in self.sending:
            if not now.is_possible(move):
                raise ChecksFailed(MOVED_SINCE)
            changes.append(UpdatePage(page=move.page, into=move.parent, at=now.move(move)))
            if self.expected.is_possible(move):
                self.expected.move(move)
        path: dict[str, Any] = {"space_id": where[0], "change_request_id": where[1]}
        return EditChangeRequestContent(**path, changes=tuple(changes))


class PageMoves:
    """Sends moves one after another; while one is on its way, those that follow are collected in one write.

    Args:
        screen: the browse screen.
    """

    def __init__(self, screen: BrowseContext) -> None:
        self._screen = screen
        self._bursts: dict[Where, _Burst] = {}

    def move(self, where: Where, moves: Sequence[Move]) -> None:
        """Show moves in the tree now, and send them; each starts from the order that the tree shows."""
        burst = self._bursts.get(where)
        if burst is None:
            pages = self._screen.library.pages(where[0])
            burst = self._bursts[where] = _Burst(PageOrder.of(pages.pages if pages else ()))
            burst.waiting.extend(moves)
            self._screen.run(self._send(where, burst))
        else:
            burst.waiting.extend(moves)
        self._show(where, burst)

    def _show(self, where: Where, burst: _Burst | None) -> None:
        """Show what is not sent yet; the cursor stays on its page."""
        library, tree = self._screen.library, self._screen.tree_view
        library.set_moves(*where, (*burst.sending, *burst.waiting) if burst else ())
        key = tree.key
        if key and library.item(key):
            tree.move_to_key(key, ancestors=library.ancestors(key))
        else:
            tree.show()
        self._screen.refresh_status_bars()

    async def _send(self, where: Where, burst: _Burst) -> None:
        read = ListChangeRequestPages(space_id=where[0], change_request_id=where[1])
        engine = self._screen.engine
        try:
            pages = await engine.read(read)
            while burst.waiting:
                self._take(where, pages)
                await engine.write(burst.next_write(where, PageOrder.of(pages.pages))).landed()
                pages = await engine.read(read)
                burst.sending = []
            self._take(where, pages)
        except asyncio.CancelledError:  # the screen was closed: what it showed is sent all the same
            with suppress(PresscheckError):
                while burst.waiting:
                    engine.write(burst.next_write(where, burst.expected.copy()))
            raise
        except PresscheckError:
            self._end(where)
            raise
        self._end(where)

    def _end(self, where: Where) -> None:
        """Show what the service has: all was sent, or the rest is dropped because something was refused."""
        self._bursts.pop(where, None)
        self._show(where, None)

    def _take(self, where: Where, pages: Pages) -> None:
        request = self._screen.library.requests.get(where[0])
        if request and request.id == where[1]:
            self._screen.library.set_pages(where[0], pages)
