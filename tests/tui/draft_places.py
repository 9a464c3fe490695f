"""A step that opens a draft."""

from typing import Any

from tests.tui.app_driver import until
from tests.tui.drafts import open_drafts


async def drafted(pilot: Any, label: str) -> None:
    """Open the first draft whose label contains `label`."""
    await open_drafts(pilot)
    await until(pilot, shows=label)
    rows = pilot.app.screen.drafts.rows
    labels = [draft.label for draft in pilot.app.screen.drafts.items]
    rows.move_to(next(at for at, each in enumerate(labels) if label in each))
    await pilot.press("enter")
