"""The program that reviews an open change request."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from textual.worker import Worker


class RunningProgram:
    """The program that reviews the change request now.

    Attributes:
        progress: its current step in a few words; empty if no program runs.
        worker: the worker that waits for it; None before the first run.
    """

    def __init__(self) -> None:
        self.progress = ""
        self.worker: Worker[None] | None = None

    def cancel(self) -> bool:
        """End the program. Return whether one was running."""
        was_running = bool(self.progress and self.worker)
        if self.worker and was_running:
            self.worker.cancel()
        self.progress = ""
        return was_running
