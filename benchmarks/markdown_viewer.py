"""For comparison: Textual's `MarkdownViewer` with a file. Usage: python -m benchmarks.markdown_viewer FILE."""

import sys
from pathlib import Path
from typing import ClassVar

from textual.app import App, ComposeResult
from textual.widgets import MarkdownViewer


class Viewer(App[None]):
    BINDINGS: ClassVar = [("q", "quit", "quit")]

    def compose(self) -> ComposeResult:
        yield MarkdownViewer(Path(sys.argv[1]).read_text("utf-8"), show_table_of_contents=False)


if __name__ == "__main__":
    Viewer().run()
