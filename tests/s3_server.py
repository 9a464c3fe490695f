"""An S3 server on this machine with one bucket, which can refuse, hang or cut requests."""

from __future__ import annotations

import logging
import socket
import threading
import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from functools import cache
from typing import Any

import boto3.session
import pytest
from botocore.loaders import JSONFileLoader
from moto.moto_server.werkzeug_app import DomainDispatcherApplication, create_backend_app
from moto.s3.models import s3_backends
from werkzeug.serving import BaseWSGIServer, make_server

_load_json: Any = cache(JSONFileLoader().load_file)
# otherwise each client reads a megabyte of service descriptions, which takes a tenth of a second
JSONFileLoader.load_file = lambda _, path: _load_json(path)

BUCKET = "lamps"
KEY, SECRET = "AKIATESTKEY", "the-secret-of-these-tests"
REFUSED = b'<?xml version="1.0"?><Error><Code>AccessDenied</Code><Message>no</Message></Error>'


class S3Server:
    """An S3 server that can inject faults.

    Attributes:
        url: the address, which stays the same when the server is restarted.
        fault: the current fault: "refuse", "hang" until the fault ends, "cut upload", "cut download", or "" for none.
        fault_method: the HTTP method that has the fault; all by default.
        spared: number of the next requests with that method that do not have the fault.
        hanging: number of requests that hang now.
        requests: the methods and paths of all requests.
        most_at_once: maximum number of concurrent requests so far.
    """

    def __init__(self) -> None:
        self.fault = ""
        self.fault_method = ""
        self.spared = 0
        self.hanging = 0
        self.requests: list[str] = []
        self.most_at_once = 0
        self._under_way = 0
        self._lock = threading.Lock()
        self._port = 0
        self._app = DomainDispatcherApplication(create_backend_app)
        self.start()
        self.url = f"http://127.0.0.1:{self._port}"
        self.client().create_bucket(Bucket=BUCKET)

    def client(self) -> Any:
        return boto3.session.Session().client(  # pyright: ignore
            "s3", endpoint_url=self.url, aws_access_key_id=KEY, aws_secret_access_key=SECRET, region_name="us-east-1"
        )

    def environment(self) -> dict[str, str]:
        """Return the environment variables that make clients use this server."""
        return {
            "AWS_ENDPOINT_URL_S3": self.url,
            "AWS_ACCESS_KEY_ID": KEY,
            "AWS_SECRET_ACCESS_KEY": SECRET,
            "AWS_REGION": "us-east-1",
            "AWS_CONFIG_FILE": "/dev/null",
            "AWS_SHARED_CREDENTIALS_FILE": "/dev/null",
            "AWS_EC2_METADATA_DISABLED": "true",
        }

    def keys(self, prefix: str = "") -> list[str]:
        listing: Any = self.client().list_objects_v2(Bucket=BUCKET, Prefix=prefix)
        return [item["Key"] for item in listing.get("Contents", ())]

    def start(self) -> None:
        logging.getLogger("werkzeug").setLevel(logging.ERROR)
        self._server: BaseWSGIServer = make_server("127.0.0.1", self._port, self._respond, threaded=True)
        self._port = self._server.server_port
        self._thread = threading.Thread(target=self._server.serve_forever, kwargs={"poll_interval": 0.02})
        self._thread.start()

    def stop(self) -> None:
        self.fault = ""
        self._server.shutdown()
        self._thread.join()
        self._server.server_close()

    def _respond(self, environ: dict[str, Any], start_response: Any) -> Iterable[bytes]:
        method = environ["REQUEST_METHOD"]
        with self._lock:
            self.requests.append(f"{method} {environ['PATH_INFO']}")
            self._under_way += 1
            self.most_at_once = max(self.most_at_once, self._under_way)
            fault = self.fault if method.startswith(self.fault_method) else ""
            if fault and self.spared:
                self.spared, fault = self.spared - 1, ""
        try:
            return self._response(environ, start_response, fault)
        finally:
            with self._lock:
                self._under_way -= 1

    def _response(self, environ: dict[str, Any], start_response: Any, fault: str) -> Iterable[bytes]:
        if fault == "refuse":
            environ["wsgi.input"].read(int(environ.get("CONTENT_LENGTH") or 0))
            start_response(
                "403 Forbidden", [("content-type", "application/xml"), ("content-length", str(len(REFUSED)))]
            )
            return [REFUSED]
        if fault == "hang":
            self.hanging += 1
            while self.fault == "hang":
                time.sleep(0.01)
            self.hanging -= 1
            start_response("503 Service Unavailable", [("content-length", "0")])
            return []
        if fault == "cut upload" and environ["REQUEST_METHOD"] == "PUT":
            environ["wsgi.input"].read(int(environ["CONTENT_LENGTH"]) // 2)
            environ["werkzeug.socket"].shutdown(socket.SHUT_RDWR)
            raise ConnectionError
        body = self._app(environ, start_response)
        if fault == "cut download" and "list-type" not in environ["QUERY_STRING"]:
            return self._half(body)
        return body

    def _half(self, body: Iterable[bytes]) -> Iterator[bytes]:
        content = b"".join(body)
        yield content[: len(content) // 2]


@contextmanager
def s3_server() -> Iterator[S3Server]:
    """Run a server; its objects are deleted at the end of the block."""
    server = S3Server()
    try:
        yield server
    finally:
        server.stop()
        for account in s3_backends.values():
            for backend in account.values():
                backend.reset()


def use(server: S3Server, patch: pytest.MonkeyPatch) -> None:
    """Make the clients of this process and of its children use a server."""
    for name, value in server.environment().items():
        patch.setenv(name, value)
