"""Responses with stored files."""

from __future__ import annotations

import logging
import re
from collections.abc import AsyncGenerator, Callable, Mapping

from anyio.to_thread import run_sync
from starlette.responses import FileResponse, Response, StreamingResponse
from starlette.types import Receive, Scope, Send
from typing_extensions import override

from presscheck.service.blobs.store import Blob, BlobStore, DiskBlobStore, FilesUnavailable
from presscheck.service.http.operations import ApiError, not_found, problem_response

HARMLESS = {"x-content-type-options": "nosniff", "content-security-policy": "sandbox"}
"""Headers that prevent an uploaded file from running scripts in the browser."""
NOT_AVAILABLE = "The file storage does not respond or refuses access."
"""Start of the message of a 503. The reason is only in the log, for the operator."""

_ONE_RANGE = re.compile(r"bytes=(?:\d{1,15}-\d{0,15}|-\d{1,15})").fullmatch
_log = logging.getLogger("presscheck.service")


def file_response(
    files: BlobStore,
    content: str,
    name: str,
    headers: Mapping[str, str] | None = None,
    refused: Callable[[int, str], Response] = problem_response,
) -> Response:
    """Return a response with a stored file.

    Args:
        files: the store.
        content: the id of the file.
        name: the name under which browsers save the file; it also determines the media type.
        headers: additional headers.
        refused: builds the error response from a status and a message, if the store cannot be used.

    Raises:
        ApiError: 404, the file does not exist.
    """
    headers = {**HARMLESS, **(headers or {})}
    if not isinstance(files, DiskBlobStore):
        return RemoteFileResponse(files, content, name, headers, refused)
    path = files.path(content)
    if path is None:
        raise not_found("file")
    return FileResponse(path, headers=headers, filename=name)


def files_unavailable(error: FilesUnavailable, *, is_write: bool = False) -> ApiError:
    """Log the error of a store, and return a 503 for clients without the reason."""
    _log.error("%s", error)
    return ApiError(503, f"{NOT_AVAILABLE} {'Nothing was saved; try' if is_write else 'Try'} again later.")


class RemoteFileResponse(FileResponse):
    """A response that reads a file from a remote store while sending it, in at most `files.threads` threads."""

    def __init__(
        self,
        files: BlobStore,
        content: str,
        name: str,
        headers: Mapping[str, str],
        refused: Callable[[int, str], Response],
    ) -> None:
        super().__init__(name, headers=headers, filename=name)
        self.files, self.content, self.refused = files, content, refused
        self.headers["etag"] = f'"{content}"'

    @override
    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        blob = await self._opened(scope)
        if isinstance(blob, Response):
            await blob(scope, receive, send)
            return
        self.headers["content-length"] = str(blob.size)
        if blob.span is not None:
            self.status_code = 206
            self.headers["content-range"] = "bytes {}-{}/{}".format(*blob.span)
        response = StreamingResponse(self._chunks(blob, scope["method"]), self.status_code)
        response.raw_headers = self.raw_headers
        try:
            await response(scope, receive, send)
        except FilesUnavailable as error:
            _log.error("%s", error)  # no traceback: the error is not a bug
            # the server closes the connection, so the client notices that the file is incomplete
        finally:
            blob.close()

    async def _opened(self, scope: Scope) -> Blob | Response:
        requested = {name: value.decode("latin-1") for name, value in scope["headers"]}
        byte_range = requested.get(b"range", "")
        if not _ONE_RANGE(byte_range) or requested.get(b"if-range", self.headers["etag"]) != self.headers["etag"]:
            byte_range = ""
        try:
            blob = await run_sync(self.files.open, self.content, byte_range or None, limiter=self.files.threads)
        except FilesUnavailable as error:
            problem = files_unavailable(error)
        except ValueError:
            problem = ApiError(416, "The file has no byte in this range.")
        else:
            if blob is not None:
                return blob
            problem = not_found("file")
        return self.refused(problem.status, problem.message)

    async def _chunks(self, blob: Blob, method: str) -> AsyncGenerator[bytes, None]:
        while method != "HEAD" and (chunk := await run_sync(next, blob.chunks, b"", limiter=self.files.threads)):
            yield chunk
