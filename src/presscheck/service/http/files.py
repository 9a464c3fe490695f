"""Responses with stored files."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from starlette.responses import FileResponse

from presscheck.service.db.blob_store import blob_path
from presscheck.service.http.operation_registry import not_found

HARMLESS = {"x-content-type-options": "nosniff", "content-security-policy": "sandbox"}
"""Headers that keep an uploaded file from running code in the reader's browser."""


def file_response(data: Path, content: str, name: str, headers: Mapping[str, str] | None = None) -> FileResponse:
    """Responds with a stored file.

    Args:
        data: the data directory for files.
        content: the id of its bytes.
        name: the name under which browsers save it; it also determines the media type.
        headers: further headers.

    Raises:
        ApiError: 404 if it does not exist.
    """
    path = blob_path(data, content)
    if path is None or not path.is_file():
        raise not_found("file")
    return FileResponse(path, headers={**HARMLESS, **(headers or {})}, filename=name)
