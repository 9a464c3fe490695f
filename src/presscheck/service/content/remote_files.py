"""Downloads the files that a change refers to by URL before anything is written, within the rules of `outgoing`."""

from __future__ import annotations

import base64
import time
from collections.abc import Sequence

from presscheck.api.content_changes import ContentChange, InsertFiles, NewFile
from presscheck.service.content.editor import LARGEST_FILE
from presscheck.service.http.operations import ApiError
from presscheck.service.integrations.outbound_http import DEADLINE, Outgoing, OutgoingError


def fetched(outgoing: Outgoing, changes: Sequence[ContentChange]) -> tuple[ContentChange, ...]:
    """Returns the changes with the downloaded bytes of each file.

    Args:
        outgoing: the HTTP client for outgoing requests.
        changes: the changes of one request, with at most 20 files each.

    Raises:
        ApiError: 400 if a file cannot or may not be downloaded, 413 if it is too large.
    """
    until = time.monotonic() + DEADLINE
    return tuple(
        change.model_copy(update={"files": tuple(_with_bytes(outgoing, file, until) for file in change.files)})
        if isinstance(change, InsertFiles)
        else change
        for change in changes
    )


def _with_bytes(outgoing: Outgoing, file: NewFile, until: float) -> NewFile:
    if file.url is None:
        return file
    if time.monotonic() > until:
        raise ApiError(
            400, f"url: downloading the files before {file.name} took over {DEADLINE:.0f} s; send fewer files at once"
        )
    try:
        response = outgoing.get(file.url)
    except OutgoingError as error:
        raise ApiError(400, f"url: {error}") from None
    if response.status != 200:
        raise ApiError(400, f"url: {file.url} responded with {response.status}")
    if len(response.body) > LARGEST_FILE:
        raise ApiError(413, f"{file.name}: too large; the limit is {LARGEST_FILE} bytes")
    kind = file.content_type or response.content_type or None
    return NewFile(name=file.name, base64=base64.b64encode(response.body).decode(), content_type=kind, ref=file.ref)
