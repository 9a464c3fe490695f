"""The part of the screen of a customization that its components use, as a protocol."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

from presscheck.tui.ui.screen_context import ScreenContext

if TYPE_CHECKING:
    from presscheck.engine.site_customization.rows import Row
    from presscheck.tui.screens.sites.customization.model import CustomizationModel


class CustomizationContext(ScreenContext, Protocol):
    """The screen of a customization as its components see it."""

    @property
    def model(self) -> CustomizationModel:
        """The document, and what it was before."""
        ...

    @property
    def row(self) -> Row | None:
        """The row under the cursor."""
        ...

    @property
    def settings_rows(self) -> tuple[Row, ...]:
        """The rows of the tab."""
        ...

    def change_reason(self) -> str | None:
        """Why nothing can be edited; offline edits are kept as a draft."""
        ...

    def go_to(self, name: str) -> None:
        """Show the tab of a setting, with the cursor on it."""
        ...

    def redraw(self) -> None:
        """Draw the tab and the picture again."""
        ...
