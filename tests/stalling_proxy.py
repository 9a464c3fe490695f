"""A proxy that holds back some requests or answers them with an error, so that tests can examine loading states."""

import asyncio
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from urllib.parse import urlsplit

from tests.crash.proxy import one_request
from tests.running_service import RunningService
from tests.tcp_server import listening


@contextmanager
def holding_back(
    service: RunningService,
    directory: Path,
    *parts: str,
    until: threading.Event | None = None,
    answer: bytes | None = None,
    asked: list[str] | None = None,
    answered: list[str] | None = None,
) -> Iterator[str]:
    """Run a proxy between clients and a service; yields its address.

    Args:
        service: the service.
        directory: for the socket of the proxy.
        parts: requests whose first line contains one of these texts are held back.
        until: event that releases the requests; without it they are never answered.
        answer: response to these requests, instead of holding them back.
        asked: gets the paths of all requests.
        answered: gets the paths of the requests that are passed on at once.
    """
    address = urlsplit(service.base_url)

    async def connect() -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
        if address.scheme == "unix":
            return await asyncio.open_unix_connection(address.path)
        return await asyncio.open_connection(address.hostname, address.port)

    async def talk(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        request = await one_request(reader)
        request_line = request.partition(b"\r\n")[0].decode()
        if asked is not None:
            asked.append(request_line.split()[1])
        if any(part in request_line for part in parts):
            if answer is not None:
                writer.write(answer)
                return
            if until is None:
                await reader.read()
                return
            await asyncio.to_thread(until.wait)
        elif answered is not None:
            answered.append(request_line.split()[1])
        onward, sending = await connect()
        try:
            sending.write(request.replace(b"\r\n", b"\r\nconnection: close\r\n", 1))
            writer.write((await onward.read()).replace(b"\r\n", b"\r\nconnection: close\r\n", 1))
        finally:  # also if the proxy is closed before the service has answered
            sending.close()
            await sending.wait_closed()

    ready, done, addresses = threading.Event(), asyncio.Event(), list[str]()
    loop = asyncio.new_event_loop()

    async def serve() -> None:
        async with listening(talk, path=directory / "w") as place:
            addresses.append(place)
            ready.set()
            await done.wait()

    thread = threading.Thread(target=lambda: loop.run_until_complete(serve()))
    thread.start()
    ready.wait(10)
    try:
        yield addresses[0]
    finally:
        if until:
            until.set()
        loop.call_soon_threadsafe(done.set)
        thread.join(10)
        loop.close()
