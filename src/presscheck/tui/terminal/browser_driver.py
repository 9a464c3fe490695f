"""The driver of Textual for an app that a web browser shows: its input and output are pipes of `presscheck web`."""

from __future__ import annotations

import os
import signal
from contextlib import suppress

from textual.drivers.web_driver import WebDriver
from typing_extensions import override


class BrowserDriver(WebDriver):
    """A driver for which a closed tab is a closed terminal: drafts are kept, and the app ends."""

    @override
    def write(self, data: str) -> None:
        with suppress(BrokenPipeError):  # the server has ended, and so does the input
            super().write(data)

    @override
    def write_meta(self, data: dict[str, object]) -> None:
        with suppress(BrokenPipeError):
            super().write_meta(data)

    @override
    def run_input_thread(self) -> None:
        super().run_input_thread()
        if not self.exit_event.is_set():
            os.kill(os.getpid(), signal.SIGHUP)
