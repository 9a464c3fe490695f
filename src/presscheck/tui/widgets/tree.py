"""A tree as a list of what is unfolded: children are asked for when a node is opened, and open nodes are remembered.

What is open is known by key, so that fresh data changes no fold and moves the cursor from no node that is still there.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from textual.message import Message

from presscheck.text.styled_text import Line, Span, cut, pad, width
from presscheck.tui.theme import StyleLookup
from presscheck.tui.widgets.line_view import LineView

INDENT = 2


class Node(NamedTuple):
    """A node: what it is, what it says, what stands at its right end, and whether it can be unfolded."""

    key: str
    label: Line
    note: Line = ()
    expandable: bool = False


class _Placed(NamedTuple):
    node: Node
    level: int
    parent: int | None


class Tree(LineView):
    """Nodes that fold.

    Args:
        children: the nodes below a key, below None the first ones; may be asked often.
        look: the theme.
        id: the widget's id.
        classes: the widget's classes.
    """

    @dataclass
    class NodePointed(Message):
        """The cursor stands on another node."""

        tree: Tree
        key: str

    @dataclass
    class NodeChosen(Message):
        """A node was opened."""

        tree: Tree
        key: str

    @dataclass
    class NodeUnfolded(Message):
        """The children of a node are seen now; who has to fetch them does it here."""

        tree: Tree
        key: str

    def __init__(
        self,
        children: Callable[[str | None], Sequence[Node]],
        look: StyleLookup,
        *,
        id: str | None = None,  # noqa: A002
        classes: str | None = None,
    ) -> None:
        super().__init__(look, id=id, classes=classes)
        self.children_of = children
        self.open: set[str] = set()
        self._placed: list[_Placed] = []
        self._wanted: str | None = None

    @property
    def count(self) -> int:
        """How many nodes are unfolded."""
        return len(self._placed)

    @property
    def key(self) -> str | None:
        """The node under the cursor."""
        return self._placed[self.cursor].node.key if self.cursor < len(self._placed) else None

    def item(self, number: int, part: int, columns: int) -> Line:
        """A node: its fold, its label, and its note at the right end."""
        node, level, _ = self._placed[number]
        fold = ("▾ " if node.key in self.open else "▸ ") if node.expandable else "  "
        head = (Span(" " * INDENT * level + fold, "quiet"), *node.label)
        if not node.note:
            return head
        note = cut(node.note, columns // 2)
        room = max(0, columns - width(note))
        return (*pad(cut(head, room - 1), room), *note)

    def show(self, *, cursor: str | None = None) -> None:
        """Any node may have changed: lay all out anew; the cursor stays on its node unless told otherwise."""
        wanted, parent = cursor or self._wanted or self.key, self._parent_key(self.cursor)
        self._placed = self._flat(None, 0, None, [])
        if self._parent_key(self.cursor) != parent:
            self.cursor -= 1  # what it stood on is gone and had no sibling below: it stays in the family
        self.cursor = max(0, min(self.cursor, self.count - 1))
        found = self._find(wanted)
        if found is not None:
            self.cursor = found
            self._wanted = None
        elif cursor:
            self._wanted = cursor
        self.top = self._with_cursor(self.top)
        self.redraw()

    def point_to(self, key: str, *, below: Sequence[str] = ()) -> None:
        """Unfold those nodes, and put the cursor on a node; when it is not there yet, as soon as it comes."""
        fresh = [one for one in below if one not in self.open]
        self.open.update(below)
        before = self.key
        self.show(cursor=key)
        for one in fresh:
            self.post_message(self.NodeUnfolded(self, one))
        if self.key != before:
            self.pointed()

    def choose(self) -> None:
        """Open the node under the cursor."""
        if self.key is not None:
            self.post_message(self.NodeChosen(self, self.key))

    def toggle(self) -> None:
        """Unfold the node under the cursor, or fold it."""
        if self.key in self.open:
            self.fold()
        else:
            self.unfold()

    def unfold(self) -> bool:
        """Unfold the node under the cursor, or go to its first child; whether there was anything to do."""
        if not self._placed or not self._placed[self.cursor].node.expandable:
            return False
        key = self._placed[self.cursor].node.key
        if key in self.open:
            if self.cursor + 1 < self.count and self._placed[self.cursor + 1].parent == self.cursor:
                self.move(1)
            return True
        self.open.add(key)
        self.show()
        self.post_message(self.NodeUnfolded(self, key))
        return True

    def fold(self) -> bool:
        """Fold the node under the cursor, or go to its parent; whether there was anything to do."""
        if not self._placed:
            return False
        node, _, parent = self._placed[self.cursor]
        if node.expandable and node.key in self.open:
            self.open.discard(node.key)
            self.show()
            return True
        if parent is None:
            return False
        self.point(parent)
        return True

    def pointed(self) -> None:
        """Tell of the node."""
        self._wanted = None
        if self.key is not None:
            self.post_message(self.NodePointed(self, self.key))

    def _parent_key(self, number: int) -> str | None:
        parent = self._placed[number].parent if number < len(self._placed) else None
        return None if parent is None else self._placed[parent].node.key

    def _find(self, key: str | None) -> int | None:
        return next((number for number, placed in enumerate(self._placed) if placed.node.key == key), None)

    def _flat(self, key: str | None, level: int, parent: int | None, into: list[_Placed]) -> list[_Placed]:
        for node in self.children_of(key):
            number = len(into)
            into.append(_Placed(node, level, parent))
            if node.expandable and node.key in self.open:
                self._flat(node.key, level + 1, number, into)
        return into
