"""A tree widget: a list of the nodes whose parents are expanded; children are requested when a node is expanded.

Nodes are identified by keys, so new data changes neither which nodes are expanded nor the node under the cursor.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from textual.message import Message
from typing_extensions import override

from presscheck.text.styled_text import Line, Span, cut, pad, width
from presscheck.tui.widgets.line_view import LineView

INDENT = 2


class Node(NamedTuple):
    """A node: its key, its label, a note at the right end, and whether it can be expanded.

    `brief_note` stands in place of the note where the label would be cut next to that.
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


class Tree(LineView):
    """Shows a tree of nodes.

    Args:
        children: returns the child nodes of a key, and the root nodes for None; called often.
        on_highlight: called when the cursor moved to another node.
        can_mark: whether the node with a key can be marked; without it none can.
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

    def __init__(
        self,
        children: Callable[[str | None], Sequence[Node]],
        *,
        on_highlight: Callable[[], None] = lambda: None,
        can_mark: Callable[[str], bool] = lambda _: False,
        id: str | None = None,  # noqa: A002
        classes: str | None = None,
    ) -> None:
        super().__init__(id=id, classes=classes)
        self.children_of, self.can_mark, self._on_highlight = children, can_mark, on_highlight
        self.expanded: set[str] = set()
        self.marked: set[str] = set()
        """The keys of the marked nodes; they may be gone."""
        self._range_start: str | None = None
        self._rows: list[_TreeRow] = []
        self._target_key: str | None = None

    @override
    @property
    def count(self) -> int:
        return len(self._rows)

    @property
    def key(self) -> str | None:
        """The key of the node under the cursor."""
        return self._rows[self.cursor].node.key if self.cursor < len(self._rows) else None

    @override
    def item(self, number: int, part: int, columns: int) -> Line:
        """A node: expand sign, label, and the note at the right end."""
        node, level, _ = self._rows[number]
        glyph = ("▾ " if node.key in self.expanded else "▸ ") if node.expandable else "  "
        sign: Line = (Span(" " * INDENT * level + glyph, "quiet"),)
        if node.key in self.marked:
            sign = (Span(sign[0].text[:-1], "quiet"), Span("•", "accent"))
        head = (*sign, *node.label)
        if not node.note:
            return head
        is_brief = bool(node.brief_note) and width(head) + 1 + width(node.note) > columns
        note = cut(node.brief_note if is_brief else node.note, columns // 2)
        room = max(0, columns - width(note))
        return (*pad(cut(head, room - 1), room), *note)

    def show(self, *, cursor: str | None = None) -> None:
        """Read all nodes again; the cursor stays on its node, or goes to the key `cursor`."""
        target, parent = cursor or self._target_key or self.key, self._parent_key(self.cursor)
        self._rows = self._flatten(None, 0, None, [])
        if self._parent_key(self.cursor) != parent:
            self.cursor -= 1  # the node is gone and was the last child: stay below the same parent
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

    def mark(self) -> bool:
        """Mark the node under the cursor, or remove its mark, and move on; returns whether it can be marked."""
        if self.key is None or not self.can_mark(self.key):
            return False
        self.marked ^= {self.key}
        self.redraw()
        self.move(1)
        return True

    def mark_range(self) -> bool:
        """Start a range at the cursor; the second call marks all nodes from there to the cursor.

        Returns:
            Whether a range was started.
        """
        start = self._find(self._range_start)
        self._range_start = self.key if start is None else None
        if start is None:
            return True
        first, last = sorted((start, self.cursor))
        self._toggle_marks(range(first, last + 1))
        return False

    def mark_visible(self) -> None:
        """Mark all visible nodes; if all are marked, remove their marks."""
        self._toggle_marks(self.visible_range)

    def clear_marks(self) -> bool:
        """Remove all marks; returns whether there were any."""
        had_any = bool(self.marked) or self._range_start is not None
        self.marked.clear()
        self._range_start = None
        self.redraw()
        return had_any

    def _toggle_marks(self, numbers: range) -> None:
        keys = {self._rows[number].node.key for number in numbers}
        keys = {key for key in keys if self.can_mark(key)}
        self.marked = self.marked - keys if keys <= self.marked else self.marked | keys
        self.redraw()

    @override
    def choose(self) -> None:
        if self.key is not None:
            self.post_message(self.NodeSelected(self, self.key))

    @override
    def is_fold_mark(self, number: int, part: int, column: int) -> bool:
        """Whether a cell is in the expand sign of a node, or the blank behind it."""
        node, level, _ = self._rows[number]
        return node.expandable and 0 <= column - INDENT * level < INDENT

    @override
    def fold(self) -> None:
        self.toggle()

    def toggle(self) -> None:
        """Expand the node under the cursor, or collapse it."""
        if self.key in self.expanded:
            self.collapse_node()
        else:
            self.expand_node()

    def expand_node(self) -> bool:
        """Expand the node under the cursor, or go to its first child; returns whether it can be expanded."""
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
        """Collapse the node under the cursor, or go to its parent; returns whether anything changed."""
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
        """Tell the screen at once, so that one key draws its status bars once."""
        self._target_key = None
        if self.key is not None:
            self._on_highlight()

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
