"""The screen of a record. It shows the listed data first, then loads the details, and polls while the item is busy."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import partial
from typing import TYPE_CHECKING, Any, Protocol

from textual.app import ComposeResult
from typing_extensions import override

from presscheck.errors import PresscheckError
from presscheck.text.phrases import long_ago
from presscheck.text.sanitize import sanitize
from presscheck.text.styled_text import Line, Span, plain
from presscheck.tui.commands import key_for
from presscheck.tui.ui.screen import BaseScreen
from presscheck.tui.widgets.line_view import TextView
from presscheck.tui.widgets.status_bar import StatusLine

if TYPE_CHECKING:
    from collections.abc import Sequence

    from presscheck.api.operation import Operation
    from presscheck.engine.results import Result
    from presscheck.tui.ui.screen import BaseScreen

POLL_SECONDS = 1.5
"""Interval of requests while the service works on an item."""


class Record(Protocol):
    """An item that changes while it is shown, with the calls that load its details.

    A record can also handle commands, in methods called `command_<name>` and `reason_<name>`.
    """

    @property
    def path(self) -> str:
        """The path above the title, such as `Administration › Imports`."""
        ...

    @property
    def title(self) -> str:
        """The title, as display text."""
        ...

    @property
    def footer(self) -> tuple[str, ...]:
        """The commands of the footer."""
        ...

    @property
    def footer_titles(self) -> Mapping[str, str]:
        """Titles of footer commands that differ from the usual titles."""
        ...

    @property
    def state(self) -> Line:
        """The line above the text, such as the status."""
        ...

    @property
    def is_busy(self) -> bool:
        """True while the service works on the item."""
        ...

    def calls(self) -> Mapping[str, Operation[Any]]:
        """Return the calls that load the parts of the record, by part name."""
        ...

    def take(self, part: str, value: Any) -> None:
        """Store the answer to the call of a part."""
        ...

    def lines(self, columns: int) -> Sequence[Line]:
        """Return the text for a width in cells."""
        ...

    def attach(self, screen: BaseScreen) -> None:
        """Set the screen that shows the record."""
        ...


class RecordScreen(BaseScreen):
    """The screen of a record, which is polled while the service works on the item.

    Args:
        record: the record.
    """

    SCOPE = "admin"
    DEFAULT_CSS = "RecordScreen #state { margin: 1 0; }"

    def __init__(self, record: Record) -> None:
        super().__init__()
        self.record = record
        record.attach(self)
        self._errors: dict[str, PresscheckError] = {}
        self._age: float | None = None

    @override
    def title_line(self) -> Line:
        return (Span(f" {self.record.path} › ", "quiet"), Span(self.record.title, "title"))

    @override
    def body(self) -> ComposeResult:
        yield StatusLine(id="state")
        yield TextView()

    @override
    def command_handlers(self) -> Iterable[object]:
        return (self.record, self)

    @override
    @property
    def footer_commands(self) -> tuple[str, ...]:
        return self.record.footer

    @override
    @property
    def footer_titles(self) -> Mapping[str, str]:
        return self.record.footer_titles

    @override
    def on_mount(self) -> None:
        super().on_mount()
        self.query_one(TextView).focus()
        self.watch_parts()
        self.set_interval(POLL_SECONDS, self._poll)
        self.draw()

    def watch_parts(self) -> None:
        """Subscribe to all parts, replacing the subscriptions that exist."""
        for part, call in self.record.calls().items():
            answers = self.engine.watch(call)
            self.subscribe(answers, partial(self._take, part), group=f"record {part}", shows_errors=False)

    def _take(self, part: str, result: Result[Any]) -> None:
        self._errors.pop(part, None)
        if result.error:
            self._errors[part] = result.error
        self._age = result.age if result.state == "offline" and result.value is not None else None
        if result.value is not None:
            before = set(self.record.calls())
            self.record.take(part, result.value)
            if set(self.record.calls()) != before:
                self.watch_parts()
        self.draw()

    def _poll(self) -> None:
        """Request all parts again while the service works on the item and the screen is visible."""
        if self.record.is_busy and self.is_shown and self.engine.status.online:
            for call in self.record.calls().values():
                self.engine.refresh(call)

    @override
    def draw(self) -> None:
        if not self.is_mounted or self.is_leaving:
            return
        view = self.query_one(TextView)
        error = next(iter(self._errors.values()), None)
        notes: Line = ()
        if self._age is not None:
            notes = (Span(f"as it was {long_ago(self._age)}", "quiet"),)
        elif error and not self.engine.status.online:
            notes = (Span("⚠ offline: only what the list had is shown", "waiting"),)
        elif error:
            notes = (Span(f"✗ {sanitize(error.message)}", "removed"), Span(f"  {key_for('refresh')} retries", "quiet"))
        self.query_one("#state", StatusLine).show((Span(" "), *self.record.state), (*notes, Span(" ")))
        view.show(self.record.lines(max(20, (view.size.width or self.size.width) - 1)))
        self.refresh_status_bars()

    @override
    def on_resize(self) -> None:
        super().on_resize()
        self.call_after_refresh(self.redraw)

    def command_copy_text(self) -> None:
        """Copy the whole text."""
        lines = self.record.lines(200)
        self.app_context.copy_to_clipboard("\n".join(plain(line).rstrip() for line in lines))
        self.notify("copied")
