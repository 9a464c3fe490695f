"""Helpers that upload files to a service that stores them in a bucket."""

from __future__ import annotations

import base64
from typing import Any

import httpx
from tests.s3_server import BUCKET
from tests.service.factories import World

from presscheck.api.change_requests import MergeChangeRequest
from presscheck.api.content_changes import InsertFiles, NewFile

LOCATION = f"s3://{BUCKET}/docs"
LARGE = bytes(range(256)) * 3000


def upload(name: str, content: bytes, content_type: str = "application/octet-stream") -> InsertFiles:
    encoded = base64.b64encode(content).decode()
    return InsertFiles(files=(NewFile(name=name, base64=encoded, content_type=content_type),))


async def uploaded(world: World, name: str, content: bytes, *changes: Any, **details: str) -> str:
    """Upload a file and merge it together with other changes. Returns the URL of the file."""
    draft = await world.draft()
    answer = await world.edit(draft, upload(name, content, **details), *changes)
    assert answer.inserted_files
    await world.admin.send(MergeChangeRequest(space_id=world.space, change_request_id=draft.id))
    return answer.inserted_files[0].download_url


async def get(url: str, **headers: str) -> httpx.Response:
    async with httpx.AsyncClient(timeout=30) as web:
        return await web.get(url, headers={name.replace("_", "-"): value for name, value in headers.items()})
