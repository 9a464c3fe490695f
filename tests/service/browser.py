"""A headless Chromium for tests."""

from __future__ import annotations

import base64
import fcntl
import json
import os
import select
import subprocess
import time
from pathlib import Path
from typing import Any

from tests.needs import require


def browse(tmp_path: Path, url: str, *options: str) -> str:
    """Render a page once with `options`. Returns the standard output of the browser."""
    command = [
        str(require("chromium")),
        "--headless=new",
        # root and most containers have no sandbox, and the pages are our own
        "--no-sandbox",
        "--disable-gpu",
        f"--user-data-dir={tmp_path}",
        *options,
    ]
    ran = subprocess.run([*command, "--virtual-time-budget=2000", url], capture_output=True, text=True, timeout=60)
    return ran.stdout


class Browser:
    """A headless browser that is driven over a pipe with the Chrome DevTools Protocol."""

    def __init__(self, tmp_path: Path, *, runs_scripts: bool = True) -> None:
        to_browser, self._to = os.pipe()
        self._from, from_browser = os.pipe()
        # the browser reads from file descriptor 3 and writes to 4
        sources = [fcntl.fcntl(one, fcntl.F_DUPFD, 5) for one in (to_browser, from_browser)]
        script = f'exec "$@" 3<&{sources[0]} 4>&{sources[1]}'
        command = [str(require("chromium")), "--headless=new", "--no-sandbox", "--disable-gpu", "--no-first-run"]
        options = ["--remote-debugging-pipe", f"--user-data-dir={tmp_path / 'profile'}", "about:blank"]
        self._process = subprocess.Popen(
            ["bash", "-c", script, "bash", *command, *options],
            pass_fds=sources,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        for one in (to_browser, from_browser, *sources):
            os.close(one)
        self._rest, self._number = b"", 0
        self.requested: list[str] = []
        """The URLs that the page requested, after `watch`."""
        self.received: list[bytes] = []
        """The binary messages that WebSockets of the page received, after `watch`."""
        self._session = self._context = ""
        self.renew(runs_scripts=runs_scripts)

    def renew(self, *, runs_scripts: bool = True) -> None:
        """Drop pages, cookies and storage, and open an empty tab; takes a tenth of the time of a new browser."""
        self._session = ""
        if self._context:
            self._send("Target.disposeBrowserContext", browserContextId=self._context)
        self.requested.clear()
        self.received.clear()
        self._context = self._send("Target.createBrowserContext")["browserContextId"]
        tab = self._send("Target.createTarget", url="about:blank", browserContextId=self._context)["targetId"]
        self._session = self._send("Target.attachToTarget", targetId=tab, flatten=True)["sessionId"]
        self._send("Page.enable")
        if not runs_scripts:
            self._send("Emulation.setScriptExecutionDisabled", value=True)

    def close(self) -> None:
        self._process.terminate()
        self._process.wait()
        os.close(self._to)
        os.close(self._from)

    def open(self, url: str, width: int = 1280, height: int = 800, *, scheme: str = "light") -> None:
        """Open a page in a window of this size and wait until it is loaded."""
        size = {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": width < 500}
        self._send("Emulation.setDeviceMetricsOverride", **size)
        self._send("Emulation.setEmulatedMedia", media="", features=[{"name": "prefers-color-scheme", "value": scheme}])
        self._send("Page.navigate", url=url)
        loaded = {"method": "Page.loadEventFired", "sessionId": self._session}
        while not loaded.items() <= self._read().items():
            pass

    def show_printed(self) -> None:
        """Apply the print styles to the open page."""
        self._send("Emulation.setEmulatedMedia", media="print")

    def start_pages_with(self, script: str) -> None:
        """Run a script in each page that is opened later, before the scripts of the page."""
        self._send("Page.addScriptToEvaluateOnNewDocument", source=script)

    def picture(self) -> bytes:
        """Return a picture of the window, as PNG."""
        return base64.b64decode(self._send("Page.captureScreenshot")["data"])

    def watch(self) -> None:
        """Start to record the requests of the page and the messages of its WebSockets."""
        self._send("Network.enable")

    def value(self, expression: str) -> Any:
        """Evaluate a JavaScript expression in the page, after 0.1 seconds in which frames are drawn."""
        time.sleep(0.1)
        answer = self._send("Runtime.evaluate", expression=expression, returnByValue=True)
        assert "exceptionDetails" not in answer, answer["exceptionDetails"]
        return answer["result"].get("value")

    def click(self, selector: str) -> None:
        """Click the center of the first element that matches a selector."""
        box = self.value(f"document.querySelector({selector!r}).getBoundingClientRect().toJSON()")
        place = {"x": box["x"] + box["width"] / 2, "y": box["y"] + box["height"] / 2}
        for kind in ("mousePressed", "mouseReleased"):
            self._send("Input.dispatchMouseEvent", type=kind, button="left", clickCount=1, **place)

    def press(self, key: str, code: int) -> None:
        """Press a key, such as Tab with the code 9."""
        for kind in ("rawKeyDown", "keyUp"):
            self._send("Input.dispatchKeyEvent", type=kind, key=key, code=key, windowsVirtualKeyCode=code)

    def type_key(self, key: str, code: int) -> None:
        """Press a key that also has a character, such as Enter with the code 13, which activates a button."""
        for kind, text in (("keyDown", chr(code)), ("keyUp", "")):
            self._send("Input.dispatchKeyEvent", type=kind, key=key, code=key, windowsVirtualKeyCode=code, text=text)

    def type(self, letter: str) -> None:
        """Insert text into the focused element."""
        self._send("Input.insertText", text=letter)

    def wait(self, expression: str) -> None:
        """Wait until a JavaScript expression is true, for at most 20 seconds."""
        until = time.monotonic() + 20
        while not self.value(f"Boolean({expression})"):
            assert time.monotonic() < until, expression
            time.sleep(0.05)

    def _send(self, method: str, **params: Any) -> dict[str, Any]:
        self._number += 1
        message = {"id": self._number, "method": method, "params": params}
        if self._session:
            message["sessionId"] = self._session
        os.write(self._to, json.dumps(message).encode() + b"\0")
        while True:
            answer = self._read()
            if answer.get("id") == self._number:
                assert "error" not in answer, answer
                return answer["result"]

    def _read(self) -> dict[str, Any]:
        while b"\0" not in self._rest:
            assert select.select([self._from], [], [], 60)[0], "the browser does not answer"
            chunk = os.read(self._from, 1 << 16)
            assert chunk, "the browser has ended"
            self._rest += chunk
        text, _, self._rest = self._rest.partition(b"\0")
        message = json.loads(text)
        match message:
            case {"method": "Network.requestWillBeSent", "params": {"request": {"url": url}}}:
                self.requested.append(url)
            case {"method": "Network.webSocketCreated", "params": {"url": url}}:
                self.requested.append(url)
            case {
                "method": "Network.webSocketFrameReceived",
                "params": {"response": {"opcode": 2, "payloadData": data}},
            }:
                self.received.append(base64.b64decode(data))
        return message
