"""Completion while typing: a list of proposals at the cursor of a text area.

The text area keeps the focus, and every typed character stays in the text. Tab accepts the proposal under the cursor.
Enter accepts it only after an arrow key, and otherwise is a line break, so that a list that appears late never changes
a typed text. Both accept only a proposal that was on the screen when the key was typed.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from time import monotonic
from typing import NamedTuple

from textual import events
from textual.geometry import Offset, Region
from textual.strip import Strip
from textual.widgets import TextArea
from typing_extensions import override

from presscheck.documents.markdown.search_terms import fold
from presscheck.text.styled_text import Line, Span, cut, pad, width
from presscheck.tui.widgets.row_list import RowList

MOST = 8
"""Maximum number of proposals."""
WIDEST = 48
"""Maximum width of the list, in cells."""
GLANCE = 0.05
"""Minimum seconds that a proposal is shown before a key accepts it: a slow line delivers a burst in several parts."""
_MENTION = re.compile(r"(?:^|(?<=[\s(*_]))@(\w[^@\n]{0,40})?$")
_NEAR = 300
"""Maximum number of characters before the cursor in which a completion can start."""


class Opening(NamedTuple):
    """A completion in progress.

    Attributes:
        kind: the kind of proposals, such as `person`.
        start: the first column of the text to replace.
        text: the text to search for.
        is_image: whether to propose only images.
    """

    kind: str
    start: int
    text: str
    is_image: bool = False


class Proposal(NamedTuple):
    """A proposal: `text` replaces the typed text; `label` and `note` are display text."""

    label: str
    note: str
    text: str


def mention(before: str) -> Opening | None:
    """Return the mention in progress at the cursor, or None. `before` is the line up to the cursor."""
    match = _MENTION.search(before[-_NEAR:])
    return Opening("person", match.start() + max(0, len(before) - _NEAR), match[1] or "") if match else None


def matching(proposals: Iterable[Proposal], text: str) -> list[Proposal]:
    """Return at most `MOST` proposals that contain all words of a text; labels that start with the text come first."""
    words = fold(text).split()
    found = [
        proposal for proposal in proposals if all(word in fold(f"{proposal.label} {proposal.note}") for word in words)
    ]
    found.sort(key=lambda proposal: not fold(proposal.label).startswith(fold(text)))
    return found[:MOST]


class CompletionList(RowList):
    """The proposals for the text before the cursor of a text area, below or above its line.

    Args:
        area: the text area. It passes its keys to `press` first.
        find: returns the completion in progress at the end of a line up to the cursor, or None.
        propose: returns all proposals for a completion.
        accept: replaces the typed text by a proposal.
    """

    DEFAULT_CSS = """
    CompletionList { layer: above; position: absolute; display: none; background: $ink-raised; }
    """
    is_raised = True
    can_focus = False
    looks_focused = True

    def __init__(
        self,
        area: TextArea,
        find: Callable[[str], Opening | None],
        propose: Callable[[Opening], Iterable[Proposal]],
        accept: Callable[[Opening, Proposal], None],
    ) -> None:
        super().__init__(self._row)
        self._area, self._find, self._propose, self._accept = area, find, propose, accept
        self._opening: Opening | None = None
        self._proposals: list[Proposal] = []
        self._dismissed: Opening | None = None
        """The completion that was cancelled or accepted; the list stays closed for it."""
        self._is_chosen = False
        """Whether an arrow key was pressed, so that enter takes the proposal under the cursor."""
        self._drawn: Proposal | None = None
        """The proposal under the cursor in the last frame."""
        self._drawn_since = 0.0

    @property
    def is_open(self) -> bool:
        """Whether proposals are shown."""
        return self._opening is not None

    def update(self) -> None:
        """Show the proposals for the text before the cursor, or hide the list if there are none."""
        area = self._area
        row, column = area.cursor_location
        before = area.document.get_line(row)[:column]
        opening = self._find(before) if area.selection.is_empty and area.has_focus else None
        if opening is None or (self._dismissed and self._dismissed[:2] == opening[:2]):
            self._dismissed = self._dismissed if opening else None
            self.close()
            return
        proposals = matching(self._propose(opening), opening.text)
        if not proposals:
            self.close()
        elif opening != self._opening or proposals != self._proposals:
            self._opening, self._proposals = opening, proposals
            self._is_chosen = False
            self.show(len(proposals), cursor=0)
            self._place()

    def close(self) -> None:
        """Hide the list."""
        self._opening = self._drawn = None
        self.display = False

    def press(self, event: events.Key) -> bool:
        """Handle a key while the list is open. Return False if the text area has to handle the key."""
        if self._opening is None:
            return False
        if event.key in ("down", "up"):
            self._is_chosen = True
            self.move(1 if event.key == "down" else -1)
            self.redraw()
        elif event.key == "escape":
            self._dismissed = self._opening
            self.close()
        elif event.key in ("enter", "tab"):
            self.update()  # in a burst, the messages about the last typed letters have not arrived yet
            if event.key == "enter" and not self._is_chosen:
                return False
            proposal = self._proposals[self.cursor] if self.is_open else None
            if proposal is None or proposal != self._drawn or event.time < self._drawn_since + GLANCE:
                return False
            self.choose()
        else:
            return False
        return True

    @override
    def choose(self) -> None:
        opening = self._opening
        if opening:
            self._dismissed = opening
            self.close()
            self._accept(opening, self._proposals[self.cursor])

    @override
    def on_click(self, event: events.Click) -> None:
        self.call_later(self.choose)  # once the click has moved the cursor

    @override
    def render_lines(self, crop: Region) -> list[Strip]:
        """Render the lines, and record which proposal is under the cursor and when it was drawn first."""
        proposal = self._proposals[self.cursor] if self.is_open else None
        if proposal != self._drawn:
            self._drawn, self._drawn_since = proposal, monotonic()
        return super().render_lines(crop)

    def _place(self) -> None:
        """Move the list to the cursor of the text area."""
        (x, y), screen, height = self._area.cursor_screen_offset, self.screen.size, len(self._proposals)
        columns = min(WIDEST, screen.width)
        self.styles.height, self.styles.width = height, columns
        top = y + 1 if y + 1 + height < screen.height else max(0, y - height)
        self.absolute_offset = Offset(max(0, min(x, screen.width - columns)), top)
        self.display = True
        self.refresh(layout=True)

    def _row(self, number: int, columns: int) -> Line:
        proposal = self._proposals[number]
        note = cut((Span(proposal.note, "quiet"),), columns // 2)
        if number == self.cursor:
            note = (*note, Span("  enter" if self._is_chosen else "  tab", "accent"))
        room = max(0, columns - width(note) - 1)
        return (*pad(cut((Span(proposal.label),), room - 1), room), *note)
