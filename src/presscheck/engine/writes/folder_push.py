"""The push of a folder as a write that waits in the outbox."""

from __future__ import annotations

from urllib.parse import quote

from pydantic import Field
from typing_extensions import override

from presscheck.api.operation import InSpace, Operation


class PushFolder(InSpace, Operation[None]):
    """The push of a checkout. The API has no such operation: the engine sends the requests of the push.

    The texts stay in the folder; the outbox has no copy of them.

    Attributes:
        directory: the folder of the checkout.
        subject: the subject of a new change request.
        content: identifies the content of the folder, so that only what the user pushed is sent.
        files: the number of changed files.
        change_request_id: the change request that the folder follows; None for main.
        is_new: whether to create a change request even if the folder follows one.
    """

    operation_id = "presscheck.pushFolder"
    route = "POST /spaces/{space_id}/change-requests"

    directory: str
    subject: str = Field(min_length=1, max_length=100)
    content: str
    files: int
    change_request_id: str | None = None
    is_new: bool = False

    @override
    def wire_path(self) -> str:
        # the outbox derives the scope from the path, so that earlier edits of the change request are sent first
        path = super().wire_path()
        return f"{path}/{quote(self.change_request_id, safe='')}" if self.change_request_id else path

    @override
    def __str__(self) -> str:
        return f"push {self.directory}"
