"""The real app with a screen of the test and without a reachable service, and a minimal app for single widgets."""

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import ClassVar

from tests.private_names import strips
from textual.app import App, ComposeResult
from textual.message import Message
from textual.pilot import Pilot
from textual.screen import Screen
from textual.widget import Widget

from presscheck.config.profile import Profile
from presscheck.paths import Places
from presscheck.tui.app import PresscheckApp
from presscheck.tui.commands import Keymap
from presscheck.tui.terminal.bandwidth import Bandwidth
from presscheck.tui.theme import load
from presscheck.wiring import open_engine

INK = load()["ink"]


def app_with(place: Callable[[], Screen[None]], home: Path, *, keymap: Keymap | None = None) -> PresscheckApp:
    """Return the app with this screen in place of the inbox."""

    class Framed(PresscheckApp):
        MODES: ClassVar = {**PresscheckApp.MODES, "inbox": place}

    profile = Profile(base_url="http://127.0.0.1:9", token="secret")
    places = Places(home / "config", home / "cache", home / "state", home / "data")
    return Framed(lambda _: open_engine(profile, places), profile, places, keymap=keymap)


@asynccontextmanager
async def alone(
    *widgets: Widget, size: tuple[int, int] = (40, 10), messages: list[Message] | None = None
) -> AsyncIterator[Pilot[None]]:
    """Run widgets in a minimal app. The first widget has the focus; `messages` collects presscheck's messages."""

    class Alone(App[None]):
        CSS = "Screen { background: $ink-ground; }"

        def __init__(self) -> None:
            super().__init__()
            self.register_theme(INK.as_textual())
            self.theme = "ink"
            self.style_for = INK.style
            self.bandwidth = Bandwidth("off")

        def compose(self) -> ComposeResult:
            yield from widgets

    def tell(message: Message) -> None:
        if messages is not None and type(message).__module__.startswith("presscheck") and message not in messages:
            messages.append(message)

    async with Alone().run_test(size=size, message_hook=tell) as pilot:
        if widgets[0].can_focus:
            widgets[0].focus()
        await pilot.pause()
        yield pilot


def shown(app: App[object]) -> list[str]:
    """Return the lines of the screen: one empty line before the first paint."""
    return ["".join(segment.text for segment in strip).rstrip() for strip in strips(app)] or [""]


async def drawn(pilot: Pilot[None], text: str) -> None:
    """Wait until the screen shows a text. A resize arrives some messages later."""
    async with asyncio.timeout(20):
        while not any(text in line for line in shown(pilot.app)):
            await pilot.pause(0.01)
