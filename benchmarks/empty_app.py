"""The baseline: a Textual app that shows only a word."""

from typing import ClassVar

from textual.app import App, ComposeResult
from textual.widgets import Static


class Empty(App[None]):
    BINDINGS: ClassVar = [("q", "quit", "quit")]

    def compose(self) -> ComposeResult:
        yield Static("Ready")


if __name__ == "__main__":
    Empty().run()
