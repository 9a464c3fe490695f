"""The part of a screen that its components use, as a protocol; components do not import their screen."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable
from typing import TYPE_CHECKING, Any, Protocol, TypeVar

from presscheck.engine.results import Result

if TYPE_CHECKING:
    from textual.screen import ModalScreen

    from presscheck.engine.engine import Engine
    from presscheck.tui.app_context import AppContext

T = TypeVar("T")
Work = Awaitable[Any] | Callable[[], Awaitable[Any]]
"""An awaitable, or for exclusive work a function: a newer one of its group may cancel it before it starts."""


class ScreenContext(Protocol):
    """A screen as its components see it; `BaseScreen` implements it."""

    last_key: str
    """The key that was pressed last."""

    @property
    def app_context(self) -> AppContext:
        """The app: errors, clipboard, other screens."""
        ...

    @property
    def engine(self) -> Engine:
        """The engine."""
        ...

    def notify(self, message: str) -> None:
        """Show a message in the footer."""
        ...

    def end_notice(self) -> None:
        """Clear the message, and draw the footer without it."""
        ...

    def refresh_status_bars(self) -> None:
        """Draw status bar and footer."""
        ...

    def run(self, work: Work, *, group: str = "work", exclusive: bool = False) -> object:
        """Run something asynchronous and show its error; it ends with the screen."""
        ...

    def subscribe(
        self,
        answers: AsyncIterator[Result[T]],
        handle: Callable[[Result[T]], None],
        *,
        group: str,
        shows_errors: bool = True,
    ) -> None:
        """Pass each answer to `handle` until the group is subscribed again or the screen is closed."""
        ...

    def unsubscribe(self, group: str) -> None:
        """End the subscription of this group."""
        ...

    async def ask(self, question: ModalScreen[T]) -> T | None:
        """The result of a dialog; None if it was closed."""
        ...
