"""JSON-RPC messages in HTTP responses."""

from __future__ import annotations

import json
from typing import Any

from starlette.responses import Response

MCP_PATH = "~gitbook/mcp"
"""The path of the endpoint for agents within a site, as on GitBook; no section, space or page has this name."""
HEADERS = {"cache-control": "no-store", "x-content-type-options": "nosniff", "x-robots-tag": "noindex"}
PARSE_ERROR, INVALID_REQUEST, UNKNOWN_METHOD, INVALID_PARAMS = -32700, -32600, -32601, -32602


class JsonRpcError(Exception):
    """A JSON-RPC error, and the HTTP status of its response."""

    def __init__(self, code: int, message: str, status: int = 400, data: Any = None) -> None:
        super().__init__(message)
        self.code, self.message, self.status, self.data = code, message, status, data


def error_response(status: int, code: int, message: str, message_id: Any = None, data: Any = None) -> Response:
    """Return a response with a JSON-RPC error."""
    error = {"code": code, "message": message} | ({} if data is None else {"data": data})
    headers = {"www-authenticate": "Bearer"} if status == 401 else {}
    return message_response({"jsonrpc": "2.0", "id": message_id, "error": error}, status, headers)


def message_response(message: dict[str, Any], status: int, headers: dict[str, str] | None = None) -> Response:
    """Return a response with a JSON-RPC message."""
    return Response(json.dumps(message), status, HEADERS | (headers or {}), "application/json")
