"""Private names of libraries that tests replace or call. All are in this module, where an upgrade breaks them.

What makes tests faster is replaced at the start, by `tests/conftest.py` and `tests/tui/app_driver.py`.
"""

import asyncio
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from functools import cache
from pathlib import Path
from time import monotonic, process_time
from types import SimpleNamespace
from typing import Any
from weakref import WeakKeyDictionary

import httpx
import httpx._transports.default as httpx_transports
import pytest
import textual.app
import textual.pilot
import uvicorn.server
from _pytest.assertion import rewrite
from rich.console import Console
from sqlalchemy.dialects.sqlite.pysqlite import SQLiteDialect_pysqlite
from textual._compositor import Compositor, CompositorUpdate, LayoutUpdate
from textual._context import active_app, visible_screen_stack
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
from typing_extensions import override

from presscheck.service.db import engine as database_engine

_parse_rules = Stylesheet._parse_rules
_render_update = Compositor.render_update
_parsed_rules: dict[Any, list[RuleSet]] = {}


def share_tls_contexts() -> None:
    """Load the certificates of the machine once, not for each client: tests speak plain HTTP to services here."""
    httpx_transports.create_ssl_context = cache(httpx_transports.create_ssl_context)


def wait_for_work_rather_than_time() -> None:
    """Let the pilot wait after a key until the app has nothing left to do, not until the process used no time.

    The fixed pauses were half of the time of the app's tests. A busy machine made them end too early: a process that
    does not get its turn looks idle.
    """
    assert textual.app.wait_for_idle and textual.pilot.wait_for_idle
    textual.app.wait_for_idle = textual.pilot.wait_for_idle = _wait_until_settled
    # which posts a message to each widget, and waits until all are handled
    assert Pilot._wait_for_screen
    Pilot._wait_for_screen = _wait_for_screen
    exchange, to_thread = httpx_transports.AsyncHTTPTransport.handle_async_request, asyncio.to_thread

    async def counted_exchange(transport: Any, request: httpx.Request) -> httpx.Response:
        loop = asyncio.get_running_loop()
        _pending[loop] = _pending.get(loop, 0) + 1
        try:
            response = await exchange(transport, request)
        except BaseException:
            _pending[loop] -= 1
            raise
        stream: Any = response.stream
        close = stream.aclose

        async def counted_close() -> None:
            if stream.aclose is counted_close:
                stream.aclose = close
                _pending[loop] -= 1
            await close()

        stream.aclose = counted_close
        return response

    async def counted_to_thread(*given: Any, **named: Any) -> Any:
        loop = asyncio.get_running_loop()
        _pending[loop] = _pending.get(loop, 0) + 1
        try:
            return await to_thread(*given, **named)
        finally:
            _pending[loop] -= 1

    httpx_transports.AsyncHTTPTransport.handle_async_request = counted_exchange
    asyncio.to_thread = counted_to_thread


_pending: WeakKeyDictionary[asyncio.AbstractEventLoop, int] = WeakKeyDictionary()
"""How many requests and threads each event loop waits for."""


async def _wait_until_settled(_min: float = 0) -> None:
    """Wait until nothing more happens, and render what is on the screen, where a widget may fail to be drawn."""
    await _wait_for_work()
    if _current_screen() is not None:
        strips(active_app.get())


async def _wait_for_work() -> None:
    """Wait until no task is ready, no request is in flight, and the screen is painted; at most a second.

    A request that stays unanswered is not waited for once the process is idle.
    """
    loop: Any = asyncio.get_running_loop()
    began = monotonic()
    deadline = began + 1
    while monotonic() < deadline:
        await _no_task_ready(loop, deadline)
        screen = _current_screen()
        if screen is not None and _is_unpainted(screen):
            screen._on_timer_update()
            if not _is_unpainted(screen):
                continue  # a paint may call something
            # it cannot be painted now: it is about to be closed, or several changes are to be painted at once
        used, looked = process_time(), monotonic()
        if not _pending.get(loop):
            # timers and threads of the app that are not counted; the service, in the same process, may go on working
            await asyncio.sleep(0.01)
            if process_time() - used < 0.003 or monotonic() > began + 0.1:
                return
            continue
        while _pending.get(loop) and monotonic() < looked + 0.005:  # noqa: ASYNC110  # the counter has no event
            await asyncio.sleep(0.001)
        if _pending.get(loop) and process_time() - used < 0.001:
            return


