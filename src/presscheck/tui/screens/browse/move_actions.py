"""Moves of pages in the browse screen (among siblings, in, out, elsewhere), copies of pages, and marks.

Moves are shown at once and sent in order. Moves that the service refuses are dropped.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from functools import partial, partialmethod
from typing import TYPE_CHECKING, Any, Literal

from presscheck.api.comments import Document
from presscheck.api.content import GetChangeRequestPage, ListChangeRequestPages, Pages, RevisionPage
from presscheck.api.content_changes import EditChangeRequestContent, InsertPage, UpdatePage
from presscheck.documents.pages.page_order import Move, PageOrder
from presscheck.documents.pages.tree import flatten
from presscheck.engine.review.page_edits import MOST_CHANGES
from presscheck.engine.writes.tree_merge import base_of, must_queue
from presscheck.errors import ChecksFailed, PresscheckError
from presscheck.text.phrases import count
from presscheck.text.sanitize import sanitize
from presscheck.tui.commands import key_for
from presscheck.tui.screens.browse.page_tree import page_key
from presscheck.tui.screens.page.editor import change_pages
from presscheck.tui.ui.ask import choose
from presscheck.tui.widgets.picker import Choice

if TYPE_CHECKING:
    from presscheck.api.spaces import Space
    from presscheck.tui.screens.browse.edit_actions import EditActions, Path
    from presscheck.tui.screens.browse.session import ContentTree
    from presscheck.tui.widgets.tree import Drop, Side

Where = tuple[str, str]
"""The ids of a space and of a change request in it."""
MOVED_SINCE = "Not moved: somebody else changed the order here just now. Look, and move again"
Way = Literal["down", "up", "in", "out"]
Plan = Callable[[PageOrder, Mapping[str, RevisionPage], Sequence[str]], "list[Move] | str"]
"""Returns the moves of pages, or the reason why there are none."""
TOP = " top"
"""The key of the top level in the picker; ids of pages contain no blanks."""
COPIED = ("icon", "emoji", "description", "hidden", "no_index", "no_robots_index", "condition")
"""The details that are copied with a page."""
TITLE = 256
"""Maximum number of characters in the title of a page."""


@dataclass
class _Burst:
    """Moves in the same change request in quick succession.

    Attributes:
        expected: the order of pages before the first move, with the sent moves applied.
        waiting: moves that are not sent yet.
        sending: moves that are being sent.
    """

    expected: PageOrder
    waiting: list[Move] = field(default_factory=list[Move])
    sending: list[Move] = field(default_factory=list[Move])

    def next_write(self, where: Where, now: PageOrder) -> EditChangeRequestContent:
        """Return a write of the next moves; of successive moves of the same page, only the last is sent.

        Args:
            where: the ids of space and change request.
            now: the order of pages on the service. The moves are applied to it.
        Raises:
            ChecksFailed: another user moved one of the pages, or made one of the moves impossible.
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
    """The unsent moves of pages, which are sent in order.

    Moves that are made while a write is running are collected for the next write.

    Args:
        session: the tree and the page pane.
    """

    def __init__(self, session: ContentTree) -> None:
        self._session, self._screen = session, session.screen
        self._bursts: dict[Where, _Burst] = {}

    def move(self, where: Where, moves: Sequence[Move]) -> None:
        """Show moves in the tree, and send them. Each move starts from the displayed order."""
        burst = self._bursts.get(where)
        if burst is None:
            pages = self._session.library.pages(where[0])
            burst = self._bursts[where] = _Burst(PageOrder.of(pages.pages if pages else ()))
            burst.waiting.extend(moves)
            self._screen.run(self._send(where, burst))
        else:
            burst.waiting.extend(moves)
        self._show(where, burst)

    def _show(self, where: Where, burst: _Burst | None) -> None:
        """Show the unsent moves in the tree; the cursor stays on its page."""
        library, tree = self._session.library, self._session.tree_view
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
                call = burst.next_write(where, PageOrder.of(pages.pages))
                await change_pages(self._screen, call.model_dump(include={*call.path_fields()}), call.changes)
                pages = await engine.read(read)
                burst.sending = []
            self._take(where, pages)
        except asyncio.CancelledError:  # the screen was closed: the moves that it showed are sent anyway
            with suppress(PresscheckError):
                path = read.model_dump(include={*read.path_fields()})
                while burst.waiting:
                    before, call = burst.expected.copy(), burst.next_write(where, burst.expected.copy())
                    base = base_of(before, {}, call.changes) if must_queue(engine, path) else None
                    engine.write(call, base=base)
            raise
        except PresscheckError:
            self._end(where)
            raise
        self._end(where)

    def _end(self, where: Where) -> None:
        """Show the order on the service: all moves were sent, or the remaining moves were dropped."""
        self._bursts.pop(where, None)
        self._show(where, None)

    def _take(self, where: Where, pages: Pages) -> None:
        request = self._session.library.requests.get(where[0])
        if request and request.id == where[1]:
            self._session.library.set_pages(where[0], pages)


