"""The server of the Model Context Protocol: it offers verbs as tools, and some read verbs as resources.

It needs the extra `mcp`. Only the command that starts the server imports this module.
"""

from __future__ import annotations

import json
import re
from collections.abc import Awaitable, Callable, Sequence
from typing import Any, Generic, cast
from urllib.parse import quote, unquote

import anyio
from anyio.streams.memory import MemoryObjectSendStream
from mcp import types
from mcp.server.context import ServerRequestContext
from mcp.server.lowlevel.server import Server
from mcp.server.stdio import stdio_server
from mcp.shared.exceptions import MCPError
from mcp.shared.message import SessionMessage
from pydantic import ValidationError

from presscheck import __version__
from presscheck.agents.verbs import (
    INSTRUCTIONS,
    Permission,
    Resource,
    S,
    Verb,
    allowed,
    error_answer,
    run_verb,
)
from presscheck.engine.review.agent_drafts import agent_name
from presscheck.errors import PresscheckError

Context = ServerRequestContext[Any, Any]
MIME_TYPE = "application/json"
_field = re.compile(r"\{(\w+)\}")


class AgentServer(Generic[S]):
    """The MCP server for the verbs of a session.

    Args:
        verbs: all verbs.
        resources: the resources and resource templates.
        permission: the permission of agents.
        session_of: returns the session for an agent name.
        listed: returns a page of the existing resources from an offset on: their URIs and titles, and the next offset
            or None.
        name: the name of the agent; None for the name that the client sends.
    """

    def __init__(
        self,
        verbs: Sequence[Verb[S]],
        resources: Sequence[Resource],
        permission: Permission,
        session_of: Callable[[str], S],
        listed: Callable[[int], Awaitable[tuple[list[tuple[str, str]], int | None]]],
        name: str | None = None,
    ) -> None:
        self._verbs, self._resources, self._permission = verbs, resources, permission
        self._session_of, self._listed, self._name = session_of, listed, name
        self.server = Server[Any](
            "presscheck",
            version=__version__,
            instructions=INSTRUCTIONS,
            on_list_tools=self._list_tools,
            on_call_tool=self._call_tool,
            on_list_resources=self._list_resources,
            on_list_resource_templates=self._list_templates,
            on_read_resource=self._read_resource,
        )

    async def serve_stdio(self) -> None:
        """Serve one client over stdin and stdout until it closes them."""
        messages, valid = anyio.create_memory_object_stream[SessionMessage | Exception]()
        try:
            async with stdio_server() as (received, sent), anyio.create_task_group() as tasks:
                tasks.start_soon(_answer_invalid_lines, received, sent, messages)
                await self.server.run(valid, sent, self.server.create_initialization_options())
        except* BrokenPipeError:
            pass  # the client has closed stdout

    def _session(self, context: Context) -> S:
        client = context.session.client_params
        return self._session_of(agent_name(self._name or (client.client_info.name if client else None)))

    async def _list_tools(self, _: Context, __: types.PaginatedRequestParams | None) -> types.ListToolsResult:
        return types.ListToolsResult(tools=[_tool(verb) for verb in allowed(self._verbs, self._permission).values()])

    async def _call_tool(self, context: Context, params: types.CallToolRequestParams) -> types.CallToolResult:
        try:
            answer = await self._run(context, params.name, params.arguments or {})
        except PresscheckError as error:
            return _tool_result(error_answer(error), is_error=True)
        return _tool_result(answer)

    async def _run(self, context: Context, name: str, given: dict[str, Any]) -> dict[str, Any]:
        return await run_verb(self._verbs, self._permission, self._session(context), name, given)

    async def _list_resources(
        self, _: Context, params: types.PaginatedRequestParams | None
    ) -> types.ListResourcesResult:
        cursor = (params.cursor if params else None) or "0"
        if not is_offset(cursor):
            raise MCPError(code=types.INVALID_PARAMS, message="unknown cursor")
        try:
            listed, following = await self._listed(int(cursor))
        except PresscheckError as error:
            raise MCPError(code=types.INTERNAL_ERROR, message=error.message) from None
        resources = [types.Resource(uri=uri, name=title, mime_type=MIME_TYPE) for uri, title in listed]
        return types.ListResourcesResult(resources=resources, next_cursor=None if following is None else str(following))

    async def _list_templates(
        self, _: Context, __: types.PaginatedRequestParams | None
    ) -> types.ListResourceTemplatesResult:
        paged = {verb.name for verb in self._verbs if "offset" in verb.arguments.model_fields}
        templates = [
            types.ResourceTemplate(
                uri_template=resource.template + ("{?offset}" if resource.verb in paged else ""),
                name=resource.title,
                mime_type=MIME_TYPE,
            )
            for resource in self._resources
        ]
        return types.ListResourceTemplatesResult(resource_templates=templates)

    async def _read_resource(
        self, context: Context, params: types.ReadResourceRequestParams
    ) -> types.ReadResourceResult:
        uri = str(params.uri)
        verb_call = resource_call(self._resources, uri)
        if verb_call is None:
            raise MCPError(code=types.INVALID_PARAMS, message="unknown resource")
        try:
            answer = await self._run(context, *verb_call)
        except PresscheckError as error:
            raise MCPError(code=types.INVALID_PARAMS, message=json.dumps(error_answer(error))) from None
        text = json.dumps(answer, ensure_ascii=False)
        return types.ReadResourceResult(contents=[types.TextResourceContents(uri=uri, mime_type=MIME_TYPE, text=text)])


