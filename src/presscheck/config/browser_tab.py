"""How an app knows that `presscheck web` started it, to be shown in a tab of a web browser."""

from __future__ import annotations

import os

DRIVER_VARIABLE = "TEXTUAL_DRIVER"
"""The variable in which Textual looks for its driver."""
DRIVER = "presscheck.tui.terminal.browser_driver:BrowserDriver"


def is_in_browser() -> bool:
    """Return whether the app is shown in a web browser, and not in a terminal."""
    return os.environ.get(DRIVER_VARIABLE) == DRIVER
