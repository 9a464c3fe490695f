"""The client for outgoing requests with a server that responds slowly."""

from __future__ import annotations

import socket
import threading
import time
from collections.abc import Iterator

import pytest

from presscheck.service.integrations.outbound_http import Outgoing, OutgoingTimeout

SLOW_HEADER = b"HTTP/1.1 200 OK\r\nx-slow: "
SLOW_BODY = b"HTTP/1.1 200 OK\r\ncontent-length: 1000\r\n\r\n"


@pytest.fixture
def listener() -> Iterator[socket.socket]:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        yield listener


@pytest.mark.parametrize("start", [SLOW_HEADER, SLOW_BODY])
def test_deadline_ends_a_response_that_arrives_slowly(listener: socket.socket, start: bytes) -> None:
    def respond() -> None:
        connection, _ = listener.accept()
        with connection:
            connection.sendall(start)
            try:
                for _ in range(100):
                    connection.sendall(b"a")
                    time.sleep(0.05)
            except OSError:
                pass

    server = threading.Thread(target=respond)
    server.start()
    outgoing, started = Outgoing(["127.0.0.0/8"], deadline=0.5), time.monotonic()
    with pytest.raises(OutgoingTimeout):
        outgoing.post_json(f"http://127.0.0.1:{listener.getsockname()[1]}/", b"{}")
    assert time.monotonic() - started < 2
    outgoing.close()
    server.join()
