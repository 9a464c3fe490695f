"""Helpers for tests with two change requests that edit the same space."""

from typing import Any

from presscheck.api.change_requests import (
    ChangeRequest,
    CreateChangeRequest,
)
from presscheck.api.comments import Document
from presscheck.api.content_changes import EditChangeRequestContent
from presscheck.engine.engine import Engine


def text_of(lines: list[str]) -> Document:
    return Document(markdown="\n\n".join(lines) + "\n")


async def begun(engine: Engine, space: str) -> ChangeRequest:
    made = await engine.write(CreateChangeRequest(space_id=space, subject="A side")).landed()
    assert made
    return made


async def edited(engine: Engine, request: ChangeRequest, changes: list[Any]) -> None:
    call = EditChangeRequestContent(
        space_id=request.space, change_request_id=request.id, changes=tuple(changes), compat=False
    )
    await engine.write(call).landed()
