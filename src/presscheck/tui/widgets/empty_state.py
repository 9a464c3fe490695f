"""What stands where nothing can be listed: why, what to do first, and the key that does it."""

from __future__ import annotations

from presscheck.text.sanitize import sanitize
from presscheck.text.styled_text import Line, Span
from presscheck.tui.widgets.text_view import TextView


class EmptyState(TextView):
    """One state of a pane: empty, loading, failed or offline; hidden while there is something to see."""

    DEFAULT_CSS = "EmptyState { height: auto; min-height: 5; padding: 1 2; display: none; }"
    can_focus = False

    def empty(self, what: str, hint: str = "", key: str = "") -> None:
        """There is nothing; what to do first."""
        self._say((Span(what, "strong"),), hint, key)

    def asking(self, what: str) -> None:
        """Show what is being loaded."""
        self._say((Span(what, "quiet"),), "", "")

    def failed(self, what: str, why: str, key: str = "ctrl+r") -> None:
        """It could not be had."""
        self._say((Span("✗ ", "removed"), Span(what, "strong")), why, key, "retry")

    def offline(self, what: str, age: str = "") -> None:
        """The service cannot be reached; how old is what is seen."""
        self._say((Span("⚠ ", "waiting"), Span(what, "strong")), age, "ctrl+r", "retry now")

    def away(self) -> None:
        """There is something to see."""
        self.display = False

    def _say(self, first: Line, hint: str, key: str, does: str = "") -> None:
        lines: list[Line] = [tuple(span._replace(text=sanitize(span.text)) for span in first)]
        lines += [(Span(sanitize(line), "quiet"),) for line in hint.split("\n") if line]
        if key:
            lines += [(), (Span(key, "accent"), Span(f"  {does}" if does else "", "quiet"))]
        self.show(lines)
        self.styles.height = len(lines) + 2
        self.display = True
