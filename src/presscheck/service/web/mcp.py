"""The Model Context Protocol (MCP) for readers of a site: each HTTP request is one JSON-RPC message, without a session.

Revision 2026-07-28 names its version in each request and has no handshake; clients of earlier revisions send
`initialize` first. The official SDK is not used here: importing it takes 0.7 s and 30 MB, and it needs a second HTTP
client, OpenTelemetry and `sse-starlette`. The tests use its client.
"""

from __future__ import annotations

import base64
import json
from typing import Any, cast
from urllib.parse import urlsplit

from starlette.requests import Request
from starlette.responses import Response

import presscheck
from presscheck.service.http.middleware import origin_of
from presscheck.service.http.operations import Context, is_fit
from presscheck.service.web.access import AccessDenied, admitted
from presscheck.service.web.json_rpc import (
    HEADERS,
    INVALID_PARAMS,
    INVALID_REQUEST,
    MCP_PATH,
    PARSE_ERROR,
    UNKNOWN_METHOD,
    JsonRpcError,
    error_response,
    message_response,
)
from presscheck.service.web.published_site import PublishedSite
from presscheck.service.web.reader_tools import TOOLS
from presscheck.service.web.site_record import SiteRecords

STATELESS = "2026-07-28"
VERSIONS = (STATELESS, "2025-11-25", "2025-06-18")
"""Supported revisions of the protocol, the newest first."""
LIFETIME = 5 * 60 * 1000
"""How long clients may keep the list of tools, in milliseconds."""
HEADER_MISMATCH, UNSUPPORTED_VERSION = -32020, -32022
_STATUSES = {404: "Site not found.", 401: "This site is for signed-in visitors: send the token of a visitor."}
_PREFIX = "io.modelcontextprotocol/"
_INFO, _VERSION, _CAPABILITIES = f"{_PREFIX}serverInfo", f"{_PREFIX}protocolVersion", f"{_PREFIX}clientCapabilities"
_NAME_START, _NAME_END = "=?base64?", "?="


def respond_to_message(context: Context, request: Request, body: bytes, sites: SiteRecords) -> Response:
    """Respond to a message of an MCP client for a site.

    Args:
        context: the transaction.
        request: the request.
        body: the message.
        sites: the cache of sites for this transaction.
    """
    try:
        _require_own_origin(request)
        reader = admitted(context, request, sites)
        if isinstance(reader, Response):
            return reader
        if reader.path != MCP_PATH:
            return Response(status_code=405, headers={"allow": "GET"})
        site = PublishedSite(context, reader, sites.record(context, reader.site))
    except AccessDenied as denied:
        return error_response(denied.status, INVALID_REQUEST, _STATUSES[denied.status])
    except JsonRpcError as error:
        return error_response(error.status, error.code, error.message)
    message_id: Any = None
    try:
        message = _parsed(body)
        message_id = message.get("id")
        result = _result(site, request, message)
    except JsonRpcError as error:
        return error_response(error.status, error.code, error.message, message_id, error.data)
    if result is None:
        return Response(status_code=202, headers=HEADERS)
    return message_response({"jsonrpc": "2.0", "id": message_id, "result": result}, 200)


def _require_own_origin(request: Request) -> None:
    """Refuse requests from pages of other origins in a browser; they could otherwise read private sites."""
    hosts = {request.headers.get("host", "").lower(), urlsplit(origin_of(request)).netloc.lower()}
    for origin in request.headers.getlist("origin"):
        try:
            is_own = urlsplit(origin).netloc.lower() in hosts - {""}
        except ValueError:
            is_own = False
        if not is_own:
            raise JsonRpcError(INVALID_REQUEST, "Requests of other origins are not allowed.", 403)


def _parsed(body: bytes) -> dict[str, Any]:
    try:
        parsed: Any = json.loads(body)
    except (ValueError, RecursionError):
        raise JsonRpcError(PARSE_ERROR, "The message is not valid JSON.") from None
    if not isinstance(parsed, dict):
        raise JsonRpcError(INVALID_REQUEST, "A message must be one JSON object; batches are not supported.")
    message = cast("dict[str, Any]", parsed)
    message_id, params = message.get("id", 0), message.get("params", {})
    if isinstance(message_id, bool) or not isinstance(message_id, int | str):
        message["id"] = None
        raise JsonRpcError(INVALID_REQUEST, "The id of a message must be a string or an integer.")
    if message.get("jsonrpc") != "2.0" or not isinstance(message.get("method"), str) or not isinstance(params, dict):
        raise JsonRpcError(INVALID_REQUEST, 'A message needs "jsonrpc": "2.0", a method, and an object as params.')
    return message