class MoveActions:
    """The commands that move, copy and mark pages.

    Args:
        session: the tree and the page pane.
        edits: provides the change request and the pages of a command.
    """

    def __init__(self, session: ContentTree, edits: EditActions) -> None:
        self._session, self._screen = session, session.screen
        self._edits = edits
        self._moves = PageMoves(session)

    def reason_move_down(self) -> str | None:
        """Return why the marked pages or, without marks, the page under the cursor cannot be moved."""
        return self._edits.reason_pages()

    reason_move_up = reason_indent = reason_outdent = reason_move_change = reason_move_down

    def reason_copy_change(self) -> str | None:
        """Return why the page under the cursor cannot be copied: it has no text, or the space cannot be edited now."""
        return self._edits.reason_copying()

    def _shift(self, way: Way) -> Awaitable[None] | None:
        """Move the marked pages or the page under the cursor.

        If the space is shown in a change request, the move starts immediately, so that key presses act in order.
        """
        return self._start(_PLANS[way])

    command_move_down = partialmethod(_shift, "down")
    command_move_up = partialmethod(_shift, "up")
    command_indent = partialmethod(_shift, "in")
    command_outdent = partialmethod(_shift, "out")

    def command_move_change(self) -> Awaitable[None] | None:
        """Choose a page, a group or the top level, and move the pages there."""
        space, pages = self._edits.targets()
        return self._move_to(space, pages) if space else None

    def command_copy_change(self) -> Awaitable[None] | None:
        """Add a copy of the page and its subpages after the page."""
        item = self._session.item
        return self._duplicate(item.space, item.page.id) if item and item.space and item.page else None

    def command_mark(self) -> None:
        """Toggle the mark of the page."""
        self._screen.notify(self._marks() if self._session.tree_view.marks.toggle() else "only pages can be marked")

    def command_mark_range(self) -> None:
        """Start or end a range of marked pages."""
        is_first = self._session.tree_view.marks.toggle_range()
        self._screen.notify(f"a range starts here: {key_for('mark_range')} ends it" if is_first else self._marks())

    def command_mark_visible(self) -> None:
        """Mark all visible pages, or remove their marks if all are marked."""
        self._session.tree_view.marks.toggle_visible()
        self._screen.notify(self._marks())

    def can_drop(self, key: str, drop: Drop) -> bool:
        """Return whether a dragged page can move to a place. If the page is marked, all marked pages are dragged."""
        library, marked = self._session.library, self._session.tree_view.marks.keys
        items = [item for moved in (marked if key in marked else (key,)) if (item := library.item(moved))]
        target = library.item(drop.target)
        space = target.space if target else None
        known = library.pages(space.id) if space else None
        if target is None or known is None or any(item.space != space for item in items):
            return False
        order, by_id = PageOrder.of(known.pages), {page.id: page for page in flatten(known.pages)}
        pages = order.outermost(item.page.id for item in items if item.page)
        moves = _beside(order, by_id, pages, target.page.id if target.page else None, drop.side)
        return not isinstance(moves, str)

    def drop(self, key: str, drop: Drop) -> Awaitable[None] | None:
        """Move the dragged page to a place, as the keys do. If the page is marked, move all marked pages."""
        tree, target = self._session.tree_view, self._session.library.item(drop.target)
        if key not in tree.marks.keys:
            tree.marks.clear()
        if reason := self._edits.reason_pages():
            self._screen.notify(reason)
        elif target:
            page = target.page.id if target.page else None
            return self._start(partial(_beside, target=page, side=drop.side))
        return None

    def _marks(self) -> str:
        marked = len(self._session.tree_view.marks.keys)
        return (
            f"{count(marked, 'page')} marked: {key_for('move_down')} {key_for('move_up')} "
            f"{key_for('outdent')} {key_for('indent')} move them"
            if marked
            else "no page is marked"
        )

    def _start(self, plan: Plan) -> Awaitable[None] | None:
        space, pages = self._edits.targets()
        if space is None:
            return None
        if space.id in self._session.library.requests and space.edit_mode != "locked":
            self._apply(space, pages, plan)
            return None
        return self._apply_after_choice(space, pages, plan)

    async def _apply_after_choice(self, space: Space, pages: Sequence[str], plan: Plan) -> None:
        if await self._ready(space):
            self._apply(space, pages, plan)

    async def _ready(self, space: Space) -> Path | None:
        """Return the result of `EditActions.path`. If the change request was just chosen, load its pages first."""
        is_chosen = space.id in self._session.library.requests
        path = await self._edits.path(space)
        if path and not is_chosen:
            self._session.library.set_pages(space.id, await self._screen.engine.read(ListChangeRequestPages(**path)))
            self._session.tree_view.show()
        return path

    def _apply(self, space: Space, pages: Sequence[str], plan: Plan) -> None:
        known, request = self._session.library.pages(space.id), self._session.library.requests.get(space.id)
        if known is None or request is None:
            self._screen.notify("the pages are not loaded yet")
            return
        by_id = {page.id: page for page in flatten(known.pages)}
        order = PageOrder.of(known.pages)
        targets = order.outermost(pages)
        if not targets:
            self._screen.notify(f"#{request.number} does not have this page")
            return
        moves = plan(order, by_id, targets)
        if isinstance(moves, str):
            self._screen.notify(moves)
            return
        tree = self._session.tree_view
        tree.expanded.update(page_key(space.id, move.parent) for move in moves if move.parent)
        self._moves.move((space.id, request.id), moves)

    async def _move_to(self, space: Space, pages: Sequence[str]) -> None:
        if not await self._ready(space):
            return
        known = self._session.library.pages(space.id)
        if known is None:
            return  # the change request was left in the meantime
        order, by_id = PageOrder.of(known.pages), {page.id: page for page in flatten(known.pages)}
        title = sanitize(by_id[pages[0]].title) if len(pages) == 1 and pages[0] in by_id else count(len(pages), "page")
        choices = [Choice(TOP, "Top level", sanitize(space.title)), *_destinations(order, by_id, pages)]
        chosen = await choose(self._screen, f"Move {title} to", choices)
        if chosen:
            parent = None if chosen == TOP else chosen
            self._apply(space, pages, lambda order, by_id, targets: _into(order, by_id, targets, parent))

    async def _duplicate(self, space: Space, page_id: str) -> None:
        path = await self._ready(space)
        if path is None:
            return
        pages = (await self._screen.engine.read(ListChangeRequestPages(**path))).pages
        page = next((page for page in flatten(pages) if page.id == page_id), None)
        if page is None:
            raise ChecksFailed("Not copied: this change request does not have the page")
        copied = [one for one in flatten((page,)) if one.type == "document"]
        if len(copied) > MOST_CHANGES:
            raise ChecksFailed(f"Not copied: {count(len(copied), 'page')}, and at most {MOST_CHANGES} go at once")
        self._screen.notify(f"copying {count(len(copied), 'page')} …")
        changes = [await self._copy(path, page) for page in copied]
        order = PageOrder.of(pages)
        refs = {page.id: change.ref for page, change in zip(copied, changes, strict=True)}
        title = f"{page.title[: TITLE - 7]} (copy)"
        place: dict[str, Any] = {"into": order.parent(page.id), "at": order.siblings(page.id).index(page.id) + 1}
        placed = [
            change.model_copy(update={"into": refs[order.parent(one.id) or ""]})
            for one, change in zip(copied[1:], changes[1:], strict=True)
        ]
        given = {name: value for name, value in place.items() if value is not None}
        first = InsertPage.model_validate(changes[0].model_dump(exclude_unset=True) | given | {"title": title})
        call = EditChangeRequestContent(**path, changes=(first, *placed), compat=False)
        answer = await self._screen.engine.write(call).landed()
        left = sum(1 for _ in flatten((page,))) - len(copied)
        self._screen.notify(f"copied{f', without {left} of its links' if left else ''}")
        created = answer.changes[0].page_id if answer and answer.changes else None
        if created:
            self._session.tree_view.move_to_key(page_key(space.id, created))

    async def _copy(self, path: Path, page: RevisionPage) -> InsertPage:
        """Return an insertion of a copy of a page, with its text and details. The `ref` contains the id of the page."""
        call = GetChangeRequestPage(**path, page_id=page.id, format="document")
        text = await self._screen.engine.read(call)
        details = {name: getattr(page, name) for name in COPIED if getattr(page, name)}
        document = Document(document=text.document) if text.document else Document(markdown="")
        return InsertPage(title=page.title, document=document, ref=f"copy-{page.id}", **details)


