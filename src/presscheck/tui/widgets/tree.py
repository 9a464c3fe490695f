"""A tree widget. It shows nodes whose parents are expanded, and posts a message when a node is expanded.

Nodes are identified by keys, so expanded nodes, the cursor and a dragged node survive new data.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, NamedTuple

from textual import events
from textual.message import Message
from typing_extensions import override

from presscheck.text.styled_text import Line, Span, cut, pad, width
from presscheck.tui.widgets.line_view import LineView
from presscheck.tui.widgets.marks import Marks

if TYPE_CHECKING:
    from textual.timer import Timer

INDENT = 2
Side = Literal["before", "after", "inside"]
"""Where a dragged node is dropped relative to another node. `inside` makes it the last child."""
DROP_LINES: dict[Side, str] = {"before": "▔", "after": "▁", "inside": "─"}
"""The characters of the line that shows where a dragged node would be dropped."""
INSIDE_COLUMNS = 4
"""Number of cells to move the pointer to the right to drop a node inside another."""
EDGE_SECONDS = 0.1
"""Seconds per line while a drag at an edge scrolls."""


class Node(NamedTuple):
    """A node: its key, its label, a note on the right, and whether it can be expanded.

    `brief_note` replaces the note if the label and the full note do not fit in the row.
    """

    key: str
    label: Line
    note: Line = ()
    expandable: bool = False
    brief_note: Line = ()


class _TreeRow(NamedTuple):
    """A visible node with its depth and the row of its parent."""

    node: Node
    level: int
    parent: int | None


class Drop(NamedTuple):
    """A place to drop a dragged node: the key of another node, and the side of that node."""

    target: str
    side: Side


class Tree(LineView):
    """A tree of nodes with a cursor.

    Nodes that can be marked can be dragged. A node that is dragged upwards is dropped before the node under the
    pointer. A node that is dragged downwards is dropped after it, or before its first child if it is expanded. If the
    pointer also moves to the right, the node is dropped inside the node under the pointer.

    Args:
        children: returns the child nodes of a key, or the root nodes for None. It is called often, so it must be fast.
        on_highlight: handles a move of the cursor to another node.
        can_mark: returns whether the node with a key can be marked; by default no node can.
        can_drop: returns whether the node with a key can be dropped at a place. Without it, dragging selects text.
        id: the widget's id.
        classes: the widget's classes.
    """

    @dataclass
    class NodeSelected(Message):
        """Posted when a node is opened."""

        tree: Tree
        key: str

    @dataclass
    class NodeExpanded(Message):
        """Posted when a node was expanded, so that the screen can load its children."""

        tree: Tree
        key: str

    @dataclass
    class NodeDropped(Message):
        """Posted when a node was dropped at another place; the cursor is on the node."""

        tree: Tree
        key: str
        drop: Drop

    def __init__(
        self,
        children: Callable[[str | None], Sequence[Node]],
        *,
        on_highlight: Callable[[], None] = lambda: None,
        can_mark: Callable[[str], bool] = lambda _: False,
        can_drop: Callable[[str, Drop], bool] | None = None,
        id: str | None = None,  # noqa: A002
        classes: str | None = None,
    ) -> None:
        super().__init__(id=id, classes=classes)
        self.children_of, self.can_mark, self._on_highlight = children, can_mark, on_highlight
        self.expanded: set[str] = set()
        self.marks = Marks[str](self, self._key_at, lambda key, _: self._find(key), can_mark)
        self._can_drop = can_drop
        self._pressed: tuple[str, int, int] | None = None
        """The key, line and column of the node on which the mouse button is held down."""
        self._pointer: tuple[int, int] = (0, 0)
        """The line of the pointer in the widget during a drag, and its column."""
        self._drop: Drop | None = None
        self._edge_timer: Timer | None = None
        self._rows: list[_TreeRow] = []
        self._target_key: str | None = None

    @override
    @property
    def count(self) -> int:
        return len(self._rows)

    @property
    def key(self) -> str | None:
        """The key of the node under the cursor."""
        return self._key_at(self.cursor)

    @override
    def item(self, number: int, part: int, columns: int) -> Line:
        """Return the row of a node: expand sign, label, and the note on the right."""
        node, level, _ = self._rows[number]
        glyph = ("▾ " if node.key in self.expanded else "▸ ") if node.expandable else "  "
        sign: Line = (Span(" " * INDENT * level + glyph, "quiet"),)
        if node.key in self.marks.keys:
            sign = (Span(sign[0].text[:-1], "quiet"), Span("•", "accent"))
        head = (*sign, *node.label)
        if self._drop and node.key == self._drop.target:
            side = self._drop.side
            start = (*cut(head, max(0, columns - len(side) - 6)), Span(" "))
            rule = DROP_LINES[side] * max(0, columns - width(start) - len(side) - 2)
            return (*start, Span(f"{rule} {side} ", "accent"))
        if not node.note:
            return head
        is_brief = bool(node.brief_note) and width(head) + 1 + width(node.note) > columns
        note = cut(node.brief_note if is_brief else node.note, columns // 2)
        room = max(0, columns - width(note))
        return (*pad(cut(head, room - 1), room), *note)

    def show(self, *, cursor: str | None = None) -> None:
        """Read all nodes again. The cursor stays on its node, or moves to the node with the key `cursor`."""
        target, parent = cursor or self._target_key or self.key, self._parent_key(self.cursor)
        self._rows = self._flatten(None, 0, None, [])
        if self._parent_key(self.cursor) != parent:
            self.cursor -= 1  # the last child of a node was removed: stay below the same parent
        self.cursor = max(0, min(self.cursor, self.count - 1))
        row = self._find(target)
        if row is not None:
            self.cursor = row
            self._target_key = None
        elif cursor:
            self._target_key = cursor
        self.top = self._top_with_cursor(self.top)
        self.redraw()

    def move_to_key(self, key: str, *, ancestors: Sequence[str] = ()) -> None:
        """Expand the ancestors of a node, and move the cursor to it as soon as it exists."""
        collapsed = [parent for parent in ancestors if parent not in self.expanded]
        self.expanded.update(ancestors)
        before = self.key
        self.show(cursor=key)
        for parent in collapsed:
            self.post_message(self.NodeExpanded(self, parent))
        if self.key != before:
            self.cursor_moved()

    @override
    def choose(self) -> None:
        if self.key is not None:
            self.post_message(self.NodeSelected(self, self.key))

    @override
    def is_fold_mark(self, number: int, part: int, column: int) -> bool:
        """Return whether a cell is in the expand sign of a node, or the blank after the sign."""
        node, level, _ = self._rows[number]
        return node.expandable and 0 <= column - INDENT * level < INDENT

    @override
    def fold(self) -> None:
        self.toggle()

    @property
    def is_dragging(self) -> bool:
        """Whether a node is being dragged."""
        return self._edge_timer is not None

    @override
    def on_mouse_down(self, event: events.MouseDown) -> None:
        # Textual calls the handlers of the base class, too, unless the default is prevented
        column, line = self._place_of(event)
        self._pressed = None
        if self._can_drop and event.button == 1 and 0 <= line < self.count:
            key = self._rows[line].node.key
            self._pressed = (key, line, column) if self.can_mark(key) else None

    @override
    def on_mouse_move(self, event: events.MouseMove) -> None:
        """Drag the node on which the button was pressed; elsewhere, the base class selects text."""
        if self._pressed is None or event.button != 1:
            return
        event.prevent_default()
        column, line = self._place_of(event)
        key, pressed_line, _ = self._pressed
        if not self.is_dragging:
            row = self._find(key)
            if line == pressed_line or row is None:
                return
            self._has_dragged = True  # so that releasing the button is not a click
            self._edge_timer = self.set_interval(EDGE_SECONDS, self._scroll_at_edge)
            self.move_to(row)
        self._pointer = (line - self.top, column)
        self._aim()

    @override
    def on_mouse_up(self) -> None:
        drop, pressed = self._drop, self._pressed
        self._end_drag()
        if drop and pressed:
            self.post_message(self.NodeDropped(self, pressed[0], drop))

    @override
    def on_mouse_release(self) -> None:
        """End the drag, also if another screen was opened during the drag."""
        self._end_drag()

    def on_key(self, event: events.Key) -> None:
        """End a drag with `esc`: the node stays where it is."""
        if event.key == "escape" and self.is_dragging:
            event.stop()
            event.prevent_default()
            self._end_drag()
            self.release_mouse()

    def _aim(self) -> None:
        """Update the place where the dragged node would be dropped, and the line that shows the place."""
        before, self._drop = self._drop, self._drop_at_pointer()
        if self._drop != before:
            self.redraw()

    def _drop_at_pointer(self) -> Drop | None:
        if self._pressed is None or self._can_drop is None:
            return None
        key, _, start_column = self._pressed
        start = self._find(key)
        y, column = self._pointer
        number = max(0, min(self.top + y, self.count - 1))
        if start is None or number == start:
            return None
        target = self._rows[number].node.key
        is_open = number + 1 < self.count and self._rows[number + 1].parent == number
        beside = Drop(target, "before" if number < start else "after")
        if is_open and number > start:
            beside = Drop(self._rows[number + 1].node.key, "before")  # an expanded node's first child is below it
        inside = Drop(target, "inside")
        is_right = column - start_column >= INSIDE_COLUMNS
        drops = (inside, beside) if is_right or not self.can_mark(target) else (beside,)
        return next((drop for drop in drops if self._can_drop(key, drop)), None)

    def _scroll_at_edge(self) -> None:
        """Scroll by a line while the pointer is in the first or last visible line, or beyond."""
        y, _ = self._pointer
        self.scroll_lines(-1 if y <= 0 else 1 if y >= self.size.height - 1 else 0)
        self._aim()

    def _end_drag(self) -> None:
        if self._edge_timer:
            self._edge_timer.stop()
        has_line = self._drop is not None
        self._edge_timer = self._pressed = self._drop = None
        if has_line:
            self.redraw()

    def toggle(self) -> None:
        """Expand the node under the cursor, or collapse it."""
        if self.key in self.expanded:
            self.collapse_node()
        else:
            self.expand_node()

    def expand_node(self) -> bool:
        """Expand the node under the cursor, or go to its first child. Return whether the node can be expanded."""
        if not self._rows or not self._rows[self.cursor].node.expandable:
            return False
        key = self._rows[self.cursor].node.key
        if key in self.expanded:
            if self.cursor + 1 < self.count and self._rows[self.cursor + 1].parent == self.cursor:
                self.move(1)
            return True
        self.expanded.add(key)
        self.show()
        self.post_message(self.NodeExpanded(self, key))
        return True

    def collapse_node(self) -> bool:
        """Collapse the node under the cursor, or go to its parent. Return whether anything changed."""
        if not self._rows:
            return False
        node, _, parent = self._rows[self.cursor]
        if node.expandable and node.key in self.expanded:
            self.expanded.discard(node.key)
            self.show()
            return True
        if parent is None:
            return False
        self.move_to(parent)
        return True

    @override
    def cursor_moved(self) -> None:
        """Call `on_highlight` directly, not by a message, so that a key press draws the status bars only once."""
        self._target_key = None
        if self.key is not None:
            self._on_highlight()

    def _key_at(self, number: int) -> str | None:
        return self._rows[number].node.key if number < len(self._rows) else None

    def _parent_key(self, number: int) -> str | None:
        parent = self._rows[number].parent if number < len(self._rows) else None
        return None if parent is None else self._rows[parent].node.key

    def _find(self, key: str | None) -> int | None:
        return next((number for number, row in enumerate(self._rows) if row.node.key == key), None)

    def _flatten(self, key: str | None, level: int, parent: int | None, into: list[_TreeRow]) -> list[_TreeRow]:
        for node in self.children_of(key):
            number = len(into)
            into.append(_TreeRow(node, level, parent))
            if node.expandable and node.key in self.expanded:
                self._flatten(node.key, level + 1, number, into)
        return into