def _result(site: PublishedSite, request: Request, message: dict[str, Any]) -> dict[str, Any] | None:
    """Return the result of a message, or None for a notification."""
    if "id" not in message:
        return None
    method: str = message["method"]
    params: dict[str, Any] = message.get("params", {})
    is_stateless = _is_stateless(request, method, params)
    info = _server_info(site)
    match method:
        case "initialize":
            version = params.get("protocolVersion")
            result = _description(site) | {
                "protocolVersion": version if version in VERSIONS[1:] else VERSIONS[1],
                "serverInfo": info,
            }
        case "ping":
            result = {}
        case "server/discover":
            result = _description(site) | {"supportedVersions": [*VERSIONS], **_caching(site)}
        case "tools/list":
            result = {"tools": [tool.described(site.title) for tool in TOOLS.values()]}
            result |= _caching(site) if is_stateless else {}
        case "tools/call":
            result = _called(site, params)
        case _:
            status = 404 if is_stateless else 200
            raise JsonRpcError(UNKNOWN_METHOD, f"This server has no method {method[:100]}.", status)
    return result | ({"resultType": "complete", "_meta": {_INFO: info}} if is_stateless else {})


def _is_stateless(request: Request, method: str, params: dict[str, Any]) -> bool:
    """Return whether a message follows the stateless revision of the protocol.

    Raises:
        JsonRpcError: the version is not supported, a field of the message is missing, or a header differs from the
            message.
    """
    meta = params.get("_meta")
    fields = cast("dict[str, Any]", meta) if isinstance(meta, dict) else {}
    header = request.headers.get("mcp-protocol-version", "")
    version = fields.get(_VERSION, header)
    if version and version not in VERSIONS:
        data = {"supported": [*VERSIONS], "requested": version}
        raise JsonRpcError(UNSUPPORTED_VERSION, "Unsupported protocol version", data=data)
    if version != STATELESS:
        return False
    if _VERSION not in fields or not isinstance(fields.get(_CAPABILITIES), dict):
        raise JsonRpcError(INVALID_PARAMS, f"The field _meta needs {_VERSION} and {_CAPABILITIES}.")
    names: dict[str, Any] = {"mcp-protocol-version": version, "mcp-method": method}
    if method == "tools/call":
        names["mcp-name"] = params.get("name")
    for name, value in names.items():
        if _decoded(request.headers.get(name, "")) != value:
            raise JsonRpcError(HEADER_MISMATCH, f"The header {name} is missing or differs from the message.")
    return True


def _decoded(header: str) -> str | None:
    """Return the value of a header, decoded if it is in base64. Return None if the base64 is invalid."""
    if not (header.startswith(_NAME_START) and header.endswith(_NAME_END)):
        return header
    try:
        return base64.b64decode(header[len(_NAME_START) : -len(_NAME_END)], validate=True).decode()
    except ValueError:
        return None


def _server_info(site: PublishedSite) -> dict[str, str]:
    return {"name": "presscheck", "title": site.title, "version": presscheck.__version__}


def _description(site: PublishedSite) -> dict[str, Any]:
    about = f"Search and read the documentation “{site.title}”. All pages: {site.absolute(site.base)}llms.txt"
    return {"capabilities": {"tools": {}}, "instructions": about}


def _caching(site: PublishedSite) -> dict[str, Any]:
    return {"ttlMs": LIFETIME, "cacheScope": "public" if site.is_listed else "private"}


def _called(site: PublishedSite, params: dict[str, Any]) -> dict[str, Any]:
    name, arguments = params.get("name"), params.get("arguments", {})
    tool = TOOLS.get(name) if isinstance(name, str) else None
    if tool is None:
        raise JsonRpcError(INVALID_PARAMS, f"Tool not found: the tools are {', '.join(TOOLS)}.")
    if not isinstance(arguments, dict):
        raise JsonRpcError(INVALID_PARAMS, "The arguments of a tool must be an object.")
    values = cast("dict[str, Any]", arguments)
    problem = tool.problem_of(values)
    if not problem and not all(is_fit(value) for value in values.values() if isinstance(value, str)):
        problem = "Texts must not contain NUL or unpaired surrogates."
    if problem:
        return {"content": [{"type": "text", "text": problem}], "isError": True}
    return tool.call(site, values)