async def _wait_for_screen(*_: object) -> bool:
    await _wait_until_settled()
    return True


async def _no_task_ready(loop: Any, deadline: float) -> None:
    """Wait until two rounds of the event loop had nothing else to run."""
    quiet = 0
    while quiet < 2 and monotonic() < deadline:
        await asyncio.sleep(0)
        quiet = 0 if loop._ready else quiet + 1


def _is_unpainted(screen: Screen[Any]) -> bool:
    return bool(screen._layout_required or screen._scroll_required or screen._repaint_required or screen._dirty_widgets)


def _current_screen() -> Screen[Any] | None:
    app = active_app.get(None)
    return app.screen if app is not None and app._screen_stack else None


def shorten_shutdowns() -> None:
    """Let a server that ends look two hundred times a second whether its connections are closed, instead of ten times.

    Each test with a service waited for that, a sixth of a second.
    """
    assert uvicorn.server.asyncio is asyncio
    pauses = {"sleep": lambda seconds: asyncio.sleep(seconds / 20)}
    uvicorn.server.asyncio = SimpleNamespace(**{**vars(asyncio), **pauses})  # pyright: ignore[reportAttributeAccessIssue]


class _SharedDialect(SQLiteDialect_pysqlite):
    """The dialect of all SQLite databases of the service, which are configured alike: a statement is compiled once."""

    supports_statement_cache = True

    @override
    def __eq__(self, other: object) -> bool:
        return isinstance(other, _SharedDialect)

    @override
    def __hash__(self) -> int:
        return hash(_SharedDialect)


def share_compiled_statements() -> None:
    """Compile each SQL statement of the service once, not for each service that a test starts."""
    create_engine = database_engine.create_engine
    compiled: Any = None

    def create(*given: Any, **named: Any) -> Any:
        nonlocal compiled
        engine: Any = create_engine(*given, **named)
        if type(engine.dialect) is SQLiteDialect_pysqlite:
            engine.dialect.__class__ = _SharedDialect
            compiled = engine._compiled_cache = engine._compiled_cache if compiled is None else compiled
        return engine

    database_engine.create_engine = create


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


class _Unseen(CompositorUpdate):
    """An update that has no text, because no terminal shows it."""

    def __init__(self, spans: list[tuple[int, int, int]]) -> None:
        self.spans = spans

    def render_segments(self, console: Console) -> str:
        return ""


def render_what_is_looked_at() -> None:
    """Render widgets after each key, and when a test looks or takes a picture, not for each frame between.

    Rendering all frames took a fifth of the processor time of the app's tests.
    """

    def render(
        compositor: Compositor,
        full: bool = False,
        screen_stack: list[Screen[Any]] | None = None,
        simplify: bool = False,
    ) -> Any:
        app = active_app.get(None)
        if full or simplify or app is None or not app.is_headless:
            return _render_update(compositor, full=full, screen_stack=screen_stack, simplify=simplify)
        regions = compositor._dirty_regions.copy()
        compositor._dirty_regions.clear()
        return _Unseen(list(compositor._regions_to_spans(regions))) if regions else None

    Compositor.render_update = render


def rewrite_asserts(config: pytest.Config, modules: Iterable[Path]) -> None:
    """Compile test modules as pytest does when it imports them, unless their bytecode is up to date.

    Each worker does so for its share: all import the same modules at the same time, so each would compile all of them,
    for 12 seconds of processor time.
    """
    for module in modules:
        bytecode = rewrite.get_cache_dir(module) / f"{module.stem}{rewrite.PYC_TAIL}"
        if rewrite._read_pyc(module, bytecode) is not None or not rewrite.try_makedirs(bytecode.parent):
            continue
        with suppress(SyntaxError):  # the import will report it
            stat, code = rewrite._rewrite_test(module, config)
            rewrite._write_pyc(config.stash[rewrite.assertstate_key], code, stat, bytecode)


def watch_frames(
    monkeypatch: pytest.MonkeyPatch, app: type[App[Any]], watch: Callable[[Screen[Any], Any], None]
) -> None:
    """Call a function with each screen and update after an app has displayed them, as it does for a terminal."""
    monkeypatch.setattr(Compositor, "render_update", _render_update)
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
