"""The Textual driver for an app in a web browser. Its input and output are pipes to `presscheck web`."""

from __future__ import annotations

import os
import signal
from contextlib import suppress

from textual.drivers.web_driver import WebDriver
from typing_extensions import override


class BrowserDriver(WebDriver):
    """A driver that handles a closed tab like a closed terminal: the app saves drafts and exits."""

    @override
    def write(self, data: str) -> None:
        with suppress(BrokenPipeError):  # the server has exited; the end of the input will end the app
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
