"""The part of the inbox screen that its components use, as a protocol."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

from presscheck.tui.ui.screen_context import ScreenContext

if TYPE_CHECKING:
    from presscheck.api.change_requests import ChangeRequest
    from presscheck.engine.inbox.views import View
    from presscheck.tui.screens.inbox.model import InboxModel
    from presscheck.tui.widgets.row_list import RowList


class InboxContext(ScreenContext, Protocol):
    """The inbox screen as its components see it."""

    @property
    def model(self) -> InboxModel:
        """The rows of the current view."""
        ...

    @property
    def columns(self) -> int:
        """The width of the screen, in cells."""
        ...

    @property
    def rows(self) -> RowList:
        """The list that shows the rows."""
        ...

    def current(self) -> ChangeRequest | None:
        """The change request under the cursor."""
        ...

    def choose(self, view: View) -> None:
        """Show a view."""
        ...

    def reload_rows(self) -> None:
        """Read the rows from the store again, because some were added or removed."""
        ...

    def fit(self) -> None:
        """Lay out rows, headings and preview again."""
        ...

    def show_tabs(self) -> None:
        """Draw the views with their counts."""
        ...

    def show_changed_rows(self) -> None:
        """Read all rows from the store again, because more is known of some that are not visible."""
        ...

    def show_contents(self) -> None:
        """Read description, pages and threads of the row under the cursor from the store again, and draw them."""
        ...

    def show_row_details(self) -> None:
        """Draw rows and preview again, because more is known about a row."""
        ...
