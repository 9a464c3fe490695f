"""All uses of private names of libraries by tests, so that upgrades break only this module.

`tests/conftest.py` and `tests/tui/app_driver.py` call the functions that make tests faster at the start.
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
    """Load the machine's certificates only once instead of for each client: tests use plain HTTP."""
    httpx_transports.create_ssl_context = cache(httpx_transports.create_ssl_context)


def wait_for_work_rather_than_time() -> None:
    """Make the pilot wait until the app has nothing left to do, instead of until the process is idle.

    The fixed pauses took half of the time of the app's tests. On a busy machine they ended too early: a process that is
    not scheduled looks idle.
    """
    assert textual.app.wait_for_idle and textual.pilot.wait_for_idle
    textual.app.wait_for_idle = textual.pilot.wait_for_idle = _wait_until_settled
    # the original posts a message to each widget and waits until all are handled
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

    async def counted_to_thread(*arguments: Any, **options: Any) -> Any:
        loop = asyncio.get_running_loop()
        _pending[loop] = _pending.get(loop, 0) + 1
        try:
            return await to_thread(*arguments, **options)
        finally:
            _pending[loop] -= 1

    httpx_transports.AsyncHTTPTransport.handle_async_request = counted_exchange
    asyncio.to_thread = counted_to_thread


_pending: WeakKeyDictionary[asyncio.AbstractEventLoop, int] = WeakKeyDictionary()
"""The number of requests and threads that each event loop waits for."""


async def _wait_until_settled(_min: float = 0) -> None:
    """Wait until the app is idle, and render the screen so that errors of widgets are raised."""
    await _wait_for_work()
    if _current_screen() is not None:
        strips(active_app.get())


async def _wait_for_work() -> None:
    """Wait until no task is ready, no request is in flight, and the screen is painted; at most a second.

    Requests that stay unanswered are no longer waited for once the process is idle.
    """
    loop: Any = asyncio.get_running_loop()
    start = monotonic()
    deadline = start + 1
    while monotonic() < deadline:
        await _no_task_ready(loop, deadline)
        screen = _current_screen()
        if screen is not None and _is_unpainted(screen):
            screen._on_timer_update()
            if not _is_unpainted(screen):
                continue  # painting may have scheduled callbacks
            # the screen cannot be painted now: it is closing, or updates are batched
        cpu_time, now = process_time(), monotonic()
        if not _pending.get(loop):
            # wait for timers and threads that are not counted; the service in the same process may be working
            await asyncio.sleep(0.01)
            if process_time() - cpu_time < 0.003 or monotonic() > start + 0.1:
                return
            continue
        while _pending.get(loop) and monotonic() < now + 0.005:  # noqa: ASYNC110  # the counter has no event
            await asyncio.sleep(0.001)
        if _pending.get(loop) and process_time() - cpu_time < 0.001:
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
    """Make a stopping server check 200 times a second whether its connections are closed, instead of ten times.

    The wait took a sixth of a second in each test with a service.
    """
    assert uvicorn.server.asyncio is asyncio
    pauses = {"sleep": lambda seconds: asyncio.sleep(seconds / 20)}
    uvicorn.server.asyncio = SimpleNamespace(**{**vars(asyncio), **pauses})  # pyright: ignore[reportAttributeAccessIssue]


class _SharedDialect(SQLiteDialect_pysqlite):
    """The dialect of the service's SQLite databases. All are equal, so that they share compiled statements."""

    supports_statement_cache = True

    @override
    def __eq__(self, other: object) -> bool:
        return isinstance(other, _SharedDialect)

    @override
    def __hash__(self) -> int:
        return hash(_SharedDialect)


def share_compiled_statements() -> None:
    """Share compiled SQL statements between all services that tests start."""
    create_engine = database_engine.create_engine
    compiled: Any = None

    def create(*arguments: Any, **options: Any) -> Any:
        nonlocal compiled
        engine: Any = create_engine(*arguments, **options)
        if type(engine.dialect) is SQLiteDialect_pysqlite:
            engine.dialect.__class__ = _SharedDialect
            compiled = engine._compiled_cache = engine._compiled_cache if compiled is None else compiled
        return engine

    database_engine.create_engine = create


