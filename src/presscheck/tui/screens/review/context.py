"""The parts of the review screen that its components use, as protocols; components do not import the screen."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, Any, Protocol, TypeVar

if TYPE_CHECKING:
    from textual.screen import ModalScreen

    from presscheck.engine.engine import Engine
    from presscheck.engine.review.changes import ChangedItem
    from presscheck.engine.review.threads import Thread
    from presscheck.tui.app_context import AppContext
    from presscheck.tui.screens.review.change_renderer import PageText
    from presscheck.tui.theme import StyleLookup

T = TypeVar("T")


class ReviewContext(Protocol):
    """The review screen as its components see it."""

    @property
    def app_context(self) -> AppContext:
        """The app: errors, clipboard, other screens."""
        ...

    @property
    def engine(self) -> Engine:
        """The engine."""
        ...

    @property
    def is_leaving(self) -> bool:
        """Whether the screen is being closed."""
        ...

    def notify(self, message: str) -> None:
        """Show a message in the footer."""
        ...

    @property
    def style_for(self) -> StyleLookup:
        """The style of the current theme for these words."""
        ...

    def redraw(self) -> None:
        """Draw the screen again, because the model changed."""
        ...

    def run(
        self, work: Awaitable[Any] | Callable[[], Awaitable[Any]], *, group: str = "work", exclusive: bool = False
    ) -> object:
        """Run something asynchronous and show its error; it ends with the screen."""
        ...

    async def ask(self, question: ModalScreen[T]) -> T | None:
        """The result of a dialog; None if it was closed."""
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
    def is_in_change(self) -> bool:
        """Whether the change has the focus, not the list."""
        ...

    @property
    def is_on_thread(self) -> bool:
        """Whether the cursor is on a line of a thread."""
        ...

    @property
    def text_line(self) -> int | None:
        """The line of the page's new text under the cursor."""
        ...

    @property
    def suggestion(self) -> str:
        """The start of a suggestion for the block under the cursor; empty if there is none."""
        ...
