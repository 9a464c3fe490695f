"""A small website on this machine, for what the service fetches from others: pages, files, a tunnel."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

DRAWN = {"type": "element", "element": {"type": "block", "children": []}, "state": {}, "props": {}}


class WebServer:
    """Its address, what it was asked, and what was posted to it."""

    def __init__(self, pages: Mapping[str, str], kind: str) -> None:
        self.pages = dict(pages)
        self.asked: list[str] = []
        self.posted: list[dict[str, Any]] = []
        outer = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                outer.asked.append(self.path)
                found = outer.pages.get(self.path.partition("?")[0])
                if found is not None and found.startswith("-> "):
                    self.send_response(302)
                    self.send_header("location", found[3:])
                    self.send_header("content-length", "0")
                    self.end_headers()
                    return
                self._answer(404 if found is None else 200, kind, found or "")

            def do_POST(self) -> None:
                event = json.loads(self.rfile.read(int(self.headers["content-length"])))
                outer.posted.append(event)
                self._answer(200, "application/json", json.dumps(DRAWN if event["type"] == "ui_render" else {}))

            def _answer(self, status: int, content_type: str, text: str) -> None:
                body = text.encode()
                self.send_response(status)
                self.send_header("content-type", content_type)
                self.send_header("content-length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

            def log_message(self, *_: Any) -> None:
                """Say nothing."""

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self._server.server_address[1]}"
        self._thread = threading.Thread(target=self._server.serve_forever, kwargs={"poll_interval": 0.01})
        self._thread.start()

    def close(self) -> None:
        self._server.shutdown()
        self._thread.join()
        self._server.server_close()


@contextmanager
def web_server(pages: Mapping[str, str], kind: str = "text/html; charset=utf-8") -> Iterator[WebServer]:
    """A website with these pages, by path; one that begins with ``-> `` leads elsewhere."""
    server = WebServer(pages, kind)
    try:
        yield server
    finally:
        server.close()
