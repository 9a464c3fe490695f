"""Helpers that create a space and edit it with change requests."""

from typing import Any

from presscheck.api.change_requests import ChangeRequest, CreateChangeRequest, MergeChangeRequest, UpdateChangeRequest
from presscheck.api.content_changes import EditChangeRequestContent
from presscheck.api.organizations import ListOrganizations
from presscheck.api.spaces import CreateSpace
from presscheck.engine.engine import Engine


def at(request: ChangeRequest) -> dict[str, Any]:
    return {"space_id": request.space, "change_request_id": request.id}


async def created_space(engine: Engine) -> str:
    organization = (await engine.read(ListOrganizations())).items[0].id
    space = await engine.write(CreateSpace(organization_id=organization, title="Rearranged")).landed()
    assert space
    return space.id


async def opened(engine: Engine, space: str, *changes: Any, subject: str = "A change") -> ChangeRequest:
    request = await engine.write(CreateChangeRequest(space_id=space, subject=subject)).landed()
    assert request
    if changes:
        await edited(engine, request, *changes)
    return request


async def edited(engine: Engine, request: ChangeRequest, *changes: Any) -> None:
    await engine.write(EditChangeRequestContent(**at(request), changes=changes)).landed()


async def merged(engine: Engine, request: ChangeRequest) -> None:
    await engine.write(UpdateChangeRequest(**at(request), status="open")).landed()
    await engine.write(MergeChangeRequest(**at(request))).landed()