def share_parsed_styles() -> None:
    """Share parsed style sheets between apps with the same colors. Parsing took an eighth of each start."""

    def parse(stylesheet: Stylesheet, css: str, read_from: Any, *arguments: Any, **options: Any) -> list[RuleSet]:
        key = (css, read_from, arguments, *sorted(options.items()), *stylesheet._variables.items())
        if key not in _parsed_rules:
            _parsed_rules[key] = _parse_rules(stylesheet, css, read_from, *arguments, **options)
        return _parsed_rules[key]

    Stylesheet._parse_rules = parse  # pyright: ignore[reportAttributeAccessIssue]  # other parameter names


def parse_styles_anew(monkeypatch: pytest.MonkeyPatch) -> None:
    """Restore Textual's parser of style sheets, which does not use the cache."""
    monkeypatch.setattr(Stylesheet, "_parse_rules", _parse_rules)


class _Unseen(CompositorUpdate):
    """An update without text, for apps without a terminal."""

    def __init__(self, spans: list[tuple[int, int, int]]) -> None:
        self.spans = spans

    def render_segments(self, console: Console) -> str:
        return ""


def render_what_is_looked_at() -> None:
    """Render widgets only after keys and when a test reads the screen, not for each frame in between.

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
    """Compile test modules as pytest's import hook does, unless their bytecode is up to date.

    Each worker compiles its share. All workers import the same modules at the same time, so that each would compile all
    of them, which took 12 seconds of processor time.
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
    """Call `watch` with the screen and the update after each frame that the app displays."""
    monkeypatch.setattr(Compositor, "render_update", _render_update)
    display = app._display

    def displayed(self: App[Any], screen: Screen[Any], update: Any) -> None:
        display(self, screen, update)
        watch(screen, update)

    monkeypatch.setattr(app, "_display", displayed)


def never_painted(monkeypatch: pytest.MonkeyPatch, screen: type[Screen[Any]]) -> None:
    """Drop all callbacks that wait for a screen to be painted."""
    monkeypatch.setattr(screen, "_invoke_later", lambda *_: None)


@contextmanager
def closing(screen: Screen[Any]) -> Iterator[None]:
    """Mark a screen as closing, as Textual does while it removes the screen's widgets."""
    screen._closing = True
    try:
        yield
    finally:
        screen._closing = False


def strips(app: App[Any]) -> list[Strip]:
    """Return the rendered lines of the screen, including the screen below a dialog."""
    visible_screen_stack.set(app._background_screens)
    return app.screen._compositor.render_strips()


def whole_update(lines: list[Strip], x: int = 0, y: int = 0) -> LayoutUpdate:
    """Return an update that paints lines of equal length."""
    return LayoutUpdate([[line] for line in lines], Region(x, y, lines[0].cell_length, len(lines)))


def lines_to_repaint(widget: Widget) -> set[int]:
    """Return the numbers of a widget's lines that will be repainted."""
    return {y for region in widget._repaint_regions for y in range(region.y, region.bottom)}


def send(pilot: Pilot[Any], *messages: Message) -> None:
    """Send messages as the terminal driver does: no other task runs between them."""
    driver = pilot.app._driver
    assert driver
    for message in messages:
        driver.send_message(message)


def keys_of_bytes(sent: str) -> list[str]:
    """Return the keys that Textual parses from terminal input."""
    parser = XTermParser()
    return [event.key for event in (*parser.feed(sent), *parser.feed("")) if isinstance(event, Key)]


def key_event(key: str) -> Key:
    """Return the event of a key, such as `j`, `-` or `enter`."""
    character = " " if key == "space" else key if len(key) == 1 else None
    return Key(_character_to_key(key) if len(key) == 1 else key, character)


async def send_mouse(
    pilot: Pilot[Any], event: type[MouseEvent], widget: Widget | None, at: tuple[int, int], **options: Any
) -> None:
    """Send a mouse event for which the pilot has no method, such as the wheel or dragging."""
    await pilot._post_mouse_events([event], widget, at, **options)
