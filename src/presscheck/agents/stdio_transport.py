"""The transport of MCP over stdin and stdout, with one JSON-RPC message in each line.

The library has such a transport, but it skips lines that are not messages, so that the client waits for a response
forever. Its thread that reads stdin cannot be cancelled, so that ctrl+c does nothing before the next line.
"""

from __future__ import annotations

import asyncio
import json
import os
import threading
from collections.abc import AsyncGenerator, Generator
from concurrent.futures import CancelledError
from contextlib import asynccontextmanager, contextmanager, suppress
from typing import Any, cast

import anyio
from anyio.streams.memory import MemoryObjectReceiveStream, MemoryObjectSendStream
from mcp import types
from mcp.shared.message import SessionMessage
from pydantic import ValidationError

_Incoming = MemoryObjectSendStream[SessionMessage | Exception]
_Received = MemoryObjectReceiveStream[SessionMessage | Exception]
_Sent = MemoryObjectSendStream[SessionMessage]
_CLOSED = (anyio.BrokenResourceError, anyio.ClosedResourceError)


@asynccontextmanager
async def stdio_streams() -> AsyncGenerator[tuple[_Received, _Sent]]:
    """Yield the stream of the client's messages, and the stream of messages to the client.

    The first stream ends when the client closes stdin or stdout.
    """
    incoming, received = anyio.create_memory_object_stream[SessionMessage | Exception]()
    sent, outgoing = anyio.create_memory_object_stream[SessionMessage]()
    with _claimed_descriptors() as (stdin, stdout):
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(_write, stdout, outgoing, incoming)
            given = (stdin, incoming, sent, asyncio.get_running_loop())
            threading.Thread(target=_read, args=given, daemon=True, name="stdin").start()
            yield received, sent
            sent.close()  # what is sent already is still written


@contextmanager
def _claimed_descriptors() -> Generator[tuple[int, int]]:
    """Yield descriptors for stdin and stdout. Other code finds an empty stdin, and what it prints goes to stderr."""
    stdin, stdout, empty = os.dup(0), os.dup(1), os.open(os.devnull, os.O_RDONLY)
    os.dup2(empty, 0)
    os.dup2(2, 1)
    os.close(empty)
    try:
        yield stdin, stdout
    finally:
        os.dup2(stdin, 0)
        os.dup2(stdout, 1)
        os.close(stdout)  # not stdin, which the thread may still read


def _read(stdin: int, incoming: _Incoming, sent: _Sent, loop: asyncio.AbstractEventLoop) -> None:
    """Read lines until the end of stdin. Runs in a thread, and waits until each message was taken."""
    with suppress(OSError, RuntimeError, CancelledError, *_CLOSED):  # the server has ended
        # not a buffered file: at the exit of the interpreter, this thread would hold its lock
        rest = bytearray()
        while part := os.read(stdin, 1 << 16):
            rest += part
            if b"\n" in part:
                *lines, rest = rest.split(b"\n")
                for line in lines:
                    asyncio.run_coroutine_threadsafe(_take(line, incoming, sent), loop).result()
        loop.call_soon_threadsafe(incoming.close)


async def _take(line: bytearray, incoming: _Incoming, sent: _Sent) -> None:
    try:
        message = types.jsonrpc_message_adapter.validate_json(line, by_name=False)
    except ValidationError:
        if line.strip():
            await sent.send(SessionMessage(_refusal(line)))
    else:
        await incoming.send(SessionMessage(message))


def _refusal(line: bytearray) -> types.JSONRPCError:
    """Return the response to a line that is not a message, with the id of the request if the line has one."""
    try:
        given: Any = json.loads(line)
        code, reason = types.INVALID_REQUEST, "not a JSON-RPC message, or with text that is not Unicode"
    except (ValueError, RecursionError):
        given = None
        code, reason = types.PARSE_ERROR, "not JSON"
    number = cast("dict[str, Any]", given).get("id") if isinstance(given, dict) else None
    is_id = isinstance(number, str | int) and not isinstance(number, bool)
    return types.JSONRPCError(
        jsonrpc="2.0", id=number if is_id else None, error=types.ErrorData(code=code, message=reason)
    )


async def _write(stdout: int, outgoing: MemoryObjectReceiveStream[SessionMessage], incoming: _Incoming) -> None:
    async with outgoing:
        async for sent in outgoing:
            line = sent.message.model_dump_json(by_alias=True, exclude_unset=True) + "\n"
            try:
                await asyncio.to_thread(_write_all, stdout, line.encode())
            except OSError:  # the client has closed stdout
                incoming.close()
                return


def _write_all(stdout: int, data: bytes) -> None:
    rest = memoryview(data)
    while rest:
        rest = rest[os.write(stdout, rest) :]
