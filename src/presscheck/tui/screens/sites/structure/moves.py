"""Moves of site items, among siblings or into another section or group: shown at once, sent in order."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable
from contextlib import suppress
from dataclasses import dataclass, field
from functools import partialmethod
from typing import TYPE_CHECKING, Literal

from presscheck.api.site_structure import (
    SiteSection,
    SiteSectionGroup,
    SiteSpace,
    SortSiteStructure,
    StructureItem,
    StructurePosition,
)
from presscheck.documents.pages.page_order import Move, PageOrder
from presscheck.documents.sites.content import key_of
from presscheck.engine.publish.shown_addresses import shown_address
from presscheck.engine.publish.site_structure import kind_of, pointer, title_of
from presscheck.errors import ChecksFailed, PresscheckError
from presscheck.text.sanitize import sanitize
from presscheck.text.styled_text import Line, Span
from presscheck.tui.commands import key_for, with_keys
from presscheck.tui.screens.sites.structure.session import NO_ITEM
from presscheck.tui.ui.ask import choose, confirm
from presscheck.tui.widgets.picker import Choice

if TYPE_CHECKING:
    from presscheck.tui.screens.sites.structure.model import SiteTree
    from presscheck.tui.screens.sites.structure.session import StructureSession

TOP = " top"
"""The key of the top level in the picker. Keys of items never begin with a space."""
MOVED_SINCE = "Not moved: somebody else changed the order here just now. Look, and move again"
EMPTY = "it is empty, and the service only places an item next to another one"


@dataclass
class _Burst:
    """A series of moves.

    Attributes:
        expected: the order before the first move, updated by every sent move.
        waiting: the unsent moves.
        sending: the move whose write is running.
    """

    expected: PageOrder
    waiting: list[Move] = field(default_factory=list[Move])
    sending: Move | None = None

    @property
    def moves(self) -> tuple[Move, ...]:
        """All moves that the service may not have applied yet."""
        return (*([self.sending] if self.sending else ()), *self.waiting)

    def next_write(self, model: SiteTree, now: PageOrder) -> SortSiteStructure:
        """Return the write of the next move. Consecutive moves of the same item are merged into the last move.

        Raises:
            ChecksFailed: somebody else moved the item, or removed its new neighbor.
        """
        while len(self.waiting) > 1 and self.waiting[1].page == self.waiting[0].page:
            del self.waiting[0]
        move = self.sending = self.waiting.pop(0)
        if move.page not in now or not now.has_same_place(move.page, self.expected) or not now.is_possible(move):
            raise ChecksFailed(MOVED_SINCE)
        call = SortSiteStructure(
            **model.path, item=pointer(model.items[move.page]), position=self._position(model, now, move)
        )
        if self.expected.is_possible(move):
            self.expected.move(move)
        return call

    @staticmethod
    def _position(model: SiteTree, now: PageOrder, move: Move) -> StructurePosition:
        """Return the position of a move for the API: after a sibling, or before the first sibling.

        Raises:
            ChecksFailed: the new parent has no other items, because somebody else has changed the structure.
        """
        if move.after:
            return StructurePosition(after=pointer(model.items[move.after]))
        first = next((key for key in now.below(move.parent) if key != move.page), None)
        if first is None:
            raise ChecksFailed(MOVED_SINCE)
        return StructurePosition(before=pointer(model.items[first]))


class Moves:
    """The commands that move the item under the cursor.

    Moves are sent in sequence. Moves that wait for a running write are merged if they move the same item.

    Args:
        session: the structure of the site.
    """

    def __init__(self, session: StructureSession) -> None:
        self._session = session
        self._bursts: dict[str, _Burst] = {}
        """Running series of moves by site id."""

    def reason_move_down(self) -> str | None:
        """Return why the item cannot be moved: there is none, or the structure cannot be changed."""
        reason = self._session.reason(SortSiteStructure)
        return reason or (None if self._session.item else with_keys(NO_ITEM))

    reason_move_up = reason_move_down

    def reason_move_change(self) -> str | None:
        """Return why the item cannot be moved to another parent: there is none, or `reason_move_down` applies."""
        item = self._session.item
        if (reason := self.reason_move_down()) or item is None:
            return reason
        if self._destinations(item):
            return None
        if isinstance(item, SiteSpace):
            return "there is no other section to move the space to"
        return (
            f"there is no group to move the {kind_of(item)} to: {key_for('move_down')} "
            f"and {key_for('move_up')} move it here"
        )

    def _step(self, by: Literal[1, -1]) -> None:
        """Move the item among its siblings. The method is not async, so that moves keep the order of key presses."""
        item = self._session.item
        if item is None:
            return
        key, order = key_of(item), self._session.model.order
        siblings = order.siblings(key)
        at = siblings.index(key)
        if not 0 <= at + by < len(siblings):
            self._session.screen.notify("this is the last item here" if by > 0 else "this is the first item here")
            return
        before = at + 1 if by > 0 else at - 2
        self._move(Move(key, order.parent(key), siblings[before] if before >= 0 else None))

    command_move_down = partialmethod(_step, 1)
    command_move_up = partialmethod(_step, -1)

    def command_move_change(self) -> Awaitable[None] | None:
        """Choose a section or group, and move the item to its end."""
        item = self._session.item
        return self._move_to(item) if item else None

    async def _move_to(self, item: StructureItem) -> None:
        model = self._session.model
        choices = self._destinations(item)
        chosen = await choose(self._session.screen, f"Move {title_of(item)} to", choices)
        if not chosen:
            return
        now = await self._session.present(model, item, "moved")
        parent, key = None if chosen == TOP else chosen, key_of(now)
        target = model.items.get(parent) if parent else None
        if (parent and target is None) or not model.order.is_possible(Move(key, parent, None)):
            raise ChecksFailed("Not moved: somebody else removed the place to move to")
        others = [other for other in model.order.below(parent) if other != key]
        if not others:
            raise ChecksFailed(f"Not moved to {title_of(target) if target else 'the top level'}: {EMPTY}")
        if isinstance(now, SiteSpace) and isinstance(target, SiteSection) and not await self._confirm(now, target):
            return
        self._move(Move(key, parent, others[-1]))

    def _destinations(self, item: StructureItem) -> list[Choice]:
        """Return the sections, or the groups and the top level, that can become the parent of an item."""
        model, key = self._session.model, key_of(item)
        parent = model.order.parent(key) if key in model.order else None
        kind = SiteSection if isinstance(item, SiteSpace) else SiteSectionGroup
        choices: list[Choice] = []
        if parent is not None and kind is SiteSectionGroup:
            choices.append(Choice(TOP, "Top level", sanitize(model.site.title)))
        for other in model.in_order:
            place = key_of(other)
            if not isinstance(other, kind) or place == parent or model.order.is_within(place, key):
                continue
            above = " › ".join(title_of(model.items[one]) for one in model.ancestors(place))
            note = above if model.order.below(place) else f"{above}  empty".strip()
            choices.append(Choice(place, title_of(other), note or kind_of(other)))
        return choices

    async def _confirm(self, item: SiteSpace, target: SiteSection) -> bool:
        """Ask for confirmation, because a move changes the address of a live space.

        Returns True without asking if the site is a draft.
        """
        source = self._session.model.section_of(item)
        if not self._session.model.site.published:
            return True
        lines: list[Line] = [(Span("The site is live: the address of the space changes."),)]
        if item.urls.published:
            lines.append(
                (Span(f"Now {sanitize(shown_address(self._session.model.site, item.urls.published))}", "quiet"),)
            )
        lines.append((Span(f"Links to it break without a redirect ({key_for('go_access')}).", "waiting"),))
        if source and source.condition and source.condition != target.condition:
            lines.append((Span(f"The condition of {title_of(source)} limits it no longer.", "waiting"),))
        question = f"Move {title_of(item)} to {title_of(target)}?"
        return await confirm(self._session.screen, question, lines, "Move")

    def _move(self, move: Move) -> None:
        """Show a move in the tree, and send it."""
        model = self._session.model
        burst = self._bursts.get(model.site.id)
        if burst is None:
            burst = self._bursts[model.site.id] = _Burst(model.order.copy())
            burst.waiting.append(move)
            self._session.screen.run(self._send(model, burst))
        else:
            burst.waiting.append(move)
        model.show_moves(burst.moves)
        self._session.screen.redraw()
        self._session.tree.move_to_key(move.page, ancestors=model.ancestors(move.page))

    async def _send(self, model: SiteTree, burst: _Burst) -> None:
        engine = self._session.screen.engine
        try:
            await self._session.read_again(model)
            while burst.waiting:
                now = model.loaded.value or PageOrder({})
                await engine.write(burst.next_write(model, now)).landed()
                await self._session.read_again(model)
                burst.sending = None
        except asyncio.CancelledError:  # the screen was closed: moves that were visible are still sent
            with suppress(PresscheckError):
                while burst.waiting:
                    engine.write(burst.next_write(model, burst.expected.copy()))
            raise
        except PresscheckError:
            with suppress(PresscheckError):
                await self._session.read_again(model)
            self._end(model)
            raise
        self._end(model)

    def _end(self, model: SiteTree) -> None:
        """End a series of moves, and show the order of the service. After an error, unsent moves are dropped."""
        self._bursts.pop(model.site.id, None)
        model.show_moves(())
        self._session.screen.redraw()