def _destinations(order: PageOrder, by_id: Mapping[str, RevisionPage], pages: Iterable[str]) -> list[Choice]:
    """Return choices of pages and groups to move pages into: all except the pages themselves and their subpages."""
    moved = {*pages}
    choices: list[Choice] = []
    for page_id in order.every():
        page = by_id[page_id]
        if page.type not in ("document", "group") or any(order.is_within(page_id, one) for one in moved):
            continue
        above: list[str] = []
        parent = order.parent(page_id)
        while parent is not None:
            above.insert(0, sanitize(by_id[parent].title))
            parent = order.parent(parent)
        note = " › ".join(above) or ("group" if page.type == "group" else "")
        choices.append(Choice(page_id, sanitize(page.title) or "(no title)", note))
    return choices


def _down(order: PageOrder, by_id: Mapping[str, RevisionPage], pages: Sequence[str]) -> list[Move] | str:
    moves: list[Move] = []
    for page in reversed(pages):
        siblings = order.siblings(page)
        at = siblings.index(page) + 1
        if at < len(siblings) and siblings[at] not in pages:
            moves.append(Move(page, order.parent(page), siblings[at]))
            order.move(moves[-1])
    return moves or "this is the last page here"


def _up(order: PageOrder, by_id: Mapping[str, RevisionPage], pages: Sequence[str]) -> list[Move] | str:
    moves: list[Move] = []
    for page in pages:
        siblings = order.siblings(page)
        at = siblings.index(page)
        if at and siblings[at - 1] not in pages:
            moves.append(Move(page, order.parent(page), siblings[at - 2] if at > 1 else None))
            order.move(moves[-1])
    return moves or "this is the first page here"


