"""The SDK's own client against the server of `presscheck mcp`, in this process or in a separate one."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import AsyncIterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import asynccontextmanager
from typing import IO, Any
from unittest.mock import patch

from click.testing import Result
from mcp import Client, StdioServerParameters
from mcp_types import CallToolResult, Implementation, TextContent
from tests.cli.shell import Shell
from typing_extensions import override

from presscheck.agents.verbs import Permission
from presscheck.cli.agent.commands import agent_server
from presscheck.cli.session import open_session
from presscheck.config.profile import load
from presscheck.paths import places
from presscheck.store.outbox import Outbox


class ShellBeside(Shell):
    """A shell for asynchronous tests: commands run in a thread with their own event loop."""

    @override
    def run(self, *words: str, typed: str | IO[bytes] | None = None) -> Result:
        with ThreadPoolExecutor(1) as thread:
            return thread.submit(super().run, *words, typed=typed).result()


@asynccontextmanager
async def agent(shell: Shell, allow: Permission = "read", *, name: str = "Tester") -> AsyncIterator[Client]:
    """Connect a client to a server in this process.

    The server runs in the event loop of the test. Commands of `ShellBeside` block that loop, so the server does nothing
    while they run.
    """
    nothing = {name: "" for name in os.environ if name.startswith("PRESSCHECK_")}
    with patch.dict(os.environ, {**nothing, **shell.environment}):
        async with open_session(load(places().config_file), as_json=False) as session:
            server = agent_server(session, allow, None).server
            async with Client(server, client_info=Implementation(name=name, version="1")) as client:
                yield client


@asynccontextmanager
async def agent_process(shell: Shell) -> AsyncIterator[Client]:
    """Start `presscheck mcp` and connect a client over stdin and stdout."""
    command = StdioServerParameters(command=sys.executable, args=["-m", "presscheck", "mcp"], env=shell.environment)
    async with Client(command, client_info=Implementation(name="Tester", version="1")) as client:
        yield client


def content(result: CallToolResult) -> Any:
    """Return the answer of a tool; its text and its structured content must be equal."""
    [part] = result.content
    assert isinstance(part, TextContent)
    answer = json.loads(part.text)
    assert answer == result.structured_content
    return answer


async def call(client: Client, verb: str, **arguments: Any) -> Any:
    """Call a verb and return its answer; fails if the verb fails."""
    result = await client.call_tool(verb, arguments)
    answer = content(result)
    assert not result.is_error, answer
    return answer


async def refusal(client: Client, verb: str, **arguments: Any) -> str:
    """Call a verb that must fail and return the error message."""
    result = await client.call_tool(verb, arguments)
    assert result.is_error, result
    message: str = content(result)["error"]["untrusted"]
    return message


def outbox_of(shell: Shell) -> Outbox:
    """Open the outbox of the only profile of a shell."""
    [file] = (shell.home / "state").glob("*.sqlite")
    return Outbox(file)
