"""The parts of the review screen that its components use, as protocols; components do not import the screen."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

from presscheck.tui.ui.screen_context import ScreenContext

if TYPE_CHECKING:
    from presscheck.documents.diff.block_pairs import SegmentPair
    from presscheck.engine.review.changes import ChangedItem
    from presscheck.engine.review.threads import Message, Thread
    from presscheck.tui.screens.review.renderer import PageText


class ReviewContext(ScreenContext, Protocol):
    """The review screen as its components see it."""

    @property
    def is_leaving(self) -> bool:
        """Whether the screen is being closed."""
        ...

    def redraw(self) -> None:
        """Draw the screen again, because the model changed."""
        ...


class ReviewCursor(Protocol):
    """What is under the cursor of a review."""

    @property
    def item(self) -> ChangedItem | None:
        """The selected item of the list; None is the conversation."""
        ...

    @property
    def page(self) -> PageText:
        """The text of the selected item."""
        ...

    @property
    def thread(self) -> Thread | None:
        """The thread under the cursor, or the only one that is shown."""
        ...

    @property
    def message(self) -> Message | None:
        """The message under the cursor."""
        ...

    @property
    def is_in_change(self) -> bool:
        """Whether the change has the focus, not the list."""
        ...

    @property
    def is_on_thread(self) -> bool:
        """Whether the cursor is on a line of a thread."""
        ...

    @property
    def is_on_fold(self) -> bool:
        """Whether the cursor is on a line that stands for folded lines."""
        ...

    @property
    def text_line(self) -> int | None:
        """The line of the page's new text under the cursor."""
        ...

    @property
    def block(self) -> SegmentPair | None:
        """The block of the difference under the cursor, or the nearest above it."""
        ...

    @property
    def suggestion(self) -> str:
        """The start of a suggestion for the block under the cursor; empty if there is none."""
        ...