def _indent(order: PageOrder, by_id: Mapping[str, RevisionPage], pages: Sequence[str]) -> list[Move] | str:
    moves: list[Move] = []
    for page in pages:
        siblings = order.siblings(page)
        at = siblings.index(page)
        above = siblings[at - 1] if at else None
        if by_id[page].type == "group":
            return "a group stays at the top level"
        if above is None or above in pages:
            continue
        if by_id[above].type not in ("document", "group"):
            return f"{sanitize(by_id[above].title)} cannot have subpages: it is a link"
        moves.append(Move(page, above, next(reversed(order.below(above)), None)))
        order.move(moves[-1])
    return moves or "there is no page before it to go into"


def _outdent(order: PageOrder, by_id: Mapping[str, RevisionPage], pages: Sequence[str]) -> list[Move] | str:
    moves: list[Move] = []
    for page in reversed(pages):
        parent = order.parent(page)
        if parent is not None and parent not in pages:
            moves.append(Move(page, order.parent(parent), parent))
            order.move(moves[-1])
    return moves or "it is at the top level already"


def _into(
    order: PageOrder, by_id: Mapping[str, RevisionPage], pages: Sequence[str], parent: str | None
) -> list[Move] | str:
    if reason := _parent_reason(by_id, pages, parent):
        return reason
    moves: list[Move] = []
    for page in pages:
        last = next((child for child in reversed(order.below(parent)) if child != page), None)
        move = Move(page, parent, last)
        if not order.is_possible(move):
            return "the place to move to is gone"
        moves.append(move)
        order.move(move)
    return moves


def _beside(
    order: PageOrder, by_id: Mapping[str, RevisionPage], pages: Sequence[str], target: str | None, side: Side
) -> list[Move] | str:
    """Return the moves of pages to a side of a target, or why that is impossible. None as target is the top level."""
    if target is not None and target not in order:
        return "the place to move to is gone"
    parent = target if target is None or side == "inside" else order.parent(target)
    if reason := _parent_reason(by_id, pages, parent):
        return reason
    before = [*order.below(parent)]
    others = [page for page in before if page not in pages]
    if parent != target and target not in others:
        return "it is here already"
    at = len(others) if target is None or parent == target else others.index(target) + (side == "after")
    after = others[at - 1] if at else None
    moves: list[Move] = []
    for page in pages:
        moves.append(Move(page, parent, after))
        if not order.is_possible(moves[-1]):
            return "a page cannot move into itself"
        order.move(moves[-1])
        after = page
    return moves if order.below(parent) != before else "it is here already"


def _parent_reason(by_id: Mapping[str, RevisionPage], pages: Sequence[str], parent: str | None) -> str | None:
    """Return why pages cannot move below a parent, where None is the top level."""
    if parent is None:
        return None
    if any(by_id[page].type == "group" for page in pages):
        return "a group stays at the top level"
    if by_id[parent].type not in ("document", "group"):
        return f"{sanitize(by_id[parent].title)} cannot have subpages"
    return None


_PLANS: Mapping[Way, Plan] = {"down": _down, "up": _up, "in": _indent, "out": _outdent}
