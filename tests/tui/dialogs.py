"""A small app that asks one question."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

from tests.tui.widget_harness import INK
from textual.app import App
from textual.pilot import Pilot
from textual.screen import ModalScreen

from presscheck.text.styled_text import Span
from presscheck.tui.commands import Keymap
from presscheck.tui.terminal.bandwidth import Bandwidth
from presscheck.tui.terminal.output import ControlCharFilter
from presscheck.tui.widgets.confirm_dialog import ConfirmDialog
from presscheck.tui.widgets.picker import Choice


class Asking(App[None]):
    def __init__(self, question: ModalScreen[Any]) -> None:
        super().__init__()
        self.register_theme(INK.as_textual())
        self.theme = "ink"
        self.keymap = Keymap()
        self.style_for = INK.style
        self.bandwidth = Bandwidth("off")
        self._filters.append(ControlCharFilter())
        self.question, self.answers = question, list[Any]()

    def on_mount(self) -> None:
        self.push_screen(self.question, self.answers.append)


@asynccontextmanager
async def asked(question: ModalScreen[Any], size: tuple[int, int] = (80, 24)) -> AsyncIterator[Pilot[None]]:
    async with Asking(question).run_test(size=size) as pilot:
        await pilot.pause()
        yield pilot


def answers(pilot: Pilot[None]) -> list[Any]:
    assert isinstance(pilot.app, Asking)
    return pilot.app.answers


def sheet(**more: Any) -> ConfirmDialog:
    return ConfirmDialog("Merge 42?", [(Span("8 pages change in main."),)], "Merge", **more)


PEOPLE = [Choice(name, name, note) for name, note in (("ann", "editor"), ("bob", "reviewer"), ("cid", "reviewer"))]
