"""Error responses in the format of the API."""

from __future__ import annotations

from collections.abc import Mapping

from starlette.responses import Response

from presscheck.service.http.serialization import write_answer


def problem_response(status: int, message: str, headers: Mapping[str, str] | None = None) -> Response:
    """An error response in the format of the API."""
    if status == 401:
        headers = {"www-authenticate": "Bearer"}
    return Response(write_answer({"error": {"code": status, "message": message}}), status, headers, "application/json")