def resource_call(resources: Sequence[Resource], uri: str) -> tuple[str, dict[str, Any]] | None:
    """Return the verb that reads a URI and its arguments, or None if no template matches the URI."""
    address, _, query = uri.partition("?")
    offset = query.removeprefix("offset=")
    if query and (query == offset or not is_offset(offset)):
        return None
    for resource in resources:
        given = _values(resource.template, address)
        if given is not None:
            return resource.verb, {**given, **({"offset": int(offset)} if query else {})}
    return None


def _values(template: str, address: str) -> dict[str, str] | None:
    """Match a URI without a query against a template. Return the values of its fields, or None without a match."""
    fields, parts = template.split("/"), address.split("/")
    values = {field.strip("{}"): unquote(part) for field, part in zip(fields, parts, strict=False) if field[:1] == "{"}
    is_same = all(field[:1] == "{" or field == part for field, part in zip(fields, parts, strict=False))
    return values if is_same and len(fields) == len(parts) and all(values.values()) else None


def is_offset(text: str) -> bool:
    """Return whether a text is an offset: a number of at most nine digits."""
    return text.isascii() and text.isdigit() and len(text) <= 9


def resource_uri(template: str, **values: str) -> str:
    """Fill in a URI template."""
    return _field.sub(lambda match: quote(values[match[1]], safe=""), template)


async def _answer_invalid_lines(received: Any, sent: Any, messages: MemoryObjectSendStream[Any]) -> None:
    """Forward messages, and answer lines that are not messages: the client would wait for a response forever."""
    async with messages, received:
        async for message in received:
            if not isinstance(message, Exception):
                await messages.send(message)
            elif refusal := _refusal(message):
                await sent.send(SessionMessage(refusal))


def _refusal(error: Exception) -> types.JSONRPCError | None:
    """Return the error response to a line that is not a message, or None for a blank line.

    It has the id of the request if the line has one.
    """
    # the whole line is the input of some errors; of others, it is one of its values
    errors = error.errors() if isinstance(error, ValidationError) else ()
    line: Any = next((each["input"] for each in errors if each["type"] in ("json_invalid", "missing")), None)
    if isinstance(line, str) and not line.strip():
        return None
    try:
        request = json.loads(line) if isinstance(line, str) else line
        code, reason = types.INVALID_REQUEST, "not a JSON-RPC message, or with text that is not Unicode"
    except (ValueError, RecursionError):
        request, code, reason = None, types.PARSE_ERROR, "not JSON"
    identity = cast("dict[str, Any]", request).get("id") if isinstance(request, dict) else None
    is_id = isinstance(identity, str | int) and not isinstance(identity, bool)
    return types.JSONRPCError(
        jsonrpc="2.0", id=identity if is_id else None, error=types.ErrorData(code=code, message=reason)
    )


def _tool(verb: Verb[Any]) -> types.Tool:
    reads = verb.permission == "read"
    hints = types.ToolAnnotations(read_only_hint=reads, destructive_hint=verb.permission == "send")
    return types.Tool(name=verb.name, description=verb.description, input_schema=verb.schema(), annotations=hints)


def _tool_result(answer: dict[str, Any], *, is_error: bool = False) -> types.CallToolResult:
    text = json.dumps(answer, ensure_ascii=False)
    return types.CallToolResult(content=[types.TextContent(text=text)], structured_content=answer, is_error=is_error)
