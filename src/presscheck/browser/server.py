"""The server of `presscheck web`: a page, and for each open tab a WebSocket with an app process behind it."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import socket
from collections.abc import Awaitable, Callable, Sequence
from contextlib import suppress
from pathlib import Path
from string import Template
from typing import Any

import textual_serve
from aiohttp import WSMsgType, web

from presscheck.browser.access import LOOPBACK, Access
from presscheck.browser.app_process import AppProcess, Size
from presscheck.errors import ConfigurationError
from presscheck.text.sanitize import sanitize

MOST_TABS = 4
"""Maximum number of open tabs; each has a process of about 100 MB."""
ENDING = 3.0
"""Seconds to wait for a tab to close when all are in use: reloading a tab opens the new one before that."""
LARGEST_SIDE = 1000
"""Maximum columns or rows of a tab."""
HEARTBEAT = 15.0
"""Seconds between two WebSocket pings, which detect that a browser is gone."""
SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
"""The signals that end the server."""

_OWN = Path(__file__).parent
_XTERM = Path(*textual_serve.__path__) / "static"
FILES = {
    "/page.css": (_OWN / "page.css", "text/css"),
    "/page.js": (_OWN / "page.js", "text/javascript"),
    "/xterm.css": (_XTERM / "css" / "xterm.css", "text/css"),
    "/textual.js": (_XTERM / "js" / "textual.js", "text/javascript"),
    "/regular.ttf": (_XTERM / "fonts" / "RobotoMono-VariableFont_wght.ttf", "font/ttf"),
    "/italic.ttf": (_XTERM / "fonts" / "RobotoMono-Italic-VariableFont_wght.ttf", "font/ttf"),
}
"""The local files of the page with their content types, by URL path."""
POLICY = (
    "default-src 'none'; script-src 'self'; font-src 'self'; img-src data:; style-src 'self' 'unsafe-inline'; "
    "connect-src 'self' ws://$host; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)
"""The content security policy. xterm.js creates style elements, so inline styles are allowed."""
HEADERS = {
    "Cache-Control": "no-store",
    # pages that the app opens must not access its tab
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Permissions-Policy": "camera=(), geolocation=(), microphone=()",
    "Referrer-Policy": "no-referrer",
    "Server": "presscheck",
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
}

Handler = Callable[[web.Request], Awaitable[web.StreamResponse]]


class BrowserServer:
    """A server that shows an app in the browser, on this machine only.

    Args:
        command: the program of the app and its arguments.
        port: the port to listen on; 0 chooses a free port.

    Raises:
        ConfigurationError: the port cannot be used.
    """

    def __init__(self, command: Sequence[str], port: int) -> None:
        self._command = command
        self._listener = _listener(port)
        self.access = Access(self._listener.getsockname()[1])
        self._tabs: set[AppProcess] = set()
        self._changed = asyncio.Condition()

    def run(self) -> None:
        """Serve until a signal arrives, and then end the apps of all tabs."""
        with self._listener:
            asyncio.run(self._serve())

    async def _serve(self) -> None:
        loop, ended = asyncio.get_running_loop(), asyncio.Event()
        for number in SIGNALS:
            loop.add_signal_handler(number, ended.set)
        runner = web.AppRunner(self.application(), access_log=None)
        await runner.setup()
        try:
            await web.SockSite(runner, self._listener).start()
            await ended.wait()
        finally:
            await runner.cleanup()

    def application(self) -> web.Application:
        """Create the aiohttp application."""
        application = web.Application(middlewares=[self._guard])
        application.router.add_get("/", self._show_page, allow_head=False)
        application.router.add_get("/socket", self._connect, allow_head=False)
        for path in FILES:
            application.router.add_get(path, _send_file, allow_head=False)
        application.on_response_prepare.append(_add_headers)
        application.on_shutdown.append(self._end_tabs)
        return application

    @web.middleware
    async def _guard(self, request: web.Request, handler: Handler) -> web.StreamResponse:
        """Handle requests that have the cookie, exchange the key for the cookie, and refuse all others."""
        headers, is_socket = request.headers, request.path == "/socket"
        if refusal := self.access.refusal(
            headers.getall("Host", ()), headers.getall("Origin", ()), needs_origin=is_socket
        ):
            raise web.HTTPForbidden(text=f"presscheck: {refusal}\n")
        if self.access.is_signed_in(request.cookies.get(self.access.cookie_name)):
            return await handler(request)
        if request.path != "/" or request.method != "GET":
            raise web.HTTPForbidden(text=f"presscheck: not signed in: open {self.access.url} first\n")
        return self._sign_in(request.query.get("key"))

    def _sign_in(self, key: str | None) -> web.Response:
        """Exchange the key for the cookie.

        Responds with a page that opens the app, not with a redirect: if a link on another site led here, the browser
        would not send the cookie after a redirect.
        """
        if key is None:
            return _message("No access", "Open the address that presscheck web printed in your terminal.", 403)
        if not self.access.spend(key):
            return _message(
                "No access",
                "This address was used already, or is from an earlier start. Stop presscheck web in your terminal, and"
                " start it again for a new address.",
                403,
            )
        response = _message("presscheck", "Opening …", goes_on=True)
        response.set_cookie(self.access.cookie_name, self.access.cookie, httponly=True, samesite="Strict", path="/")
        return response

    async def _show_page(self, request: web.Request) -> web.Response:
        """Return the page of a tab. Its script opens the WebSocket."""
        if "key" in request.query:  # signed in already: remove the used key from the address of the tab
            raise web.HTTPSeeOther("/")
        if not await self._has_room():
            text = f"All {MOST_TABS} tabs of presscheck are in use. Close one, and load this page again."
            return _message("No free tab", text, 503)
        page = Template((_OWN / "page.html").read_text("utf-8")).substitute(host=request.host)
        return web.Response(text=page, content_type="text/html")

    async def _has_room(self) -> bool:
        async with self._changed:
            with suppress(TimeoutError):
                async with asyncio.timeout(ENDING):
                    await self._changed.wait_for(lambda: len(self._tabs) < MOST_TABS)
        return len(self._tabs) < MOST_TABS

    async def _connect(self, request: web.Request) -> web.StreamResponse:
        """Run an app for a tab until the app exits or the tab is closed."""
        if len(self._tabs) >= MOST_TABS:
            raise web.HTTPServiceUnavailable(text="presscheck: all tabs are in use\n")
        app = AppProcess(self._command)
        self._tabs.add(app)
        try:
            tab = web.WebSocketResponse(heartbeat=HEARTBEAT, compress=False)
            await tab.prepare(request)
            await app.start(_size(request.query.get("width"), request.query.get("height")))
            showing = asyncio.create_task(_show(app, tab))
            try:
                with suppress(TimeoutError):  # an app that hangs must not hold the slot of its closed tab
                    await _take_input(app, tab)
            finally:
                await app.end()
                await showing
        finally:
            async with self._changed:
                self._tabs.discard(app)
                self._changed.notify_all()
        return tab

    async def _end_tabs(self, _: web.Application) -> None:
        await asyncio.gather(*(app.end() for app in self._tabs))


async def _show(app: AppProcess, tab: web.WebSocketResponse) -> None:
    """Send the output of an app to its tab, and close the tab when the app exits.

    Output after the tab is closed is discarded.
    """
    async for packet in app.packets():
        with suppress(ConnectionError):
            if packet.kind == b"D":
                await tab.send_bytes(packet.payload)
            elif packet.kind == b"M" and (url := _address(packet.payload)):
                await tab.send_json(["open_url", {"url": url, "new_tab": True}])
    with suppress(ConnectionError):
        if failure := app.failure():
            lines = sanitize(failure, lines=True).replace("\n", "\r\n")
            await tab.send_bytes(f"\x1b[?1049l\x1b[2J\x1b[H{lines}\r\n".encode())
        await tab.close()


def _address(payload: bytes) -> str | None:
    """Return the URL of an `open_url` message of the app, or None for other messages."""
    match json.loads(payload):
        case {"type": "open_url", "url": str(url)}:
            return url
        case _:
            return None


async def _take_input(app: AppProcess, tab: web.WebSocketResponse) -> None:
    """Pass the keys, size and focus of a tab to its app, and answer pings, until the tab is closed."""
    async for message in tab:
        match _parsed(message.data) if message.type == WSMsgType.TEXT else None:
            case ["stdin", str(text)]:
                await app.type(text)
            case ["resize", {"width": width, "height": height}]:
                size = _size(width, height)
                await app.tell("resize", width=size.columns, height=size.rows)
            case ["ping", str(text)]:
                await tab.send_json(["pong", text])
            case ["blur" | "focus" as kind]:
                await app.tell(kind)
            case _:
                pass


def _parsed(text: str) -> Any:
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return None


def _size(width: object, height: object) -> Size:
    """Return a size in cells, or the default size if the values from the browser are not usable numbers."""
    try:
        columns, rows = int(str(width)), int(str(height))
    except ValueError:
        return Size()
    return Size(columns, rows) if 0 < columns <= LARGEST_SIDE and 0 < rows <= LARGEST_SIDE else Size()


async def _send_file(request: web.Request) -> web.FileResponse:
    file, kind = FILES[request.path]
    return web.FileResponse(file, headers={"Content-Type": kind})


async def _add_headers(request: web.Request, response: web.StreamResponse) -> None:
    response.headers.update(HEADERS)
    response.headers["Content-Security-Policy"] = Template(POLICY).substitute(host=request.host)


def _message(title: str, text: str, status: int = 200, *, goes_on: bool = False) -> web.Response:
    """Return a page with a message. With `goes_on`, the page opens the app."""
    onward = '<meta http-equiv="refresh" content="0;url=/">' if goes_on else ""
    link = '<p><a href="/">Open presscheck</a></p>' if goes_on else ""
    page = Template((_OWN / "message.html").read_text("utf-8"))
    html = page.substitute(title=title, text=text, onward=onward, link=link)
    return web.Response(text=html, content_type="text/html", status=status)


def _listener(port: int) -> socket.socket:
    try:
        return socket.create_server((LOOPBACK, port))
    except (OSError, OverflowError) as error:
        # str(error) would repeat the address
        reason = os.strerror(error.errno or 0) if isinstance(error, OSError) else "the port must be from 0 to 65535"
        raise ConfigurationError(f"could not listen on {LOOPBACK}:{port}: {reason}") from None
