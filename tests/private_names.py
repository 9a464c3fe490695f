"""Private names of httpx and Textual that tests replace or call. All are in this module, where an upgrade breaks them.

What makes tests faster is replaced at the start, by `tests/conftest.py` and `tests/tui/app_driver.py`.
"""

import asyncio
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache
from types import SimpleNamespace
from typing import Any

import httpx._transports.default as httpx_transports
import pytest
import textual._wait
import uvicorn.server
from textual._compositor import LayoutUpdate
from textual._context import visible_screen_stack
from textual._xterm_parser import XTermParser
from textual.app import App
from textual.css.model import RuleSet
from textual.css.stylesheet import Stylesheet
from textual.events import Key, MouseEvent
from textual.geometry import Region
from textual.keys import _character_to_key
from textual.message import Message
from textual.pilot import Pilot
from textual.screen import Screen
from textual.strip import Strip
from textual.widget import Widget

_parse_rules = Stylesheet._parse_rules
_parsed_rules: dict[Any, list[RuleSet]] = {}


def share_tls_contexts() -> None:
    """Load the certificates of the machine once, not for each client: tests speak plain HTTP to services here."""
    httpx_transports.create_ssl_context = cache(httpx_transports.create_ssl_context)


def shorten_pauses() -> None:
    """Let the pilot look four times as often whether the process is idle, as it does after each key.

    Fiftieths of a second were two thirds of the time of the app's tests. What takes longer is waited for by name.
    """
    assert textual._wait.SLEEP_GRANULARITY
    textual._wait.SLEEP_GRANULARITY = 1 / 200


def shorten_shutdowns() -> None:
    """Let a server that ends look two hundred times a second whether its connections are closed, instead of ten times.

    Each test with a service waited for that, a sixth of a second.
    """
    assert uvicorn.server.asyncio is asyncio
    pauses = {"sleep": lambda seconds: asyncio.sleep(seconds / 20)}
    uvicorn.server.asyncio = SimpleNamespace(**{**vars(asyncio), **pauses})  # pyright: ignore[reportAttributeAccessIssue]


def share_parsed_styles() -> None:
    """Parse a style sheet once for all apps with the same colors: an eighth of each start."""

    def parse(stylesheet: Stylesheet, css: str, read_from: Any, *given: Any, **named: Any) -> list[RuleSet]:
        key = (css, read_from, given, *sorted(named.items()), *stylesheet._variables.items())
        if key not in _parsed_rules:
            _parsed_rules[key] = _parse_rules(stylesheet, css, read_from, *given, **named)
        return _parsed_rules[key]

    Stylesheet._parse_rules = parse  # pyright: ignore[reportAttributeAccessIssue]  # with other names


def parse_styles_anew(monkeypatch: pytest.MonkeyPatch) -> None:
    """Parse style sheets as Textual does, even if other tests have parsed them."""
    monkeypatch.setattr(Stylesheet, "_parse_rules", _parse_rules)


def watch_frames(
    monkeypatch: pytest.MonkeyPatch, app: type[App[Any]], watch: Callable[[Screen[Any], Any], None]
) -> None:
    """Call a function with each screen and update after an app has displayed them."""
    display = app._display

    def displayed(self: App[Any], screen: Screen[Any], update: Any) -> None:
        display(self, screen, update)
        watch(screen, update)

    monkeypatch.setattr(app, "_display", displayed)


def never_painted(monkeypatch: pytest.MonkeyPatch, screen: type[Screen[Any]]) -> None:
    """Call nothing that waits for the paint of a screen."""
    monkeypatch.setattr(screen, "_invoke_later", lambda *_: None)


@contextmanager
def closing(screen: Screen[Any]) -> Iterator[None]:
    """Mark a screen as being closed, as it is while its widgets are removed one after another."""
    screen._closing = True
    try:
        yield
    finally:
        screen._closing = False


def strips(app: App[Any]) -> list[Strip]:
    """The lines of the screen, including those of the screen below a dialog."""
    visible_screen_stack.set(app._background_screens)
    return app.screen._compositor.render_strips()


def whole_update(lines: list[Strip], x: int = 0, y: int = 0) -> LayoutUpdate:
    """The update that paints lines of the same length."""
    return LayoutUpdate([[line] for line in lines], Region(x, y, lines[0].cell_length, len(lines)))


def lines_to_repaint(widget: Widget) -> set[int]:
    """The lines of a widget that will be repainted."""
    return {y for region in widget._repaint_regions for y in range(region.y, region.bottom)}


def send(pilot: Pilot[Any], *messages: Message) -> None:
    """Send messages as the terminal does: nothing runs between them."""
    driver = pilot.app._driver
    assert driver
    for message in messages:
        driver.send_message(message)


def keys_of_bytes(sent: str) -> list[str]:
    """The keys that Textual reads from what a terminal sends."""
    parser = XTermParser()
    return [event.key for event in (*parser.feed(sent), *parser.feed("")) if isinstance(event, Key)]


def key_event(key: str) -> Key:
    """The event of a key, such as `j`, `-` or `enter`."""
    character = " " if key == "space" else key if len(key) == 1 else None
    return Key(_character_to_key(key) if len(key) == 1 else key, character)


async def send_mouse(
    pilot: Pilot[Any], event: type[MouseEvent], widget: Widget | None, at: tuple[int, int], **options: Any
) -> None:
    """Send a mouse event for which the pilot has no method: the wheel, or a move while a button is down."""
    await pilot._post_mouse_events([event], widget, at, **options)
